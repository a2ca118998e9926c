//! Entities: the nodes, publishers, subscriptions, servers and clients that participants announce
//! to each other.

use crate::error::SegmentError;
use crate::platform::sync::{AtomicU64, Ordering};
use crate::tables::control_segment::{BUCKETS, EndpointRecord, TEXT, WORDS, read_generation};
use crate::tables::own_tables::store_text;

/// The kind of an entity.
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
    /// An entity of the raw layer: a writer or reader of a topic, queue or variable.
    Raw,
    /// A server's replies to one client in another process.
    Reply,
    /// A client's requests to one server in another process.
    Request,
    /// Named data that a participant provides for tools. Other participants are not notified when a
    /// report appears or disappears. Its author defines the meaning of its counters:
    /// [`Counts::word`], [`Counters::count`](crate::transport::Counters::count).
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

/// The public description of an entity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// The entity's kind.
    pub kind: EndpointKind,
    /// The entity's number in its participant, unique for its life: the second half of a gid.
    pub number: u64,
    /// The full name of the entity's node.
    pub node: String,
    /// The full name of the entity's topic or service; empty for a node.
    pub name: String,
    /// The name of the entity's type; empty for a node.
    pub type_name: String,
    /// The hash of the entity's type.
    pub hash: [u8; 32],
    /// The entity's QoS, or other data of the layer above: 64 bytes without meaning here.
    pub qos: [u8; 64],
}

/// An entity's slot in the table of its participant, and the number of the slot's life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct EndpointKey {
    pub(crate) slot: u32,
    /// The lower half of the life's number.
    pub(crate) generation: u32,
}

impl EndpointKey {
    #[expect(clippy::cast_possible_truncation, reason = "both halves on purpose")]
    pub(crate) fn of(reference: u64) -> Self {
        Self { slot: (reference >> 32) as u32, generation: reference as u32 }
    }

    pub(crate) fn reference(self) -> u64 {
        crate::tables::control_segment::reference(self.slot, u64::from(self.generation))
    }
}

/// A word of an entity's counters. Only the owner writes them. All only grow, except `Waiting`,
/// `Last` and `Matched`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
#[non_exhaustive]
pub enum Counter {
    /// Messages published, or received.
    Messages = 0,
    /// Bytes of encoded messages that left or entered the process.
    Bytes = 1,
    /// Steady nanoseconds of the last message's publication.
    Last = 2,
    /// Messages taken.
    Taken = 3,
    /// Messages dropped for newer ones.
    Overwritten = 4,
    /// Messages dropped because the history was full.
    Refused = 5,
    /// Messages dropped because their lifespan was over.
    Expired = 6,
    /// Messages overwritten by their publisher before they were read, not valid for the type, or
    /// lost on the network. For a publisher: messages that other processes didn't get because there
    /// was no room.
    Missed = 8,
    /// Messages waiting to be taken, or retained for late joiners.
    Waiting = 7,
    /// Endpoints that match now.
    Matched = 9,
    /// Copies made of messages: of values, and of encoded bytes.
    Copies = 10,
    /// The sum of the latencies in the histogram, in nanoseconds. Divided by their number, it gives
    /// the mean.
    Latencies = 11,
    /// In the raw layer: 1 once the entity's claim to its name is undisputed.
    Established = 12,
    /// Values that were encoded.
    Encodings = 13,
    /// Values that were decoded.
    Decodings = 14,
    /// Messages published or read in their encoded form, in place: drafts of a publisher, views of
    /// a subscription.
    Encoded = 15,
}

impl Endpoint {
    /// Fills a record that isn't published yet. The caller has checked that the text fits.
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
            // Naming rules limit names to 255 bytes; a longer type name is cut at a character
            // boundary.
            let room = if index == 2 { TEXT - text.len() } else { 255 };
            let end = (0..=part.len().min(room)).rev().find(|&end| part.is_char_boundary(end)).unwrap_or(0);
            text.extend_from_slice(&part.as_bytes()[..end]);
            lengths |= (end as u64) << (16 * index);
        }
        record.lengths.store(lengths, Ordering::Relaxed);
        store_text(&record.text, &text);
        let counters = record.counters.iter().chain(&record.histogram);
        let others = [&record.memory, &record.alive].into_iter().chain(&record.notes).chain(&record.spare);
        counters.chain(others).for_each(|word| word.store(0, Ordering::Relaxed));
    }

    /// T3: reads a record of a peer; `None` if the record has no current life. The names are
    /// [`printable`].
    pub(crate) fn load(record: &EndpointRecord, file: &str) -> Result<Option<(u64, Self)>, SegmentError> {
        let Some((generation, words)) = read_generation(&record.generation, || RecordWords::load(record))
        else {
            return Ok(None);
        };
        Ok(Some((generation, Self::understand(&words, file)?)))
    }

    /// Reads a record even if its life is over, for a caller that prevents the record from getting
    /// another one meanwhile.
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

/// Makes a name that another participant chose safe for a terminal or a log: no character of the
/// result controls a terminal, changes the order of characters, or is invisible.
pub(crate) fn printable(text: &str) -> String {
    let is_seen = |c: char| c.is_ascii_graphic() || c == ' ' || c.is_alphanumeric();
    text.replace(|c| !is_seen(c), "\u{fffd}")
}

/// The contents of a record, unchecked.
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

/// A snapshot of an entity's counters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    words: [u64; WORDS],
    /// Bytes of shared memory that the entity has for messages, besides its ring.
    pub memory: u64,
    /// Messages by latency: bucket i counts those from 2^i to 2^(i+1) nanoseconds; the last bucket
    /// also counts longer ones.
    pub latencies: [u64; BUCKETS],
}

impl Counts {
    pub(crate) fn load(record: &EndpointRecord) -> Self {
        let memory = record.memory.load(Ordering::Relaxed); // as the counters
        let mut counts = Self { memory, ..Self::default() };
        // Relaxed: each counter is independent.
        for (count, word) in counts.words.iter_mut().zip(&record.counters) {
            *count = word.load(Ordering::Relaxed);
        }
        for (count, word) in counts.latencies.iter_mut().zip(&record.histogram) {
            *count = word.load(Ordering::Relaxed);
        }
        counts
    }

    /// Returns one counter.
    pub fn get(&self, counter: Counter) -> u64 {
        self.words[counter as usize]
    }

    /// Returns a word of a [report](EndpointKind::Report) by its index; 0 if the report has fewer.
    pub fn word(&self, index: usize) -> u64 {
        self.words.get(index).copied().unwrap_or(0)
    }
}
