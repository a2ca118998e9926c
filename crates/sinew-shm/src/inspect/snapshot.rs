//! A view of a domain from outside: its participants, and the files that dead ones have left.
//!
//! Taking a snapshot joins, locks and writes nothing, and no participant notices: control segments
//! are mapped read-only, and no participant watches for files being opened for reading. So a
//! snapshot costs the participants no work.

use crate::error::{SegmentError, SegmentProblem, SystemError};
use crate::peer::leftovers::{is_read_by_others, remove_files};
use crate::peer::mapped_peer::Peer;
use crate::platform::sync::Arc;
use crate::platform::sys;
use crate::segment::domain::Domain;
use crate::segment::header::parse_file_name;
use crate::segment::owner_state::{OwnerState, allocated, probe};
use std::collections::BTreeMap;
use std::time::Duration;

/// A participant's files without a control segment are abandoned after this time. The control
/// segment is linked first and removed last, but may have appeared after the directory was read.
const JOINING: Duration = Duration::from_secs(10);

/// Nanoseconds per second.
const SECOND: i64 = 1_000_000_000;

/// The participants in a domain at one moment, seen from outside.
///
/// Any process that may read the directory can take one. Only [`clean`](Self::clean) changes
/// anything in the directory.
///
/// ```
/// use sinew_shm::inspect::Snapshot;
/// use sinew_shm::Domain;
/// let base = tempfile::tempdir_in("/dev/shm")?;
/// let domain = Domain::open(Some(base.path()), 0)?;
/// let snapshot = Snapshot::take(&domain)?;
/// assert!(snapshot.peers().is_empty() && snapshot.remains().is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Snapshot {
    domain: Domain,
    peers: Vec<Arc<Peer>>,
    refused: Vec<SegmentError>,
    remains: Vec<Leftovers>,
    foreign: Vec<String>,
}

/// The files of a participant that is dead, or never completed joining.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftovers {
    /// The participant that the files belonged to.
    pub id: u64,
    /// Their names in the domain's directory, sorted.
    pub files: Vec<String>,
    /// The memory that the files take, in bytes.
    pub bytes: u64,
    /// Whether a living participant still has messages to read in the files, and removes them
    /// afterwards. Also `true` if that can't be determined: the files and a living participant have
    /// another layout version, or the files can't be examined now because the system has no memory
    /// or descriptors left.
    pub is_read: bool,
}

/// One participant's files in the directory.
#[derive(Default)]
struct Files {
    names: Vec<String>,
    bytes: u64,
    has_control: bool,
    /// Time since the newest file was changed.
    age: Option<Duration>,
}

impl Snapshot {
    /// Finds the participants that are there now. Maps the control segment of each living
    /// participant, which takes some system calls each. Never blocks.
    ///
    /// # Errors
    /// [`SystemError`]: the directory can't be read. Participants that can't be mapped are listed
    /// in [`refused`](Self::refused).
    pub fn take(domain: &Domain) -> Result<Self, SystemError> {
        let mut snapshot = Self {
            domain: domain.clone(),
            peers: Vec::new(),
            refused: Vec::new(),
            remains: Vec::new(),
            foreign: Vec::new(),
        };
        snapshot.refresh()?;
        Ok(snapshot)
    }

    /// Updates the snapshot. Participants that are still there stay mapped: their [`Arc`]s are the
    /// same as before.
    ///
    /// # Errors
    /// As [`take`](Self::take); the snapshot is unchanged then.
    pub fn refresh(&mut self) -> Result<(), SystemError> {
        let (found, foreign) = self.read_directory()?;
        let known = std::mem::take(&mut self.peers);
        self.refused.clear();
        self.remains.clear();
        self.foreign = foreign;
        let directory = self.domain.directory().clone();
        for (id, files) in found {
            let state = if files.has_control { probe(&directory, id) } else { OwnerState::Gone };
            match state {
                OwnerState::Alive => {
                    let known = known.iter().find(|peer| peer.id() == id).cloned();
                    match known.map_or_else(|| Peer::open(&directory, id).map(Arc::new), Ok) {
                        Ok(peer) if peer.has_left() => {} // its last messages are being read
                        Ok(peer) => self.peers.push(peer),
                        // It may have died just now; then the error is expected.
                        Err(error) if probe(&directory, id) == OwnerState::Alive => self.refused.push(error),
                        Err(_) => {}
                    }
                }
                OwnerState::Dead => {
                    let is_read = match Peer::open(&directory, id) {
                        Ok(dead) => is_read_by_others(&directory, &dead),
                        // A participant that can't open it now can't know.
                        Err(error) => error.may_pass(),
                    };
                    self.remains.push(files.remain(id, is_read));
                }
                OwnerState::Gone if files.age.is_some_and(|age| age > JOINING) => {
                    self.remains.push(files.remain(id, false));
                }
                OwnerState::Gone => {}
            }
        }
        // Only participants of the same version know whether they still read a dead one's files.
        let is_version = |error: &SegmentError| matches!(error.problem, SegmentProblem::Version { .. });
        if self.refused.iter().any(is_version) {
            for remains in &mut self.remains {
                remains.is_read |= Peer::open(&directory, remains.id).is_err_and(|error| is_version(&error));
            }
        }
        self.peers.sort_by_key(|peer| (peer.started(), peer.id()));
        Ok(())
    }

    fn read_directory(&self) -> Result<(BTreeMap<u64, Files>, Vec<String>), SystemError> {
        let failed = SystemError::io("reading the directory", self.domain.path());
        let (mut found, mut foreign) = (BTreeMap::<u64, Files>::new(), Vec::new());
        let directory = self.domain.directory();
        for name in directory.names().map_err(&failed)? {
            let Some((id, is_control)) = parse_file_name(&name) else {
                foreign.push(name);
                continue;
            };
            let files = found.entry(id).or_default();
            files.has_control |= is_control;
            // A file that is gone by now is not counted.
            if let Ok(status) = directory.find(&name) {
                files.bytes += allocated(&status);
                let changed = status.st_mtime.saturating_mul(SECOND) + status.st_mtime_nsec;
                let age = Duration::from_nanos(u64::try_from(sys::wall() - changed).unwrap_or(0));
                files.age = Some(files.age.map_or(age, |newest| newest.min(age)));
            }
            files.names.push(name);
        }
        foreign.sort_unstable();
        Ok((found, foreign))
    }

    /// Returns the domain.
    pub fn domain(&self) -> &Domain {
        &self.domain
    }

    /// Returns the living participants, in the order in which they joined.
    pub fn peers(&self) -> &[Arc<Peer>] {
        &self.peers
    }

    /// Returns the errors of living participants that can't be mapped: another layout version, or a
    /// lack of permission.
    pub fn refused(&self) -> &[SegmentError] {
        &self.refused
    }

    /// Returns the leftovers of dead participants, in the order of their ids.
    pub fn remains(&self) -> &[Leftovers] {
        &self.remains
    }

    /// Returns the names of files that don't belong to Sinew, sorted.
    pub fn foreign(&self) -> &[String] {
        &self.foreign
    }

    /// Removes the leftovers of dead participants that no participant reads, then refreshes the
    /// snapshot. Leftovers that [`remain`](Self::remains) afterwards could not be removed, or are
    /// still being read.
    ///
    /// # Errors
    /// As [`refresh`](Self::refresh).
    pub fn clean(&mut self) -> Result<(), SystemError> {
        for remains in self.remains.iter().filter(|remains| !remains.is_read) {
            // Probed once more: a file that a living participant has locked since belongs to it.
            if probe(self.domain.directory(), remains.id) != OwnerState::Alive {
                remove_files(&self.domain, remains.id);
            }
        }
        self.refresh()
    }
}

impl Files {
    fn remain(mut self, id: u64, is_read: bool) -> Leftovers {
        self.names.sort_unstable();
        Leftovers { id, files: self.names, bytes: self.bytes, is_read }
    }
}
