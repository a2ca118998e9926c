//! Entities that rest while the node isn't active.

use crate::on_both_paths;
use crate::world::{PATIENCE, World, pause};
use sinew::prelude::*;
use sinew_interfaces::std_msgs::msg::Int32;
use sinew_interfaces::std_srvs::srv::{Trigger, TriggerRequest, TriggerResponse};
use sinew_lifecycle::{LifecycleNode, ManagedPublisher, State, from_fn};
use std::sync::mpsc;

on_both_paths! {
    a_publisher_is_silent,
    a_group_rests,
}

fn a_publisher_is_silent(world: &World) {
    let (give, given) = mpsc::channel::<ManagedPublisher<Int32>>();
    let node = LifecycleNode::new(
        &world.robot.node("talker").unwrap(),
        from_fn(move |node| {
            let numbers = node.manage(node.publisher("numbers").qos(QoS::default().keep_all()).create()?);
            let _ = give.send(numbers.clone());
            Ok(numbers)
        })
        .on_activate(|numbers| Ok(numbers.publish(Int32 { data: 1 })?)) // a first message
        .on_deactivate(|numbers| Ok(numbers.publish(Int32 { data: 3 })?)), // and a last one
    )
    .unwrap();
    let listener = world.operator.node("listener").unwrap();
    let qos = QoS::default().keep_all();
    let heard = listener.subscription::<Int32>("numbers").qos(qos).create().unwrap();
    node.configure().unwrap();
    let numbers = given.recv_timeout(PATIENCE).unwrap();
    assert!(numbers.publisher().wait_for_subscribers(1, PATIENCE) && heard.wait_for_publishers(1, PATIENCE));
    numbers.publish(Int32 { data: -1 }).unwrap();
    node.activate().unwrap();
    assert!(numbers.is_open());
    numbers.publish(Int32 { data: 2 }).unwrap();
    node.deactivate().unwrap();
    numbers.publish(Int32 { data: -2 }).unwrap();
    numbers.publish(Int32 { data: -3 }).unwrap();
    node.activate().unwrap();
    node.shutdown().unwrap();
    numbers.publish(Int32 { data: -4 }).unwrap();
    assert_eq!((numbers.dropped(), node.state()), (4, State::Finalized));

    let mut got = Vec::new();
    let begin = sinew::time::Time::steady();
    while got.len() < 5 {
        assert!(sinew::time::Time::steady() - begin < PATIENCE, "{got:?}");
        got.extend(heard.take().map(|(number, _)| number.data));
        std::thread::yield_now();
    }
    assert_eq!((got, heard.take().map(|(number, _)| number.data)), (vec![1, 2, 3, 1, 3], None));
}

fn a_group_rests(world: &World) {
    let (tell, told) = mpsc::channel::<&str>();
    let node = LifecycleNode::new(
        &world.robot.node("worker").unwrap(),
        from_fn(move |node| {
            let group = node.managed_group(tell.clone());
            let timer = group
                .timer(Duration::from_millis(1))
                .callback(|tell: &mut mpsc::Sender<&'static str>| tell.send("timer"))?;
            let numbers = group.subscription::<Int32>("numbers").callback(
                |tell: &mut mpsc::Sender<&'static str>, number: &Int32| {
                    let _ = tell.send(if number.data < 0 { "stale" } else { "number" });
                },
            )?;
            let server = group.server::<Trigger>("~/do").callback(
                |tell: &mut mpsc::Sender<&'static str>, _: &TriggerRequest| {
                    let _ = tell.send("request");
                    TriggerResponse { success: true, message: String::new() }
                },
            )?;
            Ok((timer, numbers, server))
        }),
    )
    .unwrap();
    node.configure().unwrap();
    let operator = world.operator.node("operator").unwrap();
    let numbers = operator.publisher::<Int32>("numbers").create().unwrap();
    let client = operator.client::<Trigger>("/worker/do").create().unwrap();
    let (hear, by_the_way) = mpsc::channel();
    let beside = world.robot.node("beside").unwrap().subscription::<Int32>("numbers");
    let beside = beside.callback(move |number: &Int32| hear.send(number.data).unwrap()).unwrap();
    assert!(numbers.wait_for_subscribers(2, PATIENCE) && client.wait_for_server(PATIENCE));
    numbers.publish(Int32 { data: -1 }).unwrap();
    // Over the same connection: once the later subscription has the message, so has the resting
    // one.
    let heard = by_the_way.recv_timeout(PATIENCE).unwrap();
    assert_eq!(heard, -1);
    beside.close();
    let call = client.call_async(TriggerRequest {});
    pause(30);
    assert_eq!(told.try_recv(), Err(mpsc::TryRecvError::Empty), "it rests");

    node.activate().unwrap();
    let mut heard = vec![told.recv_timeout(PATIENCE).unwrap()];
    let mut pending = std::pin::pin!(call);
    assert!(sinew::executor::wait_for(&mut pending, PATIENCE).unwrap().unwrap().success, "requests wait");
    numbers.publish(Int32 { data: 1 }).unwrap();
    while !["timer", "number", "request"].iter().all(|what| heard.contains(what)) {
        heard.push(told.recv_timeout(PATIENCE).unwrap());
    }
    assert!(!heard.contains(&"stale"), "what came for nobody is out of date");
    node.deactivate().unwrap();
    while told.try_recv().is_ok() {}
    pause(10);
    assert_eq!(told.try_recv(), Err(mpsc::TryRecvError::Empty), "no callback begins once it has returned");
}
