//! Several gateways of a host.

use crate::network::{Host, Network, PATIENCE, RosNode, STRING, encoded_text, wait_for};
use sinew::event::MessageLost;
use sinew::prelude::*;
use sinew_interfaces::std_msgs::msg::String as Text;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

#[test]
fn one_leads_and_the_next_takes_over() -> sinew::Result<()> {
    let (network, one, other) = (Network::new(), Host::new(), Host::new());
    let first = one.gateway(&network);
    assert!(first.wait_until_it_leads(PATIENCE));
    let second = one.gateway(&network);
    let _far = other.gateway(&network);
    let publisher = one.context().node("talker")?.publisher::<Text>("/chatter").create()?;
    let texts = other.context().node("listener")?.subscription::<Text>("/chatter").create()?;
    assert!(publisher.wait_for_subscribers(1, PATIENCE));
    assert!(!second.statistics().leads);
    first.close();
    assert!(second.wait_until_it_leads(PATIENCE));
    wait_for("a message by the second", || {
        publisher.publish(Text { data: "again".to_owned() }).expect("it is open");
        texts.take()
    });
    Ok(())
}

/// Takes the numbers that have come.
fn listen(texts: &Subscription<Text>, heard: &mut Vec<u64>) {
    while let Some((text, info)) = texts.take() {
        assert_eq!(text.data, info.publication_sequence().to_string());
        heard.push(info.publication_sequence());
    }
}

/// Messages of remote publishers while no gateway leads are lost, and reported once. Those that a
/// new publisher has published before are not.
#[test]
fn what_is_lost_between_two_gateways_is_told() -> sinew::Result<()> {
    let (network, host) = (Network::new(), Host::new());
    let mut gateway = host.gateway(&network);
    let node = host.context().node("listener")?;
    let lost = Arc::new(AtomicU64::new(0));
    let losses = lost.clone();
    let texts = node
        .subscription::<Text>("/chatter")
        .qos(QoS::new().keep_all())
        .on_message_lost(move |event: &MessageLost| losses.store(event.total, Ordering::Relaxed))
        .create()?;
    let executor = sinew::Executor::single();
    executor.add(&node)?;
    let ros = RosNode::client(&network, "talker");
    let mut told = 0;
    for _ in 0..2 {
        let publisher = ros.publisher("/chatter", STRING, QoS::new().keep_last(10));
        let (mut published, mut heard) = (0u64, Vec::<u64>::new());
        let mut publish = || {
            published += 1;
            publisher.publish(&encoded_text(&published.to_string()), 1);
            published
        };
        for round in 1..=3 {
            // From this round: messages of the previous one may still be in transit.
            let first = publish();
            wait_for("messages", || {
                publish();
                std::thread::sleep(Duration::from_millis(1));
                listen(&texts, &mut heard);
                (heard.iter().filter(|number| **number >= first).count() >= 10).then_some(())
            });
            if round < 3 {
                gateway.close();
                wait_for("its publisher is gone", || (texts.publisher_count() == 0).then_some(()));
                for _ in 0..20 {
                    publish();
                }
                gateway = host.gateway(&network);
            }
        }
        // Nothing is in transit any more. (A message that finds the link full is lost, as in ROS
        // 2.)
        let (mut last, mut looks) = (publish(), 0);
        wait_for("the last one", || {
            listen(&texts, &mut heard);
            looks += 1;
            if looks % 500 == 0 {
                last = publish();
            }
            (heard.last() == Some(&last)).then_some(())
        });
        assert!(heard.is_sorted_by(|one, next| one < next), "each once, and in order: {heard:?}");
        let missing = heard[heard.len() - 1] - heard[0] + 1 - heard.len() as u64;
        assert!(missing >= 40, "{heard:?}");
        executor.spin_all(PATIENCE)?;
        assert_eq!(lost.load(Ordering::Relaxed) - told, missing, "{heard:?}");
        assert_eq!(texts.statistics().missed - told, missing);
        told += missing;
        drop(publisher);
        wait_for("it is gone", || {
            while texts.take().is_some() {}
            (texts.publisher_count() == 0).then_some(())
        });
    }
    Ok(())
}
