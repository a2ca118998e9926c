//! Attachments and metadata records: parts of MCAP files that aren't messages.

use crate::error::BagError;
use crate::metadata::{LOSSES, ROSBAG2};
use crate::piece::MessageBytes;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A file that lies inside a bag, such as a calibration or a map. MCAP files may have some; rosbag2
/// writes none.
///
/// ```
/// use sinew_bag::{Attachment, BagReader, BagWriter};
///
/// # let directory = tempfile::tempdir().unwrap();
/// # let path = directory.path().join("bag");
/// let mut writer = BagWriter::create(&path, Default::default())?;
/// let mut camera = Attachment::new("camera.yaml", "width: 640");
/// camera.logged = 1_700_000_000_000_000_000;
/// writer.attach(&camera)?;
/// writer.close()?;
/// let bag = BagReader::open(&path)?;
/// let attachment = &bag.attachments()[0];
/// attachment.verify()?;
/// assert_eq!((attachment.name.as_str(), &*attachment.bytes), ("camera.yaml", &b"width: 640"[..]));
/// # Ok::<(), sinew_bag::BagError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Attachment {
    /// Its name, such as `camera.yaml`. Names need not be unique.
    pub name: String,
    /// The kind of its content, such as `text/plain`; empty if unknown.
    pub media_type: String,
    /// Time at which it was recorded, in nanoseconds since the epoch.
    pub logged: u64,
    /// Time at which it was made, in nanoseconds since the epoch; 0 if unknown.
    pub created: u64,
    /// Its content, which stays in the mapped file.
    pub bytes: MessageBytes,
    /// `None` for an attachment that isn't from a file, or has no checksum there.
    pub(crate) checksum: Option<Checksum>,
}

impl Attachment {
    /// Makes an attachment without times and media type.
    #[must_use]
    pub fn new(name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self {
            name: name.into(),
            media_type: String::new(),
            logged: 0,
            created: 0,
            bytes: MessageBytes::from(bytes.into()),
            checksum: None,
        }
    }

    /// Compares the attachment with the checksum in its file. Reads all its bytes. An attachment
    /// without a checksum passes.
    ///
    /// # Errors
    /// [`BagError::Damaged`] if they differ.
    pub fn verify(&self) -> Result<(), BagError> {
        match &self.checksum {
            Some(checksum) => checksum.verify(&self.name),
            None => Ok(()),
        }
    }
}

/// The checksum of an attachment in a file.
#[derive(Debug, Clone)]
pub(crate) struct Checksum {
    pub(crate) path: PathBuf,
    /// The place of the attachment's record.
    pub(crate) at: u64,
    pub(crate) crc: u32,
    /// The part of the record that the checksum covers.
    pub(crate) covered: MessageBytes,
}

impl Checksum {
    fn verify(&self, name: &str) -> Result<(), BagError> {
        if crc32fast::hash(&self.covered) == self.crc {
            return Ok(());
        }
        let problem = wrong_checksum(name);
        Err(BagError::Damaged { path: self.path.clone(), at: self.at, problem })
    }
}

/// Describes an attachment that differs from its checksum.
pub(crate) fn wrong_checksum(name: &str) -> String {
    format!("the checksum of the attachment {name:?} is wrong")
}

/// Texts in an MCAP file, under a name: an application's own, such as the robot's serial number.
///
/// ```
/// use sinew_bag::{BagReader, BagWriter, MetadataRecord};
///
/// # let directory = tempfile::tempdir().unwrap();
/// # let path = directory.path().join("bag");
/// let record = MetadataRecord {
///     name: "robot".to_owned(),
///     texts: [("serial".to_owned(), "R2-17".to_owned())].into(),
/// };
/// let mut writer = BagWriter::create(&path, Default::default())?;
/// writer.write_metadata_record(&record)?;
/// writer.close()?;
/// assert_eq!(BagReader::open(&path)?.metadata_records(), [record]);
/// # Ok::<(), sinew_bag::BagError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MetadataRecord {
    /// Its name. Names need not be unique.
    pub name: String,
    /// Its texts, by their keys.
    pub texts: BTreeMap<String, String>,
}

/// Returns whether [`BagWriter`](crate::BagWriter) writes records of this name by itself.
pub(crate) fn is_own(name: &str) -> bool {
    [ROSBAG2, LOSSES].contains(&name)
}
