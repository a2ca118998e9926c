//! The parameters of other nodes: ways to ask, errors, events.

use super::{PATHS, Pair, changes, integer};
use crate::support::tasks::block_on;
use crate::support::{PATIENCE, wait_for};
use sinew::error::ParameterClientError;
use sinew::prelude::*;

#[test]
fn a_thread_waits_and_a_task_awaits() -> sinew::Result<()> {
    for path in PATHS {
        let pair = Pair::new(path);
        let x = pair.owner.parameter("x").default(1).create()?;
        let client = pair.asker.parameter_client("/owner");
        assert_eq!(client.get(["x"]).wait(PATIENCE)?, [integer(1)]);
        block_on(client.set_one("x", 2))?;
        assert_eq!((block_on(client.get(["x"]))?, x.get()), (vec![integer(2)], 2));
        let refused = block_on(client.set_one("x", "text")).unwrap_err();
        assert!(matches!(refused, ParameterClientError::Refused { .. }));
        drop(client.set_one("x", 3));
        assert_eq!(client.get(["x"]).wait(PATIENCE)?, [integer(2)], "what isn't awaited isn't asked");
    }
    Ok(())
}

#[test]
fn a_name_without_a_slash_is_one_of_the_askers_namespace() -> sinew::Result<()> {
    let context = crate::support::real_context();
    let owner = context.node_in("/robot", "arm")?;
    let x = owner.parameter("x").default(1).create()?;
    let client = context.node_in("/robot", "tool")?.parameter_client("arm");
    let events = client.events().create()?;
    client.set_one("x", 2).wait(PATIENCE)?;
    assert_eq!((x.get(), events.take().unwrap().0.node.as_str()), (2, "/robot/arm"));
    Ok(())
}

#[test]
fn a_callback_of_the_same_executor_may_ask() -> sinew::Result<()> {
    let pair = Pair::new(super::Path::Inside);
    let x = pair.owner.parameter("x").default(1).create()?;
    let client = pair.asker.parameter_client("/owner");
    let guard = pair.asker.guard_condition().callback(move || client.set_one("x", 5).wait(PATIENCE))?;
    guard.trigger();
    let executor = sinew::Executor::single();
    executor.add(&pair.asker)?;
    executor.spin_some()?;
    assert_eq!(x.get(), 5);
    Ok(())
}

#[test]
fn a_missing_node_is_an_error() -> sinew::Result<()> {
    for path in PATHS {
        let pair = Pair::new(path);
        let nobody = pair.asker.parameter_client("/nobody");
        let error = nobody.list([""; 0], 0).wait(Duration::from_millis(1)).unwrap_err();
        assert_eq!(
            error,
            ParameterClientError::NoSuchNode { node: "/nobody".to_owned(), waited: Duration::from_millis(1) }
        );
        assert!(error.to_string().contains("no node /nobody has served its parameters"));
        let bad = pair.asker.parameter_client("/no body").get(["x"]).wait(PATIENCE).unwrap_err();
        assert!(matches!(bad, ParameterClientError::Create(_)), "{bad}");
    }
    Ok(())
}

#[test]
fn a_node_that_does_not_answer_is_an_error() -> sinew::Result<()> {
    use sinew_interfaces::rcl_interfaces::srv;
    for path in PATHS {
        let pair = Pair::new(path);
        // Served by an executor that doesn't spin.
        let _idle = pair
            .owner
            .server::<srv::GetParameters>("~/get_parameters")
            .callback(|_: &srv::GetParametersRequest| srv::GetParametersResponse::default())?;
        let client = pair.asker.parameter_client("/owner");
        wait_for("the server is seen", || {
            let error = client.get(["x"]).wait(Duration::from_millis(2)).unwrap_err();
            matches!(error, ParameterClientError::Timeout { .. }).then_some(())
        });
    }
    Ok(())
}

#[test]
fn invalid_answers_are_errors() -> sinew::Result<()> {
    use sinew_interfaces::rcl_interfaces::{msg, srv};
    for path in PATHS {
        let pair = Pair::new(path);
        let _odd = pair.owner.server::<srv::GetParameters>("~/get_parameters").immediate_callback(
            |request: &srv::GetParametersRequest| {
                let odd = msg::ParameterValue { r#type: 42, ..Default::default() };
                let values = if request.names.len() == 1 {
                    vec![odd]
                } else {
                    vec![msg::ParameterValue::default(); 5]
                };
                srv::GetParametersResponse { values }
            },
        )?;
        let client = pair.asker.parameter_client("/owner");
        for names in [vec!["x"], vec!["x", "y"]] {
            let error = client.get(names).wait(PATIENCE).unwrap_err();
            assert!(matches!(error, ParameterClientError::Nonsense { .. }), "{error}");
        }
    }
    Ok(())
}

#[test]
fn events_of_one_node_arrive() -> sinew::Result<()> {
    for path in PATHS {
        let pair = Pair::new(path);
        let x = pair.owner.parameter("x").default(1).create()?;
        let other = pair.asker.parameter("other").default(1).create()?;
        let client = pair.asker.parameter_client("/owner");
        let events = client.events().create()?;
        let mut received = Vec::new();
        // Until the publisher has matched; then all in their order.
        let first = wait_for("an event comes", || {
            x.set(x.get() + 1).unwrap();
            events.take().map(|(event, _)| event.changed_parameters[0].value.integer_value)
        });
        other.set(5)?;
        x.set(1000)?;
        pair.owner.set_parameters([super::named("x", 1001), super::named("use_sim_time", true)])?;
        wait_for("the last one comes", || {
            received.extend(
                std::iter::from_fn(|| events.take()).map(|(event, _)| (event.node.clone(), changes(&event))),
            );
            received.iter().any(|(_, changes)| changes == "~x ~use_sim_time").then_some(())
        });
        assert!(first >= 2);
        assert!(received.iter().all(|(node, _)| node == "/owner"));
    }
    Ok(())
}
