//! Which callback runs next.

use super::stage::{Setting, Stage};
use super::support::{Log, Number};
use sinew::prelude::*;
use std::fmt::Debug;
use std::thread;

const DEEP: QoS = QoS::new().keep_last(10_000);

pub(crate) fn a_subscription_gets_its_messages_in_order_while_they_are_published(
    setting: Setting,
) -> sinew::Result<()> {
    let stage = Stage::in_real_time(setting)?;
    let log = Log::new();
    let subscription = stage.listen("numbers", DEEP, log.pen())?;
    let publisher = stage.publisher("numbers")?;
    let lines = stage.while_spinning(|| {
        (1..=1000).try_for_each(|number| publisher.publish(Number(number)))?;
        Ok(log.wait_for(1000))
    })?;
    assert_eq!(lines, (1..=1000).collect::<Vec<_>>());
    let statistics = subscription.statistics();
    assert_eq!((statistics.received, statistics.taken, statistics.waiting), (1000, 1000, 0));
    Ok(())
}

/// Numbers that jump about.
fn scattered(count: usize, below: usize) -> Vec<usize> {
    (0..count).map(|number| number * number % 31 % below).collect()
}

pub(crate) fn messages_of_one_group_run_in_the_order_of_their_publication(
    setting: Setting,
) -> sinew::Result<()> {
    let stage = Stage::in_real_time(setting)?;
    let log = Log::new();
    let topics = ["a", "b", "c", "d", "e"];
    let mut ends = Vec::new();
    for topic in topics {
        ends.push((stage.listen(topic, DEEP, log.pen())?, stage.publisher(topic)?));
    }
    for (number, topic) in (0..).zip(scattered(300, topics.len())) {
        ends[topic].1.publish(Number(number))?;
    }
    assert_eq!(stage.collect(&log, 300)?, (0..300).collect::<Vec<_>>());
    Ok(())
}

/// They were reported by callbacks that began in this order, at most so many at once: before each,
/// all that were to begin before it have begun, if not reported.
#[track_caller]
fn assert_begun_in_order<T: PartialEq + Clone + Debug>(reported: &[T], expected: &[T], threads: usize) {
    let mut open = expected.to_vec();
    for line in reported {
        let place = open.iter().position(|other| other == line).expect("it was to be reported, once");
        assert!(place < threads, "{line:?} was reported before {:?}", &open[..place]);
        open.remove(place);
    }
    assert_eq!(open, [], "all are reported");
}

pub(crate) fn messages_of_many_groups_begin_in_the_order_of_their_publication(
    setting: Setting,
) -> sinew::Result<()> {
    let stage = Stage::in_real_time(setting)?;
    let log = Log::new();
    let mut ends = Vec::new();
    for n in 0..60 {
        let topic = format!("topic_{n}");
        let (pen, group) = (log.pen(), stage.receiver.group(()));
        let callback = move |number: &Number| pen.write(number.0);
        let subscription = group.subscription(&topic).callback(callback)?;
        ends.push((subscription, stage.publisher(&topic)?));
    }
    for (number, n) in (0..).zip((0..60).map(|n| n * 7 % 60)) {
        ends[n].1.publish(Number(number))?;
    }
    let expected: Vec<_> = (0..60).collect();
    assert_begun_in_order(&stage.collect(&log, 60)?, &expected, setting.threads());
    Ok(())
}

pub(crate) fn each_group_keeps_the_order_and_one_thread_keeps_it_over_all(
    setting: Setting,
) -> sinew::Result<()> {
    let stage = Stage::in_real_time(setting)?;
    let log = Log::new();
    let mut ends = Vec::new();
    for topic in 0..6 {
        let name = format!("topic_{topic}");
        let (pen, group) = (log.pen(), stage.receiver.group(()));
        let callback = move |number: &Number| pen.write((topic, number.0));
        let subscription = group.subscription(&name).qos(DEEP).callback(callback)?;
        ends.push((subscription, stage.publisher(&name)?));
    }
    let mut expected = Vec::new();
    for (number, topic) in (0..).zip(scattered(600, ends.len())) {
        ends[topic].1.publish(Number(number))?;
        expected.push((topic, number));
    }
    let mut lines = stage.collect(&log, 600)?;
    if setting.threads() > 1 {
        expected.sort_by_key(|(topic, _)| *topic); // stable: of each group exactly
        lines.sort_by_key(|(topic, _)| *topic);
    }
    assert_eq!(lines, expected);
    Ok(())
}

pub(crate) fn higher_priorities_begin_first(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::new(setting)?;
    let log = Log::new();
    let mut ends = Vec::new();
    let mut expected = Vec::new();
    for n in 0..30_u64 {
        let priority = i32::try_from(n * n % 5).unwrap() - 2;
        let topic = format!("topic_{n}");
        let (pen, group) = (log.pen(), stage.receiver.group(()).priority(priority));
        let callback = move |number: &Number| pen.write(number.0);
        let subscription = group.subscription(&topic).callback(callback)?;
        let publisher = stage.publisher(&topic)?;
        publisher.publish(Number(n))?;
        expected.push((-priority, n));
        ends.push((subscription, publisher));
    }
    expected.sort_unstable();
    let expected: Vec<_> = expected.into_iter().map(|(_, number)| number).collect();
    assert_begun_in_order(&stage.collect(&log, 30)?, &expected, setting.threads());
    Ok(())
}

pub(crate) fn a_priority_may_be_changed_while_messages_wait(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::new(setting)?;
    let log = Log::new();
    let (group, pen) = (stage.receiver.group(()), log.pen());
    let callback = move |number: &Number| pen.write(number.0);
    let _late = group.subscription("late").callback(callback)?;
    let _early = stage.listen("early", DEEP, log.pen())?;
    let (late, early) = (stage.publisher("late")?, stage.publisher("early")?);
    for priority in [0, 1, -1] {
        early.publish(Number(1))?;
        late.publish(Number(2))?;
        let _ = group.clone().priority(priority);
        let expected = if priority > 0 { [2, 1] } else { [1, 2] };
        assert_begun_in_order(&stage.collect(&log, 2)?, &expected, setting.threads());
    }
    Ok(())
}

pub(crate) fn what_a_callback_publishes_comes_behind_what_waits_already(
    setting: Setting,
) -> sinew::Result<()> {
    let stage = Stage::new(setting)?;
    let log = Log::new();
    let (b, c) = (stage.publisher("b")?, stage.publisher("c")?);
    let pen = log.pen();
    let _a = stage.receiver.subscription("a").callback(move |number: &Number| {
        pen.write(number.0);
        c.publish(Number(number.0 + 200))?;
        b.publish(Number(number.0 + 100))
    })?;
    let (_b, _c) = (stage.listen("b", DEEP, log.pen())?, stage.listen("c", DEEP, log.pen())?);
    let a = stage.publisher("a")?;
    a.publish(Number(1))?;
    a.publish(Number(2))?;
    assert_eq!(stage.collect(&log, 6)?, [1, 2, 201, 101, 202, 102]);
    Ok(())
}

pub(crate) fn a_topic_that_overwrites_itself_keeps_its_place(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::new(setting)?;
    let log = Log::new();
    let _fast = stage.listen("fast", QoS::default().keep_last(1), log.pen())?;
    let _slow = stage.listen("slow", DEEP, log.pen())?;
    let (fast, slow) = (stage.publisher("fast")?, stage.publisher("slow")?);
    fast.publish(Number(1))?;
    slow.publish(Number(2))?;
    (3..=9).try_for_each(|number| fast.publish(Number(number)))?;
    assert_eq!(stage.collect(&log, 2)?, [9, 2]);
    Ok(())
}

pub(crate) fn messages_that_give_way_during_their_callback_keep_its_place(
    setting: Setting,
) -> sinew::Result<()> {
    let stage = Stage::new(setting)?;
    let log = Log::new();
    let fast = stage.publisher("fast")?;
    let (again, pen, shallow) = (fast.clone(), log.pen(), QoS::default().keep_last(2));
    let fast_reader = stage.receiver.subscription("fast").qos(shallow).callback(move |number: &Number| {
        pen.write(number.0);
        if number.0 == 1 { (4..=5).try_for_each(|number| again.publish(Number(number))) } else { Ok(()) }
    })?;
    let slow_reader = stage.listen("slow", DEEP, log.pen())?;
    fast.publish(Number(1))?;
    fast.publish(Number(2))?; // gives way to 5
    stage.publisher("slow")?.publish(Number(3))?;
    stage.let_arrive(&[(&fast_reader, 2), (&slow_reader, 1)]);
    assert_eq!(stage.collect(&log, 4)?, [1, 4, 3, 5]);
    Ok(())
}

pub(crate) fn a_topic_that_feeds_itself_leaves_the_others_their_turn(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::new(setting)?;
    let log = Log::new();
    let echo = stage.publisher("echo")?;
    let (again, pen) = (echo.clone(), log.pen());
    let _echo = stage.receiver.subscription("echo").callback(move |number: &Number| {
        pen.write(number.0);
        if number.0 < 4 { again.publish(Number(number.0 + 1)) } else { Ok(()) }
    })?;
    let _other = stage.listen("other", DEEP, log.pen())?;
    let other = stage.publisher("other")?;
    echo.publish(Number(1))?;
    other.publish(Number(11))?;
    other.publish(Number(12))?;
    assert_eq!(stage.collect(&log, 6)?, [1, 11, 12, 2, 3, 4]);
    Ok(())
}

pub(crate) fn nothing_is_lost_between_many_publishers_and_groups(setting: Setting) -> sinew::Result<()> {
    const MESSAGES: u64 = 200;
    const SENDERS: u64 = 3;
    let stage = Stage::in_real_time(setting)?;
    let log = Log::new();
    let mut readers = Vec::new();
    for reader in 0..4_u64 {
        let (pen, group) = (log.pen(), stage.receiver.group(()));
        let callback = move |number: &Number| pen.write((reader, number.0 / MESSAGES, number.0 % MESSAGES));
        readers.push(group.subscription("numbers").qos(DEEP).callback(callback)?);
    }
    let publishers: Vec<_> =
        (0..SENDERS).map(|_| stage.publisher("numbers")).collect::<sinew::Result<_>>()?;
    let count = 4 * SENDERS * MESSAGES;
    let mut lines = stage.while_spinning(|| {
        thread::scope(|scope| {
            for (sender, publisher) in (0..).zip(&publishers) {
                scope.spawn(move || {
                    let mut numbers = (0..MESSAGES).map(|number| Number(sender * MESSAGES + number));
                    numbers.try_for_each(|number| publisher.publish(number)).unwrap();
                });
            }
            Ok(log.wait_for(count))
        })
    })?;
    lines.sort_by_key(|&(reader, sender, _)| (reader, sender)); // stable: each sender's in the order of their arrival
    let expected = (0..4).flat_map(|reader| {
        (0..SENDERS).flat_map(move |sender| (0..MESSAGES).map(move |number| (reader, sender, number)))
    });
    assert_eq!(lines, expected.collect::<Vec<_>>());
    assert_eq!(log.lines(), []);
    Ok(())
}
