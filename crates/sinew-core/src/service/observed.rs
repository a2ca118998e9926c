//! Watching the requests and responses of one end of a service.

use crate::message::Gid;
use crate::message::block::RawMessage;
use crate::sys::sync::{Arc, AtomicBool, Mutex, Ordering};

/// What happens at an end. (The numbers of `service_msgs/msg/ServiceEventInfo`.)
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum ServiceEvent {
    RequestSent = 0,
    RequestReceived = 1,
    ResponseSent = 2,
    ResponseReceived = 3,
}

/// Is told of each request and response.
pub(crate) trait ServiceObserver: Send + Sync {
    /// What happens to the request of this client with this number, or to its response. Locks may
    /// be held: it runs no code of the program.
    fn observe(&self, event: ServiceEvent, call: (Gid, u64), message: &RawMessage);
}

/// The observer of an end, if it has one. Without, a call costs the look at a flag.
#[derive(Default)]
pub(crate) struct Observed {
    is_on: AtomicBool,
    observer: Mutex<Option<Arc<dyn ServiceObserver>>>,
}

impl Observed {
    /// Sets it, or takes it away. What it was comes back, to be dropped under no lock.
    #[must_use]
    pub(crate) fn set(&self, observer: Option<Arc<dyn ServiceObserver>>) -> Option<Arc<dyn ServiceObserver>> {
        let mut place = self.observer.lock();
        // Relaxed: the observer itself is read under the lock.
        self.is_on.store(observer.is_some(), Ordering::Relaxed);
        std::mem::replace(&mut *place, observer)
    }

    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.is_on.load(Ordering::Relaxed) // as in `set`
    }

    /// Tells it.
    #[inline]
    pub(crate) fn tell(&self, event: ServiceEvent, call: impl FnOnce() -> (Gid, u64), message: &RawMessage) {
        if self.is_on() {
            self.tell_it(event, call(), message);
        }
    }

    #[cold]
    fn tell_it(&self, event: ServiceEvent, call: (Gid, u64), message: &RawMessage) {
        let observer = self.observer.lock().clone();
        if let Some(observer) = observer {
            observer.observe(event, call, message);
        }
    }
}
