//! Broadcasters: they publish the transforms of frames.

use sinew::__private::locks::Mutex;
use sinew::error::{CreateError, PublishFailure};
use sinew::{Node, Publisher, QoS};
use sinew_interfaces::geometry_msgs::msg::TransformStamped;
use sinew_interfaces::tf2_msgs::msg::TFMessage;
use std::collections::BTreeMap;

/// Publishes the transforms of moving frames on `/tf`. ROS 2: `tf2_ros::TransformBroadcaster`.
///
/// QoS: keep last 100, reliable, as in ROS 2. The topic may be remapped.
///
/// ```
/// use sinew::prelude::*;
/// use sinew_tf::{StampedTransform, Transform, TransformBroadcaster};
/// let node = Context::new()?.node("odometry")?;
/// let broadcaster = TransformBroadcaster::new(&node)?;
/// let transform = Transform::from_roll_pitch_yaw([1.0, 0.0, 0.0], [0.0, 0.0, 0.1]);
/// broadcaster.send([StampedTransform { stamp: node.now(), transform }.to_msg("odom", "base_link")]).unwrap();
/// # Ok::<(), sinew::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct TransformBroadcaster(Publisher<TFMessage>);

impl TransformBroadcaster {
    /// Makes the publisher.
    ///
    /// # Errors
    /// [`CreateError`] if the context is shut down, or the topic has another type.
    pub fn new(node: &Node) -> Result<Self, CreateError> {
        Ok(Self(node.publisher("/tf").qos(QoS::default().keep_last(100)).create()?))
    }

    /// Publishes the transforms in one message. Blocks and allocates as a publish does.
    ///
    /// # Errors
    /// [`PublishFailure`], as for a publish.
    pub fn send(&self, transforms: impl IntoIterator<Item = TransformStamped>) -> Result<(), PublishFailure> {
        let transforms = transforms.into_iter().collect();
        self.0.publish(TFMessage { transforms }).map_err(|error| error.failure())
    }

    /// Returns the publisher.
    pub fn publisher(&self) -> &Publisher<TFMessage> {
        &self.0
    }
}

/// Publishes the transforms of fixed frames on `/tf_static`, for current and future listeners. ROS
/// 2: `tf2_ros::StaticTransformBroadcaster`.
///
/// QoS: keep last 1, reliable and transient local, as in ROS 2. So each message has all transforms
/// that were sent so far; a frame's new transform replaces its old one.
///
/// ```
/// use sinew::prelude::*;
/// use sinew_tf::{StampedTransform, StaticTransformBroadcaster, Transform};
/// let node = Context::new()?.node("description")?;
/// let broadcaster = StaticTransformBroadcaster::new(&node)?;
/// let transform = Transform::from_translation([0.2, 0.0, 0.1]);
/// broadcaster.send([StampedTransform { stamp: node.now(), transform }.to_msg("base_link", "lidar")]).unwrap();
/// # Ok::<(), sinew::Error>(())
/// ```
#[derive(Debug)]
pub struct StaticTransformBroadcaster {
    publisher: Publisher<TFMessage>,
    sent: Mutex<Sent>,
}

/// The transforms sent so far.
#[derive(Debug, Default)]
struct Sent {
    /// Keyed by the child frame.
    transforms: BTreeMap<String, TransformStamped>,
    /// Set if a transform was sent that is in no message yet.
    is_stale: bool,
    /// Set while a thread publishes. It repeats until nothing is stale, so that the last message
    /// has all transforms, and no lock is held during a publish, which may run listeners.
    is_publishing: bool,
}

impl StaticTransformBroadcaster {
    /// Makes the publisher.
    ///
    /// # Errors
    /// [`CreateError`] if the context is shut down, or the topic has another type.
    pub fn new(node: &Node) -> Result<Self, CreateError> {
        let qos = QoS::default().keep_last(1).transient_local();
        let publisher = node.publisher("/tf_static").qos(qos).create()?;
        Ok(Self { publisher, sent: Mutex::default() })
    }

    /// Publishes these and all earlier transforms in one message. Blocks and allocates as a publish
    /// does. Can be called from several threads: if another thread is publishing, that thread
    /// publishes once more, and this call doesn't wait.
    ///
    /// # Errors
    /// [`PublishFailure`], as for a publish. The next message then includes the transforms.
    pub fn send(&self, transforms: impl IntoIterator<Item = TransformStamped>) -> Result<(), PublishFailure> {
        /// Clears `is_publishing` if a listener panics during the publish.
        struct Publishing<'a>(&'a Mutex<Sent>);

        impl Publishing<'_> {
            /// Returns all transforms if some of them are in no message yet.
            fn next(&self) -> Option<Vec<TransformStamped>> {
                let Sent { transforms, is_stale, is_publishing } = &mut *self.0.lock();
                *is_publishing = std::mem::take(is_stale);
                is_publishing.then(|| transforms.values().cloned().collect())
            }
        }

        impl Drop for Publishing<'_> {
            fn drop(&mut self) {
                if std::thread::panicking() {
                    self.0.lock().is_publishing = false;
                }
            }
        }

        let transforms: Vec<_> = transforms.into_iter().collect(); // runs the program's code, outside the lock
        {
            let mut sent = self.sent.lock();
            let named = transforms.into_iter().map(|transform| (transform.child_frame_id.clone(), transform));
            sent.transforms.extend(named);
            sent.is_stale = true;
            if std::mem::replace(&mut sent.is_publishing, true) {
                return Ok(());
            }
        }
        let (publishing, mut outcome) = (Publishing(&self.sent), Ok(()));
        while let Some(transforms) = publishing.next() {
            outcome = self.publisher.publish(TFMessage { transforms }).map_err(|error| error.failure());
        }
        outcome
    }

    /// Returns the publisher.
    pub fn publisher(&self) -> &Publisher<TFMessage> {
        &self.publisher
    }
}
