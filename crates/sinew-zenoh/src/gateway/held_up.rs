//! Messages that arrive while the gateway's thread is held up, as on a busy machine.
#![expect(clippy::disallowed_methods, reason = "time has to pass meanwhile")]

#[allow(dead_code, reason = "not all of it is needed here")]
#[path = "../../tests/gateway/network.rs"]
mod network;

use super::change::Change;
use super::{Gateway, carrier, incoming};
use network::{Host, Network, PATIENCE, RosNode, STRING, encoded_text, wait_for};
use sinew::prelude::*;
use sinew::time::Time;
use sinew_interfaces::std_msgs::msg::String as Text;
use std::sync::mpsc::{self, Sender};
use zenoh::Wait;

/// Blocks a gateway's thread until this is dropped.
struct Held(#[expect(dead_code, reason = "its end is what counts")] Sender<()>);

impl Held {
    fn up(gateway: &Gateway) -> Self {
        let (until, gone) = mpsc::channel::<()>();
        let (there, is_there) = mpsc::channel();
        let wait = move || {
            there.send(()).expect("the test waits");
            let _ = gone.recv(); // ends with the sender
        };
        gateway.changes.send(Change::Later(Time::steady(), Box::new(wait))).expect("it is at work");
        is_there.recv_timeout(PATIENCE).expect("it is at work");
        Self(until)
    }
}

fn text(data: impl Into<String>) -> Text {
    Text { data: data.into() }
}

#[test]
fn a_publisher_that_came_meanwhile_is_no_stranger() -> sinew::Result<()> {
    let (network, one, other) = (Network::new(), Host::new(), Host::new());
    let (near, _far) = (one.client_gateway(&network), other.client_gateway(&network));
    let deep = QoS::new().keep_last(100);
    let texts = other.context().node("listener")?.subscription::<Text>("/chatter").qos(deep).create()?;
    let node = one.context().node("talkers")?;
    let first = node.publisher::<Text>("/chatter").qos(deep).create()?;
    assert!(first.wait_for_subscribers(1, PATIENCE));
    let held = Held::up(&near);
    let second = node.publisher::<Text>("/chatter").qos(deep).create()?;
    assert!(second.wait_for_subscribers(1, PATIENCE), "it matches what is there for others");
    second.publish(text("of one that is new"))?;
    std::thread::sleep(carrier::ACQUAINTANCE + Duration::from_millis(100));
    first.publish(text("of one that is known"))?; // makes a thread look at waiting messages
    drop(held);
    let next = || wait_for("what waited", || texts.take()).0.data.clone();
    let mut both = [next(), next()];
    both.sort();
    assert_eq!(both, ["of one that is known", "of one that is new"]);
    let topics = near.statistics().topics;
    assert_eq!((topics[0].2.sent, topics[0].2.unsent), (2, 0));
    Ok(())
}

#[test]
fn a_token_that_came_meanwhile_is_known_before_messages_go_to_another() -> sinew::Result<()> {
    let (network, host) = (Network::new(), Host::new());
    let gateway = host.gateway(&network);
    let deep = QoS::new().keep_last(100);
    let texts = host.context().node("listener")?.subscription::<Text>("/chatter").qos(deep).create()?;
    let ros = RosNode::client(&network, "talker");
    let silent = ros.publisher("/chatter", STRING, QoS::new());
    wait_for("the silent one", || (texts.publisher_count() == 1).then_some(()));
    ros.wait_until_heard("/chatter");
    let held = Held::up(&gateway);
    let token = ros.late_token();
    ros.put_of(&token, 1);
    let _token = ros.session.liveliness().declare_token(&token).wait().expect("the session is open");
    std::thread::sleep(incoming::UNTOLD + Duration::from_millis(100));
    drop(held);
    ros.put_of(&token, 2);
    let next = || wait_for("a message", || texts.take());
    let late = [1, 2].map(|number: u64| {
        let (text, info) = next();
        assert_eq!(text.data, number.to_string());
        info.publisher()
    });
    silent.publish(&encoded_text("at last"), 2);
    let (text, info) = next();
    assert_eq!(text.data, "at last");
    assert!(late[0] == late[1] && late[0] != info.publisher(), "whose is whose");
    Ok(())
}
