//! A task in an executor, as the threads that make it ready see it.

use super::wake_policy::{SAMPLED, Times};
use crate::executor::group_token::REENTRANT;
use crate::executor::queue::ready_queue::MemberId;
use crate::executor::task::Task;
use crate::executor::working_set::WorkingSet;
use crate::sys::sync::{Arc, HintU8, HintU32, Ordering, SignalFlag};
use sinew_shm::transport::PackedCallback;
use std::sync::Weak;

/// The data for announcing and running a task, on one cache line, and what its callback will use on
/// another one. Of the first, only the rate at which its runs are measured ever changes.
#[repr(C, align(64))]
pub(crate) struct TaskHeader {
    pub(super) member: MemberId,
    /// The number of its group; 0 if that is reentrant.
    pub(crate) group: u64,
    /// Alive while the task is in its executor.
    pub(super) entity: Weak<Task>,
    /// The record that tools see while it runs.
    pub(super) callback: PackedCallback,
    pub(super) sampling: Sampling,
    pub(super) expected: ExpectedTimes,
    /// Whether it has left its executor; see [`lane`](super::lane).
    pub(super) is_gone: SignalFlag,
    pub(super) working_set: WorkingSet,
}

/// The rate at which the runs of a task are measured: each, or one in [`SAMPLED`] once it is known
/// to be short.
///
/// The thread that runs the task writes it, also after it has measured a run. A hint: a lost write
/// measures one run more or less.
pub(super) struct Sampling(HintU8);

/// Every run is measured.
const EACH: u8 = u8::MAX;

impl Sampling {
    pub(super) fn new() -> Self {
        Self(HintU8::new(EACH))
    }

    /// Returns the number of runs for which the next one stands, if it is to be measured.
    #[inline]
    pub(super) fn measures_next(&self) -> Option<u8> {
        let before = self.0.load(Ordering::Relaxed);
        if before == EACH {
            return Some(1);
        }
        let next = (before + 1) % SAMPLED;
        self.0.store(next, Ordering::Relaxed);
        (next == 0).then_some(SAMPLED)
    }

    /// Whether its runs are known to be short.
    #[inline]
    pub(super) fn is_surely_short(&self) -> bool {
        self.0.load(Ordering::Relaxed) != EACH
    }

    /// Updates the rate after its run times changed.
    pub(super) fn set(&self, is_surely_short: bool) {
        if self.is_surely_short() != is_surely_short {
            self.0.store(if is_surely_short { 0 } else { EACH }, Ordering::Relaxed);
        }
    }
}

/// A task's expected [run times](Times), which workers read without the scheduler's lock: hints as
/// well.
pub(super) struct ExpectedTimes {
    /// Nanoseconds; `u32::MAX` while unknown.
    run: HintU32,
    tail: HintU32,
}

impl ExpectedTimes {
    fn unknown() -> Self {
        Self { run: HintU32::new(u32::MAX), tail: HintU32::new(u32::MAX) }
    }

    pub(super) fn set(&self, times: &Times) {
        let bounded = |expected: i64| u32::try_from(expected).unwrap_or(u32::MAX);
        self.run.store(bounded(times.run.expected()), Ordering::Relaxed);
        self.tail.store(bounded(times.tail.expected()), Ordering::Relaxed);
    }

    #[inline]
    pub(super) fn run(&self) -> i64 {
        self.run.load(Ordering::Relaxed).into()
    }

    #[inline]
    pub(super) fn tail(&self) -> i64 {
        self.tail.load(Ordering::Relaxed).into()
    }
}

const _: () = assert!(
    cfg!(loom) || std::mem::offset_of!(TaskHeader, working_set) == 64 && size_of::<TaskHeader>() == 128
);

impl TaskHeader {
    pub(super) fn new(member: MemberId, group: u64, entity: &Arc<Task>, callback: PackedCallback) -> Self {
        Self {
            member,
            group,
            entity: Arc::downgrade(entity),
            callback,
            sampling: Sampling::new(),
            expected: ExpectedTimes::unknown(),
            is_gone: SignalFlag::new(false),
            working_set: WorkingSet::default(),
        }
    }

    /// Returns its serial number.
    #[cfg(test)]
    pub(crate) fn serial(&self) -> u64 {
        self.member.serial
    }

    #[inline]
    pub(super) fn is_reentrant(&self) -> bool {
        self.group == REENTRANT
    }

    /// The caller holds the lane's lock.
    #[inline]
    pub(super) fn is_gone(&self) -> bool {
        self.is_gone.load(Ordering::Relaxed) // written under the same lock
    }
}
