//! Runs the measurements: each case in alternating rounds, each round of each side in a fresh
//! process.

use std::hint::black_box;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use harness::{Case as Asked, Figures, Work};
use sinew_bench::busy_core::BusyCore;
use sinew_bench::options::PeersOptions;
use sinew_bench::progress::Progress;

use crate::cases::{self, Section};
use crate::measured::{self, Kind, Measured, Side};
use crate::programs::Participant;
use crate::turn::{Turn, Turns, answer};
use crate::{line, states};

/// Longest time of `--quick`, in seconds per side and round.
const QUICK: f64 = 0.25;

/// Time of a round besides measuring: starting, matching, warming up, ending.
const AROUND: f64 = 0.35;

/// Number of tries of a round: a single failure may be the machine's fault.
const TRIES: u32 = 2;

/// A system that has hung this often isn't run any more.
const PATIENT: usize = 3;

/// All planned measurements.
pub struct Plan {
    /// The cases, by section.
    parts: Vec<(Section, Vec<Planned>)>,
    rounds: u32,
    limit: Option<Duration>,
}

/// A case, with all sides that take part.
struct Planned {
    asked: cases::Case,
    seconds: f64,
    sides: Vec<(Side, Does)>,
}

/// A program, and the system with which it runs a side's rounds.
#[derive(Clone, PartialEq)]
struct Does(PathBuf, String);

/// A section, with its measurements.
pub struct Part {
    /// The section.
    pub section: Section,
    /// Its cases, without those that have no results.
    pub cases: Vec<Measured>,
}

impl Plan {
    /// Plans the requested sections.
    ///
    /// # Errors
    ///
    /// If there is no section of that name.
    pub fn new(options: &PeersOptions, participants: &[&Participant]) -> anyhow::Result<Self> {
        let sections = cases::sections();
        for name in &options.scenarios {
            let known = |section: &Section| section.id == name || section.scenario == name;
            if !sections.iter().any(known) {
                let mut names: Vec<_> = sections.iter().map(|section| section.scenario).collect();
                names.dedup();
                anyhow::bail!("no scenario is called {name}: there are {}", names.join(", "));
            }
        }
        let is_asked_for = |section: &Section| {
            options.scenarios.is_empty()
                || options.scenarios.iter().any(|name| section.id == name || section.scenario == name)
        };
        let plan_of = |mut section: Section| {
            let cases = std::mem::take(&mut section.cases).into_iter();
            let cases = cases.filter(|case| case.quick || !options.quick);
            let planned = cases.map(|case| planned(case, options, participants)).collect();
            (section, planned)
        };
        let parts = sections.into_iter().filter(is_asked_for).map(plan_of).collect();
        Ok(Self { parts, rounds: rounds(options), limit: options.limit })
    }

    /// Estimates the total duration.
    pub fn estimate(&self) -> Duration {
        let cases = self.parts.iter().flat_map(|(_, cases)| cases);
        Duration::from_secs_f64(cases.map(|case| case.estimate(self.rounds)).sum())
    }

    /// Measures, until a signal asks to end.
    pub fn run(self, turns: &Turns, progress: &mut Progress) -> Vec<Part> {
        let Self { parts, rounds, limit } = self;
        let all: f64 = parts.iter().flat_map(|(_, cases)| cases).map(|case| case.estimate(rounds)).sum();
        let mut going = Going { turns, progress, begun: Instant::now(), all, done: 0.0, hung: Vec::new() };
        let mut finished: Vec<Part> = Vec::new();
        for (section, planned) in parts {
            let mut cases = Vec::new();
            for case in planned {
                if turns.asked() {
                    break;
                }
                let before = finished.iter().flat_map(|part| &part.cases);
                let same =
                    |known: &&Measured| known.work == case.asked.work && known.loaded == case.asked.loaded;
                let known = before.chain(&cases).find(same).cloned();
                let label = section.label(&case.asked.work);
                let estimate = case.estimate(rounds);
                let until = going.done + estimate;
                let measured = match known {
                    Some(known) => Measured { label, ..known },
                    None => going.measure(&section, label, case, rounds, limit),
                };
                going.done = until;
                if measured.sides.iter().any(|side| side.was_measured() || side.failed.is_some()) {
                    cases.push(measured);
                }
            }
            if !(cases.is_empty() && turns.asked()) {
                finished.push(Part { section, cases });
            }
        }
        finished
    }
}

/// Returns the number of rounds.
pub fn rounds(options: &PeersOptions) -> u32 {
    /// Rounds of `--quick`.
    const FEW: u32 = 2;
    if options.quick && options.rounds == sinew_bench::rounds::ROUNDS { FEW } else { options.rounds }
}

fn planned(case: cases::Case, options: &PeersOptions, participants: &[&Participant]) -> Planned {
    let scenario = case.work.scenario();
    let seconds = match (options.seconds, options.quick) {
        (Some(seconds), _) => seconds.as_secs_f64(),
        (None, true) => case.seconds.min(QUICK),
        (None, false) => case.seconds,
    };
    let mut sides = Vec::new();
    for participant in participants {
        for system in &participant.peer.systems {
            if system.scenarios.iter().any(|name| name == scenario) {
                let differs = system.differs.iter().find(|(name, _)| name == scenario);
                let kind = match (participant.peer.peer.as_str(), system.name.as_str()) {
                    ("sinew", "floor") => Kind::Floor,
                    ("sinew", _) => Kind::Ours,
                    (peer, _) => Kind::Peer(peer.to_owned()),
                };
                let mut side = Side::new(&system.name, kind, differs.map(|(_, how)| how.clone()));
                // Creating entities carries no messages, and a floor may be of something else.
                side.counts = side.kind != Kind::Floor && !matches!(case.work, Work::Entities { .. });
                // Programs know their systems by their own names.
                let own_name = system.name.strip_prefix(&format!("{}: ", participant.peer.peer));
                let own_name = own_name.unwrap_or(&system.name).to_owned();
                sides.push((side, Does(participant.program.clone(), own_name)));
            }
        }
    }
    Planned { asked: case, seconds, sides }
}

impl Planned {
    fn estimate(&self, rounds: u32) -> f64 {
        f64::from(rounds) * self.sides.len() as f64 * (self.seconds + AROUND)
    }
}

/// A run in progress.
struct Going<'a> {
    turns: &'a Turns,
    progress: &'a mut Progress,
    begun: Instant,
    /// The total estimate, and its finished part, in seconds.
    all: f64,
    done: f64,
    /// The sides that hung, once for each time.
    hung: Vec<Does>,
}

/// Returns work that keeps a core and its caches busy: a copy of 8 MB.
fn copying() -> impl FnMut() + Send {
    let (from, mut to) = (vec![1_u8; 8 << 20], vec![0_u8; 8 << 20]);
    move || {
        to.copy_from_slice(black_box(&from));
        black_box(&to);
    }
}

/// A round of a side of a case.
struct Trial<'a> {
    asked: &'a cases::Case,
    seconds: f64,
    limit: Duration,
    /// The figure that an answer must have.
    needed: &'a str,
}

/// The outcome of a round of a side.
enum Tried {
    /// Its figures, and the name of a floor.
    Measured(Box<Figures>, Option<String>),
    /// The side doesn't support the case.
    NoPart,
    /// It failed, with the reason.
    Failed(String),
    /// A signal asked this program to end.
    Asked,
}

impl Going<'_> {
    fn measure(
        &mut self,
        section: &Section,
        label: String,
        case: Planned,
        rounds: u32,
        limit: Option<Duration>,
    ) -> Measured {
        let name = format!("{}, {label}", section.id);
        let each = case.estimate(1);
        let limit = limit.unwrap_or(Duration::from_secs_f64(30.0 + 4.0 * case.seconds));
        let Planned { asked, seconds, mut sides } = case;
        // Without the allowed cores, it is measured all the same.
        let _busy = asked.loaded.then(|| BusyCore::start(copying())).and_then(Result::ok);
        let trial = Trial { asked: &asked, seconds, limit, needed: section.measures[0].key };
        let mut lines = Vec::new();
        'rounds: for round in 0..rounds {
            self.progress.show(&format!("{name}; {}", self.left()), round + 1, rounds);
            // A busy core would answer late.
            let line = || if asked.loaded { None } else { line::nanoseconds() };
            let before = line();
            // Each round begins with another side, so that no side always follows the same one.
            let count = sides.len();
            for index in (0..count).map(|index| (index + round as usize) % count) {
                let (side, does) = &mut sides[index];
                if side.failed.is_some() || !side.takes_part {
                    continue;
                }
                let mut tried = self.attempt(does, &side.kind, &trial);
                for _ in 1..TRIES {
                    if matches!(tried, Tried::Failed(_)) && self.unwilling(does).is_none() {
                        tried = self.attempt(does, &side.kind, &trial);
                    }
                }
                side.rounds.resize(round as usize, None);
                match tried {
                    Tried::Measured(figures, floor) => {
                        side.rounds.push(Some(*figures));
                        side.system = floor.unwrap_or(std::mem::take(&mut side.system));
                    }
                    Tried::NoPart => side.takes_part = false,
                    Tried::Failed(reason) if round == 0 => side.failed = Some(reason),
                    Tried::Failed(reason) => side.failed = Some(format!("in round {}: {reason}", round + 1)),
                    Tried::Asked => break 'rounds,
                }
            }
            lines.push(states::during(before, line()));
            self.done += each;
        }
        let sides = sides.into_iter().map(|(side, _)| side).filter(|side| side.takes_part);
        let (floors, sides): (Vec<_>, Vec<_>) = sides.partition(|side| side.kind == Kind::Floor);
        let floors = floors.into_iter().filter(Side::was_measured).collect();
        Measured { work: asked.work, loaded: asked.loaded, label, sides, floors, lines, rounds }
    }

    /// Runs one round of one side.
    fn attempt(&mut self, does: &Does, kind: &Kind, trial: &Trial<'_>) -> Tried {
        if let Some(reason) = self.unwilling(does) {
            return Tried::Failed(reason);
        }
        let Trial { asked, limit, needed, .. } = *trial;
        let figures = match self.turns.take(&mut command(does, trial), limit) {
            // Such a case is also asked of programs that only know the scenario's other figures.
            Turn::Said(said) if asked.loaded && measured::lacks(answer(&said), needed) => {
                return Tried::NoPart;
            }
            Turn::Said(said) => measured::of_answer(answer(&said), kind, needed),
            Turn::Failed(reason) => Err(reason),
            Turn::NoPart => return Tried::NoPart,
            Turn::TooLong(limit) => {
                self.hung.push(does.clone());
                Err(format!("it was ended after {:.0} s", limit.as_secs_f64().max(1.0)))
            }
            Turn::Asked => return Tried::Asked,
        };
        figures.map_or_else(Tried::Failed, |(figures, floor)| Tried::Measured(Box::new(figures), floor))
    }

    /// Returns the reason why a system isn't run any more.
    fn unwilling(&self, does: &Does) -> Option<String> {
        let times = self.hung.iter().filter(|hung| *hung == does).count();
        (times >= PATIENT).then(|| format!("it hung {times} times before and isn't asked any more"))
    }

    /// Estimates the remaining time from the time that the finished part has taken.
    fn left(&self) -> String {
        /// Until this many seconds are finished, the estimate is more reliable.
        const KNOWN: f64 = 10.0;
        let took = self.begun.elapsed().as_secs_f64();
        let pace = if self.done > KNOWN { took / self.done } else { 1.0 };
        let left = (self.all - self.done).max(0.0) * pace;
        if left < 90.0 { format!("{left:.0} s left") } else { format!("{:.0} min left", left / 60.0) }
    }
}

fn command(Does(program, system): &Does, trial: &Trial<'_>) -> Command {
    let case = Asked { system: system.clone(), seconds: trial.seconds, work: trial.asked.work.clone() };
    let mut command = Command::new(program);
    command.arg("run").arg(serde_json::to_string(&case).unwrap_or_default());
    command
}
