//! The types of services.

use crate::handle::{self, handle};
use crate::message_type::{self, sinew_message_type};
use crate::status::{Failure, Result, answer, put, sinew_status, status};
use crate::text::{c_text, optional_text, text};
use parking_lot::Mutex;
use sinew::erased::ServiceTypes;
use sinew::error::ErrorCode;
use sinew::msg::{GenericType, TypeHash};
use sinew_msg::description::TypeDescription;
use std::ffi::{CStr, CString, c_char};

/// The types of a service: that of its requests, that of its responses, and its ROS 2 name and
/// hash. It lives as long as the process and is never freed; the same types are always the same
/// pointer.
pub struct sinew_service_type {
    _opaque: (),
}
handle!(sinew_service_type: ServiceTypeHandle);

/// The types of a service, with name and hash as C reads them.
pub(crate) struct ServiceTypeHandle {
    types: ServiceTypes,
    name: Option<CString>,
    hash: Option<CString>,
}

/// A handle that is never freed.
#[derive(Clone, Copy)]
struct Known(*const sinew_service_type);

// SAFETY: handles may be used on any thread.
unsafe impl Send for Known {}

static KNOWN: Mutex<Vec<(ServiceTypes, Known)>> = Mutex::new(Vec::new());

/// Returns the hash of the first service type of this name that the program used.
pub(crate) fn used(name: &str) -> Option<TypeHash> {
    let known = KNOWN.lock();
    known.iter().find(|(of, _)| of.name() == Some(name)).and_then(|(of, _)| of.hash())
}

/// Returns the pointer that stands for the types of a service.
pub(crate) fn known(types: ServiceTypes) -> *const sinew_service_type {
    let mut known = KNOWN.lock();
    if let Some((_, known)) = known.iter().find(|(of, _)| *of == types) {
        return known.0;
    }
    let name = types.name().map(|name| c_text(name.to_owned()));
    let hash = types.hash().map(|hash| c_text(hash.to_string()));
    let new = Known(handle::new(ServiceTypeHandle { types, name, hash }));
    known.push((types, new));
    new.0
}

/// Returns the types that a pointer stands for.
///
/// # Safety
/// The pointer is null, or came from this library.
pub(crate) unsafe fn get(of: *const sinew_service_type, argument: &str) -> Result<ServiceTypes> {
    // SAFETY: as the caller says; types are never freed.
    Ok(unsafe { handle::get(of, argument) }?.types)
}

/// Gets the types of a service from those of its messages.
///
/// `name` (`package/srv/Name`) and `hash` (`RIHS01_` and 64 digits) are those of ROS 2, by which
/// clients and servers in other processes and of other languages match. Both may be null: then the
/// types of request and response decide.
///
/// Fails with `SINEW_ERROR_INVALID_TYPE_NAME`, `SINEW_ERROR_INVALID_TYPE_HASH`, or
/// `SINEW_ERROR_TOO_MANY_TYPES` (each name and hash costs memory that is never freed; a process can
/// know 4096 of them).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_service_type_new(
    name: *const c_char,
    hash: *const c_char,
    request: *const sinew_message_type,
    response: *const sinew_message_type,
    service_type: Option<&mut *const sinew_service_type>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's text.
        let name = unsafe { optional_text(name, "name") }?;
        // SAFETY: the caller's text.
        let hash = unsafe { optional_text(hash, "hash") }?;
        // SAFETY: the caller's handle.
        let request = unsafe { message_type::get(request, "request") }?;
        // SAFETY: the caller's handle.
        let response = unsafe { message_type::get(response, "response") }?;
        let of = match (name, hash) {
            (None, None) => None,
            (Some(name), Some(hash)) => Some((name, hash.parse()?)),
            (None, Some(_)) => return Err(Failure::null("name")),
            (Some(_), None) => return Err(Failure::null("hash")),
        };
        put(service_type, "service_type", known(ServiceTypes::new(of, request, response)?))
    })
}

/// Gets the types of a service that is known by name and hash only: its requests and responses
/// exist in encoded form only. Arguments and failures are those of [`sinew_service_type_new`], but
/// `name` and `hash` must not be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_service_type_known(
    name: *const c_char,
    hash: *const c_char,
    service_type: Option<&mut *const sinew_service_type>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's text.
        let name = unsafe { text(name, "name") }?;
        // SAFETY: the caller's text.
        let hash = unsafe { text(hash, "hash") }?.parse()?;
        put(service_type, "service_type", known(ServiceTypes::known(GenericType::new(name, hash)?)))
    })
}

/// Gets the types of the service with this description, as ROS 2's JSON text, and with its name and
/// hash. Otherwise as [`sinew_service_type_known`], but its clients and servers can publish events:
/// see `sinew_server_configure_introspection`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_service_type_described(
    description: *const c_char,
    service_type: Option<&mut *const sinew_service_type>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's text.
        let description = TypeDescription::from_json(unsafe { text(description, "description") }?);
        let description = description.ok_or_else(|| {
            let reason = "the argument `description` is none of ROS 2's JSON";
            Failure::new(ErrorCode::InvalidTypeTable, reason)
        })?;
        let known_by = GenericType::described(description)?;
        put(service_type, "service_type", known(ServiceTypes::known(known_by)))
    })
}

/// Returns the service's ROS 2 name, `package/srv/Name`; null if it has none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_service_type_name(service_type: *const sinew_service_type) -> *const c_char {
    answer(std::ptr::null(), || {
        // SAFETY: the caller's handle.
        let of = unsafe { handle::get(service_type, "service_type") }?;
        Ok(of.name.as_deref().map_or(std::ptr::null(), CStr::as_ptr))
    })
}

/// Returns the service's hash, `RIHS01_..`; null if it has none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_service_type_hash(service_type: *const sinew_service_type) -> *const c_char {
    answer(std::ptr::null(), || {
        // SAFETY: the caller's handle.
        let of = unsafe { handle::get(service_type, "service_type") }?;
        Ok(of.hash.as_deref().map_or(std::ptr::null(), CStr::as_ptr))
    })
}

/// Returns the type of the requests.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_service_type_request(
    service_type: *const sinew_service_type,
) -> *const sinew_message_type {
    answer(std::ptr::null(), || {
        // SAFETY: the caller's handle.
        let types = unsafe { get(service_type, "service_type") }?;
        Ok(message_type::into_c(types.request()))
    })
}

/// Returns the type of the responses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_service_type_response(
    service_type: *const sinew_service_type,
) -> *const sinew_message_type {
    answer(std::ptr::null(), || {
        // SAFETY: the caller's handle.
        let types = unsafe { get(service_type, "service_type") }?;
        Ok(message_type::into_c(types.response()))
    })
}
