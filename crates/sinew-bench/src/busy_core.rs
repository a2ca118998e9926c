//! A core that is busy while others are measured.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use crate::{Error, machine};

/// Keeps the last allowed core busy until it is dropped.
pub struct BusyCore {
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<(), Error>>>,
}

impl BusyCore {
    /// Has a thread repeat `work`.
    ///
    /// # Errors
    ///
    /// If the allowed cores can't be read.
    pub fn start(mut work: impl FnMut() + Send + 'static) -> Result<Self, Error> {
        let core = machine::allowed_cores()?.last().copied();
        let is_over = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&is_over);
        let thread = thread::spawn(move || {
            core.map_or(Ok(()), machine::pin_to)?;
            // Relaxed: nothing else depends on the flag.
            while !told.load(Ordering::Relaxed) {
                work();
            }
            Ok(())
        });
        Ok(Self { is_over, thread: Some(thread) })
    }
}

impl Drop for BusyCore {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // Whether it could be pinned matters only for the figures, and the kernel keeps a
            // busy thread in place.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn it_works_until_it_is_dropped() {
        let (worked, times) = mpsc::channel();
        let alive = Arc::new(());
        let held = Arc::clone(&alive);
        let busy = BusyCore::start(move || {
            let _ = (&held, worked.send(()));
        });
        (0..3).for_each(|_| times.recv().unwrap());
        drop(busy.unwrap());
        assert_eq!(Arc::strong_count(&alive), 1, "the thread has ended");
    }
}
