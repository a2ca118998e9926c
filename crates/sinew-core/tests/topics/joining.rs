//! Transient local: what a subscription gets that comes late.

use crate::support;

use sinew::Publisher;
use sinew::msg::BufferType;
use sinew::prelude::*;
use std::sync::{Arc, Barrier};
use std::thread;
use support::{Gate, Log, Number, Room, finishes, numbers_in, real_context};

const LATCHED: QoS = QoS::new().transient_local();

fn publisher(room: &Room, qos: QoS) -> sinew::Result<Publisher<Number>> {
    Ok(room.node.publisher("numbers").qos(qos).create()?)
}

fn joiner(room: &Room, qos: QoS) -> sinew::Result<Subscription<Number>> {
    Ok(room.node.subscription("numbers").qos(qos).create()?)
}

#[test]
fn a_late_joiner_gets_the_newest_of_what_its_publisher_keeps() -> sinew::Result<()> {
    for (kept, depth) in [(1, 10), (3, 10), (10, 3), (10, 1), (5, 5)] {
        let room = Room::new();
        let publisher = publisher(&room, LATCHED.keep_last(kept))?;
        for number in 1..=20 {
            publisher.publish(Number(number))?;
        }
        assert_eq!(publisher.statistics().retained, kept as u64);
        let first = 20 - kept.min(depth) as u64 + 1;
        let joiner = joiner(&room, LATCHED.keep_last(depth))?;
        assert_eq!(numbers_in(&joiner), (first..=20).collect::<Vec<_>>(), "{depth} of {kept}");
    }
    Ok(())
}

#[test]
fn a_publisher_that_keeps_all_keeps_so_many_as_it_may_hold() -> sinew::Result<()> {
    let room = Room::new();
    let publisher = publisher(&room, LATCHED.keep_all().max_samples(4))?;
    for number in 1..=6 {
        publisher.publish(Number(number))?;
    }
    assert_eq!(numbers_in(&joiner(&room, LATCHED.keep_all())?), [3, 4, 5, 6]);
    Ok(())
}

#[test]
fn a_late_joiner_gets_the_messages_of_all_publishers_in_the_order_of_their_publication() -> sinew::Result<()>
{
    let room = Room::new();
    let publishers = [
        publisher(&room, LATCHED.keep_last(4))?,
        publisher(&room, LATCHED.keep_last(2))?,
        publisher(&room, LATCHED.keep_last(1).best_effort())?,
        publisher(&room, QoS::default())?, // volatile: it doesn't match
    ];
    // Publisher 0 sends 1, 5, 9, .. and keeps 9 13 17 21; 1 keeps 18 22; 2 keeps 23.
    for (number, publisher) in (1..=24).zip(publishers.iter().cycle()) {
        publisher.publish(Number(number))?;
        if number % 3 == 0 {
            room.clock.advance(Duration::from_nanos(1)); // some at the same time, some not
        }
    }
    let wanted = LATCHED.best_effort();
    assert_eq!(numbers_in(&joiner(&room, wanted)?), [9, 13, 17, 18, 21, 22, 23]);
    assert_eq!(numbers_in(&joiner(&room, wanted.keep_last(3))?), [21, 22, 23]);
    assert_eq!(numbers_in(&joiner(&room, LATCHED)?), [9, 13, 17, 18, 21, 22], "only from reliable ones");
    Ok(())
}

#[test]
fn what_is_published_later_comes_after_what_was_kept_and_nothing_comes_twice() -> sinew::Result<()> {
    let room = Room::new();
    let publisher = publisher(&room, LATCHED)?;
    publisher.publish(Number(1))?;
    publisher.publish(Number(2))?;
    let joiner = joiner(&room, LATCHED)?;
    publisher.publish(Number(3))?;
    let (first, info) = joiner.take().unwrap();
    assert_eq!((first.0, info.publication_sequence(), info.reception_sequence()), (1, 1, 1));
    publisher.publish(Number(4))?;
    assert_eq!(numbers_in(&joiner), [2, 3, 4]);
    let statistics = joiner.statistics();
    assert_eq!((statistics.received, statistics.taken, statistics.overwritten), (4, 4, 0));
    Ok(())
}

#[test]
fn only_who_asks_for_it_gets_what_was_before() -> sinew::Result<()> {
    let room = Room::new();
    let publisher = publisher(&room, LATCHED)?;
    publisher.publish(Number(1))?;
    let volatile = joiner(&room, QoS::default())?;
    publisher.publish(Number(2))?;
    assert_eq!(numbers_in(&volatile), [2]);
    Ok(())
}

#[test]
fn what_a_publisher_kept_goes_with_it() -> sinew::Result<()> {
    let room = Room::new();
    let (gone, there) = (publisher(&room, LATCHED)?, publisher(&room, LATCHED)?);
    gone.publish(Number(1))?;
    there.publish(Number(2))?;
    drop(gone);
    assert_eq!(numbers_in(&joiner(&room, LATCHED)?), [2]);
    Ok(())
}

#[test]
fn a_late_joiners_filter_applies_to_what_was_kept() -> sinew::Result<()> {
    let room = Room::new();
    let publisher = publisher(&room, LATCHED)?;
    for number in 1..=6 {
        publisher.publish(Number(number))?;
    }
    let joiner = room
        .node
        .subscription::<Number>("numbers")
        .qos(LATCHED.keep_last(2))
        .filter(|number| number.0 % 2 == 0)
        .create()?;
    assert_eq!(numbers_in(&joiner), [4, 6], "the newest two that it wants");
    assert_eq!(joiner.statistics().received, 2);
    Ok(())
}

#[test]
fn a_late_joiner_that_ignores_its_own_node_gets_nothing_that_its_node_kept() -> sinew::Result<()> {
    let room = Room::new();
    let other = room.context.node("other")?;
    let own = publisher(&room, LATCHED)?;
    let others = other.publisher::<Number>("numbers").qos(LATCHED).create()?;
    own.publish(Number(1))?;
    others.publish(Number(2))?;
    let joiner =
        room.node.subscription::<Number>("numbers").qos(LATCHED).ignore_own_publications().create()?;
    assert_eq!(numbers_in(&joiner), [2]);
    Ok(())
}

#[test]
fn a_late_joiner_gets_nothing_whose_lifespan_is_over_by_the_publishers_word() -> sinew::Result<()> {
    let room = Room::new();
    let publisher = publisher(&room, LATCHED.lifespan(Duration::from_millis(10)))?;
    publisher.publish(Number(1))?;
    room.clock.advance(Duration::from_millis(5));
    publisher.publish(Number(2))?;
    room.clock.advance(Duration::from_millis(5));
    let joiner = joiner(&room, LATCHED)?;
    assert_eq!(joiner.statistics().waiting, 1);
    room.clock.advance(Duration::from_millis(5));
    assert_eq!(numbers_in(&joiner), [0_u64; 0], "and what it got grows old like all others");
    assert_eq!(joiner.statistics().expired, 1);
    Ok(())
}

#[test]
fn a_late_joiner_gets_nothing_whose_lifespan_is_over_by_its_own_word() -> sinew::Result<()> {
    let room = Room::new();
    let publisher = publisher(&room, LATCHED)?;
    publisher.publish(Number(1))?;
    room.clock.advance(Duration::from_millis(5));
    publisher.publish(Number(2))?;
    room.clock.advance(Duration::from_millis(5));
    let joiner = joiner(&room, LATCHED.lifespan(Duration::from_millis(10)))?;
    assert_eq!(joiner.statistics().waiting, 1);
    room.clock.advance(Duration::from_millis(5));
    assert_eq!(numbers_in(&joiner), [0_u64; 0], "and what it got grows old like all others");
    assert_eq!(joiner.statistics().expired, 1);
    Ok(())
}

// ---- joining while others publish ----

/// One round: publishers in threads of their own send 1 to `messages` each, and joiners come in
/// between.
struct Round {
    publishers: usize,
    messages: u64,
    /// How many messages the first publisher has sent, at least, when the joiners come.
    after: u64,
    depth: usize,
}

impl Round {
    /// Returns what each joiner got of each publisher, and checks the order of the sequence numbers
    /// on the way.
    fn run(&self) -> Vec<Vec<Vec<u64>>> {
        let context = real_context();
        let node = context.node("node").expect("a valid name");
        let kept = LATCHED.keep_last(usize::try_from(self.messages).expect("a few"));
        let publishers: Vec<Publisher<Number>> = (0..self.publishers)
            .map(|_| node.publisher("numbers").qos(kept).create().expect("it can be made"))
            .collect();
        let start = Arc::new(Barrier::new(self.publishers + 1));
        let joiners = thread::scope(|scope| {
            for publisher in &publishers {
                let start = start.clone();
                scope.spawn(move || {
                    start.wait();
                    (1..=self.messages)
                        .for_each(|number| publisher.publish(Number(number)).expect("it is running"));
                });
            }
            start.wait();
            while publishers[0].statistics().published < self.after {
                thread::yield_now();
            }
            let wanted = || node.subscription::<Number>("numbers").qos(LATCHED.keep_last(self.depth));
            // Sharing is delivered on the short way, owning and filters on the long one.
            [wanted(), wanted().buffer(BufferType::Unique), wanted().filter(|_| true), wanted()]
                .map(|builder| builder.create().expect("it can be made"))
        });
        let of_publishers = |joiner: &Subscription<Number>| {
            let mut of = vec![Vec::new(); self.publishers];
            while let Some((number, info)) = joiner.take() {
                let gid = info.publisher();
                let publisher = publishers.iter().position(|publisher| publisher.gid() == gid);
                assert_eq!(info.publication_sequence(), number.0);
                of[publisher.expect("one of ours")].push(number.0);
            }
            of
        };
        joiners.iter().map(of_publishers).collect()
    }
}

/// A subscription in whose filter the publisher stays until the gate is opened; it says so in the
/// log.
fn stay_in_filter(node: &Node, log: &Log<u64>) -> sinew::Result<(Subscription<Number>, Gate)> {
    let gate = Gate::new();
    let (pen, waiter) = (log.pen(), gate.clone());
    let held_up = node.subscription::<Number>("numbers").filter(move |number| {
        pen.write(number.0);
        waiter.wait();
        true
    });
    Ok((held_up.create()?, gate))
}

#[test]
fn a_joiner_that_comes_in_the_middle_of_a_publish_gets_that_message_once() -> sinew::Result<()> {
    let context = real_context();
    let node = context.node("node")?;
    let publisher = node.publisher::<Number>("numbers").qos(LATCHED).create()?;
    publisher.publish(Number(1))?;
    let log = Log::new();
    let (held_up, gate) = stay_in_filter(&node, &log)?;
    let joiner = finishes(move || {
        thread::scope(|scope| {
            let publishing = scope.spawn(|| publisher.publish(Number(2)));
            assert_eq!(log.next(), 2);
            let joiner = node.subscription::<Number>("numbers").qos(LATCHED).create()?;
            // A publisher that looks again for new subscriptions asks the filter again.
            gate.open();
            while !publishing.is_finished() {
                if log.next_within(Duration::from_millis(1)).is_some() {
                    gate.open();
                }
            }
            publishing.join().unwrap()?;
            gate.open();
            publisher.publish(Number(3))?;
            Ok::<_, sinew::Error>(joiner)
        })
    })?;
    assert_eq!(numbers_in(&joiner), [1, 2, 3]);
    assert_eq!(numbers_in(&held_up), [2, 3], "and so does everybody else");
    Ok(())
}

#[test]
fn a_subscription_that_goes_in_the_middle_of_a_publish_does_not_stop_it() -> sinew::Result<()> {
    let context = real_context();
    let node = context.node("node")?;
    let publisher = node.publisher::<Number>("numbers").create()?;
    let other = node.subscription::<Number>("numbers").create()?;
    let leaving = node.subscription::<Number>("numbers").create()?;
    let log = Log::new();
    let (held_up, gate) = stay_in_filter(&node, &log)?;
    finishes(move || {
        thread::scope(|scope| {
            let publishing = scope.spawn(|| publisher.publish(Number(1)));
            assert_eq!(log.next(), 1);
            drop((leaving, held_up));
            gate.open();
            publishing.join().unwrap()
        })
    })?;
    assert_eq!(numbers_in(&other), [1]);
    Ok(())
}

#[test]
fn a_context_that_is_shut_down_in_the_middle_of_a_publish_accepts_nothing_more() -> sinew::Result<()> {
    let context = real_context();
    let node = context.node("node")?;
    let publisher = node.publisher::<Number>("numbers").create()?;
    let other = node.subscription::<Number>("numbers").create()?;
    let log = Log::new();
    let (_held_up, gate) = stay_in_filter(&node, &log)?;
    let failure = finishes(move || {
        thread::scope(|scope| {
            let publishing = scope.spawn(|| publisher.publish(Number(1)));
            assert_eq!(log.next(), 1);
            context.shutdown();
            gate.open();
            publishing.join().unwrap().unwrap_err().failure()
        })
    });
    assert_eq!(failure, sinew::error::PublishFailure::Shutdown);
    assert_eq!(numbers_in(&other), [0_u64; 0]);
    Ok(())
}

#[test]
fn joining_while_others_publish_leaves_no_gap_and_doubles_nothing() {
    finishes(|| {
        for round in 0..60 {
            let publishers = 1 + round % 3;
            let (messages, depth) = (300, publishers * 300);
            let after = 5 * round as u64;
            for of_joiner in (Round { publishers, messages, after, depth }).run() {
                for of_publisher in of_joiner {
                    assert_eq!(of_publisher, (1..=messages).collect::<Vec<_>>());
                }
            }
        }
    });
}

#[test]
fn a_shallow_joiner_that_comes_while_others_publish_holds_the_newest_without_a_gap() {
    finishes(|| {
        for round in 0..60 {
            for of_joiner in (Round { publishers: 1, messages: 300, after: 5 * round, depth: 7 }).run() {
                assert_eq!(of_joiner, [(294..=300).collect::<Vec<_>>()]);
            }
        }
    });
}

#[test]
fn several_threads_with_one_publisher_keep_the_order_of_its_sequence_numbers() -> sinew::Result<()> {
    let context = real_context();
    let node = context.node("node")?;
    let qos = QoS::default().keep_last(400);
    let readers = [
        node.subscription::<Number>("numbers").qos(qos).create()?,
        node.subscription::<Number>("numbers").qos(qos).buffer(BufferType::Unique).create()?,
    ];
    let publisher = node.publisher::<Number>("numbers").create()?;
    thread::scope(|scope| {
        for _ in 0..2 {
            let publisher = publisher.clone();
            scope.spawn(move || {
                (0..200).for_each(|number| publisher.publish(Number(number)).expect("it is running"));
            });
        }
    });
    for reader in &readers {
        let sequence = std::iter::from_fn(|| reader.take()).map(|(_, info)| info.publication_sequence());
        assert_eq!(sequence.collect::<Vec<_>>(), (1..=400).collect::<Vec<_>>());
    }
    Ok(())
}

#[test]
fn what_happens_on_another_topic_makes_no_copies() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    struct Counted(Arc<AtomicU64>, Arc<dyn Fn() + Send + Sync>);
    impl Clone for Counted {
        fn clone(&self) -> Self {
            self.0.fetch_add(1, Ordering::Relaxed);
            (self.1)();
            Self(self.0.clone(), self.1.clone())
        }
    }
    impl sinew::Message for Counted {}
    #[derive(Clone)]
    struct Other;
    impl sinew::Message for Other {}

    let context = sinew::Context::builder().shared_memory(false).build().unwrap();
    let node = context.node("node").unwrap();
    let publisher = node.publisher("kept").qos(sinew::QoS::default().transient_local()).create().unwrap();
    let owner = node.subscription::<Counted>("kept").buffer(sinew::msg::BufferType::Unique).create().unwrap();
    // Every clone comes with a change on another topic, between looking at the list and delivering.
    let elsewhere = node.clone();
    let churn = move || drop(elsewhere.subscription::<Other>("other").create().unwrap());
    let clones = Arc::new(AtomicU64::new(0));
    publisher.publish(Counted(clones.clone(), Arc::new(churn))).unwrap();
    assert_eq!(clones.load(Ordering::Relaxed), 1);
    assert_eq!(publisher.statistics().copies, 1);
    assert!(owner.take().is_some());
}
