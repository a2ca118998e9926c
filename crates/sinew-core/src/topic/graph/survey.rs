//! The endpoints on topics, for a context that checks itself for mistakes some time after its
//! start.

use super::{Graph, Topic};
use crate::message::Gid;
use crate::ros::origin::Origin;
use crate::sys::sync::Arc;
use crate::topic::endpoint_info::{EndpointInfo, EndpointKind, Place, Wanted};
use crate::topic::subscription_core::SubscriptionConfig;
use std::collections::BTreeSet;
use std::ops::Range;

/// Maximum number of names that are searched for a similar one.
pub(crate) const MOST: usize = 4096;

/// A subscription or a client of this context without a matching endpoint.
#[derive(Debug)]
pub(crate) struct OneSided {
    /// Its node's full name.
    pub(crate) node: Arc<str>,
    pub(crate) name: Arc<str>,
    pub(crate) type_name: String,
}

/// A name that a node publishes on, or serves.
#[derive(Debug)]
pub(crate) struct Offered {
    pub(crate) name: Arc<str>,
    pub(crate) type_name: String,
    /// The full name of such a node.
    pub(crate) node: String,
}

/// A name on which a node of this context has an endpoint.
#[derive(Debug)]
pub(crate) struct Used {
    /// The node's full name.
    pub(crate) node: Arc<str>,
    pub(crate) name: Arc<str>,
    pub(crate) type_name: String,
}

impl Graph {
    /// Returns the subscriptions with one of these numbers that have no publisher and never had
    /// one.
    pub(crate) fn unpublished(&self, numbers: &Range<u64>) -> Vec<OneSided> {
        let topics = self.topics.lock();
        let alone = topics.values().filter(|topic| topic.publishers.is_empty() && topic.sources.is_empty());
        let new = alone.flat_map(|topic| &topic.subscriptions).filter(|subscription| {
            let is_ours = subscription.wanted.origin == Origin::Local;
            is_ours
                && numbers.contains(&subscription.wanted.number)
                && !subscription.match_listeners.was_matched()
        });
        let one_sided = |wanted: &SubscriptionConfig| OneSided {
            node: wanted.node.clone(),
            name: wanted.topic.clone(),
            type_name: wanted.table.name().to_owned(),
        };
        new.map(|subscription| one_sided(&subscription.wanted)).collect()
    }

    /// Returns the topics on which these types are published, here or elsewhere.
    pub(crate) fn published(&self, types: &BTreeSet<String>) -> Vec<Offered> {
        let topics = self.topics.lock();
        let offered = topics.iter().filter_map(|(name, topic)| {
            let here = topic.publishers.iter().map(|publisher| (publisher.table.name(), &*publisher.node));
            let elsewhere = topic.sources.iter().map(|source| {
                let offered = source.offered();
                (offered.type_name.as_str(), offered.node.as_str())
            });
            let (type_name, node) =
                here.chain(elsewhere).find(|(type_name, _)| types.contains(*type_name))?;
            Some(Offered { name: name.clone(), type_name: type_name.to_owned(), node: node.to_owned() })
        });
        offered.take(MOST).collect()
    }

    /// Appends the wanted publishers and subscriptions of this context.
    pub(crate) fn list(&self, wanted: &Wanted<'_>, into: &mut Vec<EndpointInfo>) {
        let participant = self.session.participant;
        let topics = self.topics.lock();
        let of_name = |(name, topic): (&Arc<str>, &Topic)| {
            let publishers = topic.publishers.iter().map(|end| {
                let (number, origin) = (end.number(), end.class.origin);
                (EndpointKind::Publisher, &end.node, end.table, (number, origin), end.qos)
            });
            let subscriptions = topic.subscriptions.iter().map(|end| {
                let end = &end.wanted;
                (EndpointKind::Subscription, &end.node, end.table, (end.number, end.origin), end.qos)
            });
            let shown = publishers
                .chain(subscriptions)
                .filter(|(kind, node, _, (_, origin), _)| origin.is_shown() && wanted.is(*kind, name, node));
            into.extend(shown.map(|(kind, node, table, (number, origin), qos)| EndpointInfo {
                kind,
                node: node.to_string(),
                name: name.to_string(),
                type_name: table.name().to_owned(),
                type_hash: table.hash(),
                qos,
                gid: Gid::of_endpoint(participant, number),
                place: Place::of_own(origin),
                travels: table.encoded.is_some(),
                origin,
                domain: None,
            }));
        };
        match wanted.name {
            Some(name) => topics.get_key_value(name).into_iter().for_each(of_name),
            None => topics.iter().for_each(of_name),
        }
    }

    /// Returns the nodes of this context that have an endpoint on a topic, with the topics.
    pub(crate) fn users(&self) -> Vec<Used> {
        let topics = self.topics.lock();
        let of_topic = |(name, topic): (&Arc<str>, &Topic)| {
            let used = |node: &Arc<str>, type_name: &str| Used {
                node: node.clone(),
                name: name.clone(),
                type_name: type_name.to_owned(),
            };
            let publishers = topic.publishers.iter().map(|end| used(&end.node, end.table.name()));
            let wanted = topic.subscriptions.iter().map(|subscription| &subscription.wanted);
            publishers.chain(wanted.map(|end| used(&end.node, end.table.name()))).collect::<Vec<_>>()
        };
        topics.iter().flat_map(of_topic).take(MOST).collect()
    }
}
