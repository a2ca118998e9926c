//! Which endpoints match, and the events of both ends.

use super::stage::{Setting, Stage};
use super::support::{Log, Number, Text, all_numbers_in, numbers_in, wait_for};
use sinew::Publisher;
use sinew::event::{
    IncompatibleQos, IncompatibleType, LivelinessChanged, MessageLost, OfferedDeadlineMissed,
    RequestedDeadlineMissed,
};
use sinew::msg::BufferType;
use sinew::prelude::*;
use sinew::qos::{Liveliness, Policy};

const SHORT: Duration = Duration::from_millis(10);
const LONG: Duration = Duration::from_millis(11);

pub(crate) fn ends_that_do_not_match_are_both_notified_why(setting: Setting) -> sinew::Result<()> {
    let base = QoS::default();
    let cases = [
        (base.best_effort(), base, Policy::Reliability),
        (base, base.transient_local(), Policy::Durability),
        (base.deadline(LONG), base.deadline(SHORT), Policy::Deadline),
        (base, base.liveliness(Liveliness::ManualByTopic), Policy::Liveliness),
        (base, base.lease(SHORT), Policy::Lease),
    ];
    for (offered, requested, policy) in cases {
        for publisher_first in [true, false] {
            let stage = Stage::new(setting)?;
            let (publishers, subscriptions) = (Log::new(), Log::new());
            let publish = || {
                let pen = publishers.pen();
                let notified = move |event: &IncompatibleQos| pen.write(event.clone());
                stage
                    .sender
                    .publisher::<Number>("numbers")
                    .qos(offered)
                    .on_incompatible_qos(notified)
                    .create()
            };
            let subscribe = || {
                let pen = subscriptions.pen();
                let notified = move |event: &IncompatibleQos| pen.write(event.clone());
                let subscription = stage.receiver.subscription::<Number>("numbers").qos(requested);
                subscription.on_incompatible_qos(notified).create()
            };
            let (publisher, subscription) = if publisher_first {
                let publisher = publish()?;
                (publisher, subscribe()?)
            } else {
                let subscription = subscribe()?;
                (publish()?, subscription)
            };
            for log in [&publishers, &subscriptions] {
                let [event] = &stage.collect(log, 1)?[..] else { panic!("it is notified once") };
                assert_eq!((event.total, event.total_change, event.last_policy), (1, 1, Some(policy)));
                for word in ["offers", "asked"] {
                    assert!(event.last_reason.contains(word), "{}", event.last_reason);
                }
            }
            publisher.publish(Number(1))?;
            assert_eq!(numbers_in(&subscription), [0_u64; 0]);
            assert_eq!((publisher.subscription_count(), subscription.publisher_count()), (0, 0));
        }
    }
    Ok(())
}

pub(crate) fn ends_of_different_types_are_both_notified_of_the_types(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::new(setting)?;
    let log = Log::new();
    let pen = log.pen();
    let notified = move |event: &IncompatibleType| pen.write(event.last_reason.clone());
    let publisher = stage.sender.publisher::<Number>("things").on_incompatible_type(notified).create()?;
    let pen = log.pen();
    let notified = move |event: &IncompatibleType| pen.write(event.last_reason.clone());
    let subscription =
        stage.receiver.subscription::<Text>("things").on_incompatible_type(notified).create()?;
    for reason in stage.collect(&log, 2)? {
        assert!(reason.contains("Number") && reason.contains("Text"), "{reason}");
    }
    publisher.publish(Number(1))?;
    assert!(subscription.take().is_none());
    Ok(())
}

pub(crate) fn a_missed_deadline_notifies_both_ends(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::new(setting)?;
    let (offered, requested, arrived) = (Log::new(), Log::new(), Log::new());
    let strict = QoS::default().deadline(SHORT);
    let (pen, number) = (requested.pen(), arrived.pen());
    let _subscription = stage
        .receiver
        .subscription::<Number>("numbers")
        .qos(strict)
        .on_deadline_missed(move |event: &RequestedDeadlineMissed| pen.write(event.total))
        .callback(move |message: &Number| number.write(message.0))?;
    let pen = offered.pen();
    let publisher = stage
        .sender
        .publisher::<Number>("numbers")
        .qos(strict)
        .on_deadline_missed(move |event: &OfferedDeadlineMissed| pen.write(event.total))
        .create()?;
    stage.find_out();
    for missed in 1..=2 {
        publisher.publish(Number(1))?;
        assert_eq!(stage.collect(&arrived, 1)?, [1]); // from when it is there, the next one is awaited
        stage.pass(9);
        stage.settle()?;
        assert_eq!((offered.lines(), requested.lines()), (vec![], vec![]));
        stage.pass(2);
        // Without handlers in an executor, a thread of the context notices it.
        assert_eq!(stage.collect(&offered, 1)?, [missed]);
        assert_eq!(stage.collect(&requested, 1)?, [missed]);
        assert_eq!((offered.lines(), requested.lines()), (vec![], vec![]));
    }
    Ok(())
}

pub(crate) fn an_automatic_publisher_is_alive_while_it_exists(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::new(setting)?;
    let log = Log::new();
    let pen = log.pen();
    let changed = move |event: &LivelinessChanged| {
        pen.write((event.alive, event.not_alive, event.alive_change, event.not_alive_change));
    };
    let subscription =
        stage.receiver.subscription::<Number>("numbers").on_liveliness_changed(changed).create()?;
    let publisher = stage.publisher_with("numbers", QoS::default().lease(SHORT))?;
    assert_eq!(stage.collect(&log, 1)?, [(1, 0, 1, 0)]);
    stage.pass(1000);
    assert_eq!(stage.collect(&log, 0)?, []);
    drop(publisher);
    assert_eq!(stage.collect(&log, 1)?, [(0, 0, -1, 0)]);
    assert_eq!(subscription.publisher_count(), 0);
    Ok(())
}

pub(crate) fn a_manual_publisher_lapses_without_a_message(setting: Setting) -> sinew::Result<()> {
    lapses_without(setting, |publisher| publisher.publish(Number(1)).unwrap())
}

pub(crate) fn a_manual_publisher_lapses_without_an_assertion(setting: Setting) -> sinew::Result<()> {
    lapses_without(setting, Publisher::assert_liveliness)
}

fn lapses_without(setting: Setting, sign: impl Fn(&Publisher<Number>)) -> sinew::Result<()> {
    let stage = Stage::new(setting)?;
    let log = Log::new();
    let pen = log.pen();
    let changed = move |event: &LivelinessChanged| {
        pen.write((event.alive, event.not_alive, event.alive_change, event.not_alive_change));
    };
    let manual = QoS::default().liveliness(Liveliness::ManualByTopic).lease(SHORT);
    let subscription = stage
        .receiver
        .subscription::<Number>("numbers")
        .qos(manual)
        .on_liveliness_changed(changed)
        .callback(|_: &Number| {})?;
    let publisher = stage.publisher_with("numbers", manual)?;
    assert_eq!(stage.collect(&log, 1)?, [(1, 0, 1, 0)]);
    for _ in 0..2 {
        stage.pass(9);
        sign(&publisher);
        stage.let_travel();
        stage.pass(9);
        assert_eq!(stage.collect(&log, 0)?, []);
        stage.pass(2);
        assert_eq!(stage.collect(&log, 1)?, [(0, 1, -1, 1)]);
        publisher.publish(Number(1))?;
        assert_eq!(stage.collect(&log, 1)?, [(1, 0, 1, -1)]);
    }
    stage.pass(11);
    assert_eq!(stage.collect(&log, 1)?, [(0, 1, -1, 1)]);
    drop(publisher);
    assert_eq!(stage.collect(&log, 1)?, [(0, 0, 0, -1)]);
    assert_eq!(subscription.publisher_count(), 0);
    Ok(())
}

pub(crate) fn displaced_messages_are_counted_and_notified(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::new(setting)?;
    let (log, losses) = (Log::new(), Log::new());
    let (pen, lost) = (log.pen(), losses.pen());
    let _subscription = stage
        .receiver
        .subscription("numbers")
        .qos(QoS::default().keep_last(2))
        .on_message_lost(move |event: &MessageLost| lost.write((event.total, event.total_change)))
        .callback(move |number: &Number| pen.write(number.0))?;
    let publisher = stage.publisher("numbers")?;
    for (last, loss) in [(50, (48, 48)), (60, (56, 8))] {
        (last - if last == 50 { 49 } else { 9 }..=last).try_for_each(|n| publisher.publish(Number(n)))?;
        assert_eq!(stage.collect(&log, 2)?, [last - 1, last]);
        assert_eq!(losses.lines(), [loss]);
    }
    Ok(())
}

pub(crate) fn a_filter_decides_before_anything_is_kept(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::new(setting)?;
    let log = Log::new();
    let pen = log.pen();
    let subscription = stage
        .receiver
        .subscription("numbers")
        .qos(QoS::default().keep_last(2))
        .filter(|number: &Number| number.0.is_multiple_of(3))
        .callback(move |number: &Number| pen.write(number.0))?;
    let publisher = stage.publisher("numbers")?;
    (1..=10).try_for_each(|number| publisher.publish(Number(number)))?;
    assert_eq!(stage.collect(&log, 2)?, [6, 9]);
    assert_eq!(subscription.statistics().received, 3);
    Ok(())
}

pub(crate) fn own_publications_can_be_ignored(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::new(setting)?;
    let subscription = stage
        .receiver
        .subscription::<Number>("numbers")
        .qos(QoS::default().transient_local())
        .ignore_own_publications()
        .create()?;
    let own = stage.receiver.publisher::<Number>("numbers").qos(QoS::default().transient_local()).create()?;
    let other = stage.publisher_with("numbers", QoS::default().transient_local())?;
    (1..=3).try_for_each(|n| own.publish(Number(n)).and_then(|()| other.publish(Number(10 * n))))?;
    assert_eq!(all_numbers_in(&subscription, 3), [10, 20, 30]);
    Ok(())
}

/// Publishers of both contexts feed one history, in the order of publication.
pub(crate) fn all_paths_feed_one_history(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::new(setting)?;
    let log = Log::new();
    let subscription = stage.listen("numbers", QoS::default().keep_last(10), log.pen())?;
    let near = stage.receiver.publisher::<Number>("numbers").create()?;
    let far = [stage.publisher("numbers")?, stage.publisher("numbers")?];
    for number in 0..30 {
        let publisher: &Publisher<Number> = match number % 3 {
            0 => &near,
            1 => &far[0],
            _ => &far[1],
        };
        publisher.publish(Number(number))?;
    }
    stage.settle()?; // one thread: none takes what comes first while another one reads the rest
    let all_have_come = || subscription.statistics().received == 30;
    let at_once = all_have_come(); // unless a thread was bringing them when the runner looked
    assert!(at_once || setting.path.is_apart());
    wait_for("all have come", || {
        stage.settle().unwrap();
        all_have_come().then_some(())
    });
    let mut lines = log.lines();
    if at_once {
        assert_eq!(lines.len(), 10, "the depth, whichever way they came");
    }
    if !setting.path.is_apart() {
        assert_eq!(lines, (20..30).collect::<Vec<_>>());
    }
    for number in 30..36 {
        let publisher = if number % 2 == 0 { &near } else { &far[0] };
        publisher.publish(Number(number))?;
    }
    lines = stage.collect(&log, 6)?;
    lines.sort_unstable(); // what came from outside was read when the runner looked
    assert_eq!(lines, (30..36).collect::<Vec<_>>());
    Ok(())
}

pub(crate) fn buffers_of_all_kinds_get_everything(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::new(setting)?;
    let kinds =
        [BufferType::Shared, BufferType::Unique, BufferType::Value, BufferType::Unique, BufferType::Shared];
    let reader = |kind| {
        stage
            .receiver
            .subscription::<Number>("numbers")
            .qos(QoS::default().keep_last(100))
            .buffer(kind)
            .create()
    };
    let readers = kinds.map(|kind| reader(kind).unwrap());
    let publisher = stage.publisher("numbers")?;
    (1..=20).try_for_each(|number| publisher.publish(Number(number)))?;
    for (kind, reader) in kinds.iter().zip(&readers) {
        // Another thread may be bringing it in: then there is nothing to take for a moment.
        let take = |_| wait_for("it comes", || reader.take_unique()).0.0;
        assert_eq!((0..20).map(take).collect::<Vec<_>>(), (1..=20).collect::<Vec<_>>(), "{kind:?}");
        assert!(reader.take_unique().is_none(), "{kind:?}");
    }
    Ok(())
}
