//! Message types of other languages: tables made at run time, and the handle to any type's table.

use super::generic::{GenericType, GenericTypeError, MOST_TYPES, is_type_name};
use super::type_support::{CloneInto, Context, EncodingFunctions, RegisteredParts, TypeSupport, clone_into};
use crate::sys::sync::Mutex;
use sinew_msg::description::TypeDescription;
use sinew_msg::{DecodeError, Message, TypeHash};
use std::alloc::Layout;
use std::collections::HashMap;
use std::fmt;
use std::sync::OnceLock;

/// Maximum size of a value in bytes: with its control block it fits the address space.
const LARGEST_VALUE: usize = isize::MAX as usize / 2;

/// The functions and properties of a message type that is made at run time, for
/// [`MessageType::register`]. Every function gets [`context`](Self::context) first.
///
/// A value keeps its address from the moment it is made until it is dropped: no function has to
/// move one, so a C++ class with pointers into itself is a valid type.
///
/// A function may panic, where it says so; it must not let an exception of another language pass.
#[derive(Clone)]
#[non_exhaustive]
pub struct TypeTable {
    /// The ROS 2 name, `package/msg/Name`. A type without an [`encoding`](Self::encoding) may have
    /// any other name, of at most 512 bytes.
    pub name: String,
    /// The hash of its description; required with an encoding. Endpoints match if name and hash are
    /// the same.
    pub hash: Option<TypeHash>,
    /// The description, for tools and for texts about differences. Its hash must be
    /// [`hash`](Self::hash).
    pub description: Option<TypeDescription>,
    /// Size and alignment of a value. A size of 0 is valid.
    pub layout: Layout,
    /// Passed to every function; null by default.
    pub context: *const (),
    /// Destroys a value, but does not free its memory. `None`: nothing needs to be done. If it
    /// panics, the memory is freed, and the value is not dropped again.
    pub drop: Option<unsafe fn(context: *const (), value: *mut u8)>,
    /// Frees the memory of an adopted value, which has been destroyed or taken. Without it, no
    /// value can be [adopted](crate::erased::Message::adopt). Must not panic.
    pub free: Option<unsafe fn(context: *const (), memory: *mut u8)>,
    /// Makes a value in a place, for [`Publisher::loan`](crate::erased::Publisher::loan). If it
    /// panics, there is no value.
    pub create: Option<unsafe fn(context: *const (), place: *mut u8)>,
    /// Makes a copy of a value in a place; required where a subscription owns its messages. If it
    /// panics, there is no copy.
    pub clone: Option<unsafe fn(context: *const (), from: *const u8, place: *mut u8)>,
    /// Returns the stamp of the value's header in nanoseconds since the epoch.
    pub stamp: Option<unsafe fn(context: *const (), value: *const u8) -> i64>,
    /// Conversions to and from the encoded form. `None`: messages stay in the process, and reach
    /// only endpoints of the same [`MessageType`].
    pub encoding: Option<EncodingTable>,
}

/// The conversions of a [`TypeTable`] between values and their encoded form: a header of 4 bytes
/// and plain CDR, as ROS 2 has it.
#[derive(Clone, Copy)]
pub struct EncodingTable {
    /// Returns the length of the value's encoded form in bytes, including the header.
    pub size: unsafe fn(context: *const (), value: *const u8) -> usize,
    /// Writes the encoded form into the slice, which has the length that `size` returned for the
    /// same value.
    pub encode: unsafe fn(context: *const (), value: *const u8, to: &mut [u8]),
    /// Reads a value from bytes that may come from another process, so it must check them. If
    /// `filled`, `to` holds a value, which is replaced and stays valid after an error; otherwise
    /// there is none, nor after an error. A panic counts as an error, after which there is no value
    /// in either case: the replaced one is neither used nor dropped any more.
    pub decode:
        unsafe fn(context: *const (), from: &[u8], to: *mut u8, filled: bool) -> Result<(), DecodeError>,
    /// Whether every value's bytes are its encoded form after the header, on this machine, without
    /// padding, and any bytes are a valid value. Such values are read and written in shared memory,
    /// so the type must not have a [`drop`](TypeTable::drop).
    pub is_plain: bool,
}

impl TypeTable {
    /// Returns a table with these properties and no functions.
    pub fn new(name: &str, layout: Layout) -> Self {
        Self {
            name: name.to_owned(),
            hash: None,
            description: None,
            layout,
            context: std::ptr::null(),
            drop: None,
            free: None,
            create: None,
            clone: None,
            stamp: None,
            encoding: None,
        }
    }
}

impl fmt::Debug for TypeTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TypeTable")
            .field("name", &self.name)
            .field("hash", &self.hash)
            .field("layout", &self.layout)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for EncodingTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EncodingTable").field("is_plain", &self.is_plain).finish_non_exhaustive()
    }
}

/// The reason why a [`TypeTable`] was not registered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TypeError {
    /// The name is no type name.
    #[error(
        "`{name}` is not the name of a type: with an encoding it is package/msg/Name (or srv, action), without one it is not empty; \
         it has at most 512 bytes"
    )]
    Name {
        /// The name as given, or its beginning.
        name: String,
    },
    /// A type with an encoding has no hash.
    #[error("{name} has an encoding but no hash, by which other processes know its form: set the hash")]
    NoHash {
        /// The type.
        name: String,
    },
    /// The description has another name or hash than the type.
    #[error("the description of {name} is of another type: {described}")]
    Description {
        /// The type.
        name: String,
        /// Name and hash of the description.
        described: String,
    },
    /// A plain type has a drop function.
    #[error("{name} is declared plain, but has a drop function: a plain value consists only of its bytes")]
    PlainWithDrop {
        /// The type.
        name: String,
    },
    /// Values are too large.
    #[error(
        "{name} has values of {size} bytes, which don't fit the address space together with their header"
    )]
    TooLarge {
        /// The type.
        name: String,
        /// The size of a value in bytes.
        size: usize,
    },
    /// Another type is registered under the key.
    #[error(
        "{name} can't be registered under the key {key:#034x}: {known} already is, with another name, hash or layout"
    )]
    KeyTaken {
        /// The type.
        name: String,
        /// The key.
        key: u128,
        /// The type that has the key.
        known: String,
    },
    /// The process has registered too many types.
    #[error(
        "{name} can't be registered: this process has already registered {limit} types, the most that it may have"
    )]
    TooMany {
        /// The type.
        name: String,
        /// The limit.
        limit: usize,
    },
}

impl TypeError {
    /// A type that is known by its name only.
    pub(crate) fn of_known(error: GenericTypeError) -> Self {
        match error {
            GenericTypeError::Name { name } => Self::Name { name },
            GenericTypeError::TooMany { name, limit } => Self::TooMany { name, limit },
        }
    }
}

#[derive(Default)]
struct Registered {
    by_key: HashMap<u128, &'static TypeSupport>,
    /// All of them: what lives as long as the process is found by tools that look for leaks.
    tables: Vec<&'static TypeSupport>,
}

fn registered() -> &'static Mutex<Registered> {
    static REGISTERED: OnceLock<Mutex<Registered>> = OnceLock::new();
    REGISTERED.get_or_init(Mutex::default)
}

/// A message type: of Rust, known by name and hash only, or registered at run time.
///
/// Two are equal if endpoints of both exchange pointers to values. Endpoints of unequal types match
/// all the same if name and hash are the same and both have an encoded form: then messages pass
/// encoded. Copying it costs nothing.
#[derive(Clone, Copy)]
pub struct MessageType {
    table: &'static TypeSupport,
    clone: Option<CloneInto>,
}

impl MessageType {
    /// Returns the type of `T`. Its messages are `T`s; a subscription of it can't own them (see
    /// [`of_clone`](Self::of_clone)).
    pub fn of<T: Message>() -> Self {
        Self { table: TypeSupport::of::<T>(), clone: None }
    }

    /// As [`of`](Self::of), with the ability to copy messages.
    pub fn of_clone<T: Message + Clone>() -> Self {
        Self { table: TypeSupport::of::<T>(), clone: Some(clone_into::<T>()) }
    }

    /// Returns a type that is known by name and hash only. Its messages exist in encoded form only.
    pub fn known(known: GenericType) -> Self {
        Self { table: known.message(), clone: None }
    }

    /// Registers a type of another language, for the life of the process: it costs memory that is
    /// never freed, and at most 4096 can be registered.
    ///
    /// The `key` decides which registrations are the same type, for example those of two shared
    /// libraries that contain the same C++ class. If a type is registered under the key, and its
    /// name, hash and layout are those of the table, that type is returned and the table is not
    /// used: see [`context`](Self::context). A key must therefore stand for everything that two
    /// parts of a program have to agree on to pass a pointer: the language, its ABI, the
    /// definition. Without a key, each registration is a type of its own.
    ///
    /// ```
    /// use sinew::erased::{MessageType, TypeTable};
    /// use std::alloc::Layout;
    ///
    /// unsafe fn clone(_: *const (), from: *const u8, place: *mut u8) {
    ///     // SAFETY: both are `u64`s, as the table's layout says.
    ///     unsafe { place.cast::<u64>().write(*from.cast::<u64>()) }
    /// }
    /// let mut table = TypeTable::new("counter", Layout::new::<u64>());
    /// table.clone = Some(clone);
    /// // SAFETY: the function does what the table's documentation asks for, on any thread.
    /// let counter = unsafe { MessageType::register(Some(0x5147), table.clone()) }?;
    /// let again = unsafe { MessageType::register(Some(0x5147), table) }?;
    /// assert_eq!(counter, again);
    /// # Ok::<(), sinew::erased::TypeError>(())
    /// ```
    ///
    /// # Safety
    /// The functions do what their documentation says, for values of the layout, and can be called
    /// at any time until the process ends, from any thread, also by several at once with the same
    /// context; only `drop`, `free`, `create`, and `decode` write, to the value they get. Values
    /// may be moved to and read from other threads. Everything registered under one key is the same
    /// type: its functions can be used for the values of every registration.
    ///
    /// # Errors
    /// [`TypeError`]: parts of the table contradict each other, another type has the key, or there
    /// are too many types.
    pub unsafe fn register(key: Option<u128>, table: TypeTable) -> Result<Self, TypeError> {
        check(&table)?;
        let mut registered = registered().lock();
        if let Some(known) = key.and_then(|key| registered.by_key.get(&key).copied()) {
            let plain = table.encoding.is_some_and(|encoding| encoding.is_plain);
            let is_same = known.name() == table.name
                && known.hash() == table.hash
                && known.layout == table.layout
                && known.encoded.is_some() == table.encoding.is_some()
                && known.is_plain() == plain;
            return match is_same {
                true => Ok(Self::of_table(known)),
                false => Err(TypeError::KeyTaken {
                    name: table.name,
                    key: key.unwrap_or_default(),
                    known: known.describe(),
                }),
            };
        }
        if registered.tables.len() >= MOST_TYPES {
            return Err(TypeError::TooMany { name: table.name, limit: MOST_TYPES });
        }
        let known: &'static TypeSupport = Box::leak(Box::new(TypeSupport::registered(parts(table))));
        registered.tables.push(known);
        if let Some(key) = key {
            registered.by_key.insert(key, known);
        }
        Ok(Self::of_table(known))
    }

    /// Returns the handle to a table, with the copying function that this has.
    pub(crate) fn of_table(table: &'static TypeSupport) -> Self {
        Self { table, clone: table.clone }
    }

    /// The same, with another way to copy if there is one.
    pub(crate) fn of_table_with(table: &'static TypeSupport, clone: Option<CloneInto>) -> Self {
        Self { table, clone: clone.or(table.clone) }
    }

    pub(crate) fn table(self) -> &'static TypeSupport {
        self.table
    }

    pub(crate) fn cloner(self) -> Option<CloneInto> {
        self.clone
    }

    /// Returns the ROS 2 type name, or the name of a type that stays in its process.
    pub fn name(self) -> &'static str {
        self.table.name()
    }

    /// Returns the hash of its description; `None` for a type that stays in its process.
    pub fn hash(self) -> Option<TypeHash> {
        self.table.hash()
    }

    /// Returns its description, if it is known. Allocates.
    pub fn description(self) -> Option<TypeDescription> {
        self.table.description()
    }

    /// Returns size and alignment of a value.
    pub fn layout(self) -> Layout {
        self.table.layout
    }

    /// Returns the context pointer of the table in use; null for types of Rust. A caller that
    /// registered a type a second time finds another pointer than its own, and may release that.
    pub fn context(self) -> *const () {
        self.table.context.0
    }

    /// Whether values of the type can be copied.
    pub fn can_clone(self) -> bool {
        self.clone.is_some()
    }

    /// Whether messages of the type have an encoded form, in which they leave their process.
    pub fn has_encoding(self) -> bool {
        self.table.encoded.is_some()
    }

    /// Whether values of the type are read and written in shared memory as they are.
    pub fn is_plain(self) -> bool {
        self.table.is_plain()
    }
}

impl PartialEq for MessageType {
    fn eq(&self, other: &Self) -> bool {
        self.table.is(other.table)
    }
}

impl Eq for MessageType {}

impl fmt::Debug for MessageType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MessageType({})", self.table.describe())
    }
}

fn check(table: &TypeTable) -> Result<(), TypeError> {
    let has_encoding = table.encoding.is_some();
    let name = table.name.clone();
    let is_name = match has_encoding {
        true => is_type_name(&name),
        false => !name.is_empty() && name.len() <= super::generic::LONGEST_NAME,
    };
    if !is_name {
        return Err(TypeError::Name { name: name.chars().take(80).collect() });
    }
    if has_encoding && table.hash.is_none() {
        return Err(TypeError::NoHash { name });
    }
    if let Some(description) = &table.description {
        let described = (&description.type_description.type_name, description.hash());
        if *described.0 != name || Some(described.1) != table.hash {
            let described = format!("{} ({})", described.0, described.1);
            return Err(TypeError::Description { name, described });
        }
    }
    if table.encoding.is_some_and(|encoding| encoding.is_plain) && table.drop.is_some() {
        return Err(TypeError::PlainWithDrop { name });
    }
    let size = table.layout.size();
    if size > LARGEST_VALUE {
        return Err(TypeError::TooLarge { name, size });
    }
    Ok(())
}

/// Converts a table, with parts that live as long as the process.
fn parts(table: TypeTable) -> RegisteredParts {
    let description: &'static OnceLock<TypeDescription> = Box::leak(Box::default());
    if let Some(known) = table.description {
        let _ = description.set(known); // it is empty
    }
    RegisteredParts {
        name: Box::leak(table.name.into_boxed_str()),
        hash: table.hash,
        description,
        layout: table.layout,
        context: Context(table.context),
        drop: table.drop,
        free: table.free,
        create: table.create,
        clone: table.clone,
        stamp: table.stamp,
        encoded: table.encoding.map(|encoding| EncodingFunctions {
            size: encoding.size,
            encode: encoding.encode,
            decode: encoding.decode,
            is_plain: encoding.is_plain,
        }),
    }
}
