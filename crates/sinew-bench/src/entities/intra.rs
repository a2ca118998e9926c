//! Publishers and subscriptions in one process.
//!
//! Each round runs in a process of its own (this program again), so that none includes the memory
//! of another.

use std::time::Duration;

use sinew::QoS;

use crate::messages::Timing;
use crate::options::EntitiesCase;
use crate::pairs;
use crate::{Collected, Figures, Run, Samples, nanoseconds, now_ns, one};

/// Number of samples that a round keeps.
const ROOM: usize = 1 << 16;

/// Returns the cost of the pairs, and the times from a publish to its callback while all other
/// entities are idle.
pub(super) fn figures(case: &EntitiesCase, time: Duration) -> sinew::Result<Figures> {
    let pairs = one(&case.pairs);
    let run = Run::new()?;
    let node = run.context.node("crowd")?;
    let qos = QoS::default().keep_last(10);
    let probe = node.publisher::<Timing>("probe").qos(qos).create()?;
    let latencies = Collected::new(Samples::with_room_for(ROOM));
    let measured = latencies.clone();
    let _probed = node.subscription::<Timing>("probe").qos(qos).callback(move |timing: &Timing| {
        let latency = now_ns() - timing.stamp;
        measured.with(|measured| measured.record(latency));
    })?;
    let topic = |number| if case.one_topic { "crowded".to_owned() } else { format!("topic_{number}") };
    let topics: Vec<String> = (0..pairs).map(topic).collect();
    let pair = |number: u32| -> sinew::Result<_> {
        let topic = topics.get(number as usize).map_or("first", String::as_str);
        let publisher = node.publisher::<Timing>(topic).qos(qos).create()?;
        Ok((publisher, node.subscription::<Timing>(topic).qos(qos).callback(|_: &Timing| ())?))
    };
    let cost = pairs::within(pairs, pair, || {
        let until = now_ns() + nanoseconds(time);
        let mut warm_up = 100;
        while now_ns() < until || warm_up > 0 {
            probe.publish(Timing { stamp: now_ns(), number: 0 })?;
            run.executor.spin_some()?;
            if warm_up > 0 {
                warm_up -= 1;
                if warm_up == 0 {
                    latencies.with(|latencies| *latencies = Samples::with_room_for(ROOM));
                }
            }
        }
        Ok(())
    })?;
    let count = u64::from(pairs);
    let pairs = if case.one_topic { count * count } else { count };
    Ok(cost.figures(pairs, latencies.with(|latencies| Figures::of(latencies, 1))))
}
