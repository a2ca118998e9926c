//! The thread that receives from other processes for subscriptions that wait without an executor: tasks that await a message,
//! listeners, and executors inside somebody else's event loop. It sleeps while nothing comes.

use crate::sync::{Arc, AtomicBool, Ordering};
use sinew_shm::{CapacityError, Participant, Port};
use std::thread::JoinHandle;

/// The thread, and its port.
pub(crate) struct Receiver {
    port: Arc<Port>,
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Receiver {
    pub(crate) fn start(participant: &Arc<Participant>) -> Result<Self, CapacityError> {
        let port = Port::new(participant, None)?;
        let ends = Arc::new(AtomicBool::new(false));
        let (theirs, their_end) = (port.clone(), ends.clone());
        let thread = std::thread::Builder::new()
            .name("sinew-receiver".to_owned())
            .stack_size(256 << 10)
            .spawn(move || receive(&theirs, &their_end))
            .inspect_err(|error| log::error!("the receiving thread could not be started: {error}"))
            .ok();
        Ok(Self { port, ends, thread })
    }

    pub(crate) fn port(&self) -> Arc<Port> {
        self.port.clone()
    }

    /// Ends the thread, and waits until it has ended, unless this is it.
    pub(crate) fn stop(mut self) {
        self.ends.store(true, Ordering::Release); // pairs with the load in `receive`
        self.port.ring();
        let Some(thread) = self.thread.take() else { return };
        if thread.thread().id() != std::thread::current().id() {
            let _ = thread.join(); // a listener that panics has said so
        }
    }
}

fn receive(port: &Port, ends: &AtomicBool) {
    loop {
        let seen = port.bell(); // K1
        if ends.load(Ordering::Acquire) {
            return;
        }
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
