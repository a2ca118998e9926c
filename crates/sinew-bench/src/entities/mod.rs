//! Scenario `entities`: the cost of a publisher with its subscription in time and memory, and
//! whether many idle ones make a wake-up slower.

mod intra;
mod matching;
mod shm;

use super::process::Directory;
use super::sheet::Sheet;
use crate::error::Error;
use crate::options::{EntitiesOptions, PathKind};
pub(crate) use intra::IntraCrowd;
pub(crate) use matching::{Known, Newcomer};
pub(crate) use shm::OtherEnds;

/// Measures one row per number of pairs, and some rows that don't depend on the number.
pub(super) fn measure(options: &EntitiesOptions, sheet: &mut Sheet) -> Result<(), Error> {
    match options.path {
        PathKind::Intra => intra::measure(&options.pairs, sheet),
        PathKind::Shm => {
            let directory = Directory::create()?;
            shm::measure(&directory, &options.pairs, sheet)?;
            matching::measure(&directory, sheet)?;
            directory.round(|path| shm::idle(path, sheet))
        }
    }
}
