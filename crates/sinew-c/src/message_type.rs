//! Types of messages.

use crate::handle::{self, handle};
use crate::status::{Failure, Result, answer, put, sinew_status, status};
use crate::text::{c_text, text};
use parking_lot::Mutex;
use sinew::erased::MessageType;
use sinew::error::ErrorCode;
use sinew::msg::{GenericType, TypeHash};
use sinew_msg::description::TypeDescription;
use std::collections::HashMap;
use std::ffi::{CString, c_char};
use std::ptr;
use std::sync::OnceLock;

/// A type of messages. It lives as long as the process and is never freed; the same type is always
/// the same pointer.
pub struct sinew_message_type {
    _opaque: (),
}
handle!(sinew_message_type: TypeHandle);

/// A type with its texts as C reads them.
pub(crate) struct TypeHandle {
    pub(crate) message_type: MessageType,
    name: CString,
    hash: Option<CString>,
    description: OnceLock<Option<CString>>,
}

/// A handle that is never freed.
#[derive(Clone, Copy)]
struct Known(*const sinew_message_type);

// SAFETY: handles may be used on any thread.
unsafe impl Send for Known {}

/// By name; several types may have one name.
type KnownTypes = HashMap<&'static str, Vec<(MessageType, Known)>>;

static KNOWN: Mutex<Option<KnownTypes>> = Mutex::new(None);

/// Returns the first type of this name that the program used, of those with a hash.
pub(crate) fn used(name: &str) -> Option<MessageType> {
    let known = KNOWN.lock();
    let mut types = known.as_ref()?.get(name)?.iter().map(|(of, _)| *of);
    types.find(|of| of.hash().is_some())
}

/// Returns the pointer that stands for a type.
pub(crate) fn into_c(message_type: MessageType) -> *const sinew_message_type {
    let mut known = KNOWN.lock();
    let types = known.get_or_insert_default().entry(message_type.name()).or_default();
    if let Some((_, known)) = types.iter().find(|(of, _)| *of == message_type) {
        return known.0;
    }
    let known = Known(handle::new(TypeHandle {
        message_type,
        name: c_text(message_type.name().to_owned()),
        hash: message_type.hash().map(|hash| c_text(hash.to_string())),
        description: OnceLock::new(),
    }));
    types.push((message_type, known));
    known.0
}

/// Returns the type that a pointer stands for.
///
/// # Safety
/// The pointer is null, or came from this library.
pub(crate) unsafe fn get(of: *const sinew_message_type, argument: &str) -> Result<MessageType> {
    // SAFETY: as the caller says; types are never freed.
    Ok(unsafe { handle::get(of, argument) }?.message_type)
}

/// Gets a type that is known by name and hash only. Its messages exist in encoded form only: 4
/// bytes that identify the encoding, then plain CDR. Needs memory once for each name and hash; a
/// process can know 4096 of them.
///
/// `name` is `package/msg/Name`, `hash` is `RIHS01_` and 64 hexadecimal digits. Endpoints match if
/// both are the same.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_message_type_known(
    name: *const c_char,
    hash: *const c_char,
    message_type: Option<&mut *const sinew_message_type>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's text.
        let name = unsafe { text(name, "name") }?;
        // SAFETY: the caller's text.
        let hash: TypeHash = unsafe { text(hash, "hash") }?.parse()?;
        let known = GenericType::new(name, hash)?;
        put(message_type, "message_type", into_c(MessageType::known(known)))
    })
}

/// Gets the type with this description, as ROS 2's JSON text, and with its name and hash. Otherwise
/// as `sinew_message_type_known`, but tools can read the messages of its publishers, since they
/// find the description.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_message_type_described(
    description: *const c_char,
    message_type: Option<&mut *const sinew_message_type>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's text.
        let description = TypeDescription::from_json(unsafe { text(description, "description") }?);
        let description = description.ok_or_else(|| {
            let reason = "the argument `description` is none of ROS 2's JSON";
            Failure::new(ErrorCode::InvalidTypeTable, reason)
        })?;
        let known = GenericType::described(description)?;
        put(message_type, "message_type", into_c(MessageType::known(known)))
    })
}

/// Returns the name, `package/msg/Name`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_message_type_name(message_type: *const sinew_message_type) -> *const c_char {
    // SAFETY: the caller's handle.
    answer(ptr::null(), || Ok(unsafe { handle::get(message_type, "message_type") }?.name.as_ptr()))
}

/// Returns the hash of its description, `RIHS01_..`; null for a type that stays in its process.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_message_type_hash(message_type: *const sinew_message_type) -> *const c_char {
    answer(ptr::null(), || {
        // SAFETY: the caller's handle.
        let known = unsafe { handle::get(message_type, "message_type") }?;
        Ok(known.hash.as_ref().map_or(ptr::null(), |hash| hash.as_ptr()))
    })
}

/// Returns its description as ROS 2's JSON text; null if it is unknown.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_message_type_description(
    message_type: *const sinew_message_type,
) -> *const c_char {
    answer(ptr::null(), || {
        // SAFETY: the caller's handle.
        let known = unsafe { handle::get(message_type, "message_type") }?;
        let description = known.description.get_or_init(|| {
            known.message_type.description().map(|description| c_text(description.to_json()))
        });
        Ok(description.as_ref().map_or(ptr::null(), |text| text.as_ptr()))
    })
}

/// Returns the size of a value in bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_message_type_value_size(message_type: *const sinew_message_type) -> usize {
    // SAFETY: the caller's handle.
    answer(0, || Ok(unsafe { get(message_type, "message_type") }?.layout().size()))
}

/// Returns the alignment of a value in bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_message_type_alignment(message_type: *const sinew_message_type) -> usize {
    // SAFETY: the caller's handle.
    answer(0, || Ok(unsafe { get(message_type, "message_type") }?.layout().align()))
}

/// Returns whether values can be copied, as subscriptions that own their messages need.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_message_type_can_clone(message_type: *const sinew_message_type) -> bool {
    // SAFETY: the caller's handle.
    answer(false, || Ok(unsafe { get(message_type, "message_type") }?.can_clone()))
}

/// Returns whether messages have an encoded form, in which they leave their process.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_message_type_has_encoding(message_type: *const sinew_message_type) -> bool {
    // SAFETY: the caller's handle.
    answer(false, || Ok(unsafe { get(message_type, "message_type") }?.has_encoding()))
}

/// Returns whether values are read and written in shared memory as they are.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_message_type_is_plain(message_type: *const sinew_message_type) -> bool {
    // SAFETY: the caller's handle.
    answer(false, || Ok(unsafe { get(message_type, "message_type") }?.is_plain()))
}

/// A type that can't do what was asked of it.
pub(crate) fn lacks(of: MessageType, code: sinew::error::ErrorCode, what: &str) -> Failure {
    Failure::new(code, format_args!("{} has no {what}", of.name()))
}
