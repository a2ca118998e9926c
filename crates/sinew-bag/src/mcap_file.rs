//! An MCAP file: its channels and the pieces of its messages, from its summary or, if it has none
//! that can be used, from a scan of all its records.

use crate::attachment::{Attachment, Checksum, MetadataRecord, wrong_checksum};
use crate::error::BagError;
use crate::mapped::Mapped;
use crate::metadata::ROSBAG2;
use crate::piece::{self, Backing, MessageBytes, Piece, Place};
use crate::records::{
    AttachmentRecord, ChannelRecord, ChunkHeader, ChunkIndex, FOOTER, Fields, MAGIC, MAGIC_VERSION,
    MessageHeader, Record, Records, SchemaRecord, Statistics, indexed_place, metadata, op,
};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bytes of messages outside chunks that are one piece.
const PLAIN_PIECE: usize = 1 << 20;

/// A file that is open.
#[derive(Debug)]
pub(crate) struct McapFile {
    pub(crate) path: PathBuf,
    pub(crate) bytes: Arc<Backing>,
    pub(crate) index: Index,
}

/// The places of everything in a file.
#[derive(Debug, Default)]
pub(crate) struct Index {
    pub(crate) profile: String,
    pub(crate) library: String,
    pub(crate) schemas: BTreeMap<u16, SchemaRecord>,
    pub(crate) channels: BTreeMap<u16, ChannelRecord>,
    /// Messages by channel.
    pub(crate) counts: BTreeMap<u16, u64>,
    /// Times of the first and the last message.
    pub(crate) bounds: Option<(u64, u64)>,
    /// By time of their first messages.
    pub(crate) pieces: Vec<Piece>,
    pub(crate) compressions: BTreeSet<String>,
    /// The places of the attachments' records.
    pub(crate) attachments: BTreeSet<usize>,
    /// The places of the metadata records.
    pub(crate) metadata: BTreeSet<usize>,
    /// The last metadata record of rosbag2.
    pub(crate) rosbag2: Option<BTreeMap<String, String>>,
    /// The index comes from the file's summary, not from a scan.
    pub(crate) is_from_summary: bool,
    /// Damage, by place.
    pub(crate) problems: Vec<(u64, String)>,
}

impl McapFile {
    /// Opens the file at `place`, which errors call `path`.
    pub(crate) fn open(place: &Path, path: &Path) -> Result<Self, BagError> {
        let file = Mapped::open(place).map_err(BagError::file("open", path))?;
        check_magic(&file, path)?;
        let bytes = Arc::new(Backing::Mapped(file));
        let index = from_summary(&bytes).unwrap_or_else(|| scan(&bytes));
        Ok(Self { path: path.to_owned(), bytes, index })
    }

    pub(crate) fn damaged(&self, at: u64, problem: String) -> BagError {
        BagError::Damaged { path: self.path.clone(), at, problem }
    }

    pub(crate) fn message_count(&self) -> u64 {
        total(&self.index.counts)
    }

    /// Returns whether the chunks of the index are those that a scan has found. The index may name
    /// more channels of a chunk, and chunks without messages.
    pub(crate) fn has_chunks_of(&self, scanned: &Index) -> bool {
        let begin = |piece: &Piece| piece.place.begin();
        let known: BTreeMap<usize, &Piece> =
            self.index.pieces.iter().map(|piece| (begin(piece), piece)).collect();
        let is_known = |found: &Piece| {
            let Some(known) = known.get(&begin(found)) else { return false };
            let has = |channel: &u16| known.channels.as_ref().is_none_or(|all| all.contains(channel));
            (known.start, known.end) == (found.start, found.end) && found.channels.iter().flatten().all(has)
        };
        known.len() == self.index.pieces.len()
            && known.keys().all(|at| body_at(&self.bytes, *at, op::CHUNK).is_some())
            && scanned.pieces.iter().all(is_known)
    }

    /// Reads the attachments, without their bytes.
    pub(crate) fn attachments(&self) -> Vec<Attachment> {
        let read = |at: &usize| {
            let body = body_at(&self.bytes, *at, op::ATTACHMENT)?;
            let record = AttachmentRecord::read(&self.bytes[body.clone()])?;
            let part = |from, to| MessageBytes::new(&self.bytes, body.start + from..body.start + to);
            let checksum = Checksum {
                path: self.path.clone(),
                at: *at as u64,
                crc: record.crc,
                covered: part(0, record.data.end),
            };
            Some(Attachment {
                name: record.name,
                media_type: record.media_type,
                logged: record.logged,
                created: record.created,
                bytes: part(record.data.start, record.data.end),
                checksum: Some(checksum).filter(|checksum| checksum.crc != 0),
            })
        };
        self.index.attachments.iter().filter_map(read).collect()
    }

    /// Reads the metadata records.
    pub(crate) fn metadata_records(&self) -> impl Iterator<Item = MetadataRecord> {
        self.index.metadata.iter().filter_map(|at| {
            let body = body_at(&self.bytes, *at, op::METADATA)?;
            let (name, texts) = metadata(&self.bytes[body])?;
            Some(MetadataRecord { name, texts })
        })
    }
}

/// Returns the body of the record at a place, if it is of that kind and whole.
fn body_at(bytes: &[u8], at: usize, op: u8) -> Option<Range<usize>> {
    let record = Records::new(bytes, at).next()?;
    (record.op == op && record.is_whole).then_some(record.body)
}

/// Adds counts, which a damaged file may have chosen.
fn total(counts: &BTreeMap<u16, u64>) -> u64 {
    counts.values().fold(0, |sum, count| sum.saturating_add(*count))
}

fn check_magic(bytes: &[u8], path: &Path) -> Result<(), BagError> {
    // A writer that was killed at once has left less than the magic.
    let begin = &bytes[..bytes.len().min(MAGIC.len())];
    if MAGIC.starts_with(begin) {
        return Ok(());
    }
    let mut newer = MAGIC;
    newer[MAGIC_VERSION] = begin.get(MAGIC_VERSION).copied().unwrap_or_default();
    if newer.starts_with(begin) && newer[MAGIC_VERSION].is_ascii_digit() {
        return Err(BagError::Version {
            path: path.to_owned(),
            what: "format MCAP",
            version: char::from(newer[MAGIC_VERSION]).to_string(),
            known: "0".to_owned(),
        });
    }
    let why = if begin.starts_with(b"#ROSBAG") {
        "it is a bag of ROS 1"
    } else {
        "it begins neither as an MCAP file nor as a database of SQLite does"
    };
    Err(BagError::NotABag { path: path.to_owned(), why })
}

impl Index {
    fn add_schema(&mut self, body: &[u8]) -> Option<()> {
        let schema = SchemaRecord::read(body)?;
        self.schemas.insert(schema.id, schema);
        Some(())
    }

    fn add_channel(&mut self, body: &[u8]) -> Option<()> {
        let channel = ChannelRecord::read(body)?;
        self.channels.insert(channel.id, channel);
        Some(())
    }

    fn add_header(&mut self, body: &[u8]) -> Option<()> {
        let mut fields = Fields(body);
        (self.profile, self.library) = (fields.text()?, fields.text()?);
        Some(())
    }

    fn add_attachment(&mut self, at: usize, body: &[u8]) -> Option<AttachmentRecord> {
        let record = AttachmentRecord::read(body)?;
        self.attachments.insert(at);
        Some(record)
    }

    fn add_metadata(&mut self, at: usize, body: &[u8]) -> Option<()> {
        let (name, texts) = metadata(body)?;
        self.metadata.insert(at);
        if name == ROSBAG2 {
            self.rosbag2 = Some(texts);
        }
        Some(())
    }

    fn count(&mut self, header: &MessageHeader) {
        *self.counts.entry(header.channel).or_default() += 1;
        self.extend(header.log_time, header.log_time);
    }

    fn extend(&mut self, start: u64, end: u64) {
        self.bounds = Some(self.bounds.map_or((start, end), |(from, to)| (from.min(start), to.max(end))));
    }

    fn problem(&mut self, at: usize, problem: impl Into<String>) {
        self.problems.push((at as u64, problem.into()));
    }
}

/// Reads the summary; `None` if there is none, or if it lacks something.
fn from_summary(bytes: &Backing) -> Option<Index> {
    let before_magic = bytes.len().checked_sub(MAGIC.len()).filter(|_| bytes.ends_with(&MAGIC))?;
    let footer = before_magic.checked_sub(FOOTER).filter(|at| *at >= MAGIC.len())?;
    let record = Records::new(&bytes[..before_magic], footer).next()?;
    if record.op != op::FOOTER || !record.is_whole {
        return None;
    }
    let mut fields = Fields(&bytes[record.body]);
    let (begin, _offsets, crc) = (fields.u64()?, fields.u64()?, fields.u32()?);
    let begin = usize::try_from(begin).ok()?;
    if begin == 0 || begin > footer {
        return None;
    }
    // It covers everything up to itself, the beginning of the footer included.
    if piece::is_wrong(crc, &bytes[begin..footer + FOOTER - size_of::<u32>()]) {
        return None;
    }
    let mut index = Index { is_from_summary: true, ..Index::default() };
    let header = Records::new(bytes, MAGIC.len()).next()?;
    index.add_header(&bytes[header.body])?;
    let mut statistics = None;
    let summary = &bytes[..footer];
    for record in Records::new(summary, begin) {
        let body = summary.get(record.body).filter(|_| record.is_whole)?;
        match record.op {
            op::SCHEMA => index.add_schema(body)?,
            op::CHANNEL => index.add_channel(body)?,
            op::STATISTICS => statistics = Some(Statistics::read(body)?),
            op::CHUNK_INDEX => index.add_chunk(ChunkIndex::read(body)?)?,
            op::ATTACHMENT_INDEX => {
                let at = indexed_place(body)?;
                let body = body_at(bytes, at, op::ATTACHMENT)?;
                index.add_attachment(at, &bytes[body])?;
            }
            op::METADATA_INDEX => {
                let at = indexed_place(body)?;
                let body = body_at(bytes, at, op::METADATA)?;
                index.add_metadata(at, &bytes[body])?;
            }
            _ => {}
        }
    }
    let statistics = statistics?;
    let indexed = (index.attachments.len(), index.metadata.len());
    if (u32::try_from(indexed.0), u32::try_from(indexed.1))
        != (Ok(statistics.attachments), Ok(statistics.metadata))
    {
        index.walk(bytes);
    }
    index.complete(statistics)
}

impl Index {
    fn add_chunk(&mut self, chunk: ChunkIndex) -> Option<()> {
        self.compressions.insert(chunk.compression);
        self.pieces.push(Piece {
            start: chunk.start,
            end: chunk.end,
            place: Place::Chunk(usize::try_from(chunk.at).ok()?),
            channels: Some(chunk.channels).filter(|channels| !channels.is_empty()),
        });
        Some(())
    }

    /// Finds the attachments and metadata records that a summary without their index counts. Passes
    /// over all other records without reading them.
    fn walk(&mut self, bytes: &[u8]) {
        for record in Records::new(bytes, MAGIC.len()).take_while(|record| record.op != op::DATA_END) {
            let body = &bytes[record.body.clone()];
            match record.op {
                op::ATTACHMENT if record.is_whole => drop(self.add_attachment(record.at, body)),
                op::METADATA if record.is_whole => drop(self.add_metadata(record.at, body)),
                _ => {}
            }
        }
    }

    /// Checks that the summary has all that reading needs.
    fn complete(mut self, statistics: Statistics) -> Option<Self> {
        let Statistics { messages, schemas, channels, chunks, start, end, by_channel, .. } = statistics;
        let has_all_chunks = self.pieces.len() == usize::try_from(chunks).ok()?;
        let has_messages_outside = messages > 0 && chunks == 0;
        let has_times = start <= end;
        let has_counts = total(&by_channel) == messages;
        // Some writers leave channels or schemas out of the summary.
        let has_channels = self.channels.len() == usize::try_from(channels).ok()?
            && by_channel.keys().all(|id| self.channels.contains_key(id));
        let has_schemas = self.schemas.len() == usize::from(schemas);
        if !has_all_chunks
            || has_messages_outside
            || !has_times
            || !has_counts
            || !has_channels
            || !has_schemas
        {
            return None;
        }
        self.counts = by_channel;
        self.bounds = (messages > 0).then_some((start, end));
        self.pieces.sort_by_key(|piece| piece.start);
        Some(self)
    }
}

/// Reads all records of a file, and finds its damage.
pub(crate) fn scan(bytes: &Arc<Backing>) -> Index {
    let mut scan = Scan { index: Index::default(), bytes, plain: None };
    let has_end = scan.records();
    scan.end_plain();
    let mut index = scan.index;
    let unknown: Vec<u16> =
        index.counts.keys().copied().filter(|id| !index.channels.contains_key(id)).collect();
    for id in unknown {
        let lost = index.counts.remove(&id).unwrap_or_default();
        index.problem(0, format!("{lost} messages are on channel {id}, which the file doesn't describe"));
    }
    if !has_end && index.problems.is_empty() {
        index
            .problem(bytes.len(), "the file has no end: it is still being written, or its writer was killed");
    }
    index.pieces.sort_by_key(|piece| piece.start);
    index
}

struct Scan<'a> {
    index: Index,
    bytes: &'a Arc<Backing>,
    /// The piece of messages outside chunks that is growing.
    plain: Option<Piece>,
}

impl Scan<'_> {
    /// Reads up to the end of the data; returns whether it is there.
    fn records(&mut self) -> bool {
        let bytes = self.bytes.clone();
        for record in Records::new(&bytes, MAGIC.len()) {
            if record.op == op::CHUNK {
                self.chunk(&record);
            }
            if !record.is_whole {
                if record.op != op::CHUNK {
                    self.index.problem(record.at, "the file ends inside a record");
                }
                return false;
            }
            let body = &bytes[record.body.clone()];
            let read = match record.op {
                op::DATA_END | op::FOOTER => return true,
                op::HEADER => self.index.add_header(body),
                op::MESSAGE => self.plain_message(&record, body),
                op::METADATA => self.index.add_metadata(record.at, body),
                op::ATTACHMENT => self.attachment(record.at, body),
                op::SCHEMA => self.index.add_schema(body),
                op::CHANNEL => self.index.add_channel(body),
                _ => Some(()),
            };
            if read.is_none() {
                self.index.problem(record.at, format!("a record of kind {} can't be read", record.op));
            }
        }
        false
    }

    fn attachment(&mut self, at: usize, body: &[u8]) -> Option<()> {
        let record = self.index.add_attachment(at, body)?;
        if !record.is_sound(body) {
            self.index.problem(at, wrong_checksum(&record.name));
        }
        Some(())
    }

    fn chunk(&mut self, record: &Record) {
        self.end_plain();
        let place = Place::Chunk(record.at);
        let content = piece::read(self.bytes, &place);
        if let Some(header) = ChunkHeader::read(&self.bytes[record.body.clone()]) {
            self.index.compressions.insert(header.compression);
        }
        let mut bounds = None;
        let mut channels = BTreeSet::new();
        for record in Records::new(content.bytes(), 0).filter(|record| record.is_whole) {
            let body = &content.bytes()[record.body.clone()];
            let read = match record.op {
                op::SCHEMA => self.index.add_schema(body),
                op::CHANNEL => self.index.add_channel(body),
                op::MESSAGE => MessageHeader::read(body).map(|header| {
                    self.index.count(&header);
                    channels.insert(header.channel);
                    let time = header.log_time;
                    bounds = Some(
                        bounds.map_or((time, time), |(from, to): (u64, u64)| (from.min(time), to.max(time))),
                    );
                }),
                _ => Some(()),
            };
            if read.is_none() {
                let at = self.bytes.len().min(place.begin());
                self.index.problem(at, format!("a record of kind {} in a chunk can't be read", record.op));
            }
        }
        if let Some(problem) = content.problem {
            self.index.problem(record.at, problem);
        }
        if let Some((start, end)) = bounds {
            self.index.pieces.push(Piece {
                start,
                end,
                place,
                channels: Some(channels.into_iter().collect()),
            });
        }
    }

    fn plain_message(&mut self, record: &Record, body: &[u8]) -> Option<()> {
        let header = MessageHeader::read(body)?;
        self.index.count(&header);
        let time = header.log_time;
        let piece = self.plain.get_or_insert(Piece {
            start: time,
            end: time,
            place: Place::Plain(record.at..record.at),
            channels: None,
        });
        (piece.start, piece.end) = (piece.start.min(time), piece.end.max(time));
        let begin = piece.place.begin();
        piece.place = Place::Plain(begin..record.body.end);
        if record.body.end - begin >= PLAIN_PIECE {
            self.end_plain();
        }
        Some(())
    }

    fn end_plain(&mut self) {
        self.index.pieces.extend(self.plain.take());
    }
}
