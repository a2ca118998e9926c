//! Times at which something was there.

use super::canvas::{Anchor, Canvas, Drawing, Ink, Point};
use super::ticks::ticks;

const WIDTH: f64 = 1000.0;
const ROW: f64 = 22.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = 44.0;
const LETTER: f64 = 7.2;
/// Least width of a span, so that it is seen.
const LEAST: f64 = 2.0;

/// A row for each thing, and bars in it while it was there.
pub(crate) struct Timeline {
    pub(crate) title: String,
    /// The first and the last time, in seconds.
    pub(crate) times: (f64, f64),
    pub(crate) rows: Vec<Row>,
    /// A line below the rows, empty if there is none.
    pub(crate) note: String,
}

/// A row.
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) about: String,
    /// Begins and ends, in seconds.
    pub(crate) spans: Vec<(f64, f64)>,
}

impl Drawing for Timeline {
    fn title(&self) -> &str {
        &self.title
    }

    fn size(&self) -> Point {
        (WIDTH, TOP + ROW * self.rows.len() as f64 + BOTTOM)
    }

    fn draw(&self, canvas: &mut dyn Canvas) {
        let widest = |text: fn(&Row) -> &str| {
            let letters = self.rows.iter().map(|row| text(row).chars().count()).max().unwrap_or_default();
            (LETTER * letters as f64 + 24.0).min(WIDTH / 3.0)
        };
        let (left, right) = (widest(|row| &row.name), widest(|row| &row.about));
        let (from, to) = self.times;
        let width = WIDTH - left - right;
        let x = |time: f64| left + (time - from) / (to - from).max(f64::MIN_POSITIVE) * width;
        let bottom = TOP + ROW * self.rows.len() as f64;
        canvas.text((12.0, 22.0), &self.title, Anchor::Start, Ink::Text);
        let (seconds, decimals) = if to > from { ticks(from, to, 8.0) } else { (vec![from], 0) };
        for second in seconds {
            canvas.line(&[(x(second), TOP - 8.0), (x(second), bottom)], Ink::Grid, 1.0);
            let text = format!("{second:.decimals$}");
            canvas.text((x(second), bottom + 18.0), &text, Anchor::Middle, Ink::Faint);
        }
        canvas.text((left + width, bottom + 36.0), "seconds", Anchor::End, Ink::Faint);
        canvas.text((12.0, bottom + 36.0), &self.note, Anchor::Start, Ink::Faint);
        for (number, row) in self.rows.iter().enumerate() {
            let middle = TOP + ROW * (number as f64 + 0.5);
            canvas.text((12.0, middle + 4.0), &row.name, Anchor::Start, Ink::Text);
            canvas.line(&[(left, middle), (left + width, middle)], Ink::Grid, 1.0);
            for (begin, end) in &row.spans {
                let length = (x(*end) - x(*begin)).max(LEAST);
                let begin = x(*begin).min(left + width - LEAST);
                canvas.rectangle((begin, middle - 5.0), (length, 10.0), Ink::Series(number));
            }
            canvas.text((left + width + 12.0, middle + 4.0), &row.about, Anchor::Start, Ink::Faint);
        }
    }
}
