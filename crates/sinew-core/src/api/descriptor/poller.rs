//! The thread that waits for all descriptors of the process.

use super::Readiness;
use crate::event::condition::StatusCondition;
use crate::mailbox::deferred::Deferred;
use crate::sys::logging::{Level, log_line};
use crate::sys::sync::{Arc, Mutex};
use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::io::Errno;
use sinew_shm::threads;
use std::collections::HashMap;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::LazyLock;

/// The watched sources, and the epoll descriptor that watches them. A process has one poller, with
/// one thread that never ends.
pub(super) struct DescriptorPoller {
    epoll: OwnedFd,
    /// The sources to announce, by key. This lock comes before those of the sources. The poller's
    /// thread removes no source, so that it never drops the program's callback.
    sources: Mutex<HashMap<u64, Arc<StatusCondition<Readiness>>>>,
}

impl DescriptorPoller {
    /// The process's poller; the first call starts its thread.
    pub(super) fn of_this_process() -> io::Result<Arc<Self>> {
        static POLLER: LazyLock<Mutex<Option<Arc<DescriptorPoller>>>> = LazyLock::new(|| Mutex::new(None));
        let mut poller = POLLER.lock();
        if let Some(poller) = &*poller {
            return Ok(poller.clone());
        }
        let new = Arc::new(Self {
            epoll: epoll::create(CreateFlags::CLOEXEC)?,
            sources: Mutex::new(HashMap::new()),
        });
        let of_thread = new.clone();
        threads::builder("sinew-descriptors").spawn(move || of_thread.run())?;
        Ok(poller.insert(new).clone())
    }

    /// Adds a source under a new key.
    pub(super) fn know(&self, key: u64, source: Arc<StatusCondition<Readiness>>) {
        self.sources.lock().insert(key, source);
    }

    /// Removes a source: once this returns, the poller announces nothing to it. The caller must
    /// drop it while holding no lock.
    pub(super) fn forget(&self, key: u64) -> Option<Arc<StatusCondition<Readiness>>> {
        self.sources.lock().remove(&key)
    }

    pub(super) fn add(&self, descriptor: &OwnedFd, key: u64, flags: EventFlags) -> io::Result<()> {
        Ok(epoll::add(&self.epoll, descriptor, EventData::new_u64(key), flags)?)
    }

    /// Asks the kernel to report a source again. If the source is ready, the kernel wakes the
    /// thread at once.
    pub(super) fn ask(&self, descriptor: &OwnedFd, key: u64, flags: EventFlags) -> io::Result<()> {
        Ok(epoll::modify(&self.epoll, descriptor, EventData::new_u64(key), flags)?)
    }

    pub(super) fn remove(&self, descriptor: &OwnedFd) {
        // Fails if the descriptor was never added: then there is nothing to remove.
        let _ = epoll::delete(&self.epoll, descriptor);
    }

    /// Waits for readiness and announces it, in an endless loop.
    fn run(&self) {
        let mut events = Vec::with_capacity(64);
        loop {
            events.clear();
            match epoll::wait(&self.epoll, spare_capacity(&mut events), None) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => {
                    // The program has closed a descriptor that it doesn't own.
                    log_line!(
                        Level::Error,
                        "descriptor sources don't work any more, as epoll_wait failed: {error}"
                    );
                    return;
                }
            }
            for event in &events {
                self.announce(event.data.u64(), Readiness::of(event.flags));
            }
        }
    }

    fn announce(&self, key: u64, readiness: Readiness) {
        Deferred::with(|deferred| {
            // The source may have been dropped since the kernel's report.
            if let Some(source) = self.sources.lock().get(&key) {
                source.update(|gathered| *gathered = readiness, deferred);
            }
        });
    }
}
