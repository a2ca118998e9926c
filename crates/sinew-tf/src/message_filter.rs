//! Messages that wait until it is known where they were.

use crate::buffer::Buffer;
use crate::transform::StampedTransform;
use crate::wait::PendingTransform;
use sinew::__private::locks::{Lent, Mutex};
use sinew::error::CreateError;
use sinew::event::Outcome;
use sinew::msg::Stamped;
use sinew::time::Time;
use sinew::{Group, GuardCondition, Message, QoS, Shared, Subscription};
use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Wake, Waker};

/// A subscription whose messages wait until their frame can be taken to another one, at their stamp.
/// ROS 2: `tf2_ros::MessageFilter`.
///
/// A message and the transform for it come on two topics, in any order. The callback gets both, in
/// the group that it was made in, once both are there. So many messages may wait; then the oldest
/// gives way. Those whose time the buffer no longer keeps are dropped, too.
///
/// ```
/// use sinew::prelude::*;
/// use sinew_interfaces::sensor_msgs::msg::LaserScan;
/// use sinew_tf::{Buffer, StampedTransform, TransformListener};
///
/// #[derive(Default)]
/// struct Map { points: u64 }
///
/// let context = Context::new()?;
/// let node = context.node("mapper")?;
/// let buffer = Buffer::new();
/// let _listener = TransformListener::new(&node, &buffer)?;
/// let map = node.group(Map::default());
/// let _scans = buffer.message_filter("odom").qos(QoS::sensor_data()).subscribe(
///     &map,
///     "scan",
///     |map: &mut Map, scan: Shared<LaserScan>, lidar_in_odom: StampedTransform| {
///         println!("{:?}", lidar_in_odom.transform.translation);
///         map.points += scan.ranges.len() as u64;
///     },
/// )?;
/// # Ok::<(), sinew::Error>(())
/// ```
pub struct MessageFilter<T: Message> {
    held: Arc<Held<T>>,
    _subscription: Subscription<T>,
}

/// Options of a [`MessageFilter`]; from [`Buffer::message_filter`].
#[derive(Debug, Clone)]
#[must_use = "nothing is received before `subscribe`"]
pub struct MessageFilterBuilder {
    buffer: Buffer,
    target: String,
    depth: usize,
    qos: QoS,
}

struct Held<T: Message> {
    buffer: Buffer,
    target: String,
    depth: usize,
    waiting: Mutex<VecDeque<(Shared<T>, PendingTransform)>>,
    dropped: AtomicU64,
    /// Has what is ready delivered, in the group.
    bell: OnceLock<Arc<Bell>>,
}

struct Bell(GuardCondition);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.trigger();
    }
}

impl Buffer {
    /// Has messages of a topic wait until their frame can be taken to `target`; see
    /// [`MessageFilter`].
    pub fn message_filter(&self, target: &str) -> MessageFilterBuilder {
        MessageFilterBuilder {
            buffer: self.clone(),
            target: target.to_owned(),
            depth: 100,
            qos: QoS::default(),
        }
    }
}

impl MessageFilterBuilder {
    /// How many messages may wait; 100 if it isn't said, at least one.
    pub fn depth(mut self, depth: usize) -> Self {
        self.depth = depth.max(1);
        self
    }

    /// The subscription's QoS; the default one if it isn't said.
    pub fn qos(mut self, qos: QoS) -> Self {
        self.qos = qos;
        self
    }

    /// Makes the subscription. `callback` gets the group's state, a message, and what takes its
    /// coordinates to the target frame at its stamp.
    ///
    /// # Errors
    /// [`CreateError`]: the topic's name, its type, or the context is shut down.
    pub fn subscribe<S: Send + 'static, T: Message + Stamped + Sync, R: Outcome>(
        self,
        group: &Group<S>,
        topic: &str,
        callback: impl FnMut(&mut S, Shared<T>, StampedTransform) -> R + Send + 'static,
    ) -> Result<MessageFilter<T>, CreateError> {
        let Self { buffer, target, depth, qos } = self;
        let (waiting, dropped, bell) = (Mutex::default(), AtomicU64::new(0), OnceLock::new());
        let held = Arc::new(Held { buffer, target, depth, waiting, dropped, bell });
        let callback = Arc::new(Lent::new(callback)); // a group's callbacks run one at a time
        let (weak, call) = (Arc::downgrade(&held), callback.clone());
        let bell = group.guard_condition().called(format!("message filter of {topic}")).callback(
            move |state: &mut S| weak.upgrade().map_or(Ok(()), |held| held.deliver(state, &call)),
        )?;
        drop(held.bell.set(Arc::new(Bell(bell))));
        let weak = Arc::downgrade(&held);
        let subscription =
            group.subscription::<T>(topic).qos(qos).callback(move |state: &mut S, message: Shared<T>| {
                let Some(held) = weak.upgrade() else { return Ok(()) };
                held.take_in(message);
                held.deliver(state, &callback)
            })?;
        Ok(MessageFilter { held, _subscription: subscription })
    }
}

impl<T: Message> MessageFilter<T> {
    /// How many messages wait.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.held.waiting.lock().len()
    }

    /// How many messages were dropped so far: they were one too many, or too old.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.held.dropped.load(Ordering::Relaxed) // a statistic
    }
}

impl<T: Message + Stamped> Held<T> {
    fn take_in(&self, message: Shared<T>) {
        let stamp = Time::from_nanoseconds(message.stamp_nanoseconds());
        let pending = self.buffer.wait_for(&self.target, message.frame_id(), stamp);
        let mut waiting = self.waiting.lock();
        waiting.push_back((message, pending));
        if waiting.len() > self.depth {
            let oldest = waiting.pop_front();
            drop(waiting);
            drop(oldest);
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Calls back with all that are ready, in the order in which they came.
    fn deliver<S, R: Outcome>(
        &self,
        state: &mut S,
        callback: &Lent<impl FnMut(&mut S, Shared<T>, StampedTransform) -> R>,
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        let Some(bell) = self.bell.get() else { return Ok(()) };
        let waker = Waker::from(bell.clone());
        let mut context = Context::from_waker(&waker);
        let (mut ready, mut past) = (Vec::new(), Vec::new());
        {
            let mut waiting = self.waiting.lock();
            let mut kept = VecDeque::with_capacity(waiting.len());
            for (message, mut pending) in waiting.drain(..) {
                match Pin::new(&mut pending).poll(&mut context) {
                    Poll::Pending => kept.push_back((message, pending)),
                    Poll::Ready(Ok(transform)) => ready.push((message, transform)),
                    Poll::Ready(Err(_)) => past.push(message), // its time is past
                }
            }
            *waiting = kept;
        }
        self.dropped.fetch_add(past.len() as u64, Ordering::Relaxed);
        drop(past); // the program's code, as the callback, outside the lock
        let tell = |callback: &mut _| tell_all(callback, state, ready);
        callback.with(tell).unwrap_or(Ok(()))
    }
}

fn tell_all<S, T: Message, R: Outcome>(
    callback: &mut impl FnMut(&mut S, Shared<T>, StampedTransform) -> R,
    state: &mut S,
    ready: Vec<(Shared<T>, StampedTransform)>,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let mut outcome = Ok(());
    for (message, transform) in ready {
        outcome = outcome.and(callback(state, message, transform).into_result());
    }
    outcome
}

impl<T: Message> fmt::Debug for MessageFilter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MessageFilter").field("target", &self.held.target).finish_non_exhaustive()
    }
}
