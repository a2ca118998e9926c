//! The messages of one MCAP file in the order of time.

use crate::attachment::{Attachment, MetadataRecord, is_own};
use crate::error::BagError;
use crate::mcap_file::{self, Index, McapFile};
use crate::message::Stamps;
use crate::metadata::{BagMetadata, LOSSES};
use crate::piece::{self, Content, Piece};
use crate::qos_yaml;
use crate::records::{ChannelRecord, MessageHeader};
use crate::schema::Schema;
use crate::stored_file::{BagFile, FileCursor, Found, Last, Step, StoredFile, Wanted};
use crate::topic::{self, BagTopic};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

impl StoredFile for Arc<McapFile> {
    fn about(&self) -> BagFile {
        let names: Vec<&str> =
            self.index.compressions.iter().filter(|name| !name.is_empty()).map(String::as_str).collect();
        BagFile {
            path: self.path.clone(),
            storage: "mcap",
            size: self.bytes.len() as u64,
            message_count: self.message_count(),
            times: self.index.bounds,
            compression: names.join(", "),
            has_summary: self.index.is_from_summary,
            attachments: u32::try_from(self.index.attachments.len()).unwrap_or(u32::MAX),
            library: self.index.library.clone(),
        }
    }

    fn topics(&self) -> Vec<(usize, BagTopic)> {
        let topic = |channel: &ChannelRecord| (usize::from(channel.id), topic_of(channel, &self.index));
        self.index.channels.values().map(topic).collect()
    }

    fn metadata(&self) -> Option<BagMetadata> {
        let text = self.index.rosbag2.as_ref()?.get("serialized_metadata")?;
        BagMetadata::from_yaml(text, &self.path).ok()
    }

    fn attachments(&self) -> Vec<Attachment> {
        McapFile::attachments(self)
    }

    fn metadata_records(&self) -> Vec<MetadataRecord> {
        McapFile::metadata_records(self).filter(|record| !is_own(&record.name)).collect()
    }

    /// Takes the record of losses; a file of an older version has them in rosbag2's only.
    fn losses(&self) -> BTreeMap<String, u64> {
        let record = McapFile::metadata_records(self).filter(|record| record.name == LOSSES).last();
        match record {
            Some(record) => record
                .texts
                .into_iter()
                .filter_map(|(topic, count)| Some((topic, count.parse().ok()?)))
                .collect(),
            None => BagMetadata::losses_of(self.metadata().as_ref()),
        }
    }

    fn problems(&self) -> Vec<BagError> {
        self.index.problems.iter().map(|(at, problem)| self.damaged(*at, problem.clone())).collect()
    }

    fn check(&self) -> Vec<BagError> {
        let scanned = mcap_file::scan(&self.bytes);
        let found = scanned.problems.iter().map(|(at, problem)| self.damaged(*at, problem.clone()));
        let mut problems: Vec<BagError> = found.collect();
        let end = self.bytes.len() as u64;
        if !self.index.is_from_summary {
            let problem = "it has no summary that can be used: `reindex` makes one".to_owned();
            problems.push(self.damaged(end, problem));
        } else if self.index.counts.iter().filter(|(_, count)| **count > 0).ne(&scanned.counts) {
            problems.push(self.damaged(end, "its summary counts other messages than it has".to_owned()));
        } else if !self.has_chunks_of(&scanned) {
            problems.push(self.damaged(end, "its summary describes other chunks than it has".to_owned()));
        }
        problems
    }

    fn cursor(&self, topics: Vec<Option<usize>>) -> Box<dyn FileCursor> {
        Box::new(McapCursor::new(self.clone(), topics))
    }

    /// Reads only pieces with messages of these topics, as far as the file says which these are.
    fn latest(
        &self,
        topics: &[Option<usize>],
        wanted: &[usize],
        Last { count, before }: Last,
        problems: &mut Vec<BagError>,
    ) -> Vec<Found> {
        let wanted_of = |channel: u16| {
            let topic = topics.get(usize::from(channel)).copied().flatten();
            topic.filter(|topic| wanted.contains(topic))
        };
        let has_wanted = |piece: &&Piece| {
            let channels = piece.channels.as_ref();
            piece.start < before
                && channels.is_none_or(|all| all.iter().any(|channel| wanted_of(*channel).is_some()))
        };
        let mut pieces: Vec<&Piece> = self.index.pieces.iter().filter(has_wanted).collect();
        pieces.sort_by_key(|piece| piece.end);
        // By time, then in the order of the file.
        let mut found: Vec<((u64, usize), Found)> = Vec::new();
        for piece in pieces.into_iter().rev() {
            let is_complete = found.len() >= count;
            if is_complete && found.first().is_none_or(|((time, _), _)| piece.end < *time) {
                break;
            }
            let mut content = piece::read(&self.bytes, &piece.place);
            // Otherwise it is read again from that time on.
            if let Some(problem) = content.problem.take().filter(|_| piece.end < before) {
                problems.push(self.damaged(piece.place.begin() as u64, problem));
            }
            for (header, body) in content.messages().filter(|(header, _)| header.log_time < before) {
                if let Some(topic) = wanted_of(header.channel) {
                    let place = (header.log_time, piece.place.begin().saturating_add(body.start));
                    found.push((place, (Stamps::of(&header), topic, content.message(&body))));
                }
            }
            found.sort_by_key(|(place, _)| *place);
            found.drain(..found.len().saturating_sub(count));
        }
        found.into_iter().map(|(_, message)| message).collect()
    }
}

fn topic_of(channel: &ChannelRecord, index: &Index) -> BagTopic {
    let schema = index.schemas.get(&channel.schema);
    let metadata = |key| channel.metadata.get(key).map(String::as_str).unwrap_or_default();
    let type_name = schema.map_or("", |schema| &schema.name);
    let mut found = BagTopic::new(channel.topic.clone(), type_name, channel.encoding.clone());
    found.schema = schema.filter(|schema| !schema.encoding.is_empty()).map(|schema| Schema {
        encoding: schema.encoding.clone(),
        text: String::from_utf8_lossy(&schema.data).into_owned(),
    });
    found.qos = qos_yaml::read_text(metadata(topic::QOS)).unwrap_or_default();
    found.type_hash = metadata(topic::HASH).parse().ok();
    found.message_count = index.counts.get(&channel.id).copied().unwrap_or_default();
    found
}

/// A place in a file, between two messages. Holds the pieces with messages around that time.
#[derive(Debug)]
pub(crate) struct McapCursor {
    file: Arc<McapFile>,
    /// The topic of each channel of the file, by the channel's number.
    topics: Vec<Option<usize>>,
    next_piece: usize,
    open: Vec<Open>,
}

/// A piece with messages that are still to come.
#[derive(Debug)]
struct Open {
    /// Its place in the file, which orders messages of equal times.
    begin: usize,
    content: Content,
    /// The wanted ones, the next one last.
    messages: Vec<(MessageHeader, usize, Range<usize>)>,
}

impl FileCursor for McapCursor {
    fn rewind(&mut self) {
        self.next_piece = 0;
        self.open.clear();
    }

    /// Passes over pieces without wanted messages.
    fn bound(&mut self, wanted: &Wanted) -> Option<u64> {
        let file = self.file.clone();
        let pieces = &file.index.pieces;
        while let Some(piece) = pieces.get(self.next_piece) {
            let is_wanted = |channel: &u16| self.topic(*channel, wanted).is_some();
            let has_wanted = piece.channels.as_ref().is_none_or(|channels| channels.iter().any(is_wanted));
            if has_wanted && piece.end >= wanted.from && piece.start < wanted.until {
                break;
            }
            self.next_piece += 1;
        }
        let of_piece = pieces.get(self.next_piece).map(|piece| piece.start.max(wanted.from));
        of_piece.into_iter().chain(self.first().map(|(_, time)| time)).min()
    }

    fn step(&mut self, wanted: &Wanted) -> Step {
        let first = self.first();
        let next = self.file.index.pieces.get(self.next_piece);
        match (first, next) {
            (Some((place, time)), next) if next.is_none_or(|piece| piece.start.max(wanted.from) > time) => {
                self.take(place)
            }
            (_, Some(_)) => self.read(wanted),
            _ => Step::Read,
        }
    }
}

impl McapCursor {
    /// `topics` has the topic of each channel.
    pub(crate) fn new(file: Arc<McapFile>, topics: Vec<Option<usize>>) -> Self {
        Self { file, topics, next_piece: 0, open: Vec::new() }
    }

    /// Returns the open piece with the earliest message, and its time. Of equal times the message
    /// that was written first wins.
    fn first(&self) -> Option<(usize, u64)> {
        let heads = self.open.iter().enumerate();
        let times =
            heads.filter_map(|(place, open)| Some((open.messages.last()?.0.log_time, open.begin, place)));
        times.min().map(|(time, _, place)| (place, time))
    }

    fn take(&mut self, place: usize) -> Step {
        let open = &mut self.open[place];
        let Some((header, topic, body)) = open.messages.pop() else { return Step::Read };
        let bytes = open.content.message(&body);
        if open.messages.is_empty() {
            self.open.remove(place);
        }
        Step::Message(Stamps::of(&header), topic, bytes)
    }

    /// Opens the next piece.
    fn read(&mut self, wanted: &Wanted) -> Step {
        let file = self.file.clone();
        let piece = &file.index.pieces[self.next_piece];
        self.next_piece += 1;
        let mut content = piece::read(&file.bytes, &piece.place);
        let problem = content.problem.take();
        let times = wanted.from..wanted.until;
        let mut messages: Vec<_> = content
            .messages()
            .filter(|(header, _)| times.contains(&header.log_time))
            .filter_map(|(header, body)| Some((header, self.topic(header.channel, wanted)?, body)))
            .collect();
        // Stable, so messages of one time stay in the order in which they were written.
        messages.sort_by_key(|(header, ..)| header.log_time);
        messages.reverse();
        if !messages.is_empty() {
            self.open.push(Open { begin: piece.place.begin(), content, messages });
        }
        match problem {
            Some(problem) => Step::Damaged(file.damaged(piece.place.begin() as u64, problem)),
            None => Step::Read,
        }
    }

    /// Returns a channel's topic if it is wanted.
    fn topic(&self, channel: u16, wanted: &Wanted) -> Option<usize> {
        let topic = self.topics.get(usize::from(channel)).copied().flatten()?;
        wanted.topics[topic].then_some(topic)
    }
}
