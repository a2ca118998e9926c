//! `metadata.yaml`, which rosbag2 writes beside the files of a bag and in them.

use crate::error::BagError;
use crate::qos_yaml::{self, RecordedQos};
use crate::yaml::{Yaml, quoted};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

/// The file's name in a bag's directory.
pub(crate) const FILE_NAME: &str = "metadata.yaml";
/// The prefix of the keys of lost messages in the recorder's own texts; the topic follows.
const LOST: &str = "sinew.lost";
/// The name of rosbag2's metadata records in an MCAP file.
pub(crate) const ROSBAG2: &str = "rosbag2";
/// The name of the metadata record of lost messages in an MCAP file: topics with their numbers.
pub(crate) const LOSSES: &str = "sinew:losses";
/// The only key at its top.
const ROOT: &str = "rosbag2_bagfile_information";

/// A bag as its `metadata.yaml` describes it. Times are nanoseconds since the epoch.
///
/// ```
/// use sinew_bag::BagMetadata;
///
/// let metadata = BagMetadata::default();
/// assert_eq!(BagMetadata::from_yaml(&metadata.to_yaml(), "metadata.yaml".as_ref())?, metadata);
/// # Ok::<(), sinew_bag::BagError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BagMetadata {
    /// The version of the format: 9 in bags of ROS 2 Jazzy and later, 7 in those of Iron, 5 in
    /// those of Humble.
    pub version: u32,
    /// The format of the files: `mcap` or `sqlite3`.
    pub storage_identifier: String,
    /// Time from the first to the last message, in nanoseconds.
    pub duration: u64,
    /// Time of the first message.
    pub starting_time: u64,
    /// Messages in all files.
    pub message_count: u64,
    /// The topics.
    pub topics: Vec<TopicMetadata>,
    /// Compression of whole files or messages by rosbag2 itself: `zstd` or empty.
    pub compression_format: String,
    /// `FILE`, `MESSAGE` or empty.
    pub compression_mode: String,
    /// Names of the files, in the order of time.
    pub relative_file_paths: Vec<String>,
    /// More about the files; empty up to version 4.
    pub files: Vec<FileMetadata>,
    /// The recorder's own texts.
    pub custom_data: BTreeMap<String, String>,
    /// The distribution of ROS 2 that recorded the bag, such as `jazzy`; empty if unknown.
    pub ros_distro: String,
}

/// A topic in a bag's metadata.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicMetadata {
    /// The full name.
    pub name: String,
    /// The full name of its type, such as `std_msgs/msg/String`.
    pub type_name: String,
    /// `cdr`.
    pub serialization_format: String,
    /// The QoS of its publishers.
    pub offered_qos_profiles: Vec<RecordedQos>,
    /// The hash of its type as text; empty if unknown.
    pub type_description_hash: String,
    /// Messages in all files.
    pub message_count: u64,
}

/// A file in a bag's metadata.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileMetadata {
    /// Its name, relative to the bag's directory.
    pub path: String,
    /// Time of its first message.
    pub starting_time: u64,
    /// Time from its first to its last message, in nanoseconds.
    pub duration: u64,
    /// Messages in the file.
    pub message_count: u64,
}

impl Default for BagMetadata {
    /// The metadata of an empty bag of MCAP files.
    fn default() -> Self {
        Self {
            version: Self::NEWEST,
            storage_identifier: "mcap".to_owned(),
            duration: 0,
            starting_time: 0,
            message_count: 0,
            topics: Vec::new(),
            compression_format: String::new(),
            compression_mode: String::new(),
            relative_file_paths: Vec::new(),
            files: Vec::new(),
            custom_data: BTreeMap::new(),
            ros_distro: String::new(),
        }
    }
}

impl BagMetadata {
    /// The newest version that is read and written.
    pub const NEWEST: u32 = 9;
    /// The oldest version that is read.
    pub const OLDEST: u32 = 2;

    /// Returns the topics of which the recorder lost messages, with their number.
    pub fn losses(&self) -> impl Iterator<Item = (&str, u64)> {
        let texts = self.custom_data.iter();
        texts.filter_map(|(key, count)| Some((key.strip_prefix(LOST)?, count.parse().ok()?)))
    }

    /// Returns the losses that metadata names, if there is any.
    pub(crate) fn losses_of(metadata: Option<&Self>) -> BTreeMap<String, u64> {
        let losses = metadata.into_iter().flat_map(Self::losses);
        losses.map(|(topic, count)| (topic.to_owned(), count)).collect()
    }

    /// Sets the number of messages of a topic that the recorder lost; with 0, nothing is written of
    /// it. It stands in [`custom_data`](Self::custom_data), under `sinew.lost` and the topic's
    /// name.
    pub fn set_lost(&mut self, topic: &str, count: u64) {
        let key = format!("{LOST}{topic}");
        match count {
            0 => drop(self.custom_data.remove(&key)),
            _ => drop(self.custom_data.insert(key, count.to_string())),
        }
    }

    /// Reads a text of any version from [`OLDEST`](Self::OLDEST) to [`NEWEST`](Self::NEWEST).
    /// `path` is named in errors. What an old version lacks is empty.
    ///
    /// # Errors
    /// [`BagError::Version`] for another version; [`BagError::Metadata`] if the text is no YAML, or
    /// lacks an entry.
    pub fn from_yaml(text: &str, path: &Path) -> Result<Self, BagError> {
        let problem = |problem: String| BagError::Metadata { path: path.to_owned(), problem };
        let yaml = Yaml::read(text).map_err(|(line, text)| problem(format!("line {line}: {text}")))?;
        // The record in an MCAP file lacks the outermost key.
        let root = yaml.get(ROOT).unwrap_or(&yaml);
        let root = Entry { yaml: root, name: ROOT };
        let version = root.number("version").map_err(problem)?;
        let version = u32::try_from(version).unwrap_or(u32::MAX);
        if !(Self::OLDEST..=Self::NEWEST).contains(&version) {
            return Err(BagError::Version {
                path: path.to_owned(),
                what: "metadata",
                version: version.to_string(),
                known: format!("{} to {}", Self::OLDEST, Self::NEWEST),
            });
        }
        read(&root, version).map_err(problem)
    }

    /// Writes the text as rosbag2 does, in the form of [`version`](Self::version): 9, or 8 for any
    /// other.
    #[must_use]
    pub fn to_yaml(&self) -> String {
        let version = if self.version == 9 { 9 } else { 8 };
        let mut text = format!("{ROOT}:\n");
        let mut line = |indent: usize, name: &str, value: &str| {
            let blank = if value.is_empty() || value.starts_with('\n') { "" } else { " " };
            let _ = writeln!(text, "{:indent$}{name}:{blank}{value}", ""); // can't fail
        };
        line(2, "version", &version.to_string());
        line(2, "storage_identifier", &quoted(&self.storage_identifier));
        line(2, "duration", "");
        line(4, "nanoseconds", &self.duration.to_string());
        line(2, "starting_time", "");
        line(4, "nanoseconds_since_epoch", &self.starting_time.to_string());
        line(2, "message_count", &self.message_count.to_string());
        line(2, "topics_with_message_count", if self.topics.is_empty() { "[]" } else { "" });
        for topic in &self.topics {
            line(4, "- topic_metadata", "");
            line(8, "name", &quoted(&topic.name));
            line(8, "type", &quoted(&topic.type_name));
            line(8, "serialization_format", &quoted(&topic.serialization_format));
            let offered = &topic.offered_qos_profiles;
            if version == 8 {
                line(8, "offered_qos_profiles", &quoted(qos_yaml::write_all(offered, "", 8).trim_end()));
            } else if offered.is_empty() {
                line(8, "offered_qos_profiles", "[]");
            } else {
                let all = qos_yaml::write_all(offered, "          ", version);
                line(8, "offered_qos_profiles", &format!("\n{}", all.trim_end()));
            }
            line(8, "type_description_hash", &quoted(&topic.type_description_hash));
            line(6, "message_count", &topic.message_count.to_string());
        }
        line(2, "compression_format", &quoted(&self.compression_format));
        line(2, "compression_mode", &quoted(&self.compression_mode));
        line(2, "relative_file_paths", if self.relative_file_paths.is_empty() { "[]" } else { "" });
        for path in &self.relative_file_paths {
            let _ = writeln!(text, "    - {}", quoted(path));
        }
        self.write_end(&mut text);
        text
    }

    /// Writes the text of the record in an MCAP file: without the outermost key.
    pub(crate) fn to_record(&self) -> String {
        self.to_yaml()
            .lines()
            .skip(1)
            .map(|line| format!("{}\n", line.get(2..).unwrap_or_default()))
            .collect()
    }

    fn write_end(&self, text: &mut String) {
        // Writing to a string can't fail.
        let _ = writeln!(text, "  files:{}", if self.files.is_empty() { " []" } else { "" });
        for file in &self.files {
            let _ = write!(
                text,
                "    - path: {}\n      starting_time:\n        nanoseconds_since_epoch: {}\n      duration:\n        \
                 nanoseconds: {}\n      message_count: {}\n",
                quoted(&file.path),
                file.starting_time,
                file.duration,
                file.message_count
            );
        }
        let _ = writeln!(text, "  custom_data:{}", if self.custom_data.is_empty() { " ~" } else { "" });
        for (key, value) in &self.custom_data {
            let _ = writeln!(text, "    {}: {}", quoted(key), quoted(value));
        }
        let _ = writeln!(text, "  ros_distro: {}", quoted(&self.ros_distro));
    }
}

/// A map in the text, with its name for errors.
struct Entry<'a> {
    yaml: &'a Yaml,
    name: &'static str,
}

impl<'a> Entry<'a> {
    fn get(&self, name: &'static str) -> Result<Entry<'a>, String> {
        let yaml = self.yaml.get(name).ok_or_else(|| format!("`{}` has no `{name}`", self.name))?;
        Ok(Entry { yaml, name })
    }

    fn text(&self, name: &'static str) -> Result<String, String> {
        let yaml = self.get(name)?.yaml;
        Ok(yaml.text().ok_or_else(|| format!("`{name}` is no text"))?.to_owned())
    }

    fn number(&self, name: &'static str) -> Result<u64, String> {
        let text = self.text(name)?;
        // An empty bag of old versions has the least time there is, which is negative.
        let number = text.parse().ok().or_else(|| text.parse::<i64>().is_ok().then_some(0));
        number.ok_or_else(|| format!("`{name}` is `{text}`, which is no number"))
    }

    fn list(&self, name: &'static str) -> Result<impl Iterator<Item = Entry<'a>> + use<'a>, String> {
        let list = self.get(name)?.yaml.list().ok_or_else(|| format!("`{name}` is no list"))?;
        Ok(list.iter().map(move |yaml| Entry { yaml, name }))
    }
}

fn read(root: &Entry<'_>, version: u32) -> Result<BagMetadata, String> {
    // A text that a later version added is empty in an older one.
    let text = |since, name| if version >= since { root.text(name) } else { Ok(String::new()) };
    let files = if version >= 5 {
        root.list("files")?.map(|file| read_file(&file)).collect::<Result<_, _>>()?
    } else {
        Vec::new()
    };
    let custom_data = match root.yaml.get("custom_data").and_then(Yaml::entries) {
        Some(entries) => {
            entries.iter().filter_map(|(key, value)| Some((key.clone(), value.text()?.to_owned()))).collect()
        }
        None => BTreeMap::new(),
    };
    Ok(BagMetadata {
        version,
        storage_identifier: root.text("storage_identifier")?,
        duration: root.get("duration")?.number("nanoseconds")?,
        starting_time: root.get("starting_time")?.number("nanoseconds_since_epoch")?,
        message_count: root.number("message_count")?,
        topics: root
            .list("topics_with_message_count")?
            .map(|topic| read_topic(&topic, version))
            .collect::<Result<_, _>>()?,
        compression_format: text(3, "compression_format")?,
        compression_mode: text(3, "compression_mode")?,
        relative_file_paths: root
            .list("relative_file_paths")?
            .map(|path| path.yaml.text().map(str::to_owned).ok_or("a file's name is no text".to_owned()))
            .collect::<Result<_, _>>()?,
        files,
        custom_data,
        ros_distro: text(8, "ros_distro")?,
    })
}

fn read_topic(entry: &Entry<'_>, version: u32) -> Result<TopicMetadata, String> {
    let topic = entry.get("topic_metadata")?;
    let name = topic.text("name")?;
    let offered = match topic.yaml.get("offered_qos_profiles") {
        Some(Yaml::Text(text)) => qos_yaml::read_text(text),
        Some(list) => qos_yaml::read_all(list),
        None => Some(Vec::new()),
    };
    Ok(TopicMetadata {
        type_name: topic.text("type")?,
        serialization_format: topic.text("serialization_format")?,
        offered_qos_profiles: offered
            .ok_or_else(|| format!("the `offered_qos_profiles` of {name} can't be read"))?,
        type_description_hash: if version >= 7 {
            topic.text("type_description_hash")?
        } else {
            String::new()
        },
        message_count: entry.number("message_count")?,
        name,
    })
}

fn read_file(file: &Entry<'_>) -> Result<FileMetadata, String> {
    Ok(FileMetadata {
        path: file.text("path")?,
        starting_time: file.get("starting_time")?.number("nanoseconds_since_epoch")?,
        duration: file.get("duration")?.number("nanoseconds")?,
        message_count: file.number("message_count")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew::QoS;

    fn example(version: u32) -> BagMetadata {
        BagMetadata {
            version,
            duration: 5,
            starting_time: 1_700_000_000_000_000_000,
            message_count: 3,
            topics: vec![
                TopicMetadata {
                    name: "/scan".to_owned(),
                    type_name: "sensor_msgs/msg/LaserScan".to_owned(),
                    serialization_format: "cdr".to_owned(),
                    offered_qos_profiles: vec![QoS::sensor_data().into(), QoS::default().into()],
                    type_description_hash: "RIHS01_00".to_owned(),
                    message_count: 3,
                },
                TopicMetadata {
                    name: "/none".to_owned(),
                    type_name: "std_msgs/msg/Empty".to_owned(),
                    serialization_format: "cdr".to_owned(),
                    offered_qos_profiles: Vec::new(),
                    type_description_hash: String::new(),
                    message_count: 0,
                },
            ],
            relative_file_paths: vec!["a b_0.mcap".to_owned()],
            files: vec![FileMetadata {
                path: "a b_0.mcap".to_owned(),
                starting_time: 1_700_000_000_000_000_000,
                duration: 5,
                message_count: 3,
            }],
            custom_data: [("robot".to_owned(), "no. 5".to_owned())].into(),
            ros_distro: "jazzy".to_owned(),
            ..BagMetadata::default()
        }
    }

    #[test]
    fn both_written_versions_are_read_back() {
        for metadata in [example(8), example(9), BagMetadata::default()] {
            let text = metadata.to_yaml();
            assert_eq!(BagMetadata::from_yaml(&text, "x".as_ref()).unwrap(), metadata, "{text}");
            let record = metadata.to_record();
            assert_eq!(BagMetadata::from_yaml(&record, "x".as_ref()).unwrap(), metadata, "{record}");
        }
    }

    #[test]
    fn losses_are_texts_of_the_recorder() {
        let mut metadata = example(9);
        metadata.set_lost("/scan", 7);
        metadata.set_lost("/tf", 0);
        let read = BagMetadata::from_yaml(&metadata.to_yaml(), "x".as_ref()).unwrap();
        assert_eq!(read.losses().collect::<Vec<_>>(), [("/scan", 7)]);
        metadata.set_lost("/scan", 0);
        assert_eq!(metadata, example(9));
    }

    #[test]
    fn other_versions_and_texts_are_refused_by_name() {
        let text = example(9).to_yaml().replace("version: 9", "version: 10");
        let error = BagMetadata::from_yaml(&text, "x/metadata.yaml".as_ref()).unwrap_err().to_string();
        assert!(error.contains("x/metadata.yaml") && error.contains("version 10"), "{error}");
        let text = example(9).to_yaml().replace("message_count: 3", "count: 3");
        let error = BagMetadata::from_yaml(&text, "x".as_ref()).unwrap_err().to_string();
        assert!(error.contains("`message_count`"), "{error}");
        assert!(BagMetadata::from_yaml("- a", "x".as_ref()).is_err());
    }
}
