//! What a `main` prints that returns an error: its sentence and what to do, not the names of types.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use crate::support;

use sinew::Error;
use sinew::error::{AddError, ContextError, CreateError, SpinError};
use sinew::prelude::*;
use sinew::service::RequestKey;
use std::error::Error as _;
use support::{Number, Numbers, PATIENCE, real_context};

/// What `fn main() -> Result<(), E>` prints behind `Error: `.
fn printed(error: &impl std::fmt::Debug) -> String {
    format!("{error:?}")
}

/// Errors as programs get them, one of each operation.
fn errors() -> Vec<Error> {
    let context = real_context();
    let node = context.node("node").unwrap();
    let publisher = node.publisher::<Number>("numbers").create().unwrap();
    let client = node.client::<Numbers>("numbers").create().unwrap();
    let taken = Executor::single();
    taken.add(&context).unwrap();
    let nowhere = Context::builder().directory("/proc/1/nowhere").build().unwrap();
    let mut errors: Vec<Error> = vec![
        Context::builder().arguments(["p", "--ros-args", "-r"]).build().unwrap_err().into(),
        ContextError::Domain { variable: "SINEW_DOMAIN_ID", value: "x".into() }.into(),
        nowhere.node("node").unwrap_err().into(),
        context.node("no spaces please").unwrap_err().into(),
        node.publisher::<Number>("n").qos(QoS::default().keep_last(0)).create().unwrap_err().into(),
        node.timer(Duration::ZERO).callback(|| ()).unwrap_err().into(),
        client.call(Number(1), Duration::ZERO).unwrap_err().into(),
        Executor::single().add(&context).unwrap_err().into(),
        SpinError::Nothing.into(),
        Executor::builder().realtime_priority(100).build().unwrap_err().into(),
    ];
    context.shutdown();
    errors.push(publisher.publish(Number(1)).unwrap_err().into());
    errors
}

#[test]
fn what_main_prints_is_the_sentence_with_its_causes_each_once() {
    for error in errors() {
        let printed = printed(&error);
        assert!(printed.starts_with(&error.to_string()), "{printed}");
        let mut cause = error.source();
        while let Some(error) = cause {
            assert_eq!(printed.matches(&error.to_string()).count(), 1, "{printed}");
            cause = error.source();
        }
        for name in ["Context(", "Create(", "Outside", "Domain(", "Call {", "Spin(", "{ ", "Some("] {
            assert!(!printed.contains(name), "{name}: {printed}");
        }
    }
}

#[test]
fn the_sentence_says_what_to_do() {
    let error = Context::builder().directory("/proc/1/nowhere").build().unwrap().node("camera").unwrap_err();
    assert!(matches!(error, CreateError::SharedMemory { .. }));
    let said = printed(&error);
    assert!(said.starts_with("/camera can't be made known to other processes: "), "{said}");
    assert!(said.contains("/proc/1/nowhere") && said.contains("shared_memory(false)"), "{said}");
    assert_eq!(printed(&Error::from(error)), said, "the umbrella adds nothing");
    assert_eq!(printed(&AddError::Shutdown), "the context is shut down",);
}

#[test]
fn errors_with_a_message_or_a_request_in_them_print_their_sentence_as_well() -> sinew::Result<()> {
    let context = real_context();
    let node = context.node("node")?;
    let client = node.client::<Numbers>("numbers").create()?;
    let publisher = node.publisher::<Number>("numbers").create()?;
    let error = client.call(Number(1), Duration::ZERO).unwrap_err();
    assert_eq!(printed(&error), error.to_string());
    assert!(format!("{error:#?}").contains("failure: NoServer {"));
    let server = node.server::<Numbers>("numbers").create()?;
    let unknown = RequestKey { client: client.gid(), sequence: 1 };
    let error = server.respond(&unknown, Number(2)).unwrap_err();
    assert_eq!(printed(&error), error.to_string());
    assert!(format!("{error:#?}").contains("failure: NotInHand"));
    context.shutdown();
    let error = publisher.publish(Number(1)).unwrap_err();
    assert_eq!(printed(&error), "the message was not published: the context is shut down");
    assert!(format!("{error:#?}").contains("failure: Shutdown"));
    assert!(!publisher.wait_for_subscribers(1, PATIENCE));
    Ok(())
}

#[test]
fn the_parts_are_there_for_those_who_ask() {
    let error: Error = CreateError::ServiceTaken { service: "/add".into(), node: "/adder".into() }.into();
    assert_eq!(
        format!("{error:#?}"),
        "Create {\n    error: ServiceTaken {\n        service: \"/add\",\n        node: \"/adder\",\n    },\n}"
    );
    assert_eq!(format!("{:#?}", SpinError::Busy), "Busy");
}
