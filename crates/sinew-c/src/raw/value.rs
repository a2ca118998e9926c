//! Bytes from C, and places of C into which values are read.

use crate::status::{Failure, Result};
use parking_lot::{Mutex, MutexGuard};
use sinew::error::ErrorCode;
use sinew_shm::raw::{Origin, ReadError, Value};
use std::ffi::{CStr, c_void};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A value's origin.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sinew_raw_origin {
    /// When the value was written: nanoseconds of the machine's monotonic clock
    /// (`CLOCK_MONOTONIC`), the same for all its processes.
    pub stamp: i64,
    /// The id of the writing process's space, which no other one has or had: see
    /// [`sinew_raw_space_id`](super::space::sinew_raw_space_id).
    pub writer: u64,
}

/// A value of the raw layer, as C has it. For other processes it is a `[u8]`.
#[repr(transparent)]
pub(crate) struct Bytes([u8]);

impl Bytes {
    fn new(bytes: &[u8]) -> &Self {
        let bytes: *const [u8] = bytes;
        // SAFETY: `Bytes` has the layout of the slice, and the reference its lifetime.
        unsafe { &*(bytes as *const Self) }
    }
}

impl Value for Bytes {
    type Owned = Place;
    const SIZE: usize = <[u8]>::SIZE;
    const IS_SLICE: bool = true;

    fn type_name() -> String {
        <[u8]>::type_name()
    }

    fn bytes(&self) -> &[u8] {
        &self.0
    }

    fn empty() -> Place {
        Place { data: std::ptr::null_mut(), capacity: 0, is_exact: false, found: 0, rest: None }
    }

    fn copy_from(bytes: &[u8], to: &mut Place) -> bool {
        to.fill(bytes);
        true
    }
}

/// Returns the caller's value.
///
/// # Safety
/// `data` is null or has `size` bytes that nothing writes during `'a`.
pub(crate) unsafe fn value<'a>(data: *const c_void, size: usize) -> Result<&'a Bytes> {
    if size == 0 {
        return Ok(Bytes::new(&[]));
    }
    if data.is_null() {
        return Err(Failure::null("data"));
    }
    if size > isize::MAX.unsigned_abs() {
        let sentence = format_args!("`size` can't be {size}: no memory has so many bytes");
        return Err(Failure::new(ErrorCode::SharedMemoryLimit, sentence));
    }
    // SAFETY: as the caller says; the size was checked.
    Ok(Bytes::new(unsafe { std::slice::from_raw_parts(data.cast(), size) }))
}

/// A place of C for a value.
pub(crate) struct Place {
    data: *mut u8,
    capacity: usize,
    /// Whether a value must fill it, because the caller would not know its size.
    is_exact: bool,
    /// The value's size.
    found: usize,
    /// The value, if the place can't have it.
    rest: Option<Vec<u8>>,
}

/// What a function that reads has of its caller.
pub(crate) struct Caller<'a> {
    place: Place,
    size: Option<&'a mut usize>,
    origin: Option<&'a mut sinew_raw_origin>,
}

impl<'a> Caller<'a> {
    /// Checks the caller's place.
    ///
    /// # Safety
    /// `data` is null or has `capacity` bytes, which nothing else uses while this lives.
    pub(crate) unsafe fn new(
        data: *mut c_void,
        capacity: usize,
        size: Option<&'a mut usize>,
        origin: Option<&'a mut sinew_raw_origin>,
    ) -> Result<Self> {
        if data.is_null() && capacity > 0 {
            return Err(Failure::null("data"));
        }
        let place = Place { data: data.cast(), capacity, is_exact: size.is_none(), found: 0, rest: None };
        Ok(Self { place, size, origin })
    }
}

impl Place {
    fn fill(&mut self, bytes: &[u8]) {
        self.found = bytes.len();
        let fits = self.found <= self.capacity && (!self.is_exact || self.found == self.capacity);
        if !fits {
            self.rest = Some(bytes.to_vec());
        } else if !bytes.is_empty() {
            // SAFETY: the place has that many bytes, and nothing else uses it: see `Caller::new`.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.data, bytes.len()) };
        }
    }
}

/// A value for which the caller's place was too small: the next read gets it.
struct UnreadValue {
    bytes: Vec<u8>,
    origin: Origin,
}

/// The value that a handle read in vain, if there is one.
#[derive(Default)]
struct Unread {
    /// Whether there is one: spares a lock for each read.
    is_there: AtomicBool,
    value: Mutex<Option<UnreadValue>>,
}

impl Unread {
    /// Puts the value into a place, which may be too small again.
    fn put(&self, place: &mut Place) -> Option<Origin> {
        let UnreadValue { bytes, origin } = self.take()?;
        place.fill(&bytes);
        Some(origin)
    }

    fn take(&self) -> Option<UnreadValue> {
        // Relaxed: the value is behind the lock; a thread that comes too early finds it the next
        // time.
        if !self.is_there.load(Ordering::Relaxed) {
            return None;
        }
        let mut value = self.value.lock();
        self.is_there.store(false, Ordering::Relaxed);
        value.take()
    }

    #[cold]
    fn keep(&self, value: UnreadValue) {
        let mut kept = self.value.lock();
        self.is_there.store(true, Ordering::Relaxed);
        *kept = Some(value);
    }
}

/// A reading handle of Rust and the value that it read in vain. Any number of threads may use it.
pub(crate) struct Reader<H> {
    handle: H,
    unread: Unread,
}

impl<H> Reader<H> {
    pub(crate) fn new(handle: H) -> Self {
        Self { handle, unread: Unread::default() }
    }

    pub(crate) fn handle(&self) -> &H {
        &self.handle
    }

    /// Reads the newest value, which one that was not taken must not hide.
    #[inline]
    pub(crate) fn read_latest(
        &self,
        mut caller: Caller<'_>,
        nothing: &'static CStr,
        read: impl FnOnce(&H, &mut Place) -> Found,
    ) -> Result {
        let (found, is_new) = match read(&self.handle, &mut caller.place)? {
            Some(found) => (found, true),
            None => (self.unread.put(&mut caller.place).ok_or_else(|| late(nothing))?, false),
        };
        if is_new {
            self.unread.take(); // an older one
        }
        caller.finish(found, Some(&self.unread))
    }

    /// Reads the value that stays there for the next read.
    #[inline]
    pub(crate) fn read_current(
        &self,
        mut caller: Caller<'_>,
        nothing: &'static CStr,
        read: impl FnOnce(&H, &mut Place) -> Found,
    ) -> Result {
        let found = read(&self.handle, &mut caller.place)?.ok_or_else(|| late(nothing))?;
        caller.finish(found, None)
    }
}

impl<H> Reader<Mutex<H>> {
    /// Reads the next value, and waits for it for at most `timeout`. Threads take turns.
    pub(crate) fn read_next(
        &self,
        mut caller: Caller<'_>,
        timeout: Option<Duration>,
        nothing: &'static CStr,
        read: impl FnOnce(&mut H, &mut Place, Option<Duration>) -> Found,
    ) -> Result {
        let (mut handle, timeout) = self.lock_within(timeout).ok_or_else(|| late(nothing))?;
        let found = match self.unread.put(&mut caller.place) {
            Some(found) => found,
            None => read(&mut handle, &mut caller.place, timeout)?.ok_or_else(|| late(nothing))?,
        };
        caller.finish(found, Some(&self.unread)) // before the next thread's turn
    }

    /// Another thread may wait for a value with the lock. Returns also the time that remains.
    #[expect(
        clippy::disallowed_methods,
        reason = "timeouts of the raw layer are of real time; it has no context's clock"
    )]
    fn lock_within(&self, timeout: Option<Duration>) -> Option<(MutexGuard<'_, H>, Option<Duration>)> {
        if let Some(handle) = self.handle.try_lock() {
            return Some((handle, timeout));
        }
        let Some(end) = timeout.and_then(|timeout| Instant::now().checked_add(timeout)) else {
            return Some((self.handle.lock(), None));
        };
        let handle = self.handle.try_lock_until(end)?;
        Some((handle, Some(end.saturating_duration_since(Instant::now()))))
    }
}

type Found = std::result::Result<Option<Origin>, ReadError>;

fn late(nothing: &'static CStr) -> Failure {
    Failure::fixed(ErrorCode::Timeout, nothing)
}

impl Caller<'_> {
    /// Gives the caller the size, and the origin of a value that it got.
    #[inline]
    fn finish(self, found: Origin, unread: Option<&Unread>) -> Result {
        if let Some(size) = self.size {
            *size = self.place.found;
        }
        if let Some(bytes) = self.place.rest {
            let Place { is_exact, found: size, capacity, .. } = self.place;
            if let Some(unread) = unread {
                unread.keep(UnreadValue { bytes, origin: found });
            }
            return Err(misfit(size, capacity, is_exact));
        }
        if let Some(origin) = self.origin {
            *origin = sinew_raw_origin { stamp: found.stamp, writer: found.writer };
        }
        Ok(())
    }
}

#[cold]
fn misfit(size: usize, capacity: usize, is_exact: bool) -> Failure {
    let remedy = if is_exact { "has exactly as many, or pass `size`" } else { "is large enough" };
    let sentence = format_args!(
        "the value has {size} bytes and `data` {capacity}: it is kept for a read with a place that {remedy}"
    );
    Failure::new(ErrorCode::WrongCapacity, sentence)
}

/// Returns a timeout for the raw layer: `None` is for ever.
pub(crate) fn limit(nanoseconds: crate::time::sinew_duration) -> Option<Duration> {
    u64::try_from(nanoseconds).ok().map(Duration::from_nanos)
}
