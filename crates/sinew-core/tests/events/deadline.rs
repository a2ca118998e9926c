//! Deadlines: what both ends count, and when their handlers are called. Virtual time, but for the
//! last test.

use crate::support;

use proptest::collection::vec;
use proptest::prelude::*;
use sinew::event::{OfferedDeadlineMissed, RequestedDeadlineMissed};
use sinew::executor::FaultPolicy;
use sinew::prelude::*;
use std::sync::mpsc;
use support::{Log, Number, Pen, Room, numbers_in, real_context};

const PERIOD: Duration = Duration::from_millis(10);

fn punctual() -> QoS {
    QoS::default().deadline(PERIOD)
}

/// (total, change), as the handlers get them.
type Missed = (u64, u64);

fn publisher_in(node: &Node, qos: QoS, pen: Pen<Missed>) -> sinew::Result<Publisher<Number>> {
    let handler = move |event: &OfferedDeadlineMissed| pen.write((event.total, event.total_change));
    Ok(node.publisher("numbers").qos(qos).on_deadline_missed(handler).create()?)
}

fn subscription_in(node: &Node, qos: QoS, pen: Pen<Missed>) -> sinew::Result<Subscription<Number>> {
    let handler = move |event: &RequestedDeadlineMissed| pen.write((event.total, event.total_change));
    Ok(node.subscription("numbers").qos(qos).on_deadline_missed(handler).create()?)
}

/// Both ends with handlers, and their events.
struct Pair {
    room: Room,
    publisher: Publisher<Number>,
    subscription: Subscription<Number>,
    offered: Log<Missed>,
    requested: Log<Missed>,
}

impl Pair {
    fn new() -> sinew::Result<Self> {
        let (room, offered, requested) = (Room::new(), Log::new(), Log::new());
        let subscription = subscription_in(&room.node, punctual(), requested.pen())?;
        let publisher = publisher_in(&room.node, punctual(), offered.pen())?;
        Ok(Self { room, publisher, subscription, offered, requested })
    }

    #[track_caller]
    fn publish(&self) {
        self.publisher.publish(Number(1)).expect("nobody can hold it up");
    }

    /// Checks the events of both ends.
    #[track_caller]
    fn check(&self, expected: &[Missed]) {
        assert_eq!(self.offered.lines(), expected, "the publisher");
        assert_eq!(self.requested.lines(), expected, "the subscription");
    }
}

#[test]
fn each_period_without_a_message_is_missed_once_at_both_ends() -> sinew::Result<()> {
    let pair = Pair::new()?;
    pair.publish();
    pair.room.advance(35);
    pair.check(&[(1, 1), (2, 1), (3, 1)]);
    pair.publish();
    pair.room.advance(10);
    pair.check(&[]);
    pair.room.advance(1);
    pair.check(&[(4, 1)]);
    Ok(())
}

#[test]
fn nothing_is_missed_before_the_first_message() -> sinew::Result<()> {
    let pair = Pair::new()?;
    assert_eq!(pair.room.advance(1000), 0);
    pair.publish();
    pair.room.advance(10);
    pair.check(&[]);
    Ok(())
}

#[test]
fn a_message_in_every_period_misses_nothing_also_at_its_very_end() -> sinew::Result<()> {
    let pair = Pair::new()?;
    let publisher = pair.publisher.clone();
    let mut left = 20;
    let _timer = pair.room.node.timer(PERIOD).callback(move |timer: &sinew::time::TimerInfo| {
        left -= 1;
        if left == 0 {
            timer.cancel();
        }
        publisher.publish(Number(left))
    })?;
    pair.room.advance(210);
    pair.check(&[]);
    pair.room.advance(1);
    pair.check(&[(1, 1)]);
    Ok(())
}

#[test]
fn an_executor_that_is_late_reports_all_at_once() -> sinew::Result<()> {
    let pair = Pair::new()?;
    pair.publish();
    pair.room.clock.advance(Duration::from_millis(55));
    assert_eq!(pair.room.run(), 2, "one call each, no burst");
    pair.check(&[(5, 5)]);
    pair.room.clock.advance(Duration::from_millis(5));
    pair.room.run();
    pair.check(&[]);
    pair.room.clock.advance(Duration::from_millis(1));
    assert_eq!(pair.room.executor.spin_some().unwrap(), 2, "at the first look");
    pair.check(&[(6, 1)]);
    Ok(())
}

#[test]
fn what_was_missed_before_a_message_came_is_counted_however_late_the_executor_is() -> sinew::Result<()> {
    let pair = Pair::new()?;
    pair.publish();
    pair.room.clock.advance(Duration::from_millis(25)); // 2 missed
    pair.publish();
    pair.room.clock.advance(Duration::from_millis(10));
    pair.publish();
    pair.room.clock.advance(Duration::from_millis(15)); // 1
    pair.publish();
    pair.room.run();
    pair.check(&[(3, 3)]);
    Ok(())
}

#[test]
fn a_handler_whose_group_is_in_no_executor_gets_what_it_missed_when_it_is() -> sinew::Result<()> {
    let Room { clock, context: _context, node, executor } = Room::new();
    drop(executor);
    let (offered, requested) = (Log::new(), Log::new());
    let _subscription = subscription_in(&node, punctual(), requested.pen())?;
    let publisher = publisher_in(&node, punctual(), offered.pen())?;
    publisher.publish(Number(1))?;
    clock.advance(Duration::from_millis(25));
    publisher.publish(Number(2))?;
    clock.advance(Duration::from_millis(35));
    let executor = Executor::single();
    executor.add(&node)?;
    executor.spin_all(PERIOD)?;
    // What was missed before the second message waits already; the rest is found by the look that
    // comes after.
    assert_eq!(offered.lines().last(), Some(&(5, 3)));
    assert_eq!(requested.lines().last(), Some(&(5, 3)));
    drop(executor);
    clock.advance(Duration::from_millis(10));
    let executor = Executor::single();
    executor.add(&node)?;
    executor.spin_all(PERIOD)?;
    assert_eq!(offered.lines(), [(6, 1)], "and again in another executor");
    assert_eq!(requested.lines(), [(6, 1)]);
    Ok(())
}

#[test]
fn each_end_counts_by_its_own_deadline() -> sinew::Result<()> {
    let (room, offered, requested) = (Room::new(), Log::new(), Log::new());
    let _patient =
        subscription_in(&room.node, QoS::default().deadline(Duration::from_millis(25)), requested.pen())?;
    let _carefree = subscription_in(&room.node, QoS::default(), requested.pen())?;
    let publisher = publisher_in(&room.node, punctual(), offered.pen())?;
    publisher.publish(Number(1))?;
    room.advance(55);
    assert_eq!(offered.lines().last(), Some(&(5, 1)));
    assert_eq!(requested.lines(), [(1, 1), (2, 1)]);
    Ok(())
}

#[test]
fn a_message_of_any_publisher_counts_for_a_subscription_and_only_its_own_for_a_publisher() -> sinew::Result<()>
{
    let pair = Pair::new()?;
    let other = pair.room.node.publisher::<Number>("numbers").qos(punctual()).create()?;
    pair.publish();
    for _ in 0..3 {
        pair.room.advance(8);
        other.publish(Number(2))?;
    }
    assert_eq!(pair.requested.lines(), []);
    assert_eq!(pair.offered.lines(), [(1, 1), (2, 1)]);
    Ok(())
}

#[test]
fn a_topic_that_overwrites_or_refuses_its_messages_is_in_time() -> sinew::Result<()> {
    let keep_all = punctual().keep_all().best_effort().max_samples(1);
    for (qos, lost) in [(punctual().keep_last(1), (1, 9, 0)), (keep_all, (1, 0, 9))] {
        let (room, log) = (Room::new(), Log::new());
        let subscription = subscription_in(&room.node, qos, log.pen())?;
        let publisher = room.node.publisher::<Number>("numbers").qos(punctual()).create()?;
        for number in 1..=10 {
            publisher.publish(Number(number))?;
            room.advance(9);
        }
        let statistics = subscription.statistics();
        assert_eq!((statistics.waiting, statistics.overwritten, statistics.refused), lost);
        assert_eq!(log.lines(), []);
    }
    Ok(())
}

#[test]
fn messages_that_a_filter_rejects_do_not_count() -> sinew::Result<()> {
    let (room, log) = (Room::new(), Log::new());
    let pen = log.pen();
    let subscription = room
        .node
        .subscription::<Number>("numbers")
        .qos(punctual())
        .filter(|number| number.0 == 0)
        .on_deadline_missed(move |event: &RequestedDeadlineMissed| pen.write(event.total))
        .create()?;
    let publisher = room.node.publisher::<Number>("numbers").qos(punctual()).create()?;
    for number in 0..4 {
        publisher.publish(Number(number))?;
        room.advance(6);
    }
    assert_eq!(log.lines(), [1, 2]);
    assert_eq!(numbers_in(&subscription), [0]);
    Ok(())
}

#[test]
fn a_late_joiner_counts_from_its_own_first_message() -> sinew::Result<()> {
    let (room, log) = (Room::new(), Log::new());
    let publisher = room.node.publisher::<Number>("numbers").qos(punctual().transient_local()).create()?;
    publisher.publish(Number(1))?;
    room.advance(100);
    let volatile = subscription_in(&room.node, punctual(), log.pen())?;
    room.advance(100);
    assert_eq!(log.lines(), [], "no message has come to it");
    drop(volatile);
    let _late = subscription_in(&room.node, punctual().transient_local(), log.pen())?;
    room.advance(15);
    assert_eq!(log.lines(), [(1, 1)], "what was retained came when it joined");
    Ok(())
}

#[test]
fn a_subscription_goes_on_counting_when_its_last_publisher_is_gone() -> sinew::Result<()> {
    let Pair { room, publisher, subscription: _subscription, offered, requested } = Pair::new()?;
    publisher.publish(Number(1))?;
    drop(publisher);
    room.advance(25);
    assert_eq!(offered.lines(), []);
    assert_eq!(requested.lines(), [(1, 1), (2, 1)]);
    Ok(())
}

#[test]
fn entities_may_go_in_their_own_handlers() -> sinew::Result<()> {
    let room = Room::new();
    let log = Log::new();
    let (give, take) = mpsc::channel::<(Publisher<Number>, Subscription<Number>)>();
    let pen = log.pen();
    let publisher = room
        .node
        .publisher::<Number>("numbers")
        .qos(punctual())
        .on_deadline_missed(move || {
            drop(take.try_recv());
            pen.write(());
        })
        .create()?;
    let pen = log.pen();
    let subscription = room
        .node
        .subscription::<Number>("numbers")
        .qos(punctual())
        .on_deadline_missed(move || pen.write(()))
        .create()?;
    publisher.publish(Number(1))?;
    room.advance(5);
    publisher.publish(Number(1))?;
    give.send((publisher, subscription)).unwrap();
    room.advance(100);
    assert!((1..=2).contains(&log.lines().len()), "the other one's was due at the same time");
    assert_eq!(room.advance(100), 0, "nobody is left");
    Ok(())
}

#[test]
fn a_handler_that_panics_is_called_again_for_the_next_period() -> sinew::Result<()> {
    let clock = sinew::time::VirtualClock::new();
    let context = support::virtual_context(&clock);
    let node = context.node("room")?;
    let executor = Executor::builder().on_panic(FaultPolicy::Report).build()?;
    executor.add(&context)?;
    let log = Log::new();
    let pen = log.pen();
    let publisher = node
        .publisher::<Number>("numbers")
        .qos(punctual())
        .on_deadline_missed(move |event: &OfferedDeadlineMissed| {
            pen.write((event.total, event.total_change));
            assert!(event.total.is_multiple_of(2), "on purpose");
        })
        .create()?;
    publisher.publish(Number(1))?;
    executor.advance(Duration::from_millis(45))?;
    assert_eq!(log.lines(), [(1, 1), (2, 1), (3, 1), (4, 1)]);
    Ok(())
}

#[test]
fn a_handler_in_a_reentrant_group_is_called_the_same() -> sinew::Result<()> {
    let (room, log) = (Room::new(), Log::new());
    let group = room.node.reentrant_group();
    let pen = log.pen();
    let publisher = group
        .publisher::<Number>("numbers")
        .qos(punctual())
        .on_deadline_missed(move |event: &OfferedDeadlineMissed| pen.write(event.total))
        .create()?;
    publisher.publish(Number(1))?;
    room.advance(25);
    assert_eq!(log.lines(), [1, 2]);
    Ok(())
}

#[test]
fn a_handler_may_use_its_groups_state() -> sinew::Result<()> {
    let (room, log) = (Room::new(), Log::new());
    let group = room.node.group(0_u64);
    let subscription = group
        .subscription::<Number>("numbers")
        .qos(punctual())
        .on_deadline_missed(|silent: &mut u64| *silent += 1)
        .callback(|silent: &mut u64, _: &Number| *silent = 0)?;
    let pen = log.pen();
    let _timer =
        group.timer(Duration::from_millis(45)).callback(move |silent: &mut u64| pen.write(*silent))?;
    let publisher = room.node.publisher::<Number>("numbers").qos(punctual()).create()?;
    publisher.publish(Number(1))?;
    room.advance(45);
    publisher.publish(Number(2))?;
    room.advance(45);
    assert_eq!(log.lines(), [4, 4]);
    assert_eq!(subscription.statistics().taken, 2);
    Ok(())
}

#[test]
fn a_clock_that_is_set_back_silences_no_deadline() -> sinew::Result<()> {
    let pair = Pair::new()?;
    pair.room.advance(1_000_000);
    pair.publish();
    pair.room.clock.set(sinew::time::Time::from_nanoseconds(0));
    pair.publish();
    pair.room.advance(25);
    pair.check(&[(1, 1), (2, 1)]);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Both ends' totals are those of the gaps between the messages, whenever they were looked at.
    #[test]
    fn totals_are_those_of_the_gaps(
        steps in vec((0..60_u64, any::<bool>(), any::<bool>()), 1..40),
    ) {
        let pair = Pair::new().unwrap();
        // (0, 10] after a message is in time, (10, 20] missed one, ..
        let missed = |gap: u64| gap.saturating_sub(1) / 10;
        let (mut since_last, mut expected) = (None, 0);
        for (wait, looks, publishes) in steps {
            since_last = since_last.map(|since| since + wait);
            if looks {
                pair.room.advance(wait);
            } else {
                pair.room.clock.advance(Duration::from_millis(wait));
            }
            if publishes {
                pair.publish();
                expected += since_last.map_or(0, missed);
                since_last = Some(0);
            }
        }
        expected += since_last.map_or(0, missed);
        pair.room.run();
        for log in [&pair.offered, &pair.requested] {
            let events = log.lines();
            prop_assert_eq!(events.last().map_or(0, |events| events.0), expected);
            prop_assert_eq!(events.iter().map(|events| events.1).sum::<u64>(), expected);
            prop_assert!(events.iter().all(|events| events.1 > 0), "nobody is called for nothing");
        }
    }
}

#[test]
fn in_real_time_a_sleeping_executor_wakes_for_a_missed_deadline() -> sinew::Result<()> {
    let context = real_context();
    let node = context.node("real")?;
    let log = Log::new();
    let stop_after = |pen: Pen<Missed>, stop: sinew::executor::StopHandle| {
        move |event: &RequestedDeadlineMissed| {
            pen.write((event.total, event.total_change));
            if event.total >= 3 {
                stop.stop();
            }
        }
    };
    let executor = Executor::single();
    executor.add(&context)?;
    let _subscription = node
        .subscription::<Number>("numbers")
        .qos(QoS::default().deadline(Duration::from_millis(1)))
        .on_deadline_missed(stop_after(log.pen(), executor.stop_handle()))
        .callback(|_: &Number| {})?;
    let publisher =
        node.publisher::<Number>("numbers").qos(QoS::default().deadline(Duration::from_millis(1)));
    let publisher = publisher.create()?;
    let events = support::finishes(move || {
        std::thread::scope(|scope| {
            scope.spawn(|| publisher.publish(Number(1)).unwrap());
            executor.spin().unwrap();
        });
        log.lines()
    });
    assert!(events.last().is_some_and(|events| events.0 >= 3));
    assert_eq!(events.iter().map(|events| events.1).sum::<u64>(), events.last().map_or(0, |events| events.0));
    Ok(())
}
