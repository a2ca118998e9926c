//! The thread of a participant that follows the others.

use crate::error::{JoinError, SystemError};
use crate::participant::Participant;
use crate::sync::{Arc, AtomicU32};
use crate::sys::{self, Watch};
use std::cell::RefCell;
use std::sync::Weak;
use std::thread::JoinHandle;
use std::time::Duration;

/// How long a helper thread sleeps at most, in what it runs, before it hears its doorbell again.
const DEAF: Duration = Duration::from_millis(1);

thread_local! {
    /// Whose helper thread this is, if that one has a doorbell.
    static HEARS: RefCell<Weak<Participant>> = const { RefCell::new(Weak::new()) };
}

/// Sleeps on a bell as [`sys::futex_wait`] does. A helper thread, which other users ring by
/// touching a file, can't sleep on both: it goes on hearing that file meanwhile, for all threads
/// whose bells it is to ring, and returns early for what it itself waits for.
pub(crate) fn sleep_on(bell: &AtomicU32, seen: u32, timeout: Option<Duration>) {
    // None in a thread that ends.
    let whose = HEARS.try_with(|whose| whose.borrow().upgrade()).ok().flatten();
    let Some(participant) = whose else { return sys::futex_wait(bell, seen, timeout) };
    sys::futex_wait(bell, seen, Some(timeout.map_or(DEAF, |timeout| timeout.min(DEAF))));
    participant.hear_doorbell();
}

/// The thread that follows the others.
pub(crate) struct Helper {
    wake: Arc<sys::Wake>,
    thread: Option<JoinHandle<()>>,
}

impl Helper {
    pub(crate) fn start(participant: &Arc<Participant>) -> Result<Self, JoinError> {
        let path = participant.domain().path();
        let wake = Arc::new(sys::Wake::new().map_err(SystemError::io("eventfd", path))?);
        let watch = participant.discovery.lock().watch.as_ref().and_then(Watch::descriptor);
        let (theirs, whose) = (wake.clone(), Arc::downgrade(participant));
        let thread = std::thread::Builder::new()
            .name("sinew-shm".to_owned())
            .stack_size(256 << 10)
            .spawn(move || help(&whose, &theirs, watch.as_ref()))
            .map_err(SystemError::io("starting a thread", path))?;
        Ok(Self { wake, thread: Some(thread) })
    }

    /// Has it look.
    pub(crate) fn wake(&self) {
        self.wake.wake();
    }

    /// Ends it, and waits until it has ended, unless this is it.
    pub(crate) fn stop(mut self) {
        self.wake.wake();
        let Some(thread) = self.thread.take() else { return };
        if thread.thread().id() != std::thread::current().id() {
            let _ = thread.join(); // it doesn't panic; if it did, it said so
        }
    }
}

fn help(whose: &Weak<Participant>, wake: &sys::Wake, watch: Option<&rustix::fd::OwnedFd>) {
    sys::small_timer_slack();
    if let Some(participant) = whose.upgrade()
        && participant.domain().touch_mode().is_some()
    {
        HEARS.set(whose.clone());
    }
    loop {
        let patience = {
            let Some(participant) = whose.upgrade() else { return };
            if participant.check().is_err() {
                return;
            }
            let patience = participant.look(false);
            participant
                .paused()
                .map_or(patience, |left| patience.min(Duration::from_nanos(left.unsigned_abs())))
        };
        sys::wait_for(wake, watch, patience);
    }
}
