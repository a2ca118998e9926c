//! The cost of a listener on another host for topics that it doesn't listen to.

use std::path::Path;
use std::time::Duration;

use sinew::{Publisher, Subscription};

use super::hosts::{Gateways, Host, Network};
use crate::messages::Stamped;
use crate::{Error, Figures, Samples, Settings, Sheet, Side, Window, matched, now_ns, unmatched};

/// Number of topics of the host, each with a listener of its own.
const TOPICS: u32 = 20;

/// Publishes of each topic, in turn, for a sample.
const TIMES: u32 = 10;

/// A sample is the time of this many publishes.
const PARTS: u32 = (TOPICS - 1) * TIMES;

/// Number of samples that are kept.
const ROOM: usize = 1 << 16;

/// Measures the time of a publish on a topic without a listener on another host, without and with a
/// host that listens to another topic. `copies` counts the messages of these topics that gateways
/// and encodings handled.
pub(super) fn measure(path: &Path, sheet: &mut Sheet) -> Result<(), Error> {
    let network = Network::new()?;
    let [near, far] = Host::pair(&network, path, Gateways::Embedded)?;
    let node = near.context.node("robot")?;
    let mut ends: Vec<(Publisher<Stamped>, Subscription<Stamped>)> = Vec::new();
    for number in 0..TOPICS {
        let name = format!("topic{number}");
        ends.push((node.publisher(&name).create()?, node.subscription(&name).create()?));
    }
    let there = far.context.node("viewer")?;
    let (watched, others) = ends.split_first().ok_or(Error::NotOurPeer)?;
    let alone = |time| {
        unmatched(&watched.0, 1)?;
        publish(&near, others, time)
    };
    let listened_to = |time| {
        let viewer = there.subscription::<Stamped>("topic0").create()?;
        matched(&watched.0, 2)?;
        let figures = publish(&near, others, time);
        drop(viewer);
        figures
    };
    let case = Settings::new().with("case", "others").with("topics", TOPICS);
    let sides = vec![Side::floor("alone", case.clone(), alone), Side::sinew(case, listened_to)];
    sheet.measure("a publish that no other host hears", sides)
}

fn publish(
    host: &Host,
    others: &[(Publisher<Stamped>, Subscription<Stamped>)],
    time: Duration,
) -> Result<Figures, Error> {
    let touched = || {
        let of_publisher = |publisher: &Publisher<Stamped>| {
            let statistics = publisher.statistics();
            statistics.copies + statistics.encodings
        };
        host.touched() + others.iter().map(|(publisher, _)| of_publisher(publisher)).sum::<u64>()
    };
    let before = touched();
    let mut samples = Samples::with_room_for(ROOM);
    let window = Window::of(time);
    loop {
        let begin = now_ns();
        for _ in 0..TIMES {
            for (publisher, _) in others {
                publisher.publish(publisher.loan()).map_err(sinew::Error::from)?;
            }
        }
        let end = now_ns();
        window.record(begin, end - begin, &mut samples);
        if window.is_over(end, &samples) {
            break;
        }
    }
    let copies = Some(touched() - before);
    Ok(Figures { copies, ..Figures::of(&samples, PARTS) })
}
