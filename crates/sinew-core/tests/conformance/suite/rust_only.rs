//! What interfaces of other languages have no word for.

use super::services::echo;
use super::stage::{Setting, Stage};
use super::support::tasks::block_on;
use super::support::{Log, Number, Numbers};
use sinew::prelude::*;
use std::collections::BTreeMap;

const DEEP: QoS = QoS::new().keep_last(10_000);

pub(crate) fn a_chain_of_asynchronous_calls_is_answered(setting: Setting) -> sinew::Result<()> {
    const HOPS: u64 = 12;
    let stage = Stage::in_real_time(setting)?;
    let node = &stage.receiver;
    let mut servers = Vec::new();
    for hop in 0..HOPS {
        let next = node.client::<Numbers>(&format!("hop_{}", hop + 1)).create()?;
        let server = node.server::<Numbers>(&format!("hop_{hop}"));
        servers.push(server.async_callback(move |n: Unique<Number>| {
            let answer = next.call_async(n);
            async move { answer.await.map(|n| Number(n.0 + 1)) }
        })?);
    }
    servers.push(echo(node, &format!("hop_{HOPS}")));
    let client = stage.sender.client::<Numbers>("/hop_0").create()?;
    stage.while_spinning(|| {
        let calls: Vec<_> = (0..50).map(|n| client.call_async(Number(n))).collect();
        for (n, call) in (0..).zip(calls) {
            assert_eq!(block_on(call)?.0, n + HOPS);
        }
        Ok(())
    })
}

pub(crate) fn run_times_add_up(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::in_real_time(setting)?;
    let log = Log::new();
    let _often = stage.listen("often", DEEP, log.pen())?;
    let _seldom = stage.listen("seldom", DEEP, log.pen())?;
    let _never = stage.listen("never", DEEP, log.pen())?;
    let (often, seldom) = (stage.publisher("often")?, stage.publisher("seldom")?);
    (0..500).try_for_each(|number| often.publish(Number(number)))?;
    (0..10).try_for_each(|number| seldom.publish(Number(number)))?;
    stage.collect(&log, 510)?;
    let times = stage.runner.executor().run_times();
    let counts: BTreeMap<_, _> =
        times.iter().map(|times| (times.entity.as_str(), times.histogram.count())).collect();
    assert_eq!(counts.len(), 2, "{counts:?}");
    assert_eq!(counts["subscription to /seldom of node /receiver"], 10);
    // Of short ones, one in eight is measured for all.
    let often = counts["subscription to /often of node /receiver"];
    assert!((493..=500).contains(&often), "{often} of 500");
    Ok(())
}
