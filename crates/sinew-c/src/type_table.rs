//! Types of C and other languages: tables of functions.

use crate::message_type::{self, into_c, sinew_message_type};
use crate::status::{Failure, Result, answer, last, put, sinew_status, status};
use crate::structure::{Structure, structure};
use crate::text::{optional_text, text};
use crate::time::sinew_time;
use parking_lot::Mutex;
use sinew::erased::{EncodingTable, MessageType, TypeTable};
use sinew::error::{DecodeError, ErrorCode};
use sinew_msg::TypeHash;
use sinew_msg::description::TypeDescription;
use std::alloc::Layout;
use std::ffi::{CStr, c_char, c_void};
use std::panic::resume_unwind;
use std::ptr::{self, NonNull};

/// A type of messages as the program describes it, for [`sinew_message_type_register`]. Zero is the
/// default of every field but the name.
///
/// The functions may be called at any time until the process ends, by any thread, and by several at
/// once with the same context. A value stays at its address from the moment it is made until it is
/// destroyed, so it may point into itself. No exception may leave a function.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sinew_type_table {
    /// `sizeof(struct sinew_type_table)`.
    pub size: usize,
    /// The ROS 2 name, `package/msg/Name`. A type without an encoding may have any other name, of
    /// at most 512 bytes.
    pub name: *const c_char,
    /// The hash of its description, `RIHS01_` and 64 hexadecimal digits; required with an encoding.
    pub hash: *const c_char,
    /// The description as ROS 2's JSON text, for tools. Its hash must be `hash`. Null: none.
    pub description: *const c_char,
    /// The size of a value in bytes; 0 is valid.
    pub value_size: usize,
    /// The alignment of a value in bytes, a power of two. 0: 1.
    pub alignment: usize,
    /// Whether `key` counts.
    pub has_key: bool,
    /// Whether every value's bytes are its encoded form after the header, on this machine, without
    /// padding, and any bytes are a valid value. Such values are read and written in shared memory,
    /// so the type must not have a `drop`; its encoding functions may be left out.
    pub is_plain: bool,
    /// 128 bits that stand for all that two parts of a program have to agree on to pass a pointer:
    /// language, ABI and definition. Registrations under one key are one type.
    pub key: [u64; 2],
    /// Passed to every function. It has to live as long as the process.
    pub context: *mut c_void,
    /// Destroys a value, but does not free its memory. Null: nothing needs to be done.
    pub drop: Option<unsafe extern "C" fn(context: *mut c_void, value: *mut c_void)>,
    /// Frees the memory of an adopted value that was destroyed. Without it, no value can be
    /// adopted.
    pub free: Option<unsafe extern "C" fn(context: *mut c_void, memory: *mut c_void)>,
    /// Makes a first value, for `sinew_publisher_loan`. Nonzero: there is none. Null: a plain value
    /// is all zeros.
    pub create: Option<unsafe extern "C" fn(context: *mut c_void, place: *mut c_void) -> sinew_status>,
    /// Makes a copy of a value in a place; required where a subscription owns its messages.
    /// Nonzero: there is none. Null: a plain value's bytes are copied.
    pub clone: Option<
        unsafe extern "C" fn(context: *mut c_void, value: *const c_void, place: *mut c_void) -> sinew_status,
    >,
    /// Returns the stamp of the value's header, for the age of messages in statistics.
    pub stamp: Option<unsafe extern "C" fn(context: *mut c_void, value: *const c_void) -> sinew_time>,
    /// Returns the length of the value's encoded form in bytes, including the header of 4 bytes.
    /// The encoding is this and the next two; a type without it stays in its process.
    pub encoded_size: Option<unsafe extern "C" fn(context: *mut c_void, value: *const c_void) -> usize>,
    /// Writes the encoded form, of the length that `encoded_size` returned for the same value.
    pub encode: Option<
        unsafe extern "C" fn(context: *mut c_void, value: *const c_void, bytes: *mut u8, length: usize),
    >,
    /// Reads a value from bytes that may come from another process, so it must check them. If
    /// `filled`, `place` holds a value, which is replaced and stays valid after a failure;
    /// otherwise there is none, nor after a failure. Returns nonzero after a failure, and writes
    /// the problem to `sentence`, which has room for `capacity` bytes with the NUL and is empty
    /// before.
    pub decode: Option<
        unsafe extern "C" fn(
            context: *mut c_void,
            bytes: *const u8,
            length: usize,
            place: *mut c_void,
            filled: bool,
            sentence: *mut c_char,
            capacity: usize,
        ) -> sinew_status,
    >,
    /// Checks that a value has an encoded form, for types of which some values don't: with a
    /// bounded string, for example. It is called before a value is published or sent, so `encode`
    /// never gets one that it refused. Null: every value has one. Returns nonzero after a failure,
    /// and writes the problem to `sentence`, as `decode`.
    pub check: Option<
        unsafe extern "C" fn(
            context: *mut c_void,
            value: *const c_void,
            sentence: *mut c_char,
            capacity: usize,
        ) -> sinew_status,
    >,
}

// SAFETY: C's layout, beginning with the size; zeros are null, `false`, numbers and no functions.
unsafe impl Structure for sinew_type_table {
    const NAME: &str = "sinew_type_table";
}

/// The length of the header of encoded forms.
const HEADER: usize = 4;

/// The header's identifier of plain CDR in this machine's order of bytes.
const OWN_CDR: [u8; 2] = if cfg!(target_endian = "little") { [0, 1] } else { [0, 0] };

/// The most problems of a type that are remembered with their sentences. Others' bytes must not
/// fill the memory.
const MOST_PROBLEMS: usize = 64;

/// A table that is in use. The library's own table has it as its context.
struct Table {
    functions: sinew_type_table,
    name: String,
    /// Sentences of `decode`: errors of decoding have texts that live as long as the process.
    problems: Mutex<Vec<&'static str>>,
}

// SAFETY: the header asks for functions and a context that any thread may use.
unsafe impl Send for Table {}
// SAFETY: as above, by several at once.
unsafe impl Sync for Table {}

/// All tables in use. Only a context that is one of these was made here.
static TABLES: Mutex<Vec<&'static Table>> = Mutex::new(Vec::new());

/// Registers a type for the life of the process, which can have 4096 of them. The table is copied.
///
/// If a type is registered under the key, and its name, hash and layout are those of the table,
/// that type is returned and the table is not used; see `sinew_message_type_context`. Without a
/// key, each registration is a type of its own.
///
/// Fails with `SINEW_ERROR_INVALID_TYPE_TABLE` and others that begin so if parts of the table
/// contradict each other.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_message_type_register(
    table: *const sinew_type_table,
    message_type: Option<&mut *const sinew_message_type>,
) -> sinew_status {
    status(|| {
        if table.is_null() {
            return Err(Failure::null("table"));
        }
        // SAFETY: the caller's structure.
        let functions = unsafe { structure(table) }?;
        // SAFETY: the caller's texts.
        let (mut table, key) = unsafe { convert(&functions) }?;
        let own = Box::leak(Box::new(Table {
            functions,
            name: table.name.clone(),
            problems: Mutex::new(Vec::new()),
        }));
        let own = &raw mut *own;
        table.context = own.cast_const().cast();
        // SAFETY: the functions below call the caller's, which do what the header asks for; the
        // context lives as long as the process, if it is used.
        let registered = unsafe { MessageType::register(key, table) };
        if registered.as_ref().is_ok_and(|of| of.context() == own.cast_const().cast()) {
            // SAFETY: from the box above, which is never freed from here on.
            TABLES.lock().push(unsafe { &*own });
        } else {
            // SAFETY: from the box above; no type has it.
            drop(unsafe { Box::from_raw(own) });
        }
        put(message_type, "message_type", into_c(registered?))
    })
}

/// Returns the context of the table in use; null for a type without a table of C. A caller that
/// registered a type a second time under its key finds another pointer than its own, and may free
/// its own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sinew_message_type_context(message_type: *const sinew_message_type) -> *mut c_void {
    answer(ptr::null_mut(), || {
        // SAFETY: the caller's handle.
        let of = unsafe { message_type::get(message_type, "message_type") }?;
        Ok(Table::of(of).map_or(ptr::null_mut(), Table::context))
    })
}

/// Converts all but the context.
///
/// # Safety
/// The texts are null or end with a NUL.
unsafe fn convert(functions: &sinew_type_table) -> Result<(TypeTable, Option<u128>)> {
    // SAFETY: as the caller says.
    let name = unsafe { text(functions.name, "name") }?;
    let invalid =
        |what: &str| Failure::new(ErrorCode::InvalidTypeTable, format_args!("the table of {name}: {what}"));
    let layout = Layout::from_size_align(functions.value_size, functions.alignment.max(1));
    let layout = layout.map_err(|_| {
        let size = functions.value_size;
        invalid(&format!(
            "an alignment of {} is no power of two, or {size} bytes are too many",
            functions.alignment
        ))
    })?;
    let mut table = TypeTable::new(name, layout);
    // SAFETY: as the caller says.
    if let Some(hash) = unsafe { optional_text(functions.hash, "hash") }? {
        table.hash = Some(hash.parse::<TypeHash>()?);
    }
    // SAFETY: as the caller says.
    if let Some(description) = unsafe { optional_text(functions.description, "description") }? {
        let description = TypeDescription::from_json(description);
        table.description =
            Some(description.ok_or_else(|| invalid("its description is none of ROS 2's JSON"))?);
    }
    table.drop = functions.drop.map(|_| drop_value as _);
    table.free = functions.free.map(|_| free as _);
    table.create = (functions.is_plain || functions.create.is_some()).then_some(create as _);
    table.clone = (functions.is_plain || functions.clone.is_some()).then_some(clone as _);
    table.stamp = functions.stamp.map(|_| stamp as _);
    let encoding = [functions.encoded_size.is_some(), functions.encode.is_some(), functions.decode.is_some()];
    table.encoding = match (encoding, functions.is_plain) {
        ([true, true, true], _) | ([false, false, false], true) => {
            Some(EncodingTable { size, encode, decode, is_plain: functions.is_plain })
        }
        ([false, false, false], false) => None,
        _ => return Err(invalid("it has some of encoded_size, encode and decode: set all of them, or none")),
    };
    if functions.check.is_some() && encoding != [true; 3] {
        return Err(invalid("it has a check but no encode"));
    }
    let [high, low] = functions.key.map(u128::from);
    Ok((table, functions.has_key.then_some(high << 64 | low)))
}

impl Table {
    /// Returns the table of a type of C.
    fn of(message_type: MessageType) -> Option<&'static Self> {
        let context = message_type.context();
        TABLES.lock().iter().copied().find(|table| ptr::from_ref(*table).cast::<()>() == context)
    }

    /// Returns the caller's context.
    fn context(&self) -> *mut c_void {
        self.functions.context
    }

    /// Returns why a value of the type has no encoded form.
    ///
    /// # Safety
    /// The pointer is to a value of the type.
    unsafe fn problem(&self, value: *const u8) -> Option<String> {
        let check = self.functions.check?;
        let mut sentence = Sentence::default();
        let (start, room) = sentence.place();
        // SAFETY: as the caller says; the sentence has that much room.
        let status = unsafe { check(self.functions.context, value.cast(), start, room) };
        (status != 0).then(|| match sentence.text().to_string_lossy() {
            empty if empty.is_empty() => format!("a value of {} has no encoded form", self.name),
            sentence => sentence.into_owned(),
        })
    }

    /// Returns the error of a decoding function of C.
    #[cold]
    fn refused(&'static self, sentence: &CStr) -> DecodeError {
        let sentence = match sentence.to_string_lossy() {
            empty if empty.is_empty() => "its decode function refused the bytes".into(),
            sentence => sentence,
        };
        let mut problems = self.problems.lock();
        let known = problems.iter().copied().find(|known| *known == sentence);
        let problem = known.unwrap_or_else(|| {
            if problems.len() >= MOST_PROBLEMS {
                return "its decode function refused the bytes, with a sentence that is not kept any more";
            }
            let kept: &'static str = Box::leak(sentence.into_owned().into_boxed_str());
            problems.push(kept);
            kept
        });
        DecodeError::Invalid { type_name: &self.name, field: "value", offset: 0, problem }
    }

    /// Reads a plain value.
    fn plain<'a>(&'static self, from: &'a [u8]) -> std::result::Result<&'a [u8], DecodeError> {
        let needed = HEADER + self.functions.value_size;
        match from {
            [one, other, ..] if [*one, *other] != OWN_CDR => Err(DecodeError::Representation {
                type_name: &self.name,
                identifier: u16::from_be_bytes([*one, *other]),
            }),
            _ => from.get(HEADER..needed).ok_or(DecodeError::Truncated {
                type_name: &self.name,
                field: "value",
                length: from.len(),
                needed,
            }),
        }
    }
}

/// Room for the problem that a function of the table writes.
struct Sentence([c_char; 256]);

impl Default for Sentence {
    fn default() -> Self {
        Self([0; 256])
    }
}

impl Sentence {
    fn place(&mut self) -> (*mut c_char, usize) {
        (self.0.as_mut_ptr(), self.0.len())
    }

    fn text(&mut self) -> &CStr {
        self.0[self.0.len() - 1] = 0;
        // SAFETY: it ends with a NUL, at the latest with that one.
        unsafe { CStr::from_ptr(self.0.as_ptr()) }
    }
}

/// A type of C of which some values have no encoded form.
#[derive(Clone, Copy)]
pub(crate) struct Checked(&'static Table);

impl Checked {
    /// Returns the type if it has such values.
    pub(crate) fn of(message_type: MessageType) -> Option<Self> {
        Table::of(message_type).filter(|table| table.functions.check.is_some()).map(Self)
    }

    /// Checks that a value has an encoded form.
    ///
    /// # Safety
    /// The pointer is to a value of the type.
    pub(crate) unsafe fn check(self, value: NonNull<u8>) -> Result {
        // SAFETY: as the caller says.
        let problem = unsafe { self.0.problem(value.as_ptr()) };
        problem.map_or(Ok(()), |problem| Err(Failure::new(ErrorCode::Unencodable, problem)))
    }
}

/// Ends a function of the table as one of Rust that panics; without a message of the panic hook, as
/// nothing is wrong with this library.
#[cold]
fn fail(table: &Table, function: &str, status: sinew_status) -> ! {
    let (sentence, _) = last(status);
    resume_unwind(Box::new(format!(
        "the function `{function}` of the table of {} returned {status}: {sentence}",
        table.name
    )))
}

/// # Safety
/// The context of a table made here.
unsafe fn table_of(context: *const ()) -> &'static Table {
    // SAFETY: as the caller says; tables in use are never freed.
    unsafe { &*context.cast::<Table>() }
}

/// # Safety
/// As for [`TypeTable::drop`]; so are those below for their like.
unsafe fn drop_value(context: *const (), value: *mut u8) {
    // SAFETY: this function is in such tables only.
    let table = unsafe { table_of(context) };
    if let Some(drop) = table.functions.drop {
        // SAFETY: as the caller says.
        unsafe { drop(table.functions.context, value.cast()) };
    }
}

/// # Safety
/// As for [`TypeTable::free`].
unsafe fn free(context: *const (), memory: *mut u8) {
    // SAFETY: this function is in such tables only.
    let table = unsafe { table_of(context) };
    if let Some(free) = table.functions.free {
        // SAFETY: as the caller says.
        unsafe { free(table.functions.context, memory.cast()) };
    }
}

/// # Safety
/// As for [`TypeTable::create`].
unsafe fn create(context: *const (), place: *mut u8) {
    // SAFETY: this function is in such tables only.
    let table = unsafe { table_of(context) };
    if let Some(create) = table.functions.create {
        // SAFETY: as the caller says.
        let status = unsafe { create(table.functions.context, place.cast()) };
        if status != 0 {
            fail(table, "create", status);
        }
    } else {
        // SAFETY: a place for a value; of a plain type, since others have the function.
        unsafe { place.write_bytes(0, table.functions.value_size) };
    }
}

/// # Safety
/// As for [`TypeTable::clone`].
unsafe fn clone(context: *const (), from: *const u8, place: *mut u8) {
    // SAFETY: this function is in such tables only.
    let table = unsafe { table_of(context) };
    if let Some(clone) = table.functions.clone {
        // SAFETY: as the caller says.
        let status = unsafe { clone(table.functions.context, from.cast(), place.cast()) };
        if status != 0 {
            fail(table, "clone", status);
        }
    } else {
        // SAFETY: a value and a place for one; of a plain type, since others have the function.
        unsafe { place.copy_from_nonoverlapping(from, table.functions.value_size) };
    }
}

/// # Safety
/// As for [`TypeTable::stamp`].
unsafe fn stamp(context: *const (), value: *const u8) -> i64 {
    // SAFETY: this function is in such tables only.
    let table = unsafe { table_of(context) };
    // SAFETY: as the caller says.
    table.functions.stamp.map_or(0, |stamp| unsafe { stamp(table.functions.context, value.cast()) })
}

/// # Safety
/// As for [`EncodingTable::size`].
unsafe fn size(context: *const (), value: *const u8) -> usize {
    // SAFETY: this function is in such tables only.
    let table = unsafe { table_of(context) };
    match table.functions.encoded_size {
        // SAFETY: as the caller says.
        Some(size) => unsafe { size(table.functions.context, value.cast()) },
        None => HEADER + table.functions.value_size,
    }
}

/// # Safety
/// As for [`EncodingTable::encode`].
unsafe fn encode(context: *const (), value: *const u8, to: &mut [u8]) {
    // SAFETY: this function is in such tables only.
    let table = unsafe { table_of(context) };
    if let Some(encode) = table.functions.encode {
        // Publishers have checked their values already. Requests and responses that leave the process
        // have not been: their senders notice the panic.
        // SAFETY: as the caller says.
        if let Some(problem) = unsafe { table.problem(value) } {
            resume_unwind(Box::new(problem));
        }
        // SAFETY: as the caller says.
        unsafe { encode(table.functions.context, value.cast(), to.as_mut_ptr(), to.len()) };
        return;
    }
    // SAFETY: a plain value consists of that many bytes, without padding.
    let value = unsafe { std::slice::from_raw_parts(value, table.functions.value_size) };
    let (header, fields) = to.split_at_mut(HEADER);
    header.copy_from_slice(&[OWN_CDR[0], OWN_CDR[1], 0, 0]);
    fields.copy_from_slice(value);
}

/// # Safety
/// As for [`EncodingTable::decode`].
unsafe fn decode(
    context: *const (),
    from: &[u8],
    to: *mut u8,
    filled: bool,
) -> std::result::Result<(), DecodeError> {
    // SAFETY: this function is in such tables only.
    let table = unsafe { table_of(context) };
    let Some(decode) = table.functions.decode else {
        let value = table.plain(from)?;
        // SAFETY: a place for a value, for which any bytes are valid.
        unsafe { ptr::copy_nonoverlapping(value.as_ptr(), to, value.len()) };
        return Ok(());
    };
    let mut sentence = Sentence::default();
    let (start, room) = sentence.place();
    let (length, context) = (from.len(), table.functions.context);
    // SAFETY: as the caller says; the sentence has that much room.
    let status = unsafe { decode(context, from.as_ptr(), length, to.cast(), filled, start, room) };
    if status == 0 {
        return Ok(());
    }
    Err(table.refused(sentence.text()))
}
