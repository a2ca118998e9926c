//! Links that are cut and restored, and that reorder messages: losses are reported, nothing comes
//! twice, and everything is there again afterwards.

use crate::link::{Link, MIXED, MixedWays, Nature};
use crate::network::{Host, Network, PATIENCE, STRING, key_of, patient, wait_for};
use sinew::event::MessageLost;
use sinew::prelude::*;
use sinew_interfaces::example_interfaces::srv::{AddTwoInts, AddTwoIntsRequest, AddTwoIntsResponse};
use sinew_interfaces::std_msgs::msg::String as Text;
use sinew_zenoh::Gateway;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;

/// A gateway that reaches the network only over a link.
fn behind(link: &Link, host: &Host) -> Gateway {
    let mut options = patient();
    options.client = true;
    options.connect.push(link.endpoint.clone());
    Gateway::builder().options(options).start_with(&host.context(), &|_| None).expect("a gateway")
}

/// Messages are in transit for a while, so a cut always loses some.
fn late() -> Nature {
    Nature { delay: Duration::from_millis(10), ..Nature::default() }
}

fn text(data: impl Into<String>) -> Text {
    Text { data: data.into() }
}

/// Receives numbers, and the reports of lost ones.
struct Listener {
    node: Node,
    numbers: Subscription<Text>,
    heard: Vec<u64>,
    lost: Arc<AtomicU64>,
}

impl Listener {
    fn new(host: &Host) -> sinew::Result<Self> {
        let node = host.context().node("listener")?;
        let lost = Arc::new(AtomicU64::new(0));
        let losses = lost.clone();
        let numbers = node
            .subscription::<Text>("/count")
            .qos(QoS::new().keep_all())
            .on_message_lost(move |event: &MessageLost| losses.store(event.total, Ordering::Relaxed))
            .create()?;
        Ok(Self { node, numbers, heard: Vec::new(), lost })
    }

    /// Returns the last number that has come.
    fn listen(&mut self) -> u64 {
        let came = std::iter::from_fn(|| self.numbers.take());
        self.heard.extend(came.map(|(text, _)| text.data.parse::<u64>().expect("a number")));
        self.heard.last().copied().unwrap_or(0)
    }

    /// Checks that of all numbers between its first and its last one, it has received each once and
    /// in order, or got a report of its loss. Returns the number of lost ones.
    fn check(&mut self) -> sinew::Result<u64> {
        let heard = &self.heard;
        assert!(heard.is_sorted_by(|one, next| one < next), "in order, and none twice: {heard:?}");
        let executor = sinew::Executor::single();
        executor.add(&self.node)?;
        executor.spin_all(PATIENCE)?;
        let missing = heard[heard.len() - 1] - heard[0] + 1 - heard.len() as u64;
        assert_eq!(self.lost.load(Ordering::Relaxed), missing, "{heard:?}");
        Ok(missing)
    }
}

/// Publishes the next number.
fn counter(publisher: &Publisher<Text>) -> impl FnMut() -> u64 {
    let mut published = 0;
    move || {
        published += 1;
        publisher.publish(text(published.to_string())).expect("it is open");
        std::thread::sleep(Duration::from_millis(1));
        published
    }
}

#[test]
fn what_a_cut_loses_is_told() -> sinew::Result<()> {
    const CUTS: u64 = 3;
    let (network, one, other) = (Network::new(), Host::new(), Host::new());
    let link = Link::new(&network.endpoint(), late());
    let _gateways = [behind(&link, &one), other.gateway(&network)];
    let publisher = one.context().node("counter")?.publisher::<Text>("/count").create()?;
    let mut listener = Listener::new(&other)?;
    assert!(publisher.wait_for_subscribers(1, PATIENCE));
    let mut publish = counter(&publisher);
    for round in 0..=CUTS {
        let begin = publish();
        wait_for("messages", || {
            publish();
            (listener.listen() > begin + 20).then_some(())
        });
        if round == CUTS {
            break;
        }
        link.cut();
        wait_for("both sides notice", || {
            publish();
            let is_noticed = publisher.subscription_count() == 0 && listener.numbers.publisher_count() == 0;
            is_noticed.then_some(())
        });
        link.mend();
        assert!(publisher.wait_for_subscribers(1, PATIENCE));
    }
    let last = publish();
    wait_for("the last one", || (listener.listen() == last).then_some(()));
    assert!(listener.check()? >= CUTS, "each cut loses what is published meanwhile");
    Ok(())
}

#[test]
fn what_is_kept_is_there_again_after_a_cut() -> sinew::Result<()> {
    let (network, one, other) = (Network::new(), Host::new(), Host::new());
    let link = Link::new(&network.endpoint(), late());
    let _gateways = [behind(&link, &one), other.gateway(&network)];
    let qos = QoS::new().keep_last(3).transient_local();
    let publisher = one.context().node("map")?.publisher::<Text>("/map").qos(qos).create()?;
    let node = other.context().node("viewer")?;
    let subscribe = || node.subscription::<Text>("/map").qos(qos).create();
    let up_to = |maps: &Subscription<Text>, last: &str| {
        let mut heard = Vec::new();
        while heard.last().map(String::as_str) != Some(last) {
            heard.push(wait_for("a map", || maps.take()).0.data.clone());
        }
        heard
    };
    publisher.publish(text("first"))?;
    publisher.publish(text("second"))?;
    let maps = subscribe()?;
    assert_eq!(up_to(&maps, "second"), ["first", "second"]);
    link.cut();
    wait_for("both sides notice", || {
        (publisher.subscription_count() == 0 && maps.publisher_count() == 0).then_some(())
    });
    publisher.publish(text("third"))?;
    link.mend();
    // As for a publisher that is back, with everything that it retains.
    assert_eq!(up_to(&maps, "third"), ["first", "second", "third"]);
    publisher.publish(text("fourth"))?;
    assert_eq!(up_to(&maps, "fourth"), ["fourth"]);
    assert_eq!(up_to(&subscribe()?, "fourth"), ["second", "third", "fourth"], "a late joiner, from here");
    assert!(maps.take().is_none());
    Ok(())
}

#[test]
fn a_call_that_a_cut_ends_fails_and_the_next_is_answered() -> sinew::Result<()> {
    let (network, one, other) = (Network::new(), Host::new(), Host::new());
    let link = Link::new(&network.endpoint(), late());
    let _gateways = [behind(&link, &one), other.gateway(&network)];
    let (asked, is_asked) = mpsc::channel();
    let (answers, may_answer) = mpsc::channel::<()>();
    let context = other.context();
    let server = move |request: &AddTwoIntsRequest| {
        if request.a == 0 {
            asked.send(()).expect("the test waits");
            may_answer.recv().expect("the test says so");
        }
        AddTwoIntsResponse { sum: request.a + request.b }
    };
    context.node("server")?.server::<AddTwoInts>("/add").callback(server)?.detach();
    let executor = sinew::Executor::single();
    executor.add(&context)?;
    let stop = executor.stop_handle();
    let spinning = std::thread::spawn(move || executor.spin());
    let client = one.context().node("client")?.client::<AddTwoInts>("/add").create()?;
    assert!(client.wait_for_server(PATIENCE));
    let call = |a| client.call(AddTwoIntsRequest { a, b: 2 }, PATIENCE);
    assert_eq!(call(1).expect("an answer").sum, 3);
    let failed = std::thread::scope(|scope| {
        let waiting = scope.spawn(|| call(0));
        is_asked.recv().expect("it is asked");
        link.cut();
        waiting.join().expect("no panic")
    });
    assert!(failed.is_err(), "the answer had no way back: {failed:?}");
    wait_for("it isn't there", || (!client.wait_for_server(Duration::ZERO)).then_some(()));
    answers.send(()).expect("the server waits");
    link.mend();
    assert!(client.wait_for_server(PATIENCE));
    assert_eq!(call(3).expect("an answer").sum, 5);
    assert!(is_asked.try_recv().is_err(), "what may have been done isn't asked for again");
    stop.stop();
    spinning.join().expect("no panic").expect("no callback fails");
    Ok(())
}

#[test]
fn what_comes_late_twice_or_not_at_all() -> sinew::Result<()> {
    let (near, far) = (Network::new(), Network::new());
    let (one, other) = (Host::new(), Host::new());
    let _gateways = [one.client_gateway(&near), other.client_gateway(&far)];
    let ways = MixedWays::new(&near, &far, &key_of("/count", STRING));
    // However long the gateway is held up: groups consist of four messages each.
    let deep = QoS::new().keep_last(10_000);
    let publisher = one.context().node("counter")?.publisher::<Text>("/count").qos(deep).create()?;
    let mut listener = Listener::new(&other)?;
    assert!(publisher.wait_for_subscribers(1, PATIENCE));
    let mut publish = counter(&publisher);
    let mut published = 0;
    wait_for("it is mixed up often enough", || {
        published = publish();
        (ways.mixed.load(Ordering::SeqCst) >= 50).then_some(())
    });
    // The last message of the last group comes last: nothing is in transit any more.
    while !published.is_multiple_of(MIXED) {
        published = publish();
    }
    wait_for("the last one", || (listener.listen() == published).then_some(()));
    let groups = published / MIXED;
    wait_for("all are mixed up", || (ways.mixed.load(Ordering::SeqCst) == groups).then_some(()));
    assert!(listener.check()? >= groups - 1, "each loses one, of which the first may be there before");
    Ok(())
}
