//! The properties of a message type that the type-erased core needs.

use sinew_msg::cdr::{Decoder, Field};
use sinew_msg::description::{ConstDescription, Nested, TypeDescription};
use sinew_msg::{DecodeError, Message, TypeHash};
use std::alloc::Layout;
use std::any::TypeId;
use std::ptr;
use std::sync::OnceLock;

/// One per message type, in static memory; one per name and hash for types known at run time only,
/// see [`generic`](super::generic).
pub(crate) struct TypeSupport {
    /// Size and alignment of a value.
    pub(crate) layout: Layout,
    /// Drops a value in place.
    ///
    /// # Safety
    /// The pointer is a valid, initialised value of the type, owned by the caller and not used
    /// afterwards.
    pub(crate) drop: unsafe fn(*mut u8),
    /// The representation: only endpoints with the same one exchange pointers.
    pub(crate) representation: TypeId,
    name: TypeName,
    hash: Option<TypeHash>,
    description: Option<&'static ConstDescription>,
    /// Returns the stamp of a value in nanoseconds; `None` if the type has none.
    ///
    /// # Safety
    /// The pointer is to a value of the type.
    pub(crate) stamp: Option<unsafe fn(*const u8) -> i64>,
    /// Conversions between values and encoded form; `None` for a type that stays in the process.
    pub(crate) image: Option<ImageFunctions>,
}

/// A type's name.
enum TypeName {
    /// A function that returns it, since a constant can't.
    OfRust(fn() -> &'static str),
    /// The name and description of a type that is known at run time only.
    Told(&'static str, &'static OnceLock<TypeDescription>),
}

/// The functions of [`Encoding`](sinew_msg::Encoding), without the type.
pub(crate) struct ImageFunctions {
    /// Returns the length of a value's encoded form in bytes.
    ///
    /// # Safety
    /// The pointer is to a value of the type.
    pub(crate) size: unsafe fn(*const u8) -> usize,
    /// Encodes a value into the slice, which it fills.
    ///
    /// # Safety
    /// As for `size`.
    pub(crate) encode: unsafe fn(*const u8, &mut [u8]),
    /// Decodes a value: over the existing one if the flag is set, otherwise into the uninitialised
    /// place, which stays so after an error.
    ///
    /// # Safety
    /// The pointer is to a place for a value of the type that belongs to the caller alone, and that
    /// holds a value if the flag is set.
    pub(crate) decode: unsafe fn(&[u8], *mut u8, bool) -> Result<(), DecodeError>,
    /// Whether a value's bytes are its encoded form, except for the header.
    pub(crate) is_plain: bool,
}

impl TypeSupport {
    /// Returns the ROS 2 type name, or the Rust name of a type that stays in the process.
    pub(crate) fn name(&self) -> &'static str {
        match self.name {
            TypeName::OfRust(name) => name(),
            TypeName::Told(name, _) => name,
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
            TypeName::Told(_, told) => told.get().cloned(),
            TypeName::OfRust(_) => self.description?.describe(),
        }
    }

    /// Whether subscriptions of one type can take messages of the other: as they are, or by their
    /// encoded form.
    pub(crate) fn exchanges_with(&self, other: &Self) -> bool {
        let by_images = || {
            self.image.is_some()
                && other.image.is_some()
                && self.hash == other.hash
                && self.name() == other.name()
        };
        self.is(other) || by_images()
    }

    /// Whether the type is known by name and hash only.
    pub(crate) fn is_told(&self) -> bool {
        matches!(self.name, TypeName::Told(..))
    }

    /// Whether both are the same type, held in the same way.
    pub(crate) fn is(&self, other: &Self) -> bool {
        let are_told = self.is_told() || other.is_told();
        self.representation == other.representation && (!are_told || ptr::eq(self, other))
    }

    /// Returns the stamp in an encoded message; `None` also if the type doesn't begin with its
    /// header, since its position then varies.
    pub(crate) fn stamp_in(&self, image: &[u8]) -> Option<i64> {
        let (name, first) = self.description?.fields.first()?;
        let is_header = *name == "header"
            && matches!(first.nested, Nested::Structure(header) if header.name == "std_msgs/msg/Header");
        // The header's stamp comes first: seconds and nanoseconds.
        let mut decoder = Decoder::new(image, self.name()).ok().filter(|_| is_header)?;
        let (seconds, nanoseconds) = (i32::decode(&mut decoder).ok()?, u32::decode(&mut decoder).ok()?);
        Some(i64::from(seconds) * 1_000_000_000 + i64::from(nanoseconds))
    }

    /// Whether its values can be written and read in place.
    pub(crate) fn is_plain(&self) -> bool {
        self.image.as_ref().is_some_and(|image| image.is_plain)
    }

    /// Creates the table of a type that is known by name and hash only; its description may be
    /// given later. Its messages are `T`, which defines how they are held and is itself no ROS 2
    /// type.
    pub(crate) fn told<T: Message>(
        (name, hash): (&'static str, TypeHash),
        description: &'static OnceLock<TypeDescription>,
    ) -> Self {
        Self { name: TypeName::Told(name, description), hash: Some(hash), ..T::TABLE }
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
        drop: drop_value::<T>,
        representation: TypeId::of::<T>(),
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
        image: match T::ENCODING {
            Some(encoding) => Some(ImageFunctions {
                size: size_of_image::<T>,
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

unsafe fn size_of_image<T: Message>(value: *const u8) -> usize {
    // SAFETY: the caller promises a `T`.
    (encoding::<T>().size)(unsafe { &*value.cast::<T>() })
}

#[expect(clippy::expect_used, reason = "only in the tables of types that have one")]
unsafe fn stamp_of<T: Message>(value: *const u8) -> i64 {
    // SAFETY: the caller promises a `T`.
    (encoding::<T>().stamp.expect("a type with a stamp"))(unsafe { &*value.cast::<T>() })
}

unsafe fn encode<T: Message>(value: *const u8, image: &mut [u8]) {
    // SAFETY: the caller promises a `T`.
    (encoding::<T>().encode)(unsafe { &*value.cast::<T>() }, image);
}

unsafe fn decode<T: Message>(image: &[u8], to: *mut u8, filled: bool) -> Result<(), DecodeError> {
    let to = to.cast::<T>();
    if filled {
        // SAFETY: the caller promises a `T` that belongs to it alone.
        return (encoding::<T>().decode_into)(image, unsafe { &mut *to });
    }
    let value = (encoding::<T>().decode)(image)?;
    // SAFETY: a place for a `T` that belongs to the caller alone, without a value.
    unsafe { to.write(value) };
    Ok(())
}

unsafe fn drop_value<T>(value: *mut u8) {
    // SAFETY: the caller of `TypeSupport::drop` promises an owned, initialised `T`.
    unsafe { ptr::drop_in_place(value.cast::<T>()) }
}

/// Clones a value of a type that the caller knows: over the value at `to` if `filled`, otherwise
/// into the uninitialised place.
///
/// # Safety
/// `from` is an initialised value; `to` is exclusive, and initialised if `filled` is set; both are
/// of the type the function was made for.
pub(crate) type CloneInto = unsafe fn(from: *const u8, to: *mut u8, filled: bool);

/// Returns the cloning function of `T`, for the endpoints that need one.
pub(crate) const fn clone_into<T: Clone>() -> CloneInto {
    |from, to, filled| {
        // SAFETY: the caller of a `CloneInto` promises an initialised `T` at `from`.
        let from = unsafe { &*from.cast::<T>() };
        let to = to.cast::<T>();
        if filled {
            // SAFETY: `filled` promises an initialised `T` that no other thread uses.
            let to = unsafe { &mut *to };
            to.clone_from(from);
        } else {
            let copy = from.clone();
            // SAFETY: `to` is a place for a `T` that the caller owns; it holds no value to be
            // dropped.
            unsafe { to.write(copy) };
        }
    }
}
