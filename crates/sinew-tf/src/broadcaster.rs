//! Telling others where frames are.

use sinew::__private::locks::Mutex;
use sinew::error::{CreateError, PublishFailure};
use sinew::{Node, Publisher, QoS};
use sinew_interfaces::geometry_msgs::msg::TransformStamped;
use sinew_interfaces::tf2_msgs::msg::TFMessage;
use std::collections::BTreeMap;

/// Publishes on `/tf` where frames are that move. ROS 2: `tf2_ros::TransformBroadcaster`.
///
/// QoS: the last 100, reliable, as ROS 2's. The topic may be remapped.
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
    /// [`CreateError`]: the context is shut down, or another type is on that topic.
    pub fn new(node: &Node) -> Result<Self, CreateError> {
        Ok(Self(node.publisher("/tf").qos(QoS::default().keep_last(100)).create()?))
    }

    /// Publishes them in one message. Blocks and allocates as a publish does.
    ///
    /// # Errors
    /// [`PublishFailure`], as of a publish.
    pub fn send(&self, transforms: impl IntoIterator<Item = TransformStamped>) -> Result<(), PublishFailure> {
        let transforms = transforms.into_iter().collect();
        self.0.publish(TFMessage { transforms }).map_err(|error| error.failure())
    }

    /// What it publishes with.
    pub fn publisher(&self) -> &Publisher<TFMessage> {
        &self.0
    }
}

/// Publishes on `/tf_static` where frames are that don't move: for those that listen, and those that
/// will. ROS 2: `tf2_ros::StaticTransformBroadcaster`.
///
/// QoS: the last one, reliable and transient local, as ROS 2's; so each message has all transforms
/// that were sent so far, and a frame's last one replaces those before.
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

/// What was sent so far.
#[derive(Debug, Default)]
struct Sent {
    /// By the frame that is placed.
    transforms: BTreeMap<String, TransformStamped>,
    /// Something was sent that is in no message yet.
    is_stale: bool,
    /// A thread publishes, and does so again until nothing is stale: so the last message has all, and
    /// no lock is held over a publish, which may run listeners.
    is_publishing: bool,
}

impl StaticTransformBroadcaster {
    /// Makes the publisher.
    ///
    /// # Errors
    /// [`CreateError`]: the context is shut down, or another type is on that topic.
    pub fn new(node: &Node) -> Result<Self, CreateError> {
        let qos = QoS::default().keep_last(1).transient_local();
        let publisher = node.publisher("/tf_static").qos(qos).create()?;
        Ok(Self { publisher, sent: Mutex::default() })
    }

    /// Publishes these, and all that were sent before, in one message. Blocks and allocates as a
    /// publish does. May be called from several threads; if another one is just publishing, that one
    /// does so once more, and this one doesn't wait.
    ///
    /// # Errors
    /// [`PublishFailure`], as of a publish. They are in the next message then.
    pub fn send(&self, transforms: impl IntoIterator<Item = TransformStamped>) -> Result<(), PublishFailure> {
        /// This thread publishes no more: also if a listener panics.
        struct Publishing<'a>(&'a Mutex<Sent>);

        impl Publishing<'_> {
            /// All that was sent, if some of it is in no message yet.
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

        let transforms: Vec<_> = transforms.into_iter().collect(); // the program's code, outside the lock
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

    /// What it publishes with.
    pub fn publisher(&self) -> &Publisher<TFMessage> {
        &self.publisher
    }
}
