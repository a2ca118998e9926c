//! A participant's knowledge of the others, and the times at which it looks at them again.

use crate::error::SegmentProblem;
use crate::peer::leftovers::remove_files;
use crate::peer::mapped_peer::Peer;
use crate::platform::sync::Arc;
use crate::platform::sys::{self, Watch, WatchEvent};
use crate::segment::domain::Domain;
use crate::segment::header::{SegmentKind, doorbell_name, file_name, parse_file_name};
use crate::segment::owner_state::{OwnerState, probe};
use crate::tables::endpoint::{Endpoint, EndpointKey};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::time::Duration;

/// Time between two looks of the helper thread if no notifications are available.
pub(super) const POLL: Duration = Duration::from_millis(2);

/// Added to that time for each peer: hundreds of participants that poll each other must not
/// overload the machine.
pub(super) const POLL_PEER: Duration = Duration::from_micros(500);

/// Number of locks that the helper thread queries when it looks without a sign.
pub(super) const SWEEP: usize = 16;

/// How long after a change of a directory's time a reading of the directory may miss something, in
/// nanoseconds: a second change may have the same time.
pub(super) const COARSE: i64 = 20_000_000;

/// How long after a sign of death the lock is queried again, because the kernel reports the end
/// before it releases the lock. Each further pause is twice as long.
pub(super) const SOON: Duration = Duration::from_micros(500);

/// The pause from which the sign counts as a false one. It is long, since the peer's thread may
/// have to wait for a processor between the report and the release of its lock, and nothing is
/// reported after that.
pub(super) const FALSE_SIGN: Duration = Duration::from_secs(8);

/// Time between two checks whether a dead peer's files can be removed, while a participant still
/// reads them.
pub(super) const REAP: Duration = Duration::from_millis(50);

/// Time from a change, or a thread's request, to the look at everything; and between two such looks
/// while something is unsettled.
pub(super) const SETTLING: Duration = Duration::from_secs(2);

/// How long files without a control segment are kept, in nanoseconds: they may belong to a
/// participant that a reading of the directory missed.
pub(super) const ORPHANED: i64 = 10_000_000_000;

/// A participant's knowledge of the others.
pub(crate) struct Discovery {
    pub(super) domain: Domain,
    /// This participant's id.
    own: u64,
    pub(super) peers: HashMap<u64, KnownPeer>,
    pub(super) watch: Option<Watch>,
    pub(super) by_watch: HashMap<i32, u64>,
    /// Participants that can't be mapped, and why.
    pub(super) refused: HashMap<u64, RefusedPeer>,
    /// Whether the directory must be read.
    pub(super) is_stale: bool,
    /// New control segments.
    pub(super) came: Vec<(u64, bool)>,
    /// Peers with logs to read, unless all logs are read.
    pub(super) changed: BTreeSet<u64>,
    pub(super) has_all_changed: bool,
    /// Whether the directory has changed, if no notifications are available.
    pub(super) directory: Changing,
    /// Peers that showed a sign of death.
    pub(super) suspects: HashMap<u64, Suspicion>,
    /// When everything is looked at next; `None`: not before something happens.
    due: Option<i64>,
    /// When the helper thread wakes up by itself.
    pub(super) sleeps_until: i64,
    /// The last peer with a lock that was queried without a sign.
    swept: u64,
    /// Files without a control segment, and when each was first seen.
    pub(super) orphans: HashMap<u64, i64>,
    /// Dead peers with remaining files.
    pub(super) unburied: HashMap<u64, Unburied>,
    /// Whether our control segment's name was removed, and a warning was logged.
    pub(super) is_nameless: bool,
    pub(super) doorbell: Touched,
    /// Whether another user may have touched the doorbell.
    pub(super) is_rung: bool,
}

/// The file that other users touch to ring our bells.
pub(super) enum Touched {
    /// There are no other users.
    None,
    /// The file is watched; holds the watch.
    Watched(i32),
    /// The kernel doesn't report when the file is touched.
    Unwatched,
}

/// The reason why a peer's control segment isn't used.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum RefusedPeer {
    /// The segment can't be opened now, but perhaps later.
    Now,
    /// The segment has another version; the participants of that version know each other.
    Version,
    /// The segment is invalid, or from before the machine was last started.
    Ever,
}

impl RefusedPeer {
    pub(super) fn of(problem: &SegmentProblem) -> Self {
        match problem {
            SegmentProblem::System(_) => Self::Now,
            SegmentProblem::Version { .. } => Self::Version,
            _ => Self::Ever,
        }
    }
}

/// A directory's modification time, which shows whether the directory must be read again.
#[derive(Default)]
pub(super) struct Changing {
    pub(super) time: Option<sys::FileTime>,
    /// When the time was first seen.
    pub(super) seen: i64,
    /// When the directory was last read, at the latest.
    pub(super) read: i64,
}

impl Changing {
    /// Whether something may have changed since the directory was read. A reading soon after a
    /// change may have missed another change, however long ago that was: the time between the
    /// change and the reading counts, not the time until this call.
    pub(super) fn may_have_changed(&mut self, time: Option<sys::FileTime>, now: i64) -> bool {
        if time != self.time {
            (self.time, self.seen) = (time, now);
        }
        self.read - self.seen < COARSE
    }
}

/// A sign of a peer's death.
pub(super) struct Suspicion {
    /// When the peer's lock must be queried.
    pub(super) at: i64,
    /// The pause until the next query, if the peer is alive.
    pub(super) pause: Duration,
}

pub(super) struct KnownPeer {
    pub(super) peer: Arc<Peer>,
    /// Whether the operating system reports the peer's end.
    pub(super) is_watched: bool,
    /// The position in the peer's log; `None` if all of it is new.
    pub(super) position: Option<u64>,
    /// There was no room for something, so everything of the peer is looked at again.
    pub(super) is_incomplete: bool,
    /// The peer's entities by slot.
    pub(super) endpoints: HashMap<u32, EndpointKey>,
    /// The peer's event rings towards us: their lives by slot.
    pub(super) event_rings: HashMap<u32, u64>,
}

impl Discovery {
    /// Makes an empty state for the participant with this id. Its files exist already.
    pub(crate) fn new(domain: &Domain, own: u64) -> Self {
        let watch = match Watch::new(&domain.directory().handle()) {
            Ok(watch) => Some(watch),
            Err(error) => {
                crate::log_line!(
                    log::Level::Info,
                    "no inotify ({error}): looking for other participants every {POLL:?} instead"
                );
                None
            }
        };
        let doorbell = match &watch {
            _ if domain.touch_mode().is_none() => Touched::None,
            Some(watch) => watch
                .add(&domain.directory().handle().join(doorbell_name(own)))
                .map_or(Touched::Unwatched, Touched::Watched),
            None => Touched::Unwatched,
        };
        Self {
            doorbell,
            is_rung: true,
            domain: domain.clone(),
            own,
            peers: HashMap::new(),
            watch,
            by_watch: HashMap::new(),
            refused: HashMap::new(),
            is_stale: true,
            came: Vec::new(),
            changed: BTreeSet::new(),
            has_all_changed: true,
            directory: Changing::default(),
            suspects: HashMap::new(),
            due: None, // the first look schedules one
            sleeps_until: 0,
            swept: 0,
            orphans: HashMap::new(),
            unburied: HashMap::new(),
            is_nameless: false,
        }
    }

    /// Returns the known entities of all peers, as they are now. Leaves out those that are gone by
    /// now, and records that can't be read.
    pub(crate) fn endpoints(&self) -> impl Iterator<Item = (&Arc<Peer>, Endpoint)> {
        let of = |known: &'_ KnownPeer| known.endpoints.values().copied().collect::<Vec<_>>();
        self.peers.values().flat_map(move |known| {
            let endpoint = |key| Some((&known.peer, known.peer.endpoint(key)?));
            of(known).into_iter().filter_map(endpoint)
        })
    }

    /// Forgets all peers.
    pub(super) fn forget(&mut self) {
        self.peers.clear();
        self.unburied.clear();
        self.watch = None;
    }

    /// Whether some ends or arrivals of peers are not reported.
    pub(super) fn polls(&self) -> bool {
        self.watch.is_none()
            || matches!(self.doorbell, Touched::Unwatched)
            || self.peers.values().any(|known| !known.is_watched)
    }

    /// Reads the operating system's reports. Returns `true` if it was time to look at everything.
    pub(super) fn take_reports(&mut self, now: i64) -> bool {
        let is_due = self.due.is_some_and(|due| due <= now);
        if is_due {
            self.due = None;
            let refused_now = |why: &RefusedPeer| *why == RefusedPeer::Now;
            self.is_stale |= !self.orphans.is_empty() || self.refused.values().any(refused_now);
            self.refused.retain(|_, why| !refused_now(why));
            let refused: Vec<u64> = self.refused.keys().copied().collect();
            refused.into_iter().for_each(|id| self.suspect(id, now, FALSE_SIGN));
        }
        if is_due || self.polls() {
            self.has_all_changed = true;
            self.is_rung |= !matches!(self.doorbell, Touched::None);
            self.suspect_some(now);
            self.is_stale |= self.directory.may_have_changed(self.domain.directory().modified(), now);
        }
        self.read_watch(now);
        is_due
    }

    /// Returns `true` if there was a report.
    pub(super) fn read_watch(&mut self, now: i64) -> bool {
        let Some(watch) = &self.watch else { return false };
        let mut any = false;
        for event in watch.read() {
            any = true;
            match event {
                WatchEvent::Came(name) => {
                    self.came.extend(parse_file_name(&name).filter(|(_, is_control)| *is_control))
                }
                WatchEvent::Closed(watch) => {
                    if let Some(&id) = self.by_watch.get(&watch) {
                        self.suspect(id, now, SOON);
                    }
                }
                WatchEvent::Changed(watch) if matches!(self.doorbell, Touched::Watched(ours) if ours == watch) =>
                {
                    self.is_rung = true;
                }
                WatchEvent::Changed(watch) => self.changed.extend(self.by_watch.get(&watch)),
                WatchEvent::Went(name) => {
                    self.is_stale |= parse_file_name(&name) == Some((self.own, true));
                }
                WatchEvent::TooMuch => {
                    self.is_rung = true;
                    self.is_stale = true;
                    self.has_all_changed = true;
                    self.suspect_all(now);
                }
            }
        }
        any
    }

    /// Schedules a query of a peer's lock now, and another one after this pause.
    pub(super) fn suspect(&mut self, id: u64, now: i64, pause: Duration) {
        self.suspects.insert(id, Suspicion { at: now, pause });
    }

    /// Schedules one query of the locks of some peers. The peers take turns, so the cost doesn't
    /// depend on their total number.
    pub(super) fn suspect_some(&mut self, now: i64) {
        let mut all: Vec<u64> = self.peers.keys().copied().collect();
        all.sort_unstable();
        let first = all.partition_point(|&id| id <= self.swept);
        for &id in all[first..].iter().chain(&all[..first]).take(SWEEP) {
            self.suspects.entry(id).or_insert(Suspicion { at: now, pause: FALSE_SIGN });
            self.swept = id;
        }
    }

    /// Schedules queries of each peer's lock: the report of an end may have been lost.
    pub(super) fn suspect_all(&mut self, now: i64) {
        for &id in self.peers.keys() {
            self.suspects.entry(id).or_insert(Suspicion { at: now, pause: SETTLING });
        }
    }

    /// The peers with locks to query now.
    pub(super) fn due(&mut self, now: i64) -> Vec<u64> {
        let mut due = Vec::new();
        self.suspects.retain(|&id, suspicion| {
            if suspicion.at > now {
                return true;
            }
            due.push(id);
            // Rounded up, so that queries of several peers come together.
            let (pause, step) = (nanoseconds(suspicion.pause), nanoseconds(suspicion.pause / 4));
            suspicion.at = (now + pause + step - 1) / step * step;
            suspicion.pause *= 2;
            pause < nanoseconds(FALSE_SIGN)
        });
        due.sort_unstable();
        due
    }

    /// Finds new participants in the directory, and files without an owner.
    pub(super) fn read_directory(&mut self, now: i64) {
        let Ok(names) = self.domain.directory().names() else {
            self.is_stale = true;
            return self.look_within(SETTLING);
        };
        self.directory.read = now;
        let (mut with_control, mut others) = (HashSet::new(), HashSet::new());
        for name in names {
            match parse_file_name(&name) {
                Some((id, true)) => with_control.insert(id),
                Some((id, false)) => others.insert(id),
                None => continue,
            };
        }
        with_control.iter().for_each(|&id| self.meet(id, now));
        self.refused.retain(|id, _| with_control.contains(id));
        // The control segment is linked first and removed last: files without one belong to no
        // participant.
        self.orphans.retain(|id, _| others.contains(id) && !with_control.contains(id));
        for &id in others.difference(&with_control) {
            if self.peers.contains_key(&id) || self.unburied.contains_key(&id) {
                continue; // only its name was removed, which shows nothing
            }
            if now - *self.orphans.entry(id).or_insert(now) > ORPHANED {
                remove_files(&self.domain, id);
            }
        }
    }

    /// Maps a participant's control segment, if it is new.
    pub(super) fn meet(&mut self, id: u64, now: i64) {
        let is_known = self.peers.contains_key(&id) || self.unburied.contains_key(&id);
        if id == self.own || is_known || self.refused.contains_key(&id) {
            return;
        }
        // Watched before the lock is queried: its end is either seen now or reported.
        let (directory, name) = (self.domain.directory().clone(), file_name(SegmentKind::Control, id, 0));
        let watch = self.watch.as_ref().and_then(|watch| watch.add(&directory.handle().join(&name)).ok());
        if let Some(watch) = watch {
            self.by_watch.insert(watch, id);
        }
        match Peer::open(&directory, id) {
            Ok(peer) => {
                let known = KnownPeer {
                    peer: Arc::new(peer),
                    is_watched: watch.is_some(),
                    position: None,
                    is_incomplete: false,
                    endpoints: HashMap::new(),
                    event_rings: HashMap::new(),
                };
                self.peers.insert(id, known);
                self.changed.insert(id);
                self.suspect(id, now, SETTLING); // it may have died before it was watched
            }
            Err(error) => match (probe(&directory, id), RefusedPeer::of(&error.problem)) {
                (OwnerState::Gone, _) => {}
                // It can't be mapped now, so its readers aren't known either. A later attempt may
                // succeed.
                (OwnerState::Dead, RefusedPeer::Now) => {
                    self.refused.insert(id, RefusedPeer::Now);
                }
                // Others of its version, some of which may still be unknown, may be reading its
                // messages.
                (OwnerState::Dead, RefusedPeer::Version) => {
                    self.refused.insert(id, RefusedPeer::Version);
                    self.suspect(id, now, FALSE_SIGN);
                }
                // No participant can ever read it.
                (OwnerState::Dead, RefusedPeer::Ever) => remove_files(&self.domain, id),
                (OwnerState::Alive, why) => {
                    crate::log_line!(
                        log::Level::Warn,
                        "a participant of {} is ignored: {error}",
                        self.domain.path().display()
                    );
                    self.refused.insert(id, why);
                }
            },
        }
    }

    /// Whether participants of other versions live in this domain.
    pub(super) fn has_strangers(&self) -> bool {
        let strangers = self.refused.iter().filter(|(_, why)| **why == RefusedPeer::Version);
        strangers.into_iter().any(|(&id, _)| probe(self.domain.directory(), id) == OwnerState::Alive)
    }

    /// Schedules a look at everything, unless an earlier one is scheduled.
    pub(super) fn look_within(&mut self, pause: Duration) {
        let due = sys::steady().saturating_add(nanoseconds(pause));
        self.due = Some(self.due.map_or(due, |earlier| earlier.min(due)));
    }

    /// Makes a look at everything that is scheduled be due at once.
    #[cfg(all(test, not(loom)))]
    pub(super) fn is_due_now(&mut self) {
        self.due = self.due.map(|_| 0);
    }

    /// Whether something must be tried again, or may change without a report.
    fn is_unsettled(&self) -> bool {
        let is_settled = self.changed.is_empty()
            && self.refused.is_empty()
            && self.orphans.is_empty()
            && self.unburied.is_empty();
        !is_settled || self.polls()
    }

    /// How long the helper thread may sleep; `None`: until something happens. `is_requested`: a
    /// thread has requested a look at everything.
    pub(super) fn patience(&mut self, is_requested: bool) -> Option<Duration> {
        if self.is_unsettled() || is_requested {
            self.look_within(SETTLING); // not at once: a program that starts has other work
        }
        let now = sys::steady();
        let suspicions = self.suspects.values().map(|suspicion| suspicion.at);
        let next = suspicions.chain(self.due).min();
        let mut patience = next.map(|next| Duration::from_nanos(u64::try_from(next - now).unwrap_or(0)));
        let mut at_most = |pause| patience = Some(patience.map_or(pause, |sooner| sooner.min(pause)));
        if self.polls() {
            let peers = u32::try_from(self.peers.len()).unwrap_or(u32::MAX);
            at_most(POLL + POLL_PEER.saturating_mul(peers));
        }
        if !self.unburied.is_empty() {
            at_most(REAP);
        }
        patience
    }
}

pub(super) fn nanoseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}

/// How long a dead participant's files are kept for a reader that never takes its connection up, in
/// nanoseconds.
pub(super) const GRACE: i64 = 10_000_000_000;

/// A peer that is gone and has left files.
pub(super) struct Unburied {
    pub(super) known: KnownPeer,
    pub(super) since: i64,
}

impl Unburied {
    /// Whether a slow reader may still take up connections.
    pub(super) fn is_early(&self, now: i64) -> bool {
        now - self.since < GRACE
    }
}
