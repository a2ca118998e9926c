//! The sides of a comparison take turns (A B A B ...), so that disturbances of the machine affect
//! all of them. Their rows are collected on a sheet.

use std::time::Duration;

use crate::error::Error;
use crate::machine;
use crate::progress::Progress;
use crate::report::{Figures, Row, Settings};
use crate::rounds::Turns;

/// One side of a comparison: a system with its settings, which measures a round for about the given
/// time.
pub(crate) struct Side<'a> {
    floor: Option<&'static str>,
    settings: Settings,
    compared: fn(&Figures) -> Option<f64>,
    round: Box<dyn FnMut(Duration) -> Result<Figures, Error> + 'a>,
}

impl<'a> Side<'a> {
    /// Returns a side of Sinew.
    pub(crate) fn sinew(
        settings: Settings,
        round: impl FnMut(Duration) -> Result<Figures, Error> + 'a,
    ) -> Self {
        Self { floor: None, settings, compared: |figures| figures.p50_ns, round: Box::new(round) }
    }

    /// Returns one of the machine's floors.
    pub(crate) fn floor(
        name: &'static str,
        settings: Settings,
        round: impl FnMut(Duration) -> Result<Figures, Error> + 'a,
    ) -> Self {
        Self { floor: Some(name), ..Self::sinew(settings, round) }
    }

    /// Selects the figure that is compared with the floor's P50, in place of P50.
    pub(crate) fn compared_by(self, compared: fn(&Figures) -> Option<f64>) -> Self {
        Self { compared, ..self }
    }
}

/// A scenario's rows, and the means to measure them.
pub(crate) struct Sheet {
    scenario: &'static str,
    /// The time of a row, and the number of its rounds.
    pub(crate) turns: Turns,
    progress: Progress,
    rows: Vec<Row>,
}

impl Sheet {
    /// Returns an empty sheet.
    pub(crate) fn new(scenario: &'static str, turns: Turns, progress: Progress) -> Self {
        Self { scenario, turns, progress, rows: Vec::new() }
    }

    /// Gives every side its turn in each round, and adds a row for each. If the first side is a
    /// floor, the others have their ratios to it.
    pub(crate) fn measure(&mut self, what: &str, mut sides: Vec<Side<'_>>) -> Result<(), Error> {
        let mut rounds = vec![Vec::new(); sides.len()];
        for number in 1..=self.turns.rounds {
            self.progress.show(what, number, self.turns.rounds);
            let mut floor: Option<Figures> = None;
            for (side, rounds) in sides.iter_mut().zip(&mut rounds) {
                let mut figures = (side.round)(self.turns.each())?;
                if let Some(floor) = &floor {
                    let compared = (side.compared)(&figures);
                    figures = figures.beside(floor, compared);
                }
                if side.floor.is_some() {
                    floor = Some(figures.clone());
                }
                rounds.push(figures);
            }
        }
        for (side, rounds) in sides.into_iter().zip(&rounds) {
            self.add(side.floor, side.settings, rounds);
        }
        Ok(())
    }

    /// Adds the row of some rounds, of Sinew or of a floor.
    pub(crate) fn add(&mut self, floor: Option<&'static str>, settings: Settings, rounds: &[Figures]) {
        let system = if floor.is_some() { "floor" } else { "sinew" };
        let figures = Figures::over(rounds);
        self.rows.push(Row { scenario: self.scenario, system, floor, settings, figures });
    }

    /// Shows that the only round of `what` begins.
    pub(crate) fn show(&mut self, what: &str) {
        self.progress.show(what, 1, 1);
    }

    /// Returns two cores for two processes or threads; if this process may use only one, notes that
    /// `what` isn't measured.
    pub(crate) fn two_cores(&mut self, what: &str) -> Result<Option<(usize, usize)>, Error> {
        let cores = machine::two_cores()?;
        if cores.is_none() {
            self.progress.note(&format!(
                "{what} needs two cores and this process may use one: allow it another (taskset, cgroup)"
            ));
        }
        Ok(cores)
    }

    /// Returns the rows.
    pub(crate) fn into_rows(self) -> Vec<Row> {
        self.rows
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
        let other = Side::sinew(Settings::new(), side('c', 6.0)).compared_by(|_| Some(1.0));
        sheet.measure("test", vec![floor, ours, other]).unwrap();
        assert_eq!(*order.borrow(), "abcabcabcabcabc");
        let rows = sheet.into_rows();
        let ratios: Vec<_> = rows.iter().map(|row| row.figures.floor_ratio).collect();
        assert_eq!(ratios, [None, Some(2.0), Some(0.5)]);
        assert_eq!((rows[0].system, rows[1].system, rows[1].figures.rounds), ("floor", "sinew", Some(5)));
    }
}
