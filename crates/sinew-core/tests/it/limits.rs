//! Zero, none and without a limit: each row of the book's page `limits.md` that is about the core.

use crate::support;

use sinew::error::{CallFailure, CreateError, PublishFailure, QosError};
use sinew::executor::{WaitSet, wait_for};
use sinew::introspection::TopicStatistics;
use sinew::prelude::*;
use sinew::qos::History;
use std::sync::mpsc;
use std::thread;
use support::{Number, Numbers, Room, finishes, real_context};

const ZERO: Duration = Duration::ZERO;
const UNLIMITED: Duration = Duration::MAX;

/// More than 292 years, which nanoseconds can't count; not the value that means "no limit".
const TOO_LONG: Duration = Duration::from_secs(u64::MAX / 2);

#[test]
fn a_timeout_of_zero_looks_and_does_not_wait() -> sinew::Result<()> {
    let context = real_context();
    let node = context.node("node")?;
    let publisher = node.publisher::<Number>("numbers").create()?;
    let client = node.client::<Numbers>("n").create()?;
    let executor = Executor::single();
    executor.add(&context)?;
    assert!(!publisher.wait_for_subscribers(1, ZERO) && !client.wait_for_server(ZERO));
    assert!(matches!(client.call(Number(1), ZERO).unwrap_err().failure(), CallFailure::NoServer { .. }));
    assert!(!executor.spin_once(ZERO)?);
    assert_eq!(wait_for(&mut std::future::pending::<()>(), ZERO), None);

    let mut set = WaitSet::new();
    let waited = context.node("waited")?;
    let taken = waited.subscription::<Number>("numbers").create()?;
    set.add_subscription(&taken)?;
    assert_eq!(set.wait(ZERO)?.len(), 0);
    let mut changes = node.graph().changes();
    assert!(!changes.wait(ZERO));

    // What is there already is seen.
    let called = node.subscription::<Number>("numbers").callback(|_: &Number| {})?;
    let _server = node.server::<Numbers>("n").immediate_callback(|n: Number| n)?;
    publisher.publish(Number(1))?;
    assert!(publisher.wait_for_subscribers(2, ZERO) && called.wait_for_publishers(1, ZERO));
    assert!(client.wait_for_server(ZERO) && taken.bring_in(ZERO) && changes.wait(ZERO));
    assert_eq!(client.call(Number(7), ZERO)?.0, 7);
    assert!(executor.spin_once(ZERO)?);
    assert_eq!(set.wait(ZERO)?.len(), 1);
    assert_eq!(wait_for(&mut std::future::ready(7), ZERO), Some(7));
    Ok(())
}

#[test]
fn the_longest_timeout_has_no_limit() -> sinew::Result<()> {
    for timeout in [UNLIMITED, TOO_LONG] {
        finishes(move || -> sinew::Result<()> {
            let context = real_context();
            let node = context.node("node")?;
            let publisher = node.publisher::<Number>("numbers").create()?;
            let client = node.client::<Numbers>("n").create()?;
            let mut changes = node.graph().changes();
            let (begin, begun) = mpsc::channel();
            let other = context.node("other")?;
            let helping = thread::spawn(move || -> sinew::Result<_> {
                let next = || begun.recv().expect("the test goes on");
                next();
                let taken = other.subscription::<Number>("numbers").create()?;
                next();
                let server = other.server::<Numbers>("n").callback(|n: Number| n)?;
                let executor = Executor::single();
                executor.add(&other)?;
                next();
                assert!(executor.spin_once(timeout)?, "the call");
                next();
                let publisher = other.publisher("taken").create()?;
                publisher.publish(Number(2))?;
                Ok((taken, server, publisher))
            });
            let go_on = || begin.send(()).expect("the other thread waits");
            go_on();
            assert!(publisher.wait_for_subscribers(1, timeout) && changes.wait(timeout));
            go_on();
            assert!(client.wait_for_server(timeout));
            go_on();
            assert_eq!(client.call(Number(7), timeout)?.0, 7);
            let taken = node.subscription::<Number>("taken").create()?;
            let mut set = WaitSet::new();
            set.add_subscription(&taken)?;
            go_on();
            assert_eq!(set.wait(timeout)?.len(), 1);
            assert!(taken.wait_for_publishers(1, timeout) && taken.bring_in(timeout));
            assert_eq!(wait_for(&mut Box::pin(taken.recv()), timeout).flatten().map(|(n, _)| n.0), Some(2));
            drop(helping.join().expect("it doesn't panic")?);
            Ok(())
        })?;
    }
    Ok(())
}

#[test]
fn a_limit_of_time_is_more_than_zero_and_the_longest_is_none() {
    let context = real_context();
    let node = context.node("node").unwrap();
    let set: [fn(QoS, Duration) -> QoS; 3] = [QoS::deadline, QoS::lifespan, QoS::lease];
    for set in set {
        let make = |limit| node.publisher::<Number>("numbers").qos(set(QoS::default(), limit)).create();
        for refused in [ZERO, TOO_LONG] {
            assert!(matches!(make(refused), Err(CreateError::Qos { .. })), "{refused:?}");
        }
        assert_eq!(make(UNLIMITED).unwrap().qos(), QoS::default(), "there is none");
        assert!(make(Duration::from_nanos(1)).is_ok());
    }
}

#[test]
fn publishing_waits_for_room_not_at_all_or_without_a_limit() -> sinew::Result<()> {
    finishes(|| {
        let context = real_context();
        let node = context.node("node")?;
        let qos = QoS::default().keep_all().max_samples(1);
        let subscription = node.subscription::<Number>("numbers").qos(qos).create()?;
        let publisher =
            |limit| node.publisher::<Number>("numbers").qos(qos.max_blocking_time(limit)).create();
        let (hasty, patient) = (publisher(ZERO)?, publisher(UNLIMITED)?);
        hasty.publish(Number(1))?;
        let full = hasty.publish(Number(2)).unwrap_err().failure();
        assert_eq!(full, PublishFailure::Full { waited: ZERO });
        let waiting = thread::spawn(move || patient.publish(Number(3)));
        let taken = [(); 2].map(|()| support::wait_for("a message", || subscription.take()).0.0);
        assert_eq!(taken, [1, 3]);
        waiting.join().expect("it doesn't panic")?;
        Ok(())
    })
}

#[test]
fn a_period_is_neither_zero_nor_without_a_limit() {
    let node = real_context().node("node").unwrap();
    for period in [ZERO, UNLIMITED, TOO_LONG] {
        let refused = [
            node.timer(period).callback(|| {}).map(drop),
            node.rate(period).map(drop),
            node.clock_publisher().period(period).create().map(drop),
            node.subscription::<Number>("numbers")
                .topic_statistics(TopicStatistics::default().period(period))
                .create()
                .map(drop),
        ];
        for result in refused {
            assert!(matches!(result, Err(CreateError::Period { .. })), "{period:?}: {result:?}");
        }
    }
}

#[test]
fn a_spin_of_no_time_runs_one_callback_at_most() -> sinew::Result<()> {
    let room = Room::new();
    let _called = room.node.subscription::<Number>("numbers").callback(|_: &Number| {})?;
    let publisher = room.node.publisher("numbers").create()?;
    (0..5).try_for_each(|n| publisher.publish(Number(n)))?;
    assert_eq!(room.executor.spin_all(ZERO)?, 1);
    let ran = room.executor.spin_all(UNLIMITED)?;
    assert!(ran >= 4, "until nothing is ready");
    let before = room.node.now();
    publisher.publish(Number(5))?;
    assert_eq!((room.executor.advance(ZERO)?, room.node.now()), (1, before), "what is ready now");
    Ok(())
}

#[test]
fn a_thread_that_stays_awake_without_a_limit_still_stops() -> sinew::Result<()> {
    finishes(|| {
        let place = support::Place::new();
        let context = place.context();
        let node = context.node("node")?;
        for patience in [ZERO, UNLIMITED] {
            let executor = Executor::builder().spin_before_park(patience).build()?;
            executor.add(&context)?;
            let stop = executor.stop_handle();
            let timer = node.timer(Duration::from_millis(1)).callback(move || stop.stop())?;
            executor.spin()?;
            drop(timer);
        }
        Ok(())
    })
}

#[test]
fn depths_and_limits_of_zero_are_errors_and_other_zeros_have_a_meaning() -> sinew::Result<()> {
    let context = real_context();
    let node = context.node("node")?;
    let make = |qos| node.publisher::<Number>("numbers").qos(qos).create();
    for qos in [QoS::default().keep_last(0), QoS::default().keep_all().max_samples(0)] {
        assert!(matches!(make(qos), Err(CreateError::Qos { .. })), "{qos:?}");
    }
    let full = node.server::<Numbers>("n").max_requests(0).callback(|n: Number| n);
    assert!(matches!(full, Err(CreateError::MaxRequests { .. })));
    assert!(matches!(QoS::default().history, History::KeepLast(10)));
    assert!(matches!(
        make(QoS::default().keep_last(usize::MAX)),
        Err(CreateError::Qos { problem: QosError::TooDeep { .. }, .. })
    ));

    assert!(Executor::multi(0).threads() >= 1, "one for each core");
    let publisher = node.publisher::<Number>("numbers").pool_capacity(0).create()?;
    let taken = node.subscription::<Number>("numbers").create()?;
    publisher.publish(Number(1))?;
    assert!(taken.take().is_some(), "without a pool");
    assert!(publisher.wait_for_subscribers(0, ZERO) && taken.wait_for_publishers(0, ZERO));
    let _gain = node.parameter("joint.gain").default(1.0).create()?;
    assert_eq!(node.list_parameters(&["joint"], 0), ["joint.gain"], "at any depth");
    Ok(())
}
