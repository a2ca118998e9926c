//! Writing a bag.

use crate::attachment::{Attachment, MetadataRecord, is_own};
use crate::error::BagError;
use crate::message::Stamps;
use crate::metadata::{self, BagMetadata, FileMetadata, LOSSES, ROSBAG2, TopicMetadata};
use crate::options::WriterOptions;
use crate::qos_yaml;
use crate::reader::BagReader;
use crate::topic::{BagTopic, HASH, QOS, TopicDefinition};
use mcap::McapError;
use mcap::records::{MessageHeader, Metadata};
use sinew_msg::Message;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::error::Error as _;
use std::fs::{self, File};
use std::io::{self, BufWriter, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bytes of messages between two looks at the length of a file that has a limit.
const LOOK: u64 = 64 << 10;
/// Bytes that are collected before they are written. Larger messages go straight to the file.
const BUFFER: usize = 64 << 10;

/// A topic of a bag that is being written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TopicId(usize);

/// A bag that is being written: a directory with `metadata.yaml` and MCAP files, laid out as by
/// rosbag2.
///
/// Messages reach the file when their chunk is complete, or with [`flush`](Self::flush). From then
/// on [`BagReader`](crate::BagReader) finds them, also if the process is killed.
///
/// All methods may block on the disk; writing a message copies its bytes once, into the file or
/// into the compressor. After an error of the disk, no more is written; flushed messages can be
/// read.
///
/// There is an example at [`BagReader`](crate::BagReader).
#[derive(Debug)]
pub struct BagWriter {
    directory: PathBuf,
    options: WriterOptions,
    topics: Vec<TopicDefinition>,
    metadata: BagMetadata,
    /// For each file in the metadata the messages of the topics.
    counts: VecDeque<BTreeMap<usize, Count>>,
    /// The number in the next file's name.
    next_file: usize,
    /// `None` before the first message of a file, and after an error.
    file: Option<OpenFile>,
    is_failed: bool,
    is_closed: bool,
}

/// The messages of a topic in a file.
#[derive(Debug, Clone, Copy, Default)]
struct Count {
    all: u64,
    /// Messages among them that an earlier file has as well.
    repeated: u64,
}

/// Messages that were written and can't be read.
#[derive(Debug, Default)]
pub(crate) struct Missing {
    /// By topic, without repeated ones.
    pub(crate) messages: HashMap<TopicId, u64>,
    /// Messages that an earlier file has as well.
    pub(crate) repeated: u64,
}

/// The file that is being written.
#[derive(Debug)]
pub(crate) struct OpenFile {
    path: PathBuf,
    writer: Mcap,
    /// The version of the metadata, and so of the form of QoS.
    version: u32,
    /// The channels of the topics that have messages in this file.
    channels: BTreeMap<usize, u16>,
    /// Bytes of messages since the last look at the length.
    unseen: u64,
    times: (u64, u64),
    message_count: u64,
}

/// The destination of a file's bytes.
trait Output: Write + Seek + Send + Sync {}
impl<T: Write + Seek + Send + Sync> Output for T {}

struct Mcap(mcap::Writer<Box<dyn Output>>);

impl std::fmt::Debug for Mcap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Mcap")
    }
}

impl BagWriter {
    /// Makes the bag's directory, which must not exist yet, and `metadata.yaml` in it.
    ///
    /// # Errors
    /// [`BagError::Exists`] if there is something of that name; [`BagError::File`] if the directory
    /// can't be made.
    pub fn create(path: impl AsRef<Path>, options: WriterOptions) -> Result<Self, BagError> {
        let directory = path.as_ref().to_owned();
        fs::create_dir(&directory).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => BagError::Exists { path: directory.clone() },
            _ => BagError::file("make the directory", &directory)(error),
        })?;
        let metadata = BagMetadata {
            version: options.metadata_version,
            ros_distro: options.ros_distro.clone(),
            ..BagMetadata::default()
        };
        let this = Self {
            directory,
            options,
            topics: Vec::new(),
            metadata,
            counts: VecDeque::new(),
            next_file: 0,
            file: None,
            is_failed: false,
            is_closed: false,
        };
        this.write_metadata()?;
        Ok(this)
    }

    /// Adds a topic. One that is known already keeps its first definition; one with the same name
    /// and another type, hash of the type or encoding is another topic.
    ///
    /// # Errors
    /// [`BagError::Full`] if there are more topics than an MCAP file can have.
    pub fn add_topic(&mut self, topic: &TopicDefinition) -> Result<TopicId, BagError> {
        if let Some(place) = self.topics.iter().position(|known| known.is_same(topic)) {
            return Ok(TopicId(place));
        }
        // The writer of MCAP counts from one to the next channel.
        if self.topics.len() + 1 >= usize::from(u16::MAX) {
            let problem = "a bag has at most 65,534 topics".to_owned();
            return Err(BagError::Full { path: self.directory.clone(), problem });
        }
        self.metadata.topics.push(TopicMetadata {
            name: topic.name.clone(),
            type_name: topic.type_name.clone(),
            serialization_format: topic.encoding.clone(),
            offered_qos_profiles: topic.qos.clone(),
            type_description_hash: topic.type_hash.map_or(String::new(), |hash| hash.to_string()),
            message_count: 0,
        });
        self.topics.push(topic.clone());
        Ok(TopicId(self.topics.len() - 1))
    }

    /// Writes the encoded form of a message. Messages are best written in the order in which they
    /// were received; others are found, but reading them holds more chunks in memory. Panics if the
    /// topic is of another writer that has more of them.
    ///
    /// # Errors
    /// [`BagError::File`] if the disk is full or fails, now or earlier.
    pub fn write(&mut self, topic: TopicId, stamps: Stamps, encoded: &[u8]) -> Result<(), BagError> {
        self.attempt(|this| this.write_to_file(topic, stamps, encoded))
    }

    /// Writes an attachment into the file that is being written, or into the one of the next
    /// message if that begins a file. It is removed with this file
    /// ([`max_files`](WriterOptions::max_files)).
    ///
    /// # Errors
    /// [`BagError::File`] if the disk is full or fails, now or earlier.
    pub fn attach(&mut self, attachment: &Attachment) -> Result<(), BagError> {
        self.attempt(|this| this.current_file()?.attach(attachment))
    }

    /// Writes a metadata record into the same file as [`attach`](Self::attach).
    ///
    /// # Errors
    /// [`BagError::Option`] for `rosbag2` and `sinew:losses`, as the writer writes these by itself;
    /// [`BagError::File`] if the disk is full or fails, now or earlier.
    pub fn write_metadata_record(&mut self, record: &MetadataRecord) -> Result<(), BagError> {
        if is_own(&record.name) {
            return Err(BagError::Option {
                what: "the name of a metadata record".to_owned(),
                found: record.name.clone(),
                expected: "the writer writes records of this name by itself",
            });
        }
        self.attempt(|this| this.current_file()?.write_metadata_record(record))
    }

    /// Writes something, unless an earlier attempt has failed.
    fn attempt(&mut self, write: impl FnOnce(&mut Self) -> Result<(), BagError>) -> Result<(), BagError> {
        if self.is_failed {
            let earlier = io::Error::other("writing to it has failed before");
            return Err(BagError::file("write to", &self.directory)(earlier));
        }
        let outcome = write(self);
        if outcome.is_err() {
            self.abandon();
        }
        outcome
    }

    /// Returns the file that is being written, or begins one, which gets its time from its first
    /// message.
    fn current_file(&mut self) -> Result<&mut OpenFile, BagError> {
        let file = match self.file.take() {
            Some(file) => file,
            None => self.begin_file(0)?,
        };
        Ok(self.file.insert(file))
    }

    fn write_to_file(
        &mut self,
        TopicId(topic): TopicId,
        stamps: Stamps,
        encoded: &[u8],
    ) -> Result<(), BagError> {
        if self.is_file_full(stamps.received) {
            self.end_file()?;
        }
        let file = match &mut self.file {
            Some(file) => file,
            None => {
                let file = self.begin_file(stamps.received)?;
                self.file.insert(file)
            }
        };
        let channel = file.channel(topic, &self.topics[topic])?;
        file.write(channel, stamps, encoded)?;
        self.metadata.topics[topic].message_count += 1;
        if let Some(counts) = self.counts.back_mut() {
            counts.entry(topic).or_default().all += 1;
        }
        Ok(())
    }

    /// Lets the file be as the failed operation has left it: anything more could only spoil what is
    /// there.
    fn abandon(&mut self) {
        self.is_failed = true;
        if let Some(file) = self.file.take() {
            drop(file.writer.0.into_inner());
        }
    }

    /// Writes a message.
    ///
    /// # Errors
    /// [`BagError::OtherType`] if the topic has another type; otherwise as [`write`](Self::write).
    pub fn write_message<T: Message>(
        &mut self,
        topic: TopicId,
        stamps: Stamps,
        message: &T,
    ) -> Result<(), BagError> {
        let TopicDefinition { name, type_name, .. } = &self.topics[topic.0];
        let Some(encoding) = T::ENCODING.filter(|encoding| encoding.name == type_name) else {
            return Err(BagError::OtherType {
                topic: name.clone(),
                type_name: type_name.clone(),
                found: T::ENCODING.map_or_else(std::any::type_name::<T>, |encoding| encoding.name),
            });
        };
        let mut encoded = vec![0; (encoding.size)(message)];
        (encoding.encode)(message, &mut encoded);
        self.write(topic, stamps, &encoded)
    }

    /// Ends the current chunk, so that all messages are in the file, and brings `metadata.yaml` up
    /// to date. They survive the end of this process, but not that of the machine.
    ///
    /// # Errors
    /// [`BagError::File`] if the disk is full or fails.
    pub fn flush(&mut self) -> Result<(), BagError> {
        if let Some(file) = &mut self.file {
            let outcome = file.writer.0.flush().map_err(failed(&file.path));
            if outcome.is_err() {
                self.abandon();
            }
            outcome?;
        }
        self.update();
        self.write_metadata()
    }

    /// Ends the current file; the next message begins a new one.
    ///
    /// # Errors
    /// [`BagError::File`] if the disk is full or fails.
    pub fn split(&mut self) -> Result<(), BagError> {
        let outcome = self.end_file();
        if outcome.is_err() {
            self.abandon();
        }
        outcome
    }

    /// Ends the current file if a message that was received at `time` would begin another one.
    /// Returns whether it begins a file.
    pub(crate) fn turn(&mut self, time: u64) -> Result<bool, BagError> {
        if self.is_file_full(time) {
            self.split()?;
        }
        Ok(self.file.is_none())
    }

    /// Writes a message that an earlier file has as well.
    pub(crate) fn repeat(&mut self, topic: TopicId, stamps: Stamps, encoded: &[u8]) -> Result<(), BagError> {
        self.write(topic, stamps, encoded)?;
        if let Some(counts) = self.counts.back_mut() {
            counts.entry(topic.0).or_default().repeated += 1;
        }
        Ok(())
    }

    /// Reads the files that are there, and counts the messages that were written and can't be read.
    /// Those that are repeated in a file come first there.
    pub(crate) fn missing(&self) -> Missing {
        let mut missing = Missing::default();
        for (name, counts) in self.metadata.relative_file_paths.iter().zip(&self.counts) {
            let read = BagReader::open(self.directory.join(name)).ok();
            let topics = read.as_ref().map_or(&[][..], BagReader::topics);
            for (topic, Count { all, repeated }) in counts {
                let definition = &self.topics[*topic];
                let is_it = |read: &&Arc<BagTopic>| definition.is_same(&TopicDefinition::from(&***read));
                let readable: u64 = topics.iter().filter(is_it).map(|read| read.message_count).sum();
                let lost = (all - repeated).saturating_sub(readable.saturating_sub(*repeated));
                *missing.messages.entry(TopicId(*topic)).or_default() += lost;
                missing.repeated += repeated.saturating_sub(readable);
            }
        }
        missing
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns the name of the file that begins now, or `has_begun`.
    pub(crate) fn next_file_name(&self, has_begun: bool) -> String {
        self.file_name(self.next_file - usize::from(has_begun))
    }

    fn file_name(&self, number: usize) -> String {
        let name = self.directory.file_name().unwrap_or_default().to_string_lossy();
        format!("{name}_{number}.mcap")
    }

    /// Returns the metadata as far as it is known now: without the messages that came since the
    /// last flush or the last end of a file.
    #[must_use]
    pub fn metadata(&self) -> &BagMetadata {
        &self.metadata
    }

    /// Returns the recorder's own texts, which the next flush and the end of a file write down.
    pub fn custom_data(&mut self) -> &mut BTreeMap<String, String> {
        &mut self.metadata.custom_data
    }

    /// Sets the messages of a topic that the recorder lost, which the next flush and the end of a
    /// file write down: see [`BagMetadata::losses`].
    pub fn set_lost(&mut self, topic: &str, count: u64) {
        self.metadata.set_lost(topic, count);
    }

    /// Ends the bag, and returns its metadata. Dropping the writer does the same without reporting
    /// errors.
    ///
    /// # Errors
    /// [`BagError::File`] if the disk is full or fails.
    pub fn close(mut self) -> Result<BagMetadata, BagError> {
        self.end()?;
        Ok(self.metadata.clone())
    }

    fn end(&mut self) -> Result<(), BagError> {
        self.is_closed = true;
        if !self.is_failed {
            if self.metadata.files.is_empty() {
                self.file = Some(self.begin_file(0)?); // for the topics
            }
            self.close_file()?;
        }
        replace_for_good(&self.directory, &self.metadata)
    }

    fn is_file_full(&mut self, time: u64) -> bool {
        let WriterOptions { max_size, max_duration, .. } = self.options;
        // A file without messages isn't full, however long its attachments are.
        let Some(file) = self.file.as_mut().filter(|file| file.message_count > 0) else { return false };
        if u128::from(time.saturating_sub(file.times.0)) >= max_duration.as_nanos() {
            return true;
        }
        if max_size == u64::MAX || file.unseen < LOOK.min(max_size) {
            return false;
        }
        file.unseen = 0;
        fs::metadata(&file.path).is_ok_and(|metadata| metadata.len() >= max_size)
    }

    fn begin_file(&mut self, time: u64) -> Result<OpenFile, BagError> {
        let name = self.file_name(self.next_file);
        let path = self.directory.join(&name);
        let mut file = OpenFile::create(path, &self.options, time)?;
        self.next_file += 1;
        self.metadata.relative_file_paths.push(name.clone());
        self.metadata.files.push(FileMetadata { path: name, starting_time: time, ..FileMetadata::default() });
        self.counts.push_back(BTreeMap::new());
        self.remove_old_files()?;
        file.writer.0.write_metadata(&record(&self.metadata)).map_err(failed(&file.path))?;
        file.writer.0.flush().map_err(failed(&file.path))?;
        self.write_metadata()?;
        // Every topic is in every file, so that each can be read by itself.
        for (topic, definition) in self.topics.iter().enumerate() {
            file.channel(topic, definition)?;
        }
        Ok(file)
    }

    /// Removes the oldest files beyond the limit.
    fn remove_old_files(&mut self) -> Result<(), BagError> {
        while self.metadata.files.len() > self.options.max_files.max(1) {
            let FileMetadata { path, .. } = self.metadata.files.remove(0);
            self.metadata.relative_file_paths.remove(0);
            for (topic, count) in self.counts.pop_front().unwrap_or_default() {
                self.metadata.topics[topic].message_count -= count.all;
            }
            let path = self.directory.join(path);
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(BagError::file("remove", path)(error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn end_file(&mut self) -> Result<(), BagError> {
        if self.file.is_none() {
            return Ok(());
        }
        self.close_file()?;
        self.write_metadata()
    }

    fn close_file(&mut self) -> Result<(), BagError> {
        self.update();
        let Some(file) = self.file.take() else { return Ok(()) };
        file.finish(&self.metadata)
    }

    /// Copies the current file's counts to the metadata.
    fn update(&mut self) {
        let Some(file) = &self.file else { return };
        if let Some(known) = self.metadata.files.last_mut() {
            (known.starting_time, known.duration) = (file.times.0, file.times.1 - file.times.0);
            known.message_count = file.message_count;
        }
        let files = self.metadata.files.iter().filter(|file| file.message_count > 0);
        let start = files.clone().map(|file| file.starting_time).min().unwrap_or_default();
        let end = files.clone().map(|file| file.starting_time + file.duration).max().unwrap_or_default();
        self.metadata.starting_time = start;
        self.metadata.duration = end - start;
        self.metadata.message_count = files.map(|file| file.message_count).sum();
    }

    /// Replaces `metadata.yaml` at once, so that a reader never finds half of it.
    fn write_metadata(&self) -> Result<(), BagError> {
        replace(&self.directory, &self.metadata)
    }
}

impl Drop for BagWriter {
    fn drop(&mut self) {
        if !self.is_closed {
            let _ = self.end(); // `close` reports errors
        }
    }
}

/// Returns the record that rosbag2 looks for.
fn record(metadata: &BagMetadata) -> Metadata {
    let metadata = [("serialized_metadata".to_owned(), metadata.to_record())].into();
    Metadata { name: ROSBAG2.to_owned(), metadata }
}

impl OpenFile {
    /// Makes a file, which must not exist yet. `time` is that of its first message.
    pub(crate) fn create(path: PathBuf, options: &WriterOptions, time: u64) -> Result<Self, BagError> {
        let output = output(&path).map_err(BagError::file("create", &path))?;
        let writer = options.storage.write_options(&options.library).create(output).map_err(failed(&path))?;
        Ok(Self {
            path,
            writer: Mcap(writer),
            version: options.metadata_version,
            channels: BTreeMap::new(),
            unseen: 0,
            times: (time, time),
            message_count: 0,
        })
    }

    /// Returns the channel of a topic, which is written before its first message.
    pub(crate) fn channel(&mut self, topic: usize, definition: &TopicDefinition) -> Result<u16, BagError> {
        match self.channels.get(&topic) {
            Some(channel) => Ok(*channel),
            None => self.add(topic, definition),
        }
    }

    pub(crate) fn write(&mut self, channel_id: u16, stamps: Stamps, encoded: &[u8]) -> Result<(), BagError> {
        let Stamps { received, sent, sequence } = stamps;
        let header = MessageHeader { channel_id, sequence, log_time: received, publish_time: sent };
        self.writer.0.write_to_known_channel(&header, encoded).map_err(failed(&self.path))?;
        self.unseen += encoded.len() as u64;
        let (first, last) = if self.message_count == 0 { (received, received) } else { self.times };
        self.times = (first.min(received), last.max(received));
        self.message_count += 1;
        Ok(())
    }

    pub(crate) fn attach(&mut self, attachment: &Attachment) -> Result<(), BagError> {
        let Attachment { name, media_type, logged, created, bytes, .. } = attachment;
        let attachment = mcap::Attachment {
            log_time: *logged,
            create_time: *created,
            name: name.clone(),
            media_type: media_type.clone(),
            data: Cow::Borrowed(bytes),
        };
        self.unseen += bytes.len() as u64;
        self.writer.0.attach(&attachment).map_err(failed(&self.path))
    }

    pub(crate) fn write_metadata_record(&mut self, record: &MetadataRecord) -> Result<(), BagError> {
        let MetadataRecord { name, texts } = record.clone();
        self.writer.0.write_metadata(&Metadata { name, metadata: texts }).map_err(failed(&self.path))
    }

    /// Writes the losses, the metadata and the summary.
    pub(crate) fn finish(mut self, metadata: &BagMetadata) -> Result<(), BagError> {
        let lost = metadata.losses().map(|(topic, count)| (topic.to_owned(), count.to_string()));
        let lost = MetadataRecord { name: LOSSES.to_owned(), texts: lost.collect() };
        if !lost.texts.is_empty() {
            self.write_metadata_record(&lost)?;
        }
        let written = self.writer.0.write_metadata(&record(metadata));
        written.and_then(|()| self.writer.0.finish().map(drop)).map_err(failed(&self.path))
    }

    fn add(&mut self, topic: usize, definition: &TopicDefinition) -> Result<u16, BagError> {
        let (encoding, text) = match &definition.schema {
            Some(schema) => (schema.encoding.as_str(), schema.text.as_str()),
            None => ("", ""),
        };
        let writer = &mut self.writer.0;
        let mut add = || {
            let schema = writer.add_schema(&definition.type_name, encoding, text.as_bytes())?;
            let qos = qos_yaml::write_all(&definition.qos, "", self.version).trim_end().to_owned();
            let hash = definition.type_hash.map_or(String::new(), |hash| hash.to_string());
            let metadata = [(QOS.to_owned(), qos), (HASH.to_owned(), hash)].into();
            writer.add_channel(schema, &definition.name, &definition.encoding, &metadata)
        };
        let channel = add().map_err(failed(&self.path))?;
        self.channels.insert(topic, channel);
        Ok(channel)
    }
}

/// Replaces a directory's `metadata.yaml`.
fn replace(directory: &Path, metadata: &BagMetadata) -> Result<(), BagError> {
    replace_after(directory, metadata, |_| Ok(()))
}

/// Replaces a directory's `metadata.yaml`, and waits for the disk: after the end of the machine it
/// is the old or the new one, and not empty. Too slow for each second.
pub(crate) fn replace_for_good(directory: &Path, metadata: &BagMetadata) -> Result<(), BagError> {
    replace_after(directory, metadata, File::sync_all)
}

/// `settle` gets the new file before it takes the place of the old one.
fn replace_after(
    directory: &Path,
    metadata: &BagMetadata,
    settle: impl FnOnce(&File) -> io::Result<()>,
) -> Result<(), BagError> {
    let path = directory.join(metadata::FILE_NAME);
    let new = directory.join(".metadata.yaml.new");
    let written = File::create(&new).and_then(|mut file| {
        file.write_all(metadata.to_yaml().as_bytes())?;
        settle(&file)
    });
    written.and_then(|()| fs::rename(&new, &path)).map_err(BagError::file("write", path))
}

fn output(path: &Path) -> io::Result<Box<dyn Output>> {
    let file = File::create_new(path)?;
    #[cfg(test)]
    if let Some(room) = tests::ROOM.get() {
        return Ok(Box::new(BufWriter::with_capacity(BUFFER, tests::SmallDisk { file, room })));
    }
    Ok(Box::new(BufWriter::with_capacity(BUFFER, file)))
}

fn failed(path: &Path) -> impl FnOnce(McapError) -> BagError {
    let path = path.to_owned();
    move |error| match error {
        McapError::TooManyChannels | McapError::TooManySchemas => {
            BagError::Full { path, problem: error.to_string() }
        }
        McapError::Io(source) => BagError::File { action: "write to", path, source },
        // An error of the disk may be wrapped once more.
        other => {
            let text = other.source().map_or_else(|| other.to_string(), ToString::to_string);
            BagError::File { action: "write to", path, source: io::Error::other(text) }
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::Selection;
    use crate::topic::tests::topic;
    use std::cell::Cell;
    use std::io::SeekFrom;

    thread_local! {
        /// Bytes that the disk of this thread's tests has room for.
        pub(crate) static ROOM: Cell<Option<u64>> = const { Cell::new(None) };
    }

    pub(super) struct SmallDisk {
        pub(super) file: File,
        pub(super) room: u64,
    }

    impl Write for SmallDisk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let at = self.file.stream_position()?;
            let room = usize::try_from(self.room.saturating_sub(at)).unwrap();
            if room == 0 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.file.write(&bytes[..bytes.len().min(room)])
        }

        fn flush(&mut self) -> io::Result<()> {
            self.file.flush()
        }
    }

    impl Seek for SmallDisk {
        fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
            self.file.seek(to)
        }
    }

    #[test]
    fn a_full_disk_keeps_what_was_flushed() {
        for room in (1000..9000).step_by(331) {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("bag");
            ROOM.set(Some(room));
            let mut writer = BagWriter::create(&path, WriterOptions::default()).unwrap();
            let id = writer.add_topic(&topic()).unwrap();
            let mut flushed = 0;
            let error = (0..)
                .find_map(|number| {
                    let outcome =
                        writer.write(id, Stamps::at(number), &[7; 100]).and_then(|()| writer.flush());
                    flushed += u64::from(outcome.is_ok());
                    outcome.err()
                })
                .unwrap();
            assert!(matches!(error, BagError::File { .. }), "{error}");
            assert!(writer.write(id, Stamps::at(0), &[]).is_err());
            writer.close().unwrap();
            ROOM.set(None);
            match BagReader::open(&path) {
                Ok(bag) => {
                    let read = bag.messages(&Selection::all()).unwrap().filter(Result::is_ok).count() as u64;
                    assert!(read >= flushed, "{read} of {flushed} with {room}");
                    assert!(!bag.problems().is_empty());
                }
                Err(error) => assert_eq!(flushed, 0, "{error}"),
            }
        }
    }

    #[test]
    fn a_ring_of_files_keeps_the_newest() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("bag");
        let options = WriterOptions { max_files: 2, ..WriterOptions::default() };
        let mut writer = BagWriter::create(&path, options).unwrap();
        let id = writer.add_topic(&topic()).unwrap();
        for number in 0..5 {
            writer.write(id, Stamps::at(number), &[7; 9]).unwrap();
            writer.split().unwrap();
        }
        let metadata = writer.close().unwrap();
        assert_eq!(metadata.relative_file_paths, ["bag_3.mcap", "bag_4.mcap"]);
        assert_eq!((metadata.message_count, metadata.topics[0].message_count), (2, 2));
        let bag = BagReader::open(&path).unwrap();
        let times = bag.messages(&Selection::all()).unwrap().map(|message| message.unwrap().stamps.received);
        assert_eq!(times.collect::<Vec<_>>(), [3, 4]);
        assert_eq!(fs::read_dir(&path).unwrap().count(), 3); // and `metadata.yaml`
        assert!(crate::check(&path).unwrap().is_empty());
    }

    #[test]
    fn nothing_is_written_over() {
        let directory = tempfile::tempdir().unwrap();
        let error = BagWriter::create(directory.path(), WriterOptions::default()).unwrap_err();
        assert!(matches!(error, BagError::Exists { .. }), "{error}");
    }
}
