//! What a node makes, a group makes as well: with callbacks that run in that group, with its state.

use crate::support::{Log, Number, Numbers, PATIENCE, Room};
use sinew::event::Matched;
use sinew::executor::Maker;
use sinew::msg::{Encoding, GenericType, SerializedMessage};
use sinew::parameters::{ParameterEvent, Parameters};
use sinew::prelude::*;
use sinew::service::{GenericService, ServiceType};

/// The type of [`Number`], as a bag knows it.
fn number() -> GenericType {
    let Encoding { name, hash, .. } = Number::ENCODING.expect("it can leave the process");
    GenericType::new(name, *hash).expect("a name of a type")
}

/// The service [`Numbers`], as a bag knows it.
fn numbers() -> GenericType {
    let ServiceType { name, hash, .. } = Numbers::TYPE.expect("above");
    GenericType::new(name, *hash).expect("a name of a type")
}

fn encoded(number: u64) -> SerializedMessage {
    SerializedMessage::new(number.to_le_bytes().to_vec())
}

fn decoded(message: &SerializedMessage) -> u64 {
    u64::from_le_bytes(message.bytes().try_into().expect("8 bytes"))
}

#[test]
fn a_group_runs_the_callbacks_of_generic_topics_with_its_state() -> sinew::Result<()> {
    let room = Room::new();
    let group = room.node.group(Vec::new());
    let publisher = group
        .generic_publisher("numbers", number())
        .on_matched(|seen: &mut Vec<u64>, matched: &Matched| seen.push(100 * matched.total))
        .create()?;
    let _subscription = group
        .generic_subscription("numbers", number())
        .callback(|seen: &mut Vec<u64>, message: &SerializedMessage| seen.push(decoded(message)))?;
    room.run();
    for number in [40, 2] {
        publisher.publish(encoded(number))?;
    }
    assert_eq!(room.run(), 2);
    group.post(|seen: &mut Vec<u64>| assert_eq!(*seen, [100, 40, 2]))?;
    assert_eq!(room.run(), 1);

    // Paused, the group leaves them alone: they are its members.
    let paused = group.pause_handle();
    paused.pause();
    publisher.publish(encoded(7))?;
    assert_eq!(room.run(), 0);
    Ok(())
}

#[test]
fn a_group_runs_the_callbacks_of_a_generic_server_with_its_state() -> sinew::Result<()> {
    let room = Room::new();
    let group = room.node.group(0);
    let _server =
        group.generic_server("sum", numbers()).callback(|sum: &mut u64, request: &SerializedMessage| {
            *sum += decoded(request);
            encoded(*sum)
        })?;
    let client = room.node.reentrant_group().generic_client("sum", numbers()).create()?;
    let log = Log::new();
    for number in [40, 2] {
        let pen = log.pen();
        client.call_then(encoded(number), move |sum: sinew::service::CallResult<GenericService>| {
            pen.write(decoded(&sum.expect("it is answered")));
        })?;
    }
    assert_eq!(room.run(), 4);
    assert_eq!(log.lines(), [40, 42]);
    Ok(())
}

/// Adds up numbers in any group, by a subscription, and by work in a queue of its own.
fn adder<M: Maker>(maker: &M) -> Result<Subscription<Number>, sinew::Error> {
    let subscription = maker.subscription("numbers").create()?;
    maker.publisher("numbers").create()?.publish(Number(42))?;
    maker.work_queue("nothing").close();
    Ok(subscription)
}

#[test]
fn code_is_generic_over_nodes_and_groups() -> sinew::Result<()> {
    let room = Room::new();
    for made in [adder(&room.node)?, adder(&room.node.group(7))?, adder(&room.node.reentrant_group())?] {
        assert_eq!(made.topic(), "/numbers");
        assert_eq!(made.take().map(|(number, _)| number.0), Some(42));
    }
    Ok(())
}

#[derive(Debug, Parameters)]
struct Limits {
    #[parameter(default = 2.0)]
    speed: f64,
}

#[test]
fn a_group_declares_parameters_and_handles_changes_with_its_state() -> sinew::Result<()> {
    let room = Room::new();
    let group = room.node.group(Vec::new());
    let gain = group.parameter("gain").default(1.0).create()?;
    assert_eq!(room.node.parameter_value("gain"), Some(1.0.into()));
    gain.set(2.0)?;

    let limits = group.parameters_under::<Limits>("motor")?;
    let _values = limits.on_change(|seen: &mut Vec<f64>, limits: &Limits| seen.push(limits.speed))?;
    let _state = limits.on_change(|seen: &mut Vec<f64>| seen.push(0.0))?;
    let _nothing = limits.on_change(|| Err::<(), _>("reported, and the rest goes on"))?;
    let log = Log::new();
    let pen = log.pen();
    let elsewhere = room.node.reentrant_group();
    let _other = limits.on_change_in(&elsewhere, move |limits: &Limits| pen.write(limits.speed))?;

    room.node.set_parameter("motor.speed", 1.0)?;
    let paused = group.pause_handle();
    paused.pause();
    assert_eq!(room.run(), 1, "only the other group's");
    assert_eq!(log.next(), 1.0);
    paused.resume();
    assert_eq!(room.run(), 3);
    group.post(|seen: &mut Vec<f64>| assert_eq!(*seen, [1.0, 0.0]))?;
    assert_eq!(room.run(), 1);
    Ok(())
}

#[test]
fn a_group_handles_changes_of_another_nodes_parameters_with_its_state() -> sinew::Result<()> {
    let room = Room::new();
    let rate = room.node.parameter("rate").default(30).create()?;
    let group = room.context.node_in("/tools", "tool")?.group(Vec::new());
    let client = group.parameter_client("/room");
    assert_eq!(client.get(["rate"]).wait(PATIENCE).unwrap(), [30.into()]);
    assert_eq!(group.parameter_client("other").node_name(), "/tools/other");
    let _events = client.events().callback(|seen: &mut Vec<String>, event: &ParameterEvent| {
        seen.push(event.changed_parameters[0].name.clone());
    })?;
    rate.set(60)?;
    assert_eq!(room.run(), 1);
    group.post(|seen: &mut Vec<String>| assert_eq!(*seen, ["rate"]))?;
    assert_eq!(room.run(), 1);
    Ok(())
}
