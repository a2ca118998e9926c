//! The results of inserting a transform.

use sinew::time::Time;

/// Maximum deviation of a quaternion's squared length from 1. tf2:
/// `QUATERNION_NORMALIZATION_TOLERANCE`.
pub(crate) const TOLERANCE: f64 = 10e-3;

/// Maximum length of a frame's name in bytes, as for a node.
pub(crate) const LONGEST_NAME: usize = 255;

/// Returns the beginning of a name that is too long to show.
pub(crate) fn beginning(name: &str) -> String {
    name.chars().take(40).collect()
}

/// The effect of an insertion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Inserted {
    /// The transform was added.
    New,
    /// The transform replaced another one with the same stamp.
    Replaced,
    /// The same transform with this stamp was there already: nothing changed. ROS 2 once warned of
    /// it: `TF_REPEATED_DATA`.
    Repeated,
}

/// A transform was not inserted. ROS 2 logs these under the names given here.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InsertError {
    /// The child has no name. `TF_NO_CHILD_FRAME_ID`.
    #[error("a transform to the parent {parent:?} has no child_frame_id; name the frame that it places")]
    NoChild {
        /// The parent.
        parent: String,
    },
    /// The parent has no name. `TF_NO_FRAME_ID`.
    #[error("the transform of {child:?} has no header.frame_id; name the frame in which it lies")]
    NoParent {
        /// The child.
        child: String,
    },
    /// A name is longer than 255 bytes. (ROS 2 would accept it.)
    #[error(
        "the name of the frame {begin:?}.. has {length} bytes, but a frame's name may have at most {LONGEST_NAME}; choose a shorter one"
    )]
    NameTooLong {
        /// The first characters of the name.
        begin: String,
        /// Its length in bytes.
        length: usize,
    },
    /// A frame is its own parent. `TF_SELF_TRANSFORM`.
    #[error("the transform of {frame:?} has {frame:?} as its parent; a frame can't lie in itself")]
    SelfTransform {
        /// The frame.
        frame: String,
    },
    /// A number is NaN or infinite. `TF_NAN_INPUT`.
    #[error(
        "the transform of {child:?} has numbers that aren't finite: translation {translation:?}, rotation {rotation:?}"
    )]
    NotFinite {
        /// The child.
        child: String,
        /// x, y and z.
        translation: [f64; 3],
        /// x, y, z and w.
        rotation: [f64; 4],
    },
    /// The quaternion is too long or too short. `TF_DENORMALIZED_QUATERNION`.
    #[error(
        "the rotation {rotation:?} of {child:?} has the length {length}, but a unit quaternion has 1, to within 0.5 %; divide it by its length"
    )]
    NotNormalized {
        /// The child.
        child: String,
        /// x, y, z and w.
        rotation: [f64; 4],
        /// The length of the quaternion.
        length: f64,
    },
    /// The transform is older than the buffer's history. `TF_OLD_DATA`.
    #[error(
        "the transform of {child:?} at {} s is older than the {} s that are kept before the latest, at {} s",
        seconds(.stamp), .history.as_secs_f64(), seconds(.latest)
    )]
    Old {
        /// The child.
        child: String,
        /// The stamp of the transform.
        stamp: Time,
        /// The latest stamp of that frame.
        latest: Time,
        /// The length of the history.
        history: sinew::Duration,
    },
    /// There are too many frames.
    #[error(
        "the frame {frame:?} is one too many: the buffer has its maximum of {limit} (BufferBuilder::max_frames); check for a publisher that invents names"
    )]
    TooManyFrames {
        /// The frame.
        frame: String,
        /// Maximum number of frames.
        limit: usize,
    },
}

/// Formats a time in seconds, to the nanosecond.
pub(crate) fn seconds(time: &Time) -> String {
    let nanoseconds = time.nanoseconds();
    let (sign, magnitude) = (if nanoseconds < 0 { "-" } else { "" }, nanoseconds.unsigned_abs());
    format!("{sign}{}.{:09}", magnitude / 1_000_000_000, magnitude % 1_000_000_000)
}
