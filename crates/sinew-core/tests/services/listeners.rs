//! Servers and calls with listeners: what runs at once on the thread that calls, answers or
//! receives.

use crate::support;

use sinew::error::{CallError, CallFailure, CreateError};
use sinew::gateway::Origin;
use sinew::msg::{GenericType, SerializedMessage};
use sinew::prelude::*;
use sinew::service::{CallResult, RequestInfo};
use sinew::{Executor, Responder, Server};
use sinew_interfaces::example_interfaces::srv::{AddTwoInts, AddTwoIntsRequest, AddTwoIntsResponse};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use support::tasks::block_on;
use support::{Gate, Log, Number, Numbers, PATIENCE, Place, Room, real_context, wait_for};

type Outcome = Result<u64, CallFailure>;

fn outcome(result: Result<Unique<Number>, CallError<Number>>) -> Outcome {
    result.map(|number| number.0).map_err(|error| error.failure().clone())
}

/// A server whose listener keeps its responders, and where they come to.
fn keeping(node: &Node, limit: usize) -> sinew::Result<(Server<Numbers>, Receiver<Responder<Numbers>>)> {
    let (keep, kept) = channel();
    let server = node.server::<Numbers>("n").max_requests(limit);
    let server = server.immediate_callback(move |_: &Number, responder: Responder<Numbers>| {
        keep.send(responder).expect("the test keeps its end");
    })?;
    Ok((server, kept))
}

#[test]
fn a_servers_listener_runs_on_the_thread_that_calls() -> sinew::Result<()> {
    let room = Room::new();
    let log = Log::new();
    let pen = log.pen();
    let server =
        room.node.server::<Numbers>("double").immediate_callback(move |n: Number, info: &RequestInfo| {
            pen.write((thread::current().id(), info.client(), info.sequence(), info.lineage().id()));
            Number(2 * n.0)
        })?;
    let client = room.node.client::<Numbers>("double").create()?;
    let here = thread::current().id();
    assert_eq!(client.call(Number(21), Duration::ZERO)?.0, 42, "it is answered before anything waits");
    let call = client.call_async(Number(1));
    let lines = log.lines();
    assert_eq!(
        lines.iter().map(|line| (line.0, line.1, line.2)).collect::<Vec<_>>(),
        [(here, client.gid(), 1), (here, client.gid(), 2)]
    );
    assert_ne!(lines[0].3, lines[1].3, "each call begins a chain of its own");
    assert_eq!(block_on(call)?.0, 2);
    let (pen, callback) = (Log::new(), room.node.client::<Numbers>("double").create()?);
    let done = pen.pen();
    callback.call_then(Number(5), move |result: CallResult<Numbers>| done.write(outcome(result)))?;
    assert_eq!(pen.lines(), [], "the result is for the executor");
    room.run();
    assert_eq!(pen.lines(), [Ok(10)]);
    let counts = server.statistics();
    assert_eq!((counts.received, counts.waiting, counts.in_hand, counts.answered), (3, 0, 0, 3));
    Ok(())
}

#[test]
fn requests_that_wait_are_a_listeners_first() -> sinew::Result<()> {
    let room = Room::new();
    let client = room.node.client::<Numbers>("n").create()?;
    let calls: Vec<_> = (0..5).map(|n| client.call_async(Number(n))).collect();
    let log = Log::new();
    let pen = log.pen();
    let server =
        room.node.server::<Numbers>("n").max_requests(1).immediate_callback(move |n: Unique<Number>| {
            pen.write((thread::current().id(), n.0));
            n
        })?;
    let here = thread::current().id();
    assert_eq!(log.lines(), (0..5).map(|n| (here, n)).collect::<Vec<_>>());
    for (call, n) in calls.into_iter().zip(0..) {
        assert_eq!(block_on(call)?.0, n);
    }
    assert_eq!(server.statistics().received, 5);
    Ok(())
}

#[test]
fn what_a_listener_has_in_hand_counts() -> sinew::Result<()> {
    let room = Room::new();
    let (server, kept) = keeping(&room.node, 2)?;
    let client = room.node.client::<Numbers>("n").create()?;
    let calls = [client.call_async(Number(1)), client.call_async(Number(2))];
    assert_eq!(server.statistics().in_hand, 2);
    let refused = block_on(client.call_async(Number(3))).map(drop).expect_err("two are in hand");
    assert_eq!(*refused.failure(), CallFailure::Full { limit: 2 });
    assert_eq!(refused.into_request().expect("it was refused").0, 3);
    let responder = kept.recv().expect("it was taken");
    responder.respond(Number(10)).expect("it is awaited");
    let [first, second] = calls;
    assert_eq!(block_on(first)?.0, 10);
    drop(second);
    let responder = kept.recv().expect("it was taken");
    assert!(!responder.is_awaited());
    let unclaimed = responder.respond(Number(7)).expect_err("it was given up");
    assert_eq!(unclaimed.into_response().expect("it comes back").0, 7);
    Ok(())
}

#[test]
fn a_thread_waits_for_what_a_listener_passes_on() -> sinew::Result<()> {
    let context = real_context();
    let node = context.node("node")?;
    let (_server, kept) = keeping(&node, 1000)?;
    let answering = thread::spawn(move || {
        for responder in kept {
            thread::yield_now(); // so that the caller sleeps already, now and then
            responder.respond(Number(7)).expect("it is awaited");
        }
    });
    let client = node.client::<Numbers>("n").create()?;
    for _ in 0..100 {
        assert_eq!(client.call(Number(1), PATIENCE)?.0, 7);
    }
    // And from a callback, whose executor has one thread.
    let executor = Executor::single();
    executor.add(&context)?;
    let _asks = node.server::<Numbers>("ask").callback(move |n: Number| client.call(n, PATIENCE))?;
    let asking = node.client::<Numbers>("ask").create()?;
    for _ in 0..10 {
        assert_eq!(executor.spin_until(asking.call_async(Number(1)))?.expect("an answer").0, 7);
    }
    drop((_server, _asks, executor));
    answering.join().expect("no panic");
    Ok(())
}

#[test]
fn a_listener_that_panics_or_drops_its_responder_fails_the_call() -> sinew::Result<()> {
    let room = Room::new();
    let client = room.node.client::<Numbers>("n").create()?;
    let server = room
        .node
        .server::<Numbers>("n")
        .immediate_callback(|n: Number| -> Number { panic!("no {}", n.0) })?;
    for _ in 0..2 {
        let failure = outcome(client.call(Number(13), PATIENCE));
        assert_eq!(failure, Err(CallFailure::Panicked { message: "no 13".to_owned() }));
    }
    drop(server);
    let server =
        room.node.server::<Numbers>("n").immediate_callback(|n: Number, _: Responder<Numbers>| {
            match n.0 {
                0 => panic!("not 0"),
                1 => Err("it is forgotten, and this is reported"),
                _ => Ok(()),
            }
        })?;
    assert!(matches!(outcome(client.call(Number(0), PATIENCE)), Err(CallFailure::Panicked { .. })));
    assert_eq!(outcome(client.call(Number(1), PATIENCE)), Err(CallFailure::Dropped));
    assert_eq!(outcome(client.call(Number(2), PATIENCE)), Err(CallFailure::Dropped));
    assert_eq!(server.statistics().dropped, 2);
    Ok(())
}

#[test]
fn a_server_is_closed_while_its_listener_runs() -> sinew::Result<()> {
    let context = real_context();
    let node = context.node("node")?;
    let (inside, go_on) = (Gate::new(), Gate::new());
    let (entered, waits) = (inside.clone(), go_on.clone());
    let kept = Arc::new(());
    let holds = kept.clone();
    let server = node.server::<Numbers>("n").immediate_callback(move |n: Number| {
        let _holds = &holds;
        entered.open();
        waits.wait();
        n
    })?;
    let client = node.client::<Numbers>("n").create()?;
    let calling = client.clone();
    let call = thread::spawn(move || outcome(calling.call(Number(1), PATIENCE)));
    inside.wait();
    let clone = server.clone();
    server.close();
    assert!(clone.is_closed() && !client.is_server_ready(), "and it didn't wait");
    let next = node.server::<Numbers>("n").immediate_callback(|n: Number| Number(n.0 + 100))?;
    drop(clone);
    assert_eq!(client.call(Number(1), PATIENCE)?.0, 101);
    go_on.open();
    assert_eq!(call.join().expect("no panic"), Ok(1), "what it took is answered");
    wait_for("it lets go", || (Arc::strong_count(&kept) == 1).then_some(()));
    drop(next);
    let waits = client.call_async(Number(1));
    let own = Arc::new(std::sync::OnceLock::<Server<Numbers>>::new());
    let itself = own.clone();
    let server = node.server::<Numbers>("m").immediate_callback(move |n: Number| {
        itself.get().expect("its own handle").clone().close();
        n
    })?;
    own.set(server).expect("it is the first");
    let itself = node.client::<Numbers>("m").create()?;
    assert_eq!(itself.call(Number(3), PATIENCE)?.0, 3);
    assert!(!itself.is_server_ready());
    drop(waits);
    Ok(())
}

#[test]
fn a_shutdown_ends_calls_that_listeners_have_in_hand() -> sinew::Result<()> {
    let context = real_context();
    let node = context.node("node")?;
    let (_server, kept) = keeping(&node, 10)?;
    let client = node.client::<Numbers>("n").create()?;
    let log = Log::new();
    let pen = log.pen();
    client.call_then_immediately(Number(1), move |result| pen.write(outcome(result)))?;
    let calling = client.clone();
    let call = thread::spawn(move || outcome(calling.call(Number(2), PATIENCE)));
    let responders = [kept.recv().expect("it was taken"), kept.recv().expect("it was taken")];
    context.shutdown();
    assert_eq!(call.join().expect("no panic"), Err(CallFailure::Shutdown));
    assert_eq!(log.lines(), [Err(CallFailure::Shutdown)]);
    for responder in responders {
        assert!(responder.respond(Number(1)).is_err());
    }
    let pen = log.pen();
    let refused = client.call_then_immediately(Number(3), move |_| pen.write(Ok(0)));
    assert_eq!(*refused.expect_err("it is over").failure(), CallFailure::Shutdown);
    assert_eq!(log.lines(), []);
    Ok(())
}

#[test]
fn a_request_comes_back_until_a_server_takes_it() -> sinew::Result<()> {
    let room = Room::new();
    let client = room.node.client::<Numbers>("n").create()?;
    let log = Log::new();
    let held = Arc::new(());
    let call = |number: u64| {
        let (pen, held) = (log.pen(), held.clone());
        client.call_then_immediately(Number(number), move |result| {
            drop(held);
            pen.write(outcome(result));
        })
    };
    let (first, second) = (call(1)?, call(2)?);
    assert_eq!(client.withdraw(first).map(|request| request.0), Some(1));
    assert_eq!(Arc::strong_count(&held), 2, "its listener is dropped");
    let (_server, kept) = keeping(&room.node, 2)?;
    let responder = kept.recv().expect("the second is taken");
    assert!(client.withdraw(first).is_none() && client.withdraw(second).is_none());
    responder.respond(Number(4)).expect("it is awaited");
    assert_eq!(log.lines(), [Ok(4)]);
    assert_eq!(client.statistics().abandoned, 1);
    Ok(())
}

#[test]
fn many_threads_call_a_server_with_a_listener() -> sinew::Result<()> {
    const THREADS: u64 = 8;
    const EACH: u64 = 500;
    let context = real_context();
    let node = context.node("node")?;
    let client = node.client::<Numbers>("n").create()?;
    let runs = Arc::new(AtomicU64::new(0));
    let counted = runs.clone();
    let answered = thread::scope(|scope| {
        let call = |thread: u64| {
            let client = client.clone();
            move || {
                let one = |n| outcome(client.call(Number(n), PATIENCE)) == Ok(n);
                (0..EACH).filter(|n| one(thread * EACH + n)).count() as u64
            }
        };
        let threads: Vec<_> = (0..THREADS).map(|thread| scope.spawn(call(thread))).collect();
        // They wait already, or come meanwhile.
        let server = node.server::<Numbers>("n").immediate_callback(move |n: Unique<Number>| {
            counted.fetch_add(1, Ordering::Relaxed);
            n
        });
        let answered = threads.into_iter().map(|thread| thread.join().expect("no panic")).sum::<u64>();
        server.map(|server| (answered, server.statistics()))
    });
    let (answered, counts) = answered?;
    assert_eq!((answered, runs.load(Ordering::Relaxed)), (THREADS * EACH, THREADS * EACH));
    assert_eq!((counts.received, counts.waiting), (THREADS * EACH, 0));
    Ok(())
}

#[test]
fn a_listener_takes_requests_of_another_form_and_of_other_processes() -> sinew::Result<()> {
    let place = Place::new();
    let (serving, asking) = (place.context(), place.context());
    let log = Log::new();
    let pen = log.pen();
    let server = serving.node("server")?.server::<AddTwoInts>("add");
    let _server = server.immediate_callback(move |it: &AddTwoIntsRequest| {
        pen.write(thread::current().name().map(str::to_owned));
        AddTwoIntsResponse { sum: it.a + it.b }
    })?;
    let service = AddTwoInts::TYPE.expect("a service of ROS 2");
    let known = GenericType::new(service.name, service.hash).expect("a name of a type");
    let encoded = SerializedMessage::new([&[0, 1, 0, 0][..], &[0; 16]].concat());
    for context in [&serving, &asking] {
        let node = context.node("asker")?;
        let generic = node.generic_client("add", known).create()?;
        let typed = node.client::<AddTwoInts>("add").create()?;
        assert!(generic.wait_for_server(PATIENCE) && typed.wait_for_server(PATIENCE));
        assert_eq!(typed.call(AddTwoIntsRequest { a: 40, b: 2 }, PATIENCE)?.sum, 42);
        let error =
            generic.call(SerializedMessage::new(vec![0, 1, 0, 0]), PATIENCE).expect_err("it is short");
        assert!(error.to_string().contains("AddTwoInts_Request"), "{error}");
        assert_eq!(generic.call(encoded.clone(), PATIENCE).expect("it is right").bytes()[4..], [0; 8]);
    }
    let here = thread::current().name().map(str::to_owned);
    let lines = log.lines();
    assert_eq!(lines[..2], [here.clone(), here]);
    // The thread that found the client reads what came before the receiver is notified.
    let receiving = ["sinew-receiver", "sinew-shm"].map(|name| Some(name.to_owned()));
    assert!(lines[2..].iter().all(|thread| receiving.contains(thread)) && lines.len() == 4, "{lines:?}");
    Ok(())
}

#[test]
fn a_calls_listener_runs_on_the_thread_that_answers_and_once() -> sinew::Result<()> {
    let room = Room::new();
    let (log, other) = (Log::new(), thread::spawn(|| ()));
    drop(other.join());
    let (server, kept) = keeping(&room.node, 10)?;
    let client = room.node.client::<Numbers>("n").create()?;
    for n in 0..3 {
        let pen = log.pen();
        client.call_then_immediately(Number(n), move |result| {
            pen.write((thread::current().id(), outcome(result)));
        })?;
    }
    assert_eq!(client.statistics().waiting, 3);
    let answering = thread::spawn(move || {
        kept.recv().expect("it was taken").respond(Number(7)).expect("it is awaited");
        drop(kept.recv().expect("it was taken"));
        (thread::current().id(), kept)
    });
    let (there, kept) = answering.join().expect("no panic");
    let responder = kept.recv().expect("it was taken");
    assert_eq!(log.lines(), [(there, Ok(7)), (there, Err(CallFailure::Dropped))]);
    drop(server);
    responder.respond(Number(8)).expect("what was taken may be answered");
    assert_eq!(log.lines(), [(thread::current().id(), Ok(8))]);
    let counts = client.statistics();
    assert_eq!((counts.calls, counts.answered, counts.failed, counts.waiting), (3, 2, 1, 0));

    // The thread that closes a server notifies a caller that waits for it.
    let server = room.node.server::<Numbers>("n").callback(|n: Number| n)?;
    let pen = log.pen();
    client.call_then_immediately(Number(1), move |result| {
        pen.write((thread::current().id(), outcome(result)))
    })?;
    drop(server);
    assert_eq!(log.lines(), [(thread::current().id(), Err(CallFailure::ServerGone))]);
    Ok(())
}

#[test]
fn a_calls_listener_goes_with_its_client_and_its_panic_is_no_concern_of_the_server() -> sinew::Result<()> {
    let room = Room::new();
    let (server, kept) = keeping(&room.node, 2)?;
    let client = room.node.client::<Numbers>("n").create()?;
    client.call_then_immediately(Number(1), |_| panic!("it is reported"))?;
    kept.recv().expect("it was taken").respond(Number(1)).expect("it is awaited");

    let held = Arc::new(());
    let call = || {
        let held = held.clone();
        client.call_then_immediately(Number(1), move |_| drop(held))
    };
    call()?;
    call()?;
    assert!(matches!(call().expect_err("two are in hand").failure(), CallFailure::Full { limit: 2 }));
    assert_eq!(Arc::strong_count(&held), 3);
    drop(client);
    assert_eq!(Arc::strong_count(&held), 1);
    assert!(!kept.recv().expect("it was taken").is_awaited());
    drop(server);
    Ok(())
}

/// The executor that has the client's node is never spun: it may be busy.
#[test]
fn answers_of_other_processes_reach_listeners_without_an_executor() -> sinew::Result<()> {
    let place = Place::new();
    let (serving, asking) = (place.context(), place.context());
    let _server =
        serving.node("server")?.server::<Numbers>("n").immediate_callback(|n: Number| Number(n.0 + 1))?;
    let node = asking.node("asker")?;
    let executor = Executor::single();
    executor.add(&asking)?;
    let client = node.client::<Numbers>("n").create()?;
    assert!(client.wait_for_server(PATIENCE));
    assert_eq!(client.call(Number(1), PATIENCE)?.0, 2); // on this thread's own port
    assert_eq!(executor.spin_until(client.call_async(Number(2)))?.expect("an answer").0, 3);
    let log = Log::new();
    for n in 0..10 {
        let pen = log.pen();
        client.call_then_immediately(Number(n), move |result| {
            pen.write((thread::current().name().map(str::to_owned), outcome(result)));
        })?;
        let (thread, outcome) = log.next();
        assert_eq!((thread.as_deref(), outcome), (Some("sinew-receiver"), Ok(n + 1)));
    }
    Ok(())
}

#[test]
fn a_server_of_this_host_takes_the_place_of_one_of_the_network() -> sinew::Result<()> {
    let place = Place::new();
    let (context, other) = (place.context(), place.context());
    let node = context.node("node")?;
    let network = context.node_of(Origin::Network, "/far", "server")?;
    let far = |node: &Node| node.server::<Numbers>("/n").immediate_callback(|n: Number| Number(n.0 + 1000));
    let (clients, kept) = ([&context, &other].map(|context| context.node("asker")), Log::new());
    let clients: Vec<_> =
        clients.into_iter().map(|node| node?.client::<Numbers>("/n").create()).collect::<Result<_, _>>()?;
    let first = far(&network)?;
    assert!(matches!(far(&network), Err(CreateError::ServiceTaken { .. })));
    for client in &clients {
        assert!(client.wait_for_server(PATIENCE));
        assert_eq!(client.call(Number(1), PATIENCE)?.0, 1001);
    }
    let pen = kept.pen();
    let here = node.server::<Numbers>("/n").immediate_callback(move |n: Number| {
        pen.write(n.0);
        n
    })?;
    assert!(first.is_closed() && !here.is_closed());
    assert!(matches!(far(&network), Err(CreateError::ServiceTaken { .. })));
    assert!(matches!(far(&node), Err(CreateError::ServiceTaken { .. })));
    drop(first);
    for client in &clients {
        assert!(client.wait_for_server(PATIENCE));
        let answer = || client.call(Number(2), PATIENCE).ok();
        assert_eq!(wait_for("the new one", answer).0, 2, "the other one isn't asked any more");
    }
    drop(here);
    let _first = far(&network)?;
    assert_eq!(clients[0].call(Number(3), PATIENCE)?.0, 1003);
    Ok(())
}

/// Who waits for an answer may hold a lock of the program's that the listener of another call wants.
#[test]
fn no_thread_that_waits_runs_the_listener_of_a_call() -> sinew::Result<()> {
    let place = Place::new();
    let (serving, asking) = (place.context(), place.context());
    let first = parking_lot::Mutex::new(None);
    let both = move |number: &Number, responder: Responder<Numbers>| {
        if number.0 == 1 {
            *first.lock() = Some(responder);
            return;
        }
        let earlier = first.lock().take();
        let _ = earlier.map(|earlier: Responder<Numbers>| earlier.respond(Number(1)));
        let _ = responder.respond(Number(2));
    };
    let _server = serving.node("server")?.server::<Numbers>("n").immediate_callback(both)?;
    let client = asking.node("asker")?.client::<Numbers>("n").create()?;
    assert!(client.wait_for_server(PATIENCE));
    let lock = Arc::new(parking_lot::Mutex::new(()));
    let (sender, notified) = channel();
    for _ in 0..10 {
        let (wanted, sender) = (lock.clone(), sender.clone());
        client.call_then_immediately(Number(1), move |result| {
            drop(wanted.lock());
            let _ = sender.send((outcome(result), thread::current().id()));
        })?;
        let held = lock.lock();
        assert_eq!(client.call(Number(2), PATIENCE)?.0, 2);
        drop(held);
        let (result, thread) = notified.recv_timeout(PATIENCE).expect("the listener is notified");
        assert_eq!(result, Ok(1));
        assert_ne!(thread, thread::current().id());
    }
    Ok(())
}

/// Another thread finds new entities; a request or an answer must not come before it has.
#[test]
fn what_a_process_created_before_its_request_or_answer_is_matched_when_that_comes() -> sinew::Result<()> {
    let place = Place::new();
    let [here, there] = [place.context(), place.context()];
    let (node, asking) = (here.node("server")?, there.node("client")?);
    let news = node.publisher::<Number>("news").create()?;
    let replies = asking.publisher::<Number>("replies").create()?;
    let (keep, _listeners) = channel();
    let _server = node.clone().server::<Numbers>("matched").immediate_callback(move |_: Number| {
        let listener = node.subscription::<Number>("replies").create().expect("there is room");
        keep.send(listener).expect("the test keeps its end");
        Number(news.subscription_count() as u64)
    })?;
    let client = asking.client::<Numbers>("matched").create()?;
    assert!(client.wait_for_server(PATIENCE));
    let mut readers = Vec::new();
    for number in 1..=50 {
        readers.push(asking.subscription::<Number>("news").create()?);
        assert_eq!(client.call(Number(0), PATIENCE)?.0, number);
        assert_eq!(replies.subscription_count() as u64, number);
    }
    Ok(())
}
