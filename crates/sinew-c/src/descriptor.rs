//! File descriptors of the program, watched by a group.

use crate::closure::{Closure, outcome};
use crate::group::{in_group, sinew_group};
use crate::handle::{self, handle};
use crate::node::sinew_node;
use crate::owned::sinew_drop;
use crate::status::{Failure, sinew_status, status};
use crate::structure::{Structure, structure};
use sinew::error::ErrorCode;
use sinew::event::{DescriptorSource, Readiness};
use std::ffi::{c_int, c_void};
use std::os::fd::BorrowedFd;

/// A descriptor source: it runs a callback whenever a file descriptor is ready.
pub struct sinew_descriptor_source {
    _opaque: (),
}
handle!(sinew_descriptor_source: DescriptorSource);

/// For what a file descriptor was ready.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sinew_readiness {
    /// There is something to read, even if only the end of the file.
    pub readable: bool,
    /// There is room to write; only for a source for writing.
    pub writable: bool,
    /// The other end sends nothing more. There may still be data to read.
    pub closed: bool,
    /// An error waits to be read, or a pipe has no reader any more.
    pub failed: bool,
}

/// The callback of a descriptor source. `readiness` is valid during the call only. It returns
/// `SINEW_OK`, or a failure, of which `on_error` of the executor says what happens.
pub type sinew_descriptor_source_callback =
    Option<unsafe extern "C" fn(context: *mut c_void, readiness: *const sinew_readiness) -> sinew_status>;

/// The options of [`sinew_descriptor_source_new`]. Zero is the default of every field.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sinew_descriptor_source_options {
    /// `sizeof(struct sinew_descriptor_source_options)`.
    pub size: usize,
    /// The group in which the callback runs. Null: the node's default group. With a group of
    /// another node the source belongs to that node.
    pub group: *const sinew_group,
    /// Whether it waits for room to write. By default it waits for something to read.
    pub writable: bool,
}

// SAFETY: C's layout, beginning with the size; zeros are null, `false`.
unsafe impl Structure for sinew_descriptor_source_options {
    const NAME: &str = "sinew_descriptor_source_options";
}

/// Runs a callback whenever a file descriptor is ready, again and again as long as it is: a socket,
/// a pipe, a serial line. The source keeps a duplicate of its own, so the caller may close the
/// descriptor. It should not block when it is read: another thread may have read before. Even in a
/// reentrant group one callback of the source runs at a time.
///
/// `options` may be null. The caller frees `*source` with `sinew_descriptor_source_free`.
/// `drop_context` may be null; otherwise it is called once, with `callback_context`: when the
/// source is gone, or at once if the function fails.
///
/// Fails with `SINEW_ERROR_ALWAYS_READY` for a regular file, and with `SINEW_ERROR_SYSTEM` if the
/// descriptor is not open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_descriptor_source_new(
    node: *const sinew_node,
    descriptor: c_int,
    options: *const sinew_descriptor_source_options,
    callback: sinew_descriptor_source_callback,
    callback_context: *mut c_void,
    drop_context: sinew_drop,
    source: Option<&mut *mut sinew_descriptor_source>,
) -> sinew_status {
    status(|| {
        let closure = Closure::new(callback, callback_context, drop_context)?;
        // SAFETY: the caller's handle.
        let node = unsafe { handle::get(node, "node") }?;
        // SAFETY: the caller's structure.
        let options = unsafe { structure(options) }?;
        // SAFETY: the caller's handle.
        let group = unsafe { handle::get_optional(options.group, "group") }?;
        if descriptor < 0 {
            let sentence = format_args!("`descriptor` is {descriptor}: a file descriptor is not negative");
            return Err(Failure::new(ErrorCode::System, sentence));
        }
        // SAFETY: it is not -1, and is used during this call only, to duplicate it: the kernel
        // refuses one that is not open.
        let descriptor = unsafe { BorrowedFd::borrow_raw(descriptor) };
        let run = move |readiness: &Readiness| {
            let (callback, context) = closure.parts();
            let Readiness { readable, writable, closed, failed, .. } = *readiness;
            let readiness = sinew_readiness { readable, writable, closed, failed };
            // SAFETY: the caller's function, with its context and a structure that outlives the
            // call.
            outcome(unsafe { callback(context, &raw const readiness) })
        };
        let made = in_group!(node, group, |maker| {
            let builder = maker.descriptor(&descriptor);
            if options.writable { builder.writable() } else { builder }.callback(run)
        })?;
        handle::put(source, "source", made)
    })
}

/// Frees a handle to a descriptor source, which ends it and closes its duplicate; null is allowed.
/// No callback begins after this, but one may still run on another thread:
/// `sinew_descriptor_source_close` waits for it. Its own callback may call this.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_descriptor_source_free(source: *mut sinew_descriptor_source) {
    // SAFETY: the caller's handle.
    unsafe { handle::free(source, "source") };
}

/// Ends the source, and waits for its callback if that is running on another thread. Called in its
/// own callback it doesn't wait. The handle remains to be freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_descriptor_source_close(
    source: *const sinew_descriptor_source,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        unsafe { handle::get(source, "source") }?.clone().close();
        Ok(())
    })
}
