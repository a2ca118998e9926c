//! The graph as seen from both sides.

use crate::network::{Host, Network, PATIENCE, STRING, wait_for};
use sinew::graph::{EndpointKind, Graph, Place};
use sinew::prelude::*;
use sinew_interfaces::example_interfaces::srv::{AddTwoInts, AddTwoIntsRequest, AddTwoIntsResponse};
use sinew_interfaces::std_msgs::msg::String as Text;
use sinew_zenoh::wire::token::{Token, TokenKind};
use zenoh::Wait;

#[test]
fn ros_2_sees_nodes_and_ends_of_this_host() -> sinew::Result<()> {
    let (network, host) = (Network::new(), Host::new());
    let _gateway = host.gateway(&network);
    let node = host.context().node_in("/robot", "talker")?;
    let qos = QoS::new().keep_last(7);
    let _publisher = node.publisher::<Text>("chatter").qos(qos).create()?;
    let session = network.session();
    let tokens = || {
        let replies = session.liveliness().get("@ros2_lv/7/**").wait().expect("the session is open");
        let tokens: Vec<_> = replies
            .into_iter()
            .filter_map(|reply| Token::parse(reply.into_result().ok()?.key_expr().as_str()).ok())
            .collect();
        (tokens.len() == 2).then_some(tokens)
    };
    let mut tokens = wait_for("its tokens", tokens);
    tokens.sort_by_key(|token| token.kind != TokenKind::Node);
    let [of_node, of_publisher] = &tokens[..] else { panic!("two") };
    assert_eq!((of_node.full_node().as_str(), of_node.node_id), ("/robot/talker", of_node.id));
    assert_eq!((of_publisher.kind, of_publisher.node_id), (TokenKind::Publisher, of_node.id));
    let end = of_publisher.end.as_ref().expect("an end");
    assert_eq!((end.name.as_str(), end.type_name.as_str()), ("/robot/chatter", STRING.0));
    assert_eq!((end.hash.expect("a hash").to_string().as_str(), end.qos), (STRING.1, qos));
    Ok(())
}

#[test]
fn a_program_sees_nodes_and_ends_of_another_host() -> sinew::Result<()> {
    let (network, one, other) = (Network::new(), Host::new(), Host::new());
    let _gateways = [one.gateway(&network), other.gateway(&network)];
    let graph = one.context().graph()?;
    let node = other.context().node_in("/robot", "far")?;
    let best_effort = QoS::new().best_effort();
    let _publisher = node.publisher::<Text>("said").qos(best_effort).create()?;
    let _subscription = node.subscription::<Text>("heard").create()?;
    let add = |request: &AddTwoIntsRequest| AddTwoIntsResponse { sum: request.a + request.b };
    let _server = node.server::<AddTwoInts>("add").callback(add)?;
    let _client = node.client::<AddTwoInts>("asked").create()?;
    // Each once, whichever of a gateway's participants announce it; and nothing of gateways.
    let expected = [
        (EndpointKind::Publisher, "/robot/said".to_owned()),
        (EndpointKind::Subscription, "/robot/heard".to_owned()),
        (EndpointKind::Server, "/robot/add".to_owned()),
        (EndpointKind::Client, "/robot/asked".to_owned()),
    ];
    let is_far = |place: &Place| matches!(place, Place::Network { .. });
    let seen = |graph: &Graph| {
        let ends = graph.endpoints();
        assert!(ends.iter().all(|end| end.node == "/robot/far" && is_far(&end.place)), "{ends:?}");
        ends.into_iter().map(|end| (end.kind, end.name)).collect::<Vec<_>>()
    };
    assert!(graph.wait_until(PATIENCE, |graph| seen(graph) == expected), "{:?}", graph.endpoints());
    let nodes = graph.nodes();
    assert!(nodes.len() == 1 && nodes[0].name == "/robot/far" && is_far(&nodes[0].place), "{nodes:?}");
    let publishers = graph.publishers("/robot/said");
    assert_eq!((publishers.len(), publishers[0].type_name.as_str()), (1, STRING.0));
    assert_eq!(publishers[0].qos.reliability, sinew::qos::Reliability::BestEffort);
    drop((node, _publisher, _subscription, _server, _client));
    assert!(graph.wait_until(PATIENCE, |graph| graph.nodes().is_empty()));
    assert!(graph.wait_until(PATIENCE, |graph| graph.endpoints().is_empty()));
    Ok(())
}

#[test]
fn garbage_is_counted_and_left_out() -> sinew::Result<()> {
    let (network, host) = (Network::new(), Host::new());
    let gateway = host.gateway(&network);
    let session = network.session();
    let mut tokens = Vec::new();
    for key in [
        "@ros2_lv/7/x",
        "@ros2_lv/7/zid/0/0/XX/%/%/node",
        "@ros2_lv/7/zid/0/0/NN/%/%/%",
        "@ros2_lv/7/zid/0/1/MP/%/%/node/%a/std_msgs::msg::dds_::String_/hash/::,7:,:,:,,",
        "@ros2_lv/7/zid/0/1/MP/%/%/node/%a/String/TypeHashNotSupported/::,7:,:,:,,",
    ] {
        tokens.push(session.liveliness().declare_token(key).wait().expect("the session is open"));
    }
    wait_for("it is counted", || (gateway.statistics().garbage == 5).then_some(()));
    assert_eq!(gateway.statistics().remote, 0);
    Ok(())
}
