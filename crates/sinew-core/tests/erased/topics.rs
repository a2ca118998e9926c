//! Messages of a class within a process.

use crate::class::{Class, text, text_of};
use crate::support::{Number, Room};
use sinew::erased::{Hint, MessageRef, MessageType, Taken};
use sinew::error::{CreateError, PublishFailure};
use sinew::event::IncompatibleType;
use sinew::msg::{GenericType, SerializedMessage, TypeHash};
use sinew::qos::QosOverrides;
use sinew_interfaces::std_msgs::msg;
use std::sync::mpsc;

#[test]
fn a_value_moves_from_one_node_to_another_where_it_lies() -> sinew::Result<()> {
    let (room, class) = (Room::new(), Class::new());
    let (string, other) = (class.register(), room.context.node("other")?);
    let publisher = room.node.erased_publisher("text", string).create_erased()?;
    let subscription = other.erased_subscription("text", string).owned().create_erased()?;
    let value = Class::make("hello");
    // SAFETY: a value of the class, given up here.
    let message = unsafe { publisher.adopt(value) }.unwrap();
    publisher.publish(message).unwrap();
    let (message, info) = subscription.take().unwrap();
    assert_eq!((message.value(), message.is_sole(), info.publisher()), (Some(value), true, publisher.gid()));
    let value = message.into_adopted().unwrap();
    assert_eq!((text(value).as_str(), class.counts()), ("hello", [0, 0, 0, 0, 0]));
    class.delete(value);
    assert_eq!((publisher.statistics().copies, subscription.statistics().copies), (0, 0));
    Ok(())
}

#[test]
fn a_value_is_adopted_and_published_at_once() -> sinew::Result<()> {
    let (room, class) = (Room::new(), Class::new());
    let string = class.register();
    let publisher = room.node.erased_publisher("text", string).create_erased()?;
    publisher.prefetch(Hint::new(std::ptr::without_provenance(1), 1 << 20)); // nothing is there
    let subscription = room.node.erased_subscription("text", string).owned();
    let subscription = subscription.prefetch(Hint::new(std::ptr::null(), 64)).create_erased()?;
    let value = Class::make("hello");
    // SAFETY: a value of the class, given up here.
    unsafe { publisher.publish_adopted(value) }.unwrap().unwrap();
    let taken = subscription.take().unwrap().0.into_adopted().unwrap();
    assert_eq!((taken, text(taken).as_str(), class.counts()), (value, "hello", [0, 0, 0, 0, 0]));
    room.context.shutdown();
    // SAFETY: as above.
    let refused = unsafe { publisher.publish_adopted(taken) }.unwrap();
    assert!(matches!(refused.unwrap_err().failure(), PublishFailure::Shutdown));
    assert_eq!(class.counts(), [1, 1, 0, 0, 0], "it was given up, and dropped");
    Ok(())
}

#[test]
fn a_value_of_the_callers_is_copied_once() -> sinew::Result<()> {
    let (room, class) = (Room::new(), Class::new());
    let string = class.register();
    let publisher = room.node.erased_publisher("text", string).create_erased()?;
    let subscription = room.node.erased_subscription("text", string).owned().create_erased()?;
    let value = Class::make("hello");
    // SAFETY: a value of the class, which stays here.
    let message = unsafe { publisher.copy(value) }.unwrap();
    publisher.publish(message).unwrap();
    assert_eq!(text_of(&subscription.take().unwrap().0), "hello");
    assert_eq!((class.counts(), publisher.statistics().copies), ([1, 0, 1, 0, 0], 1));
    class.delete(value);
    let numbers = room.node.erased_publisher("numbers", MessageType::of_clone::<Number>()).create_erased()?;
    // SAFETY: a value of the type.
    assert!(unsafe { numbers.copy(std::ptr::NonNull::from(&Number(7)).cast()) }.is_none());
    Ok(())
}

#[test]
fn parameters_change_the_qos_of_ends_without_a_type() -> sinew::Result<()> {
    let (room, string) = (Room::new(), Class::new().register());
    let publisher =
        room.node.erased_publisher("text", string).qos_overrides(QosOverrides::default()).create_erased()?;
    let subscription = room
        .node
        .erased_subscription("text", string)
        .qos_overrides(QosOverrides::default())
        .create_erased()?;
    for end in ["publisher", "subscription"] {
        let depth = room.node.parameter_value(&format!("qos_overrides.{}.{end}.depth", publisher.topic()));
        assert_eq!(depth, Some(10.into()));
    }
    assert_eq!(publisher.qos(), subscription.qos());
    Ok(())
}

#[test]
fn two_owners_get_one_copy() -> sinew::Result<()> {
    let (room, class) = (Room::new(), Class::new());
    let string = class.register();
    let publisher = room.node.erased_publisher("text", string).create_erased()?;
    let [one, two] =
        [(); 2].map(|()| room.node.erased_subscription("text", string).owned().create_erased().unwrap());
    let message = class.message(string, "hello");
    let value = message.value();
    publisher.publish(message).unwrap();
    let taken = [one, two].map(|subscription| subscription.take().unwrap().0);
    assert!(taken.iter().all(|message| message.is_sole() && text_of(message) == "hello"));
    assert_eq!(taken.iter().filter(|message| message.value() == value).count(), 1);
    assert_eq!(class.counts(), [0, 0, 1, 0, 0]);
    drop(taken);
    assert_eq!(class.counts(), [2, 1, 1, 0, 0]); // one of them was adopted
    Ok(())
}

#[test]
fn readers_share_the_value() -> sinew::Result<()> {
    let (room, class) = (Room::new(), Class::new());
    let string = class.register();
    let publisher = room.node.erased_publisher("text", string).create_erased()?;
    let [one, two] = [(); 2].map(|()| room.node.erased_subscription("text", string).create_erased().unwrap());
    publisher.publish(class.message(string, "hello")).unwrap();
    let (one, mut two) = (one.take().unwrap().0, two.take().unwrap().0);
    assert!(sinew::erased::Message::ptr_eq(&one, &two));
    assert!(!one.is_sole() && two.value_mut().is_none());
    let two = two.into_adopted().unwrap_err(); // another one reads it
    drop(one);
    assert!(two.is_sole());
    class.delete(two.into_adopted().unwrap());
    assert_eq!(class.counts(), [1, 1, 0, 0, 0]);
    Ok(())
}

#[test]
fn a_callback_gets_its_groups_state_and_the_message() -> sinew::Result<()> {
    let (room, class) = (Room::new(), Class::new());
    let string = class.register();
    let texts = room.node.group(Vec::<String>::new());
    let (read, said) = mpsc::channel();
    let _owner = texts.erased_subscription("text", string).owned().callback_erased(
        |texts: &mut Vec<String>, taken: Taken<'_>| {
            assert!(taken.message.is_sole() && taken.info().reception_sequence() > 0);
            texts.push(text_of(&taken.message));
        },
    )?;
    let _reader = texts
        .erased_subscription("text", string)
        .callback_erased(move |texts: &mut Vec<String>, _taken| read.send(texts.clone()).unwrap())?;
    let _any = room.node.reentrant_group().erased_subscription("text", string).callback_erased(
        |taken: Taken<'_>| match text_of(&taken.message).as_str() {
            "fail" => Err("as was asked"),
            _ => Ok(()),
        },
    )?;
    let publisher = room.node.erased_publisher("text", string).create_erased()?;
    publisher.publish(class.message(string, "hello")).unwrap();
    assert_eq!(room.run(), 3);
    assert_eq!(said.recv().unwrap(), ["hello"]);
    publisher.publish(class.message(string, "fail")).unwrap();
    let failed = room.executor.spin_all(crate::support::PATIENCE);
    assert!(failed.is_ok(), "the error is logged"); // as of any callback
    Ok(())
}

#[test]
fn a_class_meets_the_rust_type_of_its_name_and_hash() -> sinew::Result<()> {
    let (room, class) = (Room::new(), Class::new());
    let string = class.register();
    let rust = room.node.subscription::<msg::String>("text").create()?;
    let theirs = room.node.erased_subscription("text", string).create_erased()?;
    let publisher = room.node.erased_publisher("text", string).create_erased()?;
    publisher.publish(class.message(string, "from there")).unwrap();
    assert_eq!(rust.take().unwrap().0.data, "from there");
    assert_eq!(text_of(&theirs.take().unwrap().0), "from there"); // not converted
    assert_eq!(class.counts(), [1, 1, 0, 1, 0]);

    let publisher = room.node.publisher::<msg::String>("text").create()?;
    publisher.publish(msg::String { data: "from here".to_owned() })?;
    let message = theirs.take().unwrap().0;
    assert_eq!((message.message_type(), text_of(&message).as_str()), (string, "from here"));
    assert_eq!(class.counts()[4], 1);
    Ok(())
}

#[test]
fn encoded_messages_are_taken_as_they_are() -> sinew::Result<()> {
    let (room, class) = (Room::new(), Class::new());
    let string = class.register();
    let encoded = room.node.erased_subscription("text", string).accept_encoded().create_erased()?;
    let publisher = room.node.erased_publisher("text", string).create_erased()?;
    let mut bytes = [0; 64];
    let length = class.message(string, "hello").encode_into(&mut bytes).unwrap();
    let mut draft = publisher.draft(length).unwrap();
    draft.copy_from_slice(&bytes[..length]);
    publisher.publish(draft).unwrap();
    let message = encoded.take().unwrap().0;
    assert_eq!((message.is_encoded(), message.value()), (true, None));
    assert_eq!(message.encoded(), Some(&bytes[..length]));
    assert_eq!(text_of(&message.into_value().unwrap()), "hello");
    // A value stays one.
    publisher.publish(class.message(string, "hello")).unwrap();
    assert!(!encoded.take().unwrap().0.is_encoded());
    Ok(())
}

#[test]
fn an_encoded_message_is_of_the_type_of_its_publisher() -> sinew::Result<()> {
    let (room, class, others) = (Room::new(), Class::new(), Class::new());
    let (string, same) = (class.register(), others.register());
    let encoded = room.node.erased_subscription("text", string).accept_encoded().create_erased()?;
    let publisher = room.node.erased_publisher("text", string).create_erased()?;
    let other = room.node.erased_publisher("other", same).create_erased()?;
    let mut bytes = [0; 14];
    assert_eq!(class.message(string, "hello").encode_into(&mut bytes), Some(14));
    let draft = || {
        let mut draft = other.draft(14).unwrap();
        draft.copy_from_slice(&bytes);
        sinew::erased::Message::from(draft)
    };
    let published = |message| {
        publisher.publish(message).unwrap();
        let message = encoded.take().unwrap().0;
        assert_eq!((message.message_type(), message.encoded()), (string, Some(&bytes[..])));
        let value = message.into_value().unwrap();
        assert_eq!((text_of(&value), value.message_type()), ("hello".to_owned(), string));
    };
    let address = |message: &sinew::erased::Message| message.encoded().unwrap().as_ptr();
    let message = draft();
    let lies_at = address(&message);
    publisher.publish(message).unwrap();
    assert_eq!(address(&encoded.take().unwrap().0), lies_at, "the only reference is not copied");
    published(draft());
    let shared = draft();
    published(shared.clone());
    assert_eq!((shared.message_type(), shared.encoded()), (same, Some(&bytes[..])));
    published(sinew::erased::Message::encoded_from(same, &bytes).unwrap());
    assert_eq!(others.counts(), [0; 5]);
    // A message of a type that is known by name may hold its bytes as a value.
    let known = GenericType::new(string.name(), string.hash().unwrap()).unwrap();
    let bag = room.node.generic_subscription("bag", known).create()?;
    let recorder = room.node.generic_publisher("bag", known).create()?;
    recorder.publish(SerializedMessage::new(bytes.to_vec()))?;
    published(bag.take().unwrap().0.into());
    recorder.publish(SerializedMessage::new(vec![0; 3]))?;
    let short = bag.take().unwrap().0;
    let error = publisher.publish(short).unwrap_err();
    assert_eq!(error.failure(), PublishFailure::Undecodable);
    assert_eq!(error.into_message().encoded_length(), Some(3));
    Ok(())
}

#[test]
fn an_encoded_message_is_read_where_it_lies_by_subscriptions_of_other_types() -> sinew::Result<()> {
    let (room, class) = (Room::new(), Class::new());
    let (string, rust) = (class.register(), MessageType::of_clone::<msg::String>());
    let subscribe =
        |topic: &str, of| room.node.erased_subscription(topic, of).accept_encoded().create_erased();
    let (strings, rusts) = (subscribe("text", string)?, subscribe("relayed", rust)?);
    let publisher = room.node.erased_publisher("text", rust).create_erased()?;
    let relay = room.node.erased_publisher("relayed", string).create_erased()?;
    let mut bytes = [0; 14];
    class.message(string, "hello").encode_into(&mut bytes);
    let mut draft = publisher.draft(bytes.len()).unwrap();
    draft.copy_from_slice(&bytes);
    let lies_at = draft.as_ptr();
    publisher.publish(draft).unwrap();
    let message = strings.take().unwrap().0;
    assert_eq!((message.message_type(), message.encoded()), (string, Some(&bytes[..])));
    assert_eq!(message.encoded().unwrap().as_ptr(), lies_at);
    let kept = message.clone();
    relay.publish(message).unwrap();
    let message = rusts.take().unwrap().0;
    assert_eq!((message.message_type(), message.encoded().unwrap().as_ptr()), (rust, lies_at));
    drop(kept);
    assert_eq!(message.into_value().unwrap().value_of::<msg::String>().unwrap().data, "hello");
    assert_eq!([&publisher, &relay].map(|one| one.statistics().copies), [0; 2]);
    Ok(())
}

#[test]
fn a_bag_records_what_it_knows_by_name_only() -> sinew::Result<()> {
    let (room, class) = (Room::new(), Class::new());
    let string = class.register();
    let known = GenericType::new(string.name(), string.hash().unwrap()).unwrap();
    let bag = room.node.erased_subscription("text", MessageType::known(known)).create_erased()?;
    let played = room.node.erased_subscription("played", string).create_erased()?;
    let player = room.node.erased_publisher("played", MessageType::known(known)).create_erased()?;
    let publisher = room.node.erased_publisher("text", string).create_erased()?;
    publisher.publish(class.message(string, "hello")).unwrap();
    let message = bag.take().unwrap().0;
    assert!(message.is_encoded() && message.encoded_length() == Some(14));
    player.publish(message).unwrap();
    assert_eq!(text_of(&played.take().unwrap().0), "hello");
    // A typed publisher of bytes holds them as a value, which is encoded all the same.
    let typed = room.node.generic_publisher("text", known).create()?;
    typed.publish(SerializedMessage::new(vec![0, 1, 0, 0, 1, 0, 0, 0, 0]))?;
    let message = bag.take().unwrap().0;
    assert_eq!((message.value(), message.encoded().map(<[u8]>::len)), (None, Some(9)));
    Ok(())
}

#[test]
fn types_of_one_name_with_two_hashes_are_apart_and_say_so() -> sinew::Result<()> {
    let (room, class) = (Room::new(), Class::new());
    let (one, two) = (class.register_as(1), class.register_as(2));
    assert_ne!(one, two);
    let (say, said) = mpsc::channel();
    let _publisher = room
        .node
        .erased_publisher("text", one)
        .on_incompatible_type(move |event: &IncompatibleType| say.send(event.last_reason.clone()).unwrap())
        .create_erased()?;
    let subscription = room.node.erased_subscription("text", two).create_erased()?;
    assert_eq!(subscription.publisher_count(), 0);
    room.run();
    let reason = said.recv().unwrap();
    assert!(reason.contains("std_msgs/msg/String RIHS01_0101"), "{reason}");
    assert!(reason.contains("std_msgs/msg/String RIHS01_0202"), "{reason}");
    Ok(())
}

#[test]
fn a_message_of_another_type_comes_back() -> sinew::Result<()> {
    let (room, class) = (Room::new(), Class::new());
    let (string, other) = (class.register(), class.register_as(3));
    let publisher = room.node.erased_publisher("text", string).create_erased()?;
    let error = publisher.publish(class.message(other, "hello")).unwrap_err();
    let name = string.name();
    assert_eq!(error.failure(), PublishFailure::OtherType { publisher: name, message: name });
    assert_eq!(text_of(&error.into_message()), "hello");
    assert!(publisher.publish(sinew::Unique::new(Number(7))).is_err());
    assert_eq!((publisher.statistics().published, class.counts()), (0, [1, 1, 0, 0, 0]));
    Ok(())
}

#[test]
fn messages_of_rust_are_messages_of_any_type() -> sinew::Result<()> {
    let room = Room::new();
    let typed = room.node.publisher::<Number>("numbers").create()?;
    let any = room.node.erased_publisher("numbers", MessageType::of::<Number>()).create_erased()?;
    let owner = room
        .node
        .erased_subscription("numbers", MessageType::of_clone::<Number>())
        .owned()
        .create_erased()?;
    let reader = room.node.subscription::<Number>("numbers").create()?;
    typed.publish(Number(1))?;
    any.publish(sinew::Unique::new(Number(2))).unwrap();
    typed.erased().publish(sinew::Unique::new(Number(3))).unwrap();
    for number in 1..=3 {
        assert_eq!(owner.take().unwrap().0.into_unique::<Number>().unwrap().0, number);
        assert_eq!(reader.take().unwrap().0.0, number);
    }
    assert_eq!(owner.statistics().copies + typed.statistics().copies + any.statistics().copies, 3);
    Ok(())
}

#[test]
fn only_a_type_with_a_clone_function_can_be_owned() {
    let room = Room::new();
    let number = MessageType::of::<Number>();
    let error = room.node.erased_subscription("numbers", number).owned().create_erased().unwrap_err();
    assert!(matches!(error, CreateError::NoClone { .. }), "{error:?}");
    assert!(error.to_string().contains("`/numbers` can't own its messages"), "{error}");
}

#[test]
fn a_filter_sees_the_message() -> sinew::Result<()> {
    let (room, class) = (Room::new(), Class::new());
    let string = class.register();
    let short = |message: MessageRef<'_>| text(message.value().unwrap()).len() < 6;
    let subscription =
        room.node.erased_subscription("text", string).owned().filter_erased(short).create_erased()?;
    let publisher = room.node.erased_publisher("text", string).create_erased()?;
    for text in ["a long one", "short"] {
        publisher.publish(class.message(string, text)).unwrap();
    }
    assert_eq!(text_of(&subscription.take().unwrap().0), "short");
    assert_eq!((subscription.take().map(drop), class.counts()), (None, [2, 2, 0, 0, 0]));
    Ok(())
}

#[test]
fn a_loan_keeps_what_the_last_one_left() -> sinew::Result<()> {
    let (room, class) = (Room::new(), Class::new());
    let publisher = room.node.erased_publisher("text", class.register()).create_erased()?;
    let first = publisher.loan().unwrap();
    let value = first.value();
    assert_eq!(text_of(&first), "");
    publisher.publish(first).unwrap(); // to nobody
    assert_eq!((publisher.loan().unwrap().value(), class.counts()), (value, [0; 5]));
    drop(publisher);
    assert_eq!(class.counts(), [1, 0, 0, 0, 0]);
    let other = room.node.erased_publisher("hashes", MessageType::of::<Number>()).create_erased()?;
    assert!(other.loan().is_none(), "of Rust's types only the typed publisher knows the first value");
    Ok(())
}

#[test]
fn a_future_takes_the_next_message() -> sinew::Result<()> {
    let (room, class) = (Room::new(), Class::new());
    let string = class.register();
    let subscription = room.node.erased_subscription("text", string).create_erased()?;
    let publisher = room.node.erased_publisher("text", string).create_erased()?;
    publisher.publish(class.message(string, "hello")).unwrap();
    let taken = room.executor.spin_until(subscription.recv())?.unwrap();
    assert_eq!(text_of(&taken.0), "hello");
    Ok(())
}

#[test]
fn unused_hashes_are_those_of_nobody() {
    let class = Class::new();
    let known = class.register_as(9);
    assert_eq!((known.hash(), known.description()), (Some(TypeHash([9; 32])), None));
    assert!(class.register().description().is_some());
}
