//! Callbacks that panic, fail, or spin.

use super::stage::{Options, Setting, Stage, spinning};
use super::support::{Gate, Log, Number};
use sinew::error::SpinError;
use sinew::executor::FaultPolicy;
use sinew::prelude::*;
use std::error::Error as _;
use std::sync::{Arc, Barrier};
use std::thread;

pub(crate) fn a_panic_stops_the_spin_and_the_next_one_goes_on_with_the_rest(
    setting: Setting,
) -> sinew::Result<()> {
    let stage = Stage::in_real_time(setting)?;
    let log = Log::new();
    let (pen, sum) = (log.pen(), stage.receiver.group(0_u64));
    let callback = move |sum: &mut u64, number: &Number| {
        *sum += number.0;
        if number.0 == 2 {
            panic!("no {}", number.0);
        }
        pen.write(*sum);
    };
    let subscription = sum.subscription("numbers").callback(callback)?;
    let publisher = stage.publisher("numbers")?;
    (1..=4).try_for_each(|number| publisher.publish(Number(number)))?;
    let (entity, message) = ("subscription to /numbers of node /receiver".to_owned(), "no 2".to_owned());
    assert_eq!(stage.runner.spin(), Err(SpinError::Panicked { entity, message }));
    assert_eq!(log.lines(), [1]);
    assert_eq!(stage.collect(&log, 2)?, [6, 10], "the state is as the panic left it");
    publisher.publish(Number(5))?;
    assert_eq!(stage.collect(&log, 1)?, [15]);
    assert_eq!(subscription.statistics().taken, 5);
    Ok(())
}

pub(crate) fn a_panic_that_is_only_reported_lets_the_rest_go_on(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::with(setting, Options { on_panic: FaultPolicy::Report, ..Options::default() })?;
    let log = Log::new();
    let pen = log.pen();
    let _numbers = stage.receiver.subscription("numbers").callback(move |number: &Number| {
        assert_ne!(number.0, 2, "unlucky");
        pen.write(number.0);
    })?;
    let (pen, mut calls) = (log.pen(), 0);
    let _timer = stage.receiver.timer(Duration::from_millis(1)).callback(move || {
        calls += 1;
        assert_ne!(calls, 1, "unlucky");
        pen.write(100 + calls);
    })?;
    let publisher = stage.publisher("numbers")?;
    (1..=3).try_for_each(|number| publisher.publish(Number(number)))?;
    stage.pass(1);
    assert_eq!(stage.collect(&log, 2)?, [1, 3]);
    stage.pass(1);
    assert_eq!(stage.collect(&log, 1)?, [102]);
    Ok(())
}

pub(crate) fn an_error_is_reported_unless_it_is_to_stop(setting: Setting) -> sinew::Result<()> {
    for on_error in [FaultPolicy::Report, FaultPolicy::Stop] {
        let stage = Stage::with(setting, Options { on_error, ..Options::default() })?;
        let log = Log::new();
        let pen = log.pen();
        let _numbers = stage.receiver.subscription("numbers").callback(move |number: &Number| {
            pen.write(number.0);
            if number.0 == 1 { Err("not the first one") } else { Ok(()) }
        })?;
        let publisher = stage.publisher("numbers")?;
        (1..=3).try_for_each(|number| publisher.publish(Number(number)))?;
        if on_error == FaultPolicy::Stop {
            let error = stage.runner.spin().unwrap_err();
            // What the callback said is the cause; other languages have a number before it.
            let (sentence, cause) = (error.to_string(), error.source().expect("a cause").to_string());
            let begin = "the callback of subscription to /numbers of node /receiver failed: ";
            assert!(sentence.starts_with(begin) && sentence.ends_with("not the first one"), "{sentence}");
            assert!(cause.ends_with("not the first one"), "{cause}");
            assert_eq!(log.lines(), [1]);
            assert_eq!(stage.collect(&log, 2)?, [2, 3]);
        } else {
            assert_eq!(stage.collect(&log, 3)?, [1, 2, 3]);
        }
    }
    Ok(())
}

pub(crate) fn a_panic_on_another_thread_is_returned(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::in_real_time(setting)?;
    let (meeting, here) = (Arc::new(Barrier::new(setting.threads())), thread::current().id());
    let mut readers = Vec::new();
    for _ in 0..setting.threads() {
        let (meeting, group) = (meeting.clone(), stage.receiver.group(()));
        let callback = move |_: &Number| {
            meeting.wait(); // one of them is on the thread that spins
            assert_eq!(thread::current().id(), here, "elsewhere");
        };
        readers.push(group.subscription("numbers").callback(callback)?);
    }
    let publisher = stage.publisher("numbers")?;
    for _ in 0..10 {
        publisher.publish(Number(1))?;
        let error = stage.runner.spin().unwrap_err();
        assert!(
            matches!(&error, SpinError::Panicked { message, .. } if message.contains("elsewhere")),
            "{error}"
        );
    }
    Ok(())
}

pub(crate) fn who_is_busy_cannot_be_spun_again(setting: Setting) -> sinew::Result<()> {
    let Stage { receiver, runner, receiving: _context, .. } = Stage::in_real_time(setting)?;
    runner.add(&receiver)?;
    let (log, inside, leave) = (Log::new(), Gate::new(), Gate::new());
    let (pen, opener, waiter) = (log.pen(), inside.clone(), leave.clone());
    let runner = Arc::new(runner);
    let own = Arc::downgrade(&runner);
    let guard = receiver.guard_condition().callback(move || {
        let runner = own.upgrade().expect("it runs");
        pen.write(runner.spin());
        pen.write(runner.settle());
        opener.open();
        waiter.wait();
    })?;
    guard.trigger();
    let there = runner.clone();
    spinning(&there, || {
        inside.wait();
        assert_eq!(log.lines(), [Err(SpinError::Busy), Err(SpinError::Busy)], "in its own callback");
        assert_eq!(runner.spin(), Err(SpinError::Busy), "and in another thread");
        leave.open();
        Ok(())
    })?;
    assert_eq!(runner.settle(), Ok(()), "now it is free");
    Ok(())
}

pub(crate) fn a_callback_may_spin_another_runner(setting: Setting) -> sinew::Result<()> {
    let (outer, inner) = (Stage::in_real_time(setting)?, Stage::in_real_time(setting)?);
    let log = Log::new();
    let pen = log.pen();
    let inner_guard = inner.receiver.guard_condition().callback(move || pen.write("inner"))?;
    let pen = log.pen();
    let guard = outer.receiver.guard_condition().callback(move || {
        pen.write("outer begins");
        inner_guard.trigger();
        inner.settle()?;
        pen.write("outer ends");
        Ok::<_, SpinError>(())
    })?;
    guard.trigger();
    assert_eq!(outer.collect(&log, 3)?, ["outer begins", "inner", "outer ends"]);
    Ok(())
}
