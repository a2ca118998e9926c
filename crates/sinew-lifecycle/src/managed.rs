//! Publishers and callback groups that rest while their node is inactive.

use crate::machine::{State, StateMachine};
use sinew::__private::locks::Mutex;
use sinew::error::PublishError;
use sinew::executor::PauseHandle;
use sinew::logging::{LogTarget, Logger, Sealed};
use sinew::msg::IntoMessage;
use sinew::{Group, Message, Node, Publisher, ReentrantGroup, Unique};
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A [`Node`] with entities that can rest while it isn't active.
///
/// Entities made as in any node (`node.subscription(..)`) don't rest. [Managed](Self::manage) ones
/// do:
///
/// | | works |
/// |---|---|
/// | [managed](Self::manage) publishers | from the start of activation to the end of deactivation |
/// | entities in a [managed group](Self::managed_group) | while the node is active |
///
/// So the callbacks of both transitions can publish a first and a last message.
///
/// Messages and events for such a group are dropped or wait meanwhile, as [`PauseHandle`]
/// describes: in short, subscriptions and timers behave as if they were made at the activation,
/// while requests wait.
///
/// Clones are the same node.
#[derive(Clone)]
pub struct ManagedNode {
    node: Node,
    core: Arc<ManagedCore>,
}

struct ManagedCore {
    machine: Mutex<StateMachine>,
    gate: Gate,
    logger: Logger,
}

/// The switch that lets managed publishers and groups work.
#[derive(Default)]
struct Gate {
    is_open: AtomicBool,
    /// Number of times that the switch was closed.
    closings: AtomicU64,
    groups: Mutex<ManagedGroups>,
}

#[derive(Default)]
struct ManagedGroups {
    are_running: bool,
    handles: Vec<PauseHandle>,
}

impl ManagedNode {
    pub(crate) fn new(node: &Node) -> Self {
        let (machine, gate) = (Mutex::new(StateMachine::new()), Gate::default());
        let core = ManagedCore { machine, gate, logger: node.logger() };
        Self { node: node.clone(), core: Arc::new(core) }
    }

    /// Returns the current state. Never blocks for long; can be called from any thread.
    pub fn state(&self) -> State {
        self.machine(|machine| machine.state())
    }

    /// Makes a publisher drop its messages while the node isn't active.
    pub fn manage<T: Message>(&self, publisher: Publisher<T>) -> ManagedPublisher<T> {
        ManagedPublisher { publisher, gate: self.publish_gate() }
    }

    /// Returns a gate for a publisher of another kind, for example one with an erased type.
    pub fn publish_gate(&self) -> PublishGate {
        PublishGate { core: self.core.clone(), told: Arc::default() }
    }

    /// Returns a [group](Node::group) with callbacks that run only while the node is active.
    pub fn managed_group<S: Send + 'static>(&self, state: S) -> Group<S> {
        let group = self.node.group(state);
        self.take_in(group.pause_handle());
        group
    }

    /// Returns a [reentrant group](Node::reentrant_group) with callbacks that run only while the
    /// node is active.
    pub fn managed_reentrant_group(&self) -> ReentrantGroup {
        let group = self.node.reentrant_group();
        self.take_in(group.pause_handle());
        group
    }

    fn take_in(&self, group: PauseHandle) {
        let mut groups = self.core.gate.groups.lock();
        groups.handles.retain(|group| !group.is_gone());
        if !groups.are_running {
            group.pause(); // the group is empty, so this waits for no callback
        }
        groups.handles.push(group);
    }

    /// Calls `with` under a short lock.
    pub(crate) fn machine<R>(&self, with: impl FnOnce(&mut StateMachine) -> R) -> R {
        with(&mut self.core.machine.lock())
    }

    /// Lets publishers work from now on, or stops them.
    pub(crate) fn open(&self, is_open: bool) {
        let gate = &self.core.gate;
        // Relaxed: a concurrent publish may come before or after this.
        if gate.is_open.swap(is_open, Ordering::Relaxed) && !is_open {
            gate.closings.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Resumes all groups, or pauses them and waits until their callbacks have ended.
    pub(crate) fn run_groups(&self, run: bool) {
        let handles = {
            let mut groups = self.core.gate.groups.lock();
            groups.are_running = run;
            groups.handles.clone()
        };
        for group in handles {
            // Without the lock: a callback that `pause` waits for may make a group.
            if run { group.resume() } else { group.pause() }
        }
    }
}

impl Deref for ManagedNode {
    type Target = Node;

    fn deref(&self) -> &Node {
        &self.node
    }
}

impl Sealed for ManagedNode {}

impl LogTarget for ManagedNode {
    fn logger_name(&self) -> &str {
        self.node.logger_name()
    }

    fn logger_time(&self) -> sinew::time::Time {
        self.node.logger_time()
    }
}

impl fmt::Debug for ManagedNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ManagedNode({}, {})", self.node.full_name(), self.state())
    }
}

/// Whether a managed publisher publishes, for publishers of another kind than [`Publisher`]; returned
/// by [`ManagedNode::publish_gate`]. Clones are the same gate.
#[derive(Clone)]
pub struct PublishGate {
    core: Arc<ManagedCore>,
    told: Arc<Told>,
}

/// Counters of dropped messages and warnings.
#[derive(Default)]
struct Told {
    dropped: AtomicU64,
    /// Number of closings at the last warning, plus one; 0 if there was none.
    at: AtomicU64,
}

impl PublishGate {
    /// Returns `true` if messages are published now.
    #[inline]
    pub fn is_open(&self) -> bool {
        self.core.gate.is_open.load(Ordering::Relaxed) // Relaxed as in `ManagedNode::open`
    }

    /// Returns `true` if a message to this topic is to be published now. Otherwise the caller drops
    /// it: it is counted, and the first one after each deactivation logs a warning.
    #[inline]
    pub fn admits(&self, topic: &str) -> bool {
        let is_open = self.is_open();
        if !is_open {
            self.tell(topic);
        }
        is_open
    }

    /// Returns the number of messages dropped so far.
    pub fn dropped(&self) -> u64 {
        self.told.dropped.load(Ordering::Relaxed) // a statistic
    }

    #[cold]
    fn tell(&self, topic: &str) {
        self.told.dropped.fetch_add(1, Ordering::Relaxed); // a statistic
        let now = self.core.gate.closings.load(Ordering::Relaxed) + 1;
        // Relaxed: it does not matter which thread logs the warning.
        if self.told.at.swap(now, Ordering::Relaxed) == now {
            return;
        }
        let state = self.core.machine.lock().state();
        sinew::warn!(self.core.logger, "messages to {topic} are dropped: the node is {state}, not active");
    }
}

impl fmt::Debug for PublishGate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PublishGate").field("is_open", &self.is_open()).finish_non_exhaustive()
    }
}

/// A publisher that drops its messages while its node isn't active.
///
/// Returned by [`ManagedNode::manage`]. The first message dropped after each deactivation logs a
/// warning; all dropped messages are [counted](Self::dropped). Clones are the same publisher. In
/// the graph it is a publisher like any other.
pub struct ManagedPublisher<T: Message> {
    publisher: Publisher<T>,
    gate: PublishGate,
}

impl<T: Message> ManagedPublisher<T> {
    /// Publishes as [`Publisher::publish`] does, or drops the message and returns `Ok` if the node
    /// isn't active. Costs one more load while the node is active.
    ///
    /// # Errors
    /// As for [`Publisher::publish`].
    #[inline]
    pub fn publish<M: IntoMessage<T>>(&self, message: M) -> Result<(), PublishError<T>> {
        if !self.gate.admits(self.publisher.topic()) {
            drop(message);
            return Ok(());
        }
        self.publisher.publish(message)
    }

    /// Returns `true` if messages are published now. Worth checking before making an expensive
    /// message.
    #[inline]
    pub fn is_open(&self) -> bool {
        self.gate.is_open()
    }

    /// Returns a message to fill and publish, as [`Publisher::loan`].
    pub fn loan(&self) -> Unique<T>
    where
        T: Default,
    {
        self.publisher.loan()
    }

    /// Returns the publisher itself, for its topic or its statistics. Messages published with it
    /// are not dropped.
    pub fn publisher(&self) -> &Publisher<T> {
        &self.publisher
    }

    /// Returns the number of messages dropped so far.
    pub fn dropped(&self) -> u64 {
        self.gate.dropped()
    }
}

impl<T: Message> Clone for ManagedPublisher<T> {
    fn clone(&self) -> Self {
        let Self { publisher, gate } = self;
        Self { publisher: publisher.clone(), gate: gate.clone() }
    }
}

impl<T: Message> fmt::Debug for ManagedPublisher<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ManagedPublisher").field("topic", &self.publisher.topic()).finish_non_exhaustive()
    }
}
