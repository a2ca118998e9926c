//! Guard conditions: waking an executor by hand.

use super::callback::EventCallback;
use super::node::NodeCore;
use crate::event::condition::{AttachedCondition, StatusCondition};
use crate::event::status::Triggered;
use crate::executor::group::{CallbackGroup, Group};
use crate::executor::wait_set::{self, Waitable};
use crate::mailbox::deferred::Deferred;
use crate::mailbox::waiters::{Listener, OnNews};
use crate::ros::failure::CreateError;
use crate::sys::sync::{Arc, Mutex, no_lock_is_held};
use std::fmt;

/// An entity that runs a callback in the executor when it is triggered, from any thread.
///
/// Made by [`Node::guard_condition`](crate::Node::guard_condition). Several triggers before the
/// callback runs cause one call ([`Triggered::count`] is their number). It exists until its last
/// handle is dropped.
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
/// Clones are the same guard condition: it ends when the last one is dropped, or any of them is
/// [closed](Self::close).
#[derive(Clone)]
#[must_use = "a guard condition ends when its last handle is dropped, and `let _ = ..` drops it at once: name the variable (`let _guard = ..`), or `detach()` it"]
pub struct GuardCondition {
    inner: Arc<GuardInner>,
}

/// The part that is dropped with the last handle.
struct GuardInner {
    /// Held while a trigger is counted, so that the listener gets each trigger once: by a call of
    /// its own, or in the number of waiting ones.
    state: Mutex<GuardState>,
    node: Arc<NodeCore>,
    /// The name used in messages.
    what: String,
}

struct GuardState {
    /// `None` once it is closed: then its callback's captures are dropped.
    joined: Option<AttachedCondition<Triggered>>,
    listener: Option<Arc<Listener>>,
}

impl GuardCondition {
    /// Triggers it: the executor runs the callback. Never blocks; wakes the executor if it sleeps.
    /// Does nothing once it is closed.
    pub fn trigger(&self) {
        no_lock_is_held(); // its listener runs
        let listener = Deferred::with(|deferred| {
            let state = self.inner.state.lock();
            state.joined.as_ref()?.source().update(|event| event.count += 1, deferred);
            state.listener.clone()
        });
        if let Some(listener) = listener {
            listener.notify(1);
        }
    }

    /// Sets a listener that is called for each trigger: with 1, on the thread that triggers. If
    /// there were triggers since the callback ran last, it is called at once with their number. It
    /// replaces the former listener, or the [builder's](GuardConditionBuilder::listener), as
    /// [`Subscription::set_listener`](crate::Subscription::set_listener) says. ROS 2:
    /// `set_on_trigger_callback`.
    ///
    /// Several threads may call it at once. It may trigger other guard conditions, replace or clear
    /// itself; a panic in it is reported, and doesn't reach the thread that triggers.
    pub fn set_listener(&self, listener: impl Fn(u64) + Send + Sync + 'static) {
        self.inner.listen(Box::new(listener));
    }

    /// Removes the listener; it may still be called for triggers that are just happening on other
    /// threads.
    pub fn clear_listener(&self) {
        let before = self.inner.state.lock().listener.take();
        drop(before); // the program's code, outside the lock
    }

    /// Keeps it without a handle until the context ends: its callback still runs, and clones
    /// trigger it as before; as [`Timer::detach`](crate::Timer::detach).
    pub fn detach(self) {
        let session = self.inner.node.context.session.clone();
        session.detach(self);
    }

    /// Ends it and its clones, as dropping the last one does, and waits for its callback if that is
    /// running on another thread. Called in its own callback, it doesn't wait; nor does a second
    /// `close`. Triggering a clone has no effect then.
    pub fn close(self) {
        let (joined, listener) = {
            let mut state = self.inner.state.lock();
            (state.joined.take(), state.listener.take())
        };
        if let Some(joined) = joined {
            joined.deregister(true);
        }
        drop(listener); // the program's code, outside the lock
    }

    /// Returns `true` if it was [closed](Self::close).
    pub fn is_closed(&self) -> bool {
        self.inner.state.lock().joined.is_none()
    }
}

impl GuardInner {
    /// Sets its listener, and calls it for the triggers since the callback ran last.
    fn listen(&self, listener: OnNews) {
        let entity = format!("{} of node {}", self.what, self.node.full_name);
        let listener = Listener::boxed(entity, listener);
        let mut state = self.state.lock();
        let Some(joined) = &state.joined else { return };
        let waiting = joined.source().look(|event| event.count);
        let before = state.listener.replace(listener.clone());
        drop(state);
        drop(before); // the program's code
        if waiting > 0 {
            listener.notify(waiting);
        }
    }
}

impl fmt::Debug for GuardCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GuardCondition").finish_non_exhaustive()
    }
}

impl wait_set::sealed::Sealed for GuardCondition {}

impl Waitable for GuardCondition {
    fn subject(&self) -> usize {
        let state = self.inner.state.lock();
        // Once it is closed, it matches no ready source.
        state.joined.as_ref().map_or(usize::MAX, |joined| Arc::as_ptr(joined.source()).addr())
    }
}

/// Makes a [`GuardCondition`]; from [`Node::guard_condition`](crate::Node::guard_condition).
#[must_use = "nothing happens before `callback`"]
pub struct GuardConditionBuilder<G = Group> {
    node: Arc<NodeCore>,
    group: G,
    listener: Option<OnNews>,
    /// The name used in messages.
    what: String,
}

impl<G: CallbackGroup> GuardConditionBuilder<G> {
    pub(crate) fn new(group: &G) -> Self {
        let (node, what) = (NodeCore::of(group.core()), "guard condition".to_owned());
        Self { node, group: group.clone(), listener: None, what }
    }
}

impl<G: CallbackGroup> GuardConditionBuilder<G> {
    /// Sets its name in messages, as when its callback fails: "the callback of `what` of node /n
    /// failed"; `guard condition` by default. For entities that are built on one, such as an
    /// action's server.
    ///
    /// ```
    /// use sinew::prelude::*;
    /// use sinew::executor::FaultPolicy;
    /// let context = Context::new()?;
    /// let bell = context.node("arm")?.guard_condition().called("gripper").callback(|| Err("it is stuck"))?;
    /// let executor = Executor::builder().on_error(FaultPolicy::Stop).build()?;
    /// executor.add(&context)?;
    /// bell.trigger();
    /// let error = executor.spin().unwrap_err();
    /// assert_eq!(error.to_string(), "the callback of gripper of node /arm failed: it is stuck");
    /// # Ok::<(), sinew::Error>(())
    /// ```
    pub fn called(mut self, what: impl Into<String>) -> Self {
        self.what = what.into();
        self
    }

    /// Sets a listener that is called for each trigger, on the thread that triggers;
    /// [`GuardCondition::set_listener`] replaces it.
    pub fn listener(mut self, listener: impl Fn(u64) + Send + Sync + 'static) -> Self {
        self.listener = Some(Box::new(listener));
        self
    }

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
        let source = StatusCondition::new(&self.group, self.what.clone(), callback);
        let joined = Some(AttachedCondition::new(source));
        let state = Mutex::new(GuardState { joined, listener: None });
        let inner = Arc::new(GuardInner { state, node: self.node, what: self.what });
        if let Some(listener) = self.listener {
            inner.listen(listener);
        }
        Ok(GuardCondition { inner })
    }
}
