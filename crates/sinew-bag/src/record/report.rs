//! The figures of a recording.

use crate::error::BagError;
use sinew::__private::locks::Mutex;
use std::path::PathBuf;
use std::sync::Arc;

/// The figures of a [`Recorder`](crate::Recorder): so far, or of the whole recording.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Recorded {
    /// The bag's directory.
    pub path: PathBuf,
    /// The topics, in the order in which they were found.
    pub topics: Vec<RecordedTopic>,
    /// Files that were begun.
    pub files: u64,
    /// Retained messages that were written again at the beginning of a file. They are in none of
    /// the other numbers, but in those of the bag.
    pub repeated: u64,
    /// Bytes of messages that wait to be written, or for a snapshot, with about a hundred that the
    /// recorder needs for each.
    pub waiting_bytes: u64,
    /// `true` while it is paused, and passes over messages.
    pub is_paused: bool,
    /// The error that ended the recording, for example of a full disk. The messages that can be
    /// read nevertheless are those that the topics count.
    pub failure: Option<Arc<BagError>>,
}

/// A topic in a recording.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordedTopic {
    /// The full name.
    pub name: String,
    /// The full name of its type.
    pub type_name: String,
    /// Messages that were written.
    pub messages: u64,
    /// Bytes of their encoded form.
    pub bytes: u64,
    /// Messages that publishers which came during the recording had published before the recorder
    /// could hear them: a few at most. No subscription gets them, so they do not count as lost.
    pub early: u64,
    /// Messages that were lost on their way to the recorder: on the network, or because newer ones
    /// took their place before it looked.
    pub lost_in_transport: u64,
    /// Messages that reached the recorder and were not written: the disk was too slow, or full.
    pub lost_in_recorder: u64,
}

impl Recorded {
    /// Returns the number of messages of all topics.
    #[must_use]
    pub fn messages(&self) -> u64 {
        self.topics.iter().map(|topic| topic.messages).sum()
    }

    /// Returns the bytes of all messages.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.topics.iter().map(|topic| topic.bytes).sum()
    }

    /// Returns the number of messages of all topics that were lost.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.topics.iter().map(RecordedTopic::lost).sum()
    }
}

impl RecordedTopic {
    /// Returns the number of messages that were lost.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost_in_transport + self.lost_in_recorder
    }
}

/// The figures that both threads keep.
#[derive(Debug, Default)]
pub(super) struct Figures(Mutex<Recorded>);

impl Figures {
    pub(super) fn new(path: PathBuf) -> Self {
        Self(Mutex::new(Recorded { path, ..Recorded::default() }))
    }

    pub(super) fn with<R>(&self, work: impl FnOnce(&mut Recorded) -> R) -> R {
        work(&mut self.0.lock())
    }

    pub(super) fn copy(&self) -> Recorded {
        self.0.lock().clone()
    }
}
