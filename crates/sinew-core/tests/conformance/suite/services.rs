//! Calls and their answers, whichever thread runs the servers.

use super::stage::{Options, Setting, Stage, spinning};
use super::support::tasks::block_on;
use super::support::{Gate, Log, Number, Numbers, PATIENCE, wait_for};
use sinew::Responder;
use sinew::error::{CallFailure, SpinError};
use sinew::executor::FaultPolicy;
use sinew::prelude::*;
use sinew::service::CallResult;
use std::sync::mpsc;
use std::thread;

pub(super) fn echo(node: &Node, name: &str) -> Server<Numbers> {
    node.group(()).server(name).callback(|n: Unique<Number>| n).unwrap()
}

pub(crate) fn requests_of_all_clients_are_answered_in_the_order_of_the_calls(
    setting: Setting,
) -> sinew::Result<()> {
    let stage = Stage::new(setting)?;
    let log = Log::new();
    let pen = log.pen();
    let _server = stage.receiver.server::<Numbers>("n").callback(move |n: Unique<Number>| {
        pen.write(n.0);
        n
    })?;
    let clients = [(); 3].map(|()| stage.sender.client::<Numbers>("/n").create().unwrap());
    // A new client's first requests are brought in by the thread that finds the client, in no order
    // with what the executor runs meanwhile: so all clients are known first.
    let greetings = [100, 101, 102].map(|n| clients[n % 3].call_async(Number(n as u64)));
    stage.collect(&log, greetings.len())?;
    let calls: Vec<_> = (0..30_usize).map(|n| clients[n % 3].call_async(Number(n as u64))).collect();
    assert_eq!(stage.collect(&log, 30)?, (0..30).collect::<Vec<_>>());
    for (n, call) in (100..).zip(greetings).chain((0..).zip(calls)) {
        assert_eq!(block_on(call)?.0, n);
    }
    Ok(())
}

/// Called from outside, from a callback, and from several threads at once.
pub(crate) fn a_chain_of_blocking_calls_is_answered(setting: Setting) -> sinew::Result<()> {
    const HOPS: u64 = 12;
    let stage = Stage::in_real_time(setting)?;
    let node = &stage.receiver;
    let mut servers = Vec::new();
    for hop in 0..HOPS {
        let next = node.client::<Numbers>(&format!("hop_{}", hop + 1)).create()?;
        let server = node.group(()).server::<Numbers>(&format!("hop_{hop}"));
        servers
            .push(server.callback(move |n: Unique<Number>| next.call(n, PATIENCE).map(|n| Number(n.0 + 1)))?);
    }
    servers.push(echo(node, &format!("hop_{HOPS}")));
    let client = stage.sender.client::<Numbers>("/hop_0").create()?;
    let (log, inside) = (Log::new(), client.clone());
    let pen = log.pen();
    let guard = stage.sender.guard_condition().callback(move || {
        pen.write(inside.call(Number(1000), PATIENCE).unwrap().0);
    })?;
    stage.while_spinning(|| {
        thread::scope(|scope| {
            for thread in 0..3 {
                let client = &client;
                scope.spawn(move || {
                    for n in 0..20 {
                        let n = 100 * thread + n;
                        assert_eq!(client.call(Number(n), PATIENCE).unwrap().0, n + HOPS);
                    }
                });
            }
            // The only thread can't run a server of another process while it waits for it.
            if setting.threads() > 1 || !setting.path.is_apart() {
                guard.trigger();
                assert_eq!(log.next(), 1000 + HOPS);
            }
        });
        Ok(())
    })
}

pub(crate) fn servers_that_call_each_other_get_an_error(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::in_real_time(setting)?;
    let node = &stage.receiver;
    let server = |own: &str, other: &str| {
        let other = node.client::<Numbers>(other).create()?;
        let service = node.group(()).server::<Numbers>(own);
        service.callback(move |n: Unique<Number>| other.call(n, PATIENCE))
    };
    let _servers = [server("a", "b")?, server("b", "c")?, server("c", "a")?];
    let client = stage.sender.client::<Numbers>("/a").create()?;
    stage.while_spinning(|| {
        // The caller that would have been the last to wait: with several threads any of them.
        let error = client.call(Number(1), PATIENCE).unwrap_err().to_string();
        assert!(error.contains("waiting for the answer would never end"), "{error}");
        Ok(())
    })
}

pub(crate) fn a_server_in_another_runner_is_waited_for(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::unserved(setting)?;
    let other = setting.runner();
    stage.runner.add(&stage.sender)?;
    other.add(&stage.receiver)?;
    let _server = echo(&stage.receiver, "n");
    let client = stage.sender.client::<Numbers>("/n").create()?;
    let log = Log::new();
    let pen = log.pen();
    let _reader = stage.sender.subscription("go").callback(move |n: &Number| {
        pen.write(client.call(Number(n.0), PATIENCE).map(|n| n.0).map_err(drop));
    })?;
    let go = stage.publisher("go")?;
    let answers = stage.while_spinning(|| {
        spinning(&other, || {
            (0..10).try_for_each(|n| go.publish(Number(n)))?;
            Ok(log.wait_for(10))
        })
    })?;
    assert_eq!(answers, (0..10).map(Ok).collect::<Vec<_>>());
    Ok(())
}

pub(crate) fn of_two_runners_that_would_call_each_other_one_gets_an_error(
    setting: Setting,
) -> sinew::Result<()> {
    if setting.threads() != 1 {
        return Ok(()); // another thread would answer
    }
    let stage = Stage::unserved(setting)?;
    let other = setting.runner();
    stage.runner.add(&stage.sender)?;
    other.add(&stage.receiver)?;
    let log = Log::new();
    let (mine, others) = (Gate::new(), Gate::new());
    let mut kept = Vec::new();
    let mut guards = Vec::new();
    for (node, theirs, open, wait) in [
        (&stage.sender, "/receiver", mine.clone(), others.clone()),
        (&stage.receiver, "/sender", others, mine),
    ] {
        kept.push(echo(node, &format!("/{}", node.name())));
        let (client, pen) = (node.client::<Numbers>(theirs).create()?, log.pen());
        guards.push(node.guard_condition().callback(move || {
            open.open();
            wait.wait();
            let result = client.call(Number(1), PATIENCE);
            pen.write(result.map(|n| n.0).map_err(|error| error.failure().clone()));
        })?);
    }
    let mut results = stage.while_spinning(|| {
        spinning(&other, || {
            guards.iter().for_each(sinew::GuardCondition::trigger);
            Ok(log.wait_for(2))
        })
    })?;
    results.sort_by_key(Result::is_err);
    assert_eq!(results[0], Ok(1));
    assert!(matches!(results[1], Err(CallFailure::WouldDeadlock { .. })), "{results:?}");
    Ok(())
}

pub(crate) fn every_call_of_many_threads_is_answered_once(setting: Setting) -> sinew::Result<()> {
    const CALLERS: u64 = 4;
    const CALLS: u64 = 100;
    let stage = Stage::in_real_time(setting)?;
    let sum = stage.receiver.group(0_u64);
    let server = sum.server::<Numbers>("n").callback(|sum: &mut u64, n: &Number| {
        *sum += n.0;
        Number(*sum)
    })?;
    let client = stage.sender.client::<Numbers>("/n").create()?;
    let mut sums: Vec<u64> = stage.while_spinning(|| {
        let call = |n| match n % 2 {
            0 => client.call(Number(1), PATIENCE),
            _ => block_on(client.call_async(Number(1))),
        };
        let caller = || (0..CALLS).map(|n| call(n).unwrap().0).collect::<Vec<_>>();
        Ok(thread::scope(|scope| {
            let callers: Vec<_> = (0..CALLERS).map(|_| scope.spawn(caller)).collect();
            callers.into_iter().flat_map(|caller| caller.join().unwrap()).collect()
        }))
    })?;
    sums.sort_unstable();
    assert_eq!(sums, (1..=CALLERS * CALLS).collect::<Vec<_>>());
    assert_eq!(server.statistics().answered, CALLERS * CALLS);
    Ok(())
}

pub(crate) fn answers_may_be_given_later_and_by_others(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::in_real_time(setting)?;
    let (keep, kept) = mpsc::channel();
    let _server = stage
        .receiver
        .server::<Numbers>("n")
        .callback(move |n: Number, responder: Responder<Numbers>| keep.send((n, responder)).unwrap())?;
    let client = stage.sender.client::<Numbers>("/n").create()?;
    let answering = thread::spawn(move || {
        let mut held = None;
        for (Number(n), responder) in kept {
            // Every second one is answered behind the next one.
            match held.replace((n, responder)) {
                Some((earlier, first)) if n % 2 == 1 => {
                    let (n, responder) = held.take().unwrap();
                    responder.respond(Number(n + 1)).unwrap();
                    first.respond(Number(earlier + 1)).unwrap();
                }
                Some((_, responder)) => drop(responder.fail("out of order")),
                None => {}
            }
        }
    });
    stage.while_spinning(|| {
        let calls: Vec<_> = (0..40).map(|n| client.call_async(Number(n))).collect();
        for (n, call) in (0..).zip(calls) {
            assert_eq!(block_on(call)?.0, n + 1);
        }
        Ok(())
    })?;
    drop(_server);
    answering.join().unwrap();
    Ok(())
}

pub(crate) fn a_server_that_goes_fails_its_calls_and_the_next_takes_over(
    setting: Setting,
) -> sinew::Result<()> {
    let stage = Stage::new(setting)?;
    let client = stage.sender.client::<Numbers>("/n").create()?;
    let call = || client.call_async(Number(1));
    let early = call();
    let first = stage.receiver.server::<Numbers>("n").callback(|_: &Number| Number(1))?;
    assert_eq!(stage.while_spinning(|| Ok(block_on(early)))??.0, 1);
    let unlucky = call();
    drop(first);
    let error = block_on(unlucky).unwrap_err();
    let is_notified = setting.path.is_network() && matches!(error.failure(), CallFailure::Failed { .. });
    assert!(is_notified || error.failure() == &CallFailure::ServerGone, "{error}");
    stage.find_out();
    let patient = call();
    let _second = stage.receiver.server::<Numbers>("n").callback(|_: &Number| Number(2))?;
    assert_eq!(stage.while_spinning(|| Ok(block_on(patient)))??.0, 2);
    Ok(())
}

pub(crate) fn a_panic_reaches_the_caller_and_the_runner(setting: Setting) -> sinew::Result<()> {
    for on_panic in [FaultPolicy::Stop, FaultPolicy::Report] {
        let stage = Stage::with(setting, Options { on_panic, ..Options::default() })?;
        let _inner = stage.receiver.server::<Numbers>("inner").callback(|n: Unique<Number>| {
            assert!(n.0 != 13, "no 13");
            n
        })?;
        let inner = stage.receiver.client::<Numbers>("/inner").create()?;
        let _outer = stage
            .receiver
            .group(())
            .server::<Numbers>("outer")
            .callback(move |n: Unique<Number>| inner.call(n, PATIENCE))?;
        let client = stage.sender.client::<Numbers>("/outer").create()?;
        let (unlucky, lucky) = (client.call_async(Number(13)), client.call_async(Number(1)));
        if on_panic == FaultPolicy::Stop {
            let result = stage.runner.spin();
            assert!(
                matches!(&result, Err(SpinError::Panicked { message, .. }) if message == "no 13"),
                "{result:?}"
            );
        }
        let outcomes = stage.while_spinning(|| Ok((block_on(unlucky), block_on(lucky))))?;
        let error = outcomes.0.unwrap_err().to_string();
        assert!(error.ends_with("the server's callback panicked: no 13"), "{error}");
        assert_eq!(outcomes.1?.0, 1);
    }
    Ok(())
}

pub(crate) fn results_are_called_back_in_the_order_of_the_answers(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::new(setting)?;
    let _server = echo(&stage.receiver, "n");
    let log = Log::new();
    let results = stage.sender.group(0_u64);
    let client = results.client::<Numbers>("/n").create()?;
    for n in 0..20 {
        let pen = log.pen();
        client.call_then(Number(n), move |count: &mut u64, result: CallResult<Numbers>| {
            *count += 1;
            pen.write((*count, result.unwrap().0));
        })?;
    }
    assert_eq!(stage.collect(&log, 20)?, (0..20).map(|n| (n + 1, n)).collect::<Vec<_>>());
    Ok(())
}

pub(crate) fn a_request_that_finds_the_queue_full_is_refused(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::new(setting)?;
    let server = stage.receiver.server::<Numbers>("n").max_requests(2).callback(|n: Unique<Number>| n)?;
    let client = stage.sender.client::<Numbers>("/n").create()?;
    stage.find_out();
    for _ in 0..3 {
        let calls: Vec<_> = (0..3).map(|n| client.call_async(Number(n))).collect();
        let outcomes = stage.while_spinning(|| Ok(calls.into_iter().map(block_on).collect::<Vec<_>>()))?;
        for (n, outcome) in (0..).zip(outcomes) {
            match outcome {
                Ok(answer) => assert_eq!(answer.0, n),
                Err(error) => {
                    let is_notified = setting.path.is_network()
                        && matches!(error.failure(), CallFailure::Failed { message } if message.contains("2 requests wait"));
                    assert!(is_notified || error.failure() == &CallFailure::Full { limit: 2 }, "{error}");
                    assert_eq!(n, 2);
                }
            }
        }
    }
    assert!(server.statistics().answered >= 6);
    Ok(())
}

pub(crate) fn a_call_that_was_given_up_is_in_nobodys_way(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::in_real_time(setting)?;
    let _server = echo(&stage.receiver, "n");
    let client = stage.sender.client::<Numbers>("/n").create()?;
    stage.find_out();
    let error = thread::scope(|scope| {
        // On a thread of its own: this one could be asked to run the server.
        scope.spawn(|| client.call(Number(1), Duration::from_millis(5)).unwrap_err()).join().unwrap()
    });
    assert!(matches!(error.failure(), CallFailure::Timeout { .. }), "{error}");
    drop(client.call_async(Number(2)));
    stage.while_spinning(|| {
        for n in 3..20 {
            assert_eq!(client.call(Number(n), PATIENCE).unwrap().0, n);
        }
        Ok(())
    })
}

pub(crate) fn a_client_that_goes_leaves_the_others_served(setting: Setting) -> sinew::Result<()> {
    let stage = Stage::new(setting)?;
    let _server = echo(&stage.receiver, "n");
    let staying = stage.sender.client::<Numbers>("/n").create()?;
    for round in 0..20 {
        let going = stage.sender.client::<Numbers>("/n").create()?;
        stage.find_out();
        let calls = [going.call_async(Number(round)), staying.call_async(Number(round))];
        drop(going);
        let answers = stage.while_spinning(|| Ok(calls.map(block_on)))?;
        assert_eq!(answers[1].as_ref().unwrap().0, round);
    }
    Ok(())
}

/// A asks B, which asks A again, whose group is busy: within one process that is found out, else
/// the wait ends.
pub(crate) fn a_server_that_asks_its_caller_is_not_stuck(setting: Setting) -> sinew::Result<()> {
    const HASTE: Duration = Duration::from_millis(20);
    let stage = Stage::unserved(setting)?;
    let other = setting.runner();
    stage.runner.add(&stage.receiver)?;
    other.add(&stage.sender)?;
    let to_b = stage.receiver.client::<Numbers>("/b").create()?;
    let _a = stage.receiver.server::<Numbers>("/a").callback(move |n: Unique<Number>| match n.0 {
        0 => Ok(n),
        _ => to_b.call(n, 2 * HASTE),
    })?;
    let to_a = stage.sender.client::<Numbers>("/a").create()?;
    let _b = stage.sender.server::<Numbers>("/b").callback(move |_: &Number| to_a.call(Number(0), HASTE))?;
    let client = stage.sender.client::<Numbers>("/a").create()?;
    stage.find_out();
    stage.while_spinning(|| {
        spinning(&other, || {
            for _ in 0..3 {
                let error = client.call(Number(1), PATIENCE).unwrap_err();
                assert!(matches!(error.failure(), CallFailure::Failed { .. }), "{error}");
                assert_eq!(client.call(Number(0), PATIENCE).unwrap().0, 0);
            }
            Ok(())
        })
    })
}

/// Requests and responses are taken by hand: no runner has anything to do.
pub(crate) fn ends_that_are_pulled_answer_each_other(setting: Setting) -> sinew::Result<()> {
    const CALLS: u64 = 50;
    let stage = Stage::unserved(setting)?;
    let server = stage.receiver.server::<Numbers>("n").create()?;
    let client = stage.sender.client::<Numbers>("/n").create()?;
    assert!(client.wait_for_server(PATIENCE));
    let (requests, responses) = (Log::new(), Log::new());
    let (asked, answered) = (requests.pen(), responses.pen());
    server.set_listener(move |count| asked.write(count));
    client.set_listener(move |count| answered.write(count));
    let sent: Vec<_> = (0..CALLS).map(|n| client.send(Number(n)).unwrap()).collect();
    let received = |log: &Log<u64>| {
        let mut received = 0;
        while received < CALLS {
            received += log.next();
        }
        received
    };
    assert_eq!(received(&requests), CALLS);
    let taken: Vec<_> = (0..CALLS).map(|_| server.take_request().unwrap()).collect();
    assert!(server.take_request().is_none());
    for (number, info) in taken.into_iter().rev() {
        server.respond(&info.key(), number).unwrap();
    }
    assert_eq!(received(&responses), CALLS);
    for (n, id) in sent.iter().enumerate().rev() {
        let (response, info) = client.take_response().unwrap();
        assert_eq!((info.id(), response?.0), (*id, n as u64));
    }
    assert!(client.take_response().is_none());
    let left = client.send(Number(0))?;
    wait_for("the request", || server.take_request());
    server.close();
    assert_eq!(responses.next(), 1);
    let (response, info) = client.take_response().unwrap();
    let error = response.unwrap_err();
    let is_notified = setting.path.is_network() && matches!(error.failure(), CallFailure::Failed { .. });
    assert!(info.id() == left && (is_notified || error.failure() == &CallFailure::ServerGone), "{error}");
    Ok(())
}
