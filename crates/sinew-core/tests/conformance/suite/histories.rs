//! What is kept, for whom, and which events run.

use super::stage::{Setting, Stage};
use super::support::{Log, Number, all_numbers_in, wait_for};
use sinew::event::{Matched, MessageLost};
use sinew::prelude::*;
use std::thread;

const LATCHED: QoS = QoS::new().transient_local();

pub(crate) fn keep_last_holds_its_depth(setting: Setting) -> sinew::Result<()> {
    for depth in [1, 3, 10, 12] {
        let stage = Stage::new(setting)?;
        let log = Log::new();
        let subscription = stage.listen("numbers", QoS::default().keep_last(depth), log.pen())?;
        let publisher = stage.publisher("numbers")?;
        (1..=10).try_for_each(|number| publisher.publish(Number(number)))?;
        let held = depth.min(10);
        assert_eq!(stage.collect(&log, held)?, (11 - held as u64..=10).collect::<Vec<_>>());
        let statistics = subscription.statistics();
        assert_eq!((statistics.received, statistics.taken), (10, held as u64));
        assert_eq!(statistics.overwritten, 10 - held as u64);
    }
    Ok(())
}

pub(crate) fn keep_all_refuses_what_it_has_no_room_for(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::new(setting)?;
    let (log, losses) = (Log::new(), Log::new());
    let (pen, lost) = (log.pen(), losses.pen());
    let subscription = stage
        .receiver
        .subscription("numbers")
        .qos(QoS::default().keep_all().max_samples(3).best_effort())
        .on_message_lost(move |event: &MessageLost| lost.write((event.total, event.total_change)))
        .callback(move |number: &Number| pen.write(number.0))?;
    let publisher = stage.publisher("numbers")?;
    for (numbers, expected, loss) in [(1..=5, [1, 2, 3], (2, 2)), (6..=9, [6, 7, 8], (3, 1))] {
        numbers.into_iter().try_for_each(|number| publisher.publish(Number(number)))?;
        assert_eq!(stage.collect(&log, 3)?, expected);
        assert_eq!(losses.lines(), [loss]);
    }
    assert_eq!(subscription.statistics().refused, 3);
    Ok(())
}

pub(crate) fn a_late_joiner_gets_what_was_kept_and_nothing_twice(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::new(setting)?;
    let publishers = [
        stage.publisher_with("numbers", LATCHED.keep_last(2))?,
        stage.publisher_with("numbers", LATCHED.keep_last(1))?,
        stage.publisher("numbers")?, // volatile: it doesn't match
    ];
    for (number, publisher) in (1..=9).zip(publishers.iter().cycle()) {
        publisher.publish(Number(number))?;
    }
    stage.let_travel(); // what is on its way when it joins comes, too
    let (log, volatile) = (Log::new(), Log::new());
    let _joiner = stage.listen("numbers", LATCHED, log.pen())?;
    let _volatile = stage.listen("numbers", QoS::default(), volatile.pen())?;
    assert_eq!(stage.collect(&log, 3)?, [4, 7, 8], "in the order of their publication");
    publishers[0].publish(Number(10))?;
    assert_eq!(stage.collect(&log, 1)?, [10]);
    assert_eq!(volatile.lines(), [10], "who doesn't ask gets nothing old");
    Ok(())
}

pub(crate) fn joining_while_others_publish_leaves_no_gap(setting: Setting) -> sinew::Result<()> {
    const MESSAGES: u64 = 200;
    let kept = LATCHED.keep_last(1000);
    for after in [0, 20, 100] {
        let stage = Stage::in_real_time(setting)?;
        let publisher = stage.publisher_with("numbers", kept)?;
        let log = Log::new();
        let lines = stage.while_spinning(|| {
            thread::scope(|scope| {
                scope.spawn(|| {
                    (1..=MESSAGES).try_for_each(|number| publisher.publish(Number(number))).unwrap()
                });
                while publisher.statistics().published < after {
                    thread::yield_now();
                }
                let joiner = stage.listen("numbers", kept, log.pen());
                let lines = log.wait_for(MESSAGES);
                joiner.map(|_| lines)
            })
        })?;
        assert_eq!(lines, (1..=MESSAGES).collect::<Vec<_>>());
    }
    Ok(())
}

pub(crate) fn a_message_whose_lifespan_is_over_is_not_called_for(setting: Setting) -> sinew::Result<()> {
    let mortal = QoS::default().lifespan(Duration::from_millis(10));
    for (offered, requested) in [(mortal, QoS::default()), (QoS::default(), mortal)] {
        let stage = Stage::new(setting)?;
        let log = Log::new();
        let subscription = stage.listen("numbers", requested, log.pen())?;
        let publisher = stage.publisher_with("numbers", offered)?;
        publisher.publish(Number(1))?;
        stage.let_travel();
        stage.pass(5);
        publisher.publish(Number(2))?;
        stage.let_travel();
        stage.pass(5);
        assert_eq!(stage.collect(&log, 1)?, [2]);
        publisher.publish(Number(3))?;
        stage.let_travel();
        stage.pass(10);
        assert_eq!(stage.collect(&log, 0)?, [0_u64; 0]);
        let statistics = subscription.statistics();
        assert_eq!((statistics.received, statistics.taken, statistics.expired), (3, 1, 2));
        publisher.publish(Number(4))?;
        assert_eq!(stage.collect(&log, 1)?, [4], "and it is called again");
    }
    Ok(())
}

pub(crate) fn matched_events_add_up(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::new(setting)?;
    let log = Log::new();
    let pen = log.pen();
    let publisher = stage
        .sender
        .publisher::<Number>("numbers")
        .on_matched(move |event: &Matched| {
            pen.write((event.total, event.total_change, event.current, event.current_change));
        })
        .create()?;
    let subscribe = || stage.receiver.subscription::<Number>("numbers").create();
    let (one, two) = (subscribe()?, subscribe()?);
    assert_eq!(stage.collect(&log, 1)?, [(2, 2, 2, 2)]);
    drop(one);
    let three = subscribe()?;
    assert_eq!(stage.collect(&log, 1)?, [(3, 1, 2, 0)]);
    drop((two, three));
    assert_eq!(stage.collect(&log, 1)?, [(3, 0, 0, -2)]);
    assert_eq!(stage.collect(&log, 0)?, [], "nothing has happened since");
    assert_eq!(publisher.subscription_count(), 0);
    Ok(())
}

pub(crate) fn a_subscription_is_notified_when_a_publisher_goes(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::new(setting)?;
    let log = Log::new();
    let pen = log.pen();
    let subscription = stage
        .receiver
        .subscription::<Number>("numbers")
        .on_matched(move |event: &Matched| pen.write((event.current, event.current_change)))
        .create()?;
    let publisher = stage.publisher("numbers")?;
    assert_eq!(stage.collect(&log, 1)?, [(1, 1)]);
    drop(publisher);
    assert_eq!(stage.collect(&log, 1)?, [(0, -1)]);
    assert_eq!(subscription.publisher_count(), 0);
    Ok(())
}

pub(crate) fn who_takes_by_hand_takes_from_the_callback(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::new(setting)?;
    let log = Log::new();
    let subscription = stage.listen("numbers", QoS::default(), log.pen())?;
    let publisher = stage.publisher("numbers")?;
    publisher.publish(Number(1))?;
    publisher.publish(Number(2))?;
    // Another thread may be bringing it in.
    assert_eq!(wait_for("the first", || subscription.take()).0.0, 1);
    assert_eq!(stage.collect(&log, 1)?, [2]);
    publisher.publish(Number(3))?;
    assert_eq!(all_numbers_in(&subscription, 1), [3]);
    assert_eq!(stage.collect(&log, 0)?, [0_u64; 0]);
    publisher.publish(Number(4))?;
    assert_eq!(stage.collect(&log, 1)?, [4]);
    Ok(())
}
