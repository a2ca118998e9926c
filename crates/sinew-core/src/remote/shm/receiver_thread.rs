//! The thread that receives from other processes for subscriptions that wait without an executor:
//! tasks that await a message, listeners, and executors inside another library's event loop. It
//! sleeps while nothing arrives. It also notifies listeners of messages that threads of the program
//! read while they took a message by hand.

use crate::mailbox::waiters::Notifications;
use crate::sys::sync::{Arc, AtomicBool, Mutex, Ordering};
use sinew_shm::CapacityError;
use sinew_shm::threads;
use sinew_shm::transport::EventReceiver;
use std::io;
use std::thread::JoinHandle;

/// The thread, and its port.
pub(crate) struct ReceiverThread {
    port: Arc<EventReceiver>,
    ends: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

/// The reason why the thread can't be started.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    /// There is no place for its port.
    #[error(transparent)]
    Capacity(#[from] CapacityError),
    /// The operating system has no thread for it.
    #[error(
        "the thread `sinew-receiver` can't be started: {0} (see `ulimit -u`, and the memory that is left)"
    )]
    Thread(io::Error),
}

impl ReceiverThread {
    /// Starts the thread. `notifications`: the notifications that it makes each time its port is
    /// rung.
    pub(crate) fn start(
        port: Arc<EventReceiver>,
        notifications: &Arc<Mutex<Notifications>>,
    ) -> Result<Self, StartError> {
        let ends = Arc::new(AtomicBool::new(false));
        let (theirs, their_end, notifications) = (port.clone(), ends.clone(), notifications.clone());
        let thread = threads::builder("sinew-receiver")
            .spawn(move || receive(&theirs, &their_end, &notifications))
            .map_err(StartError::Thread)?;
        Ok(Self { port, ends, thread })
    }

    pub(crate) fn port(&self) -> Arc<EventReceiver> {
        self.port.clone()
    }

    /// Ends the thread, and waits until it has ended, unless called on the thread itself.
    pub(crate) fn stop(self) {
        self.ends.store(true, Ordering::Release); // pairs with the load in `receive`
        self.port.ring();
        if self.thread.thread().id() != std::thread::current().id() {
            let _ = self.thread.join(); // a panic of a listener is already logged
        }
    }
}

fn receive(port: &EventReceiver, ends: &AtomicBool, notifications: &Mutex<Notifications>) {
    loop {
        let seen = port.bell(); // K1
        if ends.load(Ordering::Acquire) {
            return;
        }
        let due = std::mem::take(&mut *notifications.lock()); // after K1: later ones ring again
        due.into_iter().for_each(|notify| notify());
        if port.drain() {
            continue;
        }
        port.park(); // K2
        if !port.is_pending() {
            port.sleep(seen, None); // K3
        }
        port.unpark();
    }
}
