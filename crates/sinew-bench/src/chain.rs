//! Scenario `chain`: Source => Relay_0 => ... => Sink. Each is a node, and each hop a topic of its
//! own.

use std::time::Duration;

use sinew::Subscription;
use sinew::time::TimerInfo;

use super::arrivals::Arrivals;
use super::floors::{direct, wake};
use super::messages::Timing;
use super::progress::Progress;
use super::report::{Figures, Row, hundredth, tenth};
use super::rounds::{Round, Turns, alternate, ratio};
use super::run::{Collected, Run};
use super::samples::{Samples, median};
use crate::clock::{compute_until, now_ns};
use crate::error::Error;
use crate::machine;
use crate::options::{ChainOptions, ExecutorOptions};
use crate::pacing::{ticks, warm_up};

/// One chain at one rate.
#[derive(Clone, Copy)]
struct ChainCase {
    executor: ExecutorOptions,
    relays: u32,
    rate: f64,
    /// Time that each relay computes before, and after, it publishes, in nanoseconds.
    work_before_ns: i64,
    work_after_ns: i64,
}

impl ChainCase {
    fn hops(self) -> u32 {
        self.relays + 1
    }

    fn row(self, row: Row, options: &ChainOptions) -> Row {
        row.with("relays", self.relays)
            .with("rate", self.rate)
            .with("work_before_us", options.work_before)
            .with("work_after_us", options.work_after)
    }

    /// Returns the mean time of a hop if relays keep their thread busy after they have published
    /// and nothing else takes any time: a thread that has relayed is free again when its work is
    /// done.
    fn allowed_by_threads_ns(self) -> f64 {
        let turns = self.relays / self.executor.threads();
        f64::from(turns) * self.work_after_ns as f64 / f64::from(self.hops())
    }
}

/// Measures one row per rate, beside the same chain as direct calls or, if relays work afterwards,
/// beside waking another process.
pub(super) fn measure(options: &ChainOptions, progress: &mut Progress) -> Result<Vec<Row>, Error> {
    let mut rows = Vec::new();
    for &rate in &options.rates {
        let case = ChainCase {
            executor: options.executor,
            relays: options.relays,
            rate,
            work_before_ns: i64::from(options.work_before) * 1000,
            work_after_ns: i64::from(options.work_after) * 1000,
        };
        let turns = options.output.turns_or(10);
        let measured = if case.work_after_ns == 0 {
            beside_direct_calls(case, turns, progress)?
        } else {
            beside_wake_ups(case, turns, progress)?
        };
        rows.extend(measured.into_iter().map(|row| case.row(row, options)));
    }
    Ok(rows)
}

fn beside_direct_calls(case: ChainCase, turns: Turns, progress: &mut Progress) -> Result<Vec<Row>, Error> {
    let ChainCase { relays, rate, .. } = case;
    let hops = case.hops();
    let mut floor = |time| direct::round(relays, rate, time);
    let mut due_p50s = Vec::new();
    let mut ours = |time| {
        let Chained { round, due, .. } = round(case, time)?;
        due_p50s.extend(due.summary(1).map(|summary| summary.p50));
        Ok(round)
    };
    let sides = [&mut floor as _, &mut ours as _];
    let [floor, ours] = alternate(progress, &format!("chain of {relays} relays at {rate} Hz"), turns, sides)?;
    let figures = Figures {
        floor_ratio: ratio(&ours, hops, &floor, hops).map(hundredth),
        due_p50_ns: median(due_p50s).map(tenth),
        ..Figures::over(&ours, hops)
    };
    Ok(vec![
        Row::floor("chain", "direct", Figures::over(&floor, hops)),
        Row::sinew("chain", figures).run_by(case.executor),
    ])
}

fn beside_wake_ups(case: ChainCase, turns: Turns, progress: &mut Progress) -> Result<Vec<Row>, Error> {
    let what = format!("chain of {} relays that work on, at {} Hz", case.relays, case.rate);
    let mut per_hop = Vec::new();
    let mut ours = |time| {
        let Chained { round, between, .. } = round(case, time)?;
        per_hop.extend(round.samples.summary(case.hops()).map(|summary| summary.p50));
        Ok(Round { samples: between, ..round })
    };
    let mut rows = Vec::new();
    let (ours, floor_ratio) = match machine::two_cores()? {
        Some(cores) => {
            let mut floor = |time| wake::round(cores, Some(case.rate), time);
            let [floor, ours] = alternate(progress, &what, turns, [&mut floor as _, &mut ours as _])?;
            rows.push(Row::floor("chain", "wake", Figures::over(&floor, 2)));
            let floor_ratio = ratio(&ours, 1, &floor, 2).map(hundredth);
            (ours, floor_ratio)
        }
        None => {
            progress.note("the floor wake needs two cores and this process may use one");
            let [ours] = alternate(progress, &what, turns, [&mut ours])?;
            (ours, None)
        }
    };
    let per_hop_p50 = median(per_hop);
    let allowed = case.allowed_by_threads_ns();
    // With work before publishing, the sum is different; without any wait for a thread there is
    // nothing to compare.
    let comparable = allowed > 0.0 && case.work_before_ns == 0;
    let figures = Figures {
        floor_ratio,
        per_hop_p50_ns: per_hop_p50.map(tenth),
        per_hop_ratio: per_hop_p50.filter(|_| comparable).map(|per_hop| hundredth(per_hop / allowed)),
        ..Figures::over(&ours, 1)
    };
    if comparable {
        let figures = Figures { per_hop_p50_ns: Some(tenth(allowed)), ..Figures::default() };
        rows.push(Row::floor("chain", "threads", figures).with("threads", case.executor.threads()));
    }
    rows.push(Row::sinew("chain", figures).run_by(case.executor));
    Ok(rows)
}

/// Two times per message (0 for never), which are evaluated afterwards: when a relay was called and
/// when it published, or when the source's tick was due and when the sink was called.
type Times = Collected<Vec<[i64; 2]>>;

/// Returns room for this many messages, with every page touched.
fn times(messages: usize) -> Times {
    let mut times = vec![[1; 2]; messages];
    times.fill([0; 2]);
    Times::new(times)
}

/// The measurements of one round.
struct Chained {
    /// Its samples are the times from the source's publish to the sink's start, minus the work
    /// before publishing.
    round: Round,
    /// If work follows: from a relay's publish to the start of the next one or of the sink.
    between: Samples,
    /// From the time at which the source's tick was due to the sink.
    due: Samples,
}

/// Measures one round.
fn round(case: ChainCase, time: Duration) -> sinew::Result<Chained> {
    let ChainCase { relays, rate, .. } = case;
    let ticks = ticks(rate, time);
    let counts_from = u64::from(warm_up(ticks));
    let room = ticks as usize + 1;
    let run = Run::by(case.executor)?;

    let source = run.context.node("source")?;
    let first = source.publisher::<Timing>("hop_0").create()?;
    let sent = first.clone();
    let ends = times(room);
    let ticked = ends.clone();
    let mut number = 0;
    let timer = source.timer(Duration::from_secs_f64(1.0 / rate)).callback(move |info: &TimerInfo| {
        number += 1;
        note(&ticked, number, |[due, _]| *due = info.due().nanoseconds());
        first.publish(Timing { stamp: now_ns(), number })
    })?;

    let logged = if case.work_after_ns > 0 { room } else { 0 };
    let log: Vec<Times> = (0..relays).map(|_| times(logged)).collect();
    let relayed = (0..relays)
        .zip(&log)
        .map(|(hop, times)| relay(&run, case, hop, times))
        .collect::<Result<Vec<_>, _>>()?;

    let arrivals = Collected::new(Arrivals::after(counts_from, room));
    let (seen, sunk) = (arrivals.clone(), ends.clone());
    let work_ns = i64::from(relays) * case.work_before_ns;
    let sink = run.context.node("sink")?;
    let _sink = sink.subscription::<Timing>(&format!("hop_{relays}")).callback(move |timing: &Timing| {
        let now = now_ns();
        seen.with(|seen| seen.note(timing.number, now - timing.stamp - work_ns));
        note(&sunk, timing.number, |[_, called]| *called = now);
    })?;

    let usage = run.spin_for(time)?;
    drop(timer);
    run.drain()?;
    drop(relayed);
    let sent = sent.statistics().published;
    let ends = ends.with(std::mem::take);
    let called: Vec<i64> = ends.iter().map(|[_, called]| *called).collect();
    let mut due = Samples::with_room_for(room);
    for [due_ns, called] in ends.iter().skip(warm_up(ticks) as usize).filter(|[_, called]| *called > 0) {
        due.record(called - due_ns);
    }
    let round = arrivals.with(std::mem::take).round(sent, usage);
    Ok(Chained { round, between: between(&log, &called, counts_from), due })
}

/// Creates a node that passes messages on, and computes before or after that.
fn relay(run: &Run, case: ChainCase, hop: u32, times: &Times) -> sinew::Result<Subscription<Timing>> {
    let node = run.context.node(&format!("relay_{hop}"))?;
    let next = node.publisher::<Timing>(&format!("hop_{}", hop + 1)).create()?;
    let subscription = node.subscription::<Timing>(&format!("hop_{hop}"));
    let ChainCase { work_before_ns, work_after_ns, .. } = case;
    if work_before_ns == 0 && work_after_ns == 0 {
        return Ok(subscription.callback(move |timing: &Timing| next.publish(*timing))?);
    }
    let times = times.clone();
    let working = subscription.callback(move |timing: &Timing| {
        let called = now_ns();
        compute_until(called + work_before_ns);
        let published = now_ns();
        let outcome = next.publish(*timing);
        note(&times, timing.number, |entry| *entry = [called, published]);
        if work_after_ns > 0 {
            compute_until(now_ns() + work_after_ns);
        }
        outcome
    })?;
    Ok(working)
}

/// Records a time of a message: they are numbered from 1.
fn note(times: &Times, number: u64, note: impl FnOnce(&mut [i64; 2])) {
    let place = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
    times.with(|times| place.and_then(|place| times.get_mut(place)).map(note));
}

/// Returns the times from each relay's publish to the start of the next one, or of the sink, for
/// all messages after the warm-up.
fn between(log: &[Times], sink: &[i64], counts_from: u64) -> Samples {
    let warm_up = usize::try_from(counts_from).unwrap_or(usize::MAX);
    let mut samples = Samples::with_room_for(log.len() * sink.len().saturating_sub(warm_up));
    for (hop, times) in log.iter().enumerate() {
        let next_called = |index: usize| match log.get(hop + 1) {
            Some(next) => next.with(|times| times[index][0]),
            None => sink[index],
        };
        let published = times.with(|times| times.iter().map(|[_, published]| *published).collect::<Vec<_>>());
        for (index, published) in published.into_iter().enumerate().skip(warm_up) {
            let called = next_called(index);
            if published > 0 && called > 0 {
                samples.record(called - published);
            }
        }
    }
    samples
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(relays: u32) -> ChainCase {
        ChainCase {
            executor: ExecutorOptions::default(),
            relays,
            rate: 1000.0,
            work_before_ns: 0,
            work_after_ns: 0,
        }
    }

    #[test]
    fn every_message_arrives_in_order() {
        for executor in [ExecutorOptions::default(), ExecutorOptions::multi(2)] {
            let case = ChainCase { executor, ..case(3) };
            let Chained { round, between, due } = round(case, Duration::from_millis(50)).unwrap();
            assert!(round.messages > 0);
            assert_eq!((round.lost, round.reordered, between.recorded()), (0, 0, 0));
            assert_eq!(due.recorded(), round.messages);
        }
    }

    #[test]
    fn work_after_publishing_is_measured_between_the_relays() {
        let case = ChainCase { rate: 200.0, work_after_ns: 100_000, ..case(3) };
        let Chained { round, between, .. } = round(case, Duration::from_millis(100)).unwrap();
        assert!(round.messages > 0);
        assert_eq!((round.lost, between.recorded()), (0, 3 * round.messages));
        let single = between.summary(1).unwrap();
        assert!(single.p50 >= 100_000.0, "one thread is busy that long: {single:?}");
    }

    #[test]
    fn what_threads_allow() {
        let case = ChainCase { work_after_ns: 200_000, ..case(10) };
        assert_eq!(case.allowed_by_threads_ns().round(), 181_818.0);
        assert_eq!(
            ChainCase { executor: ExecutorOptions::multi(2), ..case }.allowed_by_threads_ns().round(),
            90_909.0
        );
        assert_eq!(
            ChainCase { relays: 1, executor: ExecutorOptions::multi(2), ..case }.allowed_by_threads_ns(),
            0.0
        );
    }

    #[test]
    fn only_hops_that_were_made_count() {
        let log = [times(4), times(4)];
        log[0].with(|times| times.copy_from_slice(&[[1, 2], [10, 12], [20, 22], [30, 32]]));
        log[1].with(|times| times.copy_from_slice(&[[3, 4], [15, 16], [0, 0], [40, 41]]));
        let samples = between(&log, &[5, 18, 0, 0], 1);
        assert_eq!(samples.recorded(), 3, "12 to 15, 32 to 40, 16 to 18");
        assert_eq!(samples.summary(1).unwrap().p50, 3.0);
    }
}
