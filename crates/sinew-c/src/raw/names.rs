//! The short form: one call with a name. The process keeps what it opened in a table.
//!
//! The table of a kind maps a name to its handle. A call finds the handle by the name, under a lock
//! that is shared by all calls, or opens it first; then it uses the handle without the lock. What a
//! parent opened is not used by its forked child, which opens its own; nothing of the parent's is
//! dropped there, as another thread may have had its locks at the fork. At `exit` the tables are
//! emptied, so that the process leaves its domain and no file stays.

use super::queue::QueueHandle;
use super::topic::TopicHandle;
use super::value::{Bytes, Caller, value};
use super::variable::{MasterHandle, VariableHandle};
use crate::status::{Failure, Result, answer, sinew_status, status};
use crate::text::text;
use crate::time::sinew_duration;
use parking_lot::{Mutex, RwLock};
use sinew_shm::raw::{QueueOptions, Space};
use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Once};

static TOPICS: Names<TopicHandle> = Names::new();
static QUEUES: Names<QueueHandle> = Names::new();
static VARIABLES: Names<VariableHandle> = Names::new();
static MASTERS: Names<MasterHandle> = Names::new();

/// Number of forks between this process and the one that loaded the library.
static FORKS: AtomicU32 = AtomicU32::new(0);

/// One name is opened at a time.
static OPENING: Mutex<()> = Mutex::new(());

/// A handle that a process opened. In a forked child it is never dropped.
struct Opened<T> {
    handle: ManuallyDrop<T>,
    /// The number of forks when it was opened.
    forks: u32,
}

impl<T> Opened<T> {
    fn is_here(&self) -> bool {
        self.forks == FORKS.load(Ordering::Relaxed) // only a fork changes it, in a process of one thread
    }
}

impl<T> Drop for Opened<T> {
    fn drop(&mut self) {
        if self.is_here() {
            // SAFETY: dropped once, here.
            unsafe { ManuallyDrop::drop(&mut self.handle) };
        }
    }
}

/// The names of one kind that this process has opened.
struct Names<T>(RwLock<BTreeMap<CString, Arc<Opened<T>>>>);

impl<T> Names<T> {
    const fn new() -> Self {
        Self(RwLock::new(BTreeMap::new()))
    }

    fn find(&self, name: &CStr) -> Option<Arc<Opened<T>>> {
        self.0.read().get(name).filter(|opened| opened.is_here()).cloned()
    }

    /// Returns the handle of a name, and whether it was opened for that.
    fn find_or_open(
        &self,
        name: &CStr,
        open: impl FnOnce(&Space, &str) -> Result<T>,
    ) -> Result<(Arc<Opened<T>>, bool)> {
        if let Some(opened) = self.find(name) {
            return Ok((opened, false));
        }
        attend_to_forks_and_exit();
        let _opening = OPENING.lock();
        if let Some(opened) = self.find(name) {
            return Ok((opened, false));
        }
        // SAFETY: a text of Rust.
        let handle = open(&Space::shared()?, unsafe { text(name.as_ptr(), "name") }?)?;
        let opened = Opened { handle: ManuallyDrop::new(handle), forks: FORKS.load(Ordering::Relaxed) };
        let opened = Arc::new(opened);
        let before = self.0.write().insert(name.to_owned(), opened.clone());
        drop(before); // a parent's
        Ok((opened, true))
    }

    fn close(&self, name: &CStr) {
        let closed = self.0.write().remove(name);
        drop(closed); // without the lock
    }

    fn close_all(&self) {
        let closed = std::mem::take(&mut *self.0.write());
        drop(closed);
    }
}

/// cbindgen:ignore
#[expect(unused_doc_comments, reason = "it keeps them out of the header")]
unsafe extern "C" {
    fn atexit(handler: extern "C" fn()) -> c_int;
    fn pthread_atfork(
        prepare: Option<extern "C" fn()>,
        parent: Option<extern "C" fn()>,
        child: Option<extern "C" fn()>,
    ) -> c_int;
}

/// Has forks counted in the child, and the tables emptied at exit.
fn attend_to_forks_and_exit() {
    extern "C" fn forked() {
        FORKS.fetch_add(1, Ordering::Relaxed); // the only thread of a new process
    }
    extern "C" fn exits() {
        answer((), || {
            TOPICS.close_all();
            QUEUES.close_all();
            VARIABLES.close_all();
            MASTERS.close_all();
            Ok(())
        });
    }
    static ATTENDED: Once = Once::new();
    ATTENDED.call_once(|| {
        // Without memory for that they fail: then a child gets errors, and other processes tidy up.
        // SAFETY: a function of the C library, and a handler that unwinds never.
        unsafe { pthread_atfork(None, None, Some(forked)) };
        // SAFETY: as above.
        unsafe { atexit(exits) };
    });
}

/// Returns the caller's name.
///
/// # Safety
/// `name` is null or a text that nothing changes during `'a`.
unsafe fn named<'a>(name: *const c_char) -> Result<&'a CStr> {
    if name.is_null() {
        return Err(Failure::null("name"));
    }
    // SAFETY: as the caller says.
    Ok(unsafe { CStr::from_ptr(name) })
}

fn queue(name: &CStr) -> Result<Arc<Opened<QueueHandle>>> {
    let open = |space: &Space, name: &str| QueueHandle::open(space, name, &QueueOptions::default());
    Ok(QUEUES.find_or_open(name, open)?.0)
}

/// Writes the newest value of a topic: `size` bytes of `data`. Needs no set-up and no end: the
/// first call with a name opens it, which takes some milliseconds, in the domain and directory of
/// the environment (`SINEW_DOMAIN_ID`, `SINEW_DIR`). Never blocks after that; copies the value
/// once.
///
/// A name has 1 to 255 bytes, and is unique in its domain across topics, queues and variables. For
/// threads, forks and the process's end see [`sinew_raw_close`]; for what a topic is,
/// `sinew_raw_topic`.
///
/// Fails with `SINEW_ERROR_NAME_IN_USE` if the name is something else for another process, and with
/// `SINEW_ERROR_NO_SPACE` if the shared memory has no room.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_topic_write(
    name: *const c_char,
    data: *const c_void,
    size: usize,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's text.
        let name = unsafe { named(name) }?;
        // SAFETY: the caller's memory.
        let value: &Bytes = unsafe { value(data, size) }?;
        TOPICS.find_or_open(name, TopicHandle::open)?.0.handle.write(value)
    })
}

/// Reads the newest value of a topic into `data`, which has `capacity` bytes. Never blocks, except
/// the first call with a name, which opens it; copies the value once. The process gets each value
/// once, also its own, unless a newer one comes before it reads.
///
/// `*size` is the value's size. `size` may be null: then only a value of exactly `capacity` bytes
/// is taken.
///
/// Fails with `SINEW_ERROR_TIMEOUT` if there is no new value: nothing is written then. Fails with
/// `SINEW_ERROR_WRONG_CAPACITY` if the value doesn't fit: then `*size` is its size, and it stays to
/// be read until a newer one comes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_topic_read(
    name: *const c_char,
    data: *mut c_void,
    capacity: usize,
    size: Option<&mut usize>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's text.
        let name = unsafe { named(name) }?;
        // SAFETY: the caller's memory.
        let caller = unsafe { Caller::new(data, capacity, size, None) }?;
        TOPICS.find_or_open(name, TopicHandle::open)?.0.handle.read(caller)
    })
}

/// Writes a message to a queue: every reader gets it. Blocks while a reader has no room (for 64
/// messages), for at most `timeout`. The first call with a name opens it. A message that is written
/// while there is no reader is not kept: see [`sinew_queue_wait_for_reader`].
///
/// Fails with `SINEW_ERROR_HISTORY_FULL` if a reader had no room in time: then no reader gets the
/// message.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_queue_write(
    name: *const c_char,
    data: *const c_void,
    size: usize,
    timeout: sinew_duration,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's text.
        let name = unsafe { named(name) }?;
        // SAFETY: the caller's memory.
        let message = unsafe { value(data, size) }?;
        queue(name)?.handle.write(message, timeout)
    })
}

/// Reads the next message of a queue into `data`, which has `capacity` bytes; blocks until there is
/// one, for at most `timeout`. The process's first call joins as a reader: it gets the messages
/// that are written afterwards. Threads that read one queue share its messages, and take turns.
///
/// `*size` is the message's size. `size` may be null: then only a message of exactly `capacity`
/// bytes is taken.
///
/// Fails with `SINEW_ERROR_TIMEOUT` if no message comes in time. Fails with
/// `SINEW_ERROR_WRONG_CAPACITY` if the message doesn't fit: then `*size` is its size, and the next
/// read gets it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_queue_read(
    name: *const c_char,
    data: *mut c_void,
    capacity: usize,
    size: Option<&mut usize>,
    timeout: sinew_duration,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's text.
        let name = unsafe { named(name) }?;
        // SAFETY: the caller's memory.
        let caller = unsafe { Caller::new(data, capacity, size, None) }?;
        queue(name)?.handle.read(caller, timeout)
    })
}

/// Joins a queue as a reader, unless the process is one: it gets every message that is written
/// after this returns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_queue_join(name: *const c_char) -> sinew_status {
    // SAFETY: the caller's text.
    status(|| queue(unsafe { named(name) }?)?.handle.join())
}

/// Blocks until a queue has a reader, in this process or another, for at most `timeout`. Readers
/// that are there get all messages written afterwards.
///
/// Fails with `SINEW_ERROR_TIMEOUT` if none joins in time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_queue_wait_for_reader(
    name: *const c_char,
    timeout: sinew_duration,
) -> sinew_status {
    // SAFETY: the caller's text.
    status(|| queue(unsafe { named(name) }?)?.handle.wait_for_reader(timeout))
}

/// Writes the value of a variable: `size` bytes of `data`. The first call with a name makes the
/// process the variable's master, its only writer, until it ends or calls [`sinew_raw_close`].
/// Never blocks after that.
///
/// Fails with `SINEW_ERROR_MASTER_TAKEN` if another process is the master; the sentence names it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_variable_write(
    name: *const c_char,
    data: *const c_void,
    size: usize,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's text.
        let name = unsafe { named(name) }?;
        // SAFETY: the caller's memory.
        let value = unsafe { value(data, size) }?;
        let open = |space: &Space, name: &str| MasterHandle::open(space, name, value);
        let (master, is_new) = MASTERS.find_or_open(name, open)?;
        if is_new { Ok(()) } else { master.handle.write(value) }
    })
}

/// Reads the current value of a variable into `data`, which has `capacity` bytes, any number of
/// times. Never blocks, except the first call with a name, which opens it.
///
/// `*size` is the value's size. `size` may be null: then the value must have exactly `capacity`
/// bytes.
///
/// Fails with `SINEW_ERROR_TIMEOUT` while there is no master, and so no value, and with
/// `SINEW_ERROR_WRONG_CAPACITY` if the value doesn't fit: then `*size` is its size.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_variable_read(
    name: *const c_char,
    data: *mut c_void,
    capacity: usize,
    size: Option<&mut usize>,
) -> sinew_status {
    status(|| {
        // SAFETY: the caller's text.
        let name = unsafe { named(name) }?;
        // SAFETY: the caller's memory.
        let caller = unsafe { Caller::new(data, capacity, size, None) }?;
        VARIABLES.find_or_open(name, VariableHandle::open)?.0.handle.read(caller)
    })
}

/// Closes a name that this process opened by the functions that take one; a name that it didn't
/// open is no mistake. No program has to call this. The next call with the name opens it again.
///
/// Hidden state: `sinew_topic_..`, `sinew_queue_..` and `sinew_variable_..` keep one handle for
/// each name and kind in a table of the process, from the first call with the name until this
/// function is called, or the process calls `exit` or returns from `main`. A value lives as long as
/// a process that wrote it or got it. The first name starts a thread, which sleeps while nothing
/// changes.
///
/// Any thread may call any of them at any time; threads of a process share the names' handles.
/// After a `fork`, the child opens names anew at its first call, and the parent's stay as they are;
/// as with most libraries, the child of a process with several threads may hang if another thread
/// was just opening a name. A call with a name costs some 50 ns more than one with a handle
/// (`sinew_raw_topic_open` and so on).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_raw_close(name: *const c_char) -> sinew_status {
    status(|| {
        // SAFETY: the caller's text.
        let name = unsafe { named(name) }?;
        TOPICS.close(name);
        QUEUES.close(name);
        VARIABLES.close(name);
        MASTERS.close(name);
        Ok(())
    })
}
