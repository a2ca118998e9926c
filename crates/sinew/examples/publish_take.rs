//! Publishes messages and takes them, in an executor that also serves idle subscriptions; for `.ci/instructions`, which
//! counts what one message costs.
//!
//!     publish_take IDLE MESSAGES [callback|hand]
//!
//! `callback` (the default) has the executor run a callback per message, `hand` takes each by hand.

use sinew::prelude::*;
use std::env;
use std::hint::black_box;

#[derive(Clone, Default)]
struct Number(u64);

impl Message for Number {}

fn main() -> sinew::Result<()> {
    let arguments: Vec<_> = env::args().collect();
    let [_, idle, messages, rest @ ..] = &arguments[..] else {
        panic!("usage: publish_take IDLE MESSAGES [hand]")
    };
    let idle: usize = idle.parse().expect("a number of idle subscriptions");
    let messages: u64 = messages.parse().expect("a number of messages");
    let by_hand = rest.first().is_some_and(|how| how == "hand");

    let context = Context::builder().domain(0).build()?;
    let node = context.node("counter")?;
    let _idle = (0..idle)
        .map(|n| node.subscription::<Number>(&format!("idle_{n}")).callback(|_: &Number| {}))
        .collect::<Result<Vec<_>, _>>()?;
    let executor = Executor::single();
    executor.add(&context)?;
    let publisher = node.publisher::<Number>("numbers").create()?;
    let builder = node.subscription::<Number>("numbers");
    if by_hand {
        let subscription = builder.create()?;
        for number in 0..messages {
            publisher.publish(Number(number))?;
            black_box(subscription.take());
        }
    } else {
        // Each message's callback publishes the next: one spin, and nothing is measured but publishing and taking.
        let (next, stop) = (publisher.clone(), executor.stop_handle());
        let _subscription = builder.callback(move |number: &Number| {
            if number.0 < messages {
                return next.publish(Number(number.0 + 1));
            }
            stop.stop();
            Ok(())
        })?;
        publisher.publish(Number(1))?;
        executor.spin()?;
    }
    Ok(())
}
