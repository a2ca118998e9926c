//! Statuses that the program takes by hand: no executor runs in these tests.

use crate::support::pair::{PATHS, Pair};
use crate::support::{Number, PATIENCE, Room, Text, real_context, virtual_context, wait_for};
use parking_lot::Mutex;
use sinew::erased::MessageType;
use sinew::event::{
    IncompatibleQos, IncompatibleType, LivelinessChanged, LivelinessLost, Matched, MessageLost,
    OfferedDeadlineMissed, RequestedDeadlineMissed,
};
use sinew::prelude::*;
use sinew::qos::{Liveliness, Policy};
use sinew::time::VirtualClock;
use std::sync::Arc;
use std::sync::mpsc::channel;

const TENTH: Duration = Duration::from_millis(100);

/// Waits until this many changes were notified.
fn receive(log: &std::sync::mpsc::Receiver<u64>, changes: u64) {
    let mut received = 0;
    while received < changes {
        received += log.recv_timeout(PATIENCE).expect("the listener is called");
    }
    assert_eq!(received, changes);
}

#[test]
fn matches_are_kept_until_they_are_taken() -> sinew::Result<()> {
    for path in PATHS {
        let pair = Pair::new(path);
        let publisher = pair.owner.publisher::<Number>("n").keep_statuses().create()?;
        let first = pair.asker.subscription::<Number>("n").keep_statuses().create()?;
        let matched = |event: Option<Matched>| {
            let event = event.expect("it is kept");
            (event.total, event.total_change, event.current, event.current_change)
        };
        wait_for("both to match", || {
            let both = [publisher.status::<Matched>(), first.status::<Matched>()];
            both.iter().flatten().all(|event| event.current == 1).then_some(())
        });
        let (said, log) = channel();
        assert!(publisher.set_status_listener::<Matched>(move |count| said.send(count).unwrap()));
        receive(&log, 1); // it was not taken
        assert_eq!(matched(first.take_status()), (1, 1, 1, 1));
        assert_eq!(matched(first.take_status()), (1, 0, 1, 0));
        let second = pair.asker.subscription::<Number>("n").create()?;
        receive(&log, 1);
        assert_eq!(matched(publisher.status()), (2, 2, 2, 2));
        drop(second);
        receive(&log, 1);
        assert_eq!(matched(publisher.take_status()), (2, 2, 1, 1));
        publisher.clear_status_listener::<Matched>();
        drop(first);
        wait_for("its end", || (publisher.status::<Matched>()?.current == 0).then_some(()));
        assert_eq!(matched(publisher.take_status()), (2, 0, 0, -1));
        assert!(log.recv().is_err(), "the listener went");
    }
    Ok(())
}

#[test]
fn ends_that_do_not_match_know_why() -> sinew::Result<()> {
    for path in PATHS {
        let pair = Pair::new(path);
        let offered = QoS::default().best_effort();
        let publisher = pair.owner.publisher::<Number>("n").qos(offered).keep_statuses().create()?;
        let subscription = pair.asker.subscription::<Number>("n").keep_statuses().create()?;
        let _other = pair.asker.subscription::<Text>("n").qos(offered).create()?;
        for event in [
            wait_for("the publisher's", || {
                publisher.take_status::<IncompatibleQos>().filter(|e| e.total > 0)
            }),
            wait_for("the other's", || subscription.take_status::<IncompatibleQos>().filter(|e| e.total > 0)),
        ] {
            assert_eq!((event.total, event.total_change), (1, 1));
            assert_eq!(event.last_policy, Some(Policy::Reliability));
        }
        let event = wait_for("the type", || {
            publisher.take_status::<IncompatibleType>().filter(|event| event.total > 0)
        });
        assert_eq!((event.total, event.total_change), (1, 1));
        assert_eq!(publisher.take_status::<IncompatibleType>().expect("it is kept").total_change, 0);
        assert_eq!(publisher.status::<Matched>(), Some(Matched::default()));
    }
    Ok(())
}

#[test]
fn lost_messages_are_counted_and_notified() -> sinew::Result<()> {
    let room = Room::new();
    let qos = QoS::default().keep_last(1);
    let subscription = room.node.subscription::<Number>("n").qos(qos).keep_statuses().create()?;
    let publisher = room.node.publisher::<Number>("n").create()?;
    let (said, log) = channel();
    assert!(subscription.set_status_listener::<MessageLost>(move |count| said.send(count).unwrap()));
    (0..4).try_for_each(|number| publisher.publish(Number(number)))?;
    assert_eq!(log.try_iter().collect::<Vec<_>>(), [1, 1, 1]);
    let lost = subscription.take_status::<MessageLost>().expect("it is kept");
    assert_eq!((lost.total, lost.total_change), (3, 3));
    publisher.publish(Number(4))?;
    let lost = subscription.take_status::<MessageLost>().expect("it is kept");
    assert_eq!((lost.total, lost.total_change), (4, 1));
    Ok(())
}

#[test]
fn missed_deadlines_are_noticed_by_both_ends() -> sinew::Result<()> {
    let clock = VirtualClock::new();
    let node = virtual_context(&clock).node("n")?;
    let qos = QoS::default().deadline(TENTH);
    let subscription = node.subscription::<Number>("n").qos(qos).keep_statuses().create()?;
    let publisher = node.publisher::<Number>("n").qos(qos).keep_statuses().create()?;
    let (said, log) = channel();
    assert!(publisher.set_status_listener::<OfferedDeadlineMissed>(move |count| said.send(count).unwrap()));
    let missed = |total| {
        wait_for("the publisher's", || {
            publisher.status::<OfferedDeadlineMissed>().filter(|e| e.total == total)
        });
        wait_for("the other's", || {
            subscription.status::<RequestedDeadlineMissed>().filter(|event| event.total == total)
        })
    };
    clock.advance(10 * TENTH); // the first message begins
    publisher.publish(Number(1))?;
    for total in 1..=3 {
        clock.advance(TENTH + Duration::from_nanos(1));
        assert_eq!(missed(total).total_change, total);
    }
    assert_eq!(publisher.take_status::<OfferedDeadlineMissed>().expect("it is kept").total_change, 3);
    publisher.publish(Number(2))?;
    clock.advance(TENTH + Duration::from_nanos(1));
    missed(4);
    assert_eq!(publisher.take_status::<OfferedDeadlineMissed>().expect("it is kept").total_change, 1);
    receive(&log, 4);
    Ok(())
}

#[test]
fn a_publisher_that_lapses_is_noticed_by_both_ends() -> sinew::Result<()> {
    let clock = VirtualClock::new();
    let node = virtual_context(&clock).node("n")?;
    let qos = QoS::default().liveliness(Liveliness::ManualByTopic).lease(TENTH);
    let subscription = node.subscription::<Number>("n").qos(qos).keep_statuses().create()?;
    let publisher = node.publisher::<Number>("n").qos(qos).keep_statuses().create()?;
    let alive =
        |event: LivelinessChanged| (event.alive, event.not_alive, event.alive_change, event.not_alive_change);
    let changed = subscription.take_status::<LivelinessChanged>().expect("it is kept");
    assert_eq!(alive(changed), (1, 0, 1, 0));
    let (said, log) = channel();
    assert!(subscription.set_status_listener::<LivelinessChanged>(move |count| {
        let _ = said.send(count); // the end of the publisher is too late
    }));
    for total in 1..=3 {
        clock.advance(2 * TENTH);
        receive(&log, 1);
        let changed = subscription.take_status::<LivelinessChanged>().expect("it is kept");
        assert_eq!(alive(changed), (0, 1, -1, 1));
        let lost = wait_for("the end of its lease", || {
            publisher.take_status::<LivelinessLost>().filter(|event| event.total == total)
        });
        assert_eq!(lost.total_change, 1);
        publisher.assert_liveliness();
        receive(&log, 1);
        let changed = subscription.take_status::<LivelinessChanged>().expect("it is kept");
        assert_eq!(alive(changed), (1, 0, 1, -1));
    }
    Ok(())
}

/// The thread sleeps until what is due, and a timer that comes later may be due sooner.
#[test]
fn time_passes_for_them() -> sinew::Result<()> {
    let node = real_context().node("n")?;
    let publisher = |name: &str, period| {
        let qos = QoS::default().deadline(Duration::from_millis(period));
        node.publisher::<Number>(name).qos(qos).keep_statuses().create()
    };
    let slow = publisher("slow", 3_600_000)?;
    slow.publish(Number(1))?;
    let fast = publisher("fast", 2)?;
    let (said, log) = channel();
    assert!(fast.set_status_listener::<OfferedDeadlineMissed>(move |count| {
        let _ = said.send(count); // the last one may be too late
    }));
    fast.publish(Number(1))?;
    for _ in 0..3 {
        log.recv_timeout(PATIENCE).expect("it is missed again and again");
    }
    assert!(fast.take_status::<OfferedDeadlineMissed>().expect("it is kept").total >= 3);
    assert_eq!(slow.status::<OfferedDeadlineMissed>().expect("it is kept").total, 0);
    Ok(())
}

#[test]
fn a_status_has_one_reader() -> sinew::Result<()> {
    let room = Room::new();
    let plain = room.node.subscription::<Number>("n").create()?;
    assert!(plain.status::<Matched>().is_none());
    assert!(plain.take_status::<Matched>().is_none());
    assert!(!plain.set_status_listener::<Matched>(|_| ()));
    let (said, log) = channel();
    let handled = room.node.subscription::<Number>("n").keep_statuses();
    let handled = handled.on_matched(move |event: &Matched| said.send(event.total).unwrap()).create()?;
    let _publisher = room.node.publisher::<Number>("n").create()?;
    assert!(handled.status::<Matched>().is_none());
    room.run();
    assert_eq!(log.try_iter().collect::<Vec<_>>(), [1]);
    assert_eq!(handled.status::<MessageLost>(), Some(MessageLost::default()));
    Ok(())
}

#[test]
fn a_listener_of_the_builder_is_notified_of_changes_from_the_first_on() -> sinew::Result<()> {
    for path in PATHS {
        let pair = Pair::new(path);
        let reader = pair.asker.subscription::<Number>("n").create()?;
        let (said, log) = channel();
        let publisher = pair
            .owner
            .publisher::<Number>("n")
            .status_listener::<Matched>(move |count| said.send(count).unwrap())
            .create()?;
        receive(&log, 1);
        assert_eq!(publisher.take_status::<Matched>().expect("it is kept").total_change, 1);
        assert!(publisher.status::<IncompatibleQos>().is_none(), "others aren't kept");
        let (again, second) = channel();
        assert!(publisher.set_status_listener::<Matched>(move |count| again.send(count).unwrap()));
        drop(reader);
        receive(&second, 1);
        assert!(log.recv().is_err(), "it was replaced");
    }
    Ok(())
}

/// Without `keep_statuses`: the thread for statuses starts for the listener.
#[test]
fn listeners_of_builders_are_notified_of_missed_deadlines() -> sinew::Result<()> {
    let node = real_context().node("n")?;
    let qos = QoS::default()
        .deadline(Duration::from_millis(2))
        .liveliness(Liveliness::ManualByTopic)
        .lease(Duration::from_millis(2));
    let (said, log) = channel();
    let subscription = node
        .subscription::<Number>("n")
        .qos(qos)
        .status_listener::<LivelinessChanged>(move |count| _ = said.send(count))
        .create()?;
    let (said, missed) = channel();
    let publisher = node
        .publisher::<Number>("n")
        .qos(qos)
        .status_listener::<OfferedDeadlineMissed>(move |count| _ = said.send(count))
        .create()?;
    publisher.publish(Number(1))?;
    for _ in 0..3 {
        missed.recv_timeout(PATIENCE).expect("it is missed again and again");
    }
    for _ in 0..2 {
        log.recv_timeout(PATIENCE).expect("it came, and its lease expired");
    }
    assert!(subscription.status::<RequestedDeadlineMissed>().is_none());
    assert!(publisher.status::<LivelinessLost>().is_none());
    Ok(())
}

#[test]
fn the_last_handler_or_listener_of_a_status_counts() -> sinew::Result<()> {
    let room = Room::new();
    let (said, log) = channel();
    let more = said.clone();
    let listened = room.node.publisher::<Number>("n");
    let listened = listened
        .on_matched(|| panic!("it was replaced"))
        .status_listener::<Matched>(move |count| said.send(count).unwrap())
        .create()?;
    let handled =
        room.node.publisher::<Number>("n").status_listener::<Matched>(|_| panic!("it was replaced"));
    let handled = handled.on_matched(move |_: &Matched| more.send(10).unwrap()).create()?;
    let _reader = room.node.subscription::<Number>("n").create()?;
    room.run();
    assert_eq!(log.try_iter().collect::<Vec<_>>(), [1, 10]);
    assert!(listened.status::<Matched>().is_some());
    assert!(handled.status::<Matched>().is_none());
    Ok(())
}

/// No lock is held: the listener takes, makes and drops endpoints, and replaces itself.
#[test]
fn a_listener_may_do_what_it_likes() -> sinew::Result<()> {
    let room = Room::new();
    let number = MessageType::of::<Number>();
    let publisher = room.node.erased_publisher("n", number).keep_statuses().create_erased()?;
    let (said, log) = channel();
    let (inner, node, more) = (publisher.clone(), room.node.clone(), said.clone());
    let listener = move |count| {
        let event = inner.take_status::<Matched>().expect("it is kept");
        said.send((count, event.current_change)).unwrap();
        if event.total == 1 {
            drop(node.subscription::<Number>("n").create()); // it comes and goes
        }
        if event.current == 3 {
            let more = more.clone();
            assert!(inner.set_status_listener::<Matched>(move |count| more.send((count, 0)).unwrap()));
        }
    };
    assert!(publisher.set_status_listener::<Matched>(listener));
    let subscription = || room.node.subscription::<Number>("n").create();
    let first = subscription()?;
    // It is notified of both changes that it made itself once it has returned.
    assert_eq!(log.try_iter().collect::<Vec<_>>(), [(1, 1), (2, 0)]);
    let others = [subscription()?, subscription()?];
    assert_eq!(log.try_iter().collect::<Vec<_>>(), [(1, 1), (1, 1)]);
    drop((first, others));
    assert_eq!(log.try_iter().collect::<Vec<_>>(), [(1, 0), (1, 0), (1, 0)]);
    Ok(())
}

/// On the thread for statuses, the listener drops the last handle of its context.
#[test]
fn a_listener_may_end_everything() -> sinew::Result<()> {
    let context = real_context();
    let qos = QoS::default().deadline(Duration::from_millis(1));
    let publisher = context.node("n")?.publisher::<Number>("n").qos(qos).keep_statuses().create()?;
    let all = Arc::new(Mutex::new(None));
    let (said, log) = channel();
    let last = all.clone();
    assert!(publisher.set_status_listener::<OfferedDeadlineMissed>(move |_| {
        if let Some(last) = last.lock().take() {
            drop::<(Context, Publisher<Number>)>(last);
            said.send(()).unwrap();
        }
    }));
    publisher.publish(Number(1))?;
    *all.lock() = Some((context, publisher));
    log.recv_timeout(PATIENCE).expect("it is missed");
    assert!(log.recv_timeout(PATIENCE).is_err(), "the listener went");
    Ok(())
}

#[test]
fn a_shutdown_leaves_them_as_they_are() -> sinew::Result<()> {
    let clock = VirtualClock::new();
    let context = virtual_context(&clock);
    let node = context.node("n")?;
    let qos = QoS::default().deadline(TENTH);
    let publisher = node.publisher::<Number>("n").qos(qos).keep_statuses().create()?;
    publisher.publish(Number(1))?;
    clock.advance(TENTH + Duration::from_nanos(1));
    wait_for("a miss", || publisher.status::<OfferedDeadlineMissed>().filter(|event| event.total == 1));
    context.shutdown();
    clock.advance(10 * TENTH);
    let missed = publisher.take_status::<OfferedDeadlineMissed>().expect("it is kept");
    assert_eq!((missed.total, missed.total_change), (1, 1));
    Ok(())
}
