//! Trees of frames, drawn.

use std::fmt::Write as _;

use super::{Frame, Frames, Refused};
use crate::harmless::one_line;
use crate::picture::dot::quoted;
use crate::svg::{LETTER, MARGIN, SMALL, STYLE, escaped};

/// Draws trees as lines of text.
pub(super) fn text(frames: &Frames) -> String {
    let mut text = String::new();
    if frames.frames.is_empty() {
        text.push_str(match frames.refused.is_empty() {
            true => "no frame is there: nothing was published on /tf and /tf_static meanwhile\n",
            false => "no frame is there: what was published on /tf and /tf_static was refused\n",
        });
    }
    let mut lines = Vec::new();
    for root in frames.roots() {
        lines.push((root.shown(), root.told()));
        branches(frames, root, "", &mut lines);
    }
    let width = lines.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    for (name, told) in lines {
        let _ = writeln!(text, "{}", format!("{name:width$}  {told}").trim_end()); // can't fail
    }
    for around in &frames.loops {
        let _ = writeln!(text, "these lie in each other in a circle: {}", one_line(&around.join(", ")));
    }
    text.extend(frames.refused.iter().map(Refused::text).flat_map(|line| [line, "\n".to_owned()]));
    text
}

fn branches(frames: &Frames, of: &Frame, before: &str, lines: &mut Vec<(String, String)>) {
    let mut children = frames.children(of).peekable();
    while let Some(child) = children.next() {
        let (branch, below) =
            if children.peek().is_some() { ("├─ ", "│  ") } else { ("└─ ", "   ") };
        lines.push((format!("{before}{branch}{}", child.shown()), child.told()));
        branches(frames, child, &format!("{before}{below}"), lines);
    }
}

/// Draws trees in Graphviz's language.
pub(super) fn dot(frames: &Frames) -> String {
    let mut text = String::from(
        "digraph frames {\n  bgcolor=transparent;\n  node [shape=box, style=rounded, fontname=\"sans-serif\", fontsize=11];\n  \
         edge [fontname=\"sans-serif\", fontsize=9];\n",
    );
    // Writing to a string can't fail.
    for frame in &frames.frames {
        let name = quoted(&frame.shown());
        let _ = writeln!(text, "  {name};");
        if let Some(parent) = &frame.parent {
            let told = quoted(&frame.told().replace(", ", "\n"));
            let _ = writeln!(text, "  {} -> {name} [label={told}];", quoted(&one_line(parent)));
        }
    }
    text + "}\n"
}

/// Distance of rows of boxes, and of boxes.
const ROW: f64 = 74.0;
const GAP: f64 = 18.0;
const HEIGHT: f64 = 42.0;

/// A box, and its middle.
struct Placed<'a> {
    frame: &'a Frame,
    at: (f64, f64),
    width: f64,
    /// Index of its parent's box.
    parent: Option<usize>,
}

/// Draws trees as a picture: parents above their children.
pub(super) fn svg(frames: &Frames) -> String {
    let (mut boxes, mut right, mut bottom) = (Vec::new(), 0.0, 0.0_f64);
    for root in frames.roots() {
        right = place(frames, root, (None, 0), right, &mut boxes) + GAP;
    }
    for each in &boxes {
        bottom = bottom.max(each.at.1 + HEIGHT);
    }
    let (width, height) = (f64::max(right, 300.0) + 2.0 * MARGIN, bottom.max(30.0) + 2.0 * MARGIN);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\">\n\
         <title>Frames</title>\n<style>\n{STYLE}</style>\n<rect class=\"page\" width=\"100%\" height=\"100%\"/>\n\
         <g transform=\"translate({MARGIN} {MARGIN})\">\n"
    );
    if boxes.is_empty() {
        text.push_str("<text class=\"name\" x=\"150\" y=\"20\">no frame is there</text>\n");
    }
    for each in &boxes {
        if let Some(parent) = each.parent.map(|parent| &boxes[parent]) {
            let ((x, y), (px, py)) = (each.at, parent.at);
            let (top, middle) = (py + HEIGHT, py + HEIGHT + (ROW - HEIGHT) / 2.0);
            let _ = writeln!(
                text,
                "<path class=\"line\" d=\"M{px:.1} {top:.1} C{px:.1} {middle:.1} {x:.1} {middle:.1} {x:.1} {y:.1}\"/>"
            );
        }
    }
    for Placed { frame, at: (x, y), width, .. } in &boxes {
        let in_loop = frames.loops.iter().any(|around| around.contains(&frame.name));
        let colour = if in_loop { "var(--wrong)" } else { "#4c8dd6" };
        let dashed = if frame.is_static { " stroke-dasharray=\"5 3\"" } else { "" };
        let left = x - width / 2.0;
        let _ = writeln!(
            text,
            "<rect class=\"node\" x=\"{left:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{HEIGHT}\" rx=\"5\" stroke=\"{colour}\"{dashed}/>\n\
             <text class=\"name\" x=\"{x:.1}\" y=\"{:.1}\">{}</text>\n<text class=\"small\" x=\"{x:.1}\" y=\"{:.1}\">{}</text>",
            y + 18.0,
            escaped(&frame.shown()),
            y + 33.0,
            escaped(&frame.told()),
        );
    }
    text + "</g>\n</svg>\n"
}

/// Places a frame above its children, starting at `left`; returns the position where they end.
fn place<'a>(
    frames: &'a Frames,
    frame: &'a Frame,
    (parent, depth): (Option<usize>, u16),
    left: f64,
    boxes: &mut Vec<Placed<'a>>,
) -> f64 {
    let letters = |text: &str, width: f64| text.chars().count() as f64 * width;
    let width = letters(&frame.shown(), LETTER).max(letters(&frame.told(), SMALL)) + 24.0;
    let own = boxes.len();
    boxes.push(Placed { frame, at: (0.0, f64::from(depth) * ROW), width, parent });
    let mut right = left;
    for child in frames.children(frame) {
        right = place(frames, child, (Some(own), depth + 1), right, boxes) + GAP;
    }
    let below = right - GAP;
    let right = below.max(left + width);
    // Above the middle of its children; it starts where they do if it is wider.
    boxes[own].at.0 = if below > left + width { f64::midpoint(left, below) } else { left + width / 2.0 };
    right
}
