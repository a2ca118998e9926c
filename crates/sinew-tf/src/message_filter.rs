//! Messages that wait for their transforms.

use crate::buffer::Buffer;
use crate::pending_transform::PendingTransform;
use crate::transform::StampedTransform;
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

/// A subscription that holds each message until its frame can be transformed to a target frame at
/// the message's stamp. ROS 2: `tf2_ros::MessageFilter`.
///
/// A message and its transform come on two topics, in any order. Once both are there, the callback
/// receives both, in the callback group that it was made in. Only a limited number of messages may
/// wait; beyond it the oldest is dropped. Messages from before the buffer's history are dropped as
/// well.
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

/// Options of a [`MessageFilter`]; returned by [`Buffer::message_filter`].
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
    /// Triggers the delivery of ready messages in the group.
    bell: OnceLock<Arc<Bell>>,
}

/// Messages that aren't delivered yet; each list is in order of arrival.
struct Queue<T: Message> {
    /// Messages without their transforms.
    waiting: VecDeque<(Shared<T>, PendingTransform)>,
    /// Messages that are delivered next.
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
    /// Returns a builder of a subscription that holds each message until its frame can be
    /// transformed to `target`; see [`MessageFilter`].
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
    /// Sets the maximum number of waiting messages; the default is 100, the minimum one.
    pub fn depth(mut self, depth: usize) -> Self {
        self.depth = depth.max(1);
        self
    }

    /// Sets the subscription's QoS. The default is the default QoS.
    pub fn qos(mut self, qos: QoS) -> Self {
        self.qos = qos;
        self
    }

    /// Makes the subscription. `callback` receives the group's state, a message, and the transform
    /// of its coordinates to the target frame at its stamp.
    ///
    /// # Errors
    /// [`CreateError`] if the topic's name or type is not valid, or the context is shut down.
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
    /// Returns the number of messages that wait for their transforms or for the callback.
    #[must_use]
    pub fn waiting(&self) -> usize {
        let queue = self.held.queue.lock();
        queue.waiting.len() + queue.ready.len()
    }

    /// Returns the number of messages dropped so far, because too many were waiting or they were
    /// too old.
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

    /// Calls the callback with all ready messages, in order of arrival. If another thread does so
    /// already, that thread delivers these as well.
    fn deliver<S, R: Outcome>(
        &self,
        state: &mut S,
        callback: &Lent<impl FnMut(&mut S, Shared<T>, StampedTransform) -> R>,
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        /// If the callback panics, this triggers the group to deliver the rest later.
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

    /// Moves messages that are ready to `ready`, and drops those that are too old.
    fn look(&self, context: &mut Context<'_>) {
        let mut past = Vec::new();
        let mut queue = self.queue.lock();
        let mut kept = VecDeque::with_capacity(queue.waiting.len());
        while let Some((message, mut pending)) = queue.waiting.pop_front() {
            match Pin::new(&mut pending).poll(context) {
                Poll::Pending => kept.push_back((message, pending)),
                Poll::Ready(Ok(transform)) => queue.ready.push_back((message, transform)),
                Poll::Ready(Err(_)) => past.push(message), // its time is before the history
            }
        }
        queue.waiting = kept;
        drop(queue);
        self.dropped.fetch_add(past.len() as u64, Ordering::Relaxed);
        drop(past); // runs the program's code, like the callback, so outside the lock
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

    /// Messages arrive while a thread runs the callback with another one.
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
