//! Scenario `entities`: the cost of a publisher with its subscription in time and memory, and
//! whether many idle ones make a wake-up slower.

mod intra;
mod matching;
mod shm;

use super::process::Directory;
use super::progress::Progress;
use super::report::Row;
use crate::error::Error;
use crate::options::{EntitiesOptions, PathKind};
pub(crate) use intra::IntraCrowd;
pub(crate) use matching::{Known, Newcomer};
pub(crate) use shm::OtherEnds;

/// Measures one row per number of pairs, and some rows that don't depend on the number.
pub(super) fn measure(options: &EntitiesOptions, progress: &mut Progress) -> Result<Vec<Row>, Error> {
    let turns = options.output.turns_or(1);
    match options.path {
        PathKind::Intra => intra::measure(&options.pairs, turns, progress),
        PathKind::Shm => {
            let directory = Directory::create()?;
            let mut rows = shm::measure(&directory, &options.pairs, turns, progress)?;
            rows.extend(matching::measure(&directory, turns, progress)?);
            rows.push(directory.round(shm::idle)?);
            Ok(rows)
        }
    }
}
