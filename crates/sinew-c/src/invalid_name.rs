//! The name in a failure: what tells failures with `SINEW_ERROR_INVALID_NAME` apart.

use crate::status::{InvalidName, last_invalid_name};
use crate::structure::{Place, Structure};
use sinew::error::NameKind;
use std::ffi::{c_char, c_int};

/// The kind of a name: `SINEW_NAME_..`.
pub type sinew_name_kind = c_int;

/// A kind that this version doesn't know.
pub const SINEW_NAME_OTHER: sinew_name_kind = 0;
/// The name of a node.
pub const SINEW_NAME_NODE: sinew_name_kind = 1;
/// A namespace.
pub const SINEW_NAME_NAMESPACE: sinew_name_kind = 2;
/// The name of a topic.
pub const SINEW_NAME_TOPIC: sinew_name_kind = 3;
/// The name of a service.
pub const SINEW_NAME_SERVICE: sinew_name_kind = 4;

/// An invalid name.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sinew_invalid_name {
    /// `sizeof(struct sinew_invalid_name)`, set by the caller.
    pub size: usize,
    /// Its kind.
    pub kind: sinew_name_kind,
    /// The name, as it was given.
    pub name: *const c_char,
    /// The byte at which the first problem starts, counted from 0: in the name, or in what it
    /// expands to.
    pub index: usize,
}

// SAFETY: C's layout, beginning with the size; zeros are null and numbers.
unsafe impl Structure for sinew_invalid_name {
    const NAME: &str = "sinew_invalid_name";
}

fn number(kind: NameKind) -> sinew_name_kind {
    match kind {
        NameKind::Node => SINEW_NAME_NODE,
        NameKind::Namespace => SINEW_NAME_NAMESPACE,
        NameKind::Topic => SINEW_NAME_TOPIC,
        NameKind::Service => SINEW_NAME_SERVICE,
        _ => SINEW_NAME_OTHER,
    }
}

/// Gets the name about which this thread's last failure is, `SINEW_ERROR_INVALID_NAME`. Returns
/// whether there is one; `*name` is unchanged otherwise. The text is valid until the thread's next
/// failure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_error_invalid_name(name: *mut sinew_invalid_name) -> bool {
    // Not a failure of its own: that would replace the one that is asked for.
    last_invalid_name(|invalid| {
        let InvalidName { kind, name: text, index } = invalid;
        let value = sinew_invalid_name { size: 0, kind: number(*kind), name: text.as_ptr(), index: *index };
        // SAFETY: the caller's structure.
        unsafe { Place::new(name, "name") }.map(|place| place.fill(value)).is_ok()
    })
}
