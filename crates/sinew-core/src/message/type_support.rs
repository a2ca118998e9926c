//! The properties of a message type that the type-erased core needs.

use sinew_msg::cdr::{Decoder, Field};
use sinew_msg::description::{ConstDescription, Nested, TypeDescription};
use sinew_msg::{DecodeError, Encoding, Message, TypeHash};
use std::alloc::Layout;
use std::any::TypeId;
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};
use std::sync::OnceLock;

/// One per message type, in static memory: made by the compiler for a Rust type, at run time for a
/// type known by name and hash only ([`generic`](super::generic)), and for a type of another
/// language ([`registered`](super::registered)).
///
/// Every function takes the type's context first, which Rust types don't need.
pub(crate) struct TypeSupport {
    /// Size and alignment of a value.
    pub(crate) layout: Layout,
    pub(crate) context: Context,
    /// Drops a value in place; `None` if there is nothing to be done.
    pub(crate) drop: Option<DropValue>,
    /// Frees the memory of an adopted value that was dropped. `None`: an adopted value is a box,
    /// with memory of the global allocator. (Without it, values of a registered type aren't
    /// adopted.)
    pub(crate) free: Option<DropValue>,
    /// Makes a first value of a block that a publisher lends; `None` if the core can't, or a Rust
    /// type does it by itself.
    pub(crate) create: Option<CreateValue>,
    /// Makes a copy; `None` for Rust types, as only endpoints that need `Clone` require it.
    pub(crate) clone: Option<CloneInto>,
    identity: Identity,
    name: TypeName,
    hash: Option<TypeHash>,
    description: Option<&'static ConstDescription>,
    /// Returns the stamp of a value in nanoseconds; `None` if the type has none.
    pub(crate) stamp: Option<StampOf>,
    /// Conversions between values and encoded form; `None` for a type that stays in the process.
    pub(crate) encoded: Option<EncodingFunctions>,
}

/// The pointer that a type's functions get first.
#[derive(Clone, Copy)]
pub(crate) struct Context(pub(crate) *const ());

// SAFETY: the core only passes it on. The pointer of a type of another language may be used on any
// thread, also by several at once (contract of `registered::MessageType::register`); that of a Rust
// type is null.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

impl Context {
    const NONE: Self = Self(ptr::null());
}

/// Drops the value at the pointer, or frees its memory.
///
/// # Safety
/// The context is the type's. The pointer is to an initialised value of the type, or, for
/// [`TypeSupport::free`], to the memory of an adopted one; it belongs to the caller and isn't used
/// afterwards.
pub(crate) type DropValue = unsafe fn(context: *const (), value: *mut u8);

/// Makes a value.
///
/// # Safety
/// The context is the type's; the pointer is to an uninitialised place for a value of the type that
/// belongs to the caller alone.
pub(crate) type CreateValue = unsafe fn(context: *const (), place: *mut u8);

/// Returns a value's stamp in nanoseconds.
///
/// # Safety
/// The context is the type's; the pointer is to a value of the type.
pub(crate) type StampOf = unsafe fn(context: *const (), value: *const u8) -> i64;

/// Copies a value to a place.
///
/// # Safety
/// The context is the type's; `from` is a value of the type, `place` an uninitialised place for one
/// that belongs to the caller alone.
pub(crate) type CloneValue = unsafe fn(context: *const (), from: *const u8, place: *mut u8);

/// The identity of a type: only endpoints of the same type exchange pointers.
#[derive(Clone, Copy)]
enum Identity {
    /// The Rust type. (The address of its table is no identity: the compiler may make several.)
    Rust(TypeId),
    /// This table's address, of which there is one per name and hash; values are of this Rust type.
    Generic(TypeId),
    /// This table's address; values are no Rust values.
    Registered,
}

/// A type's name.
enum TypeName {
    /// A function that returns it, since a constant can't.
    OfRust(fn() -> &'static str),
    /// The name and description of a type that is known at run time only.
    Generic(&'static str, &'static OnceLock<TypeDescription>),
}

/// The functions of [`Encoding`](sinew_msg::Encoding), without the type. Their context is the
/// type's.
#[derive(Clone, Copy)]
pub(crate) struct EncodingFunctions {
    /// Returns the length of a value's encoded form in bytes.
    ///
    /// # Safety
    /// The pointer is to a value of the type.
    pub(crate) size: unsafe fn(*const (), *const u8) -> usize,
    /// Encodes a value into the slice, which it fills.
    ///
    /// # Safety
    /// As for `size`.
    pub(crate) encode: unsafe fn(*const (), *const u8, &mut [u8]),
    /// Decodes a value: over the existing one if the flag is set, otherwise into the uninitialised
    /// place, which stays so after an error.
    ///
    /// # Safety
    /// The pointer is to a place for a value of the type that belongs to the caller alone, and that
    /// holds a value if the flag is set.
    pub(crate) decode: unsafe fn(*const (), &[u8], *mut u8, bool) -> Result<(), DecodeError>,
    /// Whether a value's bytes are its encoded form, except for the header.
    pub(crate) is_plain: bool,
}

/// The parts of a type of another language that are not Rust's.
pub(crate) struct RegisteredParts {
    pub(crate) name: &'static str,
    pub(crate) hash: Option<TypeHash>,
    pub(crate) description: &'static OnceLock<TypeDescription>,
    pub(crate) layout: Layout,
    pub(crate) context: Context,
    pub(crate) drop: Option<DropValue>,
    pub(crate) free: Option<DropValue>,
    pub(crate) create: Option<CreateValue>,
    pub(crate) clone: Option<CloneValue>,
    pub(crate) stamp: Option<StampOf>,
    pub(crate) encoded: Option<EncodingFunctions>,
}

impl TypeSupport {
    /// Returns the ROS 2 type name, or the Rust name of a type that stays in the process.
    pub(crate) fn name(&self) -> &'static str {
        match self.name {
            TypeName::OfRust(name) => name(),
            TypeName::Generic(name, _) => name,
        }
    }

    /// Returns name and hash, for log lines that explain why two types are not the same.
    pub(crate) fn describe(&self) -> String {
        match self.hash {
            Some(hash) => format!("{} ({hash})", self.name()),
            None => self.name().to_owned(),
        }
    }

    /// Returns the hash of its description.
    pub(crate) fn hash(&self) -> Option<TypeHash> {
        self.hash
    }

    /// Returns the description that other processes need to read its encoded messages, if it is
    /// known. A description with another hash is of another type, and isn't returned.
    pub(crate) fn description(&self) -> Option<TypeDescription> {
        self.described().filter(|description| Some(description.hash()) == self.hash)
    }

    /// The same, unchecked: for parts of a description that is checked as a whole, since hashing
    /// takes time.
    pub(crate) fn described(&self) -> Option<TypeDescription> {
        match &self.name {
            TypeName::Generic(_, description) => description.get().cloned(),
            TypeName::OfRust(_) => self.description?.describe(),
        }
    }

    /// Whether subscriptions of one type can take messages of the other: as they are, or by their
    /// encoded form.
    pub(crate) fn exchanges_with(&self, other: &Self) -> bool {
        let by_encoded = || {
            self.encoded.is_some()
                && other.encoded.is_some()
                && self.hash == other.hash
                && self.name() == other.name()
        };
        self.is(other) || by_encoded()
    }

    /// Whether the type is known by name and hash only.
    pub(crate) fn is_generic(&self) -> bool {
        matches!(self.identity, Identity::Generic(_))
    }

    /// Whether values of the type can be adopted: their memory can be freed.
    pub(crate) fn adopts(&self) -> bool {
        self.free.is_some() || matches!(self.identity, Identity::Rust(_))
    }

    /// Whether both are the same type, held in the same way.
    pub(crate) fn is(&self, other: &Self) -> bool {
        match (self.identity, other.identity) {
            (Identity::Rust(one), Identity::Rust(another)) => one == another,
            _ => ptr::eq(self, other),
        }
    }

    /// Whether its values are `T`s.
    pub(crate) fn holds<T: Message>(&self) -> bool {
        match self.identity {
            Identity::Rust(held) | Identity::Generic(held) => held == TypeId::of::<T>(),
            Identity::Registered => false,
        }
    }

    /// Drops a value in place.
    ///
    /// # Safety
    /// The pointer is to an initialised value of the type, owned by the caller and not used
    /// afterwards.
    #[inline]
    pub(crate) unsafe fn drop_value(&self, value: *mut u8) {
        if let Some(drop) = self.drop {
            // SAFETY: the context is the table's; the rest is the caller's promise.
            unsafe { drop(self.context.0, value) }
        }
    }

    /// Returns the stamp of a value in nanoseconds, if the type has one.
    ///
    /// # Safety
    /// The pointer is to a value of the type.
    pub(crate) unsafe fn stamp_of(&self, value: *const u8) -> Option<i64> {
        // SAFETY: as in `drop_value`.
        self.stamp.map(|stamp| unsafe { stamp(self.context.0, value) })
    }

    /// Returns the length of a value's encoded form in bytes, if it can have one.
    ///
    /// # Safety
    /// The pointer is to a value of the type.
    pub(crate) unsafe fn encoded_size(&self, value: *const u8) -> Option<usize> {
        // SAFETY: as in `drop_value`.
        self.encoded.as_ref().map(|encoded| unsafe { (encoded.size)(self.context.0, value) })
    }

    /// Encodes a value into the slice, which it fills, if it can have an encoded form.
    ///
    /// # Safety
    /// The pointer is to a value of the type.
    pub(crate) unsafe fn encode(&self, value: *const u8, to: &mut [u8]) {
        if let Some(encoded) = &self.encoded {
            // SAFETY: as in `drop_value`.
            unsafe { (encoded.encode)(self.context.0, value, to) }
        }
    }

    /// Returns the stamp in an encoded message; `None` also if the type doesn't begin with its
    /// header, since its position then varies.
    pub(crate) fn stamp_in(&self, encoded: &[u8]) -> Option<i64> {
        // The header's stamp comes first: seconds and nanoseconds.
        let mut decoder = Decoder::new(encoded, self.name()).ok().filter(|_| self.begins_with_header())?;
        let (seconds, nanoseconds) = (i32::decode(&mut decoder).ok()?, u32::decode(&mut decoder).ok()?);
        Some(i64::from(seconds) * 1_000_000_000 + i64::from(nanoseconds))
    }

    fn begins_with_header(&self) -> bool {
        const HEADER: &str = "std_msgs/msg/Header";
        /// A nested type, alone: `FieldType.msg` of ROS 2's type descriptions.
        const NESTED: u8 = 1;
        match &self.name {
            TypeName::OfRust(_) => {
                self.description.and_then(|known| known.fields.first()).is_some_and(|(name, first)| {
                    *name == "header"
                        && matches!(first.nested, Nested::Structure(header) if header.name == HEADER)
                })
            }
            TypeName::Generic(_, description) => {
                let first = description.get().and_then(|known| known.type_description.fields.first());
                first.is_some_and(|first| {
                    let of = &first.field_type;
                    first.name == "header" && of.type_id == NESTED && of.nested_type_name == HEADER
                })
            }
        }
    }

    /// Whether a value may lie at this address.
    #[inline]
    pub(crate) fn is_aligned(&self, value: NonNull<u8>) -> bool {
        // A mask instead of the remainder, which takes a division: an alignment is a power of two.
        value.addr().get() & (self.layout.align() - 1) == 0
    }

    /// Whether its values can be written and read in place.
    pub(crate) fn is_plain(&self) -> bool {
        self.encoded.as_ref().is_some_and(|encoded| encoded.is_plain)
    }

    /// Creates the table of a type that is known by name and hash only; its description may be
    /// given later. Its messages are `T`, which defines how they are held and is itself no ROS 2
    /// type.
    pub(crate) fn generic<T: Message>(
        (name, hash): (&'static str, TypeHash),
        description: &'static OnceLock<TypeDescription>,
    ) -> Self {
        let identity = Identity::Generic(TypeId::of::<T>());
        Self { name: TypeName::Generic(name, description), hash: Some(hash), identity, ..T::TABLE }
    }

    /// Creates the table of a type of another language.
    pub(crate) fn registered(parts: RegisteredParts) -> Self {
        let RegisteredParts { name, hash, description, layout, context, .. } = parts;
        Self {
            layout,
            context,
            drop: parts.drop,
            free: parts.free,
            create: parts.create,
            clone: parts.clone.map(|call| CloneInto { call, context }),
            identity: Identity::Registered,
            name: TypeName::Generic(name, description),
            hash,
            description: None,
            stamp: parts.stamp,
            encoded: parts.encoded,
        }
    }

    /// Returns the table of `T`.
    pub(crate) fn of<T: Message>() -> &'static TypeSupport {
        const { &<T as HasTypeSupport>::TABLE }
    }
}

trait HasTypeSupport: Message {
    const TABLE: TypeSupport;
}

impl<T: Message> HasTypeSupport for T {
    const TABLE: TypeSupport = TypeSupport {
        layout: Layout::new::<T>(),
        context: Context::NONE,
        drop: if std::mem::needs_drop::<T>() { Some(drop_value::<T>) } else { None },
        free: None,
        create: None,
        clone: None,
        identity: Identity::Rust(TypeId::of::<T>()),
        name: TypeName::OfRust(|| {
            T::ENCODING.map_or_else(std::any::type_name::<T>, |encoding| encoding.name)
        }),
        hash: match T::ENCODING {
            Some(encoding) => Some(encoding.hash),
            None => None,
        },
        description: match T::ENCODING {
            Some(encoding) => encoding.description,
            None => None,
        },
        stamp: match T::ENCODING {
            Some(encoding) if encoding.stamp.is_some() => Some(stamp_of::<T>),
            _ => None,
        },
        encoded: match T::ENCODING {
            Some(encoding) => Some(EncodingFunctions {
                size: encoded_size::<T>,
                encode: encode::<T>,
                decode: decode::<T>,
                is_plain: encoding.plain.is_some() && !std::mem::needs_drop::<T>(),
            }),
            None => None,
        },
    };
}

#[expect(clippy::expect_used, reason = "only in the tables of types that have one")]
fn encoding<T: Message>() -> &'static sinew_msg::Encoding<T> {
    T::ENCODING.expect("a type with an encoding")
}

unsafe fn encoded_size<T: Message>(_: *const (), value: *const u8) -> usize {
    // SAFETY: the caller promises a `T`.
    (encoding::<T>().size)(unsafe { &*value.cast::<T>() })
}

#[expect(clippy::expect_used, reason = "only in the tables of types that have one")]
unsafe fn stamp_of<T: Message>(_: *const (), value: *const u8) -> i64 {
    // SAFETY: the caller promises a `T`.
    (encoding::<T>().stamp.expect("a type with a stamp"))(unsafe { &*value.cast::<T>() })
}

unsafe fn encode<T: Message>(_: *const (), value: *const u8, encoded: &mut [u8]) {
    // SAFETY: the caller promises a `T`.
    (encoding::<T>().encode)(unsafe { &*value.cast::<T>() }, encoded);
}

unsafe fn decode<T: Message>(
    _: *const (),
    encoded: &[u8],
    to: *mut u8,
    filled: bool,
) -> Result<(), DecodeError> {
    let (to, encoding) = (to.cast::<T>(), encoding::<T>());
    if !filled && encoding.plain.is_some() {
        // SAFETY: a place for a `T` that belongs to the caller alone. By the proof all zeros are a
        // value, which needs no drop: after an error the place counts as empty again.
        unsafe { to.write_bytes(0, 1) };
    }
    if filled || encoding.plain.is_some() {
        // SAFETY: the caller promises a `T` that belongs to it alone, or it was made above.
        return (encoding.decode_into)(encoded, unsafe { &mut *to });
    }
    // In functions of their own: without optimisation this one's frame would have room for a value.
    let decode = if size_of::<T>() > LARGE { decode_large::<T> } else { decode_small::<T> };
    // SAFETY: a place for a `T` that belongs to the caller alone, without a value.
    unsafe { decode(encoding, encoded, to) }
}

/// Decodes a value into an empty place.
///
/// # Safety
/// The place belongs to the caller alone.
#[inline]
unsafe fn decode_small<T: Message>(
    encoding: &Encoding<T>,
    encoded: &[u8],
    to: *mut T,
) -> Result<(), DecodeError> {
    let value = (encoding.decode)(encoded)?;
    // SAFETY: the caller's promise.
    unsafe { to.write(value) };
    Ok(())
}

/// Maximum size of a value that is decoded on any thread. A value may lie on the stack several
/// times until it is at its place, and threads of ours have 256 KB.
const LARGE: usize = 32 << 10;

/// Decodes a large value, which has arrays of fixed length, on a thread with a stack that is large
/// enough. (A later value is decoded into the former one, unless the program has taken that.)
///
/// # Safety
/// As for [`decode_small`].
#[cold]
unsafe fn decode_large<T: Message>(
    encoding: &Encoding<T>,
    encoded: &[u8],
    to: *mut T,
) -> Result<(), DecodeError> {
    let stack = (1 << 20) + 16 * size_of::<T>();
    let value = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("sinew-decode".to_owned()).stack_size(stack);
        let decode = || (encoding.decode)(encoded).map(Box::new);
        match thread.spawn_scoped(scope, decode) {
            Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(_) => Err(DecodeError::Invalid {
                type_name: encoding.name,
                field: "message",
                offset: 0,
                problem: "it is too large for this thread's stack, and no other thread can be started for it",
            }),
        }
    })?;
    let value = Box::into_raw(value);
    // SAFETY: a value, and the caller's place, which is elsewhere. It moves: only its memory is
    // freed below.
    unsafe { ptr::copy_nonoverlapping(value, to, 1) };
    // SAFETY: made by `into_raw` above; `MaybeUninit` has the layout of its value, and no drop.
    drop(unsafe { Box::from_raw(value.cast::<MaybeUninit<T>>()) });
    Ok(())
}

unsafe fn drop_value<T>(_: *const (), value: *mut u8) {
    // SAFETY: the caller of `TypeSupport::drop` promises an owned, initialised `T`.
    unsafe { ptr::drop_in_place(value.cast::<T>()) }
}

/// Copies values of a type that the caller knows.
#[derive(Clone, Copy)]
pub(crate) struct CloneInto {
    call: CloneValue,
    context: Context,
}

impl CloneInto {
    /// Copies a value to an uninitialised place, which stays so if this panics.
    ///
    /// # Safety
    /// Both are of the type this was made for: `from` is an initialised value, `place` belongs to
    /// the caller alone.
    pub(crate) unsafe fn copy(self, from: *const u8, place: *mut u8) {
        // SAFETY: the context belongs to the function; the rest is the caller's promise.
        unsafe { (self.call)(self.context.0, from, place) }
    }
}

/// Returns the cloning function of `T`, for the endpoints that need one.
pub(crate) const fn clone_into<T: Clone>() -> CloneInto {
    let call: CloneValue = |_, from, place| {
        // SAFETY: `CloneInto::copy` promises an initialised `T` at `from`.
        let copy = unsafe { &*from.cast::<T>() }.clone();
        // SAFETY: and a place for a `T` that its caller owns, without a value to be dropped.
        unsafe { place.cast::<T>().write(copy) };
    };
    CloneInto { call, context: Context::NONE }
}
