//! What the type-erased core knows about a message type.

use sinew_msg::cdr::{Decoder, Field};
use sinew_msg::description::{ConstDescription, Nested, TypeDescription};
use sinew_msg::{DecodeError, Message, TypeHash};
use std::alloc::Layout;
use std::any::TypeId;
use std::ptr;
use std::sync::OnceLock;

/// One per message type, in static memory; one per name and hash for types that are known at run
/// time only, see [`generic`](super::generic).
pub(crate) struct TypeSupport {
    /// Size and alignment of a value.
    pub(crate) layout: Layout,
    /// Drops a value in place.
    ///
    /// # Safety
    /// The pointer is a valid, initialised value of the type, owned by the caller and not used
    /// afterwards.
    pub(crate) drop: unsafe fn(*mut u8),
    /// The representation: only ends with the same one exchange pointers.
    pub(crate) representation: TypeId,
    name: TypeName,
    hash: Option<TypeHash>,
    description: Option<&'static ConstDescription>,
    /// When a value says that it was taken, in nanoseconds; `None` if the type says nothing of it.
    ///
    /// # Safety
    /// The pointer is to a value of the type.
    pub(crate) stamp: Option<unsafe fn(*const u8) -> i64>,
    /// Between values and images; `None` for a type that stays in the process.
    pub(crate) image: Option<ImageFunctions>,
}

/// A type's name.
enum TypeName {
    /// The function that says it: a constant can't.
    OfRust(fn() -> &'static str),
    /// Of a type that is known at run time only.
    Told(&'static str, &'static OnceLock<TypeDescription>),
}

/// What [`Encoding`](sinew_msg::Encoding) says, without the type.
pub(crate) struct ImageFunctions {
    /// Bytes of a value's image.
    ///
    /// # Safety
    /// The pointer is to a value of the type.
    pub(crate) size: unsafe fn(*const u8) -> usize,
    /// Writes a value's image into so many bytes.
    ///
    /// # Safety
    /// As `size`.
    pub(crate) encode: unsafe fn(*const u8, &mut [u8]),
    /// Makes a value of an image: over the value there if the flag is set, else into the
    /// uninitialised place, which stays so after an error.
    ///
    /// # Safety
    /// The pointer is to a place for a value of the type, which is the caller's alone and holds a
    /// value if the flag says so.
    pub(crate) decode: unsafe fn(&[u8], *mut u8, bool) -> Result<(), DecodeError>,
    /// Whether a value's bytes are its image, but for the header.
    pub(crate) is_plain: bool,
}

impl TypeSupport {
    /// The ROS 2 type name, or the Rust one of a type that stays in the process.
    pub(crate) fn name(&self) -> &'static str {
        match self.name {
            TypeName::OfRust(name) => name(),
            TypeName::Told(name, _) => name,
        }
    }

    /// Name and hash, for people who wonder why two types are not the same.
    pub(crate) fn describe(&self) -> String {
        match self.hash {
            Some(hash) => format!("{} ({hash})", self.name()),
            None => self.name().to_owned(),
        }
    }

    /// The hash of its description.
    pub(crate) fn hash(&self) -> Option<TypeHash> {
        self.hash
    }

    /// What others need to read its images, if it is known. What has another hash describes something
    /// else, and is none.
    pub(crate) fn description(&self) -> Option<TypeDescription> {
        self.described().filter(|description| Some(description.hash()) == self.hash)
    }

    /// The same, unchecked: for parts of what is checked as a whole, as hashing takes time.
    pub(crate) fn described(&self) -> Option<TypeDescription> {
        match &self.name {
            TypeName::Told(_, told) => told.get().cloned(),
            TypeName::OfRust(_) => self.description?.describe(),
        }
    }

    /// Whether messages of one type can be given to those that take the other: as they are, or by
    /// their images.
    pub(crate) fn exchanges_with(&self, other: &Self) -> bool {
        let by_images = || {
            self.image.is_some()
                && other.image.is_some()
                && self.hash == other.hash
                && self.name() == other.name()
        };
        self.is(other) || by_images()
    }

    /// Whether it is known by name and hash only.
    pub(crate) fn is_told(&self) -> bool {
        matches!(self.name, TypeName::Told(..))
    }

    /// Whether messages of both are held in the same way, and are of the same type.
    pub(crate) fn is(&self, other: &Self) -> bool {
        let are_told = self.is_told() || other.is_told();
        self.representation == other.representation && (!are_told || ptr::eq(self, other))
    }

    /// As `stamp`, of an image: `None` also if the header isn't what the type begins with, as then it
    /// is anywhere.
    pub(crate) fn stamp_in(&self, image: &[u8]) -> Option<i64> {
        let (name, first) = self.description?.fields.first()?;
        let is_header = *name == "header"
            && matches!(first.nested, Nested::Structure(header) if header.name == "std_msgs/msg/Header");
        // Its stamp comes first: seconds and nanoseconds.
        let mut decoder = Decoder::new(image, self.name()).ok().filter(|_| is_header)?;
        let (seconds, nanoseconds) = (i32::decode(&mut decoder).ok()?, u32::decode(&mut decoder).ok()?);
        Some(i64::from(seconds) * 1_000_000_000 + i64::from(nanoseconds))
    }

    /// Whether its values can be written and read in place.
    pub(crate) fn is_plain(&self) -> bool {
        self.image.as_ref().is_some_and(|image| image.is_plain)
    }

    /// The table of a type that is known by name and hash only; its description may be told later.
    /// Its messages are `T`, which says how they are held and is no type of ROS 2 itself.
    pub(crate) fn told<T: Message>(
        (name, hash): (&'static str, TypeHash),
        description: &'static OnceLock<TypeDescription>,
    ) -> Self {
        Self { name: TypeName::Told(name, description), hash: Some(hash), ..T::TABLE }
    }

    /// The table of `T`.
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
        // SAFETY: the caller promises a `T` that is its alone.
        return (encoding::<T>().decode_into)(image, unsafe { &mut *to });
    }
    let value = (encoding::<T>().decode)(image)?;
    // SAFETY: a place for a `T`, the caller's alone, without a value.
    unsafe { to.write(value) };
    Ok(())
}

unsafe fn drop_value<T>(value: *mut u8) {
    // SAFETY: the caller of `TypeSupport::drop` promises an owned, initialised `T`.
    unsafe { ptr::drop_in_place(value.cast::<T>()) }
}

/// Clones a value of a type the caller knows: over the value at `to` when `filled`, else into the
/// uninitialised place.
///
/// # Safety
/// `from` is an initialised value, `to` is as `filled` says and exclusive, both of the type the
/// function was made for.
pub(crate) type CloneInto = unsafe fn(from: *const u8, to: *mut u8, filled: bool);

/// The cloning function of `T`, for the ends of the delivery that need one.
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
            // SAFETY: `to` is a place for a `T` that the caller owns; nothing is there to be
            // dropped.
            unsafe { to.write(copy) };
        }
    }
}
