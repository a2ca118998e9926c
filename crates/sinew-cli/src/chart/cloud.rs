//! Points in space, seen from one side.

use super::canvas::{Anchor, Canvas, Drawing, Ink, Point};
use super::ticks::{ticks, whole};

const LENGTH: f64 = 800.0;
const LEFT: f64 = 56.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 44.0;

/// Points on a plane, coloured by their third coordinate. Both axes have the same scale.
pub(crate) struct Cloud {
    pub(crate) title: String,
    /// To the right, upwards, and the number that gives the colour.
    pub(crate) points: Vec<[f64; 3]>,
    /// The names of the axes, with the sign that they have towards the right and upwards.
    pub(crate) axes: [(&'static str, f64); 2],
}

impl Cloud {
    /// Returns the least and the greatest value of a coordinate.
    fn range(&self, axis: usize) -> (f64, f64) {
        let values = self.points.iter().map(|point| point[axis]);
        let range = values.fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)));
        if range.0 <= range.1 { range } else { (0.0, 0.0) }
    }
}

impl Drawing for Cloud {
    fn title(&self) -> &str {
        &self.title
    }

    fn size(&self) -> Point {
        (LENGTH + LEFT + 24.0, LENGTH + TOP + BOTTOM)
    }

    fn draw(&self, canvas: &mut dyn Canvas) {
        let ranges = [self.range(0), self.range(1)];
        let span = ranges.iter().map(|(low, high)| high - low).fold(1e-6, f64::max) * 1.05;
        let corner = ranges.map(|(low, high)| f64::midpoint(low, high) - span / 2.0);
        let scale = LENGTH / span;
        let place = |x: f64, y: f64| (LEFT + (x - corner[0]) * scale, TOP + LENGTH - (y - corner[1]) * scale);
        canvas.text((LEFT, 22.0), &self.title, Anchor::Start, Ink::Text);
        for (axis, begin) in corner.iter().enumerate() {
            let sign = self.axes[axis].1;
            let (marks, decimals) = ticks(*begin, begin + span, 8.0);
            for mark in marks {
                let label = if mark == 0.0 { 0.0 } else { mark * sign };
                let text = format!("{label:.decimals$}");
                if axis == 0 {
                    let (x, _) = place(mark, 0.0);
                    canvas.line(&[(x, TOP), (x, TOP + LENGTH)], Ink::Grid, 1.0);
                    canvas.text((x, TOP + LENGTH + 18.0), &text, Anchor::Middle, Ink::Faint);
                } else {
                    let (_, y) = place(0.0, mark);
                    canvas.line(&[(LEFT, y), (LEFT + LENGTH, y)], Ink::Grid, 1.0);
                    canvas.text((LEFT - 8.0, y + 4.0), &text, Anchor::End, Ink::Faint);
                }
            }
        }
        let [right, up] = self.axes.map(|(name, _)| name);
        let axes = format!("{right} to the side, {up} upwards, in metres");
        canvas.text((LEFT + LENGTH, TOP + LENGTH + 36.0), &axes, Anchor::End, Ink::Faint);
        let (low, high) = self.range(2);
        for [x, y, height] in &self.points {
            let (x, y) = place(*x, *y);
            let heat = (height - low) / (high - low).max(1e-9) * 255.0;
            let heat = u8::try_from(whole(heat)).unwrap_or(u8::MAX);
            canvas.rectangle((x - 1.0, y - 1.0), (2.0, 2.0), Ink::Heat(heat));
        }
    }
}
