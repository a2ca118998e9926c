//! The thread that writes the messages.

use super::cache::{Cache, Waiting, Work};
use super::report::Figures;
use super::retained::{DEEPEST, Retained};
use crate::error::BagError;
use crate::message::Stamps;
use crate::topic::TopicDefinition;
use crate::writer::{BagWriter, TopicId};
use sinew::Publisher;
use sinew::qos::{Durability, History};
use sinew::time::Time;
use sinew_interfaces::rosbag2_interfaces::msg::WriteSplitEvent;
use std::collections::BTreeMap;
use std::iter::Peekable;
use std::sync::Arc;
use std::time::Duration;

/// Time after which everything is in the files.
const FLUSH: Duration = Duration::from_secs(1);
/// Room in the cache after which the collector is told that they are written.
const STEP: u64 = 1 << 20;

pub(super) struct Scribe {
    pub(super) bag: BagWriter,
    pub(super) cache: Arc<Cache>,
    pub(super) figures: Arc<Figures>,
    /// Announces a new file.
    pub(super) splits: Option<Publisher<WriteSplitEvent>>,
    /// The recorder's node, for the announcement.
    pub(super) node: String,
    /// Maximum number of bytes that are repeated in a new file.
    pub(super) most_repeated: u64,
    pub(super) topics: Vec<TopicId>,
    pub(super) retained: Retained,
}

impl Scribe {
    /// Writes until nothing comes any more.
    pub(super) fn run(mut self) {
        let figures = self.figures.clone();
        let outcome = match self.write_all() {
            Ok(()) => {
                self.note_losses();
                self.bag.close().map(drop)
            }
            Err(error) => Err(self.fail(error)),
        };
        if let Err(error) = outcome {
            figures.with(|figures| figures.failure = Some(Arc::new(error)));
        }
    }

    fn write_all(&mut self) -> Result<(), BagError> {
        let (mut flushed, mut is_flushed) = (Time::steady(), true);
        loop {
            let left = FLUSH.saturating_sub(Time::steady() - flushed);
            let work = self.cache.take(if is_flushed { FLUSH } else { left });
            let has_ended = work.has_ended;
            is_flushed &= work.messages.is_empty() && work.topics.is_empty();
            self.write(work)?;
            if has_ended {
                return Ok(());
            }
            if Time::steady() - flushed >= FLUSH {
                if !is_flushed {
                    self.note_losses();
                    self.bag.flush()?;
                }
                (flushed, is_flushed) = (Time::steady(), true);
            }
        }
    }

    fn write(&mut self, work: Work) -> Result<(), BagError> {
        let mut batch = Batch::default();
        let (mut messages, mut splits) =
            (work.messages.into_iter().enumerate(), work.splits.into_iter().peekable());
        let outcome = work.topics.iter().try_for_each(|topic| {
            self.topics.push(self.bag.add_topic(topic)?);
            self.retained.add_topic(retained_depth(topic));
            Ok(())
        });
        work.passed.iter().for_each(|message| self.retained.note(message));
        let outcome = outcome.and_then(|()| {
            messages.by_ref().try_for_each(|(number, message)| {
                let outcome = self.split_before(number, &mut splits);
                let outcome = outcome.and_then(|()| self.write_one(&message, &mut batch));
                let topic = message.topic;
                batch.room += message.room();
                drop(message); // before its room counts as free
                if batch.room >= STEP {
                    self.tell(&mut batch);
                }
                outcome.inspect_err(|_| *batch.lost.entry(topic).or_default() += 1)
            })
        });
        if outcome.is_err() {
            messages.for_each(|(_, message)| *batch.lost.entry(message.topic).or_default() += 1);
        }
        self.tell(&mut batch);
        outcome?;
        self.split_before(usize::MAX, &mut splits)
    }

    /// Ends the file if another one is to begin before the message with this number.
    fn split_before(
        &mut self,
        number: usize,
        splits: &mut Peekable<impl Iterator<Item = usize>>,
    ) -> Result<(), BagError> {
        while splits.next_if(|split| *split <= number).is_some() {
            self.note_losses();
            self.bag.split()?;
        }
        Ok(())
    }

    fn write_one(&mut self, message: &Waiting, batch: &mut Batch) -> Result<(), BagError> {
        let outcome = self.begin_file(message.stamps.received).and_then(|()| {
            self.bag.write(self.topics[message.topic], message.stamps, message.content.bytes())
        });
        outcome?;
        self.retained.note(message);
        let (messages, bytes) = batch.written.entry(message.topic).or_default();
        *messages += 1;
        *bytes += message.content.bytes().len() as u64;
        Ok(())
    }

    /// If the message that comes next begins a file, writes the retained ones into that.
    fn begin_file(&mut self, time: u64) -> Result<(), BagError> {
        if !self.bag.turn(time)? {
            return Ok(());
        }
        let closed = self.bag.metadata().relative_file_paths.last().cloned();
        let mut repeated = 0;
        let outcome = self.repeat(time, &mut repeated);
        self.figures.with(|figures| {
            figures.files += u64::from(outcome.is_ok());
            figures.repeated += repeated;
        });
        outcome?;
        if let (Some(closed), Some(splits)) = (closed, &self.splits) {
            let path = |name: &str| self.bag.directory().join(name).display().to_string();
            let opened = path(&self.bag.next_file_name(repeated > 0));
            let event = WriteSplitEvent {
                closed_file: path(&closed),
                opened_file: opened,
                node_name: self.node.clone(),
            };
            // Nothing depends on it: a full subscription, or the end of the context.
            let _ = splits.publish(event);
        }
        Ok(())
    }

    /// Writes the retained messages again, and counts them, unless they are too long for a file.
    fn repeat(&mut self, time: u64, count: &mut u64) -> Result<(), BagError> {
        if self.retained.bytes() > self.most_repeated {
            return Ok(());
        }
        for (topic, stamps, bytes) in self.retained.messages() {
            self.bag.repeat(self.topics[topic], Stamps { received: time, ..stamps }, bytes)?;
            *count += 1;
        }
        Ok(())
    }

    /// Adds the written messages to the figures, and gives their room back.
    fn tell(&self, batch: &mut Batch) {
        let Batch { written, lost, room } = std::mem::take(batch);
        self.figures.with(|figures| {
            for (topic, (messages, bytes)) in written {
                figures.topics[topic].messages += messages;
                figures.topics[topic].bytes += bytes;
            }
            for (topic, count) in lost {
                figures.topics[topic].lost_in_recorder += count;
            }
        });
        self.cache.written(room);
    }

    /// Writes the losses into the metadata.
    fn note_losses(&mut self) {
        let mut lost: BTreeMap<String, u64> = BTreeMap::new();
        self.figures.with(|figures| {
            for topic in &figures.topics {
                *lost.entry(topic.name.clone()).or_default() += topic.lost();
            }
        });
        lost.iter().for_each(|(topic, count)| self.bag.set_lost(topic, *count));
    }

    /// Ends the recording after an error: messages that can't be read count as lost.
    fn fail(mut self, error: BagError) -> BagError {
        self.cache.fail();
        loop {
            let work = self.cache.take(FLUSH);
            let mut batch = Batch::default();
            for message in work.messages {
                *batch.lost.entry(message.topic).or_default() += 1;
            }
            self.tell(&mut batch);
            if work.has_ended {
                break;
            }
        }
        // After an error that wasn't the disk's, the file can go on.
        let _ = self.bag.flush();
        let mut missing = self.bag.missing();
        self.figures.with(|figures| {
            figures.repeated = figures.repeated.saturating_sub(missing.repeated);
            for (topic, id) in figures.topics.iter_mut().zip(&self.topics) {
                let lost = missing.messages.remove(id).unwrap_or_default().min(topic.messages);
                topic.messages -= lost;
                topic.lost_in_recorder += lost;
            }
        });
        self.note_losses();
        let _ = self.bag.close(); // the error that is there already says more
        error
    }
}

/// Messages of some topics.
#[derive(Default)]
struct Batch {
    /// Their numbers and bytes.
    written: BTreeMap<usize, (u64, u64)>,
    lost: BTreeMap<usize, u64>,
    /// The room that all of them took in the cache.
    room: u64,
}

/// Returns the number of messages that publishers of a topic retain.
fn retained_depth(topic: &TopicDefinition) -> usize {
    let offered = topic.qos.iter().map(crate::RecordedQos::qos);
    let depths =
        offered.filter(|qos| qos.durability == Durability::TransientLocal).map(|qos| match qos.history {
            History::KeepLast(depth) => depth,
            History::KeepAll => DEEPEST,
        });
    depths.max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::cache::Content;
    use super::super::report::{Recorded, RecordedTopic};
    use super::*;
    use crate::options::WriterOptions;
    use crate::topic::tests::topic;
    use crate::{BagReader, Selection, writer::tests::ROOM};
    use sinew::QoS;
    use sinew::msg::Gid;
    use std::path::Path;

    /// Records messages of one topic in a bag with this room for each file: in each file some of
    /// them, and in the last one as many as there is room for.
    fn record(topic: TopicDefinition, path: &Path, room: u64, files: &[u64]) -> Recorded {
        let cache = Arc::new(Cache::new(u64::MAX, None));
        let figures = Arc::new(Figures::new(path.to_owned()));
        figures.with(|figures| {
            figures.topics.push(RecordedTopic {
                name: topic.name.clone(),
                type_name: topic.type_name.clone(),
                ..RecordedTopic::default()
            });
        });
        cache.add_topic(topic);
        let message = |number| Waiting {
            topic: 0,
            stamps: Stamps::at(number),
            retained_by: Some(Gid([1; 16])),
            is_from_before: false,
            content: Content::Copied(vec![7; 1000].into()),
        };
        for (number, messages) in files.iter().enumerate() {
            if number > 0 {
                cache.split();
            }
            cache.add((0..*messages).map(message), true);
        }
        cache.end();
        ROOM.set(Some(room));
        let options = WriterOptions { max_files: 2, ..WriterOptions::default() };
        let scribe = Scribe {
            bag: BagWriter::create(path, options).unwrap(),
            cache,
            figures: figures.clone(),
            splits: None,
            node: String::new(),
            most_repeated: u64::MAX,
            topics: Vec::new(),
            retained: Retained::default(),
        };
        scribe.run();
        ROOM.set(None);
        figures.copy()
    }

    fn readable(path: &Path) -> u64 {
        let bag = BagReader::open(path).unwrap();
        bag.messages(&Selection::all()).unwrap().filter(Result::is_ok).count() as u64
    }

    #[test]
    fn on_a_full_disk_what_fits_is_kept_and_the_rest_counts_as_lost() {
        for room in (1000..400_000).step_by(39_997) {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("bag");
            let recorded = record(topic(), &path, room, &[1000]);
            assert!(recorded.failure.is_some());
            assert_eq!(recorded.messages() + recorded.lost(), 1000, "{recorded:?}");
            let read = readable(&path);
            assert_eq!(read, recorded.messages());
            assert!(room < 100_000 || read > 0, "nothing in {room} bytes");
            let bag = BagReader::open(&path).unwrap();
            assert_eq!(bag.metadata().unwrap().losses().next(), Some(("/a", recorded.lost())));
        }
    }

    #[test]
    fn files_that_gave_way_are_no_loss_and_repeated_messages_hide_none() {
        let latched = topic().qos(QoS::default().keep_last(5).transient_local());
        for room in [30_000, 200_000] {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("bag");
            let recorded = record(latched.clone(), &path, room, &[10, 10, 10, 1000]);
            assert!(recorded.failure.is_some());
            assert_eq!(recorded.messages() + recorded.lost(), 1030, "{recorded:?}");
            let in_last = recorded.messages() - 30; // the first two of four files are gone
            assert!(room < 100_000 || in_last > 0, "nothing in {room} bytes");
            // Each of the others begins with five repeated messages, as far as there is room.
            let repeated = readable(&path) - 10 - in_last;
            // Five more were in the second file.
            assert_eq!(recorded.repeated, 5 + repeated, "{recorded:?}");
            assert!(if in_last > 0 { repeated == 10 } else { (5..=10).contains(&repeated) }, "{recorded:?}");
        }
    }
}
