//! A topic's subscription.

use super::cache::{Content, Waiting};
use super::request;
use crate::message::Stamps;
use sinew::graph::EndpointInfo;
use sinew::msg::{Gid, Transport, TypeHash};
use sinew::qos::Reliability;
use sinew::{MessageInfo, QoS, erased};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// A topic that is recorded, with one type.
pub(super) struct Source {
    pub(super) name: String,
    pub(super) type_name: String,
    pub(super) type_hash: TypeHash,
    subscription: erased::Subscription,
    /// Wall time of its making, in nanoseconds: a retained message counts as received then.
    since: u64,
    /// It gets the messages that its publishers retain.
    is_retaining: bool,
    /// By publisher the number of the last message that a former subscription has taken, or that
    /// this one has, if it gets retained messages.
    taken: BTreeMap<Gid, u64>,
    /// Messages that former subscriptions lost.
    lost_before: u64,
    /// The publishers that were there before the recorder, or of which a message was taken.
    known: BTreeSet<Gid>,
    /// The publisher of the last message.
    last: Gid,
    /// Messages that others had published before their first one was taken.
    early: u64,
}

impl Source {
    pub(super) fn new(
        publisher: &EndpointInfo,
        type_hash: TypeHash,
        subscription: erased::Subscription,
        since: u64,
    ) -> Self {
        Self {
            name: publisher.name.clone(),
            type_name: publisher.type_name.clone(),
            type_hash,
            is_retaining: request::is_retaining(&subscription.qos()),
            subscription,
            since,
            taken: BTreeMap::new(),
            lost_before: 0,
            known: BTreeSet::new(),
            last: Gid([0; 16]),
            early: 0,
        }
    }

    /// Notes publishers that were there before the recorder.
    pub(super) fn were_there(&mut self, publishers: &[&EndpointInfo]) {
        self.known.extend(publishers.iter().map(|publisher| publisher.gid));
    }

    /// Counts the messages that a publisher had published before its first one was taken. Those
    /// that weren't retained are no loss of a topic that retains some, and the numbers of the
    /// network say nothing about this recording.
    fn count_early(&mut self, publisher: Gid, number: u64, info: &MessageInfo) {
        self.last = publisher;
        if self.known.insert(publisher) && !self.is_retaining && info.transport() != Transport::Network {
            self.early += number - 1;
        }
    }

    /// Returns the number of messages that were published before the recorder could hear their
    /// publisher, which had just come.
    pub(super) fn early(&self) -> u64 {
        self.early
    }

    pub(super) fn is_of(&self, publisher: &EndpointInfo) -> bool {
        (&self.name, &self.type_name) == (&publisher.name, &publisher.type_name)
            && Some(self.type_hash) == publisher.type_hash
    }

    /// Returns whether the subscription asks for more than a publisher offers.
    pub(super) fn asks_too_much_of(&self, offered: &QoS) -> bool {
        let asked = self.subscription.qos();
        let is_unreliable = offered.reliability != Reliability::Reliable;
        (asked.reliability == Reliability::Reliable && is_unreliable)
            || (self.is_retaining && !request::is_retaining(offered))
    }

    /// Takes the next message for the topic's place.
    pub(super) fn take(&mut self, topic: usize) -> Option<Waiting> {
        loop {
            let (message, info) = self.subscription.take()?;
            let (publisher, number) = (info.publisher(), info.publication_sequence());
            if !self.taken.is_empty() || self.is_retaining {
                let last = self.taken.entry(publisher).or_default();
                if number <= *last {
                    continue; // the former subscription had it
                }
                *last = number;
            }
            if publisher != self.last {
                self.count_early(publisher, number, &info);
            }
            let content = match message.encoded() {
                Some(_) => Content::There(message),
                None => {
                    let mut bytes = vec![0; message.encoded_length().unwrap_or_default()];
                    message.encode_into(&mut bytes);
                    Content::Copied(bytes.into())
                }
            };
            let retained_by = self.is_retaining.then_some(publisher);
            return Some(Waiting { topic, stamps: self.stamps(&info), retained_by, content });
        }
    }

    /// Returns whether the publisher had retained the message before the subscription was made.
    pub(super) fn is_from_before(&self, message: &Waiting) -> bool {
        self.is_retaining && message.stamps.received == self.since
    }

    /// Waits until everything that was published elsewhere before now can be taken, or its history
    /// is full.
    pub(super) fn bring_in(&self, timeout: Duration) {
        self.subscription.bring_in(timeout);
    }

    /// A message counts as received when it was published, or, if that was on another host, when it
    /// arrived at this one: the time of the recorder's look says nothing.
    fn stamps(&self, info: &MessageInfo) -> Stamps {
        let latency = i64::try_from(info.latency().as_nanos()).unwrap_or(i64::MAX);
        let arrived = info.reception_time().nanoseconds().saturating_sub(latency);
        let number = info.publication_sequence() & u64::from(u32::MAX);
        Stamps {
            received: u64::try_from(arrived).unwrap_or_default().max(self.since),
            sent: u64::try_from(info.source_time().nanoseconds()).unwrap_or_default(),
            sequence: u32::try_from(number).unwrap_or_default(),
        }
    }

    /// Replaces the subscription by one that asks for less. Returns the messages that the former
    /// one still had: the new one passes over those that both got.
    pub(super) fn replace(&mut self, topic: usize, subscription: erased::Subscription) -> Vec<Waiting> {
        self.taken.entry(Gid([0; 16])).or_default(); // from now on they are noted
        let rest: Vec<Waiting> = std::iter::from_fn(|| self.take(topic)).collect();
        self.lost_before = self.lost();
        self.is_retaining = request::is_retaining(&subscription.qos());
        self.subscription = subscription;
        rest
    }

    /// Returns the number of messages that were lost before they could be taken.
    pub(super) fn lost(&self) -> u64 {
        let counts = self.subscription.statistics();
        self.lost_before + counts.overwritten + counts.missed + counts.refused
    }
}
