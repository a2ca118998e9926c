//! Measures the requested cases.

use std::path::Path;

use clap::ValueEnum as _;

use super::{calls, chain, idle, messages, others};
use crate::error::Error;
use crate::options::{NetCase, NetOptions};
use crate::process::Directory;
use crate::progress::Progress;
use crate::report::Row;
use crate::rounds::Turns;

/// Rows of the requested cases.
pub(crate) fn measure(options: &NetOptions, progress: &mut Progress) -> Result<Vec<Row>, Error> {
    let directory = Directory::create()?;
    let cases = match &options.cases[..] {
        [] => NetCase::value_variants(),
        cases => cases,
    };
    let turns = options.output.turns_or(10);
    let mut rows = Vec::new();
    for case in cases {
        rows.extend(directory.round(|path| measure_case(*case, path, turns, options, progress))?);
    }
    Ok(rows)
}

fn measure_case(
    case: NetCase,
    path: &Path,
    turns: Turns,
    options: &NetOptions,
    progress: &mut Progress,
) -> Result<Vec<Row>, Error> {
    match case {
        NetCase::Latency => messages::latency(path, turns, progress),
        NetCase::Throughput => messages::throughput(path, turns, progress),
        NetCase::Service => calls::measure(path, turns, progress),
        NetCase::Chain => chain::measure(path, turns, progress),
        NetCase::Idle => idle::measure(path, turns, &options.topology, progress),
        NetCase::Others => others::measure(path, turns, progress),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn each_case_has_its_rows_and_loses_nothing() {
        let turns = Turns { time: Duration::from_millis(60), rounds: 2 };
        // Only the cases in one process: a test program can't play the role of a gateway's process.
        for (case, count) in [(NetCase::Service, 2), (NetCase::Chain, 2), (NetCase::Others, 2)] {
            let place = tempfile::tempdir_in("/dev/shm").unwrap();
            let mut progress = Progress::silent();
            let rows = match case {
                NetCase::Service => calls::measure(place.path(), turns, &mut progress),
                NetCase::Chain => chain::measure(place.path(), turns, &mut progress),
                _ => others::measure(place.path(), turns, &mut progress),
            };
            let rows = rows.unwrap();
            assert_eq!(rows.len(), count, "{case:?}");
            for Row { figures, .. } in &rows {
                assert!(figures.messages.is_some_and(|messages| messages > 0));
                assert_eq!((figures.lost, figures.copies.unwrap_or(0)), (Some(0), 0), "{case:?}");
            }
        }
    }
}
