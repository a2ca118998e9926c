//! The messages of one MCAP file in the order of time.

use crate::error::BagError;
use crate::mcap_file::McapFile;
use crate::message::Stamps;
use crate::piece::{self, Content, MessageBytes};
use crate::records::MessageHeader;
use crate::storage::FileCursor;
use std::ops::Range;
use std::sync::Arc;

/// The messages that a cursor stops at.
#[derive(Debug)]
pub(crate) struct Wanted {
    /// By topic of the bag.
    pub(crate) topics: Vec<bool>,
    pub(crate) from: u64,
    /// The first time that is too late.
    pub(crate) until: u64,
}

/// A place in a file, between two messages. Holds the pieces whose times overlap there.
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

/// A step of a cursor.
pub(crate) enum Step {
    /// The next message: its stamps, its topic and its bytes.
    Message(Stamps, usize, MessageBytes),
    /// Something was read; the next message is to be asked for again.
    Read,
    /// Something was read as far as it goes; its damage.
    Damaged(BagError),
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
