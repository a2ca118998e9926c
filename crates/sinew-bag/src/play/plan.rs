//! The topics that are played: which ones, as which types, and by which publishers.

use super::error::PlayError;
use super::offer::{offer, retained};
use super::options::Options;
use super::output::Output;
use super::source::{Latched, Source, Span, key};
use super::statistics::SkippedTopic;
use crate::error::BagError;
use crate::reader::BagReader;
use crate::topic::BagTopic;
use sinew::msg::GenericType;
use sinew::{Duration, Node};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Everything that playing needs.
pub(super) struct Plan {
    pub(super) node: Node,
    pub(super) outputs: Vec<Output>,
    pub(super) source: Source,
    pub(super) span: Span,
    pub(super) skipped: Vec<SkippedTopic>,
    /// Damage that opening the bags has shown.
    pub(super) problems: Vec<String>,
}

/// A topic of one or several bags: for each bag the places among its topics.
type Places = Vec<Vec<usize>>;

/// A topic's name, and its type's name and hash.
type TopicKey = (String, String, Option<[u8; 32]>);

impl Plan {
    pub(super) fn make(options: &Options) -> Result<Self, PlayError> {
        let open = |path| Ok(BagReader::open(path)?);
        let bags: Vec<BagReader> = options.bags.iter().map(open).collect::<Result<_, PlayError>>()?;
        let span = span(&bags, options)?;
        let topics = selected(&bags, options)?;
        let node = options.context.node(&options.node_name)?;

        let (mut outputs, mut latched, mut skipped) = (Vec::new(), Vec::new(), Vec::new());
        let mut by_topic = HashMap::new();
        for ((name, type_name, _), places) in topics {
            let all = places
                .iter()
                .zip(&bags)
                .flat_map(|(places, bag)| places.iter().map(|place| &bag.topics()[*place]));
            let all: Vec<&Arc<BagTopic>> = all.collect();
            let known = match known_type(&all) {
                Ok(known) => known,
                Err(why) => {
                    skipped.push(SkippedTopic { name, type_name, why });
                    continue;
                }
            };
            let qos = options.offered(&name, offer(all.iter().map(|topic| &***topic)));
            let output =
                Output::new(&node, options.published_name(&name), (known, qos), options.is_lossless)?;
            by_topic.extend(all.iter().map(|topic| (key(topic), outputs.len())));
            if let Some(count) = retained(&qos) {
                latched.push(Latched { topics: places, output: outputs.len(), count });
            }
            outputs.push(output);
        }
        if outputs.is_empty() {
            let why: Vec<String> =
                skipped.iter().map(|SkippedTopic { name, why, .. }| format!("{name}: {why}")).collect();
            return Err(PlayError::Nothing { why: why.join("; ") });
        }
        for SkippedTopic { name, type_name, why } in &skipped {
            sinew::warn!(node, "{name} ({type_name}) is not played: {why}");
        }
        let problems: Vec<String> =
            bags.iter().flat_map(BagReader::problems).map(ToString::to_string).collect();
        for problem in &problems {
            sinew::warn!(node, "{problem}");
        }
        let source = Source::new(bags, by_topic, latched, (span, options.order))?;
        Ok(Self { node, outputs, source, span, skipped, problems })
    }
}

/// Returns the part of the bags' time that is played.
fn span(bags: &[BagReader], options: &Options) -> Result<Span, PlayError> {
    let times = bags.iter().filter_map(BagReader::times);
    let (begin, last) =
        times.reduce(|(from, to), (start, end)| (from.min(start), to.max(end))).unwrap_or_default();
    let after = |duration: Duration| {
        move |time: u64| time.saturating_add(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
    };
    let start = after(options.start_offset)(begin);
    if start > last {
        let length = Duration::from_nanos(last - begin);
        return Err(PlayError::BeyondEnd { offset: options.start_offset, length });
    }
    let end = last.min(options.until).min(after(options.duration)(start));
    Ok(Span { begin, start, end })
}

/// Returns the selected topics.
fn selected(bags: &[BagReader], options: &Options) -> Result<BTreeMap<TopicKey, Places>, BagError> {
    let has = |name: &String| bags.iter().any(|bag| bag.topics().iter().any(|topic| topic.name == *name));
    if let Some(name) = options.topics.iter().chain(&options.excluded).find(|name| !has(name)) {
        let unknown = crate::selection::Selection::all().topic(name);
        for bag in bags {
            bag.messages(&unknown)?; // names a similar one
        }
    }
    let is_chosen = options.choice()?;
    let mut topics: BTreeMap<TopicKey, Places> = BTreeMap::new();
    for (number, bag) in bags.iter().enumerate() {
        for (place, topic) in bag.topics().iter().enumerate().filter(|(_, topic)| is_chosen(topic)) {
            let places = topics.entry((
                topic.name.clone(),
                topic.type_name.clone(),
                topic.type_hash.map(|hash| hash.0),
            ));
            places.or_insert_with(|| vec![Vec::new(); bags.len()])[number].push(place);
        }
    }
    Ok(topics)
}

/// Returns the type of a topic: by the definition in a bag, or by its hash.
fn known_type(topics: &[&Arc<BagTopic>]) -> Result<GenericType, String> {
    let mut problem = "no bag has its type".to_owned();
    for topic in topics {
        match type_of(topic) {
            Ok(known) => return Ok(known),
            Err(why) => problem = why,
        }
    }
    Err(problem)
}

fn type_of(topic: &BagTopic) -> Result<GenericType, String> {
    let BagTopic { type_name, encoding, schema, type_hash, .. } = topic;
    if encoding != "cdr" {
        return Err(format!("its messages are encoded as `{encoding}`, not as `cdr`"));
    }
    let recorded = type_hash.filter(|hash| hash.0 != [0; 32]);
    let none = || Err("the bag has no definition of its type".to_owned());
    let description = schema.as_ref().map_or_else(none, |schema| schema.description(type_name));
    let known = match (description, recorded) {
        (Ok(description), hash) if hash.is_none_or(|hash| hash == description.hash()) => {
            GenericType::described(description)
        }
        (_, Some(hash)) => GenericType::new(type_name, hash),
        (description, None) => {
            let why = description.err().unwrap_or_default();
            return Err(format!("neither the hash nor the definition of its type is known: {why}"));
        }
    };
    known.map_err(|error| error.to_string())
}
