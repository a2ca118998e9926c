//! The picture in Graphviz's language (<https://graphviz.org/doc/info/lang.html>).

use std::fmt::Write as _;

use super::graph_picture::{GraphPicture, Line};
use super::rate::rate;

/// Returns the whole picture. Processes are clusters; topics are ellipses, services diamonds.
pub(super) fn text(picture: &GraphPicture) -> String {
    let mut text = String::from(
        "digraph sinew {\n  rankdir=LR;\n  bgcolor=transparent;\n  node [fontname=\"sans-serif\", fontsize=11];\n  \
         edge [fontname=\"sans-serif\", fontsize=9];\n",
    );
    // Writing to a string can't fail.
    for (index, process) in picture.processes.iter().enumerate() {
        let nodes: Vec<_> =
            picture.nodes.iter().enumerate().filter(|(_, node)| node.process == index).collect();
        if nodes.is_empty() {
            continue;
        }
        let now: String = process.in_callbacks.iter().map(|held| format!("\n{}", held.text())).collect();
        let label = format!("{} ({}){now}", process.program, process.pid);
        let _ = writeln!(
            text,
            "  subgraph cluster_{index} {{\n    label={};\n    style=rounded;",
            quoted(&label)
        );
        for (number, node) in nodes {
            let _ = writeln!(text, "    n{number} [shape=box, label={}];", quoted(&node.name));
        }
        text.push_str("  }\n");
    }
    for (index, (channel, is_service)) in picture.channels().enumerate() {
        let shape = if is_service { "diamond" } else { "ellipse" };
        let types = channel.types.join("\n");
        let (missing, colour) = match channel.missing {
            Some(missing) => {
                (format!("\nno {missing}"), if channel.is_suspicious { ", color=red" } else { "" })
            }
            None => (String::new(), ""),
        };
        let label = quoted(&(channel.name.clone() + &missing));
        let _ =
            writeln!(text, "  c{index} [shape={shape}, label={label}, tooltip={}{colour}];", quoted(&types));
        for line in &channel.from {
            let _ = writeln!(text, "  n{} -> c{index}{};", line.node, told(line));
        }
        for line in &channel.to {
            let _ = writeln!(text, "  c{index} -> n{};", line.node);
        }
    }
    text + "}\n"
}

fn told(line: &Line) -> String {
    let rate = rate(line.rate_hz);
    if rate.is_empty() { rate } else { format!(" [label={}]", quoted(&rate)) }
}

/// Quotes a text so that Graphviz reads it back; names of other processes can't end the string.
pub(crate) fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("\"{escaped}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_graphviz_reads_it() {
        let expected = r#"digraph sinew {
  rankdir=LR;
  bgcolor=transparent;
  node [fontname="sans-serif", fontsize=11];
  edge [fontname="sans-serif", fontsize=9];
  subgraph cluster_0 {
    label="robot (10)";
    style=rounded;
    n0 [shape=box, label="/camera"];
    n1 [shape=box, label="/filter"];
  }
  subgraph cluster_1 {
    label="viewer (11)\nin the callback of /edges since 4.20 s";
    style=rounded;
    n2 [shape=box, label="/view<er>"];
  }
  c0 [shape=ellipse, label="/edges", tooltip="demo/msg/Image"];
  n1 -> c0 [label="30 Hz"];
  c0 -> n2;
  c1 [shape=ellipse, label="/frames", tooltip="demo/msg/Image"];
  n0 -> c1 [label="30 Hz"];
  c1 -> n1;
  c1 -> n2;
  c2 [shape=diamond, label="/filter/settings", tooltip="demo/srv/Set"];
  n2 -> c2 [label="1.0 Hz"];
  c2 -> n1;
}
"#;
        assert_eq!(text(&super::super::robot::robot()), expected);
    }

    #[test]
    fn a_name_with_one_side_is_marked() {
        let mut picture = super::super::robot::robot();
        picture.topics[0].missing = Some("subscription");
        assert!(text(&picture).contains(r#"label="/edges\nno subscription", tooltip="demo/msg/Image"];"#));
        picture.topics[0].is_suspicious = true;
        let expected =
            r#"c0 [shape=ellipse, label="/edges\nno subscription", tooltip="demo/msg/Image", color=red];"#;
        assert!(text(&picture).contains(expected), "{}", text(&picture));
    }

    #[test]
    fn nothing_ends_a_string() {
        assert_eq!(quoted("a\"b\\c\nd"), r#""a\"b\\c\nd""#);
    }
}
