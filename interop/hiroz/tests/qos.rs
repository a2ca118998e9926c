//! What is promised: to late joiners, by best effort, and when all is to be kept.

use crate::network::{Network, PATIENCE, each_way, wait_for};
use crate::{ours, theirs};
use hiroz::Builder as _;
use hiroz::entity::EndpointKind;
use hiroz::qos::{QosDurability, QosHistory, QosProfile, QosReliability};
use sinew::QoS;
use std::num::NonZeroUsize;
use std::time::Duration;

fn their_text(number: usize) -> theirs::Text {
    theirs::Text { data: number.to_string() }
}

fn our_text(number: usize) -> ours::Text {
    ours::Text { data: number.to_string() }
}

fn keep_last(depth: usize) -> QosHistory {
    QosHistory::KeepLast(NonZeroUsize::new(depth).unwrap())
}

fn kept() -> (QoS, QosProfile) {
    let theirs = QosProfile {
        durability: QosDurability::TransientLocal,
        history: keep_last(3),
        ..QosProfile::default()
    };
    (QoS::new().keep_last(3).transient_local(), theirs)
}

/// What would come and shouldn't has the time to.
const A_WHILE: Duration = Duration::from_millis(100);

each_way! {
    fn hirozs_late_joiners_get_what_sinew_keeps(network: &Network) {
        let (ours_kept, theirs_kept) = kept();
        let node = network.our_node("ours");
        let publisher = node.publisher::<ours::Text>("/map").qos(ours_kept).create().unwrap();
        (1..=5).for_each(|number| publisher.publish(our_text(number)).unwrap());
        let their_node = network.their_node("theirs");
        // Until both have met, hiroz may miss the first of what it asks for.
        wait_for("the publisher", || {
            (network.ros.graph().count(EndpointKind::Publisher, "/map") == 1).then_some(())
        });
        let mut late = Vec::new(); // they stay
        for _ in 0..2 {
            let subscription =
                their_node.create_sub::<theirs::Text>("/map").with_qos(theirs_kept).build().unwrap();
            for number in 3..=5 {
                assert_eq!(subscription.recv_timeout(PATIENCE).unwrap().data, number.to_string());
            }
            assert!(subscription.recv_timeout(A_WHILE).is_err(), "each once");
            late.push(subscription);
        }
        publisher.publish(our_text(6)).unwrap();
        for subscription in &late {
            assert_eq!(subscription.recv_timeout(PATIENCE).unwrap().data, "6", "and what comes later");
        }
    }

    fn sinews_late_joiners_get_what_hiroz_keeps(network: &Network) {
        let (ours_kept, theirs_kept) = kept();
        let their_node = network.their_node("theirs");
        let publisher =
            their_node.create_pub::<theirs::Text>("/map").with_qos(theirs_kept).build().unwrap();
        // hiroz counts from 0: the first one's number is kept, too.
        (1..=3).for_each(|number| publisher.publish(&their_text(number)).unwrap());
        let node = network.our_node("ours");
        for _ in 0..2 {
            let late = node.subscription::<ours::Text>("/map").qos(ours_kept).create().unwrap();
            let later = node.subscription::<ours::Text>("/map").qos(ours_kept).create().unwrap();
            let volatile = node.subscription::<ours::Text>("/map").create().unwrap();
            for number in 1..=3 {
                for subscription in [&late, &later] {
                    let (text, _) = wait_for("what is kept", || subscription.take());
                    assert_eq!(text.data, number.to_string());
                }
            }
            std::thread::sleep(A_WHILE);
            assert!(late.take().is_none() && later.take().is_none(), "each once");
            // What a volatile one is given that was there first isn't what this test is about.
            drop((late, later, volatile));
            let graph = network.ros.graph();
            wait_for("they are gone", || {
                (graph.count(EndpointKind::Subscription, "/map") == 0).then_some(())
            });
        }
        let late = node.subscription::<ours::Text>("/map").qos(ours_kept).create().unwrap();
        (4..=5).for_each(|number| publisher.publish(&their_text(number)).unwrap());
        let mut last = 0;
        while last < 5 {
            let (text, _) = wait_for("the rest", || late.take());
            let number: usize = text.data.parse().unwrap();
            assert!(number > last, "in order, each once: {number} after {last}");
            last = number;
        }
    }

    fn best_effort(network: &Network) {
        let weak = QosProfile { reliability: QosReliability::BestEffort, ..QosProfile::default() };
        let (node, their_node) = (network.our_node("ours"), network.their_node("theirs"));
        let publisher =
            node.publisher::<ours::Text>("/out").qos(QoS::new().best_effort()).create().unwrap();
        let subscription = their_node.create_sub::<theirs::Text>("/out").with_qos(weak).build().unwrap();
        assert!(publisher.wait_for_subscribers(1, PATIENCE));
        wait_for("a message for hiroz", || {
            publisher.publish(our_text(1)).unwrap();
            subscription.recv_timeout(A_WHILE).ok()
        });
        let reliable = node.subscription::<ours::Text>("/back").create().unwrap();
        let accepting = node.subscription::<ours::Text>("/back").qos(QoS::new().best_effort()).create().unwrap();
        let publisher = their_node.create_pub::<theirs::Text>("/back").with_qos(weak).build().unwrap();
        wait_for("a message of hiroz", || {
            publisher.publish(&their_text(1)).unwrap();
            accepting.take()
        });
        // As among rmw_zenoh's own ends, which match whatever their QoS is.
        assert_eq!((accepting.publisher_count(), reliable.publisher_count()), (1, 1));
        wait_for("the same for one that asks for more", || reliable.take());
    }

    fn nothing_is_lost_if_all_is_kept(network: &Network) {
        const COUNT: usize = 2000;
        let all = QosProfile { history: QosHistory::KeepAll, ..QosProfile::default() };
        let (node, their_node) = (network.our_node("ours"), network.their_node("theirs"));
        let publisher = node.publisher::<ours::Text>("/out").qos(QoS::new().keep_all()).create().unwrap();
        let subscription = their_node.create_sub::<theirs::Text>("/out").with_qos(all).build().unwrap();
        assert!(publisher.wait_for_subscribers(1, PATIENCE));
        // The way is open when a first one has come; others like it may be on theirs.
        wait_for("a message for hiroz", || {
            publisher.publish(our_text(0)).unwrap();
            subscription.recv_timeout(A_WHILE).ok()
        });
        (1..=COUNT).for_each(|number| publisher.publish(our_text(number)).unwrap());
        let mut next = 1;
        while next <= COUNT {
            let number: usize = subscription.recv_timeout(PATIENCE).unwrap().data.parse().unwrap();
            if number != 0 {
                assert_eq!(number, next);
                next += 1;
            }
        }

        let subscription = node.subscription::<ours::Text>("/back").qos(QoS::new().keep_all()).create().unwrap();
        let publisher = their_node.create_pub::<theirs::Text>("/back").with_qos(all).build().unwrap();
        wait_for("a message of hiroz", || {
            publisher.publish(&their_text(0)).unwrap();
            subscription.take()
        });
        let sending = std::thread::spawn(move || {
            (1..=COUNT).for_each(|number| publisher.publish(&their_text(number)).unwrap());
            publisher // it stays until all is received
        });
        let mut next = 1;
        while next <= COUNT {
            let number: usize = wait_for("the next", || subscription.take()).0.data.parse().unwrap();
            if number != 0 {
                assert_eq!(number, next);
                next += 1;
            }
        }
        sending.join().unwrap();
    }
}
