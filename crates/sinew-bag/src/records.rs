//! The records of an MCAP file, as <https://mcap.dev/spec> lays them out: taking them apart without
//! trusting any length.

use std::collections::BTreeMap;
use std::ops::Range;

/// The first and the last bytes of a file.
pub(crate) const MAGIC: [u8; 8] = *b"\x89MCAP0\r\n";
/// The place of the format's version in [`MAGIC`].
pub(crate) const MAGIC_VERSION: usize = 5;

/// An operation code and a length stand before each record.
const PREFIX: usize = 9;
/// Length of the footer's record, of which the summary's place is read.
pub(crate) const FOOTER: usize = PREFIX + 20;

pub(crate) mod op {
    pub(crate) const HEADER: u8 = 0x01;
    pub(crate) const FOOTER: u8 = 0x02;
    pub(crate) const SCHEMA: u8 = 0x03;
    pub(crate) const CHANNEL: u8 = 0x04;
    pub(crate) const MESSAGE: u8 = 0x05;
    pub(crate) const CHUNK: u8 = 0x06;
    pub(crate) const CHUNK_INDEX: u8 = 0x08;
    pub(crate) const ATTACHMENT: u8 = 0x09;
    pub(crate) const ATTACHMENT_INDEX: u8 = 0x0a;
    pub(crate) const STATISTICS: u8 = 0x0b;
    pub(crate) const METADATA: u8 = 0x0c;
    pub(crate) const METADATA_INDEX: u8 = 0x0d;
    pub(crate) const DATA_END: u8 = 0x0f;
}

/// A record's place in the bytes.
pub(crate) struct Record {
    pub(crate) op: u8,
    /// The place of its operation code.
    pub(crate) at: usize,
    /// Cut off at the end of the bytes if the record isn't whole.
    pub(crate) body: Range<usize>,
    pub(crate) is_whole: bool,
}

/// The records in a part of the bytes, one after the other. Ends after a record that isn't whole.
pub(crate) struct Records<'a> {
    bytes: &'a [u8],
    next: usize,
}

impl<'a> Records<'a> {
    pub(crate) fn new(bytes: &'a [u8], from: usize) -> Self {
        Self { bytes, next: from }
    }
}

impl Iterator for Records<'_> {
    type Item = Record;

    fn next(&mut self) -> Option<Record> {
        let (at, end) = (self.next, self.bytes.len());
        let mut prefix = Fields(self.bytes.get(at..).filter(|rest| !rest.is_empty())?);
        let (op, length) = (prefix.byte()?, prefix.u64());
        let begin = at.saturating_add(PREFIX).min(end);
        let whole = length
            .and_then(|length| begin.checked_add(usize::try_from(length).ok()?))
            .filter(|whole| *whole <= end);
        self.next = whole.unwrap_or(end);
        Some(Record { op, at, body: begin..self.next, is_whole: whole.is_some() })
    }
}

/// The fields of a record, in their order; `None` where the bytes end too early.
pub(crate) struct Fields<'a>(pub(crate) &'a [u8]);

impl<'a> Fields<'a> {
    pub(crate) fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    pub(crate) fn byte(&mut self) -> Option<u8> {
        self.array().map(u8::from_le_bytes)
    }

    pub(crate) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// Bytes behind their 32-bit length.
    fn sized(&mut self) -> Option<&'a [u8]> {
        let length = self.u32()?;
        self.take(usize::try_from(length).ok()?)
    }

    pub(crate) fn text(&mut self) -> Option<String> {
        String::from_utf8(self.sized()?.to_vec()).ok()
    }

    fn texts(&mut self) -> Option<BTreeMap<String, String>> {
        let mut inside = Fields(self.sized()?);
        let mut texts = BTreeMap::new();
        while !inside.0.is_empty() {
            texts.insert(inside.text()?, inside.text()?);
        }
        Some(texts)
    }

    /// A map of channels' numbers to numbers.
    fn numbers(&mut self) -> Option<BTreeMap<u16, u64>> {
        let mut inside = Fields(self.sized()?);
        let mut numbers = BTreeMap::new();
        while !inside.0.is_empty() {
            numbers.insert(inside.u16()?, inside.u64()?);
        }
        Some(numbers)
    }
}

/// The definition of a type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SchemaRecord {
    pub(crate) id: u16,
    pub(crate) name: String,
    pub(crate) encoding: String,
    pub(crate) data: Vec<u8>,
}

impl SchemaRecord {
    pub(crate) fn read(body: &[u8]) -> Option<Self> {
        let mut fields = Fields(body);
        let (id, name, encoding) = (fields.u16()?, fields.text()?, fields.text()?);
        Some(Self { id, name, encoding, data: fields.sized()?.to_vec() })
    }
}

/// A topic of one type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChannelRecord {
    pub(crate) id: u16,
    /// 0 for none.
    pub(crate) schema: u16,
    pub(crate) topic: String,
    pub(crate) encoding: String,
    pub(crate) metadata: BTreeMap<String, String>,
}

impl ChannelRecord {
    pub(crate) fn read(body: &[u8]) -> Option<Self> {
        let mut fields = Fields(body);
        let (id, schema) = (fields.u16()?, fields.u16()?);
        let (topic, encoding) = (fields.text()?, fields.text()?);
        Some(Self { id, schema, topic, encoding, metadata: fields.texts()? })
    }
}

/// A message, without its bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MessageHeader {
    pub(crate) channel: u16,
    pub(crate) sequence: u32,
    /// The time at which it was received, in nanoseconds.
    pub(crate) log_time: u64,
    /// The time at which it was sent, in nanoseconds.
    pub(crate) publish_time: u64,
}

impl MessageHeader {
    pub(crate) const LENGTH: usize = 22;

    pub(crate) fn read(body: &[u8]) -> Option<Self> {
        let mut fields = Fields(body);
        let (channel, sequence) = (fields.u16()?, fields.u32()?);
        Some(Self { channel, sequence, log_time: fields.u64()?, publish_time: fields.u64()? })
    }
}

/// A chunk, without its records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChunkHeader {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// Length of its records in bytes once they are uncompressed. A writer that was killed has not
    /// filled it in.
    pub(crate) uncompressed: u64,
    /// 0 for none.
    pub(crate) crc: u32,
    pub(crate) compression: String,
    /// The place in the body at which its records begin.
    pub(crate) records: usize,
}

impl ChunkHeader {
    pub(crate) fn read(body: &[u8]) -> Option<Self> {
        let mut fields = Fields(body);
        let (start, end, uncompressed) = (fields.u64()?, fields.u64()?, fields.u64()?);
        let (crc, compression) = (fields.u32()?, fields.text()?);
        let _compressed = fields.u64()?; // the rest of the record
        Some(Self { start, end, uncompressed, crc, compression, records: body.len() - fields.0.len() })
    }
}

/// A chunk's entry in the summary.
pub(crate) struct ChunkIndex {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) at: u64,
    /// The channels with messages in the chunk; empty if the file has no message indexes.
    pub(crate) channels: Box<[u16]>,
    pub(crate) compression: String,
}

impl ChunkIndex {
    pub(crate) fn read(body: &[u8]) -> Option<Self> {
        let mut fields = Fields(body);
        let (start, end, at, _length) = (fields.u64()?, fields.u64()?, fields.u64()?, fields.u64()?);
        let channels = fields.numbers()?.into_keys().collect();
        let _index_length = fields.u64()?;
        Some(Self { start, end, at, channels, compression: fields.text()? })
    }
}

/// The summary's statistics.
pub(crate) struct Statistics {
    pub(crate) messages: u64,
    pub(crate) schemas: u16,
    pub(crate) channels: u32,
    pub(crate) attachments: u32,
    pub(crate) metadata: u32,
    pub(crate) chunks: u32,
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) by_channel: BTreeMap<u16, u64>,
}

impl Statistics {
    pub(crate) fn read(body: &[u8]) -> Option<Self> {
        let mut fields = Fields(body);
        let messages = fields.u64()?;
        let (schemas, channels) = (fields.u16()?, fields.u32()?);
        let (attachments, metadata) = (fields.u32()?, fields.u32()?);
        let (chunks, start, end) = (fields.u32()?, fields.u64()?, fields.u64()?);
        Some(Self {
            messages,
            schemas,
            channels,
            attachments,
            metadata,
            chunks,
            start,
            end,
            by_channel: fields.numbers()?,
        })
    }
}

/// Reads a metadata record: its name and its texts.
pub(crate) fn metadata(body: &[u8]) -> Option<(String, BTreeMap<String, String>)> {
    let mut fields = Fields(body);
    Some((fields.text()?, fields.texts()?))
}

/// An attachment, without its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AttachmentRecord {
    pub(crate) logged: u64,
    pub(crate) created: u64,
    pub(crate) name: String,
    pub(crate) media_type: String,
    /// The place of its bytes in the body. The checksum covers everything up to their end.
    pub(crate) data: Range<usize>,
    /// 0 for none.
    pub(crate) crc: u32,
}

impl AttachmentRecord {
    pub(crate) fn read(body: &[u8]) -> Option<Self> {
        let mut fields = Fields(body);
        let (logged, created) = (fields.u64()?, fields.u64()?);
        let (name, media_type) = (fields.text()?, fields.text()?);
        let length = usize::try_from(fields.u64()?).ok()?;
        let begin = body.len() - fields.0.len();
        fields.take(length)?;
        let data = begin..begin + length;
        Some(Self { logged, created, name, media_type, data, crc: fields.u32()? })
    }

    /// Compares the body with the checksum.
    pub(crate) fn is_sound(&self, body: &[u8]) -> bool {
        self.crc == 0 || crc32fast::hash(&body[..self.data.end]) == self.crc
    }
}

/// Reads the place of an attachment or a metadata record from its entry in the summary.
pub(crate) fn indexed_place(body: &[u8]) -> Option<usize> {
    usize::try_from(Fields(body).u64()?).ok()
}
