//! Setting parameters from inside the program.

use super::{changes, named, node};
use crate::support::{Log, real_context};
use sinew::error::ParameterError;
use sinew::parameters::{NamedValue, ParameterEvent, ParameterValue};
use sinew::prelude::*;

/// The reason of a refusal.
fn refused(result: Result<(), ParameterError>) -> String {
    match result.unwrap_err() {
        ParameterError::Refused { reason, .. } => reason,
        other => panic!("{other}"),
    }
}

#[test]
fn refusals_say_what_is_wrong_and_what_would_be_right() -> sinew::Result<()> {
    let node = node();
    let _ = node.parameter("i").default(1).range(0..=10).create()?;
    let _ = node.parameter("d").default(1.0).range(0.0..=10.0).create()?;
    let _ = node.parameter("r").default("x".to_owned()).read_only().create()?;
    let _ = node.parameter("a").default(vec![1_i64]).create()?;
    for (name, value, reason) in [
        ("i", 11.into(), "parameter 'i' can't be 11: its range is 0 to 10"),
        ("d", (-0.5).into(), "parameter 'd' can't be -0.5: its range is 0.0 to 10.0"),
        (
            "i",
            1.0.into(),
            "parameter 'i' is of type integer, and 1.0 is of type double; a whole number without a point, such as 3, would be right",
        ),
        (
            "a",
            "x".into(),
            "parameter 'a' is of type integer_array, and \"x\" is of type string; a list of whole numbers without points, such as [1, 2], would be right",
        ),
        ("r", "y".into(), "parameter 'r' is read-only: what its program was started with counts"),
        ("r", 1.into(), "parameter 'r' is read-only: what its program was started with counts"),
        (
            "i",
            ParameterValue::NotSet,
            "parameter 'i' is of type integer and keeps it, so it can't be undeclared: only one with dynamic typing can",
        ),
        ("", 1.into(), "a parameter has a name, and one without is to be set"),
    ] {
        assert_eq!(refused(node.set_parameter(name, value)), reason);
    }
    let empty = refused(node.set_parameters([]));
    assert!(empty.starts_with("no parameter is to be set: the list is empty"), "{empty}");
    let unknown = node.set_parameter("unknown", 1).unwrap_err();
    assert!(matches!(unknown, ParameterError::NotDeclared { ref name, .. } if name == "unknown"));
    let none = real_context().node("none")?.set_parameter("x", 1);
    assert!(matches!(none, Err(ParameterError::NotDeclared { .. })), "a node without any");
    Ok(())
}

#[test]
fn integers_are_doubles_where_nothing_is_lost() -> sinew::Result<()> {
    let node = node();
    let gain = node.parameter("gain").default(1.5).range(0.0..=1e18).create()?;
    let maybe = node.parameter("maybe").optional::<f64>().create()?;
    let list = node.parameter("list").default(vec![0.5]).create()?;
    let bytes = node.parameter("bytes").default(vec![1_u8]).create()?;
    let any = node.parameter("any").dynamic(0.5).create()?;
    let log = Log::new();
    let pen = log.pen();
    let _asked = node.on_set_parameters(move |values: &[NamedValue]| {
        values.iter().for_each(|one| pen.write(one.value.clone()));
        Ok(())
    })?;
    node.set_parameter("gain", 3)?;
    node.set_parameter("maybe", 4)?;
    node.set_parameter("list", vec![1_i64, -2])?;
    node.set_parameter("bytes", vec![0_i64, 255])?;
    node.set_parameter("any", 7)?;
    assert_eq!(
        (gain.get(), *maybe.get(), list.get().to_vec(), bytes.get().to_vec()),
        (3.0, Some(4.0), vec![1.0, -2.0], vec![0, 255])
    );
    assert_eq!(*any.get(), ParameterValue::Integer(7), "of any type");
    let expected: [ParameterValue; 5] =
        [3.0.into(), 4.0.into(), vec![1.0, -2.0].into(), vec![0_u8, 255].into(), 7.into()];
    assert_eq!(log.lines(), expected, "callbacks see what will be");

    let added = node.on_pre_set_parameters(|values: &mut Vec<NamedValue>| {
        values.push(NamedValue::new("gain", 9));
    })?;
    node.set_parameter("any", 8)?;
    assert_eq!(gain.get(), 9.0, "of a callback, too");
    drop(added);

    let inexact = refused(node.set_parameter("gain", (1_i64 << 53) + 1));
    assert_eq!(
        inexact,
        "parameter 'gain' is of type double, which 9007199254740993 can't become without loss; 9007199254740992.0 would be right"
    );
    assert!(refused(node.set_parameter("list", vec![1, i64::MAX])).contains("without loss"));
    assert!(refused(node.set_parameter("bytes", vec![256_i64])).contains("a list of numbers from 0 to 255"));
    let text = refused(node.set_parameter("gain", "fast"));
    assert_eq!(
        text,
        "parameter 'gain' is of type double, and \"fast\" is of type string; a number, such as 1.5, would be right"
    );
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
    let changes: Vec<_> = std::iter::from_fn(|| events.take()).map(|(event, _)| changes(&event)).collect();
    assert_eq!(changes, ["+use_sim_time", "+a", "+b", "~a ~b", "~a"], "what is refused is no event");
    Ok(())
}

#[test]
fn the_last_of_several_values_of_one_parameter_counts() -> sinew::Result<()> {
    let node = node();
    let any = node.parameter("any").dynamic(1).description("text").create()?;
    node.set_parameters([named("any", ParameterValue::NotSet), named("any", 7)])?;
    assert_eq!((&*any.get(), node.parameter_value("any")), (&7.into(), Some(7.into())));
    assert_eq!(node.describe_parameter("any").unwrap().description, "text");
    let fixed = node.parameter("fixed").default(1).create()?;
    assert!(node.set_parameters([named("fixed", "text"), named("fixed", 2)]).is_err(), "each is checked");
    node.set_parameters([named("fixed", 2), named("any", 8), named("fixed", 3)])?;
    assert_eq!((fixed.get(), &*any.get()), (3, &8.into()));
    node.set_parameters([named("any", ParameterValue::NotSet), named("any", ParameterValue::NotSet)])?;
    assert_eq!(node.parameter_value("any"), None);
    Ok(())
}

#[test]
fn events_have_the_qos_of_the_node() -> sinew::Result<()> {
    let context = real_context();
    let qos = QoS::parameter_events().transient_local().keep_last(7);
    let node = context.node_builder("n").parameter_event_qos(qos).create()?;
    let _rate = node.parameter("rate").default(1).create()?;
    let events = node.graph().publishers("/parameter_events");
    assert_eq!(events.iter().map(|one| one.qos.durability).collect::<Vec<_>>(), [qos.durability]);
    let bad = || context.node_builder("m").parameter_event_qos(qos.keep_last(0));
    assert!(bad().create().unwrap_err().to_string().contains("/parameter_events"));
    assert!(bad().start_parameter_event_publisher(false).create().is_ok());
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
    let changes: Vec<_> = std::iter::from_fn(|| events.take()).map(|(event, _)| changes(&event)).collect();
    assert_eq!(changes, ["+use_sim_time", "+x +y", "~x", "-x"]);
    Ok(())
}

#[test]
fn events_contain_the_node_the_changes_and_the_time() -> sinew::Result<()> {
    let context = real_context();
    let node = context.node_builder("n").namespace("/a").create()?;
    let events =
        node.subscription::<ParameterEvent>("/parameter_events").qos(QoS::parameter_events()).create()?;
    let before = node.now();
    let _gain = node.parameter("gain").default(1.5).create()?;
    let (event, _) = events.take().unwrap();
    assert_eq!(changes(&event), "+use_sim_time");
    let (event, _) = events.take().unwrap();
    assert_eq!((event.node.as_str(), changes(&event).as_str()), ("/a/n", "+gain"));
    assert_eq!((event.new_parameters[0].value.r#type, event.new_parameters[0].value.double_value), (3, 1.5));
    let stamp = sinew::time::Time::from(event.stamp);
    assert!(before <= stamp && stamp <= node.now());
    let silent = context.node_builder("silent").start_parameter_event_publisher(false).create()?;
    let _quiet = silent.parameter("quiet").default(1).create()?;
    assert!(events.take().is_none());
    Ok(())
}
