//! Drawings as SVG, for light and dark pages, and as a page with one.

use std::fmt::Write as _;

use super::canvas::{Anchor, Canvas, Drawing, Ink, Point, heat};
use crate::svg::{COLOURS, escaped};

const STYLE: &str = "\
  svg { --page: #ffffff; --text: #1d2329; --faint: #5f6b77; --grid: #e3e8ed }
  @media (prefers-color-scheme: dark) {
    svg { --page: #14181d; --text: #e4e9ee; --faint: #97a3b0; --grid: #2a323b }
  }
  .page { fill: var(--page) }
  text { font: 12px ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace; white-space: pre }
  polyline { fill: none; stroke-linejoin: round; stroke-linecap: round }
";

/// Returns the drawing as SVG.
pub(super) fn svg(drawing: &dyn Drawing) -> String {
    let (width, height) = drawing.size();
    let title = escaped(drawing.title());
    let mut vector = Vector {
        text: format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
             viewBox=\"0 0 {width:.0} {height:.0}\">\n<title>{title}</title>\n<style>\n{STYLE}</style>\n\
             <rect class=\"page\" width=\"100%\" height=\"100%\"/>\n"
        ),
    };
    drawing.draw(&mut vector);
    vector.text + "</svg>\n"
}

/// Returns a page with the drawing, as wide as the window.
pub(super) fn html(drawing: &dyn Drawing) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>{}</title>\n<style>\n  \
         :root {{ color-scheme: light dark }}\n  body {{ margin: 0 }}\n  body > svg {{ display: block; width: 100%; height: auto }}\n\
         </style>\n{}</html>\n",
        escaped(drawing.title()),
        svg(drawing)
    )
}

struct Vector {
    text: String,
}

fn colour(ink: Ink) -> String {
    match ink {
        Ink::Text => "var(--text)".to_owned(),
        Ink::Faint => "var(--faint)".to_owned(),
        Ink::Grid => "var(--grid)".to_owned(),
        Ink::Series(number) => COLOURS[number % COLOURS.len()].to_owned(),
        Ink::Heat(value) => {
            let [red, green, blue] = heat(value);
            format!("#{red:02x}{green:02x}{blue:02x}")
        }
    }
}

// Writing to a string can't fail.
impl Canvas for Vector {
    fn line(&mut self, points: &[Point], ink: Ink, width: f64) {
        let colour = colour(ink);
        if let [(x, y)] = points {
            let _ =
                writeln!(self.text, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" style=\"fill: {colour}\"/>");
            return;
        }
        let points: String = points.iter().map(|(x, y)| format!("{x:.1},{y:.1} ")).collect();
        let points = points.trim_end();
        let _ = writeln!(
            self.text,
            "<polyline style=\"stroke: {colour}; stroke-width: {width}\" points=\"{points}\"/>"
        );
    }

    fn rectangle(&mut self, (x, y): Point, (width, height): Point, ink: Ink) {
        let colour = colour(ink);
        let _ = writeln!(
            self.text,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" style=\"fill: {colour}\"/>"
        );
    }

    fn text(&mut self, (x, y): Point, text: &str, anchor: Anchor, ink: Ink) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let (colour, text) = (colour(ink), escaped(text));
        let _ = writeln!(
            self.text,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" style=\"fill: {colour}\">{text}</text>"
        );
    }
}
