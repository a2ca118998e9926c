//! Clients with responses that the program takes by hand.

use crate::support;

use sinew::erased::ServiceTypes;
use sinew::error::{CallError, CallFailure, ErrorCode, HasCode};
use sinew::executor::WaitSet;
use sinew::prelude::*;
use sinew::service::{CallResult, PulledServer, RequestId, RequestKey};
use sinew::time::Time;
use std::collections::HashSet;
use std::sync::mpsc::channel;
use std::thread;
use support::pair::{PATHS, Pair};
use support::{Number, Numbers, PATIENCE, Room, wait_for};

fn take(server: &PulledServer<Numbers>) -> (u64, RequestKey) {
    let (request, info) = wait_for("a request", || server.take_request());
    (request.0, info.key())
}

fn answer(client: &Client<Numbers>) -> (RequestId, CallResult<Numbers>) {
    let (response, info) = wait_for("a response", || client.take_response());
    (info.id(), response)
}

fn failure_of<T>(result: Result<T, CallError<Number>>) -> CallFailure {
    result.map(drop).expect_err("it fails").failure().clone()
}

#[test]
fn responses_come_in_the_order_in_which_they_are_given() -> sinew::Result<()> {
    for path in PATHS {
        let pair = Pair::new(path);
        let client = pair.asker.client::<Numbers>("double").create()?;
        let early = client.send(Number(0))?;
        let server = pair.owner.server::<Numbers>("double").create()?;
        let late = [client.send(Number(1))?, client.send(Number(2))?];
        let sent = [early, late[0], late[1]];
        assert!(client.take_response().is_none());
        let taken = [take(&server), take(&server), take(&server)];
        for (id, (_, key)) in sent.iter().zip(&taken) {
            assert_eq!((client.gid(), id.sequence()), (key.client, key.sequence));
        }
        for (number, key) in taken.iter().rev() {
            server.respond(key, Number(2 * number)).expect("it is awaited");
        }
        for (id, doubled) in [(sent[2], 4), (sent[1], 2), (sent[0], 0)] {
            let (answered, response) = answer(&client);
            assert_eq!((answered, response?.0), (id, doubled));
        }
        assert!(client.take_response().is_none());
        let counts = client.statistics();
        assert_eq!((counts.calls, counts.answered, counts.waiting), (3, 3, 0));
    }
    Ok(())
}

/// Other ways to call have their own responses.
#[test]
fn each_call_has_its_response_where_it_was_asked_for() -> sinew::Result<()> {
    for path in PATHS {
        let pair = Pair::new(path);
        let _server = pair.owner.server::<Numbers>("echo").immediate_callback(|n: Unique<Number>| n)?;
        let client = pair.asker.client::<Numbers>("echo").create()?;
        assert!(client.wait_for_server(PATIENCE));
        let (sender, received) = channel();
        for number in 0..10 {
            client.send(Number(number))?;
            let sender = sender.clone();
            client.call_then_immediately(Number(100 + number), move |result| sender.send(result).unwrap())?;
            assert_eq!(client.call(Number(200 + number), PATIENCE)?.0, 200 + number);
            assert_eq!(received.recv_timeout(PATIENCE).expect("an answer")?.0, 100 + number);
        }
        for number in 0..10 {
            assert_eq!(answer(&client).1?.0, number);
        }
        assert!(client.take_response().is_none());
    }
    Ok(())
}

#[test]
fn more_calls_than_the_limit_are_refused() -> sinew::Result<()> {
    for path in PATHS {
        let pair = Pair::new(path);
        let server = pair.owner.server::<Numbers>("n").create()?;
        let client = pair.asker.client::<Numbers>("n").max_responses(2).create()?;
        assert!(client.wait_for_server(PATIENCE));
        let refused = |client: &Client<Numbers>| {
            let error = client.send(Number(9)).expect_err("there are two");
            assert_eq!(
                (error.failure(), error.code()),
                (&CallFailure::Untaken { limit: 2 }, ErrorCode::TooManyResponses)
            );
            assert_eq!(error.into_request().expect("it comes back").0, 9);
        };
        let first = client.send(Number(1))?;
        let second = client.send(Number(2))?;
        refused(&client);
        let (number, key) = take(&server);
        server.respond(&key, Number(number)).expect("it is awaited");
        wait_for("the answer", || (client.statistics().answered == 1).then_some(()));
        refused(&client); // it was not taken
        let (answered, response) = answer(&client);
        assert_eq!((answered, response?.0), (first, 1));
        let third = client.send(Number(3))?;
        refused(&client);
        let (_, in_hand) = take(&server);
        assert!(client.give_up(second));
        assert!(!client.give_up(second));
        let fourth = client.send(Number(4))?;
        refused(&client);
        // A response that waits is given up as well, and has no place any more.
        let (number, key) = take(&server);
        server.respond(&key, Number(number)).expect("it is awaited");
        wait_for("the answer", || (client.statistics().answered == 2).then_some(()));
        assert!(client.give_up(third));
        assert!(client.take_response().is_none());
        let (number, key) = take(&server);
        server.respond(&key, Number(number)).expect("it is awaited");
        let (answered, response) = answer(&client);
        assert_eq!((answered, response?.0), (fourth, 4));
        drop(server.respond(&in_hand, Number(2))); // in another process it isn't known that nobody waits
        assert!(client.take_response().is_none());
        let none = pair.asker.client::<Numbers>("n").max_responses(0).create()?;
        assert_eq!(failure_of(none.send(Number(1))), CallFailure::Untaken { limit: 0 });
    }
    Ok(())
}

#[test]
fn a_request_that_no_server_took_comes_back() -> sinew::Result<()> {
    let room = Room::new();
    let client = room.node.client::<Numbers>("n").max_responses(1).create()?;
    let id = client.send(Number(7))?;
    assert_eq!(client.withdraw(id).expect("there is no server").0, 7);
    assert!(client.withdraw(id).is_none());
    let id = client.send(Number(8))?;
    assert!(client.give_up(id));
    let server = room.node.server::<Numbers>("n").create()?;
    assert!(server.take_request().is_none());
    assert_eq!(client.statistics().abandoned, 2);
    Ok(())
}

/// Every accepted request brings one response, whatever happens.
#[test]
fn whatever_ends_a_call_is_taken_as_its_response() -> sinew::Result<()> {
    for path in PATHS {
        let pair = Pair::new(path);
        let server = pair.owner.server::<Numbers>("n").create()?;
        let client = pair.asker.client::<Numbers>("n").create()?;
        assert!(client.wait_for_server(PATIENCE));
        let failed = client.send(Number(0))?;
        let (_, key) = take(&server);
        server.fail(&key, "it is zero").expect("it is awaited");
        let (id, response) = answer(&client);
        let message = "it is zero".to_owned();
        assert_eq!((id, failure_of(response)), (failed, CallFailure::Failed { message }));

        let open = HashSet::from([client.send(Number(1))?, client.send(Number(2))?]);
        take(&server);
        wait_for("the other request", || (server.statistics().in_hand == 2).then_some(()));
        server.close();
        let mut ended = HashSet::new();
        for _ in 0..2 {
            let (id, response) = answer(&client);
            assert_eq!(failure_of(response), CallFailure::ServerGone);
            ended.insert(id);
        }
        assert_eq!(ended, open);

        wait_for("the end of the server", || (!client.is_server_ready()).then_some(()));
        let last = client.send(Number(3))?;
        pair.contexts[1].shutdown();
        let (id, response) = answer(&client);
        assert_eq!((id, failure_of(response)), (last, CallFailure::Shutdown));
        assert_eq!(failure_of(client.send(Number(4))), CallFailure::Shutdown);
        assert!(client.take_response().is_none());
    }
    Ok(())
}

#[test]
fn a_response_has_the_times_of_its_answer() -> sinew::Result<()> {
    for path in PATHS {
        let pair = Pair::new(path);
        let server = pair.owner.server::<Numbers>("n").create()?;
        let client = pair.asker.client::<Numbers>("n").create()?;
        assert!(client.wait_for_server(PATIENCE));
        let (first, second) = (client.send(Number(1))?, client.send(Number(2))?);
        let (one, two) = (take(&server), take(&server));
        let before = Time::wall();
        server.respond(&one.1, Number(1)).expect("it is awaited");
        server.fail(&two.1, "it is two").expect("it is awaited");
        let after = Time::wall();
        for id in [first, second] {
            let (_, info) = wait_for("a response", || client.take_response());
            assert_eq!(info.id(), id);
            assert!(before <= info.source_time() && info.source_time() <= after);
            assert!(info.source_time() <= info.reception_time() && info.reception_time() <= Time::wall());
            assert_eq!(info.latency(), info.reception_time() - info.source_time());
        }
    }
    Ok(())
}

#[test]
fn a_listener_of_the_builder_is_notified_of_every_response_until_it_is_replaced() -> sinew::Result<()> {
    for path in PATHS {
        let pair = Pair::new(path);
        let _server = pair.owner.server::<Numbers>("echo").immediate_callback(|n: Unique<Number>| n)?;
        let (said, log) = channel();
        let client = pair.asker.client::<Numbers>("echo").listener(move |count| said.send(count).unwrap());
        let client = client.create()?;
        assert!(client.wait_for_server(PATIENCE));
        client.send(Number(1))?;
        assert_eq!(log.recv_timeout(PATIENCE), Ok(1));
        let (again, second) = channel();
        client.set_listener(move |count| again.send(count).unwrap());
        assert_eq!(second.recv_timeout(PATIENCE), Ok(1), "one waits");
        client.send(Number(2))?;
        assert_eq!(second.recv_timeout(PATIENCE), Ok(1));
        assert!(log.recv().is_err(), "it went");
        assert_eq!([answer(&client).1?.0, answer(&client).1?.0], [1, 2]);
    }
    Ok(())
}

/// The listener takes, and sends the next request from within.
#[test]
fn a_listener_may_use_the_client() -> sinew::Result<()> {
    for path in PATHS {
        let pair = Pair::new(path);
        let _server =
            pair.owner.server::<Numbers>("next").immediate_callback(|n: &Number| Number(n.0 + 1))?;
        let client = pair.asker.client::<Numbers>("next").create()?;
        assert!(client.wait_for_server(PATIENCE));
        client.send(Number(0))?;
        client.send(Number(50))?;
        wait_for("both answers", || (client.statistics().answered == 2).then_some(()));
        let (said, log) = channel();
        let inner = client.clone();
        client.set_listener(move |count| {
            while let Some((response, _)) = inner.take_response() {
                let number = response.unwrap().into_inner();
                if number.0 != 100 {
                    inner.send(number).unwrap();
                }
            }
            said.send(count).unwrap(); // it takes nothing more
        });
        let mut received = 0;
        while received < 150 {
            received += log.recv_timeout(PATIENCE).expect("the listener is called for each");
        }
        assert_eq!(received, 150);
        client.clear_listener();
        client.send(Number(1))?;
        assert_eq!(answer(&client).1?.0, 2);
        assert!(log.try_recv().is_err(), "the listener went, with what it held");
    }
    Ok(())
}

#[test]
fn a_guard_condition_brings_a_response_to_a_wait_set() -> sinew::Result<()> {
    for path in PATHS {
        let pair = Pair::new(path);
        let server = pair.owner.server::<Numbers>("n").create()?;
        let client = pair.asker.client::<Numbers>("n").create()?;
        assert!(client.wait_for_server(PATIENCE));
        let guard = pair.asker.guard_condition().callback(|| {})?;
        let mut set = WaitSet::new();
        set.add(&pair.asker)?;
        let bell = guard.clone();
        client.set_listener(move |_| bell.trigger());
        thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..20 {
                    let (number, key) = take(&server);
                    server.respond(&key, Number(number)).expect("it is awaited");
                }
            });
            for number in 0..20 {
                client.send(Number(number)).expect("the server is there");
                let response = loop {
                    for ready in set.wait(PATIENCE).expect("nothing stops it") {
                        assert!(ready.is(&guard));
                        ready.run().expect("nothing fails");
                    }
                    if let Some((response, _)) = client.take_response() {
                        break response;
                    }
                };
                assert_eq!(response.expect("it is answered").0, number);
            }
        });
        client.clear_listener();
    }
    Ok(())
}

#[test]
fn several_threads_send_and_take() -> sinew::Result<()> {
    const CALLS: u64 = 200;
    for path in PATHS {
        let pair = Pair::new(path);
        let _server = pair.owner.server::<Numbers>("echo").immediate_callback(|n: Unique<Number>| n)?;
        let client = pair.asker.client::<Numbers>("echo").max_responses(10).create()?;
        assert!(client.wait_for_server(PATIENCE));
        let (taken, all) = channel();
        thread::scope(|scope| {
            for from in [0, CALLS] {
                let (client, taken) = (&client, taken.clone());
                scope.spawn(move || {
                    for number in from..from + CALLS {
                        while let Err(error) = client.send(Number(number)) {
                            assert_eq!(error.failure(), &CallFailure::Untaken { limit: 10 });
                            if let Some((response, _)) = client.take_response() {
                                taken.send(response.expect("it is served").0).expect("it is read");
                            }
                        }
                    }
                });
            }
        });
        drop(taken);
        let mut numbers: Vec<_> = all.into_iter().collect();
        while numbers.len() as u64 != 2 * CALLS {
            numbers.push(answer(&client).1?.0);
        }
        numbers.sort_unstable();
        assert_eq!(numbers, (0..2 * CALLS).collect::<Vec<_>>());
    }
    Ok(())
}

#[test]
fn responses_of_any_type_are_taken() -> sinew::Result<()> {
    let room = Room::new();
    let types = ServiceTypes::of::<Numbers>();
    let server = room.node.erased_server("n", types).create_erased()?;
    let (bell, news) = channel();
    let client = room.node.erased_client("n", types).max_responses(3);
    let client = client.listener(move |count| bell.send(count).unwrap()).create_erased()?;
    let ids = [1, 2].map(|number| client.send(Unique::new(Number(number))).expect("it is accepted"));
    while let Some((request, info)) = server.take_request() {
        server.respond(&info.key(), request).expect("it is awaited");
    }
    for (id, number) in ids.into_iter().zip([1, 2]) {
        let (response, info) = client.take_response().expect("it was answered");
        let response = response.expect("it was answered");
        assert_eq!((info.id(), response.value_of::<Number>()), (id, Some(&Number(number))));
    }
    assert_eq!(news.try_iter().collect::<Vec<_>>(), [1, 1]);
    let id = client.send(Unique::new(Number(3))).expect("it is accepted");
    server.close();
    let (response, info) = client.take_response().expect("it failed");
    let error = response.expect_err("the server went");
    assert_eq!((info.id(), error.failure()), (id, &CallFailure::ServerGone));
    assert!(error.into_request().is_some(), "no server took it");
    let id = client.send(Unique::new(Number(4))).expect("it waits for a server");
    assert!(client.give_up(id));
    client.clear_listener();
    Ok(())
}
