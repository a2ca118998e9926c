//! The executor that serves the groups of a node or a context, including future ones.

use super::crew::scheduler::Scheduler;
use super::group_core::{GroupCore, NotAdded};
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

    /// Lets the executor serve all groups that no other one serves. Returns `false`, and changes
    /// nothing, if another executor already does so, or still runs a callback of a group that it
    /// gave away.
    pub(crate) fn serve(&self, executor: &Arc<Scheduler>) -> bool {
        let (groups, before): (Vec<_>, _) = {
            let mut state = self.0.lock();
            let before = state.executor.as_ref().and_then(Weak::upgrade);
            if before.as_ref().is_some_and(|other| !Arc::ptr_eq(other, executor)) {
                return false;
            }
            state.executor = Some(Arc::downgrade(executor));
            (state.groups.iter().filter_map(Weak::upgrade).collect(), before)
        };
        let mut added = Vec::new();
        for group in &groups {
            match group.add_to(executor) {
                Ok(()) => added.push(group),
                Err(NotAdded::Here | NotAdded::Elsewhere) => {}
                Err(NotAdded::Runs) => {
                    added.into_iter().for_each(|group| _ = group.remove_from(executor, false));
                    if before.is_none() {
                        self.0.lock().executor = None;
                    }
                    return false;
                }
            }
        }
        true
    }

    /// Whether the executor serves any of the groups, or would serve later ones.
    pub(crate) fn is_served_by(&self, executor: &Arc<Scheduler>) -> bool {
        let state = self.0.lock();
        let is_it = |known: &Weak<Scheduler>| known.as_ptr() == Arc::as_ptr(executor);
        state.executor.as_ref().is_some_and(is_it)
            || state.groups.iter().filter_map(Weak::upgrade).any(|group| group.is_served_by(executor))
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
