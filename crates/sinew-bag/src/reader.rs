//! Reading a bag.

use crate::attachment::{Attachment, MetadataRecord};
use crate::error::BagError;
use crate::message::{BagMessage, Stamps};
use crate::metadata::{self, BagMetadata, TopicMetadata};
use crate::piece::{MAX_UNCOMPRESSED, MessageBytes};
use crate::schema::Schema;
use crate::selection::Selection;
use crate::storage;
use crate::stored_file::{BagFile, FileCursor, Step, StoredFile, Wanted};
use crate::topic::BagTopic;
use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A bag that is open for reading: a directory with `metadata.yaml` and files, or a single file.
/// The files are MCAP; with the feature `sqlite3` also databases of SQLite (`.db3`), which rosbag2
/// wrote before ROS 2 Iron. Both may be compressed as a whole, and their messages each by itself,
/// as rosbag2's `--compression-mode` does.
///
/// Opening reads the summaries of the files and no message. A file without a summary, as a recorder
/// leaves it that was killed, is read once from its beginning to its end, and its damage reported
/// by [`problems`](Self::problems).
///
/// The files are mapped: memory is used for the chunks that are being read, not for the bag. No
/// other program may cut the files short meanwhile, as that would end this process with SIGBUS;
/// appending to them, as a recorder does, is harmless and not seen. A file that is compressed as a
/// whole is uncompressed into the directory for temporary files (`TMPDIR`) while the bag is open. A
/// database is read once when it is opened, to count its messages; it has one time for each, so
/// [`sent`](Stamps::sent) is [`received`](Stamps::received).
///
/// Cheap to clone; all methods may be called on any thread, and may block on the disk.
///
/// ```
/// use sinew_bag::{BagReader, BagWriter, Schema, Selection, Stamps, TopicDefinition};
/// use sinew_interfaces::std_msgs::msg::String as Text;
///
/// # let directory = tempfile::tempdir().unwrap();
/// # let path = directory.path().join("bag");
/// let mut writer = BagWriter::create(&path, Default::default())?;
/// let chatter = writer.add_topic(&TopicDefinition::of::<Text>("/chatter").unwrap())?;
/// for number in 0..3 {
///     writer.write_message(chatter, Stamps::at(number), &Text { data: format!("hello {number}") })?;
/// }
/// writer.close()?;
///
/// let bag = BagReader::open(&path)?;
/// assert_eq!(bag.topics()[0].type_name, "std_msgs/msg/String");
/// for message in bag.messages(&Selection::all().topic("/chatter").from(1))? {
///     let message = message?;
///     println!("{}: {}", message.stamps.received, message.decode::<Text>()?.data);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct BagReader {
    bag: Arc<Bag>,
}

/// The part of a reader that all its clones share.
#[derive(Debug)]
pub(crate) struct Bag {
    pub(crate) path: PathBuf,
    pub(crate) files: Vec<Box<dyn StoredFile>>,
    pub(crate) metadata: Option<BagMetadata>,
    pub(crate) topics: Vec<Arc<BagTopic>>,
    /// For each file the topics of its channels.
    pub(crate) channels: Vec<Vec<Option<usize>>>,
    pub(crate) problems: Vec<BagError>,
    /// rosbag2 has compressed each message by itself.
    pub(crate) has_compressed_messages: bool,
}

impl Bag {
    /// Makes a message from the parts that a file has.
    pub(crate) fn message(
        &self,
        stamps: Stamps,
        topic: usize,
        bytes: MessageBytes,
    ) -> Result<BagMessage, BagError> {
        let topic = self.topics[topic].clone();
        if !self.has_compressed_messages {
            return Ok(BagMessage { topic, stamps, bytes });
        }
        let mut uncompressed = Vec::new();
        zstd::Decoder::new(&*bytes)
            .and_then(|from| from.take(MAX_UNCOMPRESSED).read_to_end(&mut uncompressed))
            .map_err(|error| BagError::DamagedMessage {
                path: self.path.clone(),
                received: stamps.received,
                problem: error.to_string(),
            })?;
        Ok(BagMessage { topic, stamps, bytes: MessageBytes::from(uncompressed) })
    }
}

impl BagReader {
    /// Opens a bag.
    ///
    /// # Errors
    /// [`BagError`] if there is no bag, if it is of a newer version or another format, or if
    /// `metadata.yaml` can't be read. Damage inside its files is no error here.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, BagError> {
        Self::open_with(path, &|_| None)
    }

    /// Opens a bag, and takes definitions that it lacks from `find`, which returns them by the
    /// names of types. Bags of SQLite that are older than ROS 2 Iron have none.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    ///
    /// ```
    /// use sinew_bag::{BagReader, Schema};
    /// use sinew_interfaces::DEFINITIONS;
    ///
    /// let text = |name: &str| DEFINITIONS.iter().find(|(known, _)| *known == name).map(|(_, text)| *text);
    /// let bag = BagReader::open_with("tests/data/rewriter_a", &|name| Schema::from_texts(name, text))?;
    /// # Ok::<(), sinew_bag::BagError>(())
    /// ```
    pub fn open_with(
        path: impl AsRef<Path>,
        find: &dyn Fn(&str) -> Option<Schema>,
    ) -> Result<Self, BagError> {
        let path = path.as_ref();
        let is_directory = fs::metadata(path).map_err(BagError::file("open", path))?.is_dir();
        let metadata = if is_directory { read_metadata(path)? } else { None };
        let paths = match &metadata {
            Some(metadata) => paths(path, metadata)?,
            None if is_directory => files_of(path)?,
            None => vec![path.to_owned()],
        };
        Self::of(path, &paths, metadata, find)
    }

    /// Opens these files of a directory. Its `metadata.yaml` need not name them: only facts that
    /// the recorder alone knows are taken from it.
    pub(crate) fn of_files(directory: &Path, paths: &[PathBuf]) -> Result<Self, BagError> {
        Self::of(directory, paths, read_metadata(directory).ok().flatten(), &|_| None)
    }

    fn of(
        path: &Path,
        paths: &[PathBuf],
        metadata: Option<BagMetadata>,
        find: &dyn Fn(&str) -> Option<Schema>,
    ) -> Result<Self, BagError> {
        let is_directory = path.is_dir();
        let mut problems = Vec::new();
        let mut files = Vec::new();
        for path in paths {
            match storage::open(path) {
                Ok(file) => files.push(file),
                // One of several files is missing: the others are still worth reading.
                Err(error @ BagError::File { .. }) if is_directory => problems.push(error),
                Err(error) => return Err(error),
            }
        }
        if files.is_empty() {
            return Err(problems.pop().unwrap_or_else(|| no_files(path)));
        }
        problems.extend(files.iter().flat_map(|file| file.problems()));
        let mut bag = Bag::new(path.to_owned(), files, metadata, find);
        bag.problems = problems;
        if let Some(metadata) = &bag.metadata {
            bag.has_compressed_messages = has_compressed_messages(metadata, path)?;
        }
        Ok(Self { bag: Arc::new(bag) })
    }

    /// Returns the path as it was opened.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.bag.path
    }

    /// Returns the topics, by name. A topic that has changed its type appears once for each type.
    #[must_use]
    pub fn topics(&self) -> &[Arc<BagTopic>] {
        &self.bag.topics
    }

    /// Returns the files, in the order of the bag.
    #[must_use]
    pub fn files(&self) -> Vec<BagFile> {
        self.bag.files.iter().map(|file| file.about()).collect()
    }

    /// Returns the times of the first and the last message, in nanoseconds since the epoch; `None`
    /// if the bag has none.
    #[must_use]
    pub fn times(&self) -> Option<(u64, u64)> {
        let all = self.bag.files.iter().filter_map(|file| file.about().times);
        all.reduce(|(from, to), (start, end)| (from.min(start), to.max(end)))
    }

    /// Returns the number of messages.
    #[must_use]
    pub fn message_count(&self) -> u64 {
        self.bag.topics.iter().fold(0, |sum, topic| sum.saturating_add(topic.message_count))
    }

    /// Returns `metadata.yaml`, or else the last metadata that rosbag2 has left in the first file.
    #[must_use]
    pub fn metadata(&self) -> Option<&BagMetadata> {
        self.bag.metadata.as_ref()
    }

    /// Returns the numbers of messages that the recorder lost, by topic: as `metadata.yaml` and the
    /// files say. Each file has all losses up to its end, so the greatest number counts.
    #[must_use]
    pub fn losses(&self) -> BTreeMap<String, u64> {
        let mut losses = BagMetadata::losses_of(self.metadata());
        for (topic, count) in self.bag.files.iter().flat_map(|file| file.losses()) {
            let known = losses.entry(topic).or_default();
            *known = count.max(*known);
        }
        losses
    }

    /// Returns the attachments of all files, in their order. Reads none of their bytes.
    #[must_use]
    pub fn attachments(&self) -> Vec<Attachment> {
        self.bag.files.iter().flat_map(|file| file.attachments()).collect()
    }

    /// Returns the metadata records of all files, in their order and equal ones once, without those
    /// that rosbag2 and [`BagWriter`](crate::BagWriter) write by themselves.
    #[must_use]
    pub fn metadata_records(&self) -> Vec<MetadataRecord> {
        let mut known = HashSet::new();
        let records = self.bag.files.iter().flat_map(|file| file.metadata_records());
        records.filter(|record| known.insert(record.clone())).collect()
    }

    /// Returns the problems of the bag that opening has shown: files that are missing, and
    /// damage in files without a summary. [`check`](crate::check) finds everything.
    #[must_use]
    pub fn problems(&self) -> &[BagError] {
        &self.bag.problems
    }

    /// Returns the selected messages of all files in the order in which they were received.
    ///
    /// Holds the chunks with messages around the current time, in each file: in most bags one.
    ///
    /// # Errors
    /// [`BagError::NoTopic`] if the selection names a topic that the bag hasn't.
    pub fn messages(&self, selection: &Selection) -> Result<Messages, BagError> {
        let wanted = selection.wanted(&self.bag.topics)?;
        let files = self.bag.files.iter().zip(&self.bag.channels);
        let cursors = files.map(|(file, topics)| file.cursor(topics.clone())).collect();
        Ok(Messages { bag: self.bag.clone(), begin: wanted.from, wanted, cursors })
    }

    pub(crate) fn bag(&self) -> &Bag {
        &self.bag
    }
}

impl Bag {
    fn new(
        path: PathBuf,
        files: Vec<Box<dyn StoredFile>>,
        metadata: Option<BagMetadata>,
        find: &dyn Fn(&str) -> Option<Schema>,
    ) -> Self {
        let metadata = metadata.or_else(|| files.first()?.metadata());
        let mut topics: Vec<BagTopic> = Vec::new();
        let mut places = Vec::new();
        for file in &files {
            let numbered = file.topics();
            let mut of_channels = vec![None; numbered.last().map_or(0, |(number, _)| number + 1)];
            for (number, topic) in numbered {
                let same = topics.iter().position(|known| known.is_same(&topic));
                let place = same.unwrap_or(topics.len());
                match topics.get_mut(place) {
                    Some(known) => known.add(topic),
                    None => topics.push(topic),
                }
                of_channels[number] = Some(place);
            }
            places.push(of_channels);
        }
        // By name: the places move.
        let mut order: Vec<usize> = (0..topics.len()).collect();
        order.sort_by(|one, other| topics[*one].name.cmp(&topics[*other].name));
        let mut moved = vec![0; order.len()];
        for (to, from) in order.iter().enumerate() {
            moved[*from] = to;
        }
        for place in places.iter_mut().flatten().flatten() {
            *place = moved[*place];
        }
        topics.sort_by(|one, other| one.name.cmp(&other.name));
        for topic in &mut topics {
            topic.complete(metadata.as_ref().and_then(|metadata| of_topic(metadata, topic)));
            if topic.schema.is_none() {
                topic.schema = find(&topic.type_name);
            }
        }
        let topics = topics.into_iter().map(Arc::new).collect();
        Self {
            path,
            files,
            metadata,
            topics,
            channels: places,
            problems: Vec::new(),
            has_compressed_messages: false,
        }
    }
}

fn of_topic<'a>(metadata: &'a BagMetadata, topic: &BagTopic) -> Option<&'a TopicMetadata> {
    metadata.topics.iter().find(|known| known.name == topic.name && known.type_name == topic.type_name)
}

/// Reads a directory's `metadata.yaml`, if it has one.
pub(crate) fn read_metadata(directory: &Path) -> Result<Option<BagMetadata>, BagError> {
    let path = directory.join(metadata::FILE_NAME);
    match fs::read_to_string(&path) {
        Ok(text) => BagMetadata::from_yaml(&text, &path).map(Some),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(BagError::file("read", path)(error)),
    }
}

/// Returns the files that the metadata names.
fn paths(directory: &Path, metadata: &BagMetadata) -> Result<Vec<PathBuf>, BagError> {
    if !["mcap", "sqlite3"].contains(&metadata.storage_identifier.as_str()) {
        return Err(BagError::Unsupported {
            path: directory.join(metadata::FILE_NAME),
            what: "the storage",
            name: metadata.storage_identifier.clone(),
            hint: "only bags of `mcap` and `sqlite3` are read",
        });
    }
    if metadata.relative_file_paths.is_empty() {
        return files_of(directory);
    }
    // In bags of ROS 2 Foxy the names begin with that of the directory.
    let file = |name: &String| {
        let path = directory.join(name);
        let beside = path.file_name().map(|name| directory.join(name));
        beside.filter(|beside| !path.exists() && beside.exists()).unwrap_or(path)
    };
    Ok(metadata.relative_file_paths.iter().map(file).collect())
}

fn files_of(directory: &Path) -> Result<Vec<PathBuf>, BagError> {
    let paths = storage::files_in(directory)?;
    if paths.is_empty() { Err(no_files(directory)) } else { Ok(paths) }
}

/// Returns whether rosbag2 has compressed each message by itself.
fn has_compressed_messages(metadata: &BagMetadata, path: &Path) -> Result<bool, BagError> {
    let unsupported = |what, name: &str| BagError::Unsupported {
        path: path.to_owned(),
        what,
        name: name.to_owned(),
        hint: "only messages and files that rosbag2 has compressed with zstd are read",
    };
    let (mode, format) = (metadata.compression_mode.to_lowercase(), &metadata.compression_format);
    match mode.as_str() {
        "" | "none" => Ok(false),
        "file" | "message" if format != "zstd" => Err(unsupported("the compression", format)),
        "file" | "message" => Ok(mode == "message"),
        _ => Err(unsupported("the compression mode", &metadata.compression_mode)),
    }
}

fn no_files(path: &Path) -> BagError {
    BagError::NotABag {
        path: path.to_owned(),
        why: "it has neither metadata.yaml nor files that end with `.mcap` or `.db3`",
    }
}

/// The messages of a bag, one after the other.
///
/// After an error about a damaged chunk, the iteration goes on with the messages that can be read.
#[derive(Debug)]
pub struct Messages {
    bag: Arc<Bag>,
    wanted: Wanted,
    /// The first time of the selection.
    begin: u64,
    cursors: Vec<Box<dyn FileCursor>>,
}

impl Messages {
    /// Goes to the first selected message at this time or later, in nanoseconds since the epoch;
    /// backwards, too. Reads at most the chunks around that time.
    pub fn seek(&mut self, time: u64) {
        self.wanted.from = time.max(self.begin);
        self.cursors.iter_mut().for_each(|cursor| cursor.rewind());
    }
}

impl Iterator for Messages {
    type Item = Result<BagMessage, BagError>;

    fn next(&mut self) -> Option<Self::Item> {
        let Self { wanted, cursors, .. } = self;
        loop {
            let bounds = cursors.iter_mut().filter_map(|cursor| Some((cursor.bound(wanted)?, cursor)));
            let (_, cursor) = bounds.min_by_key(|(time, _)| *time)?;
            match cursor.step(wanted) {
                Step::Message(stamps, topic, bytes) => return Some(self.bag.message(stamps, topic, bytes)),
                Step::Read => {}
                Step::Damaged(error) => return Some(Err(error)),
            }
        }
    }
}
