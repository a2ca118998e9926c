//! Scenario `fanout`: one publisher and many subscriptions, in the same process, in another one, or
//! in one process each.

use std::time::Duration;

use sinew::{Executor, QoS, Subscription};

use super::messages::Timing;
use super::payload::PATIENT;
use crate::news;
use crate::options::{FanoutCase, Placement};
use crate::{
    Case, Collected, Error, Figures, Floor, Ground, Heard, Measuring, MultiProcess, Part, Run, Samples,
    Usage, matched, now_ns, one, ticks, waiting, warm_up,
};

/// P50 and so on are times until the last one is called.
impl Case for FanoutCase {
    fn floors(&self) -> Result<Vec<Floor>, Error> {
        Ok(vec![Floor::line2()])
    }

    fn round(&self, ground: &Ground, time: Duration) -> Result<Figures, Error> {
        ground.measure(self, time)
    }
}

impl FanoutCase {
    /// Returns the number of other processes, and of subscriptions in each.
    fn others(&self) -> (u32, u32) {
        match self.placement {
            Placement::Same => (0, 0),
            Placement::Other => (1, one(&self.subscriptions)),
            Placement::Each => (one(&self.subscriptions), 1),
        }
    }
}

/// Returns room for what this many subscriptions hear in a round.
fn room(part: &Part<FanoutCase>, subscriptions: u32) -> Collected<Heard> {
    // A timer may fire once more than expected.
    Collected::new(Heard::by(subscriptions, ticks(part.case.rate, part.time) as usize + 2))
}

impl MultiProcess for FanoutCase {
    const SCENARIO: &'static str = "fanout";

    /// Measures the time inside publish, and until the last subscription is called.
    fn measure(part: &Part<Self>) -> Result<Figures, Error> {
        let (subscriptions, rate) = (one(&part.case.subscriptions), part.case.rate);
        let ticks = ticks(rate, part.time);
        let counts_from = u64::from(warm_up(ticks));
        let (processes, each) = part.case.others();
        let mut others = (0..processes).map(|_| part.start(1)).collect::<Result<Vec<_>, _>>()?;
        let (run, qos) = match part.case.placement {
            Placement::Same => (Run::new()?, QoS::default()),
            Placement::Other | Placement::Each => (part.run(Executor::builder())?, PATIENT),
        };
        let source = run.context.node("source")?;
        let publisher = source.publisher::<Timing>("news").qos(qos).create()?;
        let heard = room(part, subscriptions - processes * each);
        let _listening = listen(&run, subscriptions - processes * each, qos, &heard)?;
        for other in &mut others {
            other.hear::<()>()?;
        }
        matched(&publisher, subscriptions)?;

        let publishing = Collected::new(Samples::with_room_for(ticks as usize + 2));
        let (spent, sent) = (publishing.clone(), publisher.clone());
        let mut number = 0;
        let timer = source.timer(Duration::from_secs_f64(1.0 / rate)).callback(move || {
            number += 1;
            let stamp = now_ns();
            let published = publisher.publish(Timing { stamp, number });
            let time_inside = now_ns() - stamp;
            if number > counts_from {
                spent.with(|spent| spent.record(time_inside));
            }
            published
        })?;
        let mut usage = run.spin_for(part.time)?;
        drop(timer);
        run.drain()?;
        let sent = sent.statistics().published;
        let mut all = if others.is_empty() { vec![heard.with(std::mem::take)] } else { Vec::new() };
        for other in others {
            let (heard, its_usage): (Heard, Usage) = other.finish_after(sent)?;
            all.push(heard);
            usage = usage + its_usage;
        }
        let publish_p50_ns = publishing.with(|publishing| publishing.p50(1));
        Ok(Figures { publish_p50_ns, ..news::figures(&all, counts_from, sent).using(usage) })
    }

    /// Runs its subscriptions.
    fn play(part: &Part<Self>, measuring: Measuring) -> Result<(), Error> {
        let (_, subscriptions) = part.case.others();
        let run = part.run(waiting(part.case.wait.unwrap_or_default()))?;
        let heard = room(part, subscriptions);
        let _listening = listen(&run, subscriptions, PATIENT, &heard)?;
        measuring.tell(&())?;
        let received = heard.clone();
        let usage = run.serve(measuring, move || received.with(|heard| heard.received_by_all()))?;
        measuring.tell(&(heard.with(std::mem::take), usage))
    }
}

/// Creates subscriptions, each of a node of its own.
fn listen(
    run: &Run,
    subscriptions: u32,
    qos: QoS,
    heard: &Collected<Heard>,
) -> sinew::Result<Vec<Subscription<Timing>>> {
    let mut listening = Vec::new();
    for reader in 0..subscriptions as usize {
        let seen = heard.clone();
        let node = run.context.node(&format!("reader_{}_{reader}", std::process::id()))?;
        let subscription = node.subscription::<Timing>("news").qos(qos);
        listening.push(subscription.callback(move |timing: &Timing| {
            let latency = now_ns() - timing.stamp;
            seen.with(|seen| seen.note(reader, timing.number, latency));
        })?);
    }
    Ok(listening)
}
