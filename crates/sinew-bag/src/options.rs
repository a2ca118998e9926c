//! The options for writing bags: rosbag2's presets and its storage options.

use crate::error::BagError;
use crate::metadata::BagMetadata;
use crate::yaml::Yaml;
use mcap::{Compression, WriteOptions};
use std::path::Path;
use std::time::Duration;

/// The options of a [`BagWriter`](crate::BagWriter). The default is that of rosbag2: no
/// compression, one file.
///
/// ```
/// use sinew_bag::{StoragePreset, WriterOptions};
/// use std::time::Duration;
///
/// let options = WriterOptions {
///     storage: StoragePreset::ZstdFast.into(),
///     max_duration: Duration::from_secs(60),
///     ..WriterOptions::default()
/// };
/// assert_eq!(options.metadata_version, 9);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriterOptions {
    /// Layout and compression of the files.
    pub storage: StorageOptions,
    /// Length in bytes after which a new file begins. A file may be longer by one chunk. 0: each
    /// message has a file of its own. Default: `u64::MAX`, no limit.
    pub max_size: u64,
    /// Time between the first and the last message of a file. Zero: each message has a file of its
    /// own. Default: `Duration::MAX`, no limit.
    pub max_duration: Duration,
    /// Files that are kept: when there are more, the oldest one is removed, with its messages. 0 is
    /// as 1. Default: `usize::MAX`, no limit.
    pub max_files: usize,
    /// The version of `metadata.yaml` and of the QoS in the files: 9 (the default), or 8, the
    /// last with numbers for QoS, for tools of ROS 2 before Jazzy.
    pub metadata_version: u32,
    /// The distribution of ROS 2 that the metadata names, such as `jazzy`. Default: empty.
    pub ros_distro: String,
    /// The program that the files name. Default: `sinew` and its version.
    pub library: String,
}

impl Default for WriterOptions {
    fn default() -> Self {
        Self {
            storage: StorageOptions::default(),
            max_size: u64::MAX,
            max_duration: Duration::MAX,
            max_files: usize::MAX,
            metadata_version: BagMetadata::NEWEST,
            ros_distro: String::new(),
            library: concat!("sinew ", env!("CARGO_PKG_VERSION")).to_owned(),
        }
    }
}

/// rosbag2's presets for MCAP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum StoragePreset {
    /// Chunks of 768 KiB without compression.
    #[default]
    None,
    /// No chunks and no checksums: the least work while recording. Such a file has no index.
    FastWrite,
    /// Chunks compressed with zstd at its fastest level.
    ZstdFast,
    /// Chunks of 4 MiB compressed with zstd at its slowest level: for bags that are kept.
    ZstdSmall,
}

impl StoragePreset {
    /// All presets with rosbag2's names.
    pub const ALL: [(&str, Self); 4] = [
        ("none", Self::None),
        ("fastwrite", Self::FastWrite),
        ("zstd_fast", Self::ZstdFast),
        ("zstd_small", Self::ZstdSmall),
    ];
}

impl std::str::FromStr for StoragePreset {
    type Err = BagError;

    /// Reads rosbag2's name.
    ///
    /// # Errors
    /// [`BagError::Option`] for any other.
    fn from_str(name: &str) -> Result<Self, BagError> {
        let preset = Self::ALL.iter().find(|(known, _)| *known == name);
        preset.map(|(_, preset)| *preset).ok_or_else(|| BagError::Option {
            what: "the preset".to_owned(),
            found: name.to_owned(),
            expected: "one of none, fastwrite, zstd_fast and zstd_small",
        })
    }
}

/// The compression of chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum ChunkCompression {
    /// None.
    #[default]
    None,
    /// LZ4: fast to read and write.
    Lz4,
    /// Zstandard: smaller.
    Zstd,
}

/// Layout and compression of MCAP files, with rosbag2's names for the storage options.
///
/// ```
/// use sinew_bag::{ChunkCompression, StorageOptions, StoragePreset};
///
/// let text = "compression: Lz4\nchunkSize: 65536";
/// let options = StorageOptions::from_yaml(text, StoragePreset::None, "storage.yaml".as_ref())?;
/// assert_eq!((options.compression, options.chunk_size), (ChunkCompression::Lz4, 65536));
/// # Ok::<(), sinew_bag::BagError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StorageOptions {
    /// The compression of chunks. Default: none.
    pub compression: ChunkCompression,
    /// The effort of the compression. Default: `Default`.
    pub level: CompressionLevel,
    /// Threads that compress beside the writing one, for zstd. Default: 0.
    pub threads: u32,
    /// Length of a chunk in bytes before its compression. Default: 786,432.
    pub chunk_size: u64,
    /// Options that are on or off, by rosbag2's names: see [`from_yaml`](Self::from_yaml).
    switches: [bool; SWITCHES.len()],
}

/// The effort of a compression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum CompressionLevel {
    /// The least.
    Fastest,
    /// Little.
    Fast,
    /// The library's own default.
    #[default]
    Default,
    /// More.
    Slow,
    /// The most.
    Slowest,
}

const SWITCHES: [&str; 15] = [
    "noChunkCRC",
    "noAttachmentCRC",
    "enableDataCRC",
    "noSummaryCRC",
    "noChunking",
    "noMessageIndex",
    "noSummary",
    "forceCompression",
    "noRepeatedSchemas",
    "noRepeatedChannels",
    "noAttachmentIndex",
    "noMetadataIndex",
    "noChunkIndex",
    "noStatistics",
    "noSummaryOffsets",
];

impl Default for StorageOptions {
    fn default() -> Self {
        let mut options = Self {
            compression: ChunkCompression::None,
            level: CompressionLevel::Default,
            threads: 0,
            chunk_size: 768 << 10,
            switches: [false; SWITCHES.len()],
        };
        options.switch("noChunkCRC", true);
        options
    }
}

impl From<StoragePreset> for StorageOptions {
    fn from(preset: StoragePreset) -> Self {
        let mut options = Self::default();
        match preset {
            StoragePreset::None => {}
            StoragePreset::FastWrite => {
                options.switch("noChunking", true);
                options.switch("noSummaryCRC", true);
            }
            StoragePreset::ZstdFast => {
                options.compression = ChunkCompression::Zstd;
                options.level = CompressionLevel::Fastest;
            }
            StoragePreset::ZstdSmall => {
                options.compression = ChunkCompression::Zstd;
                options.level = CompressionLevel::Slowest;
                options.chunk_size = 4 << 20;
            }
        }
        options
    }
}

impl StorageOptions {
    /// Reads rosbag2's storage config file. Its options change those of a preset: `compression`
    /// (`None`, `Lz4`, `Zstd`), `compressionLevel` (`Fastest`, `Fast`, `Default`, `Slow`,
    /// `Slowest`), `chunkSize`, and with `true` or `false` `noChunkCRC`, `noAttachmentCRC`,
    /// `enableDataCRC`, `noSummaryCRC`, `noChunking`, `noMessageIndex`, `noSummary`,
    /// `forceCompression` (which is always so), `noRepeatedSchemas`, `noRepeatedChannels`,
    /// `noAttachmentIndex`, `noMetadataIndex`, `noChunkIndex`, `noStatistics` and
    /// `noSummaryOffsets`. `path` is named in errors.
    ///
    /// # Errors
    /// [`BagError::Metadata`] if the text is no map in YAML; [`BagError::Option`] for an unknown
    /// option or value.
    pub fn from_yaml(text: &str, preset: StoragePreset, path: &Path) -> Result<Self, BagError> {
        let problem = |problem: String| BagError::Metadata { path: path.to_owned(), problem };
        let yaml = Yaml::read(text).map_err(|(line, text)| problem(format!("line {line}: {text}")))?;
        let entries = yaml.entries().ok_or_else(|| problem("it is no map of options".to_owned()))?;
        let mut options = Self::from(preset);
        for (name, value) in entries {
            let value = value.text().unwrap_or_default();
            options.set(name, value).map_err(|expected| BagError::Option {
                what: format!("the option {name}"),
                found: value.to_owned(),
                expected,
            })?;
        }
        Ok(options)
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), &'static str> {
        match name {
            "compression" => {
                self.compression = match value {
                    "None" => ChunkCompression::None,
                    "Lz4" => ChunkCompression::Lz4,
                    "Zstd" => ChunkCompression::Zstd,
                    _ => return Err("None, Lz4 or Zstd"),
                };
            }
            "compressionLevel" => {
                self.level = match value {
                    "Fastest" => CompressionLevel::Fastest,
                    "Fast" => CompressionLevel::Fast,
                    "Default" => CompressionLevel::Default,
                    "Slow" => CompressionLevel::Slow,
                    "Slowest" => CompressionLevel::Slowest,
                    _ => return Err("Fastest, Fast, Default, Slow or Slowest"),
                };
            }
            "chunkSize" => self.chunk_size = value.parse().map_err(|_| "a number of bytes")?,
            _ if SWITCHES.contains(&name) => match value {
                "true" | "false" => self.switch(name, value == "true"),
                _ => return Err("true or false"),
            },
            _ => return Err("there is no such option"),
        }
        Ok(())
    }

    fn switch(&mut self, name: &str, is_on: bool) {
        for (known, switch) in SWITCHES.iter().zip(&mut self.switches) {
            if *known == name {
                *switch = is_on;
            }
        }
    }

    fn is_on(&self, name: &str) -> bool {
        SWITCHES.iter().zip(self.switches).any(|(known, is_on)| *known == name && is_on)
    }

    /// Returns the options for the crate that writes the files.
    pub(crate) fn write_options(&self, library: &str) -> WriteOptions {
        let (compression, level) = match (self.compression, self.level) {
            (ChunkCompression::None, _) => (None, 0),
            (ChunkCompression::Lz4, CompressionLevel::Slow) => (Some(Compression::Lz4), 6),
            (ChunkCompression::Lz4, CompressionLevel::Slowest) => (Some(Compression::Lz4), 12),
            (ChunkCompression::Lz4, _) => (Some(Compression::Lz4), 1),
            (ChunkCompression::Zstd, CompressionLevel::Slow) => (Some(Compression::Zstd), 5),
            (ChunkCompression::Zstd, CompressionLevel::Slowest) => (Some(Compression::Zstd), 19),
            (ChunkCompression::Zstd, _) => (Some(Compression::Zstd), 1),
        };
        let has = |switch| !self.is_on(switch);
        let has_summary = has("noSummary");
        WriteOptions::new()
            .profile("ros2")
            .library(library)
            .compression(compression)
            .compression_level(level)
            .compression_threads(self.threads)
            .chunk_size(Some(self.chunk_size))
            .use_chunks(has("noChunking"))
            .emit_statistics(has_summary && has("noStatistics"))
            .emit_chunk_indexes(has_summary && has("noChunkIndex"))
            .emit_attachment_indexes(has_summary && has("noAttachmentIndex"))
            .emit_metadata_indexes(has_summary && has("noMetadataIndex"))
            .repeat_channels(has_summary && has("noRepeatedChannels"))
            .repeat_schemas(has_summary && has("noRepeatedSchemas"))
            .emit_summary_offsets(has_summary && has("noSummaryOffsets"))
            .emit_message_indexes(has("noMessageIndex"))
            .calculate_chunk_crcs(has("noChunkCRC"))
            .calculate_data_section_crc(self.is_on("enableDataCRC"))
            .calculate_summary_section_crc(has("noSummaryCRC"))
            .calculate_attachment_crcs(has("noAttachmentCRC"))
    }
}
