//! The reasons why a bag can't be played.

use crate::error::BagError;
use sinew::error::{CreateError, ErrorCode, HasCode, PublishFailure, SpinError};
use std::io;
use std::time::Duration;

/// A bag can't be played.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlayError {
    /// A bag can't be read, or lacks a topic.
    #[error(transparent)]
    Bag(#[from] BagError),
    /// The node, a publisher or a server can't be made.
    #[error(transparent)]
    Create(#[from] CreateError),
    /// No topic is left that can be played.
    #[error("nothing can be played: {}", if why.is_empty() { "no topic is selected" } else { why })]
    Nothing {
        /// The reasons, topic by topic; empty if none is selected.
        why: String,
    },
    /// The rate is no positive number.
    #[error("the rate can't be {rate}: it must be a positive number")]
    Rate {
        /// The rate.
        rate: f64,
    },
    /// `/clock` can't be published that often.
    #[error("/clock can't be published at {hertz} Hz: it must be more than 0 and at most 1 GHz")]
    Frequency {
        /// The frequency.
        hertz: f64,
    },
    /// Playing would begin after the end of the bag.
    #[error("there is nothing after {offset:?}: the bags last {length:?}")]
    BeyondEnd {
        /// Time from the first message to the beginning that was asked for.
        offset: Duration,
        /// The length of the bags.
        length: Duration,
    },
    /// The operating system refused a thread.
    #[error("can't start a thread for playing: {source}")]
    Thread {
        /// The operating system's answer.
        source: io::Error,
    },
}

impl HasCode for PlayError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Bag(error) => error.code(),
            Self::Create(error) => error.code(),
            Self::Nothing { .. } => ErrorCode::UnknownTopic,
            Self::Rate { .. } | Self::Frequency { .. } | Self::BeyondEnd { .. } => ErrorCode::InvalidArgument,
            Self::Thread { .. } => ErrorCode::Thread,
        }
    }
}

/// A replay in virtual time has failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// A callback failed or panicked, or the executor can't spin in virtual time.
    #[error(transparent)]
    Spin(#[from] SpinError),
    /// The executor has another clock than the replay.
    #[error("the executor doesn't follow the clock of the replay: give its context that clock")]
    OtherClock,
    /// A message was not published.
    #[error("a message of {topic} can't be replayed: {failure}")]
    Publish {
        /// The topic.
        topic: String,
        /// The reason.
        failure: PublishFailure,
    },
}

impl HasCode for ReplayError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Spin(error) => error.code(),
            Self::OtherClock => ErrorCode::OtherClock,
            Self::Publish { failure, .. } => failure.code(),
        }
    }
}
