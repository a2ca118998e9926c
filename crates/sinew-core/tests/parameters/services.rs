//! The six services and what they answer.

use super::{PATHS, Pair, integer, named};
use crate::support::{Gate, PATIENCE, finishes, real_context};
use sinew::error::ParameterClientError;
use sinew::parameters::{ParameterClient, ParameterType, ParameterValue};
use sinew::prelude::*;
use sinew_interfaces::rcl_interfaces::{msg, srv};

fn client(pair: &Pair) -> ParameterClient {
    pair.asker.parameter_client("/owner")
}

/// `gain` (double, 0 to 10), `mode` (read-only), `joint.a`, `joint.b.c`, `empty` (no value).
fn declare(node: &Node) -> sinew::Result<()> {
    let _ = node.parameter("gain").default(1.5).range(0.0..=10.0).description("How much.").create()?;
    let _ = node.parameter("mode").default("fast".to_owned()).read_only().create()?;
    let _ = node.parameter("joint.a").default(1).create()?;
    let _ = node.parameter("joint.b.c").default(vec![2_i64, 3]).create()?;
    let _ = node.parameter("empty").optional::<f64>().create()?;
    Ok(())
}

#[test]
fn values_types_and_descriptors_are_returned_or_none() -> sinew::Result<()> {
    for path in PATHS {
        let pair = Pair::new(path);
        declare(&pair.owner)?;
        let client = client(&pair);
        let values = client.get(["gain", "mode", "joint.b.c"]).wait(PATIENCE)?;
        assert_eq!(values, [1.5.into(), "fast".into(), ParameterValue::IntegerArray(vec![2, 3])]);
        let none: [&str; 0] = [];
        assert_eq!(client.get(none).wait(PATIENCE)?, []);
        for names in [["gain", "unknown"], ["gain", "empty"]] {
            let error = client.get(names).wait(PATIENCE).unwrap_err();
            assert!(matches!(error, ParameterClientError::NotDeclared { .. }), "{error}");
        }
        let types = client.types(["gain", "mode", "use_sim_time"]).wait(PATIENCE)?;
        assert_eq!(types, [ParameterType::Double, ParameterType::String, ParameterType::Bool]);
        assert!(client.types(["unknown", "gain"]).wait(PATIENCE).is_err());
        let described = client.describe(["gain", "mode"]).wait(PATIENCE)?;
        assert_eq!(described, ["gain", "mode"].map(|name| pair.owner.describe_parameter(name).unwrap()));
        assert!(client.describe(["unknown"]).wait(PATIENCE).is_err());
    }
    Ok(())
}

#[test]
fn names_are_listed_by_prefix_and_depth() -> sinew::Result<()> {
    for path in PATHS {
        let pair = Pair::new(path);
        declare(&pair.owner)?;
        let client = client(&pair);
        for (prefixes, depth, names, parents) in [
            (&[][..], 0, "empty gain joint.a joint.b.c mode use_sim_time", "joint joint.b"),
            (&[], 1, "empty gain mode use_sim_time", ""),
            (&[], 2, "empty gain joint.a mode use_sim_time", "joint"),
            (&["joint"], 0, "joint.a joint.b.c", "joint joint.b"),
            (&["joint"], 1, "joint.a", "joint"),
            (&["joint.b", "gain"], 1, "gain joint.b.c", "joint.b"),
            (&["join"], 0, "", ""),
            (&["gain"], 1, "gain", ""),
            (&["unknown"], 0, "", ""),
        ] {
            let listed = client.list(prefixes.iter().copied(), depth).wait(PATIENCE)?;
            assert_eq!(listed.names.join(" "), names, "{prefixes:?} {depth}");
            assert_eq!(listed.prefixes.join(" "), parents, "{prefixes:?} {depth}");
        }
    }
    Ok(())
}

#[test]
fn parameters_are_set_one_by_one_or_together() -> sinew::Result<()> {
    for path in PATHS {
        let pair = Pair::new(path);
        declare(&pair.owner)?;
        let client = client(&pair);
        let set = [
            named("gain", 2.0),
            named("unknown", 1),
            named("mode", "slow"),
            named("gain", 11.0),
            named("joint.a", 5.0),
            named("joint.a", 6),
            named("gain", 2), // an integer for a double
        ];
        let results = client.set(set.clone()).wait(PATIENCE)?;
        let reasons: Vec<_> = results.into_iter().map(|result| result.err().unwrap_or_default()).collect();
        let expected = [
            "",
            "parameter 'unknown' is not set: the node has declared none of that name",
            "parameter 'mode' is read-only: what its program was started with counts",
            "parameter 'gain' can't be 11.0: its range is 0.0 to 10.0",
            "parameter 'joint.a' is of type integer, and 5.0 is of type double; a whole number without a point, such as 3, would be right",
            "",
            "",
        ];
        assert_eq!(reasons, expected);
        assert_eq!(pair.owner.parameter_value("gain"), Some(2.0.into()));
        let together = |values: Vec<_>| match client.set_atomically(values).wait(PATIENCE) {
            Ok(()) => String::new(),
            Err(ParameterClientError::Refused { reason, .. }) => reason,
            Err(other) => panic!("{other}"),
        };
        assert_eq!(together(vec![named("gain", 3.0), named("unknown", 1)]), expected[1]);
        assert_eq!(together(vec![named("gain", 3.0), named("mode", "slow")]), expected[2]);
        assert_eq!(pair.owner.parameter_value("gain"), Some(2.0.into()));
        assert_eq!(together(vec![named("gain", 3.0), named("joint.a", 7)]), "");
        assert_eq!(client.get(["gain", "joint.a"]).wait(PATIENCE)?, [3.0.into(), integer(7)]);
        assert!(together(vec![]).starts_with("no parameter is to be set"));
    }
    Ok(())
}

#[test]
fn undeclared_ones_are_not_set_where_that_is_allowed() -> sinew::Result<()> {
    for path in PATHS {
        let made = |context: &Context| {
            let builder = context.node_builder("owner").allow_undeclared(true);
            builder.start_parameter_services(true).create().unwrap()
        };
        let pair = Pair::made(path, made);
        let client = client(&pair);
        assert_eq!(client.get(["x"]).wait(PATIENCE)?, [ParameterValue::NotSet]);
        assert_eq!(client.types(["x"]).wait(PATIENCE)?, [ParameterType::NotSet]);
        let described = client.describe(["x"]).wait(PATIENCE)?;
        assert_eq!((described[0].name.as_str(), described[0].kind), ("x", ParameterType::NotSet));
        client.set_one("x", 5).wait(PATIENCE)?;
        client.set_one("x", "other").wait(PATIENCE)?;
        assert_eq!(pair.owner.parameter_value("x"), Some("other".into()));
    }
    Ok(())
}

#[test]
fn a_value_of_a_type_that_there_is_not_is_refused() -> sinew::Result<()> {
    for path in PATHS {
        let pair = Pair::new(path);
        declare(&pair.owner)?;
        let raw = pair.asker.client::<srv::SetParameters>("/owner/set_parameters").create()?;
        let value = msg::ParameterValue { r#type: 42, ..Default::default() };
        let parameters = vec![msg::Parameter { name: "gain".to_owned(), value }];
        let answer = raw.call(srv::SetParametersRequest { parameters }, PATIENCE)?;
        assert_eq!(
            answer.results[0].reason,
            "parameter 'gain' is not set: the value's type is a number that ROS 2 doesn't have"
        );
    }
    Ok(())
}

#[test]
fn services_are_there_from_the_first_parameter_or_as_the_builder_says() -> sinew::Result<()> {
    let context = real_context();
    let asker = context.node("asker")?;
    let later = context.node("later")?;
    assert!(!is_served(&asker, "/later"));
    let _x = later.parameter("x").default(1).create()?;
    assert!(is_served(&asker, "/later"));
    let _early = context.node_builder("early").start_parameter_services(true).create()?;
    assert!(is_served(&asker, "/early"));
    let never = context.node_builder("never").start_parameter_services(false).create()?;
    let x = never.parameter("x").default(1).create()?;
    x.set(2)?;
    let client = asker.parameter_client("/never").list([""; 0], 0);
    assert!(matches!(client.wait(Duration::ZERO), Err(ParameterClientError::NoSuchNode { .. })));
    for service in SERVICES {
        let taken = asker
            .server::<srv::ListParameters>(&format!("/early/{service}"))
            .immediate_callback(|_: &srv::ListParametersRequest| srv::ListParametersResponse::default());
        assert!(matches!(taken.map(drop), Err(sinew::error::CreateError::ServiceTaken { .. })), "{service}");
    }
    Ok(())
}

const SERVICES: [&str; 6] = [
    "describe_parameters",
    "get_parameter_types",
    "get_parameters",
    "list_parameters",
    "set_parameters",
    "set_parameters_atomically",
];

/// Whether that node of the context serves its parameters, found out without a client of them: one
/// would have it begin to.
fn is_served(asker: &Node, node: &str) -> bool {
    let served = SERVICES.map(|service| {
        let name = format!("{node}/{service}");
        let made = asker
            .server::<srv::ListParameters>(&name)
            .immediate_callback(|_: &srv::ListParametersRequest| srv::ListParametersResponse::default());
        matches!(made, Err(sinew::error::CreateError::ServiceTaken { .. }))
    });
    assert!(served.iter().all(|one| *one == served[0]), "all, or none: {served:?}");
    served[0]
}

#[test]
fn a_node_without_parameters_serves_those_it_has_once_it_is_asked() -> sinew::Result<()> {
    for path in PATHS {
        let pair = Pair::new(path);
        let [context, _] = &pair.contexts;
        let (helper, other) = (context.node("helper")?, context.node("other")?);
        assert!(!is_served(&helper, "/owner") && pair.owner.list_parameters(&[], 0).is_empty());
        let client = client(&pair);
        let names = client.list([""; 0], 0).wait(PATIENCE)?.names;
        assert_eq!(names, ["use_sim_time"]);
        assert!(is_served(&helper, "/owner"));
        client.set_one("use_sim_time", true).wait(PATIENCE)?;
        assert_eq!(pair.owner.parameter_value("use_sim_time"), Some(true.into()));
        assert!(!is_served(&helper, "/other"), "of which nobody asks for anything");
        // What it declares from then on is there, too.
        let _x = pair.owner.parameter("x").default(1).create()?;
        assert_eq!(client.get(["x"]).wait(PATIENCE)?, [integer(1)]);
        drop(other);
    }
    Ok(())
}

#[test]
fn each_of_the_services_is_asked_for() -> sinew::Result<()> {
    let context = real_context();
    let asker = context.node("asker")?;
    for service in SERVICES {
        let name = format!("of_{service}");
        let _owner = context.node(&name)?;
        let _client = asker.client::<srv::ListParameters>(&format!("/{name}/{service}")).create()?;
        assert!(is_served(&asker, &format!("/{name}")), "{service}");
    }
    let owner = context.node("owner")?;
    let _other = asker.client::<srv::ListParameters>("/owner/list_parameters_of_it").create()?;
    assert!(!is_served(&asker, owner.full_name()));
    Ok(())
}

#[test]
fn a_node_that_comes_after_who_asks_for_it_answers() -> sinew::Result<()> {
    for path in PATHS {
        let pair = Pair::new(path);
        let [context, _] = &pair.contexts;
        let client = pair.asker.parameter_client("/late");
        std::thread::scope(|scope| {
            let asking = scope.spawn(|| client.list([""; 0], 0).wait(PATIENCE));
            let late = context.node("late")?;
            assert_eq!(asking.join().unwrap()?.names, ["use_sim_time"]);
            drop(late);
            // As long as there is a client, so does the next one.
            let _next = context.node("late")?;
            assert_eq!(client.list([""; 0], 0).wait(PATIENCE)?.names, ["use_sim_time"]);
            Ok::<(), sinew::Error>(())
        })?;
    }
    Ok(())
}

#[test]
fn a_node_that_comes_after_who_asked_went_has_nothing_to_serve() -> sinew::Result<()> {
    let context = real_context();
    let asker = context.node("asker")?;
    let ask = || asker.client::<srv::GetParameters>("/late/get_parameters").create();
    let (one, two) = (ask()?, ask()?);
    drop(one);
    let late = context.node("late")?;
    assert!(is_served(&asker, "/late"), "there is another one");
    drop((late, two));
    let _late = context.node("late")?;
    assert!(!is_served(&asker, "/late"));
    Ok(())
}

/// Also while another thread declares the node's first parameter.
#[test]
fn a_client_and_a_first_parameter_at_once() -> sinew::Result<()> {
    for path in PATHS {
        let pair = Pair::new(path);
        let [context, _] = &pair.contexts;
        for round in 0..20 {
            let name = format!("owner_{round}");
            let owner = context.node(&name)?;
            let asked = pair.asker.parameter_client(&name);
            finishes(move || {
                std::thread::scope(|scope| {
                    let asking = scope.spawn(|| asked.list([""; 0], 0).wait(PATIENCE));
                    let declared = owner.parameter("x").default(1).create();
                    assert_eq!(declared.unwrap().get(), 1);
                    assert!(asking.join().unwrap().unwrap().names.contains(&"use_sim_time".to_owned()));
                });
            });
        }
    }
    Ok(())
}

#[test]
fn a_second_node_of_the_name_has_parameters_of_its_own() -> sinew::Result<()> {
    let context = real_context();
    let [one, two] = [(); 2].map(|()| context.node("twin").unwrap());
    let _one = one.parameter("x").default(1).create()?;
    let second = two.parameter("x").default(2).create()?;
    assert_eq!((second.get(), one.parameter_value("x")), (2, Some(1.into())));
    Ok(())
}

/// A request that comes while a callback takes its time doesn't hold up the thread that brings it.
#[test]
fn a_request_waits_for_a_slow_change_without_a_thread() -> sinew::Result<()> {
    for path in PATHS {
        finishes(move || -> sinew::Result<()> {
            let pair = Pair::new(path);
            let x = pair.owner.parameter("x").default(0).create()?;
            let (entered, leave) = (Gate::new(), Gate::new());
            let (in_callback, go_on) = (entered.clone(), leave.clone());
            let _slow = pair.owner.on_set_parameters(move |values| {
                if values[0] == named("x", 1) {
                    in_callback.open();
                    go_on.wait();
                }
                Ok(())
            })?;
            let client = client(&pair);
            std::thread::scope(|scope| {
                let first = scope.spawn(|| x.set(1));
                entered.wait();
                let second = scope.spawn(|| client.set_one("x", 2).wait(PATIENCE));
                let values = pair.asker.parameter_client("/owner").get(["x"]).wait(PATIENCE).unwrap();
                assert_eq!(values, [integer(0)], "reading goes on");
                leave.open();
                first.join().unwrap().unwrap();
                second.join().unwrap().unwrap();
            });
            assert_eq!(x.get(), 2);
            Ok(())
        })?;
    }
    Ok(())
}

#[test]
fn a_caller_gets_a_failure_if_a_callback_panics() -> sinew::Result<()> {
    for path in PATHS {
        let pair = Pair::new(path);
        let _x = pair.owner.parameter("x").default(0).create()?;
        let _panics = pair.owner.on_set_parameters(|values| {
            assert!(values[0] != named("x", 13), "not thirteen");
            Ok(())
        })?;
        let client = client(&pair);
        let error = client.set_one("x", 13).wait(PATIENCE).unwrap_err();
        assert!(matches!(error, ParameterClientError::Call { .. }), "{error}");
        client.set_one("x", 14).wait(PATIENCE)?;
    }
    Ok(())
}

/// Also if the command line has values for its parameters, and another node asks for them.
#[test]
fn a_bare_node_has_no_endpoints_but_those_that_are_made() -> sinew::Result<()> {
    let given = ["use_sim_time:=false", "start_type_description_service:=true", "rate:=7"];
    let given = given.into_iter().flat_map(|parameter| ["-p", parameter]);
    let line = ["n", "--ros-args"].into_iter().chain(given);
    let context = Context::builder().arguments(line).shared_memory(false).domain(0).build()?;
    let asker = context.node("asker")?;
    let parameters = asker.parameter_client("/bare");
    let bare = context.node_builder("bare").bare().create()?;
    let endpoints = |node: &str| asker.graph().endpoints_of_node(node).len();
    let rate = bare.parameter("rate").default(1).create()?;
    assert_eq!(rate.get(), 1, "no value comes from the command line");
    assert_eq!(endpoints("/bare"), 0);
    let asked = parameters.list([""; 0], 0).wait(Duration::ZERO);
    assert!(matches!(asked, Err(ParameterClientError::NoSuchNode { .. })));
    let _numbers = bare.publisher::<msg::ParameterEvent>("numbers").create()?;
    assert_eq!(endpoints("/bare"), 1);
    let builder = context.node_builder("served").bare().start_parameter_services(true);
    let _served = builder.start_parameter_event_publisher(true).create()?;
    assert_eq!(endpoints("/served"), 7, "what is asked for later counts");
    Ok(())
}
