//! A picture for tests.

use super::graph_picture::{Channel, GraphPicture, Line, Node, PicturedProcess};
use crate::graph::Held;

/// Returns a camera, a filter that also serves, and a viewer that also calls, in two processes.
pub(super) fn robot() -> GraphPicture {
    let process =
        |pid, program: &str, in_callbacks| PicturedProcess { pid, program: program.to_owned(), in_callbacks };
    let node = |name: &str, process| Node { name: name.to_owned(), process };
    let line = |node, rate_hz| Line { node, rate_hz };
    let channel = |name: &str, type_name: &str, from, to| Channel {
        name: name.to_owned(),
        types: vec![type_name.to_owned()],
        missing: None,
        is_suspicious: false,
        from,
        to,
    };
    GraphPicture {
        domain: 0,
        processes: vec![
            process(10, "robot", Vec::new()),
            process(11, "viewer", vec![Held::of("/view<er>", "the callback of /edges", 4_200_000_000)]),
        ],
        nodes: vec![node("/camera", 0), node("/filter", 0), node("/view<er>", 1)],
        topics: vec![
            channel("/edges", "demo/msg/Image", vec![line(1, 29.7)], vec![line(2, 29.7)]),
            channel("/frames", "demo/msg/Image", vec![line(0, 30.0)], vec![line(1, 30.0), line(2, 0.0)]),
        ],
        services: vec![channel("/filter/settings", "demo/srv/Set", vec![line(2, 1.0)], vec![line(1, 1.0)])],
        one_sided: Vec::new(),
    }
}
