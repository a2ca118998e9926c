//! Taking messages without callbacks: by hand, in tasks, by listeners, from a wait set and inside
//! others' event loops.

use super::stage::{Setting, Stage, spinning};
use super::support::tasks::block_on;
use super::support::{Gate, Log, Number, PATIENCE, Text, all_numbers_in, wait_for};
use futures_core::Stream;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use sinew::executor::WaitSet;
use sinew::prelude::*;
use std::future::poll_fn;
use std::pin::pin;
use std::thread;

const DEEP: QoS = QoS::new().keep_last(1000);

pub(crate) fn what_was_published_can_be_taken(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::in_real_time(setting)?;
    let subscription = stage.receiver.subscription::<Text>("texts").qos(DEEP).create()?;
    let publisher = stage.sender.publisher::<Text>("texts").qos(DEEP).create()?;
    stage.find_out();
    for length in [0, 1, 199, 200, 201, 5000, 1_000_000, 3] {
        publisher.publish(Text("x".repeat(length)))?;
        // A take waits for no other thread: the one that found out about the publisher may be reading
        // what there is.
        let (text, info) = wait_for("what was published", || subscription.take());
        assert_eq!(text.0.len(), length);
        if !setting.path.is_network() {
            assert_eq!(info.publisher(), publisher.gid());
        }
        assert!(subscription.take().is_none());
    }
    Ok(())
}

pub(crate) fn messages_can_be_held_while_newer_ones_come(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::in_real_time(setting)?;
    let subscription = stage.receiver.subscription::<Text>("texts").qos(DEEP.keep_last(2)).create()?;
    let publisher = stage.sender.publisher::<Text>("texts").qos(DEEP.keep_last(2)).create()?;
    stage.find_out();
    let mut held = Vec::new();
    for n in 0..100 {
        publisher.publish(Text(format!("{n:5000}")))?;
        held.push(wait_for("what was published", || subscription.take()).0); // as above
    }
    for (n, text) in held.iter().enumerate() {
        assert_eq!(text.0, format!("{n:5000}"));
    }
    Ok(())
}

pub(crate) fn a_task_is_woken_for_each_message(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::in_real_time(setting)?;
    let subscription = stage.receiver.subscription::<Number>("numbers").create()?;
    let publisher = stage.publisher("numbers")?;
    let log = Log::new();
    let pen = log.pen();
    thread::scope(|scope| {
        scope.spawn(move || {
            for _ in 0..100 {
                pen.write(block_on(subscription.recv()).expect("the context lives").0.0);
            }
        });
        for number in 0..100 {
            publisher.publish(Number(number)).unwrap();
            assert_eq!(log.next(), number);
        }
    });
    Ok(())
}

pub(crate) fn a_stream_brings_what_waits_and_what_comes(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::in_real_time(setting)?;
    let subscription = stage.receiver.subscription::<Number>("numbers").qos(DEEP).create()?;
    let publisher = stage.publisher("numbers")?;
    (0..10).try_for_each(|number| publisher.publish(Number(number)))?;
    let mut stream = pin!(subscription.stream());
    let mut next = || {
        let next = block_on(poll_fn(|task| stream.as_mut().poll_next(task)));
        next.map(|(number, _)| number.0)
    };
    thread::scope(|scope| {
        let publisher = &publisher;
        scope.spawn(move || (10..100).try_for_each(|number| publisher.publish(Number(number))).unwrap());
        assert_eq!((0..100).map(|_| next().unwrap()).collect::<Vec<_>>(), (0..100).collect::<Vec<_>>());
    });
    stage.receiving.shutdown();
    assert_eq!(next(), None);
    Ok(())
}

pub(crate) fn a_listener_is_notified_of_each_message(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::in_real_time(setting)?;
    let subscription = stage.receiver.subscription::<Number>("numbers").qos(DEEP).create()?;
    let publisher = stage.publisher("numbers")?;
    (1..=3).try_for_each(|number| publisher.publish(Number(number)))?;
    let log = Log::new();
    let pen = log.pen();
    subscription.set_listener(move |count| pen.write(count));
    let mut received = 0;
    for published in [3, 4, 54] {
        (received.max(3) + 1..=published).try_for_each(|number| publisher.publish(Number(number)))?;
        while received < published {
            received += log.next();
        }
        assert_eq!(received, published);
    }
    assert_eq!(all_numbers_in(&subscription, 54), (1..=54).collect::<Vec<_>>());
    Ok(())
}

pub(crate) fn a_wait_set_waits_for_a_subscription(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::unserved(setting)?;
    let subscription = stage.receiver.subscription::<Number>("numbers").create()?;
    let mut set = WaitSet::new();
    set.add_subscription(&subscription)?;
    let publisher = stage.publisher("numbers")?;
    let go = Gate::new();
    thread::scope(|scope| {
        let (publisher, go) = (&publisher, go.clone());
        let opener = go.clone();
        scope.spawn(move || {
            for number in 0..50 {
                go.wait();
                publisher.publish(Number(number)).unwrap();
            }
        });
        for number in 0..50 {
            opener.open();
            let ready = set.wait(PATIENCE).unwrap().map(|ready| ready.is(&subscription));
            assert_eq!(ready.collect::<Vec<_>>(), [true]);
            assert_eq!(all_numbers_in(&subscription, 1), [number]);
        }
    });
    Ok(())
}

pub(crate) fn its_descriptor_is_readable_when_something_came(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::in_real_time(setting)?;
    let log = Log::new();
    let _subscription = stage.listen("numbers", DEEP, log.pen())?;
    let publisher = stage.publisher("numbers")?;
    let executor = stage.runner.executor();
    let descriptor = executor.descriptor().expect("a descriptor more");
    stage.settle()?;
    for number in 0..50 {
        publisher.publish(Number(number))?;
        let mut arrived = Vec::new();
        while arrived.is_empty() {
            let mut wanted = [PollFd::new(&descriptor, PollFlags::IN)];
            let patience = Timespec { tv_sec: 10, tv_nsec: 0 };
            assert_eq!(poll(&mut wanted, Some(&patience)).expect("it can be polled"), 1, "for {number}");
            executor.spin_some()?;
            arrived = log.lines();
        }
        assert_eq!(arrived, [number]);
    }
    Ok(())
}

pub(crate) fn a_group_moves_between_runners_and_loses_nothing(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::unserved(setting)?;
    let log = Log::new();
    let _subscription = stage.listen("numbers", DEEP, log.pen())?;
    let publisher = stage.publisher("numbers")?;
    for first in (0..60).step_by(6) {
        let (runner, last) = (setting.runner(), first + 5);
        runner.add(&stage.receiver)?;
        spinning(&runner, || {
            for number in first..last {
                publisher.publish(Number(number))?;
                assert_eq!(log.next(), number);
            }
            Ok(())
        })?;
        drop(runner);
        publisher.publish(Number(last))?; // while nobody serves it
        let next = setting.runner();
        next.add(&stage.receiver)?;
        assert_eq!(spinning(&next, || Ok(log.next()))?, last);
    }
    Ok(())
}

/// One thread is in a callback for long: the others receive for it.
pub(crate) fn what_comes_while_a_thread_is_busy_is_handled_by_another(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::in_real_time(setting)?;
    let log = Log::new();
    let mut busy = Vec::new();
    for n in 1..setting.threads() as u64 {
        let (pen, leave, group) = (log.pen(), Gate::new(), stage.receiver.group(()));
        let wait = leave.clone();
        let callback = move |_: &Number| {
            pen.write(1000 + n);
            wait.wait();
        };
        let topic = format!("busy_{n}");
        let subscription = group.subscription(&topic).callback(callback)?;
        busy.push((subscription, stage.publisher(&topic)?, leave));
    }
    let _subscription = stage.listen("numbers", DEEP, log.pen())?;
    let publisher = stage.publisher("numbers")?;
    stage.while_spinning(|| {
        for (_, busy, _) in &busy {
            busy.publish(Number(0))?;
            assert!(log.next() > 1000);
        }
        for number in 0..100 {
            publisher.publish(Number(number))?;
            assert_eq!(log.next(), number);
        }
        busy.iter().for_each(|(.., leave)| leave.open());
        Ok(())
    })
}
