//! The messages to play, in their order: of all bags, with the retained ones first.

use super::options::MessageOrder;
use crate::error::BagError;
use crate::latest::latest;
use crate::merged::Merged;
use crate::message::{BagMessage, Stamps};
use crate::reader::BagReader;
use crate::selection::Selection;
use crate::stored_file::Last;
use crate::topic::BagTopic;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

/// Time between sending and receiving within which messages are put in the order of sending.
const SENT_WINDOW: u64 = 1_000_000_000;

/// A message to play.
#[derive(Debug)]
pub(super) struct Selected {
    /// The place of its publisher.
    pub(super) output: usize,
    /// The time that orders it.
    pub(super) time: u64,
    /// It is of an earlier time, and only restores a latched topic.
    pub(super) is_restored: bool,
    pub(super) message: BagMessage,
}

/// A message, or damage on the way to the next one.
#[derive(Debug)]
pub(super) enum Item {
    Message(Selected),
    Problem(BagError),
}

/// A latched topic: where it is in the bags, and how many messages are restored.
#[derive(Debug)]
pub(super) struct Latched {
    /// For each bag the places among its topics.
    pub(super) topics: Vec<Vec<usize>>,
    pub(super) output: usize,
    pub(super) count: usize,
}

/// The part of the bags' time that is played, in nanoseconds since the epoch.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    /// The first message of all bags.
    pub(super) begin: u64,
    /// The time at which playing begins.
    pub(super) start: u64,
    /// The last time that is played.
    pub(super) end: u64,
}

/// The messages to play.
#[derive(Debug)]
pub(super) struct Source {
    bags: Vec<BagReader>,
    merged: Merged,
    /// The publishers of topics, by the addresses of these.
    outputs: HashMap<usize, usize>,
    latched: Vec<Latched>,
    span: Span,
    order: MessageOrder,
    /// The first time since the last seek.
    from: u64,
    restored: VecDeque<Selected>,
    /// Damage among the messages to be restored.
    problems: VecDeque<BagError>,
    /// Messages that wait for others that were sent before them: by time and number.
    waiting: BTreeMap<(u64, u64), (usize, BagMessage)>,
    numbered: u64,
    /// The time of reception up to which everything has been read.
    read_until: u64,
}

impl Source {
    /// `outputs` has the publishers of topics, by [`key`].
    pub(super) fn new(
        bags: Vec<BagReader>,
        outputs: HashMap<usize, usize>,
        latched: Vec<Latched>,
        (span, order): (Span, MessageOrder),
    ) -> Result<Self, BagError> {
        let last = match order {
            MessageOrder::Received => span.end,
            MessageOrder::Sent => span.end.saturating_add(SENT_WINDOW),
        };
        let mut messages = Vec::new();
        for bag in &bags {
            let names = bag.topics().iter().filter(|topic| outputs.contains_key(&key(topic)));
            // A bag without a wanted topic: the selection of none would be that of all.
            let nothing = Selection::all().until(0);
            let named = names.fold(None, |selection: Option<Selection>, topic| {
                Some(selection.unwrap_or_default().topic(&topic.name))
            });
            let selection = named.map_or(nothing, |named| named.until(last.saturating_add(1)));
            messages.push(bag.messages(&selection)?);
        }
        let mut source = Self {
            bags,
            merged: Merged::new(messages),
            outputs,
            latched,
            span,
            order,
            from: 0,
            restored: VecDeque::new(),
            problems: VecDeque::new(),
            waiting: BTreeMap::new(),
            numbered: 0,
            read_until: 0,
        };
        source.seek(span.start);
        Ok(source)
    }

    /// Goes to the first message at this time or later; before it come the messages that latched
    /// topics retained then.
    pub(super) fn seek(&mut self, time: u64) {
        self.waiting.clear();
        self.read_until = 0;
        let mut problems = Vec::new();
        self.restored = self.retained(time, &mut problems).into();
        // Topics may share a damaged chunk.
        let mut known = BTreeSet::new();
        problems.retain(|problem| known.insert(problem.to_string()));
        self.problems = problems.into();
        // A message may have been sent before the first one was received.
        self.from = if time <= self.span.begin { 0 } else { time };
        self.merged.seek(self.from);
    }

    fn retained(&self, time: u64, problems: &mut Vec<BagError>) -> Vec<Selected> {
        if time <= self.span.begin {
            return Vec::new();
        }
        let mut all = Vec::new();
        for Latched { topics, output, count } in &self.latched {
            let wanted = Last { count: *count, before: time };
            let in_bag =
                |(bag, topics): (&BagReader, &Vec<usize>)| latest(bag.bag(), topics, wanted, problems);
            let mut last: Vec<BagMessage> = self.bags.iter().zip(topics).flat_map(in_bag).collect();
            last.sort_by_key(|message| message.stamps.received);
            last.drain(..last.len().saturating_sub(*count));
            let of_topic = last.into_iter().map(|message| Selected {
                output: *output,
                time: message.stamps.received,
                is_restored: true,
                message,
            });
            all.extend(of_topic);
        }
        all.sort_by_key(|selected| selected.time);
        all
    }

    /// Returns the first message that nothing still to be read can precede.
    fn first_waiting(&mut self, is_complete: bool) -> Option<Item> {
        let first = self.waiting.first_entry()?;
        let (time, _) = *first.key();
        if !is_complete && time.saturating_add(SENT_WINDOW) > self.read_until {
            return None;
        }
        let (output, message) = first.remove();
        Some(Item::Message(Selected { output, time, is_restored: false, message }))
    }
}

impl Iterator for Source {
    type Item = Item;

    fn next(&mut self) -> Option<Item> {
        if let Some(problem) = self.problems.pop_front() {
            return Some(Item::Problem(problem));
        }
        if let Some(selected) = self.restored.pop_front() {
            return Some(Item::Message(selected));
        }
        loop {
            if let Some(item) = self.first_waiting(false) {
                return Some(item);
            }
            let message = match self.merged.next() {
                None => return self.first_waiting(true),
                Some(Err(problem)) => return Some(Item::Problem(problem)),
                Some(Ok(message)) => message,
            };
            let Some(output) = self.outputs.get(&key(&message.topic)).copied() else { continue };
            if self.order == MessageOrder::Received {
                let time = message.stamps.received;
                return Some(Item::Message(Selected { output, time, is_restored: false, message }));
            }
            let Stamps { received, sent, .. } = message.stamps;
            self.read_until = received;
            let is_within = |time: u64| (self.from..=self.span.end).contains(&time);
            if is_within(received) || is_within(sent) {
                // A sender's wrong clock must not cost the message, nor delay it.
                let time = sent.max(received.saturating_sub(SENT_WINDOW)).max(self.from);
                let time = time.min(received.saturating_add(SENT_WINDOW)).min(self.span.end);
                self.numbered += 1;
                self.waiting.insert((time, self.numbered), (output, message));
            }
        }
    }
}

/// Returns the key of a topic: its address, as readers share their topics.
pub(super) fn key(topic: &Arc<BagTopic>) -> usize {
    Arc::as_ptr(topic).addr()
}
