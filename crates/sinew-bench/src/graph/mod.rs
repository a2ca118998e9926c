//! A topology: the publishers with their rates, and the subscriptions. Read from the JSON form of
//! iRobot's `ros2-performance` (`performance_test_factory`), without its clients and servers.

pub mod message_type;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;
use std::time::Duration;

use serde::Deserialize;

use message_type::{MOST_BYTES, MessageType};

/// Graphs that are part of the program, by name.
const SHIPPED: [(&str, &str); 2] = [
    ("mont_blanc", include_str!("../../topologies/mont_blanc.json")),
    ("sierra_nevada", include_str!("../../topologies/sierra_nevada.json")),
];

/// Most nodes in a file.
const MOST_NODES: usize = 10_000;

/// The reason why a topology can't be run, with its place.
#[derive(Debug, thiserror::Error)]
pub enum TopologyError {
    /// There is neither a file nor a shipped graph of that name.
    #[error("can't read topology {file}: {source}. Topologies that need no file: {}", names())]
    Unreadable {
        /// The name as the user gave it.
        file: String,
        /// The operating system's answer.
        source: std::io::Error,
    },

    /// The file is too long for a topology, perhaps endless.
    #[error("{file} is longer than {most} bytes, which no topology is: does it name the right file?")]
    TooLong {
        /// The name as the user gave it.
        file: String,
        /// The limit, in bytes.
        most: usize,
    },

    /// The file isn't of the expected form.
    #[error("{file}:{line}:{column}: {place}{problem}")]
    Form {
        /// The file or graph.
        file: String,
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// The node and field, ending in `: `, or empty if the text is not JSON.
        place: String,
        /// The problem.
        problem: String,
    },

    /// The file is well-formed but contradictory.
    #[error("{file}: {problem}")]
    Meaning {
        /// The file or graph.
        file: String,
        /// The problem, with the nodes and topics concerned.
        problem: String,
    },
}

fn names() -> String {
    SHIPPED.map(|(name, _)| name).join(", ")
}

/// A graph that can be run.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Graph {
    /// Its name in the results: the file's name without its extension.
    #[serde(skip)]
    pub name: String,
    /// The nodes; after reading, `number` is expanded and every name is unique.
    pub nodes: Vec<NodePlan>,
}

/// A node.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodePlan {
    /// Its name.
    #[serde(rename = "node_name")]
    pub name: String,
    /// Number of such nodes, `name_1` and so on; one without a suffix if missing.
    number: Option<usize>,
    /// Its publishers.
    #[serde(default)]
    pub publishers: Vec<PublisherPlan>,
    /// Its subscriptions.
    #[serde(default)]
    pub subscribers: Vec<SubscriberPlan>,
}

/// A publisher with its timer.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublisherPlan {
    /// The topic's name.
    #[serde(rename = "topic_name")]
    pub topic: String,
    msg_type: MessageType,
    period_ms: Option<Positive>,
    freq_hz: Option<Positive>,
    msg_size: Option<MessageSize>,
    /// How rclcpp would get the message. Sinew always loans: the fastest way of all, and none of
    /// these.
    #[serde(rename = "msg_pass_by")]
    _pass_by: Option<PassBy>,
}

/// A subscription.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SubscriberPlan {
    /// The topic's name.
    #[serde(rename = "topic_name")]
    pub topic: String,
    msg_type: MessageType,
    #[serde(rename = "msg_pass_by")]
    _pass_by: Option<PassBy>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum PassBy {
    UniquePtr,
    SharedPtr,
    LoanedMsg,
}

/// A number greater than zero and at most a million.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "f64")]
struct Positive(f64);

impl TryFrom<f64> for Positive {
    type Error = String;

    fn try_from(number: f64) -> Result<Self, String> {
        let fits = number > 0.0 && number <= 1e6;
        fits.then_some(Self(number))
            .ok_or_else(|| format!("is {number} and must be above 0 and at most 1000000"))
    }
}

/// An allowed number of bytes of a message.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "u64")]
struct MessageSize(usize);

impl TryFrom<u64> for MessageSize {
    type Error = String;

    fn try_from(bytes: u64) -> Result<Self, String> {
        let fits = usize::try_from(bytes).ok().filter(|&bytes| bytes <= MOST_BYTES);
        fits.map(Self).ok_or_else(|| format!("is {bytes} bytes and may be {MOST_BYTES} at most"))
    }
}

impl PublisherPlan {
    /// Returns the time between two messages.
    pub fn period(&self) -> Duration {
        // `freq_hz` takes precedence if both exist, as in the original.
        let milliseconds = match (self.freq_hz, self.period_ms) {
            (Some(Positive(rate)), _) => 1000.0 / rate,
            (None, Some(Positive(period))) => period,
            (None, None) => unreachable!("checked when the file was read"),
        };
        Duration::from_secs_f64(milliseconds / 1000.0)
    }

    /// Returns the length of the messages' data, in bytes.
    pub fn data_size(&self) -> usize {
        self.msg_type.fixed_size().or(self.msg_size.map(|size| size.0)).unwrap_or(0)
    }

    fn check(&self) -> Result<(), String> {
        if self.freq_hz.is_none() && self.period_ms.is_none() {
            return Err(format!("publisher of `{}` has neither `period_ms` nor `freq_hz`", self.topic));
        }
        match (self.msg_type.fixed_size(), self.msg_size) {
            (None, None) => {
                Err(format!("publisher of `{}`: `{}` needs `msg_size`, in bytes", self.topic, self.msg_type))
            }
            (Some(fixed), Some(MessageSize(size))) if fixed != size => Err(format!(
                "publisher of `{}`: `msg_size` is {size}, but `{}` always has {fixed} bytes",
                self.topic, self.msg_type
            )),
            _ => Ok(()),
        }
    }
}

/// Most bytes of a file: a large robot's takes 10 KB. `/dev/zero` has no end.
const LONGEST: usize = 16 << 20;

/// Reads a file, or its first bytes, one more than are allowed.
fn read(name: &str) -> io::Result<String> {
    let mut text = String::new();
    File::open(name)?.take(LONGEST as u64 + 1).read_to_string(&mut text)?;
    Ok(text)
}

impl Graph {
    /// Reads the file of that name or, if it is the name of a shipped graph and no such file
    /// exists, that graph.
    pub fn load(name: &str) -> Result<Self, TopologyError> {
        let text = match read(name) {
            Ok(text) => text,
            Err(source) => match SHIPPED.iter().find(|(shipped, _)| *shipped == name) {
                Some((_, text)) => (*text).to_owned(),
                None => return Err(TopologyError::Unreadable { file: name.to_owned(), source }),
            },
        };
        if text.len() > LONGEST {
            return Err(TopologyError::TooLong { file: name.to_owned(), most: LONGEST });
        }
        Self::parse(name, &text)
    }

    /// Reads `text`; `file` is for messages.
    fn parse(file: &str, text: &str) -> Result<Self, TopologyError> {
        let mut json = serde_json::Deserializer::from_str(text);
        let graph: Self =
            serde_path_to_error::deserialize(&mut json).map_err(|error| form_error(file, text, &error))?;
        json.end().map_err(|error| TopologyError::Form {
            file: file.to_owned(),
            line: error.line(),
            column: error.column(),
            place: String::new(),
            problem: without_position(&error),
        })?;
        let name = Path::new(file).file_stem().unwrap_or_default().to_string_lossy().into_owned();
        graph.numbered(name).map_err(|problem| TopologyError::Meaning { file: file.to_owned(), problem })
    }

    /// Returns the periods of each topic's publishers, for topics that have any.
    pub fn periods_by_topic(&self) -> BTreeMap<&str, Vec<Duration>> {
        let mut periods: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for publisher in self.nodes.iter().flat_map(|node| &node.publishers) {
            periods.entry(publisher.topic.as_str()).or_default().push(publisher.period());
        }
        periods
    }

    /// Returns the number of messages per second at all subscriptions together.
    pub fn deliveries_per_second(&self) -> f64 {
        let periods = self.periods_by_topic();
        let subscribers = self.nodes.iter().flat_map(|node| &node.subscribers);
        let periods = subscribers.filter_map(|subscriber| periods.get(subscriber.topic.as_str())).flatten();
        periods.map(|period| 1.0 / period.as_secs_f64()).sum()
    }

    /// Expands `number`, and checks the graph as a whole.
    fn numbered(self, name: String) -> Result<Self, String> {
        let wanted: usize =
            self.nodes.iter().map(|node| node.number.unwrap_or(1)).fold(0, usize::saturating_add);
        if wanted > MOST_NODES {
            return Err(format!("asks for {wanted} nodes (with `number`); {MOST_NODES} is the most"));
        }
        let mut nodes = Vec::with_capacity(wanted);
        for mut node in self.nodes {
            match node.number.take() {
                None => nodes.push(node),
                Some(count) => nodes.extend(
                    (1..=count)
                        .map(|number| NodePlan { name: format!("{}_{number}", node.name), ..node.clone() }),
                ),
            }
        }
        let graph = Self { name, nodes };
        graph.check()?;
        Ok(graph)
    }

    fn check(&self) -> Result<(), String> {
        let mut names = BTreeSet::new();
        let mut types: BTreeMap<&str, (&MessageType, &str)> = BTreeMap::new();
        for node in &self.nodes {
            if !names.insert(&node.name) {
                return Err(format!("two nodes are named `{}`: names must differ", node.name));
            }
            for publisher in &node.publishers {
                publisher.check().map_err(|problem| format!("node `{}`: {problem}", node.name))?;
            }
            let published = node.publishers.iter().map(|publisher| (&publisher.topic, &publisher.msg_type));
            let subscribed =
                node.subscribers.iter().map(|subscriber| (&subscriber.topic, &subscriber.msg_type));
            for (topic, msg_type) in published.chain(subscribed) {
                let (first, other) = types.entry(topic).or_insert((msg_type, &node.name));
                if *first != msg_type {
                    return Err(format!(
                        "topic `{topic}` is `{msg_type}` in node `{}` and `{first}` in node `{other}`: they would never \
                         meet",
                        node.name
                    ));
                }
            }
        }
        if self.nodes.iter().all(|node| node.publishers.is_empty()) {
            return Err("no node publishes anything: there is nothing to measure".to_owned());
        }
        Ok(())
    }
}

/// Puts the place, in the user's terms, before the parser's message.
fn form_error(
    file: &str,
    text: &str,
    error: &serde_path_to_error::Error<serde_json::Error>,
) -> TopologyError {
    let path = error.path().to_string();
    let inner = error.inner();
    let place = if inner.is_data() { place(&path, text) } else { String::new() };
    TopologyError::Form {
        file: file.to_owned(),
        line: inner.line(),
        column: inner.column(),
        place,
        problem: without_position(inner),
    }
}

/// Turns `nodes[2].publishers[0].msg_type` into ``node `lyon`, publishers[0].msg_type: ``.
fn place(path: &str, text: &str) -> String {
    let named = || {
        let (index, field) = path.strip_prefix("nodes[")?.split_once(']')?;
        let whole: serde_json::Value = serde_json::from_str(text).ok()?;
        let node = whole["nodes"][index.parse::<usize>().ok()?]["node_name"].as_str()?.to_owned();
        Some(match field.trim_start_matches('.') {
            "" => format!("node `{node}`: "),
            field => format!("node `{node}`, {field}: "),
        })
    };
    named().unwrap_or_else(|| if path == "." { String::new() } else { format!("{path}: ") })
}

/// Removes the line and column at the end of the parser's message: the place stands in front.
fn without_position(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    message.strip_suffix(&position).unwrap_or(&message).to_owned()
}

#[cfg(test)]
mod tests;
