//! Futures that wait for a change of the same state: one waker for each, and none for a future that
//! is gone.

use sinew::__private::locks::Mutex;
use std::task::{Poll, Waker};

/// The wakers of the futures that wait for a change of a state; part of it, under its lock.
#[derive(Default)]
pub(crate) struct Wakers {
    /// Each with the number of its future's [`Place`].
    wakers: Vec<(u64, Waker)>,
    /// The last number that was given to a place.
    last: u64,
}

impl Wakers {
    /// Takes all of them. The caller wakes them without holding a lock.
    #[must_use]
    pub(crate) fn take(&mut self) -> Vec<Waker> {
        let wakers = std::mem::take(&mut self.wakers);
        wakers.into_iter().map(|(_, waker)| waker).collect()
    }

    fn has(&self, number: Option<u64>, task: &Waker) -> bool {
        self.wakers.iter().any(|(other, waker)| Some(*other) == number && waker.will_wake(task))
    }

    /// The caller drops the waker without holding a lock.
    #[must_use]
    fn remove(&mut self, number: Option<u64>) -> Option<Waker> {
        let position = self.wakers.iter().position(|(other, _)| Some(*other) == number)?;
        Some(self.wakers.swap_remove(position).1)
    }
}

/// A state that futures wait for.
pub(crate) trait Waited {
    fn wakers(&mut self) -> &mut Wakers;
}

/// A future's place among those that wait for a state. The future [leaves](Self::leave) it when it
/// is dropped.
#[derive(Default)]
pub(crate) struct Place {
    /// `None` before the future has waited.
    number: Option<u64>,
}

impl Place {
    /// Returns what `look` finds, or registers the task, instead of the future's last one, to be
    /// woken by the next change.
    pub(crate) fn poll<S: Waited, T>(
        &mut self,
        state: &Mutex<S>,
        task: &Waker,
        mut look: impl FnMut(&mut S) -> Option<T>,
    ) -> Poll<T> {
        let mut ours = None;
        loop {
            let mut state = state.lock();
            if let Some(found) = look(&mut state) {
                drop(state);
                drop(ours); // dropping a waker runs the program's code: outside the lock
                return Poll::Ready(found);
            }
            let known = state.wakers();
            if known.has(self.number, task) {
                return Poll::Pending;
            }
            if let Some(ours) = ours.take() {
                let before = known.remove(self.number);
                let number = *self.number.get_or_insert_with(|| {
                    known.last += 1;
                    known.last
                });
                known.wakers.push((number, ours));
                drop(state);
                drop(before);
                return Poll::Pending;
            }
            drop(state);
            ours = Some(task.clone()); // runs the program's code; then look again
        }
    }

    /// Forgets the future's task.
    pub(crate) fn leave<S: Waited>(&mut self, state: &Mutex<S>) {
        if let Some(number) = self.number.take() {
            let waker = state.lock().wakers().remove(Some(number));
            drop(waker); // runs the program's code: outside the lock
        }
    }
}
