use super::*;

/// Nodes, topics, subscriptions, publishes/s, deliveries/s, MB/s published and delivered (of data).
type Totals = (usize, usize, usize, f64, f64, f64, f64);

fn totals(graph: &Graph) -> Totals {
    let mut topics = BTreeMap::new();
    for publisher in graph.nodes.iter().flat_map(|node| &node.publishers) {
        let rate = 1.0 / publisher.period().as_secs_f64();
        let earlier = topics.insert(&publisher.topic, (rate, publisher.data_size() as f64 * rate / 1e6));
        assert!(earlier.is_none(), "{} has two publishers", publisher.topic);
    }
    let subscriptions: Vec<_> = graph.nodes.iter().flat_map(|node| &node.subscribers).collect();
    let rounded = |value: f64| (value * 1e6).round() / 1e6;
    let sum = |flows: &mut dyn Iterator<Item = f64>| rounded(flows.sum());
    (
        graph.nodes.len(),
        topics.len(),
        subscriptions.len(),
        sum(&mut topics.values().map(|flow| flow.0)),
        sum(&mut subscriptions.iter().map(|to| topics[&to.topic].0)),
        sum(&mut topics.values().map(|flow| flow.1)),
        sum(&mut subscriptions.iter().map(|to| topics[&to.topic].1)),
    )
}

fn problem(text: &str) -> String {
    Graph::parse("robot.json", text).unwrap_err().to_string()
}

#[test]
fn the_shipped_graphs_have_the_published_totals() {
    let thousandths = |(n, t, s, p, d, published, delivered): Totals| {
        let round = |megabytes: f64| (megabytes * 1e3).round() / 1e3;
        (n, t, s, p, d, round(published), round(delivered))
    };
    let sierra_nevada = Graph::load("sierra_nevada").unwrap();
    assert_eq!(thousandths(totals(&sierra_nevada)), (10, 13, 17, 654.0, 1054.0, 0.112, 0.116));
    let mont_blanc = Graph::load("mont_blanc").unwrap();
    assert_eq!(thousandths(totals(&mont_blanc)), (20, 23, 35, 781.0, 1263.0, 11.714, 23.053));
}

#[test]
fn number_makes_copies_of_a_node() {
    let text = r#"{"nodes": [{"node_name": "leg", "number": 2,
        "publishers": [{"topic_name": "force", "msg_type": "stamped_int64", "freq_hz": 50}]}]}"#;
    let graph = Graph::parse("some/robot.json", text).unwrap();
    assert_eq!(graph.name, "robot");
    assert_eq!(graph.nodes.iter().map(|node| &*node.name).collect::<Vec<_>>(), ["leg_1", "leg_2"]);
    assert_eq!(graph.nodes[1].publishers[0].period(), Duration::from_millis(20));
}

#[test]
fn what_is_no_json_is_shown_where_it_stops_being() {
    assert_eq!(problem("{\n  \"nodes\": [}"), "robot.json:2:13: expected value");
    assert_eq!(problem(r#"{"nodes": []} more"#), "robot.json:1:15: trailing characters");
    assert_eq!(problem(""), "robot.json:1:0: EOF while parsing a value");
}

#[test]
fn a_wrong_field_is_named_with_its_node() {
    let text = r#"{"nodes": [{"node_name": "lyon", "publishers": [
        {"topic_name": "tigris", "msg_type": "stamped_vektor", "period_ms": 10}]}]}"#;
    let found = problem(text);
    assert!(found.starts_with("robot.json:2:"), "{found}");
    assert!(
        found.contains("node `lyon`, publishers[0].msg_type: unknown message type `stamped_vektor`"),
        "{found}"
    );

    let text = text.replace("vektor", "int64").replace("10}", "0}").replace("_vek", "_");
    let found = problem(&text);
    assert!(found.contains("node `lyon`, publishers[0].period_ms: is 0 and must be above 0"), "{found}");

    let found = problem(r#"{"nodes": [{"node_name": "lyon", "publisher": []}]}"#);
    assert!(found.contains("node `lyon`"), "{found}");
    assert!(found.contains("unknown field `publisher`"), "{found}");

    let found = problem(r#"{"nodes": [{"node_name": "lyon", "servers": []}]}"#);
    assert!(found.contains("unknown field `servers`"), "{found}");

    let found = problem(r#"{"nodes": [{"publishers": []}]}"#);
    assert!(found.contains("nodes[0]: missing field `node_name`"), "{found}");

    assert!(problem("{}").contains("missing field `nodes`"));
    assert!(problem("[1]").contains("robot.json:1:"));
}

#[test]
fn what_makes_no_sense_names_both_sides() {
    let node = |name: &str, msg_type: &str, more: &str| {
        format!(
            r#"{{"node_name": "{name}", "publishers": [{{"topic_name": "t", "msg_type": "{msg_type}"{more}}}]}}"#
        )
    };
    let graph = |nodes: &[String]| format!(r#"{{"nodes": [{}]}}"#, nodes.join(","));
    let period = r#", "period_ms": 10"#;

    let found = problem(&graph(&[node("a", "stamped_int64", period), node("b", "stamped1kb", period)]));
    assert_eq!(
        found,
        "robot.json: topic `t` is `stamped1kb` in node `b` and `stamped_int64` in node `a`: they would never meet"
    );
    let found = problem(&graph(&[node("a", "stamped_int64", period), node("a", "stamped_int64", period)]));
    assert_eq!(found, "robot.json: two nodes are named `a`: names must differ");
    let found = problem(&graph(&[node("a", "stamped_int64", "")]));
    assert_eq!(found, "robot.json: node `a`: publisher of `t` has neither `period_ms` nor `freq_hz`");
    let found = problem(&graph(&[node("a", "stamped_vector", period)]));
    assert_eq!(found, "robot.json: node `a`: publisher of `t`: `stamped_vector` needs `msg_size`, in bytes");
    let found = problem(&graph(&[node("a", "stamped_int64", r#", "period_ms": 10, "msg_size": 9"#)]));
    assert!(found.contains("`msg_size` is 9, but `stamped_int64` always has 8 bytes"), "{found}");
    let found =
        problem(&graph(&[node("a", "stamped_vector", r#", "period_ms": 10, "msg_size": 2000000000"#)]));
    assert!(
        found.contains("publishers[0].msg_size: is 2000000000 bytes and may be 1073741824 at most"),
        "{found}"
    );

    assert_eq!(
        problem(r#"{"nodes": []}"#),
        "robot.json: no node publishes anything: there is nothing to measure"
    );
    let many = r#"{"nodes": [{"node_name": "n", "number": 20000}]}"#;
    assert_eq!(problem(many), "robot.json: asks for 20000 nodes (with `number`); 10000 is the most");
}

#[test]
fn a_name_that_is_neither_file_nor_shipped() {
    let found = Graph::load("mont_blank").unwrap_err().to_string();
    assert!(found.starts_with("can't read topology mont_blank: "), "{found}");
    assert!(found.ends_with("Topologies that need no file: mont_blanc, sierra_nevada"), "{found}");
}
