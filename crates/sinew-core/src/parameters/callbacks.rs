//! The program's callbacks before and after a change of parameters.
//!
//! | kind | when | may |
//! |---|---|---|
//! | pre-set | first of all | change the list |
//! | on-set | the values have the right types and lie in their ranges | refuse them |
//! | post-set | they are set | nothing any more |
//!
//! Within each kind, the callback that was added last runs first. They run on the thread that sets,
//! which holds no lock: they may read parameters and call services; declaring or setting a
//! parameter is an error.

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
    /// Adds a callback, and returns the number for its removal.
    pub(crate) fn add(&mut self, callback: Callback) -> u64 {
        self.next += 1;
        self.all.push((self.next, callback));
        self.next
    }

    /// Removes a callback; the caller must drop it while holding no lock.
    pub(crate) fn remove(&mut self, number: u64) -> Option<Callback> {
        let index = self.all.iter().position(|(other, _)| *other == number)?;
        Some(self.all.remove(index).1)
    }

    /// Returns the values as changed by the pre-set callbacks.
    pub(crate) fn before(&self, mut values: Vec<NamedValue>) -> Vec<NamedValue> {
        for (_, callback) in self.all.iter().rev() {
            if let Callback::Pre(callback) = callback {
                callback(&mut values);
            }
        }
        values
    }

    /// Asks the on-set callbacks whether they accept the values; the error is the reason of the
    /// first that doesn't.
    pub(crate) fn on(&self, values: &[NamedValue]) -> Result<(), String> {
        for (_, callback) in self.all.iter().rev() {
            if let Callback::On(callback) = callback {
                callback(values)?;
            }
        }
        Ok(())
    }

    /// Notifies the post-set callbacks.
    pub(crate) fn after(&self, values: &[NamedValue]) {
        for (_, callback) in self.all.iter().rev() {
            if let Callback::Post(callback) = callback {
                callback(values);
            }
        }
    }
}
