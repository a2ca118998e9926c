//! Sets of messages that belong together.

use crate::approximate::{Approximate, Limits};
use crate::exact::Exact;
use crate::messages::{MessageSet, Topic};
use crate::policy::{Policy, Step};
use sinew::__private::locks::{Lent, Mutex};
use sinew::error::CreateError;
use sinew::event::Outcome;
use sinew::msg::Stamped;
use sinew::time::{JumpHandler, JumpThreshold};
use sinew::{Duration, Group, Message, Node, QoS, Shared};
use std::any::Any;
use std::collections::VecDeque;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// Finds messages of two to nine topics that belong together by their stamps. ROS 2:
/// `message_filters::Synchronizer`.
///
/// [`subscribe`](Self::subscribe) has it fed by subscriptions; [`add`](Self::add) feeds it by hand,
/// as a replay or a test does. `T` is the tuple of the messages, of any types that have stamps.
///
/// ```
/// use sinew::msg::Stamped;
/// use sinew_filters::Synchronizer;
///
/// struct At(i64);
/// impl Stamped for At {
///     fn stamp_nanoseconds(&self) -> i64 {
///         self.0
///     }
/// }
/// let mut pairs = Synchronizer::<(At, At)>::exact(10);
/// let mut found = Vec::new();
/// for stamp in [1, 2, 3] {
///     pairs.add::<0>(At(stamp), |(left, right)| found.push((left.0, right.0)));
/// }
/// pairs.add::<1>(At(2), |(left, right)| found.push((left.0, right.0)));
/// assert_eq!(found, [(2, 2)]);
/// assert_eq!(pairs.dropped(), [1, 0]); // what is older than a set is in none any more
/// ```
pub struct Synchronizer<T: MessageSet> {
    policy: Box<dyn Policy>,
    queues: T::Queues,
    /// So many of each topic were in no set.
    dropped: Vec<u64>,
    /// Kept for its room.
    steps: Vec<Step>,
    /// Sets that the callback of subscriptions hasn't got yet.
    found: VecDeque<T>,
    /// Of subscriptions.
    qos: QoS,
}

impl<T: MessageSet> Synchronizer<T> {
    /// Sets of messages whose stamps are the same. So many stamps are waited for at a time, at
    /// least one; then the oldest gives way. Sets come in the order of their stamps.
    #[must_use]
    pub fn exact(depth: usize) -> Self {
        Self::with(Box::new(Exact::new(T::TOPICS, depth)))
    }

    /// Sets of messages whose stamps are as close as can be. Of each topic so many messages wait at
    /// a time, at least one; then the oldest gives way. Messages of a topic must come in the order
    /// of their stamps: those that don't are dropped.
    pub fn approximate(depth: usize) -> ApproximateBuilder<T> {
        let limits = Limits { depth, max_interval: i64::MAX, age_penalty: 0.1 };
        ApproximateBuilder { limits, least_intervals: vec![0; T::TOPICS], of: PhantomData }
    }

    fn with(policy: Box<dyn Policy>) -> Self {
        Self {
            policy,
            queues: T::Queues::default(),
            dropped: vec![0; T::TOPICS],
            steps: Vec::new(),
            found: VecDeque::new(),
            qos: QoS::default(),
        }
    }

    /// The QoS of the subscriptions that feed it; the default one if it isn't said.
    #[must_use]
    pub fn qos(mut self, qos: QoS) -> Self {
        self.qos = qos;
        self
    }

    /// A message of the topic with that number, from 0; calls `found` with each set that is
    /// complete by it.
    pub fn add<const NUMBER: usize>(
        &mut self,
        message: <T as Topic<NUMBER>>::Message,
        mut found: impl FnMut(T),
    ) where
        T: Topic<NUMBER>,
    {
        let stamp = message.stamp_nanoseconds();
        let mut steps = std::mem::take(&mut self.steps);
        if self.policy.add(NUMBER, stamp, &mut steps) {
            T::queue(&mut self.queues).push_back((stamp, message));
        } else {
            self.dropped[NUMBER] += 1;
        }
        for step in steps.drain(..) {
            match step {
                Step::Drop { topic, stamp } => {
                    self.dropped[topic] += 1;
                    T::discard(&mut self.queues, topic, stamp);
                }
                Step::Emit(stamps) => {
                    if let Some(set) = T::take(&mut self.queues, &stamps) {
                        found(set);
                    }
                }
            }
        }
        self.steps = steps;
    }

    /// How many messages of each topic were in no set: too old, out of order, or one too many.
    #[must_use]
    pub fn dropped(&self) -> Vec<u64> {
        self.dropped.clone()
    }

    /// Forgets all that waits, as when time goes back.
    pub fn clear(&mut self) {
        self.policy.clear();
        self.queues = T::Queues::default();
        self.found.clear();
    }
}

impl<T: MessageSet> fmt::Debug for Synchronizer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Synchronizer").field("dropped", &self.dropped).finish_non_exhaustive()
    }
}

/// Options of an approximate synchroniser; from [`Synchronizer::approximate`].
#[derive(Debug)]
#[must_use = "there is no synchroniser before `build`"]
pub struct ApproximateBuilder<T: MessageSet> {
    limits: Limits,
    least_intervals: Vec<i64>,
    of: PhantomData<fn() -> T>,
}

impl<T: MessageSet> ApproximateBuilder<T> {
    /// How far apart the first and the last stamp of a set may be; any if it isn't said. ROS 2:
    /// `setMaxIntervalDuration`.
    pub fn max_interval(mut self, interval: Duration) -> Self {
        self.limits.max_interval = nanoseconds(interval);
        self
    }

    /// How much worse it is that a set ends later than that it begins earlier; 0.1 if it isn't
    /// said. With 0 the smallest sets are found, with more they come sooner. ROS 2:
    /// `setAgePenalty`.
    pub fn age_penalty(mut self, penalty: f64) -> Self {
        self.limits.age_penalty = penalty.max(0.0);
        self
    }

    /// A message of the topic with that number comes no sooner than this after the one before: with
    /// that, sets are known to be the best before the next one is there. ROS 2:
    /// `setInterMessageLowerBound`. A number that no topic has changes nothing.
    pub fn least_interval(mut self, topic: usize, interval: Duration) -> Self {
        if let Some(least) = self.least_intervals.get_mut(topic) {
            *least = nanoseconds(interval);
        }
        self
    }

    /// Makes the synchroniser.
    #[must_use]
    pub fn build(self) -> Synchronizer<T> {
        let Self { limits, least_intervals, .. } = self;
        Synchronizer::with(Box::new(Approximate::new(T::TOPICS, limits, &least_intervals)))
    }
}

fn nanoseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}

/// A synchroniser that subscriptions feed; from [`Synchronizer::subscribe`]. It ends when it is
/// dropped.
#[must_use = "it ends when it is dropped"]
pub struct Synchronized<T: MessageSet> {
    fed: Arc<Mutex<Synchronizer<T>>>,
    _subscriptions: Subscriptions,
    _jumps: JumpHandler,
}

impl<T: MessageSet> Synchronized<T> {
    /// How many messages of each topic were in no set so far.
    #[must_use]
    pub fn dropped(&self) -> Vec<u64> {
        self.fed.lock().dropped()
    }
}

impl<T: MessageSet> fmt::Debug for Synchronized<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Synchronized").field("dropped", &self.dropped()).finish_non_exhaustive()
    }
}

fn clear_on_jumps<S: Send + 'static, T: SharedSet>(
    group: &Group<S>,
    fed: &Arc<Mutex<Synchronizer<T>>>,
) -> JumpHandler {
    let fed = fed.clone();
    group.on_time_jump(JumpThreshold::resets(), move |_| fed.lock().clear())
}

/// Sets that are found while another thread has the callback are delivered by that one; those
/// behind one with which the callback panics are when the next message comes.
fn feed<const NUMBER: usize, T: Topic<NUMBER>, S, R: Outcome>(
    fed: &Mutex<Synchronizer<T>>,
    callback: &Lent<impl FnMut(&mut S, T) -> R>,
    state: &mut S,
    message: T::Message,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    {
        let mut fed = fed.lock();
        let mut found = Vec::new();
        fed.add::<NUMBER>(message, |set| found.push(set));
        fed.found.extend(found);
    }
    let next = || fed.lock().found.pop_front();
    let mut outcome = Ok(());
    callback.serve(|callback| {
        while let Some(set) = next() {
            let result = callback(state, set).into_result();
            if outcome.is_ok() {
                outcome = result;
            }
        }
    });
    outcome
}

/// What [`Synchronizer::subscribe`] makes.
pub(crate) type Subscriptions = Vec<Box<dyn Any + Send + Sync>>;

/// A set of shared messages: what subscriptions feed.
pub trait SharedSet: MessageSet + Send + 'static {
    /// The names of its topics: an array.
    type Names<'a>;

    #[doc(hidden)]
    fn subscribe<S: Send + 'static, R: Outcome>(
        fed: &Arc<Mutex<Synchronizer<Self>>>,
        callback: &Arc<Lent<impl FnMut(&mut S, Self) -> R + Send + 'static>>,
        group: &Group<S>,
        names: Self::Names<'_>,
        qos: QoS,
    ) -> Result<Subscriptions, CreateError>;
}

impl<T: SharedSet> Synchronizer<T> {
    /// Has it fed by subscriptions of the node's to these topics, in a group of their own;
    /// `callback` gets each set.
    ///
    /// # Errors
    /// As [`subscribe_in`](Self::subscribe_in).
    pub fn subscribe<R: Outcome>(
        self,
        node: &Node,
        topics: T::Names<'_>,
        mut callback: impl FnMut(T) -> R + Send + 'static,
    ) -> Result<Synchronized<T>, CreateError> {
        self.subscribe_in(&node.group(()), topics, move |(): &mut (), set| callback(set))
    }

    /// Has it fed by subscriptions to these topics, whose callbacks run in that group; `callback`
    /// gets the group's state and each set.
    ///
    /// Messages aren't copied: a set has shared handles. When ROS time goes back, or comes from
    /// another source, what waits is forgotten.
    ///
    /// # Errors
    /// [`CreateError`]: a topic's name, its type, or the context is shut down.
    pub fn subscribe_in<S: Send + 'static, R: Outcome>(
        self,
        group: &Group<S>,
        topics: T::Names<'_>,
        callback: impl FnMut(&mut S, T) -> R + Send + 'static,
    ) -> Result<Synchronized<T>, CreateError> {
        let qos = self.qos;
        let (fed, callback) = (Arc::new(Mutex::new(self)), Arc::new(Lent::new(callback)));
        let subscriptions = T::subscribe(&fed, &callback, group, topics, qos)?;
        Ok(Synchronized { _jumps: clear_on_jumps(group, &fed), fed, _subscriptions: subscriptions })
    }
}

macro_rules! subscribes {
    ($($count:literal: $($topic:tt $message:ident),*;)*) => {$(
        impl<$($message: Message + Stamped + Sync),*> SharedSet for ($(Shared<$message>,)*) {
            type Names<'a> = [&'a str; $count];

            fn subscribe<State: Send + 'static, R: Outcome>(
                fed: &Arc<Mutex<Synchronizer<Self>>>,
                callback: &Arc<Lent<impl FnMut(&mut State, Self) -> R + Send + 'static>>,
                group: &Group<State>,
                names: Self::Names<'_>,
                qos: QoS,
            ) -> Result<Subscriptions, CreateError> {
                Ok(vec![$({
                    let (fed, callback) = (fed.clone(), callback.clone());
                    let subscription = group.subscription::<$message>(names[$topic]).qos(qos);
                    Box::new(subscription.callback(move |state: &mut State, message: Shared<$message>| {
                        feed::<$topic, _, _, _>(&fed, &callback, state, message)
                    })?)
                },)*])
            }
        }
    )*};
}

subscribes! {
    2: 0 A, 1 B;
    3: 0 A, 1 B, 2 C;
    4: 0 A, 1 B, 2 C, 3 D;
    5: 0 A, 1 B, 2 C, 3 D, 4 E;
    6: 0 A, 1 B, 2 C, 3 D, 4 E, 5 F;
    7: 0 A, 1 B, 2 C, 3 D, 4 E, 5 F, 6 G;
    8: 0 A, 1 B, 2 C, 3 D, 4 E, 5 F, 6 G, 7 H;
    9: 0 A, 1 B, 2 C, 3 D, 4 E, 5 F, 6 G, 7 H, 8 I;
}
