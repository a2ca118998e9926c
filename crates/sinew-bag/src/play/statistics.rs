//! Figures of a player.

use sinew::executor::Histogram;

/// The place of a player in its bags. Times are nanoseconds since the epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// The time of the bags that is played now.
    pub position: u64,
    /// The time at which playing begins.
    pub start: u64,
    /// The time at which it ends.
    pub end: u64,
    /// Rounds that are complete.
    pub rounds: u64,
    /// Seeks so far, those to the beginning of a further round included.
    pub seeks: u64,
}

/// Figures of a player.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct PlayerStatistics {
    /// The topics, in the order of their names.
    pub topics: Vec<PlayedTopic>,
    /// By how much messages were published later than they were due. Messages that were stepped,
    /// restored or played as fast as possible are not due at a time, so they don't count.
    pub lateness: Histogram,
    /// Times by which everything was delayed for slow readers, in nanoseconds: in a lossless
    /// player.
    pub delayed: u64,
}

impl PlayerStatistics {
    /// Returns the number of messages that were published, without those that were restored.
    #[must_use]
    pub fn published(&self) -> u64 {
        self.topics.iter().map(|topic| topic.published).sum()
    }

    /// Returns the number of messages that could not be published.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.topics.iter().map(|topic| topic.lost).sum()
    }
}

/// A topic that is played.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlayedTopic {
    /// The name under which it is published.
    pub name: String,
    /// The full name of its type.
    pub type_name: String,
    /// Messages that were published when they were due, or stepped.
    pub published: u64,
    /// Retained messages of an earlier time that were published at the beginning or after a seek.
    pub restored: u64,
    /// Messages that could not be published: there was no room for them.
    pub lost: u64,
    /// Bytes of published messages in their encoded form.
    pub bytes: u64,
}

/// A topic of a bag that is selected and can't be played.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkippedTopic {
    /// Its name.
    pub name: String,
    /// The full name of its type.
    pub type_name: String,
    /// The reason, as a sentence.
    pub why: String,
}
