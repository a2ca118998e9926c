//! Callback groups: an executor runs one callback of a group at a time, or any number if the group
//! is reentrant.

use super::group_core::GroupCore;
use super::group_token::{GroupCell, GroupNumber, REENTRANT, StateOf};
pub(crate) use super::member::GroupMember;
use super::owner::Owner;
use crate::sys::sync::Arc;
use std::fmt;
use std::sync::Weak;

/// A mutually exclusive callback group: its callbacks never run at the same time, and may share a
/// state.
///
/// Made by [`Node::group`](crate::Node::group). The subscriptions, timers and other entities that
/// it makes belong to its node, and their callbacks run in the group; they may take `&mut S` as
/// their first parameter, and need no lock for it. Every node has a default group without state for
/// all other entities. Clones are the same group. The state lives as long as a handle or an entity
/// of the group, and only the thread that runs the group touches it. A group has no `close`: close
/// its entities.
///
/// ```
/// use sinew::prelude::*;
/// # #[derive(Clone)] struct Number(u64); impl Message for Number {}
/// #[derive(Default)]
/// struct Sum(u64);
///
/// let context = Context::new()?;
/// let node = context.node("adder")?;
/// let sum = node.group(Sum::default());
/// let _s = sum.subscription::<Number>("numbers")
///     .callback(|sum: &mut Sum, number: &Number| sum.0 += number.0)?;
/// let _t = sum.timer(Duration::from_secs(1))
///     .callback(|sum: &mut Sum| println!("{}", sum.0))?;
/// # Ok::<(), sinew::Error>(())
/// ```
pub struct Group<S = ()> {
    pub(crate) core: Arc<GroupCore>,
    /// The number of its tokens.
    pub(crate) number: GroupNumber,
    pub(crate) state: Arc<GroupCell<S, StateOf>>,
}

impl<S> Clone for Group<S> {
    fn clone(&self) -> Self {
        Self { core: self.core.clone(), number: self.number, state: self.state.clone() }
    }
}

impl<S> fmt::Debug for Group<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Group").field("node", self.core.node.full_name()).finish_non_exhaustive()
    }
}

/// A reentrant callback group: its callbacks may run at the same time on several threads, even the
/// same callback for several messages.
///
/// Made by [`Node::reentrant_group`](crate::Node::reentrant_group); used as a [`Group`]. It has no
/// state, and its callbacks must be `Fn` and `Sync`: they protect the data that they share
/// themselves. An executor with one thread runs them one after the other. The executor takes the
/// messages of one topic in their order, but their callbacks may overtake each other. Clones are
/// the same group; it has no `close`.
///
/// ```
/// use sinew::prelude::*;
/// # #[derive(Clone)] struct Picture; impl Message for Picture {}
/// let context = Context::new()?;
/// let node = context.node("detector")?;
/// let group = node.reentrant_group();
/// let (seen, all_seen) = std::sync::mpsc::channel();
/// let _pictures = group.subscription::<Picture>("pictures")
///     .callback(move |_: &Picture| seen.send(()))?;
///
/// let executor = Executor::multi(2); // up to two pictures at a time
/// executor.add(&context)?;
/// node.publisher::<Picture>("pictures").create()?.publish(Picture)?;
/// executor.spin_some()?;
/// assert_eq!(all_seen.try_iter().count(), 1);
/// # Ok::<(), sinew::Error>(())
/// ```
#[derive(Clone)]
pub struct ReentrantGroup {
    pub(crate) core: Arc<GroupCore>,
}

impl fmt::Debug for ReentrantGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReentrantGroup").field("node", self.core.node.full_name()).finish_non_exhaustive()
    }
}

impl ReentrantGroup {
    pub(crate) fn new(node: Arc<dyn Owner>) -> Self {
        Self { core: GroupCore::new(node, REENTRANT) }
    }

    /// Sets the group's priority, as [`Group::priority`].
    #[must_use]
    pub fn priority(self, priority: i32) -> Self {
        self.core.set_priority(priority);
        self
    }

    /// Pauses the group, as [`Group::pause_handle`].
    pub fn pause_handle(&self) -> PauseHandle {
        PauseHandle(Arc::downgrade(&self.core))
    }
}

/// The two kinds of callback groups: [`Group`] and [`ReentrantGroup`].
pub trait CallbackGroup: sealed::Core + Clone + Send + Sync + 'static {
    /// The state that its callbacks share; `()` for none.
    type State: Send + 'static;

    #[doc(hidden)]
    fn state(&self) -> Arc<GroupCell<Self::State, StateOf>>;
}

impl<S: Send + 'static> CallbackGroup for Group<S> {
    type State = S;

    fn state(&self) -> Arc<GroupCell<S, StateOf>> {
        self.state.clone()
    }
}

impl CallbackGroup for ReentrantGroup {
    type State = ();

    fn state(&self) -> Arc<GroupCell<(), StateOf>> {
        Arc::new(GroupCell::nothing())
    }
}

pub(crate) mod sealed {
    use super::{Arc, Group, GroupCore, ReentrantGroup};

    pub trait Core {
        #[doc(hidden)]
        fn core(&self) -> &Arc<GroupCore>;
    }

    impl<S> Core for Group<S> {
        fn core(&self) -> &Arc<GroupCore> {
            &self.core
        }
    }

    impl Core for ReentrantGroup {
        fn core(&self) -> &Arc<GroupCore> {
            &self.core
        }
    }
}

impl<S: Send + 'static> Group<S> {
    pub(crate) fn new(node: Arc<dyn Owner>, state: S) -> Self {
        let number = GroupNumber::new();
        let core = GroupCore::new(node, number.get());
        Self { core, number, state: Arc::new(number.state(state)) }
    }

    /// Sets the group's priority (default 0): among ready groups, the executor runs those of the
    /// highest priority first. It interrupts no callback. May be changed at any time.
    #[must_use]
    pub fn priority(self, priority: i32) -> Self {
        self.core.set_priority(priority);
        self
    }

    /// Returns a handle that pauses and resumes the group, from anywhere.
    ///
    /// ```
    /// use sinew::prelude::*;
    /// # #[derive(Clone)] struct Number(u64); impl Message for Number {}
    /// let context = Context::new()?;
    /// let node = context.node("adder")?;
    /// let sum = node.group(0);
    /// let _s = sum.subscription::<Number>("numbers")
    ///     .callback(|sum: &mut u64, number: &Number| *sum += number.0)?;
    /// let numbers = node.publisher::<Number>("numbers").create()?;
    /// let executor = Executor::single();
    /// executor.add(&context)?;
    ///
    /// let handle = sum.pause_handle();
    /// handle.pause();
    /// numbers.publish(Number(1))?;
    /// assert_eq!(executor.spin_some()?, 0);
    /// handle.resume(); // as if the subscription were created now
    /// numbers.publish(Number(2))?;
    /// assert_eq!(executor.spin_some()?, 1);
    /// # Ok::<(), sinew::Error>(())
    /// ```
    pub fn pause_handle(&self) -> PauseHandle {
        PauseHandle(Arc::downgrade(&self.core))
    }
}

/// Pauses and resumes a group of callbacks.
///
/// Made by [`Group::pause_handle`] and [`ReentrantGroup::pause_handle`]. It doesn't keep the group
/// alive; once the group is gone, both methods do nothing. Any thread may use it.
///
/// A paused group costs its executor nothing. Other programs see no difference: publishers match
/// its subscriptions, clients find its servers. Meanwhile
///
/// | entity of the group | while paused | after `resume` |
/// |---|---|---|
/// | subscription, volatile | messages wait in the history, newer ones displace older ones | waiting messages are dropped (and count as taken), as if the subscription were created now |
/// | subscription, transient local | messages wait in the history, newer ones displace older ones | waiting messages are delivered |
/// | timer | not due | due one period later |
/// | server | requests wait, up to `max_requests` and their callers' timeouts | requests are answered |
/// | client, guard condition, event handlers | results, triggers and events wait | callbacks run |
/// | posted closure, woken future | waits | runs |
///
/// If the history of a reliable subscription that keeps all is full, its publishers wait, as for
/// any subscription that takes no messages. Listeners, filters, [`take`](crate::Subscription::take)
/// and publishers belong to no group, and continue.
#[derive(Clone)]
pub struct PauseHandle(Weak<GroupCore>);

impl PauseHandle {
    /// Pauses the group: no callback begins any more. Waits for a callback that runs on another
    /// thread, unless that thread waits for this one. Does nothing if the group is paused.
    pub fn pause(&self) {
        if let Some(group) = self.0.upgrade() {
            group.pause();
        }
    }

    /// Resumes the group, on its executor's threads. Never blocks. Does nothing if the group isn't
    /// paused.
    pub fn resume(&self) {
        if let Some(group) = self.0.upgrade() {
            group.resume();
        }
    }

    /// Whether the group is gone, with its last handle and its last entity.
    pub fn is_gone(&self) -> bool {
        self.0.strong_count() == 0
    }
}

impl fmt::Debug for PauseHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PauseHandle").finish_non_exhaustive()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use crate::{Context, Duration, Executor};

    #[test]
    fn an_executor_has_no_place_for_groups_that_are_gone() {
        let context = Context::builder().shared_memory(false).build().unwrap();
        let executor = Executor::single();
        executor.add(&context).unwrap();
        let _stays = context.node("stays").unwrap();
        for n in 0..100 {
            let node = context.node("goes").unwrap();
            let group = node.group(n).priority(n);
            let _timer = group.timer(Duration::from_secs(1)).callback(|| {}).unwrap();
        }
        assert_eq!(executor.scheduler.slots(), 1);
    }

    #[test]
    fn a_group_that_goes_in_its_own_callback_goes() {
        let context = Context::builder().shared_memory(false).build().unwrap();
        let executor = Executor::single();
        executor.add(&context).unwrap();
        let node = context.node("goes").unwrap();
        let (sender, receiver) = std::sync::mpsc::channel();
        let guard = node
            .guard_condition()
            .callback(move || {
                let everything: Box<dyn std::any::Any + Send> = receiver.recv().unwrap();
                drop(everything);
            })
            .unwrap();
        guard.trigger();
        sender.send(Box::new((guard, node))).unwrap();
        assert_eq!(executor.spin_some().unwrap(), 1);
        assert_eq!(executor.scheduler.slots(), 0);
    }
}
