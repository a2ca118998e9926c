//! The thread that publishes status arrays while there are many goals.
//!
//! ROS 2's status array lists all known goals, and each transition makes a new one: with a thousand
//! goals, an array costs more than everything else that a goal does. Its topic keeps only the last
//! one, so intermediate arrays may be skipped. While there are many goals, arrays are therefore
//! published by a thread of their own, at most one per [`PERIOD`]. This isn't the group's work,
//! because a callback may take hours, and clients need to see the states of other goals meanwhile.

use sinew::__private::threads;
use std::io;
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

/// Greatest number of goals in an array that is published at once, on the thread that changes a
/// goal: that costs about as much as waking another thread.
pub(super) const FEW: usize = 64;

/// The thread's pause between two arrays.
pub(super) const PERIOD: Duration = Duration::from_millis(2);

/// Publishes when it is woken, and again while there is something new. The thread ends when this is
/// dropped.
pub(super) struct StatusThread(SyncSender<()>);

impl StatusThread {
    /// Starts the thread. `publish` returns whether it published: then it is called again one
    /// period later, otherwise at the next [`wake`](Self::wake).
    pub(super) fn start(publish: impl Fn() -> bool + Send + 'static) -> io::Result<Self> {
        let (wake, woken) = sync_channel(1);
        threads::builder("sinew-goals").spawn(move || {
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

    /// Wakes the thread. Never blocks.
    pub(super) fn wake(&self) {
        let _ = self.0.try_send(()); // full: the thread is about to wake anyway
    }
}
