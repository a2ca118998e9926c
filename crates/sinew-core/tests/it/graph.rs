//! The graph as a program sees it: what there is, where it is, and its changes.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use crate::support::outside::Onlooker;
use crate::support::tasks::block_on;
use crate::support::{Number, Numbers, PATIENCE, finishes, real_context};
use futures_core::Stream;
use rustix::event::{PollFd, PollFlags, poll};
use sinew::event::Mismatch;
use sinew::gateway::Origin;
use sinew::graph::{EndpointInfo, EndpointKind, Graph, GraphReader, GraphSnapshot, Place};
use sinew::msg::{GenericType, TypeHash};
use sinew::prelude::*;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::pin::Pin;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Poll, Waker};
use std::thread;

/// What the other process is to be; absent in the test itself.
const ROLE: &str = "SINEW_TEST_ROLE";

#[derive(Clone, Default, Message)]
struct Named {
    name: String,
}

fn context_at(place: &Path) -> Context {
    Context::builder().domain(3).directory(place).build().unwrap()
}

fn names(ends: &[EndpointInfo]) -> Vec<(EndpointKind, &str, &str)> {
    ends.iter().map(|end| (end.kind, end.node.as_str(), end.name.as_str())).collect()
}

/// Endpoints without those that each node has for its parameters and log lines.
fn own(mut ends: Vec<EndpointInfo>) -> Vec<EndpointInfo> {
    let is_own = |name: &str| ["/numbers", "/names", "/add", "/square"].contains(&name);
    ends.retain(|end| is_own(&end.name));
    ends
}

#[test]
fn what_there_is_in_a_process() -> sinew::Result<()> {
    let context = real_context();
    let (talker, listener) = (context.node("talker")?, context.node_in("/left", "listener")?);
    let deep = QoS::new().keep_last(7).transient_local();
    let publisher = talker.publisher::<Number>("numbers").qos(deep).create()?;
    let subscription = listener.subscription::<Number>("/numbers").qos(deep).create()?;
    let server = talker.server::<Numbers>("add").callback(|request: Unique<Number>| request)?;
    let client = listener.client::<Numbers>("/add").create()?;
    let graph = listener.graph();

    let nodes: Vec<_> = graph.nodes().into_iter().map(|node| (node.name, node.place)).collect();
    assert_eq!(nodes, [("/left/listener".to_owned(), Place::Here), ("/talker".to_owned(), Place::Here)]);
    let topics = graph.topics();
    let numbers = topics.iter().find(|topic| topic.name == "/numbers").unwrap();
    let encoding = Number::ENCODING.unwrap();
    assert_eq!(numbers.types, [encoding.name]);
    assert!(graph.services().iter().any(|service| service.name == "/add"));
    assert!(topics.is_sorted_by_key(|topic| topic.name.clone()));

    let publishers = graph.publishers("/numbers");
    let [published] = &publishers[..] else { panic!("{publishers:?}") };
    assert_eq!((published.kind, published.node.as_str()), (EndpointKind::Publisher, "/talker"));
    assert_eq!((published.name.as_str(), published.type_name.as_str()), ("/numbers", encoding.name));
    assert_eq!((published.type_hash, published.qos), (Some(encoding.hash), deep));
    assert_eq!(published.place, Place::Here);
    publisher.publish(Number(1))?;
    assert_eq!(subscription.take().unwrap().1.publisher(), published.gid);

    assert_eq!(
        names(&own(graph.endpoints_of_node("/talker"))),
        [(EndpointKind::Publisher, "/talker", "/numbers"), (EndpointKind::Server, "/talker", "/add")]
    );
    assert_eq!(
        names(&own(graph.endpoints_of_node("/left/listener"))),
        [
            (EndpointKind::Subscription, "/left/listener", "/numbers"),
            (EndpointKind::Client, "/left/listener", "/add")
        ]
    );
    assert_eq!(own(graph.endpoints()).len(), 4);
    let counts = |graph: &Graph| {
        [
            graph.publisher_count("/numbers"),
            graph.subscription_count("/numbers"),
            graph.server_count("/add"),
            graph.client_count("/add"),
        ]
    };
    assert_eq!(counts(&graph), [1; 4]);
    drop((publisher, subscription, server, client));
    assert_eq!(counts(&graph), [0; 4]);
    drop(talker);
    assert_eq!(graph.nodes().len(), 1);
    Ok(())
}

#[test]
fn hidden_names_several_types_and_actions() -> sinew::Result<()> {
    let node = real_context().node("node")?;
    let graph = node.graph();
    let _one = node.publisher::<Number>("numbers").create()?;
    let _other = node.subscription::<Named>("numbers").create()?;
    let topics = graph.topics();
    let numbers = topics.iter().find(|topic| topic.name == "/numbers").unwrap();
    assert_eq!(numbers.types.len(), 2, "{numbers:?}");
    assert!(numbers.types.is_sorted() && !numbers.is_hidden());
    assert_eq!(graph.publishers("/numbers").len(), 1, "of any type");

    let feedback = GenericType::new("test_msgs/action/Walk_FeedbackMessage", TypeHash([3; 32])).unwrap();
    let _feedback = node.generic_publisher("walk/_action/feedback", feedback).create()?;
    let _received = node.generic_subscription("walk/_action/feedback", feedback).create()?;
    let actions: Vec<_> = graph.actions().into_iter().map(|action| (action.name, action.types)).collect();
    assert_eq!(actions, [("/walk".to_owned(), vec!["test_msgs/action/Walk".to_owned()])]);
    let topics = graph.topics();
    assert!(topics.iter().any(|topic| topic.name == "/walk/_action/feedback" && topic.is_hidden()));
    Ok(())
}

/// Another process, which is killed when this is dropped.
struct Other(Child);

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.0.kill(); // it may have ended
        let _ = self.0.wait();
    }
}

/// The other process of the next test.
fn other() -> ! {
    let context = context_at(Path::new(&std::env::var_os("SINEW_TEST_PLACE").unwrap()));
    let node = context.node("other").unwrap();
    let _publisher = node.publisher::<Number>("numbers").create().unwrap();
    let _subscription = node.subscription::<Named>("names").create().unwrap();
    let _server = node.server::<Numbers>("add").callback(|request: Unique<Number>| request).unwrap();
    let _client = node.client::<Numbers>("square").create().unwrap();
    println!("it is there");
    loop {
        thread::park(); // until it is killed
    }
}

#[test]
fn another_process_comes_and_is_killed() -> sinew::Result<()> {
    if std::env::var_os(ROLE).is_some() {
        other();
    }
    let directory = tempfile::tempdir_in("/dev/shm").expect("shared memory");
    let place = directory.path().to_owned();
    finishes(move || {
        // A context without a node sees others as well.
        let graph = context_at(&place).graph()?;
        assert!(graph.nodes().is_empty() && graph.endpoints().is_empty());
        let arrived = Arc::new(AtomicUsize::new(0));
        let listener = graph.on_change({
            let (arrived, graph) = (arrived.clone(), graph.clone());
            move || {
                arrived.fetch_add(1, Ordering::Relaxed);
                graph.endpoints(); // as there is no lock held
            }
        });
        let mut changes = graph.changes();
        let child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "graph::another_process_comes_and_is_killed",
                "--nocapture",
                "--test-threads=1",
            ])
            .env(ROLE, "other")
            .env("SINEW_TEST_PLACE", &place)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut child = Other(child);
        let mut lines = BufReader::new(child.0.stdout.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap().ends_with("it is there")));
        // A query looks by itself, and finds what the other process has made.
        let ends = own(graph.endpoints_of_node("/other"));
        assert_eq!(
            names(&ends),
            [
                (EndpointKind::Publisher, "/other", "/numbers"),
                (EndpointKind::Subscription, "/other", "/names"),
                (EndpointKind::Server, "/other", "/add"),
                (EndpointKind::Client, "/other", "/square"),
            ]
        );
        assert_eq!(ends[0].type_hash, Some(Number::ENCODING.unwrap().hash));
        let pid = u64::from(child.0.id());
        let is_there = |place: &Place| matches!(place, Place::Process { pid: of, program, .. } if *of == pid && !program.is_empty());
        assert!(ends.iter().all(|end| is_there(&end.place)), "{ends:?}");
        assert!(graph.nodes().iter().any(|node| node.name == "/other" && is_there(&node.place)));
        assert!(changes.wait(PATIENCE));
        let before = arrived.load(Ordering::Relaxed);
        assert!(before > 0);

        drop(child);
        assert!(graph.wait_until(PATIENCE, |graph| graph.nodes().is_empty()));
        assert!(graph.endpoints().is_empty(), "{:?}", graph.endpoints());
        assert!(changes.wait(PATIENCE));
        drop(listener);
        Ok(())
    })
}

#[test]
fn contexts_of_one_process_see_each_other() -> sinew::Result<()> {
    let directory = tempfile::tempdir_in("/dev/shm").expect("shared memory");
    let (one, other) = (context_at(directory.path()), context_at(directory.path()));
    let (talker, listener) = (one.node("talker")?, other.node("listener")?);
    let publisher = talker.publisher::<Number>("numbers").create()?;
    let subscription = listener.subscription::<Number>("numbers").create()?;
    assert!(publisher.wait_for_subscribers(1, PATIENCE));
    let publishers = listener.graph().publishers("/numbers");
    let [published] = &publishers[..] else { panic!("{publishers:?}") };
    let own = u64::from(std::process::id());
    assert!(matches!(&published.place, Place::Process { pid, .. } if *pid == own), "{published:?}");
    publisher.publish(Number(1))?;
    let message = block_on(subscription.recv()).unwrap();
    assert_eq!(message.1.publisher(), published.gid);
    Ok(())
}

#[test]
fn ends_of_the_network_and_of_gateways() -> sinew::Result<()> {
    let directory = tempfile::tempdir_in("/dev/shm").expect("shared memory");
    let (gateway, program) = (context_at(directory.path()), context_at(directory.path()));
    let far = gateway.node_of(Origin::Network, "/", "far")?;
    let carrier = gateway.node_of(Origin::Carrier, "/", "_sinew_gateway")?;
    let _numbers = far.publisher::<Number>("numbers").create()?;
    let _server = far.server::<Numbers>("add").callback(|request: Unique<Number>| request)?;
    let _carried = carrier.subscription::<Number>("numbers").create()?;
    let _carried = carrier.client::<Numbers>("add").create()?;
    let own = u64::from(std::process::id());
    for graph in [gateway.graph()?, program.graph()?] {
        let nodes = graph.nodes();
        assert_eq!(nodes.iter().map(|node| node.name.as_str()).collect::<Vec<_>>(), ["/far"]);
        let ends = graph.endpoints();
        let expected =
            [(EndpointKind::Publisher, "/far", "/numbers"), (EndpointKind::Server, "/far", "/add")];
        assert_eq!(names(&ends), expected);
        let is_far = |place: &Place| matches!(place, Place::Network { gateway, .. } if *gateway == own);
        assert!(ends.iter().all(|end| is_far(&end.place)) && is_far(&nodes[0].place), "{ends:?}");
    }
    let outside = GraphReader::new(3).directory(directory.path()).read().expect("the domain is there");
    for graph in [gateway.graph()?, program.graph()?] {
        assert_eq!(graph.snapshot(), outside, "a gateway's context sees it as others do");
    }
    Ok(())
}

#[test]
fn a_reader_looks_from_outside() -> sinew::Result<()> {
    let directory = tempfile::tempdir_in("/dev/shm").expect("shared memory");
    let domain = directory.path().join("3");
    let mut reader = GraphReader::new(3).directory(directory.path());
    assert_eq!(reader.read().expect("it is empty"), GraphSnapshot::default());
    assert!(!domain.exists(), "it creates nothing");
    for _ in 0..2 {
        let (one, other) = (context_at(directory.path()), context_at(directory.path()));
        let (talker, listener) = (one.node("talker")?, other.node_in("/left", "listener")?);
        let deep = QoS::new().keep_last(7).transient_local();
        let publisher = talker.publisher::<Number>("numbers").qos(deep).create()?;
        let _subscription = listener.subscription::<Number>("/numbers").create()?;
        let _server = talker.server::<Numbers>("add").callback(|request: Unique<Number>| request)?;
        let _client = listener.client::<Numbers>("/add").create()?;
        let seen = reader.read().expect("the domain is there");
        let nodes: Vec<_> = seen.nodes().iter().map(|node| node.name.as_str()).collect();
        assert_eq!(nodes, ["/left/listener", "/talker"], "and nobody else");
        let own = u64::from(std::process::id());
        assert!(matches!(&seen.nodes()[0].place, Place::Process { pid, .. } if *pid == own));

        // Each context sees the other's as the reader does, and its own besides.
        let others = |graph: &Graph| {
            let all = graph.endpoints();
            all.into_iter().filter(|end| end.place != Place::Here).collect::<Vec<_>>()
        };
        let mut known = [others(&talker.graph()), others(&listener.graph())].concat();
        known.sort_by_key(|end| (end.kind, end.name.clone(), end.node.clone()));
        assert_eq!(seen.endpoints(), known);
        assert_eq!(seen.topics(), listener.graph().topics());
        assert_eq!(seen.services(), listener.graph().services());
        assert_eq!(seen.publishers("/numbers").map(|end| end.qos).collect::<Vec<_>>(), [deep]);
        assert_eq!(seen.endpoints_of_node("/talker").count(), others(&listener.graph()).len());
        let counts = [seen.subscriptions("/numbers").count(), seen.servers("/add").count()];
        assert_eq!((counts, seen.clients("/add").count(), seen.clients("/numbers").count()), ([1, 1], 1, 0));
        assert_eq!(reader.read().expect("it still is"), seen, "nothing has changed");
        drop(publisher);
        assert_ne!(reader.read().expect("it still is"), seen);
        drop((talker, listener, one, other));
        std::fs::remove_dir_all(&domain).expect("it is of this test");
    }
    assert_eq!(reader.read().expect("it is gone"), GraphSnapshot::default());
    std::fs::write(&domain, "").expect("a file");
    let error = reader.read().expect_err("a file is no directory").to_string();
    assert!(error.contains("is not a directory"), "{error}");
    Ok(())
}

#[test]
fn a_reader_that_watches_is_woken_by_each_change() -> sinew::Result<()> {
    let directory = tempfile::tempdir_in("/dev/shm").expect("shared memory");
    let domain = directory.path().join("3");
    let mut reader = GraphReader::new(3).directory(directory.path());
    let changes = reader.watch().expect("it can be watched");
    let count = |reader: &mut GraphReader| reader.read().expect("the domain is there").nodes().len();
    let has_changed = |timeout: Duration| {
        let mut fds = [PollFd::new(&changes, PollFlags::IN)];
        poll(&mut fds, Some(&timeout.try_into().unwrap())).expect("it is a descriptor") > 0
    };
    // A change may be several reports: reads until the graph is as expected.
    let becomes = |reader: &mut GraphReader, nodes: usize| {
        while count(reader) != nodes {
            assert!(has_changed(PATIENCE), "{nodes} nodes are noticed");
        }
    };
    assert_eq!(count(&mut reader), 0);
    for _ in 0..2 {
        let context = context_at(directory.path());
        becomes(&mut reader, 0); // it was made, or nothing is known of it yet
        let node = context.node("one")?;
        becomes(&mut reader, 1);
        let second = context.node("two")?;
        assert!(has_changed(PATIENCE));
        becomes(&mut reader, 2);
        drop(second);
        assert!(has_changed(PATIENCE));
        becomes(&mut reader, 1);
        drop((node, context));
        assert!(has_changed(PATIENCE));
        becomes(&mut reader, 0);
        std::fs::remove_dir_all(&domain).expect("it is of this test");
        assert_eq!(count(&mut reader), 0);
        std::fs::create_dir(&domain).expect("it is of this test");
        assert_eq!(count(&mut reader), 0); // watches the new one
    }
    Ok(())
}

#[test]
fn records_of_another_version_are_named() -> sinew::Result<()> {
    let directory = tempfile::tempdir_in("/dev/shm").expect("shared memory");
    let onlooker = Onlooker::join(directory.path(), 3);
    let announce = |number, qos| {
        let record = sinew_shm::Endpoint {
            kind: sinew_shm::EndpointKind::Publisher,
            number,
            node: "/later".to_owned(),
            name: "/numbers".to_owned(),
            type_name: "test_msgs/msg/Number".to_owned(),
            hash: [0; 32],
            qos,
        };
        onlooker.participant.advertise(&record, None).expect("there is room")
    };
    let _records = [announce(1, QoS::new().to_bytes(true)), announce(2, [0xff; 64])];
    let seen = GraphReader::new(3).directory(directory.path()).read().expect("the domain is there");
    assert_eq!((seen.endpoints().len(), seen.endpoints()[0].type_hash), (1, None));
    assert!(seen.endpoints()[0].leaves_process());
    assert_eq!(
        seen.unreadable(),
        ["an endpoint is left out: /later announces one on /numbers that this version of Sinew can't read"]
    );
    Ok(())
}

#[test]
fn two_types_of_one_name_differ_in_a_field() -> sinew::Result<()> {
    mod later {
        #[derive(sinew::Message)]
        #[message(name = "test_msgs/msg/Grid")]
        pub(super) struct Grid {
            pub(super) cells: Vec<u8>,
        }
    }
    #[derive(Message)]
    #[message(name = "test_msgs/msg/Grid")]
    struct Grid {
        cells: Vec<f32>,
    }
    let directory = tempfile::tempdir_in("/dev/shm").expect("shared memory");
    let (one, other) = (context_at(directory.path()), context_at(directory.path()));
    let (mapper, viewer) = (one.node("mapper")?, other.node("viewer")?);
    let _own = mapper.subscription::<later::Grid>("map").create()?;
    let _publisher = mapper.publisher::<Grid>("map").create()?;
    let _subscription = viewer.subscription::<later::Grid>("map").create()?;
    let differ = |seen: &GraphSnapshot| -> Vec<String> {
        let publisher = seen.publishers("/map").next().unwrap();
        let reasons = seen.subscriptions("/map").map(|end| Mismatch::between(publisher, end).unwrap());
        reasons.map(|why| why.to_string()).collect()
    };
    let outside = GraphReader::new(3).directory(directory.path()).read().expect("the domain is there");
    for seen in [mapper.graph().snapshot(), viewer.graph().snapshot(), outside] {
        let received = differ(&seen);
        assert_eq!(received.len(), 2);
        assert!(received.iter().all(|why| why.starts_with("type (test_msgs/msg/Grid: ")), "{received:?}");
        assert!(received.iter().all(|why| why.contains("cells")), "{received:?}");
    }
    Ok(())
}

#[test]
fn a_listener_is_notified_of_each_kind_of_change_and_may_do_anything() -> sinew::Result<()> {
    let context = real_context();
    let graph = context.graph()?;
    let arrived = Arc::new(AtomicUsize::new(0));
    let listener = graph.on_change({
        let (arrived, graph) = (arrived.clone(), graph.clone());
        let node = context.node("echo")?;
        move || {
            if arrived.fetch_add(1, Ordering::Relaxed) < 3 {
                // This changes the graph again.
                drop(node.publisher::<Number>("echoes").create().unwrap());
            }
            let _ = (graph.nodes(), graph.topics(), graph.services(), graph.publishers("/numbers"));
        }
    });
    let mut before = 0;
    let mut expect = |what: &str| {
        let now = arrived.load(Ordering::Relaxed);
        assert!(now > before, "{what}");
        before = now;
    };
    let node = context.node("node")?;
    expect("a node");
    let publisher = node.publisher::<Number>("numbers").create()?;
    expect("a publisher");
    let subscription = node.subscription::<Number>("numbers").create()?;
    expect("a subscription");
    let server = node.server::<Numbers>("add").callback(|request: Unique<Number>| request)?;
    expect("a server");
    let client = node.client::<Numbers>("add").create()?;
    expect("a client");
    drop(publisher);
    expect("a publisher goes");
    drop(subscription);
    expect("a subscription goes");
    drop(client);
    expect("a client goes");
    drop(server);
    expect("a server goes");
    drop(node);
    expect("a node goes");
    drop(listener);
    let last = arrived.load(Ordering::Relaxed);
    let _node = context.node("late")?;
    assert_eq!(arrived.load(Ordering::Relaxed), last, "it has ended");
    Ok(())
}

#[test]
fn a_change_ends_one_wait() -> sinew::Result<()> {
    let context = real_context();
    let (graph, none) = (context.graph()?, Duration::ZERO);
    let mut changes = graph.changes();
    assert!(!changes.wait(none));
    let _node = context.node("node")?;
    assert!(changes.wait(none) && !changes.wait(none));
    assert!(!graph.changes().wait(none), "it counts from now on");
    let mut task = std::task::Context::from_waker(Waker::noop());
    let mut changes = Pin::new(&mut changes);
    assert_eq!(changes.as_mut().poll_next(&mut task), Poll::Pending);
    let _other = context.node("other")?;
    assert_eq!(changes.as_mut().poll_next(&mut task), Poll::Ready(Some(())));
    assert_eq!(changes.as_mut().poll_next(&mut task), Poll::Pending);
    context.shutdown();
    assert_eq!(changes.as_mut().poll_next(&mut task), Poll::Ready(None));
    Ok(())
}

#[test]
fn threads_and_tasks_are_woken() -> sinew::Result<()> {
    finishes(|| {
        let context = real_context();
        let graph = context.graph()?;
        for ends in [false, true] {
            let (mut by_thread, mut by_task) = (graph.changes(), graph.changes());
            let until = graph.clone();
            let thread = thread::spawn(move || by_thread.wait(PATIENCE));
            let task = thread::spawn(move || block_on(by_task.changed()));
            let waits = thread::spawn(move || {
                until.wait_until(PATIENCE, |graph| graph.nodes().iter().any(|node| node.name == "/node"))
            });
            let node = if ends { None } else { Some(context.node("node")?) };
            if ends {
                context.shutdown();
            }
            let woken = [thread, task, waits].map(|thread| thread.join().unwrap());
            assert_eq!(woken, [!ends; 3]);
            drop(node);
        }
        Ok(())
    })
}

#[test]
fn the_condition_is_tested_once_more_at_the_time_limit() -> sinew::Result<()> {
    let graph = real_context().graph()?;
    let mut tests = 0;
    assert!(graph.wait_until(Duration::from_millis(1), |_| {
        tests += 1;
        tests == 2 // no change of the graph announces it
    }));
    Ok(())
}

/// A program that finds no match, and waits for the next change, misses none.
#[test]
fn a_change_is_counted_once_the_match_is_there() -> sinew::Result<()> {
    for path in crate::support::pair::PATHS {
        let pair = crate::support::pair::Pair::new(path);
        let publisher = pair.owner.publisher::<Number>("numbers").create()?;
        let graph = pair.owner.graph();
        let becomes = |count: usize| {
            let mut before = None;
            loop {
                let changes = graph.changes();
                if publisher.subscription_count() == count {
                    break;
                }
                before = Some(changes);
            }
            if let Some(mut changes) = before {
                assert!(changes.wait(PATIENCE), "{count} came without a change");
            }
        };
        for _ in 0..100 {
            thread::scope(|scope| {
                let made = scope.spawn(|| pair.asker.subscription::<Number>("numbers").create().unwrap());
                becomes(1);
                let subscription = made.join().unwrap();
                scope.spawn(|| drop(subscription));
                becomes(0);
            });
        }
    }
    Ok(())
}
