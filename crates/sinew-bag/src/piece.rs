//! A part of a file that is read at once: a chunk, or some of the messages outside chunks.

use crate::mapped::Mapped;
use crate::records::{ChunkHeader, MessageHeader, Record, Records, op};
use std::fmt;
use std::io::Read;
use std::ops::{Deref, Range};
use std::sync::Arc;

/// Most bytes that a compressed chunk or message may have when it is uncompressed, so that a
/// damaged file can't use up all memory. (Writers end a chunk at some MiB, or after one larger
/// message.)
pub(crate) const MAX_UNCOMPRESSED: u64 = 4 << 30;

/// A piece's place and contents.
#[derive(Debug, Clone)]
pub(crate) struct Piece {
    /// Times of its first and its last message.
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) place: Place,
    /// The channels with messages in it; `None` if that isn't known.
    pub(crate) channels: Option<Box<[u16]>>,
}

#[derive(Debug, Clone)]
pub(crate) enum Place {
    /// The record of a chunk begins here.
    Chunk(usize),
    /// Records outside chunks.
    Plain(Range<usize>),
}

impl Place {
    pub(crate) fn begin(&self) -> usize {
        match self {
            Self::Chunk(at) => *at,
            Self::Plain(range) => range.start,
        }
    }
}

/// The encoded form of a message, or the content of an attachment. Cheap to clone: the bytes stay
/// in the mapped file, or in an uncompressed chunk, which exists as long as one of its messages is
/// held.
#[derive(Clone)]
pub struct MessageBytes {
    backing: Arc<Backing>,
    range: Range<usize>,
}

#[derive(Debug)]
pub(crate) enum Backing {
    Mapped(Mapped),
    Uncompressed(Vec<u8>),
}

impl MessageBytes {
    /// `range` lies in `backing`.
    pub(crate) fn new(backing: &Arc<Backing>, range: Range<usize>) -> Self {
        Self { backing: backing.clone(), range }
    }
}

impl From<Vec<u8>> for MessageBytes {
    fn from(bytes: Vec<u8>) -> Self {
        let range = 0..bytes.len();
        Self { backing: Arc::new(Backing::Uncompressed(bytes)), range }
    }
}

impl Deref for Backing {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Mapped(file) => file,
            Self::Uncompressed(bytes) => bytes,
        }
    }
}

impl Deref for MessageBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.backing[self.range.clone()]
    }
}

impl AsRef<[u8]> for MessageBytes {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl fmt::Debug for MessageBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.len())
    }
}

/// The records of a piece, uncompressed.
#[derive(Debug)]
pub(crate) struct Content {
    backing: Arc<Backing>,
    range: Range<usize>,
    /// The first problem; the records before it are there.
    pub(crate) problem: Option<String>,
}

impl Content {
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.backing[self.range.clone()]
    }

    /// Returns the bytes of the message with this body among the records.
    pub(crate) fn message(&self, body: &Range<usize>) -> MessageBytes {
        let begin = self.range.start;
        MessageBytes::new(&self.backing, begin + body.start + MessageHeader::LENGTH..begin + body.end)
    }

    /// Returns its messages: headers and places of their bodies. Records that aren't whole are left
    /// out.
    pub(crate) fn messages(&self) -> impl Iterator<Item = (MessageHeader, Range<usize>)> {
        let bytes = self.bytes();
        Records::new(bytes, 0)
            .filter(|record| record.op == op::MESSAGE && record.is_whole)
            .filter_map(move |record| Some((MessageHeader::read(&bytes[record.body.clone()])?, record.body)))
    }
}

/// Reads a piece. A piece with a problem has the records before it, if there are any.
pub(crate) fn read(file: &Arc<Backing>, place: &Place) -> Content {
    let nothing = |problem: String| Content { backing: file.clone(), range: 0..0, problem: Some(problem) };
    match place {
        Place::Plain(range) => Content { backing: file.clone(), range: range.clone(), problem: None },
        Place::Chunk(at) => match Records::new(file, *at).next() {
            Some(record) if record.op == op::CHUNK => read_chunk(file, &record),
            _ => nothing("the index names a chunk where there is none".to_owned()),
        },
    }
}

/// Reads a chunk. If it isn't compressed, its records stay where they are, and those of a chunk
/// that the file's end cuts off can be read as well.
fn read_chunk(file: &Arc<Backing>, record: &Record) -> Content {
    let content = |range, problem| Content { backing: file.clone(), range, problem };
    let Some(header) = ChunkHeader::read(&file[record.body.clone()]) else {
        return content(0..0, Some("the header of a chunk isn't whole".to_owned()));
    };
    let cut = || "the file ends inside a chunk".to_owned();
    let range = record.body.start + header.records..record.body.end;
    let uncompressed = match header.compression.as_str() {
        "" => {
            let problem = if !record.is_whole {
                Some(cut())
            } else if is_wrong(header.crc, &file[range.clone()]) {
                Some("the checksum of a chunk is wrong".to_owned())
            } else {
                None
            };
            return content(range, problem);
        }
        "zstd" => zstd::Decoder::new(&file[range]).and_then(|from| uncompress(from, &header)),
        "lz4" => lz4::Decoder::new(&file[range]).and_then(|from| uncompress(from, &header)),
        other => return content(0..0, Some(format!("the compression `{other}` of a chunk is unknown"))),
    };
    let (bytes, problem) = match uncompressed {
        Ok(bytes) if bytes.len() as u64 == header.uncompressed => {
            let is_wrong = is_wrong(header.crc, &bytes);
            (bytes, is_wrong.then(|| "the checksum of a chunk is wrong".to_owned()))
        }
        Ok(bytes) if record.is_whole => (bytes, Some("a chunk has another length than it says".to_owned())),
        Ok(bytes) => (bytes, Some(cut())),
        Err(error) => (Vec::new(), Some(format!("a chunk can't be uncompressed: {error}"))),
    };
    let range = 0..bytes.len();
    Content { backing: Arc::new(Backing::Uncompressed(bytes)), range, problem }
}

/// Uncompresses as much as there is, or somewhat more than the chunk says; the length is checked by
/// the caller.
fn uncompress(mut from: impl Read, header: &ChunkHeader) -> std::io::Result<Vec<u8>> {
    let most = header.uncompressed.min(MAX_UNCOMPRESSED);
    let mut bytes = Vec::with_capacity(usize::try_from(most).unwrap_or(0).min(1 << 24));
    let mut buffer = vec![0; 1 << 16];
    while bytes.len() as u64 <= most {
        match from.read(&mut buffer) {
            Ok(0) => break,
            Ok(length) => bytes.extend_from_slice(&buffer[..length]),
            Err(error) if bytes.is_empty() => return Err(error),
            // The end is missing or wrong; the beginning is worth having.
            Err(_) => break,
        }
    }
    Ok(bytes)
}

/// Returns whether a checksum is another one than that of the bytes; 0 stands for none.
pub(crate) fn is_wrong(crc: u32, bytes: &[u8]) -> bool {
    crc != 0 && crc32fast::hash(bytes) != crc
}
