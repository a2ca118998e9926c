//! A class of another language.

use sinew::erased::{EncodingTable, Message, MessageType, TypeTable};
use sinew::error::DecodeError;
use sinew::msg::TypeHash;
use sinew_interfaces::std_msgs::msg;
use std::alloc::{Layout, alloc, dealloc};
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering::SeqCst};

/// A value of the class. It points to itself, as the short strings and lists of C++ do: nobody may
/// move it.
#[repr(C)]
pub(crate) struct Value {
    itself: *const Value,
    text: ManuallyDrop<String>,
}

/// Bytes that the class's allocator keeps before each value, so that no other one can free it.
const LEAD: usize = 64;

/// The class, with counts of its work. It is the context of its functions.
#[derive(Default)]
pub(crate) struct Class {
    pub(crate) dropped: AtomicU64,
    pub(crate) freed: AtomicU64,
    pub(crate) cloned: AtomicU64,
    pub(crate) encoded: AtomicU64,
    pub(crate) decoded: AtomicU64,
    /// Values decoded over another one.
    pub(crate) replaced: AtomicU64,
    pub(crate) panics: AtomicBool,
    older: AtomicPtr<Class>,
}

impl Class {
    pub(crate) fn new() -> &'static Self {
        /// Classes live as long as the process; so what looks for leaks finds them.
        static NEWEST: AtomicPtr<Class> = AtomicPtr::new(std::ptr::null_mut());
        let class: &'static Self = Box::leak(Box::default());
        class.older.store(NEWEST.swap((&raw const *class).cast_mut(), SeqCst), SeqCst);
        class
    }

    pub(crate) fn counts(&self) -> [u64; 5] {
        [&self.dropped, &self.freed, &self.cloned, &self.encoded, &self.decoded]
            .map(|count| count.load(SeqCst))
    }

    /// The table of the class, with the name and hash of `std_msgs/msg/String`.
    pub(crate) fn table(&'static self) -> TypeTable {
        let encoding = <msg::String as sinew::Message>::ENCODING.unwrap();
        let mut table = TypeTable::new(encoding.name, Layout::new::<Value>());
        table.hash = Some(encoding.hash);
        table.description = encoding.description.unwrap().describe();
        table.context = (&raw const *self).cast();
        table.drop = Some(drop_value);
        table.free = Some(free);
        table.create = Some(create);
        table.clone = Some(clone);
        table.encoding = Some(EncodingTable { size, encode, decode, is_plain: false });
        table
    }

    pub(crate) fn register(&'static self) -> MessageType {
        // SAFETY: the functions do what is asked of them; the class lives for ever.
        unsafe { MessageType::register(None, self.table()) }.unwrap()
    }

    pub(crate) fn register_as(&'static self, hash: u8) -> MessageType {
        let mut table = self.table();
        (table.hash, table.description) = (Some(TypeHash([hash; 32])), None);
        // SAFETY: as in `register`.
        unsafe { MessageType::register(None, table) }.unwrap()
    }

    /// Makes a value in the class's own memory: `new Value(text)`.
    pub(crate) fn make(text: &str) -> NonNull<u8> {
        // SAFETY: the layout has a size.
        let memory = unsafe { alloc(memory_layout()) };
        // SAFETY: within the allocation.
        let value = unsafe { memory.add(LEAD) };
        put(text, value);
        NonNull::new(value).unwrap()
    }

    /// A message of it, by adoption.
    pub(crate) fn message(&self, of: MessageType, text: &str) -> Message {
        // SAFETY: a value of the class, given up here.
        unsafe { Message::adopt(of, Self::make(text)) }.unwrap()
    }

    /// Ends a value that came back: `delete value`.
    pub(crate) fn delete(&self, value: NonNull<u8>) {
        let context = (&raw const *self).cast();
        // SAFETY: a value that belongs to the caller, made by `make`.
        unsafe { drop_value(context, value.as_ptr()) };
        // SAFETY: its memory.
        unsafe { free(context, value.as_ptr()) };
    }
}

fn memory_layout() -> Layout {
    Layout::from_size_align(LEAD + size_of::<Value>(), LEAD).unwrap()
}

fn put(text: &str, place: *mut u8) {
    let place = place_at(place);
    let value = Value { itself: place.as_ptr(), text: ManuallyDrop::new(text.to_owned()) };
    // SAFETY: a place for a value that is the caller's alone.
    unsafe { place.write(value) };
}

/// The text of a value.
pub(crate) fn text(value: NonNull<u8>) -> String {
    value_at(value.as_ptr()).text.as_str().to_owned()
}

/// The text of a message that has a value.
pub(crate) fn text_of(message: &Message) -> String {
    text(message.value().expect("a value"))
}

fn place_at(place: *mut u8) -> NonNull<Value> {
    let place = NonNull::new(place).expect("a place").cast::<Value>();
    assert!(place.is_aligned());
    place
}

fn value_at<'a>(value: *const u8) -> &'a Value {
    // SAFETY: the core passes values of the class.
    let value = unsafe { place_at(value.cast_mut()).as_ref() };
    assert!(std::ptr::eq(value, value.itself), "a value was moved");
    value
}

fn class<'a>(context: *const ()) -> &'a Class {
    // SAFETY: the context of the table.
    unsafe { &*context.cast::<Class>() }
}

unsafe fn drop_value(context: *const (), value: *mut u8) {
    value_at(value);
    class(context).dropped.fetch_add(1, SeqCst);
    // SAFETY: the core passes a value that is the caller's alone.
    let value = unsafe { place_at(value).as_mut() };
    // SAFETY: it is dropped once, here.
    unsafe { ManuallyDrop::drop(&mut value.text) };
    assert!(!class(context).panics.load(SeqCst), "the destructor fails");
}

unsafe fn free(context: *const (), memory: *mut u8) {
    class(context).freed.fetch_add(1, SeqCst);
    // SAFETY: from `make`, which has put it there.
    let memory = unsafe { memory.sub(LEAD) };
    // SAFETY: allocated with this layout.
    unsafe { dealloc(memory, memory_layout()) };
}

unsafe fn create(_: *const (), place: *mut u8) {
    put("", place);
}

unsafe fn clone(context: *const (), from: *const u8, place: *mut u8) {
    assert!(!class(context).panics.load(SeqCst), "the copy constructor fails");
    class(context).cloned.fetch_add(1, SeqCst);
    put(value_at(from).text.as_str(), place);
}

unsafe fn size(_: *const (), value: *const u8) -> usize {
    4 + 4 + value_at(value).text.len() + 1
}

unsafe fn encode(context: *const (), value: *const u8, to: &mut [u8]) {
    class(context).encoded.fetch_add(1, SeqCst);
    let text = value_at(value).text.as_bytes();
    let length = u32::try_from(text.len() + 1).unwrap();
    to[..4].copy_from_slice(&[0, 1, 0, 0]);
    to[4..8].copy_from_slice(&length.to_le_bytes());
    to[8..8 + text.len()].copy_from_slice(text);
    to[8 + text.len()] = 0;
}

unsafe fn decode(context: *const (), from: &[u8], to: *mut u8, filled: bool) -> Result<(), DecodeError> {
    class(context).decoded.fetch_add(1, SeqCst);
    let invalid = |problem| DecodeError::Invalid { type_name: "String", field: "data", offset: 4, problem };
    let text = from.get(8..from.len() - 1).ok_or(invalid("no text"))?;
    let text = str::from_utf8(text).map_err(|_| invalid("not UTF-8"))?;
    match filled {
        true => drop(class(context).replaced.fetch_add(1, SeqCst)),
        false => put("", to),
    }
    // SAFETY: there is a value now, which is the caller's alone.
    let value = unsafe { place_at(to).as_mut() };
    value.text.clear();
    if class(context).panics.load(SeqCst) {
        (value.itself, *value.text) = (std::ptr::null(), String::new()); // it is no value any more
        panic!("the decoder fails");
    }
    value.text.push_str(text);
    Ok(())
}
