//! Messages: counted references, as bare pointers.

use crate::handle::{self, References, handle};
use crate::message_type::{self, lacks, sinew_message_type};
use crate::status::{Failure, Result, answer, put, sinew_status, status};
use sinew::erased::{Message, UninitMessage};
use sinew::error::ErrorCode;
use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::ptr::{self, NonNull};

/// A reference to a message of any type: a value, or its encoded form. Several references to one
/// message are the same pointer, each to be freed by itself; the last one, on any thread, destroys
/// the value or gives it back to its pool.
///
/// While there are several references, nothing may change the value. A message that was freed or
/// given away is noticed only with `SINEW_DEBUG_HANDLES=1` in the environment.
pub struct sinew_message {
    _opaque: (),
}

/// Those that C holds.
static REFERENCES: References = References::new("sinew_message");

/// Gives a reference to C.
#[inline(always)]
pub(crate) fn into_c(message: Message) -> *mut sinew_message {
    let raw = message.into_raw().as_ptr();
    REFERENCES.add(raw);
    raw.cast()
}

/// Takes a reference from C.
///
/// # Safety
/// The pointer is null, or a reference that C holds; it is not used for this reference afterwards.
#[inline]
pub(crate) unsafe fn from_c(message: *mut sinew_message, argument: &str) -> Result<Message> {
    REFERENCES.remove(message.cast_const().cast(), argument)?;
    let raw = NonNull::new(message).ok_or_else(|| Failure::null(argument))?;
    // SAFETY: from `into_c`, as the caller says, and used up.
    Ok(unsafe { Message::from_raw(raw.cast()) })
}

/// Borrows a message that C keeps.
///
/// # Safety
/// The pointer is null, or a reference that C holds, and keeps as long as the result is used.
#[inline]
pub(crate) unsafe fn borrowed(
    message: *const sinew_message,
    argument: &str,
) -> Result<ManuallyDrop<Message>> {
    REFERENCES.check(message.cast(), argument)?;
    let raw = NonNull::new(message.cast_mut()).ok_or_else(|| Failure::null(argument))?;
    // SAFETY: from `into_c`, as the caller says; it is not dropped.
    Ok(ManuallyDrop::new(unsafe { Message::from_raw(raw.cast()) }))
}

/// A reference that the library keeps, and lends to C.
pub(crate) struct LentMessage {
    /// Given up by [`from_c`] at the end.
    message: ManuallyDrop<Message>,
    pointer: *mut sinew_message,
}

// SAFETY: a reference may be used on any thread; the pointer stands for the reference.
unsafe impl Send for LentMessage {}
// SAFETY: as above; the message is only read.
unsafe impl Sync for LentMessage {}

impl LentMessage {
    pub(crate) fn new(message: Message) -> Self {
        let raw = message.into_raw();
        REFERENCES.add(raw.as_ptr());
        // SAFETY: from `into_raw`; it is not dropped.
        let message = ManuallyDrop::new(unsafe { Message::from_raw(raw) });
        Self { message, pointer: raw.as_ptr().cast() }
    }

    /// Returns the reference for C, which doesn't own it.
    pub(crate) fn pointer(&self) -> *const sinew_message {
        self.pointer
    }
}

impl Deref for LentMessage {
    type Target = Message;

    fn deref(&self) -> &Message {
        &self.message
    }
}

impl Drop for LentMessage {
    fn drop(&mut self) {
        // SAFETY: the reference of `new`, given up here.
        drop(unsafe { from_c(self.pointer, "message") });
    }
}

/// Frees a reference; null is allowed. The last one destroys the value.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_message_free(message: *mut sinew_message) {
    if message.is_null() {
        return;
    }
    answer((), || {
        // SAFETY: the caller's reference, given up here.
        drop(unsafe { from_c(message, "message") }?);
        Ok(())
    });
}

/// Returns another reference to the same message. Increments a count.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_message_clone(message: *const sinew_message) -> *mut sinew_message {
    answer(ptr::null_mut(), || {
        // SAFETY: the caller's reference.
        let message = unsafe { borrowed(message, "message") }?;
        Ok(into_c(Message::clone(&message)))
    })
}

/// Returns whether this is the only reference, and no other process reads the message: then its
/// holder may change the value, or take it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_message_is_sole(message: *const sinew_message) -> bool {
    // SAFETY: the caller's reference.
    answer(false, || Ok(unsafe { borrowed(message, "message") }?.is_sole()))
}

/// Returns the type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_message_type_of(message: *const sinew_message) -> *const sinew_message_type {
    // SAFETY: the caller's reference.
    answer(ptr::null(), || Ok(message_type::into_c(unsafe { borrowed(message, "message") }?.message_type())))
}

/// Returns the value, to be read on any thread while a reference lives. Null, with
/// `SINEW_ERROR_NO_VALUE`, for a message in encoded form.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_message_value(message: *const sinew_message) -> *const c_void {
    answer(ptr::null(), || {
        // SAFETY: the caller's reference.
        let message = unsafe { borrowed(message, "message") }?;
        Ok(value_of(&message)?.as_ptr().cast_const().cast())
    })
}

/// Returns the value, to be changed. Null, with `SINEW_ERROR_NOT_SOLE`, if there are other
/// references, or with `SINEW_ERROR_NO_VALUE` for a message in encoded form.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_message_value_mut(message: *mut sinew_message) -> *mut c_void {
    answer(ptr::null_mut(), || {
        // SAFETY: the caller's reference.
        let mut message = unsafe { borrowed(message, "message") }?;
        value_of(&message)?;
        match message.value_mut() {
            Some(value) => Ok(value.as_ptr().cast()),
            None => Err(not_sole(&message)),
        }
    })
}

fn value_of(message: &Message) -> Result<NonNull<u8>> {
    message.value().ok_or_else(|| {
        let name = message.message_type().name();
        let sentence = format_args!(
            "this message of {name} is in encoded form: read it by sinew_message_encoded, or decode it by sinew_message_into_value"
        );
        Failure::new(ErrorCode::NoValue, sentence)
    })
}

#[cold]
fn not_sole(message: &Message) -> Failure {
    let name = message.message_type().name();
    let sentence =
        format_args!("there are other references to this message of {name}, which may be reading it");
    Failure::new(ErrorCode::NotSole, sentence)
}

/// Returns whether the message exists only in encoded form.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_message_is_encoded(message: *const sinew_message) -> bool {
    // SAFETY: the caller's reference.
    answer(false, || Ok(unsafe { borrowed(message, "message") }?.is_encoded()))
}

/// Gets the encoded form of a message that exists only in it, where it lies. The bytes belong to
/// the message. Fails with `SINEW_ERROR_NOT_ENCODED` for one with a value: see
/// `sinew_message_encode_into`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_message_encoded(
    message: *const sinew_message,
    bytes: Option<&mut *const u8>,
    length: Option<&mut usize>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's reference.
        let message = unsafe { borrowed(message, "message") }?;
        let encoded = message.encoded().ok_or_else(|| {
            let name = message.message_type().name();
            let sentence =
                format_args!("this message of {name} has a value: encode it by sinew_message_encode_into");
            Failure::new(ErrorCode::NotEncoded, sentence)
        })?;
        put(length, "length", encoded.len())?;
        put(bytes, "bytes", encoded.as_ptr())
    })
}

/// Returns the length of the encoded form in bytes; 0 if the type has none. Calls the type's
/// `encoded_size` if the message has a value.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_message_encoded_length(message: *const sinew_message) -> usize {
    // SAFETY: the caller's reference.
    answer(0, || Ok(unsafe { borrowed(message, "message") }?.encoded_length().unwrap_or(0)))
}

/// Writes the encoded form to `bytes`, which has room for `capacity` bytes, and its length to
/// `length`. Fails with `SINEW_ERROR_UNENCODABLE`, and writes nothing but the length, if there is
/// less room; and if the type has no encoded form, with a length of 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_message_encode_into(
    message: *const sinew_message,
    bytes: *mut u8,
    capacity: usize,
    length: Option<&mut usize>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's reference.
        let message = unsafe { borrowed(message, "message") }?;
        if bytes.is_null() {
            return Err(Failure::null("bytes"));
        }
        let needed = message.encoded_length();
        put(length, "length", needed.unwrap_or(0))?;
        let (name, code) = (message.message_type().name(), ErrorCode::Unencodable);
        let needed = needed.ok_or_else(|| lacks(message.message_type(), code, "encoded form"))?;
        if needed > capacity {
            let sentence =
                format_args!("this message of {name} needs {needed} bytes, but there are {capacity}");
            return Err(Failure::new(code, sentence));
        }
        // SAFETY: the caller's bytes, which nothing else uses.
        let to = unsafe { std::slice::from_raw_parts_mut(bytes, capacity) };
        message.encode_into(to);
        Ok(())
    })
}

/// Converts a message to a value: the same message if it has one, otherwise it is decoded. The
/// reference is used up, and `*value` is one to the value. After a failure it is still the
/// caller's: with `SINEW_ERROR_UNDECODABLE` if the bytes are not valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_message_into_value(
    message: *mut sinew_message,
    value: Option<&mut *mut sinew_message>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's reference.
        let kept = unsafe { borrowed(message, "message") }?;
        let place = value.ok_or_else(|| Failure::null("value"))?;
        if !kept.is_encoded() {
            *place = message;
            return Ok(());
        }
        *place = into_c(Message::clone(&kept).into_value()?);
        // SAFETY: the caller's reference, given up now that there is a value.
        drop(unsafe { from_c(message, "message") }?);
        Ok(())
    })
}

/// Returns whether `sinew_message_into_adopted` would succeed: the value was adopted, and this is
/// the only reference.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_message_is_adopted(message: *const sinew_message) -> bool {
    // SAFETY: the caller's reference.
    answer(false, || Ok(unsafe { borrowed(message, "message") }?.is_adopted()))
}

/// Takes the value that was adopted, with its memory: the reference is used up, and the caller
/// destroys and frees the value. After a failure the reference is still the caller's: with
/// `SINEW_ERROR_NOT_SOLE` if there are others, or `SINEW_ERROR_NOT_ADOPTED`, for example for a
/// message that was decoded or copied.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_message_into_adopted(
    message: *mut sinew_message,
    value: Option<&mut *mut c_void>,
) -> sinew_status {
    status(|| {
        let place = value.ok_or_else(|| Failure::null("value"))?;
        // SAFETY: the caller's reference; it comes back after a failure.
        let taken = unsafe { from_c(message, "message") }?;
        match taken.into_adopted() {
            Ok(value) => {
                *place = value.as_ptr().cast();
                Ok(())
            }
            Err(kept) => {
                let failure = match (kept.value(), kept.is_sole()) {
                    (Some(_), false) => not_sole(&kept),
                    _ => Failure::new(
                        ErrorCode::NotAdopted,
                        format_args!(
                            "this message of {} was not adopted: its value lies in memory of the library",
                            kept.message_type().name()
                        ),
                    ),
                };
                into_c(kept);
                Err(failure)
            }
        }
    })
}

/// Copies the value into a message of its own. Fails with `SINEW_ERROR_NO_CLONE` if the type can't
/// copy it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_message_duplicate(
    message: *const sinew_message,
    copy: Option<&mut *mut sinew_message>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's reference.
        let message = unsafe { borrowed(message, "message") }?;
        value_of(&message)?;
        let place = copy.ok_or_else(|| Failure::null("copy"))?;
        let no_clone = || lacks(message.message_type(), ErrorCode::NoClone, "clone function");
        *place = into_c(message.duplicate().ok_or_else(no_clone)?);
        Ok(())
    })
}

/// Makes a message from its encoded form, which is copied but not checked: subscriptions that can't
/// decode it lose it and report that. It has at least the 4 bytes of the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_message_from_bytes(
    message_type: *const sinew_message_type,
    bytes: *const u8,
    length: usize,
    message: Option<&mut *mut sinew_message>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let of = unsafe { message_type::get(message_type, "message_type") }?;
        // SAFETY: the caller's bytes.
        let bytes = unsafe { encoded_from(bytes, length) }?;
        if !of.has_encoding() {
            return Err(lacks(of, ErrorCode::Unencodable, "encoded form"));
        }
        let place = message.ok_or_else(|| Failure::null("message"))?;
        let no_memory = || Failure::new(ErrorCode::NoMemory, format_args!("no memory for {length} bytes"));
        *place = into_c(Message::encoded_from(of, bytes).ok_or_else(no_memory)?);
        Ok(())
    })
}

/// Checks that an encoded form has room for the header.
#[inline]
pub(crate) fn has_header(length: usize) -> Result {
    if length >= 4 {
        return Ok(());
    }
    let sentence = format_args!("an encoded form begins with a header of 4 bytes, but there are {length}");
    Err(Failure::new(ErrorCode::Undecodable, sentence))
}

/// Checks the caller's encoded form.
///
/// # Safety
/// The bytes can be read, and are not changed during `'a`.
#[inline]
pub(crate) unsafe fn encoded_from<'a>(bytes: *const u8, length: usize) -> Result<&'a [u8]> {
    if bytes.is_null() {
        return Err(Failure::null("bytes"));
    }
    has_header(length)?;
    // SAFETY: as the caller says.
    Ok(unsafe { std::slice::from_raw_parts(bytes, length) })
}

/// Makes a message of a value where it lies, for example one that a `unique_ptr` released. The
/// type's `free` frees its memory. After a failure the value is still the caller's: with
/// `SINEW_ERROR_INVALID_TYPE_TABLE` if the type has no `free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_message_adopt(
    message_type: *const sinew_message_type,
    value: *mut c_void,
    message: Option<&mut *mut sinew_message>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let of = unsafe { message_type::get(message_type, "message_type") }?;
        let value = NonNull::new(value).ok_or_else(|| Failure::null("value"))?;
        let place = message.ok_or_else(|| Failure::null("message"))?;
        // SAFETY: the caller's value, given up here.
        let adopted = unsafe { Message::adopt(of, value.cast()) };
        *place = into_c(adopted.ok_or_else(|| lacks(of, ErrorCode::InvalidTypeTable, "free function"))?);
        Ok(())
    })
}

/// A place for a value that is about to become a message, for example by a placement `new`. Freeing
/// it destroys no value.
pub struct sinew_uninit_message {
    _opaque: (),
}
handle!(sinew_uninit_message: UninitMessage);

/// Makes a place for a value of the type, in an allocation of its own. (`sinew_publisher_uninit`
/// has places that allocate nothing.)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_uninit_message_new(
    message_type: *const sinew_message_type,
    uninit: Option<&mut *mut sinew_uninit_message>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let of = unsafe { message_type::get(message_type, "message_type") }?;
        handle::put(uninit, "uninit", Message::uninit(of))
    })
}

/// Returns the place, with the size and alignment of the type's values. It is not initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_uninit_message_place(uninit: *const sinew_uninit_message) -> *mut c_void {
    // SAFETY: the caller's handle.
    answer(ptr::null_mut(), || Ok(unsafe { handle::get(uninit, "uninit") }?.place().as_ptr().cast()))
}

/// Makes the message, once the place has a valid value. The handle is used up.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_uninit_message_assume_init(
    uninit: *mut sinew_uninit_message,
    message: Option<&mut *mut sinew_message>,
) -> sinew_status {
    status(|| {
        let place = message.ok_or_else(|| Failure::null("message"))?;
        // SAFETY: the caller's handle.
        let uninit = unsafe { handle::take(uninit, "uninit") }?;
        // SAFETY: the value is there, as the header asks.
        *place = into_c(unsafe { uninit.assume_init() });
        Ok(())
    })
}

/// Frees a place without a value; null is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_uninit_message_free(uninit: *mut sinew_uninit_message) {
    // SAFETY: the caller's handle.
    unsafe { handle::free(uninit, "uninit") };
}
