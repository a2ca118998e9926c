//! The thread of a participant that follows the other participants.

use crate::discovery::follower::Follower;
use crate::error::{JoinError, SystemError};
use crate::platform::sync::Arc;
use crate::platform::sys::{self, Watch};
use crate::platform::threads;
use crate::tables::bell::watch_while_asleep;
use std::sync::Weak;
use std::thread::JoinHandle;
use std::time::Duration;

/// The thread that follows the other participants.
pub(crate) struct Helper {
    wake: Arc<sys::Wake>,
    thread: Option<JoinHandle<()>>,
}

impl Helper {
    pub(crate) fn start(follower: &Arc<Follower>) -> Result<Self, JoinError> {
        let path = follower.own.domain.path();
        let wake = Arc::new(sys::Wake::new().map_err(SystemError::io("eventfd", path))?);
        // Without it, the thread would neither hear the kernel's reports nor poll.
        let watch = follower.discovery.lock().watch.as_ref().map(Watch::descriptor).transpose();
        let watch = watch.map_err(SystemError::io("dup", path))?;
        let (theirs, weak) = (wake.clone(), Arc::downgrade(follower));
        let thread = threads::builder("sinew-shm")
            .spawn(move || help(&weak, &theirs, watch.as_ref()))
            .map_err(SystemError::io("starting a thread", path))?;
        let _ = follower.own.helper.set(wake.clone()); // there is one helper thread
        Ok(Self { wake, thread: Some(thread) })
    }

    /// Ends the thread, and waits until it has ended, unless this is that thread.
    pub(crate) fn stop(mut self) {
        self.wake.wake();
        let Some(thread) = self.thread.take() else { return };
        if thread.thread().id() != std::thread::current().id() {
            let _ = thread.join(); // it doesn't panic; if it did, the panic was reported
        }
    }
}

fn help(weak: &Weak<Follower>, wake: &sys::Wake, watch: Option<&rustix::fd::OwnedFd>) {
    sys::small_timer_slack();
    if let Some(follower) = weak.upgrade()
        && follower.own.domain.touch_mode().is_some()
    {
        watch_while_asleep(weak.clone());
    }
    loop {
        let patience = {
            let Some(follower) = weak.upgrade() else { return };
            if follower.own.check().is_err() {
                return;
            }
            let beat = follower.own.beat();
            let look = follower.look(false);
            let pause = follower.own.paused().map(|left| Duration::from_nanos(left.unsigned_abs()));
            [beat, look, pause].into_iter().flatten().min()
        };
        sys::wait_for(wake, watch, patience);
    }
}
