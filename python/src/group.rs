//! Callback groups: which callbacks may run at once.

use crate::error::with_code;
use crate::node::Node;
use crate::wait;
use parking_lot::Mutex;
use pyo3::prelude::*;
use sinew::error::ErrorCode;
use sinew::executor::PauseHandle;
use std::sync::Arc;

/// What makes entities and runs their callbacks: a callback group of a node.
#[derive(Clone)]
pub(crate) enum Owner {
    /// The node, in its default group.
    Node(sinew::Node),
    /// One callback at a time.
    Exclusive(sinew::Group),
    /// Any number of callbacks at once.
    Reentrant(sinew::ReentrantGroup),
}

/// A callback group as the place where callbacks run. Once its node is destroyed it is empty: a
/// group of the library would keep the node in the graph.
#[derive(Clone)]
pub(crate) struct Place {
    node: Arc<str>,
    owner: Arc<Mutex<Option<Owner>>>,
}

impl Place {
    pub(crate) fn new(node: Arc<str>, owner: Owner) -> Self {
        Self { node, owner: Arc::new(Mutex::new(Some(owner))) }
    }

    /// Returns a node's default group, or another group of it.
    pub(crate) fn of(node: &Node, group: Option<&Group>) -> Self {
        group.map_or(&node.place, |group| &group.0).clone()
    }

    /// # Errors
    /// The node is destroyed.
    pub(crate) fn owner(&self) -> PyResult<Owner> {
        let owner = self.owner.lock().clone();
        let name = &self.node;
        owner.ok_or_else(|| with_code(ErrorCode::Closed, format!("the node {name} was destroyed")))
    }

    pub(crate) fn clear(&self) {
        let owner = self.owner.lock().take();
        drop(owner); // not under the lock
    }

    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.owner, &other.owner)
    }

    /// Whether there is no other handle to it.
    pub(crate) fn is_unused(&self) -> bool {
        Arc::strong_count(&self.owner) == 1
    }
}

/// A callback group of a node.
#[pyclass(frozen, module = "sinew._sinew")]
pub(crate) struct Group(Place);

/// Makes an entity with a callback group. `$maker` is what makes it.
macro_rules! in_group {
    ($owner:expr, |$maker:ident| $made:expr) => {
        match $owner {
            $crate::group::Owner::Node($maker) => $made,
            $crate::group::Owner::Exclusive($maker) => $made,
            $crate::group::Owner::Reentrant($maker) => $made,
        }
    };
}
pub(crate) use in_group;

#[pymethods]
impl Group {
    #[new]
    #[pyo3(signature = (node, reentrant, priority=0))]
    fn new(node: &Node, reentrant: bool, priority: i32) -> PyResult<Self> {
        let of = node.get()?;
        let owner = if reentrant {
            Owner::Reentrant(of.reentrant_group().priority(priority))
        } else {
            Owner::Exclusive(of.group(()).priority(priority))
        };
        Ok(Self(node.add_place(owner)))
    }

    fn set_priority(&self, priority: i32) -> PyResult<()> {
        match self.0.owner()? {
            Owner::Node(node) => drop(node.default_group().clone().priority(priority)),
            Owner::Exclusive(group) => drop(group.priority(priority)),
            Owner::Reentrant(group) => drop(group.priority(priority)),
        }
        Ok(())
    }

    /// No callback of the group begins until `resume`. Waits for one that runs on another thread.
    fn pause(&self, py: Python<'_>) -> PyResult<()> {
        let handle = self.handle()?;
        wait::detached(py, || handle.pause());
        Ok(())
    }

    fn resume(&self, py: Python<'_>) -> PyResult<()> {
        let handle = self.handle()?;
        wait::detached(py, || handle.resume());
        Ok(())
    }
}

impl Group {
    pub(crate) fn place(&self) -> &Place {
        &self.0
    }

    fn handle(&self) -> PyResult<PauseHandle> {
        Ok(match self.0.owner()? {
            Owner::Node(node) => node.default_group().pause_handle(),
            Owner::Exclusive(group) => group.pause_handle(),
            Owner::Reentrant(group) => group.pause_handle(),
        })
    }
}
