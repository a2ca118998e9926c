//! A type of the library with encoded messages as its values.
//!
//! The library's actions take values, in which they write the goal's id or its status. A message of
//! Python exists in encoded form; so a value of its type is that form, as bytes of their own.

use crate::error::raise;
use crate::message::Class;
use parking_lot::Mutex;
use pyo3::prelude::*;
use sinew::erased::{EncodingTable, MessageType, TypeTable};
use sinew::error::DecodeError;
use sinew_msg::TypeHash;
use std::alloc::Layout;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

/// A value: the encoded form of a message, with its header.
pub(super) struct EncodedValue(pub(super) Vec<u8>);

/// What the functions of a type know of it; never freed.
struct About {
    /// The encoded form of a message with defaults.
    first: Vec<u8>,
    /// Minimum length of an encoded message: the header and the field that the library writes.
    least: usize,
}

/// Returns the library's type with such values for the messages of a class, of at least `least`
/// bytes.
///
/// # Errors
/// There are too many types in this process.
pub(super) fn encoded_value_type(py: Python<'_>, class: &Arc<Class>, least: usize) -> PyResult<MessageType> {
    static REGISTERED: LazyLock<Mutex<HashMap<(String, TypeHash), MessageType>>> =
        LazyLock::new(Mutex::default);
    let key = (class.name().to_owned(), class.hash());
    if let Some(known) = REGISTERED.lock().get(&key) {
        return Ok(*known);
    }
    let about: &'static About = Box::leak(Box::new(About { first: class.encoded_default(py)?, least }));
    let mut table = TypeTable::new(class.name(), Layout::new::<EncodedValue>());
    table.hash = Some(class.hash());
    table.description = Some(class.description().clone());
    table.context = std::ptr::from_ref(about).cast();
    table.create = Some(create);
    table.clone = Some(clone);
    table.drop = Some(drop_value);
    table.encoding = Some(EncodingTable { size, encode, decode, is_plain: false });
    let mut registered = REGISTERED.lock();
    if let Some(known) = registered.get(&key) {
        return Ok(*known); // another thread was first
    }
    // SAFETY: the layout is that of `EncodedValue`; the functions make, read and drop its values;
    // the context is an `About` that is never freed or changed. Both types are `Send` and `Sync`.
    let made = unsafe { MessageType::register(None, table) }.map_err(raise)?;
    registered.insert(key, made);
    Ok(made)
}

/// # Safety
/// The context is that of [`encoded_value_type`].
unsafe fn about(context: *const ()) -> &'static About {
    // SAFETY: as the caller says; it is never freed.
    unsafe { &*context.cast::<About>() }
}

/// # Safety
/// At `value` is an [`EncodedValue`] that nothing changes during the borrow.
unsafe fn borrow<'a>(value: *const u8) -> &'a EncodedValue {
    // SAFETY: as the caller says.
    unsafe { &*typed(value.cast_mut()) }
}

/// Returns the pointer to a value, or to a place for one: both have the layout of the table.
fn typed(place: *mut u8) -> *mut EncodedValue {
    place.cast()
}

// The library calls these by the table of `encoded_value_type`: with its context, and with places
// and values of its layout.

unsafe fn create(context: *const (), place: *mut u8) {
    // SAFETY: the table's context.
    let first = unsafe { about(context) }.first.clone();
    // SAFETY: a place for a value.
    unsafe { typed(place).write(EncodedValue(first)) };
}

unsafe fn clone(_: *const (), from: *const u8, place: *mut u8) {
    // SAFETY: a value.
    let copy = unsafe { borrow(from) }.0.clone();
    // SAFETY: a place for a value.
    unsafe { typed(place).write(EncodedValue(copy)) };
}

unsafe fn drop_value(_: *const (), value: *mut u8) {
    // SAFETY: a value, which is given up.
    unsafe { typed(value).drop_in_place() };
}

unsafe fn size(_: *const (), value: *const u8) -> usize {
    // SAFETY: a value.
    unsafe { borrow(value) }.0.len()
}

unsafe fn encode(_: *const (), value: *const u8, to: &mut [u8]) {
    // SAFETY: a value; `to` has the length that `size` returned for it.
    to.copy_from_slice(&unsafe { borrow(value) }.0);
}

unsafe fn decode(context: *const (), from: &[u8], to: *mut u8, filled: bool) -> Result<(), DecodeError> {
    // SAFETY: the table's context.
    let needed = unsafe { about(context) }.least;
    let length = from.len();
    if length < needed {
        let (type_name, field) = ("a message of an action", "its first field");
        return Err(DecodeError::Truncated { type_name, field, length, needed });
    }
    let value = EncodedValue(from.to_vec());
    if filled {
        // SAFETY: a value, which is replaced.
        unsafe { *typed(to) = value };
    } else {
        // SAFETY: a place for a value.
        unsafe { typed(to).write(value) };
    }
    Ok(())
}
