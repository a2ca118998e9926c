//! Suggestions of a known frame for an unknown name.
//!
//! A control loop that requests a missing frame does so a thousand times a second, and publishers
//! of `/tf` decide how many names it is compared with. So a name is compared once, and again only
//! when the number of frames has grown by an eighth; no lock is held during the comparison.

use sinew::__private::locks::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

/// Maximum number of unknown names that are cached; beyond it, all are forgotten.
const MOST: usize = 64;

/// The suggestions for the last unknown names.
#[derive(Debug, Default)]
pub(crate) struct Suggestions(Mutex<HashMap<String, Found>>);

#[derive(Debug, Clone)]
struct Found {
    similar: Option<Arc<str>>,
    /// Number of frames that it was compared with.
    among: usize,
}

impl Suggestions {
    /// Returns the known frame with the most similar name. `names` returns the names of all `known`
    /// frames, and is called only for a comparison.
    pub(crate) fn of(
        &self,
        unknown: &str,
        known: usize,
        names: impl FnOnce() -> Vec<Arc<str>>,
    ) -> Option<Arc<str>> {
        let kept = self.0.lock().get(unknown).cloned();
        if let Some(found) = kept.filter(|found| known <= found.among + found.among / 8) {
            return found.similar;
        }
        let names = names();
        let wanted = unknown.strip_prefix('/').unwrap_or(unknown);
        let nearest = sinew::names::similar(wanted, names.iter().map(AsRef::as_ref)).first().copied();
        let similar = nearest.and_then(|nearest| names.iter().find(|name| name.as_ref() == nearest)).cloned();
        let mut kept = self.0.lock();
        if kept.len() >= MOST && !kept.contains_key(unknown) {
            kept.clear();
        }
        kept.insert(unknown.to_owned(), Found { similar: similar.clone(), among: names.len() });
        similar
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn a_name_is_compared_again_only_when_there_are_many_new_ones() {
        let (suggestions, compared) = (Suggestions::default(), Cell::new(0));
        let ask = |unknown: &str, known: usize| {
            let names = || {
                compared.set(compared.get() + 1);
                (0..known).map(|number| Arc::from(format!("wheel_{number}"))).collect()
            };
            suggestions.of(unknown, known, names)
        };
        assert_eq!(ask("wheel_20", 2).as_deref(), Some("wheel_0"));
        assert_eq!(ask("/whel_1", 2).as_deref(), Some("wheel_1"));
        assert_eq!(compared.get(), 2);
        for _ in 0..100 {
            assert!(ask("wheel_20", 2).is_some());
        }
        assert_eq!(compared.get(), 2);
        for known in 3..10_000 {
            ask("wheel_x", known);
        }
        assert!(compared.get() < 100, "{}", compared.get());
        assert_eq!(ask("camera", 9_999), None);
    }

    #[test]
    fn names_that_are_made_up_again_and_again_take_no_memory() {
        let suggestions = Suggestions::default();
        for number in 0..1000 {
            suggestions.of(&number.to_string(), 0, Vec::new);
        }
        assert!(suggestions.0.lock().len() <= MOST);
    }
}
