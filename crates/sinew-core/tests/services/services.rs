//! Servers and clients: the forms of callbacks, order, queues, names, errors.

use crate::support;

use sinew::error::{CallError, CallFailure, CreateError, SpinError};
use sinew::msg::Gid;
use sinew::prelude::*;
use sinew::service::{CallResult, RequestInfo};
use sinew::{Responder, Unique};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use support::tasks::{Task, block_on};
use support::{Log, Number, Numbers, Pen, Room};

type Wrong = CallError<Number>;

/// Calls, runs what there is to run, and returns what came of it.
fn ask(room: &Room, client: &Client<Numbers>, number: u64) -> CallResult<Numbers> {
    let call = client.call_async(Number(number));
    room.executor.spin_until(call).expect("nothing goes wrong in the executor")
}

/// A callback's result, in few words.
fn number(result: CallResult<Numbers>) -> Result<u64, CallFailure> {
    result.map(|number| number.0).map_err(|error| error.failure().clone())
}

type Keeping = (Server<Numbers>, Client<Numbers>, Receiver<Responder<Numbers>>);

/// A server that keeps its responders, a client of it, and where they come to.
fn keeping(room: &Room) -> sinew::Result<Keeping> {
    let (keep, kept) = channel();
    let server =
        room.node.server::<Numbers>("n").callback(move |_: &Number, responder: Responder<Numbers>| {
            keep.send(responder).expect("the test keeps its end");
        })?;
    Ok((server, room.node.client::<Numbers>("n").create()?, kept))
}

fn failed(message: &str) -> Result<u64, CallFailure> {
    Err(CallFailure::Failed { message: message.to_owned() })
}

/// One test for one way to take the request: all its forms.
macro_rules! forms_of {
    ($test:ident, $request:ty) => {
        #[test]
        fn $test() -> sinew::Result<()> {
            let room = Room::new();
            let node = &room.node;
            let client = node.client::<Numbers>("double").create()?;
            let service = || node.server::<Numbers>("double");

            let server = service().callback(|n: $request| Number(2 * n.0))?;
            assert_eq!(ask(&room, &client, 21)?.0, 42);
            drop(server);

            let server =
                service().callback(|n: $request, info: &RequestInfo| Number(100 * info.sequence() + n.0))?;
            assert_eq!(ask(&room, &client, 1)?.0, 201);
            drop(server);

            let sum = node.group(0_u64);
            let server = sum.server::<Numbers>("double").callback(|sum: &mut u64, n: $request| {
                *sum += n.0;
                Number(*sum)
            })?;
            assert_eq!((ask(&room, &client, 40)?.0, ask(&room, &client, 2)?.0), (40, 42));
            drop(server);

            let server = sum.server::<Numbers>("double").callback(
                |sum: &mut u64, n: $request, info: &RequestInfo| {
                    *sum += n.0;
                    Number(*sum + 100 * info.sequence())
                },
            )?;
            assert_eq!(ask(&room, &client, 8)?.0, 550);
            drop(server);

            let server = service().callback(|n: $request, responder: Responder<Numbers>| {
                responder.respond(Number(2 * n.0)).map_err(drop).unwrap()
            })?;
            assert_eq!(ask(&room, &client, 4)?.0, 8);
            drop(server);

            let server =
                service().callback(|n: $request, info: &RequestInfo, responder: Responder<Numbers>| {
                    responder.respond(Number(n.0 + 100 * info.sequence()))
                })?;
            assert_eq!(ask(&room, &client, 4)?.0, 704);
            drop(server);

            let waiting = node.group(Vec::<Responder<Numbers>>::new());
            let server = waiting.server::<Numbers>("double").callback(
                |waiting: &mut Vec<Responder<Numbers>>, n: $request, responder: Responder<Numbers>| {
                    waiting.push(responder);
                    if waiting.len() == 2 {
                        for responder in waiting.drain(..) {
                            responder.respond(Number(n.0)).unwrap();
                        }
                    }
                },
            )?;
            let mut first = client.call_async(Number(1));
            room.run();
            assert!(Task::new().poll(&mut first).is_pending());
            assert_eq!(ask(&room, &client, 2)?.0, 2);
            assert_eq!(room.executor.spin_until(first)??.0, 2);
            drop(server);

            let server = sum.server::<Numbers>("double").callback(
                |sum: &mut u64, n: $request, info: &RequestInfo, responder: Responder<Numbers>| {
                    responder.respond(Number(*sum + n.0 + 100 * info.sequence()))
                },
            )?;
            assert_eq!(ask(&room, &client, 1)?.0, 1051);
            drop(server);

            let reentrant = node.reentrant_group();
            let server = reentrant.server::<Numbers>("double").callback(|n: $request| Number(3 * n.0))?;
            let calls = [1, 2, 3].map(|n| client.call_async(Number(n)));
            for (n, call) in (1..).zip(calls) {
                assert_eq!(room.executor.spin_until(call)??.0, 3 * n);
            }
            drop(server);

            let server = reentrant.server::<Numbers>("double").callback(
                |n: $request, info: &RequestInfo, responder: Responder<Numbers>| {
                    responder.respond(Number(n.0 + 100 * info.sequence()))
                },
            )?;
            assert_eq!(ask(&room, &client, 1)?.0, 1401);
            drop(server);
            Ok(())
        }
    };
}

forms_of!(a_request_may_be_read, &Number);
forms_of!(a_request_may_be_taken_where_it_lies, Unique<Number>);
forms_of!(a_request_may_be_taken_in_a_box, Box<Number>);
forms_of!(a_request_may_be_taken_by_value, Number);

#[test]
fn a_response_may_be_a_value_a_box_a_unique_or_a_result_of_one() -> sinew::Result<()> {
    let room = Room::new();
    let client = room.node.client::<Numbers>("n").create()?;
    let service = || room.node.server::<Numbers>("n");
    let expect = |server: Server<Numbers>, expected: Result<u64, CallFailure>| {
        assert_eq!(number(ask(&room, &client, 1)), expected);
        drop(server);
    };
    expect(service().callback(|_: &Number| Box::new(Number(2)))?, Ok(2));
    expect(service().callback(|n: Unique<Number>| n)?, Ok(1));
    expect(service().callback(|_: &Number| Ok::<_, String>(Number(3)))?, Ok(3));
    expect(service().callback(|_: &Number| Ok::<_, String>(Box::new(Number(4))))?, Ok(4));
    expect(service().callback(|n: Unique<Number>| Ok::<_, Wrong>(n))?, Ok(1));
    expect(service().callback(|_: &Number| Err::<Number, _>("no"))?, failed("no"));
    expect(service().callback(|n: Unique<Number>| Err::<Unique<Number>, _>(n.0))?, failed("1"));
    expect(
        service().callback(|_: &Number, responder: Responder<Numbers>| responder.fail("later"))?,
        failed("later"),
    );
    Ok(())
}

#[test]
fn a_request_may_be_a_value_a_box_or_a_loan_and_none_is_copied() -> sinew::Result<()> {
    let room = Room::new();
    let client = room.node.client::<Numbers>("n").create()?;
    let _server = room.node.server::<Numbers>("n").callback(|n: Unique<Number>| n)?;
    let spin = |call: sinew::service::PendingCall<Numbers>| room.executor.spin_until(call).unwrap();

    assert_eq!(spin(client.call_async(Number(1)))?.0, 1);
    let boxed = Box::new(Number(2));
    let address = support::address(&*boxed);
    assert_eq!(support::address(&*spin(client.call_async(boxed))?), address);
    let mut loan = client.loan();
    loan.0 = 3;
    let address = support::address(&*loan);
    let back = spin(client.call_async(loan))?;
    assert_eq!((back.0, support::address(&*back)), (3, address));
    drop(back);
    assert_eq!(support::address(&*client.loan()), address, "it came home with its content");
    assert_eq!(client.loan().0, 3);
    Ok(())
}

#[test]
fn requests_are_answered_in_the_order_of_the_calls_across_clients_and_topics() -> sinew::Result<()> {
    let room = Room::new();
    let log = Log::new();
    let pen = log.pen();
    let _server = room.node.server::<Numbers>("n").callback(move |n: &Number| {
        pen.write(n.0);
        Number(n.0)
    })?;
    let pen = log.pen();
    let _topic = room.node.subscription("numbers").callback(move |n: &Number| pen.write(n.0))?;
    let numbers = room.node.publisher::<Number>("numbers").create()?;
    let clients = [(); 3].map(|()| room.node.client::<Numbers>("n").create().unwrap());
    let mut calls = Vec::new();
    for n in 0..12 {
        match n % 4 {
            3 => numbers.publish(Number(n))?,
            client => {
                let client = &clients[usize::try_from(client).expect("0 to 2")];
                calls.push((n, client.call_async(Number(n))));
            }
        }
    }
    assert_eq!(room.run(), 12);
    assert_eq!(log.lines(), (0..12).collect::<Vec<_>>());
    for (n, mut call) in calls {
        let std::task::Poll::Ready(Ok(answer)) = Task::new().poll(&mut call) else {
            panic!("{n} has no answer")
        };
        assert_eq!(answer.0, n);
    }
    Ok(())
}

#[test]
fn answers_may_come_in_any_order_and_each_finds_its_call() -> sinew::Result<()> {
    let room = Room::new();
    let (keep, kept) = channel();
    let _server =
        room.node.server::<Numbers>("n").callback(move |n: Number, responder: Responder<Numbers>| {
            keep.send((n, responder)).unwrap();
        })?;
    let client = room.node.client::<Numbers>("n").create()?;
    let calls: Vec<_> = (0..20).map(|n| client.call_async(Number(n))).collect();
    room.run();
    let mut kept: Vec<_> = kept.try_iter().collect();
    kept.reverse();
    for (Number(n), responder) in kept {
        assert!(responder.is_awaited());
        std::thread::spawn(move || responder.respond(Number(n)).unwrap()).join().unwrap();
    }
    for (n, call) in (0..).zip(calls) {
        assert_eq!(block_on(call)?.0, n);
    }
    Ok(())
}

#[test]
fn callbacks_get_results_in_their_group_with_its_state() -> sinew::Result<()> {
    let room = Room::new();
    let node = &room.node;
    let _server = node.server::<Numbers>("n").callback(|n: &Number| match n.0 {
        0 => Err("zero"),
        n => Ok(Number(100 / n)),
    })?;
    let results = node.group(Vec::new());
    let client = results.client::<Numbers>("n").create()?;
    for n in [1, 0, 2] {
        client.call_then(
            Number(n),
            |results: &mut Vec<Result<u64, CallFailure>>, result: CallResult<Numbers>| {
                results.push(number(result));
            },
        )?;
    }
    assert_eq!(room.run(), 6);
    let log = Log::new();
    let pen = log.pen();
    let guard = results
        .guard_condition()
        .callback(move |results: &mut Vec<Result<u64, CallFailure>>| pen.write(std::mem::take(results)))?;
    guard.trigger();
    room.run();
    assert_eq!(log.next(), [Ok(100), failed("zero"), Ok(50)]);

    // Without state, in a reentrant group, and with an error of its own.
    let pen = log.pen();
    client.call_then(Number(4), move |result: CallResult<Numbers>| pen.write(vec![number(result)]))?;
    room.run();
    assert_eq!(log.next(), [Ok(25)]);
    let reentrant = node.reentrant_group().client::<Numbers>("n").create()?;
    for n in [1, 2] {
        let pen = log.pen();
        reentrant.call_then(Number(n), move |result: CallResult<Numbers>| {
            pen.write(vec![number(result)]);
            Err::<(), _>("reported, and the rest goes on")
        })?;
    }
    room.run();
    assert_eq!(log.lines(), [vec![Ok(100)], vec![Ok(50)]]);
    Ok(())
}

#[test]
fn a_request_says_who_asks_and_continues_the_chain() -> sinew::Result<()> {
    let room = Room::new();
    let node = &room.node;
    let log: Log<(Gid, u64, sinew::msg::Lineage)> = Log::new();
    let report = |pen: Pen<_>| {
        move |_: &Number, info: &RequestInfo| {
            assert!(info.latency() <= info.chain_latency());
            assert!(info.source_time() <= info.reception_time());
            pen.write((info.client(), info.sequence(), info.lineage()));
            Number(0)
        }
    };
    let _inner = node.server::<Numbers>("inner").callback(report(log.pen()))?;
    let inner = node.client::<Numbers>("inner").create()?;
    let gid = inner.gid();
    let pen = log.pen();
    let _outer = node.server::<Numbers>("outer").callback(
        move |n: Number, info: &RequestInfo, responder: Responder<Numbers>| {
            pen.write((info.client(), info.sequence(), info.lineage()));
            inner.call_then(n, |result: CallResult<Numbers>| responder.respond(result.unwrap())).unwrap();
        },
    )?;
    let outer = node.client::<Numbers>("outer").create()?;
    let numbers = node.publisher::<Number>("numbers").create()?;
    let read = node.subscription::<Number>("numbers").create()?;
    outer.call_then(Number(1), move |_: CallResult<Numbers>| numbers.publish(Number(1)))?;
    room.run();
    let lines = log.lines();
    let lineage = lines[0].2;
    assert_eq!(lines, [(outer.gid(), 1, lineage), (gid, 1, lineage)]);
    assert_eq!(read.take().expect("the response's callback publishes").1.lineage(), lineage);
    Ok(())
}

#[test]
fn a_queue_is_bounded_and_what_is_refused_comes_back() -> sinew::Result<()> {
    let room = Room::new();
    let server = room.node.server::<Numbers>("n").max_requests(2).callback(|n: Unique<Number>| n)?;
    let client = room.node.client::<Numbers>("n").create()?;
    let accepted = [1, 2].map(|n| client.call_async(Number(n)));
    let mut refused = client.call_async(Number(3));
    let std::task::Poll::Ready(Err(error)) = Task::new().poll(&mut refused) else {
        panic!("the queue is full")
    };
    assert_eq!(error.failure(), &CallFailure::Full { limit: 2 });
    assert!(error.to_string().starts_with("the call of service /n failed: 2 requests wait"), "{error}");
    assert_eq!(error.into_request().expect("nobody took it").0, 3);
    let error =
        client.call_then(Number(4), |_: CallResult<Numbers>| unreachable!("it was refused")).unwrap_err();
    assert_eq!(error.into_request().unwrap().0, 4);
    let error = client.call(Number(5), Duration::ZERO).unwrap_err();
    assert_eq!(error.failure(), &CallFailure::Full { limit: 2 });

    let statistics = server.statistics();
    assert_eq!((statistics.received, statistics.waiting, statistics.refused), (2, 2, 3));
    assert_eq!(room.run(), 2);
    for (n, call) in (1..).zip(accepted) {
        assert_eq!(block_on(call)?.0, n);
    }
    assert_eq!(server.statistics().answered, 2);
    let statistics = client.statistics();
    assert_eq!((statistics.calls, statistics.answered, statistics.failed, statistics.waiting), (5, 2, 3, 0));
    Ok(())
}

#[test]
fn what_is_taken_to_be_answered_later_counts_until_it_is() -> sinew::Result<()> {
    let room = Room::new();
    let (keep, kept) = channel();
    let server = room
        .node
        .server::<Numbers>("n")
        .max_requests(2)
        .callback(move |_: &Number, responder: Responder<Numbers>| keep.send(responder).unwrap())?;
    let client = room.node.client::<Numbers>("n").create()?;
    let first = client.call_async(Number(1));
    let _second = client.call_async(Number(2));
    room.run();
    assert_eq!(server.statistics().in_hand, 2);
    assert_eq!(number(ask(&room, &client, 3)), Err(CallFailure::Full { limit: 2 }));
    kept.recv().unwrap().respond(Number(7)).unwrap();
    assert_eq!(block_on(first)?.0, 7);
    let mut third = client.call_async(Number(3));
    assert!(Task::new().poll(&mut third).is_pending());
    room.run();
    assert_eq!(server.statistics().in_hand, 2);
    Ok(())
}

#[test]
fn requests_wait_for_a_server_that_is_still_to_come() -> sinew::Result<()> {
    let room = Room::new();
    let client = room.node.client::<Numbers>("n").create()?;
    assert!(!client.is_server_ready());
    let calls = [1, 2, 3].map(|n| client.call_async(Number(n)));
    let server = room.node.server::<Numbers>("n").max_requests(2).callback(|n: Unique<Number>| n)?;
    assert!(client.is_server_ready());
    assert_eq!(server.statistics().waiting, 3, "what was accepted stays, whatever the server's limit");
    assert_eq!(number(ask(&room, &client, 4)), Err(CallFailure::Full { limit: 2 }));
    room.run();
    for (n, call) in (1..).zip(calls) {
        assert_eq!(block_on(call)?.0, n);
    }
    // From now on as many as it says, and not one more.
    let calls = [5, 6].map(|n| client.call_async(Number(n)));
    assert_eq!(server.statistics().waiting, 2);
    assert_eq!(number(ask(&room, &client, 7)), Err(CallFailure::Full { limit: 2 }));
    room.run();
    for (n, call) in (5..).zip(calls) {
        assert_eq!(block_on(call)?.0, n);
    }
    drop(server);
    assert!(!client.is_server_ready());
    Ok(())
}

#[test]
fn without_a_server_the_queue_is_bounded_too() -> sinew::Result<()> {
    let room = Room::new();
    let client = room.node.client::<Numbers>("n").create()?;
    let mut calls: Vec<_> = (0..1001).map(|n| client.call_async(Number(n))).collect();
    let mut last = calls.pop().unwrap();
    assert!(matches!(
        Task::new().poll(&mut last),
        std::task::Poll::Ready(Err(error)) if error.failure() == &CallFailure::Full { limit: 1000 }
    ));
    Ok(())
}

#[test]
fn a_second_server_is_refused_and_the_error_names_the_first() -> sinew::Result<()> {
    let room = Room::new();
    let other = room.context.node_in("/other", "node")?;
    let service = |node: &Node| node.server::<Numbers>("/n").callback(|n: Unique<Number>| n);
    let first = service(&other)?;
    let error = service(&room.node).unwrap_err();
    assert_eq!(error, CreateError::ServiceTaken { service: "/n".to_owned(), node: "/other/node".to_owned() });
    assert!(
        error.to_string().starts_with("service `/n` already has a server, in node /other/node"),
        "{error}"
    );
    drop(first);
    let second = service(&room.node)?;
    let client = room.node.client::<Numbers>("/n").create()?;
    assert_eq!(ask(&room, &client, 1)?.0, 1);
    drop(second);
    Ok(())
}

#[test]
fn names_are_checked_expanded_and_remapped() -> sinew::Result<()> {
    let line = [
        "robot",
        "--ros-args",
        "-r",
        "add:=left/add",
        "-r",
        "rosservice://sub:=x",
        "-r",
        "rostopic://mul:=y",
    ];
    let context = Context::builder().shared_memory(false).domain(0).arguments(line).build()?;
    let node = context.node_in("/ns", "calc")?;
    let name = |name: &str| -> sinew::Result<String> {
        let server = node.server::<Numbers>(name).callback(|n: Unique<Number>| n)?;
        let client = node.client::<Numbers>(name).create()?;
        assert_eq!(client.name(), server.name());
        assert!(client.is_server_ready());
        Ok(server.name().to_owned())
    };
    assert_eq!(name("add")?, "/ns/left/add");
    assert_eq!(name("sub")?, "/ns/x");
    assert_eq!(name("mul")?, "/ns/mul");
    assert_eq!(name("~/own")?, "/ns/calc/own");
    assert_eq!(name("/absolute")?, "/absolute");
    let error = name("no spaces").unwrap_err().to_string();
    assert!(error.starts_with("service name `no spaces` is invalid at byte 2"), "{error}");

    // A topic of the same name is something else.
    let _topic = node.publisher::<Number>("/absolute").create()?;
    Ok(())
}

#[test]
fn a_server_that_can_take_nothing_and_one_after_the_end_are_refused() -> sinew::Result<()> {
    let room = Room::new();
    let service = || room.node.server::<Numbers>("n");
    let error = service().max_requests(0).callback(|n: Unique<Number>| n).unwrap_err();
    assert_eq!(error, CreateError::MaxRequests { service: "/n".to_owned() });
    room.context.shutdown();
    let gone = CreateError::Shutdown { name: "n".to_owned() };
    assert_eq!(service().callback(|n: Unique<Number>| n).unwrap_err(), gone);
    assert_eq!(room.node.client::<Numbers>("n").create().unwrap_err(), gone);
    Ok(())
}

/// A service of the same request, but another response.
struct Texts;
struct Text(#[expect(dead_code, reason = "only its type matters")] String);
impl Message for Text {}
impl Service for Texts {
    type Request = Number;
    type Response = Text;
}

#[test]
fn ends_of_other_types_get_an_error() -> sinew::Result<()> {
    let room = Room::new();
    let other = room.node.client::<Texts>("n").create()?;
    let early = other.call_async(Number(1));
    let _server = room.node.server::<Numbers>("n").callback(|n: Unique<Number>| n)?;
    assert!(!other.is_server_ready());
    assert!(!other.wait_for_server(Duration::ZERO));
    for call in [early, other.call_async(Number(2))] {
        let error = block_on(call).map(drop).unwrap_err();
        let CallFailure::OtherType { reason } = error.failure() else { panic!("{error}") };
        assert!(reason.starts_with("the server of /n in node /room has type "), "{reason}");
        let (ours, theirs) = reason.split_once(", the client has type ").expect("both types");
        assert!(ours.contains("Number") && theirs.ends_with("Text"), "{reason}");
        assert!(error.into_request().is_some());
    }
    Ok(())
}

#[test]
fn a_dropped_responder_fails_the_call_at_once() -> sinew::Result<()> {
    let room = Room::new();
    let server = room.node.server::<Numbers>("n").callback(|_: &Number, _: Responder<Numbers>| {})?;
    let client = room.node.client::<Numbers>("n").create()?;
    let error = ask(&room, &client, 1).unwrap_err();
    assert_eq!(error.failure(), &CallFailure::Dropped);
    assert!(error.into_request().is_none(), "the server had it");
    assert_eq!(server.statistics().dropped, 1);
    Ok(())
}

#[test]
fn a_server_that_goes_fails_what_waits_but_a_responder_may_still_answer() -> sinew::Result<()> {
    let room = Room::new();
    let (server, client, kept) = keeping(&room)?;
    let taken = client.call_async(Number(1));
    room.run();
    let waits = client.call_async(Number(2));
    drop(server);
    let error = block_on(waits).unwrap_err();
    assert_eq!(error.failure(), &CallFailure::ServerGone);
    assert_eq!(error.into_request().expect("nobody took it").0, 2);
    let responder = kept.recv().unwrap();
    assert!(responder.is_awaited());
    responder.respond(Number(7)).unwrap();
    assert_eq!(block_on(taken)?.0, 7);
    Ok(())
}

#[test]
fn a_server_may_go_in_its_own_callback_and_its_last_answer_still_counts() -> sinew::Result<()> {
    let room = Room::new();
    let (give, given) = channel::<Server<Numbers>>();
    let server = room.node.server::<Numbers>("n").callback(move |n: Unique<Number>| {
        drop(given.recv().unwrap());
        n
    })?;
    give.send(server).unwrap();
    let client = room.node.client::<Numbers>("n").create()?;
    let (first, second) = (client.call_async(Number(1)), client.call_async(Number(2)));
    room.run();
    assert_eq!(block_on(first)?.0, 1);
    assert_eq!(number(block_on(second)), Err(CallFailure::ServerGone));
    assert!(!client.is_server_ready());
    Ok(())
}

#[test]
fn a_panic_in_a_callback_reaches_its_caller_and_the_executor() -> sinew::Result<()> {
    let room = Room::new();
    let client = room.node.client::<Numbers>("n").create()?;
    let service = || room.node.server::<Numbers>("n");
    let panics = |server: Server<Numbers>, text: &str| {
        let call = client.call_async(Number(13));
        let expected = SpinError::Panicked {
            entity: "service /n of node /room".to_owned(),
            message: "no 13".to_owned(),
        };
        assert_eq!(room.executor.spin_all(support::PATIENCE), Err(expected));
        let failure = CallFailure::Panicked { message: text.to_owned() };
        assert_eq!(number(block_on(call)), Err(failure));
        // What waits goes on with the next spin.
        let next = client.call_async(Number(1));
        room.run();
        assert_eq!(block_on(next).unwrap().0, 1);
        drop(server);
    };
    let angry = |n: &Number| if n.0 == 13 { panic!("no {}", n.0) } else { Number(n.0) };
    panics(service().callback(move |n: &Number| angry(n))?, "no 13");
    let later =
        service().callback(move |n: &Number, responder: Responder<Numbers>| responder.respond(angry(n)))?;
    panics(later, "it dropped the request over that");
    panics(service().async_callback(move |n: Number| std::future::ready(angry(&n)))?, "no 13");
    panics(service().async_callback(move |n: Number| async move { angry(&n) })?, "no 13");
    Ok(())
}

#[test]
fn a_dropped_client_takes_its_requests_back_and_forgets_its_callbacks() -> sinew::Result<()> {
    let room = Room::new();
    let log = Log::new();
    let pen = log.pen();
    let server = room.node.server::<Numbers>("n").callback(move |n: Unique<Number>| {
        pen.write(n.0);
        n
    })?;
    let captured = Arc::new(());
    let call = |client: &Client<Numbers>, n| {
        let captured = captured.clone();
        client.call_then(Number(n), move |_: CallResult<Numbers>| drop(captured))
    };
    let gone = room.node.client::<Numbers>("n").create()?;
    let stays = room.node.client::<Numbers>("n").create()?;
    call(&gone, 1)?;
    call(&stays, 2)?;
    call(&gone, 3)?;
    drop(gone);
    assert_eq!(Arc::strong_count(&captured), 2);
    assert_eq!(server.statistics().withdrawn, 2);
    assert_eq!(room.run(), 2);
    assert_eq!(log.lines(), [2]);
    assert_eq!(Arc::strong_count(&captured), 1);

    // Answered, but not called back yet.
    let gone = room.node.client::<Numbers>("n").create()?;
    call(&gone, 4)?;
    assert!(room.executor.spin_once(Duration::ZERO)?);
    drop(gone);
    assert_eq!(Arc::strong_count(&captured), 1);
    assert_eq!(room.run(), 0);
    Ok(())
}

#[test]
fn an_answer_to_nobody_comes_back_and_is_counted() -> sinew::Result<()> {
    let room = Room::new();
    let (server, client, kept) = keeping(&room)?;
    for _ in 0..2 {
        let call = client.call_async(Number(1));
        room.run();
        drop(call);
    }
    let again = client.call_async(Number(2)); // in the place of one that is over
    let responder = kept.recv().unwrap();
    assert!(!responder.is_awaited());
    let error = responder.respond(Number(9)).unwrap_err();
    assert_eq!(error.into_response().unwrap().0, 9);
    assert!(kept.recv().unwrap().fail("never mind").unwrap_err().into_response().is_none());
    assert_eq!((server.statistics().unclaimed, client.statistics().abandoned), (2, 2));
    room.run();
    kept.recv().unwrap().respond(Number(3)).unwrap();
    assert_eq!(block_on(again)?.0, 3);
    Ok(())
}

#[test]
fn a_shutdown_fails_every_call_that_waits() -> sinew::Result<()> {
    let room = Room::new();
    let (_server, client, kept) = keeping(&room)?;
    let taken = client.call_async(Number(1));
    room.run();
    let waits = client.call_async(Number(2));
    let nobody = room.node.client::<Numbers>("nobody").create()?;
    let lost = nobody.call_async(Number(3));
    room.context.shutdown();
    let late = client.call_async(Number(4));
    for (n, call) in [(None, taken), (Some(2), waits), (Some(3), lost), (Some(4), late)] {
        let error = block_on(call).unwrap_err();
        assert_eq!(error.failure(), &CallFailure::Shutdown);
        assert_eq!(error.into_request().map(|request| request.0), n);
    }
    assert_eq!(client.call(Number(5), support::PATIENCE).unwrap_err().failure(), &CallFailure::Shutdown);
    assert!(kept.recv().unwrap().respond(Number(1)).is_err());
    assert!(!client.is_server_ready() && !client.wait_for_server(support::PATIENCE));
    Ok(())
}

#[test]
fn thousands_of_clients_get_their_own_answers() -> sinew::Result<()> {
    let room = Room::new();
    let server =
        room.node.server::<Numbers>("n").max_requests(10_000).callback(|n: &Number| Number(2 * n.0))?;
    let clients: Vec<_> = (0..3000).map(|_| room.node.client::<Numbers>("n").create().unwrap()).collect();
    let calls: Vec<_> =
        clients.iter().enumerate().map(|(n, client)| client.call_async(Number(n as u64))).collect();
    assert_eq!(room.run(), 3000);
    for (n, call) in (0..).zip(calls) {
        assert_eq!(block_on(call)?.0, 2 * n);
    }
    assert_eq!(server.statistics().answered, 3000);
    Ok(())
}
