//! Several threads: groups decide what may run at the same time.
//!
//! A detector computes for long; the callbacks of its reentrant group run beside each other. What
//! they find is counted in a group with a state, whose callbacks never overlap, so no lock is
//! needed.
//!
//!     cargo run -p sinew-core --example threads

use sinew::prelude::*;
use std::thread;

#[derive(Clone)]
struct Picture(u32);
impl Message for Picture {}

#[derive(Clone)]
struct Found(u32);
impl Message for Found {}

const PICTURES: u32 = 8;

fn main() -> sinew::Result<()> {
    let context = Context::from_args()?;
    let executor = Executor::builder().threads(4).build()?;
    executor.add(&context)?;

    let detector = context.node("detector")?;
    let found = detector.publisher::<Found>("found").create()?;
    let beside_each_other = detector.reentrant_group();
    let _pictures =
        beside_each_other.subscription::<Picture>("pictures").callback(move |picture: &Picture| {
            compute_for(Duration::from_millis(50));
            println!("picture {} on {:?}", picture.0, thread::current().name().unwrap_or("the main thread"));
            found.publish(Found(picture.0))
        })?;

    let counter = context.node("counter")?;
    let one_at_a_time = counter.group(0);
    let stop = executor.stop_handle();
    let _found =
        one_at_a_time.subscription::<Found>("found").callback(move |count: &mut u32, found: &Found| {
            *count += 1;
            println!("{count}: something in picture {}", found.0);
            if *count == PICTURES {
                stop.stop();
            }
        })?;

    let pictures = context.node("camera")?.publisher::<Picture>("pictures").create()?;
    (0..PICTURES).try_for_each(|number| pictures.publish(Picture(number)))?;
    let begin = sinew::time::Time::steady();
    executor.spin()?;
    println!("{PICTURES} times 50 ms took {:?}", sinew::time::Time::steady() - begin);
    for times in executor.run_times() {
        println!("{}: {} runs", times.entity, times.histogram.count());
    }
    Ok(())
}

/// What takes a detector's time.
fn compute_for(time: Duration) {
    let begin = sinew::time::Time::steady();
    while sinew::time::Time::steady() - begin < time {
        std::hint::spin_loop();
    }
}
