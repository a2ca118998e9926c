//! Who gets which copy of a message, by address and by counting clones.

use crate::support;

use sinew::error::UnsentMessage;
use sinew::msg::BufferType;
use sinew::prelude::*;
use sinew::{Publisher, Shared, Unique};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use support::{Log, Number, Pen, Room, address};

/// A message that knows which instance it is: the original is 1, and every clone gets the next
/// number.
#[derive(Debug)]
struct Witness {
    instance: usize,
    /// Clones made of the original and of its clones. As many references as there are instances,
    /// and the test's own.
    clones: Arc<AtomicUsize>,
}

impl Message for Witness {}

impl Clone for Witness {
    fn clone(&self) -> Self {
        let instance = 2 + self.clones.fetch_add(1, Ordering::SeqCst);
        Self { instance, clones: self.clones.clone() }
    }
}

/// Counts clones, and gives out the original.
#[derive(Default)]
struct Counter(Arc<AtomicUsize>);

impl Counter {
    fn original(&self) -> Witness {
        Witness { instance: 1, clones: self.0.clone() }
    }

    fn clones(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }

    /// How many instances exist now.
    fn alive(&self) -> usize {
        Arc::strong_count(&self.0) - 1
    }
}

/// What a reader saw: which instance, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Seen {
    reader: usize,
    instance: usize,
    address: usize,
}

impl Seen {
    fn new(reader: usize, message: &Witness) -> Self {
        Self { reader, instance: message.instance, address: address(message) }
    }
}

/// A way to read messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reader {
    // Owners.
    UniqueCallback,
    BoxCallback,
    ValueCallback,
    RefCallbackOnUniqueBuffer,
    PolledUnique,
    // Sharers.
    RefCallback,
    SharedCallback,
    PolledDefault,
    PolledShared,
    // By value.
    RefCallbackOnValueBuffer,
    UniqueCallbackOnValueBuffer,
    ValueCallbackOnValueBuffer,
    PolledValue,
}

const OWNERS: [Reader; 5] = [
    Reader::UniqueCallback,
    Reader::BoxCallback,
    Reader::ValueCallback,
    Reader::RefCallbackOnUniqueBuffer,
    Reader::PolledUnique,
];
const SHARERS: [Reader; 4] =
    [Reader::RefCallback, Reader::SharedCallback, Reader::PolledDefault, Reader::PolledShared];
const VALUES: [Reader; 4] = [
    Reader::RefCallbackOnValueBuffer,
    Reader::UniqueCallbackOnValueBuffer,
    Reader::ValueCallbackOnValueBuffer,
    Reader::PolledValue,
];

impl Reader {
    /// Whether it sees the message where the buffer holds it: the others move it out of its place
    /// first.
    fn keeps_address(self) -> bool {
        !matches!(self, Reader::BoxCallback | Reader::ValueCallback) && !VALUES.contains(&self)
    }

    fn subscribe(self, node: &Node, reader: usize, pen: Pen<Seen>) -> sinew::Result<Subscription<Witness>> {
        let new = |buffer| node.subscription::<Witness>("witness").buffer(buffer);
        let default = || node.subscription::<Witness>("witness");
        let by_ref = {
            let pen = pen.clone();
            move |message: &Witness| pen.write(Seen::new(reader, message))
        };
        Ok(match self {
            Reader::UniqueCallback => {
                default().callback(move |message: Unique<Witness>| pen.write(Seen::new(reader, &message)))?
            }
            Reader::BoxCallback => {
                default().callback(move |message: Box<Witness>| pen.write(Seen::new(reader, &message)))?
            }
            Reader::ValueCallback => {
                default().callback(move |message: Witness| pen.write(Seen::new(reader, &message)))?
            }
            Reader::RefCallbackOnUniqueBuffer => new(BufferType::Unique).callback(by_ref)?,
            Reader::PolledUnique => new(BufferType::Unique).create()?,
            Reader::RefCallback => default().callback(by_ref)?,
            Reader::SharedCallback => {
                default().callback(move |message: Shared<Witness>| pen.write(Seen::new(reader, &message)))?
            }
            Reader::PolledDefault => default().create()?,
            Reader::PolledShared => new(BufferType::Shared).create()?,
            Reader::RefCallbackOnValueBuffer => new(BufferType::Value).callback(by_ref)?,
            Reader::UniqueCallbackOnValueBuffer => new(BufferType::Value)
                .callback(move |message: Unique<Witness>| pen.write(Seen::new(reader, &message)))?,
            Reader::ValueCallbackOnValueBuffer => new(BufferType::Value)
                .callback(move |message: Witness| pen.write(Seen::new(reader, &message)))?,
            Reader::PolledValue => new(BufferType::Value).create()?,
        })
    }
}

/// How a message is published.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Value,
    Box,
    Unique,
    Reference,
    Shared,
    SharedAndKept,
}

const UNIQUE_FORMS: [Form; 4] = [Form::Value, Form::Box, Form::Unique, Form::Reference];
const SHARED_FORMS: [Form; 2] = [Form::Shared, Form::SharedAndKept];

/// What was published: where it lies, if the publisher can know, and which instance it is.
struct Published {
    address: Option<usize>,
    instance: usize,
    _kept: Option<Shared<Witness>>,
}

impl Form {
    fn publish(self, publisher: &Publisher<Witness>, original: Witness) -> sinew::Result<Published> {
        let mut published = Published { address: None, instance: 1, _kept: None };
        match self {
            Form::Value => publisher.publish(original)?,
            Form::Box => {
                let message = Box::new(original);
                published.address = Some(address(&*message));
                publisher.publish(message)?;
            }
            Form::Unique => {
                let message = Unique::new(original);
                published.address = Some(address(&*message));
                publisher.publish(message)?;
            }
            Form::Reference => {
                publisher.publish(&original)?;
                published.instance = 2; // the one copy that is made first
            }
            Form::Shared | Form::SharedAndKept => {
                let message = Shared::new(original);
                published.address = Some(address(&*message));
                published._kept = (self == Form::SharedAndKept).then(|| message.clone());
                publisher.publish(message)?;
            }
        }
        Ok(published)
    }
}

/// Publishes one message to these readers, in this order, and says who got what: `@1` is what was
/// published, the others are numbered as they appear. Checks on the way that nobody else made a
/// clone, that addresses are as the instances say, and that every instance is dropped once.
fn deliver(form: Form, readers: &[Reader], qos: QoS) -> sinew::Result<String> {
    let room = Room::new();
    let counter = Counter::default();
    let log = Log::new();
    let subscriptions = readers
        .iter()
        .enumerate()
        .map(|(index, reader)| reader.subscribe(&room.node, index, log.pen()))
        .collect::<sinew::Result<Vec<_>>>()?;
    let publisher = room.node.publisher::<Witness>("witness").qos(qos).create()?;
    let published = form.publish(&publisher, counter.original())?;
    let context = format!("{form:?} to {readers:?}");

    let mut kept = Vec::new();
    let mut seen = Vec::new();
    for (index, (reader, subscription)) in readers.iter().zip(&subscriptions).enumerate() {
        if *reader == Reader::PolledUnique || *reader == Reader::PolledValue {
            let (message, _) = subscription.take_unique().expect("it was published");
            seen.push(Seen::new(index, &message));
            kept.push(message.into_shared());
        } else if *reader == Reader::PolledDefault || *reader == Reader::PolledShared {
            let (message, _) = subscription.take().expect("it was published");
            seen.push(Seen::new(index, &message));
            kept.push(message);
        }
    }
    room.run();
    seen.extend(log.lines());
    seen.sort_by_key(|seen| seen.reader);
    assert_eq!(seen.len(), readers.len(), "{context}: everybody gets it once");

    let mut numbers = vec![published.instance];
    let mut text = Vec::new();
    for (seen, reader) in seen.iter().zip(readers) {
        let number = numbers.iter().position(|&known| known == seen.instance).unwrap_or_else(|| {
            numbers.push(seen.instance);
            numbers.len() - 1
        });
        text.push(format!("@{}", number + 1));
        if let (Some(address), true) = (published.address, reader.keeps_address()) {
            let at_the_original = seen.address == address;
            assert_eq!(at_the_original, seen.instance == published.instance, "{context}: {seen:?}");
        }
        if VALUES.contains(reader) {
            assert_ne!(Some(seen.address), published.address, "{context}: its block is free again");
        }
    }
    let spare = counter.clones() - (published.instance - 1) - (numbers.len() - 1);
    assert_eq!(spare, 0, "{context}: copies that nobody got");

    drop((kept, published, subscriptions, publisher));
    assert_eq!(counter.alive(), 0, "{context}: every instance is dropped, once");
    Ok(text.join(" "))
}

/// What is published lies at @1; `u` owns, `s` shares. (buffers, published as `Unique`, published
/// as `Shared`)
const TABLE: [(&str, &str, &str); 7] = [
    ("u", "@1", "@2"),
    ("u u", "@1 @2", "@2 @3"),
    ("s", "@1", "@1"),
    ("s s", "@1 @1", "@1 @1"),
    ("u s", "@1 @2", "@2 @1"),
    ("u s s", "@1 @2 @2", "@2 @1 @1"),
    ("u u s s", "@1 @2 @3 @3", "@2 @3 @1 @1"),
];

/// The rows with buffers that hold the value itself, `v`: there `@1` means moved.
const VALUE_TABLE: [(&str, &str, &str); 8] = [
    ("v", "@1", "@2"),
    ("v v", "@1 @2", "@2 @3"),
    ("s v", "@1 @2", "@1 @2"),
    ("s s v v", "@1 @1 @2 @3", "@1 @1 @2 @3"),
    ("u v", "@1 @2", "@2 @3"),
    ("u v v", "@1 @2 @3", "@2 @3 @4"),
    ("u s v", "@1 @2 @3", "@2 @1 @3"),
    ("v s u", "@2 @3 @1", "@2 @1 @3"),
];

/// Readers for a row of the table; `turn` counts through all kinds of owners, sharers and value
/// buffers.
fn readers(row: &str, turn: usize) -> Vec<Reader> {
    let mut nth = turn;
    row.split(' ')
        .map(|buffer| {
            nth += 1;
            match buffer {
                "u" => OWNERS[nth % OWNERS.len()],
                "s" => SHARERS[nth % SHARERS.len()],
                "v" => VALUES[nth % VALUES.len()],
                other => panic!("no such buffer: {other}"),
            }
        })
        .collect()
}

/// Numbers in order of appearance, as `deliver` gives them: the table may name copies in another
/// order.
fn by_appearance(delivered: &str) -> String {
    let mut known = vec!["@1"];
    let number = |instance| {
        let index = known.iter().position(|&other| other == instance).unwrap_or_else(|| {
            known.push(instance);
            known.len() - 1
        });
        format!("@{}", index + 1)
    };
    delivered.split(' ').map(number).collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn check(forms: &[Form], readers: &[Reader], qos: QoS, expected: &str) {
    for form in forms {
        let delivered = deliver(*form, readers, qos).expect("nothing fails");
        assert_eq!(delivered, by_appearance(expected), "{form:?} to {readers:?}");
    }
}

/// Every combination of kinds of readers that `readers` makes comes up within so many turns.
const TURNS: usize = 20;

#[test]
fn a_message_published_for_itself_follows_the_unique_table() {
    for (row, unique, _) in TABLE {
        for turn in 0..TURNS {
            check(&UNIQUE_FORMS, &readers(row, turn), QoS::default(), unique);
        }
    }
}

#[test]
fn a_message_published_shared_follows_the_shared_table() {
    for (row, _, shared) in TABLE {
        for turn in 0..TURNS {
            check(&SHARED_FORMS, &readers(row, turn), QoS::default(), shared);
        }
    }
}

#[test]
fn a_value_buffer_gets_the_value_moved_or_a_clone() {
    for (row, unique, shared) in VALUE_TABLE {
        for turn in 0..TURNS {
            check(&UNIQUE_FORMS, &readers(row, turn), QoS::default(), unique);
            check(&SHARED_FORMS, &readers(row, turn), QoS::default(), shared);
        }
    }
}

#[test]
fn a_transient_local_publisher_follows_the_shared_table_however_it_publishes() {
    for (row, _, shared) in TABLE.iter().chain(&VALUE_TABLE) {
        for turn in 0..TURNS {
            let qos = QoS::default().transient_local();
            check(&UNIQUE_FORMS, &readers(row, turn), qos, shared);
            check(&SHARED_FORMS, &readers(row, turn), qos, shared);
        }
    }
}

#[test]
fn a_message_that_nobody_wants_is_dropped_and_never_copied() {
    for form in [Form::Value, Form::Box, Form::Unique, Form::Shared] {
        assert_eq!(deliver(form, &[], QoS::default()).unwrap(), "");
    }
}

#[test]
fn the_numbers_say_how_many_copies_were_made() -> sinew::Result<()> {
    let room = Room::new();
    let publisher = room.node.publisher::<Witness>("witness").create()?;
    let _owners = [
        Reader::UniqueCallback.subscribe(&room.node, 0, Log::new().pen())?,
        Reader::UniqueCallback.subscribe(&room.node, 1, Log::new().pen())?,
        Reader::RefCallback.subscribe(&room.node, 2, Log::new().pen())?,
    ];
    let counter = Counter::default();
    publisher.publish(counter.original())?;
    publisher.publish(Shared::new(counter.original()))?;
    assert_eq!(publisher.statistics().published, 2);
    assert_eq!(publisher.statistics().copies, 4);
    assert_eq!(counter.clones(), 4);
    Ok(())
}

// ---- owning callbacks on shared buffers: the copy is made when the message is taken ----

#[test]
fn an_owning_callback_on_a_shared_buffer_copies_nothing_if_it_is_the_last_holder() -> sinew::Result<()> {
    let room = Room::new();
    let (counter, log) = (Counter::default(), Log::new());
    let pen = log.pen();
    let subscription = room
        .node
        .subscription::<Witness>("witness")
        .buffer(BufferType::Shared)
        .callback(move |message: Unique<Witness>| pen.write(Seen::new(0, &message)))?;
    let publisher = room.node.publisher::<Witness>("witness").create()?;

    let message = Unique::new(counter.original());
    let original = address(&*message);
    publisher.publish(message)?;
    room.run();
    assert_eq!(log.lines(), [Seen { reader: 0, instance: 1, address: original }]);

    let message = Shared::new(counter.original());
    let original = address(&*message);
    publisher.publish(message)?; // the reference that was published is gone when it is taken
    room.run();
    assert_eq!(log.lines(), [Seen { reader: 0, instance: 1, address: original }]);
    assert_eq!((counter.clones(), subscription.statistics().copies), (0, 0));
    Ok(())
}

#[test]
fn an_owning_callback_on_a_shared_buffer_copies_when_it_takes_not_when_the_publisher_publishes()
-> sinew::Result<()> {
    let room = Room::new();
    let (counter, log) = (Counter::default(), Log::new());
    let pen = log.pen();
    let subscription = room
        .node
        .subscription::<Witness>("witness")
        .buffer(BufferType::Shared)
        .callback(move |message: Unique<Witness>| pen.write(message.instance))?;
    let publisher = room.node.publisher::<Witness>("witness").create()?;

    let kept = Shared::new(counter.original());
    publisher.publish(kept.clone())?;
    assert_eq!(counter.clones(), 0, "not when it is published");
    room.run();
    assert_eq!(log.lines(), [2]);
    assert_eq!((counter.clones(), subscription.statistics().copies), (1, 1));
    assert_eq!(publisher.statistics().copies, 0);
    assert_eq!(kept.instance, 1);
    Ok(())
}

#[test]
fn of_two_owning_callbacks_on_shared_buffers_the_second_gets_the_original() -> sinew::Result<()> {
    let room = Room::new();
    let (counter, log) = (Counter::default(), Log::new());
    let subscribe = |reader| {
        let pen = log.pen();
        room.node
            .subscription::<Witness>("witness")
            .buffer(BufferType::Shared)
            .callback(move |message: Unique<Witness>| pen.write(Seen::new(reader, &message)))
    };
    let _both = [subscribe(0)?, subscribe(1)?];
    let publisher = room.node.publisher::<Witness>("witness").create()?;
    let message = Unique::new(counter.original());
    let original = address(&*message);
    publisher.publish(message)?;
    room.run();
    let mut seen = log.lines();
    seen.sort_by_key(|seen| seen.instance);
    assert_eq!((seen[0].instance, seen[0].address), (1, original));
    assert_eq!(seen[1].instance, 2);
    assert_ne!(seen[1].address, original);
    assert_eq!(counter.clones(), 1);
    Ok(())
}

#[test]
fn a_message_that_is_overwritten_before_it_is_taken_is_never_copied() -> sinew::Result<()> {
    let room = Room::new();
    let counter = Counter::default();
    let log = Log::new();
    let pen = log.pen();
    let subscription = room
        .node
        .subscription::<Witness>("witness")
        .buffer(BufferType::Shared)
        .qos(QoS::default().keep_last(1))
        .callback(move |message: Unique<Witness>| pen.write(message.instance))?;
    let publisher = room.node.publisher::<Witness>("witness").create()?;
    let kept: Vec<_> = (0..5).map(|_| Shared::new(counter.original())).collect();
    for message in &kept {
        publisher.publish(message.clone())?;
    }
    room.run();
    assert_eq!(log.lines(), [2]);
    assert_eq!(counter.clones(), 1, "the newest, of which `kept` has another reference");
    assert_eq!(subscription.statistics().overwritten, 4);
    Ok(())
}

#[test]
fn taking_by_hand_for_oneself_copies_only_what_another_owner_holds() -> sinew::Result<()> {
    let room = Room::new();
    let counter = Counter::default();
    let one = room.node.subscription::<Witness>("witness").create()?;
    let other = room.node.subscription::<Witness>("witness").create()?;
    let publisher = room.node.publisher::<Witness>("witness").create()?;
    publisher.publish(counter.original())?;
    let (first, _) = one.take_unique().unwrap();
    let (second, _) = other.take_unique().unwrap();
    assert_eq!((first.instance, second.instance), (2, 1));
    assert_eq!((one.statistics().copies, other.statistics().copies), (1, 0));
    Ok(())
}

#[test]
fn what_a_transient_local_publisher_retains_is_copied_for_who_wants_to_own_it() -> sinew::Result<()> {
    let room = Room::new();
    let counter = Counter::default();
    let latched = QoS::default().transient_local();
    let publisher = room.node.publisher::<Witness>("witness").qos(latched).create()?;
    let message = Unique::new(counter.original());
    let original = address(&*message);
    publisher.publish(message)?;
    let reader = room.node.subscription::<Witness>("witness").qos(latched).create()?;
    let owner = room.node.subscription::<Witness>("witness").qos(latched).create()?;
    assert_eq!(address(&*reader.take().unwrap().0), original);
    assert_eq!(counter.clones(), 0);
    assert_eq!(owner.take_unique().unwrap().0.instance, 2);
    Ok(())
}

// ---- filters ----

#[test]
fn a_filter_is_asked_before_anything_is_cloned_or_queued() -> sinew::Result<()> {
    let room = Room::new();
    let (counter, log) = (Counter::default(), Log::new());
    let pen = log.pen();
    let picky = room
        .node
        .subscription::<Witness>("witness")
        .filter(move |message| {
            pen.write((address(message), thread::current().id()));
            false
        })
        .callback(|_: Unique<Witness>| panic!("it was filtered out"))?;
    let sharer = room.node.subscription::<Witness>("witness").create()?;
    let publisher = room.node.publisher::<Witness>("witness").create()?;

    let message = Unique::new(counter.original());
    let original = address(&*message);
    publisher.publish(message)?;
    assert_eq!(log.lines(), [(original, thread::current().id())], "the original, on the publishing thread");
    assert_eq!(room.run(), 0);
    assert_eq!(picky.statistics().received, 0);
    assert_eq!(
        address(&*sharer.take().unwrap().0),
        original,
        "no owner is left: the Unique row for a sharer"
    );
    assert_eq!(counter.clones(), 0);
    Ok(())
}

#[test]
fn a_filter_lets_pass_what_it_is_true_for_and_nothing_else() -> sinew::Result<()> {
    let room = Room::new();
    let even = room.node.subscription::<Number>("numbers").filter(|number| number.0 % 2 == 0).create()?;
    let all = room.node.subscription::<Number>("numbers").create()?;
    let publisher = room.node.publisher::<Number>("numbers").create()?;
    for number in 1..=6 {
        publisher.publish(Number(number))?;
    }
    let drain = |subscription: &Subscription<Number>| {
        std::iter::from_fn(|| subscription.take()).map(|(number, _)| number.0).collect::<Vec<_>>()
    };
    assert_eq!(drain(&even), [2, 4, 6]);
    assert_eq!(drain(&all), [1, 2, 3, 4, 5, 6]);
    Ok(())
}

#[test]
fn a_subscription_that_ignores_its_own_node_costs_its_publishers_no_copy() -> sinew::Result<()> {
    let room = Room::new();
    let counter = Counter::default();
    let other_node = room.context.node("other")?;
    let own = room.node.publisher::<Witness>("witness").create()?;
    let other = other_node.publisher::<Witness>("witness").create()?;
    let owner = |node: &Node| node.subscription::<Witness>("witness").buffer(BufferType::Unique);
    let deaf = owner(&room.node).ignore_own_publications().create()?;
    let hearing = owner(&room.node).create()?;

    own.publish(counter.original())?;
    assert_eq!((counter.clones(), deaf.statistics().received, hearing.statistics().received), (0, 0, 1));
    other.publish(counter.original())?;
    assert_eq!((counter.clones(), deaf.statistics().received, hearing.statistics().received), (1, 1, 2));
    Ok(())
}

#[test]
fn if_a_clone_panics_nobody_got_the_message_and_the_publisher_goes_on() -> sinew::Result<()> {
    struct Fragile(u64);
    impl Message for Fragile {}
    impl Clone for Fragile {
        fn clone(&self) -> Self {
            assert_ne!(self.0, 13, "unlucky");
            Self(self.0)
        }
    }
    let room = Room::new();
    let qos = QoS::default().keep_all().max_samples(2).max_blocking_time(Duration::ZERO);
    let owners: Vec<_> = (0..2)
        .map(|_| room.node.subscription::<Fragile>("fragile").qos(qos).buffer(BufferType::Unique).create())
        .collect::<Result<_, _>>()?;
    let publisher = room.node.publisher::<Fragile>("fragile").qos(qos).create()?;
    for _ in 0..3 {
        let attempt = std::panic::AssertUnwindSafe(|| publisher.publish(Fragile(13)));
        assert!(std::panic::catch_unwind(attempt).is_err());
    }
    publisher.publish(Fragile(1))?;
    publisher.publish(Fragile(2))?; // the places that were reserved for 13 were given back
    for owner in &owners {
        assert_eq!(owner.take().unwrap().0.0, 1);
        assert_eq!(owner.take().unwrap().0.0, 2);
        assert!(owner.take().is_none());
    }
    assert_eq!(publisher.statistics().published, 2);
    Ok(())
}

// ---- boxes, references, and what comes back ----

#[test]
fn a_box_keeps_its_address_from_the_publisher_to_the_owners_box() -> sinew::Result<()> {
    let room = Room::new();
    let (counter, log) = (Counter::default(), Log::new());
    let pen = log.pen();
    let _owner = room
        .node
        .subscription::<Witness>("witness")
        .callback(move |message: Box<Witness>| pen.write(address(&*message)))?;
    let publisher = room.node.publisher::<Witness>("witness").create()?;
    for _ in 0..3 {
        let message = Box::new(counter.original());
        let original = address(&*message);
        publisher.publish(message)?;
        room.run();
        assert_eq!(log.lines(), [original]);
    }
    assert_eq!((counter.clones(), counter.alive()), (0, 0));
    Ok(())
}

#[test]
fn a_unique_becomes_shared_and_unique_again_without_moving_the_message() {
    let counter = Counter::default();
    let message = Box::new(counter.original());
    let original = address(&*message);
    let unique = Unique::from(message);
    assert_eq!(address(&*unique), original);
    let shared = unique.into_shared();
    assert_eq!(address(&*shared), original);
    let another = shared.clone();
    assert!(Shared::ptr_eq(&shared, &another));
    let shared = shared.try_unique().unwrap_err();
    drop(another);
    let unique = shared.into_unique();
    assert_eq!(address(&*unique), original);
    assert_eq!(address(&*unique.into_box()), original);
    assert_eq!((counter.clones(), counter.alive()), (0, 0));
}

#[test]
fn a_failed_publish_gives_the_message_back_where_it_was() -> sinew::Result<()> {
    let room = Room::new();
    let counter = Counter::default();
    let qos = QoS::default().keep_all().max_samples(1).max_blocking_time(Duration::ZERO);
    let _full = room.node.subscription::<Witness>("witness").qos(qos).buffer(BufferType::Unique).create()?;
    let publisher = room.node.publisher::<Witness>("witness").qos(qos).create()?;
    publisher.publish(counter.original())?;

    let message = Box::new(counter.original());
    let original = address(&*message);
    let UnsentMessage::Unique(message) = publisher.publish(message).unwrap_err().into_message() else {
        panic!("it was published by its only reference")
    };
    assert_eq!(address(&*message), original);
    assert_eq!(address(&*message.into_box()), original);

    let message = Shared::new(counter.original());
    let UnsentMessage::Shared(back) = publisher.publish(message.clone()).unwrap_err().into_message() else {
        panic!("it was published as one of several references")
    };
    assert!(Shared::ptr_eq(&back, &message));
    assert_eq!(counter.clones(), 0);

    let message = counter.original();
    assert_eq!(publisher.publish(&message).unwrap_err().into_message().into_shared().unwrap().instance, 2);
    assert_eq!(counter.clones(), 1, "a reference is copied first: the copy comes back");
    Ok(())
}
