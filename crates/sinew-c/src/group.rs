//! Callback groups.

use crate::handle::{self, handle};
use crate::node::sinew_node;
use crate::status::{Failure, Result, sinew_status, status};
use crate::structure::{Structure, structure};
use sinew::executor::PauseHandle;
use sinew::{Group, ReentrantGroup};
use std::ffi::c_int;

/// A callback group: which callbacks may run at the same time. Every node has a default group, in
/// which entities are that were made without another one.
pub struct sinew_group {
    _opaque: (),
}
handle!(sinew_group: GroupHandle);

/// Both kinds of groups.
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

/// The kind of a callback group.
pub type sinew_group_kind = c_int;

/// Its callbacks never run at the same time, in no executor. The default.
pub const SINEW_GROUP_MUTUALLY_EXCLUSIVE: sinew_group_kind = 0;
/// Its callbacks may run at the same time, even the same callback for several messages: they guard
/// the data that they share.
pub const SINEW_GROUP_REENTRANT: sinew_group_kind = 1;

/// The options of [`sinew_group_new`]. Zero is the default of every field.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sinew_group_options {
    /// `sizeof(struct sinew_group_options)`.
    pub size: usize,
    /// The kind: by default `SINEW_GROUP_MUTUALLY_EXCLUSIVE`.
    pub kind: sinew_group_kind,
    /// The priority, by default 0: of the groups that are ready, an executor runs those of the
    /// highest priority first. It interrupts no callback.
    pub priority: i32,
}

// SAFETY: C's layout, beginning with the size; zeros are numbers.
unsafe impl Structure for sinew_group_options {
    const NAME: &str = "sinew_group_options";
}

/// Makes a callback group of a node.
///
/// `options` may be null. The caller frees `*group` with `sinew_group_free`; entities keep their
/// group.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_group_new(
    node: *const sinew_node,
    options: *const sinew_group_options,
    group: Option<&mut *mut sinew_group>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let node = &unsafe { handle::get(node, "node") }?.node;
        // SAFETY: the caller's structure.
        let options = unsafe { structure(options) }?;
        let made = match options.kind {
            SINEW_GROUP_MUTUALLY_EXCLUSIVE => {
                GroupHandle::MutuallyExclusive(node.group(()).priority(options.priority))
            }
            SINEW_GROUP_REENTRANT => {
                GroupHandle::Reentrant(node.reentrant_group().priority(options.priority))
            }
            other => return Err(Failure::enumerator("kind", other)),
        };
        handle::put(group, "group", made)
    })
}

/// Gets a handle to the node's default group, in which entities are that were made without another
/// one: for its priority, pauses, and executors of groups. The caller frees `*group`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_node_default_group(
    node: *const sinew_node,
    group: Option<&mut *mut sinew_group>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let node = &unsafe { handle::get(node, "node") }?.node;
        handle::put(group, "group", GroupHandle::MutuallyExclusive(node.default_group().clone()))
    })
}

/// Frees a handle to a group; null is allowed. The group ends with its last entity.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_group_free(group: *mut sinew_group) {
    // SAFETY: the caller's handle.
    unsafe { handle::free(group, "group") };
}

/// Sets the group's priority; see `sinew_group_options`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_group_set_priority(group: *const sinew_group, priority: i32) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        match unsafe { handle::get(group, "group") }? {
            GroupHandle::MutuallyExclusive(group) => drop(group.clone().priority(priority)),
            GroupHandle::Reentrant(group) => drop(group.clone().priority(priority)),
        }
        Ok(())
    })
}

/// Pauses the group: no callback of it begins any more. Waits for a callback that runs on another
/// thread, unless that thread waits for this one. Messages wait meanwhile as their QoS allows, and
/// timers are not due. Does nothing if the group is paused.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_group_pause(group: *const sinew_group) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        unsafe { pause_handle(group) }?.pause();
        Ok(())
    })
}

/// Resumes the group. Volatile subscriptions drop what came meanwhile, timers are due one period
/// later, everything else runs now. Never blocks. Does nothing if the group is not paused.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_group_resume(group: *const sinew_group) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        unsafe { pause_handle(group) }?.resume();
        Ok(())
    })
}

/// Returns what pauses and resumes a group.
///
/// # Safety
/// As of [`handle::get`].
unsafe fn pause_handle(group: *const sinew_group) -> Result<PauseHandle> {
    // SAFETY: as the caller says.
    Ok(match unsafe { handle::get(group, "group") }? {
        GroupHandle::MutuallyExclusive(group) => group.pause_handle(),
        GroupHandle::Reentrant(group) => group.pause_handle(),
    })
}
