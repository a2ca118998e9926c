//! What is asked before parameters change, and told after it.
//!
//! | kind | when | may |
//! |---|---|---|
//! | pre-set | first of all | change the list |
//! | on-set | the values have the right types and lie in their ranges | refuse them |
//! | post-set | they are set | nothing any more |
//!
//! Of each kind the one that was added last comes first. They run on the thread that sets, under no
//! lock: they may read parameters, and call; to declare or set one is an error.

use super::value::NamedValue;
use crate::sys::sync::Arc;

pub(crate) type PreSet = dyn Fn(&mut Vec<NamedValue>) + Send + Sync;
pub(crate) type OnSet = dyn Fn(&[NamedValue]) -> Result<(), String> + Send + Sync;
pub(crate) type PostSet = dyn Fn(&[NamedValue]) + Send + Sync;

/// The callbacks of a node, in the order in which they were added.
#[derive(Default, Clone)]
pub(crate) struct Callbacks {
    next: u64,
    pub(crate) all: Vec<(u64, Callback)>,
}

#[derive(Clone)]
pub(crate) enum Callback {
    Pre(Arc<PreSet>),
    On(Arc<OnSet>),
    Post(Arc<PostSet>),
}

impl Callbacks {
    /// Returns the number by which it is removed.
    pub(crate) fn add(&mut self, callback: Callback) -> u64 {
        self.next += 1;
        self.all.push((self.next, callback));
        self.next
    }

    /// The caller drops it under no lock.
    pub(crate) fn remove(&mut self, number: u64) -> Option<Callback> {
        let index = self.all.iter().position(|(other, _)| *other == number)?;
        Some(self.all.remove(index).1)
    }

    /// The values as the pre-set callbacks want them.
    pub(crate) fn before(&self, mut values: Vec<NamedValue>) -> Vec<NamedValue> {
        for (_, callback) in self.all.iter().rev() {
            if let Callback::Pre(callback) = callback {
                callback(&mut values);
            }
        }
        values
    }

    /// Whether all on-set callbacks accept the values; if not, the reason of the first that doesn't.
    pub(crate) fn on(&self, values: &[NamedValue]) -> Result<(), String> {
        for (_, callback) in self.all.iter().rev() {
            if let Callback::On(callback) = callback {
                callback(values)?;
            }
        }
        Ok(())
    }

    /// Tells the post-set callbacks.
    pub(crate) fn after(&self, values: &[NamedValue]) {
        for (_, callback) in self.all.iter().rev() {
            if let Callback::Post(callback) = callback {
                callback(values);
            }
        }
    }
}
