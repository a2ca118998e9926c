//! The untyped part of a callback group: its members, and its place in an executor.

use super::crew::blocked::Blocked;
use super::crew::members::GroupSlot;
use super::crew::scheduler::{Scheduler, TaskRef, ToSignal};
use super::group_token::REENTRANT;
use super::member::GroupMember;
use super::owner::{Close, Owner};
use super::prefetch::Part;
use super::task::{Task, TaskBase};
use super::work::queue::WorkQueueCore;
use crate::sys::clock::Clock;
use crate::sys::sync::{Arc, Mutex, next_serial};
use sinew_shm::Callback;
use sinew_shm::transport::PackedCallback;
use slab::Slab;
use std::mem;
use std::sync::{OnceLock, Weak};

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
    /// The place that it left while one of its callbacks ran there: until that has ended, no other
    /// executor may run one.
    left: Option<GroupSlot>,
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
#[must_use = "they are attached once the group isn't locked any more"]
struct Moved {
    entities: Vec<Arc<Task<dyn GroupMember>>>,
    signal: ToSignal,
}

impl Moved {
    /// Signals the executor, and notifies the members. The caller holds no lock.
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
    /// An executor that has it no more still runs one of its callbacks.
    Runs,
}

/// An entity's place in its group.
#[derive(Clone, Copy)]
pub(crate) struct Membership {
    key: usize,
    serial: u64,
}

impl GroupCore {
    pub(super) fn new(node: Arc<dyn Owner>, number: u64) -> Arc<Self> {
        Arc::new(Self {
            clock: node.host().clock().clone(),
            node,
            number,
            members: Mutex::new(GroupMembers {
                entities: Slab::new(),
                executor: None,
                left: None,
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

    pub(super) fn set_priority(&self, priority: i32) {
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
        place.enter((serial, self.shown_callback(&place.scheduler, &entity.base)), entity.clone())
    }

    /// Returns the record that tools see while a callback runs.
    fn shown_callback(&self, scheduler: &Scheduler, task: &TaskBase) -> PackedCallback {
        match (self.node.known(), self.node.host().participant()) {
            (Some(node), Some(participant)) if scheduler.keep_records_of(participant) => {
                task.shown_callback().unwrap_or(Callback::Other(node)).task()
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
        self.serves(scheduler) == Some(false)
    }

    pub(crate) fn is_served_by(&self, scheduler: &Arc<Scheduler>) -> bool {
        self.serves(scheduler) == Some(true)
    }

    /// Whether the executor that serves it is that one; `None` if none does.
    fn serves(&self, scheduler: &Arc<Scheduler>) -> Option<bool> {
        let members = self.members.lock();
        members.executor.as_ref().map(|place| Arc::ptr_eq(&place.scheduler, scheduler))
    }

    pub(crate) fn add_to(&self, scheduler: &Arc<Scheduler>) -> Result<(), NotAdded> {
        let mut members = self.members.lock();
        match &members.executor {
            Some(place) if Arc::ptr_eq(&place.scheduler, scheduler) => return Err(NotAdded::Here),
            Some(_) => return Err(NotAdded::Elsewhere),
            None => {}
        }
        // Reentrant groups have no state, and may run several callbacks.
        members.left.take_if(|left| self.number == REENTRANT || !left.still_runs(self.number));
        if members.left.is_some() {
            return Err(NotAdded::Runs);
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

    pub(super) fn pause(&self) {
        let mut left: Vec<TaskRef> = Vec::new();
        let moved = {
            let mut members = self.members.lock();
            if mem::replace(&mut members.paused, true) {
                return;
            }
            members.leave_all(|task_ref| left.push(task_ref))
        };
        moved.finish();
        self.wait_for(&left);
    }

    /// Waits for the last callbacks of members that have left their executor, except on this
    /// thread. The caller holds no lock.
    fn wait_for(&self, left: &[TaskRef]) {
        // As in `deregister`. Those that have left may be back meanwhile, so they don't leave
        // again.
        let waiting = self.node.host().wait_graph().enter_group(self.number);
        let _blocked = Blocked::begin();
        left.iter().filter(|_| waiting.is_ok()).for_each(TaskRef::await_callbacks);
    }

    pub(super) fn resume(&self) {
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

    /// Removes the group from the executor. Messages and other work keep waiting in its entities.
    /// With `wait`, none of its callbacks runs on another thread when this returns. Returns `false`
    /// if it isn't there.
    pub(crate) fn remove_from(&self, scheduler: &Arc<Scheduler>, wait: bool) -> bool {
        let mut members = self.members.lock();
        let is_it = |place: &mut GroupSlot| Arc::ptr_eq(&place.scheduler, scheduler);
        let Some(place) = members.executor.take_if(is_it) else { return false };
        let mut left: Vec<TaskRef> = Vec::new();
        let moved = members.leave_all(|task_ref| left.push(task_ref));
        place.remove();
        if place.still_runs(self.number) {
            members.left = Some(place);
        }
        drop(members);
        moved.finish();
        if wait {
            self.wait_for(&left);
        }
        true
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
