//! Setting parameters from inside the program.

use super::{named, node, told};
use crate::support::real_context;
use sinew::error::ParameterError;
use sinew::parameters::{ParameterEvent, ParameterValue};
use sinew::prelude::*;

/// The reason of a refusal.
fn refused(result: Result<(), ParameterError>) -> String {
    match result.unwrap_err() {
        ParameterError::Refused { reason, .. } => reason,
        other => panic!("{other}"),
    }
}

#[test]
fn refusals_have_the_words_of_ros_2() -> sinew::Result<()> {
    let node = node();
    let _ = node.parameter("i").default(1).range(0..=10).create()?;
    let _ = node.parameter("d").default(1.0).range(0.0..=10.0).create()?;
    let _ = node.parameter("r").default("x".to_owned()).read_only().create()?;
    let _ = node.parameter("a").default(vec![1_i64]).create()?;
    for (name, value, reason) in [
        ("i", 11.into(), "Parameter {i} doesn't comply with integer range."),
        ("d", (-0.5).into(), "Parameter {d} doesn't comply with floating point range."),
        (
            "i",
            1.0.into(),
            "Wrong parameter type, parameter {i} is of type {integer}, setting it to {double} is not allowed.",
        ),
        (
            "a",
            "x".into(),
            "Wrong parameter type, parameter {a} is of type {integer_array}, setting it to {string} is not allowed.",
        ),
        ("r", "y".into(), "parameter 'r' cannot be set because it is read-only"),
        ("r", 1.into(), "parameter 'r' cannot be set because it is read-only"),
        ("i", ParameterValue::NotSet, "cannot undeclare a statically typed parameter"),
        ("", 1.into(), "parameter name must not be empty"),
    ] {
        assert_eq!(refused(node.set_parameter(name, value)), reason);
    }
    let empty = refused(node.set_parameters([]));
    assert!(
        empty.starts_with("parameter list cannot be empty, this might be due to pre_set_parameters_callback")
    );
    let unknown = node.set_parameter("unknown", 1).unwrap_err();
    assert!(matches!(unknown, ParameterError::NotDeclared { ref name, .. } if name == "unknown"));
    let none = real_context().node("none")?.set_parameter("x", 1);
    assert!(matches!(none, Err(ParameterError::NotDeclared { .. })), "a node without any");
    Ok(())
}

#[test]
fn several_are_set_together_or_not_at_all() -> sinew::Result<()> {
    let node = node();
    let events =
        node.subscription::<ParameterEvent>("/parameter_events").qos(QoS::parameter_events()).create()?;
    let [a, b] = ["a", "b"].map(|name| node.parameter(name).default(1).range(0..=9).create().unwrap());
    for bad in [named("b", 10), named("b", "x"), named("c", 1), named("use_sim_time", 1)] {
        assert!(node.set_parameters([named("a", 2), bad]).is_err());
    }
    assert_eq!((a.get(), b.get()), (1, 1));
    node.set_parameters([named("a", 2), named("b", 3)])?;
    assert_eq!((a.get(), b.get()), (2, 3));
    a.set(4)?;
    let told: Vec<_> = std::iter::from_fn(|| events.take()).map(|(event, _)| told(&event)).collect();
    assert_eq!(told, ["+use_sim_time", "+a", "+b", "~a ~b", "~a"], "what is refused is no event");
    Ok(())
}

#[test]
fn undeclared_ones_are_declared_if_that_is_allowed() -> sinew::Result<()> {
    let context = real_context();
    let node = context.node_builder("n").allow_undeclared(true).create()?;
    let events =
        node.subscription::<ParameterEvent>("/parameter_events").qos(QoS::parameter_events()).create()?;
    node.set_parameters([named("x", 1), named("y", "text")])?;
    node.set_parameter("x", 2.5)?; // its typing is dynamic
    assert_eq!(node.parameter_value("x"), Some(2.5.into()));
    assert!(node.describe_parameter("x").unwrap().dynamic_typing);
    node.set_parameter("x", ParameterValue::NotSet)?;
    assert_eq!(node.parameter_value("x"), None);
    let told: Vec<_> = std::iter::from_fn(|| events.take()).map(|(event, _)| told(&event)).collect();
    assert_eq!(told, ["+use_sim_time", "+x +y", "~x", "-x"]);
    Ok(())
}

#[test]
fn events_tell_who_what_and_when() -> sinew::Result<()> {
    let context = real_context();
    let node = context.node_builder("n").namespace("/a").create()?;
    let events =
        node.subscription::<ParameterEvent>("/parameter_events").qos(QoS::parameter_events()).create()?;
    let before = node.now();
    let _gain = node.parameter("gain").default(1.5).create()?;
    let (event, _) = events.take().unwrap();
    assert_eq!(told(&event), "+use_sim_time");
    let (event, _) = events.take().unwrap();
    assert_eq!((event.node.as_str(), told(&event).as_str()), ("/a/n", "+gain"));
    assert_eq!((event.new_parameters[0].value.r#type, event.new_parameters[0].value.double_value), (3, 1.5));
    let stamp = sinew::time::Time::from(event.stamp);
    assert!(before <= stamp && stamp <= node.now());
    let silent = context.node_builder("silent").start_parameter_event_publisher(false).create()?;
    let _quiet = silent.parameter("quiet").default(1).create()?;
    assert!(events.take().is_none());
    Ok(())
}
