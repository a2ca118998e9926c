//! The counted reference and the table of a type.

use crate::class::{Class, text_of};
use crate::support::Number;
use sinew::erased::{EncodingTable, Message, MessageType, TypeError, TypeTable};
use sinew::msg::TypeHash;
use sinew::{Shared, Unique};
use std::alloc::Layout;
use std::thread;

#[test]
fn a_pointer_keeps_the_message_on_any_thread() {
    let class = Class::new();
    let message = class.message(class.register(), "hello");
    let keepers: Vec<_> = (0..4).map(|_| message.clone().into_raw().addr().get()).collect();
    let address = message.into_raw();
    let threads = keepers.into_iter().map(|keeper| {
        let raw = address.with_addr(keeper.try_into().unwrap());
        let message = SendPointer(raw);
        thread::spawn(move || {
            let SendPointer(raw) = { message };
            // SAFETY: from `into_raw`, given up here.
            let message = unsafe { Message::from_raw(raw) };
            text_of(&message)
        })
    });
    let threads: Vec<_> = threads.collect();
    assert!(threads.into_iter().all(|thread| thread.join().unwrap() == "hello"));
    assert_eq!(class.counts(), [0; 5]);
    // SAFETY: the last one.
    let message = unsafe { Message::from_raw(address) };
    assert!(message.is_sole());
    drop(message);
    assert_eq!(class.counts(), [1, 1, 0, 0, 0]);
}

/// A pointer for another thread.
struct SendPointer(std::ptr::NonNull<()>);

// SAFETY: the message may be used on any thread.
unsafe impl Send for SendPointer {}

#[test]
fn a_place_without_a_value_drops_none() {
    let class = Class::new();
    let string = class.register();
    drop(Message::uninit(string));
    assert_eq!(class.counts(), [0; 5]);
    let empty = Message::uninit(string);
    assert_eq!(empty.message_type(), string);
    let (place, from) = (empty.place(), class.message(string, "hello"));
    let copy = from.duplicate().unwrap();
    assert_eq!((text_of(&copy).as_str(), copy.is_sole()), ("hello", true));
    let mut table = class.table();
    let (clone, context) = (table.clone.take().unwrap(), table.context);
    // SAFETY: a value of the class, and a place for another one.
    unsafe { clone(context, from.value().unwrap().as_ptr(), place.as_ptr()) };
    // SAFETY: written just now.
    let message = unsafe { empty.assume_init() };
    assert_eq!((message.value(), text_of(&message).as_str()), (Some(place), "hello"));
    assert!(message.into_adopted().is_err(), "it lies in a block");
    drop((from, copy));
    assert_eq!(class.counts(), [3, 1, 2, 0, 0]);
}

#[test]
fn a_message_of_rust_is_itself_again() {
    let message = Message::from(Unique::new(Number(7)));
    assert_eq!((message.value_of::<Number>(), message.duplicate().is_none()), (Some(&Number(7)), true));
    let mut bytes = [0; 8];
    assert_eq!((message.encode_into(&mut bytes[..7]), message.encode_into(&mut bytes)), (None, Some(8)));
    let encoded = Message::encoded_from(message.message_type(), &bytes).unwrap();
    assert_eq!(encoded.into_value().unwrap().into_unique::<Number>().unwrap().0, 7);
    let shared: Shared<Number> = message.into_shared().unwrap();
    let again = Message::from(shared.clone()).into_unique::<Number>();
    assert!(again.is_err(), "there are two");
    let boxed = Box::into_raw(Box::new(Number(8)));
    let place = std::ptr::NonNull::new(boxed).unwrap().cast();
    // SAFETY: of a box, given up here.
    let adopted = unsafe { Message::adopt(MessageType::of::<Number>(), place) }.unwrap();
    assert_eq!(*adopted.into_unique::<Number>().unwrap().into_box(), Number(8));
}

#[test]
fn one_key_is_one_type() {
    let (one, two) = (Class::new(), Class::new());
    let register = |class: &'static Class, hash| {
        let mut table = class.table();
        (table.hash, table.description) = (Some(TypeHash([hash; 32])), None);
        // SAFETY: both are the same class.
        unsafe { MessageType::register(Some(77), table) }
    };
    let (first, second) = (register(one, 1).unwrap(), register(two, 1).unwrap());
    assert_eq!((first, second.context()), (second, (&raw const *one).cast()));
    let error = register(two, 2).unwrap_err();
    assert!(matches!(error, TypeError::KeyTaken { key: 77, .. }), "{error}");
    assert_ne!(one.register(), one.register());
}

#[test]
fn a_table_that_contradicts_itself_is_refused() {
    let class = Class::new();
    let refused = |change: &dyn Fn(&mut TypeTable)| {
        let mut table = class.table();
        change(&mut table);
        // SAFETY: it is refused.
        unsafe { MessageType::register(None, table) }.unwrap_err()
    };
    assert!(matches!(refused(&|table| table.name = "String".to_owned()), TypeError::Name { .. }));
    assert!(matches!(refused(&|table| table.hash = None), TypeError::NoHash { .. }));
    assert!(matches!(refused(&|table| table.hash = Some(TypeHash([1; 32]))), TypeError::Description { .. }));
    let plain = refused(&|table| {
        let encoding = table.encoding.unwrap();
        table.encoding = Some(EncodingTable { is_plain: true, ..encoding });
    });
    assert!(matches!(plain, TypeError::PlainWithDrop { .. }), "{plain}");
    let large = Layout::from_size_align(isize::MAX as usize - 7, 8).unwrap();
    assert!(matches!(refused(&|table| table.layout = large), TypeError::TooLarge { .. }));
    let nameless = |table: &mut TypeTable| (table.name, table.encoding) = (String::new(), None);
    assert!(matches!(refused(&nameless), TypeError::Name { .. }));
}

#[test]
fn values_of_no_size_and_of_great_alignment_have_their_place() {
    for layout in [Layout::new::<()>(), Layout::from_size_align(24, 4096).unwrap()] {
        // SAFETY: values are bytes, and there are no functions.
        let known = unsafe { MessageType::register(None, TypeTable::new("odd", layout)) }.unwrap();
        assert_eq!((known.layout(), known.has_encoding(), known.hash()), (layout, false, None));
        let empty = Message::uninit(known);
        // SAFETY: of the layout's size.
        unsafe { empty.place().as_ptr().write_bytes(7, layout.size()) };
        // SAFETY: bytes are values.
        let message = unsafe { empty.assume_init() };
        assert!(message.value().unwrap().addr().get().is_multiple_of(layout.align()));
        assert_eq!((message.encoded_length(), message.duplicate().is_none()), (None, true));
        let value = message.value().unwrap();
        // SAFETY: refused, so nothing is given up.
        let adopted = unsafe { Message::adopt(known, value) };
        assert!(adopted.is_none(), "it could not be freed");
    }
}
