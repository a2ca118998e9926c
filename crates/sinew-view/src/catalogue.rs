//! The offer to viewers: a channel for each topic with a publisher, and the services. No I/O, no
//! locks.

use crate::images::{COMPRESSED, IMAGE};
use crate::settings::{Settings, TypeDefinition};
use crate::wire::{AdvertisedChannel, AdvertisedService, CDR, ServerText, ServicePart};
use sinew::QoS;
use sinew::graph::{EndpointInfo, EndpointKind, GraphSnapshot};
use sinew::msg::TypeHash;
use sinew::qos::{Durability, History, Reliability};
use sinew_bag::Schema;
use sinew_msg::description::TypeDescription;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Most messages of publishers that retain them for late joiners that one subscription waits for.
pub(crate) const MOST_RETAINED: usize = 1000;

/// A topic or service of one type.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    pub(crate) name: String,
    pub(crate) type_name: String,
    /// The hash of the type.
    pub(crate) hash: [u8; 32],
    /// The topic of images that the server compresses for this one; `None`: it is a topic or
    /// service of the graph.
    pub(crate) source: Option<Box<Key>>,
}

impl Key {
    fn of(endpoint: &EndpointInfo) -> Option<Self> {
        let hash = endpoint.type_hash?.0;
        Some(Self { name: endpoint.name.clone(), type_name: endpoint.type_name.clone(), hash, source: None })
    }

    /// Returns the key of the channel of this topic's compressed images; `None` if it is not a
    /// topic of images.
    fn compressed(&self) -> Option<Self> {
        let has_images = self.type_name == IMAGE.name && self.hash() == IMAGE.hash;
        has_images.then(|| Self {
            name: format!("{}/compressed", self.name),
            type_name: COMPRESSED.name.to_owned(),
            hash: COMPRESSED.hash.0,
            source: Some(Box::new(self.clone())),
        })
    }

    /// Returns the topic to which to subscribe.
    pub(crate) fn topic(&self) -> &Self {
        self.source.as_deref().unwrap_or(self)
    }

    pub(crate) fn hash(&self) -> TypeHash {
        TypeHash(self.hash)
    }
}

/// Topics and services as the graph has them.
#[derive(Default)]
pub(crate) struct Seen<'a> {
    /// For each topic a publisher, and the QoS to request from all.
    pub(crate) topics: BTreeMap<Key, (&'a EndpointInfo, QoS)>,
    pub(crate) services: BTreeMap<Key, &'a EndpointInfo>,
}

impl<'a> Seen<'a> {
    pub(crate) fn of(snapshot: &'a GraphSnapshot, settings: &Settings) -> Self {
        let of_publishers = |one: &&EndpointInfo| one.kind == EndpointKind::Publisher;
        let published: BTreeSet<&str> =
            snapshot.endpoints().iter().filter(of_publishers).map(|one| one.name.as_str()).collect();
        let compressed = |topic: &Key| {
            let made = settings.image_width.and_then(|_| topic.compressed());
            made.filter(|made| !published.contains(made.name.as_str()))
        };
        let mut offered: BTreeMap<Key, Vec<&EndpointInfo>> = BTreeMap::new();
        let mut services = BTreeMap::new();
        for endpoint in snapshot.endpoints() {
            let Some(key) = Key::of(endpoint) else { continue };
            if !endpoint.leaves_process() {
                continue;
            }
            match endpoint.kind {
                EndpointKind::Publisher => {
                    let shown = compressed(&key).into_iter().chain([key]);
                    for key in shown.filter(|key| settings.shows_topic(&key.name)) {
                        offered.entry(key).or_default().push(endpoint);
                    }
                }
                EndpointKind::Server if settings.allowed.services && settings.shows_service(&key.name) => {
                    services.insert(key, endpoint);
                }
                _ => {}
            }
        }
        let topic = |(key, all): (Key, Vec<&'a EndpointInfo>)| {
            let qos = requested(all.iter().map(|endpoint| &endpoint.qos), settings.depth);
            Some((key, (*all.first()?, qos)))
        };
        Self { topics: offered.into_iter().filter_map(topic).collect(), services }
    }
}

/// Returns the QoS that gets the messages of all publishers: reliable, or with retained messages,
/// only if all offer that. With retained messages it has room for those of all.
pub(crate) fn requested<'a>(offered: impl Iterator<Item = &'a QoS> + Clone, depth: usize) -> QoS {
    let mut qos = QoS::new().keep_last(depth);
    if offered.clone().any(|qos| qos.reliability == Reliability::BestEffort) {
        qos = qos.best_effort();
    }
    if offered.clone().all(|qos| qos.durability == Durability::TransientLocal) {
        let retained = offered.map(|qos| match qos.history {
            History::KeepLast(depth) => depth,
            History::KeepAll => MOST_RETAINED,
        });
        let retained = retained.fold(0, usize::saturating_add).min(MOST_RETAINED);
        qos = qos.transient_local().keep_last(depth.max(retained));
    }
    qos
}

/// Whether some publisher's messages don't reach a subscription that asks for more than this.
fn is_weaker(new: &QoS, old: &QoS) -> bool {
    new.reliability < old.reliability || new.durability < old.durability
}

/// A topic that is shown.
#[derive(Debug)]
pub(crate) struct Channel {
    pub(crate) id: u32,
    pub(crate) key: Key,
    pub(crate) known: Arc<KnownType>,
}

/// A service that is shown.
#[derive(Debug)]
pub(crate) struct Service {
    pub(crate) id: u32,
    pub(crate) key: Key,
    pub(crate) request: KnownType,
    pub(crate) response: KnownType,
}

/// A message type.
#[derive(Debug, Clone)]
pub(crate) struct KnownType {
    pub(crate) description: TypeDescription,
    pub(crate) schema: Schema,
}

impl KnownType {
    pub(crate) fn of(description: TypeDescription) -> Self {
        Self { schema: Schema::of(&description), description }
    }

    /// Returns the type of compressed images.
    pub(crate) fn compressed_image() -> Option<Self> {
        Some(Self::of(COMPRESSED.description?.describe()?))
    }

    /// Takes a message out of a service's description, with the types in it only: the service's
    /// description has all.
    pub(crate) fn inside(service: &TypeDescription, name: &str) -> Option<Self> {
        let TypeDescription { type_description: root, referenced_type_descriptions: all } =
            service.of_inside(name)?;
        let (mut needed, mut next) = (vec![&root], 0);
        while let Some(one) = needed.get(next) {
            next += 1;
            for field in &one.fields {
                let name = &field.field_type.nested_type_name;
                let found = all.iter().find(|one| one.type_name == *name);
                needed.extend(found.filter(|_| !needed.iter().any(|known| known.type_name == *name)));
            }
        }
        let mut referenced: Vec<_> = needed[1..].iter().map(|&one| one.clone()).collect();
        referenced.sort_by(|one, other| one.type_name.cmp(&other.type_name));
        Some(Self::of(TypeDescription {
            type_description: root.clone(),
            referenced_type_descriptions: referenced,
        }))
    }

    /// Writes the types in it as topics show them, with constants and default values, if `find` has
    /// their definitions: a viewer that gets two different texts of a type reports a change of it.
    pub(crate) fn with_texts(mut self, find: impl Fn(&str) -> Option<TypeDefinition>) -> Self {
        let line = format!("{}\n", "=".repeat(80));
        let TypeDescription { type_description: root, referenced_type_descriptions: inside } =
            &self.description;
        let mut text = root.to_definition();
        for one in inside {
            let found = find(&one.type_name).filter(|found| found.description.type_description == *one);
            let schema = found.and_then(|found| found.schema).filter(|found| found.encoding == "ros2msg");
            // The types in it come after the first line of `=`.
            let own = schema.map(|schema| match schema.text.find(&format!("\n{line}")) {
                Some(end) => schema.text[..end].to_owned(),
                None => schema.text,
            });
            let own = own.unwrap_or_else(|| one.to_definition());
            let name = one.type_name.replacen("/msg/", "/", 1);
            text.extend(["\n", &line, "MSG: ", &name, "\n", &own]);
        }
        self.schema.text = text;
        self
    }

    pub(crate) fn name(&self) -> &str {
        &self.description.type_description.type_name
    }

    fn part(&self) -> ServicePart<'_> {
        ServicePart {
            encoding: CDR,
            schema_name: self.name(),
            schema: &self.schema.text,
            schema_encoding: &self.schema.encoding,
        }
    }
}

/// The topics and services that are shown. Their numbers are not used again.
#[derive(Default)]
pub(crate) struct Catalogue {
    pub(crate) channels: BTreeMap<u32, (Arc<Channel>, QoS)>,
    pub(crate) services: BTreeMap<u32, Arc<Service>>,
    /// Names of topics and services without a known definition, with the sentence about each.
    pub(crate) undescribed: BTreeMap<String, String>,
    numbers: BTreeMap<Key, u32>,
    last: u32,
}

/// Changes of the catalogue by a new snapshot of the graph.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    pub(crate) new_channels: Vec<u32>,
    pub(crate) gone_channels: Vec<u32>,
    /// Channels with a publisher now that offers less than before.
    pub(crate) weakened: Vec<(u32, QoS)>,
    pub(crate) new_services: Vec<u32>,
    pub(crate) gone_services: Vec<u32>,
    pub(crate) new_undescribed: Vec<String>,
    pub(crate) now_described: Vec<String>,
}

impl Catalogue {
    /// Returns the topics and services that aren't shown yet.
    pub(crate) fn unknown(&self, seen: &Seen<'_>) -> (Vec<Key>, Vec<Key>) {
        let is_new = |key: &&Key| !self.numbers.contains_key(*key);
        let topics = seen.topics.keys().filter(is_new).cloned().collect();
        (topics, seen.services.keys().filter(is_new).cloned().collect())
    }

    /// Applies a snapshot, with the types that were found for its [unknown](Self::unknown) topics
    /// and services.
    pub(crate) fn apply(
        &mut self,
        seen: &Seen<'_>,
        topic_types: &BTreeMap<Key, Arc<KnownType>>,
        service_types: BTreeMap<Key, (KnownType, KnownType)>,
    ) -> Changes {
        let mut changes = Changes::default();
        let mut undescribed = BTreeMap::new();
        let is_gone =
            |(_, (channel, _)): &(&u32, &(Arc<Channel>, QoS))| !seen.topics.contains_key(&channel.key);
        changes.gone_channels.extend(self.channels.iter().filter(is_gone).map(|(id, _)| id));
        let is_gone = |(_, service): &(&u32, &Arc<Service>)| !seen.services.contains_key(&service.key);
        changes.gone_services.extend(self.services.iter().filter(is_gone).map(|(id, _)| id));
        for id in &changes.gone_channels {
            self.numbers.extract_if(.., |_, number| number == id).for_each(drop);
            self.channels.remove(id);
        }
        for id in &changes.gone_services {
            self.numbers.extract_if(.., |_, number| number == id).for_each(drop);
            self.services.remove(id);
        }
        for (key, (_, qos)) in &seen.topics {
            if let Some((_, known)) = self.numbers.get(key).and_then(|id| self.channels.get_mut(id)) {
                if is_weaker(qos, known) {
                    changes.weakened.push((self.numbers[key], *qos));
                }
                *known = *qos;
            } else if let Some(known) = topic_types.get(key).cloned() {
                let id = self.number(key);
                let channel = Channel { id, key: key.clone(), known };
                self.channels.insert(id, (Arc::new(channel), *qos));
                changes.new_channels.push(id);
            } else {
                undescribed.insert(key.name.clone(), sentence("topic", key));
            }
        }
        for key in seen.services.keys().filter(|key| !service_types.contains_key(key)) {
            if !self.numbers.contains_key(key) {
                undescribed.insert(key.name.clone(), sentence("service", key));
            }
        }
        for (key, (request, response)) in service_types {
            let id = self.number(&key);
            self.services.insert(id, Arc::new(Service { id, key, request, response }));
            changes.new_services.push(id);
        }
        let before = std::mem::replace(&mut self.undescribed, undescribed);
        let is_new = |name: &&String| !before.contains_key(*name);
        changes.new_undescribed = self.undescribed.keys().filter(is_new).cloned().collect();
        changes.now_described =
            before.into_keys().filter(|name| !self.undescribed.contains_key(name)).collect();
        changes
    }

    fn number(&mut self, key: &Key) -> u32 {
        self.last += 1;
        self.numbers.insert(key.clone(), self.last);
        self.last
    }

    /// Returns the text that offers these channels.
    pub(crate) fn advertise<'a>(&self, ids: impl IntoIterator<Item = &'a u32>) -> String {
        let channels =
            ids.into_iter().filter_map(|id| self.channels.get(id)).map(|(channel, _)| AdvertisedChannel {
                id: channel.id,
                topic: &channel.key.name,
                encoding: CDR,
                schema_name: &channel.key.type_name,
                schema: &channel.known.schema.text,
                schema_encoding: &channel.known.schema.encoding,
            });
        ServerText::Advertise { channels: channels.collect() }.to_json()
    }

    /// Returns the text that offers these services.
    pub(crate) fn advertise_services<'a>(&self, ids: impl IntoIterator<Item = &'a u32>) -> String {
        let services =
            ids.into_iter().filter_map(|id| self.services.get(id)).map(|service| AdvertisedService {
                id: service.id,
                name: &service.key.name,
                type_name: &service.key.type_name,
                request: service.request.part(),
                response: service.response.part(),
            });
        ServerText::AdvertiseServices { services: services.collect() }.to_json()
    }
}

fn sentence(kind: &str, key: &Key) -> String {
    let Key { name, type_name, .. } = key;
    format!(
        "the {kind} {name} isn't shown: no program describes its type {type_name}, and the definitions here don't have it"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_all_offer_is_requested() {
        let reliable = QoS::new().keep_last(7);
        let latched = reliable.transient_local();
        let of = |offered: &[QoS]| requested(offered.iter(), 10);
        assert_eq!(of(&[reliable]), QoS::new().keep_last(10));
        assert_eq!(of(&[reliable, QoS::sensor_data()]), QoS::new().best_effort().keep_last(10));
        assert_eq!(of(&[latched, latched]), QoS::new().transient_local().keep_last(14));
        assert_eq!(of(&[latched, reliable]), QoS::new().keep_last(10));
        assert_eq!(of(&[latched.keep_all()]), QoS::new().transient_local().keep_last(1000));
        assert!(is_weaker(&of(&[QoS::sensor_data()]), &of(&[reliable])));
        assert!(!is_weaker(&of(&[latched]), &of(&[reliable])));
    }
}
