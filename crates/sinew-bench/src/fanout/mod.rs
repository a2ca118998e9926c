//! Scenario `fanout`: one publisher and many subscriptions, in the same process, in another one, or
//! in one process each.

mod other;
mod same;

use std::time::Duration;

use super::floors::line2;
use super::messages::Timing;
use super::process::Directory;
use super::progress::Progress;
use super::report::{Figures, Row, tenth};
use super::rounds::{Turns, alternate};
use super::run::Collected;
use super::samples::{Samples, median};
use crate::clock::now_ns;
use crate::error::Error;
use crate::machine;
use crate::options::{ExecutorOptions, FanoutOptions, Placement, Wait};
pub(crate) use other::Readers;

/// Measures one row per number of subscriptions; `p50_ns` and so on are times until the last one is
/// called.
pub(super) fn measure(options: &FanoutOptions, progress: &mut Progress) -> Result<Vec<Row>, Error> {
    let turns = options.output.turns_or(5);
    let mut rows = Vec::new();
    if let Some(cores) = machine::two_cores()? {
        let mut floor = |time| line2::round(cores, time);
        let [floor] = alternate(
            progress,
            "line2",
            Turns { time: turns.time.min(Duration::from_secs(1)), ..turns },
            [&mut floor],
        )?;
        rows.push(Row::floor("fanout", "line2", Figures::over(&floor, 2)));
    }
    let &FanoutOptions { placement, rate, .. } = options;
    let directory = match placement {
        Placement::Same => None,
        Placement::Other | Placement::Each => Some(Directory::create()?),
    };
    let wait = options.wait.unwrap_or(Wait::Sleep);
    for &subscriptions in &options.subscriptions {
        let mut publish_p50s = Vec::new();
        let mut ours = |time| {
            let (round, publishing) = match &directory {
                None => same::round(subscriptions, rate, time)?,
                Some(directory) => {
                    let crowd = other::SubscriberCrowd {
                        subscriptions,
                        rate,
                        each: placement == Placement::Each,
                        wait,
                    };
                    directory.round(|path| other::round(path, crowd, time))?
                }
            };
            publish_p50s.extend(publishing.summary(1).map(|summary| summary.p50));
            Ok(round)
        };
        let [ours] = alternate(progress, &format!("fanout to {subscriptions}"), turns, [&mut ours])?;
        let publish_p50_ns = median(publish_p50s).map(tenth);
        let figures = Figures { publish_p50_ns, ..Figures::over(&ours, 1) };
        let row = Row::sinew("fanout", figures).with("subscriptions", subscriptions).with("rate", rate);
        let row = row.with("placement", placement.name()).run_by(ExecutorOptions::default());
        rows.push(match placement {
            Placement::Same => row,
            Placement::Other | Placement::Each => row.with("wait", wait.name()),
        });
    }
    Ok(rows)
}

/// Returns a timer's callback that publishes, and records the time inside publish after the
/// warm-up.
fn on_tick(
    publisher: sinew::Publisher<Timing>,
    spent: Collected<Samples>,
    counts_from: u64,
) -> impl FnMut() -> sinew::Result<()> {
    let mut number = 0;
    move || {
        number += 1;
        let stamp = now_ns();
        let published = publisher.publish(Timing { stamp, number });
        let time_inside = now_ns() - stamp;
        if number > counts_from {
            spent.with(|spent| spent.record(time_inside));
        }
        Ok(published?)
    }
}
