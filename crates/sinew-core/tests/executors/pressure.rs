//! Reliable keep_all on both ends: publishing waits for room, or says why it can't.

use crate::support;

use sinew::error::PublishFailure;
use sinew::prelude::*;
use sinew::{Executor, Publisher};
use std::thread;
use support::{Gate, Number, PATIENCE, finishes, numbers_in, real_context};

/// Both ends reliable and keep_all, and a publisher that waits as long as a test may take.
fn patient(room: usize) -> QoS {
    QoS::default().keep_all().max_samples(room).max_blocking_time(PATIENCE)
}

fn impatient(room: usize) -> QoS {
    patient(room).max_blocking_time(Duration::ZERO)
}

fn failure(publisher: &Publisher<Number>, number: u64) -> Option<PublishFailure> {
    publisher.publish(Number(number)).err().map(|error| error.failure())
}

// ---- waiting ----

#[test]
fn a_publisher_waits_for_who_takes_by_hand_in_another_thread() -> sinew::Result<()> {
    let context = real_context();
    let node = context.node("node")?;
    let subscription = node.subscription::<Number>("numbers").qos(patient(1)).create()?;
    let publisher = node.publisher::<Number>("numbers").qos(patient(1)).create()?;
    finishes(move || {
        thread::scope(|scope| {
            scope.spawn(|| (1..=300).for_each(|number| assert_eq!(failure(&publisher, number), None)));
            let mut taken = Vec::new();
            while taken.len() < 300 {
                taken.extend(numbers_in(&subscription));
                thread::yield_now();
            }
            assert_eq!(taken, (1..=300).collect::<Vec<_>>(), "all of them, in order, through one place");
        });
        assert_eq!(subscription.statistics().refused + subscription.statistics().overwritten, 0);
    });
    Ok(())
}

/// What became of a message whose publisher was interrupted while it waited.
#[derive(Debug, PartialEq)]
struct Outcome {
    /// Why it was not published, and the message that came back.
    failure: Option<(PublishFailure, u64)>,
    /// What another subscription of the same topic got.
    elsewhere: Vec<u64>,
}

/// Has a publisher wait for a place for message 2 (it is about to, at least), and does something.
fn interrupt_waiting(
    act: impl FnOnce(&Context, &mut Option<Subscription<Number>>),
) -> sinew::Result<Outcome> {
    let context = real_context();
    let node = context.node("node")?;
    let endless = patient(1).max_blocking_time(Duration::MAX);
    let mut subscription = Some(node.subscription::<Number>("numbers").qos(endless).create()?);
    let other = node.subscription::<Number>("numbers").create()?;
    let publisher = node.publisher::<Number>("numbers").qos(endless).create()?;
    publisher.publish(Number(1))?;
    let gate = Gate::new();
    let opener = gate.clone();
    let waiting = thread::spawn(move || {
        opener.open();
        let error = publisher.publish(Number(2)).err()?;
        Some((error.failure(), error.into_message().into_shared().expect("a value").0))
    });
    gate.wait();
    thread::yield_now();
    act(&context, &mut subscription);
    let failure = finishes(move || waiting.join().expect("nothing panics"));
    Ok(Outcome { failure, elsewhere: numbers_in(&other) })
}

#[test]
fn a_publisher_that_waits_goes_on_when_the_subscription_goes() -> sinew::Result<()> {
    for _ in 0..20 {
        let outcome = interrupt_waiting(|_, subscription| drop(subscription.take()))?;
        assert_eq!(outcome, Outcome { failure: None, elsewhere: vec![1, 2] }, "the others get it");
    }
    Ok(())
}

#[test]
fn a_publisher_that_waits_gets_its_message_back_when_the_context_is_shut_down() -> sinew::Result<()> {
    for _ in 0..20 {
        let outcome = interrupt_waiting(|context, _| context.shutdown())?;
        let failure = Some((PublishFailure::Shutdown, 2));
        assert_eq!(outcome, Outcome { failure, elsewhere: vec![1] });
    }
    Ok(())
}

// ---- not waiting ----

#[test]
fn when_its_time_is_over_publishing_fails_and_nothing_has_happened() -> sinew::Result<()> {
    for waited in [Duration::ZERO, Duration::from_millis(1)] {
        let context = real_context();
        let node = context.node("node")?;
        let subscription = node.subscription::<Number>("numbers").qos(patient(2)).create()?;
        let qos = patient(2).max_blocking_time(waited);
        let publisher = node.publisher::<Number>("numbers").qos(qos).create()?;
        publisher.publish(Number(1))?;
        publisher.publish(Number(2))?;
        let error = publisher.publish(Number(3)).unwrap_err();
        assert_eq!(error.failure(), PublishFailure::Full { waited });
        assert!(error.to_string().contains(&format!("{waited:?}")), "{error}");
        assert_eq!(error.into_message().into_shared().unwrap().0, 3);

        assert_eq!(subscription.take().unwrap().0.0, 1);
        publisher.publish(Number(4))?;
        assert_eq!(subscription.take().unwrap().0.0, 2);
        let (number, info) = subscription.take().unwrap();
        assert_eq!(number.0, 4);
        assert_eq!((info.publication_sequence(), info.reception_sequence()), (3, 3), "no number was used up");
        assert_eq!(publisher.statistics().published, 3);
    }
    Ok(())
}

#[test]
fn no_subscription_can_stop_a_publisher_unless_both_ends_ask_for_it() -> sinew::Result<()> {
    let context = real_context();
    let node = context.node("node")?;
    let keep_all = patient(1);
    for (offered, requested) in [
        (keep_all.best_effort(), keep_all.best_effort()),
        (keep_all, keep_all.best_effort()),
        (keep_all, QoS::default().keep_last(1)),
        (QoS::default().keep_last(1), keep_all),
    ] {
        let _subscription = node.subscription::<Number>("numbers").qos(requested).create()?;
        let publisher = node.publisher::<Number>("numbers").qos(offered).create()?;
        assert_eq!((failure(&publisher, 1), failure(&publisher, 2)), (None, None));
    }
    Ok(())
}

#[test]
fn either_every_reader_gets_a_message_or_none_does() -> sinew::Result<()> {
    let context = real_context();
    let node = context.node("node")?;
    let subscribe = |qos| node.subscription::<Number>("numbers").qos(qos).create();
    let roomy = subscribe(impatient(3))?;
    let full = subscribe(impatient(1))?;
    let behind = subscribe(impatient(3))?;
    let lossy = subscribe(QoS::default().keep_last(3))?;
    let publisher = node.publisher::<Number>("numbers").qos(impatient(3)).create()?;
    publisher.publish(Number(1))?;
    for number in 2..=9 {
        // More often than `roomy` has places: those that were reserved are given back.
        assert_eq!(failure(&publisher, number), Some(PublishFailure::Full { waited: Duration::ZERO }));
    }
    assert_eq!(numbers_in(&full), [1]);
    publisher.publish(Number(10))?;
    for subscription in [&roomy, &behind, &lossy] {
        assert_eq!(numbers_in(subscription), [1, 10]);
    }
    assert_eq!(numbers_in(&full), [10]);
    Ok(())
}

#[test]
fn a_reader_whose_filter_does_not_want_the_message_needs_no_place_for_it() -> sinew::Result<()> {
    let context = real_context();
    let node = context.node("node")?;
    let even = node
        .subscription::<Number>("numbers")
        .qos(impatient(1))
        .filter(|number| number.0 % 2 == 0)
        .create()?;
    let deaf = node.subscription::<Number>("numbers").qos(impatient(1)).ignore_own_publications().create()?;
    let all = node.subscription::<Number>("numbers").create()?;
    let publisher = node.publisher::<Number>("numbers").qos(impatient(1)).create()?;
    publisher.publish(Number(2))?;
    publisher.publish(Number(3))?;
    assert!(failure(&publisher, 4).is_some());
    assert_eq!(numbers_in(&even), [2]);
    assert_eq!(numbers_in(&all), [2, 3]);
    assert_eq!(numbers_in(&deaf), [0_u64; 0]);
    Ok(())
}

#[test]
fn nothing_is_lost_or_doubled_between_several_publishers_and_several_slow_readers() -> sinew::Result<()> {
    const MESSAGES: u64 = 150;
    let context = real_context();
    let node = context.node("node")?;
    let readers: Vec<_> = (1..=3)
        .map(|room| node.subscription::<Number>("numbers").qos(patient(room)).create())
        .collect::<Result<_, _>>()?;
    let publishers: Vec<_> = (0..2)
        .map(|_| node.publisher::<Number>("numbers").qos(patient(1)).create())
        .collect::<Result<_, _>>()?;
    finishes(move || {
        thread::scope(|scope| {
            for (publisher, first) in publishers.iter().zip([0, 1000]) {
                scope.spawn(move || {
                    (first..first + MESSAGES).for_each(|number| assert_eq!(failure(publisher, number), None));
                });
            }
            for reader in &readers {
                scope.spawn(move || {
                    let mut taken = Vec::new();
                    while (taken.len() as u64) < 2 * MESSAGES {
                        taken.extend(numbers_in(reader));
                        thread::yield_now();
                    }
                    let (low, high): (Vec<_>, Vec<_>) = taken.into_iter().partition(|number| *number < 1000);
                    assert_eq!(low, (0..MESSAGES).collect::<Vec<_>>());
                    assert_eq!(high, (1000..1000 + MESSAGES).collect::<Vec<_>>());
                });
            }
        });
    });
    Ok(())
}

// ---- where waiting would never end ----

#[test]
fn the_thread_that_span_an_executor_last_cannot_wait_for_it() -> sinew::Result<()> {
    let context = real_context();
    let node = context.node("node")?;
    let executor = Executor::single();
    executor.add(&context)?;
    let _subscription = node.subscription("numbers").qos(patient(1)).callback(|_: &Number| {})?;
    let publisher = node.publisher::<Number>("numbers").qos(patient(1)).create()?;
    publisher.publish(Number(1))?;
    assert_eq!(executor.spin_some()?, 1);
    publisher.publish(Number(2))?;
    assert_eq!(failure(&publisher, 3), Some(PublishFailure::WouldDeadlock));
    assert_eq!(executor.spin_some()?, 1);
    publisher.publish(Number(4))?;

    // Another thread may: this one will spin again. (Here it doesn't, for as long as that one
    // waits.)
    let short = patient(1).max_blocking_time(Duration::from_millis(1));
    let other = node.publisher::<Number>("numbers").qos(short).create()?;
    let failure = thread::spawn(move || failure(&other, 5)).join().unwrap();
    assert_eq!(failure, Some(PublishFailure::Full { waited: short.max_blocking_time }));
    Ok(())
}

#[test]
fn a_waiting_publisher_notices_that_a_message_expired() {
    let context = Context::builder().shared_memory(false).build().unwrap();
    let node = context.node("node").unwrap();
    let qos = QoS::default().keep_all().max_samples(1);
    let offered = qos.lifespan(Duration::from_millis(5)).max_blocking_time(Duration::from_secs(60));
    let publisher = node.publisher::<Expiring>("topic").qos(offered).create().unwrap();
    let subscription = node.subscription::<Expiring>("topic").qos(qos).create().unwrap();
    publisher.publish(Expiring(1)).unwrap();
    publisher.publish(Expiring(2)).unwrap(); // nobody takes: only the first one's end makes room
    assert_eq!(subscription.statistics().expired, 1);
}

#[derive(Clone, Debug)]
struct Expiring(#[expect(dead_code, reason = "tells the two apart for a reader")] u32);
impl Message for Expiring {}
