//! Messages in `async` code without any runtime: a future on a thread of its own, and one that an
//! executor waits for while it runs callbacks.
//!
//!     cargo run --example async_plain

use sinew::prelude::*;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Poll, Wake, Waker};
use std::thread::{self, Thread};

#[derive(Clone)]
struct Reading(f64);

impl Message for Reading {}

/// All that waiting for a future takes: a waker that wakes the thread that polls it.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn block_on<F: Future>(future: F) -> F::Output {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut std::task::Context::from_waker(&waker)) {
            return output;
        }
        thread::park();
    }
}

/// The mean of every four readings, for as long as the context lives.
async fn average(readings: Subscription<Reading>, means: Publisher<Reading>) -> sinew::Result<()> {
    let (mut sum, mut count) = (0.0, 0);
    while let Some((reading, _)) = readings.recv().await {
        sum += reading.0;
        count += 1;
        if count == 4 {
            means.publish(Reading(sum / 4.0))?;
            (sum, count) = (0.0, 0);
        }
    }
    Ok(())
}

fn main() -> sinew::Result<()> {
    let context = Context::from_args()?;
    let node = context.node("averager")?;
    let readings = node.subscription("readings").create()?;
    let means = node.publisher("means").create()?;
    let averager = thread::spawn(|| block_on(average(readings, means)));

    let sensor = context.node("sensor")?;
    let publisher = sensor.publisher("readings").create()?;
    let mut angle = 0.0_f64;
    let _timer = sensor.timer(Duration::from_millis(5)).callback(move || {
        angle += 0.1;
        publisher.publish(Reading(angle.sin()))
    })?;

    // The executor runs the sensor's timer until the future is ready: when three means have come.
    let means = sensor.subscription::<Reading>("means").create()?;
    let executor = Executor::single();
    executor.add(&context)?;
    executor.spin_until(async {
        for _ in 0..3 {
            let Some((mean, _)) = means.recv().await else { return };
            println!("{:.3}", mean.0);
        }
    })?;

    context.shutdown(); // ends the averager's wait
    averager.join().expect("the averager doesn't panic")
}
