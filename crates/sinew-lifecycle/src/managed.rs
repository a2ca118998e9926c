//! What rests while its node is inactive: publishers and callback groups.

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

/// A [`Node`] whose entities may rest while it isn't active.
///
/// What is made as in any node (`node.subscription(..)`) doesn't rest. What is
/// [managed](Self::manage) does:
///
/// | | works |
/// |---|---|
/// | publishers that are [managed](Self::manage) | from the begin of activation to the end of deactivation: callbacks may have a first and a last word |
/// | what is in a [managed group](Self::managed_group): subscriptions, timers, servers, clients | while the node is active |
///
/// What came for such a group meanwhile is dropped or waits as
/// [`PauseHandle`] says: in short, as if its subscriptions and timers were made at the activation,
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

/// What lets managed publishers and groups work.
#[derive(Default)]
struct Gate {
    is_open: AtomicBool,
    /// How often it was closed.
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

    /// The state it is in now. Never blocks for long; from any thread.
    pub fn state(&self) -> State {
        self.machine(|machine| machine.state())
    }

    /// Has a publisher drop its messages while the node isn't active.
    pub fn manage<T: Message>(&self, publisher: Publisher<T>) -> ManagedPublisher<T> {
        ManagedPublisher { publisher, core: self.core.clone(), told: Arc::default() }
    }

    /// A [group](Node::group) whose callbacks run only while the node is active.
    pub fn managed_group<S: Send + 'static>(&self, state: S) -> Group<S> {
        let group = self.node.group(state);
        self.take_in(group.pause_handle());
        group
    }

    /// A [reentrant group](Node::reentrant_group) whose callbacks run only while the node is active.
    pub fn managed_reentrant_group(&self) -> ReentrantGroup {
        let group = self.node.reentrant_group();
        self.take_in(group.pause_handle());
        group
    }

    fn take_in(&self, group: PauseHandle) {
        let mut groups = self.core.gate.groups.lock();
        groups.handles.retain(|group| !group.is_gone());
        if !groups.are_running {
            group.pause(); // nothing is in it: it waits for none
        }
        groups.handles.push(group);
    }

    /// Under a short lock.
    pub(crate) fn machine<R>(&self, with: impl FnOnce(&mut StateMachine) -> R) -> R {
        with(&mut self.core.machine.lock())
    }

    /// Publishers work from now on, or not.
    pub(crate) fn open(&self, is_open: bool) {
        let gate = &self.core.gate;
        // Relaxed: who publishes at the same time may be before or after it.
        if gate.is_open.swap(is_open, Ordering::Relaxed) && !is_open {
            gate.closings.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Groups go on from now on, or have come to rest when this returns.
    pub(crate) fn run_groups(&self, run: bool) {
        let handles = {
            let mut groups = self.core.gate.groups.lock();
            groups.are_running = run;
            groups.handles.clone()
        };
        for group in handles {
            // Without the lock: a callback that is waited for may make a group.
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

/// A publisher whose messages are dropped while its node isn't active.
///
/// Made by [`ManagedNode::manage`]. The first message that is dropped after each deactivation is
/// told to the person who runs the program; all are [counted](Self::dropped). Clones are the same
/// publisher. To the graph it is a publisher like any other.
pub struct ManagedPublisher<T: Message> {
    publisher: Publisher<T>,
    core: Arc<ManagedCore>,
    told: Arc<Told>,
}

/// What was told of dropped messages.
#[derive(Default)]
struct Told {
    dropped: AtomicU64,
    /// One more than the number of closings at which it was told last; 0 for never.
    at: AtomicU64,
}

impl<T: Message> ManagedPublisher<T> {
    /// Publishes, as [`Publisher::publish`], or drops the message if the node isn't active: then it
    /// is `Ok`, too. While it is active, costs one load more.
    ///
    /// # Errors
    /// As [`Publisher::publish`].
    #[inline]
    pub fn publish<M: IntoMessage<T>>(&self, message: M) -> Result<(), PublishError<T>> {
        if !self.is_open() {
            drop(message);
            self.tell();
            return Ok(());
        }
        self.publisher.publish(message)
    }

    /// Whether messages go out now. Worth asking before one is made at great cost.
    #[inline]
    pub fn is_open(&self) -> bool {
        self.core.gate.is_open.load(Ordering::Relaxed) // as in `ManagedNode::open`
    }

    /// A message to be filled and published, as [`Publisher::loan`].
    pub fn loan(&self) -> Unique<T>
    where
        T: Default,
    {
        self.publisher.loan()
    }

    /// The publisher itself: for its topic, its statistics. What it publishes isn't dropped.
    pub fn publisher(&self) -> &Publisher<T> {
        &self.publisher
    }

    /// How many messages were dropped so far.
    pub fn dropped(&self) -> u64 {
        self.told.dropped.load(Ordering::Relaxed) // a statistic
    }

    #[cold]
    fn tell(&self) {
        self.told.dropped.fetch_add(1, Ordering::Relaxed); // a statistic
        let now = self.core.gate.closings.load(Ordering::Relaxed) + 1;
        // Relaxed: nothing depends on which thread tells it.
        if self.told.at.swap(now, Ordering::Relaxed) == now {
            return;
        }
        let (topic, state) = (self.publisher.topic(), self.core.machine.lock().state());
        sinew::warn!(self.core.logger, "messages to {topic} are dropped: the node is {state}, not active");
    }
}

impl<T: Message> Clone for ManagedPublisher<T> {
    fn clone(&self) -> Self {
        let Self { publisher, core, told } = self;
        Self { publisher: publisher.clone(), core: core.clone(), told: told.clone() }
    }
}

impl<T: Message> fmt::Debug for ManagedPublisher<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ManagedPublisher").field("topic", &self.publisher.topic()).finish_non_exhaustive()
    }
}
