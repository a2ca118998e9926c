//! Handles: pointers to places that are never unmapped, so a handle that was freed is noticed.
//!
//! A handle points to a `Slot`: a tag that says of what kind it is and whether it lives, and the
//! value. A slot that is freed drops its value and waits for the next handle of its kind; its
//! memory is never given back. So the tag can be read whatever became of the handle: one that was
//! freed, or is of another kind, is an error with a sentence. Only a slot that was given to a new
//! handle hides the mistake. With `SINEW_DEBUG_HANDLES=1` in the environment no slot is given out
//! again, and pointers that this library never returned are noticed too.

use crate::status::{Failure, Result};
use parking_lot::Mutex;
use sinew::erased::Hint;
use sinew::error::ErrorCode;
use std::cell::UnsafeCell;
use std::collections::{BTreeMap, HashSet};
use std::mem::MaybeUninit;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Returns the tag of a kind of handles: FNV-1a of the library's version and its name, a number
/// that is rare in other memory. So a handle from a library of another version in the same process
/// is refused: its value may be laid out otherwise. Copies of one version understand each other's.
const fn tag(name: &str) -> u32 {
    fnv_1a(fnv_1a(0x811C_9DC5, env!("CARGO_PKG_VERSION")), name)
}

const fn fnv_1a(mut hash: u32, text: &str) -> u32 {
    let mut place = 0;
    while place < text.len() {
        hash = (hash ^ text.as_bytes()[place] as u32).wrapping_mul(0x0100_0193);
        place += 1;
    }
    hash
}

/// The tag of a slot without a value.
const FREED: u32 = 0xF4EE_D000;

/// The place of a handle's value.
#[repr(C)]
pub(crate) struct Slot<T> {
    /// That of its kind while the value lives, else [`FREED`].
    tag: AtomicU32,
    value: UnsafeCell<MaybeUninit<T>>,
}

// SAFETY: the value is reached by shared references while it lives, and moved out by one thread.
unsafe impl<T: Send + Sync> Sync for Slot<T> {}

/// The slots of one kind that wait for a value.
pub(crate) struct Slots<T: 'static>(Mutex<Vec<&'static Slot<T>>>);

impl<T> Slots<T> {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }
}

/// A structure of the header that stands for a value of Rust. There is no value of it: a pointer to
/// it points to a `Slot<Self::Value>`.
pub(crate) trait Handle: Sized + 'static {
    type Value: Send + Sync;
    /// Its name in C.
    const NAME: &'static str;
    const TAG: u32 = tag(Self::NAME);

    fn slots() -> &'static Slots<Self::Value>;
}

/// Makes a structure of the header a handle to a value.
macro_rules! handle {
    ($name:ident: $value:ty) => {
        impl $crate::handle::Handle for $name {
            type Value = $value;
            const NAME: &'static str = stringify!($name);

            fn slots() -> &'static $crate::handle::Slots<$value> {
                static SLOTS: $crate::handle::Slots<$value> = $crate::handle::Slots::new();
                &SLOTS
            }
        }
    };
}
pub(crate) use handle;

/// All slots, if mistakes are looked for.
fn known() -> Option<&'static Mutex<HashSet<usize>>> {
    static KNOWN: OnceLock<Option<Mutex<HashSet<usize>>>> = OnceLock::new();
    let wanted = || std::env::var_os("SINEW_DEBUG_HANDLES").is_some_and(|value| value != "0");
    KNOWN.get_or_init(|| wanted().then(Mutex::default)).as_ref()
}

/// Whether mistakes are looked for. One load, once it is known that they aren't.
#[inline(always)]
fn is_checked() -> bool {
    static UNCHECKED: AtomicBool = AtomicBool::new(false);
    #[cold]
    fn is_checked() -> bool {
        let is_checked = known().is_some();
        // Relaxed: nothing else is published by it.
        UNCHECKED.store(!is_checked, Ordering::Relaxed);
        is_checked
    }
    !UNCHECKED.load(Ordering::Relaxed) && is_checked()
}

/// Returns a new handle to the value.
pub(crate) fn new<H: Handle>(value: H::Value) -> *mut H {
    let free = H::slots().0.lock().pop();
    let slot: &'static Slot<H::Value> = free.unwrap_or_else(|| {
        let slot = Slot { tag: AtomicU32::new(FREED), value: UnsafeCell::new(MaybeUninit::uninit()) };
        let slot: &'static Slot<H::Value> = Box::leak(Box::new(slot));
        if let Some(known) = known() {
            known.lock().insert(std::ptr::from_ref(slot).addr());
        }
        slot
    });
    // SAFETY: nothing else has the slot while it is free.
    let value_place = unsafe { &mut *slot.value.get() };
    value_place.write(value);
    slot.tag.store(H::TAG, Ordering::Release);
    std::ptr::from_ref(slot).cast_mut().cast()
}

/// Names the memory of a handle.
pub(crate) fn hint<H: Handle>(handle: *mut H) -> Hint {
    Hint::new(handle.cast_const().cast(), size_of::<Slot<H::Value>>())
}

/// Puts a new handle where the caller wants it; without a place the value is dropped.
pub(crate) fn put<H: Handle>(place: Option<&mut *mut H>, argument: &str, value: H::Value) -> Result {
    let place = place.ok_or_else(|| Failure::null(argument))?;
    *place = new(value);
    Ok(())
}

/// Returns the slot behind a pointer of C, if a handle of the kind lives there.
#[inline(always)]
fn slot<'a, H: Handle>(handle: *const H, argument: &str) -> Result<&'a Slot<H::Value>> {
    if handle.is_null() || is_checked() || tag_of(handle.cast()) != H::TAG {
        check(handle.cast(), (H::TAG, H::NAME), argument)?;
    }
    // SAFETY: a slot of the kind, never unmapped.
    Ok(unsafe { &*handle.cast::<Slot<H::Value>>() })
}

/// Returns the tag of a slot of any kind.
#[inline(always)]
fn tag_of(slot: *const AtomicU32) -> u32 {
    // SAFETY: slots are never unmapped and begin with their tag, whatever their kind.
    unsafe { &*slot }.load(Ordering::Acquire)
}

/// Checks that a handle of the kind, which has this tag and name, lives behind the pointer.
#[cold]
#[inline(never)]
fn check(handle: *const AtomicU32, (tag, name): (u32, &str), argument: &str) -> Result {
    if handle.is_null() {
        return Err(Failure::null(argument));
    }
    // Where mistakes are looked for, this library knows the pointers that it returned.
    if known().is_some_and(|known| !known.lock().contains(&handle.addr())) {
        let sentence = format_args!("`{argument}` is no {name}: this library never returned the pointer");
        return Err(Failure::new(ErrorCode::InvalidHandle, sentence));
    }
    match tag_of(handle) {
        found if found == tag => Ok(()),
        found => Err(not_of_kind(found, argument, name)),
    }
}

#[cold]
fn not_of_kind(tag: u32, argument: &str, name: &str) -> Failure {
    let what = if tag == FREED {
        "was freed"
    } else {
        "is something else, or comes from a library of another version in this process"
    };
    Failure::new(ErrorCode::InvalidHandle, format_args!("`{argument}` is no {name}: it {what}"))
}

/// Returns the value of a handle. `argument` is its name in the function's declaration.
///
/// # Safety
/// The pointer is null, or came from this library; no thread frees it during `'a`.
#[inline(always)]
pub(crate) unsafe fn get<'a, H: Handle>(handle: *const H, argument: &str) -> Result<&'a H::Value> {
    let slot = slot(handle, argument)?;
    // SAFETY: it lives, and no thread frees it, as the caller says.
    let value = unsafe { &*slot.value.get() };
    // SAFETY: the tag says that there is one.
    Ok(unsafe { value.assume_init_ref() })
}

/// As [`get`], of a handle that may be left out.
///
/// # Safety
/// As of [`get`].
pub(crate) unsafe fn get_optional<'a, H: Handle>(
    handle: *const H,
    argument: &str,
) -> Result<Option<&'a H::Value>> {
    // SAFETY: as the caller says.
    (!handle.is_null()).then(|| unsafe { get(handle, argument) }).transpose()
}

/// Takes the value out of a handle, which ends. Of several threads that try, one succeeds.
///
/// # Safety
/// As of [`get`], and nothing uses the handle during the call.
pub(crate) unsafe fn take<H: Handle>(handle: *mut H, argument: &str) -> Result<H::Value> {
    let slot = slot(handle.cast_const(), argument)?;
    let swapped = slot.tag.compare_exchange(H::TAG, FREED, Ordering::AcqRel, Ordering::Relaxed);
    if swapped.is_err() {
        return Err(not_of_kind(FREED, argument, H::NAME));
    }
    // SAFETY: there was a value, and this thread alone changed the tag.
    let place = unsafe { &mut *slot.value.get() };
    let taken = std::mem::replace(place, MaybeUninit::uninit());
    // SAFETY: as above.
    let value = unsafe { taken.assume_init() };
    if !is_checked() {
        // SAFETY: slots are never unmapped.
        let slot: &'static Slot<H::Value> = unsafe { &*std::ptr::from_ref(slot) };
        H::slots().0.lock().push(slot);
    }
    Ok(value)
}

/// The body of every `.._free`: null does nothing.
///
/// # Safety
/// As of [`take`].
pub(crate) unsafe fn free<H: Handle>(handle: *mut H, argument: &str) {
    if handle.is_null() {
        return;
    }
    crate::status::answer((), || {
        // SAFETY: as the caller says.
        drop(unsafe { take(handle, argument) }?);
        Ok(())
    });
}

/// References that C holds as bare pointers, without a slot, as they come with every message. They
/// are counted only if mistakes are looked for.
pub(crate) struct References {
    name: &'static str,
    counts: Mutex<BTreeMap<usize, usize>>,
}

impl References {
    pub(crate) const fn new(name: &'static str) -> Self {
        Self { name, counts: Mutex::new(BTreeMap::new()) }
    }

    /// C gets one.
    #[inline(always)]
    pub(crate) fn add(&self, pointer: *const ()) {
        if is_checked() {
            *self.counts.lock().entry(pointer.addr()).or_default() += 1;
        }
    }

    /// C uses one.
    #[inline(always)]
    pub(crate) fn check(&self, pointer: *const (), argument: &str) -> Result {
        if pointer.is_null() {
            return Err(Failure::null(argument));
        }
        if !is_checked() || self.counts.lock().contains_key(&pointer.addr()) {
            return Ok(());
        }
        Err(self.unknown(argument))
    }

    /// C gives one back.
    #[inline(always)]
    pub(crate) fn remove(&self, pointer: *const (), argument: &str) -> Result {
        if pointer.is_null() {
            return Err(Failure::null(argument));
        }
        if is_checked() { self.remove_one(pointer, argument) } else { Ok(()) }
    }

    #[cold]
    fn remove_one(&self, pointer: *const (), argument: &str) -> Result {
        let mut counts = self.counts.lock();
        let Some(count) = counts.get_mut(&pointer.addr()) else { return Err(self.unknown(argument)) };
        *count -= 1;
        if *count == 0 {
            counts.remove(&pointer.addr());
        }
        Ok(())
    }

    #[cold]
    fn unknown(&self, argument: &str) -> Failure {
        let sentence = format_args!(
            "`{argument}` is no {}: it was freed or given away, or this library never returned the pointer",
            self.name
        );
        Failure::new(ErrorCode::InvalidHandle, sentence)
    }
}
