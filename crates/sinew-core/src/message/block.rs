//! Control blocks, pools, and the counted reference to both: where a message lies and how it is
//! released.
//!
//! # Purpose
//!
//! Every message has a *control block*: a reference count, the value's address, and how to release
//! it. The value lies right behind the block in the same allocation (`Storage::Inline`), in an
//! adopted box (`Storage::Boxed`), or in shared memory (`Storage::Foreign`), so no step of a
//! message's life moves it. Some messages exist only in encoded form (`Storage::Encoded`), which is
//! read where it lies. A publisher's [`Pool`] takes blocks back, so a steady flow allocates
//! nothing. (Count and release follow `std::sync::Arc`; see the "Atomics" chapter of the
//! Rustonomicon.)
//!
//! # Roles
//!
//! Any number of [`RawMessage`] references on any threads, the last of which releases the message;
//! one [`Pool`] per publisher, kept alive by the blocks it lent.
//!
//! # Who may touch which field
//!
//! | field | written by | read by |
//! |---|---|---|
//! | `references` | every reference, atomically | every reference |
//! | other fields of `Control` | the sole reference (count 1, acquired), or its pool | all |
//! | the value | the sole reference | every reference |
//!
//! # Sync points
//!
//! - B1 drop: `references - 1` (Release). Pairs with B2 and B3; carries every read of the value
//!   through this reference.
//! - B2 the dropper that saw 1: fence (Acquire). The reads of the other references happen before
//!   the value is dropped or pooled.
//! - B3 [`RawMessage::is_sole`]: `references == 1` (Acquire). The reads of the other references
//!   happen before the sole reference writes.
//! - B4 a pool's list is under its lock, which carries the block from the thread that released it
//!   to the one that gets it.
//! - B5 the block that came back last waits in a place of its own, outside the lock (`pool::Hot`):
//!   set there by compare-exchange (Release), taken by compare-exchange (Acquire), which carries it
//!   in the same way. A thread that takes it is its only owner: the exchange leaves nothing. The
//!   block keeps its reference to the pool there, so the pool lives until it is closed (B6); and a
//!   thread that has put a block there doesn't touch the pool any more.
//! - B6 closing: `is_closed` under the lock, then the places are closed (swap), which gives back
//!   what is in them. A block that comes home finds its place open, and is given back by the swap;
//!   or closed, and then finds `is_closed` under the lock: it saw the place closed after `is_closed`
//!   was set. So no block stays behind.
//! - B7 a block of an adopted value belongs to no pool. Between two values it is in the list of one
//!   thread ([`spare`]), or in the process's, under a lock which carries it from thread to thread.
//!
//! A block in the pool already has the count 1 and is `filled` if its value was kept. A thread that
//! dies between the steps takes the process with it: no other process shares this state.

mod pool;
mod spare;

use self::pool::Block;
pub(crate) use self::pool::{OwnPool, Pool};
use super::backing::{Backing, Encoded, LendsMemory, OwnBytes};
use super::type_support::{CloneInto, TypeSupport};
use crate::sys::panics::caught;
use crate::sys::sync::{Arc, AtomicUsize, Ordering, fence};
use sinew_msg::Message;
use std::alloc::{self, Layout};
use std::mem::{self, ManuallyDrop};
use std::ptr::{self, NonNull};
use std::sync::Weak;

/// The location of the value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Storage {
    /// Behind the control block, in its allocation.
    Inline,
    /// In a `Box` that was adopted.
    Boxed,
    /// In memory that the [`Backing`] behind the control block keeps alive. Only for types with
    /// values that need no `Drop`.
    Foreign,
    /// No value: there is only the encoded form, which the [`Backing`] behind the control block
    /// keeps alive. No handle gives access to a value of such a message: a caller that needs one
    /// [decodes](RawMessage::decode) it.
    Encoded,
}

/// A message's control block.
struct Control {
    /// Live references; 1 while the block is with its pool.
    references: AtomicUsize,
    /// The value: behind this block, or in the adopted box (dangling while a `Boxed` block is not
    /// `filled`).
    value: NonNull<u8>,
    /// The value's type.
    table: &'static TypeSupport,
    /// The pool to return to; `None` for a single allocation, and while the block is in one of its
    /// pool's lists.
    pool: Option<Arc<Pool>>,
    /// The next block in the pool's list, while this one is in it.
    next: Option<Block>,
    place: Storage,
    /// Whether there is a value at `value`.
    filled: bool,
    /// Whether the value stays in the block when it goes back to the pool (it was lent by `loan`,
    /// with all its reserved memory).
    keep: bool,
}

impl Control {
    /// Returns the layout of a block and the offset of the value in it.
    #[inline(always)] // in the library for C as well, which is optimised for size
    fn layout(table: &TypeSupport, place: Storage) -> (Layout, usize) {
        let control = Layout::new::<Control>();
        match place {
            Storage::Boxed => (control, 0),
            #[expect(clippy::expect_used, reason = "two small structs")]
            Storage::Foreign | Storage::Encoded => {
                control.extend(Layout::new::<Backing<RawMessage>>()).expect("fits the address space")
            }
            #[expect(
                clippy::expect_used,
                reason = "a type that leaves no room for this header can't have a value"
            )]
            Storage::Inline => {
                let (layout, offset) =
                    control.extend(table.layout).expect("a message fits the address space");
                // On a cache line of its own: a small message and its block are fetched, and
                // shared, together.
                (layout.align_to(64).expect("64 is a power of two"), offset)
            }
        }
    }

    /// Allocates a vacant block, of which the caller is the sole owner.
    fn allocate(table: &'static TypeSupport, place: Storage) -> NonNull<Control> {
        let (layout, offset) = Self::layout(table, place);
        // SAFETY: the layout has a size: it contains a `Control`.
        let memory = unsafe { alloc::alloc(layout) };
        let Some(memory) = NonNull::new(memory) else { alloc::handle_alloc_error(layout) };
        let value = match place {
            // SAFETY: `offset` is within, or one past, the allocation of `layout`.
            Storage::Inline => unsafe { memory.add(offset) },
            Storage::Boxed | Storage::Foreign | Storage::Encoded => NonNull::dangling(),
        };
        let control = memory.cast::<Control>();
        let vacant = Control {
            references: AtomicUsize::new(1),
            value,
            table,
            pool: None,
            next: None,
            place,
            filled: false,
            keep: false,
        };
        // SAFETY: the allocation begins with a place for a `Control`, aligned by its layout.
        unsafe { control.write(vacant) };
        control
    }

    /// Frees a block's memory; its value is gone or kept alive elsewhere.
    ///
    /// # Safety
    /// The caller is the sole owner of the block, obtained it from `allocate` and doesn't use it
    /// afterwards.
    unsafe fn free(control: NonNull<Control>) {
        // SAFETY: sole owner, so no other thread has a reference to the fields.
        let (table, place) = unsafe { (*control.as_ptr()).kind() };
        let (layout, _) = Self::layout(table, place);
        // SAFETY: the block was initialised by `allocate`, and is dropped once: its owner gives it
        // up here.
        unsafe { ptr::drop_in_place(control.as_ptr()) };
        // SAFETY: allocated by `allocate` with the layout of the same table and place.
        unsafe { alloc::dealloc(control.as_ptr().cast(), layout) };
    }

    fn kind(&self) -> (&'static TypeSupport, Storage) {
        (self.table, self.place)
    }

    /// Drops the value, if there is one, and its box.
    ///
    /// Marks the block vacant first: if the value's `drop` panics, it is not dropped again.
    #[inline]
    fn empty(&mut self) {
        if !mem::take(&mut self.filled) {
            return;
        }
        if self.place == Storage::Inline {
            // SAFETY: `filled` said there is a value of the table's type, and `&mut self` that no
            // other handle has it.
            unsafe { self.table.drop_value(self.value.as_ptr()) };
        } else {
            self.empty_elsewhere();
        }
    }

    /// Drops a value that lies outside the block, which is marked vacant, or what keeps its memory.
    #[inline(never)]
    fn empty_elsewhere(&mut self) {
        if self.place != Storage::Boxed {
            self.let_keep_go();
            return; // values of such types need no `Drop`; encoded bytes are no value
        }
        let _box = BoxMemory { value: self.value, table: self.table };
        // SAFETY: as in `empty`, its only caller; the box is freed even if this panics.
        unsafe { self.table.drop_value(self.value.as_ptr()) };
    }
}

impl Control {
    /// Whether there is a `Backing` behind the block.
    #[inline]
    fn has_keep(&self) -> bool {
        matches!(self.place, Storage::Foreign | Storage::Encoded)
    }

    /// Returns the address of the `Backing` of a foreign or encoded message's block.
    #[inline(always)] // in the library for C as well, which is optimised for size
    fn keep_at(&self) -> *mut Backing<RawMessage> {
        debug_assert!(self.has_keep());
        let (_, offset) = Self::layout(self.table, self.place);
        // SAFETY: the block was allocated with this layout, in which the `Backing` stands at this
        // offset.
        unsafe { ptr::from_ref(self).cast_mut().byte_add(offset) }.cast()
    }

    /// Drops the backing of a filled foreign block.
    fn let_keep_go(&mut self) {
        // SAFETY: a filled block of these places has one (`RawMessage::kept_by`); the caller
        // cleared `filled`.
        unsafe { ptr::drop_in_place(self.keep_at()) };
    }

    /// Marks the block vacant after the value was moved out, and frees what is left.
    fn vacate(&mut self) {
        self.filled = false;
        match self.place {
            Storage::Boxed => drop(BoxMemory { value: self.value, table: self.table }),
            Storage::Foreign | Storage::Encoded => self.let_keep_go(),
            Storage::Inline => {}
        }
    }
}

/// The memory of an adopted box, without its value.
struct BoxMemory {
    value: NonNull<u8>,
    table: &'static TypeSupport,
}

impl Drop for BoxMemory {
    fn drop(&mut self) {
        let TypeSupport { layout, free, context, .. } = self.table;
        if let Some(free) = free {
            // SAFETY: the memory of an adopted value of the table's type, which is gone.
            unsafe { free(context.0, self.value.as_ptr()) };
        } else if layout.size() != 0 {
            // SAFETY: the memory of a `Box` comes from the global allocator with the layout of its
            // type.
            unsafe { alloc::dealloc(self.value.as_ptr(), *layout) };
        }
    }
}

/// One counted reference to a message of any type; the last one releases it.
///
/// [`Unique`](super::Unique) and [`Shared`](super::Shared) are this with a type and a promise.
pub(crate) struct RawMessage(NonNull<Control>);

// SAFETY: a reference gives access to a `T: Message`, which is `Send + Sync`, and to a count that
// is atomic; only the sole reference writes the other fields (module documentation, "Who may touch
// which field").
unsafe impl Send for RawMessage {}
// SAFETY: as above.
unsafe impl Sync for RawMessage {}

impl RawMessage {
    /// Creates a message in an allocation of its own, outside any pool.
    pub(crate) fn new<T: Message>(value: T) -> Self {
        Self::vacant(TypeSupport::of::<T>()).fill(value)
    }

    /// Adopts a box where it lies, with a [spare] control block.
    pub(crate) fn adopt<T: Message>(value: Box<T>) -> Self {
        let value = NonNull::from(Box::leak(value)).cast();
        // SAFETY: a value of the table's type, in the memory of a box.
        unsafe { Self::adopt_raw(TypeSupport::of::<T>(), value) }
    }

    /// Makes a block for a message in an allocation of its own, outside any pool.
    pub(crate) fn vacant(table: &'static TypeSupport) -> Vacant {
        Vacant(ManuallyDrop::new(RawMessage(Control::allocate(table, Storage::Inline))))
    }

    /// Adopts a value where it lies, with a [spare] control block.
    ///
    /// # Safety
    /// At `value` is a valid value of the table's type, and nothing else owns it. Its memory can be
    /// freed as the table says ([`TypeSupport::free`]).
    pub(crate) unsafe fn adopt_raw(table: &'static TypeSupport, value: NonNull<u8>) -> Self {
        let block = spare::take().unwrap_or_else(|| Block(Control::allocate(table, Storage::Boxed)));
        let mut vacant = Vacant(ManuallyDrop::new(RawMessage(ManuallyDrop::new(block).0)));
        let control = vacant.0.control_mut();
        debug_assert!(control.place == Storage::Boxed && !control.filled);
        control.table = table;
        control.value = value;
        vacant.done(false)
    }

    /// Returns the adopted value, which then belongs to the caller together with its memory.
    ///
    /// # Errors
    /// Returns the message if its value was not adopted, or if this is not the only reference.
    pub(crate) fn into_adopted(mut self) -> Result<NonNull<u8>, Self> {
        if !self.is_adopted() {
            return Err(self);
        }
        let value = self.value();
        self.control_mut().filled = false;
        let message = ManuallyDrop::new(self);
        spare::put(Block(message.0));
        Ok(value)
    }

    /// Whether [`into_adopted`](Self::into_adopted) would return the value.
    pub(crate) fn is_adopted(&self) -> bool {
        self.is_sole() && self.control().place == Storage::Boxed
    }

    /// Whether both refer to the same message.
    pub(crate) fn ptr_eq(one: &Self, other: &Self) -> bool {
        one.0 == other.0
    }

    /// Returns the reference as a pointer, which keeps it.
    pub(crate) fn into_raw(self) -> NonNull<()> {
        ManuallyDrop::new(self).0.cast()
    }

    /// Returns the reference that the pointer keeps.
    ///
    /// # Safety
    /// The pointer comes from [`into_raw`](Self::into_raw), and gives up its reference here.
    pub(crate) unsafe fn from_raw(raw: NonNull<()>) -> Self {
        Self(raw.cast())
    }

    fn control(&self) -> &Control {
        // SAFETY: a reference keeps its block alive, and `&self` forbids the writes of
        // `control_mut`.
        unsafe { self.0.as_ref() }
    }

    /// Returns the block's fields, for its sole owner.
    fn control_mut(&mut self) -> &mut Control {
        debug_assert!(self.is_sole());
        // SAFETY: every caller holds the sole reference: a vacant block, or the last one (B2, B3).
        unsafe { self.0.as_mut() }
    }

    pub(crate) fn table(&self) -> &'static TypeSupport {
        self.control().table
    }

    /// Returns the value's address, which doesn't change while any reference lives.
    #[inline]
    pub(crate) fn value(&self) -> NonNull<u8> {
        self.control().value
    }

    /// Returns another reference to the same message.
    #[inline]
    pub(crate) fn another(&self) -> Self {
        // Relaxed: the new reference comes from a live one, so the count doesn't have to publish
        // anything.
        let before = self.control().references.fetch_add(1, Ordering::Relaxed);
        if before > isize::MAX as usize {
            std::process::abort(); // as `Arc` does: only leaking references gets here, and wrapping would free too early
        }
        Self(self.0)
    }

    /// Whether this is the only reference (and so stays it, since another one can only come from
    /// this one).
    #[inline]
    pub(crate) fn is_sole(&self) -> bool {
        // B3: Acquire; pairs with B1: the reads through references that are gone happen before this
        // thread's writes.
        self.control().references.load(Ordering::Acquire) == 1
    }

    /// Whether this is the only reference, and no other process reads the message: then its holder
    /// may own it.
    #[inline]
    pub(crate) fn is_ownable(&self) -> bool {
        self.is_sole() && !(self.control().has_keep() && self.is_read_elsewhere())
    }

    #[cold]
    fn is_read_elsewhere(&self) -> bool {
        !matches!(self.keep(), Some(Backing::Loan(_) | Backing::Own(_)))
    }

    /// Records the lender that should provide the memory of the maker's next messages. Does nothing
    /// if its block belongs to no pool.
    #[cold]
    pub(crate) fn is_wanted_by(&self, lends: Weak<dyn LendsMemory>) {
        if let Some(pool) = &self.control().pool {
            *pool.wanted_by.lock() = Some(lends);
        }
    }

    /// Creates a message from a value in shared memory, with a control block from `pool`, made by
    /// [`Pool::for_foreign`].
    ///
    /// # Safety
    /// At `value` is a valid value of the pool's type, which needs no `Drop`; it stays there while
    /// `keep` lives, and changes only through this message.
    pub(crate) unsafe fn foreign(pool: &Arc<Pool>, keep: Backing<Self>, value: NonNull<u8>) -> Self {
        let mut vacant = pool.vacant();
        vacant.0.control_mut().value = value;
        Self::kept_by(vacant, keep, false)
    }

    /// Creates a message of the pool's type from one in encoded form, with bytes that are valid for
    /// this type as well: they stay where they are.
    pub(crate) fn encoded_same_as(pool: &Arc<Pool>, message: &Self) -> Self {
        debug_assert!(message.is_encoded());
        let origin = match message.keep() {
            Some(Backing::Message(origin)) => origin, // so a relay makes no chain
            _ => message,
        };
        Self::encoded_kept_by(pool, Backing::Message(origin.another()))
    }

    /// Creates a message in encoded form, with a control block from `pool`, made by
    /// [`Pool::for_encoded`].
    pub(crate) fn encoded_kept_by(pool: &Arc<Pool>, keep: Backing<Self>) -> Self {
        debug_assert!(pool.place == Storage::Encoded);
        Self::kept_by(pool.vacant(), keep, false)
    }

    /// The same, with `length` encoded bytes in ordinary memory. The block keeps that memory when
    /// it goes home, so its bytes may be those of an earlier message. Returns `None` if there is no
    /// memory.
    pub(crate) fn own_encoded(pool: &Arc<Pool>, length: usize) -> Option<Self> {
        debug_assert!(pool.place == Storage::Encoded);
        let mut message = match pool.kept() {
            Some(block) => block.lend(pool),
            None => Self::kept_by(pool.vacant(), Backing::Own(OwnBytes::default()), true),
        };
        if let Some(Backing::Own(encoded)) = message.keep_mut() {
            encoded.resize(length)?;
        }
        Some(message)
    }

    /// Moves an encoded message, of which this is the sole reference, to a block of another type
    /// with the same encoded form. The bytes stay where they are; the old block goes home empty.
    pub(crate) fn into_encoded_of(mut self, table: &'static TypeSupport) -> Self {
        debug_assert!(self.is_encoded());
        let control = self.control_mut(); // of the sole reference
        control.filled = false;
        // SAFETY: a filled block of an encoded message has a backing, which is read once, as
        // `filled` no longer claims it.
        let keep = unsafe { control.keep_at().read() };
        Self::encoded_kept_by(&Pool::for_encoded(table, 0), keep)
    }

    fn kept_by(mut vacant: Vacant, keep: Backing<Self>, stays: bool) -> Self {
        let at = vacant.0.control_mut().keep_at();
        // SAFETY: the block is vacant and owned here: nothing is there.
        unsafe { at.write(keep) };
        vacant.done(stays)
    }

    /// Whether the message exists only in encoded form.
    #[inline]
    pub(crate) fn is_encoded(&self) -> bool {
        self.control().place == Storage::Encoded
    }

    /// Returns the encoded form, if the message has no value.
    #[inline]
    pub(crate) fn encoded(&self) -> Option<&[u8]> {
        if self.is_encoded() { self.keep().map(Backing::bytes) } else { None }
    }

    /// Returns the encoded form for writing, if the message has no value and no other reader can
    /// see it.
    #[inline(always)] // in the library for C as well, which is optimised for size
    pub(crate) fn encoded_mut(&mut self) -> Option<&mut [u8]> {
        if self.is_encoded() { self.keep_mut()?.bytes_mut() } else { None }
    }

    /// Cuts the encoded form to its first `length` bytes, under the same conditions as
    /// [`encoded_mut`](Self::encoded_mut).
    pub(crate) fn truncate_encoded(&mut self, length: usize) {
        if self.is_encoded()
            && let Some(keep) = self.keep_mut()
        {
            keep.truncate(length);
        }
    }

    /// Returns the value, if there is one and it is of this type.
    pub(crate) fn value_of<T: Message>(&self) -> Option<&T> {
        if self.is_encoded() || !self.table().is(TypeSupport::of::<T>()) {
            return None;
        }
        // SAFETY: the table is the message's own, and that of a `T`; it isn't encoded, so there is
        // a value. The reference keeps the message alive, and only its exclusive owner writes it.
        Some(unsafe { self.value().cast::<T>().as_ref() })
    }

    /// Returns the stamp in nanoseconds of a message with a header. (In encoded form, only if the
    /// message begins with the header.)
    pub(crate) fn header_stamp(&self) -> Option<i64> {
        if let Some(encoded) = self.encoded() {
            return self.table().stamp_in(encoded);
        }
        // SAFETY: the table is the message's own, and it isn't encoded: there is a value.
        unsafe { self.table().stamp_of(self.value().as_ptr()) }
    }

    /// Returns the length of its encoded form in bytes; `None` if its type has none.
    pub(crate) fn encoded_length(&self) -> Option<usize> {
        if let Some(encoded) = self.encoded() {
            return Some(encoded.len());
        }
        // SAFETY: the table is the message's own, and it isn't encoded: there is a value.
        unsafe { self.table().encoded_size(self.value().as_ptr()) }
    }

    /// Writes its encoded form, which fills `to`.
    pub(crate) fn write_encoded(&self, to: &mut [u8]) {
        if let Some(encoded) = self.encoded() {
            to.copy_from_slice(encoded);
        } else {
            // SAFETY: as in `encoded_length`.
            unsafe { self.table().encode(self.value().as_ptr(), to) };
        }
    }

    /// Returns the backing of a message that lies in shared memory or is in encoded form.
    pub(crate) fn keep(&self) -> Option<&Backing<Self>> {
        let control = self.control();
        if !control.has_keep() {
            return None;
        }
        // SAFETY: a message is filled, so there is one (`kept_by`); it changes only through the
        // sole reference (`keep_mut`).
        Some(unsafe { &*control.keep_at() })
    }

    /// The same, for the sole reference.
    pub(crate) fn keep_mut(&mut self) -> Option<&mut Backing<Self>> {
        let control = self.control_mut();
        if !control.has_keep() {
            return None;
        }
        // SAFETY: as in `keep`, and `control_mut` takes the sole reference.
        Some(unsafe { &mut *control.keep_at() })
    }

    /// Decodes a message into a block of `pool`: over the kept value of an earlier message, if
    /// there is one. A panic of the type's function becomes an error, as the thread may be one that
    /// other messages need; the value that it was replacing is neither used nor dropped any more.
    pub(crate) fn decode(pool: &Arc<Pool>, encoded: &[u8]) -> Result<Self, sinew_msg::DecodeError> {
        let Some(functions) = &pool.table.encoded else {
            return Err(sinew_msg::DecodeError::Truncated {
                type_name: pool.table.name(),
                field: "",
                length: encoded.len(),
                needed: usize::MAX,
            });
        };
        let panicked = |_| sinew_msg::DecodeError::Invalid {
            type_name: pool.table.name(),
            field: "message",
            offset: 0,
            problem: "the type's decode function panicked",
        };
        let context = pool.table.context.0;
        if let Some(block) = pool.kept() {
            let mut message = block.lend(pool);
            let value = message.value().as_ptr();
            // SAFETY: a filled block of the pool's type, of which this is the sole reference.
            let decoded = caught(|| unsafe { (functions.decode)(context, encoded, value, true) });
            // The block of a value that was left half replaced goes home vacant.
            decoded.inspect_err(|_| message.control_mut().filled = false).map_err(panicked)??;
            return Ok(message);
        }
        let vacant = pool.vacant();
        let place = vacant.0.value().as_ptr();
        // SAFETY: a vacant block of the pool's type; if decoding fails, it stays vacant and goes
        // home.
        caught(|| unsafe { (functions.decode)(context, encoded, place, false) }).map_err(panicked)??;
        Ok(vacant.done(true))
    }

    /// Decodes an encoded message into a block of `pool`, made by [`Pool::of_table`] for the type.
    pub(crate) fn decoded(&self, pool: &Arc<Pool>) -> Result<Self, sinew_msg::DecodeError> {
        Self::decode(pool, self.encoded().unwrap_or_default())
    }

    /// Copies the message into a block of `pool`.
    ///
    /// # Safety
    /// `clone` was made for the type of this message, and `pool` by [`Pool::of_table`] for the same
    /// type.
    pub(crate) unsafe fn duplicate(&self, clone: CloneInto, pool: &Arc<Pool>) -> Self {
        let vacant = pool.vacant();
        let to = vacant.0.value().as_ptr();
        // SAFETY: the types agree (caller), the source is alive through `self`, the place is vacant
        // and owned here. If the clone panics, `vacant` takes the block back to the pool.
        unsafe { clone.copy(self.value().as_ptr(), to) };
        vacant.done(false)
    }

    /// Takes the value out; the block goes home empty.
    ///
    /// # Safety
    /// The message is a `T`, and this is its sole reference.
    pub(crate) unsafe fn into_value<T>(mut self) -> T {
        // SAFETY: the caller promises that it is a `T`, and `self` keeps it alive; it is read once,
        // as `filled` is cleared below.
        let value = unsafe { self.value().cast::<T>().read() };
        self.control_mut().vacate();
        value
    }

    /// Returns the adopted box, or a new one with the value moved into it.
    ///
    /// # Safety
    /// As for [`into_value`](Self::into_value).
    pub(crate) unsafe fn into_box<T>(mut self) -> Box<T> {
        let control = self.control_mut();
        if control.place == Storage::Boxed && mem::take(&mut control.filled) {
            let value = control.value.cast::<T>();
            // SAFETY: it came from `Box::leak` in `adopt` with this type, and `filled` no longer
            // claims it.
            return unsafe { Box::from_raw(value.as_ptr()) };
        }
        // SAFETY: passed on from the caller.
        Box::new(unsafe { self.into_value() })
    }

    /// Moves the value into a block of `pool`, so that its old block goes home at once. The address
    /// changes.
    ///
    /// # Safety
    /// This is the sole reference, and `pool` was made by [`Pool::of_table`] for the same type.
    pub(crate) unsafe fn move_into(mut self, pool: &Arc<Pool>) -> Self {
        let vacant = pool.vacant();
        let (from, size) = (self.value(), self.table().layout.size());
        // SAFETY: both are places for `size` bytes of the same type, in different blocks; a move is
        // a copy of the bytes after which the source is not used: `filled` is cleared below.
        unsafe { ptr::copy_nonoverlapping(from.as_ptr(), vacant.0.value().as_ptr(), size) };
        self.control_mut().vacate();
        vacant.done(false)
    }

    /// Frees a block, or keeps it for the next adopted value.
    fn free(block: Block) {
        // SAFETY: called for blocks of which the caller is the sole owner and that have no pool.
        if unsafe { block.0.as_ref() }.place == Storage::Boxed {
            return spare::put(block);
        }
        // SAFETY: as above; the caller gives it up.
        unsafe { Control::free(ManuallyDrop::new(block).0) }
    }

    #[inline(never)]
    pub(crate) fn let_go(&mut self) {
        let block = self.0;
        let control = self.control_mut();
        let leaving = Leaving(block);
        if control.filled && !(control.keep && control.pool.is_some()) {
            control.empty(); // runs the program's `Drop`, which may panic
        }
        drop(leaving);
    }
}

/// A block without a reference: it goes home, or is freed, even if its value's `drop` panics.
struct Leaving(NonNull<Control>);

impl Drop for Leaving {
    #[inline]
    fn drop(&mut self) {
        Pool::take_back(Block(self.0));
    }
}

impl Encoded for RawMessage {
    fn bytes(&self) -> &[u8] {
        self.encoded().unwrap_or_default()
    }
}

impl Drop for RawMessage {
    #[inline]
    fn drop(&mut self) {
        if !self.is_sole() {
            // B1: Release; pairs with B2 and B3; carries this reference's reads of the value.
            if self.control().references.fetch_sub(1, Ordering::Release) != 1 {
                return;
            }
            // B2: Acquire; pairs with B1 of the references dropped before.
            fence(Ordering::Acquire);
            // No other thread can see it any more; the block goes home with the count that a lent
            // one starts with.
            self.control().references.store(1, Ordering::Relaxed);
        }
        self.let_go();
    }
}

/// A block without a value, about to become a message. Dropping it returns the block.
pub(crate) struct Vacant(ManuallyDrop<RawMessage>);

impl Vacant {
    pub(crate) fn table(&self) -> &'static TypeSupport {
        self.0.table()
    }

    /// Returns the place of the value.
    pub(crate) fn place(&self) -> NonNull<u8> {
        self.0.value()
    }

    /// Returns the message.
    ///
    /// # Safety
    /// A value of the block's type was written to its place.
    pub(crate) unsafe fn assume_filled(self) -> RawMessage {
        self.done(false)
    }

    fn fill<T: Message>(self, value: T) -> RawMessage {
        debug_assert!(self.0.table().holds::<T>());
        // SAFETY: the block was made for a `T` (its table), and there is no value in it.
        unsafe { self.0.value().cast::<T>().write(value) };
        self.done(false)
    }

    /// Marks the value as written: from now on this is a message.
    fn done(mut self, keep: bool) -> RawMessage {
        let control = self.0.control_mut();
        control.filled = true;
        control.keep = keep;
        // SAFETY: `self` is forgotten below, so the reference is taken out once.
        let message = unsafe { ManuallyDrop::take(&mut self.0) };
        mem::forget(self);
        message
    }
}

impl Drop for Vacant {
    fn drop(&mut self) {
        // SAFETY: only `done` takes the reference out, and it forgets `self`.
        unsafe { ManuallyDrop::drop(&mut self.0) };
    }
}

/// Names the code that every reference runs through when it is released.
pub(crate) fn code(name: &mut dyn FnMut(usize, usize)) {
    name(RawMessage::let_go as *const () as usize, 5);
    name(Pool::take_back as *const () as usize, 8);
    name(RawMessage::adopt_raw as *const () as usize, 5);
    name(RawMessage::into_adopted as *const () as usize, 5);
}
