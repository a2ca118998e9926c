//! The picture as SVG: a single file, for light and dark pages.

use std::fmt::Write as _;

use super::graph_picture::{Channel, GraphPicture, Node};
use super::layout::{Layout, Point, place};
use super::rate::rate;
use crate::svg::{COLOURS, LETTER, MARGIN, SMALL, STYLE, escaped};

/// A box of the picture.
struct Shape {
    lines: Vec<(String, &'static str)>,
    kind: Kind,
    /// The tooltip.
    title: String,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// A node of this process.
    Node(usize),
    Topic,
    Service,
}

/// Returns the whole picture. A node has the colour of its process; lines without messages are
/// faint.
pub(super) fn text(picture: &GraphPicture) -> String {
    let shapes = shapes(picture);
    let mut lines = Vec::new();
    for (index, (channel, _)) in picture.channels().enumerate() {
        let at = picture.nodes.len() + index;
        lines.extend(channel.from.iter().map(|line| ((line.node, at), line.rate_hz, true)));
        lines.extend(channel.to.iter().map(|line| ((at, line.node), line.rate_hz, false)));
    }
    let sizes: Vec<Point> = shapes.iter().map(Shape::size).collect();
    let pairs: Vec<(usize, usize)> = lines.iter().map(|(pair, ..)| *pair).collect();
    let layout = place(&sizes, &pairs);
    let (width, height) = (layout.size.0.max(240.0) + 2.0 * MARGIN, layout.size.1.max(30.0) + 2.0 * MARGIN);
    // Writing to a string can't fail.
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\">\n\
         <title>Domain {}</title>\n<style>\n{STYLE}</style>\n<defs>\n<marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" \
         markerWidth=\"7\" markerHeight=\"7\" orient=\"auto-start-reverse\"><path class=\"head\" d=\"M0 0 L8 4 L0 8 z\"/></marker>\n</defs>\n\
         <rect class=\"page\" width=\"100%\" height=\"100%\"/>\n<g transform=\"translate({MARGIN} {MARGIN})\">\n",
        picture.domain
    );
    if shapes.is_empty() {
        let _ = writeln!(text, "<text class=\"name\" x=\"120\" y=\"20\">no node is there</text>");
    }
    for ((_, hz, is_told), points) in lines.iter().zip(&layout.lines) {
        draw_line(&mut text, points, *hz, *is_told);
    }
    draw_shapes(&mut text, &shapes, &layout);
    text + "</g>\n</svg>\n"
}

fn shapes(picture: &GraphPicture) -> Vec<Shape> {
    let node = |node: &Node| {
        let mut lines = vec![(node.name.clone(), "name"), (picture.process_of(node), "small")];
        let process = picture.processes.get(node.process);
        let held = process.into_iter().flat_map(|process| &process.in_callbacks);
        let its = held.filter(|held| held.node.as_ref() == Some(&node.name));
        lines.extend(its.map(|held| (held.text(), "small wrong")));
        Shape { lines, kind: Kind::Node(node.process), title: String::new() }
    };
    let channel = |(channel, is_service): (&Channel, bool)| {
        let class = if channel.is_suspicious { "small wrong" } else { "small" };
        let missing = channel.missing.map(|missing| (format!("no {missing}"), class));
        Shape {
            lines: [(channel.name.clone(), "name")].into_iter().chain(missing).collect(),
            kind: if is_service { Kind::Service } else { Kind::Topic },
            title: channel.types.join(", "),
        }
    };
    picture.nodes.iter().map(node).chain(picture.channels().map(channel)).collect()
}

impl Shape {
    fn size(&self) -> Point {
        let letter = |class: &str| if class == "name" { LETTER } else { SMALL };
        let width = |(line, class): &(String, &str)| line.chars().count() as f64 * letter(class);
        let widest = self.lines.iter().map(width).fold(0.0, f64::max);
        let around = if matches!(self.kind, Kind::Node(_)) { 24.0 } else { 32.0 };
        (widest + around, 20.0 + 15.0 * self.lines.len() as f64)
    }
}

fn draw_shapes(text: &mut String, shapes: &[Shape], layout: &Layout) {
    for (shape, (x, y)) in shapes.iter().zip(&layout.boxes) {
        let (width, height) = shape.size();
        let (left, top) = (x - width / 2.0, y - height / 2.0);
        let (class, round, colour) = match shape.kind {
            Kind::Node(process) => ("node", 5.0, format!(" stroke=\"{}\"", COLOURS[process % COLOURS.len()])),
            Kind::Topic => ("topic", height / 2.0, String::new()),
            Kind::Service => ("service", 3.0, String::new()),
        };
        let title = if shape.title.is_empty() {
            String::new()
        } else {
            format!("<title>{}</title>", escaped(&shape.title))
        };
        let _ = writeln!(
            text,
            "<g>{title}<rect class=\"{class}\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" \
             rx=\"{round:.1}\"{colour}/>"
        );
        for (index, (line, class)) in shape.lines.iter().enumerate() {
            let down = top + 21.0 + 15.0 * index as f64;
            let _ = writeln!(
                text,
                "<text class=\"{class}\" x=\"{x:.1}\" y=\"{down:.1}\">{}</text>",
                escaped(line)
            );
        }
        text.push_str("</g>\n");
    }
}

/// Draws a line through these points, horizontal at each of them.
fn draw_line(text: &mut String, points: &[Point], hz: f64, is_told: bool) {
    let [first, ..] = points else { return };
    let mut path = format!("M{:.1} {:.1}", first.0, first.1);
    for pair in points.windows(2) {
        let [(x, y), (to_x, to_y)] = [pair[0], pair[1]];
        let half = f64::midpoint(x, to_x);
        let _ = write!(path, " C{half:.1} {y:.1} {half:.1} {to_y:.1} {to_x:.1} {to_y:.1}");
    }
    let rate = rate(hz);
    let still = if rate.is_empty() { " still" } else { "" };
    let _ = writeln!(text, "<path class=\"line{still}\" marker-end=\"url(#head)\" d=\"{path}\"/>");
    if is_told && !rate.is_empty() && points.len() > 1 {
        let (x, y) = (f64::midpoint(points[0].0, points[1].0), f64::midpoint(points[0].1, points[1].1));
        let _ = writeln!(text, "<text class=\"rate\" x=\"{x:.1}\" y=\"{:.1}\">{rate}</text>", y - 5.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_one_file_with_all_names() {
        let text = text(&super::super::robot::robot());
        assert!(text.starts_with("<svg xmlns=") && text.ends_with("</svg>\n"));
        for name in ["/camera", "/view&lt;er&gt;", "/filter/settings", "robot (10)", "30 Hz", "since 4.20 s"]
        {
            assert!(text.contains(&format!(">{name}<")) || text.contains(name), "{name}: {text}");
        }
        assert!(
            !text.contains("/view<er>")
                && !text.contains("href")
                && text.contains("prefers-color-scheme: dark")
        );
        assert_eq!(text.matches("<path class=\"line").count(), 7);
        assert_eq!(
            text.matches("<path class=\"line still").count(),
            1,
            "nothing comes from /frames to the viewer"
        );
        assert_eq!(text.matches("<g>").count() + 1, text.matches("</g>").count());
    }

    #[test]
    fn a_name_with_one_side_is_marked() {
        let mut picture = super::super::robot::robot();
        (picture.services[0].missing, picture.services[0].is_suspicious) = (Some("server"), true);
        assert!(text(&picture).contains("class=\"small wrong\""), "{}", text(&picture));
        assert!(text(&picture).contains(">no server<"), "{}", text(&picture));
    }

    #[test]
    fn a_domain_without_nodes_is_a_picture_too() {
        assert!(text(&GraphPicture::default()).contains("no node is there"));
    }
}
