//! The parts of several processes in a round: each gets the case, and does its part in it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sinew::Context;
use sinew::executor::ExecutorBuilder;
use sinew_shm::Domain;
use sinew_shm::raw::Space;

use crate::machine;
use crate::{Case, Error, Figures, Ground, Measuring, Process, Run, Work, shared_context};

/// A case of several processes.
pub(crate) trait MultiProcess: Case + Clone + DeserializeOwned + Serialize + Sync {
    /// The scenario's name, for messages.
    const SCENARIO: &'static str;

    /// Measures one round, with [`Part::start`] for the other processes.
    fn measure(part: &Part<Self>) -> Result<Figures, Error>;

    /// In another process: does its part until the measuring process ends the round.
    fn play(part: &Part<Self>, measuring: Measuring) -> Result<(), Error>;
}

/// One process's part in a round.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Part<C> {
    pub(crate) case: C,
    /// The directory in which the processes meet.
    directory: PathBuf,
    /// Duration of the round, including warm-up.
    pub(crate) time: Duration,
    /// The process: 0 is the one that measures.
    pub(crate) process: u32,
    /// Two cores, if this machine allows them.
    cores: Option<(usize, usize)>,
}

impl<C: MultiProcess> Part<C> {
    /// Returns the measuring process's part. Fails if the case needs two cores and there is one.
    pub(crate) fn new(case: &C, directory: &Path, time: Duration) -> Result<Self, Error> {
        let cores = machine::two_cores()?;
        if cores.is_none() && case.needs_two_cores() {
            return Err(Error::OneCore);
        }
        Ok(Self { case: case.clone(), directory: directory.to_owned(), time, process: 0, cores })
    }

    /// Starts another process, which runs [`MultiProcess::play`].
    pub(crate) fn start(&self, process: u32) -> Result<Process, Error> {
        Process::start(&Self { process, ..self.clone() })
    }

    /// Pins the calling thread to its process's core, if there are two: even processes have the
    /// first. The context's own threads, which exist by then, are not pinned.
    pub(crate) fn pin(&self) -> Result<(), Error> {
        let core = |(even, odd)| if self.process.is_multiple_of(2) { even } else { odd };
        self.cores.map_or(Ok(()), |cores| machine::pin_to(core(cores)))
    }

    /// Creates a context that the other processes reach.
    pub(crate) fn context(&self) -> sinew::Result<Context> {
        shared_context(&self.directory)
    }

    /// Joins a space of the raw layer that the other processes reach.
    pub(crate) fn space(&self) -> Result<Space, Error> {
        let domain = Domain::open(Some(&self.directory), 0).map_err(Error::measured)?;
        Space::join(&domain).map_err(Error::measured)
    }

    /// Makes a run with nodes that the other processes reach.
    pub(crate) fn run(&self, executor: ExecutorBuilder) -> sinew::Result<Run> {
        Run::of(self.context()?, executor)
    }

    /// Bytes of the files in the directory in which the processes meet.
    pub(crate) fn bytes(&self) -> Result<i64, Error> {
        Ok(machine::bytes_in(&self.directory)?.cast_signed())
    }
}

impl<C: MultiProcess> Work for Part<C> {
    fn scenario(&self) -> &'static str {
        C::SCENARIO
    }

    fn play(&self, measuring: Measuring) -> Result<(), Error> {
        C::play(self, measuring)
    }
}

impl Ground {
    /// Measures a round of several processes.
    pub(crate) fn measure(&self, case: &impl MultiProcess, time: Duration) -> Result<Figures, Error> {
        self.round(|directory| MultiProcess::measure(&Part::new(case, directory, time)?))
    }
}
