//! Floor `copy`: copying bytes within memory, with a warm cache and with a cold one.

use std::hint::black_box;
use std::time::Duration;

use crate::machine;
use crate::{Figures, Samples, Window, now_ns};

/// The size that is also copied cold: a large camera image.
pub(crate) const COLD_SIZE: usize = 8 << 20;

/// Number of samples that a round keeps.
const ROOM: usize = 100_000;

/// Copies the same bytes repeatedly to the same place.
pub(crate) struct Warm {
    from: Vec<u8>,
    to: Vec<u8>,
}

impl Warm {
    pub(crate) fn new(size: usize) -> Self {
        Self { from: touched(size), to: touched(size) }
    }

    /// Returns the number of copies in one sample: enough to make the time for reading the clock
    /// negligible.
    fn operations(size: usize) -> u32 {
        u32::try_from((64 << 10) / size.max(1)).unwrap_or(u32::MAX).max(1)
    }

    /// Measures one round.
    pub(crate) fn round(&mut self, time: Duration) -> Figures {
        let operations = Self::operations(self.from.len());
        sampled(time, operations, || {
            for _ in 0..operations {
                copy(&self.from, &mut self.to);
            }
        })
    }
}

/// Copies between buffers that together have several times the size of the last cache.
pub(crate) struct Cold {
    buffers: Vec<Vec<u8>>,
    next: usize,
}

impl Cold {
    pub(crate) fn new(size: usize) -> Self {
        let wanted = (4 * machine::last_cache_bytes()).clamp(128 << 20, 512 << 20);
        // An even number: buffers are used in pairs.
        let pairs = wanted.div_ceil(2 * size.max(1));
        Self { buffers: (0..2 * pairs).map(|_| touched(size)).collect(), next: 0 }
    }

    /// Measures one round.
    pub(crate) fn round(&mut self, time: Duration) -> Figures {
        sampled(time, 1, || {
            if let [from, to] = &mut self.buffers[self.next..self.next + 2] {
                copy(from, to);
            }
            self.next = (self.next + 2) % self.buffers.len();
        })
    }
}

/// Repeats `work`, which copies `operations` times, for `time`.
fn sampled(time: Duration, operations: u32, mut work: impl FnMut()) -> Figures {
    let mut samples = Samples::with_room_for(ROOM);
    let window = Window::of(time);
    let mut before = now_ns();
    loop {
        work();
        let after = now_ns();
        window.record(after, after - before, &mut samples);
        if window.is_over(after, &samples) {
            return Figures::of(&samples, operations);
        }
        before = after;
    }
}

fn copy(from: &[u8], to: &mut [u8]) {
    black_box(&mut *to).copy_from_slice(black_box(from));
    black_box(to);
}

/// Returns memory with every page touched.
fn touched(size: usize) -> Vec<u8> {
    vec![0x5a; size]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_copies_and_measures() {
        let mut warm = Warm::new(256);
        warm.to.fill(0);
        assert!(warm.round(Duration::from_millis(1)).messages >= Some(3));
        assert_eq!(warm.from, warm.to);
        assert_eq!((Warm::operations(256), Warm::operations(8 << 20)), (256, 1));
    }

    #[test]
    fn cold_copies_go_around_all_buffers() {
        let mut cold = Cold { buffers: (0..6).map(|fill| vec![fill; 16]).collect(), next: 0 };
        cold.round(Duration::ZERO);
        assert_eq!(cold.buffers.iter().map(|buffer| buffer[0]).collect::<Vec<_>>(), [0, 0, 2, 2, 4, 4]);
    }
}
