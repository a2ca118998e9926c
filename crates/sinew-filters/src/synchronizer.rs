//! Finds sets of messages with matching stamps.

use crate::approximate::{Approximate, Limits};
use crate::exact::Exact;
use crate::messages::{MessageSet, Topic};
use crate::policy::{Admitted, Policy, Step};
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

/// Finds messages of two to nine topics with matching stamps. ROS 2:
/// `message_filters::Synchronizer`.
///
/// [`subscribe`](Self::subscribe) feeds it from subscriptions; [`add`](Self::add) feeds it by hand,
/// as a replay or a test does. `T` is the tuple of the messages, of any types with stamps.
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
    /// Number of messages of each topic that were in no set.
    dropped: Vec<u64>,
    /// Number of messages of each topic that came too late, one after the other.
    late: Vec<usize>,
    restarts: u64,
    /// Kept to reuse its allocation.
    steps: Vec<Step>,
    /// Sets that the callback of the subscriptions has not received yet.
    found: VecDeque<T>,
    /// The QoS of the subscriptions.
    qos: QoS,
}

/// Number of messages of one topic, one after the other, whose coming too late shows that stamps
/// went back.
const LATE_IN_A_ROW: usize = 10;

impl<T: MessageSet> Synchronizer<T> {
    /// Returns a synchroniser for sets of messages with equal stamps. It keeps at most `depth`
    /// stamps with incomplete sets, at least one, and drops the oldest when there are more. Sets
    /// come in the order of their stamps.
    #[must_use]
    pub fn exact(depth: usize) -> Self {
        Self::with(Box::new(Exact::new(T::TOPICS, depth)))
    }

    /// Returns a builder of a synchroniser for sets of messages with stamps as close together as
    /// possible. It keeps at most `depth` waiting messages of each topic, at least one, and drops
    /// the oldest when there are more. Messages of a topic must come in the order of their stamps;
    /// others are dropped.
    pub fn approximate(depth: usize) -> ApproximateBuilder<T> {
        let limits = Limits { depth, max_interval: i64::MAX, age_penalty: 0.1 };
        ApproximateBuilder { limits, least_intervals: vec![0; T::TOPICS], of: PhantomData }
    }

    fn with(policy: Box<dyn Policy>) -> Self {
        Self {
            policy,
            queues: T::Queues::default(),
            dropped: vec![0; T::TOPICS],
            late: vec![0; T::TOPICS],
            restarts: 0,
            steps: Vec::new(),
            found: VecDeque::new(),
            qos: QoS::default(),
        }
    }

    /// Sets the QoS of the subscriptions that feed it. The default is the default QoS.
    #[must_use]
    pub fn qos(mut self, qos: QoS) -> Self {
        self.qos = qos;
        self
    }

    /// Adds a message of the topic with this number, from 0, and calls `found` with each set that
    /// it completes.
    ///
    /// A message that comes too late, because a set or (approximate) a message of its topic had a
    /// later stamp, is dropped. If ten of a topic do so one after the other, stamps went back: a
    /// bag is played anew, a clock was set, or one stamp was wrong. Then the waiting messages are
    /// forgotten, and the tenth is the first of a new beginning; see [`restarts`](Self::restarts).
    pub fn add<const NUMBER: usize>(
        &mut self,
        message: <T as Topic<NUMBER>>::Message,
        mut found: impl FnMut(T),
    ) where
        T: Topic<NUMBER>,
    {
        let stamp = message.stamp_nanoseconds();
        let mut steps = std::mem::take(&mut self.steps);
        let mut admitted = self.policy.add(NUMBER, stamp, &mut steps);
        self.late[NUMBER] = if admitted == Admitted::Late { self.late[NUMBER] + 1 } else { 0 };
        if self.late[NUMBER] == LATE_IN_A_ROW {
            self.restarts += 1;
            self.forget();
            admitted = self.policy.add(NUMBER, stamp, &mut steps);
        }
        match admitted {
            Admitted::Taken => T::queue(&mut self.queues).push_back((stamp, message)),
            Admitted::Surplus | Admitted::Late => self.dropped[NUMBER] += 1,
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

    /// Returns the number of messages of each topic that were in no set: too old, out of order,
    /// displaced or forgotten.
    #[must_use]
    pub fn dropped(&self) -> Vec<u64> {
        self.dropped.clone()
    }

    /// Returns how often it began anew because stamps went back; see [`add`](Self::add).
    #[must_use]
    pub fn restarts(&self) -> u64 {
        self.restarts
    }

    /// Forgets all waiting messages, for example when time jumps back.
    pub fn clear(&mut self) {
        self.forget();
        self.found.clear();
    }

    /// Forgets the messages that are in no set yet.
    fn forget(&mut self) {
        let waiting = T::lengths(&std::mem::take(&mut self.queues));
        self.dropped.iter_mut().zip(waiting).for_each(|(dropped, waiting)| *dropped += waiting as u64);
        self.policy.clear();
        self.late.fill(0);
    }
}

impl<T: MessageSet> fmt::Debug for Synchronizer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Synchronizer").field("dropped", &self.dropped).finish_non_exhaustive()
    }
}

/// Options of an approximate synchroniser; returned by [`Synchronizer::approximate`].
#[derive(Debug)]
#[must_use = "there is no synchroniser before `build`"]
pub struct ApproximateBuilder<T: MessageSet> {
    limits: Limits,
    least_intervals: Vec<i64>,
    of: PhantomData<fn() -> T>,
}

impl<T: MessageSet> ApproximateBuilder<T> {
    /// Sets the maximum distance between the first and the last stamp of a set. The default is
    /// unlimited. ROS 2: `setMaxIntervalDuration`.
    pub fn max_interval(mut self, interval: Duration) -> Self {
        self.limits.max_interval = nanoseconds(interval);
        self
    }

    /// Sets how much more a later end of a set costs than an earlier begin; the default is 0.1.
    /// With 0 the smallest sets are found; with more, sets come sooner. ROS 2: `setAgePenalty`.
    pub fn age_penalty(mut self, penalty: f64) -> Self {
        self.limits.age_penalty = penalty.max(0.0);
        self
    }

    /// Promises a minimum interval between messages of the topic with this number. With it, a set
    /// can be known to be the best before the next message arrives. ROS 2:
    /// `setInterMessageLowerBound`. A number without a topic has no effect.
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

/// A synchroniser that subscriptions feed; returned by [`Synchronizer::subscribe`]. It ends when it
/// is dropped.
#[must_use = "it ends when it is dropped"]
pub struct Synchronized<T: MessageSet> {
    fed: Arc<Mutex<Synchronizer<T>>>,
    _subscriptions: Subscriptions,
    _jumps: JumpHandler,
}

impl<T: MessageSet> Synchronized<T> {
    /// Returns the number of messages of each topic that were in no set so far.
    #[must_use]
    pub fn dropped(&self) -> Vec<u64> {
        self.fed.lock().dropped()
    }

    /// Returns how often it began anew because stamps went back; see [`Synchronizer::add`]. Each
    /// time is also logged, as a warning of `message_filters`.
    #[must_use]
    pub fn restarts(&self) -> u64 {
        self.fed.lock().restarts()
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

/// Delivers the sets that a message completes. If another thread is running the callback, that
/// thread delivers them. If the callback panics, the sets after the one that it was given are
/// delivered when the next message comes.
fn feed<const NUMBER: usize, T: Topic<NUMBER>, S, R: Outcome>(
    fed: &Mutex<Synchronizer<T>>,
    callback: &Lent<impl FnMut(&mut S, T) -> R>,
    state: &mut S,
    message: T::Message,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let restarts = {
        let mut fed = fed.lock();
        let (mut found, before) = (Vec::new(), fed.restarts);
        fed.add::<NUMBER>(message, |set| found.push(set));
        fed.found.extend(found);
        fed.restarts - before
    };
    if restarts > 0 {
        sinew::warn!(
            "message_filters",
            "the stamps of topic {NUMBER} of {} went back; messages that waited for others are forgotten",
            T::TOPICS
        );
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

/// The subscriptions that [`Synchronizer::subscribe`] makes.
pub(crate) type Subscriptions = Vec<Box<dyn Any + Send + Sync>>;

/// A set of shared messages, as subscriptions deliver them.
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
    /// Subscribes to these topics with the node, in a new callback group; `callback` receives each
    /// set.
    ///
    /// # Errors
    /// As for [`subscribe_in`](Self::subscribe_in).
    pub fn subscribe<R: Outcome>(
        self,
        node: &Node,
        topics: T::Names<'_>,
        mut callback: impl FnMut(T) -> R + Send + 'static,
    ) -> Result<Synchronized<T>, CreateError> {
        self.subscribe_in(&node.group(()), topics, move |(): &mut (), set| callback(set))
    }

    /// Subscribes to these topics, with callbacks that run in this group; `callback` receives the
    /// group's state and each set.
    ///
    /// Messages aren't copied: a set has shared handles. When ROS time jumps back or changes its
    /// source, all waiting messages are forgotten; also when the stamps of a topic go back, see
    /// [`add`](Self::add), since messages of the time before the jump may come after it.
    ///
    /// # Errors
    /// [`CreateError`] if a topic's name or type is not valid, or the context is shut down.
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
