//! Waiting for a future on a thread that has nothing else to do.

use crate::sys::clock::Time;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Blocks until a future is ready, for at most `timeout` of real time. Returns `None` after the
/// timeout; the future may then be polled again.
///
/// The thread sleeps and runs no executor, so other threads have to make the future ready: for
/// example, the thread that receives an answer from another process. In a callback this keeps the
/// thread from running others; if the future depends on one of these, the wait ends only with the
/// timeout. Allocates a waker.
///
/// ```
/// use sinew::prelude::*;
/// let mut number = std::pin::pin!(async { 7 });
/// assert_eq!(sinew::executor::wait_for(&mut number, Duration::from_secs(1)), Some(7));
/// let mut never = std::future::pending::<()>();
/// assert_eq!(sinew::executor::wait_for(&mut never, Duration::ZERO), None);
/// ```
pub fn wait_for<F: Future + Unpin>(future: &mut F, timeout: Duration) -> Option<F::Output> {
    let waker: Waker = Arc::new(Unpark(thread::current())).into();
    let deadline = Time::steady() + timeout;
    loop {
        if let Poll::Ready(output) = Pin::new(&mut *future).poll(&mut Context::from_waker(&waker)) {
            return Some(output);
        }
        let left = deadline - Time::steady();
        if left.is_zero() {
            return None;
        }
        thread::park_timeout(left);
    }
}
