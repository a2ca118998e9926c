//! The program's callbacks before and after a change of parameters.
//!
//! | kind | when | may |
//! |---|---|---|
//! | pre-set | first of all | change the list |
//! | on-set | the values have the right types and lie in their ranges | refuse them |
//! | post-set | they are set | nothing any more |
//!
//! Within each kind, the callback that was added last runs first, and one that was removed
//! meanwhile doesn't start. They run on the thread that sets, which holds no lock: they may read
//! parameters and call services; declaring or setting a parameter is an error.

use super::value::NamedValue;
use crate::sys::sync::Arc;

pub(crate) type PreSet = dyn Fn(&mut Vec<NamedValue>) + Send + Sync;
pub(crate) type OnSet = dyn Fn(&[NamedValue]) -> Result<(), String> + Send + Sync;
pub(crate) type PostSet = dyn Fn(&[NamedValue]) + Send + Sync;

/// The callbacks of a node, in the order in which they were added.
#[derive(Default)]
pub(crate) struct Callbacks {
    next: u64,
    all: Vec<(u64, Callback)>,
}

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

    /// Returns the callback of a kind that was added last before the one with this number, and its
    /// number.
    pub(crate) fn last_before<C>(
        &self,
        number: u64,
        of_kind: impl Fn(&Callback) -> Option<C>,
    ) -> Option<(u64, C)> {
        let earlier = self.all.iter().rev().filter(|(other, _)| *other < number);
        earlier.filter_map(|(other, callback)| Some((*other, of_kind(callback)?))).next()
    }
}

impl Callback {
    pub(crate) fn pre(&self) -> Option<Arc<PreSet>> {
        if let Self::Pre(callback) = self { Some(callback.clone()) } else { None }
    }

    pub(crate) fn on(&self) -> Option<Arc<OnSet>> {
        if let Self::On(callback) = self { Some(callback.clone()) } else { None }
    }

    pub(crate) fn post(&self) -> Option<Arc<PostSet>> {
        if let Self::Post(callback) = self { Some(callback.clone()) } else { None }
    }
}
