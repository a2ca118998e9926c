//! What an executor asks of the owners of the groups that it runs. It knows neither nodes nor
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

/// Something that ends before its last reference goes.
pub(crate) trait Close: Send + Sync {
    /// Drops what waits in it. Nothing is taken any more.
    fn close(&self);
}

/// A group's node.
pub(crate) trait Owner: TaskOwner {
    /// What other processes know it by.
    fn known(&self) -> Option<EndpointKey>;

    /// It was said that it has nothing to run.
    fn said_idle(&self) -> &AtomicBool;

    fn host(&self) -> &dyn Host;

    /// For those above, who know what it is.
    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;
}

/// A node's context.
pub(crate) trait Host {
    fn clock(&self) -> &Clock;

    /// Which thread waits for which.
    fn wait_graph(&self) -> &WaitGraph;

    fn has_ended(&self) -> bool;

    /// The executor is told of the context's end and of jumps of its clocks. False: it has ended.
    fn register_executor(&self, scheduler: &Arc<Scheduler>) -> bool;

    /// Has a queue closed when the context ends; at once, if it has ended already.
    fn close_at_end(&self, what: Weak<dyn Close>, has_handle: bool);

    /// Ends what was detached in it: on a thread of the program's.
    fn end_detached(&self);

    /// Its presence among the processes of the machine, if it has one.
    fn participant(&self) -> Option<&Arc<Participant>>;
}
