//! Faults of a network: routers that go, slow links, peers that send garbage.

use crate::link::{Link, Nature};
use crate::network::{Host, Network, PATIENCE, RosNode, STRING, encoded_text, key_of, patient, wait_for};
use sinew::prelude::*;
use sinew_interfaces::std_msgs::msg::{String as Text, UInt8MultiArray};
use sinew_zenoh::gateway::RouteStatistics;
use sinew_zenoh::wire::token::TokenKind;
use sinew_zenoh::{Gateway, Router};
use zenoh::Wait;

fn text(data: impl Into<String>) -> Text {
    Text { data: data.into() }
}

#[test]
fn a_router_that_is_restarted() -> sinew::Result<()> {
    let network = Network::new();
    let endpoint = network.endpoint();
    // Everything goes through the router: nothing is left when it is gone.
    let mut options = network.options();
    options.client = true;
    options.listen.clear();
    let (one, other) = (Host::new(), Host::new());
    let start = |host: &Host| {
        let builder = Gateway::builder().options(options.clone());
        builder.start_with(&host.context(), &|_| None).expect("a gateway")
    };
    let _gateways = [start(&one), start(&other)];
    let publisher = one.context().node("talker")?.publisher::<Text>("/chatter").create()?;
    let texts = other.context().node("listener")?.subscription::<Text>("/chatter").create()?;
    assert!(publisher.wait_for_subscribers(1, PATIENCE));
    wait_for("a message", || {
        publisher.publish(text("before")).expect("it is open");
        texts.take()
    });
    network.router.close();
    wait_for("they miss each other", || {
        (publisher.subscription_count() == 0 && texts.publisher_count() == 0).then_some(())
    });
    while texts.take().is_some() {}
    let mut again = patient();
    again.listen.push(endpoint);
    let _router = wait_for("the port is free", || Router::start(&|_| None, &again).ok());
    wait_for("a message by the new router", || {
        publisher.publish(text("after")).expect("it is open");
        texts.take().filter(|(text, _)| text.data == "after")
    });
    Ok(())
}

#[test]
fn a_thousand_ends_come_and_go() {
    let (network, host) = (Network::new(), Host::new());
    let gateway = host.gateway(&network);
    let ros = RosNode::new(&network, "crowd");
    for _ in 0..2 {
        let tokens: Vec<_> = (0..1000)
            .map(|number| {
                let kind =
                    [TokenKind::Publisher, TokenKind::Subscription, TokenKind::Server, TokenKind::Client];
                ros.tell(kind[number % 4], &format!("/topic{number}"), STRING, QoS::new())
            })
            .collect();
        wait_for("all are known", || (gateway.statistics().remote == 1001).then_some(()));
        drop(tokens);
        wait_for("all are gone", || (gateway.statistics().remote == 1).then_some(()));
        let statistics = gateway.statistics();
        assert!(statistics.topics.is_empty() && statistics.services.is_empty());
    }
}

#[test]
fn garbage_in_messages_is_counted_and_left_out() -> sinew::Result<()> {
    let (network, host) = (Network::new(), Host::new());
    let gateway = host.gateway(&network);
    let node = host.context().node("listener")?;
    let texts = node.subscription::<Text>("/chatter").create()?;
    let ros = RosNode::client(&network, "talker");
    let publisher = ros.publisher("/chatter", STRING, QoS::new());
    wait_for("a message", || {
        publisher.publish(&encoded_text("good"), 1);
        texts.take()
    });
    let before = gateway.statistics().topics[0].2;
    let key = key_of("/chatter", STRING);
    let put = |payload: &[u8], attachment: Option<&[u8]>| {
        let put = ros.session.put(key.clone(), payload);
        let attachment = attachment.map(<[u8]>::to_vec);
        put.attachment(attachment).wait().expect("the session is open");
    };
    put(b"", None);
    put(b"no attachment", None);
    put(b"a wrong one", Some(b"x"));
    put(&encoded_text("negative"), Some(&[0xff; 33]));
    // These have the publisher's gid, but are no texts.
    for image in [&b""[..], b"\0", b"\0\x01\0\0", b"\0\x01\0\0\xff\xff\xff\xff", &[0xff; 5000]] {
        publisher.publish(image, 2);
    }
    wait_for("a good one behind them", || {
        publisher.publish(&encoded_text("good again"), 3);
        texts.take().filter(|(text, _)| text.data == "good again")
    });
    wait_for("all of it is counted", || {
        (gateway.statistics().topics[0].2.refused >= before.refused + 4).then_some(())
    });
    Ok(())
}

#[test]
fn a_fast_camera_on_a_slow_link() -> sinew::Result<()> {
    let network = Network::new();
    let nature = Nature { rate: Some(2000), ..Nature::default() }; // 2 MB/s at most
    let link = Link::new(&network.endpoint(), nature);
    let (one, other) = (Host::new(), Host::new());
    let mut options = patient();
    options.client = true;
    options.connect.push(link.endpoint.clone());
    let builder = Gateway::builder().options(options);
    let gateway = builder.start_with(&one.context(), &|_| None).expect("a gateway");
    let _far = other.gateway(&network);
    let node = one.context().node("camera")?;
    let camera = node.publisher::<UInt8MultiArray>("/image").qos(QoS::new().keep_last(2)).create()?;
    let far = other.context().node("viewer")?;
    let images = far.subscription::<UInt8MultiArray>("/image").qos(QoS::new().keep_all()).create()?;
    assert!(camera.wait_for_subscribers(1, PATIENCE));
    wait_for("the first", || {
        camera
            .publish(UInt8MultiArray { data: vec![0; 10], ..UInt8MultiArray::default() })
            .expect("it is open");
        images.take()
    });
    // 20 MB, which would take the link 10 seconds: the camera doesn't wait.
    let before = camera.statistics().published;
    wait_for("the camera is ahead of the link", || {
        for number in 1..=100u8 {
            let image = UInt8MultiArray { data: vec![number; 200_000], ..UInt8MultiArray::default() };
            camera.publish(image).expect("it is open");
            std::thread::sleep(Duration::from_millis(2));
        }
        counts_of(&gateway, "/image").filter(|counts| counts.unsent > 0)
    });
    let last =
        wait_for("the last one", || images.take().filter(|(image, _)| image.data.first() == Some(&100)));
    assert_eq!(last.0.data.len(), 200_000);
    let published = camera.statistics().published;
    assert!(published - before >= 100);
    wait_for("each was sent, or is counted", || {
        let counts = gateway.statistics().topics.iter().find(|(name, ..)| name == "/image")?.2;
        (counts.unsent > 0 && counts.sent + counts.unsent == published).then_some(())
    });
    Ok(())
}

fn image(byte: u8, length: usize) -> UInt8MultiArray {
    UInt8MultiArray { data: vec![byte; length], ..UInt8MultiArray::default() }
}

/// A gateway at the near end of a link that takes 400 kB/s at most.
fn slow_gateway(network: &Network, host: &Host) -> (Link, Gateway) {
    let link = Link::new(&network.endpoint(), Nature { rate: Some(400), ..Nature::default() });
    let mut options = patient();
    options.client = true;
    options.connect.push(link.endpoint.clone());
    let gateway = Gateway::builder().options(options).start_with(&host.context(), &|_| None);
    (link, gateway.expect("a gateway"))
}

fn counts_of(gateway: &Gateway, topic: &str) -> Option<RouteStatistics> {
    gateway.statistics().topics.iter().find(|(name, ..)| name == topic).map(|(.., counts)| *counts)
}

/// A camera wants sixty times what the link takes. Each message of a small topic gets through
/// nevertheless, and a second camera gets its share.
#[test]
fn a_camera_on_a_slow_link_starves_no_other_topic() -> sinew::Result<()> {
    const COUNT: u64 = 400;
    let (network, one, other) = (Network::new(), Host::new(), Host::new());
    let (_link, gateway) = slow_gateway(&network, &one);
    let _far = other.gateway(&network);
    let (here, there) = (one.context().node("robot")?, other.context().node("desk")?);
    let camera =
        |name, depth| here.publisher::<UInt8MultiArray>(name).qos(QoS::new().keep_last(depth)).create();
    let viewer = |name| there.subscription::<UInt8MultiArray>(name).qos(QoS::new().keep_all()).create();
    // The same number of bytes is published on both topics, and waits.
    let (front, back) = (camera("/front", 5)?, camera("/back", 10)?);
    let (fronts, backs) = (viewer("/front")?, viewer("/back")?);
    let state = here.publisher::<Text>("/state").qos(QoS::new().keep_all()).create()?;
    let states = there.subscription::<Text>("/state").qos(QoS::new().keep_all()).create()?;
    let is_matched = |count: usize| (count == 1).then_some(());
    wait_for("the ways are open", || is_matched(states.publisher_count().min(state.subscription_count())));
    wait_for("the ways are open", || is_matched(fronts.publisher_count().min(front.subscription_count())));
    wait_for("the ways are open", || is_matched(backs.publisher_count().min(back.subscription_count())));
    let publish_images = || -> sinew::Result<()> {
        front.publish(image(1, 120_000))?;
        back.publish(image(2, 60_000))?;
        Ok(back.publish(image(2, 60_000))?)
    };
    for number in 0..COUNT {
        publish_images()?;
        state.publish(text(number.to_string()))?;
        std::thread::sleep(Duration::from_millis(5));
    }
    for number in 0..COUNT {
        let (state, _) = wait_for("each state", || states.take());
        assert_eq!(state.data, number.to_string());
    }
    assert_eq!(counts_of(&gateway, "/state").map(|counts| (counts.sent, counts.unsent)), Some((COUNT, 0)));
    let of_cameras = || ["/front", "/back"].map(|name| counts_of(&gateway, name).expect("it is there"));
    let all_gone = |[front, back]: &[RouteStatistics; 2], count: u64| {
        front.sent + front.unsent == count && back.sent + back.unsent == 2 * count
    };
    let [front, back] = wait_for("all of it was sent, or gave way", || {
        Some(of_cameras()).filter(|counts| all_gone(counts, COUNT))
    });
    let (small, large) = (back.sent_bytes.min(front.sent_bytes), back.sent_bytes.max(front.sent_bytes));
    assert!(large - small <= 8 * 120_000, "they share the link by bytes: {front:?}, {back:?}");
    assert!(front.unsent > COUNT / 2 && back.sent > 0);
    // A state that waits behind the images would overtake none, however often.
    let (mut images, mut states) = (COUNT, COUNT);
    wait_for("a state that goes while images wait", || {
        // Until the link and all queues are full.
        let [before, _] = of_cameras();
        wait_for("images give way", || {
            publish_images().expect("they are open");
            images += 1;
            (of_cameras()[0].unsent > before.unsent).then_some(())
        });
        state.publish(text("on time")).expect("it is open");
        states += 1;
        wait_for("it goes", || counts_of(&gateway, "/state").filter(|counts| counts.sent == states));
        (!all_gone(&of_cameras(), images)).then_some(())
    });
    Ok(())
}

/// Returns the time for ending a gateway with six seconds' work for its link.
fn time_of_an_end() -> sinew::Result<Duration> {
    let (network, one, other) = (Network::new(), Host::new(), Host::new());
    let (_link, gateway) = slow_gateway(&network, &one);
    let _far = other.gateway(&network);
    let camera = one.context().node("robot")?.publisher::<UInt8MultiArray>("/image").create()?;
    let images = other.context().node("desk")?.subscription::<UInt8MultiArray>("/image").create()?;
    assert!(camera.wait_for_subscribers(1, PATIENCE));
    wait_for("they match", || (images.publisher_count() == 1).then_some(()));
    for _ in 0..20 {
        camera.publish(image(1, 120_000))?;
    }
    wait_for("it is busy", || counts_of(&gateway, "/image").filter(|counts| counts.sent > 0));
    let begin = std::time::Instant::now();
    gateway.close();
    Ok(begin.elapsed())
}

/// While a large message waits for the link, another publisher of its topic publishes many: neither
/// displaces the other's retained messages, and a late joiner gets all of them.
#[test]
fn what_each_publisher_retains_gets_over_a_slow_link() -> sinew::Result<()> {
    const LARGE: u8 = 4;
    const SMALL: u64 = 100;
    let (network, one, other) = (Network::new(), Host::new(), Host::new());
    let (_link, gateway) = slow_gateway(&network, &one);
    let _far = other.gateway(&network);
    let node = one.context().node("mapper")?;
    let kept = QoS::new().transient_local();
    let maps = node.publisher::<UInt8MultiArray>("/map").qos(kept.keep_last(2)).create()?;
    let poses = node.publisher::<UInt8MultiArray>("/map").qos(kept.keep_last(1)).create()?;
    [&maps, &poses].into_iter().try_for_each(|publisher| publisher.publish(image(0, 1)))?;
    let counts = || counts_of(&gateway, "/map");
    wait_for("both are known", || counts().filter(|counts| counts.sent == 2));
    for large in 1..=LARGE {
        maps.publish(image(large, 120_000))?;
        for small in 1..=SMALL {
            poses.publish(image(100 + large, if small == SMALL { 2 } else { 1 }))?;
        }
    }
    let all = 2 + u64::from(LARGE) * (1 + SMALL);
    wait_for("each was sent, or gave way", || {
        counts().filter(|counts| counts.sent + counts.unsent == all && counts.unsent > 0)
    });
    let joiner = other.context().node("viewer")?;
    let joined = joiner.subscription::<UInt8MultiArray>("/map").qos(kept.keep_last(10)).create()?;
    // Messages that are still on the link come first.
    let (mut large, mut small) = (Vec::new(), Vec::new());
    while large.last() != Some(&LARGE) || small.last() != Some(&2) {
        let (image, _) = wait_for("what is retained", || joined.take());
        match image.data.len() {
            120_000 => large.push(image.data[0]),
            length => small.push(length),
        }
    }
    assert!(large.ends_with(&[LARGE - 1, LARGE]) && large.is_sorted(), "{large:?}");
    Ok(())
}

/// A busy machine may hold it up for as long, but not each time.
#[test]
fn a_gateway_on_a_slow_link_ends() -> sinew::Result<()> {
    let mut times = Vec::new();
    wait_for("an end that doesn't wait for zenoh's ten seconds", || {
        times.push(time_of_an_end().expect("it is made"));
        assert!(times.len() < 5, "{times:?}");
        (times[times.len() - 1] < Duration::from_secs(9)).then_some(())
    });
    Ok(())
}
