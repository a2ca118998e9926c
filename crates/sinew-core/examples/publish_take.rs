//! Publishes messages and takes them, in an executor that also serves idle subscriptions; for
//! `.ci/instructions`, which counts what one message costs.
//!
//!     publish_take IDLE MESSAGES [callback|erased|multi|hand|call|shm]
//!
//! `callback` (the default) has the executor run a callback per message, `erased` the same with
//! endpoints without a type, `multi` as `callback` with two threads; `hand` takes each by hand.
//! With `call` a callback calls a service of the same executor and waits for each answer. With
//! `shm` the publishers, those of the idle subscriptions as well, are another participant's: the
//! executor is notified of each message through shared memory.

use sinew::erased::MessageType;
use sinew::prelude::*;
use std::env;
use std::hint::black_box;

/// So many messages come before those that are measured.
const WARM: u64 = 100;

#[derive(Clone, Default, Message)]
struct Number {
    value: u64,
}

fn main() -> sinew::Result<()> {
    let arguments: Vec<_> = env::args().collect();
    let [_, idle, messages, rest @ ..] = &arguments[..] else {
        panic!("usage: publish_take IDLE MESSAGES [callback|erased|multi|hand|call|shm]")
    };
    let idle: usize = idle.parse().expect("a number of idle subscriptions");
    let messages: u64 = messages.parse().expect("a number of messages");
    let how = rest.first().map_or("callback", String::as_str);
    if how == "shm" {
        return between_participants(idle, messages);
    }
    let context = Context::builder().domain(0).build()?;
    let node = context.node("counter")?;
    let _idle = (0..idle)
        .map(|n| node.subscription::<Number>(&format!("idle_{n}")).callback(|_: &Number| {}))
        .collect::<Result<Vec<_>, _>>()?;
    let executor = Executor::multi(if how == "multi" { 2 } else { 1 });
    executor.add(&context)?;
    if how == "call" {
        return calling(&executor, &node, messages);
    }
    let publisher = node.publisher::<Number>("numbers").create()?;
    let builder = node.subscription::<Number>("numbers");
    if how == "hand" {
        let subscription = builder.create()?;
        measured(&mut || {
            (0..messages).try_for_each(|number| {
                publisher.publish(Number { value: number })?;
                black_box(subscription.take());
                Ok(())
            })
        })?;
    } else if how == "erased" {
        return without_a_type(&executor, &node, messages);
    } else {
        // Each message's callback publishes the next: one spin, and nothing is measured but
        // publishing and taking.
        let (next, stop) = (publisher.clone(), executor.stop_handle());
        let _subscription = builder.callback(move |number: &Number| {
            if number.value < messages {
                return next.publish(Number { value: number.value + 1 });
            }
            stop.stop();
            Ok(())
        })?;
        publisher.publish(Number { value: 1 })?;
        measured(&mut || Ok(executor.spin()?))?;
    }
    Ok(())
}

/// What the thread does in here is counted, and nothing else: the ends meet before, and what other
/// threads do depends on how busy the machine is.
#[inline(never)]
fn measured(work: &mut dyn FnMut() -> sinew::Result<()>) -> sinew::Result<()> {
    black_box(work())
}

/// As `callback`, with endpoints that don't know the type.
fn without_a_type(executor: &Executor, node: &Node, messages: u64) -> sinew::Result<()> {
    let number = MessageType::of::<Number>();
    let publisher = node.publisher::<Number>("erased").create()?;
    let publish = move |value: u64| {
        let mut number = publisher.loan();
        number.value = value;
        publisher.erased().publish(number)
    };
    let (next, stop) = (publish.clone(), executor.stop_handle());
    let _subscription =
        node.erased_subscription("erased", number).callback_erased(move |(): &mut (), taken| {
            let number = taken.message.value_of::<Number>().expect("it is of this type").value;
            if number < messages {
                return next(number + 1);
            }
            stop.stop();
            Ok(())
        })?;
    publish(1).expect("there is room");
    measured(&mut || Ok(executor.spin()?))
}

struct Count;

impl Service for Count {
    type Request = Number;
    type Response = Number;
}

/// One callback makes all the calls: its thread runs the server while it waits.
fn calling(executor: &Executor, node: &Node, calls: u64) -> sinew::Result<()> {
    let servers = node.group(());
    let _server = servers.server::<Count>("count").callback(|n: &Number| Number { value: n.value + 1 })?;
    let client = node.client::<Count>("count").create()?;
    let stop = executor.stop_handle();
    let _caller = node.timer(Duration::from_millis(1)).callback(move || {
        for _ in 0..calls {
            black_box(client.call(Number { value: 1 }, Duration::from_secs(60))?);
        }
        stop.stop();
        Ok::<(), sinew::error::CallError<Number>>(())
    })?;
    measured(&mut || Ok(executor.spin()?))
}

/// Each message wakes the executor, which has the callbacks of all idle subscriptions as well.
fn between_participants(idle: usize, messages: u64) -> sinew::Result<()> {
    let directory = env::temp_dir().join(format!("sinew-publish-take-{}", std::process::id()));
    let [here, there] = [(); 2].map(|()| Context::builder().directory(&directory).build());
    let (here, there) = (here?, there?);
    let (node, other) = (here.node("counter")?, there.node("source")?);
    let patience = Duration::from_secs(60);
    let mut idle_ends = Vec::new();
    for topic in (0..idle).map(|n| format!("idle_{n}")) {
        let publisher = other.publisher::<Number>(&topic).create()?;
        idle_ends.push((node.subscription::<Number>(&topic).callback(|_: &Number| {})?, publisher));
    }
    let executor = Executor::single();
    executor.add(&here)?;
    let publisher = other.publisher::<Number>("numbers").create()?;
    let _subscription = node.subscription::<Number>("numbers").callback(|number: &Number| {
        black_box(number);
    })?;
    let matched = idle_ends.iter().all(|(_, publisher)| publisher.wait_for_subscribers(1, patience));
    assert!(matched && publisher.wait_for_subscribers(1, patience), "they don't match");
    let pass = |messages: u64| {
        (0..messages).try_for_each(|number| {
            publisher.publish(Number { value: number })?;
            while executor.spin_some()? == 0 {}
            Ok(())
        })
    };
    pass(WARM)?; // until the recipients are known, other threads take part
    measured(&mut || pass(messages))?;
    drop((here, there));
    std::fs::remove_dir_all(&directory).expect("a directory of our own");
    Ok(())
}
