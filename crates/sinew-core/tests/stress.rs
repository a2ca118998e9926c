//! Everything at once: entities come and go while others publish and two executors spin.
//!
//! Some seconds long as it is; `SINEW_STRESS=10` makes it ten times as long. `.ci/deep` runs it
//! under the thread and the address sanitizer.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod support;

use sinew::error::{CallError, CallFailure};
use sinew::executor::StopHandle;
use sinew::msg::BufferType;
use sinew::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::Poll;
use std::thread;
use support::tasks::{Task, block_on};
use support::{Number, Numbers};

/// How often things are done in each test.
fn rounds(usual: u64) -> u64 {
    let factor = std::env::var("SINEW_STRESS").ok().and_then(|factor| factor.parse().ok()).unwrap_or(1.0_f64);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rough number")]
    let rounds = (usual as f64 * factor) as u64;
    rounds.max(1)
}

/// A message that says who published it, as which of his, with memory of its own, so that nobody
/// can mistake a message that is gone for one that is there.
#[derive(Debug, Clone, Default)]
struct Parcel {
    sender: u64,
    number: u64,
    content: Vec<u64>,
}

impl Message for Parcel {}

impl Parcel {
    fn new(sender: u64, number: u64) -> Self {
        Self { sender, number, content: vec![sender ^ number; 3] }
    }

    #[track_caller]
    fn check(&self) {
        assert_eq!(self.content, [self.sender ^ self.number; 3]);
    }
}

/// What a reader has seen of each sender.
#[derive(Default)]
struct Seen {
    last: HashMap<u64, u64>,
    count: u64,
}

impl Seen {
    /// Notes a parcel; nothing comes twice, and what comes from one sender comes in order.
    #[track_caller]
    fn note(&mut self, parcel: &Parcel) {
        parcel.check();
        let last = self.last.insert(parcel.sender, parcel.number).unwrap_or(0);
        assert!(parcel.number > last, "{} of {} came after {last}", parcel.number, parcel.sender);
        self.count += 1;
    }

    /// As `note`, and nothing is left out.
    #[track_caller]
    fn note_next(&mut self, parcel: &Parcel) {
        let last = self.last.get(&parcel.sender).copied().unwrap_or(0);
        self.note(parcel);
        assert_eq!(parcel.number, last + 1, "of {}", parcel.sender);
    }
}

/// What the callbacks of an exclusive group share.
#[derive(Default)]
struct Alone {
    inside: bool,
    /// Not atomic: the group's turn must be enough.
    calls: u64,
}

impl Alone {
    fn during<R>(&mut self, callback: impl FnOnce() -> R) -> R {
        assert!(!std::mem::replace(&mut self.inside, true), "two callbacks of one group at once");
        self.calls += 1;
        let result = callback();
        self.inside = false;
        result
    }
}

/// Two executors, each with a node of one context, spun until the test is over.
struct Rooms {
    context: Context,
    nodes: [Node; 2],
    spinners: Vec<thread::JoinHandle<()>>,
}

impl Rooms {
    fn new() -> Self {
        let context = support::real_context();
        let nodes = ["left", "right"].map(|name| context.node(name).unwrap());
        let spinners = nodes.iter().map(|node| spin(node).0).collect();
        Self { context, nodes, spinners }
    }

    fn close(self) {
        self.context.shutdown();
        for spinner in self.spinners {
            spinner.join().unwrap();
        }
    }
}

/// Spins an executor that serves the node on a thread of its own.
fn spin(node: &Node) -> (thread::JoinHandle<()>, StopHandle) {
    spin_by(Executor::single(), node)
}

fn spin_by(executor: Executor, node: &Node) -> (thread::JoinHandle<()>, StopHandle) {
    executor.add(node).unwrap();
    let stop = executor.stop_handle();
    (thread::spawn(move || executor.spin().unwrap()), stop)
}

/// Waits until it is true.
#[track_caller]
fn until(what: &str, mut done: impl FnMut() -> bool) {
    let begin = sinew::time::Time::steady();
    while !done() {
        assert!(sinew::time::Time::steady() - begin < 6 * support::PATIENCE, "{what} takes too long");
        thread::yield_now();
    }
}

/// A reliable keep_all pair that lives throughout loses nothing: two senders, readers by hand and
/// in both executors, little room, while subscriptions to the same topic come and go in every form.
#[test]
fn nothing_is_lost_while_others_come_and_go() {
    let rooms = Rooms::new();
    let parcels = rounds(4000);
    let patient = QoS::new().reliable().keep_all().max_samples(16).max_blocking_time(Duration::from_secs(60));
    let readers: Vec<_> = rooms
        .nodes
        .iter()
        .map(|node| {
            let count = Arc::new(AtomicU64::new(0));
            let (counted, group) = (count.clone(), node.group(Seen::default()));
            let callback = move |seen: &mut Seen, parcel: &Parcel, info: &MessageInfo| {
                seen.note_next(parcel);
                assert_eq!(info.publication_sequence(), parcel.number);
                counted.fetch_add(1, Ordering::Relaxed);
            };
            let reader = group.subscription::<Parcel>("parcels").qos(patient);
            (reader.callback(callback).unwrap(), count)
        })
        .collect();
    let by_hand = rooms.nodes[0].subscription::<Parcel>("parcels").qos(patient).create().unwrap();
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let senders: Vec<_> = (0..2)
            .map(|sender| {
                let publisher = rooms.nodes[0].publisher::<Parcel>("parcels").qos(patient).create().unwrap();
                scope.spawn(move || {
                    for number in 1..=parcels {
                        let parcel = Parcel::new(sender, number);
                        match number % 4 {
                            0 => publisher.publish(parcel).unwrap(),
                            1 => publisher.publish(Box::new(parcel)).unwrap(),
                            2 => publisher.publish(&parcel).unwrap(),
                            _ => publisher.publish(Shared::new(parcel)).unwrap(),
                        }
                    }
                })
            })
            .collect();
        scope.spawn(|| {
            let mut seen = Seen::default();
            until("taking by hand", || {
                while let Some((parcel, _)) = by_hand.take() {
                    seen.note_next(&parcel);
                }
                seen.count == 2 * parcels
            });
        });
        for (index, node) in rooms.nodes.iter().enumerate() {
            let over = &over;
            scope.spawn(move || come_and_go(node, index, over));
        }
        for sender in senders {
            sender.join().unwrap();
        }
        for (_, count) in &readers {
            until("the callbacks", || count.load(Ordering::Relaxed) == 2 * parcels);
        }
        over.store(true, Ordering::Relaxed);
    });
    for (reader, _) in &readers {
        let statistics = reader.statistics();
        assert_eq!((statistics.received, statistics.taken), (2 * parcels, 2 * parcels));
        assert_eq!((statistics.overwritten, statistics.refused, statistics.expired), (0, 0, 0));
    }
    drop((readers, by_hand));
    rooms.close();
}

/// Subscriptions in every form, each for a short while.
fn come_and_go(node: &Node, seed: usize, over: &AtomicBool) {
    for turn in seed.. {
        if over.load(Ordering::Relaxed) {
            return;
        }
        let mut seen = Seen::default();
        let builder = node.subscription::<Parcel>("parcels").qos(QoS::new().keep_last(1 + turn % 20));
        let mut note = move |parcel: &Parcel| seen.note(parcel);
        let subscription = match turn % 7 {
            0 => builder.callback(move |parcel: &Parcel| note(parcel)),
            1 => builder.callback(move |parcel: Shared<Parcel>| note(&parcel)),
            2 => builder.callback(move |mut parcel: Unique<Parcel>| {
                note(&parcel);
                parcel.content.clear(); // nobody else's
            }),
            3 => builder.buffer(BufferType::Shared).callback(move |mut parcel: Unique<Parcel>| {
                note(&parcel);
                parcel.content.clear();
            }),
            4 => builder.buffer(BufferType::Value).callback(move |parcel: Parcel| note(&parcel)),
            5 => builder.filter(|parcel: &Parcel| parcel.number.is_multiple_of(2)).callback(
                move |parcel: Box<Parcel>| {
                    assert_eq!(parcel.number % 2, 0);
                    note(&parcel);
                },
            ),
            _ => builder.create(),
        }
        .unwrap();
        for _ in 0..turn % 50 {
            if turn % 7 == 6 {
                drop(subscription.take_unique());
            }
            thread::yield_now();
        }
        if turn % 2 == 0 { subscription.close() } else { drop(subscription) }
    }
}

/// Late joiners of transient-local publishers, which publish all the time: each gets every message
/// once, from the first on, in order.
#[test]
fn late_joiners_get_everything_once() {
    let rooms = Rooms::new();
    let parcels = rounds(1500);
    let room = usize::try_from(2 * parcels).unwrap();
    let qos = QoS::new().reliable().transient_local().keep_last(room);
    let publishers: Vec<_> =
        (0..2).map(|_| rooms.nodes[0].publisher::<Parcel>("history").qos(qos).create().unwrap()).collect();
    let over = AtomicU64::new(0);
    thread::scope(|scope| {
        for (publisher, sender) in publishers.iter().zip(0..) {
            let over = &over;
            scope.spawn(move || {
                for number in 1..=parcels {
                    publisher.publish(Parcel::new(sender, number)).unwrap();
                    if number % 16 == 0 {
                        thread::yield_now();
                    }
                }
                over.fetch_add(1, Ordering::Relaxed);
            });
        }
        for (index, node) in rooms.nodes.iter().enumerate() {
            let over = &over;
            scope.spawn(move || {
                for turn in index.. {
                    let last = over.load(Ordering::Relaxed) == 2;
                    let count = Arc::new(AtomicU64::new(0));
                    let (counted, mut seen) = (count.clone(), Seen::default());
                    let builder = node.subscription::<Parcel>("history").qos(qos);
                    let mut note = move |parcel: &Parcel| {
                        seen.note_next(parcel);
                        counted.fetch_add(1, Ordering::Relaxed);
                    };
                    if turn % 3 == 0 {
                        let subscription = builder.create().unwrap();
                        until("taking by hand", || {
                            while let Some((parcel, _)) = subscription.take() {
                                note(&parcel);
                            }
                            !last || count.load(Ordering::Relaxed) == 2 * parcels
                        });
                    } else {
                        let subscription = match turn % 3 {
                            1 => builder.callback(move |parcel: &Parcel| note(parcel)).unwrap(),
                            _ => builder.callback(move |parcel: Unique<Parcel>| note(&parcel)).unwrap(),
                        };
                        until("the callbacks", || !last || count.load(Ordering::Relaxed) == 2 * parcels);
                        drop(subscription);
                    }
                    if last {
                        return;
                    }
                }
            });
        }
    });
    drop(publishers);
    rooms.close();
}

/// A chain through both executors and back, in callbacks, while publishers and subscriptions of its
/// topics come and go.
#[test]
fn a_chain_goes_round_while_publishers_come_and_go() {
    let rooms = Rooms::new();
    let parcels = rounds(3000);
    let [left, right] = &rooms.nodes;
    let onward = right.publisher::<Parcel>("second").create().unwrap();
    let _relay =
        right.subscription::<Parcel>("first").callback(move |p: Unique<Parcel>| onward.publish(p)).unwrap();
    let onward = left.publisher::<Parcel>("third").create().unwrap();
    let _back =
        left.subscription::<Parcel>("second").callback(move |p: Unique<Parcel>| onward.publish(p)).unwrap();
    let arrived = left.subscription::<Parcel>("third").create().unwrap();
    let first = left.publisher::<Parcel>("first").create().unwrap();
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        for (index, node) in rooms.nodes.iter().enumerate() {
            let over = &over;
            scope.spawn(move || {
                for turn in index.. {
                    if over.load(Ordering::Relaxed) {
                        return;
                    }
                    let topic = ["elsewhere", "second", "third"][turn % 3];
                    let publisher = node.publisher::<Parcel>(topic).create().unwrap();
                    let mut loan = publisher.loan();
                    loan.content.resize(64, 0);
                    if topic == "elsewhere" {
                        let subscription = node.subscription::<Parcel>(topic).create().unwrap();
                        publisher.publish(loan).unwrap();
                        drop(publisher); // its pool outlives it
                        assert_eq!(subscription.take().unwrap().0.content.len(), 64);
                    }
                }
            });
        }
        let mut seen = Seen::default();
        for number in 1..=parcels {
            first.publish(Parcel::new(0, number)).unwrap();
            until("the round", || {
                arrived.take().is_some_and(|(parcel, info)| {
                    seen.note_next(&parcel);
                    assert!(info.chain_latency() >= info.latency());
                    true
                })
            });
        }
        over.store(true, Ordering::Relaxed);
    });
    rooms.close();
}

/// Timers, guard conditions and groups come and go. After `close` nothing of them runs any more,
/// and callbacks of one group never run at the same time.
#[test]
fn after_close_nothing_runs() {
    let rooms = Rooms::new();
    let turns = rounds(150);
    thread::scope(|scope| {
        for node in &rooms.nodes {
            scope.spawn(move || {
                for turn in 0..turns {
                    let group = node.group(Alone::default());
                    let group = if turn % 3 == 0 { group.priority(1) } else { group };
                    let calls = Arc::new(AtomicU64::new(0));
                    let call = || {
                        let calls = calls.clone();
                        move |alone: &mut Alone| {
                            alone.during(|| calls.fetch_add(1, Ordering::Relaxed));
                        }
                    };
                    let timer = group.timer(Duration::from_micros(50)).callback(call()).unwrap();
                    let guard = group.guard_condition().callback(call()).unwrap();
                    let on_parcel = {
                        let call = call();
                        move |alone: &mut Alone, _: &Parcel| call(alone)
                    };
                    let parcels = group.subscription::<Parcel>("busy").callback(on_parcel).unwrap();
                    let publisher = node.publisher::<Parcel>("busy").create().unwrap();
                    until("the callbacks", || {
                        guard.trigger();
                        publisher.publish(Parcel::new(turn, 1)).unwrap();
                        calls.load(Ordering::Relaxed) > 20
                    });
                    if turn % 5 == 0 {
                        timer.reset();
                    }
                    timer.close();
                    guard.close();
                    parcels.close();
                    let after = calls.load(Ordering::Relaxed);
                    publisher.publish(Parcel::new(turn, 2)).unwrap();
                    thread::yield_now();
                    assert_eq!(calls.load(Ordering::Relaxed), after, "something ran after it was closed");
                }
            });
        }
    });
    rooms.close();
}

/// One thread, and a callback that publishes to many and then to itself: what it publishes runs
/// past the ready queue. Meanwhile other threads close subscriptions that wait there or run, and
/// every few rounds the callback calls a server of its own executor, for which all that waits goes
/// back into the queue.
#[test]
fn what_a_callback_publishes_reaches_all_who_stay() {
    publish_to_those_who_stay(Executor::single());
}

/// The same with two threads, of which the second one comes in now and then.
#[test]
fn what_a_callback_publishes_reaches_all_who_stay_on_two_threads() {
    publish_to_those_who_stay(Executor::multi(2));
}

fn publish_to_those_who_stay(executor: Executor) {
    let context = support::real_context();
    let hub = context.node("hub").unwrap();
    executor.add(&context).unwrap();
    // A worker that is not run for a while holds up the other one.
    let all = QoS::new().reliable().keep_all().max_blocking_time(LONG);
    let spokes = hub.publisher::<Parcel>("spokes").qos(all).create().unwrap();
    let wheel = hub.publisher::<Number>("wheel").create().unwrap();
    let ask = hub.client::<Numbers>("double").create().unwrap();
    let pedestal = context.node("pedestal").unwrap();
    let _double = pedestal.server::<Numbers>("double").callback(|n: &Number| Number(2 * n.0)).unwrap();
    let turns = rounds(20_000);
    let onward = wheel.clone();
    let _turning = hub
        .subscription::<Number>("wheel")
        .callback(move |turn: &Number| -> sinew::Result<()> {
            spokes.publish(Parcel::new(0, turn.0))?;
            if turn.0.is_multiple_of(16) {
                assert_eq!(ask.call(Number(turn.0), LONG).unwrap().0, 2 * turn.0);
            }
            if turn.0 < turns {
                onward.publish(Number(turn.0 + 1))?;
            }
            Ok(())
        })
        .unwrap();
    let count = Arc::new(AtomicU64::new(0));
    let stay = |name: &str| {
        let (count, mut seen) = (count.clone(), Seen::default());
        let node = context.node(name).unwrap();
        let callback = move |parcel: &Parcel| {
            seen.note_next(parcel);
            count.fetch_add(1, Ordering::Relaxed);
        };
        node.subscription::<Parcel>("spokes").qos(all).callback(callback).unwrap()
    };
    let staying = ["north", "south", "east"].map(stay);
    wheel.publish(Number(1)).unwrap();
    let stop = executor.stop_handle();
    thread::scope(|scope| {
        scope.spawn(move || executor.spin().unwrap());
        for visitor in ["guest", "stranger"] {
            let (node, count) = (context.node(visitor).unwrap(), &count);
            scope.spawn(move || {
                while count.load(Ordering::Relaxed) < 3 * turns {
                    let calls = Arc::new(AtomicU64::new(0));
                    let (counted, mut seen) = (calls.clone(), Seen::default());
                    let callback = move |parcel: &Parcel| {
                        seen.note(parcel);
                        counted.fetch_add(1, Ordering::Relaxed);
                    };
                    let visit = node.subscription::<Parcel>("spokes").callback(callback).unwrap();
                    let before = count.load(Ordering::Relaxed);
                    until("a round", || count.load(Ordering::Relaxed) >= (3 * turns).min(before + 10));
                    visit.close();
                    let after = calls.load(Ordering::Relaxed);
                    thread::yield_now();
                    assert_eq!(calls.load(Ordering::Relaxed), after, "it ran after it was closed");
                }
            });
        }
        until("the wheel", || count.load(Ordering::Relaxed) >= 3 * turns);
        stop.stop();
    });
    assert!(staying.iter().all(|subscription| subscription.statistics().taken == turns));
}

/// A node whose executors come and go: what waits, waits for the next one; nothing is lost, doubled
/// or out of order.
#[test]
fn executors_come_and_go() {
    let context = support::real_context();
    let node = context.node("wanderer").unwrap();
    let patient = QoS::new().reliable().keep_all().max_samples(8).max_blocking_time(Duration::from_secs(60));
    let publisher = node.publisher::<Parcel>("parcels").qos(patient).create().unwrap();
    let count = Arc::new(AtomicU64::new(0));
    let group = node.group(Seen::default());
    let counted = count.clone();
    let callback = move |seen: &mut Seen, parcel: &Parcel| {
        seen.note_next(parcel);
        counted.fetch_add(1, Ordering::Relaxed);
    };
    let reader = group.subscription::<Parcel>("parcels").qos(patient).callback(callback).unwrap();
    let parcels = rounds(20_000);
    thread::scope(|scope| {
        scope.spawn(move || {
            for number in 1..=parcels {
                publisher.publish(Parcel::new(0, number)).unwrap();
            }
        });
        while count.load(Ordering::Relaxed) < parcels {
            let (spinner, stop) = spin(&node);
            let before = count.load(Ordering::Relaxed);
            until("the executor", || count.load(Ordering::Relaxed) >= parcels.min(before + 100));
            stop.stop();
            spinner.join().unwrap(); // and its executor is gone
        }
    });
    assert_eq!(reader.statistics().taken, parcels);
}

/// Two senders, three tasks that give up and come again all the time like the losing branch of a
/// `select!`, listeners that change: nothing is lost, nothing comes twice, and what a task gets of
/// one sender comes in order.
#[test]
fn tasks_that_give_up_lose_nothing() {
    let context = support::real_context();
    let node = context.node("node").unwrap();
    let parcels = rounds(4000);
    let patient = QoS::new().reliable().keep_all().max_samples(8).max_blocking_time(Duration::from_secs(60));
    let reader = node.subscription::<Parcel>("parcels").qos(patient).create().unwrap();
    let task = |turn: usize| {
        let (mut seen, mut received) = (Seen::default(), Vec::new());
        let mut note = |parcel: &Parcel| {
            seen.note(parcel);
            received.push((parcel.sender, parcel.number));
        };
        for turn in turn.. {
            if turn % 3 == 0 {
                match block_on(reader.recv_unique()) {
                    Some((parcel, _)) => note(&parcel),
                    None => break,
                }
                continue;
            }
            let mut future = reader.recv();
            match Task::new().poll(&mut future) {
                Poll::Ready(Some((parcel, _))) => note(&parcel),
                Poll::Ready(None) => break,
                Poll::Pending => thread::yield_now(), // and drops it, woken or not
            }
        }
        received
    };
    let heard = Arc::new(AtomicU64::new(0));
    let mut received: Vec<_> = thread::scope(|scope| {
        let tasks: Vec<_> = (0..3).map(|turn| scope.spawn(move || task(turn))).collect();
        let senders: Vec<_> = (0..2)
            .map(|sender| {
                let publisher = node.publisher::<Parcel>("parcels").qos(patient).create().unwrap();
                scope.spawn(move || {
                    for number in 1..=parcels {
                        publisher.publish(Parcel::new(sender, number)).unwrap();
                    }
                })
            })
            .collect();
        while !senders.iter().all(thread::ScopedJoinHandle::is_finished) {
            let counted = heard.clone();
            reader.set_listener(move |count| {
                counted.fetch_add(count, Ordering::Relaxed);
            });
            thread::yield_now();
            reader.clear_listener();
        }
        senders.into_iter().for_each(|sender| sender.join().unwrap());
        context.shutdown();
        tasks.into_iter().flat_map(|task| task.join().unwrap()).collect()
    });
    received.sort_unstable();
    let sent: Vec<_> = (0..2).flat_map(|sender| (1..=parcels).map(move |number| (sender, number))).collect();
    assert!(received == sent, "{} received of {} sent", received.len(), sent.len());
    assert_eq!(Arc::strong_count(&heard), 1, "no listener is left");
}

/// Long enough for whatever a loaded machine does to a call.
const LONG: Duration = Duration::from_secs(60);

/// Two servers, in an exclusive and in a reentrant group, that ask those of the floor below and add
/// one.
fn serve(node: &Node, floor: usize, below: Option<&str>, served: &Arc<AtomicU64>) -> [Server<Numbers>; 2] {
    let name = node.name();
    let client = |name: &str| node.client::<Numbers>(name).create().unwrap();
    let below = below.map(|below| ["alone", "many"].map(|kind| client(&format!("{below}_{kind}"))));
    let served = served.clone();
    let answer = move |number: Unique<Number>| -> Result<Unique<Number>, CallError<Number>> {
        served.fetch_add(1, Ordering::Relaxed);
        let mut answer = match &below {
            Some([alone, _]) if number.0 >> floor & 1 == 0 => alone.call(number, LONG)?,
            Some([_, many]) => many.call(number, LONG)?,
            None => number,
        };
        answer.0 += 1;
        Ok(answer)
    };
    let (group, sibling, its_answer) =
        (node.group(Alone::default()), client(&format!("{name}_many")), answer.clone());
    let alone = group.server::<Numbers>(&format!("{name}_alone"));
    let alone = alone.callback(move |alone: &mut Alone, number: Unique<Number>| {
        alone.during(|| if number.0 & 8 == 0 { its_answer(number) } else { sibling.call(number, LONG) })
    });
    let many = node.reentrant_group().server::<Numbers>(&format!("{name}_many"));
    [alone.unwrap(), many.callback(answer).unwrap()]
}

/// A server that comes and goes, in both kinds of groups; returns how many requests were served.
fn visit(node: &Node, over: &AtomicBool) -> u64 {
    let served = Arc::new(AtomicU64::new(0));
    for turn in 0.. {
        if over.load(Ordering::Relaxed) {
            break;
        }
        let counted = served.clone();
        let add = move |mut number: Unique<Number>| {
            counted.fetch_add(1, Ordering::Relaxed);
            number.0 += 1;
            number
        };
        let server = if turn % 2 == 0 {
            node.reentrant_group().server::<Numbers>("visitor").callback(add).unwrap()
        } else {
            let callback = move |alone: &mut Alone, number: Unique<Number>| alone.during(|| add(number));
            node.group(Alone::default()).server::<Numbers>("visitor").callback(callback).unwrap()
        };
        for _ in 0..turn % 50 {
            thread::yield_now();
        }
        server.close(); // none of its callbacks runs any more
    }
    served.load(Ordering::Relaxed)
}

/// Calls a server that comes and goes; returns how many calls were answered, and how many may have
/// been served.
fn call_visitor(node: &Node, over: &AtomicBool) -> (u64, u64) {
    let client = node.client::<Numbers>("visitor").create().unwrap();
    let (mut answered, mut taken) = (0, 0);
    for number in 0.. {
        if over.load(Ordering::Relaxed) {
            break;
        }
        let answer = match number % 2 {
            0 => client.call(Number(number), Duration::from_millis(20)),
            _ => match Task::new().poll(&mut client.call_async(Number(number))) {
                Poll::Ready(answer) => answer,
                Poll::Pending => {
                    taken += 1; // perhaps: it is given up, like the losing branch of a `select!`
                    continue;
                }
            },
        };
        match answer {
            Ok(answer) => {
                assert_eq!(answer.0, number + 1);
                answered += 1;
                taken += 1;
            }
            Err(error) => {
                use CallFailure::{NoServer, ServerGone, Timeout};
                let failure = error.failure();
                assert!(matches!(failure, NoServer { .. } | ServerGone | Timeout { .. }), "{error}");
                taken += u64::from(error.into_request().is_none()); // who has it back was not served
            }
        }
    }
    (answered, taken)
}

/// Calls through three executors of 3, 1 and 2 threads and through both kinds of groups, from
/// outside, from timers and from servers that call their neighbours, while others publish to all of
/// them and servers come and go: every call is answered, once, and nothing is lost.
#[test]
fn calls_through_several_executors_add_up() {
    let context = support::real_context();
    let floors = ["top", "middle", "bottom"];
    let nodes = floors.map(|name| context.node(name).unwrap());
    let [top, middle, bottom] = &nodes;
    let served = [(); 3].map(|()| Arc::new(AtomicU64::new(0)));
    let _servers: Vec<_> = (0..3)
        .map(|floor: usize| serve(&nodes[floor], floor, floors.get(floor + 1).copied(), &served[floor]))
        .collect();
    let (parcels, calls) = (rounds(1500), rounds(400));

    let patient = QoS::new().reliable().keep_all().max_samples(16).max_blocking_time(LONG);
    let arrived = Arc::new(AtomicU64::new(0));
    let in_order: Vec<_> = [top, bottom]
        .map(|node| {
            let arrived = arrived.clone();
            let subscription = node.group(Seen::default()).subscription::<Parcel>("parcels").qos(patient);
            subscription.callback(move |seen: &mut Seen, p: &Parcel| {
                seen.note_next(p);
                arrived.fetch_add(1, Ordering::Relaxed);
            })
        })
        .into();
    let counted = arrived.clone();
    let at_once = middle.reentrant_group().subscription::<Parcel>("parcels").qos(patient);
    let at_once = at_once.callback(move |parcel: Shared<Parcel>| {
        parcel.check();
        counted.fetch_add(1, Ordering::Relaxed);
    });
    let (ticks, asks) =
        (Arc::new(AtomicU64::new(0)), top.client::<Numbers>("middle_alone").create().unwrap());
    let ticked = ticks.clone();
    let timer = top.group(()).timer(Duration::from_micros(300)).callback(move || {
        let number = ticked.fetch_add(1, Ordering::Relaxed);
        let answer = asks.call(Number(number), LONG).unwrap();
        assert_eq!(answer.0, number + 2);
    });
    let executors = [Executor::multi(3), Executor::single(), Executor::multi(2)];
    let spinners: Vec<_> =
        executors.into_iter().zip(&nodes).map(|(executor, node)| spin_by(executor, node).0).collect();

    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let visitor = scope.spawn(|| visit(bottom, &over));
        let visits = scope.spawn(|| call_visitor(top, &over));
        let senders = [0, 1].map(|sender| {
            let publisher = middle.publisher::<Parcel>("parcels").qos(patient).create().unwrap();
            scope
                .spawn(move || (1..=parcels).for_each(|n| publisher.publish(Parcel::new(sender, n)).unwrap()))
        });
        let callers = [top, middle, bottom].map(|node| scope.spawn(move || call_top(node, calls)));
        callers.into_iter().for_each(|caller| caller.join().unwrap());
        senders.into_iter().for_each(|sender| sender.join().unwrap());
        until("the callbacks", || arrived.load(Ordering::Relaxed) == 3 * 2 * parcels);
        over.store(true, Ordering::Relaxed);
        let (served, (answered, taken)) = (visitor.join().unwrap(), visits.join().unwrap());
        assert!(answered <= served && served <= taken, "{answered} answered, {served} served, {taken} taken");
    });
    timer.unwrap().close();
    let ticks = ticks.load(Ordering::Relaxed);
    let served = served.map(|served| served.load(Ordering::Relaxed));
    assert_eq!(served, [3 * calls, 3 * calls + ticks, 3 * calls + ticks]);
    drop((in_order, at_once));
    context.shutdown();
    spinners.into_iter().for_each(|spinner| spinner.join().unwrap());
}

/// Calls the servers of the top floor, in every way.
fn call_top(node: &Node, calls: u64) {
    let create = |kind| node.client::<Numbers>(&format!("top_{kind}")).create().unwrap();
    let mut clients = ["alone", "many"].map(create);
    for number in 0..calls {
        let index = usize::from(number % 3 == 0);
        let client = &clients[index];
        let answer = match number % 5 {
            0 => block_on(client.call_async(Number(number))),
            _ => client.call(Number(number), LONG),
        };
        assert_eq!(answer.unwrap().0, number + 3);
        if number % 16 == 0 {
            clients[index] = create(["alone", "many"][index]);
        }
    }
}

/// Shutting down in the middle of everything: every waiting publisher and every spin returns.
#[test]
fn a_shutdown_ends_everything() {
    for turn in 0..rounds(30) {
        let rooms = Rooms::new();
        let patient =
            QoS::new().reliable().keep_all().max_samples(4).max_blocking_time(Duration::from_secs(60));
        let _reader = rooms.nodes[0].subscription::<Parcel>("parcels").qos(patient).create().unwrap(); // never takes
        let _busy =
            rooms.nodes[1].subscription::<Parcel>("parcels").callback(|parcel: &Parcel| parcel.check());
        let publishers: Vec<_> = (0..2)
            .map(|sender| {
                let publisher = rooms.nodes[0].publisher::<Parcel>("parcels").qos(patient).create().unwrap();
                thread::spawn(move || {
                    for number in 1.. {
                        if let Err(error) = publisher.publish(Parcel::new(sender, number)) {
                            assert_eq!(error.failure(), sinew::error::PublishFailure::Shutdown);
                            return;
                        }
                    }
                })
            })
            .collect();
        for _ in 0..turn * 20 {
            thread::yield_now();
        }
        rooms.close();
        for publisher in publishers {
            publisher.join().unwrap();
        }
    }
}
