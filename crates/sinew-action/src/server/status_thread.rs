//! The thread that publishes status arrays once the goals are many.
//!
//! ROS 2's status array has all goals that are known, and each transition makes a new one: of a
//! thousand goals an array costs more than all else that a goal does. Its topic keeps the last one
//! only, so what comes between may be left out. While goals are many, arrays therefore leave on a
//! thread of their own, one in [`PERIOD`] at most. It isn't the group's work, because a callback may
//! take hours, and clients are to see meanwhile what became of other goals.

use std::io;
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

/// An array of so many goals is published at once, on the thread that changes one: it costs about as
/// much as waking another thread.
pub(super) const FEW: usize = 64;

/// How long the thread waits between two arrays.
pub(super) const PERIOD: Duration = Duration::from_millis(2);

/// Publishes when it is woken, and again while there is something new; ends when it is dropped.
pub(super) struct StatusThread(SyncSender<()>);

impl StatusThread {
    /// `publish` returns whether it published: then it is called again one period later, otherwise
    /// at the next [`wake`](Self::wake).
    pub(super) fn start(publish: impl Fn() -> bool + Send + 'static) -> io::Result<Self> {
        let (wake, woken) = sync_channel(1);
        let thread = std::thread::Builder::new().name("sinew-goals".to_owned()).stack_size(256 * 1024);
        thread.spawn(move || {
            while woken.recv().is_ok() {
                while publish() {
                    if woken.recv_timeout(PERIOD) == Err(RecvTimeoutError::Disconnected) {
                        return;
                    }
                }
            }
        })?;
        Ok(Self(wake))
    }

    /// Never blocks.
    pub(super) fn wake(&self) {
        let _ = self.0.try_send(()); // full: it is about to wake anyway
    }
}
