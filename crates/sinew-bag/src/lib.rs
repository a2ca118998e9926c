//! Bags: recorded messages in files, as rosbag2 writes and reads them.
//!
//! A bag is a directory with `metadata.yaml` and [MCAP](https://mcap.dev) files, or a single such
//! file. [`BagReader`] reads the messages of a bag in the order in which they were received: as
//! bytes where they lie, decoded to a Rust type, or decoded by the definition that the bag carries.
//! [`BagWriter`] writes a bag that `ros2 bag` and viewers of MCAP read, and [`Recorder`] one of the
//! topics of running programs. [`Player`] publishes the messages of bags again, and [`Replay`] does
//! so in virtual time, the same in every run. [`copy`] filters, cuts, merges and compresses bags;
//! [`check`] finds damage, [`reindex`] mends it.
//!
//! Nothing in a file is trusted: damage costs the messages of a chunk, never a panic, and memory is
//! used for chunks, not for lengths that a file claims. The bag of a recorder that was killed, or
//! ran out of disk space, is read as far as it goes.
//!
//! Bags of SQLite (`.db3`), rosbag2's format before ROS 2 Iron, are read with the feature
//! `sqlite3`, which brings SQLite's C code. Bags that rosbag2 has compressed, as whole files or
//! message by message, are always read. Neither is written.

mod attachment;
mod check;
mod copy;
mod cursor;
mod error;
mod latest;
mod mapped;
mod mcap_file;
mod merged;
mod message;
mod metadata;
mod options;
mod pattern;
mod piece;
mod play;
mod qos_file;
mod qos_yaml;
mod reader;
mod record;
mod records;
mod schema;
mod selection;
#[cfg(feature = "sqlite3")]
mod sqlite;
mod storage;
mod stored_file;
mod topic;
mod writer;
mod yaml;

pub use attachment::{Attachment, MetadataRecord};
pub use check::{Reindexed, check, reindex};
pub use copy::{Copied, copy};
pub use error::{BagDecodeError, BagError};
pub use message::{BagMessage, Stamps};
pub use metadata::{BagMetadata, FileMetadata, TopicMetadata};
pub use options::{ChunkCompression, CompressionLevel, StorageOptions, StoragePreset, WriterOptions};
pub use piece::MessageBytes;
pub use play::{
    MessageOrder, PlayEnd, PlayError, PlayedMessage, PlayedTopic, Player, PlayerBuilder, PlayerClock,
    PlayerStatistics, Progress, Replay, ReplayError, SkippedTopic,
};
pub use qos_file::read_qos_overrides;
pub use qos_yaml::RecordedQos;
pub use reader::{BagReader, Messages};
pub use record::{RecordError, Recorded, RecordedTopic, Recorder, RecorderBuilder, Snapshot};
pub use schema::Schema;
pub use selection::Selection;
pub use storage::is_file_of_bag;
pub use stored_file::BagFile;
pub use topic::{BagTopic, TopicDefinition};
pub use writer::{BagWriter, TopicId};
