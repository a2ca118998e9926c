//! What comes of inserting a transform.

use sinew::time::Time;

/// How far a quaternion's length, squared, may be from 1. tf2:
/// `QUATERNION_NORMALIZATION_TOLERANCE`.
pub(crate) const TOLERANCE: f64 = 10e-3;

/// The longest name of a frame in bytes, as of a node.
pub(crate) const LONGEST_NAME: usize = 255;

/// How a name begins that is too long to be told.
pub(crate) fn beginning(name: &str) -> String {
    name.chars().take(40).collect()
}

/// What became of a transform that was inserted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Inserted {
    /// It is there from now on.
    New,
    /// There was another one with this stamp, which it replaces.
    Replaced,
    /// The same was there already, with this stamp: nothing changed. ROS 2 once warned of it:
    /// `TF_REPEATED_DATA`.
    Repeated,
}

/// Why a transform was not inserted. ROS 2 writes these to the log, under the names given here.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InsertError {
    /// The child has no name. `TF_NO_CHILD_FRAME_ID`.
    #[error("a transform to the parent {parent:?} has no child_frame_id; name the frame that it places")]
    NoChild {
        /// Its parent.
        parent: String,
    },
    /// The parent has no name. `TF_NO_FRAME_ID`.
    #[error("the transform of {child:?} has no header.frame_id; name the frame in which it lies")]
    NoParent {
        /// The frame that it places.
        child: String,
    },
    /// A name is longer than 255 bytes, which ROS 2 would take.
    #[error(
        "the name of the frame {begin:?}.. has {length} bytes, and a frame's name may have {LONGEST_NAME}; give it a shorter one"
    )]
    NameTooLong {
        /// Its first letters.
        begin: String,
        /// How many bytes it has.
        length: usize,
    },
    /// A frame in itself. `TF_SELF_TRANSFORM`.
    #[error("the transform of {frame:?} has {frame:?} as its parent; a frame can't lie in itself")]
    SelfTransform {
        /// The frame.
        frame: String,
    },
    /// A number of it is none, or infinite. `TF_NAN_INPUT`.
    #[error(
        "the transform of {child:?} is not of finite numbers: translation {translation:?}, rotation {rotation:?}"
    )]
    NotFinite {
        /// The frame that it places.
        child: String,
        /// x, y and z.
        translation: [f64; 3],
        /// x, y, z and w.
        rotation: [f64; 4],
    },
    /// The quaternion is too long or too short. `TF_DENORMALIZED_QUATERNION`.
    #[error(
        "the rotation {rotation:?} of {child:?} has the length {length}, but that of a unit quaternion must be 1 to within 0.5 %; divide by it"
    )]
    NotNormalized {
        /// The frame that it places.
        child: String,
        /// x, y, z and w.
        rotation: [f64; 4],
        /// How long it is.
        length: f64,
    },
    /// It is older than what the buffer keeps. `TF_OLD_DATA`.
    #[error(
        "the transform of {child:?} at {} s is older than the {} s that are kept before the latest, at {} s",
        seconds(.stamp), .history.as_secs_f64(), seconds(.latest)
    )]
    Old {
        /// The frame that it places.
        child: String,
        /// Its stamp.
        stamp: Time,
        /// The latest stamp of that frame.
        latest: Time,
        /// What is kept.
        history: sinew::Duration,
    },
    /// There are too many frames.
    #[error(
        "the frame {frame:?} is one too many: the buffer has {limit}, see BufferBuilder::max_frames; are names made up again and again?"
    )]
    TooManyFrames {
        /// The frame.
        frame: String,
        /// How many there may be.
        limit: usize,
    },
}

/// In seconds, to the nanosecond.
pub(crate) fn seconds(time: &Time) -> String {
    let nanoseconds = time.nanoseconds();
    let (sign, magnitude) = (if nanoseconds < 0 { "-" } else { "" }, nanoseconds.unsigned_abs());
    format!("{sign}{}.{:09}", magnitude / 1_000_000_000, magnitude % 1_000_000_000)
}
