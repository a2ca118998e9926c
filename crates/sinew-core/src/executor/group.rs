//! Callback groups: an executor runs one callback of a group at a time, or any number if the group
//! is reentrant.

use super::crew::blocked::Blocked;
use super::crew::members::GroupSlot;
use super::crew::scheduler::{Scheduler, TaskRef, ToSignal};
use super::group_token::{GroupCell, GroupNumber, REENTRANT, StateOf};
pub(crate) use super::member::GroupMember;
use super::owner::{Close, Owner};
use super::prefetch::Part;
use super::task::{Task, TaskBase};
use super::work::queue::WorkQueueCore;
use crate::sys::clock::Clock;
use crate::sys::sync::{Arc, Mutex, next_serial};
use sinew_shm::Callback;
use sinew_shm::transport::PackedCallback;
use slab::Slab;
use std::fmt;
use std::mem;
use std::sync::{OnceLock, Weak};

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

/// The untyped part of a group.
pub struct GroupCore {
    /// The node it belongs to.
    pub(crate) node: Arc<dyn Owner>,
    pub(crate) clock: Clock,
    /// The number of its tokens; `REENTRANT` if they open nothing.
    number: u64,
    members: Mutex<GroupMembers>,
    /// The queue of work that is posted to the group itself; the first post creates it.
    work: OnceLock<Arc<WorkQueueCore>>,
}

struct GroupMembers {
    entities: Slab<Resident>,
    /// The group's place in the executor that runs it.
    executor: Option<GroupSlot>,
    priority: i32,
    /// Whether no member is in the executor, although the group is.
    paused: bool,
}

impl GroupMembers {
    fn all(&self) -> Vec<Arc<Task<dyn GroupMember>>> {
        self.entities.iter().map(|(_, resident)| resident.entity.clone()).collect()
    }

    /// Takes all members out of their executor; passes their places there to `left`.
    fn leave_all(&mut self, mut left: impl FnMut(TaskRef)) -> Moved {
        for (_, resident) in &mut self.entities {
            resident.leave(&mut left);
        }
        Moved { entities: self.all(), signal: ToSignal::NONE }
    }

    fn place(&self) -> Option<&GroupSlot> {
        self.executor.as_ref().filter(|_| !self.paused)
    }

    fn has(&self, Membership { key, serial }: Membership) -> bool {
        self.entities.get(key).is_some_and(|resident| resident.serial == serial)
    }
}

/// A member, and its place in the executor.
struct Resident {
    serial: u64,
    entity: Arc<Task<dyn GroupMember>>,
    task_ref: Option<TaskRef>,
}

impl Resident {
    fn enter(&mut self, task_ref: TaskRef) -> ToSignal {
        self.task_ref = Some(task_ref.clone());
        self.entity.work.attach(Some(task_ref))
    }

    /// Takes it out of its executor, if it is in one.
    fn leave(&mut self, left: impl FnOnce(TaskRef)) {
        self.entity.work.attach(None).signal(); // none: it has no executor now
        if let Some(task_ref) = self.task_ref.take() {
            task_ref.leave(false);
            left(task_ref);
        }
    }
}

/// Members that were given another executor, or none, while their group was locked.
#[must_use = "they are told once the group isn't locked any more"]
struct Moved {
    entities: Vec<Arc<Task<dyn GroupMember>>>,
    signal: ToSignal,
}

impl Moved {
    /// Signals the executor, and tells the members. The caller holds no lock.
    fn finish(self) {
        self.signal.signal();
        self.entities.iter().for_each(|entity| entity.work.attached());
    }
}

/// The reason why a group could not be added to an executor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotAdded {
    /// This executor already has it.
    Here,
    /// Another executor has it.
    Elsewhere,
}

/// An entity's place in its group.
#[derive(Clone, Copy)]
pub(crate) struct Membership {
    key: usize,
    serial: u64,
}

impl GroupCore {
    fn new(node: Arc<dyn Owner>, number: u64) -> Arc<Self> {
        Arc::new(Self {
            clock: node.host().clock().clone(),
            node,
            number,
            members: Mutex::new(GroupMembers {
                entities: Slab::new(),
                executor: None,
                priority: 0,
                paused: false,
            }),
            work: OnceLock::new(),
        })
    }

    /// Returns the queue for work that is posted to the group itself.
    pub(crate) fn work(&self) -> &Arc<WorkQueueCore> {
        self.work.get_or_init(|| self.member_queue("work posted", false).0)
    }

    /// Creates a queue that another task of this group runs and closes.
    pub(crate) fn bare_queue(&self, what: &str) -> Arc<WorkQueueCore> {
        WorkQueueCore::new(&self.node, &self.clock, what, false)
    }

    /// Creates a queue for work that runs in this group. The context closes it when it ends; the
    /// caller, which has a handle of the queue, may deregister and close it before.
    pub(crate) fn work_queue(&self, what: &str) -> (Arc<WorkQueueCore>, Membership) {
        self.member_queue(what, true)
    }

    fn member_queue(&self, what: &str, has_handle: bool) -> (Arc<WorkQueueCore>, Membership) {
        let core = WorkQueueCore::new(&self.node, &self.clock, what, true);
        let base = TaskBase::new(self.node.clone(), what).subject(&core).uses(vec![Part::value(&core, 4)]);
        let membership = self.join(Task::new(base, core.clone()));
        let weak: Weak<dyn Close> = Arc::downgrade(&core) as Weak<WorkQueueCore>;
        self.node.host().close_at_end(weak, has_handle);
        (core, membership)
    }

    fn set_priority(&self, priority: i32) {
        let mut members = self.members.lock();
        members.priority = priority;
        if let Some(place) = &members.executor {
            place.set_priority(priority);
        }
    }

    /// Adds an entity; if the group is in an executor, so is the entity from now on.
    pub(crate) fn join(&self, entity: Arc<Task<dyn GroupMember>>) -> Membership {
        let mut members = self.members.lock();
        let serial = next_serial();
        let mut resident = Resident { serial, entity: entity.clone(), task_ref: None };
        let signal = members.place().map(|place| resident.enter(self.place(place, serial, &entity)));
        let key = members.entities.insert(resident);
        drop(members);
        if let Some(signal) = signal {
            signal.signal();
            entity.work.attached();
        }
        Membership { key, serial }
    }

    /// Gives a member its place in the executor.
    fn place(&self, place: &GroupSlot, serial: u64, entity: &Arc<Task<dyn GroupMember>>) -> TaskRef {
        place.enter((serial, self.told(&place.scheduler, &entity.base)), entity.clone())
    }

    /// Returns the record that tools see while a callback runs.
    fn told(&self, scheduler: &Scheduler, task: &TaskBase) -> PackedCallback {
        match (self.node.known(), self.node.host().participant()) {
            (Some(node), Some(participant)) if scheduler.tell(participant) => {
                task.told().unwrap_or(Callback::Other(node)).task()
            }
            (Some(_), _) => Callback::Elsewhere.task(),
            (None, _) => PackedCallback::default(),
        }
    }

    /// Whether the entity is still a member.
    pub(crate) fn has(&self, membership: Membership) -> bool {
        self.members.lock().has(membership)
    }

    /// Removes an entity: when this returns, none of its callbacks starts; with `wait`, none runs
    /// on another thread either. Returns `false` if the entity was already gone.
    pub(crate) fn deregister(&self, membership: Membership, wait: bool) -> bool {
        let gone = {
            let mut members = self.members.lock();
            members.has(membership).then(|| members.entities.remove(membership.key))
        };
        let Some(Resident { entity, task_ref, .. }) = gone else { return false };
        entity.work.attach(None).signal(); // none: it has no executor now
        entity.work.attached();
        if let Some(task_ref) = task_ref {
            // This thread begins no wait that no other thread could end, for example in two
            // callbacks that close each other's entities.
            let waiting = wait.then(|| self.node.host().wait_graph().enter_group(self.number));
            let _blocked = wait.then(Blocked::begin);
            task_ref.leave(matches!(waiting, Some(Ok(_))));
        }
        drop(entity); // with the program's closure: no lock is held
        true
    }

    /// Whether it has an entity, and whether it ever had one.
    pub(crate) fn is_inhabited(&self) -> (bool, bool) {
        // The group's own queue counts as an entity of the program only while it has work.
        let idle_queues = usize::from(self.work.get().is_some_and(|work| work.is_idle()));
        let entities = &self.members.lock().entities;
        (entities.len() > idle_queues, entities.capacity() > 0)
    }

    pub(crate) fn is_served_by_another(&self, scheduler: &Arc<Scheduler>) -> bool {
        self.members.lock().executor.as_ref().is_some_and(|place| !Arc::ptr_eq(&place.scheduler, scheduler))
    }

    pub(crate) fn add_to(&self, scheduler: &Arc<Scheduler>) -> Result<(), NotAdded> {
        let mut members = self.members.lock();
        match &members.executor {
            Some(place) if Arc::ptr_eq(&place.scheduler, scheduler) => return Err(NotAdded::Here),
            Some(_) => return Err(NotAdded::Elsewhere),
            None => {}
        }
        let Some(place) = GroupSlot::new(scheduler, self.number, members.priority) else {
            return Err(NotAdded::Elsewhere); // with an executor that is going
        };
        members.executor = Some(place);
        let moved = self.enter_all(&mut members);
        drop(members);
        moved.finish();
        Ok(())
    }

    /// All members go into the executor that the group is in, unless it is paused.
    fn enter_all(&self, members: &mut GroupMembers) -> Moved {
        let mut signal = ToSignal::NONE;
        let Some(place) = members.place().cloned() else { return Moved { entities: Vec::new(), signal } };
        for (_, resident) in &mut members.entities {
            let task_ref = self.place(&place, resident.serial, &resident.entity);
            signal = signal.or(resident.enter(task_ref));
        }
        Moved { entities: members.all(), signal }
    }

    fn pause(&self) {
        let mut left: Vec<TaskRef> = Vec::new();
        let moved = {
            let mut members = self.members.lock();
            if mem::replace(&mut members.paused, true) {
                return;
            }
            members.leave_all(|task_ref| left.push(task_ref))
        };
        moved.finish();
        // As in `deregister`; each task that has left leaves once more, to wait without the lock.
        let waiting = self.node.host().wait_graph().enter_group(self.number);
        let _blocked = Blocked::begin();
        for task_ref in left.iter().filter(|_| waiting.is_ok()) {
            task_ref.leave(true);
        }
    }

    fn resume(&self) {
        let entities = {
            let members = self.members.lock();
            if !members.paused {
                return;
            }
            members.all()
        };
        for entity in entities {
            entity.work.discard(); // drops messages, which runs code of the program: no lock is held
        }
        let mut members = self.members.lock();
        if mem::replace(&mut members.paused, false) {
            let moved = self.enter_all(&mut members);
            drop(members);
            moved.finish();
        }
    }

    /// Removes the group from the executor, if it is there. Messages and other work keep waiting in
    /// its entities.
    pub(crate) fn remove_from(&self, scheduler: &Arc<Scheduler>) {
        let mut members = self.members.lock();
        let is_it = |place: &mut GroupSlot| Arc::ptr_eq(&place.scheduler, scheduler);
        let Some(place) = members.executor.take_if(is_it) else { return };
        let moved = members.leave_all(drop);
        place.remove();
        drop(members);
        moved.finish();
    }
}

impl Drop for GroupCore {
    fn drop(&mut self) {
        // The last handle and the last entity are gone: the executor frees the group's place. The
        // only member that may be left is the queue for work that was posted to the group itself.
        let (executor, members) = {
            let mut members = self.members.lock();
            (members.executor.take(), mem::take(&mut members.entities))
        };
        for (_, mut resident) in members {
            resident.leave(drop);
        }
        if let Some(place) = executor {
            place.remove();
        }
        if let Some(work) = self.work.get() {
            work.close(); // drops code of the program: no lock is held
        }
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
