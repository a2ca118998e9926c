//! Copying messages from bags to a new one.

use crate::attachment::{Attachment, MetadataRecord};
use crate::error::BagError;
use crate::merged::Merged;
use crate::message::BagMessage;
use crate::reader::{BagReader, read_metadata};
use crate::selection::Selection;
use crate::topic::{BagTopic, TopicDefinition};
use crate::writer::{BagWriter, TopicId};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The result of [`copy`].
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Copied {
    /// Messages that were copied.
    pub messages: u64,
    /// Attachments that were copied.
    pub attachments: u64,
    /// Damage in the bags. The messages and attachments that it cost are not in the new one.
    pub lost: Vec<BagError>,
}

/// Copies the selected messages of bags, merged in the order in which they were received, with
/// their stamps and their bytes as they are. Topics of equal name, type, hash of the type and
/// encoding become one; selected topics without messages are there, too.
///
/// [Attachments](BagReader::attachments) are copied if their time is selected, with any selection
/// of topics, and [metadata records](BagReader::metadata_records) always. The
/// [losses](BagReader::losses) of the selected topics are those of the whole recordings, added up.
/// Each file of a recording has all losses up to its end: of files that are given one by one, the
/// greatest number counts if the `metadata.yaml` beside them names them, and otherwise they are
/// added up as those of different recordings.
///
/// # Errors
/// [`BagError`] if a selection names a topic that its bag hasn't, or if the new bag can't be
/// written.
///
/// ```
/// use sinew_bag::{BagReader, BagWriter, Selection, StoragePreset, WriterOptions, copy};
///
/// # let directory = tempfile::tempdir().unwrap();
/// # let (from, to) = ("tests/data/rewriter_a", directory.path().join("small"));
/// let storage = StoragePreset::ZstdSmall.into();
/// let mut writer = BagWriter::create(to, WriterOptions { storage, ..WriterOptions::default() })?;
/// let copied = copy(&[(BagReader::open(from)?, Selection::all())], &mut writer)?;
/// writer.close()?;
/// assert_eq!(copied.messages, 150);
/// # Ok::<(), sinew_bag::BagError>(())
/// ```
pub fn copy(bags: &[(BagReader, Selection)], writer: &mut BagWriter) -> Result<Copied, BagError> {
    let mut copied = Copied::default();
    let mut sources = Vec::new();
    // By address: a topic that has changed its type is there more than once.
    let mut topics: HashMap<*const BagTopic, TopicId> = HashMap::new();
    // The greatest number of each recording, by topic.
    let mut losses: BTreeMap<String, HashMap<PathBuf, u64>> = BTreeMap::new();
    for (bag, selection) in bags {
        let wanted = selection.wanted(bag.topics())?;
        let lost = bag.losses();
        let recording = recording(bag);
        for (topic, _) in bag.topics().iter().zip(wanted.topics).filter(|(_, is_wanted)| *is_wanted) {
            let id = writer.add_topic(&TopicDefinition::from(&**topic))?;
            topics.insert(Arc::as_ptr(topic), id);
            let of_topic = losses.entry(topic.name.clone()).or_default();
            let known = of_topic.entry(recording.clone()).or_default();
            *known = lost.get(&topic.name).copied().unwrap_or_default().max(*known);
        }
        sources.push(bag.messages(selection)?);
    }
    for (topic, counts) in &losses {
        writer.set_lost(topic, counts.values().fold(0, |sum, count| sum.saturating_add(*count)));
    }
    copy_metadata_records(bags, writer)?;
    let mut attachments = attachments(bags, &mut copied.lost).into_iter().peekable();
    for next in Merged::new(sources) {
        let BagMessage { topic, stamps, bytes, .. } = match next {
            Ok(message) => message,
            Err(error) => {
                copied.lost.push(error);
                continue;
            }
        };
        while let Some(attachment) = attachments.next_if(|next| next.logged <= stamps.received) {
            writer.attach(&attachment)?;
            copied.attachments += 1;
        }
        writer.write(topics[&Arc::as_ptr(&topic)], stamps, &bytes)?;
        copied.messages += 1;
    }
    for attachment in attachments {
        writer.attach(&attachment)?;
        copied.attachments += 1;
    }
    Ok(copied)
}

/// Returns the path of the recording to which a bag belongs: its own, or for a file the directory
/// with the `metadata.yaml` that names it.
fn recording(bag: &BagReader) -> PathBuf {
    let path = fs::canonicalize(bag.path()).unwrap_or_else(|_| bag.path().to_owned());
    let directory = path.parent().filter(|_| path.is_file());
    let named = directory.filter(|directory| {
        let metadata = read_metadata(directory).ok().flatten();
        let mut names = metadata.into_iter().flat_map(|metadata| metadata.relative_file_paths);
        names.any(|name| directory.join(name) == path)
    });
    named.map_or(path.clone(), Path::to_owned)
}

/// Writes the metadata records of the bags; those that several have, once.
fn copy_metadata_records(bags: &[(BagReader, Selection)], writer: &mut BagWriter) -> Result<(), BagError> {
    let mut written: HashSet<MetadataRecord> = HashSet::new();
    for record in bags.iter().flat_map(|(bag, _)| bag.metadata_records()) {
        if !written.contains(&record) {
            writer.write_metadata_record(&record)?;
            written.insert(record);
        }
    }
    Ok(())
}

/// Returns the selected attachments in the order of time. Damaged ones are lost.
fn attachments(bags: &[(BagReader, Selection)], lost: &mut Vec<BagError>) -> Vec<Attachment> {
    let mut attachments = Vec::new();
    for (bag, selection) in bags {
        for attachment in bag.attachments().into_iter().filter(|found| selection.has_time(found.logged)) {
            match attachment.verify() {
                Ok(()) => attachments.push(attachment),
                Err(error) => lost.push(error),
            }
        }
    }
    attachments.sort_by_key(|attachment| attachment.logged); // stable
    attachments
}
