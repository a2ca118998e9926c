//! Liveliness: which publishers count as alive, and which handlers run when that changes. Virtual
//! time, but for the last test and a part of the one before.
#![expect(clippy::disallowed_types, reason = "a lock of the test's own")]

use crate::support;

use proptest::collection::vec;
use proptest::prelude::*;
use sinew::event::{LivelinessChanged, LivelinessLost};
use sinew::executor::FaultPolicy;
use sinew::prelude::*;
use sinew::qos::Liveliness;
use sinew::time::VirtualClock;
use std::sync::{Arc, Mutex, mpsc};
use support::{Log, Number, Pen, Place, Room, numbers_in, real_context};

const LEASE: Duration = Duration::from_millis(10);

fn manual() -> QoS {
    QoS::default().liveliness(Liveliness::ManualByTopic).lease(LEASE)
}

/// (total, change), as a publisher's handler gets them.
type Lost = (u64, u64);

/// (alive, not alive, change of alive, change of not alive), as a subscription's handler gets them.
type Changed = (usize, usize, isize, isize);

fn publisher_in(node: &Node, qos: QoS, pen: Pen<Lost>) -> sinew::Result<Publisher<Number>> {
    let handler = move |event: &LivelinessLost| pen.write((event.total, event.total_change));
    Ok(node.publisher("numbers").qos(qos).on_liveliness_lost(handler).create()?)
}

fn changed(event: &LivelinessChanged) -> Changed {
    (event.alive, event.not_alive, event.alive_change, event.not_alive_change)
}

fn subscription_in(node: &Node, pen: Pen<Changed>) -> sinew::Result<Subscription<Number>> {
    let handler = move |event: &LivelinessChanged| pen.write(changed(event));
    Ok(node.subscription("numbers").on_liveliness_changed(handler).create()?)
}

/// Both ends with handlers, and their events.
struct Pair {
    room: Room,
    publisher: Publisher<Number>,
    subscription: Subscription<Number>,
    lost: Log<Lost>,
    changed: Log<Changed>,
}

impl Pair {
    fn new(qos: QoS) -> sinew::Result<Self> {
        let (room, lost, changed) = (Room::new(), Log::new(), Log::new());
        let subscription = subscription_in(&room.node, changed.pen())?;
        let publisher = publisher_in(&room.node, qos, lost.pen())?;
        Ok(Self { room, publisher, subscription, lost, changed })
    }

    #[track_caller]
    fn check(&self, lost: &[Lost], changed: &[Changed]) {
        assert_eq!(self.lost.lines(), lost, "the publisher");
        assert_eq!(self.changed.lines(), changed, "the subscription");
    }
}

#[test]
fn an_automatic_publisher_is_alive_while_it_exists() -> sinew::Result<()> {
    for qos in [QoS::default(), QoS::default().lease(LEASE)] {
        let Pair { room, publisher, subscription: _subscription, lost, changed } = Pair::new(qos)?;
        publisher.assert_liveliness();
        room.advance(1000);
        assert_eq!(changed.lines(), [(1, 0, 1, 0)]);
        drop(publisher);
        room.run();
        assert_eq!(changed.lines(), [(0, 0, -1, 0)]);
        assert_eq!(lost.lines(), []);
    }
    Ok(())
}

#[test]
fn a_manual_publisher_without_a_lease_never_lapses() -> sinew::Result<()> {
    let pair = Pair::new(QoS::default().liveliness(Liveliness::ManualByTopic))?;
    pair.publisher.assert_liveliness();
    pair.room.advance(1_000_000);
    pair.check(&[], &[(1, 0, 1, 0)]);
    Ok(())
}

#[test]
fn a_manual_publisher_lapses_once_without_a_sign_of_life_and_lives_again_with_one() -> sinew::Result<()> {
    let signs: [fn(&Publisher<Number>); 2] =
        [|publisher| publisher.publish(Number(1)).unwrap(), Publisher::assert_liveliness];
    for sign in signs {
        let pair = Pair::new(manual())?;
        pair.room.advance(10);
        pair.check(&[], &[(1, 0, 1, 0)]); // its creation was a sign, and the lease is over after its end
        pair.room.advance(1);
        pair.check(&[(1, 1)], &[(0, 1, -1, 1)]);
        pair.room.advance(100);
        pair.check(&[], &[]);
        sign(&pair.publisher);
        pair.room.run();
        pair.check(&[], &[(1, 0, 1, -1)]);
        for _ in 0..5 {
            pair.room.advance(10);
            sign(&pair.publisher);
        }
        pair.check(&[], &[]);
        pair.room.advance(50);
        pair.check(&[(2, 1)], &[(0, 1, -1, 1)]);
    }
    Ok(())
}

#[test]
fn each_manual_publisher_lapses_by_its_own_lease() -> sinew::Result<()> {
    let (room, log) = (Room::new(), Log::new());
    let _subscription = subscription_in(&room.node, log.pen())?;
    let publisher = |qos| room.node.publisher::<Number>("numbers").qos(qos).create();
    let quick = publisher(manual().lease(Duration::from_millis(3)))?;
    let slow = publisher(manual())?;
    let automatic = publisher(QoS::default())?;
    room.advance(5);
    assert_eq!(log.lines(), [(3, 0, 3, 0), (2, 1, -1, 1)]);
    room.advance(6);
    assert_eq!(log.lines(), [(1, 2, -1, 1)]);
    slow.assert_liveliness();
    room.advance(2);
    quick.assert_liveliness();
    room.advance(2);
    assert_eq!(log.lines(), [(2, 1, 1, -1), (3, 0, 1, -1)]);
    drop(automatic);
    room.advance(2);
    assert_eq!(log.lines(), [(2, 0, -1, 0), (1, 1, -1, 1)]);
    drop((quick, slow));
    room.run();
    assert_eq!(log.lines(), [(0, 0, -1, -1)]);
    Ok(())
}

#[test]
fn a_publisher_that_goes_while_it_is_lapsed_was_not_alive() -> sinew::Result<()> {
    let Pair { room, publisher, subscription: _subscription, changed, .. } = Pair::new(manual())?;
    room.advance(11);
    drop(publisher);
    room.run();
    assert_eq!(changed.lines(), [(1, 0, 1, 0), (0, 1, -1, 1), (0, 0, 0, -1)]);
    assert_eq!(room.advance(100), 0, "nothing is left to look at");
    Ok(())
}

#[test]
fn a_late_joiner_finds_who_is_alive_and_who_is_not() -> sinew::Result<()> {
    for looked in [true, false] {
        let (room, log) = (Room::new(), Log::new());
        let lapsed = room.node.publisher::<Number>("numbers").qos(manual()).create()?;
        let _first = looked.then(|| subscription_in(&room.node, Log::new().pen())).transpose()?;
        room.advance(11);
        let _alive = room.node.publisher::<Number>("numbers").qos(manual()).create()?;
        let _late = subscription_in(&room.node, log.pen())?;
        room.run();
        assert_eq!(log.lines(), [(1, 1, 1, 1)], "also if nobody had noticed");
        lapsed.publish(Number(1))?;
        room.advance(11);
        assert_eq!(log.lines(), [(2, 0, 1, -1), (0, 2, -2, 2)], "both lapsed at the same time");
    }
    Ok(())
}

#[test]
fn a_subscription_that_goes_leaves_the_others_and_the_publisher_notified() -> sinew::Result<()> {
    let pair = Pair::new(manual())?;
    let second = Log::new();
    let other = subscription_in(&pair.room.node, second.pen())?;
    let third = subscription_in(&pair.room.node, Log::new().pen())?;
    pair.room.advance(5);
    drop(third);
    pair.room.advance(6);
    pair.check(&[(1, 1)], &[(1, 0, 1, 0), (0, 1, -1, 1)]);
    drop(pair.subscription);
    pair.publisher.assert_liveliness();
    pair.room.advance(11);
    assert_eq!(second.lines(), [(1, 0, 1, 0), (0, 1, -1, 1), (1, 0, 1, -1), (0, 1, -1, 1)]);
    assert_eq!(pair.lost.lines(), [(2, 1)]);
    drop(other);
    pair.publisher.assert_liveliness();
    pair.room.advance(11);
    assert_eq!(pair.lost.lines(), [(3, 1)]);
    Ok(())
}

#[test]
fn a_subscription_notices_also_if_the_publishers_group_is_in_no_executor() -> sinew::Result<()> {
    let Room { clock: _clock, context, node, executor } = Room::new();
    drop(executor);
    let elsewhere = context.node("elsewhere")?;
    let (lost, changed) = (Log::new(), Log::new());
    let _subscription = subscription_in(&node, changed.pen())?;
    let publisher = publisher_in(&elsewhere, manual(), lost.pen())?;
    let executor = Executor::single();
    executor.add(&node)?;
    executor.advance(Duration::from_millis(11))?;
    assert_eq!(changed.lines(), [(1, 0, 1, 0), (0, 1, -1, 1)]);
    publisher.assert_liveliness();
    executor.advance(Duration::from_millis(11))?;
    assert_eq!(changed.lines(), [(1, 0, 1, -1), (0, 1, -1, 1)]);
    assert_eq!(lost.lines(), []);
    executor.add(&elsewhere)?;
    executor.spin_all(LEASE)?;
    assert_eq!(lost.lines(), [(2, 2)], "what it missed");
    Ok(())
}

#[test]
fn a_publisher_notices_also_if_the_subscriptions_group_is_in_no_executor() -> sinew::Result<()> {
    let Room { clock: _clock, context, node, executor } = Room::new();
    drop(executor);
    let elsewhere = context.node("elsewhere")?;
    let (lost, changed) = (Log::new(), Log::new());
    let _subscription = subscription_in(&elsewhere, changed.pen())?;
    let publisher = publisher_in(&node, manual(), lost.pen())?;
    let executor = Executor::single();
    executor.add(&node)?;
    executor.advance(Duration::from_millis(11))?;
    assert_eq!(lost.lines(), [(1, 1)]);
    publisher.assert_liveliness();
    executor.add(&elsewhere)?;
    executor.advance(Duration::from_millis(11))?;
    assert_eq!(changed.lines(), [(1, 0, 1, 0), (0, 1, -1, 1)], "down and up again is no change");
    assert_eq!(lost.lines(), [(2, 1)]);
    Ok(())
}

#[test]
fn a_late_sign_of_life_reveals_a_lapse_that_was_not_noticed() -> sinew::Result<()> {
    let pair = Pair::new(manual())?;
    pair.room.run();
    for _ in 0..3 {
        pair.room.clock.advance(Duration::from_millis(25));
        pair.publisher.assert_liveliness();
    }
    pair.room.run();
    pair.check(&[(3, 3)], &[(1, 0, 1, 0), (1, 0, 0, 0)]);
    Ok(())
}

#[test]
fn messages_arrive_as_usual_whether_their_publisher_counts_as_alive_or_not() -> sinew::Result<()> {
    let pair = Pair::new(manual())?;
    for number in 1..=3 {
        pair.room.advance(15);
        pair.publisher.publish(Number(number))?;
    }
    assert_eq!(numbers_in(&pair.subscription), [1, 2, 3]);
    assert_eq!(pair.publisher.statistics().published, 3);
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
        .qos(manual())
        .on_liveliness_lost(move || {
            drop(take.try_recv());
            pen.write("lost");
        })
        .create()?;
    let pen = log.pen();
    let subscription = room
        .node
        .subscription::<Number>("numbers")
        .on_liveliness_changed(move || pen.write("changed"))
        .create()?;
    room.run();
    assert_eq!(log.lines(), ["changed"]);
    give.send((publisher, subscription)).unwrap();
    room.advance(11);
    assert!(log.lines().contains(&"lost"));
    assert_eq!(room.advance(100), 0, "nobody is left");
    Ok(())
}

#[test]
fn a_handler_may_revive_its_publisher() -> sinew::Result<()> {
    let (room, log) = (Room::new(), Log::new());
    let _subscription = subscription_in(&room.node, log.pen())?;
    let mine = Arc::new(Mutex::new(None::<Publisher<Number>>));
    let revived = mine.clone();
    let publisher = room
        .node
        .publisher::<Number>("numbers")
        .qos(manual())
        .on_liveliness_lost(move |event: &LivelinessLost| {
            if event.total < 3 {
                revived.lock().unwrap().as_ref().unwrap().assert_liveliness();
            }
        })
        .create()?;
    *mine.lock().unwrap() = Some(publisher);
    room.advance(50);
    let events = log.lines();
    assert_eq!(events.first(), Some(&(1, 0, 1, 0)));
    assert_eq!(events.last(), Some(&(0, 1, -1, 1)), "the third time it stays away");
    drop(mine.lock().unwrap().take()); // its handler holds it
    Ok(())
}

#[test]
fn a_handler_that_panics_is_called_again() -> sinew::Result<()> {
    let clock = sinew::time::VirtualClock::new();
    let context = support::virtual_context(&clock);
    let node = context.node("room")?;
    let executor = Executor::builder().on_panic(FaultPolicy::Report).build()?;
    executor.add(&context)?;
    let log = Log::new();
    let pen = log.pen();
    let _subscription = node
        .subscription::<Number>("numbers")
        .on_liveliness_changed(move |event: &LivelinessChanged| {
            pen.write(changed(event));
            assert!(event.alive == 0, "on purpose");
        })
        .create()?;
    let publisher = node.publisher::<Number>("numbers").qos(manual()).create()?;
    executor.advance(Duration::from_millis(11))?;
    publisher.assert_liveliness();
    executor.advance(Duration::from_millis(11))?;
    assert_eq!(log.lines(), [(1, 0, 1, 0), (0, 1, -1, 1), (1, 0, 1, -1), (0, 1, -1, 1)]);
    Ok(())
}

#[test]
fn handlers_in_a_reentrant_group_are_called_the_same() -> sinew::Result<()> {
    let (room, lost, log) = (Room::new(), Log::new(), Log::new());
    let group = room.node.reentrant_group();
    let pen = log.pen();
    let _subscription = group
        .subscription::<Number>("numbers")
        .on_liveliness_changed(move |event: &LivelinessChanged| pen.write(changed(event)))
        .create()?;
    let pen = lost.pen();
    let _publisher = group
        .publisher::<Number>("numbers")
        .qos(manual())
        .on_liveliness_lost(move || pen.write(()))
        .create()?;
    room.advance(11);
    assert_eq!(log.lines(), [(1, 0, 1, 0), (0, 1, -1, 1)]);
    assert_eq!(lost.lines().len(), 1);
    Ok(())
}

#[test]
fn a_clock_that_is_set_back_keeps_nobody_alive() -> sinew::Result<()> {
    let pair = Pair::new(manual())?;
    pair.room.advance(5);
    pair.room.clock.set(sinew::time::Time::from_nanoseconds(-1_000_000_000_000));
    pair.publisher.assert_liveliness();
    pair.room.advance(11);
    pair.check(&[(1, 1)], &[(1, 0, 1, 0), (0, 1, -1, 1)]);
    Ok(())
}

// ---- against an oracle ----

#[derive(Debug, Clone)]
enum Step {
    /// So many milliseconds pass, with the executor running or not.
    Wait {
        time: i64,
        looks: bool,
    },
    Publish(usize),
    Assert(usize),
    /// The publisher goes, or another one comes in its place.
    Toggle(usize),
    /// A further subscription comes, or goes.
    Join,
    Leave,
}

const PUBLISHERS: usize = 3;

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0..25_i64, any::<bool>()).prop_map(|(time, looks)| Step::Wait { time, looks }),
        3 => (0..PUBLISHERS).prop_map(Step::Publish),
        3 => (0..PUBLISHERS).prop_map(Step::Assert),
        1 => (0..PUBLISHERS).prop_map(Step::Toggle),
        1 => Just(Step::Join),
        1 => Just(Step::Leave),
    ]
}

/// A publisher of the oracle: all its signs of life.
struct Signs {
    lease: i64,
    signs: Vec<i64>,
}

impl Signs {
    /// How often it lapsed up to now, and whether it has lapsed now.
    fn lapses(&self, now: i64) -> (u64, bool) {
        let gaps = self.signs.windows(2).filter(|pair| pair[1] - pair[0] > self.lease).count();
        let lapsed = self.signs.last().is_some_and(|last| now - last > self.lease);
        (gaps as u64 + u64::from(lapsed), lapsed)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn all_handlers_are_notified_of_what_the_signs_of_life_say(steps in vec(step(), 1..60)) {
        let room = Room::new();
        let leases = [7, 10, 16];
        let make = |index: usize, lost: &Log<Lost>| {
            let lease = Duration::from_millis(leases[index]);
            publisher_in(&room.node, manual().lease(lease), lost.pen()).unwrap()
        };
        let fresh = |index: usize, now: i64| {
            let lost = Log::new();
            let signs = Signs { lease: i64::try_from(leases[index]).unwrap(), signs: vec![now] };
            (make(index, &lost), lost, signs)
        };
        let mut publishers: Vec<_> = (0..PUBLISHERS).map(|index| Some(fresh(index, 0))).collect();
        let mut subscriptions = Vec::new();
        let mut now = 0;
        for step in steps {
            match step {
                Step::Wait { time, looks } => {
                    now += time;
                    let time = time.unsigned_abs();
                    if looks {
                        room.advance(time);
                    } else {
                        room.clock.advance(Duration::from_millis(time));
                    }
                }
                Step::Publish(index) => if let Some((publisher, _, signs)) = &mut publishers[index] {
                    publisher.publish(Number(1)).unwrap();
                    signs.signs.push(now);
                },
                Step::Assert(index) => if let Some((publisher, _, signs)) = &mut publishers[index] {
                    publisher.assert_liveliness();
                    signs.signs.push(now);
                },
                Step::Toggle(index) => match publishers[index].take() {
                    Some(_) => {}
                    None => publishers[index] = Some(fresh(index, now)),
                },
                Step::Join => {
                    let log = Log::new();
                    subscriptions.push((subscription_in(&room.node, log.pen()).unwrap(), log));
                }
                Step::Leave => if !subscriptions.is_empty() {
                    drop(subscriptions.remove(0));
                },
            }
        }
        room.run();
        let (mut alive, mut not_alive) = (0, 0);
        for (_, lost, signs) in publishers.iter().flatten() {
            let (total, lapsed) = signs.lapses(now);
            let events = lost.lines();
            prop_assert_eq!(events.last().map_or(0, |events| events.0), total);
            prop_assert_eq!(events.iter().map(|events| events.1).sum::<u64>(), total);
            if lapsed { not_alive += 1 } else { alive += 1 }
        }
        for (_, log) in &subscriptions {
            let events = log.lines();
            let last = events.last().map_or((0, 0), |events| (events.0, events.1));
            prop_assert_eq!(last, (alive, not_alive));
            let sums = events.iter().fold((0, 0), |sums, events| (sums.0 + events.2, sums.1 + events.3));
            prop_assert_eq!(sums, (alive.cast_signed(), not_alive.cast_signed()));
        }
    }
}

#[test]
fn counts_add_up_while_publishers_lapse_and_entities_come_and_go_on_many_threads() -> sinew::Result<()> {
    let context = real_context();
    let executor = Executor::multi(2);
    executor.add(&context)?;
    let nodes = [context.node("one")?, context.node("two")?];
    let log = Log::new();
    let _witness = subscription_in(&nodes[0], log.pen())?;
    let stop = executor.stop_handle();
    let hasty = manual().lease(Duration::from_nanos(200)); // lapses and lives again all the time
    support::finishes(move || {
        std::thread::scope(|scope| {
            let spinning = scope.spawn(|| executor.spin().unwrap());
            let working = nodes.each_ref().map(|node| {
                scope.spawn(move || {
                    for _ in 0..40 {
                        let publisher = publisher_in(node, hasty, Log::new().pen()).unwrap();
                        let other = publisher_in(node, manual(), Log::new().pen()).unwrap();
                        let _subscription = subscription_in(node, Log::new().pen()).unwrap();
                        for number in 0..10 {
                            publisher.publish(Number(number)).unwrap();
                            other.assert_liveliness();
                        }
                    }
                })
            });
            working.into_iter().for_each(|thread| thread.join().unwrap());
            // All endpoints that came have gone again: the remaining events run now.
            stop.stop();
            spinning.join().unwrap();
            executor.spin_all(support::PATIENCE).unwrap();
        });
    });
    let events = log.lines();
    assert_eq!(events.last().map(|events| (events.0, events.1)), Some((0, 0)));
    let sums = events.iter().fold((0, 0), |sums, events| (sums.0 + events.2, sums.1 + events.3));
    assert_eq!(sums, (0, 0));
    assert!(events.iter().all(|events| events.0 + events.1 <= 4), "{events:?}");
    Ok(())
}

/// A context at this place, in virtual time or in real time.
fn context_at(place: &Place, clock: Option<&VirtualClock>) -> Context {
    let context = Context::builder().domain(3).directory(place.0.path());
    let context = if let Some(clock) = clock { context.virtual_time(clock) } else { context };
    context.build().expect("no arguments to get wrong")
}

/// Only the newest sign of life is seen: it says nothing about the time before it.
#[test]
fn a_publisher_elsewhere_that_gives_its_signs_in_time_is_alive_however_late_the_look() -> sinew::Result<()> {
    let (place, clock, log) = (Place::new(), VirtualClock::new(), Log::new());
    let [one, other] = [(); 2].map(|()| context_at(&place, Some(&clock)));
    let publisher = one.node("talker")?.publisher::<Number>("numbers").qos(manual()).create()?;
    let node = other.node("listener")?;
    let executor = Executor::single();
    executor.add(&other)?;
    let _subscription = subscription_in(&node, log.pen())?;
    executor.spin_all(support::PATIENCE)?;
    assert_eq!(log.lines(), [(1, 0, 1, 0)]);
    for _ in 0..3 {
        clock.advance(Duration::from_millis(9));
        publisher.assert_liveliness();
    }
    executor.spin_all(support::PATIENCE)?;
    assert_eq!(log.lines(), []);
    executor.advance(Duration::from_millis(11))?;
    assert_eq!(log.lines(), [(0, 1, -1, 1)]);
    executor.advance(Duration::from_millis(15))?;
    publisher.assert_liveliness();
    executor.advance(Duration::from_millis(5))?;
    assert_eq!(log.lines(), [(1, 0, 1, -1)], "the next look finds the sign");
    Ok(())
}

/// Its signs of life are times that mean nothing to the subscription.
#[test]
fn a_publisher_elsewhere_that_has_another_clock_is_not_watched() -> sinew::Result<()> {
    let (early, late) = (VirtualClock::new(), VirtualClock::new());
    late.set(sinew::time::Time::from_nanoseconds(1 << 62));
    for (theirs, ours) in [(Some(&early), None), (None, Some(&late)), (Some(&early), Some(&late))] {
        let (place, log) = (Place::new(), Log::new());
        let (one, other) = (context_at(&place, theirs), context_at(&place, ours));
        let _publisher = one.node("talker")?.publisher::<Number>("numbers").qos(manual()).create()?;
        let node = other.node("listener")?;
        let executor = Executor::single();
        executor.add(&other)?;
        let _subscription = subscription_in(&node, log.pen())?;
        if ours.is_some() {
            executor.advance(Duration::from_secs(1))?;
        } else {
            executor.spin_all(support::PATIENCE)?;
        }
        assert_eq!(log.lines(), [(1, 0, 1, 0)]);
    }
    Ok(())
}

#[test]
fn in_real_time_a_sleeping_executor_wakes_for_a_lapse() -> sinew::Result<()> {
    let context = real_context();
    let node = context.node("real")?;
    let executor = Executor::single();
    executor.add(&context)?;
    let log = Log::new();
    let (pen, stop) = (log.pen(), executor.stop_handle());
    let _subscription = node
        .subscription::<Number>("numbers")
        .on_liveliness_changed(move |event: &LivelinessChanged| {
            pen.write((event.alive, event.not_alive));
            if event.not_alive == 1 {
                stop.stop();
            }
        })
        .create()?;
    let publisher =
        node.publisher::<Number>("numbers").qos(manual().lease(Duration::from_millis(1))).create()?;
    let events = support::finishes(move || {
        std::thread::scope(|scope| {
            scope.spawn(|| (0..100).for_each(|_| publisher.assert_liveliness()));
            executor.spin().unwrap();
        });
        log.lines()
    });
    assert_eq!(events.last(), Some(&(0, 1)));
    Ok(())
}
