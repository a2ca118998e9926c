//! Watches the requests and responses of one endpoint of a service.

use crate::message::Gid;
use crate::message::block::RawMessage;
use crate::sys::sync::{Arc, AtomicBool, Mutex, Ordering};

/// An event at an endpoint, with the numbers of `service_msgs/msg/ServiceEventInfo`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum ServiceEvent {
    RequestSent = 0,
    RequestReceived = 1,
    ResponseSent = 2,
    ResponseReceived = 3,
}

/// An observer of each request and response.
pub(crate) trait ServiceObserver: Send + Sync {
    /// Observes an event of this client's request with this number, or of its response. The caller
    /// may hold locks: this runs no code of the program.
    fn observe(&self, event: ServiceEvent, call: (Gid, u64), message: &RawMessage);
}

/// The observer of an endpoint, if it has one. Without one, a call only checks a flag.
#[derive(Default)]
pub(crate) struct Observed {
    is_on: AtomicBool,
    observer: Mutex<Option<Arc<dyn ServiceObserver>>>,
}

impl Observed {
    /// Sets or removes the observer. Returns the previous one, to be dropped under no lock.
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

    /// Notifies the observer.
    #[inline]
    pub(crate) fn notify(
        &self,
        event: ServiceEvent,
        call: impl FnOnce() -> (Gid, u64),
        message: &RawMessage,
    ) {
        if self.is_on() {
            self.notify_observer(event, call(), message);
        }
    }

    #[cold]
    fn notify_observer(&self, event: ServiceEvent, call: (Gid, u64), message: &RawMessage) {
        let observer = self.observer.lock().clone();
        if let Some(observer) = observer {
            observer.observe(event, call, message);
        }
    }
}
