//! Who waits for whom: threads that wait for a place in a history, or for a server's answer. Touched only by those who wait.
//!
//! A thread that waits needs somebody to run callbacks of a certain group in a certain executor. Nobody will if the group's
//! turn is with a thread that waits itself, in vain, or if all threads that spin the executor do. Who waits in vain is what
//! remains when everybody is struck off whose wait somebody can end (the rest of an AND-OR graph: of an executor any thread
//! will do, of a group only the one that has its turn). A wait that would be in vain from the start isn't begun; as every
//! wait was checked when it began, it is the last one of a circle that fails.

use crate::executor::current;
use crate::executor::scheduler::Home;
use crate::sync::{Arc, Mutex, next_serial};

/// The waiting threads of a process, as far as they hold something that others may wait for.
pub(crate) struct Waits(Mutex<Vec<Waiter>>);

/// A thread that waits.
struct Waiter {
    serial: u64,
    /// The groups whose turns it has.
    groups: Vec<u64>,
    /// The executors it spins.
    executors: Vec<u64>,
    /// Whose callback has to run.
    group: u64,
    /// The executor that has to run it; 0 if the thread would do that itself.
    executor: u64,
    /// How many threads spin that executor.
    present: usize,
}

/// While it lives, the thread is known to wait.
pub(crate) struct Waiting<'a> {
    waits: &'a Waits,
    serial: u64,
}

impl Waits {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// Those of this process: executors, groups and threads are the same for all its contexts.
    #[cfg(not(loom))]
    pub(crate) fn of_this_process() -> Arc<Self> {
        static WAITS: std::sync::LazyLock<Arc<Waits>> = std::sync::LazyLock::new(|| Arc::new(Waits::new()));
        WAITS.clone()
    }

    /// In a model nothing outlives it.
    #[cfg(loom)]
    pub(crate) fn of_this_process() -> Arc<Self> {
        Arc::new(Self::new())
    }

    /// Notes that this thread waits for a callback of what lives there. `lends`: it would run the callback itself, if its group is
    /// free.
    pub(crate) fn enter(&self, home: &Home, lends: bool) -> Result<Option<Waiting<'_>>, InVain> {
        self.begin(Waiter {
            serial: next_serial(),
            groups: current::groups(),
            executors: current::spinning(),
            group: home.group(),
            executor: if lends { 0 } else { home.scheduler.id },
            present: home.scheduler.present(),
        })
    }

    /// Notes that this thread waits until a callback of a group has ended that runs now.
    pub(crate) fn enter_group(&self, group: u64) -> Result<Option<Waiting<'_>>, InVain> {
        let (groups, executors) = (current::groups(), current::spinning());
        self.begin(Waiter { serial: next_serial(), groups, executors, group, executor: 0, present: 0 })
    }

    fn begin(&self, waiter: Waiter) -> Result<Option<Waiting<'_>>, InVain> {
        let serial = waiter.serial;
        let holds_nothing = waiter.groups.is_empty() && waiter.executors.is_empty();
        let mut waiters = self.0.lock();
        waiters.push(waiter);
        let vain = in_vain(&waiters).iter().any(|waiter| waiter.serial == serial);
        // Who holds nothing holds up nobody: then there is nothing to remember, however many of them wait.
        if vain || holds_nothing {
            waiters.pop();
        }
        match (vain, holds_nothing) {
            (true, _) => Err(InVain),
            (false, true) => Ok(None),
            (false, false) => Ok(Some(Waiting { waits: self, serial })),
        }
    }
}

/// A wait that nobody could end.
#[derive(Debug)]
pub(crate) struct InVain;

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut waiters = self.waits.0.lock();
        if let Some(place) = waiters.iter().position(|waiter| waiter.serial == self.serial) {
            waiters.swap_remove(place);
        }
    }
}

/// Those whose waits nobody can end.
fn in_vain(waiters: &[Waiter]) -> Vec<&Waiter> {
    let mut stuck: Vec<&Waiter> = waiters.iter().collect();
    loop {
        let before = stuck.len();
        let still = stuck.clone();
        stuck.retain(|waiter| {
            // A reentrant group has number 0, and nobody has its turn.
            let group_is_stuck =
                waiter.group != 0 && still.iter().any(|other| other.groups.contains(&waiter.group));
            let spinning = still.iter().filter(|other| other.executors.contains(&waiter.executor)).count();
            // Whom nobody spins now somebody may spin soon.
            let executor_is_stuck = waiter.executor != 0 && waiter.present > 0 && spinning >= waiter.present;
            group_is_stuck || executor_is_stuck
        });
        if stuck.len() == before {
            return stuck;
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// A thread that has the turn of `groups` and spins `executors` waits for `group` in `executor`, which so many threads spin.
    fn waiter(groups: &[u64], executors: &[u64], group: u64, executor: u64, present: usize) -> Waiter {
        let (groups, executors) = (groups.to_vec(), executors.to_vec());
        Waiter { serial: next_serial(), groups, executors, group, executor, present }
    }

    #[test]
    fn a_circle_of_single_threads_is_refused_and_an_end_of_waiting_opens_it() {
        let waits = Waits::new();
        let first = waits.begin(waiter(&[11], &[1], 12, 2, 1)).unwrap();
        let second = waits.begin(waiter(&[12], &[2], 13, 3, 1)).unwrap();
        assert!(waits.begin(waiter(&[13], &[3], 11, 1, 1)).is_err(), "3 -> 1 -> 2 -> 3");
        drop(first);
        let third = waits.begin(waiter(&[13], &[3], 11, 1, 1)).unwrap();
        drop((second, third));
        assert!(waits.0.lock().is_empty());
    }

    #[test]
    fn a_thread_never_waits_for_itself() {
        let waits = Waits::new();
        assert!(waits.begin(waiter(&[11], &[1], 12, 1, 1)).is_err(), "the only thread of the executor");
        assert!(waits.begin(waiter(&[11], &[1], 11, 1, 2)).is_err(), "its own group");
        assert!(waits.begin(waiter(&[11], &[1], 11, 0, 2)).is_err(), "its own group, though it lends itself");
        assert!(
            waits.begin(waiter(&[], &[], 11, 1, 1)).is_ok(),
            "a thread that spins nothing holds up nobody"
        );
    }

    #[test]
    fn one_of_several_threads_may_wait_but_not_the_last() {
        let waits = Waits::new();
        let _first = waits.begin(waiter(&[11], &[1], 13, 1, 2)).unwrap();
        assert!(waits.begin(waiter(&[12], &[1], 14, 1, 2)).is_err(), "nobody would be left");
        assert!(waits.begin(waiter(&[12], &[1], 14, 0, 2)).is_ok(), "it would do it itself");
    }

    #[test]
    fn groups_that_wait_for_each_other_are_refused() {
        let waits = Waits::new();
        let _first = waits.begin(waiter(&[11], &[1], 12, 0, 4)).unwrap();
        assert!(waits.begin(waiter(&[12], &[1], 11, 0, 4)).is_err());
        assert!(waits.begin(waiter(&[13], &[1], 12, 0, 4)).is_ok(), "12 is with somebody who goes on");
    }

    #[test]
    fn what_nobody_spins_yet_may_come() {
        let waits = Waits::new();
        assert!(waits.begin(waiter(&[11], &[1], 12, 2, 0)).is_ok());
    }
}
