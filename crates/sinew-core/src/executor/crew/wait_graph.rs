//! The threads that wait for each other: for a place in a history, or for a server's answer. Only
//! waiting threads touch the graph.
//!
//! A waiting thread needs another one to run callbacks of a certain group in a certain executor.
//! None can if a thread that itself waits in vain has the group's token, or if all threads that
//! spin the executor wait in vain. To find these threads, strike off threads with waits that
//! another thread can end, until no more can be struck off; the others wait in vain (the rest of an
//! AND-OR graph: any thread of an executor will do, but only the one with the token of a group). A
//! thread begins no wait that would be in vain. Since every wait is checked when it begins, the
//! last one of a circle fails.

use super::current;
use super::scheduler::TaskRef;
use crate::sys::sync::{Arc, Mutex, next_serial};

/// The waiting threads of a process that hold a group or an executor for which others may wait.
pub(crate) struct WaitGraph(Mutex<WaitingThreads>);

#[derive(Default)]
struct WaitingThreads {
    waiting: Vec<WaitingThread>,
    /// Records to be reused with their memory: once warm, waiting allocates nothing.
    spare: Vec<WaitingThread>,
}

/// A thread that waits.
#[derive(Default)]
struct WaitingThread {
    serial: u64,
    /// The groups with tokens held by the thread.
    groups: Vec<u64>,
    /// The executors it spins.
    executors: Vec<u64>,
    wants: Awaited,
    /// Whether it is not struck off, during the search for threads that wait in vain.
    is_stuck: bool,
}

/// The target of a thread's wait.
#[derive(Default, Clone, Copy)]
struct Awaited {
    /// The group that has to run a callback.
    group: u64,
    /// The executor that has to run it; 0 if the thread would do that itself.
    executor: u64,
    /// Number of threads that spin that executor.
    present: usize,
}

/// While this lives, the thread is recorded as waiting.
pub(crate) struct WaitScope<'a> {
    wait_graph: &'a WaitGraph,
    serial: u64,
}

impl WaitGraph {
    pub(crate) fn new() -> Self {
        Self(Mutex::default())
    }

    /// Returns the graph of this process: all its contexts share executors, groups and threads.
    #[cfg(not(loom))]
    pub(crate) fn of_this_process() -> Arc<Self> {
        static WAITS: std::sync::LazyLock<Arc<WaitGraph>> =
            std::sync::LazyLock::new(|| Arc::new(WaitGraph::new()));
        WAITS.clone()
    }

    /// Returns a graph of its own for each model, which nothing outlives.
    #[cfg(loom)]
    pub(crate) fn of_this_process() -> Arc<Self> {
        Arc::new(Self::new())
    }

    /// Records that this thread waits for a callback of the task. `lends`: it would run the
    /// callback itself if the group is free. Once warm, allocates nothing.
    pub(crate) fn enter(&self, task_ref: &TaskRef, lends: bool) -> Result<Option<WaitScope<'_>>, Deadlock> {
        let executor = if lends { 0 } else { task_ref.scheduler.id };
        let (group, present) = (task_ref.group(), task_ref.scheduler.present());
        self.begin(Awaited { group, executor, present }, current::hold)
    }

    /// Records that this thread waits until a running callback of a group has ended.
    pub(crate) fn enter_group(&self, group: u64) -> Result<Option<WaitScope<'_>>, Deadlock> {
        self.begin(Awaited { group, ..Awaited::default() }, current::hold)
    }

    /// Begins a wait; `hold` adds the groups with tokens held by the thread, and the executors that
    /// it spins.
    fn begin(
        &self,
        wants: Awaited,
        hold: impl FnOnce(&mut Vec<u64>, &mut Vec<u64>),
    ) -> Result<Option<WaitScope<'_>>, Deadlock> {
        let mut waiters = self.0.lock();
        let mut waiter = waiters.spare.pop().unwrap_or_default();
        hold(&mut waiter.groups, &mut waiter.executors);
        // A thread that holds no group and no executor delays no other one, so its wait need not be
        // recorded. It also doesn't wait in vain, since none of the recorded threads does.
        let result = if waiter.groups.is_empty() && waiter.executors.is_empty() {
            Ok(None)
        } else {
            let serial = next_serial();
            (waiter.serial, waiter.wants) = (serial, wants);
            waiters.waiting.push(waiter);
            mark_stuck(&mut waiters.waiting);
            let is_new = |waiter: &mut WaitingThread| waiter.is_stuck && waiter.serial == serial;
            let Some(vain) = waiters.waiting.pop_if(is_new) else {
                return Ok(Some(WaitScope { wait_graph: self, serial }));
            };
            waiter = vain;
            Err(Deadlock)
        };
        waiters.put_away(waiter);
        result
    }
}

impl WaitingThreads {
    fn put_away(&mut self, mut waiter: WaitingThread) {
        waiter.groups.clear();
        waiter.executors.clear();
        self.spare.push(waiter);
    }
}

/// A wait that no thread could end.
#[derive(Debug)]
pub(crate) struct Deadlock;

impl Drop for WaitScope<'_> {
    fn drop(&mut self) {
        let mut waiters = self.wait_graph.0.lock();
        let place = waiters.waiting.iter().position(|waiter| waiter.serial == self.serial);
        if let Some(place) = place {
            let gone = waiters.waiting.swap_remove(place);
            waiters.put_away(gone);
        }
    }
}

/// Marks the threads with waits that no thread can end.
fn mark_stuck(waiting: &mut [WaitingThread]) {
    waiting.iter_mut().for_each(|waiter| waiter.is_stuck = true);
    let can_go_on =
        |all: &[WaitingThread]| all.iter().position(|one| one.is_stuck && !one.wants.is_blocked_by(all));
    while let Some(place) = can_go_on(waiting) {
        waiting[place].is_stuck = false;
    }
}

impl Awaited {
    /// Whether the stuck threads hold everything that could end the wait.
    fn is_blocked_by(self, all: &[WaitingThread]) -> bool {
        let stuck = || all.iter().filter(|waiter| waiter.is_stuck);
        // A reentrant group has number 0, and no thread has its token.
        let group_is_stuck = self.group != 0 && stuck().any(|one| one.groups.contains(&self.group));
        let spinning = stuck().filter(|one| one.executors.contains(&self.executor)).count();
        // An executor that no thread spins now may be spun soon.
        let executor_is_stuck = self.executor != 0 && self.present > 0 && spinning >= self.present;
        group_is_stuck || executor_is_stuck
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    impl WaitGraph {
        /// Begins the wait of a thread with the tokens of `groups` that spins `executors`: for
        /// `group` in `executor`, which `present` threads spin.
        fn wait(
            &self,
            (groups, executors): (&[u64], &[u64]),
            (group, executor, present): (u64, u64, usize),
        ) -> Result<Option<WaitScope<'_>>, Deadlock> {
            self.begin(Awaited { group, executor, present }, |all_groups, all_executors| {
                all_groups.extend(groups);
                all_executors.extend(executors);
            })
        }
    }

    #[test]
    fn a_circle_of_single_threads_is_refused_and_an_end_of_waiting_opens_it() {
        let wait_graph = WaitGraph::new();
        let first = wait_graph.wait((&[11], &[1]), (12, 2, 1)).unwrap();
        let second = wait_graph.wait((&[12], &[2]), (13, 3, 1)).unwrap();
        assert!(wait_graph.wait((&[13], &[3]), (11, 1, 1)).is_err(), "3 -> 1 -> 2 -> 3");
        drop(first);
        let third = wait_graph.wait((&[13], &[3]), (11, 1, 1)).unwrap();
        drop((second, third));
        assert!(wait_graph.0.lock().waiting.is_empty());
    }

    #[test]
    fn a_thread_never_waits_for_itself() {
        let wait_graph = WaitGraph::new();
        assert!(wait_graph.wait((&[11], &[1]), (12, 1, 1)).is_err(), "the only thread of the executor");
        assert!(wait_graph.wait((&[11], &[1]), (11, 1, 2)).is_err(), "its own group");
        assert!(wait_graph.wait((&[11], &[1]), (11, 0, 2)).is_err(), "its own group, run by itself");
        assert!(
            wait_graph.wait((&[], &[]), (11, 1, 1)).is_ok(),
            "a thread that spins no executor delays no other"
        );
    }

    #[test]
    fn one_of_several_threads_may_wait_but_not_the_last() {
        let wait_graph = WaitGraph::new();
        let _first = wait_graph.wait((&[11], &[1]), (13, 1, 2)).unwrap();
        assert!(wait_graph.wait((&[12], &[1]), (14, 1, 2)).is_err(), "no thread would be left");
        assert!(wait_graph.wait((&[12], &[1]), (14, 0, 2)).is_ok(), "it would run it itself");
    }

    #[test]
    fn groups_that_wait_for_each_other_are_refused() {
        let wait_graph = WaitGraph::new();
        let _first = wait_graph.wait((&[11], &[1]), (12, 0, 4)).unwrap();
        assert!(wait_graph.wait((&[12], &[1]), (11, 0, 4)).is_err());
        assert!(wait_graph.wait((&[13], &[1]), (12, 0, 4)).is_ok(), "a thread that continues has 12");
    }

    #[test]
    fn what_nobody_spins_yet_may_come() {
        let wait_graph = WaitGraph::new();
        assert!(wait_graph.wait((&[11], &[1]), (12, 2, 0)).is_ok());
    }
}
