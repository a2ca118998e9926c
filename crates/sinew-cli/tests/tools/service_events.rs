//! `sinew service echo`.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use serde_json::Value;
use sinew::introspection::ServiceIntrospection;
use sinew::{Context, Executor, QoS};
use sinew_interfaces::example_interfaces::srv::{AddTwoInts, AddTwoIntsRequest, AddTwoIntsResponse};

use crate::{Base, text};

#[test]
fn the_events_of_a_service_are_printed() {
    let base = Base::new();
    let context = Context::builder().directory(base.0.path()).domain(0).build().unwrap();
    let node = context.node("adder").unwrap();
    let add = |request: &AddTwoIntsRequest| AddTwoIntsResponse { sum: request.a + request.b };
    let server = node.server::<AddTwoInts>("add").callback(add).unwrap();
    let client = node.client::<AddTwoInts>("add").create().unwrap();
    let executor = Executor::single();
    executor.add(&context).unwrap();

    let line = ["service", "echo", "add", "example_interfaces/AddTwoInts", "--count", "2", "--json"];
    let mut child = base.command(&line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut waits = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut waits).unwrap();
    let none = "sinew: no end of /add in domain 0 publishes its requests and responses yet: waiting; ";
    assert!(waits.starts_with(none), "{waits}");
    server.configure_introspection(ServiceIntrospection::Contents, QoS::new()).unwrap();
    while child.try_wait().unwrap().is_none() {
        let call = client.call_async(AddTwoIntsRequest { a: 40, b: 2 });
        assert_eq!(executor.spin_until(call).unwrap().unwrap().sum, 42);
    }
    let output = child.wait_with_output().unwrap();
    let told = text(&output.stdout);
    assert!(output.status.success(), "{told}");
    let events: Vec<Value> = told.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(events.len(), 2, "{told}");
    for event in events {
        let event = event.get("message").unwrap_or(&event);
        match event["info"]["event_type"].as_u64() {
            Some(1) => {
                assert_eq!((&event["request"][0]["a"], &event["request"][0]["b"]), (&40.into(), &2.into()))
            }
            Some(2) => assert_eq!(event["response"][0]["sum"], 42),
            _ => panic!("{told}"),
        }
    }
}

#[test]
fn a_service_that_nobody_has_is_told_with_one_that_is_alike() {
    let base = Base::new();
    let context = Context::builder().directory(base.0.path()).domain(0).build().unwrap();
    let client = context.node("caller").unwrap().client::<AddTwoInts>("add_two_ints").create().unwrap();
    let mut command = base.command(&["service", "echo", "add_two_int", "--once"]);
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut waits = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut waits).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    drop(client);
    assert_eq!(
        waits,
        "sinew: /add_two_int has no server or client in domain 0 yet: waiting; did you mean /add_two_ints?\n"
    );
}
