//! The options of a recorder.

use super::cache::{AtEnd, Cache, Snapshot};
use super::choice::Choice;
use super::collector::Collector;
use super::report::Figures;
use super::retained::Retained;
use super::scribe::Scribe;
use super::{FindDefinition, Options, RecordError, Recorder};
use crate::options::WriterOptions;
use crate::pattern::compiled;
use crate::schema::Schema;
use crate::writer::BagWriter;
use sinew::msg::TypeHash;
use sinew::{Context, QoS};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::thread;

/// Bytes that may wait for the disk, as in rosbag2.
const CACHE: u64 = 100 << 20;

/// The options of a [`Recorder`]; from [`Recorder::builder`].
///
/// Names are full names. Service events and the topics of an action belong to their service or
/// action, and are chosen by its name; the other methods are about all other topics. An exclusion
/// wins over every other choice, except that a named topic is recorded in spite of its type.
#[must_use = "nothing is recorded before `start`"]
pub struct RecorderBuilder {
    context: Context,
    node: String,
    choice: Choice,
    pattern: Option<String>,
    excluded_pattern: Option<String>,
    qos: BTreeMap<String, QoS>,
    storage: WriterOptions,
    cache: u64,
    snapshot: Option<Snapshot>,
    trigger: Option<String>,
    custom_data: BTreeMap<String, String>,
    is_lossless: bool,
    is_paused: bool,
    has_control: bool,
    find: FindDefinition,
}

fn add<Text: Into<String>>(
    to: &mut std::collections::BTreeSet<String>,
    names: impl IntoIterator<Item = Text>,
) {
    to.extend(names.into_iter().map(Into::into));
}

impl RecorderBuilder {
    pub(super) fn new(context: &Context) -> Self {
        Self {
            context: context.clone(),
            node: "rosbag2_recorder".to_owned(),
            choice: Choice::default(),
            pattern: None,
            excluded_pattern: None,
            qos: BTreeMap::new(),
            storage: WriterOptions::default(),
            cache: CACHE,
            snapshot: None,
            trigger: None,
            custom_data: BTreeMap::new(),
            is_lossless: false,
            is_paused: false,
            has_control: false,
            find: Box::new(|_, _| None),
        }
    }

    /// Sets the name of the recorder's node. Default: `rosbag2_recorder`.
    pub fn node_name(mut self, name: &str) -> Self {
        name.clone_into(&mut self.node);
        self
    }

    /// Adds topics, also hidden ones.
    pub fn topics<Text: Into<String>>(mut self, names: impl IntoIterator<Item = Text>) -> Self {
        add(&mut self.choice.topics.named, names);
        self
    }

    /// Adds all topics that aren't hidden.
    pub fn all_topics(mut self) -> Self {
        self.choice.topics.has_all = true;
        self
    }

    /// Adds all topics that aren't hidden, all services and all actions.
    pub fn all(self) -> Self {
        self.all_topics().all_services().all_actions()
    }

    /// Adds the topics of these types, such as `sensor_msgs/msg/Image`.
    pub fn types<Text: Into<String>>(mut self, names: impl IntoIterator<Item = Text>) -> Self {
        add(&mut self.choice.types, names);
        self
    }

    /// Adds the topics, services and actions with names in which this regular expression is found.
    pub fn pattern(mut self, pattern: &str) -> Self {
        self.pattern = Some(pattern.to_owned());
        self
    }

    /// Adds the events of services, as far as their clients and servers publish any.
    pub fn services<Text: Into<String>>(mut self, names: impl IntoIterator<Item = Text>) -> Self {
        add(&mut self.choice.services.named, names);
        self
    }

    /// Adds the events of all services.
    pub fn all_services(mut self) -> Self {
        self.choice.services.has_all = true;
        self
    }

    /// Adds the topics of actions: feedback, status, and the events of their services.
    pub fn actions<Text: Into<String>>(mut self, names: impl IntoIterator<Item = Text>) -> Self {
        add(&mut self.choice.actions.named, names);
        self
    }

    /// Adds the topics of all actions.
    pub fn all_actions(mut self) -> Self {
        self.choice.actions.has_all = true;
        self
    }

    /// Sets whether hidden topics are recorded that aren't named: those with a part that begins
    /// with an underscore.
    pub fn hidden(mut self, wanted: bool) -> Self {
        self.choice.has_hidden = wanted;
        self
    }

    /// Excludes topics, services and actions by their names.
    pub fn exclude<Text: Into<String>>(mut self, names: impl IntoIterator<Item = Text>) -> Self {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        for kind in [&mut self.choice.topics, &mut self.choice.services, &mut self.choice.actions] {
            add(&mut kind.excluded, names.iter().cloned());
        }
        self
    }

    /// Excludes the topics of these types, unless they are named.
    pub fn exclude_types<Text: Into<String>>(mut self, names: impl IntoIterator<Item = Text>) -> Self {
        add(&mut self.choice.excluded_types, names);
        self
    }

    /// Excludes the topics, services and actions with names in which this regular expression is
    /// found.
    pub fn exclude_pattern(mut self, pattern: &str) -> Self {
        self.excluded_pattern = Some(pattern.to_owned());
        self
    }

    /// Sets the QoS that the recorder requests of these topics, such as those of
    /// [`read_qos_overrides`](crate::read_qos_overrides). Otherwise it adapts to what the
    /// publishers offer, so that it gets the messages of all.
    pub fn qos_overrides(mut self, overrides: BTreeMap<String, QoS>) -> Self {
        self.qos.extend(overrides);
        self
    }

    /// Sets how the bag is written: compression, limits of files, and others.
    pub fn storage(mut self, options: WriterOptions) -> Self {
        self.storage = options;
        self
    }

    /// Sets how many bytes of messages may wait for the disk, or for a snapshot: with about a
    /// hundred that the recorder needs for each. Default: 100 MiB.
    pub fn cache(mut self, bytes: u64) -> Self {
        self.cache = bytes;
        self
    }

    /// Writes nothing until [`Recorder::take_snapshot`], the service `~/snapshot` or the
    /// [trigger](Self::trigger) asks for it, and then the messages of the time before. The messages
    /// wait in copies: the memory of publishers is not for that.
    pub fn snapshot(mut self, snapshot: Snapshot) -> Self {
        self.snapshot = Some(snapshot);
        self
    }

    /// Sets a topic with messages that ask for a snapshot. It is recorded, too.
    pub fn trigger(mut self, topic: &str) -> Self {
        self.choice.topics.named.insert(topic.to_owned());
        self.trigger = Some(topic.to_owned());
        self
    }

    /// Makes publishers wait rather than lose messages, if they are reliable and keep all, for as
    /// long as each of them allows ([`max_blocking_time`](QoS::max_blocking_time)). Messages of
    /// others wait as long as they are kept. Without this, nothing waits for the recorder.
    pub fn lossless(mut self) -> Self {
        self.is_lossless = true;
        self
    }

    /// Adds texts of the program's own to the bag's metadata.
    pub fn custom_data(mut self, texts: impl IntoIterator<Item = (String, String)>) -> Self {
        self.custom_data.extend(texts);
        self
    }

    /// Begins [paused](Recorder::pause): only messages are recorded that publishers have retained
    /// from before.
    pub fn start_paused(mut self) -> Self {
        self.is_paused = true;
        self
    }

    /// Offers the services of rosbag2's recorder: `~/snapshot`, `~/split_bagfile`, `~/pause`,
    /// `~/resume`, `~/toggle_paused`, `~/is_paused` and `~/stop`; and publishes a message on
    /// `events/write_split` when a file begins behind another.
    pub fn control_services(mut self) -> Self {
        self.has_control = true;
        self
    }

    /// Sets the source of definitions for types that no participant has described, as of programs
    /// on other hosts. It is called with the name and the hash of a type, on the recorder's thread.
    pub fn definitions(mut self, find: impl Fn(&str, TypeHash) -> Option<Schema> + Send + 'static) -> Self {
        self.find = Box::new(find);
        self
    }

    /// Makes the bag, which must not exist yet, and begins. When this returns, the recorder has
    /// subscribed to the topics that there are.
    ///
    /// # Errors
    /// [`RecordError`]: there is something of that name, the directory can't be made, a pattern is
    /// wrong, nothing is selected, or the context is shut down.
    pub fn start(self, path: impl AsRef<Path>) -> Result<Recorder, RecordError> {
        let mut choice = self.choice;
        choice.pattern = self.pattern.as_deref().map(compiled).transpose()?;
        choice.excluded_pattern = self.excluded_pattern.as_deref().map(compiled).transpose()?;
        if choice.is_empty() {
            return Err(RecordError::Nothing);
        }
        let node = self.context.node_builder(&self.node).bare().create()?;
        let splits = self.has_control.then(|| node.publisher("events/write_split").create()).transpose()?;
        let most_repeated = self.storage.max_size / 2;
        let mut bag = BagWriter::create(&path, self.storage)?;
        bag.custom_data().extend(self.custom_data);
        let cache = Arc::new(Cache::new(self.cache, self.snapshot));
        cache.set_paused(self.is_paused);
        let figures = Arc::new(Figures::new(path.as_ref().to_owned()));
        let options = Options {
            choice,
            qos: self.qos,
            is_lossless: self.is_lossless && self.snapshot.is_none(),
            has_control: self.has_control,
            trigger: self.trigger,
            find: self.find,
        };
        let scribe = Scribe {
            bag,
            cache: cache.clone(),
            figures: figures.clone(),
            splits,
            node: node.full_name().to_owned(),
            most_repeated,
            topics: Vec::new(),
            retained: Retained::default(),
        };
        let collector = Collector::new(node, options, cache.clone(), figures.clone())?;
        let mut recorder = Recorder { cache: cache.clone(), figures, threads: Vec::new() };
        // If the second one can't be started, dropping `recorder` ends the first.
        let (ended, failed) = (AtEnd(cache.clone(), Cache::end), AtEnd(cache, Cache::fail));
        recorder.threads.push(spawn("sinew-collect", ended, || collector.run())?);
        recorder.threads.push(spawn("sinew-record", failed, || scribe.run())?);
        Ok(recorder)
    }
}

fn spawn(
    name: &str,
    at_end: AtEnd,
    work: impl FnOnce() + Send + 'static,
) -> Result<thread::JoinHandle<()>, RecordError> {
    let made = thread::Builder::new().name(name.to_owned()).spawn(move || {
        let _at_end = at_end;
        work();
    });
    made.map_err(|source| RecordError::Thread { source })
}

impl std::fmt::Debug for RecorderBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RecorderBuilder").field("choice", &self.choice).finish_non_exhaustive()
    }
}
