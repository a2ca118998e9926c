//! Bytes from C, and places of C into which values are read.

use crate::status::{Failure, Result};
use parking_lot::{Mutex, MutexGuard};
use sinew::error::ErrorCode;
use sinew_shm::raw::{Origin, ReadError, Value};
use std::ffi::c_void;
use std::time::{Duration, Instant};

/// A value's origin.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sinew_raw_origin {
    /// When the value was written: nanoseconds of the machine's monotonic clock (`CLOCK_MONOTONIC`), the
    /// same for all its processes.
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
struct Unread {
    bytes: Vec<u8>,
    origin: Origin,
}

/// A reading handle of Rust, which one thread uses at a time, and the value that it read in vain.
pub(crate) struct Reader<H>(Mutex<(H, Option<Unread>)>);

impl<H> Reader<H> {
    pub(crate) fn new(handle: H) -> Self {
        Self(Mutex::new((handle, None)))
    }

    /// Uses the handle.
    pub(crate) fn with<R>(&self, with: impl FnOnce(&mut H) -> R) -> R {
        with(&mut self.0.lock().0)
    }

    /// Reads the newest value, which one that was not taken must not hide.
    pub(crate) fn read_latest(
        &self,
        caller: Caller<'_>,
        nothing: Failure,
        read: impl FnOnce(&mut H, &mut Place) -> std::result::Result<Option<Origin>, ReadError>,
    ) -> Result {
        let Caller { mut place, size, origin } = caller;
        let (handle, unread) = &mut *self.0.lock();
        let found = match read(handle, &mut place)? {
            Some(found) => found,
            None => put_unread(unread, &mut place).ok_or(nothing)?,
        };
        finish(place, found, unread, (size, origin))
    }

    /// Reads the value that stays there for the next read.
    pub(crate) fn read_current(
        &self,
        caller: Caller<'_>,
        nothing: Failure,
        read: impl FnOnce(&mut H, &mut Place) -> std::result::Result<Option<Origin>, ReadError>,
    ) -> Result {
        let Caller { mut place, size, origin } = caller;
        let found = self.with(|handle| read(handle, &mut place))?.ok_or(nothing)?;
        finish(place, found, &mut None, (size, origin))
    }

    /// Reads the next value, and waits for it for at most `timeout`.
    pub(crate) fn read_next(
        &self,
        caller: Caller<'_>,
        timeout: Option<Duration>,
        nothing: Failure,
        read: impl FnOnce(&mut H, &mut Place, Option<Duration>) -> std::result::Result<Option<Origin>, ReadError>,
    ) -> Result {
        let Caller { mut place, size, origin } = caller;
        let Some((mut state, timeout)) = self.lock_within(timeout) else { return Err(nothing) };
        let (handle, unread) = &mut *state;
        let found = match put_unread(unread, &mut place) {
            Some(found) => found,
            None => read(handle, &mut place, timeout)?.ok_or(nothing)?,
        };
        finish(place, found, unread, (size, origin))
    }

    /// Another thread may wait for a value with the lock. Returns also the time that remains.
    #[expect(
        clippy::disallowed_methods,
        reason = "timeouts of the raw layer are of real time; it has no context's clock"
    )]
    fn lock_within(&self, timeout: Option<Duration>) -> Option<(Locked<'_, H>, Option<Duration>)> {
        if let Some(state) = self.0.try_lock() {
            return Some((state, timeout));
        }
        let Some(end) = timeout.and_then(|timeout| Instant::now().checked_add(timeout)) else {
            return Some((self.0.lock(), None));
        };
        let state = self.0.try_lock_until(end)?;
        Some((state, Some(end.saturating_duration_since(Instant::now()))))
    }
}

type Locked<'a, H> = MutexGuard<'a, (H, Option<Unread>)>;

fn put_unread(unread: &mut Option<Unread>, place: &mut Place) -> Option<Origin> {
    let Unread { bytes, origin } = unread.take()?;
    place.fill(&bytes);
    Some(origin)
}

/// Gives the caller the size, and the origin of a value that it got.
fn finish(
    place: Place,
    found: Origin,
    unread: &mut Option<Unread>,
    (size, origin): (Option<&mut usize>, Option<&mut sinew_raw_origin>),
) -> Result {
    if let Some(size) = size {
        *size = place.found;
    }
    if let Some(bytes) = place.rest {
        *unread = Some(Unread { bytes, origin: found });
        let remedy = if place.is_exact { "has exactly as many, or pass `size`" } else { "is large enough" };
        let sentence = format_args!(
            "the value has {} bytes and `data` {}: it is kept for a read with a place that {remedy}",
            place.found, place.capacity
        );
        return Err(Failure::new(ErrorCode::WrongCapacity, sentence));
    }
    *unread = None; // older
    if let Some(origin) = origin {
        *origin = sinew_raw_origin { stamp: found.stamp, writer: found.writer };
    }
    Ok(())
}

/// Returns a timeout for the raw layer: `None` is for ever.
pub(crate) fn limit(nanoseconds: crate::time::sinew_duration) -> Option<Duration> {
    u64::try_from(nanoseconds).ok().map(Duration::from_nanos)
}
