//! Services, both ways.

use crate::network::{
    ADD, Announced, Host, Network, PATIENCE, RosNode, STRING, encoded_text, key_of, wait_for,
};
use parking_lot::Mutex;
use sinew::Responder;
use sinew::error::CallFailure;
use sinew::prelude::*;
use sinew_interfaces::example_interfaces::srv::{AddTwoInts, AddTwoIntsRequest, AddTwoIntsResponse};
use sinew_interfaces::std_msgs::msg::String as Text;
use sinew_interfaces::type_description_interfaces::srv::{
    GetTypeDescription, GetTypeDescriptionRequest, GetTypeDescriptionResponse,
};
use sinew_zenoh::wire::attachment::Attachment;
use sinew_zenoh::wire::token::TokenKind;
use std::sync::Arc;
use std::time::Instant;
use zenoh::Wait;
use zenoh::liveliness::LivelinessToken;
use zenoh::query::{ConsolidationMode, Query, QueryTarget, Queryable, Reply};

fn request(a: i64, b: i64) -> AddTwoIntsRequest {
    AddTwoIntsRequest { a, b }
}

/// Starts a program that adds, until the returned function is called.
fn serve(context: &Context) -> sinew::Result<impl FnOnce()> {
    let executor = sinew::Executor::single();
    executor.add(context)?;
    let node = context.node("server")?;
    node.server::<AddTwoInts>("/add")
        .callback(|request: &AddTwoIntsRequest| AddTwoIntsResponse { sum: request.a + request.b })?
        .detach();
    let stop = executor.stop_handle();
    let spinning = std::thread::spawn(move || executor.spin());
    Ok(move || {
        stop.stop();
        spinning.join().expect("no panic").expect("no callback fails");
    })
}

#[test]
fn a_client_of_another_host() -> Result<(), Box<dyn std::error::Error>> {
    let (network, one, other) = (Network::new(), Host::new(), Host::new());
    let _gateways = [one.gateway(&network), other.gateway(&network)];
    let context = one.context();
    let stop = serve(&context)?;
    let client = other.context().node("client")?.client::<AddTwoInts>("/add").create()?;
    assert!(client.wait_for_server(PATIENCE));
    for number in 0..20 {
        assert_eq!(client.call(request(number, 2), PATIENCE)?.sum, number + 2);
    }
    stop();
    Ok(())
}

#[test]
fn ros_2_calls_a_server_of_this_host() -> Result<(), Box<dyn std::error::Error>> {
    let (network, host) = (Network::new(), Host::new());
    let _gateway = host.gateway(&network);
    let context = host.context();
    let stop = serve(&context)?;
    let ros = RosNode::new(&network, "client");
    let (gid, _token) = ros.tell(TokenKind::Client, "/add", ADD, QoS::new().keep_last(10));
    let encoded = [&[0, 1, 0, 0][..], &40i64.to_le_bytes(), &2i64.to_le_bytes()].concat();
    let (answer, attachment) = wait_for("an answer", || {
        let asked = Attachment { sequence: 5, time: 6, gid, chain: None };
        let replies = ros
            .session
            .get(key_of("/add", ADD))
            .payload(encoded.clone())
            .attachment(asked.to_bytes())
            .target(QueryTarget::AllComplete)
            .consolidation(ConsolidationMode::None)
            .wait()
            .expect("the session is open");
        let sample = replies.into_iter().next()?.into_result().ok()?;
        let attachment = sample.attachment().expect("an attachment").to_bytes().into_owned();
        Some((sample.payload().to_bytes().into_owned(), attachment))
    });
    assert_eq!(answer[4..12], 42i64.to_le_bytes());
    let attachment = Attachment::parse(&attachment)?;
    assert_eq!((attachment.sequence, attachment.gid), (5, gid), "the request's");
    stop();
    Ok(())
}

#[test]
fn a_client_of_this_host_calls_ros_2() -> Result<(), Box<dyn std::error::Error>> {
    let (network, host) = (Network::new(), Host::new());
    let _gateway = host.gateway(&network);
    let ros = RosNode::new(&network, "server");
    let heard = Arc::new(Mutex::new(Vec::new()));
    let asked = heard.clone();
    let key = key_of("/add", ADD);
    let _queryable = ros
        .session
        .declare_queryable(key.clone())
        .complete(true)
        .callback(move |query| {
            let attachment = query.attachment().expect("an attachment").to_bytes().into_owned();
            let attachment = Attachment::parse(&attachment).expect("an attachment");
            let bytes = query.payload().expect("a request").to_bytes().into_owned();
            let at = |from: usize| i64::from_le_bytes(bytes[from..from + 8].try_into().expect("8 bytes"));
            let answer = [&[0, 1, 0, 0][..], &(at(4) + at(12)).to_le_bytes()].concat();
            let as_asked = attachment.to_bytes().to_vec();
            asked.lock().push(attachment); // before the answer, after which the test looks
            query.reply(key.clone(), answer).attachment(as_asked).wait().expect("it waits");
        })
        .wait()
        .expect("the session is open");
    let (_, token) = ros.tell(TokenKind::Server, "/add", ADD, QoS::new().keep_last(10));
    let client = host.context().node("client")?.client::<AddTwoInts>("/add").create()?;
    assert!(client.wait_for_server(PATIENCE));
    for number in 0..5 {
        assert_eq!(client.call(request(number, 2), PATIENCE)?.sum, number + 2);
    }
    let heard = heard.lock().clone();
    let numbers: Vec<_> = heard.iter().map(|attachment| attachment.sequence).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5]);
    assert!(heard.iter().all(|attachment| attachment.gid == heard[0].gid));
    drop(token);
    wait_for("it is gone", || {
        let failed = client.call(request(1, 2), Duration::from_millis(1)).is_err();
        (failed && !client.wait_for_server(Duration::ZERO)).then_some(())
    });
    Ok(())
}

#[test]
fn a_server_that_is_only_announced_is_told() -> Result<(), Box<dyn std::error::Error>> {
    let (network, host) = (Network::new(), Host::new());
    let _gateway = host.gateway(&network);
    let ros = RosNode::new(&network, "server");
    let (_, _token) = ros.tell(TokenKind::Server, "/add", ADD, QoS::new().keep_last(10));
    let client = host.context().node("client")?.client::<AddTwoInts>("/add").create()?;
    assert!(client.wait_for_server(PATIENCE));
    let error = client.call(request(1, 2), PATIENCE).unwrap_err();
    assert!(error.to_string().contains("it is announced, but can't be reached"), "{error}");
    Ok(())
}

/// A server of the network that handles queries with `then`.
fn server(ros: &RosNode, then: impl Fn(Query) + Send + Sync + 'static) -> (Queryable<()>, LivelinessToken) {
    let declared = ros.session.declare_queryable(key_of("/add", ADD)).complete(true).callback(then).wait();
    let (_, token) = ros.tell(TokenKind::Server, "/add", ADD, QoS::new().keep_last(10));
    (declared.expect("the session is open"), token)
}

fn reply(query: &Query, sum: i64) {
    let attachment = query.attachment().expect("an attachment").to_bytes().into_owned();
    let answer = [&[0, 1, 0, 0][..], &sum.to_le_bytes()].concat();
    query.reply(key_of("/add", ADD), answer).attachment(attachment).wait().expect("it waits");
}

#[test]
fn of_several_servers_one_answer_counts() -> Result<(), Box<dyn std::error::Error>> {
    let (network, host) = (Network::new(), Host::new());
    let gateway = host.gateway(&network);
    let nodes = ["one", "other", "broken"].map(|name| RosNode::client(&network, name));
    let counts = Arc::new(Mutex::new([0; 3]));
    let (to_one, to_other, to_broken) = (counts.clone(), counts.clone(), counts.clone());
    let _servers = [
        server(&nodes[0], move |query| {
            to_one.lock()[0] += 1;
            reply(&query, 42);
        }),
        server(&nodes[1], move |query| {
            to_other.lock()[1] += 1;
            reply(&query, 42);
        }),
        server(&nodes[2], move |query| {
            to_broken.lock()[2] += 1;
            query.reply_err("out of order").wait().expect("it waits");
        }),
    ];
    let client = host.context().node("client")?.client::<AddTwoInts>("/add").create()?;
    assert!(client.wait_for_server(PATIENCE));
    // The broken one may be the first known server.
    wait_for("three nodes and their servers", || (gateway.statistics().remote == 6).then_some(()));
    wait_for("all are asked", || {
        assert_eq!(client.call(request(40, 2), PATIENCE).expect("two of them answer").sum, 42);
        counts.lock().iter().all(|count| *count > 0).then_some(())
    });
    let calls = client.statistics();
    assert_eq!(calls.answered, calls.calls, "each once");
    let (_, _, [asked, answered, failed]) = gateway.statistics().services[0].clone();
    assert_eq!((asked, answered, failed), (calls.calls, calls.calls, 0));
    Ok(())
}

#[test]
fn a_server_that_does_not_answer_costs_its_caller_the_timeout() -> Result<(), Box<dyn std::error::Error>> {
    let (network, host) = (Network::new(), Host::new());
    let _gateway = host.gateway(&network);
    let ros = RosNode::new(&network, "server");
    let asked = Arc::new(Mutex::new(Vec::new()));
    let kept = asked.clone();
    let (_queryable, token) = server(&ros, move |query| kept.lock().push(query));
    let client = host.context().node("client")?.client::<AddTwoInts>("/add").create()?;
    assert!(client.wait_for_server(PATIENCE));
    wait_for("it is asked", || {
        let error = client.call(request(1, 2), Duration::from_millis(50)).expect_err("no server answers");
        let CallFailure::Timeout { started, .. } = error.failure() else { panic!("{error}") };
        // A busy machine may hold up the gateway's process for as long.
        (*started && !asked.lock().is_empty()).then_some(())
    });
    // A client that goes meanwhile gets an error at once.
    let count = asked.lock().len();
    let call = client.call_async(request(1, 2));
    wait_for("it is asked again", || (asked.lock().len() > count).then_some(()));
    asked.lock().clear();
    drop(token);
    let executor = sinew::Executor::single();
    let error = executor.spin_until(call)?.expect_err("it has gone");
    assert!(!error.to_string().is_empty());
    Ok(())
}

/// A robot is restarted: the old server's token is there until its session counts as dead.
#[test]
fn a_call_goes_on_while_another_server_is_there() -> Result<(), Box<dyn std::error::Error>> {
    let (network, host) = (Network::new(), Host::new());
    let gateway = host.gateway(&network);
    let nodes = ["old", "new"].map(|name| RosNode::client(&network, name));
    // Calls with 1 are answered at once, and counted.
    let heard = [0, 1].map(|_| Arc::new(Mutex::new((0, Vec::new()))));
    let [old_server, _new_server] = [0, 1].map(|at| {
        let heard = heard[at].clone();
        server(&nodes[at], move |query| {
            let is_first = query.payload().expect("a request").to_bytes()[4] == 1;
            let mut heard = heard.lock();
            if is_first {
                heard.0 += 1;
                reply(&query, 3);
            } else {
                heard.1.push(query);
            }
        })
    });
    let client = host.context().node("client")?.client::<AddTwoInts>("/add").create()?;
    assert!(client.wait_for_server(PATIENCE));
    wait_for("both servers", || (gateway.statistics().remote == 4).then_some(()));
    wait_for("both are asked", || {
        assert_eq!(client.call(request(1, 2), PATIENCE).expect("one of them answers").sum, 3);
        heard.iter().all(|heard| heard.lock().0 > 0).then_some(())
    });
    let call = client.call_async(request(40, 2));
    wait_for("both have it", || heard.iter().all(|heard| heard.lock().1.len() == 1).then_some(()));
    drop(old_server);
    heard[0].lock().1.clear();
    wait_for("the old one is gone", || (gateway.statistics().remote == 3).then_some(()));
    let query = heard[1].lock().1.pop().expect("it has it");
    reply(&query, 42);
    drop(query);
    assert_eq!(sinew::Executor::single().spin_until(call)?.expect("the other one answers").sum, 42);
    Ok(())
}

/// The server that is gone may have done what the call asks for.
#[test]
fn a_call_is_not_repeated_once_a_server_has_gone() -> Result<(), Box<dyn std::error::Error>> {
    let (network, host) = (Network::new(), Host::new());
    let gateway = host.gateway(&network);
    let [going, staying] = ["going", "staying"].map(|name| RosNode::client(&network, name));
    // The number of calls, and the first one.
    let heard = Arc::new(Mutex::new((0, None)));
    let hears = heard.clone();
    let (_queryable, token) = server(&going, move |query| {
        let mut heard = hears.lock();
        heard.0 += 1;
        if heard.0 == 1 {
            heard.1 = Some(query);
        }
    });
    // It is announced, and can't be reached.
    let (_, _token) = staying.tell(TokenKind::Server, "/add", ADD, QoS::new().keep_last(10));
    let client = host.context().node("client")?.client::<AddTwoInts>("/add").create()?;
    assert!(client.wait_for_server(PATIENCE));
    wait_for("both servers", || (gateway.statistics().remote == 4).then_some(()));
    let call = client.call_async(request(40, 2));
    wait_for("it is asked", || heard.lock().1.is_some().then_some(()));
    drop(token);
    wait_for("it is gone", || (gateway.statistics().remote == 3).then_some(()));
    heard.lock().1 = None; // the call ends without an answer, while the session still knows the way
    let error = sinew::Executor::single().spin_until(call)?.map(drop).expect_err("nobody answers");
    assert!(error.to_string().contains("has gone"), "{error}");
    assert_eq!(heard.lock().0, 1, "it isn't asked again");
    Ok(())
}

/// Like the first feedback of a goal, which its server publishes as soon as it has the goal: the
/// client's subscription is on the network before its first call.
#[test]
fn what_a_server_publishes_at_a_first_call_reaches_its_caller() -> Result<(), Box<dyn std::error::Error>> {
    const HOW_OFTEN: usize = 20;
    let (network, host) = (Network::new(), Host::new());
    let _gateway = host.gateway(&network);
    let ros = RosNode::client(&network, "server");
    let feedback = ros.publisher("/feedback", STRING, QoS::new().keep_last(10));
    let asked = Mutex::new(Vec::new());
    let (told, calls) = std::sync::mpsc::channel();
    let _server = server(&ros, move |query| {
        let attachment = query.attachment().expect("an attachment").to_bytes().into_owned();
        asked.lock().push(Attachment::parse(&attachment).expect("an attachment"));
        feedback.publish(&encoded_text("begun"), 1);
        reply(&query, 3);
        told.send(asked.lock().len()).expect("the test waits");
    });
    for _ in 0..HOW_OFTEN {
        let context = host.context();
        let node = context.node("client")?;
        let client = node.client::<AddTwoInts>("/add").create()?;
        let begun = node.subscription::<Text>("/feedback").create()?;
        assert!(client.wait_for_server(PATIENCE));
        assert_eq!(client.call(request(1, 2), PATIENCE)?.sum, 3);
        calls.recv_timeout(PATIENCE)?;
        assert_eq!(wait_for("the first one", || begun.take()).0.data, "begun");
    }
    Ok(())
}

/// Calls with `number` + 2 as a client of ROS 2; `None` if no server is known there yet.
fn call_by(ros: &RosNode, gid: [u8; 16], number: i64) -> Option<i64> {
    call_of(ros, "/add", gid, number)
}

fn call_of(ros: &RosNode, service: &str, gid: [u8; 16], number: i64) -> Option<i64> {
    let sample = send_call(ros, service, gid, number).into_iter().next()?.into_result().ok()?;
    let answer = sample.payload().to_bytes();
    Some(i64::from_le_bytes(answer[4..12].try_into().expect("8 bytes")))
}

fn send_call(ros: &RosNode, service: &str, gid: [u8; 16], number: i64) -> impl IntoIterator<Item = Reply> {
    let asked = Attachment { sequence: 1, time: 1, gid, chain: None };
    let encoded = [&[0, 1, 0, 0][..], &number.to_le_bytes(), &2i64.to_le_bytes()].concat();
    let query = ros.session.get(key_of(service, ADD)).payload(encoded).attachment(asked.to_bytes());
    let query = query.target(QueryTarget::AllComplete).consolidation(ConsolidationMode::None);
    query.wait().expect("the session is open")
}

/// The same with the server here.
#[test]
fn what_a_server_here_publishes_at_a_first_call_reaches_its_caller() -> Result<(), Box<dyn std::error::Error>>
{
    const HOW_OFTEN: i64 = 20;
    let (network, host) = (Network::new(), Host::new());
    let _gateway = host.gateway(&network);
    let context = host.context();
    let executor = sinew::Executor::single();
    executor.add(&context)?;
    let node = context.node("server")?;
    let topic = |number| format!("/feedback_{number}");
    let feedback: Vec<_> = (0..HOW_OFTEN)
        .map(|number| node.publisher::<Text>(&topic(number)).create())
        .collect::<Result<_, _>>()?;
    let publish = move |request: &AddTwoIntsRequest| {
        let begun =
            feedback[usize::try_from(request.a).expect("a number")].publish(Text { data: "begun".into() });
        begun.expect("it is open");
        AddTwoIntsResponse { sum: request.a }
    };
    let _server = node.server::<AddTwoInts>("/add").callback(publish)?;
    let stop = executor.stop_handle();
    let spinning = std::thread::spawn(move || executor.spin());
    let ros = RosNode::client(&network, "client");
    let tokens =
        || ros.session.liveliness().get("@ros2_lv/7/*/*/*/SS/**").wait().expect("the session is open");
    wait_for("the server", || tokens().into_iter().next());
    for number in 0..HOW_OFTEN {
        let begun = ros.subscription(&topic(number), STRING, QoS::new().keep_last(10));
        let (gid, _token) = ros.tell(TokenKind::Client, "/add", ADD, QoS::new().keep_last(10));
        let asked = Attachment { sequence: 1, time: 1, gid, chain: None };
        let encoded = [&[0, 1, 0, 0][..], &number.to_le_bytes(), &2i64.to_le_bytes()].concat();
        let query = ros.session.get(key_of("/add", ADD)).payload(encoded).attachment(asked.to_bytes());
        let query = query.target(QueryTarget::AllComplete).consolidation(ConsolidationMode::None);
        let query = query.timeout(PATIENCE);
        let replies = query.wait().expect("the session is open");
        let reply = replies.into_iter().next().expect("a reply").into_result().expect("an answer");
        assert_eq!(reply.payload().to_bytes()[4..12], number.to_le_bytes());
        assert_eq!(begun.next().0[..], encoded_text("begun")[..14]);
    }
    stop.stop();
    spinning.join().expect("no panic")?;
    Ok(())
}

#[test]
fn large_requests_and_answers() -> Result<(), Box<dyn std::error::Error>> {
    let (network, one, other) = (Network::new(), Host::new(), Host::new());
    let _gateways = [one.gateway(&network), other.gateway(&network)];
    let context = one.context();
    let node = context.node("server")?;
    let _server =
        node.server::<GetTypeDescription>("/echo").callback(|request: &GetTypeDescriptionRequest| {
            GetTypeDescriptionResponse { failure_reason: request.type_name.clone(), ..Default::default() }
        })?;
    let executor = sinew::Executor::single();
    executor.add(&context)?;
    let stop = executor.stop_handle();
    let spinning = std::thread::spawn(move || executor.spin());
    let client = other.context().node("client")?.client::<GetTypeDescription>("/echo").create()?;
    assert!(client.wait_for_server(PATIENCE));
    for length in [0, 1 << 16, 5_000_000] {
        let type_name: String = (0..length).map(|at| char::from(b'a' + (at % 23) as u8)).collect();
        let request = GetTypeDescriptionRequest { type_name: type_name.clone(), ..Default::default() };
        assert!(client.call(request, PATIENCE)?.failure_reason == type_name, "{length} bytes and back");
    }
    stop.stop();
    spinning.join().expect("it doesn't panic")?;
    Ok(())
}

/// Both endpoints are in the programs that have the gateways; the client is in a callback of an
/// executor with one thread, and the network's server gives way to one of its program.
#[test]
fn gateways_in_the_programs_themselves() -> Result<(), Box<dyn std::error::Error>> {
    let (network, hosts) = (Network::new(), [Host::new(), Host::new()]);
    let (serving, asking) = (hosts[0].context(), hosts[1].context());
    let _gateways = [hosts[0].gateway_in(&serving, &network), hosts[1].gateway_in(&asking, &network)];
    let stop = serve(&serving)?;
    let client = asking.node("client")?.client::<AddTwoInts>("/add").create()?;
    let executor = sinew::Executor::single();
    executor.add(&asking)?;
    let node = asking.node("relay")?;
    let calling = client.clone();
    let relay = node.server::<AddTwoInts>("/relay");
    let _relay = relay.callback(move |it: AddTwoIntsRequest| calling.call(it, PATIENCE))?;
    let relayed = node.client::<AddTwoInts>("/relay").create()?;
    assert!(client.wait_for_server(PATIENCE));
    let ask = |number| -> Result<i64, Box<dyn std::error::Error>> {
        Ok(executor.spin_until(relayed.call_async(request(number, 2)))??.sum)
    };
    for number in 0..20 {
        assert_eq!(ask(number)?, number + 2);
    }
    let own = asking.node("own")?.server::<AddTwoInts>("/add");
    let own = own.callback(|_: &AddTwoIntsRequest| AddTwoIntsResponse { sum: -1 })?;
    assert_eq!(ask(1)?, -1, "the program's own is nearer");
    drop(own);
    wait_for("the network's again", || (client.wait_for_server(PATIENCE) && ask(1).ok()? == 3).then_some(()));
    stop();
    Ok(())
}

/// The server's answers reach the gateway's process through shared memory, while no executor is
/// spun there.
#[test]
fn a_server_beside_the_program_with_the_gateway() -> Result<(), Box<dyn std::error::Error>> {
    let (network, hosts) = (Network::new(), [Host::new(), Host::new()]);
    let (busy, other) = (hosts[0].context(), hosts[1].context());
    let _gateways = [hosts[0].gateway_in(&busy, &network), hosts[1].gateway_in(&other, &network)];
    let executor = sinew::Executor::single();
    executor.add(&busy)?;
    let beside = hosts[0].context();
    let stop = serve(&beside)?;
    let client = hosts[1].context().node("client")?.client::<AddTwoInts>("/add").create()?;
    assert!(client.wait_for_server(PATIENCE));
    for number in 0..20 {
        assert_eq!(client.call(request(number, 2), PATIENCE)?.sum, number + 2);
    }
    stop();
    Ok(())
}

/// The request waits for a server that no executor runs, or is being executed.
#[test]
fn a_call_ends_with_its_server_or_gateway() -> Result<(), Box<dyn std::error::Error>> {
    let (network, hosts) = (Network::new(), [Host::new(), Host::new()]);
    let (serving, asking) = (hosts[0].context(), hosts[1].context());
    let _far = hosts[0].gateway_in(&serving, &network);
    let near = hosts[1].gateway_in(&asking, &network);
    let client = asking.node("client")?.client::<AddTwoInts>("/add").create()?;
    let server = || {
        let server = serving.node("server")?.server::<AddTwoInts>("/add");
        server.callback(|_: &AddTwoIntsRequest| AddTwoIntsResponse::default())
    };
    let first = server()?;
    assert!(client.wait_for_server(PATIENCE));
    let call = client.call_async(request(1, 2));
    wait_for("it is there", || (first.statistics().waiting == 1).then_some(()));
    drop(first);
    let error = sinew::Executor::single().spin_until(call)?.map(drop).expect_err("the server went");
    assert!(error.to_string().contains("went away"), "{error}");
    wait_for("it is gone here", || (!client.wait_for_server(Duration::ZERO)).then_some(()));
    let second = server()?;
    assert!(client.wait_for_server(PATIENCE));
    let call = client.call_async(request(1, 2));
    wait_for("it is there", || (second.statistics().waiting == 1).then_some(()));
    drop(near);
    assert!(sinew::Executor::single().spin_until(call)?.is_err(), "the gateway went");
    Ok(())
}

/// Another program has a subscription that no publisher can match; each first call goes at once
/// nevertheless. (Otherwise it would wait for a second.)
#[test]
fn a_first_call_waits_for_no_other_program() -> Result<(), Box<dyn std::error::Error>> {
    let (network, host) = (Network::new(), Host::new());
    let _gateway = host.gateway(&network);
    let ros = RosNode::client(&network, "server");
    let _feedback = ros.publisher("/feedback", STRING, QoS::new().keep_last(10));
    let _beyond_help = Announced::nonsense(&host, "/feedback", STRING);
    let _server = server(&ros, move |query| reply(&query, 3));
    let mut fastest = PATIENCE;
    for _ in 0..5 {
        let context = host.context();
        let node = context.node("client")?;
        let client = node.client::<AddTwoInts>("/add").create()?;
        let _begun = node.subscription::<Text>("/feedback").create()?;
        assert!(client.wait_for_server(PATIENCE));
        let begin = Instant::now();
        assert_eq!(client.call(request(1, 2), PATIENCE)?.sum, 3);
        fastest = fastest.min(begin.elapsed());
    }
    assert!(fastest < Duration::from_secs(1), "{fastest:?}");
    Ok(())
}

/// The same with the server here: the publisher of this host lacks a subscription of this host.
#[test]
fn a_first_call_from_the_network_waits_for_no_other_program() -> Result<(), Box<dyn std::error::Error>> {
    let (network, host) = (Network::new(), Host::new());
    let _gateway = host.gateway(&network);
    let context = host.context();
    let stop = serve(&context)?;
    let _feedback = context.node("server")?.publisher::<Text>("/feedback").create()?;
    let _beyond_help = Announced::nonsense(&host, "/feedback", STRING);
    let ros = RosNode::client(&network, "client");
    let mut fastest = PATIENCE;
    for _ in 0..5 {
        let _begun = ros.subscription("/feedback", STRING, QoS::new().keep_last(10));
        let (gid, _token) = ros.tell(TokenKind::Client, "/add", ADD, QoS::new().keep_last(10));
        wait_for("an answer", || {
            let begin = Instant::now();
            let sum = call_by(&ros, gid, 1)?;
            assert_eq!(sum, 3);
            fastest = fastest.min(begin.elapsed());
            Some(())
        });
    }
    assert!(fastest < Duration::from_secs(1), "{fastest:?}");
    stop();
    Ok(())
}

/// A server in the gateway's process runs on the thread that hands it a request, and calls a server
/// of the network from there, for the first time. Other first calls don't wait for that.
#[test]
fn a_server_that_calls_the_network_where_it_is_called() -> Result<(), Box<dyn std::error::Error>> {
    let (network, host) = (Network::new(), Host::new());
    let context = host.context();
    let _gateway = host.gateway_in(&context, &network);
    let adding = RosNode::client(&network, "server");
    let _server = server(&adding, move |query| {
        let bytes = query.payload().expect("a request").to_bytes().into_owned();
        let at = |from: usize| i64::from_le_bytes(bytes[from..from + 8].try_into().expect("8 bytes"));
        reply(&query, at(4) + at(12));
    });
    let node = context.node("relay")?;
    let client = node.client::<AddTwoInts>("/add").create()?;
    assert!(client.wait_for_server(PATIENCE));
    let relay = node.server::<AddTwoInts>("/relay");
    let _relay =
        relay.immediate_callback(move |it: AddTwoIntsRequest, responder: Responder<AddTwoInts>| {
            let sum = client.call(it, Duration::from_secs(5)).map_or(-1, |answer| answer.sum);
            drop(responder.respond(AddTwoIntsResponse { sum }));
        })?;
    let ros = RosNode::client(&network, "client");
    let (gid, _token) = ros.tell(TokenKind::Client, "/relay", ADD, QoS::new().keep_last(10));
    for number in 0..3 {
        assert_eq!(wait_for("an answer", || call_of(&ros, "/relay", gid, number)), number + 2);
    }
    Ok(())
}

/// Calls of one client that don't wait for each other reach such a server in order.
#[test]
fn a_server_where_it_is_called_has_the_calls_in_their_order() -> Result<(), Box<dyn std::error::Error>> {
    const CALLS: i64 = 50;
    let (network, host) = (Network::new(), Host::new());
    let context = host.context();
    let _gateway = host.gateway_in(&context, &network);
    let (heard, came) = std::sync::mpsc::channel();
    let server = context.node("server")?.server::<AddTwoInts>("/add");
    let _server =
        server.immediate_callback(move |it: AddTwoIntsRequest, responder: Responder<AddTwoInts>| {
            heard.send(it.a).expect("the test waits");
            drop(responder.respond(AddTwoIntsResponse::default()));
        })?;
    let ros = RosNode::client(&network, "client");
    let (gid, _token) = ros.tell(TokenKind::Client, "/add", ADD, QoS::new().keep_last(10));
    wait_for("an answer", || call_by(&ros, gid, -1));
    let replies: Vec<_> = (0..CALLS).map(|number| send_call(&ros, "/add", gid, number)).collect();
    let heard: Vec<_> = (-1..CALLS).map(|_| came.recv_timeout(PATIENCE)).collect::<Result<_, _>>()?;
    assert_eq!(heard, (-1..CALLS).collect::<Vec<_>>());
    drop(replies);
    Ok(())
}
