//! Measures the requested cases.

use std::path::Path;

use clap::ValueEnum as _;

use super::{calls, chain, idle, messages, others};
use crate::options::{NetCase, NetOptions};
use crate::{Directory, Error, Sheet};

/// Measures the requested cases.
pub(crate) fn measure(options: &NetOptions, sheet: &mut Sheet) -> Result<(), Error> {
    let directory = Directory::create()?;
    let cases = match &options.cases[..] {
        [] => NetCase::value_variants(),
        cases => cases,
    };
    for case in cases {
        directory.round(|path| measure_case(*case, path, &options.topology, sheet))?;
    }
    Ok(())
}

fn measure_case(case: NetCase, path: &Path, topology: &str, sheet: &mut Sheet) -> Result<(), Error> {
    match case {
        NetCase::Latency => messages::latency(path, sheet),
        NetCase::Throughput => messages::throughput(path, sheet),
        NetCase::Service => calls::measure(path, sheet),
        NetCase::Chain => chain::measure(path, sheet),
        NetCase::Idle => idle::measure(path, topology, sheet),
        NetCase::Others => others::measure(path, sheet),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    use crate::progress::Progress;
    use crate::rounds::Turns;

    #[test]
    fn each_case_has_its_rows_and_loses_nothing() {
        let turns = Turns { time: Duration::from_millis(60), rounds: 2 };
        // Only the cases in one process: a test program can't play the role of a gateway's process.
        for case in [NetCase::Service, NetCase::Chain, NetCase::Others] {
            let place = tempfile::tempdir_in("/dev/shm").unwrap();
            let mut sheet = Sheet::new("net", turns, Progress::silent());
            measure_case(case, place.path(), "", &mut sheet).unwrap();
            let (rows, _) = sheet.into_results();
            assert_eq!(rows.len(), 2, "{case:?}");
            for figures in rows.iter().map(|row| &row.figures) {
                assert!(figures.messages.is_some_and(|messages| messages > 0));
                assert_eq!((figures.lost, figures.copies.unwrap_or(0)), (Some(0), 0), "{case:?}");
            }
        }
    }
}
