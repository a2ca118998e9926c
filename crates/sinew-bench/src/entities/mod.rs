//! Scenarios `entities`, `matching` and `participant`: the cost of a publisher with its subscription
//! in time and memory, whether many idle ones make a wake-up slower, how long matching takes, and
//! the cost of a process that only takes part.

mod intra;
mod matching;
mod shm;

use std::time::Duration;

use crate::case::{Case, Ground, one};
use crate::error::Error;
use crate::machine;
use crate::options::{EntitiesCase, MatchingCase, NewKind, ParticipantCase, PathKind};
use crate::report::Figures;
pub(crate) use intra::IntraCrowd;
pub(crate) use matching::{Known, Newcomer};
pub(crate) use shm::OtherEnds;

impl Case for EntitiesCase {
    fn round(&self, ground: &Ground, time: Duration) -> Result<Figures, Error> {
        let pairs = one(&self.pairs);
        match self.path {
            PathKind::Intra => IntraCrowd::new(pairs, self.one_topic, time).measured(),
            PathKind::Shm => {
                let cores = machine::two_cores()?;
                ground.round(|path| shm::round(path, pairs, cores, time))
            }
        }
    }
}

impl Case for MatchingCase {
    fn round(&self, ground: &Ground, time: Duration) -> Result<Figures, Error> {
        ground.round(|path| match one(&self.new) {
            NewKind::Process => matching::new_processes(path, time),
            NewKind::Entity => matching::new_entities(path, time),
        })
    }
}

impl Case for ParticipantCase {
    fn round(&self, ground: &Ground, _: Duration) -> Result<Figures, Error> {
        ground.round(shm::idle)
    }
}
