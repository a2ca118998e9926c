//! A measured case is data: its scenario, and the value of each option. A scenario adds what is
//! particular to it: the floors beside a case, and how a round of it is measured; turns, rows and
//! the report are the same for all.

use std::cell::OnceCell;
use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::options::{AnyScenario, Scenario};
use crate::{Directory, Error, Figures, Floor, Settings};

/// A case of a scenario.
pub(crate) trait Case {
    /// Returns the machine's floors beside it, which take turns with it; its ratios are to the last
    /// one.
    fn floors(&self) -> Result<Vec<Floor>, Error> {
        Ok(Vec::new())
    }

    /// Returns `true` if it can't be measured on one core.
    fn needs_two_cores(&self) -> bool {
        false
    }

    /// Measures a round of about this length.
    fn round(&self, ground: &Ground, time: Duration) -> Result<Figures, Error>;
}

/// What cases share: the directory of processes that meet.
#[derive(Default)]
pub(crate) struct Ground {
    directory: OnceCell<Directory>,
}

impl Ground {
    /// As [`Directory::round`].
    pub(crate) fn round<T: Send>(
        &self,
        work: impl FnOnce(&Path) -> Result<T, Error> + Send,
    ) -> Result<T, Error> {
        if self.directory.get().is_none() {
            let _ = self.directory.set(Directory::create()?); // it was empty
        }
        self.directory.get().map_or(Err(Error::NotOurPeer), |directory| directory.round(work))
    }
}

/// A case of any scenario.
pub(crate) struct AnyCase {
    /// The scenario's name.
    pub(crate) scenario: &'static str,
    /// The default time of its row, in seconds.
    pub(crate) seconds: u64,
    /// Its options.
    pub(crate) settings: Settings,
    /// The scenario's part in it.
    pub(crate) case: Box<dyn Case>,
}

impl Scenario {
    /// Returns its cases; there are none if it isn't measured as cases.
    pub(crate) fn cases(&self) -> Vec<AnyCase> {
        match self {
            Self::Chain(case) => cases("chain", 10, case),
            Self::PingPong(case) => cases("pingpong", 2, case),
            Self::Throughput(case) => cases("throughput", 5, case),
            Self::Topology(case) => cases("topology", 120, case),
            Self::Entities(case) => cases("entities", 1, case),
            Self::Languages(_) | Self::Peers(_) => Vec::new(),
        }
    }
}

impl AnyScenario {
    /// As [`Scenario::cases`].
    pub(crate) fn cases(&self) -> Vec<AnyCase> {
        match self {
            Self::OfUsers(scenario) => scenario.cases(),
            Self::ServiceChain(case) => cases("service-chain", 10, case),
            Self::ProcessChain(case) => cases("process-chain", 10, case),
            Self::Requests(case) => cases("requests", 10, case),
            Self::Pipeline(case) => cases("pipeline", 10, case),
            Self::Fanout(case) => cases("fanout", 5, case),
            Self::Big(case) => cases("big", 10, case),
            Self::Latest(case) => cases("latest", 2, case),
            Self::Matching(case) => cases("matching", 1, case),
            Self::Participant(case) => cases("participant", 1, case),
            Self::Timer(case) => cases("timer", 10, case),
            Self::TwoSubscriptions(case) => cases("two-subscriptions", 5, case),
            Self::Workers(case) => cases("workers", 5, case),
            Self::Floors => Vec::new(),
            #[cfg(feature = "gateway")]
            Self::Net(_) => Vec::new(),
        }
    }
}

/// Returns a case for each combination of the values of the lists among the options.
fn cases<C>(scenario: &'static str, seconds: u64, options: &C) -> Vec<AnyCase>
where
    C: Case + Clone + DeserializeOwned + Serialize + 'static,
{
    let options = Settings::of(options).0;
    let mut all = vec![options.clone()];
    for (name, values) in &options {
        let Some(values) = values.as_array().filter(|values| values.len() > 1) else { continue };
        let with = |case: &Map<String, Value>, value: &Value| {
            let mut case = case.clone();
            case.insert(name.clone(), Value::Array(vec![value.clone()]));
            case
        };
        all = all
            .iter()
            .flat_map(|case| values.iter().map(|value| with(case, value)).collect::<Vec<_>>())
            .collect();
    }
    let case = |options: Map<String, Value>| {
        let case: C = serde_json::from_value(Value::Object(options.clone())).ok()?;
        let case: Box<dyn Case> = Box::new(case);
        Some(AnyCase { scenario, seconds, settings: Settings::of_case(options), case })
    };
    all.into_iter().filter_map(case).collect()
}

/// Returns the value of an option that may be given several times, in a case.
pub(crate) fn one<T: Copy + Default>(values: &[T]) -> T {
    values.first().copied().unwrap_or_default()
}
