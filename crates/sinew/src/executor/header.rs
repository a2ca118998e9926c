//! A task: an entity in an executor, as those that make it ready see it.

use super::group_token::REENTRANT;
use super::task::Task;
use super::wake_policy::SAMPLED;
use crate::sys::sync::{Arc, HintU8, Ordering, SignalFlag};
use sinew_shm::PackedCallback;
use std::sync::Weak;

/// A member of a group, in its executor.
#[derive(Clone, Copy)]
pub(crate) struct MemberId {
    pub(super) index: u32,
    /// Never given twice: an entity that took over the place of a dropped one is not mistaken for
    /// it.
    pub(super) serial: u64,
}

/// What announcing and running a task takes, on one cache line: it never changes, but for how
/// often its runs are measured.
#[repr(align(64))]
pub(crate) struct TaskHeader {
    pub(super) member: MemberId,
    /// The number of its group; 0 if that is reentrant.
    pub(crate) group: u64,
    /// Alive as long as the task is in its executor.
    pub(super) entity: Weak<dyn Task>,
    /// What tools are told when it runs.
    pub(super) told: PackedCallback,
    pub(super) sampling: Sampling,
    /// It has left its executor; see [`lane`](super::lane).
    pub(super) is_gone: SignalFlag,
}

/// How often the runs of a task are measured: each, or one in [`SAMPLED`] once it is known to be
/// short.
///
/// Written by the thread that runs the task, and when a run was measured. A hint: a write that is
/// lost measures one run more or less.
pub(super) struct Sampling(HintU8);

/// Every run is measured.
const EACH: u8 = u8::MAX;

impl Sampling {
    pub(super) fn new() -> Self {
        Self(HintU8::new(EACH))
    }

    /// Whether the next run is to be measured; if so, for how many it stands.
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

    /// What is known of its run times has changed.
    pub(super) fn set(&self, is_surely_short: bool) {
        if (self.0.load(Ordering::Relaxed) != EACH) != is_surely_short {
            self.0.store(if is_surely_short { 0 } else { EACH }, Ordering::Relaxed);
        }
    }
}

impl TaskHeader {
    pub(super) fn new(member: MemberId, group: u64, entity: &Arc<dyn Task>, told: PackedCallback) -> Self {
        Self {
            member,
            group,
            entity: Arc::downgrade(entity),
            told,
            sampling: Sampling::new(),
            is_gone: SignalFlag::new(false),
        }
    }

    /// Its serial number.
    #[inline]
    pub(crate) fn serial(&self) -> u64 {
        self.member.serial
    }

    #[inline]
    pub(super) fn is_reentrant(&self) -> bool {
        self.group == REENTRANT
    }

    /// Under the lane's lock.
    #[inline]
    pub(super) fn is_gone(&self) -> bool {
        self.is_gone.load(Ordering::Relaxed) // written under the same lock
    }
}
