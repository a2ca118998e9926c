//! What command line, files and the program say instead of defaults.

use super::named;
use crate::support::real_context;
use sinew::error::{CreateError, ParameterError};
use sinew::parameters::ParameterValue;
use sinew::prelude::*;

fn with(line: &str) -> Context {
    let line = std::iter::once("program").chain(line.split_whitespace());
    Context::builder().arguments(line).shared_memory(false).domain(0).build().unwrap()
}

#[test]
fn overrides_count_more_than_defaults() -> sinew::Result<()> {
    let context = with("--ros-args -r __ns:=/ns -r a:__node:=b -p /ns/b:x:=1 -p /**:y:=2 -p c:z:=3");
    let node = context.node("a")?;
    assert_eq!(node.full_name(), "/ns/b");
    assert_eq!(node.parameter("x").default(0).create()?.get(), 1, "by the name after remapping");
    assert_eq!(node.parameter("y").default(0).read_only().create()?.get(), 2, "read-only ones as well");
    assert_eq!(node.parameter("z").default(0).create()?.get(), 0);
    let ignoring = context.node("c")?;
    assert_eq!(ignoring.parameter("y").default(0).ignore_overrides().create()?.get(), 0);
    let wrong = ignoring.parameter("x.y").default(0).create();
    assert!(wrong.is_ok());
    Ok(())
}

#[test]
fn an_override_of_another_type_is_an_error() -> sinew::Result<()> {
    let node = with("--ros-args -p gain:=fast -p any:=x -p port:=8080").node("n")?;
    let error = node.parameter("gain").default(1.0).create().map(drop).unwrap_err();
    let CreateError::Parameter(ParameterError::InvalidType { reason, .. }) = &error else {
        panic!("{error}")
    };
    assert_eq!(
        reason,
        "it is of type double, and \"fast\" is of type string; a number, such as 1.5, would be right"
    );
    assert_eq!(
        error.to_string(),
        format!(
            "parameter 'gain' of node /n can't have the value that the command line, a parameter file or the node's \
             builder gives it: {reason}"
        )
    );
    let error = node.parameter("port").default("/dev/tty".to_owned()).create().map(drop).unwrap_err();
    assert!(error.to_string().ends_with("a text in quotes, such as \"8080\", would be right"), "{error}");
    assert_eq!(*node.parameter("any").dynamic(1).create()?.get(), ParameterValue::from("x"));
    Ok(())
}

#[test]
fn integers_on_the_command_line_and_in_files_are_doubles_where_one_is_declared() -> sinew::Result<()> {
    let file = std::env::temp_dir().join(format!("sinew-wide-{}.yaml", std::process::id()));
    std::fs::write(&file, "/**: {ros__parameters: {rate: 30, list: [1, 2.5, 3], bytes: [1, 255]}}").unwrap();
    let line = format!("--ros-args --params-file {} -p gain:=3 -p others:=[1,2]", file.display());
    let node = with(&line).node_builder("n").parameter_override("own", 5).create()?;
    std::fs::remove_file(&file).unwrap();
    assert_eq!(node.parameter("gain").default(1.5).create()?.get(), 3.0);
    assert_eq!(node.parameter("rate").required::<f32>().create()?.get(), 30.0);
    assert_eq!(*node.parameter("list").default(vec![0.5]).create()?.get(), [1.0, 2.5, 3.0]);
    assert_eq!(*node.parameter("others").default(vec![0.5]).create()?.get(), [1.0, 2.0]);
    assert_eq!(*node.parameter("bytes").default(vec![0_u8]).create()?.get(), [1, 255]);
    assert_eq!(*node.parameter("own").optional::<f64>().create()?.get(), Some(5.0));
    Ok(())
}

#[test]
fn the_program_counts_more_than_the_command_line() -> sinew::Result<()> {
    let context = with("--ros-args -p x:=1 -p y:=1");
    let node = context.node_builder("n").parameter_override("x", 2).create()?;
    assert_eq!(node.parameter("x").default(0).create()?.get(), 2);
    assert_eq!(node.parameter("y").default(0).create()?.get(), 1);
    Ok(())
}

#[test]
fn overrides_are_declared_if_that_is_wanted() -> sinew::Result<()> {
    let context = with("--ros-args -p a.b:=1 -p c:=[x,z]");
    let node = context.node_builder("n").parameter_override("d", 2.5).declare_overrides(true).create()?;
    assert_eq!(node.list_parameters(&[], 0), ["a.b", "c", "d", "use_sim_time"]);
    let texts = vec!["x".to_owned(), "z".to_owned()];
    assert_eq!(node.parameter_value("c"), Some(ParameterValue::StringArray(texts)));
    node.set_parameter("d", "any type")?;
    assert!(node.parameter("a.b").default(0).create().is_err(), "it is declared already");
    Ok(())
}

#[test]
fn a_file_speaks_of_nodes_by_their_names() -> sinew::Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("params.yaml");
    let text = "\
/**:
  ros__parameters:
    rate: 10
    frame: base
left:
  camera:
    ros__parameters:
      rate: 20
      lens: {k1: 0.5, k2: 0.25}
";
    std::fs::write(&file, text).unwrap();
    let context = with(&format!("--ros-args --params-file {} -p frame:=map", file.display()));
    let camera = context.node_in("/left", "camera")?;
    let other = context.node("camera")?;
    let rate = |node: &Node| node.parameter("rate").default(1).create().unwrap().get();
    assert_eq!((rate(&camera), rate(&other)), (20, 10));
    assert_eq!(*camera.parameter("frame").default(String::new()).create()?.get(), "map");
    assert_eq!(camera.parameter("lens.k2").default(0.0).create()?.get(), 0.25);
    Ok(())
}

#[test]
fn an_unreadable_file_is_an_error_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("params.yaml");
    std::fs::write(&file, "a:\n  ros__parameters:\n    x: [1, a]\n").unwrap();
    let line = ["p", "--ros-args", "--params-file", file.to_str().unwrap()];
    let error = Context::builder().arguments(line).build().map(drop).unwrap_err();
    assert!(
        error.to_string().contains("params.yaml` (argument 3) can't be read: line 3, column 12: "),
        "{error}"
    );
}

#[test]
fn sim_time_may_be_given_to_a_node_without_parameters() -> sinew::Result<()> {
    let node = with("--ros-args -p use_sim_time:=true").node("n")?;
    assert_eq!(node.parameter_value("use_sim_time"), Some(true.into()));
    assert!(node.set_parameter("use_sim_time", "yes").is_err(), "only a truth");
    node.set_parameter("use_sim_time", false)?;
    let wrong = with("--ros-args -p use_sim_time:=soon").node("n").map(drop);
    assert!(matches!(wrong, Err(CreateError::Parameter(ParameterError::InvalidType { .. }))));
    let plain = real_context().node("n")?;
    assert!(plain.list_parameters(&[], 0).is_empty(), "a node without parameters has no table");
    let _x = plain.parameter("x").default(1).create()?;
    assert_eq!(plain.parameter_value("use_sim_time"), Some(false.into()));
    plain.set_parameters([named("use_sim_time", true), named("x", 2)])?;
    Ok(())
}

#[test]
fn nodes_of_a_context_agree_on_sim_time() -> sinew::Result<()> {
    let context = with("--ros-args -p /a:use_sim_time:=true -p /b:use_sim_time:=false");
    let uses = |node: &Node| node.parameter_value("use_sim_time");
    let (a, c) = (context.node("a")?, context.node("c")?);
    let _x = c.parameter("x").default(1).create()?;
    assert_eq!([uses(&a), uses(&c)], [Some(true.into()), Some(true.into())]);
    let listener = context.node("listener")?;
    let events = listener.parameter_client("c").events().create()?;
    let b = context.node("b")?;
    assert_eq!([&a, &b, &c].map(uses), [(); 3].map(|()| Some(false.into())), "the last word counts");
    assert!(!context.uses_sim_time());
    assert_eq!(events.take().unwrap().0.changed_parameters[0].name, "use_sim_time");
    c.set_parameter("use_sim_time", true)?;
    assert_eq!([&a, &b, &c].map(uses), [(); 3].map(|()| Some(true.into())));
    context.use_sim_time(false)?;
    assert_eq!([&a, &b, &c].map(uses), [(); 3].map(|()| Some(false.into())), "also if the program says so");
    Ok(())
}
