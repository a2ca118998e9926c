//! Copying messages from bags to a new one.

use crate::error::BagError;
use crate::merged::Merged;
use crate::message::BagMessage;
use crate::reader::BagReader;
use crate::selection::Selection;
use crate::topic::{BagTopic, TopicDefinition};
use crate::writer::{BagWriter, TopicId};
use std::collections::HashMap;
use std::sync::Arc;

/// What [`copy`] has done.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Copied {
    /// Messages that were copied.
    pub messages: u64,
    /// Damage in the bags: what it has cost is not in the new one.
    pub lost: Vec<BagError>,
}

/// Copies the selected messages of bags, merged in the order in which they were received, with their
/// stamps and their bytes as they are. Topics of equal name, type, hash of the type and encoding
/// become one; selected topics without messages are there, too;
/// [attachments](crate::BagFile::attachments) are not.
///
/// # Errors
/// [`BagError`] if a selection names a topic that its bag hasn't, or if the new bag can't be written.
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
    // By address: a topic whose type has changed is there more than once.
    let mut topics: HashMap<*const BagTopic, TopicId> = HashMap::new();
    for (bag, selection) in bags {
        let wanted = selection.wanted(bag.topics())?;
        for (topic, _) in bag.topics().iter().zip(wanted.topics).filter(|(_, is_wanted)| *is_wanted) {
            let id = writer.add_topic(&TopicDefinition::from(&**topic))?;
            topics.insert(Arc::as_ptr(topic), id);
        }
        sources.push(bag.messages(selection)?);
    }
    for next in Merged::new(sources) {
        let BagMessage { topic, stamps, bytes, .. } = match next {
            Ok(message) => message,
            Err(error) => {
                copied.lost.push(error);
                continue;
            }
        };
        writer.write(topics[&Arc::as_ptr(&topic)], stamps, &bytes)?;
        copied.messages += 1;
    }
    Ok(copied)
}
