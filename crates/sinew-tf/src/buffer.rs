//! The buffer of frames.

use crate::buffer_core::BufferCore;
use crate::history::Limits;
use crate::insertion::{InsertError, Inserted};
use crate::lookup::{At, FrameStatus, LookupError};
use crate::pending_transform::PendingTransform;
use crate::transform::{StampedTransform, Transform};
use crate::transformable::TransformableStamped;
use crate::tree::Insertion;
use sinew::Duration;
use sinew::time::Time;
use sinew_interfaces::geometry_msgs::msg::TransformStamped;
use std::fmt;
use std::sync::Arc;

/// The frames, and their transforms over the last seconds. ROS 2: `tf2_ros::Buffer`.
///
/// Clones are the same buffer. It can be used from any thread: lookups run in parallel, and an
/// insertion waits for running lookups, about a microsecond. Lookups don't allocate (unless they
/// fail, or climb over more than 64 frames).
///
/// A [`TransformListener`](crate::TransformListener) or [`insert`](Self::insert) fills it, or both.
///
/// ```
/// use sinew::time::Time;
/// use sinew_interfaces::geometry_msgs::msg::TransformStamped;
/// use sinew_tf::{At, Buffer, StampedTransform, Transform};
///
/// let buffer = Buffer::new();
/// let at = |seconds: i64, x| {
///     let stamp = Time::from_nanoseconds(seconds * 1_000_000_000);
///     StampedTransform { stamp, transform: Transform::from_translation([x, 0.0, 0.0]) }
/// };
/// // The robot went from 1 to 3 m within a second; its lidar is 0.5 m ahead of its middle.
/// buffer.insert(&at(10, 1.0).to_msg("odom", "base_link"), "odometry")?;
/// buffer.insert(&at(11, 3.0).to_msg("odom", "base_link"), "odometry")?;
/// buffer.insert_static(&at(0, 0.5).to_msg("base_link", "lidar"), "description")?;
///
/// let then = Time::from_nanoseconds(10_500_000_000);
/// let lidar = buffer.lookup("odom", "lidar", then)?; // from the lidar's coordinates to those of odom
/// assert_eq!(lidar.transform.translation, [2.5, 0.0, 0.0]);
/// assert_eq!(buffer.lookup("odom", "lidar", At::Latest)?.transform.translation, [3.5, 0.0, 0.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Buffer(pub(crate) Arc<BufferCore>);

/// Makes a [`Buffer`]; returned by [`Buffer::builder`].
#[derive(Debug, Clone, Copy)]
pub struct BufferBuilder(Limits);

impl BufferBuilder {
    /// Sets how long a frame's transforms are kept before its latest one. The default is 10 s, as
    /// in ROS 2.
    #[must_use]
    pub fn history(mut self, history: Duration) -> Self {
        self.0.history = i64::try_from(history.as_nanos()).unwrap_or(i64::MAX);
        self
    }

    /// Sets the maximum number of transforms kept per frame, of 72 bytes each; beyond it the oldest
    /// are dropped. The default is 100,000, the minimum 2.
    #[must_use]
    pub fn max_samples(mut self, samples: usize) -> Self {
        self.0.samples = samples.max(2);
        self
    }

    /// Sets the maximum number of frames; the default is 10,000. It limits the memory that remote
    /// publishers can make a process use.
    #[must_use]
    pub fn max_frames(mut self, frames: usize) -> Self {
        self.0.frames = frames;
        self
    }

    /// Makes the buffer.
    #[must_use]
    pub fn build(self) -> Buffer {
        Buffer(Arc::new(BufferCore::new(self.0)))
    }
}

impl Buffer {
    /// Returns a buffer that keeps 10 s.
    #[must_use]
    pub fn new() -> Self {
        Self::builder().build()
    }

    /// Returns a builder for a buffer with other limits.
    #[must_use]
    pub fn builder() -> BufferBuilder {
        BufferBuilder(Limits { history: 10_000_000_000, samples: 100_000, frames: 10_000 })
    }

    /// Adds the transform of a frame in its parent at a time. `authority` names the source of the
    /// transform, for diagnostics. ROS 2: `setTransform`.
    ///
    /// Stamps may come in any order. Of several transforms with one stamp, the last one counts. A
    /// slash before a frame's name is removed; the rest may have at most 255 bytes. The quaternion
    /// is normalised.
    ///
    /// # Errors
    /// [`InsertError`] if a name or number is not valid, there would be too many frames, or the
    /// transform is older than the history. The buffer is unchanged then.
    pub fn insert(&self, transform: &TransformStamped, authority: &str) -> Result<Inserted, InsertError> {
        self.insert_one(transform, false, authority)
    }

    /// Adds the transform of a frame in its parent for all times. Earlier moving transforms of the
    /// frame are forgotten.
    ///
    /// # Errors
    /// [`InsertError`], as for [`insert`](Self::insert).
    pub fn insert_static(
        &self,
        transform: &TransformStamped,
        authority: &str,
    ) -> Result<Inserted, InsertError> {
        self.insert_one(transform, true, authority)
    }

    fn insert_one(
        &self,
        transform: &TransformStamped,
        is_static: bool,
        authority: &str,
    ) -> Result<Inserted, InsertError> {
        let inserted = self.0.tree.write().insert(&insertion(transform, is_static, authority));
        self.0.wake();
        inserted
    }

    /// Adds all transforms, and reports each refused one.
    pub(crate) fn insert_all(
        &self,
        transforms: &[TransformStamped],
        is_static: bool,
        authority: &str,
        mut refused: impl FnMut(InsertError),
    ) {
        let mut errors = Vec::new(); // reported without the lock
        {
            let mut tree = self.0.tree.write();
            for transform in transforms {
                errors.extend(tree.insert(&insertion(transform, is_static, authority)).err());
            }
        }
        self.0.wake();
        errors.into_iter().for_each(&mut refused);
    }

    /// Returns the transform from coordinates in the frame `source` to coordinates in `target`, at
    /// a time. In other words, the pose of `source` in `target`. ROS 2: `lookupTransform`.
    ///
    /// Between two stamps the transform is interpolated: the translation on a line, the rotation at
    /// a constant rate. Nothing is extrapolated. A frame lies in itself at any time, even if no
    /// transform has named it.
    ///
    /// # Errors
    /// [`LookupError`], which names the missing frame, link or time.
    pub fn lookup(
        &self,
        target: &str,
        source: &str,
        at: impl Into<At>,
    ) -> Result<StampedTransform, LookupError> {
        self.0.lookup(target, source, at.into()).map_err(|error| self.0.told(error))
    }

    /// Returns the transform from coordinates in the frame `source` at one time to coordinates in
    /// `target` at another time, with the frame `fixed` at rest. For example, `("base_link", now)`,
    /// `("base_link", then)` and `"odom"` give the robot's motion. ROS 2: `lookupTransform`, the
    /// form with two times.
    ///
    /// # Errors
    /// [`LookupError`], as for [`lookup`](Self::lookup).
    pub fn lookup_over_time(
        &self,
        (target, target_time): (&str, impl Into<At>),
        (source, source_time): (&str, impl Into<At>),
        fixed: &str,
    ) -> Result<StampedTransform, LookupError> {
        let (target_time, source_time) = (target_time.into(), source_time.into());
        let both = || {
            let tree = self.0.tree.read();
            Ok((tree.lookup(fixed, source, source_time)?, tree.lookup(target, fixed, target_time)?))
        };
        let (then, now) = both().map_err(|error| self.0.told(error))?;
        Ok(StampedTransform { stamp: now.stamp, transform: (now.transform * then.transform).normalized() })
    }

    /// Checks whether [`lookup`](Self::lookup) would succeed.
    ///
    /// # Errors
    /// [`LookupError`], as for [`lookup`](Self::lookup).
    pub fn can_transform(&self, target: &str, source: &str, at: impl Into<At>) -> Result<(), LookupError> {
        self.lookup(target, source, at).map(drop)
    }

    /// Returns a stamped message in another frame, transformed at its own stamp. ROS 2:
    /// `transform`.
    ///
    /// ```
    /// # use sinew_interfaces::geometry_msgs::msg::{Point, PointStamped, TransformStamped};
    /// # use sinew_interfaces::std_msgs::msg::Header;
    /// # use sinew_tf::{Buffer, StampedTransform, Transform};
    /// let buffer = Buffer::new();
    /// let transform = Transform::from_translation([0.0, 0.0, 2.0]);
    /// buffer.insert_static(&StampedTransform { stamp: Default::default(), transform }.to_msg("map", "camera"), "me")?;
    /// let header = Header { frame_id: "camera".to_owned(), ..Header::default() };
    /// let seen = PointStamped { header, point: Point { x: 1.0, y: 0.0, z: 0.0 } };
    /// let there = buffer.transform(&seen, "map")?;
    /// assert_eq!((there.header.frame_id.as_str(), there.point.z), ("map", 2.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`LookupError`], as for [`lookup`](Self::lookup).
    pub fn transform<T: TransformableStamped>(&self, message: &T, target: &str) -> Result<T, LookupError> {
        let stamp = Time::from_nanoseconds(message.stamp_nanoseconds());
        let found = self.lookup(target, message.frame_id(), stamp)?;
        Ok(message.in_frame(target, &found))
    }

    /// Waits until there is such a transform. The result is a future; its method
    /// [`wait`](PendingTransform::wait) blocks a thread instead. ROS 2: `waitForTransform`.
    ///
    /// The thread that inserts the missing transform wakes the future, which needs no executor. It
    /// returns an error only if the transform can no longer arrive: the time is before the buffer's
    /// history. The latest transform always can.
    ///
    /// ```
    /// use sinew::Duration;
    /// use sinew_tf::{At, Buffer, StampedTransform};
    /// let buffer = Buffer::new();
    /// let filled = buffer.clone();
    /// let thread = std::thread::spawn(move || {
    ///     filled.insert_static(&StampedTransform::default().to_msg("map", "odom"), "me")
    /// });
    /// buffer.wait_for("map", "odom", At::Latest).wait(Duration::from_secs(10))?;
    /// let error = buffer.wait_for("map", "lidar", At::Latest).wait(Duration::from_millis(1)).unwrap_err();
    /// assert!(error.to_string().contains("\"lidar\""));
    /// # thread.join().unwrap()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn wait_for(&self, target: &str, source: &str, at: impl Into<At>) -> PendingTransform {
        PendingTransform::new(self.0.clone(), target, source, at.into())
    }

    /// Forgets all moving transforms; static ones stay. ROS 2: `clear`.
    pub fn clear(&self) {
        self.0.tree.write().clear();
    }

    /// Returns the status of all frames, ordered by name. Allocates.
    #[must_use]
    pub fn frames(&self) -> Vec<FrameStatus> {
        self.0.tree.read().status()
    }
}

fn insertion<'a>(message: &'a TransformStamped, is_static: bool, authority: &'a str) -> Insertion<'a> {
    Insertion {
        parent: &message.header.frame_id,
        child: &message.child_frame_id,
        stamp: Time::from(message.header.stamp).nanoseconds(),
        transform: Transform::from(message.transform),
        is_static,
        authority,
    }
}

impl Default for Buffer {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buffer").field("frames", &self.frames().len()).finish_non_exhaustive()
    }
}
