//! Polling futures without a runtime.

use super::PATIENCE;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

/// Wakes a thread that is parked.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Waits on this thread until the future is ready.
#[track_caller]
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    #[expect(clippy::disallowed_methods, reason = "only to fail instead of hanging")]
    let end = std::time::Instant::now() + PATIENCE;
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        #[expect(clippy::disallowed_methods, reason = "as above")]
        let left = end.saturating_duration_since(std::time::Instant::now());
        assert!(!left.is_zero(), "nobody wakes this task");
        thread::park_timeout(left);
    }
}

/// A task that is polled by hand, and counts how often it was woken.
#[derive(Default)]
pub(crate) struct Task(Arc<Rings>);

#[derive(Default)]
struct Rings(AtomicU64);

impl Wake for Rings {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl Task {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn waker(&self) -> Waker {
        Waker::from(self.0.clone())
    }

    /// Polls the future in this task.
    pub(crate) fn poll<F: Future + Unpin>(&self, future: &mut F) -> Poll<F::Output> {
        Pin::new(future).poll(&mut Context::from_waker(&self.waker()))
    }

    /// How often it was woken since this was asked last.
    pub(crate) fn rings(&self) -> u64 {
        self.0.0.swap(0, Ordering::Relaxed)
    }
}
