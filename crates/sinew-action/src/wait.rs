//! Waiting for a future on a thread that has nothing else to do.

use sinew::Duration;
use sinew::time::Time;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Polls it until it is ready, at most for `timeout` (of real time). `None`: it isn't.
pub(crate) fn wait_for<F: Future + Unpin>(future: &mut F, timeout: Duration) -> Option<F::Output> {
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
