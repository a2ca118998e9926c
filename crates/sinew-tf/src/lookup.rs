//! What is asked of a buffer, and why there is no answer.

use crate::insertion::{LONGEST_NAME, beginning, seconds};
use sinew::Duration;
use sinew::time::Time;
use std::fmt;

/// The time at which a transform is asked for.
///
/// A [`Time`] becomes one; 0 means the latest, as in ROS 2, where messages with that stamp say so.
///
/// ```
/// use sinew::time::Time;
/// use sinew_tf::At;
/// assert_eq!(At::from(Time::from_nanoseconds(0)), At::Latest);
/// assert_eq!(At::from(Time::from_nanoseconds(5)), At::Time(Time::from_nanoseconds(5)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum At {
    /// The latest time at which all links between the two frames are known. ROS 2:
    /// `TimePointZero`.
    Latest,
    /// That time, by the clock that stamps are read from.
    Time(Time),
}

impl From<Time> for At {
    fn from(time: Time) -> Self {
        if time == Time::default() { Self::Latest } else { Self::Time(time) }
    }
}

/// What a buffer knows of how a frame lies in its parent.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LinkRange {
    /// The frame it lies in.
    pub parent: String,
    /// The frame.
    pub child: String,
    /// The first stamp that is kept.
    pub first: Time,
    /// The latest stamp.
    pub last: Time,
}

/// Why a buffer has no transform. ROS 2 throws these under the names given here.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum LookupError {
    /// No transform has named that frame. `LookupException`.
    UnknownFrame {
        /// What was asked for.
        frame: String,
        /// The known frame whose name is most like it.
        similar: Option<String>,
        /// How many frames are known.
        known: usize,
    },
    /// That name is longer than 255 bytes, so no frame has it.
    NameTooLong {
        /// Its first letters.
        begin: String,
        /// How many bytes it has.
        length: usize,
    },
    /// They lie in two trees. `ConnectivityException`.
    NotConnected {
        /// What was asked for.
        target: String,
        /// What was asked for.
        source: String,
        /// The top of the target's tree.
        target_root: String,
        /// The top of the source's tree.
        source_root: String,
        /// When it is so, if they are connected now.
        time: Option<Time>,
    },
    /// They are connected, but not all links are known at that time. `ExtrapolationException`.
    Extrapolation {
        /// What was asked for.
        target: String,
        /// What was asked for.
        source: String,
        /// The time; of [`At::Latest`] the latest that the links could have in common.
        time: Time,
        /// The links that aren't known then, from the target up and from the source up.
        lacking: Vec<LinkRange>,
    },
    /// Frames lie in each other in a circle.
    Loop {
        /// Each lies in the next, and the last in the first.
        frames: Vec<String>,
    },
}

impl fmt::Display for LookupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownFrame { frame, similar, known } => {
                write!(f, "no transform has named the frame {frame:?} yet")?;
                match similar {
                    Some(similar) => write!(f, "; did you mean {similar:?}?"),
                    None if *known == 0 => {
                        write!(f, ", as none has come at all: does something publish /tf?")
                    }
                    None => write!(f, "; {known} others are known, see `sinew tf tree`"),
                }
            }
            Self::NameTooLong { begin, length } => write!(
                f,
                "no frame is called {begin:?}..: that name has {length} bytes, and a frame's name may have {LONGEST_NAME}"
            ),
            Self::NotConnected { target, source, target_root, source_root, time } => {
                write!(f, "no transform from {source:?} to {target:?}")?;
                if let Some(time) = time {
                    write!(f, " at {} s", seconds(time))?;
                }
                write!(
                    f,
                    ": {target:?} is in the tree of {target_root:?}, {source:?} in that of {source_root:?}"
                )?;
                write!(f, "; what is missing is a transform between the two trees")
            }
            Self::Extrapolation { target, source, time, lacking } => {
                write!(f, "no transform from {source:?} to {target:?} at {} s", seconds(time))?;
                let mut separator = ":";
                for LinkRange { parent, child, first, last } in lacking {
                    write!(
                        f,
                        "{separator} {child:?} in {parent:?} is known from {} to {} s",
                        seconds(first),
                        seconds(last)
                    )?;
                    separator = ",";
                }
                match lacking.iter().map(|link| *time - link.last).max() {
                    Some(ahead) if ahead > Duration::ZERO => {
                        write!(
                            f,
                            "; it is {} ms behind: wait for it, or take the latest",
                            ahead.as_micros() as f64 / 1e3
                        )
                    }
                    _ => write!(f, "; the buffer keeps nothing from that long ago"),
                }
            }
            Self::Loop { frames } => {
                write!(f, "frames lie in each other in a circle: ")?;
                for frame in frames {
                    write!(f, "{frame:?} in ")?;
                }
                let first = frames.first().map_or("", String::as_str);
                write!(f, "{first:?}; see `sinew tf tree` for who publishes them")
            }
        }
    }
}

impl std::error::Error for LookupError {}

impl LookupError {
    /// That no frame is called so; without what may have been meant, which is looked for outside
    /// the tree's lock.
    pub(crate) fn unknown(frame: &str, known: usize) -> Self {
        if frame.len() > LONGEST_NAME {
            return Self::NameTooLong { begin: beginning(frame), length: frame.len() };
        }
        Self::UnknownFrame { frame: frame.to_owned(), similar: None, known }
    }
}

/// A frame, and what is known of it.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct FrameStatus {
    /// Its name.
    pub name: String,
    /// The frame it lies in, by its latest transform; `None` for the top of a tree.
    pub parent: Option<String>,
    /// Whether it never moves.
    pub is_static: bool,
    /// The first stamp kept and the latest, if it moves.
    pub range: Option<[Time; 2]>,
    /// Transforms kept.
    pub samples: usize,
    /// Transforms that gave way before their time, because there were too many.
    pub crowded_out: u64,
    /// Who sent its latest transform; empty for the top of a tree.
    pub authority: String,
}

impl FrameStatus {
    /// Transforms in a second, over what is kept. `None` of fewer than two.
    #[must_use]
    pub fn rate(&self) -> Option<f64> {
        let [first, last] = self.range?;
        let seconds = (last - first).as_secs_f64();
        #[expect(clippy::cast_precision_loss, reason = "counts are small")]
        (seconds > 0.0 && self.samples > 1).then(|| (self.samples - 1) as f64 / seconds)
    }
}
