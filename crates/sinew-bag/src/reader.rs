//! Reading a bag.

use crate::cursor::{Cursor, Step, Wanted};
use crate::error::BagError;
use crate::mcap_file::McapFile;
use crate::message::BagMessage;
use crate::metadata::{self, BagMetadata, TopicMetadata};
use crate::selection::Selection;
use crate::topic::BagTopic;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A bag that is open for reading: a directory with `metadata.yaml` and MCAP files, or a single MCAP
/// file.
///
/// Opening reads the summaries of the files and no message. A file without a summary, as a recorder
/// leaves it that was killed, is read once from its beginning to its end, and its damage reported by
/// [`problems`](Self::problems).
///
/// The files are mapped: memory is used for the chunks that are being read, not for the bag. No other
/// program may cut the files short meanwhile, as that would end this process with SIGBUS; appending
/// to them, as a recorder does, is harmless and not seen.
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

/// What all clones of a reader share.
#[derive(Debug)]
pub(crate) struct Bag {
    pub(crate) path: PathBuf,
    pub(crate) files: Vec<McapFile>,
    pub(crate) metadata: Option<BagMetadata>,
    pub(crate) topics: Vec<Arc<BagTopic>>,
    /// For each file the topics of its channels.
    pub(crate) channels: Vec<Vec<Option<usize>>>,
    pub(crate) problems: Vec<BagError>,
}

/// A file of a bag.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BagFile {
    /// Its path.
    pub path: PathBuf,
    /// Its length in bytes.
    pub size: u64,
    /// Messages in it.
    pub message_count: u64,
    /// Times of its first and last message, in nanoseconds since the epoch; `None` if it has none.
    pub times: Option<(u64, u64)>,
    /// The compressions of its chunks: `zstd`, `lz4` or both; empty if none is compressed.
    pub compression: String,
    /// Whether it has a summary. Without one it was read as a whole when the bag was opened.
    pub has_summary: bool,
    /// Attachments in it, which rosbag2 doesn't write and copies don't have.
    pub attachments: u32,
    /// The program that wrote it, as it calls itself.
    pub library: String,
}

impl BagReader {
    /// Opens a bag.
    ///
    /// # Errors
    /// [`BagError`] if there is no bag, if it is of a newer version or another format, or if
    /// `metadata.yaml` can't be read. Damage inside its files is no error here.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, BagError> {
        let path = path.as_ref();
        let is_directory = fs::metadata(path).map_err(BagError::file("open", path))?.is_dir();
        let metadata = if is_directory { read_metadata(path)? } else { None };
        let paths = match &metadata {
            Some(metadata) => paths(path, metadata)?,
            None if is_directory => mcap_files(path)?,
            None => vec![path.to_owned()],
        };
        Self::of(path, &paths, metadata)
    }

    /// Opens these files of a directory, whatever its `metadata.yaml` says; only what a recorder
    /// alone knows is taken from that.
    pub(crate) fn of_files(directory: &Path, paths: &[PathBuf]) -> Result<Self, BagError> {
        Self::of(directory, paths, read_metadata(directory).ok().flatten())
    }

    fn of(path: &Path, paths: &[PathBuf], metadata: Option<BagMetadata>) -> Result<Self, BagError> {
        let is_directory = path.is_dir();
        let mut problems = Vec::new();
        let mut files = Vec::new();
        for path in paths {
            match McapFile::open(path) {
                Ok(file) => files.push(file),
                // One of several files is missing: the others are still worth reading.
                Err(error @ BagError::File { .. }) if is_directory => problems.push(error),
                Err(error) => return Err(error),
            }
        }
        if files.is_empty() {
            return Err(problems.pop().unwrap_or_else(|| no_files(path)));
        }
        for McapFile { path, index, .. } in &files {
            let damaged = |(at, problem): &(u64, String)| BagError::Damaged {
                path: path.clone(),
                at: *at,
                problem: problem.clone(),
            };
            problems.extend(index.problems.iter().map(damaged));
        }
        Ok(Self { bag: Arc::new(Bag::new(path.to_owned(), files, metadata, problems)) })
    }

    /// Returns the path as it was opened.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.bag.path
    }

    /// Returns the topics, by name. A topic whose type has changed is there once for each type.
    #[must_use]
    pub fn topics(&self) -> &[Arc<BagTopic>] {
        &self.bag.topics
    }

    /// Returns the files, in the order of the bag.
    #[must_use]
    pub fn files(&self) -> Vec<BagFile> {
        let file = |file: &McapFile| BagFile {
            path: file.path.clone(),
            size: file.bytes.len() as u64,
            message_count: file.message_count(),
            times: file.index.bounds,
            compression: compression(file),
            has_summary: file.index.is_from_summary,
            attachments: file.index.attachments,
            library: file.index.library.clone(),
        };
        self.bag.files.iter().map(file).collect()
    }

    /// Returns the times of the first and the last message, in nanoseconds since the epoch; `None`
    /// if the bag has none.
    #[must_use]
    pub fn times(&self) -> Option<(u64, u64)> {
        let all = self.bag.files.iter().filter_map(|file| file.index.bounds);
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

    /// Returns what is wrong with the bag as far as opening has shown it: files that are missing, and
    /// damage in files without a summary. [`check`](crate::check) finds everything.
    #[must_use]
    pub fn problems(&self) -> &[BagError] {
        &self.bag.problems
    }

    /// Returns the selected messages of all files in the order in which they were received.
    ///
    /// Holds the chunks whose times overlap at the current place, in each file: of most bags one.
    ///
    /// # Errors
    /// [`BagError::NoTopic`] if the selection names a topic that the bag hasn't.
    pub fn messages(&self, selection: &Selection) -> Result<Messages, BagError> {
        let wanted = selection.wanted(&self.bag.topics)?;
        let cursors = self.bag.channels.iter().cloned().map(Cursor::new).collect();
        Ok(Messages { bag: self.bag.clone(), begin: wanted.from, wanted, cursors })
    }

    pub(crate) fn bag(&self) -> &Bag {
        &self.bag
    }
}

impl Bag {
    fn new(
        path: PathBuf,
        files: Vec<McapFile>,
        metadata: Option<BagMetadata>,
        problems: Vec<BagError>,
    ) -> Self {
        let metadata = metadata.or_else(|| recorded_metadata(files.first()?));
        let mut topics: Vec<BagTopic> = Vec::new();
        let mut places = Vec::new();
        for file in &files {
            let mut of_channels =
                vec![None; file.index.channels.keys().last().map_or(0, |id| usize::from(*id) + 1)];
            for channel in file.index.channels.values() {
                let topic = BagTopic::of(channel, &file.index);
                let same = topics.iter().position(|known| known.is_same(&topic));
                let place = same.unwrap_or(topics.len());
                match topics.get_mut(place) {
                    Some(known) => known.add(topic),
                    None => topics.push(topic),
                }
                of_channels[usize::from(channel.id)] = Some(place);
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
        }
        let topics = topics.into_iter().map(Arc::new).collect();
        Self { path, files, metadata, topics, channels: places, problems }
    }
}

fn of_topic<'a>(metadata: &'a BagMetadata, topic: &BagTopic) -> Option<&'a TopicMetadata> {
    metadata.topics.iter().find(|known| known.name == topic.name && known.type_name == topic.type_name)
}

fn compression(file: &McapFile) -> String {
    let names: Vec<&str> =
        file.index.compressions.iter().filter(|name| !name.is_empty()).map(String::as_str).collect();
    names.join(", ")
}

fn recorded_metadata(file: &McapFile) -> Option<BagMetadata> {
    let text = file.index.rosbag2.as_ref()?.get("serialized_metadata")?;
    BagMetadata::from_yaml(text, &file.path).ok()
}

/// Reads a directory's `metadata.yaml`, if it has one.
fn read_metadata(directory: &Path) -> Result<Option<BagMetadata>, BagError> {
    let path = directory.join(metadata::FILE_NAME);
    match fs::read_to_string(&path) {
        Ok(text) => BagMetadata::from_yaml(&text, &path).map(Some),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(BagError::file("read", path)(error)),
    }
}

/// Returns the files that the metadata names.
fn paths(directory: &Path, metadata: &BagMetadata) -> Result<Vec<PathBuf>, BagError> {
    let unsupported = |what, name: &str, hint| BagError::Unsupported {
        path: directory.join(metadata::FILE_NAME),
        what,
        name: name.to_owned(),
        hint,
    };
    if metadata.storage_identifier != "mcap" {
        let hint = "`ros2 bag convert` makes a bag of MCAP files from it";
        return Err(unsupported("the storage", &metadata.storage_identifier, hint));
    }
    if !metadata.compression_mode.is_empty() && !metadata.compression_mode.eq_ignore_ascii_case("none") {
        let hint = "only compression by MCAP itself is read; `ros2 bag convert` makes a bag without it";
        return Err(unsupported("the compression mode", &metadata.compression_mode, hint));
    }
    if metadata.relative_file_paths.is_empty() {
        return mcap_files(directory);
    }
    Ok(metadata.relative_file_paths.iter().map(|path| directory.join(path)).collect())
}

/// Returns the MCAP files in a directory, in the order of the numbers in their names.
pub(crate) fn mcap_files(directory: &Path) -> Result<Vec<PathBuf>, BagError> {
    let entries = fs::read_dir(directory)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(BagError::file("read", directory))?;
    let mut paths: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "mcap"));
    if paths.is_empty() {
        return Err(no_files(directory));
    }
    paths.sort_by_key(|path| numbers_in(path));
    Ok(paths)
}

fn no_files(path: &Path) -> BagError {
    BagError::NotABag {
        path: path.to_owned(),
        why: "it has neither metadata.yaml nor files that end with `.mcap`",
    }
}

/// Splits a file's name into texts and numbers, so that `bag_10` comes after `bag_9`.
fn numbers_in(path: &Path) -> Vec<(String, u64)> {
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut parts = vec![(String::new(), 0_u64)];
    let mut in_number = false;
    for c in name.chars() {
        let digit = c.to_digit(10);
        if in_number && digit.is_none() {
            parts.push((String::new(), 0));
        }
        in_number = digit.is_some();
        if let Some((text, number)) = parts.last_mut() {
            match digit {
                Some(digit) => *number = number.saturating_mul(10).saturating_add(digit.into()),
                None => text.push(c),
            }
        }
    }
    parts
}

/// The messages of a bag, one after the other.
///
/// After an error about a damaged chunk, the iteration goes on with the messages that can be read.
#[derive(Debug)]
pub struct Messages {
    bag: Arc<Bag>,
    wanted: Wanted,
    /// Where the selection begins.
    begin: u64,
    cursors: Vec<Cursor>,
}

impl Messages {
    /// Goes to the first selected message at this time or later, in nanoseconds since the epoch;
    /// backwards, too. Reads at most the chunks around that time.
    pub fn seek(&mut self, time: u64) {
        self.wanted.from = time.max(self.begin);
        self.cursors.iter_mut().for_each(Cursor::rewind);
    }
}

impl Iterator for Messages {
    type Item = Result<BagMessage, BagError>;

    fn next(&mut self) -> Option<Self::Item> {
        let Self { bag, wanted, cursors, .. } = self;
        loop {
            let files = cursors.iter_mut().zip(&bag.files);
            let bounds = files.filter_map(|(cursor, file)| Some((cursor.bound(file, wanted)?, cursor, file)));
            let (_, cursor, file) = bounds.min_by_key(|(time, ..)| *time)?;
            match cursor.step(file, wanted) {
                Step::Message(header, topic, bytes) => {
                    return Some(Ok(BagMessage::new(&header, bag.topics[topic].clone(), bytes)));
                }
                Step::Read => {}
                Step::Damaged(at, problem) => {
                    return Some(Err(BagError::Damaged { path: file.path.clone(), at, problem }));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_ordered_by_their_numbers() {
        let mut names = ["bag_10.mcap", "bag_9.mcap", "bag_1_b.mcap", "bag_1_a.mcap"];
        names.sort_by_key(|name| numbers_in(name.as_ref()));
        assert_eq!(names, ["bag_1_a.mcap", "bag_1_b.mcap", "bag_9.mcap", "bag_10.mcap"]);
    }
}
