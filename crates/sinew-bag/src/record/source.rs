//! A topic's subscription.

use super::cache::{Content, Waiting};
use super::request;
use crate::message::Stamps;
use sinew::graph::EndpointInfo;
use sinew::msg::{Gid, Transport, TypeHash};
use sinew::qos::Reliability;
use sinew::time::Time;
use sinew::{MessageInfo, QoS, erased};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The time just before a subscription was made.
#[derive(Debug, Clone, Copy)]
pub(super) struct Since {
    /// Wall time in nanoseconds: a message that was retained before counts as received then.
    pub(super) wall: u64,
    /// Tells which messages these are: the wall clock may be set back.
    pub(super) steady: Time,
}

/// A topic that is recorded, with one type.
pub(super) struct Source {
    pub(super) name: String,
    pub(super) type_name: String,
    pub(super) type_hash: TypeHash,
    subscription: erased::Subscription,
    since: Since,
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
        since: Since,
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
            let is_from_before = self.is_retaining && self.is_older(&info);
            let mut stamps = stamps(&info);
            if is_from_before {
                stamps.received = self.since.wall;
            }
            return Some(Waiting { topic, stamps, retained_by, is_from_before, content });
        }
    }

    /// Returns whether a message was published before the subscription was made, or had arrived at
    /// this host by then. (If the clock of another host puts the begin of its chain into the future
    /// of this one, it counts as new.)
    fn is_older(&self, info: &MessageInfo) -> bool {
        let taken = info.lineage().stamp() + info.chain_latency();
        info.latency() > taken - self.since.steady
    }

    /// Waits until everything that was published elsewhere before now can be taken, or its history
    /// is full.
    pub(super) fn bring_in(&self, timeout: Duration) {
        self.subscription.bring_in(timeout);
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

/// A message counts as received when it was published, or, if that was on another host, when it
/// arrived at this one: the time of the recorder's look says nothing.
fn stamps(info: &MessageInfo) -> Stamps {
    let latency = i64::try_from(info.latency().as_nanos()).unwrap_or(i64::MAX);
    let arrived = info.reception_time().nanoseconds().saturating_sub(latency);
    let number = info.publication_sequence() & u64::from(u32::MAX);
    Stamps {
        received: u64::try_from(arrived).unwrap_or_default(),
        sent: u64::try_from(info.source_time().nanoseconds()).unwrap_or_default(),
        sequence: u32::try_from(number).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew::Context;
    use sinew::msg::GenericType;
    use sinew::time::ClockKind;
    use sinew_interfaces::std_msgs::msg::String as Text;

    #[test]
    fn a_wall_clock_that_is_set_back_changes_only_the_times_of_retained_messages() {
        let context = Context::builder().shared_memory(false).build().unwrap();
        let node = context.node("robot").unwrap();
        let qos = QoS::default().keep_last(9).transient_local();
        let publisher = node.publisher::<Text>("/a").qos(qos).create().unwrap();
        publisher.publish(Text::default()).unwrap();
        // The subscription was made an hour ahead, by the wall clock of that time.
        let wall = node.now_by(ClockKind::System) + Duration::from_secs(3600);
        let wall = u64::try_from(wall.nanoseconds()).unwrap();
        let since = Since { wall, steady: node.now_by(ClockKind::Steady) };
        let about = node.graph().publishers("/a").remove(0);
        let hash = about.type_hash.unwrap();
        let known = erased::MessageType::known(GenericType::new(&about.type_name, hash).unwrap());
        let made = node.erased_subscription("/a", known).qos(qos).create_erased().unwrap();
        let mut source = Source::new(&about, hash, made, since);
        publisher.publish(Text::default()).unwrap();
        publisher.publish(Text::default()).unwrap();
        let taken: Vec<Waiting> = std::iter::from_fn(|| source.take(0)).collect();
        let before: Vec<bool> = taken.iter().map(|message| message.is_from_before).collect();
        assert_eq!(before, [true, false, false]);
        assert_eq!(taken[0].stamps.received, wall);
        assert!(taken[1..].iter().all(|message| message.stamps.received < wall));
    }
}
