//! Queries of a buffer, and the reasons why they fail.

use crate::insertion::{LONGEST_NAME, beginning, seconds};
use sinew::Duration;
use sinew::time::Time;
use std::fmt;

/// The time of a query.
///
/// A [`Time`] converts to it; 0 means the latest time, as in ROS 2, where messages with that stamp
/// mean it.
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
    /// This time, by the clock of the stamps.
    Time(Time),
}

impl From<Time> for At {
    fn from(time: Time) -> Self {
        if time == Time::default() { Self::Latest } else { Self::Time(time) }
    }
}

/// The link of a frame to its parent, and the time range that a buffer knows.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LinkRange {
    /// The parent frame.
    pub parent: String,
    /// The frame.
    pub child: String,
    /// The first stamp that is kept.
    pub first: Time,
    /// The latest stamp.
    pub last: Time,
}

impl LinkRange {
    /// Returns whether the transform of this link is known at a time.
    pub(crate) fn covers(&self, time: Time) -> bool {
        (self.first..=self.last).contains(&time)
    }
}

/// A buffer has no transform for a query. ROS 2 throws these under the names given here.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum LookupError {
    /// No transform has named this frame. `LookupException`.
    UnknownFrame {
        /// The requested name.
        frame: String,
        /// The known frame with the most similar name.
        similar: Option<String>,
        /// Number of known frames.
        known: usize,
    },
    /// The name is longer than 255 bytes, so no frame can have it.
    NameTooLong {
        /// The first characters of the name.
        begin: String,
        /// Its length in bytes.
        length: usize,
    },
    /// The frames are in two trees. `ConnectivityException`.
    NotConnected {
        /// The requested target.
        target: String,
        /// The requested source.
        source: String,
        /// The root of the target's tree.
        target_root: String,
        /// The root of the source's tree.
        source_root: String,
        /// The time at which they are not connected, if they are connected now.
        time: Option<Time>,
    },
    /// The frames are connected, but some links don't cover this time. `ExtrapolationException`.
    Extrapolation {
        /// The requested target.
        target: String,
        /// The requested source.
        source: String,
        /// The time; for [`At::Latest`], the latest that the links could have in common.
        time: Time,
        /// The links that don't cover the time, from the target up and from the source up. For
        /// [`At::Latest`] the link that ends at the time comes before them.
        lacking: Vec<LinkRange>,
    },
    /// The parents of frames form a loop.
    Loop {
        /// The frames: the parent of each is the next, and the parent of the last is the first.
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
                "no frame is called {begin:?}..: that name has {length} bytes, but a frame's name may have at most {LONGEST_NAME}"
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
                let behind = lacking.first().filter(|link| link.covers(*time));
                if let Some(LinkRange { parent, child, .. }) = behind {
                    return write!(
                        f,
                        "; {child:?} in {parent:?} is behind: does something still publish it?"
                    );
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
    /// Returns the error for an unknown name, without a suggestion, which is searched for outside
    /// the tree's lock.
    pub(crate) fn unknown(frame: &str, known: usize) -> Self {
        if frame.len() > LONGEST_NAME {
            return Self::NameTooLong { begin: beginning(frame), length: frame.len() };
        }
        Self::UnknownFrame { frame: frame.to_owned(), similar: None, known }
    }
}

/// The status of a frame.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct FrameStatus {
    /// The name.
    pub name: String,
    /// The parent in its latest transform; `None` for the root of a tree.
    pub parent: Option<String>,
    /// Set if the frame is static.
    pub is_static: bool,
    /// The first and the latest stamp kept, if the frame moves.
    pub range: Option<[Time; 2]>,
    /// Number of transforms kept.
    pub samples: usize,
    /// Number of transforms dropped early because there were too many.
    pub crowded_out: u64,
    /// The sender of its latest transform; empty for the root of a tree.
    pub authority: String,
}

impl FrameStatus {
    /// Returns the transforms per second over the kept history; `None` for fewer than two.
    #[must_use]
    pub fn rate(&self) -> Option<f64> {
        let [first, last] = self.range?;
        let seconds = (last - first).as_secs_f64();
        #[expect(clippy::cast_precision_loss, reason = "counts are small")]
        (seconds > 0.0 && self.samples > 1).then(|| (self.samples - 1) as f64 / seconds)
    }
}
