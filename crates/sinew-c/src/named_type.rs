//! Types that a program knows by their names alone.

use crate::message_type::{self, sinew_message_type};
use crate::service_type::{self, sinew_service_type};
use crate::status::{Failure, Result, put, sinew_status, status};
use crate::text::text;
use sinew::erased::{MessageType, ServiceTypes};
use sinew::error::ErrorCode;
use sinew::msg::{GenericType, TypeHash};
use sinew_interfaces::HASHES;
use std::ffi::c_char;

/// Gets a type by its name alone, `package/msg/Name`, as one with messages in encoded form only:
/// see `sinew_message_type_known`. Its hash is that of the type of this name which the program
/// used first, or else that of ROS 2's package.
///
/// Fails with `SINEW_ERROR_UNKNOWN_TYPE` if there is neither. The graph says which hash the
/// endpoints of a topic have: see `sinew_endpoint_info`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_message_type_named(
    name: *const c_char,
    message_type: Option<&mut *const sinew_message_type>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's text.
        let name = unsafe { text(name, "name") }?;
        let of = match message_type::used(name).map(|used| (used.hash(), used.description())) {
            Some((_, Some(description))) => GenericType::described(description)?,
            Some((Some(hash), None)) => GenericType::new(name, hash)?,
            _ => GenericType::new(name, of_ros(name, "/msg/")?)?,
        };
        put(message_type, "message_type", message_type::into_c(MessageType::known(of)))
    })
}

/// Gets the types of a service by its name alone, `package/srv/Name`, as
/// [`sinew_message_type_named`] does that of a message.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_service_type_named(
    name: *const c_char,
    service_type: Option<&mut *const sinew_service_type>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's text.
        let name = unsafe { text(name, "name") }?;
        let hash = service_type::used(name).map_or_else(|| of_ros(name, "/srv/"), Ok)?;
        let of = GenericType::new(name, hash)?;
        put(service_type, "service_type", service_type::known(ServiceTypes::known(of)))
    })
}

/// Returns the hash of a type of ROS 2's packages.
fn of_ros(name: &str, kind: &str) -> Result<TypeHash> {
    let found = HASHES.binary_search_by_key(&name, |(name, _)| name).ok().filter(|_| name.contains(kind));
    let unknown = || {
        let sentence = format!(
            "no type `{name}` is known: the program has not used one of this name (package{kind}Name), and it is \
             in none of ROS 2's packages; give its hash or description as well"
        );
        Failure::new(ErrorCode::UnknownType, sentence)
    };
    found.map(|at| HASHES[at].1).ok_or_else(unknown)
}
