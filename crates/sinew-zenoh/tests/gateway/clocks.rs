//! Hosts with clocks an hour apart: retained messages are ordered by the time of their arrival.

use crate::network::{Host, Network, PATIENCE, RosNode, RosPublisher, STRING, encoded_text, wait_for};
use parking_lot::Mutex;
use sinew::event::RequestedDeadlineMissed;
use sinew::prelude::*;
use sinew_interfaces::std_msgs::msg::String as Text;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const HOUR: i64 = 3_600_000_000_000;

/// A publisher of a host with a clock that is this far ahead of the local one.
struct Shifted {
    publisher: RosPublisher,
    ahead: i64,
}

impl Shifted {
    fn publish(&self, node: &Node, data: &str) {
        self.publisher.publish(&encoded_text(data), node.now().nanoseconds() + self.ahead);
    }

    /// Publishes until a message has arrived: later ones arrive as well.
    fn begin(&self, node: &Node, texts: &Subscription<Text>) {
        let begin = format!("begin {}", self.ahead);
        wait_for("a first message", || {
            self.publish(node, &begin);
            texts.take().filter(|(text, _)| text.data == begin)
        });
    }
}

fn next(texts: &Subscription<Text>) -> (String, MessageInfo) {
    wait_for("the next", || {
        let (text, info) = texts.take()?;
        (!text.data.starts_with("begin")).then(|| (text.data.clone(), info))
    })
}

#[test]
fn messages_of_hosts_an_hour_apart() -> sinew::Result<()> {
    let (network, host) = (Network::new(), Host::new());
    let _gateway = host.gateway(&network);
    let node = host.context().node("listener")?;
    let missed = Arc::new(AtomicU64::new(0));
    let missing = missed.clone();
    let half_an_hour = Duration::from_secs(1800);
    let texts = node
        .subscription::<Text>("/clocks")
        .qos(QoS::new().keep_all().deadline(half_an_hour))
        .on_deadline_missed(move |event: &RequestedDeadlineMissed| {
            missing.store(event.total, Ordering::Relaxed);
        })
        .create()?;
    let ros = RosNode::client(&network, "talker");
    let qos = QoS::new().keep_last(10).deadline(half_an_hour).lifespan(half_an_hour);
    let [ahead, behind] =
        [HOUR, -HOUR].map(|ahead| Shifted { publisher: ros.publisher("/clocks", STRING, qos), ahead });
    wait_for("two publishers", || (texts.publisher_count() == 2).then_some(()));
    ahead.begin(&node, &texts);
    behind.begin(&node, &texts);
    for number in 0..6 {
        let publisher = if number % 2 == 0 { &ahead } else { &behind };
        publisher.publish(&node, &number.to_string());
    }
    let mut heard = [Vec::new(), Vec::new()];
    for _ in 0..6 {
        let (text, info) = next(&texts);
        let apart = info.source_time().nanoseconds() - node.now().nanoseconds();
        assert!(apart.abs() > HOUR / 2, "the source time is what was told: {apart}");
        assert!(info.latency() < half_an_hour, "since it came here: {:?}", info.latency());
        heard[usize::from(apart < 0)].push(text);
    }
    assert_eq!(heard, [["0", "2", "4"], ["1", "3", "5"]], "none has expired");
    let executor = sinew::Executor::single();
    executor.add(&node)?;
    executor.spin_all(PATIENCE)?;
    assert_eq!(missed.load(Ordering::Relaxed), 0, "no deadline passed here");
    Ok(())
}

#[test]
fn a_lifespan_ends_also_if_the_clock_there_is_ahead() -> sinew::Result<()> {
    let (network, host) = (Network::new(), Host::new());
    let _gateway = host.gateway(&network);
    let node = host.context().node("listener")?;
    let texts = node.subscription::<Text>("/clocks").qos(QoS::new().keep_all()).create()?;
    let ros = RosNode::client(&network, "talker");
    let span = Duration::from_millis(50);
    let publisher = ros.publisher("/clocks", STRING, QoS::new().keep_last(10).lifespan(span));
    let publisher = Shifted { publisher, ahead: HOUR };
    wait_for("a publisher", || (texts.publisher_count() == 1).then_some(()));
    wait_for("its time is up, by the clock here", || {
        publisher.publish(&node, "short-lived");
        std::thread::sleep(2 * span);
        let _ = texts.take(); // a late message counts as none
        (texts.statistics().expired > 0).then_some(())
    });
    Ok(())
}

#[test]
fn callbacks_run_in_the_order_in_which_messages_came() -> sinew::Result<()> {
    let (network, host) = (Network::new(), Host::new());
    let _gateway = host.gateway(&network);
    let node = host.context().node("listener")?;
    let ran = Arc::new(Mutex::new(Vec::new()));
    let subscribe = |topic: &str| {
        let ran = ran.clone();
        let subscription = node.subscription::<Text>(topic).qos(QoS::new().keep_all());
        subscription.callback(move |text: &Text| ran.lock().push(text.data.clone()))
    };
    let _subscriptions = [subscribe("/ahead")?, subscribe("/behind")?];
    let last = node.subscription::<Text>("/last").create()?;
    let ros = RosNode::client(&network, "talker");
    let publisher = |topic, ahead| {
        let publisher = ros.publisher(topic, STRING, QoS::new().keep_last(10));
        Shifted { publisher, ahead }
    };
    let [ahead, behind, after] =
        [publisher("/ahead", HOUR), publisher("/behind", -HOUR), publisher("/last", 0)];
    let executor = sinew::Executor::single();
    executor.add(&node)?;
    // Until messages of all three arrive.
    after.begin(&node, &last);
    for publisher in [&ahead, &behind] {
        let before = ran.lock().len();
        wait_for("a first message", || {
            publisher.publish(&node, "begin");
            executor.spin_all(PATIENCE).expect("no callback fails");
            (ran.lock().len() > before).then_some(())
        });
        // All of them have arrived.
        after.publish(&node, "between");
        assert_eq!(next(&last).0, "between");
    }
    for number in 0..6 {
        let publisher = if number % 2 == 0 { &ahead } else { &behind };
        publisher.publish(&node, &number.to_string());
    }
    after.publish(&node, "last");
    assert_eq!(next(&last).0, "last");
    // Another thread may be handling some.
    let numbers = wait_for("the callbacks", || {
        executor.spin_all(PATIENCE).expect("no callback fails");
        let numbers: Vec<_> = ran.lock().iter().filter(|text| *text != "begin").cloned().collect();
        (numbers.len() == 6).then_some(numbers)
    });
    assert_eq!(numbers, ["0", "1", "2", "3", "4", "5"]);
    Ok(())
}
