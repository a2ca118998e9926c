//! Matching of endpoints: those of ROS 2 match whatever their QoS is, as in rmw_zenoh; those of two
//! Sinew hosts match as on one host.

use crate::network::{Host, Network, PATIENCE, RosNode, STRING, encoded_text, wait_for};
use sinew::event::IncompatibleQos;
use sinew::prelude::*;
use sinew::qos::{Liveliness, Policy};
use sinew_interfaces::std_msgs::msg::String as Text;
use sinew_zenoh::Gateway;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

fn text(data: impl Into<String>) -> Text {
    Text { data: data.into() }
}

/// Requests of one endpoint that the other doesn't offer.
fn asked() -> [QoS; 5] {
    let plain = QoS::new().keep_last(10);
    let second = Duration::from_secs(1);
    [
        plain,
        plain.best_effort().transient_local(),
        plain.best_effort().deadline(second),
        plain.best_effort().liveliness(Liveliness::ManualByTopic).lease(second),
        plain.transient_local().deadline(second).liveliness(Liveliness::ManualByTopic).lease(second),
    ]
}

fn offered() -> QoS {
    QoS::sensor_data()
}

/// Counts events of a pair that doesn't match.
fn counting(count: &Arc<AtomicU64>) -> impl Fn(&IncompatibleQos) + Send + Sync + 'static {
    let count = count.clone();
    move |event| count.store(event.total, Ordering::Relaxed)
}

#[test]
fn a_subscription_hears_publishers_of_ros_2_that_offer_less() -> sinew::Result<()> {
    let (network, host) = (Network::new(), Host::new());
    // With the gateway in the endpoints' own process, and elsewhere.
    let context = host.context();
    let _gateway = host.gateway_in(&context, &network);
    let ros = RosNode::new(&network, "camera");
    for (number, qos) in asked().into_iter().enumerate() {
        for context in [&context, &host.context()] {
            let refused = Arc::<AtomicU64>::default();
            let node = context.node("viewer")?;
            let topic = format!("/image_{number}");
            let builder = node.subscription::<Text>(&topic).qos(qos);
            let images = builder.on_incompatible_qos(counting(&refused)).create()?;
            let publisher = ros.publisher(&topic, STRING, offered());
            wait_for("they match", || (images.publisher_count() == 1).then_some(()));
            let (image, _) = wait_for("a message", || {
                publisher.publish(&encoded_text("image"), 1);
                images.take()
            });
            assert_eq!(image.data, "image");
            let executor = sinew::Executor::single();
            executor.add(&node)?;
            executor.spin_all(PATIENCE)?;
            assert_eq!(refused.load(Ordering::Relaxed), 0);
        }
    }
    Ok(())
}

#[test]
fn a_publisher_reaches_subscriptions_of_ros_2_that_ask_for_more() -> sinew::Result<()> {
    let (network, host) = (Network::new(), Host::new());
    let context = host.context();
    let _gateway = host.gateway_in(&context, &network);
    let ros = RosNode::new(&network, "viewer");
    for (number, qos) in asked().into_iter().enumerate() {
        for context in [&context, &host.context()] {
            let refused = Arc::<AtomicU64>::default();
            let node = context.node("camera")?;
            let topic = format!("/image_{number}");
            let builder = node.publisher::<Text>(&topic).qos(offered());
            let publisher = builder.on_incompatible_qos(counting(&refused)).create()?;
            let images = ros.subscription(&topic, STRING, qos);
            assert!(publisher.wait_for_subscribers(1, PATIENCE), "{qos:?}");
            wait_for("a message for ROS 2", || {
                publisher.publish(text("image")).expect("it is open");
                (!images.heard.0.lock().is_empty()).then_some(())
            });
            let executor = sinew::Executor::single();
            executor.add(&node)?;
            executor.spin_all(PATIENCE)?;
            assert_eq!(refused.load(Ordering::Relaxed), 0);
        }
    }
    Ok(())
}

#[test]
fn a_strict_gateway_matches_by_qos() -> sinew::Result<()> {
    let (network, host) = (Network::new(), Host::new());
    let builder = Gateway::builder().options(network.options()).strict_qos(true);
    let _gateway = builder.start_with(&host.context(), &|_| None).expect("a gateway");
    let ros = RosNode::new(&network, "ros");
    let _publisher = ros.publisher("/heard", STRING, offered());
    let told = ros.subscription("/told", STRING, QoS::new().keep_last(10));
    refuses(&host.context().node("here")?, PATIENCE)?;
    assert!(told.heard.0.lock().is_empty());
    Ok(())
}

#[test]
fn two_hosts_of_sinew_match_by_qos() -> sinew::Result<()> {
    let (network, one, other) = (Network::new(), Host::new(), Host::new());
    let _gateways = [one.gateway(&network), other.gateway(&network)];
    let there = other.context().node("there")?;
    let _publisher = there.publisher::<Text>("/heard").qos(offered()).create()?;
    let _subscription = there.subscription::<Text>("/told").create()?;
    refuses(&one.context().node("here")?, PATIENCE)
}

/// A reliable subscription to /heard, and a best-effort publisher on /told: each has an
/// incompatible partner on the network.
fn refuses(here: &sinew::Node, patience: Duration) -> sinew::Result<()> {
    let (unheard, untold) = (Arc::<AtomicU64>::default(), Arc::<AtomicU64>::default());
    let builder = here.subscription::<Text>("/heard").on_incompatible_qos(counting(&unheard));
    let subscription = builder.create()?;
    let is_last = untold.clone();
    let builder = here.publisher::<Text>("/told").qos(offered());
    let builder = builder.on_incompatible_qos(move |event: &IncompatibleQos| {
        assert_eq!(event.last_policy, Some(Policy::Reliability));
        is_last.store(event.total, Ordering::Relaxed);
    });
    let publisher = builder.create()?;
    let executor = sinew::Executor::single();
    executor.add(here)?;
    wait_for("both are told", || {
        executor.spin_all(patience).expect("it isn't spun elsewhere");
        let told = [&unheard, &untold].map(|count| count.load(Ordering::Relaxed));
        (told == [1, 1]).then_some(())
    });
    assert_eq!((subscription.publisher_count(), publisher.subscription_count()), (0, 0));
    Ok(())
}
