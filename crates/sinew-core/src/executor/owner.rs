//! The traits by which an executor sees the owners of its groups. It knows neither nodes nor
//! contexts.

use super::crew::scheduler::Scheduler;
use super::crew::wait_graph::WaitGraph;
use super::task::TaskOwner;
use crate::sys::clock::Clock;
use crate::sys::sync::{Arc, AtomicBool};
use sinew_shm::EndpointKey;
use sinew_shm::transport::Participant;
use std::any::Any;
use std::sync::Weak;

/// An object that can end before its last reference is dropped.
pub(crate) trait Close: Send + Sync {
    /// Drops the waiting work. The object accepts no more.
    fn close(&self);
}

/// A group's node.
pub(crate) trait Owner: TaskOwner {
    /// Returns the key by which other processes know the node.
    fn known(&self) -> Option<EndpointKey>;

    /// Whether the log already reports that the node has nothing to run.
    fn said_idle(&self) -> &AtomicBool;

    fn host(&self) -> &dyn Host;

    /// Returns the node as the upper layers know it.
    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;
}

/// A node's context.
pub(crate) trait Host {
    fn clock(&self) -> &Clock;

    /// Returns the graph of waiting threads.
    fn wait_graph(&self) -> &WaitGraph;

    fn has_ended(&self) -> bool;

    /// Notifies the executor of the context's end and of jumps of its clocks. Returns `false` if
    /// the context has ended.
    fn register_executor(&self, scheduler: &Arc<Scheduler>) -> bool;

    /// Undoes that, unless the executor still serves a group of the context.
    fn release_executor(&self, scheduler: &Arc<Scheduler>);

    /// Closes a queue when the context ends; at once, if it has ended already.
    fn close_at_end(&self, what: Weak<dyn Close>, has_handle: bool);

    /// Ends the context's detached entities; runs on threads of the program only.
    fn end_detached(&self);

    /// Returns the context's participant among the processes of the machine, if it has joined.
    fn participant(&self) -> Option<&Arc<Participant>>;
}
