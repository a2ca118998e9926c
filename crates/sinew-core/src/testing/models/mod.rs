//! Loom models of lock-free code, and of the protocols between locks.
//!
//! Run with `RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR=target/loom cargo test -p sinew-core --profile
//! loom --lib models`.
//!
//! Every model states the promise it checks, and the change to the code that makes it fail;
//! `.ci/mutations` applies those changes to a copy of the tree and expects that failure. loom runs
//! a model repeatedly, each time with another order of the threads' steps, until it has seen all of
//! them (up to a number of preemptions, where the model limits them). It reports a data race on a
//! [`loom::cell::UnsafeCell`], a deadlock, and a failed assertion; so a lost wake-up shows as a
//! deadlock, and a missing ordering as a race on the data it should have carried.
//!
//! | module | sync points |
//! |---|---|
//! | `handles` | B1-B3: counted references |
//! | `pools` | B4: lending and taking back |
//! | `turns` | a group's token |
//! | `joining` | C1, C2: subscriptions that are created while others publish |
//! | `sleeping` | U1-U4: a thread that sleeps until it is called |
//! | `parking` | P1, P2: sleeping executors |
//! | `workers` | P1-P3 with several threads, callers among them |
//! | `lanes` | L1-L3, M1-M3: tasks that run past the queue |
//! | `leaving` | entities that are removed while their callbacks run |
//! | `posting` | futures that are woken, cancelled and polled at once |
//! | `receiving` | A1-A3: tasks that wait for messages |
//! | `calling` | calls and their answers |
//! | `waiting` | publishers that wait for a place |
//! | `watching` | threads and tasks that wait for changes of the graph |
//! | `last_out` | O1-O3: answers that several threads pass on before the end |
//! | `looking` | S1-S4: looks that no thread waits for; D1-D4: work taken while draining |
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod calling;
mod handles;
mod joining;
mod lanes;
mod last_out;
mod leaving;
mod looking;
mod parking;
mod pools;
mod posting;
mod receiving;
mod sleeping;
mod turns;
mod waiting;
mod watching;
mod workers;

use super::idle;
use crate::executor::crew::members::GroupSlot;
use crate::executor::crew::scheduler::{Scheduler, TaskRef};
use crate::executor::group_token::GroupNumber;
use crate::sys::clock::Stamp;
use crate::sys::sync::Arc;
use loom::cell::UnsafeCell;
use sinew_msg::Message;
use std::cell::Cell;

/// Runs a model in every order with at most this many preemptions; with fewer, if
/// `LOOM_MAX_PREEMPTIONS` is lower.
fn check(preemptions: usize, model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound =
        Some(builder.preemption_bound.map_or(preemptions, |most| most.min(preemptions)));
    builder.max_branches = 20_000; // creating a node takes some hundred
    builder.check(model);
}

/// A message on which loom watches every access: reading, writing, and dropping, which counts as a
/// write.
struct Probe(UnsafeCell<u64>);

// SAFETY: it is shared as messages are, which the models check: loom reports every access that
// isn't ordered.
unsafe impl Sync for Probe {}

impl Message for Probe {}

std::thread_local! {
    /// Numbers of probes that this model has made and dropped: all its threads are coroutines of
    /// one.
    static MADE: Cell<u64> = const { Cell::new(0) };
    static DROPPED: Cell<u64> = const { Cell::new(0) };
}

impl Probe {
    fn new(value: u64) -> Self {
        MADE.set(MADE.get() + 1);
        Self(UnsafeCell::new(value))
    }

    fn read(&self) -> u64 {
        // SAFETY: loom hands out a valid pointer, and has checked that no thread is writing.
        self.0.with(|value| unsafe { *value })
    }

    /// Writes through a shared reference; loom checks that no other thread reads or writes.
    fn write(&self, value: u64) {
        // SAFETY: loom hands out a valid pointer, and has checked that no other thread uses it.
        self.0.with_mut(|place| unsafe { *place = value });
    }

    /// Resets the counts.
    fn reset_counts() {
        MADE.set(0);
        DROPPED.set(0);
    }

    #[track_caller]
    fn expect_counts(made: u64, dropped: u64) {
        assert_eq!((MADE.get(), DROPPED.get()), (made, dropped), "(made, dropped)");
    }
}

impl Default for Probe {
    fn default() -> Self {
        Self::new(0)
    }
}

impl Clone for Probe {
    fn clone(&self) -> Self {
        Self::new(self.read())
    }
}

impl Drop for Probe {
    fn drop(&mut self) {
        self.write(u64::MAX);
        DROPPED.set(DROPPED.get() + 1);
    }
}

/// Adds a group of `N` idle entities.
fn add_group<const N: usize>(scheduler: &Arc<Scheduler>, group: GroupNumber) -> [TaskRef; N] {
    let group = GroupSlot::new(scheduler, group.get(), 0).expect("the scheduler is open");
    std::array::from_fn(|_| idle::enter(&group).0)
}

fn stamp(time: i64) -> Stamp {
    Stamp { time, order: 1 }
}

/// Makes an entity ready as all callers do, and signals if required.
fn notify(task_ref: &TaskRef, time: i64) {
    task_ref.notify(stamp(time)).signal();
}
