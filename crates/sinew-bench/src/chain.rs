//! Scenario `chain`: Source => Relay_0 => ... => Sink. Each is a node, and each hop a topic of its
//! own.

use std::time::Duration;

use sinew::Subscription;
use sinew::time::TimerInfo;

use super::messages::Timing;
use crate::clock::compute_until;
use crate::options::ChainCase;
use crate::{
    Arrivals, Case, Collected, Error, Figures, Floor, Ground, Run, Samples, now_ns, one, ticks, warm_up,
};

impl ChainCase {
    fn hops(&self) -> u32 {
        self.relays + 1
    }

    /// Returns the mean time of a hop if relays keep their thread busy after they have published
    /// and nothing else takes any time: a thread that has relayed is free again when its work is
    /// done. `None` if no relay waits for a thread or, with work before publishing, the sum is
    /// different.
    fn allowed_by_threads_ns(&self) -> Option<f64> {
        let turns = self.relays / self.executor.threads();
        let allowed = f64::from(turns) * 1000.0 * f64::from(self.work_after_us) / f64::from(self.hops());
        (allowed > 0.0 && self.work_before_us == 0).then_some(allowed)
    }
}

/// Measured beside the same chain as direct calls or, if relays work afterwards, beside waking
/// another process.
impl Case for ChainCase {
    fn floors(&self) -> Result<Vec<Floor>, Error> {
        if self.work_after_us == 0 {
            return Ok(vec![Floor::direct(self.relays, one(&self.rate))]);
        }
        let per_hop_p50_ns = self.allowed_by_threads_ns();
        let allowed = move |_| Ok(Figures { per_hop_p50_ns, ..Figures::default() });
        let threads = per_hop_p50_ns.map(|_| Floor::new("threads", allowed));
        Ok(threads.into_iter().chain([Floor::wake(Some(one(&self.rate)))]).collect())
    }

    fn round(&self, _: &Ground, time: Duration) -> Result<Figures, Error> {
        Ok(round(self, time)?.figures(self))
    }
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
    /// Their times are those from the source's publish to the sink's start per hop, without the
    /// work before publishing.
    figures: Figures,
    /// If work follows: from a relay's publish to the start of the next one or of the sink.
    between: Samples,
    /// From the time at which the source's tick was due to the sink.
    due: Samples,
}

impl Chained {
    fn figures(self, case: &ChainCase) -> Figures {
        let Self { figures, between, due } = self;
        if case.work_after_us == 0 {
            return figures.since_due(&due);
        }
        let per_hop_p50_ns = figures.p50_ns;
        let allowed = case.allowed_by_threads_ns();
        let per_hop_ratio = per_hop_p50_ns.and_then(|per_hop| Some(per_hop / allowed?));
        Figures { per_hop_p50_ns, per_hop_ratio, ..figures.timed(between.summary(1)) }
    }
}

/// Measures one round.
fn round(case: &ChainCase, time: Duration) -> sinew::Result<Chained> {
    let (relays, rate) = (case.relays, one(&case.rate));
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

    let logged = if case.work_after_us > 0 { room } else { 0 };
    let log: Vec<Times> = (0..relays).map(|_| times(logged)).collect();
    let relayed = (0..relays)
        .zip(&log)
        .map(|(hop, times)| relay(&run, case, hop, times))
        .collect::<Result<Vec<_>, _>>()?;

    let arrivals = Collected::new(Arrivals::after(counts_from, room));
    let (seen, sunk) = (arrivals.clone(), ends.clone());
    let work_ns = i64::from(relays) * ns(case.work_before_us);
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
    let figures = arrivals.with(|arrivals| arrivals.figures(case.hops(), sent, usage));
    Ok(Chained { figures, between: between(&log, &called, counts_from), due })
}

fn ns(us: u32) -> i64 {
    i64::from(us) * 1000
}

/// Creates a node that passes messages on, and computes before or after that.
fn relay(run: &Run, case: &ChainCase, hop: u32, times: &Times) -> sinew::Result<Subscription<Timing>> {
    let node = run.context.node(&format!("relay_{hop}"))?;
    let next = node.publisher::<Timing>(&format!("hop_{}", hop + 1)).create()?;
    let subscription = node.subscription::<Timing>(&format!("hop_{hop}"));
    let (work_before_ns, work_after_ns) = (ns(case.work_before_us), ns(case.work_after_us));
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
    use crate::options::ExecutorOptions;

    fn case(relays: u32) -> ChainCase {
        ChainCase {
            executor: ExecutorOptions::default(),
            relays,
            rate: vec![1000.0],
            work_before_us: 0,
            work_after_us: 0,
        }
    }

    #[test]
    fn work_after_publishing_is_measured_between_the_relays() {
        let case = ChainCase { rate: vec![200.0], work_after_us: 100, ..case(3) };
        let Chained { figures, between, .. } = round(&case, Duration::from_millis(100)).unwrap();
        assert!(figures.messages > Some(0));
        assert_eq!(
            (figures.lost, Some(between.recorded())),
            (Some(0), figures.messages.map(|count| 3 * count))
        );
        assert!(between.p50(1) >= Some(100_000.0), "one thread is busy that long: {between:?}");
    }

    #[test]
    fn what_threads_allow() {
        let case = |relays| ChainCase { work_after_us: 200, ..case(relays) };
        let two_threads = |relays| ChainCase { executor: ExecutorOptions::multi(2), ..case(relays) };
        let allowed = |case: ChainCase| case.allowed_by_threads_ns().map(f64::round);
        assert_eq!((allowed(case(10)), allowed(two_threads(10))), (Some(181_818.0), Some(90_909.0)));
        assert_eq!(allowed(two_threads(1)), None);
        assert_eq!(allowed(ChainCase { work_before_us: 1, ..case(10) }), None);
    }

    #[test]
    fn only_hops_that_were_made_count() {
        let log = [times(4), times(4)];
        log[0].with(|times| times.copy_from_slice(&[[1, 2], [10, 12], [20, 22], [30, 32]]));
        log[1].with(|times| times.copy_from_slice(&[[3, 4], [15, 16], [0, 0], [40, 41]]));
        let samples = between(&log, &[5, 18, 0, 0], 1);
        assert_eq!(samples.recorded(), 3, "12 to 15, 32 to 40, 16 to 18");
        assert_eq!(samples.p50(1), Some(3.0));
    }
}
