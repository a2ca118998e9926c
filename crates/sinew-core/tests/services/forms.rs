//! Clients and servers of one context that hold the same types in different forms: known at run
//! time only, generated, or a program's own.

use crate::support;

use sinew::error::{CallError, CallFailure};
use sinew::msg::{Adapted, Adapter, GenericType, SerializedMessage, TypeHash};
use sinew::prelude::*;
use sinew::service::{GenericService, ServiceType};
use sinew::{Responder, Server};
use sinew_interfaces::example_interfaces::srv::{AddTwoInts, AddTwoIntsRequest, AddTwoIntsResponse};
use std::sync::mpsc::channel;
use support::Room;
use support::tasks::block_on;

fn known() -> GenericType {
    let service = AddTwoInts::TYPE.expect("a service of ROS 2");
    GenericType::new(service.name, service.hash).expect("a name of a type")
}

/// The two integers as CDR has them.
fn encoded(a: i64, b: i64) -> SerializedMessage {
    SerializedMessage::new([&[0, 1, 0, 0][..], &a.to_le_bytes(), &b.to_le_bytes()].concat())
}

fn sum_in(encoded: &SerializedMessage) -> i64 {
    let (_, sum) = encoded.bytes().split_last_chunk().expect("a sum");
    i64::from_le_bytes(*sum)
}

/// What a generic server answers.
fn added(request: &SerializedMessage) -> SerializedMessage {
    let at = |from: usize| i64::from_le_bytes(request.bytes()[from..from + 8].try_into().expect("8 bytes"));
    SerializedMessage::new([&[0, 1, 0, 0][..], &(at(4) + at(12)).to_le_bytes()].concat())
}

fn typed_server(node: &Node) -> Server<AddTwoInts> {
    let server = node.server::<AddTwoInts>("add");
    server
        .callback(|it: &AddTwoIntsRequest| AddTwoIntsResponse { sum: it.a + it.b })
        .expect("it is the only one")
}

fn generic_server(node: &Node) -> Server<GenericService> {
    let server = node.generic_server("add", known());
    server.callback(|request: &SerializedMessage| added(request)).expect("it is the only one")
}

/// A sum as a program has it.
#[derive(Debug, Clone, Default, PartialEq)]
struct Total(i64);

enum Totals {}

impl Adapter for Totals {
    type Custom = Total;
    type Ros = AddTwoIntsResponse;

    fn to_ros(total: &Total) -> AddTwoIntsResponse {
        AddTwoIntsResponse { sum: total.0 }
    }

    fn from_ros(response: AddTwoIntsResponse) -> Result<Total, &'static str> {
        if response.sum < 0 { Err("it is negative") } else { Ok(Total(response.sum)) }
    }
}

/// The same service, of whose two types one is a program's own.
struct AddUp;
impl Service for AddUp {
    type Request = AddTwoIntsRequest;
    type Response = Adapted<Totals>;
    const TYPE: Option<&'static ServiceType> = AddTwoInts::TYPE;
}

fn failure<S: Service>(result: Result<Unique<S::Response>, CallError<S::Request>>) -> CallFailure {
    result.map(drop).expect_err("it fails").failure().clone()
}

#[test]
fn every_form_of_client_reaches_every_form_of_server() -> sinew::Result<()> {
    let room = Room::new();
    let typed = room.node.client::<AddTwoInts>("add").create()?;
    let generic = room.node.generic_client("add", known()).create()?;
    let own = room.node.client::<AddUp>("add").create()?;
    let ask = || -> sinew::Result<()> {
        assert!(typed.is_server_ready() && generic.is_server_ready() && own.is_server_ready());
        for n in 0..3 {
            let calls = (
                typed.call_async(AddTwoIntsRequest { a: n, b: 2 }),
                generic.call_async(encoded(n, 3)),
                own.call_async(AddTwoIntsRequest { a: n, b: 4 }),
            );
            room.run();
            assert_eq!(block_on(calls.0)?.sum, n + 2);
            assert_eq!(sum_in(&*block_on(calls.1)?), n + 3);
            assert_eq!(**block_on(calls.2)?, Total(n + 4));
        }
        Ok(())
    };
    let server = typed_server(&room.node);
    ask()?;
    drop(server);
    let server = generic_server(&room.node);
    ask()?;
    drop(server);
    let _server = room
        .node
        .server::<AddUp>("add")
        .async_callback(|it: AddTwoIntsRequest| async move { Adapted::<Totals>(Total(it.a + it.b)) })?;
    ask()
}

#[test]
fn requests_of_every_form_wait_for_a_server_in_their_order() -> sinew::Result<()> {
    let room = Room::new();
    let typed = room.node.client::<AddTwoInts>("add").create()?;
    let generic = room.node.generic_client("add", known()).create()?;
    let (first, second) =
        (generic.call_async(encoded(1, 2)), typed.call_async(AddTwoIntsRequest { a: 3, b: 4 }));
    let (log, third) = (support::Log::new(), generic.call_async(encoded(5, 6)));
    let pen = log.pen();
    let server = room.node.server::<AddTwoInts>("add").max_requests(1);
    let _server = server.callback(move |it: &AddTwoIntsRequest| {
        pen.write(it.a);
        AddTwoIntsResponse { sum: it.a + it.b }
    })?;
    room.run();
    assert_eq!(log.lines(), [1, 3, 5]);
    assert_eq!((sum_in(&*block_on(first)?), block_on(second)?.sum, sum_in(&*block_on(third)?)), (3, 7, 11));
    Ok(())
}

#[test]
fn what_can_not_be_read_fails_its_call_and_no_other() -> sinew::Result<()> {
    let room = Room::new();
    let generic = room.node.generic_client("add", known()).create()?;
    let server = typed_server(&room.node);
    let short = SerializedMessage::new(vec![0, 1, 0, 0, 7]);
    let (wrong, right) = (generic.call_async(short.clone()), generic.call_async(encoded(1, 2)));
    room.run();
    let error = block_on(wrong).map(drop).unwrap_err();
    assert!(matches!(error.failure(), CallFailure::Undecodable { what: "request", .. }), "{error}");
    assert!(error.to_string().contains("AddTwoInts_Request"), "{error}");
    assert_eq!(*error.into_request().expect("no server took it"), short);
    assert_eq!(sum_in(&*block_on(right)?), 3);
    let counts = generic.statistics();
    assert_eq!((counts.calls, counts.answered, counts.failed), (2, 1, 1));
    drop(server);

    let typed = room.node.client::<AddTwoInts>("add").create()?;
    let own = room.node.client::<AddUp>("add").create()?;
    let server = room.node.generic_server("add", known());
    let _server = server.callback(|request: SerializedMessage| {
        let sum = sum_in(&added(&request));
        if sum == 0 { SerializedMessage::default() } else { added(&request) }
    })?;
    let calls = (
        typed.call_async(AddTwoIntsRequest { a: 1, b: -1 }),
        typed.call_async(AddTwoIntsRequest { a: 1, b: 1 }),
        own.call_async(AddTwoIntsRequest { a: 1, b: -2 }),
    );
    room.run();
    assert!(matches!(
        failure::<AddTwoInts>(block_on(calls.0)),
        CallFailure::Undecodable { what: "response", .. }
    ));
    assert_eq!(block_on(calls.1)?.sum, 2);
    let CallFailure::Undecodable { reason, .. } = failure::<AddUp>(block_on(calls.2)) else {
        panic!("the adapter takes no negative sums")
    };
    assert!(reason.contains("it is negative"), "{reason}");
    Ok(())
}

#[test]
fn what_was_not_taken_comes_back_as_it_was_given() -> sinew::Result<()> {
    let room = Room::new();
    let generic = room.node.generic_client("add", known()).create()?;
    let server = room.node.server::<AddTwoInts>("add").max_requests(2);
    let server = server.callback(|_: &AddTwoIntsRequest| AddTwoIntsResponse::default())?;
    let waits = [generic.call_async(encoded(1, 1)), generic.call_async(encoded(2, 2))];
    let refused = block_on(generic.call_async(encoded(3, 3))).map(drop).unwrap_err();
    assert_eq!(*refused.failure(), CallFailure::Full { limit: 2 });
    assert_eq!(*refused.into_request().expect("it was refused"), encoded(3, 3));
    let [gone, waits] = waits;
    drop(gone);
    assert_eq!(server.statistics().withdrawn, 1);
    drop(server);
    let error = block_on(waits).map(drop).unwrap_err();
    assert_eq!(*error.failure(), CallFailure::ServerGone);
    assert_eq!(*error.into_request().expect("no server took it"), encoded(2, 2));
    Ok(())
}

#[test]
fn an_answer_to_nobody_comes_back_in_the_servers_form() -> sinew::Result<()> {
    let room = Room::new();
    let generic = room.node.generic_client("add", known()).create()?;
    let (keep, kept) = channel();
    let _server = room.node.server::<AddTwoInts>("add").callback(
        move |_: &AddTwoIntsRequest, responder: Responder<AddTwoInts>| {
            keep.send(responder).expect("the test keeps its end");
        },
    )?;
    let call = generic.call_async(encoded(1, 1));
    room.run();
    drop(call);
    let error = kept.recv().expect("it was taken").respond(AddTwoIntsResponse { sum: 2 }).unwrap_err();
    assert_eq!(error.into_response().expect("it was a response").sum, 2);
    let call = generic.call_async(encoded(1, 1));
    room.run();
    kept.recv().expect("it was taken").fail("not today").expect("it is awaited");
    assert_eq!(
        failure::<GenericService>(block_on(call)),
        CallFailure::Failed { message: "not today".to_owned() }
    );
    Ok(())
}

#[test]
fn another_hash_and_a_type_that_stays_here_are_other_types() -> sinew::Result<()> {
    let room = Room::new();
    let _server = typed_server(&room.node);
    let other = GenericType::new(known().name(), TypeHash([3; 32])).expect("a name of a type");
    let other = room.node.generic_client("add", other).create()?;
    let stays = room.node.client::<support::Numbers>("add").create()?;
    assert!(!other.is_server_ready() && !stays.is_server_ready());
    let failure = failure::<GenericService>(block_on(other.call_async(encoded(1, 2))));
    assert!(matches!(failure, CallFailure::OtherType { .. }), "{failure}");
    Ok(())
}

/// Panics over 13, as the encoding of a text of 4 GiB would.
enum Superstitious {}

impl Adapter for Superstitious {
    type Custom = Total;
    type Ros = AddTwoIntsResponse;

    fn to_ros(total: &Total) -> AddTwoIntsResponse {
        assert_ne!(total.0, 13, "not that number");
        AddTwoIntsResponse { sum: total.0 }
    }

    fn from_ros(response: AddTwoIntsResponse) -> Result<Total, &'static str> {
        Ok(Total(response.sum))
    }
}

/// The same of requests.
enum SuperstitiousRequests {}

impl Adapter for SuperstitiousRequests {
    type Custom = i64;
    type Ros = AddTwoIntsRequest;

    fn to_ros(number: &i64) -> AddTwoIntsRequest {
        assert_ne!(*number, 13, "not that one");
        AddTwoIntsRequest { a: *number, b: 0 }
    }

    fn from_ros(request: AddTwoIntsRequest) -> Result<i64, &'static str> {
        Ok(request.a + request.b)
    }
}

/// The service, both of whose types are a program's own.
struct AddWithFear;
impl Service for AddWithFear {
    type Request = Adapted<SuperstitiousRequests>;
    type Response = Adapted<Superstitious>;
    const TYPE: Option<&'static ServiceType> = AddTwoInts::TYPE;
}

/// A response that can't be encoded fails its call at once, and no other one; so does a request, which
/// comes back.
#[test]
fn a_message_that_cannot_be_encoded_fails_its_call_at_once() -> sinew::Result<()> {
    let place = support::Place::new();
    let here = Context::builder().shared_memory(false).domain(0).build()?;
    let pairs = [(place.context(), place.context()), (here.clone(), here)];
    for (serving, asking) in pairs {
        let (server, asker) = (serving.node("server")?, asking.node("asker")?);
        let fearful = |request: Adapted<SuperstitiousRequests>, responder: Responder<AddWithFear>| {
            let _ = responder.respond(Adapted::<Superstitious>(Total(*request)));
        };
        let served = server.server::<AddWithFear>("add").immediate_callback(fearful)?;
        let add = asker.client::<AddTwoInts>("add").create()?;
        assert!(add.wait_for_server(support::PATIENCE));
        let ask = |a, b| add.call(AddTwoIntsRequest { a, b }, support::PATIENCE);
        for _ in 0..2 {
            let CallFailure::Unencodable { what: "response", reason } = failure::<AddTwoInts>(ask(6, 7))
            else {
                panic!("it is another failure");
            };
            assert!(reason.contains("not that number"), "{reason}");
            assert_eq!(ask(6, 6)?.sum, 12);
        }
        drop(served);
        let plain = |request: AddTwoIntsRequest, responder: Responder<AddTwoInts>| {
            let _ = responder.respond(AddTwoIntsResponse { sum: request.a + request.b });
        };
        let _served = server.server::<AddTwoInts>("add").immediate_callback(plain)?;
        let add = asker.client::<AddWithFear>("add").create()?;
        assert!(add.wait_for_server(support::PATIENCE));
        let error = add.call(Adapted(13), support::PATIENCE).expect_err("it can't be encoded");
        assert!(matches!(error.failure(), CallFailure::Unencodable { what: "request", .. }), "{error}");
        assert_eq!(error.into_request().map(|request| **request), Some(13));
        assert_eq!(**add.call(Adapted(12), support::PATIENCE)?, Total(12));
    }
    Ok(())
}
