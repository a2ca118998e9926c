//! The state shared by the nodes, topics and executors of one context.

use super::graph_changes::GraphChanges;
use super::shutdown::{ShutdownCallbacks, ShutdownHandler};
use crate::executor::crew::scheduler::Scheduler;
use crate::executor::crew::wait_graph::WaitGraph;
use crate::executor::owner::Close;
use crate::mailbox::deferred::{Deferred, Watched};
use crate::ros::failure::CreateError;
use crate::sys::clock::{Clock, ClockKind, Time, VirtualClock, Wake};
use crate::sys::jump::{FollowsTime, TimeJump};
use crate::sys::sync::{Arc, AtomicBool, AtomicU64, Mutex, Ordering, next_serial};
use std::hash::{BuildHasher, RandomState};
use std::sync::Weak;

/// The state shared by everything in a context. It keeps no node or entity alive.
#[repr(C)] // fields that every publish reads come first, on one cache line
pub(crate) struct Session {
    /// The context was shut down: nothing is accepted any more.
    pub(crate) ended: AtomicBool,
    pub(crate) clock: Clock,
    /// Counts changes of any topic's subscriptions; see [`publisher`](super::publisher_core).
    generation: AtomicU64,
    /// A subscription elsewhere isn't connected, for lack of room.
    refused: AtomicBool,
    /// Random number that identifies this participant.
    pub(crate) participant: u64,
    pub(crate) wait_graph: Arc<WaitGraph>,
    executors: Mutex<Vec<Weak<Scheduler>>>,
    /// Followers of ROS time.
    followers: Mutex<Vec<Weak<dyn FollowsTime>>>,
    /// The follower of `/clock`.
    sim_time: Mutex<Option<Box<dyn Send>>>,
    detached: Mutex<Detached>,
    /// The program's callbacks for its end.
    shutdown_callbacks: ShutdownCallbacks,
    /// Those for before it.
    pre_shutdown_callbacks: ShutdownCallbacks,
    /// Changes of the nodes and endpoints, here and elsewhere.
    pub(crate) graph_changes: GraphChanges,
}

/// Entities that were detached, and queues that are closed when the context ends.
#[derive(Default)]
struct Detached {
    /// Whether the context has ended: it keeps no entity any more.
    closed: bool,
    entities: Vec<Box<dyn Send>>,
    queues: Vec<Weak<dyn Close>>,
    /// Queues with handles: they outlive the handles of the context, as other entities do.
    named_queues: Vec<Weak<dyn Close>>,
}

impl Session {
    /// Creates a session, in virtual time if a clock for that is given.
    pub(crate) fn new(clock: Option<VirtualClock>) -> Arc<Self> {
        Arc::new(Self {
            ended: AtomicBool::new(false),
            clock: Clock::new(clock),
            // No publisher has seen generation 1: the first publish fetches its list.
            generation: AtomicU64::new(1),
            refused: AtomicBool::new(false),
            participant: RandomState::new().hash_one(next_serial()),
            wait_graph: WaitGraph::of_this_process(),
            executors: Mutex::new(Vec::new()),
            followers: Mutex::new(Vec::new()),
            sim_time: Mutex::default(),
            detached: Mutex::default(),
            shutdown_callbacks: ShutdownCallbacks::default(),
            pre_shutdown_callbacks: ShutdownCallbacks::default(),
            graph_changes: GraphChanges::new(),
        })
    }

    pub(crate) fn now(&self, kind: ClockKind) -> Time {
        Time::from_nanoseconds(self.clock.now(kind))
    }

    // ---- its end ----

    /// Whether the context was shut down.
    #[inline]
    pub(crate) fn has_ended(&self) -> bool {
        // Acquire: pairs with the Release in `end`; nothing is accepted after it.
        self.ended.load(Ordering::Acquire)
    }

    pub(crate) fn check_running(&self, name: &str) -> Result<(), CreateError> {
        if self.has_ended() {
            return Err(CreateError::Shutdown { name: name.to_owned() });
        }
        Ok(())
    }

    /// Ends the session: nothing is accepted any more, and executors return.
    pub(crate) fn end(&self) {
        // Release: pairs with the Acquire loads of publishers; they accept nothing after it.
        self.ended.store(true, Ordering::Release);
        self.each_executor(Scheduler::end);
        self.each_follower(|follower| follower.ended());
        self.graph_changes.wake();
    }

    /// Runs the program's callbacks for the end, after everything that waits was woken.
    pub(crate) fn run_shutdown_callbacks(&self) {
        self.shutdown_callbacks.run();
    }

    /// Keeps a callback for the end, or runs it at once if the session has ended.
    pub(crate) fn on_shutdown(&self, callback: impl FnOnce() + Send + 'static) -> ShutdownHandler {
        let handler = self.shutdown_callbacks.add(callback);
        if self.has_ended() {
            self.shutdown_callbacks.run();
        }
        handler
    }

    /// Runs the program's callbacks for before the end.
    pub(crate) fn run_pre_shutdown_callbacks(&self) {
        self.pre_shutdown_callbacks.run();
    }

    /// Keeps a callback for before the end.
    pub(crate) fn on_pre_shutdown(&self, callback: impl FnOnce() + Send + 'static) -> ShutdownHandler {
        self.pre_shutdown_callbacks.add(callback)
    }

    /// Keeps an entity until the context ends. If the context has ended, drops the entity at once.
    pub(crate) fn detach(&self, entity: impl Send + 'static) {
        let entity: Box<dyn Send> = Box::new(entity);
        {
            let mut detached = self.detached.lock();
            if !detached.closed {
                detached.entities.push(entity);
                return;
            }
        }
        drop(entity); // runs code of the program, outside the lock
    }

    /// Ends the detached entities in the order in which they were detached; entities that are
    /// detached later end at once. Runs only on threads of the program, since it drops the captures
    /// of callbacks.
    pub(crate) fn end_detached(&self) {
        let (entities, queues) = {
            let mut detached = self.detached.lock();
            detached.closed = true;
            let mut queues = std::mem::take(&mut detached.queues);
            if self.has_ended() {
                queues.append(&mut detached.named_queues);
            }
            (std::mem::take(&mut detached.entities), queues)
        };
        // Queues come first: if dropping an entity panics, no handle of a future must wait forever.
        queues.iter().filter_map(Weak::upgrade).for_each(|queue| queue.close());
        drop(self.follow_clock(None));
        drop(entities); // the program's code, outside the lock
    }

    /// Registers a queue to be closed when the context ends, or closes it at once if the context
    /// has ended. A queue without a handle also closes with the last handle of the context, as
    /// detached entities end: otherwise its work would keep itself alive.
    pub(crate) fn close_at_end(&self, queue: Weak<dyn Close>, has_handle: bool) {
        {
            let mut detached = self.detached.lock();
            let is_over = if has_handle { self.has_ended() } else { detached.closed };
            if !is_over {
                let queues = if has_handle { &mut detached.named_queues } else { &mut detached.queues };
                if queues.len() == queues.capacity() {
                    queues.retain(|queue| queue.strong_count() > 0);
                }
                queues.push(queue);
                return;
            }
        }
        if let Some(queue) = queue.upgrade() {
            queue.close();
        }
    }

    // ---- executors and timers ----

    /// Registers an executor to be notified of this context's shutdown and of jumps of its clocks.
    /// Returns `false` if the context is already shut down.
    pub(crate) fn register_executor(&self, scheduler: &Arc<Scheduler>) -> bool {
        let mut executors = self.executors.lock();
        executors.retain(|known| known.strong_count() > 0);
        if !executors.iter().any(|known| known.as_ptr() == Arc::as_ptr(scheduler)) {
            executors.push(Arc::downgrade(scheduler));
        }
        drop(executors);
        !self.has_ended()
    }

    /// Forgets an executor, unless it `serves` something of the context.
    pub(crate) fn forget_executor(&self, scheduler: &Arc<Scheduler>, serves: impl FnOnce() -> bool) {
        let mut executors = self.executors.lock();
        // Under the lock: a thread that adds something meanwhile registers the executor afterwards.
        if !serves() {
            executors.retain(|known| known.as_ptr() != Arc::as_ptr(scheduler));
        }
    }

    /// Whether an executor serves an entity of the context.
    pub(crate) fn has_executor(&self) -> bool {
        self.executors.lock().iter().any(|known| known.strong_count() > 0)
    }

    /// Registers a follower of ROS time, to be notified when the time jumps and when the context
    /// ends.
    pub(crate) fn on_jump(&self, follower: Weak<dyn FollowsTime>) {
        let mut followers = self.followers.lock();
        if followers.len() == followers.capacity() {
            followers.retain(|known| known.strong_count() > 0);
        }
        followers.push(follower);
    }

    /// Sets ROS time, or returns to the wall clock, which ends simulated time. With an epoch given,
    /// acts only in that epoch.
    pub(crate) fn set_ros_time(&self, time: Option<Time>, only_in: Option<u64>) {
        let Some(jump) = self.clock.set_ros_time(time, only_in) else { return };
        if time.is_none() {
            drop(self.follow_clock(None));
        }
        self.notify(&jump);
    }

    /// Sets ROS time to 0 until the first message of `/clock`. Returns the epoch in which that
    /// message may set it.
    pub(crate) fn await_ros_time(&self) -> u64 {
        let (epoch, jump) = self.clock.await_ros_time();
        if let Some(jump) = jump {
            self.notify(&jump);
        }
        epoch
    }

    fn notify(&self, jump: &TimeJump) {
        self.each_follower(|follower| follower.jumped(jump));
        self.each_executor(Wake::wake);
    }

    /// Keeps the follower of `/clock` from now on. Returns the previous one, which must be dropped
    /// under no lock.
    pub(crate) fn follow_clock(&self, follower: Option<Box<dyn Send>>) -> Option<Box<dyn Send>> {
        std::mem::replace(&mut *self.sim_time.lock(), follower)
    }

    /// Whether ROS time follows `/clock`.
    pub(crate) fn follows_clock(&self) -> bool {
        self.sim_time.lock().is_some()
    }

    fn each_follower(&self, act: impl Fn(&dyn FollowsTime)) {
        let followers: Vec<_> = self.followers.lock().iter().filter_map(Weak::upgrade).collect();
        followers.iter().for_each(|follower| act(&**follower));
    }

    pub(crate) fn each_executor(&self, act: impl Fn(&Scheduler)) {
        let executors: Vec<_> = self.executors.lock().iter().filter_map(Weak::upgrade).collect();
        executors.iter().for_each(|scheduler| act(scheduler));
    }

    // ---- topics ----

    /// C2: returns the generation of the newest lists of subscriptions.
    #[inline]
    pub(crate) fn generation(&self) -> u64 {
        // C2: Acquire; pairs with C1.
        self.generation.load(Ordering::Acquire)
    }

    /// C1: counts the replacement of a list.
    pub(crate) fn count_change(&self) {
        // C1: Release; pairs with C2; carries the list.
        self.generation.fetch_add(1, Ordering::Release);
    }

    // ---- the graph ----

    /// Counts a change of the graph that a list already shows. Watchers are notified after the
    /// caller's lock is released.
    pub(crate) fn graph_changed_under(self: &Arc<Self>, deferred: &mut Deferred) {
        if self.graph_changes.note() {
            deferred.notify_later(self.clone());
        }
    }

    /// As [`graph_changed_under`](Self::graph_changed_under), for a caller that holds no lock, or
    /// only one that this thread [keeps](Deferred::keep).
    pub(crate) fn graph_changed(self: &Arc<Self>) {
        if self.graph_changes.note() {
            Deferred::notify(self.clone());
        }
    }

    /// Records that there was no room to connect a subscription elsewhere: a later attempt follows.
    pub(crate) fn has_refused(&self) {
        self.refused.store(true, Ordering::Relaxed); // read by the next look
    }

    /// Whether there is something that found no room.
    pub(crate) fn lacks_room(&self) -> bool {
        self.refused.load(Ordering::Relaxed) // read by the next look
    }

    /// Whether there was no room since the last call.
    pub(crate) fn take_refused(&self) -> bool {
        self.refused.swap(false, Ordering::Relaxed)
    }
}

impl Watched for Session {
    fn notify(&self) {
        self.graph_changes.notify();
    }
}
