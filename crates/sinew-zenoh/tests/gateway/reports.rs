//! A gateway's reports, read from outside as tools read them.

use crate::network::{Host, Network, PATIENCE, RosNode, STRING, encoded_text, key_of, patient, wait_for};
use sinew::gateway::{GatewayWord, LinkWord, Report, ServiceWord, SessionWord, TopicWord};
use sinew::prelude::*;
use sinew_interfaces::example_interfaces::srv::{AddTwoInts, AddTwoIntsRequest, AddTwoIntsResponse};
use sinew_interfaces::std_msgs::msg::String as Text;
use sinew_shm::inspect::Snapshot;
use sinew_shm::{Counts, Endpoint};
use sinew_zenoh::wire::attachment::Attachment;
use sinew_zenoh::{Gateway, Router};
use zenoh::Wait;

/// Returns all reports of a kind in a host's directory.
fn reports(host: &Host, kind: Report) -> Vec<(Endpoint, Counts)> {
    let domain = sinew_shm::Domain::find(Some(host.path()), 7).expect("it can be read").expect("it is there");
    let snapshot = Snapshot::take(&domain).expect("it can be read");
    let of = |peer: &std::sync::Arc<sinew_shm::Peer>| {
        let peer = peer.clone();
        let all = peer.endpoints();
        all.into_iter().filter_map(move |(key, end)| Some((end, peer.counts(key)?)))
    };
    snapshot.peers().iter().flat_map(of).filter(|(end, _)| Report::of(end) == Some(kind)).collect()
}

/// Waits until a report's counter has that value.
fn wait_for_word(host: &Host, kind: Report, name: &str, (word, value): (usize, u64)) {
    wait_for(&format!("word {word} of {kind:?} {name} is {value}"), || {
        let all = reports(host, kind);
        all.iter().any(|(end, counts)| end.name == name && counts.word(word) == value).then_some(())
    });
}

fn id_of(ros: &RosNode) -> String {
    ros.session.zid().to_string()
}

#[test]
fn topics_and_services_are_counted() -> Result<(), Box<dyn std::error::Error>> {
    let (network, one, other) = (Network::new(), Host::new(), Host::new());
    let (near, far) = (one.gateway(&network), other.gateway(&network));
    let talker = one.context().node("talker")?;
    let publisher = talker.publisher::<Text>("/chatter").create()?;
    let listener = other.context().node("listener")?;
    let texts = listener.subscription::<Text>("/chatter").create()?;
    assert!(publisher.wait_for_subscribers(1, PATIENCE));
    wait_for("a message", || {
        publisher.publish(Text { data: "some".to_owned() }).expect("it is open");
        texts.take()
    });
    for (host, gateway) in [(&one, &near), (&other, &far)] {
        // Messages in transit may still be counted.
        wait_for("the same from inside and outside", || {
            let [(_, of, inside)] = &gateway.statistics().topics[..] else { return None };
            let [(end, counts)] = &reports(host, Report::Topic)[..] else { return None };
            assert_eq!(
                (end.name.as_str(), end.type_name.as_str(), of.as_str()),
                ("/chatter", STRING.0, STRING.0)
            );
            let outside = [
                (TopicWord::Sent, inside.sent),
                (TopicWord::SentBytes, inside.sent_bytes),
                (TopicWord::Received, inside.received),
                (TopicWord::ReceivedBytes, inside.received_bytes),
                (TopicWord::Refused, inside.refused),
            ];
            let is_some = inside.sent + inside.received > 0;
            (is_some && outside.iter().all(|(word, count)| counts.word(*word as usize) == *count))
                .then_some(())
        });
    }
    assert_eq!(reports(&other, Report::Topic)[0].1.word(TopicWord::Sent as usize), 0);
    assert_eq!(reports(&one, Report::Topic)[0].1.word(TopicWord::Received as usize), 0);

    let adder = one.context().node("adder")?;
    let _server = adder
        .server::<AddTwoInts>("/add")
        .callback(|request: &AddTwoIntsRequest| AddTwoIntsResponse { sum: request.a + request.b })?;
    let executor = sinew::Executor::single();
    executor.add(&adder)?;
    let stop = executor.stop_handle();
    let serving = std::thread::spawn(move || executor.spin());
    let client = listener.client::<AddTwoInts>("/add").create()?;
    assert!(client.wait_for_server(PATIENCE));
    assert_eq!(client.call(AddTwoIntsRequest { a: 1, b: 2 }, PATIENCE)?.sum, 3);
    for host in [&one, &other] {
        for word in [ServiceWord::Asked, ServiceWord::Answered] {
            wait_for_word(host, Report::Service, "/add", (word as usize, 1));
        }
    }
    stop.stop();
    serving.join().expect("no callback panics")?;
    near.close();
    wait_for("all of it is gone with the gateway", || {
        [Report::Gateway, Report::Link, Report::Session, Report::Topic, Report::Service]
            .iter()
            .all(|kind| reports(&one, *kind).is_empty())
            .then_some(())
    });
    Ok(())
}

#[test]
fn links_and_sessions_are_told_of() {
    let (network, host) = (Network::new(), Host::new());
    let gateway = host.gateway(&network);
    let ros = RosNode::new(&network, "node");
    let id = id_of(&ros);
    wait_for_word(&host, Report::Session, &id, (SessionWord::Reached as usize, 1));
    wait_for_word(&host, Report::Session, &id, (SessionWord::Nodes as usize, 1));
    wait_for_word(&host, Report::Link, &id, (LinkWord::Role as usize, 2));
    wait_for_word(&host, Report::Link, &network.router.id(), (LinkWord::Role as usize, 1));
    let [(about, counts)] = &reports(&host, Report::Gateway)[..] else { panic!("one") };
    assert_eq!((&about.name, &about.type_name), (&gateway.statistics().session, &network.endpoint()));
    assert_eq!(counts.word(GatewayWord::WantsRouter as usize), 0, "it was told where to connect to");
    assert_eq!(reports(&host, Report::Session)[0].0.node, "/ros/node");
    drop(ros);
    wait_for("it is gone", || {
        (reports(&host, Report::Session).is_empty() && reports(&host, Report::Link).len() == 1).then_some(())
    });
}

/// Routers before zenoh 1.10 announce each other's nodes to their peers, whether these reach each
/// other or not.
#[test]
fn a_session_that_cannot_be_reached_is_known() {
    let (network, host) = (Network::new(), Host::new());
    let _gateway = host.gateway(&network);
    let heard = RosNode::new(&network, "heard");
    let mut options = network.options();
    options.client = true;
    options.listen.clear();
    let client = RosNode::of(network.session_with(&options), "client");
    let silent = "8b20917502ee955ac4476e0266340d5c";
    let key = format!("@ros2_lv/7/{silent}/0/0/NN/%/%/silent");
    let _token = heard.session.liveliness().declare_token(key).wait().expect("the session is open");
    wait_for_word(&host, Report::Session, silent, (SessionWord::Reached as usize, 2));
    for ros in [&heard, &client] {
        wait_for_word(&host, Report::Session, &id_of(ros), (SessionWord::Reached as usize, 1));
    }
    assert!(reports(&host, Report::Link).iter().all(|(link, _)| link.name != id_of(&client)));

    // A gateway that sends everything through the router reaches the same.
    let other = Host::new();
    let builder = Gateway::builder().options(options);
    let _gateway = builder.start_with(&other.context(), &|_| None).expect("a gateway");
    for ros in [&heard, &client] {
        wait_for_word(&other, Report::Session, &id_of(ros), (SessionWord::Reached as usize, 1));
    }
    wait_for_word(&other, Report::Session, silent, (SessionWord::Reached as usize, 2));
}

/// Behind another router a peer needs no link.
#[test]
fn a_peer_behind_another_router_is_reached() {
    let (network, host) = (Network::new(), Host::new());
    let mut options = patient();
    options.listen.push("tcp/127.0.0.1:0".to_owned());
    options.connect.push(network.endpoint());
    let second = Network { router: Router::start(&|_| None, &options).expect("a port is free") };
    let _gateway = host.gateway(&network);
    let mut options = second.options();
    options.listen.clear();
    options.set.push(("listen/endpoints".to_owned(), "[]".to_owned()));
    options.set.push(("scouting/gossip/enabled".to_owned(), "false".to_owned()));
    let far = RosNode::of(network.session_with(&options), "far");
    wait_for_word(&host, Report::Session, &id_of(&far), (SessionWord::Reached as usize, 1));
    assert!(reports(&host, Report::Link).iter().all(|(link, _)| link.name != id_of(&far)));
}

#[test]
fn clocks_are_compared() -> sinew::Result<()> {
    const HOUR: i64 = 3_600_000_000_000;
    let (network, host) = (Network::new(), Host::new());
    let _gateway = host.gateway(&network);
    let node = host.context().node("listener")?;
    let lates = node.subscription::<Text>("/late").create()?;
    let earlies = node.subscription::<Text>("/early").create()?;
    let keeping = |name: &str| node.subscription::<Text>(name).qos(QoS::new().transient_local()).create();
    let (kept, kept_early) = (keeping("/kept")?, keeping("/kept_early")?);
    let behind = |ros: &RosNode| {
        let all = reports(&host, Report::Session);
        let (_, counts) = all.iter().find(|(end, _)| end.name == id_of(ros)).expect("it is there");
        let compared = counts.word(SessionWord::Compared as usize);
        (compared > 0).then(|| counts.word(SessionWord::Behind as usize).cast_signed())
    };
    let clock = node.clone();
    let heard = |ros: &RosNode, name, qos, texts: &Subscription<Text>, apart: i64| {
        let publisher = ros.publisher(name, STRING, qos);
        wait_for("a message", || {
            publisher.publish(&encoded_text("x"), clock.now().nanoseconds() + apart);
            texts.take()
        });
    };
    let ros =
        [RosNode::new(&network, "late"), RosNode::new(&network, "early"), RosNode::new(&network, "keeps")];
    let [late, early, keeps] = &ros;
    heard(late, "/late", QoS::new(), &lates, -HOUR);
    let by = behind(late).expect("it was compared");
    assert!((HOUR..2 * HOUR).contains(&by), "{by}");
    heard(early, "/early", QoS::new(), &earlies, HOUR);
    let by = behind(early).expect("it was compared");
    assert!((-2 * HOUR..0).contains(&by), "{by}");
    // A message that was retained for an hour tells nothing about the clock.
    heard(keeps, "/kept", QoS::new().transient_local(), &kept, -HOUR);
    assert_eq!(behind(keeps), None);
    heard(keeps, "/kept_early", QoS::new().transient_local(), &kept_early, HOUR);
    assert!(behind(keeps).is_some_and(|by| by < 0), "it can't have been published yet");
    Ok(())
}

#[test]
fn attachments_of_an_old_rmw_zenoh_are_counted() -> sinew::Result<()> {
    let (network, host) = (Network::new(), Host::new());
    let _gateway = host.gateway(&network);
    let node = host.context().node("listener")?;
    let texts = node.subscription::<Text>("/chatter").create()?;
    let ros = RosNode::client(&network, "talker");
    let publisher = ros.publisher("/chatter", STRING, QoS::new());
    wait_for("a message", || {
        publisher.publish(&encoded_text("good"), 1);
        texts.take()
    });
    let old = [&b"\x0fsequence_number"[..], &[1; 8], b"\x10source_timestamp", &[1; 8]].concat();
    let put = ros.session.put(key_of("/chatter", STRING), encoded_text("old")).attachment(old);
    put.wait().expect("the session is open");
    wait_for_word(&host, Report::Topic, "/chatter", (TopicWord::Old as usize, 1));
    wait_for_word(&host, Report::Topic, "/chatter", (TopicWord::Refused as usize, 1));
    // An attachment with another error isn't counted as an old one.
    let attachment = Attachment { sequence: -1, time: 0, gid: publisher.gid, chain: None };
    let put = ros.session.put(key_of("/chatter", STRING), encoded_text("wrong"));
    put.attachment(attachment.to_bytes().to_vec()).wait().expect("the session is open");
    wait_for_word(&host, Report::Topic, "/chatter", (TopicWord::Refused as usize, 2));
    wait_for_word(&host, Report::Topic, "/chatter", (TopicWord::Old as usize, 1));
    Ok(())
}

#[test]
fn nodes_of_another_domain_are_seen_while_there_are_none_of_this_one() {
    let (network, host) = (Network::new(), Host::new());
    let _gateway = host.gateway(&network);
    let session = network.session();
    let token = |domain: u32, node: u32| {
        let key = format!("@ros2_lv/{domain}/{}/{node}/{node}/NN/%/%/talker{node}", session.zid());
        session.liveliness().declare_token(key).wait().expect("the session is open")
    };
    let word = |(domain, nodes): (u64, u64)| {
        wait_for(&format!("{nodes} nodes of {domain}"), || {
            let all = reports(&host, Report::Gateway);
            let (_, counts) = all.first()?;
            let of = |word: GatewayWord| counts.word(word as usize);
            ((of(GatewayWord::OtherDomain), of(GatewayWord::OtherNodes)) == (domain, nodes)).then_some(())
        });
    };
    let others = [token(5, 0), token(5, 1), token(0, 2)];
    word((6, 2));
    let own = token(7, 3);
    word((0, 0));
    drop(own);
    word((6, 2));
    drop(others);
    word((0, 0));
}
