//! A choice of a bag's messages.

use crate::error::BagError;
use crate::stored_file::Wanted;
use crate::topic::BagTopic;
use std::sync::Arc;

/// The messages of a bag that are read: those of some topics, from a time and until one.
///
/// ```
/// use sinew_bag::Selection;
///
/// let selection = Selection::all().topic("/scan").topic("/tf").from(1_000).until(2_000);
/// assert_ne!(selection, Selection::all());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Selection {
    /// `None` for all.
    topics: Option<Vec<String>>,
    from: u64,
    until: u64,
}

impl Default for Selection {
    fn default() -> Self {
        Self::all()
    }
}

impl Selection {
    /// Selects all messages.
    pub const fn all() -> Self {
        Self { topics: None, from: 0, until: u64::MAX }
    }

    /// Selects this topic only, beside others that this method has named.
    pub fn topic(mut self, name: impl Into<String>) -> Self {
        self.topics.get_or_insert_default().push(name.into());
        self
    }

    /// Selects messages that were received at this time or later, in nanoseconds since the epoch.
    pub const fn from(mut self, time: u64) -> Self {
        self.from = time;
        self
    }

    /// Selects messages that were received before this time, in nanoseconds since the epoch.
    pub const fn until(mut self, time: u64) -> Self {
        self.until = time;
        self
    }

    /// Returns whether messages of this time are selected.
    pub(crate) fn has_time(&self, time: u64) -> bool {
        (self.from..self.until).contains(&time)
    }

    /// Returns the selection for a bag with these topics.
    pub(crate) fn wanted(&self, topics: &[Arc<BagTopic>]) -> Result<Wanted, BagError> {
        let Some(names) = &self.topics else {
            return Ok(Wanted { topics: vec![true; topics.len()], from: self.from, until: self.until });
        };
        for name in names {
            if !topics.iter().any(|topic| topic.name == *name) {
                return Err(BagError::NoTopic { name: name.clone(), similar: similar(name, topics) });
            }
        }
        let is_named = |topic: &Arc<BagTopic>| names.contains(&topic.name);
        Ok(Wanted { topics: topics.iter().map(is_named).collect(), from: self.from, until: self.until })
    }
}

/// Returns the first topic that has the same last part, or differs in the leading `/` only.
fn similar(name: &str, topics: &[Arc<BagTopic>]) -> Option<String> {
    let last = |name: &str| name.rsplit('/').next().unwrap_or_default().to_lowercase();
    topics.iter().find(|topic| last(&topic.name) == last(name)).map(|topic| topic.name.clone())
}
