//! Declaring parameters.

use super::{named, node};
use sinew::error::{CreateError, ParameterError};
use sinew::parameters::{ParameterType, ParameterValue, Parameters};
use sinew::prelude::*;
use std::sync::Arc;

fn problem<T>(result: Result<T, CreateError>) -> ParameterError {
    match result.map(drop).unwrap_err() {
        CreateError::Parameter(error) => error,
        other => panic!("{other}"),
    }
}

#[test]
fn handles_read_values_of_every_type() -> sinew::Result<()> {
    let node = node();
    assert!(node.parameter("bool").default(true).create()?.get());
    assert_eq!(node.parameter("i64").default(-5_i64).create()?.get(), -5);
    assert_eq!(node.parameter("u8").default(200_u8).create()?.get(), 200);
    assert_eq!(node.parameter("i16").default(-3_i16).create()?.get(), -3);
    assert_eq!(node.parameter("usize").default(7_usize).create()?.get(), 7);
    assert_eq!(node.parameter("f64").default(0.5).create()?.get(), 0.5);
    assert_eq!(node.parameter("f32").default(0.25_f32).create()?.get(), 0.25);
    assert_eq!(*node.parameter("string").default("x".to_owned()).create()?.get(), "x");
    assert_eq!(*node.parameter("bytes").default(vec![1_u8, 2]).create()?.get(), [1, 2]);
    assert_eq!(*node.parameter("bools").default(vec![true]).create()?.get(), [true]);
    assert_eq!(*node.parameter("integers").default(vec![1_i64]).create()?.get(), [1]);
    assert_eq!(*node.parameter("doubles").default(vec![1.5]).create()?.get(), [1.5]);
    assert_eq!(*node.parameter("strings").default(vec!["a".to_owned()]).create()?.get(), ["a"]);
    assert_eq!(*node.parameter("nothing").optional::<f64>().create()?.get(), None);
    let kinds =
        ["bool", "i64", "u8", "f32", "string", "bytes", "bools", "integers", "doubles", "strings", "nothing"];
    let kind = |name: &str| node.describe_parameter(name).unwrap().kind as u8;
    assert_eq!(kinds.map(kind), [1, 2, 2, 3, 4, 5, 6, 7, 8, 9, 3]);
    assert_eq!(node.parameter_value("nothing"), Some(ParameterValue::NotSet));
    assert_eq!(node.parameter_value("unknown"), None);
    Ok(())
}

#[test]
fn what_its_type_cannot_hold_is_refused() -> sinew::Result<()> {
    let node = node();
    let ratio = node.parameter("ratio").default(0.5_f32).create()?;
    assert!(ratio.set(f32::MAX).is_ok() && ratio.set(f32::INFINITY).is_ok());
    let error = node.set_parameter("ratio", 1e300).unwrap_err().to_string();
    assert!(error.contains("1e300 is not between") || error.contains("is not between -340"), "{error}");
    assert!(ratio.get().is_infinite(), "as it was");
    let share = node.parameter("share").default(0.5).range(0.0..=1.0).create()?;
    for beyond in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN, f64::MAX] {
        assert!(share.set(beyond).is_err(), "{beyond}");
    }
    let step = node.parameter("step").default(0).range_in_steps(0..=10, -4).create()?;
    assert!(step.set(8).is_ok() && step.set(9).is_err(), "the sign of a step says nothing");
    Ok(())
}

#[test]
fn a_descriptor_says_what_the_builder_said() -> sinew::Result<()> {
    let node = node();
    let _gain = node
        .parameter("gain")
        .default(1.0)
        .description("Proportional gain.")
        .constraints("Not above 5 indoors.")
        .range_in_steps(0.0..=10.0, 0.5)
        .read_only()
        .create()?;
    let gain = node.describe_parameter("gain").unwrap();
    assert_eq!((gain.name.as_str(), gain.kind), ("gain", ParameterType::Double));
    assert_eq!(
        (gain.description.as_str(), gain.read_only, gain.dynamic_typing),
        ("Proportional gain.", true, false)
    );
    assert_eq!(gain.additional_constraints, "Not above 5 indoors.");
    let range = gain.double_range.unwrap();
    assert_eq!((range.from, range.to, range.step), (0.0, 10.0, 0.5));
    let _narrow = node.parameter("narrow").default(3_i8).create()?;
    let range = node.describe_parameter("narrow").unwrap().integer_range.unwrap();
    assert_eq!((range.from, range.to, range.step), (-128, 127, 0));
    Ok(())
}

#[test]
fn a_parameter_that_cannot_be_declared_is_an_error() -> sinew::Result<()> {
    let node = node();
    let _x = node.parameter("x").default(1).create()?;
    let again = problem(node.parameter("x").default(1).create());
    assert!(matches!(again, ParameterError::AlreadyDeclared { ref name, .. } if name == "x"));
    assert!(again.to_string().contains("has already been declared"));
    let unnamed = problem(node.parameter("").default(1).create());
    assert!(matches!(unnamed, ParameterError::EmptyName { .. }));
    let required = problem(node.parameter("required").required::<f64>().create());
    assert!(matches!(required, ParameterError::Uninitialized { kind: ParameterType::Double, .. }));
    assert!(required.to_string().contains("--ros-args -p required:=.."));
    let beyond = problem(node.parameter("beyond").default(11).range(0..=10).create());
    assert_eq!(
        beyond.to_string(),
        "parameter 'beyond' of node /n could not be set: it can't be 11: its range is 0 to 10"
    );
    assert_eq!(node.list_parameters(&[], 0), ["use_sim_time", "x"], "nothing else is declared");
    Ok(())
}

#[test]
fn an_integer_that_ros_cannot_hold_is_refused() -> sinew::Result<()> {
    let node = node();
    let beyond = problem(node.parameter("beyond").default(u64::MAX).create());
    assert_eq!(
        beyond.to_string(),
        "parameter 'beyond' of node /n could not be set: 18446744073709551615 is greater than \
         9223372036854775807, the greatest integer of a parameter"
    );
    let id = node.parameter("id").default(7_u64).create()?;
    let refused = id.set(1_u64 << 63).unwrap_err();
    assert!(matches!(refused, ParameterError::Refused { .. }));
    assert!(refused.to_string().contains("parameter 'id' is not set: 9223372036854775808 is greater"));
    assert_eq!(id.get(), 7);
    id.set(u64::MAX >> 1)?;
    assert_eq!(id.get(), u64::MAX >> 1);
    let given = node.parameter("given").optional::<usize>().create()?;
    assert!(given.set(Some(usize::MAX)).is_err());
    assert_eq!(*given.get(), None);
    Ok(())
}

#[test]
fn an_f32_has_the_double_with_its_digits() -> sinew::Result<()> {
    #[derive(Parameters)]
    struct Limits {
        #[parameter(default = 0.7, range = 0.1..=0.7)]
        limit: f32,
    }
    let line = ["n", "--ros-args", "-p", "gain:=0.1", "-p", "limit:=0.1"];
    let node = Context::builder().arguments(line).shared_memory(false).domain(0).build()?.node("n")?;
    let gain = node.parameter("gain").default(0.5_f32).range(0.1..=1.0).create()?;
    assert_eq!(gain.get(), 0.1);
    gain.set(0.7_f32)?;
    assert_eq!((gain.get(), node.parameter_value("gain")), (0.7, Some(0.7.into())));
    let limits = node.parameters::<Limits>()?;
    assert_eq!(limits.get().limit, 0.1);
    node.set_parameter("limit", 0.7)?;
    let step = node.parameter("step").default(0.5_f32).range_in_steps(0.0..=1.0, 0.1).create()?;
    node.set_parameter("step", 0.3)?;
    assert_eq!(step.get(), 0.3);
    assert!(step.set(0.35).is_err());
    let any = node.parameter("any").default(0.0_f32).create()?;
    for value in [f32::MAX, f32::MIN_POSITIVE, 7.038531e-26, -0.0, 1.0 / 3.0, f32::NEG_INFINITY] {
        any.set(value)?;
        assert_eq!(any.get().to_bits(), value.to_bits(), "{value}");
    }
    Ok(())
}

#[test]
fn ranges_hold_their_ends_and_the_multiples_of_their_step() -> sinew::Result<()> {
    let node = node();
    let step = node.parameter("step").default(1.0).range_in_steps(1.0..=2.05, 0.1).create()?;
    for (value, is_allowed) in [
        (1.0, true),
        (1.3, true),
        (1.999_999_999_999_999_9, true),
        (2.0, true),
        (2.05, true),
        (1.05, false),
        (2.1, false),
        (0.9, false),
        (f64::NAN, false),
    ] {
        assert_eq!(step.set(value).is_ok(), is_allowed, "{value}");
    }
    let whole = node.parameter("whole").default(2_i64).range_in_steps(2..=9, 3).create()?;
    for (value, is_allowed) in
        [(2, true), (5, true), (8, true), (9, true), (3, false), (1, false), (10, false)]
    {
        assert_eq!(whole.set(value).is_ok(), is_allowed, "{value}");
    }
    let all = node.parameter("all").default(0_i64).range(i64::MIN..=i64::MAX).create()?;
    for value in [i64::MIN, -1, i64::MAX] {
        assert!(all.set(value).is_ok());
    }
    assert_eq!(all.get(), i64::MAX);
    Ok(())
}

#[test]
fn on_set_callbacks_are_asked_for_initial_values() -> sinew::Result<()> {
    let node = node();
    let _asked = node.on_set_parameters(|values| match values {
        [one] if *one == named("bad", 1) => Err("not this one".to_owned()),
        _ => Ok(()),
    })?;
    let refused = problem(node.parameter("bad").default(1).create());
    assert_eq!(refused.to_string(), "parameter 'bad' of node /n could not be set: not this one");
    assert_eq!(node.parameter("good").default(1).create()?.get(), 1);
    Ok(())
}

#[test]
fn dynamic_parameters_are_undeclared_and_handles_keep_the_last_value() -> sinew::Result<()> {
    let node = node();
    let any = node.parameter("any").dynamic("text").create()?;
    let fixed = node.parameter("fixed").default(1).create()?;
    any.set(5)?;
    assert_eq!(node.describe_parameter("any").unwrap().kind, ParameterType::Integer);
    node.undeclare_parameter("any")?;
    assert_eq!(*any.get(), ParameterValue::Integer(5));
    assert!(matches!(any.set(6), Err(ParameterError::NotDeclared { .. })));
    let error = node.undeclare_parameter("fixed").unwrap_err();
    assert!(error.to_string().contains("only one with dynamic typing can"));
    assert!(matches!(node.undeclare_parameter("any"), Err(ParameterError::NotDeclared { .. })));
    assert_eq!(fixed.get(), 1);
    // Declared again, it is another one.
    let again = node.parameter("any").dynamic(7).create()?;
    assert_eq!((&*any.get(), &*again.get()), (&ParameterValue::Integer(5), &ParameterValue::Integer(7)));
    Ok(())
}

#[test]
fn a_parameter_keeps_its_node_and_ends_with_it() -> sinew::Result<()> {
    let context = super::real_context();
    let gain = context.node("kept")?.parameter("gain").default(1).create()?;
    gain.set(2)?;
    let client = context.node("asker")?.parameter_client("/kept");
    assert_eq!(client.get(["gain"]).wait(Duration::from_secs(60))?, [super::integer(2)]);
    drop(gain);
    let gone = client.get(["gain"]).wait(Duration::ZERO);
    assert!(matches!(gone, Err(sinew::error::ParameterClientError::NoSuchNode { .. })), "{gone:?}");
    Ok(())
}

#[test]
fn reading_and_setting_go_on_at_the_same_time() -> sinew::Result<()> {
    let node = node();
    let number = node.parameter("number").default(0_u64).create()?;
    let text = node.parameter("text").default(String::new()).create()?;
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for n in 0..200_u64 {
                    number.set(n).unwrap();
                    text.set(n.to_string()).unwrap();
                }
            });
        }
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..2000 {
                    assert!(number.get() < 200);
                    let read: Arc<String> = text.get();
                    assert!(read.is_empty() || read.parse::<u64>().unwrap() < 200);
                }
            });
        }
    });
    assert_eq!((number.get(), text.get().as_str()), (199, "199"));
    Ok(())
}
