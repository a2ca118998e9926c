//! Timers of the three clocks, and their due times.

use super::heap::{Heap, index};
use crate::sys::clock::ClockKind;
use slab::Slab;

/// The due times of timers, per clock.
pub(crate) struct TimerQueue {
    /// When the first steady timer is due; `i64::MAX` for none.
    first_due: i64,
    heaps: [Heap<i64>; 3],
    timers: Slab<Timer>,
}

#[derive(Clone, Copy)]
struct Timer {
    clock: ClockKind,
    member: u32,
}

impl TimerQueue {
    pub(super) fn new() -> Self {
        Self { first_due: i64::MAX, heaps: [Heap::new(), Heap::new(), Heap::new()], timers: Slab::new() }
    }

    /// When the first steady timer is due; `i64::MAX` for none.
    #[inline]
    pub(crate) fn first_due(&self) -> i64 {
        self.first_due
    }

    /// Returns the due time of the first timer of a clock.
    pub(crate) fn due(&self, clock: ClockKind) -> Option<i64> {
        self.heaps[clock as usize].peek().map(|(due, _)| due)
    }

    /// Whether there are timers of clocks other than the steady one.
    pub(super) fn has_other_clocks(&self) -> bool {
        let [_, others @ ..] = &self.heaps;
        others.iter().any(|heap| !heap.is_empty())
    }

    /// Sets the due time of a member's timer. `timer` is its number, which it gets here if it has
    /// none. Returns `true` if it is now due before all others of its clock, and was not before.
    pub(super) fn set(
        &mut self,
        timer: &mut Option<u32>,
        member: u32,
        (clock, due): (ClockKind, Option<i64>),
    ) -> bool {
        if let Some(timer) = *timer {
            let former = std::mem::replace(&mut self.timers[timer as usize].clock, clock);
            if former != clock {
                self.heaps[former as usize].remove(timer); // it follows another clock now
            }
        }
        let before = self.due(clock);
        match (*timer, due) {
            (Some(timer), Some(due)) => self.heaps[clock as usize].update(timer, due),
            (None, Some(due)) => {
                let new = index(self.timers.insert(Timer { clock, member }));
                *timer = Some(new);
                self.heaps[clock as usize].push(new, due);
            }
            (Some(timer), None) => drop(self.heaps[clock as usize].remove(timer)),
            (None, None) => return false,
        }
        self.note_first();
        self.due(clock).is_some_and(|first| before.is_none_or(|before| first < before))
    }

    pub(super) fn remove(&mut self, timer: u32) {
        let gone = self.timers.remove(timer as usize);
        self.heaps[gone.clock as usize].remove(timer);
        self.note_first();
    }

    /// Takes out the first timer that is due at `now`: its member, and its due time.
    pub(super) fn pop(&mut self, clock: ClockKind, now: i64) -> Option<(u32, i64)> {
        let heap = &mut self.heaps[clock as usize];
        let (due, timer) = heap.peek().filter(|(due, _)| *due <= now)?;
        heap.pop();
        self.note_first();
        Some((self.timers[timer as usize].member, due))
    }

    fn note_first(&mut self) {
        self.first_due = self.due(ClockKind::Steady).unwrap_or(i64::MAX);
    }
}
