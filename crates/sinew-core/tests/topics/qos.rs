//! Quality of service inside one process: which endpoints match, what a history keeps, and the
//! events. (Waiting for room is in `pressure.rs`, late joiners in `joining.rs`.)

use crate::support;

use sinew::error::{CreateError, QosError};
use sinew::event::{IncompatibleQos, IncompatibleType, Matched, MessageLost};
use sinew::prelude::*;
use sinew::qos::{Durability, Liveliness, Policy, Reliability};
use support::{Log, Number, Place, Room, numbers_in};

// ---- who matches ----

const RELIABILITIES: [Reliability; 2] = [Reliability::BestEffort, Reliability::Reliable];
const DURABILITIES: [Durability; 2] = [Durability::Volatile, Durability::TransientLocal];

fn qos(reliability: Reliability, durability: Durability) -> QoS {
    let qos = match reliability {
        Reliability::BestEffort => QoS::default().best_effort(),
        Reliability::Reliable => QoS::default().reliable(),
    };
    if durability == Durability::TransientLocal { qos.transient_local() } else { qos.volatile() }
}

fn all_qos() -> impl Iterator<Item = QoS> {
    RELIABILITIES
        .into_iter()
        .flat_map(|reliability| DURABILITIES.map(|durability| qos(reliability, durability)))
}

/// An event of one end.
#[derive(Debug, PartialEq)]
enum Observed {
    Matched(Matched),
    Incompatible(IncompatibleQos),
}

/// Creates both ends, in either order, and returns the events of the publisher and of the
/// subscription.
fn meet(
    offered: QoS,
    requested: QoS,
    publisher_first: bool,
) -> sinew::Result<(Vec<Observed>, Vec<Observed>, usize)> {
    let room = Room::new();
    let listener = room.context.node("listener")?;
    let (publishers, subscriptions) = (Log::new(), Log::new());
    let publish = || {
        let (matched, incompatible) = (publishers.pen(), publishers.pen());
        room.node
            .publisher::<Number>("numbers")
            .qos(offered)
            .on_matched(move |event: &Matched| matched.write(Observed::Matched(event.clone())))
            .on_incompatible_qos(move |event: &IncompatibleQos| {
                incompatible.write(Observed::Incompatible(event.clone()))
            })
            .create()
    };
    let subscribe = || {
        let (matched, incompatible) = (subscriptions.pen(), subscriptions.pen());
        listener
            .subscription::<Number>("numbers")
            .qos(requested)
            .on_matched(move |event: &Matched| matched.write(Observed::Matched(event.clone())))
            .on_incompatible_qos(move |event: &IncompatibleQos| {
                incompatible.write(Observed::Incompatible(event.clone()))
            })
            .create()
    };
    let (publisher, subscription) = if publisher_first {
        let publisher = publish()?;
        (publisher, subscribe()?)
    } else {
        let subscription = subscribe()?;
        (publish()?, subscription)
    };
    room.run();
    publisher.publish(Number(1))?;
    Ok((publishers.lines(), subscriptions.lines(), numbers_in(&subscription).len()))
}

#[test]
fn a_pair_matches_if_the_offer_covers_the_request_or_both_ends_are_notified_why() {
    for (offered, requested) in all_qos().flat_map(|offered| all_qos().map(move |qos| (offered, qos))) {
        let policy = if requested.reliability > offered.reliability {
            Some(Policy::Reliability)
        } else if requested.durability > offered.durability {
            Some(Policy::Durability)
        } else {
            None
        };
        for publisher_first in [true, false] {
            let (publisher, subscription, received) = meet(offered, requested, publisher_first).unwrap();
            for notified in [publisher, subscription] {
                match (&notified[..], policy) {
                    ([Observed::Matched(event)], None) => {
                        assert_eq!((event.total, event.total_change), (1, 1));
                        assert_eq!((event.current, event.current_change), (1, 1));
                    }
                    ([Observed::Incompatible(event)], Some(policy)) => {
                        assert_eq!((event.total, event.total_change), (1, 1));
                        assert_eq!(event.last_policy, Some(policy));
                        let reason = &event.last_reason;
                        for word in ["with /", "offers", "asked"] {
                            assert!(reason.contains(word), "{reason:?} doesn't say {word:?}");
                        }
                    }
                    _ => panic!("{offered:?} meets {requested:?}: {notified:?}"),
                }
            }
            assert_eq!(received, usize::from(policy.is_none()), "{offered:?} to {requested:?}");
        }
    }
}

#[test]
fn both_ends_are_notified_of_every_incompatible_policy_with_both_values() {
    let base = QoS::default();
    let (short, long) = (milliseconds(10), milliseconds(11));
    let manual = base.liveliness(Liveliness::ManualByTopic);
    for (offered, requested, policy, offer, request) in [
        (base.best_effort(), base, Policy::Reliability, "best_effort", "reliable"),
        (base, base.transient_local(), Policy::Durability, "volatile", "transient_local"),
        (base, base.deadline(short), Policy::Deadline, "none", "10ms"),
        (base.deadline(long), base.deadline(short), Policy::Deadline, "11ms", "10ms"),
        (base, manual, Policy::Liveliness, "automatic", "manual_by_topic"),
        (base, base.lease(short), Policy::Lease, "none", "10ms"),
        (manual.lease(long), manual.lease(short), Policy::Lease, "11ms", "10ms"),
    ] {
        for publisher_first in [true, false] {
            let (publisher, subscription, received) = meet(offered, requested, publisher_first).unwrap();
            for (notified, other) in [(publisher, "/listener"), (subscription, "/room")] {
                let [Observed::Incompatible(event)] = &notified[..] else { panic!("{policy}: {notified:?}") };
                assert_eq!((event.total, event.last_policy), (1, Some(policy)));
                let reason = format!("{policy} (offers {offer}, asked {request}) with {other}");
                assert_eq!(event.last_reason, reason);
            }
            assert_eq!(received, 0);
        }
        // The other way round, the offer is more than was asked for.
        let (publisher, _, received) = meet(requested, offered, true).unwrap();
        assert!(matches!(publisher[..], [Observed::Matched(_)]), "{policy}: {publisher:?}");
        assert_eq!(received, 1);
    }
}

#[test]
fn publishers_that_differ_only_in_what_they_promise_reach_different_subscriptions() -> sinew::Result<()> {
    let room = Room::new();
    let strict = QoS::default().deadline(milliseconds(5)).lease(milliseconds(5));
    let publisher = |qos| room.node.publisher::<Number>("numbers").qos(qos).create();
    let publishers = [
        publisher(strict)?,
        publisher(strict.deadline(milliseconds(6)))?,
        publisher(strict.lease(milliseconds(6)))?,
        publisher(QoS::default())?,
    ];
    let subscription = |qos| room.node.subscription::<Number>("numbers").qos(qos).create();
    let (picky, easy) = (subscription(strict)?, subscription(QoS::default())?);
    for (number, publisher) in (1..).zip(&publishers) {
        publisher.publish(Number(number))?;
    }
    assert_eq!(numbers_in(&picky), [1]);
    assert_eq!(numbers_in(&easy), [1, 2, 3, 4]);
    Ok(())
}

#[test]
fn ends_with_different_types_do_not_match_and_both_are_notified_of_the_types() -> sinew::Result<()> {
    struct Text;
    impl Message for Text {}
    let room = Room::new();
    let log = Log::new();
    let (publisher, subscription) = (log.pen(), log.pen());
    let numbers = room
        .node
        .publisher::<Number>("things")
        .on_incompatible_type(move |event: &IncompatibleType| publisher.write(event.clone()))
        .create()?;
    let texts = room
        .node
        .subscription::<Text>("things")
        .on_incompatible_type(move |event: &IncompatibleType| subscription.write(event.clone()))
        .create()?;
    room.run();
    let notified = log.lines();
    assert_eq!(notified.len(), 2);
    for event in notified {
        assert_eq!((event.total, event.total_change), (1, 1));
        assert!(event.last_reason.contains("Number"), "{}", event.last_reason);
        assert!(event.last_reason.contains("Text"), "{}", event.last_reason);
    }
    numbers.publish(Number(1))?;
    assert!(texts.take().is_none());
    assert_eq!((numbers.subscription_count(), texts.publisher_count()), (0, 0));
    Ok(())
}

#[test]
fn contexts_never_see_each_other() -> sinew::Result<()> {
    let (one, other) = (Room::new(), Room::new());
    let subscription = one.node.subscription::<Number>("numbers").create()?;
    let publisher = other.node.publisher::<Number>("numbers").create()?;
    publisher.publish(Number(1))?;
    assert!(subscription.take().is_none());
    assert_eq!((publisher.subscription_count(), subscription.publisher_count()), (0, 0));
    Ok(())
}

// ---- what can't be honoured ----

#[test]
fn a_qos_that_cannot_be_honoured_is_an_error_that_names_the_setting() -> sinew::Result<()> {
    let room = Room::new();
    let ages = Duration::from_secs(1 << 34);
    let base = QoS::default();
    for (qos, problem, text) in [
        (base.deadline(Duration::ZERO), QosError::ZeroDeadline, "deadline"),
        (base.lease(Duration::ZERO), QosError::ZeroLease, "lease"),
        (base.deadline(ages), QosError::TooLong { setting: "deadline", duration: ages }, "292 years"),
        (base.lease(ages), QosError::TooLong { setting: "lease", duration: ages }, "292 years"),
        (base.lifespan(ages), QosError::TooLong { setting: "lifespan", duration: ages }, "292 years"),
        (base.keep_last(0), QosError::ZeroDepth, "keep_last(0)"),
        (base.keep_all().max_samples(0), QosError::ZeroMaxSamples, "max_samples(0)"),
        (
            base.keep_last(9).max_samples(8),
            QosError::DepthOverMaxSamples { depth: 9, max_samples: 8 },
            "keep_last(9)",
        ),
        (base.lifespan(Duration::ZERO), QosError::ZeroLifespan, "lifespan"),
    ] {
        let expected = CreateError::Qos { topic: "numbers".to_owned(), problem };
        let publisher = room.node.publisher::<Number>("numbers").qos(qos).create();
        let subscription = room.node.subscription::<Number>("numbers").qos(qos).create();
        let sentence = expected.to_string();
        assert!(sentence.contains("numbers") && sentence.contains(text), "{sentence}");
        assert_eq!(publisher.unwrap_err(), expected);
        assert_eq!(subscription.unwrap_err(), expected);
    }
    Ok(())
}

// ---- histories ----

#[test]
fn keep_last_holds_exactly_its_depth_and_counts_what_gave_way() -> sinew::Result<()> {
    for depth in 1..=12 {
        let room = Room::new();
        let subscription =
            room.node.subscription::<Number>("numbers").qos(QoS::default().keep_last(depth)).create()?;
        let publisher = room.node.publisher::<Number>("numbers").create()?;
        for number in 1..=10 {
            publisher.publish(Number(number))?;
        }
        let held = (depth as u64).min(10);
        let statistics = subscription.statistics();
        assert_eq!((statistics.received, statistics.waiting, statistics.overwritten), (10, held, 10 - held));
        assert_eq!(numbers_in(&subscription), (10 - held + 1..=10).collect::<Vec<_>>());
    }
    Ok(())
}

#[test]
fn all_publishers_of_a_topic_feed_one_history() -> sinew::Result<()> {
    let room = Room::new();
    let subscription =
        room.node.subscription::<Number>("numbers").qos(QoS::default().keep_last(4)).create()?;
    let publisher = |qos| room.node.publisher::<Number>("numbers").qos(qos).create();
    // Of different classes: each finds the subscription in another list.
    let publishers = [
        publisher(QoS::default())?,
        publisher(QoS::default().transient_local())?,
        publisher(QoS::default().keep_all())?,
    ];
    for (number, publisher) in (1..=9).zip(publishers.iter().cycle()) {
        publisher.publish(Number(number))?;
    }
    assert_eq!(numbers_in(&subscription), [6, 7, 8, 9]);
    Ok(())
}

#[test]
fn keep_all_is_bounded_and_counts_what_it_refuses_if_it_may_not_stop_the_publisher() -> sinew::Result<()> {
    let keep_all = QoS::default().keep_all().max_samples(3);
    for (offered, requested) in [
        (keep_all.best_effort(), keep_all.best_effort()),
        (keep_all, keep_all.best_effort()),
        (QoS::default().keep_last(1), keep_all),
        (QoS::default().keep_last(1), keep_all.best_effort()),
    ] {
        let room = Room::new();
        let log = Log::new();
        let pen = log.pen();
        let subscription = room
            .node
            .subscription::<Number>("numbers")
            .qos(requested)
            .on_message_lost(move |event: &MessageLost| pen.write((event.total, event.total_change)))
            .create()?;
        let publisher = room.node.publisher::<Number>("numbers").qos(offered).create()?;
        for number in 1..=5 {
            publisher.publish(Number(number))?;
        }
        room.run();
        assert_eq!(subscription.statistics().refused, 2);
        assert_eq!(numbers_in(&subscription), [1, 2, 3], "the newest found it full");
        for number in 6..=9 {
            publisher.publish(Number(number))?;
        }
        room.run();
        assert_eq!(numbers_in(&subscription), [6, 7, 8]);
        assert_eq!(log.lines(), [(2, 2), (3, 1)]);
    }
    Ok(())
}

#[test]
fn keep_all_holds_a_thousand_messages_if_nobody_says_how_many() -> sinew::Result<()> {
    let room = Room::new();
    let qos = QoS::default().keep_all().best_effort();
    let subscription = room.node.subscription::<Number>("numbers").qos(qos).create()?;
    let publisher = room.node.publisher::<Number>("numbers").create()?;
    for number in 1..=1001 {
        publisher.publish(Number(number))?;
    }
    assert_eq!((subscription.statistics().waiting, subscription.statistics().refused), (1000, 1));
    Ok(())
}

#[test]
fn a_subscription_is_notified_of_messages_that_it_lost() -> sinew::Result<()> {
    let room = Room::new();
    let log = Log::new();
    let pen = log.pen();
    let shallow = room
        .node
        .subscription::<Number>("numbers")
        .qos(QoS::default().keep_last(1))
        .on_message_lost(move |event: &MessageLost| pen.write((event.total, event.total_change)))
        .create()?;
    let deep_log = Log::<()>::new();
    let deep_pen = deep_log.pen();
    let _deep =
        room.node.subscription::<Number>("numbers").on_message_lost(move || deep_pen.write(())).create()?;
    let publisher = room.node.publisher::<Number>("numbers").create()?;
    for number in 1..=4 {
        publisher.publish(Number(number))?;
    }
    room.run();
    publisher.publish(Number(5))?;
    room.run();
    assert_eq!(log.lines(), [(3, 3), (4, 1)]);
    assert_eq!(deep_log.lines().len(), 0);
    assert_eq!(shallow.statistics().overwritten, 4);
    Ok(())
}

#[test]
fn a_subscription_without_a_callback_holds_what_its_executor_never_runs() -> sinew::Result<()> {
    let room = Room::new();
    let polled = room.node.subscription::<Number>("numbers").create()?;
    let publisher = room.node.publisher::<Number>("numbers").create()?;
    publisher.publish(Number(1))?;
    assert_eq!(room.run(), 0);
    assert_eq!(polled.statistics().waiting, 1);
    assert_eq!(numbers_in(&polled), [1]);
    Ok(())
}

// ---- lifespan ----

fn milliseconds(number: u64) -> Duration {
    Duration::from_millis(number)
}

#[test]
fn a_message_whose_lifespan_is_over_is_dropped_when_it_is_taken_and_counted() -> sinew::Result<()> {
    let mortal = QoS::default().lifespan(milliseconds(10));
    for (offered, requested) in [
        (mortal, QoS::default()),
        (QoS::default(), mortal),
        (mortal, QoS::default().lifespan(milliseconds(99))),
    ] {
        let room = Room::new();
        let subscription = room.node.subscription::<Number>("numbers").qos(requested).create()?;
        let publisher = room.node.publisher::<Number>("numbers").qos(offered).create()?;
        publisher.publish(Number(1))?;
        room.clock.advance(Duration::from_nanos(9_999_999));
        assert_eq!(subscription.take().unwrap().0.0, 1, "a nanosecond before its end");
        publisher.publish(Number(2))?;
        room.clock.advance(milliseconds(5));
        publisher.publish(Number(3))?;
        room.clock.advance(milliseconds(5));
        assert_eq!(numbers_in(&subscription), [3]);
        let statistics = subscription.statistics();
        assert_eq!((statistics.received, statistics.taken, statistics.expired), (3, 2, 1));
        assert_eq!(statistics.waiting, 0);
    }
    Ok(())
}

#[test]
fn an_expired_message_gives_way_when_room_is_needed() -> sinew::Result<()> {
    let room = Room::new();
    let immortal = room.node.publisher::<Number>("numbers").create()?;
    let mortal =
        room.node.publisher::<Number>("numbers").qos(QoS::default().lifespan(milliseconds(10))).create()?;
    let keep_last = room.node.subscription::<Number>("numbers").qos(QoS::default().keep_last(2)).create()?;
    let keep_all =
        room.node.subscription::<Number>("numbers").qos(QoS::default().keep_all().max_samples(2)).create()?;
    immortal.publish(Number(1))?;
    mortal.publish(Number(2))?;
    room.clock.advance(milliseconds(10));
    immortal.publish(Number(3))?;
    for subscription in [&keep_last, &keep_all] {
        let statistics = subscription.statistics();
        assert_eq!((statistics.expired, statistics.overwritten, statistics.refused), (1, 0, 0));
        assert_eq!(numbers_in(subscription), [1, 3], "the expired one gave way, not the oldest");
    }
    Ok(())
}

#[test]
fn a_publisher_need_not_wait_for_the_place_of_an_expired_message() -> sinew::Result<()> {
    let room = Room::new();
    let qos = QoS::default().keep_all().max_samples(1).max_blocking_time(Duration::ZERO);
    let subscription = room.node.subscription::<Number>("numbers").qos(qos).create()?;
    let publisher = room.node.publisher::<Number>("numbers").qos(qos.lifespan(milliseconds(10))).create()?;
    publisher.publish(Number(1))?;
    assert!(publisher.publish(Number(2)).is_err());
    room.clock.advance(milliseconds(10));
    publisher.publish(Number(3))?;
    assert_eq!(numbers_in(&subscription), [3]);
    assert_eq!(subscription.statistics().expired, 1);
    Ok(())
}

// ---- best available ----

/// Chosen from the ends of all processes, once.
#[test]
fn the_best_available_qos_is_chosen_when_an_end_is_made() -> sinew::Result<()> {
    let place = Place::new();
    let (one, other) = (place.context().node("one")?, place.context().node("other")?);
    let limit = Duration::from_secs(3);
    let watched = QoS::new().transient_local().liveliness(Liveliness::ManualByTopic).lease(limit);
    let _here = one.publisher::<Number>("numbers").qos(watched).create()?;
    let there = other.publisher::<Number>("numbers").qos(watched.best_effort().lease(2 * limit)).create()?;
    let subscription = one.subscription::<Number>("numbers").qos(QoS::best_available()).create()?;
    assert_eq!(subscription.qos(), watched.best_effort().lease(2 * limit));
    assert_eq!(subscription.publisher_count(), 2);
    let shown = &other.graph().subscriptions("/numbers")[0];
    assert_eq!(shown.qos, subscription.qos(), "others see what was chosen");
    drop(there);
    assert_eq!(subscription.qos(), watched.best_effort().lease(2 * limit), "it never changes");

    let _wanted = one.subscription::<Number>("back").qos(QoS::new().deadline(limit)).create()?;
    let publisher = other.publisher::<Number>("back").qos(QoS::best_available().keep_last(3)).create()?;
    assert_eq!(publisher.qos(), QoS::new().keep_last(3).transient_local().deadline(limit));
    assert!(publisher.wait_for_subscribers(1, support::PATIENCE));
    Ok(())
}

/// A choice that was made too early is reported as any mismatch is.
#[test]
fn a_later_end_may_not_match_the_best_available_qos() -> sinew::Result<()> {
    let room = Room::new();
    let early = room.node.subscription::<Number>("numbers").qos(QoS::best_available()).create()?;
    let strictest = QoS::new().transient_local().liveliness(Liveliness::ManualByTopic);
    assert_eq!(early.qos(), strictest);
    let reported = Log::new();
    let pen = reported.pen();
    let publisher = room
        .node
        .publisher::<Number>("numbers")
        .on_incompatible_qos(move |event: &IncompatibleQos| pen.write(event.clone()))
        .create()?;
    assert_eq!(publisher.subscription_count(), 0);
    room.run();
    assert_eq!(reported.lines().len(), 1);
    Ok(())
}
