//! Who may connect, and how connections end.

use crate::client::Viewer;
use crate::world::World;
use serde_json::json;
use sinew::Context;
use sinew_interfaces::sensor_msgs::msg::Image;
use sinew_interfaces::std_msgs::msg::String as Text;
use sinew_view::ViewServer;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;
use tungstenite::Message;

/// Longer than anything takes that succeeds.
const PATIENCE: Duration = Duration::from_secs(60);

const SDK: &[&str] = &["foxglove.sdk.v1"];

#[test]
fn both_subprotocols_are_spoken() {
    let world = World::new();
    for name in ["foxglove.sdk.v1", "foxglove.websocket.v1"] {
        let viewer = Viewer::connect(&world.server, "", &["other", name]).unwrap();
        assert_eq!(viewer.subprotocol, name);
        assert_eq!(viewer.info["name"], "sinew");
        assert!(viewer.info["metadata"]["ROS_DISTRO"].is_string());
        assert_eq!(
            viewer.info["capabilities"],
            json!(["connectionGraph", "parameters", "parametersSubscribe"])
        );
    }
    for others in [&[][..], &["other"]] {
        assert_eq!(Viewer::connect(&world.server, "", others).err(), Some(400));
    }
}

#[test]
fn a_token_opens() {
    let world = World::with(|builder| builder.token("se-cret"));
    for query in ["", "?token=", "?token=se-cre", "?token=se-crets", "?tokens=se-cret"] {
        assert_eq!(Viewer::connect(&world.server, query, SDK).err(), Some(401), "{query}");
    }
    assert!(Viewer::connect(&world.server, "?a=b&token=se-cret", SDK).is_ok());
    for (token, query) in [
        ("a&b c", "?token=a%26b%20c"),
        ("p%q", "?token=p%25q"),
        ("p%q", "?token=p%q"),
        ("50%", "?token=50%"),
        ("ä+", "?token=%C3%a4+"),
    ] {
        let world = World::with(|builder| builder.token(token));
        assert!(Viewer::connect(&world.server, query, SDK).is_ok(), "{query}");
    }
    let header = |value| Viewer::connect_with(&world.server, "", SDK, &[("Authorization", value)]);
    assert!(header("Bearer se-cret").is_ok());
    assert_eq!(header("Bearer other").err(), Some(401));
}

#[test]
fn pages_of_other_origins_stay_outside() {
    let world = World::with(|builder| builder.origin("https://viewer.example"));
    let from = |origin| Viewer::connect_with(&world.server, "", SDK, &[("Origin", origin)]);
    assert!(from("https://viewer.example").is_ok());
    assert_eq!(from("https://other.example").err(), Some(403));
    assert!(Viewer::connect(&world.server, "", SDK).is_ok()); // a program
}

#[test]
fn one_client_too_many_is_refused() {
    let world = World::with(|builder| builder.max_clients(1));
    let first = world.viewer();
    assert_eq!(Viewer::connect(&world.server, "", SDK).err(), Some(503));
    assert_eq!(world.server.statistics().clients, 1);
    drop(first);
    while Viewer::connect(&world.server, "", SDK).is_err() {}
}

#[test]
fn what_is_no_websocket_is_closed() {
    let world = World::new();
    for nonsense in ["GET / HTTP/1.1\r\nHost: a\r\n\r\n", "\0\u{1}\u{2}\r\n\r\n"] {
        let mut stream = TcpStream::connect(world.server.address()).unwrap();
        stream.write_all(nonsense.as_bytes()).unwrap();
        let _ = stream.read_to_end(&mut Vec::new()); // it ends, in whichever way
    }
    world.viewer();
}

#[test]
fn malformed_frames_are_answered() {
    let world = World::with(|builder| builder.allow_publish(true).allow_services(true));
    let mut viewer = world.viewer();
    let texts = [
        ("{", "can't be read"),
        ("[]", "can't be read"),
        (r#"{"op":"dance"}"#, "dance"),
        (r#"{"op":"subscribe"}"#, "subscriptions"),
        (r#"{"op":"subscribe","subscriptions":[{"id":1,"channelId":77}]}"#, "no channel 77"),
        (r#"{"op":"unadvertise","channelIds":[5]}"#, "no channel 5"),
        (r#"{"op":"getParameters","parameterNames":["x"]}"#, "no parameter's name"),
    ];
    for (text, words) in texts {
        viewer.socket.send(Message::text(text)).unwrap();
        assert_eq!(viewer.status(words)["level"], 2);
    }
    for op in ["getParameters", "subscribeParameterUpdates"] {
        viewer.send(json!({ "op": op, "parameterNames": [format!("/a.{}", "b".repeat(510))] }));
        viewer.status("a name has 513 bytes: at most 512");
    }
    for (frame, words) in [
        (&[][..], "empty"),
        (&[1, 2], "too short"),
        (&[1, 9, 0, 0, 0, 1], "no channel 9"),
        (&[7, 7], "the op 7"),
    ] {
        viewer.socket.send(Message::binary(frame.to_vec())).unwrap();
        viewer.status(words);
    }
    viewer.send_binary(2, &[3, 4, 3], b"cdr");
    let failure = viewer.text("serviceCallFailure");
    assert_eq!((&failure["serviceId"], &failure["callId"]), (&json!(3), &json!(4)));
    viewer.socket.send(Message::Ping(vec![1, 2].into())).unwrap();
    while viewer.socket.read().unwrap() != Message::Pong(vec![1, 2].into()) {}
}

#[test]
fn a_message_that_is_too_long_ends_the_connection() {
    let world = World::with(|builder| builder.max_message_size(1000));
    let mut viewer = world.viewer();
    viewer.socket.send(Message::binary(vec![0; 1001])).unwrap();
    assert_eq!(viewer.close_code(), Some(1009));
}

#[test]
fn the_server_says_goodbye() {
    let world = World::new();
    let (mut one, mut other) = (world.viewer(), world.viewer());
    drop(world.server);
    assert_eq!((one.close_code(), other.close_code()), (Some(1001), Some(1001)));
}

#[test]
fn a_handshake_that_trickles_in_does_not_hold_up_the_end() {
    let world = World::with(|builder| builder.max_clients(1));
    let mut slow = TcpStream::connect(world.server.address()).unwrap();
    slow.write_all(b"GET / HTTP/1.1\r\n").unwrap();
    slow.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
    assert_eq!(Viewer::connect(&world.server, "", SDK).err(), Some(503)); // so it is served
    let trickles = std::thread::spawn(move || {
        let is_open = |slow: &mut TcpStream| {
            let quiet = |error: std::io::Error| {
                matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut)
            };
            slow.write_all(b"a").is_ok() && slow.read(&mut [0]).is_err_and(quiet)
        };
        (0..).take_while(|_| is_open(&mut slow)).count()
    });
    drop(world.server);
    let bytes = trickles.join().unwrap();
    assert!(bytes < 30, "{bytes} bytes were waited for");
}

#[test]
fn clients_with_subscriptions_have_ended_when_the_server_has() {
    let context = Context::builder().shared_memory(false).build().unwrap();
    let node = context.node("robot").unwrap();
    let publisher = node.publisher::<Text>("news").create().unwrap();
    let server = ViewServer::builder().port(0).start(&context).unwrap();
    let mut viewers = [0, 1].map(|_| Viewer::connect(&server, "", SDK).unwrap());
    for viewer in &mut viewers {
        let channel = viewer.channel("/news");
        (0..4).for_each(|id| viewer.subscribe(id, &channel));
    }
    assert!(publisher.wait_for_subscribers(8, PATIENCE));
    drop(server); // each subscription that goes changes the graph
    assert_eq!(publisher.subscription_count(), 0);
    assert_eq!(viewers.map(|mut viewer| viewer.close_code()), [Some(1001); 2]);
}

#[test]
fn a_client_that_stops_reading_and_says_goodbye_is_disconnected() {
    let world = World::new();
    let publisher = world.node.publisher::<Image>("camera").create().unwrap();
    let mut viewer = world.viewer();
    let channel = viewer.channel("/camera");
    viewer.subscribe(1, &channel);
    assert!(publisher.wait_for_subscribers(1, PATIENCE));
    // More than sockets hold.
    publisher.publish(Image { data: vec![7; 64 << 20], ..Image::default() }).unwrap();
    viewer.socket.get_mut().read_exact(&mut [0; 1 << 20]).unwrap(); // so it is being written
    viewer.socket.close(None).unwrap();
    assert!(world.node.graph().wait_until(PATIENCE, |graph| graph.subscription_count("/camera") == 0));
}
