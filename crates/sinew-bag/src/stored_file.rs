//! The properties that the files of a bag share in every format.

use crate::attachment::{Attachment, MetadataRecord};
use crate::error::BagError;
use crate::message::Stamps;
use crate::metadata::BagMetadata;
use crate::piece::MessageBytes;
use crate::topic::BagTopic;
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

/// A file of a bag.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BagFile {
    /// Its path.
    pub path: PathBuf,
    /// Its format as rosbag2 calls it: `mcap` or `sqlite3`.
    pub storage: &'static str,
    /// Its length in bytes.
    pub size: u64,
    /// Messages in it.
    pub message_count: u64,
    /// Times of its first and last message, in nanoseconds since the epoch; `None` if it has none.
    pub times: Option<(u64, u64)>,
    /// The compressions of the file or its chunks: `zstd`, `lz4` or both; empty if nothing is
    /// compressed. (Compression of single messages is in
    /// [`compression_mode`](BagMetadata::compression_mode).)
    pub compression: String,
    /// Whether it has a summary. Without one it was read as a whole when the bag was opened.
    pub has_summary: bool,
    /// Attachments in it; rosbag2 writes none.
    pub attachments: u32,
    /// The program that wrote it, as it calls itself.
    pub library: String,
}

/// A file of a bag, open for reading.
pub(crate) trait StoredFile: fmt::Debug + Send + Sync {
    /// Describes the file.
    fn about(&self) -> BagFile;

    /// Returns its topics with their numbers in the file, which are small.
    fn topics(&self) -> Vec<(usize, BagTopic)>;

    /// Returns the last metadata that rosbag2 has left in the file.
    fn metadata(&self) -> Option<BagMetadata>;

    /// Returns the attachments, in the order of the file.
    fn attachments(&self) -> Vec<Attachment> {
        Vec::new()
    }

    /// Returns the metadata records that [`BagWriter`](crate::BagWriter) doesn't write by itself.
    fn metadata_records(&self) -> Vec<MetadataRecord> {
        Vec::new()
    }

    /// Returns the messages that the recorder lost, by topic, as the file says.
    fn losses(&self) -> BTreeMap<String, u64> {
        BagMetadata::losses_of(self.metadata().as_ref())
    }

    /// Returns the damage that opening has found.
    fn problems(&self) -> Vec<BagError>;

    /// Reads the whole file and returns its damage.
    fn check(&self) -> Vec<BagError>;

    /// Returns a place before the first message. `topics` has the bag's topic for each number.
    fn cursor(&self, topics: Vec<Option<usize>>) -> Box<dyn FileCursor>;

    /// Returns the last `count` messages of the wanted topics before a time, the earliest first.
    /// `topics` has the bag's topic for each number. Adds the damage that reading on from that time
    /// doesn't find.
    fn latest(
        &self,
        topics: &[Option<usize>],
        wanted: &[usize],
        last: Last,
        problems: &mut Vec<BagError>,
    ) -> Vec<Found>;
}

/// The number of messages to find, and the time before which they were received.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Last {
    pub(crate) count: usize,
    pub(crate) before: u64,
}

/// A message of a file: its stamps, its topic and its bytes.
pub(crate) type Found = (Stamps, usize, MessageBytes);

/// A place in a file, between two messages.
pub(crate) trait FileCursor: fmt::Debug + Send + Sync {
    /// Goes back to the first message.
    fn rewind(&mut self);

    /// Returns a time before which no wanted message comes, or `None` at the end.
    fn bound(&mut self, wanted: &Wanted) -> Option<u64>;

    /// Takes a step; [`bound`](Self::bound) must have returned a time.
    fn step(&mut self, wanted: &Wanted) -> Step;
}

/// The messages that a cursor stops at.
#[derive(Debug)]
pub(crate) struct Wanted {
    /// By topic of the bag.
    pub(crate) topics: Vec<bool>,
    pub(crate) from: u64,
    /// The first time that is too late.
    pub(crate) until: u64,
}

/// A step of a cursor.
pub(crate) enum Step {
    /// The next message: its stamps, its topic and its bytes.
    Message(Stamps, usize, MessageBytes),
    /// Something was read; the next message is to be asked for again.
    Read,
    /// Something was read as far as it goes; its damage.
    Damaged(BagError),
}
