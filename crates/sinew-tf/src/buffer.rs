//! The buffer: the tree behind a lock, and those who wait for it.

use crate::history::Limits;
use crate::insertion::{InsertError, Inserted};
use crate::lookup::{At, FrameStatus, LookupError};
use crate::suggestions::Suggestions;
use crate::transform::{StampedTransform, Transform};
use crate::transformable::TransformableStamped;
use crate::tree::{Insertion, Tree};
use crate::wait::{PendingTransform, Waiters};
use sinew::__private::locks::RwLock;
use sinew::Duration;
use sinew::time::Time;
use sinew_interfaces::geometry_msgs::msg::TransformStamped;
use std::fmt;
use std::sync::Arc;

/// Frames, and how they lay in each other over the last seconds. ROS 2: `tf2_ros::Buffer`.
///
/// Clones are the same buffer. It may be used from any thread: lookups run side by side, and an
/// insertion waits for those that run, which is for a microsecond or so. Lookups don't allocate
/// (unless they fail, or climb over more than 64 frames).
///
/// It is filled by a [`TransformListener`](crate::TransformListener), by [`insert`](Self::insert),
/// or both.
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

pub(crate) struct BufferCore {
    pub(crate) tree: RwLock<Tree>,
    pub(crate) waiters: Waiters,
    suggestions: Suggestions,
}

/// Makes a [`Buffer`]; from [`Buffer::builder`].
#[derive(Debug, Clone, Copy)]
pub struct BufferBuilder(Limits);

impl BufferBuilder {
    /// For how long before its latest one transforms of a frame are kept; 10 s if it isn't said, as
    /// in ROS 2.
    #[must_use]
    pub fn history(mut self, history: Duration) -> Self {
        self.0.history = i64::try_from(history.as_nanos()).unwrap_or(i64::MAX);
        self
    }

    /// How many transforms of a frame are kept at most, of 72 bytes each; the oldest give way.
    /// 100,000 if it isn't said, at least 2.
    #[must_use]
    pub fn max_samples(mut self, samples: usize) -> Self {
        self.0.samples = samples.max(2);
        self
    }

    /// How many frames there may be; 10,000 if it isn't said. A bound for what senders can make a
    /// process keep.
    #[must_use]
    pub fn max_frames(mut self, frames: usize) -> Self {
        self.0.frames = frames;
        self
    }

    /// Makes the buffer.
    #[must_use]
    pub fn build(self) -> Buffer {
        let (tree, waiters) = (RwLock::new(Tree::new(self.0)), Waiters::default());
        Buffer(Arc::new(BufferCore { tree, waiters, suggestions: Suggestions::default() }))
    }
}

impl Buffer {
    /// One that keeps 10 s.
    #[must_use]
    pub fn new() -> Self {
        Self::builder().build()
    }

    /// One with other limits.
    #[must_use]
    pub fn builder() -> BufferBuilder {
        BufferBuilder(Limits { history: 10_000_000_000, samples: 100_000, frames: 10_000 })
    }

    /// Adds how a frame lay in its parent at a time. `authority` says who knows it, for those who
    /// look for a mistake. ROS 2: `setTransform`.
    ///
    /// Stamps may come in any order. Of several with one stamp the last one counts. A slash before a
    /// frame's name is left out; without it, a name has 255 bytes at most. A quaternion is
    /// normalised.
    ///
    /// # Errors
    /// [`InsertError`]: names, numbers, or it is older than what is kept. Nothing has changed then.
    pub fn insert(&self, transform: &TransformStamped, authority: &str) -> Result<Inserted, InsertError> {
        self.insert_one(transform, false, authority)
    }

    /// Adds how a frame lies in its parent at all times. If it moved before, that is forgotten.
    ///
    /// # Errors
    /// [`InsertError`], as [`insert`](Self::insert).
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

    /// Adds all, and tells of each that was refused.
    pub(crate) fn insert_all(
        &self,
        transforms: &[TransformStamped],
        is_static: bool,
        authority: &str,
        mut refused: impl FnMut(InsertError),
    ) {
        let mut errors = Vec::new(); // told without the lock
        {
            let mut tree = self.0.tree.write();
            for transform in transforms {
                errors.extend(tree.insert(&insertion(transform, is_static, authority)).err());
            }
        }
        self.0.wake();
        errors.into_iter().for_each(&mut refused);
    }

    /// What takes coordinates in the frame `source` to those in `target`, at a time; said otherwise,
    /// how `source` lies in `target`. ROS 2: `lookupTransform`.
    ///
    /// Between two stamps it is interpolated: the translation on a line, the rotation at a steady
    /// pace. Nothing is extrapolated.
    ///
    /// # Errors
    /// [`LookupError`] says which frame, link or time is missing.
    pub fn lookup(
        &self,
        target: &str,
        source: &str,
        at: impl Into<At>,
    ) -> Result<StampedTransform, LookupError> {
        self.0.lookup(target, source, at.into()).map_err(|error| self.0.told(error))
    }

    /// What takes coordinates in the frame `source` at one time to those in `target` at another one,
    /// while the frame `fixed` stands still; so `("base_link", now)`, `("base_link", then)` and
    /// `"odom"` say how the robot has moved. ROS 2: `lookupTransform`, the form with two times.
    ///
    /// # Errors
    /// [`LookupError`], as [`lookup`](Self::lookup).
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

    /// Whether [`lookup`](Self::lookup) would find something, or why not.
    ///
    /// # Errors
    /// [`LookupError`], as it.
    pub fn can_transform(&self, target: &str, source: &str, at: impl Into<At>) -> Result<(), LookupError> {
        self.lookup(target, source, at).map(drop)
    }

    /// A stamped message in another frame, at its own stamp. ROS 2: `transform`.
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
    /// [`LookupError`], as [`lookup`](Self::lookup).
    pub fn transform<T: TransformableStamped>(&self, message: &T, target: &str) -> Result<T, LookupError> {
        let stamp = Time::from_nanoseconds(message.stamp_nanoseconds());
        let found = self.lookup(target, message.frame_id(), stamp)?;
        Ok(message.in_frame(target, &found))
    }

    /// Waits until there is such a transform: a future, or a thread that blocks in
    /// [`wait`](PendingTransform::wait). ROS 2: `waitForTransform`.
    ///
    /// The future is woken by the thread that inserts what was missing, and needs no executor. It
    /// yields an error only if what it waits for can't come any more: the time is before what the
    /// buffer keeps.
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

    /// Forgets all that moved; static transforms stay. ROS 2: `clear`.
    pub fn clear(&self) {
        self.0.tree.write().clear();
    }

    /// All frames, by their names. Allocates.
    #[must_use]
    pub fn frames(&self) -> Vec<FrameStatus> {
        self.0.tree.read().status()
    }
}

impl BufferCore {
    /// Without what may have been meant by an unknown name.
    pub(crate) fn lookup(&self, target: &str, source: &str, at: At) -> Result<StampedTransform, LookupError> {
        self.tree.read().lookup(target, source, at)
    }

    /// The error as a caller gets it: names what may have been meant. Call it without the lock.
    pub(crate) fn told(&self, mut error: LookupError) -> LookupError {
        if let LookupError::UnknownFrame { frame, similar, known } = &mut error {
            let found = self.suggestions.of(frame, *known, || self.tree.read().names());
            *similar = found.map(|name| name.as_ref().to_owned());
        }
        error
    }

    fn wake(&self) {
        self.waiters.wake(|query| {
            let tree = self.tree.read(); // once: a second one behind a waiting writer would wait for ever
            match tree.lookup(&query.target, &query.source, query.at) {
                Ok(_) => true,
                Err(error) => tree.is_past(&error),
            }
        });
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
