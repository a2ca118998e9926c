//! The publishers in one process, the subscriptions in another.

use std::path::Path;

use sinew::QoS;

use crate::machine::{self, Own};
use crate::messages::Timing;
use crate::options::{EntitiesCase, Wait};
use crate::pairs::Cost;
use crate::process::PATIENCE;
use crate::{
    Error, Figures, Measuring, Part, Samples, Sequence, Window, matched, nanoseconds, now_ns, one,
    shared_context, sleep_until, waiting,
};

/// Number of samples that a round keeps.
const ROOM: usize = 1 << 18;

/// Number of participants without activity, with one node each.
const IDLE: u32 = 8;

/// Measures the memory of an idle participant, including its thread's stack.
pub(super) fn idle(directory: &Path) -> Result<Figures, Error> {
    let idle = || -> Result<_, Error> {
        let context = shared_context(directory)?;
        let node = context.node("idle")?;
        Ok((context, node))
    };
    let files = || Ok::<_, Error>(machine::bytes_in(directory)?.cast_signed());
    let bytes = || Ok::<_, Error>(Own::now().bytes + files()?);
    let _first = idle()?; // memory that is allocated once doesn't count
    let before = bytes()?;
    let all = (0..IDLE).map(|_| idle()).collect::<Result<Vec<_>, _>>()?;
    // Until all participants know each other.
    sleep_until(now_ns() + 500_000_000);
    let each = (bytes()? - before) / i64::from(IDLE);
    drop(all);
    Ok(Figures { rss_bytes: u64::try_from(each).ok(), ..Figures::default() })
}

fn qos() -> QoS {
    QoS::default().keep_last(10)
}

fn topic(number: u32) -> String {
    format!("topic_{number}")
}

/// Measures one round: the cost of the pairs, from the order to create until the last publisher
/// matches its subscription, with both processes' unshared memory and the files in the directory;
/// and the times from a publish to its callback in the other process, which spins, while all other
/// entities are idle.
pub(super) fn round(part: &Part<EntitiesCase>) -> Result<Figures, Error> {
    let pairs = one(&part.case.pairs);
    let mut other = part.start(1)?;
    let run = part.run(waiting(Wait::Sleep))?;
    let node = run.context.node("publishers")?;
    // Memory that is allocated once, with the first entities, doesn't count.
    let probe = node.publisher::<Timing>("probe").create()?;
    let echoes = node.subscription::<Timing>("echo").create()?;
    other.hear::<()>()?;
    matched(&probe, 1)?;
    let topics: Vec<String> = (0..pairs).map(topic).collect();
    let mut publishers = Vec::with_capacity(topics.len());

    let (files, before) = (part.bytes()?, Own::now());
    let start = now_ns();
    other.order(&())?;
    for topic in &topics {
        publishers.push(node.publisher::<Timing>(topic).qos(qos()).create()?);
    }
    publishers.iter().try_for_each(|publisher| matched(publisher, 1))?;
    let create_ns = now_ns() - start;
    let mut own = Own::since(before) + other.hear()?;
    own.bytes += part.bytes()? - files;

    part.pin()?;
    let window = Window::of(part.time);
    let mut samples = Samples::with_room_for(ROOM);
    let mut sequence = Sequence::default();
    for number in 1.. {
        let sent = now_ns();
        probe.publish(Timing { stamp: sent, number }).map_err(sinew::Error::from)?;
        let until = sent + nanoseconds(PATIENCE);
        // The echo's stamp is the time of the callback.
        let echo = loop {
            match echoes.take() {
                Some((echo, _)) => break *echo,
                None if now_ns() > until => {
                    return Err(Error::PeerSilent { what: "entities", waited: PATIENCE });
                }
                None => std::hint::spin_loop(),
            }
        };
        sequence.note(echo.number);
        window.record(sent, echo.stamp - sent, &mut samples);
        if window.is_over(sent, &samples) {
            other.finish::<()>()?;
            let figures = Figures::of(&samples, 1).faulty(sequence.lost(number), sequence.reordered);
            return Ok(Cost { create_ns, destroy_ns: None, own }.figures(pairs.into(), figures));
        }
    }
    unreachable!("there are more numbers than time")
}

/// In the other process: creates its subscriptions when ordered to, and answers probes with the
/// time at which they came.
pub(super) fn serve(part: &Part<EntitiesCase>, measuring: Measuring) -> Result<(), Error> {
    let run = part.run(waiting(Wait::Spin))?;
    let node = run.context.node("subscriptions")?;
    let echo = node.publisher::<Timing>("echo").create()?;
    let echoes = echo.clone();
    let _probes = node
        .subscription::<Timing>("probe")
        .callback(move |probe: &Timing| echoes.publish(Timing { stamp: now_ns(), number: probe.number }))?;
    matched(&echo, 1)?;
    let topics: Vec<String> = (0..one(&part.case.pairs)).map(topic).collect();
    let mut subscriptions = Vec::with_capacity(topics.len());
    let before = Own::now();
    measuring.tell(&())?;
    measuring.order::<()>()?;
    for topic in &topics {
        subscriptions.push(node.subscription::<Timing>(topic).qos(qos()).callback(|_: &Timing| ())?);
    }
    // Subscriptions that the other process sees as matched may not be matched here yet: memory
    // is counted when all are.
    let until = now_ns() + nanoseconds(PATIENCE / 2);
    while subscriptions.iter().any(|subscription| subscription.publisher_count() == 0) && now_ns() < until {
        sleep_until(now_ns() + 1_000_000);
    }
    measuring.tell(&Own::since(before))?;
    part.pin()?;
    run.serve(measuring, || 0)?;
    measuring.tell(&())
}
