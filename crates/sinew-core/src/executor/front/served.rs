//! What an executor serves: for its end, for its warnings, and to know whether there is anything.

use crate::executor::crew::scheduler::Scheduler;
use crate::executor::group_core::GroupCore;
use crate::executor::membership::GroupRegistry;
use crate::executor::owner::Owner;
use crate::sys::logging::{About, Level, log_line};
use crate::sys::sync::{Arc, Mutex, Ordering};
use std::sync::Weak;

/// A context, node or group that an executor serves.
pub(super) enum Served {
    Groups(Arc<GroupRegistry>),
    Group(Weak<GroupCore>),
}

impl Served {
    fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Groups(one), Self::Groups(other)) => Arc::ptr_eq(one, other),
            (Self::Group(one), Self::Group(other)) => one.ptr_eq(other),
            _ => false,
        }
    }
}

/// The contexts, nodes and groups that an executor serves.
#[derive(Default)]
pub(super) struct ServedList(Mutex<Vec<Served>>);

impl ServedList {
    /// Records what to release at the end, and forgets contexts, nodes and groups that are gone.
    pub(super) fn remember(&self, new: Served) {
        let mut served = self.0.lock();
        if served.len() == served.capacity() {
            served.retain(|known| match known {
                Served::Groups(groups) => groups.is_alive(),
                Served::Group(group) => group.strong_count() > 0,
            });
        }
        if !served.iter().any(|known| known.is(&new)) {
            served.push(new);
        }
    }

    /// Returns `false` if there was no such entry.
    pub(super) fn forget(&self, gone: &Served) -> bool {
        let mut served = self.0.lock();
        let before = served.len();
        served.retain(|known| !known.is(gone));
        served.len() < before
    }

    /// Returns the groups of each served context, node or group that isn't gone.
    pub(super) fn groups(&self) -> impl Iterator<Item = Vec<Arc<GroupCore>>> {
        let served = self.0.lock();
        let alive: Vec<_> = served
            .iter()
            .filter_map(|known| match known {
                Served::Groups(groups) => groups.is_alive().then(|| groups.all()),
                Served::Group(group) => group.upgrade().map(|group| vec![group]),
            })
            .collect();
        alive.into_iter()
    }

    /// Logs the served nodes that have nothing to run: most of them by mistake.
    pub(super) fn warn_of_idle_nodes(&self, scheduler: &Arc<Scheduler>) {
        if cfg!(loom) {
            return;
        }
        let mut nodes: Vec<ServedNode> = Vec::new();
        for groups in self.groups() {
            for group in groups.iter().filter(|group| !group.is_served_by_another(scheduler)) {
                let (is_inhabited, ever) = group.is_inhabited();
                match nodes.iter_mut().find(|known| Arc::ptr_eq(&known.node, &group.node)) {
                    Some(known) => {
                        known.groups += 1;
                        known.is_inhabited |= is_inhabited;
                        known.ever |= ever;
                    }
                    None => {
                        nodes.push(ServedNode { node: group.node.clone(), groups: 1, is_inhabited, ever })
                    }
                }
            }
        }
        nodes.iter().for_each(ServedNode::warn_if_idle);
    }

    /// Gives all of them back at the executor's end. Not under the lock: a released group may read
    /// waiting messages, through filters of the program.
    pub(super) fn release_all(&self, scheduler: &Arc<Scheduler>) {
        let served = std::mem::take(&mut *self.0.lock());
        for served in served {
            match served {
                Served::Groups(groups) => drop(groups.leave(scheduler, false)),
                Served::Group(group) => {
                    if let Some(group) = group.upgrade() {
                        group.remove_from(scheduler, false);
                    }
                }
            }
        }
    }
}

/// A node that an executor serves.
struct ServedNode {
    node: Arc<dyn Owner>,
    /// Number of its groups found so far; each keeps the node.
    groups: usize,
    is_inhabited: bool,
    /// Whether a group ever had an entity.
    ever: bool,
}

impl ServedNode {
    fn warn_if_idle(&self) {
        let ServedNode { node, groups, is_inhabited, ever } = self;
        // Only its handle, its groups and this thread refer to the node: no entity that works
        // without an executor, such as a publisher. (A guess, since a handle may be cloned or
        // dropped meanwhile.)
        let has_nothing = || Arc::strong_count(node) <= groups + 2;
        if *is_inhabited || !(*ever || has_nothing()) {
            return;
        }
        // Relaxed: any thread may log this, once.
        if !node.said_idle().swap(true, Ordering::Relaxed) {
            log_line!(
                Level::Warn; About { node: node.full_name(), subject: "" },
                "there is nothing to run. Timers, subscriptions and servers end when they are dropped: keep them in \
                 variables with names (`let _timer = ..`, not `let _ = ..`), make them with `.background()`, or \
                 `detach()` them"
            );
        }
    }
}
