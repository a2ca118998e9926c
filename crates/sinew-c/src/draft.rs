//! Messages that are written in their encoded form where they will be published.

use crate::handle::{self, handle};
use crate::message::has_header;
use crate::publisher::{publish, reserved, sinew_publisher};
use crate::status::{Failure, answer, sinew_status, status};
use parking_lot::Mutex;
use sinew::error::ErrorCode;
use sinew::msg::EncodedDraft;
use std::ptr;

/// A message that is being written in its encoded form, where other processes will read it if they
/// have a matching subscription. Freeing it publishes nothing.
pub struct sinew_draft {
    _opaque: (),
}
handle!(sinew_draft: Mutex<EncodedDraft>);

/// Reserves memory for a message of `length` encoded bytes. It contains old content. A serializer
/// that learns the length only while it writes reserves the maximum, and truncates the draft.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_publisher_draft(
    publisher: *const sinew_publisher,
    length: usize,
    draft: Option<&mut *mut sinew_draft>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let publisher = unsafe { handle::get(publisher, "publisher") }?;
        let reserved = reserved(&publisher.publisher, length)?;
        handle::put(draft, "draft", Mutex::new(reserved))
    })
}

/// Returns the bytes, to be written by one thread at a time. They stay where they are until the
/// draft is published or freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_draft_bytes(draft: *const sinew_draft) -> *mut u8 {
    // SAFETY: the caller's handle.
    answer(ptr::null_mut(), || Ok(unsafe { handle::get(draft, "draft") }?.lock().as_mut_ptr()))
}

/// Returns the number of bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_draft_length(draft: *const sinew_draft) -> usize {
    // SAFETY: the caller's handle.
    answer(0, || Ok(unsafe { handle::get(draft, "draft") }?.lock().len()))
}

/// Cuts the message to its first `length` bytes. Nothing is copied. Fails with
/// `SINEW_ERROR_INVALID_DRAFT` if it has fewer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_draft_truncate(draft: *const sinew_draft, length: usize) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let mut draft = unsafe { handle::get(draft, "draft") }?.lock();
        let reserved = draft.len();
        if length > reserved {
            let sentence = format_args!("a draft of {reserved} bytes can't be truncated to {length}");
            return Err(Failure::new(ErrorCode::InvalidDraft, sentence));
        }
        draft.truncate(length);
        Ok(())
    })
}

/// Publishes the draft, which is used up in any case. The bytes are not checked, except that there
/// are the 4 of the header. Fails as `sinew_publisher_publish`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_publisher_publish_draft(
    publisher: *const sinew_publisher,
    draft: *mut sinew_draft,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let draft = unsafe { handle::take(draft, "draft") }?.into_inner();
        has_header(draft.len())?;
        // SAFETY: the caller's handle.
        let publisher = unsafe { handle::get(publisher, "publisher") }?;
        publish(&publisher.publisher, draft)
    })
}

/// Frees a draft that is not published; null is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_draft_free(draft: *mut sinew_draft) {
    // SAFETY: the caller's handle.
    unsafe { handle::free(draft, "draft") };
}
