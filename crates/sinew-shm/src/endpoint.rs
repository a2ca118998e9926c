//! Entities: the nodes, publishers, subscriptions, servers and clients that participants tell each
//! other of.

use crate::control::{BUCKETS, EndpointRecord, TEXT, WORDS, read_generation};
use crate::error::SegmentError;
use crate::local_tables::store_text;
use crate::sync::{AtomicU64, Ordering};

/// What an entity is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum EndpointKind {
    /// A node; its name is the node's full name.
    Node,
    /// Sends messages on a topic.
    Publisher,
    /// Receives messages of a topic.
    Subscription,
    /// Answers requests of a service.
    Server,
    /// Calls a service.
    Client,
    /// Of the raw layer: a writer or reader of a topic, queue or variable.
    Raw,
    /// A server's answers to one client of another process.
    Reply,
    /// A client's requests to one server of another process.
    Request,
    /// What a participant tells tools of itself, under a name. Other participants aren't told when
    /// it comes or goes, and its counters are what its author says they are:
    /// [`Counts::word`], [`Counters::count`](crate::Counters::count).
    Report,
}

impl EndpointKind {
    fn number(self) -> u64 {
        match self {
            EndpointKind::Node => 1,
            EndpointKind::Publisher => 2,
            EndpointKind::Subscription => 3,
            EndpointKind::Server => 4,
            EndpointKind::Client => 5,
            EndpointKind::Raw => 6,
            EndpointKind::Reply => 7,
            EndpointKind::Request => 8,
            EndpointKind::Report => 9,
        }
    }

    fn of(number: u64) -> Option<Self> {
        Some(match number {
            1 => EndpointKind::Node,
            2 => EndpointKind::Publisher,
            3 => EndpointKind::Subscription,
            4 => EndpointKind::Server,
            5 => EndpointKind::Client,
            6 => EndpointKind::Raw,
            7 => EndpointKind::Reply,
            8 => EndpointKind::Request,
            9 => EndpointKind::Report,
            _ => return None,
        })
    }
}

/// What others are told of an entity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// What it is.
    pub kind: EndpointKind,
    /// Its number in its participant, unique for its life: the second half of a gid.
    pub number: u64,
    /// The full name of its node.
    pub node: String,
    /// The full name of its topic or service; empty for a node.
    pub name: String,
    /// The name of its type; empty for a node.
    pub type_name: String,
    /// The hash of its type.
    pub hash: [u8; 32],
    /// Its QoS, or whatever the layer above wants to say: 64 bytes without meaning here.
    pub qos: [u8; 64],
}

/// An entity's place in the table of its participant, and which of the lives there it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct EndpointKey {
    pub(crate) slot: u32,
    /// The lower half of its life.
    pub(crate) generation: u32,
}

impl EndpointKey {
    #[expect(clippy::cast_possible_truncation, reason = "both halves on purpose")]
    pub(crate) fn of(reference: u64) -> Self {
        Self { slot: (reference >> 32) as u32, generation: reference as u32 }
    }

    pub(crate) fn reference(self) -> u64 {
        crate::control::reference(self.slot, u64::from(self.generation))
    }
}

/// A word of an entity's counters. Each is written by its owner alone and only grows, but for
/// `Waiting`, `Last` and `Matched`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
#[non_exhaustive]
pub enum Counter {
    /// Messages published, or received.
    Messages = 0,
    /// Bytes of images that left or entered the process.
    Bytes = 1,
    /// Steady nanoseconds of the last message's publication.
    Last = 2,
    /// Messages taken.
    Taken = 3,
    /// Dropped for newer ones.
    Overwritten = 4,
    /// Dropped because the history was full.
    Refused = 5,
    /// Dropped because their lifespan was over.
    Expired = 6,
    /// Overwritten by their publisher before they were read, no message of the type, or lost on the
    /// network; of a publisher: what other processes didn't get, for want of room.
    Missed = 8,
    /// Waiting to be taken, or retained for late joiners.
    Waiting = 7,
    /// Ends that match now.
    Matched = 9,
    /// Copies made of messages: of values, and of images as bytes.
    Copies = 10,
    /// The sum of the latencies in the histogram, in nanoseconds: with their number, the mean.
    Latencies = 11,
    /// Of the raw layer: 1 once the entity's claim to its name is undisputed.
    Established = 12,
    /// Images made of values.
    Encodings = 13,
    /// Values made of images.
    Decodings = 14,
    /// Messages published, or read, as images where they lie: drafts of a publisher, views of a
    /// subscription.
    Images = 15,
}

impl Endpoint {
    /// Fills a record that isn't published. The text was checked to fit.
    pub(crate) fn store(&self, record: &EndpointRecord, node: u32) {
        // Relaxed: T2 publishes it all.
        record.kind_node.store(self.kind.number() << 32 | u64::from(node), Ordering::Relaxed);
        record.number.store(self.number, Ordering::Relaxed);
        record.ring.store(0, Ordering::Relaxed);
        let (hash, _) = self.hash.as_chunks::<8>();
        for (word, bytes) in record.hash.iter().zip(hash) {
            word.store(u64::from_le_bytes(*bytes), Ordering::Relaxed);
        }
        let (qos, _) = self.qos.as_chunks::<8>();
        for (word, bytes) in record.qos.iter().zip(qos) {
            word.store(u64::from_le_bytes(*bytes), Ordering::Relaxed);
        }
        let (mut lengths, mut text) = (0, Vec::with_capacity(TEXT));
        for (index, part) in [&self.node, &self.name, &self.type_name].into_iter().enumerate() {
            // Names are 255 bytes at most by their rules; a longer type name is cut, at a letter's
            // end.
            let room = if index == 2 { TEXT - text.len() } else { 255 };
            let end = (0..=part.len().min(room)).rev().find(|&end| part.is_char_boundary(end)).unwrap_or(0);
            text.extend_from_slice(&part.as_bytes()[..end]);
            lengths |= (end as u64) << (16 * index);
        }
        record.lengths.store(lengths, Ordering::Relaxed);
        store_text(&record.text, &text);
        let counters = record.counters.iter().chain(&record.histogram);
        let others = [&record.memory].into_iter().chain(&record.notes).chain(&record.spare);
        counters.chain(others).for_each(|word| word.store(0, Ordering::Relaxed));
    }

    /// T3: reads a record of a peer; `None` if there is no such life (any more). Its names are
    /// [`printable`].
    pub(crate) fn load(record: &EndpointRecord, file: &str) -> Result<Option<(u64, Self)>, SegmentError> {
        let Some((generation, words)) = read_generation(&record.generation, || RecordWords::load(record))
        else {
            return Ok(None);
        };
        Ok(Some((generation, Self::understand(&words, file)?)))
    }

    /// The same of one that may be over, for a caller that keeps the record from having another
    /// life yet.
    pub(crate) fn load_last(record: &EndpointRecord, file: &str) -> Result<Self, SegmentError> {
        Self::understand(&RecordWords::load(record), file)
    }

    fn understand(words: &RecordWords, file: &str) -> Result<Self, SegmentError> {
        let RecordWords { kind, lengths, ref text, hash, qos, number } = *words;
        let kind = EndpointKind::of(kind).ok_or_else(|| SegmentError::field(file, "entity.kind", kind, 9))?;
        let mut rest = &text[..];
        let mut parts = [const { String::new() }; 3];
        for (index, part) in parts.iter_mut().enumerate() {
            let length = lengths >> (16 * index) & 0xffff;
            let wrong = || SegmentError::field(file, "entity.lengths", length, TEXT as u64);
            let (bytes, after) =
                rest.split_at_checked(usize::try_from(length).unwrap_or(usize::MAX)).ok_or_else(wrong)?;
            *part = printable(str::from_utf8(bytes).map_err(|_| wrong())?);
            rest = after;
        }
        let [node, name, type_name] = parts;
        Ok(Self { kind, number, node, name, type_name, hash, qos })
    }
}

/// A name that another participant chose, as it may reach a terminal or a log: nothing in it steers
/// one, shows other characters in another order, or isn't seen.
pub(crate) fn printable(text: &str) -> String {
    let is_seen = |c: char| c.is_ascii_graphic() || c == ' ' || c.is_alphanumeric();
    text.replace(|c| !is_seen(c), "\u{fffd}")
}

/// What a record says, not looked at yet.
struct RecordWords {
    kind: u64,
    lengths: u64,
    text: [u8; TEXT],
    hash: [u8; 32],
    qos: [u8; 64],
    number: u64,
}

impl RecordWords {
    fn load(record: &EndpointRecord) -> Self {
        let read = |word: &AtomicU64| word.load(Ordering::Relaxed); // T3 checks it
        let (mut text, mut hash, mut qos) = ([0; TEXT], [0; 32], [0; 64]);
        for (bytes, word) in text.as_chunks_mut::<8>().0.iter_mut().zip(&record.text) {
            *bytes = read(word).to_le_bytes();
        }
        for (bytes, word) in hash.as_chunks_mut::<8>().0.iter_mut().zip(&record.hash) {
            *bytes = read(word).to_le_bytes();
        }
        for (bytes, word) in qos.as_chunks_mut::<8>().0.iter_mut().zip(&record.qos) {
            *bytes = read(word).to_le_bytes();
        }
        let kind = read(&record.kind_node) >> 32;
        Self { kind, lengths: read(&record.lengths), text, hash, qos, number: read(&record.number) }
    }
}

/// An entity's counters at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    words: [u64; WORDS],
    /// Bytes of shared memory that it has for messages, beside its ring.
    pub memory: u64,
    /// Messages by latency: bucket i counts those from 2^i to 2^(i+1) nanoseconds; the last also
    /// those above.
    pub latencies: [u64; BUCKETS],
}

impl Counts {
    pub(crate) fn load(record: &EndpointRecord) -> Self {
        let memory = record.memory.load(Ordering::Relaxed); // as the others
        let mut counts = Self { memory, ..Self::default() };
        // Relaxed: each counts for itself.
        for (count, word) in counts.words.iter_mut().zip(&record.counters) {
            *count = word.load(Ordering::Relaxed);
        }
        for (count, word) in counts.latencies.iter_mut().zip(&record.histogram) {
            *count = word.load(Ordering::Relaxed);
        }
        counts
    }

    /// One of them.
    pub fn get(&self, counter: Counter) -> u64 {
        self.words[counter as usize]
    }

    /// One of a [report](EndpointKind::Report), by its index; 0 if there are fewer.
    pub fn word(&self, index: usize) -> u64 {
        self.words.get(index).copied().unwrap_or(0)
    }
}
