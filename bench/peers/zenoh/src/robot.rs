//! A robot's graph in one session: each publisher has a task with a timer of its own, in which the
//! callbacks run.

use harness::topology::Robot;
use harness::{Case, Figures, Result};
use tokio::time::{Instant, MissedTickBehavior, interval_at};
use zenoh::Wait as _;

use crate::sessions::{Said as _, alone, key, publisher};

pub fn topology(case: &Case, name: &str) -> Result<Figures> {
    let robot = Robot::load(name, case.time())?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build()?;
    let session = alone()?;
    for listener in robot.listeners() {
        let subscriber = session.declare_subscriber(key("robot", &listener.topic)?);
        let subscriber = subscriber.callback(move |message| listener.arrive(&message.payload().to_bytes()));
        subscriber.background().wait().said("declaring a subscriber")?;
    }
    let mut tasks = Vec::new();
    for mut source in robot.sources() {
        let publisher = publisher(&session, key("robot", &source.topic)?, true)?;
        tasks.push(runtime.spawn(async move {
            let mut timer = interval_at(Instant::now() + source.period, source.period);
            timer.set_missed_tick_behavior(MissedTickBehavior::Skip);
            loop {
                timer.tick().await;
                if let Err(error) = publisher.put(source.message()).await {
                    eprintln!("a publisher failed: {error}");
                }
            }
        }));
    }
    let figures = robot.measure(|| tasks.iter().for_each(|task| task.abort()));
    drop(runtime);
    session.close().wait().said("closing a session")?;
    Ok(figures)
}
