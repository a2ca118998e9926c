//! A robot's graph on tokio's tasks: one with a timer for each publisher, one for each
//! subscription.

use std::collections::HashMap;
use std::sync::Arc;

use harness::topology::Robot;
use harness::{Case, Figures, Result};
use tokio::sync::broadcast::{self, Sender, error::RecvError};
use tokio::time::{Instant, MissedTickBehavior, interval_at};

/// Number of messages that a topic keeps for subscriptions that are behind: as in Sinew's side.
const DEPTH: usize = 10;

/// A message that all its receivers share.
type Message = Arc<Vec<u8>>;

/// Runs a graph: each topic is a broadcast channel.
pub(super) fn run(case: &Case, name: &str) -> Result<Figures> {
    let robot = Robot::load(name, case.time())?;
    let runtime = super::two_threads()?;
    let mut topics: HashMap<String, Sender<Message>> = HashMap::new();
    let mut topic =
        |name: &str| topics.entry(name.to_owned()).or_insert_with(|| broadcast::channel(DEPTH).0).clone();
    for listener in robot.listeners() {
        let mut messages = topic(&listener.topic).subscribe();
        runtime.spawn(async move {
            loop {
                match messages.recv().await {
                    Ok(message) => listener.arrive(&message),
                    // The missing ones are counted by their numbers.
                    Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => break,
                }
            }
        });
    }
    let mut timers = Vec::new();
    for mut source in robot.sources() {
        let to = topic(&source.topic);
        timers.push(runtime.spawn(async move {
            let mut timer = interval_at(Instant::now() + source.period, source.period);
            timer.set_missed_tick_behavior(MissedTickBehavior::Skip);
            loop {
                timer.tick().await;
                // Fails only without subscriptions.
                let _ = to.send(Arc::new(source.message()));
            }
        }));
    }
    Ok(robot.measure(|| timers.iter().for_each(|timer| timer.abort())))
}
