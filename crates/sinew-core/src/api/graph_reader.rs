//! The graph of a domain for a program that takes no part in it.

use super::graph_snapshot::GraphSnapshot;
use crate::ros::failure::SharedMemoryError;
use crate::topic::endpoint_info::{EndpointInfo, NodeInfo};
use rustix::io::Errno;
use sinew_shm::inspect::{Snapshot, Watch};
use sinew_shm::{Domain, DomainError, EndpointKind, JoinError};
use std::fmt;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

/// Reads the graph of a domain from outside: for tools that list, draw or record what runs.
///
/// A reader joins no domain and needs no [`Context`](crate::Context): no process notices it, no
/// graph lists it, and it writes nothing (but see [`watch`](Self::watch)). So it also works in a
/// domain with programs that hang. It shows the processes of this host, and the nodes that
/// [gateways](crate::gateway) have brought in from the network;
/// [`Place::Here`](crate::graph::Place::Here) doesn't occur. A program that is part of the graph
/// uses [`Graph`](crate::graph::Graph).
///
/// ```
/// use sinew::graph::GraphReader;
/// use sinew::prelude::*;
/// let directory = tempfile::tempdir_in("/dev/shm")?;
/// let mut reader = GraphReader::new(7).directory(directory.path());
/// assert!(reader.read()?.nodes().is_empty());
/// let context = Context::builder().domain(7).directory(directory.path()).build()?;
/// let _node = context.node("camera")?;
/// assert_eq!(reader.read()?.nodes()[0].name, "/camera");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct GraphReader {
    domain: u32,
    directory: Option<PathBuf>,
    /// The participants at the last look; `None` while the domain doesn't exist.
    found: Option<Snapshot>,
    /// Set by the first call of `watch`.
    watch: Option<Watch>,
}

impl GraphReader {
    /// Returns a reader of the domain with that number, in the directory that programs use by
    /// default (`$SINEW_DIR`, or `/dev/shm/sinew-<uid>`). Reads nothing yet.
    pub fn new(domain: u32) -> Self {
        Self { domain, directory: None, found: None, watch: None }
    }

    /// Sets the directory, as [`ContextBuilder::directory`](crate::ContextBuilder::directory) does
    /// for a context.
    #[must_use = "the reader is returned"]
    pub fn directory(mut self, path: impl Into<PathBuf>) -> Self {
        self.directory = Some(path.into());
        (self.found, self.watch) = (None, None);
        self
    }

    /// Reads the current graph. Makes some system calls for each new process, a few for each known
    /// one, and never blocks. For a domain that doesn't exist, the graph is empty, and the reader
    /// creates nothing.
    ///
    /// The graph leaves out participants and endpoints that can't be read;
    /// [`unreadable`](GraphSnapshot::unreadable) lists them.
    ///
    /// # Errors
    /// [`SharedMemoryError`]: the domain's directory can't be read, or isn't safe to use.
    pub fn read(&mut self) -> Result<GraphSnapshot, SharedMemoryError> {
        let (mut nodes, mut endpoints, mut unreadable) = (Vec::new(), Vec::new(), Vec::new());
        let Some(found) = self.records()? else { return Ok(GraphSnapshot::default()) };
        unreadable.extend(found.refused().iter().map(|error| format!("a participant is left out: {error}")));
        for peer in found.peers() {
            for (_, record) in peer.endpoints() {
                if record.kind == EndpointKind::Node {
                    nodes.extend(NodeInfo::of_record(peer, record));
                    continue;
                }
                match EndpointInfo::of_record(peer, record, found.domain()) {
                    Ok(shown) => endpoints.extend(shown),
                    Err(unknown) => unreadable.push(format!("an endpoint is left out: {unknown}")),
                }
            }
        }
        Ok(GraphSnapshot::new(nodes, endpoints, unreadable))
    }

    /// Returns a descriptor that becomes readable when the graph may have changed, and stays
    /// readable until the next [`read`](Self::read). An event loop waits for it, and sleeps while
    /// nothing changes. Each call returns a duplicate of the same descriptor. A change during a
    /// `read` makes it readable again, so a program that calls this before the first `read` misses
    /// no change.
    ///
    /// Watching needs a directory: the first call creates the domain's directory if it doesn't
    /// exist, as the first program in the domain would. If the watched directory is removed, the
    /// next `read` that finds a new one watches that.
    ///
    /// ```
    /// use sinew::graph::GraphReader;
    /// use sinew::prelude::*;
    /// let directory = tempfile::tempdir_in("/dev/shm")?;
    /// let mut reader = GraphReader::new(7).directory(directory.path());
    /// let changes = reader.watch()?;
    /// assert!(reader.read()?.nodes().is_empty());
    ///
    /// // A program of the domain; a tool would watch others.
    /// let context = Context::builder().domain(7).directory(directory.path()).build()?;
    /// let viewer = context.node("viewer")?;
    /// let (seen, list) = std::sync::mpsc::channel();
    /// let _watching = viewer.descriptor(&changes).callback(move || {
    ///     drop(seen.send(reader.read().map(|graph| graph.nodes().len())));
    /// })?;
    /// let executor = Executor::single();
    /// executor.add(&context)?;
    /// let seen = loop {
    ///     executor.spin_some()?; // the descriptor is looked at by another thread
    ///     if let Ok(seen) = list.try_recv() {
    ///         break seen?;
    ///     }
    /// };
    /// assert_eq!(seen, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`SharedMemoryError`]: the directory can't be created, or isn't safe to use; or the user has
    /// no inotify instance left (`fs.inotify.max_user_instances`). A program can then read at
    /// intervals instead.
    pub fn watch(&mut self) -> Result<OwnedFd, SharedMemoryError> {
        self.try_watch().map_err(SharedMemoryError::join)
    }

    fn try_watch(&mut self) -> Result<OwnedFd, JoinError> {
        let watch = match &self.watch {
            Some(watch) => watch,
            None => {
                let domain = Domain::open(self.directory.as_deref(), self.domain)?;
                self.watch.insert(Watch::new(&domain)?)
            }
        };
        Ok(watch.descriptor()?)
    }

    /// Reads the domain, and returns the records that its participants have announced; `None` while
    /// the domain doesn't exist.
    #[doc(hidden)] // for the command: it changes with `sinew_shm`
    pub fn records(&mut self) -> Result<Option<&Snapshot>, SharedMemoryError> {
        if let Some(watch) = &self.watch {
            watch.clear(); // before the look: a change during it is noticed
        }
        // A domain's directory may be removed, and created again.
        let is_there = self
            .found
            .as_mut()
            .is_some_and(|found| !found.refresh().is_err_and(|error| error.errno == Errno::NOENT));
        if !is_there {
            let failed = |error: DomainError| SharedMemoryError::join(JoinError::Domain(error));
            let place = Domain::find(self.directory.as_deref(), self.domain).map_err(failed)?;
            let failed = |error| SharedMemoryError::join(JoinError::System(error));
            if let (Some(watch), Some(place)) = (&self.watch, &place) {
                watch.add(place).map_err(failed)?;
            }
            self.found = place.as_ref().map(Snapshot::take).transpose().map_err(failed)?;
        }
        Ok(self.found.as_ref())
    }
}

impl fmt::Debug for GraphReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GraphReader").field("domain", &self.domain).finish_non_exhaustive()
    }
}
