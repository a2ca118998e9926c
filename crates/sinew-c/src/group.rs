//! Callback groups.
use crate::handle::handle;
use sinew::{Group, ReentrantGroup};

/// A callback group: which callbacks may run at the same time.
pub struct sinew_group {
    _opaque: (),
}
handle!(sinew_group: GroupHandle);

/// Both kinds of groups.
#[cfg_attr(not(test), expect(dead_code, reason = "what makes groups comes with the executors"))]
pub(crate) enum GroupHandle {
    MutuallyExclusive(Group),
    Reentrant(ReentrantGroup),
}

/// Evaluates an expression for the maker of an entity: the group, or without one the node.
macro_rules! in_group {
    ($node:expr, $group:expr, |$maker:ident| $made:expr) => {
        match $group {
            None => {
                let $maker = &$node.node;
                $made
            }
            Some($crate::group::GroupHandle::MutuallyExclusive($maker)) => $made,
            Some($crate::group::GroupHandle::Reentrant($maker)) => $made,
        }
    };
}
pub(crate) use in_group;
