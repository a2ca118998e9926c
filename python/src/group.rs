//! Callback groups: which callbacks may run at once.

use crate::node::Node;
use pyo3::prelude::*;
use sinew::executor::PauseHandle;

/// A group of either kind.
#[derive(Clone)]
pub(crate) enum Kind {
    /// One callback at a time.
    Exclusive(sinew::Group),
    /// Any number of callbacks at once.
    Reentrant(sinew::ReentrantGroup),
}

/// A callback group of a node.
#[pyclass(frozen, module = "sinew._sinew")]
pub(crate) struct Group(pub(crate) Kind);

/// Makes an entity in a node's default group, or in another group. `$maker` is what makes it.
macro_rules! in_group {
    ($node:expr, $group:expr, |$maker:ident| $made:expr) => {
        match $group {
            None => {
                let $maker = &$node.node;
                $made
            }
            Some(group) => match &group.0 {
                $crate::group::Kind::Exclusive($maker) => $made,
                $crate::group::Kind::Reentrant($maker) => $made,
            },
        }
    };
}
pub(crate) use in_group;

#[pymethods]
impl Group {
    #[new]
    #[pyo3(signature = (node, reentrant, priority=0))]
    fn new(node: &Node, reentrant: bool, priority: i32) -> Self {
        Self(if reentrant {
            Kind::Reentrant(node.node.reentrant_group().priority(priority))
        } else {
            Kind::Exclusive(node.node.group(()).priority(priority))
        })
    }

    /// No callback of the group begins until `resume`. Waits for one that runs on another thread.
    fn pause(&self, py: Python<'_>) {
        crate::wait::detached(py, || self.handle().pause());
    }

    fn resume(&self, py: Python<'_>) {
        crate::wait::detached(py, || self.handle().resume());
    }
}

impl Group {
    fn handle(&self) -> PauseHandle {
        match &self.0 {
            Kind::Exclusive(group) => group.pause_handle(),
            Kind::Reentrant(group) => group.pause_handle(),
        }
    }
}
