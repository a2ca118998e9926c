//! How a spin ends.

use super::stage::{Setting, Stage};
use super::support::{Gate, Log, Number};
use sinew::error::SpinError;
use std::sync::mpsc;
use std::task::{Poll, Waker};
use std::thread;

pub(crate) fn a_stop_from_another_thread_ends_the_spin(setting: Setting) -> sinew::Result<()> {
    // What comes over the network doesn't matter to it, and two gateways take their time to start.
    let rounds = if setting.path.is_network() { 3 } else { 30 };
    for _ in 0..rounds {
        let stage = Stage::in_real_time(setting)?;
        let (stop, gate) = (stage.runner.stop_handle(), Gate::new());
        let opener = gate.clone();
        let spinning = thread::spawn(move || {
            opener.open();
            stage.runner.spin()
        });
        gate.wait();
        stop.stop(); // before it spins, before it sleeps, or while it sleeps
        spinning.join().unwrap()?;
    }
    Ok(())
}

pub(crate) fn a_stop_before_the_spin_counts_once(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::in_real_time(setting)?;
    let log = Log::new();
    let (pen, stop) = (log.pen(), stage.runner.stop_handle());
    let guard = stage.receiver.guard_condition().callback(move || {
        pen.write("ran");
        stop.stop();
    })?;
    guard.trigger();
    stage.runner.stop_handle().stop();
    stage.runner.spin()?;
    assert_eq!(log.lines().len(), 0, "it was stopped before");
    stage.runner.spin()?; // runs the guard condition, which stops it
    assert_eq!(log.lines().len(), 1);
    Ok(())
}

pub(crate) fn a_stop_from_a_callback_lets_that_one_finish(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::in_real_time(setting)?;
    let log = Log::new();
    let (stop, pen) = (stage.runner.stop_handle(), log.pen());
    let _subscription = stage.receiver.subscription("numbers").callback(move |number: &Number| {
        if number.0 == 2 {
            stop.stop();
        }
        pen.write(number.0);
    })?;
    let publisher = stage.publisher("numbers")?;
    (1..=4).try_for_each(|number| publisher.publish(Number(number)))?;
    stage.runner.spin()?;
    assert_eq!(log.lines(), [1, 2], "and no other one starts");
    assert_eq!(stage.collect(&log, 2)?, [3, 4], "what waits keeps waiting");
    Ok(())
}

pub(crate) fn shutdown_ends_every_spin(setting: Setting) -> sinew::Result<()> {
    let (_, context) = setting.path.open(None);
    let log = Log::new();
    let mut spinning = Vec::new();
    for part in ["context", "node", "group"] {
        let (node, runner, pen) = (context.node(part)?, setting.runner(), log.pen());
        let group = node.group(());
        let guard = group.guard_condition().callback(move || pen.write(()))?;
        guard.trigger();
        match part {
            "group" => runner.add(&group)?,
            "node" => runner.add(&node)?,
            _ => {} // what is left to it, last
        }
        spinning.push((runner, guard));
    }
    spinning[0].0.add(&context)?;
    let threads: Vec<_> = spinning
        .into_iter()
        .map(|(runner, guard)| {
            thread::spawn(move || {
                let _guard = guard;
                runner.spin()?;
                runner.spin() // and so does every later one
            })
        })
        .collect();
    (0..3).for_each(|_| log.next());
    context.shutdown();
    Ok(threads.into_iter().try_for_each(|thread| thread.join().unwrap())?)
}

pub(crate) fn shutdown_in_a_callback_ends_the_spin_after_it(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::in_real_time(setting)?;
    let log = Log::new();
    let (context, pen) = (stage.receiving.clone(), log.pen());
    let _reader = stage.receiver.subscription("numbers").callback(move |number: &Number| {
        context.shutdown();
        pen.write(number.0);
    })?;
    let publisher = stage.publisher("numbers")?;
    publisher.publish(Number(1))?;
    publisher.publish(Number(2))?;
    stage.runner.spin()?;
    stage.runner.spin()?;
    stage.settle()?;
    assert_eq!(log.lines(), [1]);
    Ok(())
}

// ---- spin_until ----

/// A future that is ready when a value is sent, and the sender, which gets the waker.
fn promise<T>() -> (mpsc::Receiver<Waker>, mpsc::Sender<T>, impl Future<Output = T>) {
    let (waker, wakers) = mpsc::channel();
    let (sender, receiver) = mpsc::channel();
    let future = std::future::poll_fn(move |context| match receiver.try_recv() {
        Ok(value) => Poll::Ready(value),
        Err(_) => {
            let _ = waker.send(context.waker().clone()); // nobody listens any more once it has been woken
            Poll::Pending
        }
    });
    (wakers, sender, future)
}

pub(crate) fn spin_until_is_woken_from_another_thread(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::in_real_time(setting)?;
    for _ in 0..20 {
        let (wakers, sender, future) = promise();
        let waking = thread::spawn(move || {
            let waker = wakers.recv().unwrap();
            sender.send("done").unwrap();
            waker.wake();
        });
        assert_eq!(stage.runner.executor().spin_until(future)?, "done");
        waking.join().unwrap();
    }
    Ok(())
}

pub(crate) fn spin_until_is_woken_from_a_callback(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::in_real_time(setting)?;
    let (wakers, sender, future) = promise();
    let publisher = stage.publisher("numbers")?;
    let again = publisher.clone();
    let subscription = stage.receiver.subscription("numbers").callback(move |number: &Number| {
        if number.0 == 100 {
            sender.send("a hundred").unwrap();
            wakers.try_iter().for_each(Waker::wake);
            return Ok(());
        }
        again.publish(Number(number.0 + 1))
    })?;
    stage.find_out();
    publisher.publish(Number(1))?;
    assert_eq!(stage.runner.executor().spin_until(future)?, "a hundred");
    assert_eq!(subscription.statistics().taken, 100);
    Ok(())
}

pub(crate) fn spin_until_says_so_if_it_was_stopped(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::in_real_time(setting)?;
    let never = || std::future::pending::<()>();
    stage.runner.stop_handle().stop();
    assert_eq!(stage.runner.executor().spin_until(never()), Err(SpinError::Stopped));
    let context = stage.receiving.clone();
    let guard = stage.receiver.guard_condition().callback(move || context.shutdown())?;
    guard.trigger();
    assert_eq!(stage.runner.executor().spin_until(never()), Err(SpinError::Stopped));
    Ok(())
}
