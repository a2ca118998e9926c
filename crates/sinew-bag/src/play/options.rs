//! The options that players and replays have in common.

use crate::error::BagError;
use crate::pattern::compiled;
use crate::topic::BagTopic;
use regex_lite::Regex;
use sinew::{Context, Duration, QoS};
use std::collections::HashMap;
use std::path::PathBuf;

/// The order in which messages are played.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MessageOrder {
    /// As the recorder received them.
    #[default]
    Received,
    /// As their publishers sent them. One that was sent more than a second before or after the
    /// recorder received it, as by a wrong clock, is played a second from its reception.
    Sent,
}

/// The times at which a player publishes the time of its bags on `/clock`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum PlayerClock {
    /// Never.
    #[default]
    None,
    /// This number of times in a second of real time, also while the player is paused. (rosbag2:
    /// 40.)
    Hertz(f64),
    /// With each message, before it.
    Messages,
}

/// A choice of topics by the program.
pub(super) type TopicFilter = Box<dyn Fn(&BagTopic) -> bool + Send>;

/// The choice of messages, and how they are published.
pub(super) struct Options {
    pub(super) context: Context,
    pub(super) node_name: String,
    pub(super) bags: Vec<PathBuf>,
    pub(super) topics: Vec<String>,
    pub(super) excluded: Vec<String>,
    pub(super) pattern: Option<String>,
    pub(super) excluded_pattern: Option<String>,
    pub(super) filter: Option<TopicFilter>,
    pub(super) renamed: HashMap<String, String>,
    /// By the topics' names in the bags.
    pub(super) qos: HashMap<String, QoS>,
    pub(super) order: MessageOrder,
    pub(super) start_offset: Duration,
    pub(super) duration: Duration,
    pub(super) until: u64,
    pub(super) clock: PlayerClock,
    pub(super) is_lossless: bool,
}

impl Options {
    pub(super) fn new(context: &Context, node_name: &str) -> Self {
        Self {
            context: context.clone(),
            node_name: node_name.to_owned(),
            bags: Vec::new(),
            topics: Vec::new(),
            excluded: Vec::new(),
            pattern: None,
            excluded_pattern: None,
            filter: None,
            renamed: HashMap::new(),
            qos: HashMap::new(),
            order: MessageOrder::default(),
            start_offset: Duration::ZERO,
            duration: Duration::MAX,
            until: u64::MAX,
            clock: PlayerClock::default(),
            is_lossless: false,
        }
    }

    /// Returns the choice of topics as a function.
    pub(super) fn choice(&self) -> Result<impl Fn(&BagTopic) -> bool, BagError> {
        let pattern = self.pattern.as_deref().map(compiled).transpose()?;
        let excluded_pattern = self.excluded_pattern.as_deref().map(compiled).transpose()?;
        Ok(move |topic: &BagTopic| {
            let found =
                |pattern: &Option<Regex>| pattern.as_ref().map(|pattern| pattern.is_match(&topic.name));
            let is_chosen = match (self.topics.contains(&topic.name), found(&pattern)) {
                (true, _) | (_, Some(true)) => true,
                (false, Some(false)) => false,
                (false, None) => self.topics.is_empty(),
            };
            let is_excluded =
                self.excluded.contains(&topic.name) || found(&excluded_pattern).unwrap_or(false);
            is_chosen && !is_excluded && self.filter.as_ref().is_none_or(|filter| filter(topic))
        })
    }

    pub(super) fn offered(&self, topic: &str, recorded: QoS) -> QoS {
        self.qos.get(topic).copied().unwrap_or(recorded)
    }

    pub(super) fn published_name<'a>(&'a self, topic: &'a str) -> &'a str {
        self.renamed.get(topic).map_or(topic, String::as_str)
    }
}
