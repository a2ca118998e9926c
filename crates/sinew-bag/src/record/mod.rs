//! Recording topics to a bag.
//!
//! | file | contents |
//! |---|---|
//! | `builder` | the options of a recorder |
//! | `choice` | the choice of topics: a pure function |
//! | `request` | the QoS that the subscriptions request |
//! | `source` | a topic's subscription |
//! | `collector` | the thread that follows the graph and takes messages |
//! | `cache` | messages on their way to the writer, or for a snapshot |
//! | `scribe` | the thread that writes |
//! | `retained` | messages that each file begins with |
//! | `control` | the services by which other programs control it |
//! | `report`, `error` | the figures of a recording, and the reasons why one can't begin |

mod builder;
mod cache;
mod choice;
mod collector;
mod control;
mod error;
mod report;
mod request;
mod retained;
mod scribe;
mod source;

pub use builder::RecorderBuilder;
pub use cache::Snapshot;
pub use error::RecordError;
pub use report::{Recorded, RecordedTopic};

use crate::schema::Schema;
use cache::Cache;
use choice::Choice;
use report::Figures;
use sinew::msg::TypeHash;
use sinew::{Context, QoS};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread::JoinHandle;

/// Records topics to a bag, on two threads of its own, until it is [stopped](Self::stop) or
/// dropped.
///
/// It follows the graph: topics that come later are recorded, too. Messages are written from where
/// their publishers have put them, in shared memory or in this process; a value of this process
/// that has no encoded form yet gets one once, when it is published. Nothing wakes the recorder and
/// no publisher waits for it, unless it is [lossless](RecorderBuilder::lossless): it looks every 5
/// ms, and up to 1000 messages of a topic may wait until then. A message's time in the bag is that
/// of its publication, or for other hosts that of its arrival at this one.
///
/// Every message that is lost is counted, by topic: in [`progress`](Self::progress), in the bag's
/// metadata ([`BagMetadata::losses`](crate::BagMetadata::losses)), and in the result of
/// [`stop`](Self::stop). The messages that publishers retain for late joiners come first, and are
/// repeated in each file. Everything is in the files after a second, and survives the end of the
/// process, also by `kill -9`.
///
/// ```
/// use sinew::prelude::*;
/// use sinew_bag::{BagReader, Recorder};
/// use sinew_interfaces::std_msgs::msg::String as Text;
///
/// # let directory = tempfile::tempdir().unwrap();
/// # let path = directory.path().join("bag");
/// let context = Context::new()?;
/// let node = context.node("talker")?;
/// let chatter = node.publisher::<Text>("chatter").create()?;
/// let recorder = Recorder::builder(&context).topics(["/chatter"]).start(&path)?;
/// for number in 0..3 {
///     chatter.publish(Text { data: format!("hello {number}") })?;
/// }
/// let recorded = recorder.stop();
/// assert_eq!((recorded.messages(), recorded.lost()), (3, 0));
/// assert_eq!(BagReader::open(&path)?.message_count(), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "the recording ends when this is dropped: name the variable (`let _recorder = ..`)"]
pub struct Recorder {
    cache: Arc<Cache>,
    figures: Arc<Figures>,
    /// The collector and the writer.
    threads: Vec<JoinHandle<()>>,
}

/// The options of the collector.
struct Options {
    choice: Choice,
    /// The QoS to ask for, by topic, instead of an adapted one.
    qos: BTreeMap<String, QoS>,
    is_lossless: bool,
    has_control: bool,
    /// The topic with messages that ask for a snapshot.
    trigger: Option<String>,
    find: FindDefinition,
}

/// Finds definitions of types that no participant has described.
type FindDefinition = Box<dyn Fn(&str, TypeHash) -> Option<Schema> + Send>;

impl Recorder {
    /// Returns a builder. The recorder has a node of its own in the context, and needs no executor.
    ///
    /// The builder must select something.
    pub fn builder(context: &Context) -> RecorderBuilder {
        RecorderBuilder::new(context)
    }

    /// Returns the figures so far. Allocates, and waits for no disk.
    #[must_use]
    pub fn progress(&self) -> Recorded {
        let (waiting_bytes, is_paused) = (self.cache.bytes(), self.cache.is_paused());
        Recorded { waiting_bytes, is_paused, ..self.figures.copy() }
    }

    /// Returns whether it still records: `false` after an error of the disk, or if the service
    /// `~/stop` was called.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.threads.iter().all(|thread| !thread.is_finished())
    }

    /// Passes over the messages that come from now on. They do not count as lost. Of a topic that
    /// is found meanwhile, the messages are recorded that its publishers have retained from before.
    pub fn pause(&self) {
        self.cache.set_paused(true);
    }

    /// Records again.
    pub fn resume(&self) {
        self.cache.set_paused(false);
    }

    /// Ends the current file, behind the messages that were collected. The next message begins
    /// another one. Returns at once.
    pub fn split(&self) {
        self.cache.split();
    }

    /// Writes the recent messages, as a file of their own, and forgets them; returns at once.
    /// Returns `false` if the recorder is in no [snapshot mode](RecorderBuilder::snapshot).
    pub fn take_snapshot(&self) -> bool {
        self.cache.take_snapshot()
    }

    /// Ends the recording: takes the messages that were published before, writes them and the
    /// files' summaries, and returns the figures. Blocks until everything is on its way to the
    /// disk. Dropping the recorder does the same.
    ///
    /// An error of the disk, now or earlier, is the result's
    /// [`failure`](Recorded::failure).
    #[must_use = "it says what was lost"]
    pub fn stop(mut self) -> Recorded {
        self.end();
        self.progress()
    }

    fn end(&mut self) {
        self.cache.stop();
        for thread in self.threads.drain(..) {
            // A panic was reported when it happened.
            let _ = thread.join();
        }
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.end();
    }
}

impl std::fmt::Debug for Recorder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recorder").field("progress", &self.progress()).finish_non_exhaustive()
    }
}
