//! The forms a callback may have: that each gets the right thing. Those of wrong forms, which the
//! compiler refuses, are in the tests of `sinew-derive`.

use crate::support::{Log, Number, Room};
use sinew::error::SpinError;
use sinew::event::{Matched, MessageLost, Triggered};
use sinew::executor::FaultPolicy;
use sinew::prelude::*;
use sinew::time::TimerInfo;
use sinew::{GuardCondition, Unique};
use std::error::Error;
use std::fmt;
use std::sync::Arc;

/// What the callbacks of a group share: how many messages came, and their sum.
#[derive(Debug, Default, Clone, PartialEq)]
struct Sum {
    messages: u64,
    sum: u64,
}

impl Sum {
    fn add(&mut self, number: &Number) {
        self.messages += 1;
        self.sum += number.0;
    }
}

/// Publishes two numbers to one subscription and runs its callback.
fn publish_two(room: &Room) -> sinew::Result<()> {
    let publisher = room.node.publisher::<Number>("numbers").create()?;
    publisher.publish(Number(40))?;
    publisher.publish(Number(2))?;
    assert_eq!(room.run(), 2);
    Ok(())
}

/// One test for one way to take the message: all four forms of it.
macro_rules! forms_of {
    ($test:ident, $message:ty) => {
        #[test]
        fn $test() -> sinew::Result<()> {
            let room = Room::new();
            let log = Log::new();
            let numbers = || room.node.subscription::<Number>("numbers");

            let pen = log.pen();
            let _subscription = numbers().callback(move |number: $message| pen.write((number.0, 0)))?;
            publish_two(&room)?;
            assert_eq!(log.lines(), [(40, 0), (2, 0)]);
            drop(_subscription);

            let pen = log.pen();
            let _subscription = numbers().callback(move |number: $message, info: &MessageInfo| {
                pen.write((number.0, info.publication_sequence()))
            })?;
            publish_two(&room)?;
            assert_eq!(log.lines(), [(40, 1), (2, 2)]);
            drop(_subscription);

            let pen = log.pen();
            let sum = room.node.group(Sum::default());
            let _subscription =
                sum.subscription::<Number>("numbers").callback(move |sum: &mut Sum, number: $message| {
                    sum.add(&number);
                    pen.write((sum.sum, sum.messages));
                })?;
            publish_two(&room)?;
            assert_eq!(log.lines(), [(40, 1), (42, 2)]);
            drop(_subscription);

            let pen = log.pen();
            let sum = room.node.group(Sum::default());
            let _subscription = sum.subscription::<Number>("numbers").callback(
                move |sum: &mut Sum, number: $message, info: &MessageInfo| {
                    sum.add(&number);
                    pen.write((sum.sum, info.reception_sequence()));
                },
            )?;
            publish_two(&room)?;
            assert_eq!(log.lines(), [(40, 1), (42, 2)]);
            Ok(())
        }
    };
}

forms_of!(a_message_can_be_taken_by_reference_with_and_without_info_and_state, &Number);
forms_of!(a_message_can_be_taken_as_shared_with_and_without_info_and_state, Shared<Number>);
forms_of!(a_message_can_be_taken_as_unique_with_and_without_info_and_state, Unique<Number>);
forms_of!(a_message_can_be_taken_as_a_box_with_and_without_info_and_state, Box<Number>);
forms_of!(a_message_can_be_taken_by_value_with_and_without_info_and_state, Number);

#[test]
fn reading_needs_no_clone() -> sinew::Result<()> {
    struct Once(u64);
    impl Message for Once {}
    let room = Room::new();
    let log = Log::new();
    let (by_ref, shared) = (log.pen(), log.pen());
    let _by_ref = room.node.subscription("once").callback(move |once: &Once| by_ref.write(once.0))?;
    let _shared = room.node.subscription("once").callback(move |once: Shared<Once>| shared.write(once.0))?;
    room.node.publisher("once").create()?.publish(Once(7))?;
    room.run();
    assert_eq!(log.lines(), [7, 7]);
    Ok(())
}

#[test]
fn a_function_is_a_callback_too() -> sinew::Result<()> {
    fn by_ref(number: &Number) {
        assert_eq!(number.0 % 2, 0);
    }
    fn with_all(sum: &mut Sum, number: Unique<Number>, _info: &MessageInfo) -> sinew::Result<()> {
        sum.add(&number);
        Ok(())
    }
    let room = Room::new();
    let _one = room.node.subscription::<Number>("numbers").callback(by_ref)?;
    let group = room.node.group(Sum::default());
    let _other = group.subscription::<Number>("numbers").callback(with_all)?;
    room.node.publisher("numbers").create()?.publish(Number(42))?;
    assert_eq!(room.run(), 2);
    Ok(())
}

#[test]
fn a_callback_that_owns_its_message_may_change_and_republish_it() -> sinew::Result<()> {
    let room = Room::new();
    let doubled = room.node.publisher::<Number>("doubled").create()?;
    let _doubler = room.node.subscription("numbers").callback(move |mut number: Unique<Number>| {
        number.0 *= 2;
        doubled.publish(number)
    })?;
    let result = room.node.subscription::<Number>("doubled").create()?;
    room.node.publisher("numbers").create()?.publish(Number(21))?;
    room.run();
    assert_eq!(result.take().unwrap().0.0, 42);
    Ok(())
}

// ---- what a callback returns ----

/// An error of the user's own, with a cause.
#[derive(Debug, PartialEq)]
struct Overheated {
    cause: NoWater,
}

#[derive(Debug, PartialEq)]
struct NoWater;

impl fmt::Display for Overheated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it is too hot")
    }
}

impl fmt::Display for NoWater {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("there is no water")
    }
}

impl Error for Overheated {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.cause)
    }
}

impl Error for NoWater {}

/// No error itself, but it turns into one, as `anyhow::Error` does.
struct Report(Overheated);

impl From<Report> for Box<dyn Error + Send + Sync> {
    fn from(report: Report) -> Self {
        report.0.into()
    }
}

/// A node and an executor that stops at errors.
fn kettle(room: &Room) -> sinew::Result<(Node, sinew::Executor)> {
    let executor = sinew::Executor::builder().on_error(FaultPolicy::Stop).build()?;
    let node = crate::support::virtual_context(&room.clock).node("kettle")?;
    executor.add(&node)?;
    Ok((node, executor))
}

#[test]
fn the_spin_returns_the_error_that_a_callback_returned() -> sinew::Result<()> {
    let room = Room::new();
    let (node, executor) = kettle(&room)?;
    let numbers = node.publisher::<Number>("numbers").create()?;
    let _subscription = node.subscription("numbers").callback(|number: &Number| match number.0 {
        0..100 => Ok(()),
        _ => Err(Overheated { cause: NoWater }),
    })?;
    numbers.publish(Number(99))?;
    numbers.publish(Number(100))?;
    let error = executor.spin_all(crate::support::PATIENCE).unwrap_err();

    let sentence = "the callback of subscription to /numbers of node /kettle failed: it is too hot";
    assert_eq!(error.to_string(), sentence);
    assert_eq!(format!("{error:?}"), format!("{sentence}\n  because: there is no water"));
    let source = error.source().expect("the callback's error");
    assert_eq!(source.downcast_ref(), Some(&Overheated { cause: NoWater }));
    assert_eq!(source.source().expect("its cause").downcast_ref(), Some(&NoWater));
    let SpinError::Failed { entity, error: returned } = &error else { panic!("{error}") };
    assert_eq!(entity, "subscription to /numbers of node /kettle");
    assert_eq!(returned.downcast_ref(), Some(&Overheated { cause: NoWater }));
    assert_eq!(error, error.clone(), "the same error");

    let umbrella = sinew::Error::from(error);
    assert_eq!(umbrella.source().expect("the same").downcast_ref(), Some(&Overheated { cause: NoWater }));

    numbers.publish(Number(101))?;
    let first = umbrella;
    let Err(second) = executor.spin_all(crate::support::PATIENCE) else { panic!("it fails again") };
    assert!(
        matches!(first, sinew::Error::Spin(first) if first != second),
        "another error with the same text"
    );
    Ok(())
}

#[test]
fn a_callback_may_return_texts_errors_and_what_turns_into_errors() -> sinew::Result<()> {
    let room = Room::new();
    let (node, executor) = kettle(&room)?;
    let unserved = room.node.client::<crate::support::Numbers>("unserved").create()?;
    let boxed = || -> Result<(), Box<dyn Error + Send + Sync>> { Err(Overheated { cause: NoWater }.into()) };
    let guards = [
        (node.guard_condition().callback(|| Err("a text"))?, "a text"),
        (node.guard_condition().callback(|| Err(format!("{} texts", 2)))?, "2 texts"),
        (node.guard_condition().callback(boxed)?, "it is too hot"),
        (node.guard_condition().callback(|| Err(Report(Overheated { cause: NoWater })))?, "it is too hot"),
        (
            node.guard_condition().callback(|| Err(sinew::Error::Spin(SpinError::Nothing)))?,
            "there is nothing",
        ),
        (
            node.guard_condition().callback(move || unserved.call(Number(1), Duration::ZERO).map(drop))?,
            "the call of service /unserved failed: no server",
        ),
    ];
    for (guard, text) in guards {
        guard.trigger();
        let error = executor.spin_all(crate::support::PATIENCE).unwrap_err();
        let sentence = format!("the callback of guard condition of node /kettle failed: {text}");
        assert!(error.to_string().starts_with(&sentence), "{error}");
        assert!(error.source().is_some());
    }
    Ok(())
}

/// Errors are user code: they may panic where they are displayed and dropped.
#[test]
fn an_error_whose_text_panics_is_a_callback_that_panics() -> sinew::Result<()> {
    #[derive(Debug)]
    struct Unspeakable;
    impl fmt::Display for Unspeakable {
        fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
            panic!("no words")
        }
    }
    impl Error for Unspeakable {}
    let room = Room::new();
    let guard = room.node.guard_condition().callback(|| Err(Unspeakable))?;
    guard.trigger();
    let error = room.executor.spin_some().unwrap_err();
    let (entity, message) = ("guard condition of node /room".to_owned(), "no words".to_owned());
    assert_eq!(error, SpinError::Panicked { entity, message });
    guard.trigger();
    assert!(room.executor.spin_some().is_err(), "the executor goes on");
    Ok(())
}

/// Bodies that don't exist yet: this only has to compile.
#[test]
fn a_callback_may_be_left_for_later_with_todo() -> sinew::Result<()> {
    let room = Room::new();
    let numbers = || room.node.subscription::<Number>("numbers");
    let group = room.node.group(Sum::default());
    let _subscriptions = [
        numbers().callback(|_: &Number| todo!())?,
        numbers().callback(|_: Shared<Number>| todo!())?,
        numbers().callback(|_: Unique<Number>| todo!())?,
        numbers().callback(|_: Box<Number>| todo!())?,
        numbers().callback(|_: Number, _: &MessageInfo| todo!())?,
        group.subscription::<Number>("numbers").callback(|_: &mut Sum, _: &Number| todo!())?,
        group
            .subscription::<Number>("numbers")
            .callback(|_: &mut Sum, _: Number, _: &MessageInfo| todo!())?,
    ];
    let _timer = room.node.timer(Duration::from_secs(1)).callback(|| todo!())?;
    let _timer = room.node.timer(Duration::from_secs(1)).callback(|_: &TimerInfo| todo!())?;
    let _guard = room.node.guard_condition().callback(|_: &Triggered| todo!())?;
    Ok(())
}

// ---- timers, guard conditions, events ----

#[test]
fn a_timer_callback_takes_nothing_its_info_its_state_or_both() -> sinew::Result<()> {
    let room = Room::new();
    let log = Log::new();
    let timer = || room.node.timer(Duration::from_millis(10));
    let group = room.node.group(Sum::default());
    let (plain, info, state, both) = (log.pen(), log.pen(), log.pen(), log.pen());
    let _timers = [
        timer().callback(move || plain.write("nothing".to_owned()))?,
        timer()
            .callback(move |timer: &TimerInfo| info.write(format!("due {}", timer.due().nanoseconds())))?,
        group.timer(Duration::from_millis(10)).callback(move |sum: &mut Sum| {
            sum.messages += 1;
            state.write(format!("messages {}", sum.messages));
        })?,
        group.timer(Duration::from_millis(10)).callback(move |sum: &mut Sum, timer: &TimerInfo| {
            sum.messages += 1;
            both.write(format!("messages {}, due {}", sum.messages, timer.due().nanoseconds()));
        })?,
    ];
    assert_eq!(room.advance(10), 4);
    let mut lines = log.lines();
    lines.sort();
    let of_group = if lines[1].starts_with("messages 1,") {
        ["messages 1, due 10000000", "messages 2"]
    } else {
        ["messages 1", "messages 2, due 10000000"]
    };
    assert_eq!(lines, ["due 10000000", of_group[0], of_group[1], "nothing"]);
    Ok(())
}

#[test]
fn a_guard_condition_callback_takes_nothing_the_trigger_its_state_or_both() -> sinew::Result<()> {
    let room = Room::new();
    let log = Log::new();
    let group = room.node.group(Sum::default());
    let (plain, event, state, both) = (log.pen(), log.pen(), log.pen(), log.pen());
    let guards: [GuardCondition; 4] = [
        room.node.guard_condition().callback(move || plain.write(("nothing", 0)))?,
        room.node
            .guard_condition()
            .callback(move |triggered: &Triggered| event.write(("event", triggered.count)))?,
        group.guard_condition().callback(move |sum: &mut Sum| {
            sum.sum += 100;
            state.write(("state", sum.sum));
        })?,
        group.guard_condition().callback(move |sum: &mut Sum, triggered: &Triggered| {
            sum.sum += triggered.count;
            both.write(("both", sum.sum));
        })?,
    ];
    for guard in &guards {
        guard.trigger();
        guard.trigger();
    }
    assert_eq!(room.run(), 4, "two triggers before the callback runs are one call");
    assert_eq!(log.lines(), [("nothing", 0), ("event", 2), ("state", 100), ("both", 102)]);
    guards[1].trigger();
    assert_eq!(room.run(), 1);
    assert_eq!(log.lines(), [("event", 1)]);
    Ok(())
}

#[test]
fn an_event_handler_takes_nothing_the_event_its_state_or_both() -> sinew::Result<()> {
    let room = Room::new();
    let log = Log::new();
    let group = room.node.group(Sum::default());
    let (plain, event, state, both) = (log.pen(), log.pen(), log.pen(), log.pen());
    let lost = log.pen();
    let qos = QoS::default().keep_last(1);
    let _subscription = group
        .subscription::<Number>("numbers")
        .qos(qos)
        .on_matched(move || plain.write("nothing".to_owned()))
        .on_message_lost(move |sum: &mut Sum, event: &MessageLost| {
            lost.write(format!("state {}, lost {}", sum.sum, event.total));
        })
        .create()?;
    let publishers = [
        room.node
            .publisher::<Number>("numbers")
            .on_matched(move |matched: &Matched| event.write(format!("event {}", matched.current)))
            .create()?,
        group
            .publisher::<Number>("numbers")
            .on_matched(move |sum: &mut Sum| {
                sum.sum += 1;
                state.write(format!("state {}", sum.sum));
            })
            .create()?,
        group
            .publisher::<Number>("numbers")
            .on_matched(move |sum: &mut Sum, matched: &Matched| {
                sum.sum += 10;
                both.write(format!("state {}, event {}", sum.sum, matched.current));
            })
            .create()?,
    ];
    publishers[0].publish(Number(1))?;
    publishers[0].publish(Number(2))?;
    publishers[0].publish(Number(3))?;
    room.run();
    let mut lines = log.lines();
    lines.sort();
    assert_eq!(lines, ["event 1", "nothing", "state 1", "state 11, event 1", "state 11, lost 2"]);
    Ok(())
}

// ---- group state ----

#[test]
fn all_callbacks_of_a_group_share_one_state_without_a_lock() -> sinew::Result<()> {
    let room = Room::new();
    let log = Log::new();
    // No lock, no atomics, not even `Sync`: only the thread that runs the group touches it.
    let group = room.node.group(std::cell::Cell::new(0_u64));
    type State = std::cell::Cell<u64>;
    let _numbers = group
        .subscription("numbers")
        .callback(|state: &mut State, number: &Number| state.set(state.get() + number.0))?;
    let guard = group.guard_condition().callback(|state: &mut State| state.set(0))?;
    let pen = log.pen();
    let _timer =
        group.timer(Duration::from_millis(10)).callback(move |state: &mut State| pen.write(state.get()))?;
    let publisher = room.node.publisher("numbers").create()?;
    publisher.publish(Number(40))?;
    publisher.publish(Number(2))?;
    room.advance(10);
    guard.trigger();
    publisher.publish(Number(7))?;
    room.advance(10);
    assert_eq!(log.lines(), [42, 7]);
    Ok(())
}

#[test]
fn a_groups_state_lives_as_long_as_a_handle_or_an_entity_of_it() -> sinew::Result<()> {
    let room = Room::new();
    let state = Arc::new(());
    let group = room.node.group(state.clone());
    let timer = group.timer(Duration::from_secs(1)).callback(|_: &mut Arc<()>| {})?;
    drop(group);
    assert_eq!(Arc::strong_count(&state), 2, "the timer's callback may still ask for it");
    drop(timer);
    assert_eq!(Arc::strong_count(&state), 1);

    let group = room.node.group(state.clone());
    let subscription = group
        .subscription("numbers")
        .on_matched(|_: &mut Arc<()>| {})
        .callback(|_: &mut Arc<()>, _: &Number| {})?;
    drop(subscription);
    assert_eq!(Arc::strong_count(&state), 2);
    drop(group);
    assert_eq!(Arc::strong_count(&state), 1);
    Ok(())
}

#[test]
fn a_builder_that_makes_nothing_leaves_nothing_behind() -> sinew::Result<()> {
    let room = Room::new();
    let held = Arc::new(());
    let numbers = |topic| {
        let (one, other) = (held.clone(), held.clone());
        room.node
            .subscription::<Number>(topic)
            .on_matched(move || drop(one.clone()))
            .on_message_lost(move || drop(other.clone()))
    };
    assert!(numbers("not a name").create().is_err());
    assert_eq!(Arc::strong_count(&held), 1, "the handlers of a subscription that could not be made");
    drop(numbers("numbers"));
    assert_eq!(Arc::strong_count(&held), 1, "the handlers of a builder that was dropped");
    Ok(())
}

#[test]
fn what_a_group_makes_belongs_to_its_node_and_runs_in_it() -> sinew::Result<()> {
    let room = Room::new();
    let other = room.context.node("other")?;
    let group = other.group(0_u64);
    let publisher =
        group.publisher::<Number>("~/numbers").on_matched(|seen: &mut u64| *seen += 1).create()?;
    assert_eq!(publisher.topic(), "/other/numbers");
    let log = Log::new();
    let pen = log.pen();
    drop(other); // the group keeps it
    let callback = move |seen: &mut u64, number: &Number| pen.write((*seen, number.0));
    let subscription = group.subscription("~/numbers").callback(callback)?;
    assert_eq!(subscription.topic(), publisher.topic());
    publisher.publish(Number(42))?;
    room.run();
    assert_eq!(log.next(), (1, 42));
    Ok(())
}
