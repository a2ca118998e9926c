//! Requests and responses of a class.

use crate::class::{Class, text_of};
use crate::support::{Number, PATIENCE, Room};
use sinew::erased::{MessageType, Request, Responder, ServiceTypes, TypeError};
use sinew::error::CallFailure;
use sinew::msg::{GenericType, TypeHash};
use sinew::prelude::*;
use sinew_interfaces::std_msgs::msg;
use std::sync::mpsc;

/// Says something back.
struct Echo;

impl Service for Echo {
    type Request = msg::String;
    type Response = msg::String;
    const TYPE: Option<&'static sinew::service::ServiceType> =
        Some(&sinew::service::ServiceType { name: "test_msgs/srv/Echo", hash: TypeHash([5; 32]) });
}

fn echo(class: &'static Class) -> ServiceTypes {
    let string = class.register();
    ServiceTypes::new(Some(("test_msgs/srv/Echo", TypeHash([5; 32]))), string, string).unwrap()
}

#[test]
fn a_request_and_its_response_move_where_they_lie() -> sinew::Result<()> {
    let (room, class) = (Room::new(), Class::new());
    let types = echo(class);
    let values = room.node.group(Vec::new());
    let _server = values.erased_server("echo", types).callback_erased(
        |values: &mut Vec<_>, request: Request<'_>| {
            assert!(request.message.is_sole() && request.info().sequence() > 0);
            values.push(request.message.value().unwrap().addr());
            let (message, responder) = request.defer();
            responder.respond(message)
        },
    )?;
    let client = room.node.erased_client("echo", types).create_erased()?;
    let request = class.message(types.request(), "hello");
    let value = request.value();
    let response = room.executor.spin_until(client.call_async(request).unwrap())?.unwrap();
    assert_eq!((response.value(), text_of(&response).as_str()), (value, "hello"));
    drop(response);
    assert_eq!(class.counts(), [1, 1, 0, 0, 0]);
    assert_eq!((client.statistics().answered, client.types() == types), (1, true));
    Ok(())
}

#[test]
fn a_class_serves_clients_of_rust_and_is_served() -> sinew::Result<()> {
    let (room, class) = (Room::new(), Class::new());
    let types = echo(class);
    let server =
        room.node.erased_server("echo", types).callback_erased(|_: &mut (), request: Request<'_>| {
            let message = request.message.clone();
            request.respond(message) // shared with the request: a copy is made
        })?;
    let rust = room.node.client::<Echo>("echo").create()?;
    let said = room.executor.spin_until(rust.call_async(msg::String { data: "hello".to_owned() }))?;
    assert_eq!(said.unwrap().data, "hello");
    assert_eq!(class.counts(), [1, 0, 1, 1, 1]); // the decoded request stays in its block, for the next one
    server.close();

    let _server = room.node.server::<Echo>("echo").callback(|said: &msg::String| said.clone())?;
    let client = room.node.erased_client("echo", types).create_erased()?;
    let (say, said) = mpsc::channel();
    client
        .call_then(class.message(types.request(), "again"), move |result: sinew::erased::CallResult| {
            say.send(result)
        })
        .unwrap();
    room.run();
    assert_eq!(text_of(&said.recv().unwrap().unwrap()), "again");
    Ok(())
}

#[test]
fn a_listener_answers_at_once_and_a_failure_reaches_the_caller() -> sinew::Result<()> {
    let (room, class) = (Room::new(), Class::new());
    let types = echo(class);
    let (keep, kept) = mpsc::channel::<Responder>();
    let _server =
        room.node.erased_server("echo", types).immediate_callback_erased(move |request: Request<'_>| {
            match text_of(&request.message).as_str() {
                "fail" => request.fail("as was asked"),
                "drop" => {}
                "keep" => keep.send(request.defer().1).unwrap(),
                _ => request.respond(Number(7).into_erased()).unwrap_err().into_response().map(drop).unwrap(),
            }
        })?;
    let client = room.node.erased_client("echo", types).create_erased()?;
    let call = |text| client.call(class.message(types.request(), text), PATIENCE).unwrap_err();
    assert_eq!(*call("fail").failure(), CallFailure::Failed { message: "as was asked".to_owned() });
    assert_eq!(*call("drop").failure(), CallFailure::Dropped);
    assert_eq!(*call("other").failure(), CallFailure::Dropped);
    let pending = client.call_async(class.message(types.request(), "keep")).unwrap();
    let responder = kept.recv().unwrap();
    assert!(responder.is_awaited());
    drop(pending);
    assert!(!responder.is_awaited());
    let response = class.message(types.response(), "late");
    let error = responder.respond(response).unwrap_err();
    assert_eq!(error.failure(), None);
    assert_eq!(text_of(&error.into_response().unwrap()), "late");
    let [dropped, freed, ..] = class.counts();
    assert_eq!((dropped, freed), (5, 5));
    Ok(())
}

trait IntoErased {
    fn into_erased(self) -> sinew::erased::Message;
}

impl IntoErased for Number {
    fn into_erased(self) -> sinew::erased::Message {
        sinew::Unique::new(self).into()
    }
}

#[test]
fn a_request_that_does_not_fit_comes_back() -> sinew::Result<()> {
    let (room, class) = (Room::new(), Class::new());
    let types = echo(class);
    let client = room.node.erased_client("echo", types).create_erased()?;
    let error = client.call(Number(7).into_erased(), PATIENCE).unwrap_err();
    assert!(matches!(error.failure(), CallFailure::OtherType { .. }), "{error}");
    assert_eq!(error.into_request().unwrap().value_of::<Number>(), Some(&Number(7)));
    // Rust's own types are copied by `Clone`, which this handle to one doesn't know.
    let number = MessageType::of::<Number>();
    let numbers = ServiceTypes::new(None, number, number).unwrap();
    let client = room.node.erased_client("numbers", numbers).create_erased()?;
    let request = Number(7).into_erased();
    let error = client.call(request.clone(), PATIENCE).unwrap_err();
    assert_eq!(*error.failure(), CallFailure::NotSole { what: "request" });
    // Without a server it waits, and can be taken back.
    drop((error, request));
    let id =
        client.call_then_immediately(Number(8).into_erased(), |_| unreachable!("nobody answers")).unwrap();
    assert_eq!(client.withdraw(id).unwrap().into_unique::<Number>().unwrap().0, 8);
    Ok(())
}

#[test]
fn a_shared_request_is_copied_if_its_type_can() -> sinew::Result<()> {
    let room = Room::new();
    let number = MessageType::of_clone::<Number>();
    let types = ServiceTypes::new(None, number, number).unwrap();
    assert!(types.request().can_clone() && types.response().can_clone());
    let kept = Number(9).into_erased();
    let answer = kept.clone();
    let server = room.node.erased_server("numbers", types).immediate_callback_erased(
        move |request: Request<'_>| {
            assert_eq!(request.message.value_of::<Number>(), Some(&Number(7)));
            request.respond(answer.clone())
        },
    )?;
    let client = room.node.erased_client("numbers", types).create_erased()?;
    assert!(client.types().request().can_clone() && server.types().response().can_clone());
    let request = Number(7).into_erased();
    let response = client.call(request.clone(), PATIENCE).unwrap();
    assert_eq!(response.into_unique::<Number>().unwrap().0, 9);
    assert_eq!((request.value_of(), kept.value_of()), (Some(&Number(7)), Some(&Number(9))));
    let numbers = room.node.erased_subscription("numbers", number).create_erased()?;
    assert!(numbers.message_type().can_clone());
    Ok(())
}

#[test]
fn a_result_meets_its_groups_state() -> sinew::Result<()> {
    let (room, class) = (Room::new(), Class::new());
    let types = echo(class);
    let _server =
        room.node.erased_server("echo", types).immediate_callback_erased(|request: Request<'_>| {
            let (message, responder) = request.defer();
            responder.respond(message)
        })?;
    let texts = room.node.group(Vec::new());
    let client = texts.erased_client("echo", types).create_erased()?;
    let keep = |texts: &mut Vec<String>, result: sinew::erased::CallResult| {
        result.map(|message| texts.push(text_of(&message)))
    };
    client.call_then(class.message(types.request(), "hello"), keep).unwrap();
    let check = |texts: &mut Vec<String>, _: sinew::erased::CallResult| assert_eq!(*texts, ["hello"]);
    client.call_then(class.message(types.request(), "again"), check).unwrap();
    assert_eq!(room.run(), 2);

    // Another handle of the same client, for code that knows nothing of the state.
    let (say, said) = mpsc::channel();
    let other = client.without_state();
    assert_eq!(other.gid(), client.gid());
    let say = move |result: sinew::erased::CallResult| say.send(text_of(&result.unwrap()));
    other.call_then(class.message(types.request(), "hello"), say).unwrap();
    assert_eq!((room.run(), said.try_recv().unwrap()), (1, "hello".to_owned()));
    Ok(())
}

#[test]
fn a_service_that_is_known_by_name_meets_the_class() -> sinew::Result<()> {
    let (room, class) = (Room::new(), Class::new());
    let types = echo(class);
    let _server =
        room.node.erased_server("echo", types).callback_erased(|_: &mut (), request: Request<'_>| {
            let (message, responder) = request.defer();
            responder.respond(message)
        })?;
    let known = ServiceTypes::known(GenericType::new("test_msgs/srv/Echo", TypeHash([5; 32])).unwrap());
    let client = room.node.erased_client("echo", known).create_erased()?;
    let bytes = [0, 1, 0, 0, 3, 0, 0, 0, b'h', b'i', 0];
    let request = sinew::erased::Message::encoded_from(known.request(), &bytes).unwrap();
    let response = room.executor.spin_until(client.call_async(request).unwrap())?.unwrap();
    assert_eq!(response.encoded(), Some(&bytes[..]));
    assert_eq!(class.counts()[3..], [1, 1]);
    Ok(())
}

#[test]
fn services_need_a_name_of_ros() {
    let string = Class::new().register();
    let error = ServiceTypes::new(Some(("Echo", TypeHash([5; 32]))), string, string).unwrap_err();
    assert!(matches!(error, TypeError::Name { .. }), "{error}");
}
