//! The thread that collects messages: it follows the graph, and looks at its subscriptions.
//!
//! It looks at fixed times instead of being woken: no publisher has to announce a message, and
//! messages wait where they are published. A message counts as received at the time of its
//! publication, so the period of the looks is in no number of the bag.
//!
//! A look goes from topic to topic, so it finds messages out of order. Those that are newer than
//! all of the look before wait for the next one, as an older one may have come meanwhile; so the
//! messages are written in the order of their times.

use super::Options;
use super::cache::{Cache, Content, Waiting};
use super::control::Control;
use super::report::{Figures, RecordedTopic};
use super::request;
use super::source::{Since, Source};
use crate::schema::Schema;
use crate::topic::TopicDefinition;
use sinew::error::CreateError;
use sinew::graph::{EndpointInfo, EndpointKind, Graph, GraphChanges, GraphListener};
use sinew::msg::{GenericType, TypeHash};
use sinew::time::ClockKind;
use sinew::{Node, QoS, erased};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

/// Time between two looks.
const PERIOD: Duration = Duration::from_millis(5);
/// Looks between two reads of the counters of lost messages.
const COUNTED_EACH: u64 = 50;
/// Time from the end of the recording within which a message may count as published before: wall
/// times are derived from steady ones.
const ABOUT_NOW: Duration = Duration::from_millis(100);
/// Longest wait for messages that another thread is bringing in.
const PATIENCE: Duration = Duration::from_secs(1);
/// Messages of a topic that are taken before the other topics have their turn.
const MOST_AT_ONCE: usize = 1000;

pub(super) struct Collector {
    node: Node,
    graph: Graph,
    changes: GraphChanges,
    /// Ends the wait for the next look when the graph changes.
    _listener: GraphListener,
    options: Options,
    cache: Arc<Cache>,
    figures: Arc<Figures>,
    control: Option<Control>,
    /// By the topics' places.
    sources: Vec<Source>,
    /// Topics that can't be recorded, and that the log has named.
    refused: BTreeSet<String>,
    /// Messages that wait for the next look, by their times.
    held: Vec<Waiting>,
    /// Time of the newest message that the last look found.
    newest: u64,
    /// Publishers that are found from now on have come while it recorded.
    has_begun: bool,
}

impl Collector {
    /// Subscribes to the topics that there are.
    pub(super) fn new(
        node: Node,
        options: Options,
        cache: Arc<Cache>,
        figures: Arc<Figures>,
    ) -> Result<Self, CreateError> {
        let control = options.has_control.then(|| Control::new(&node, &cache)).transpose()?;
        let graph = node.graph();
        let changes = graph.changes();
        let woken = cache.clone();
        let listener = graph.on_change(move || woken.wake());
        let mut this = Self {
            node,
            graph,
            changes,
            _listener: listener,
            options,
            cache,
            figures,
            control,
            sources: Vec::new(),
            refused: BTreeSet::new(),
            held: Vec::new(),
            newest: 0,
            has_begun: false,
        };
        this.follow();
        this.has_begun = true;
        Ok(this)
    }

    /// Collects until the recorder stops.
    pub(super) fn run(mut self) {
        for look in 0.. {
            let goes_on = self.cache.pause_between_looks(PERIOD);
            if self.changes.wait(Duration::ZERO) {
                self.follow();
            }
            if let Some(control) = &self.control {
                control.serve();
            }
            if !goes_on {
                break;
            }
            self.look();
            if look % COUNTED_EACH == 0 {
                self.count_losses();
            }
        }
        self.finish();
        self.count_losses();
    }

    /// Takes the messages that have come since the last look.
    fn look(&mut self) {
        let (before, is_paused) = (self.newest, self.cache.is_paused());
        let mut room = if self.options.is_lossless { self.cache.room() } else { u64::MAX };
        for (topic, source) in self.sources.iter_mut().enumerate() {
            for _ in 0..MOST_AT_ONCE {
                if room == 0 {
                    break; // they wait in their history, and then their publishers
                }
                let Some(message) = source.take(topic) else { break };
                if is_paused && !message.is_from_before {
                    continue;
                }
                room = room.saturating_sub(message.room());
                self.newest = self.newest.max(message.stamps.received);
                self.held.push(message);
            }
        }
        if self.held.is_empty() {
            return;
        }
        self.held.sort_by_key(|message| message.stamps.received);
        let newer = self.held.partition_point(|message| message.stamps.received <= before);
        let newer = self.held.split_off(newer);
        let due = std::mem::replace(&mut self.held, newer);
        self.hand_over(due, self.options.is_lossless);
    }

    /// Takes the messages that were published before now.
    fn finish(&mut self) {
        let now = self.node.now_by(ClockKind::System) + ABOUT_NOW;
        let end = u64::try_from(now.nanoseconds()).unwrap_or_default();
        let is_paused = self.cache.is_paused();
        for topic in 0..self.sources.len() {
            let mut is_over = false;
            while !is_over {
                // Another thread may be about to bring messages in: `take` doesn't wait for it.
                self.sources[topic].bring_in(PATIENCE);
                is_over = true;
                while let Some(message) = self.sources[topic].take(topic) {
                    is_over = message.stamps.received > end; // a publisher that goes on
                    if !is_paused {
                        self.held.push(message);
                    }
                    if self.held.len() == MOST_AT_ONCE {
                        self.hand_over_in_order();
                    }
                    if is_over {
                        break;
                    }
                }
            }
        }
        self.hand_over_in_order();
    }

    /// Hands over everything once there is room.
    fn hand_over_in_order(&mut self) {
        self.held.sort_by_key(|message| message.stamps.received);
        let all = std::mem::take(&mut self.held);
        self.cache.wait_for_room();
        self.hand_over(all, true);
    }

    fn hand_over(&mut self, mut due: Vec<Waiting>, is_patient: bool) {
        let trigger = self.options.trigger.as_ref();
        let is_trigger = |message: &Waiting| Some(&self.sources[message.topic].name) == trigger;
        let is_triggered = trigger.is_some() && due.iter().any(is_trigger);
        if self.cache.keeps_copies() {
            for message in &mut due {
                message.content = Content::Copied(message.content.bytes().into());
            }
        }
        let refused = self.cache.add(due.into_iter(), is_patient);
        if !refused.is_empty() {
            self.figures.with(|figures| {
                refused.iter().for_each(|message| figures.topics[message.topic].lost_in_recorder += 1);
            });
        }
        if is_triggered {
            self.cache.take_snapshot();
        }
    }

    fn count_losses(&self) {
        let lost: Vec<u64> = self.sources.iter().map(Source::lost).collect();
        self.figures.with(|figures| {
            for ((topic, lost), source) in figures.topics.iter_mut().zip(lost).zip(&self.sources) {
                (topic.lost_in_transport, topic.early) = (lost, source.early());
            }
        });
    }

    // ---- following the graph ----

    /// Subscribes to the topics that are new, and adapts to publishers that are.
    fn follow(&mut self) {
        let snapshot = self.graph.snapshot();
        let mut found: BTreeMap<_, Vec<&EndpointInfo>> = BTreeMap::new();
        let is_wanted = |end: &&EndpointInfo| {
            end.kind == EndpointKind::Publisher
                && end.node != self.node.full_name()
                && self.options.choice.takes(&end.name, &end.type_name)
        };
        for end in snapshot.endpoints().iter().filter(is_wanted) {
            let hash = end.type_hash.map(|hash| hash.0);
            found.entry((end.name.as_str(), end.type_name.as_str(), hash)).or_default().push(end);
        }
        for publishers in found.values() {
            match self.sources.iter().position(|source| source.is_of(publishers[0])) {
                Some(topic) => self.adapt(topic, publishers),
                None => self.begin(publishers),
            }
        }
    }

    /// Begins to record a topic.
    fn begin(&mut self, publishers: &[&EndpointInfo]) {
        let publisher = publishers[0];
        if self.refused.contains(&about(publisher)) {
            return;
        }
        let Some(type_hash) = publisher.type_hash.filter(|_| publisher.leaves_process()) else {
            return self.refuse(publisher, &"its type has no encoded form");
        };
        let wall = self.node.now_by(ClockKind::System).nanoseconds();
        let since = Since {
            wall: u64::try_from(wall).unwrap_or_default(),
            steady: self.node.now_by(ClockKind::Steady),
        };
        let made = match self.subscribe(publisher, type_hash, publishers) {
            Ok(made) => made,
            Err(problem) => return self.refuse(publisher, &problem),
        };
        let definition = TopicDefinition {
            name: publisher.name.clone(),
            type_name: publisher.type_name.clone(),
            encoding: "cdr".to_owned(),
            schema: self.schema(publisher),
            qos: publishers.iter().map(|publisher| publisher.qos.into()).collect(),
            type_hash: Some(type_hash),
        };
        if definition.schema.is_none() {
            sinew::warn!(
                self.node,
                "{} is recorded without the definition of {}: no participant has described it",
                publisher.name,
                publisher.type_name
            );
        }
        self.figures.with(|figures| {
            figures.topics.push(RecordedTopic {
                name: publisher.name.clone(),
                type_name: publisher.type_name.clone(),
                ..RecordedTopic::default()
            });
        });
        self.cache.add_topic(definition);
        let mut source = Source::new(publisher, type_hash, made, since);
        if !self.has_begun {
            source.were_there(publishers);
        }
        self.sources.push(source);
    }

    fn subscribe(
        &self,
        publisher: &EndpointInfo,
        type_hash: TypeHash,
        publishers: &[&EndpointInfo],
    ) -> Result<erased::Subscription, String> {
        let known = GenericType::new(&publisher.type_name, type_hash).map_err(|error| error.to_string())?;
        let offered: Vec<QoS> = publishers.iter().map(|publisher| publisher.qos).collect();
        let adapted = request::adapted(&offered, self.options.is_lossless);
        let qos = self.options.qos.get(&publisher.name).copied().unwrap_or(adapted);
        let known = erased::MessageType::known(known);
        let made = self.node.erased_subscription(&publisher.name, known).qos(qos).create_erased();
        made.map_err(|error| error.to_string())
    }

    /// Says once why a topic is not recorded.
    fn refuse(&mut self, publisher: &EndpointInfo, problem: &dyn std::fmt::Display) {
        let about = about(publisher);
        if self.options.choice.names(&publisher.name) {
            sinew::warn!(self.node, "{about} can't be recorded: {problem}");
        } else {
            sinew::info!(self.node, "{about} can't be recorded: {problem}");
        }
        self.refused.insert(about);
    }

    /// Asks for less if a publisher offers less than the subscription asks for, as messages of that
    /// one would be missing otherwise.
    fn adapt(&mut self, topic: usize, publishers: &[&EndpointInfo]) {
        let source = &self.sources[topic];
        let is_short = publishers.iter().find(|publisher| source.asks_too_much_of(&publisher.qos));
        let Some(publisher) = is_short else { return };
        if self.options.qos.contains_key(&source.name) {
            if self.refused.insert(format!("{} of {}", source.name, publisher.gid)) {
                sinew::warn!(
                    self.node,
                    "{} of {} is not recorded: its publisher offers less than the overridden QoS asks for",
                    source.name,
                    publisher.node
                );
            }
            return;
        }
        match self.subscribe(publisher, source.type_hash, publishers) {
            Ok(weaker) => {
                let rest = self.sources[topic].replace(topic, weaker);
                if !self.cache.is_paused() {
                    // The next look hands them over, with the messages that it finds.
                    for message in rest {
                        self.newest = self.newest.max(message.stamps.received);
                        self.held.push(message);
                    }
                }
            }
            Err(problem) => self.refuse(publisher, &problem),
        }
    }

    /// Returns the definition of a publisher's type.
    fn schema(&self, publisher: &EndpointInfo) -> Option<Schema> {
        let described = self.graph.description_of(publisher);
        described
            .map(|found| Schema::of(&found))
            .or_else(|| (self.options.find)(&publisher.type_name, publisher.type_hash?))
    }
}

/// Names a publisher's topic and type.
fn about(publisher: &EndpointInfo) -> String {
    format!("{} ({})", publisher.name, publisher.type_name)
}
