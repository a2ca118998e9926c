//! Messages, both ways.

use crate::network::{Announced, Host, Network, PATIENCE, RosNode, STRING, encoded_text, key_of, wait_for};
use parking_lot::Mutex;
use sinew::event::MessageLost;
use sinew::msg::{GenericType, Transport};
use sinew::prelude::*;
use sinew_interfaces::sensor_msgs::msg::Image;
use sinew_interfaces::std_msgs::msg::String as Text;
use sinew_zenoh::Gateway;
use sinew_zenoh::gateway::RouteStatistics;
use sinew_zenoh::rules::RuleOptions;
use sinew_zenoh::wire::attachment::Attachment;
use sinew_zenoh::wire::buffer;
use sinew_zenoh::wire::token::TokenKind;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use zenoh::Wait;
use zenoh_ext::AdvancedPublisherBuilderExt;

fn text(data: impl Into<String>) -> Text {
    Text { data: data.into() }
}

/// Returns a gateway's counters for a topic.
fn counts_of(gateway: &Gateway, topic: &str) -> Option<RouteStatistics> {
    gateway.statistics().topics.iter().find(|(name, ..)| name == topic).map(|(.., counts)| *counts)
}

fn qos() -> QoS {
    QoS::new().keep_last(10)
}

#[test]
fn what_ros_2_publishes_comes_as_it_was() -> sinew::Result<()> {
    let (network, host) = (Network::new(), Host::new());
    let _gateway = host.gateway(&network);
    let node = host.context().node("listener")?;
    let lost = Arc::new(AtomicU64::new(0));
    let losses = lost.clone();
    let texts = node
        .subscription::<Text>("/chatter")
        .on_message_lost(move |event: &MessageLost| losses.store(event.total, Ordering::Relaxed))
        .create()?;
    let ros = RosNode::client(&network, "talker");
    let publisher = ros.publisher("/chatter", STRING, qos());
    wait_for("a publisher of the network", || (texts.publisher_count() == 1).then_some(()));
    ros.wait_until_heard("/chatter");
    let now = node.now().nanoseconds();
    for number in 1..=3 {
        publisher.publish(&encoded_text(&format!("{number}")), now + number);
        let (text, info) = wait_for("a message of ROS 2", || texts.take());
        assert_eq!((text.data.as_str(), info.transport()), (&*number.to_string(), Transport::Network));
        let apart = (info.source_time().nanoseconds() - (now + number)).abs();
        assert!(
            apart < 50_000_000,
            "it is told to the nanosecond, but for what the host's clocks differ: {apart}"
        );
    }
    publisher.skip(3);
    publisher.publish(&encoded_text("after a gap"), now);
    assert_eq!(wait_for("a message after a gap", || texts.take()).0.data, "after a gap");
    let executor = sinew::Executor::single();
    executor.add(&node)?;
    executor.spin_all(PATIENCE)?;
    assert_eq!(lost.load(Ordering::Relaxed), 3);
    drop(publisher);
    wait_for("it is gone", || (texts.publisher_count() == 0).then_some(()));
    Ok(())
}

#[test]
fn a_message_that_comes_again_is_left_out() -> sinew::Result<()> {
    let (network, host) = (Network::new(), Host::new());
    let _gateway = host.gateway(&network);
    let node = host.context().node("listener")?;
    let texts = node.subscription::<Text>("/chatter").create()?;
    let ros = RosNode::client(&network, "talker");
    let publisher = ros.publisher("/chatter", STRING, qos());
    wait_for("a publisher of the network", || (texts.publisher_count() == 1).then_some(()));
    // It counts from 0, as hiroz does.
    let first = || {
        publisher.skip(-1);
        publisher.publish(&encoded_text("first"), 1);
    };
    let (text, _) = wait_for("the first message", || {
        first();
        texts.take()
    });
    assert_eq!(text.data, "first");
    first();
    publisher.publish(&encoded_text("second"), 1);
    assert_eq!(wait_for("the second message", || texts.take()).0.data, "second");
    Ok(())
}

/// It publishes as soon as it exists, as a node that reports its state once.
#[test]
fn the_first_message_of_a_publisher_reaches_all_that_listened_before() -> sinew::Result<()> {
    const HOW_OFTEN: usize = 20;
    let (network, host) = (Network::new(), Host::new());
    let gateway = host.gateway(&network);
    // A stopped program holds up no other.
    let _stopped = Announced::subscription(&host, "/chatter", STRING);
    let ros = RosNode::client(&network, "talker");
    let mut listeners = Vec::new();
    for number in 0..HOW_OFTEN {
        listeners.push(host.context().node("listener")?.subscription::<Text>("/chatter").create()?);
        wait_for("the gateway knows it", || (gateway.statistics().local > 2 * listeners.len()).then_some(()));
        ros.wait_until_heard("/chatter");
        let publisher = ros.publisher("/chatter", STRING, qos());
        for part in ["first", "second"] {
            publisher.publish(&encoded_text(&format!("{part} of {number}")), 1);
        }
        for listener in &listeners {
            for part in ["first", "second"] {
                let (text, _) = wait_for("what it published", || listener.take());
                assert_eq!(text.data, format!("{part} of {number}"));
            }
        }
    }
    Ok(())
}

/// The thread through which the gateway's own endpoints learn of others is held up, as on a busy
/// machine.
#[test]
fn a_subscription_that_is_told_of_gets_what_is_published() -> sinew::Result<()> {
    let (network, host) = (Network::new(), Host::new());
    let context = host.context();
    let mut rules = RuleOptions::default();
    rules.deny.push("/hold".to_owned());
    let gateway = Gateway::builder().options(network.options()).rules(rules);
    let gateway = gateway.start_with(&context, &|_| None).expect("a gateway");
    let ros = RosNode::client(&network, "talker");
    let publisher = ros.publisher("/chatter", STRING, qos());
    wait_for("the gateway knows it", || (gateway.statistics().remote == 2).then_some(()));
    let (held, is_held) = mpsc::channel();
    let (release, released) = mpsc::channel::<()>();
    let released = Mutex::new(released);
    let kept = qos().transient_local();
    // It is retained before the subscription exists: only the thread that learns of others brings
    // it in, as nothing takes there.
    let holder = host.context().node("holder")?.publisher::<Text>("/hold").qos(kept).create()?;
    holder.publish(text("hold"))?;
    let holding = context.node("holding")?;
    // The gateway's own thread looks as well when it makes something: it is not to be held up.
    let hold = Arc::new(move |_: &Text| {
        let is_reader = thread::current().name() == Some("sinew-shm");
        let _ = held.send(is_reader);
        if is_reader {
            let _ = released.lock().recv(); // until the test is over
        }
        true
    });
    let _holding = loop {
        let hold = hold.clone();
        let filter = move |message: &Text| hold(message);
        let holding = holding.subscription::<Text>("/hold").qos(kept).filter(filter).create()?;
        if is_held.recv_timeout(PATIENCE).expect("a thread reads it") {
            break holding;
        }
    };
    let (tells, told) = mpsc::channel();
    // With history: the token may be there before the router learns of this interest in it.
    let tokens = ros.session.liveliness().declare_subscriber("@ros2_lv/7/*/*/*/MS/**").history(true);
    let tell = move |_| {
        let _ = tells.send(());
    };
    let _tokens = tokens.callback(tell).wait().expect("it is open");
    let texts = host.context().node("listener")?.subscription::<Text>("/chatter").create()?;
    told.recv_timeout(PATIENCE).expect("it is told of");
    publisher.publish(&encoded_text("at once"), 1);
    let got = wait_for("what is published then", || texts.take());
    drop(release);
    assert_eq!(got.0.data, "at once");
    Ok(())
}

#[test]
fn ros_2_gets_what_is_published_here() -> sinew::Result<()> {
    let (network, host) = (Network::new(), Host::new());
    let gateway = host.gateway(&network);
    let node = host.context().node("talker")?;
    let publisher = node.publisher::<Text>("/chatter").create()?;
    publisher.publish(text("no subscription there yet"))?;
    let ros = RosNode::client(&network, "listener");
    let subscription = ros.subscription("/chatter", STRING, qos());
    assert!(publisher.wait_for_subscribers(1, PATIENCE), "those of the network count");
    let before = node.now().nanoseconds();
    let mut gid = None;
    for number in 2..=5 {
        publisher.publish(text(number.to_string()))?;
        let (image, attachment) = subscription.next();
        assert_eq!(image, encoded_text(&number.to_string())[..image.len()]);
        assert_eq!((attachment.sequence, attachment.gid), (number, *gid.get_or_insert(attachment.gid)));
        assert!(attachment.time >= before - 50_000_000, "the time of its publication");
    }
    assert_eq!(gateway.statistics().topics.len(), 1);
    drop(subscription);
    wait_for("it is gone", || (publisher.subscription_count() == 0).then_some(()));
    Ok(())
}

/// Reserved in the ring itself and in chunks, some of them far larger than the message: to a node of
/// ROS 2, and to a host of Sinew.
#[test]
fn a_truncated_draft_is_short_on_the_network() -> sinew::Result<()> {
    let (network, one, other) = (Network::new(), Host::new(), Host::new());
    let _gateways = [one.gateway(&network), other.gateway(&network)];
    let ros = RosNode::client(&network, "listener");
    let heard = ros.subscription("/chatter", STRING, qos());
    let texts = other.context().node("listener")?.subscription::<Text>("/chatter").qos(qos()).create()?;
    let kind = GenericType::new(STRING.0, STRING.1.parse().expect("a hash")).expect("a name");
    let publisher = one.context().node("talker")?.generic_publisher("/chatter", kind).qos(qos()).create()?;
    assert!(publisher.wait_for_subscribers(2, PATIENCE));
    for (length, room) in [(3, 150), (3, 1_000_000), (100_000, 100_500), (100_000, 1_000_000)] {
        let encoded = encoded_text(&"x".repeat(length));
        let mut draft = publisher.encoded_draft(room).expect("memory");
        draft[..encoded.len()].copy_from_slice(&encoded);
        draft.truncate(encoded.len());
        publisher.publish(draft)?;
        assert_eq!(heard.next().0, encoded);
        let (text, info) = wait_for("the message", || texts.take());
        assert_eq!((text.data.len(), info.transport()), (length, Transport::Network));
        assert!(publisher.wait_for_all_acked(PATIENCE), "the gateway has it");
    }
    assert_eq!(publisher.statistics().copies, 0, "each is sent from the memory that was reserved for it");
    Ok(())
}

#[test]
fn an_embedded_gateway_takes_what_its_own_program_publishes() -> sinew::Result<()> {
    let (network, host) = (Network::new(), Host::new());
    let context = host.context();
    let _gateway = host.gateway_in(&context, &network);
    let node = context.node("talker")?;
    let publisher = node.publisher::<Text>("/chatter").create()?;
    let texts = node.subscription::<Text>("/back").create()?;
    let ros = RosNode::new(&network, "listener");
    let subscription = ros.subscription("/chatter", STRING, qos());
    let back = ros.publisher("/back", STRING, qos());
    wait_for("a message for ROS 2", || {
        publisher.publish(text("hello")).expect("it is open");
        (!subscription.heard.0.lock().is_empty()).then_some(())
    });
    assert_eq!(subscription.next().0, encoded_text("hello")[..subscription_length("hello")]);
    let (said, info) = wait_for("a message of ROS 2", || {
        back.publish(&encoded_text("and back"), 1);
        texts.take()
    });
    assert_eq!((said.data.as_str(), info.transport()), ("and back", Transport::Network));
    Ok(())
}

/// The length without the padding that may follow.
fn subscription_length(text: &str) -> usize {
    8 + text.len() + 1
}

#[test]
fn two_hosts() -> sinew::Result<()> {
    let (network, one, other) = (Network::new(), Host::new(), Host::new());
    let _gateways = [one.gateway(&network), other.gateway(&network)];
    let talker = one.context().node("talker")?;
    let listener = other.context().node("listener")?;
    let images = listener.subscription::<Image>("/image").read_in_place().create()?;
    let publisher = talker.publisher::<Image>("/image").create()?;
    assert!(publisher.wait_for_subscribers(1, PATIENCE));
    wait_for("they match", || (images.publisher_count() == 1).then_some(()));
    for (byte, length) in [(1, 10), (2, 5000), (3, 1_000_000)] {
        let sent = Image { width: 7, data: vec![byte; length], ..Image::default() };
        let (sample, info) = wait_for("an image of the other host", || {
            publisher.publish(&sent).expect("it is open");
            images.take_sample().filter(|(sample, _)| sample.view().expect("an image").data.len() == length)
        });
        let image = sample.view().expect("an image");
        assert!(image.width == 7 && image.data.iter().all(|pixel| *pixel == byte));
        assert_eq!(info.transport(), Transport::Network);
    }
    Ok(())
}

#[test]
fn nothing_comes_back_or_twice() -> sinew::Result<()> {
    for is_direct in [true, false] {
        let (network, one, other) = (Network::new(), Host::new(), Host::new());
        let start = if is_direct { Host::gateway } else { Host::client_gateway };
        let _gateways = [start(&one, &network), start(&other, &network)];
        let here = one.context().node("here")?;
        let there = other.context().node("there")?;
        let publisher = here.publisher::<Text>("/chatter").qos(QoS::new().keep_all()).create()?;
        let (own, far) = (
            here.subscription::<Text>("/chatter").qos(QoS::new().keep_all()).create()?,
            there.subscription::<Text>("/chatter").qos(QoS::new().keep_all()).create()?,
        );
        let _other = there.publisher::<Text>("/chatter").create()?; // both paths are open
        assert!(publisher.wait_for_subscribers(2, PATIENCE));
        wait_for("both are matched", || {
            (far.publisher_count() == 2 && own.publisher_count() == 2).then_some(())
        });
        let (mut sent, mut heard) = (0, Vec::<u64>::new());
        let mut publish = || {
            sent += 1;
            publisher.publish(text(sent.to_string())).expect("it is open");
            sent
        };
        let mut last = 0;
        (0..100).for_each(|_| last = publish());
        // Until they have their link, messages of peers go through the router, and some may get
        // lost.
        let mut looks = 0;
        wait_for("the last one", || {
            let came = std::iter::from_fn(|| far.take());
            heard.extend(came.map(|(text, _)| text.data.parse::<u64>().expect("a number")));
            looks += 1;
            if is_direct && looks % 200 == 0 {
                last = publish();
            }
            (heard.last() == Some(&last)).then_some(())
        });
        assert!(heard.is_sorted_by(|one, next| one < next), "in order, and none twice: {heard:?}");
        let missing = heard[heard.len() - 1] - heard[0] + 1 - heard.len() as u64;
        assert_eq!(far.statistics().missed, missing, "{heard:?}");
        assert!(is_direct || (missing, heard[0]) == (0, 1), "the router loses none: {heard:?}");
        std::thread::sleep(Duration::from_millis(100)); // enough time for a second copy to arrive
        assert!(far.take().is_none());
        let own: Vec<_> = std::iter::from_fn(|| own.take()).collect();
        assert_eq!(own.len() as u64, last, "each once");
    }
    Ok(())
}

/// Reliable and keep_all on both sides: a slower subscription makes the sender wait. One that takes
/// nothing costs the others a single wait.
#[test]
fn a_full_history_makes_the_sender_wait_but_not_for_ever() -> sinew::Result<()> {
    const COUNT: u64 = 500;
    let (network, one, other) = (Network::new(), Host::new(), Host::new());
    let (_near, far) = (one.client_gateway(&network), other.client_gateway(&network));
    let small = QoS::new().keep_all().max_samples(4);
    let (here, there) = (one.context().node("here")?, other.context().node("there")?);
    let publisher = here.publisher::<Text>("/commands").qos(small).create()?;
    let commands = there.subscription::<Text>("/commands").qos(small).create()?;
    assert!(publisher.wait_for_subscribers(1, PATIENCE));
    wait_for("they match", || (commands.publisher_count() == 1).then_some(()));
    let (mut published, mut lost) = (0, 0);
    // The remote side waits a tenth of a second for room: if a busy machine holds up the reader for
    // longer, some messages are refused, which is reported. Without any wait that would happen in
    // each round.
    wait_for("a round in which all come", || {
        let numbers = published..published + COUNT;
        published += COUNT;
        let mut heard = Vec::new();
        let refused = std::thread::scope(|scope| {
            scope.spawn(|| {
                for number in numbers.clone() {
                    // Its own wait ends before that of the remote side, on a busy machine.
                    while publisher.publish(text(number.to_string())).is_err() {}
                }
            });
            wait_for("each comes or is refused", || {
                let came = std::iter::from_fn(|| commands.take());
                heard.extend(came.map(|(text, _)| text.data.parse::<u64>().expect("a number")));
                let counts = counts_of(&far, "/commands")?;
                let is_all = counts.received + counts.refused == published;
                let refused = counts.refused - lost;
                (is_all && heard.len() as u64 + refused == COUNT).then_some(refused)
            })
        });
        assert!(heard.is_sorted_by(|one, next| one < next), "{heard:?}");
        assert!(heard.iter().all(|number| numbers.contains(number)), "{heard:?}");
        lost += refused;
        (refused == 0).then_some(())
    });
    assert_eq!(commands.statistics().missed, lost, "what was refused is told");
    // It takes nothing any more; the others do.
    let publisher =
        here.publisher::<Text>("/commands").qos(small.max_blocking_time(Duration::ZERO)).create()?;
    let texts = there.subscription::<Text>("/chatter").create()?;
    let talker = here.publisher::<Text>("/chatter").create()?;
    assert!(talker.wait_for_subscribers(1, PATIENCE));
    wait_for("they match", || (texts.publisher_count() == 1).then_some(()));
    for number in 0..100 {
        let _ = publisher.publish(text("not taken")); // it may find no room even here
        talker.publish(text(number.to_string()))?;
        assert_eq!(wait_for("what others say", || texts.take()).0.data, number.to_string());
    }
    Ok(())
}

#[test]
fn a_late_joiner_gets_what_is_kept() -> sinew::Result<()> {
    let (network, one, other) = (Network::new(), Host::new(), Host::new());
    let (near, _far) = (one.gateway(&network), other.gateway(&network));
    let kept = QoS::new().keep_last(3).transient_local();
    let here = one.context().node("here")?;
    let publisher = here.publisher::<Text>("/map").qos(kept).create()?;
    for number in 1..=5 {
        publisher.publish(text(number.to_string()))?;
        // Messages that it takes later come as new ones.
        wait_for("the gateway keeps it", || counts_of(&near, "/map").filter(|counts| counts.sent == number));
    }
    let there = other.context().node("there")?;
    for _ in 0..2 {
        let late = there.subscription::<Text>("/map").qos(kept).create()?;
        for number in 3..=5 {
            assert_eq!(wait_for("what is kept", || late.take()).0.data, number.to_string());
        }
        let later = there.subscription::<Text>("/map").qos(kept).create()?;
        for number in 3..=5 {
            assert_eq!(wait_for("what is kept", || later.take()).0.data, number.to_string());
        }
        let volatile = there.subscription::<Text>("/map").qos(QoS::new().keep_last(3)).create()?;
        std::thread::sleep(Duration::from_millis(50));
        let all = [&late, &later, &volatile].map(|subscription| subscription.take().is_none());
        assert_eq!(all, [true; 3], "each once, and a volatile one nothing");
    }
    Ok(())
}

/// Returns the number of messages that the gateway has sent, of all topics.
fn sent_of(gateway: &Gateway) -> u64 {
    gateway.statistics().topics.iter().map(|(.., counts)| counts.sent).sum()
}

/// Retained messages of a remote publisher are for subscriptions that request them, whichever comes
/// first.
#[test]
fn a_volatile_late_joiner_gets_nothing_of_what_is_kept() -> sinew::Result<()> {
    let (network, one) = (Network::new(), Host::new());
    let near = one.gateway(&network);
    let here = one.context().node("here")?;
    let kept = QoS::new().keep_last(3).transient_local();
    let publisher = here.publisher::<Text>("/map").qos(kept).create()?;
    for number in 1..=3 {
        publisher.publish(text(number.to_string()))?;
    }
    // Before that, the network still has to receive them.
    wait_for("they are kept there", || (sent_of(&near) == 3).then_some(()));
    // In the gateway's own program, and in another one; alone, and with a subscription that
    // requests them.
    let mut published = 3;
    for (is_embedded, is_alone) in [(false, true), (true, true), (false, false), (true, false)] {
        let other = Host::new();
        let context = other.context();
        let _far = if is_embedded { other.gateway_in(&context, &network) } else { other.gateway(&network) };
        let there = context.node("there")?;
        let texts = there.subscription::<Text>("/map").qos(QoS::new().keep_last(10)).create()?;
        let asks = || there.subscription::<Text>("/map").qos(kept.keep_last(10)).create();
        let asking = if is_alone { None } else { Some(asks()?) };
        wait_for("they match", || (texts.publisher_count() == 1).then_some(()));
        assert!(publisher.wait_for_subscribers(if is_alone { 1 } else { 2 }, PATIENCE));
        let take_kept = |asking: &Subscription<Text>, last: u64| {
            let numbers: Vec<u64> = (0..3)
                .map(|_| wait_for("what is kept", || asking.take()).0.data.parse().expect("a number"))
                .collect();
            assert_eq!(numbers, (last - 2..=last).collect::<Vec<_>>());
        };
        if let Some(asking) = &asking {
            take_kept(asking, published);
        }
        published += 1;
        publisher.publish(text(published.to_string()))?;
        let (first, info) = wait_for("what is published since", || texts.take());
        assert_eq!((first.data.parse(), info.publication_sequence()), (Ok(published), published));
        assert_eq!(texts.statistics().received, 1, "nothing of what was kept");
        take_kept(&asks()?, published);
        assert!(texts.take().is_none());
        drop((texts, asking));
        wait_for("they are gone", || (publisher.subscription_count() == 0).then_some(()));
    }
    Ok(())
}

/// A message keeps the number that its publisher gave it.
#[test]
fn a_message_has_the_number_that_its_publisher_gave_it() -> sinew::Result<()> {
    for is_embedded in [true, false] {
        let (network, host) = (Network::new(), Host::new());
        let context = host.context();
        let _gateway = if is_embedded { host.gateway_in(&context, &network) } else { host.gateway(&network) };
        let node = context.node("listener")?;
        let subscribe = || node.subscription::<Text>("/chatter").qos(QoS::new().keep_all()).create();
        let texts = subscribe()?;
        let ros = RosNode::client(&network, "talker");
        let publisher = ros.publisher("/chatter", STRING, qos());
        publisher.skip(999);
        wait_for("they match", || (texts.publisher_count() == 1).then_some(()));
        ros.wait_until_heard("/chatter");
        let mut number = 999;
        let mut next = |texts: &Subscription<Text>, skipped: i64| {
            publisher.skip(skipped);
            number += skipped + 1;
            publisher.publish(&encoded_text(&number.to_string()), 1);
            let (text, info) = wait_for("a message", || texts.take());
            assert_eq!(text.data, number.to_string());
            assert_eq!(info.publication_sequence(), number.unsigned_abs());
        };
        next(&texts, 0);
        next(&texts, 0);
        next(&texts, 3);
        next(&texts, 10_000); // longer than for reports one by one
        next(&texts, 0);
        let counts = texts.statistics();
        assert_eq!((counts.received, counts.overwritten), (5, 0), "what was lost never came: {counts:?}");
        assert_eq!(counts.missed, 10_003, "{counts:?}");
        drop(texts);
        wait_for("nothing is subscribed", || {
            let tokens = ros.session.liveliness().get("@ros2_lv/7/*/*/*/MS/**").wait().expect("it is open");
            tokens.recv().is_err().then_some(())
        });
        // No subscription misses the messages published meanwhile.
        let texts = subscribe()?;
        wait_for("they match", || (texts.publisher_count() == 1).then_some(()));
        ros.wait_until_heard("/chatter");
        next(&texts, 50);
        next(&texts, 0);
        assert_eq!(texts.statistics().missed, 0);
    }
    Ok(())
}

#[test]
fn what_each_publisher_keeps_comes() -> sinew::Result<()> {
    let (network, one, other) = (Network::new(), Host::new(), Host::new());
    let _gateways = [one.gateway(&network), other.gateway(&network)];
    let here = one.context().node("here")?;
    let kept = QoS::new().keep_last(1).transient_local();
    let mut publishers = Vec::new();
    for number in 0..10 {
        let publisher = here.publisher::<Text>("/map").qos(kept).create()?;
        publisher.publish(text(number.to_string()))?;
        publishers.push(publisher);
    }
    let late = other.context().node("there")?;
    let late = late.subscription::<Text>("/map").qos(kept.keep_last(10)).create()?;
    let mut texts: Vec<_> =
        (0..10).map(|_| wait_for("what is kept", || late.take()).0.data.clone()).collect();
    texts.sort_unstable();
    assert_eq!(texts, (0..10).map(|number| number.to_string()).collect::<Vec<_>>());
    Ok(())
}

/// As hiroz does, which forms its gids differently from rmw_zenoh.
#[test]
fn what_a_publisher_keeps_comes_whatever_it_calls_itself() -> sinew::Result<()> {
    let (network, host) = (Network::new(), Host::new());
    let gateway = host.gateway(&network);
    let ros = RosNode::new(&network, "mapper");
    let cache = zenoh_ext::CacheConfig::default().max_samples(3);
    let publisher = ros.session.declare_publisher(key_of("/map", STRING)).cache(cache).publisher_detection();
    let detection = zenoh_ext::MissDetectionConfig::default().sporadic_heartbeat(Duration::from_millis(500));
    let publisher = publisher.sample_miss_detection(detection).wait().expect("the session is open");
    let kept = QoS::new().keep_last(3).transient_local();
    let _token = ros.tell(TokenKind::Publisher, "/map", STRING, kept);
    let publish = |sequence: i64| {
        let attachment = Attachment { sequence, time: sequence, gid: [9; 16], chain: None };
        let put = publisher.put(encoded_text(&sequence.to_string())).attachment(attachment.to_bytes());
        put.wait().expect("the session is open");
    };
    (1..=5).for_each(publish);
    wait_for("it is seen", || (gateway.statistics().remote >= 1).then_some(()));
    let late = host.context().node("viewer")?.subscription::<Text>("/map").qos(kept).create()?;
    let next = || wait_for("a map", || late.take()).0.data.clone();
    assert_eq!([next(), next(), next()], ["3", "4", "5"]);
    publish(6);
    assert_eq!(next(), "6");
    Ok(())
}

#[test]
fn what_is_kept_is_no_news_to_a_volatile_subscription_of_ros_2() -> sinew::Result<()> {
    let (network, host) = (Network::new(), Host::new());
    let gateway = host.gateway(&network);
    let kept = QoS::new().keep_last(3).transient_local();
    let publisher = host.context().node("mapper")?.publisher::<Text>("/map").qos(kept).create()?;
    publisher.publish(text("old"))?;
    wait_for("it is kept there", || (sent_of(&gateway) == 1).then_some(()));
    let ros = RosNode::new(&network, "viewer");
    let volatile = ros.subscription("/map", STRING, qos());
    assert!(publisher.wait_for_subscribers(1, PATIENCE));
    wait_for("a message for ROS 2", || {
        publisher.publish(text("new")).expect("it is open");
        (!volatile.heard.0.lock().is_empty()).then_some(())
    });
    assert_eq!(volatile.next().0, encoded_text("new")[..subscription_length("new")]);
    Ok(())
}

#[test]
fn rules_say_what_passes_and_under_which_name() -> sinew::Result<()> {
    let (network, one, other) = (Network::new(), Host::new(), Host::new());
    let mut rules = RuleOptions::default();
    rules.namespace = Some("robot1".to_owned());
    rules.deny.push("/secret/**".to_owned());
    rules.rate.push("/fast=0.01".to_owned());
    let builder = Gateway::builder().options(network.client_options()).rules(rules);
    let gateway = builder.start_with(&one.context(), &|_| None).expect("a gateway");
    let _far = other.gateway(&network);
    let (here, there) = (one.context().node("here")?, other.context().node("there")?);
    let publish = |name| here.publisher::<Text>(name).qos(QoS::new().keep_all()).create();
    let receive = |name| there.subscription::<Text>(name).qos(QoS::new().keep_all()).create();
    let (open, fast, secret) = (publish("/open")?, publish("/fast")?, publish("/secret/key")?);
    let (texts, few, none) =
        (receive("/robot1/open")?, receive("/robot1/fast")?, receive("/robot1/secret/key")?);
    let back = here.subscription::<Text>("/order").create()?;
    let orders = there.publisher::<Text>("/robot1/order").create()?;
    assert!(open.wait_for_subscribers(1, PATIENCE) && fast.wait_for_subscribers(1, PATIENCE));
    for number in 0..10 {
        fast.publish(text(number.to_string()))?;
    }
    secret.publish(text("not for others"))?;
    open.publish(text("for all"))?;
    assert_eq!(wait_for("what passes", || texts.take()).0.data, "for all");
    assert_eq!(wait_for("the first of the fast ones", || few.take()).0.data, "0");
    let limited = || {
        let topics = gateway.statistics().topics;
        topics.iter().find(|(name, ..)| name == "/fast").map(|(.., counts)| counts.limited)
    };
    wait_for("the rest was left out", || (limited() == Some(9)).then_some(()));
    assert!(few.take().is_none() && none.take().is_none() && secret.subscription_count() == 0);
    assert!(orders.wait_for_subscribers(1, PATIENCE));
    wait_for("the way back", || {
        orders.publish(text("go")).expect("it is open");
        back.take()
    });
    Ok(())
}

#[test]
fn lyrical_sends_images_on_a_key_of_their_own() -> sinew::Result<()> {
    images_of_lyrical(None)
}

/// The topic is there before the host knows its type, and with a publisher that uses its key.
#[test]
fn a_type_may_turn_out_to_have_buffers() -> sinew::Result<()> {
    images_of_lyrical(Some(qos()))?;
    images_of_lyrical(Some(qos().transient_local()))
}

/// `other`: a publisher that is there before the subscription.
fn images_of_lyrical(other: Option<QoS>) -> sinew::Result<()> {
    let (network, host) = (Network::new(), Host::new());
    let gateway = host.gateway(&network);
    let encoding = Image::ENCODING.expect("a type of ROS 2");
    let hash = encoding.hash.to_string();
    let kind = (encoding.name, hash.as_str());
    let ros = RosNode::new(&network, "camera");
    let other = other.map(|qos| ros.tell(TokenKind::Publisher, "/image", kind, qos));
    if other.is_some() {
        wait_for("the topic", || counts_of(&gateway, "/image"));
    }
    let images = host.context().node("viewer")?.subscription::<Image>("/image").create()?;
    let session = &ros.session;
    wait_for("a token that says where it takes images from", || {
        let tokens = session.liveliness().get("@ros2_lv/7/**").wait().expect("the session is open");
        let mut keys =
            tokens.into_iter().filter_map(|reply| Some(reply.into_result().ok()?.key_expr().to_string()));
        keys.find(|key| key.contains("/MS/") && key.ends_with("/backends:cpu:"))
    });
    let (gid, _token) = ros.tell(TokenKind::Publisher, "/image", kind, qos());
    let count = 1 + usize::from(other.is_some());
    wait_for("they match", || (images.publisher_count() == count).then_some(()));
    let sent = Image { width: 3, data: vec![1, 2, 3], ..Image::default() };
    let mut image = vec![0; (encoding.size)(&sent)];
    (encoding.encode)(&sent, &mut image);
    let mut sequence = 0;
    let (came, _) = wait_for("an image", || {
        sequence += 1;
        let attachment = Attachment { sequence, time: 1, gid, chain: None };
        let put = session.put(buffer::cpu_key(&key_of("/image", kind)), image.clone());
        put.attachment(attachment.to_bytes()).wait().expect("the session is open");
        images.take()
    });
    assert_eq!(*came, sent);
    Ok(())
}

/// Retained messages are delivered again to a carrier with room for a further publisher's.
#[test]
fn what_a_limit_leaves_out_never_existed() -> sinew::Result<()> {
    let (network, host) = (Network::new(), Host::new());
    let mut rules = RuleOptions::default();
    rules.rate.push("/map=1".to_owned());
    let builder = Gateway::builder().options(network.client_options()).rules(rules);
    let gateway = builder.start_with(&host.context(), &|_| None).expect("a gateway");
    let ros = RosNode::client(&network, "listener");
    let kept = qos().transient_local();
    let maps = ros.subscription("/map", STRING, kept);
    let node = host.context().node("here")?;
    let publish = || node.publisher::<Text>("/map").qos(kept).create();
    let first = publish()?;
    assert!(first.wait_for_subscribers(1, PATIENCE));
    let seen = || counts_of(&gateway, "/map").map_or((0, 0), |counts| (counts.sent, counts.limited));
    let mut published = 0;
    let mut go_on = |publisher: &Publisher<Text>| {
        publisher.publish(text("a map")).expect("it is open");
        published += 1;
        wait_for("it is seen", || {
            let (sent, limited) = seen();
            assert!(sent + limited <= published, "nothing counts twice");
            (sent + limited == published).then_some((sent, limited))
        })
    };
    wait_for("some are left out", || (go_on(&first).1 > 3).then_some(()));
    let further = publish()?;
    go_on(&further);
    wait_for("the limit lets one through", || {
        let before = seen().0;
        (go_on(&first).0 > before).then_some(())
    });
    let (sent, _) = seen();
    let numbers: Vec<_> = (0..sent).map(|_| maps.next().1).collect();
    let of_first = numbers[0].gid;
    let numbers: Vec<_> = numbers.iter().filter(|it| it.gid == of_first).map(|it| it.sequence).collect();
    let expected: Vec<_> = (1..).take(numbers.len()).collect();
    assert!(numbers.len() > 1, "{numbers:?}");
    assert_eq!(numbers, expected);
    Ok(())
}

#[test]
fn a_chain_goes_on_at_another_host() -> sinew::Result<()> {
    let (network, one, other) = (Network::new(), Host::new(), Host::new());
    let _gateways = [one.client_gateway(&network), other.client_gateway(&network)];
    let node = one.context().node("relay")?;
    let first = node.publisher::<Text>("/first").create()?;
    let second = node.publisher::<Text>("/second").create()?;
    let taken = node.subscription::<Text>("/first").create()?;
    let begins = other.context().node("listener")?.subscription::<Text>("/first").create()?;
    let goes_on = other.context().node("listener")?.subscription::<Text>("/second").create()?;
    assert!(first.wait_for_subscribers(2, PATIENCE) && second.wait_for_subscribers(1, PATIENCE));
    first.publish(text("scan"))?;
    let (_, scan) = wait_for("the first message", || taken.take());
    {
        let _chain = scan.continue_chain();
        second.publish(text("plan"))?;
    }
    let (_, info) = wait_for("what came of it", || goes_on.take());
    assert_eq!(info.lineage().id(), scan.lineage().id(), "the same chain");
    let apart = info.lineage().wall() - scan.source_time();
    assert!(apart < Duration::from_millis(50), "it began when the scan was published: {apart:?} apart");
    assert!(info.lineage().wall() < info.source_time(), "which is before the plan was");
    // The first message of a chain carries no chain.
    let (_, info) = wait_for("the first message there", || begins.take());
    let apart = info.source_time() - info.lineage().wall();
    assert!(apart < Duration::from_millis(50), "it begins with it: {apart:?} apart");
    Ok(())
}

/// A publisher matches existing carriers as soon as it comes: before the gateway knows of it.
#[test]
fn the_first_messages_of_each_publisher_go_over() -> sinew::Result<()> {
    for is_embedded in [true, false] {
        let (network, one, other) = (Network::new(), Host::new(), Host::new());
        let context = one.context();
        let gateway = match is_embedded {
            true => one.gateway_in(&context, &network),
            false => one.gateway(&network),
        };
        let _there = other.gateway(&network);
        let kept = QoS::new().keep_all();
        let _texts = other.context().node("listener")?.subscription::<Text>("/chatter").qos(kept).create()?;
        let node = context.node("talkers")?;
        let first = node.publisher::<Text>("/chatter").qos(kept).create()?;
        assert!(first.wait_for_subscribers(1, PATIENCE));
        let publishers = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for thread in 0..2 {
                let node = &node;
                let publishers = &publishers;
                scope.spawn(move || {
                    for number in 0..40 {
                        let publisher = node.publisher::<Text>("/chatter").qos(kept).create();
                        let publisher = publisher.expect("there is room");
                        assert!(publisher.wait_for_subscribers(1, PATIENCE));
                        for part in 0..3 {
                            publisher.publish(text(format!("{thread}/{number}/{part}"))).expect("it is open");
                        }
                        publishers.lock().push(publisher);
                    }
                });
            }
        });
        let counts = || gateway.statistics().topics[0].2;
        wait_for("each message goes", || (counts().sent == 240).then_some(()));
        assert_eq!(counts().unsent, 0);
    }
    Ok(())
}

/// Messages that come before their publisher's token are not attributed to another publisher,
/// although one is silent.
#[test]
fn messages_overtake_their_publishers_token() -> sinew::Result<()> {
    let (network, host) = (Network::new(), Host::new());
    let _gateway = host.gateway(&network);
    let node = host.context().node("listener")?;
    let texts = node.subscription::<Text>("/chatter").qos(QoS::new().keep_all()).create()?;
    let ros = RosNode::client(&network, "talker");
    let silent = ros.publisher("/chatter", STRING, qos());
    wait_for("the silent one", || (texts.publisher_count() == 1).then_some(()));
    ros.wait_until_heard("/chatter");
    let token = ros.late_token();
    (1..=100).for_each(|sequence| ros.put_of(&token, sequence));
    let _token = ros.session.liveliness().declare_token(token).wait().expect("the session is open");
    for sequence in 1..=100 {
        assert_eq!(wait_for("each of them", || texts.take()).0.data, sequence.to_string());
    }
    silent.publish(&encoded_text("at last"), 2);
    assert_eq!(wait_for("the silent one's", || texts.take()).0.data, "at last");
    Ok(())
}

/// The gateway runs listeners of its own program with nothing locked, by whichever path a message
/// came: they may ask it for its state, and publish.
#[test]
fn a_listener_beside_the_gateway_may_ask_what_it_does() -> sinew::Result<()> {
    const COUNT: usize = 30;
    let (network, host, other) = (Network::new(), Host::new(), Host::new());
    let context = host.context();
    let gateway = Arc::new(host.gateway_in(&context, &network));
    let _far = other.gateway(&network);
    let (here, there) = (context.node("here")?, other.context().node("there")?);
    // Retained messages take another path than later ones.
    let kept = QoS::new().keep_last(COUNT).transient_local();
    // Names of their own: the ends of one round may be known for a while after they went.
    for (asks, echo, qos) in [("/asks", "/echo", QoS::new().keep_all()), ("/asks_kept", "/echo_kept", kept)] {
        let publisher = there.publisher::<Text>(asks).qos(qos).create()?;
        for number in 0..COUNT / 2 {
            publisher.publish(text(number.to_string()))?;
        }
        let echoes = there.subscription::<Text>(echo).qos(QoS::new().keep_all()).create()?;
        let echo = here.publisher::<Text>(echo).qos(QoS::new().keep_all()).create()?;
        wait_for("the way back", || {
            (echo.subscription_count() == 1 && echoes.publisher_count() == 1).then_some(())
        });
        let texts = here.subscription::<Text>(asks).qos(qos).create()?;
        let (asked, taken, answers) = (Arc::downgrade(&gateway), texts.clone(), Mutex::new(echo));
        let newcomer = Mutex::new(Some(host.context()));
        texts.set_listener(move |_| {
            let Some(gateway) = asked.upgrade() else { return };
            let context = newcomer.lock().take();
            if let Some(context) = context {
                // The gateway's thread works on the topic meanwhile.
                let before = gateway.statistics().local;
                let node = context.node("newcomer").expect("there is room");
                let new = node.subscription::<Text>(asks).qos(qos).create().expect("there is room");
                wait_for("it is known", || (gateway.statistics().local > before + 1).then_some(()));
                drop(new);
            }
            while let Some((text, _)) = taken.take() {
                let leads = gateway.statistics().leads;
                let said = Text { data: format!("{} {leads}", text.data) };
                answers.lock().publish(said).expect("it is open");
            }
        });
        wait_for("they match", || {
            (publisher.subscription_count() == 1 && texts.publisher_count() == 1).then_some(())
        });
        for number in COUNT / 2..COUNT {
            publisher.publish(text(number.to_string()))?;
        }
        let first = if qos == kept { 0 } else { COUNT / 2 };
        for number in first..COUNT {
            let (answer, _) = wait_for("each is answered", || echoes.take());
            assert_eq!(answer.data, format!("{number} true"));
        }
        texts.clear_listener();
    }
    Ok(())
}

/// After a while they are attributed to the silent publisher, because its token may imply another
/// gid; and are taken from it when their publisher's token comes.
#[test]
fn a_token_that_is_very_late_takes_its_own_back() -> sinew::Result<()> {
    let (network, host) = (Network::new(), Host::new());
    let _gateway = host.gateway(&network);
    let node = host.context().node("listener")?;
    let lost = Arc::new(AtomicU64::new(0));
    let losses = lost.clone();
    let texts = node
        .subscription::<Text>("/chatter")
        .on_message_lost(move |event: &MessageLost| losses.store(event.total, Ordering::Relaxed))
        .create()?;
    let ros = RosNode::client(&network, "talker");
    let silent = ros.publisher("/chatter", STRING, qos());
    wait_for("the silent one", || (texts.publisher_count() == 1).then_some(()));
    ros.wait_until_heard("/chatter");
    let token = ros.late_token();
    let next = || {
        let (text, info) = wait_for("a message", || texts.take());
        (text.data.clone(), info.publisher())
    };
    (1..=3).for_each(|sequence| ros.put_of(&token, sequence));
    let early: Vec<_> = (0..3).map(|_| next()).collect();
    assert!(early.iter().zip(1..).all(|((text, _), number)| *text == number.to_string()), "{early:?}");
    let _token = ros.session.liveliness().declare_token(&token).wait().expect("the session is open");
    wait_for("two publishers", || (texts.publisher_count() == 2).then_some(()));
    ros.put_of(&token, 3); // it comes again
    ros.put_of(&token, 4);
    silent.publish(&encoded_text("at last"), 2);
    let mut both = [next(), next()];
    both.sort();
    let [(late, of_late), (last, of_silent)] = both;
    assert_eq!([late, last], ["4", "at last"]);
    assert_ne!(of_late, of_silent);
    let executor = sinew::Executor::single();
    executor.add(&node)?;
    executor.spin_all(PATIENCE)?;
    assert_eq!(lost.load(Ordering::Relaxed), 0);
    Ok(())
}
