//! A core that is busy while others are measured.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use sinew_bench::machine;

/// Bytes that are copied: more than the caches of a core hold.
const COPIED: usize = 8 << 20;

/// While this lives, a thread copies memory on the last core that this process may use. Without a
/// core to choose, or a second one, it copies wherever the kernel lets it.
pub struct Load {
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Load {
    /// Begins.
    pub fn begin() -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let over = is_over.clone();
        let thread = thread::spawn(move || {
            if let Some(core) = machine::allowed_cores().ok().and_then(|cores| cores.last().copied()) {
                // Where it isn't granted, the kernel chooses: the core is busy all the same.
                let _ = machine::pin_to(core);
            }
            let (from, mut to) = (vec![1_u8; COPIED], vec![0_u8; COPIED]);
            while !over.load(Ordering::Relaxed) {
                to.copy_from_slice(black_box(&from));
                black_box(&to);
            }
        });
        Self { is_over, thread: Some(thread) }
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // It can't panic, and there would be nothing to end.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_core_is_busy_until_it_ends() {
        let load = Load::begin();
        let is_over = load.is_over.clone();
        let before = machine::cpu_time();
        while machine::cpu_time() < before + Duration::from_millis(5) {
            thread::sleep(Duration::from_millis(1)); // this thread uses next to nothing
        }
        drop(load);
        assert_eq!(Arc::strong_count(&is_over), 1, "the thread has ended");
    }
}
