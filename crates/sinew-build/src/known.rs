//! Facts about types, each found once.

use sinew_msg::definition::TypeName;
use std::cell::RefCell;
use std::collections::HashMap;

/// A fact about each type. A type may be in another by very many paths, and a fact that is found
/// again on each of them takes exponential time.
pub(super) struct Known<T>(RefCell<HashMap<TypeName, T>>);

impl<T: Copy> Known<T> {
    pub(super) fn new() -> Self {
        Self(RefCell::default())
    }

    /// Returns the fact about this type. `find` may ask for those about the types inside.
    pub(super) fn of(&self, name: &TypeName, find: impl FnOnce() -> T) -> T {
        if let Some(known) = self.0.borrow().get(name) {
            return *known;
        }
        let found = find();
        let _ = self.0.borrow_mut().insert(name.clone(), found);
        found
    }
}
