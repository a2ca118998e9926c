//! The executor that serves the groups of a node or a context, including future ones.

use super::crew::scheduler::Scheduler;
use super::group_core::GroupCore;
use crate::sys::sync::{Arc, Mutex};
use std::sync::Weak;

/// The groups of a node or a context.
pub(crate) struct GroupRegistry(Mutex<RegisteredGroups>);

#[derive(Default)]
struct RegisteredGroups {
    groups: Vec<Weak<GroupCore>>,
    /// Serves every group that no other executor serves.
    executor: Option<Weak<Scheduler>>,
    /// Number of groups at which those that are gone are removed.
    tidy_at: usize,
}

impl Default for GroupRegistry {
    fn default() -> Self {
        Self(Mutex::new(RegisteredGroups::default()))
    }
}

impl GroupRegistry {
    /// Adds a new group. The executor, if there is one, serves the group unless another one does.
    pub(crate) fn register(&self, group: &Arc<GroupCore>) {
        let executor = {
            let mut state = self.0.lock();
            if state.groups.len() >= state.tidy_at {
                state.groups.retain(|group| group.strong_count() > 0);
                state.tidy_at = 2 * state.groups.len() + 16;
            }
            state.groups.push(Arc::downgrade(group));
            state.executor.as_ref().and_then(Weak::upgrade)
        };
        if let Some(executor) = executor {
            // Fails if its node already has an executor of its own, as the program asked for.
            let _ = group.add_to(&executor);
        }
    }

    /// Whether there is a group, or may be one later.
    pub(crate) fn is_alive(self: &Arc<Self>) -> bool {
        Arc::strong_count(self) > 1 || self.0.lock().groups.iter().any(|group| group.strong_count() > 0)
    }

    /// Returns the current groups.
    pub(crate) fn all(&self) -> Vec<Arc<GroupCore>> {
        self.0.lock().groups.iter().filter_map(Weak::upgrade).collect()
    }

    /// Lets the executor serve all groups that no other one serves. Returns `false` if another
    /// executor already does so.
    pub(crate) fn serve(&self, executor: &Arc<Scheduler>) -> bool {
        let groups: Vec<_> = {
            let mut state = self.0.lock();
            match state.executor.as_ref().and_then(Weak::upgrade) {
                Some(other) if !Arc::ptr_eq(&other, executor) => return false,
                _ => state.executor = Some(Arc::downgrade(executor)),
            }
            state.groups.iter().filter_map(Weak::upgrade).collect()
        };
        for group in groups {
            let _ = group.add_to(executor); // fails for groups that another executor serves
        }
        true
    }

    /// Removes the executor from all groups that it serves, as [`GroupCore::remove_from`]. Returns
    /// `false` if it serves none.
    pub(crate) fn leave(&self, executor: &Arc<Scheduler>, wait: bool) -> bool {
        let groups: Vec<_> = {
            let mut state = self.0.lock();
            state.executor.take_if(|known| known.as_ptr() == Arc::as_ptr(executor));
            state.groups.iter().filter_map(Weak::upgrade).collect()
        };
        groups.iter().fold(false, |left, group| group.remove_from(executor, wait) | left)
    }
}
