//! Topics: the newest value.

use super::space::{sinew_raw_space, space_or_default};
use super::value::{Bytes, Caller, Reader, sinew_raw_origin, value};
use crate::handle::{self, handle};
use crate::status::{Result, sinew_status, status};
use crate::text::text;
use sinew_shm::raw::{Space, Topic};
use std::ffi::{c_char, c_void};

/// The newest value of a name, with many writers and many readers; nothing ever blocks. A handle
/// both writes and reads, and gets each value once, also its own, unless a newer one comes before
/// it reads.
///
/// A value lives as long as the handles of the process that wrote it, and a handle that got it
/// keeps it until a newer one comes. So a handle that is opened late has the last value at once, if
/// a process that wrote it still has the topic open. A value that is read is never torn.
pub struct sinew_raw_topic {
    _opaque: (),
}
handle!(sinew_raw_topic: TopicHandle);

/// A topic that several threads may read.
pub(crate) struct TopicHandle(Reader<Topic<Bytes>>);

impl TopicHandle {
    pub(super) fn open(space: &Space, name: &str) -> Result<Self> {
        Ok(Self(Reader::new(Topic::open_in(space, name)?)))
    }

    pub(super) fn write(&self, value: &Bytes) -> Result {
        Ok(self.0.handle().write(value)?)
    }

    pub(super) fn read(&self, caller: Caller<'_>) -> Result {
        self.0.read_latest(caller, c"the topic has no new value", |topic, place| topic.read_shared(place))
    }
}

/// Opens a topic. Returns when all its writers know that this handle reads, or after half a second
/// if one of them doesn't answer.
///
/// `space` may be null: the process's default one. A name has 1 to 255 bytes and is unique in its
/// domain across topics, queues and variables. The caller frees `*topic` with
/// `sinew_raw_topic_free`.
///
/// Fails with `SINEW_ERROR_NAME_IN_USE` if the name is something else for another process; the
/// sentence names it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_raw_topic_open(
    space: *const sinew_raw_space,
    name: *const c_char,
    topic: Option<&mut *mut sinew_raw_topic>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's text.
        let name = unsafe { text(name, "name") }?;
        // SAFETY: the caller's handle.
        let space = unsafe { space_or_default(space) }?;
        handle::put(topic, "topic", TopicHandle::open(&space, name)?)
    })
}

/// Frees a handle to a topic; null is allowed. With the process's last handle of the name, the
/// values that the process wrote end.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_raw_topic_free(topic: *mut sinew_raw_topic) {
    // SAFETY: the caller's handle.
    unsafe { handle::free(topic, "topic") };
}

/// Writes a value of `size` bytes, which may be 0. Never blocks; copies the value once. Once warm
/// it allocates nothing and makes no system call.
///
/// Fails with `SINEW_ERROR_NO_SPACE` if the shared memory has no room.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_raw_topic_write(
    topic: *const sinew_raw_topic,
    data: *const c_void,
    size: usize,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let topic = unsafe { handle::get(topic, "topic") }?;
        // SAFETY: the caller's memory.
        topic.write(unsafe { value(data, size) }?)
    })
}

/// Reads the newest value into `data`, which has `capacity` bytes. Never blocks; copies the value
/// once.
///
/// `*size` is the value's size. `size` may be null: then only a value of exactly `capacity` bytes
/// is taken. `origin` may be null.
///
/// Fails with `SINEW_ERROR_TIMEOUT` if this handle has read the newest value already, or if there
/// is none: nothing is written then. Fails with `SINEW_ERROR_WRONG_CAPACITY` if the value doesn't
/// fit: then `*size` is its size, and it stays to be read until a newer one comes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_raw_topic_read(
    topic: *const sinew_raw_topic,
    data: *mut c_void,
    capacity: usize,
    size: Option<&mut usize>,
    origin: Option<&mut sinew_raw_origin>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's handle.
        let topic = unsafe { handle::get(topic, "topic") }?;
        // SAFETY: the caller's memory.
        topic.read(unsafe { Caller::new(data, capacity, size, origin) }?)
    })
}
