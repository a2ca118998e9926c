//! Values over time.

use super::canvas::{Anchor, Canvas, Drawing, Ink, Point};
use super::series::Series;
use super::ticks::ticks;

const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 420.0;
const RIGHT: f64 = 24.0;
const BOTTOM: f64 = 44.0;
/// Height of a line of the legend.
const LINE: f64 = 16.0;
/// Width of a letter.
const LETTER: f64 = 7.0;

/// A chart of some series with the same axes.
pub(crate) struct Values {
    pub(crate) title: String,
    /// The unit of the values, empty if they have none.
    pub(crate) unit: String,
    pub(crate) series: Vec<Series>,
}

impl Values {
    /// Returns the least and the greatest value, with some room; never the same.
    pub(super) fn range(&self) -> (f64, f64) {
        let values = self.series.iter().flat_map(Series::samples).map(|(_, value)| value);
        let (low, high) =
            values.fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)));
        match high - low {
            span if span < 0.0 => (0.0, 1.0), // there are none
            span if span <= high.abs() * 1e-12 => {
                let room = high.abs().max(1.0) * 0.5;
                (low - room, high + room)
            }
            span => (low - span * 0.05, high + span * 0.05),
        }
    }

    /// Returns the first and the last time; never the same.
    pub(super) fn times(&self) -> (f64, f64) {
        let (from, to) = self.series.first().map_or((0.0, 1.0), Series::times);
        if to > from { (from, to) } else { (from - 0.5, from + 0.5) }
    }
}

impl Drawing for Values {
    fn title(&self) -> &str {
        &self.title
    }

    fn size(&self) -> Point {
        (WIDTH, HEIGHT + LINE * self.series.len() as f64)
    }

    fn draw(&self, canvas: &mut dyn Canvas) {
        let (low, high) = self.range();
        let (from, to) = self.times();
        let (marks, decimals) = ticks(low, high, 6.0);
        let texts: Vec<String> = marks.iter().map(|mark| format!("{mark:.decimals$}")).collect();
        let widest = texts.iter().map(String::len).max().unwrap_or_default();
        let left = 24.0 + LETTER * widest as f64;
        let top = 40.0 + LINE * self.series.len() as f64;
        let (width, height) = (WIDTH - left - RIGHT, self.size().1 - top - BOTTOM);
        let x = |time: f64| left + (time - from) / (to - from) * width;
        let y = |value: f64| top + (high - value) / (high - low) * height;

        canvas.text((left, 22.0), &self.title, Anchor::Start, Ink::Text);
        for (number, series) in self.series.iter().enumerate() {
            let at = 40.0 + LINE * number as f64;
            canvas.line(&[(left, at - 4.0), (left + 18.0, at - 4.0)], Ink::Series(number), 3.0);
            canvas.text((left + 26.0, at), &series.name, Anchor::Start, Ink::Text);
        }
        for (mark, text) in marks.iter().zip(&texts) {
            canvas.line(&[(left, y(*mark)), (left + width, y(*mark))], Ink::Grid, 1.0);
            canvas.text((left - 8.0, y(*mark) + 4.0), text, Anchor::End, Ink::Faint);
        }
        let (seconds, decimals) = ticks(from, to, 10.0);
        for second in seconds {
            canvas.line(&[(x(second), top), (x(second), top + height)], Ink::Grid, 1.0);
            let text = format!("{second:.decimals$}");
            canvas.text((x(second), top + height + 18.0), &text, Anchor::Middle, Ink::Faint);
        }
        let below = top + height + 36.0;
        canvas.text((left + width, below), "seconds", Anchor::End, Ink::Faint);
        canvas.text((left, below), &self.unit, Anchor::Start, Ink::Faint);
        for (number, series) in self.series.iter().enumerate() {
            let points: Vec<Point> =
                series.samples().iter().map(|(time, value)| (x(*time), y(*value))).collect();
            canvas.line(&points, Ink::Series(number), 1.6);
        }
    }
}
