//! The sides of a comparison take turns (A B A B ...), so that disturbances of the machine affect
//! all of them. Their rows are collected on a sheet.

use std::time::Duration;

use crate::bar::{Bar, Outcome};
use crate::case::AnyCase;
use crate::machine;
use crate::progress::Progress;
use crate::report::Row;
use crate::rounds::Turns;
use crate::table;
use crate::{Error, Figures, Floor, Ground, Settings};

/// One side of a comparison: a system with its settings, which measures a round for about the given
/// time.
pub(crate) struct Side<'a> {
    system: &'static str,
    floor: Option<&'static str>,
    /// The others have their ratios to it.
    is_rust: bool,
    bar: Option<Bar>,
    settings: Settings,
    round: Box<dyn FnMut(Duration) -> Result<Figures, Error> + 'a>,
}

impl<'a> Side<'a> {
    /// Returns a side of Sinew.
    pub(crate) fn sinew(
        settings: Settings,
        round: impl FnMut(Duration) -> Result<Figures, Error> + 'a,
    ) -> Self {
        Self::of("sinew", settings, round)
    }

    /// Returns a side of Sinew or of another library.
    pub(crate) fn of(
        system: &'static str,
        settings: Settings,
        round: impl FnMut(Duration) -> Result<Figures, Error> + 'a,
    ) -> Self {
        Self { system, floor: None, is_rust: false, bar: None, settings, round: Box::new(round) }
    }

    /// Returns one of the machine's floors.
    pub(crate) fn floor(
        name: &'static str,
        settings: Settings,
        round: impl FnMut(Duration) -> Result<Figures, Error> + 'a,
    ) -> Self {
        Self { floor: Some(name), ..Self::of("floor", settings, round) }
    }

    /// Has the other sides compared with this one, which is written in Rust.
    pub(crate) fn of_rust(self) -> Self {
        Self { is_rust: true, ..self }
    }

    /// Sets what one of its figures is to reach.
    pub(crate) fn with_bar(self, bar: Option<Bar>) -> Self {
        Self { bar, ..self }
    }
}

/// A scenario's rows, and the means to measure them.
pub(crate) struct Sheet {
    scenario: &'static str,
    /// The time of a row, and the number of its rounds.
    pub(crate) turns: Turns,
    progress: Progress,
    rows: Vec<Row>,
    bars: Vec<Outcome>,
}

impl Sheet {
    /// Returns an empty sheet.
    pub(crate) fn new(scenario: &'static str, turns: Turns, progress: Progress) -> Self {
        Self { scenario, turns, progress, rows: Vec::new(), bars: Vec::new() }
    }

    /// Measures a case beside its floors. What needs two cores is left out with a remark if there
    /// is one.
    pub(crate) fn case(&mut self, case: &AnyCase, ground: &Ground) -> Result<(), Error> {
        let settings = case.settings.clone();
        let what = format!("{}: {}", self.scenario, table::case(&settings));
        let two_cores = machine::two_cores()?;
        if two_cores.is_none() && case.case.needs_two_cores() {
            self.progress.note(&format!("{what}: {}", Error::OneCore));
            return Ok(());
        }
        let mut sides = Vec::new();
        for floor in case.case.floors()? {
            if floor.two_processes && two_cores.is_none() {
                self.progress.note(&format!("the floor {}: {}", floor.name, Error::OneCore));
                continue;
            }
            sides.push(Side::floor(floor.name, settings.clone(), move |time| floor.round(time)));
        }
        sides.push(Side::sinew(settings, |time| case.case.round(ground, time)));
        self.measure(&what, sides)
    }

    /// Measures floors alone.
    pub(crate) fn floors(&mut self, floors: Vec<(Floor, Settings)>) -> Result<(), Error> {
        for (floor, settings) in floors {
            let what = format!("{} {}", floor.name, table::case(&settings));
            if floor.two_processes && machine::two_cores()?.is_none() {
                self.progress.note(&format!("the floor {}: {}", floor.name, Error::OneCore));
                continue;
            }
            let side = Side::floor(floor.name, settings, |time| floor.round(time));
            self.measure(&what, vec![side])?;
        }
        Ok(())
    }

    /// Gives every side its turn in each round, and adds a row for each. If the first side is a
    /// floor or [`of_rust`](Side::of_rust), the others have their ratios to it.
    pub(crate) fn measure(&mut self, what: &str, mut sides: Vec<Side<'_>>) -> Result<(), Error> {
        let mut rounds = vec![Vec::new(); sides.len()];
        for number in 1..=self.turns.rounds {
            self.progress.show(what, number, self.turns.rounds);
            let (mut floor, mut rust): (Option<Figures>, Option<Figures>) = (None, None);
            for (side, rounds) in sides.iter_mut().zip(&mut rounds) {
                let mut figures = (side.round)(self.turns.each())?;
                if let Some(floor) = &floor {
                    figures = figures.beside(floor);
                }
                if let Some(rust) = &rust {
                    figures = figures.beside_rust(rust);
                }
                if side.floor.is_some() {
                    floor = Some(figures.clone());
                }
                if side.is_rust {
                    rust = Some(figures.clone());
                }
                rounds.push(figures);
            }
        }
        for (side, rounds) in sides.into_iter().zip(&rounds) {
            self.bars.extend(side.bar.and_then(|bar| bar.outcome(&side.settings, &Figures::over(rounds))));
            self.add_row(side.system, side.floor, side.settings, rounds);
        }
        Ok(())
    }

    /// Adds the row of some rounds, of Sinew or of a floor.
    pub(crate) fn add(&mut self, floor: Option<&'static str>, settings: Settings, rounds: &[Figures]) {
        self.add_row(if floor.is_some() { "floor" } else { "sinew" }, floor, settings, rounds);
    }

    fn add_row(
        &mut self,
        system: &'static str,
        floor: Option<&'static str>,
        settings: Settings,
        rounds: &[Figures],
    ) {
        let figures = Figures::over(rounds);
        self.rows.push(Row { scenario: self.scenario, system, floor, settings, figures });
    }

    /// Shows that the only round of `what` begins.
    #[cfg(feature = "gateway")]
    pub(crate) fn show(&mut self, what: &str) {
        self.progress.show(what, 1, 1);
    }

    /// Writes a lasting remark.
    pub(crate) fn note(&mut self, remark: &str) {
        self.progress.note(remark);
    }

    /// Returns the rows, and what became of the bars.
    pub(crate) fn into_results(self) -> (Vec<Row>, Vec<Outcome>) {
        (self.rows, self.bars)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[test]
    fn sides_take_turns_and_are_compared_with_the_floor_of_their_round() {
        let turns = Turns { time: Duration::from_secs(10), rounds: 5 };
        let mut sheet = Sheet::new("test", turns, Progress::silent());
        let order = RefCell::new(String::new());
        let side = |name, p50: f64| {
            let order = &order;
            move |time| {
                order.borrow_mut().push(name);
                assert_eq!(time, Duration::from_secs(2));
                Ok(Figures { p50_ns: Some(p50), rounds: Some(1), ..Figures::default() })
            }
        };
        let floor = Side::floor("f", Settings::new(), side('a', 2.0));
        let ours = Side::sinew(Settings::new(), side('b', 4.0));
        let other = Side::sinew(Settings::new(), side('c', 1.0));
        sheet.measure("test", vec![floor, ours, other]).unwrap();
        assert_eq!(*order.borrow(), "abcabcabcabcabc");
        let (rows, _) = sheet.into_results();
        let ratios: Vec<_> = rows.iter().map(|row| row.figures.floor_ratio).collect();
        assert_eq!(ratios, [None, Some(2.0), Some(0.5)]);
        assert_eq!((rows[0].system, rows[1].system, rows[1].figures.rounds), ("floor", "sinew", Some(5)));
    }
}
