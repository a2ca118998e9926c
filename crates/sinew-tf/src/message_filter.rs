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

/// A subscription whose messages wait until their frame can be taken to another one, at their
/// stamp. ROS 2: `tf2_ros::MessageFilter`.
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
    queue: Mutex<Queue<T>>,
    dropped: AtomicU64,
    /// Has what is ready delivered, in the group.
    bell: OnceLock<Arc<Bell>>,
}

/// Messages that aren't delivered yet, each list in the order in which they came.
struct Queue<T: Message> {
    /// Those without their transforms.
    waiting: VecDeque<(Shared<T>, PendingTransform)>,
    /// Those that the callback gets next.
    ready: VecDeque<(Shared<T>, StampedTransform)>,
}

impl<T: Message> Default for Queue<T> {
    fn default() -> Self {
        Self { waiting: VecDeque::new(), ready: VecDeque::new() }
    }
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
        let (queue, dropped, bell) = (Mutex::default(), AtomicU64::new(0), OnceLock::new());
        let held = Arc::new(Held { buffer, target, depth, queue, dropped, bell });
        let callback = Arc::new(Lent::new(callback));
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
    /// How many messages wait: for their transforms, or for the callback.
    #[must_use]
    pub fn waiting(&self) -> usize {
        let queue = self.held.queue.lock();
        queue.waiting.len() + queue.ready.len()
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
        let mut queue = self.queue.lock();
        queue.waiting.push_back((message, pending));
        if queue.waiting.len() > self.depth {
            let oldest = queue.waiting.pop_front();
            drop(queue);
            drop(oldest);
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Calls back with all that are ready, in the order in which they came. If another thread does
    /// so already, it goes on with these.
    fn deliver<S, R: Outcome>(
        &self,
        state: &mut S,
        callback: &Lent<impl FnMut(&mut S, Shared<T>, StampedTransform) -> R>,
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        /// A callback that panics leaves the rest, which is delivered when the group runs again.
        struct Rest<'a>(&'a Arc<Bell>);

        impl Drop for Rest<'_> {
            fn drop(&mut self) {
                if std::thread::panicking() {
                    self.0.0.trigger();
                }
            }
        }

        let Some(bell) = self.bell.get() else { return Ok(()) };
        let waker = Waker::from(bell.clone());
        let mut outcome = Ok(());
        let _rest = Rest(bell);
        callback.serve(|callback| {
            self.look(&mut Context::from_waker(&waker));
            while let Some((message, transform)) = self.next_ready() {
                let result = callback(state, message, transform).into_result();
                if outcome.is_ok() {
                    outcome = result;
                }
            }
        });
        outcome
    }

    fn next_ready(&self) -> Option<(Shared<T>, StampedTransform)> {
        self.queue.lock().ready.pop_front()
    }

    /// Looks which messages are ready, and which are past.
    fn look(&self, context: &mut Context<'_>) {
        let mut past = Vec::new();
        let mut queue = self.queue.lock();
        let mut kept = VecDeque::with_capacity(queue.waiting.len());
        while let Some((message, mut pending)) = queue.waiting.pop_front() {
            match Pin::new(&mut pending).poll(context) {
                Poll::Pending => kept.push_back((message, pending)),
                Poll::Ready(Ok(transform)) => queue.ready.push_back((message, transform)),
                Poll::Ready(Err(_)) => past.push(message), // its time is past
            }
        }
        queue.waiting = kept;
        drop(queue);
        self.dropped.fetch_add(past.len() as u64, Ordering::Relaxed);
        drop(past); // the program's code, as the callback, outside the lock
    }
}

impl<T: Message> fmt::Debug for MessageFilter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MessageFilter").field("target", &self.held.target).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_interfaces::geometry_msgs::msg::{PointStamped, TransformStamped};
    use sinew_interfaces::std_msgs::msg::Header;
    use std::sync::mpsc;
    use std::time::Duration;

    /// Messages come while a thread is in the callback with another one.
    #[test]
    fn messages_that_are_ready_while_the_callback_runs_are_delivered_afterwards() {
        let context = sinew::Context::builder().shared_memory(false).build().unwrap();
        let node = context.node("mapper").unwrap();
        let bell = node.group(()).guard_condition().callback(|(): &mut ()| ()).unwrap();
        let held: Held<PointStamped> = Held {
            buffer: Buffer::new(),
            target: "odom".to_owned(),
            depth: 10,
            queue: Mutex::default(),
            dropped: AtomicU64::new(0),
            bell: OnceLock::from(Arc::new(Bell(bell))),
        };
        let mut fixed = TransformStamped::default();
        fixed.header.frame_id = "odom".to_owned();
        fixed.child_frame_id = "lidar".to_owned();
        fixed.transform.rotation.w = 1.0;
        held.buffer.insert_static(&fixed, "test").unwrap();
        let take_in = |nanosec: u32| {
            let stamp = Time::from_nanoseconds(i64::from(nanosec)).to_msg();
            let header = Header { stamp, frame_id: "lidar".to_owned() };
            held.take_in(Shared::new(PointStamped { header, ..PointStamped::default() }));
        };
        let ((in_it, is_in), (go_on, goes_on)) = (mpsc::channel(), mpsc::channel());
        let callback =
            Lent::new(move |seen: &mut Vec<i64>, _: Shared<PointStamped>, at: StampedTransform| {
                seen.push(at.stamp.nanoseconds());
                if seen.len() == 1 {
                    in_it.send(()).unwrap();
                    goes_on.recv_timeout(Duration::from_secs(60)).unwrap();
                }
            });
        take_in(1);
        let (mut seen, mut others) = (Vec::new(), Vec::new());
        std::thread::scope(|scope| {
            scope.spawn(|| held.deliver(&mut seen, &callback).unwrap());
            is_in.recv_timeout(Duration::from_secs(60)).unwrap();
            take_in(2);
            take_in(3);
            held.deliver(&mut others, &callback).unwrap();
            go_on.send(()).unwrap();
        });
        assert_eq!((seen, others), (vec![1, 2, 3], vec![]));
        assert_eq!((held.queue.lock().waiting.len(), held.dropped.into_inner()), (0, 0));
    }
}
