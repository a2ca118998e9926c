//! The time that a cache line takes from one core to the other, now.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use sinew_bench::machine;
use sinew_bench::samples::median;

/// Most batches, of which the median counts: a few are interrupted.
const BATCHES: u64 = 500;

/// Turns in a batch: few, since each may take a turn of the kernel's scheduler on a busy machine.
const TURNS: u64 = 20;

/// The time after which no further batch begins.
const ENOUGH: Duration = Duration::from_millis(20);

/// The number that ends the other thread.
const OVER: u64 = u64::MAX;

/// A counter with its cache line, and the one that is fetched with it, to itself.
#[repr(align(128))]
struct Turn(AtomicU64);

impl Turn {
    /// Polls until the number is another one than `seen`, and returns it.
    fn after(&self, seen: u64) -> u64 {
        loop {
            // Acquire: as a flag before a message would be read.
            let now = self.0.load(Ordering::Acquire);
            if now != seen {
                return now;
            }
            spin_loop();
        }
    }

    fn set(&self, number: u64) {
        self.0.store(number, Ordering::Release); // pairs with `after`
    }
}

/// Measures the time in nanoseconds between two threads that take turns, on the cores that the
/// cases use. Returns `None` if there are no two cores.
pub fn nanoseconds() -> Option<f64> {
    let (first, second) = machine::two_cores().ok()??;
    let (forth, back) = (Turn(AtomicU64::new(0)), Turn(AtomicU64::new(0)));
    thread::scope(|threads| {
        threads.spawn(|| {
            // If it can't be pinned, it answers all the same: the first thread waits for it.
            let _ = machine::pin_to(second);
            let mut seen = 0;
            loop {
                seen = forth.after(seen);
                if seen == OVER {
                    return;
                }
                back.set(seen);
            }
        });
        let measured = threads.spawn(|| {
            let pinned = machine::pin_to(first).ok();
            let until = Instant::now() + ENOUGH;
            let batch = |batch: u64| {
                let begun = Instant::now();
                for turn in batch * TURNS..(batch + 1) * TURNS {
                    forth.set(turn + 1);
                    back.after(turn);
                }
                begun.elapsed().as_secs_f64() * 1e9 / (2 * TURNS) as f64
            };
            let in_time = |_: &u64| Instant::now() < until;
            let each = pinned.map(|()| (0..BATCHES).take_while(in_time).map(batch).collect::<Vec<_>>());
            forth.set(OVER);
            median(each?)
        });
        measured.join().ok()?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_measured_where_there_are_two_cores() {
        let cores = machine::two_cores().unwrap();
        assert_eq!(nanoseconds().is_some_and(|line| line > 0.0), cores.is_some());
    }
}
