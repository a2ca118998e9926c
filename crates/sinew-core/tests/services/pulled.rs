//! Servers with requests that the program takes by hand.

use crate::support;

use sinew::erased::{Message, ServiceTypes};
use sinew::error::{AnswerFailure, CallFailure, CreateError, ErrorCode, HasCode};
use sinew::prelude::*;
use sinew::service::{PulledServer, RequestKey};
use sinew_interfaces::example_interfaces::srv::{AddTwoInts, AddTwoIntsRequest, AddTwoIntsResponse};
use std::sync::mpsc::channel;
use std::thread;
use support::pair::{PATHS, Pair};
use support::tasks::block_on;
use support::{Number, Numbers, PATIENCE, Room, wait_for};

fn take(server: &PulledServer<AddTwoInts>) -> (AddTwoIntsRequest, RequestKey) {
    let (request, info) = wait_for("a request", || server.take_request());
    (request.into_inner(), info.key())
}

fn failure_of<T>(result: Result<T, sinew::error::CallError<AddTwoIntsRequest>>) -> CallFailure {
    result.map(drop).expect_err("it fails").failure().clone()
}

#[test]
fn requests_are_taken_in_order_and_answered_in_any() -> sinew::Result<()> {
    for path in PATHS {
        let pair = Pair::new(path);
        let client = pair.asker.client::<AddTwoInts>("add").create()?;
        let early = client.call_async(AddTwoIntsRequest { a: 0, b: 1 });
        let server = pair.owner.server::<AddTwoInts>("add").create()?;
        let late: Vec<_> = (1..3).map(|a| client.call_async(AddTwoIntsRequest { a, b: 1 })).collect();
        let taken: Vec<_> = (0..3).map(|_| take(&server)).collect();
        for (a, (request, key)) in (0_i64..).zip(&taken) {
            assert_eq!((request.a, key.client, key.sequence), (a, client.gid(), a.cast_unsigned() + 1));
        }
        assert!(server.take_request().is_none());
        for (request, key) in taken.iter().rev() {
            assert!(server.is_awaited(key));
            server.respond(key, AddTwoIntsResponse { sum: request.a + request.b }).expect("it is awaited");
            assert!(!server.is_awaited(key));
        }
        assert_eq!(block_on(early)?.sum, 1);
        for (sum, call) in (2..).zip(late) {
            assert_eq!(block_on(call)?.sum, sum);
        }
        let counts = server.statistics();
        assert_eq!((counts.received, counts.waiting, counts.in_hand, counts.answered), (3, 0, 0, 3));
    }
    Ok(())
}

#[test]
fn a_request_is_answered_once() -> sinew::Result<()> {
    for path in PATHS {
        let pair = Pair::new(path);
        let server = pair.owner.server::<AddTwoInts>("add").create()?;
        let client = pair.asker.client::<AddTwoInts>("add").create()?;
        assert!(client.wait_for_server(PATIENCE));
        let (good, bad) = (AddTwoIntsRequest { a: 1, b: 2 }, AddTwoIntsRequest { a: -1, b: 2 });
        let (good, bad) = (client.call_async(good), client.call_async(bad));
        let [(_, first), (_, second)] = [take(&server), take(&server)];
        server.fail(&second, "it is negative").expect("it is awaited");
        server.respond(&first, AddTwoIntsResponse { sum: 3 }).expect("it is awaited");
        assert_eq!(block_on(good)?.sum, 3);
        assert_eq!(failure_of(block_on(bad)), CallFailure::Failed { message: "it is negative".to_owned() });
        let stranger = RequestKey { sequence: 99, ..first };
        for key in [first, second, stranger] {
            let error = server.respond(&key, AddTwoIntsResponse { sum: 4 }).expect_err("it has its answer");
            assert_eq!(
                (error.failure(), error.code()),
                (&AnswerFailure::NotInHand, ErrorCode::RequestNotInHand)
            );
            assert!(error.to_string().contains("service /add was not answered"), "{error}");
            assert_eq!(error.into_response().expect("it comes back").sum, 4);
            assert_eq!(server.fail(&key, "late").expect_err("it has").failure(), &AnswerFailure::NotInHand);
        }
    }
    Ok(())
}

#[test]
fn an_answer_that_nobody_awaits_comes_back() -> sinew::Result<()> {
    let room = Room::new();
    let server = room.node.server::<AddTwoInts>("add").create()?;
    let client = room.node.client::<AddTwoInts>("add").create()?;
    drop(client.call_async(AddTwoIntsRequest { a: 1, b: 2 }));
    let (_, key) = take(&server);
    assert!(!server.is_awaited(&key));
    let error = server.respond(&key, AddTwoIntsResponse { sum: 3 }).expect_err("the call was dropped");
    assert_eq!((error.failure(), error.code()), (&AnswerFailure::Unclaimed, ErrorCode::ResponseUnclaimed));
    assert_eq!(error.into_response().expect("it comes back").sum, 3);
    assert_eq!(server.statistics().unclaimed, 1);
    Ok(())
}

#[test]
fn callers_get_an_error_when_the_server_ends() -> sinew::Result<()> {
    for (path, closes) in PATHS.into_iter().flat_map(|path| [(path, false), (path, true)]) {
        let pair = Pair::new(path);
        let server = pair.owner.server::<AddTwoInts>("add").create()?;
        let client = pair.asker.client::<AddTwoInts>("add").create()?;
        assert!(client.wait_for_server(PATIENCE));
        let calls = [1, 2].map(|a| client.call_async(AddTwoIntsRequest { a, b: 0 }));
        let (_, taken) = take(&server);
        wait_for("the other request", || (server.statistics().in_hand == 2).then_some(()));
        let another = server.clone();
        if closes {
            server.close()
        } else {
            drop(server)
        }
        assert_eq!(another.is_closed(), closes);
        if !closes {
            another.respond(&taken, AddTwoIntsResponse { sum: 1 }).expect("a clone is the same server");
            drop(another);
        } else {
            let error = another.respond(&taken, AddTwoIntsResponse { sum: 1 }).expect_err("it is closed");
            assert_eq!(error.failure(), &AnswerFailure::NotInHand);
            assert!(another.take_request().is_none());
        }
        let [first, second] = calls.map(block_on);
        match closes {
            true => assert_eq!(failure_of(first), CallFailure::ServerGone),
            false => assert_eq!(first?.sum, 1),
        }
        assert_eq!(failure_of(second), CallFailure::ServerGone);
        let _next = pair.owner.server::<AddTwoInts>("add").create()?; // the name is free again
    }
    Ok(())
}

#[test]
fn requests_beyond_the_limit_are_refused() -> sinew::Result<()> {
    for path in PATHS {
        let pair = Pair::new(path);
        let server = pair.owner.server::<AddTwoInts>("add").max_requests(2).create()?;
        let taken =
            pair.owner.server::<AddTwoInts>("add").create().map(drop).expect_err("the name is in use");
        assert!(matches!(taken, CreateError::ServiceTaken { .. }), "{taken}");
        let client = pair.asker.client::<AddTwoInts>("add").create()?;
        assert!(client.wait_for_server(PATIENCE));
        let request = AddTwoIntsRequest { a: 1, b: 1 };
        let first = client.call_async(request);
        let (_, key) = take(&server);
        let second = client.call_async(request);
        wait_for("the second request", || (server.statistics().in_hand == 2).then_some(()));
        let third = client.call_async(request);
        wait_for("the third one's refusal", || (server.statistics().refused == 1).then_some(()));
        assert_eq!(failure_of(block_on(third)), CallFailure::Full { limit: 2 });
        server.respond(&key, AddTwoIntsResponse { sum: 2 }).expect("it is awaited");
        assert_eq!(block_on(first)?.sum, 2);
        drop((second, server));
    }
    Ok(())
}

/// The listener takes and answers, and calls the same server from within.
#[test]
fn a_listener_may_use_the_server() -> sinew::Result<()> {
    for path in PATHS {
        let pair = Pair::new(path);
        let server = pair.owner.server::<AddTwoInts>("add").create()?;
        let client = pair.asker.client::<AddTwoInts>("add").create()?;
        assert!(client.wait_for_server(PATIENCE));
        let waiting = client.call_async(AddTwoIntsRequest { a: 1, b: 0 });
        wait_for("the request", || (server.statistics().in_hand == 1).then_some(()));
        let (inner, log) = (pair.owner.client::<AddTwoInts>("add").create()?, channel());
        let (said, of_server) = (log.0, server.clone());
        server.set_listener(move |count| {
            let _ = said.send(count);
            while let Some((request, info)) = of_server.take_request() {
                if request.b == 0 {
                    drop(inner.call_async(AddTwoIntsRequest { a: request.a, b: 1 }));
                }
                drop(of_server.respond(&info.key(), AddTwoIntsResponse { sum: request.a + request.b }));
            }
        });
        assert_eq!(block_on(waiting)?.sum, 1);
        assert_eq!(log.1.recv_timeout(PATIENCE).expect("the first"), 1);
        assert_eq!(log.1.recv_timeout(PATIENCE).expect("of its own call, after it returned"), 1);
        assert_eq!(block_on(client.call_async(AddTwoIntsRequest { a: 2, b: 2 }))?.sum, 4);
        server.clear_listener();
        let unanswered = client.call_async(AddTwoIntsRequest { a: 3, b: 3 });
        let (_, key) = take(&server);
        server.respond(&key, AddTwoIntsResponse { sum: 6 }).expect("it is awaited");
        assert_eq!(block_on(unanswered)?.sum, 6);
        server.close(); // with the listener, which holds it
    }
    Ok(())
}

#[test]
fn a_listener_of_the_builder_is_notified_of_requests_that_wait_and_of_new_ones() -> sinew::Result<()> {
    for path in PATHS {
        let pair = Pair::new(path);
        let client = pair.asker.client::<AddTwoInts>("add").create()?;
        let early = client.call_async(AddTwoIntsRequest { a: 1, b: 1 });
        let (bell, news) = channel();
        let builder = pair.owner.server::<AddTwoInts>("add");
        let server =
            builder.listener(move |count| bell.send(count).expect("it arrives")).max_requests(2).create()?;
        assert!(client.wait_for_server(PATIENCE));
        let late = client.call_async(AddTwoIntsRequest { a: 2, b: 2 });
        let mut notified = 0;
        while notified < 2 {
            notified += news.recv_timeout(PATIENCE).expect("it is notified");
        }
        assert_eq!(notified, 2);
        let (next_bell, next_news) = channel();
        server.set_listener(move |count| next_bell.send(count).expect("it arrives"));
        assert_eq!(next_news.recv_timeout(PATIENCE), Ok(2), "those that wait");
        assert!(news.recv().is_err(), "the former listener is dropped");
        for _ in 0..2 {
            let (AddTwoIntsRequest { a, b }, key) = take(&server);
            server.respond(&key, AddTwoIntsResponse { sum: a + b }).expect("it is awaited");
        }
        assert_eq!((block_on(early)?.sum, block_on(late)?.sum), (2, 4));
    }
    Ok(())
}

#[test]
fn a_listener_may_close_the_server() -> sinew::Result<()> {
    for path in PATHS {
        let pair = Pair::new(path);
        let server = pair.owner.server::<AddTwoInts>("add").create()?;
        let client = pair.asker.client::<AddTwoInts>("add").create()?;
        assert!(client.wait_for_server(PATIENCE));
        let closed = server.clone();
        server.set_listener(move |_| closed.clone().close());
        let call = client.call_async(AddTwoIntsRequest { a: 1, b: 0 });
        assert_eq!(failure_of(block_on(call)), CallFailure::ServerGone);
        wait_for("its end", || server.is_closed().then_some(()));
    }
    Ok(())
}

#[test]
fn several_threads_take_and_answer() -> sinew::Result<()> {
    const CALLS: u64 = 200;
    for path in PATHS {
        let pair = Pair::new(path);
        let server = pair.owner.server::<Numbers>("double").create()?;
        let client = pair.asker.client::<Numbers>("double").create()?;
        assert!(client.wait_for_server(PATIENCE));
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while server.statistics().answered < 2 * CALLS {
                        let Some((number, info)) = server.take_request() else {
                            thread::yield_now();
                            continue;
                        };
                        server.respond(&info.key(), Number(2 * number.0)).expect("it is awaited");
                    }
                });
            }
            for from in [0, CALLS] {
                let client = &client;
                scope.spawn(move || {
                    for number in from..from + CALLS {
                        assert_eq!(
                            client.call(Number(number), PATIENCE).expect("it is served").0,
                            2 * number
                        );
                    }
                });
            }
        });
        assert_eq!(server.statistics().in_hand, 0);
    }
    Ok(())
}

#[test]
fn a_response_that_does_not_fit_leaves_the_request_in_hand() -> sinew::Result<()> {
    let room = Room::new();
    let types = ServiceTypes::of::<Numbers>();
    let server = room.node.erased_server("n", types).create_erased()?;
    assert_eq!(server.types(), types);
    let client = room.node.client::<Numbers>("n").create()?;
    let call = client.call_async(Number(1));
    let (request, info) = server.take_request().expect("it was sent");
    assert_eq!(request.value_of::<Number>().map(|number| number.0), Some(1));
    let other: Message = Unique::new(AddTwoIntsResponse { sum: 1 }).into();
    let error = server.respond(&info.key(), other).expect_err("it is of another type");
    assert!(matches!(error.failure(), AnswerFailure::Unfit(CallFailure::OtherType { .. })), "{error}");
    assert_eq!(error.code(), ErrorCode::OtherType);
    assert!(server.is_awaited(&info.key()));
    server.respond(&info.key(), Unique::new(Number(2))).expect("it is awaited");
    assert_eq!(block_on(call)?.0, 2);
    Ok(())
}
