//! Queues: every message to every reader.

use super::space::{sinew_raw_space, space_or_default};
use super::value::{Bytes, Caller, Reader, limit, sinew_raw_origin, value};
use crate::handle::{self, handle};
use crate::status::{Failure, Result, sinew_status, status};
use crate::structure::{Structure, structure};
use crate::text::text;
use crate::time::sinew_duration;
use parking_lot::Mutex;
use sinew::error::ErrorCode;
use sinew_shm::raw::{Queue, QueueOptions, Space};
use std::ffi::{c_char, c_void};
use std::time::Duration;

/// A queue with many writers and many readers: every reader gets every message that was written
/// after it joined.
///
/// A handle joins as a reader when it first reads, or by `sinew_raw_queue_join`; a handle that only
/// writes never does. Messages of one writing process arrive in their order. A full queue blocks
/// its writers and an empty one its readers. Messages that are written while there is no reader are
/// not kept: see `sinew_raw_queue_wait_for_reader`. A reader that dies is removed and disturbs no
/// other.
pub struct sinew_raw_queue {
    _opaque: (),
}
handle!(sinew_raw_queue: QueueHandle);

/// A queue that several threads may use: one that waits to read keeps none from writing.
pub(crate) struct QueueHandle {
    writing: Queue<Bytes>,
    reading: Reader<Mutex<Queue<Bytes>>>,
}

impl QueueHandle {
    pub(super) fn open(space: &Space, name: &str, options: &QueueOptions) -> Result<Self> {
        let open = || Queue::open_with(space, name, options);
        Ok(Self { writing: open()?, reading: Reader::new(Mutex::new(open()?)) })
    }

    pub(super) fn join(&self) -> Result {
        Ok(self.reading.handle().lock().join()?)
    }

    pub(super) fn wait_for_reader(&self, timeout: sinew_duration) -> Result {
        let late = || Failure::fixed(ErrorCode::Timeout, c"the queue got no reader in time");
        self.writing.wait_for_reader(limit(timeout))?.then_some(()).ok_or_else(late)
    }

    pub(super) fn write(&self, message: &Bytes, timeout: sinew_duration) -> Result {
        match limit(timeout) {
            None => self.writing.write(message)?,
            Some(timeout) => self.writing.write_within(message, timeout)?,
        }
        Ok(())
    }

    pub(super) fn read(&self, caller: Caller<'_>, timeout: sinew_duration) -> Result {
        let nothing = c"the queue got no message in time";
        let read = |queue: &mut Queue<Bytes>, place: &mut _, timeout| queue.read_into(place, timeout);
        self.reading.read_next(caller, limit(timeout), nothing, read)
    }
}

/// The options of [`sinew_raw_queue_open`]. Zero is the default of every field.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sinew_raw_queue_options {
    /// `sizeof(struct sinew_raw_queue_options)`.
    pub size: usize,
    /// Number of messages of this process that each reader may have yet to read. 0: 64. The first
    /// handle that a process opens decides for all of them.
    pub capacity: usize,
    /// Time for which a reader of another process may block this handle without reading, before it
    /// is cut off: no writer waits for it any more, and its next read fails with
    /// `SINEW_ERROR_CUT_OFF`. 0 or negative: without a limit.
    pub patience: sinew_duration,
}

// SAFETY: C's layout, beginning with the size; zeros are numbers.
unsafe impl Structure for sinew_raw_queue_options {
    const NAME: &str = "sinew_raw_queue_options";
}

/// Opens a queue.
///
/// `space` may be null: the process's default one; so may `options`. A name has 1 to 255 bytes and
/// is unique in its domain across topics, queues and variables. The caller frees `*queue` with
/// `sinew_raw_queue_free`.
///
/// Fails with `SINEW_ERROR_NAME_IN_USE` if the name is something else for another process.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_raw_queue_open(
    space: *const sinew_raw_space,
    name: *const c_char,
    options: *const sinew_raw_queue_options,
    queue: Option<&mut *mut sinew_raw_queue>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's text.
        let name = unsafe { text(name, "name") }?;
        // SAFETY: the caller's structure.
        let options = unsafe { structure(options) }?;
        let mut wanted = QueueOptions::default();
        if options.capacity > 0 {
            wanted.capacity = options.capacity;
        }
        wanted.patience = limit(options.patience).filter(|patience| *patience > Duration::ZERO);
        // SAFETY: the caller's handle.
        let space = unsafe { space_or_default(space) }?;
        handle::put(queue, "queue", QueueHandle::open(&space, name, &wanted)?)
    })
}

/// Frees a handle to a queue; null is allowed. Messages that it has yet to read are lost.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_raw_queue_free(queue: *mut sinew_raw_queue) {
    // SAFETY: the caller's handle.
    unsafe { handle::free(queue, "queue") };
}

/// Joins as a reader, unless the handle is one: it gets every message that is written after this
/// returns. Blocks until all writers know it, for at most half a second if one of them doesn't
/// answer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_raw_queue_join(queue: *const sinew_raw_queue) -> sinew_status {
    // SAFETY: the caller's handle.
    status(|| unsafe { handle::get(queue, "queue") }?.join())
}

/// Blocks until the queue has a reader, in this process or another, for at most `timeout`. Readers
/// that are there get all messages written afterwards.
///
/// Fails with `SINEW_ERROR_TIMEOUT` if none joins in time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_raw_queue_wait_for_reader(
    queue: *const sinew_raw_queue,
    timeout: sinew_duration,
) -> sinew_status {
    // SAFETY: the caller's handle.
    status(|| unsafe { handle::get(queue, "queue") }?.wait_for_reader(timeout))
}

/// Writes a message of `size` bytes, which may be 0; blocks while a reader has no room, for at most
/// `timeout`. Several threads may write at once. Copies the message once.
///
/// Fails with `SINEW_ERROR_HISTORY_FULL` if a reader had no room in time: then no reader gets the
/// message. The sentence names the reader's process.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_raw_queue_write(
    queue: *const sinew_raw_queue,
    data: *const c_void,
    size: usize,
    timeout: sinew_duration,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let queue = unsafe { handle::get(queue, "queue") }?;
        // SAFETY: the caller's memory.
        queue.write(unsafe { value(data, size) }?, timeout)
    })
}

/// Reads the next message into `data`, which has `capacity` bytes; blocks until there is one, for
/// at most `timeout`. Threads that read with one handle take turns. Copies the message once.
///
/// `*size` is the message's size. `size` may be null: then only a message of exactly `capacity`
/// bytes is taken. `origin` may be null.
///
/// Fails with `SINEW_ERROR_TIMEOUT` if no message comes in time. Fails with
/// `SINEW_ERROR_WRONG_CAPACITY` if the message doesn't fit: then `*size` is its size, and the next
/// read gets it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_raw_queue_read(
    queue: *const sinew_raw_queue,
    data: *mut c_void,
    capacity: usize,
    size: Option<&mut usize>,
    timeout: sinew_duration,
    origin: Option<&mut sinew_raw_origin>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let queue = unsafe { handle::get(queue, "queue") }?;
        // SAFETY: the caller's memory.
        queue.read(unsafe { Caller::new(data, capacity, size, origin) }?, timeout)
    })
}
