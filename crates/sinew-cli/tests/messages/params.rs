//! `sinew param`, on nodes of this process.

use std::fs;

use serde_json::{Value, json};
use sinew::parameters::ParameterValue;
use sinew::prelude::*;

use crate::Base;

/// Returns the command's output, its exit code, and its standard error.
fn sinew(base: &Base, arguments: &[&str]) -> (String, i32, String) {
    let output = base.command(&[&["param"], arguments].concat()).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (text(&output.stdout), output.status.code().unwrap(), text(&output.stderr))
}

#[track_caller]
fn text(base: &Base, arguments: &[&str]) -> String {
    let (printed, code, said) = sinew(base, arguments);
    assert_eq!((code, said.as_str()), (0, ""), "{arguments:?}");
    printed
}

#[track_caller]
fn json(base: &Base, arguments: &[&str]) -> Value {
    serde_json::from_str(&text(base, &[arguments, &["--json"]].concat())).unwrap()
}

#[track_caller]
fn failure(base: &Base, arguments: &[&str]) -> String {
    let (_, code, said) = sinew(base, arguments);
    assert_eq!(code, 1, "{arguments:?}");
    said
}

/// `/left/camera` with a parameter of each kind, and `/other`.
fn nodes(context: &Context) -> sinew::Result<[Node; 2]> {
    let camera = context.node_in("/left", "camera")?;
    let _ = camera
        .parameter("gain")
        .default(1.5)
        .range_in_steps(0.0..=10.0, 0.5)
        .description("How much.")
        .create()?;
    let _ = camera.parameter("lens.k1").default(2).create()?;
    let _ = camera.parameter("mode").default("fast".to_owned()).read_only().create()?;
    let _ = camera.parameter("names").default(vec!["a b".to_owned(), "on".to_owned()]).create()?;
    let _ = camera.parameter("empty").optional::<f64>().create()?;
    let _ = camera.parameter("any").dynamic(1).create()?;
    let other = context.node("other")?;
    let _ = other.parameter("x").default(true).create()?;
    let _plain = context.node("without")?;
    Ok([camera, other])
}

const ALL: &str = "any\nempty\ngain\nlens.k1\nmode\nnames\nuse_sim_time\n";

#[test]
fn names_values_and_descriptions_are_told() -> sinew::Result<()> {
    let base = Base::new();
    let context = base.context();
    let _nodes = nodes(&context)?;
    assert_eq!(text(&base, &["list", "left/camera"]), ALL);
    let indented: String = ALL.lines().map(|line| format!("  {line}\n")).collect();
    let every = format!("/left/camera:\n{indented}/other:\n  use_sim_time\n  x\n");
    assert_eq!(text(&base, &["list"]), every);
    assert_eq!(text(&base, &["list", "/left/camera", "--param-prefixes", "lens"]), "lens.k1\n");
    assert_eq!(
        text(&base, &["list", "/other", "--param-type"]),
        "use_sim_time (type: bool)\nx (type: bool)\n"
    );
    assert_eq!(
        json(&base, &["list", "/other"]),
        json!([{"node": "/other", "parameters": ["use_sim_time", "x"]}])
    );

    assert_eq!(text(&base, &["get", "/left/camera", "gain"]), "Double value is: 1.5\n");
    assert_eq!(text(&base, &["get", "/left/camera", "mode", "--hide-type"]), "fast\n");
    assert_eq!(text(&base, &["get", "/left/camera", "names"]), "String array value is: [\"a b\", \"on\"]\n");
    assert_eq!(
        json(&base, &["get", "/left/camera", "gain"]),
        json!({"node": "/left/camera", "name": "gain", "type": "double", "value": 1.5})
    );
    let told = text(&base, &["describe", "/left/camera", "gain", "mode"]);
    assert_eq!(
        told,
        "Parameter name: gain\n  Type: double\n  Description: How much.\n  Range: 0.0 to 10.0, in steps of 0.5\n\
         Parameter name: mode\n  Type: string\n  Read only: true\n"
    );
    let described = json(&base, &["describe", "/left/camera"]);
    assert_eq!(described.as_array().unwrap().len(), 7);
    assert_eq!(described[2]["floating_point_range"], json!({"from": 0.0, "to": 10.0, "step": 0.5}));

    let said = failure(&base, &["get", "/left/camera", "gian"]);
    assert!(
        said.contains("no parameter of the node is called gian") && said.contains("did you mean gain?"),
        "{said}"
    );
    let said = failure(&base, &["describe", "/left/camera", "gain", "nope", "mode"]);
    assert!(said.starts_with("sinew: no parameter of the node is called nope in domain 0"), "{said}");
    let said = failure(&base, &["get", "/left/camera", "empty"]);
    assert!(said.contains("or has no value: empty"), "{said}");
    let said = failure(&base, &["list", "/left/camra"]);
    assert!(
        said.contains("no node with parameters is called /left/camra") && said.contains("/left/camera"),
        "{said}"
    );
    failure(&base, &["list", "/without"]);
    Ok(())
}

#[test]
fn nodes_without_parameters_are_asked_by_their_names_only() -> sinew::Result<()> {
    let base = Base::new();
    let context = base.context();
    let [one, _two] = [context.node("one")?, context.node("two")?];
    let _hidden = context.node("_hidden")?;
    let services = || base.text(&["service", "list", "--all"]);
    let (printed, code, said) = sinew(&base, &["list"]);
    assert_eq!((printed.as_str(), code), ("", 0));
    assert!(said.starts_with("sinew: the 2 nodes in domain 0 have declared no parameters; "), "{said}");
    assert_eq!(services(), "", "who looks around changes nothing");
    assert_eq!(base.text(&["topic", "list", "--all"]), "");

    assert_eq!(text(&base, &["list", "/one"]), "use_sim_time\n");
    assert!(services().contains("/one/list_parameters") && !services().contains("/two/"), "{}", services());
    let three = context.node("three")?;
    assert_eq!(text(&base, &["set", "/three", "use_sim_time", "true"]), "Set parameter successful\n");
    assert_eq!(three.parameter_value("use_sim_time"), Some(true.into()));
    assert_eq!(one.parameter_value("use_sim_time"), Some(true.into()), "of one context");
    let (printed, _, said) = sinew(&base, &["list"]);
    assert_eq!(printed, "/one:\n  use_sim_time\n/three:\n  use_sim_time\n");
    assert!(said.starts_with("sinew: one other node has declared no parameters"), "{said}");
    let _silent = context.node_builder("silent").start_parameter_services(false).create()?;
    let said = failure(&base, &["list", "/silent", "--timeout", "0.5"]);
    assert!(said.starts_with("sinew: no node /silent has served its parameters within"), "{said}");
    Ok(())
}

#[test]
fn what_nodes_say_of_parameters_is_harmless() -> sinew::Result<()> {
    let base = Base::new();
    let context = base.context();
    let node = context.node("arm")?;
    let _ = node
        .parameter("mode")
        .default("\x1b[2Jon\noff".to_owned())
        .description("\x1b]0;t\x07a\nb")
        .create()?;
    let told = text(&base, &["describe", "arm", "mode"]);
    assert_eq!(told, "Parameter name: mode\n  Type: string\n  Description: \\x1b]0;t\\x07a\n    b\n");
    assert_eq!(text(&base, &["get", "arm", "mode", "--hide-type"]), "\\x1b[2Jon\noff\n");
    assert_eq!(json(&base, &["get", "arm", "mode"])["value"], "\x1b[2Jon\noff");

    let said = "\u{9b}31m\u{202e}\u{200b}x";
    node.set_parameter("mode", said)?;
    let dumped = text(&base, &["dump", "arm"]);
    assert!(dumped.contains("mode: \"\\u009b31m\\u202e\\u200bx\"\n"), "{dumped}");
    let file = base.path().join("arm.yaml");
    fs::write(&file, dumped).unwrap();
    text(&base, &["load", "arm", file.to_str().unwrap()]);
    assert_eq!(node.parameter_value("mode"), Some(said.into()), "it is read back");
    let printed = text(&base, &["get", "arm", "mode", "--json"]);
    assert!(printed.contains("\\u009b31m\\u202e\\u200bx"), "{printed}");
    assert_eq!(json(&base, &["get", "arm", "mode"])["value"], said);
    Ok(())
}

#[test]
fn parameters_are_set_and_refused() -> sinew::Result<()> {
    let base = Base::new();
    let context = base.context();
    let [camera, _other] = nodes(&context)?;
    for (arguments, name, value) in [
        (["set", "/left/camera", "gain", "2"], "gain", ParameterValue::from(2.0)), // a double there
        (["set", "/left/camera", "lens.k1", "-7"], "lens.k1", (-7).into()),
        (["set", "/left/camera", "any", "text"], "any", "text".into()),
        (["set", "/left/camera", "any", "1.5"], "any", 1.5.into()), // dynamic typing
        (["set", "/left/camera", "any", "7"], "any", 7.into()),
        (["set", "/left/camera", "names", "[x, z]"], "names", vec!["x".to_owned(), "z".to_owned()].into()),
    ] {
        assert_eq!(text(&base, &arguments), "Set parameter successful\n");
        assert_eq!(camera.parameter_value(name), Some(value));
    }
    for (arguments, reason) in [
        (
            ["set", "/left/camera", "gain", "11"],
            "parameter 'gain' can't be 11.0: its range is 0.0 to 10.0, in steps of 0.5\n",
        ),
        (
            ["set", "/left/camera", "mode", "1"],
            "parameter 'mode' is read-only: what its program was started with counts\n",
        ),
        (
            ["set", "/left/camera", "gian", "1"],
            "parameter 'gian' is not set: the node has declared none of that name; did you mean gain?\n",
        ),
        (
            ["set", "/left/camera", "lens.k1", "[1, a]"],
            "the value can't be read: line 1, column 5: the elements of a list are of one type",
        ),
    ] {
        let said = failure(&base, &arguments);
        assert!(said.contains(reason), "{said}");
    }
    let (printed, code, _) = sinew(&base, &["set", "/left/camera", "gain", "11", "--json"]);
    let told: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!((code, &told[0]["successful"]), (1, &json!(false)));
    assert_eq!(text(&base, &["delete", "/left/camera", "any"]), "Set parameter successful\n");
    assert_eq!(camera.parameter_value("any"), None);
    failure(&base, &["delete", "/left/camera", "gain"]);
    Ok(())
}

#[test]
fn what_is_dumped_can_be_loaded() -> sinew::Result<()> {
    let base = Base::new();
    let context = base.context();
    let [camera, _other] = nodes(&context)?;
    let dumped = text(&base, &["dump", "/left/camera"]);
    let expected = "/left/camera:\n  ros__parameters:\n    any: 1\n    # empty: not set\n    gain: 1.5\n    lens.k1: 2\n    \
                    mode: \"fast\"\n    names: [\"a b\", \"on\"]\n    use_sim_time: false\n";
    assert_eq!(dumped, expected);
    let file = base.path().join("camera.yaml");
    fs::write(&file, dumped.replace("1.5", "3.5").replace("a b", "c d").replace("    mode: \"fast\"\n", ""))
        .unwrap();
    let loaded = text(&base, &["load", "/left/camera", file.to_str().unwrap()]);
    let names = ["any", "gain", "lens.k1", "names", "use_sim_time"];
    assert_eq!(loaded, names.map(|name| format!("Set parameter {name} successful\n")).concat());
    assert_eq!(camera.parameter_value("gain"), Some(3.5.into()));
    assert_eq!(camera.parameter_value("names"), Some(vec!["c d".to_owned(), "on".to_owned()].into()));

    // Also unchanged, although one of them is read-only.
    fs::write(&file, text(&base, &["dump", "/left/camera"])).unwrap();
    let (loaded, code, said) = sinew(&base, &["load", "/left/camera", file.to_str().unwrap()]);
    assert_eq!(loaded, names.map(|name| format!("Set parameter {name} successful\n")).concat());
    let expected = "sinew: left out, as they are read-only and have these values: mode\n";
    assert_eq!((code, said.as_str()), (0, expected));
    fs::write(&file, "/**: {ros__parameters: {mode: fast}}").unwrap();
    let (loaded, code, said) = sinew(&base, &["load", "/left/camera", file.to_str().unwrap()]);
    assert_eq!((loaded.as_str(), code, said.as_str()), ("", 0, expected));

    fs::write(&file, "/left/camera: {ros__parameters: {gain: 4.0}}").unwrap();
    let said = failure(&base, &["load", "/other", file.to_str().unwrap()]);
    assert!(said.contains("gives no parameter of node /other a value"), "{said}");
    fs::write(&file, "/**: {ros__parameters: {gain: 4.0, mode: slow, lens: {k2: 1}}}").unwrap();
    let (printed, code, said) = sinew(&base, &["load", "/left/camera", file.to_str().unwrap()]);
    assert!(printed.contains("Set parameter mode failed: parameter 'mode' is read-only: "));
    assert!(printed.contains("none of that name; did you mean lens.k1?"), "{printed}");
    assert_eq!((code, said.contains("has not set 2 of its parameters")), (1, true));
    fs::write(&file, "/**: {ros__parameters: {gain: 4}}").unwrap();
    assert_eq!(text(&base, &["load", "/left/camera", file.to_str().unwrap()]), "Set parameter successful\n");
    assert_eq!(camera.parameter_value("gain"), Some(4.0.into()));
    fs::write(&file, "left:\n  camera: {ros__parameters: {gain: }}\n").unwrap();
    let said = failure(&base, &["load", "/left/camera", file.to_str().unwrap()]);
    assert!(said.contains("camera.yaml can't be read: line 2, column 30: there is no value"), "{said}");
    camera.set_parameter("any", 1.5)?;
    fs::write(&file, "/**: {ros__parameters: {any: 4}}").unwrap();
    assert_eq!(text(&base, &["load", "/left/camera", file.to_str().unwrap()]), "Set parameter successful\n");
    assert_eq!(camera.parameter_value("any"), Some(4.into()), "of dynamic typing");
    camera.set_parameter("any", vec![f64::NAN, f64::INFINITY])?;
    let dumped = text(&base, &["dump", "/left/camera"]);
    assert!(dumped.contains("\n    any: [.nan, .inf]\n"), "{dumped}");
    assert_eq!(
        json(&base, &["dump", "/other"]),
        json!({"node": "/other", "parameters": {"use_sim_time": false, "x": true}})
    );
    Ok(())
}
