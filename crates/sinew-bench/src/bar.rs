//! Bars: what a figure is to reach, and whether it does.

use serde::Serialize;

use crate::{Figures, Settings, table};

/// The most that a figure may be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bar {
    /// The figure's name in the results.
    figure: &'static str,
    most: f64,
}

/// What became of a bar.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Outcome {
    /// The case, as in the table.
    case: String,
    figure: &'static str,
    value: f64,
    most: f64,
    holds: bool,
}

impl Bar {
    /// Allows the figure of this name to be at most this.
    pub(crate) fn new(figure: &'static str, most: f64) -> Self {
        Self { figure, most }
    }

    /// Returns what became of it; `None` if the figure wasn't measured.
    pub(crate) fn outcome(self, settings: &Settings, figures: &Figures) -> Option<Outcome> {
        let value = figures.get(self.figure)?;
        let Self { figure, most } = self;
        Some(Outcome { case: table::case(settings), figure, value, most, holds: value <= most })
    }
}

impl Outcome {
    /// Returns a line about it.
    pub(crate) fn line(&self) -> String {
        let Self { case, figure, value, most, holds } = self;
        let word = if *holds { "holds " } else { "missed" };
        format!("{word} {case}: {figure} {value:.2}, bar {most}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_holds_up_to_its_limit() {
        let settings = Settings::new().with("language", "C");
        let at = |ratio| {
            let figures = Figures { rust_ratio: ratio, ..Figures::default() };
            Bar::new("rust_ratio", 1.05).outcome(&settings, &figures).map(|outcome| outcome.line())
        };
        assert_eq!(at(Some(1.05)).as_deref(), Some("holds  C: rust_ratio 1.05, bar 1.05"));
        assert_eq!(at(Some(1.06)).as_deref(), Some("missed C: rust_ratio 1.06, bar 1.05"));
        assert_eq!(at(None), None);
    }
}
