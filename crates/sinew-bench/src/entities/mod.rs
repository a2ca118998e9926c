//! Scenarios `entities`, `matching` and `participant`: the cost of a publisher with its
//! subscription in time and memory, whether many idle ones make a wake-up slower, how long matching
//! takes, and the cost of a process that only takes part.

mod intra;
mod matching;
mod shm;

use std::time::Duration;

use crate::options::{EntitiesCase, MatchingCase, NewKind, ParticipantCase, PathKind};
use crate::{Case, Error, Figures, Ground, Measuring, MultiProcess, Part, one};

impl Case for EntitiesCase {
    fn round(&self, ground: &Ground, time: Duration) -> Result<Figures, Error> {
        ground.measure(self, time)
    }
}

impl MultiProcess for EntitiesCase {
    const SCENARIO: &'static str = "entities";

    fn measure(part: &Part<Self>) -> Result<Figures, Error> {
        match part.case.path {
            PathKind::Intra => part.start(1)?.hear(),
            PathKind::Shm => shm::round(part),
        }
    }

    fn play(part: &Part<Self>, measuring: Measuring) -> Result<(), Error> {
        match part.case.path {
            PathKind::Intra => measuring.tell(&intra::figures(&part.case, part.time)?),
            PathKind::Shm => shm::serve(part, measuring),
        }
    }
}

impl Case for MatchingCase {
    fn round(&self, ground: &Ground, time: Duration) -> Result<Figures, Error> {
        ground.measure(self, time)
    }
}

impl MultiProcess for MatchingCase {
    const SCENARIO: &'static str = "matching";

    fn measure(part: &Part<Self>) -> Result<Figures, Error> {
        match one(&part.case.new) {
            NewKind::Process => matching::new_processes(part),
            NewKind::Entity => matching::new_entities(part),
        }
    }

    fn play(part: &Part<Self>, measuring: Measuring) -> Result<(), Error> {
        match one(&part.case.new) {
            NewKind::Process => matching::join(part, measuring),
            NewKind::Entity => matching::subscribe_as_ordered(part, measuring),
        }
    }
}

impl Case for ParticipantCase {
    fn round(&self, ground: &Ground, _: Duration) -> Result<Figures, Error> {
        ground.round(shm::idle)
    }
}
