//! Reliable keep_all on both ends: publishing waits for room, or says why it can't.

use super::stage::{Setting, Stage, spinning};
use super::support::{Log, Number, PATIENCE, all_numbers_in};
use sinew::Publisher;
use sinew::error::PublishFailure;
use sinew::prelude::*;
use std::sync::{Arc, Barrier};

/// Both ends reliable and keep_all, and a publisher that waits as long as a test may take.
fn patient(room: usize) -> QoS {
    QoS::default().keep_all().max_samples(room).max_blocking_time(PATIENCE)
}

fn failure(publisher: &Publisher<Number>, number: u64) -> Option<PublishFailure> {
    publisher.publish(Number(number)).err().map(|error| error.failure())
}

const DEADLOCK: Option<PublishFailure> = Some(PublishFailure::WouldDeadlock);

pub(crate) fn a_publisher_waits_for_room(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::in_real_time(setting)?;
    let log = Log::new();
    let subscription = stage.listen("numbers", patient(2), log.pen())?;
    let publisher = stage.publisher_with("numbers", patient(2))?;
    let failures =
        stage.while_spinning(|| Ok((1..=300).filter_map(|n| failure(&publisher, n)).collect::<Vec<_>>()))?;
    assert_eq!(failures, []);
    stage.settle()?;
    assert_eq!(log.lines(), (1..=300).collect::<Vec<_>>(), "all of them, in order, through two places");
    assert_eq!(subscription.statistics().refused + subscription.statistics().overwritten, 0);
    Ok(())
}

pub(crate) fn a_callback_waits_for_another_runner(setting: Setting) -> sinew::Result<()> {
    let (from, to) = setting.path.open(None);
    let (here, there) = (from.node("here")?, to.node("there")?);
    let (source, sink) = (setting.runner(), setting.runner());
    source.add(&here)?;
    sink.add(&there)?;
    let relayed = here.publisher::<Number>("relayed").qos(patient(1)).create()?;
    let relay = move |number: &Number| relayed.publish(number);
    let _relay = here.subscription("numbers").qos(QoS::default().keep_last(100)).callback(relay)?;
    let log = Log::new();
    let pen = log.pen();
    let end = move |number: &Number| pen.write(number.0);
    let _end = there.subscription("relayed").qos(patient(1)).callback(end)?;
    let numbers = here.publisher::<Number>("numbers").create()?;
    (1..=100).try_for_each(|number| numbers.publish(Number(number)))?;
    let lines = spinning(&sink, || spinning(&source, || Ok(log.wait_for(100))))?;
    assert_eq!(lines, (1..=100).collect::<Vec<_>>());
    Ok(())
}

/// A callback passes two messages on to where there is room for one; what became of them.
fn pass_on_two(setting: Setting, same_group: bool) -> sinew::Result<Vec<(u64, Option<PublishFailure>)>> {
    let stage = Stage::in_real_time(setting)?;
    let log = Log::new();
    let (pen, received) = (log.pen(), log.pen());
    let out = stage.publisher_with("out", patient(1))?;
    let _in = stage.receiver.subscription("in").callback(move |number: &Number| {
        for number in [number.0, number.0 + 1] {
            pen.write((number, failure(&out, number)));
        }
    })?;
    let out = if same_group {
        stage.receiver.subscription("out")
    } else {
        stage.receiver.group(()).subscription("out")
    };
    let callback = move |number: &Number| received.write((100 + number.0, None));
    let _out = out.qos(patient(1)).callback(callback)?;
    stage.publisher("in")?.publish(Number(1))?;
    let mut lines = stage.collect(&log, 3)?;
    lines.sort_by_key(|(number, _)| *number);
    Ok(lines)
}

pub(crate) fn a_callback_cannot_wait_for_its_own_group(setting: Setting) -> sinew::Result<()> {
    assert_eq!(pass_on_two(setting, true)?, [(1, None), (2, DEADLOCK), (101, None)]);
    Ok(())
}

pub(crate) fn a_callback_waits_for_another_group_if_there_is_another_thread(
    setting: Setting,
) -> sinew::Result<()> {
    let lines = pass_on_two(setting, false)?;
    if setting.threads() == 1 {
        assert_eq!(lines, [(1, None), (2, DEADLOCK), (101, None)], "one thread runs all groups");
    } else {
        assert_eq!(lines, [(1, None), (2, None), (101, None), (102, None)]);
    }
    Ok(())
}

pub(crate) fn the_last_thread_does_not_wait(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::in_real_time(setting)?;
    let (log, meeting) = (Log::new(), Arc::new(Barrier::new(setting.threads())));
    let mut readers = Vec::new();
    for n in 0..setting.threads() as u64 {
        // Its own publisher: clones of one would wait for each other.
        let (pen, meeting, out) = (log.pen(), meeting.clone(), stage.publisher_with("out", patient(1))?);
        let callback = move |_: &Number| {
            meeting.wait(); // no thread is free
            if n == 0 {
                out.publish(Number(0)).expect("there is room for one");
            }
            meeting.wait(); // and no place
            pen.write(failure(&out, n + 1));
        };
        let group = stage.receiver.group(());
        readers.push(group.subscription("go").callback(callback)?);
    }
    let (received, group) = (Log::new(), stage.receiver.group(()));
    let pen = received.pen();
    let callback = move |number: &Number| pen.write(number.0);
    let _out = group.subscription("out").qos(patient(1)).callback(callback)?;
    stage.publisher("go")?.publish(Number(0))?;
    let mut outcomes = stage.collect(&log, setting.threads())?;
    outcomes.sort_by_key(Option::is_none);
    assert_eq!(outcomes[0], DEADLOCK);
    assert_eq!(outcomes[1..], vec![None; setting.threads() - 1], "the others' waits end");
    assert_eq!(received.lines().len(), setting.threads(), "what was accepted has come");
    Ok(())
}

pub(crate) fn of_two_runners_that_would_wait_for_each_other_one_gets_an_error(
    setting: Setting,
) -> sinew::Result<()> {
    let (context, _) = setting.path.open(None);
    let (log, both) = (Log::new(), Arc::new(Barrier::new(2)));
    // Each callback passes its first message on to the other runner, whose history is full, once
    // both are that far.
    let side = |name: &str, from: &str, to: &str| -> sinew::Result<_> {
        let (node, runner, both, pen) = (context.node(name)?, setting.runner(), both.clone(), log.pen());
        runner.add(&node)?;
        let publisher = node.publisher::<Number>(to).qos(patient(1)).create()?;
        let callback = move |number: &Number| {
            if number.0 > 1 {
                return;
            }
            both.wait(); // both took their first message
            publisher.publish(Number(2)).expect("the place of the first one is free");
            both.wait();
            pen.write(failure(&publisher, 3));
        };
        Ok((runner, node.subscription(from).qos(patient(1)).callback(callback)?))
    };
    let left = side("left", "to_left", "to_right")?;
    let right = side("right", "to_right", "to_left")?;
    let start = |topic| context.node("start")?.publisher::<Number>(topic).qos(patient(1)).create();
    start("to_left")?.publish(Number(1))?;
    start("to_right")?.publish(Number(1))?;
    let mut outcomes = spinning(&left.0, || spinning(&right.0, || Ok(log.wait_for(2))))?;
    outcomes.sort_by_key(Option::is_none);
    assert_eq!(outcomes, [DEADLOCK, None], "and the other one's wait ends");
    Ok(())
}

pub(crate) fn the_thread_that_ran_the_callbacks_cannot_wait_for_them(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::in_real_time(setting)?;
    let log = Log::new();
    let _subscription = stage.listen("numbers", patient(1), log.pen())?;
    let publisher = stage.publisher_with("numbers", patient(1))?;
    publisher.publish(Number(1))?;
    stage.settle()?; // on this thread
    publisher.publish(Number(2))?;
    assert_eq!(failure(&publisher, 3), DEADLOCK);
    let failures = stage.while_spinning(|| {
        assert_eq!(log.wait_for(2), [1, 2]); // another one spins by now
        Ok([4, 5, 6].map(|number| failure(&publisher, number)))
    })?;
    assert_eq!(failures, [None; 3], "then it may");
    stage.settle()?;
    assert_eq!(log.lines(), [4, 5, 6]);
    Ok(())
}

pub(crate) fn a_waiting_callback_goes_on_when_the_subscription_goes(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::in_real_time(setting)?;
    let log = Log::new();
    let full = stage.receiver.subscription::<Number>("out").qos(patient(1)).create()?;
    let other = stage.receiver.subscription::<Number>("out").create()?;
    let (out, pen) = (stage.publisher_with("out", patient(1))?, log.pen());
    let _in = stage.receiver.subscription("in").callback(move |number: &Number| {
        out.publish(number).expect("there is room for one");
        pen.write(None);
        pen.write(Some(failure(&out, number.0 + 1)));
    })?;
    stage.publisher("in")?.publish(Number(1))?;
    let outcome = stage.while_spinning(|| {
        assert_eq!(log.next(), None);
        drop(full);
        Ok(log.next())
    })?;
    assert_eq!(outcome, Some(None));
    assert_eq!(all_numbers_in(&other, 2), [1, 2], "the others get it");
    Ok(())
}

pub(crate) fn a_message_without_room_comes_back(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::in_real_time(setting)?;
    let hasty = QoS::default().keep_all().max_samples(3).max_blocking_time(Duration::from_millis(5));
    let subscription = stage.receiver.subscription::<Number>("numbers").qos(hasty).create()?;
    let publisher = stage.publisher_with("numbers", hasty)?;
    for first in [1, 4, 7] {
        (first..first + 3).try_for_each(|number| publisher.publish(Number(number)))?;
        let error = publisher.publish(Number(100)).expect_err("there is no room");
        assert!(matches!(error.failure(), PublishFailure::Full { .. }), "{error}");
        assert_eq!(error.into_message().into_shared().unwrap().0, 100);
        assert_eq!(all_numbers_in(&subscription, 3), (first..first + 3).collect::<Vec<_>>());
    }
    (10..13).try_for_each(|number| publisher.publish(Number(number)))?;
    drop(subscription);
    stage.find_out();
    assert_eq!(failure(&publisher, 13), None, "nobody is waited for");
    Ok(())
}

pub(crate) fn a_taker_lets_a_waiting_publisher_go_on(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::in_real_time(setting)?;
    let subscription = stage.receiver.subscription::<Number>("numbers").qos(patient(1)).create()?;
    let publisher = stage.publisher_with("numbers", patient(1))?;
    std::thread::scope(|scope| {
        scope.spawn(|| (0..200).for_each(|number| assert_eq!(failure(&publisher, number), None)));
        for number in 0..200 {
            let next = || subscription.take().map(|(number, _)| number.0);
            assert_eq!(std::iter::repeat_with(next).find_map(|next| next), Some(number));
        }
    });
    Ok(())
}
