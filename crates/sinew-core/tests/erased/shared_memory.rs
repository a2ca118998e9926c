//! Messages of a class between participants that share nothing but memory.

use crate::class::{Class, text, text_of};
use crate::support::PATIENCE;
use sinew::erased::{EncodingTable, MessageRef, MessageType, TypeTable};
use sinew::error::DecodeError;
use sinew::event::MessageLost;
use sinew::msg::TypeHash;
use sinew::prelude::*;
use sinew_interfaces::std_msgs::msg;
use std::alloc::Layout;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::mpsc;

fn contexts() -> (tempfile::TempDir, [Context; 2]) {
    let place = tempfile::tempdir_in("/dev/shm").expect("shared memory");
    let contexts = [(); 2].map(|()| Context::builder().domain(3).directory(place.path()).build().unwrap());
    (place, contexts)
}

#[test]
fn a_class_is_encoded_here_and_decoded_there() -> sinew::Result<()> {
    let (_place, [here, there]) = contexts();
    let (class, others) = (Class::new(), Class::new());
    let (string, same) = (class.register(), others.register());
    let (sender, receiver) = (here.node("sender")?, there.node("receiver")?);
    let publisher = sender.erased_publisher("text", string).create_erased()?;
    let values = receiver.erased_subscription("text", same).owned().create_erased()?;
    let encoded = receiver.erased_subscription("text", same).accept_encoded().create_erased()?;
    let rust = receiver.subscription::<msg::String>("text").create()?;
    assert!(publisher.wait_for_subscribers(3, PATIENCE) && values.wait_for_publishers(1, PATIENCE));
    assert!(encoded.wait_for_publishers(1, PATIENCE) && rust.wait_for_publishers(1, PATIENCE));
    let long = "hello ".repeat(1000);
    publisher.publish(class.message(string, &long)).unwrap();
    assert!(values.bring_in(PATIENCE) && encoded.bring_in(PATIENCE) && rust.bring_in(PATIENCE));
    let value = values.take().unwrap().0;
    assert_eq!((text_of(&value), value.message_type(), value.is_sole()), (long.clone(), same, true));
    let bytes = encoded.take().unwrap().0;
    assert_eq!((bytes.is_encoded(), bytes.encoded_length(), bytes.is_sole()), (true, Some(9 + 6000), false));
    assert_eq!(text_of(&bytes.into_value().unwrap()), long);
    assert_eq!(rust.take().unwrap().0.data, long);
    drop(value);
    assert_eq!(class.counts(), [1, 1, 0, 1, 0]);
    assert_eq!(others.counts(), [1, 0, 0, 0, 2]); // the first one keeps its block
    Ok(())
}

#[test]
fn a_decoder_that_panics_loses_the_message_and_no_thread() -> sinew::Result<()> {
    let (_place, [here, there]) = contexts();
    let (class, others) = (Class::new(), Class::new());
    let (string, same) = (class.register(), others.register());
    let publisher = here.node("sender")?.erased_publisher("text", string).create_erased()?;
    let (say, lost) = mpsc::channel();
    let receiver = there.node("receiver")?;
    let values = receiver
        .erased_subscription("text", same)
        .on_message_lost(move |event: &MessageLost| say.send(event.total).unwrap())
        .create_erased()?;
    let executor = Executor::single();
    executor.add(&there)?;
    // The thread that receives for listeners decodes.
    let (bell, news) = mpsc::channel();
    values.set_listener(move |count| bell.send(count).unwrap());
    assert!(publisher.wait_for_subscribers(1, PATIENCE) && values.wait_for_publishers(1, PATIENCE));
    for (round, panics) in [false, true, true, false, false].into_iter().enumerate() {
        others.panics.store(panics, SeqCst);
        publisher.publish(class.message(string, &format!("text {round}"))).unwrap();
        if panics {
            let before = lost.try_iter().count();
            assert_eq!(before, 0);
            while lost.try_iter().count() == 0 {
                executor.spin_once(PATIENCE)?;
            }
        } else {
            assert_eq!(news.recv_timeout(PATIENCE), Ok(1));
            assert_eq!(text_of(&values.take().unwrap().0), format!("text {round}"));
        }
    }
    let counts = values.statistics();
    assert_eq!((counts.taken, counts.overwritten), (3, 2));
    // The first value was left broken, and is neither used nor dropped; the second block had none.
    assert_eq!((others.replaced.load(SeqCst), others.counts()), (2, [0, 0, 0, 0, 5]));
    Ok(())
}

#[test]
fn a_filter_that_panics_loses_the_message_and_no_thread() -> sinew::Result<()> {
    let (_place, [here, there]) = contexts();
    let class = Class::new();
    let string = class.register();
    let publisher = here.node("sender")?.erased_publisher("text", string).create_erased()?;
    let receiver = there.node("receiver")?;
    let filter = |message: MessageRef<'_>| {
        let text = text(message.value().unwrap());
        assert_ne!(text, "bad", "the filter fails");
        true
    };
    let values = receiver.erased_subscription("text", string).filter_erased(filter).create_erased()?;
    let (bell, news) = mpsc::channel();
    values.set_listener(move |count| bell.send(count).unwrap());
    assert!(publisher.wait_for_subscribers(1, PATIENCE) && values.wait_for_publishers(1, PATIENCE));
    for text in ["bad", "bad", "good"] {
        publisher.publish(class.message(string, text)).unwrap();
    }
    assert_eq!(news.recv_timeout(PATIENCE), Ok(1));
    assert_eq!(text_of(&values.take().unwrap().0), "good");
    assert_eq!(values.statistics().overwritten, 2);
    Ok(())
}

#[test]
fn a_filter_that_panics_loses_the_retained_message_alone() -> sinew::Result<()> {
    let (_place, [here, there]) = contexts();
    let class = Class::new();
    let (string, qos) = (class.register(), QoS::new().keep_last(5).transient_local());
    let publisher = here.node("sender")?.erased_publisher("text", string).qos(qos).create_erased()?;
    for text in ["bad", "good"] {
        publisher.publish(class.message(string, text)).unwrap();
    }
    let filter = |message: MessageRef<'_>| {
        assert_ne!(text(message.value().unwrap()), "bad", "the filter fails");
        true
    };
    let receiver = there.node("receiver")?;
    let late = receiver.erased_subscription("text", string).qos(qos).filter_erased(filter).create_erased()?;
    let (bell, news) = mpsc::channel();
    late.set_listener(move |count| bell.send(count).unwrap());
    assert_eq!(news.recv_timeout(PATIENCE), Ok(1));
    assert_eq!(text_of(&late.take().unwrap().0), "good");
    assert_eq!((late.take().map(drop), late.statistics().overwritten), (None, 1));
    Ok(())
}

#[test]
fn a_plain_class_is_read_where_it_was_written() -> sinew::Result<()> {
    let (_place, [here, there]) = contexts();
    let [one, two] = [(); 2].map(|()| {
        let mut table = TypeTable::new("test_msgs/msg/Cloud", Layout::new::<Cloud>());
        table.hash = Some(TypeHash([6; 32]));
        table.encoding = Some(EncodingTable { size, encode, decode, is_plain: true });
        // SAFETY: a cloud is nothing but its bytes.
        unsafe { MessageType::register(None, table) }.unwrap()
    });
    let publisher = here.node("sender")?.erased_publisher("cloud", one).create_erased()?;
    let subscription = there.node("receiver")?.erased_subscription("cloud", two).create_erased()?;
    assert!(publisher.wait_for_subscribers(1, PATIENCE) && subscription.wait_for_publishers(1, PATIENCE));
    let mut loan = publisher.loan().expect("zeros");
    let value = loan.value_mut().expect("the only one").cast::<Cloud>();
    // SAFETY: a cloud, of which this is the only reference.
    unsafe { value.as_ptr().write([7; 2000]) };
    publisher.publish(loan).unwrap();
    assert!(subscription.bring_in(PATIENCE));
    let mut message = subscription.take().unwrap().0;
    // SAFETY: a cloud, alive through `message`.
    let cloud = unsafe { message.value().unwrap().cast::<Cloud>().as_ref() };
    assert!(cloud.iter().all(|&point| point == 7));
    assert!(message.value_mut().is_none(), "its publisher reads it, too");
    assert_eq!((publisher.statistics().copies, subscription.statistics().copies), (0, 0));
    Ok(())
}

type Cloud = [u32; 2000];

unsafe fn size(_: *const (), _: *const u8) -> usize {
    4 + size_of::<Cloud>()
}

unsafe fn encode(_: *const (), value: *const u8, to: &mut [u8]) {
    to[..4].copy_from_slice(&[0, 1, 0, 0]);
    // SAFETY: a cloud.
    let bytes = unsafe { std::slice::from_raw_parts(value, size_of::<Cloud>()) };
    to[4..].copy_from_slice(bytes);
}

unsafe fn decode(_: *const (), from: &[u8], to: *mut u8, _filled: bool) -> Result<(), DecodeError> {
    let bytes = &from[4..];
    assert_eq!(bytes.len(), size_of::<Cloud>());
    // SAFETY: a place for a cloud, which is bytes.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
    Ok(())
}
