//! Which executor serves the groups of a node or a context, also those that are still to come.

use super::crew::scheduler::Scheduler;
use super::group::GroupCore;
use crate::sys::sync::{Arc, Mutex};
use std::sync::Weak;

/// The groups of a node or a context.
pub(crate) struct GroupRegistry(Mutex<RegisteredGroups>);

#[derive(Default)]
struct RegisteredGroups {
    groups: Vec<Weak<GroupCore>>,
    /// Serves every group of this that no other executor serves.
    executor: Option<Weak<Scheduler>>,
    /// When to throw out what is gone.
    tidy_at: usize,
}

impl Default for GroupRegistry {
    fn default() -> Self {
        Self(Mutex::new(RegisteredGroups::default()))
    }
}

impl GroupRegistry {
    /// A new group: served from now on, if the executor there is doesn't leave it to another one.
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
            // It is in one already if its node has an executor of its own: that is what the user
            // asked for.
            let _ = group.add_to(&executor);
        }
    }

    /// Whether there is a group, or could be one.
    pub(crate) fn is_alive(self: &Arc<Self>) -> bool {
        Arc::strong_count(self) > 1 || self.0.lock().groups.iter().any(|group| group.strong_count() > 0)
    }

    /// The groups there are now.
    pub(crate) fn all(&self) -> Vec<Arc<GroupCore>> {
        self.0.lock().groups.iter().filter_map(Weak::upgrade).collect()
    }

    /// Has the executor serve all groups that no other one serves; false if another executor does
    /// so already.
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
            let _ = group.add_to(executor); // those that another executor serves are left to it
        }
        true
    }

    /// The executor goes.
    pub(crate) fn leave(&self, executor: &Arc<Scheduler>) {
        let groups: Vec<_> = {
            let mut state = self.0.lock();
            state.executor.take_if(|known| known.as_ptr() == Arc::as_ptr(executor));
            state.groups.iter().filter_map(Weak::upgrade).collect()
        };
        groups.iter().for_each(|group| group.remove_from(executor));
    }
}
