//! A topic of a bag.

use crate::metadata::TopicMetadata;
use crate::qos_yaml::RecordedQos;
use crate::schema::Schema;
use sinew::msg::TypeHash;
use sinew_msg::Message;
use sinew_msg::dynamic::MessageType;
use std::sync::{Arc, OnceLock};

/// The key of a channel's QoS.
pub(crate) const QOS: &str = "offered_qos_profiles";
/// The key of the hash of a channel's type.
pub(crate) const HASH: &str = "topic_type_hash";

/// A topic in a bag.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct BagTopic {
    /// The full name.
    pub name: String,
    /// The full name of its type, such as `std_msgs/msg/String`.
    pub type_name: String,
    /// The encoding of its messages: `cdr`.
    pub encoding: String,
    /// The definition of its type, if the bag has it.
    pub schema: Option<Schema>,
    /// The QoS of its publishers, as far as it was recorded.
    pub qos: Vec<RecordedQos>,
    /// The hash of its type, if it was recorded.
    pub type_hash: Option<TypeHash>,
    /// Messages in the bag.
    pub message_count: u64,
    /// Made when the first message is decoded without a Rust type.
    message_type: OnceLock<Result<Arc<MessageType>, String>>,
}

impl BagTopic {
    /// Returns a topic without definition, QoS, hash and messages.
    pub(crate) fn new(name: String, type_name: &str, encoding: String) -> Self {
        Self {
            name,
            type_name: full(type_name),
            encoding,
            schema: None,
            qos: Vec::new(),
            type_hash: None,
            message_count: 0,
            message_type: OnceLock::new(),
        }
    }

    /// Returns whether two channels carry the same topic: with the same type, as far as it is
    /// known.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        (&self.name, &self.type_name, &self.encoding) == (&other.name, &other.type_name, &other.encoding)
            && may_be_equal(self.type_hash, other.type_hash)
    }

    /// Adds the same topic of another file or channel.
    pub(crate) fn add(&mut self, other: Self) {
        self.message_count = self.message_count.saturating_add(other.message_count);
        self.schema = self.schema.take().or(other.schema);
        self.type_hash = self.type_hash.or(other.type_hash);
        if self.qos.is_empty() {
            self.qos = other.qos;
        }
    }

    /// Fills in the facts that only the bag's metadata has.
    pub(crate) fn complete(&mut self, metadata: Option<&TopicMetadata>) {
        let Some(metadata) = metadata else { return };
        if self.qos.is_empty() {
            self.qos.clone_from(&metadata.offered_qos_profiles);
        }
        self.type_hash = self.type_hash.or_else(|| metadata.type_description_hash.parse().ok());
    }

    /// Returns the type, made from [`schema`](Self::schema) on the first call.
    ///
    /// # Errors
    /// The problem as a sentence: the bag lacks a definition of the type, or has one in a form that
    /// is not read.
    pub fn message_type(&self) -> Result<&Arc<MessageType>, &str> {
        let made = self.message_type.get_or_init(|| match &self.schema {
            Some(schema) => schema.message_type(&self.type_name),
            None => Err("the bag has no definition of it".to_owned()),
        });
        made.as_ref().map_err(String::as_str)
    }
}

/// Returns whether two types of one name may be the same.
fn may_be_equal(one: Option<TypeHash>, other: Option<TypeHash>) -> bool {
    one.zip(other).is_none_or(|(one, other)| one == other)
}

/// Old bags say `std_msgs/String` for `std_msgs/msg/String`.
fn full(type_name: &str) -> String {
    match type_name.split_once('/') {
        Some((package, base)) if !base.contains('/') => format!("{package}/msg/{base}"),
        _ => type_name.to_owned(),
    }
}

/// A topic that is to be written.
///
/// ```
/// use sinew::QoS;
/// use sinew_bag::TopicDefinition;
/// use sinew_interfaces::std_msgs::msg::Header;
///
/// let topic = TopicDefinition::of::<Header>("/header").unwrap().qos(QoS::default().transient_local());
/// assert_eq!(topic.type_name, "std_msgs/msg/Header");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicDefinition {
    /// The full name.
    pub name: String,
    /// The full name of its type.
    pub type_name: String,
    /// The encoding of its messages: `cdr`.
    pub encoding: String,
    /// The definition of its type. Without it, viewers can't decode the messages.
    pub schema: Option<Schema>,
    /// The QoS of its publishers.
    pub qos: Vec<RecordedQos>,
    /// The hash of its type.
    pub type_hash: Option<TypeHash>,
}

impl TopicDefinition {
    /// Returns a topic of a Rust type, without QoS; `None` if the type has no encoded form.
    #[must_use]
    pub fn of<T: Message>(name: &str) -> Option<Self> {
        let encoding = T::ENCODING?;
        let description = encoding.description.and_then(|description| description.describe());
        Some(Self {
            name: name.to_owned(),
            type_name: encoding.name.to_owned(),
            encoding: "cdr".to_owned(),
            schema: description.as_ref().map(Schema::of),
            qos: Vec::new(),
            type_hash: Some(encoding.hash),
        })
    }

    /// Returns whether another definition is of the same topic with the same type.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        (&self.name, &self.type_name, &self.encoding) == (&other.name, &other.type_name, &other.encoding)
            && may_be_equal(self.type_hash, other.type_hash)
    }

    /// Adds the QoS of a publisher.
    #[must_use]
    pub fn qos(mut self, qos: impl Into<RecordedQos>) -> Self {
        self.qos.push(qos.into());
        self
    }
}

impl From<&BagTopic> for TopicDefinition {
    /// The topic of another bag.
    fn from(topic: &BagTopic) -> Self {
        Self {
            name: topic.name.clone(),
            type_name: topic.type_name.clone(),
            encoding: topic.encoding.clone(),
            schema: topic.schema.clone(),
            qos: topic.qos.clone(),
            type_hash: topic.type_hash,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A topic `/a` of a type without a definition.
    pub(crate) fn topic() -> TopicDefinition {
        TopicDefinition {
            name: "/a".to_owned(),
            type_name: "a/msg/A".to_owned(),
            encoding: "cdr".to_owned(),
            schema: None,
            qos: Vec::new(),
            type_hash: None,
        }
    }
}
