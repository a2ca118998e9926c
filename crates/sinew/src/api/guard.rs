//! Guard conditions: waking an executor by hand.

use super::callback::EventCallback;
use super::node::{Node, NodeCore};
use crate::event::condition::{AttachedCondition, StatusCondition};
use crate::event::status::Triggered;
use crate::executor::group::{CallbackGroup, Group};
use crate::executor::scheduler;
use crate::executor::scheduler::Task;
use crate::executor::wait_set::{self, Waitable};
use crate::mailbox::waiters::Listener;
use crate::ros::failure::CreateError;
use crate::sys::sync::{Arc, Mutex};
use std::fmt;

/// Has its callback run by the executor when somebody triggers it, from any thread.
///
/// Made by [`Node::guard_condition`](crate::Node::guard_condition). Triggers that come before the
/// callback runs are one call ([`Triggered::count`] says how many). It exists until it is dropped.
///
/// ```
/// use sinew::prelude::*;
/// let context = Context::new()?;
/// let node = context.node("worker")?;
/// let ready = node.guard_condition().callback(|| println!("data is there"))?;
/// std::thread::scope(|scope| scope.spawn(|| ready.trigger()).join()).unwrap();
/// let executor = Executor::single();
/// executor.add(&node)?;
/// assert_eq!(executor.spin_some()?, 1);
/// # Ok::<(), sinew::Error>(())
/// ```
///
/// It isn't `Clone`: it ends with its one handle, and [`close`](Self::close) consumes that. Several
/// parts of a program share it in an [`Arc`](std::sync::Arc).
#[must_use = "a guard condition ends when it is dropped, with `let _ = ..` at once: name the variable (`let _guard = ..`), or `detach()` it"]
pub struct GuardCondition {
    joined: AttachedCondition<Triggered>,
    /// Held while a trigger is counted, so that each is told either by itself or in the number of
    /// those that wait.
    listener: Mutex<Option<Arc<Listener>>>,
    node: Arc<NodeCore>,
}

impl GuardCondition {
    /// Has the callback run. Never blocks; wakes the executor if it sleeps.
    pub fn trigger(&self) {
        let listener = self.listener.lock();
        let signal = self.joined.source().update(|event| event.count += 1);
        let told = listener.clone();
        drop(listener);
        scheduler::signal(signal);
        if let Some(listener) = told {
            listener.hear(1);
        }
    }

    /// Has `listener` called for each trigger: with 1, on the thread that triggers. If there were
    /// triggers since the callback ran last, it is called at once with their number. It replaces
    /// the one that was set before. ROS 2: `set_on_trigger_callback`.
    ///
    /// Several threads may call it at once. It may trigger other guard conditions, replace or clear
    /// itself; a panic in it is reported, and no concern of who triggers.
    pub fn set_listener(&self, listener: impl Fn(u64) + Send + Sync + 'static) {
        let source = self.joined.source();
        let listener = Listener::new(source.describe(), listener);
        let mut place = self.listener.lock();
        let waiting = source.look(|event| event.count);
        let before = place.replace(listener.clone());
        drop(place);
        drop(before); // the program's code
        if waiting > 0 {
            listener.hear(waiting);
        }
    }

    /// Has no listener called any more, but for triggers that are just happening on other threads.
    pub fn clear_listener(&self) {
        let before = self.listener.lock().take();
        drop(before); // the program's code, outside the lock
    }

    /// Keeps it until the context ends, though nothing can trigger it any more: what it was
    /// triggered for runs; as [`Timer::detach`](crate::Timer::detach). (To trigger it later, keep
    /// it in an [`Arc`](std::sync::Arc).)
    pub fn detach(self) {
        let session = self.node.context.session.clone();
        session.detach(self);
    }

    /// Ends it as dropping it does, and waits for its callback if that is running on another
    /// thread.
    pub fn close(self) {
        self.joined.deregister(true);
    }
}

impl Drop for GuardCondition {
    fn drop(&mut self) {
        self.joined.deregister(false);
    }
}

impl fmt::Debug for GuardCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GuardCondition").finish_non_exhaustive()
    }
}

impl Node {
    /// A guard condition.
    pub fn guard_condition(&self) -> GuardConditionBuilder {
        GuardConditionBuilder::new(self.default_group())
    }
}

impl wait_set::sealed::Sealed for GuardCondition {}

impl Waitable for GuardCondition {
    fn subject(&self) -> usize {
        self.joined.source().subject()
    }
}

/// Makes a [`GuardCondition`]; from [`Node::guard_condition`](crate::Node::guard_condition).
#[must_use = "nothing happens before `callback`"]
pub struct GuardConditionBuilder<G = Group> {
    node: Arc<NodeCore>,
    group: G,
}

impl<G: CallbackGroup> GuardConditionBuilder<G> {
    pub(crate) fn new(group: &G) -> Self {
        Self { node: NodeCore::of(group.core()), group: group.clone() }
    }
}

impl<G: CallbackGroup> GuardConditionBuilder<G> {
    /// Makes the guard condition. The callback takes nothing, [`&Triggered`](Triggered), the
    /// group's state `&mut S`, or the state and `&Triggered`.
    ///
    /// # Errors
    /// [`CreateError`]: the context is shut down.
    pub fn callback<Form, F>(self, callback: F) -> Result<GuardCondition, CreateError>
    where
        F: EventCallback<Triggered, G, Form>,
    {
        self.node.check_running("a guard condition")?;
        let source = StatusCondition::new(&self.group, "guard condition".to_owned(), callback);
        let (listener, node) = (Mutex::new(None), self.node.clone());
        Ok(GuardCondition { joined: AttachedCondition::new(source), listener, node })
    }
}
