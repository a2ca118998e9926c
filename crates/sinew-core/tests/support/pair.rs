//! Two nodes, in one process or, as far as they can know, in two.

use super::{Place, real_context};
use sinew::prelude::*;

/// Where the one who asks is: in the node's context, or in another, as another process would be.
#[derive(Clone, Copy)]
pub(crate) enum Path {
    Inside,
    Shm,
}

pub(crate) const PATHS: [Path; 2] = [Path::Inside, Path::Shm];

/// A node that has parameters, another one that asks for them, and where they meet.
pub(crate) struct Pair {
    pub(crate) owner: Node,
    pub(crate) asker: Node,
    /// Those of both, which may be the same.
    pub(crate) contexts: [Context; 2],
    _place: Option<Place>,
}

impl Pair {
    pub(crate) fn new(path: Path) -> Self {
        Self::made(path, |context| context.node("owner").expect("a valid name"))
    }

    pub(crate) fn made(path: Path, owner: impl FnOnce(&Context) -> Node) -> Self {
        let place = matches!(path, Path::Shm).then(Place::new);
        let context = || place.as_ref().map_or_else(real_context, Place::context);
        let owners = context();
        let askers = if matches!(path, Path::Shm) { context() } else { owners.clone() };
        Self {
            owner: owner(&owners),
            asker: askers.node("asker").expect("a valid name"),
            contexts: [owners, askers],
            _place: place,
        }
    }
}
