//! Every rule of parameter files, and invalid texts.

use super::super::{Overrides, ParameterFile};
use super::{ParameterTextError, read, value};
use crate::parameters::value::{NamedValue, ParameterValue as V};
use proptest::prelude::*;

/// Returns a file's values for a node: `name=value`, in the order of the names.
fn said(text: &str, node: &str) -> String {
    let mut overrides = Overrides::default();
    overrides.extend(read(text).unwrap_or_else(|problem| panic!("{text}: {problem}")), None);
    let said: Vec<_> = overrides.of(node).iter().map(|(name, value)| format!("{name}={value}")).collect();
    said.join(" ")
}

#[test]
fn files_say_something_of_nodes() {
    for (text, node, expected) in [
        ("", "/a", ""),
        ("# nothing\n", "/a", ""),
        ("a:\n  ros__parameters:\n", "/a", ""),
        ("a:\n  ros__parameters: {}\n", "/a", ""),
        ("a:\n  ros__parameters:\n    x: 1\n", "/a", "x=1"),
        ("/a:\n  ros__parameters:\n    x: 1\n", "/a", "x=1"),
        ("a:\n  ros__parameters:\n    x: 1\n", "/ns/a", ""),
        ("ns:\n  a:\n    ros__parameters:\n      x: 1\n", "/ns/a", "x=1"),
        ("/ns:\n  a:\n    ros__parameters:\n      x: 1\n", "/ns/a", "x=1"),
        ("ns/a:\n  ros__parameters:\n    x: 1\n", "/ns/a", "x=1"),
        ("/n/s:\n  t/a:\n    ros__parameters:\n      x: 1\n", "/n/s/t/a", "x=1"),
        ("ns: {a: {ros__parameters: {x: 1}}, b: {ros__parameters: {x: 2}}}", "/ns/b", "x=2"),
        // Nested parameters.
        ("a: {ros__parameters: {x: {y: {z: 1}, v: 2}, w: 3}}", "/a", "w=3 x.v=2 x.y.z=1"),
        ("a: {ros__parameters: {x.y: 1, x: {z: 2}}}", "/a", "x.y=1 x.z=2"),
        // Wildcards, and repeated values.
        ("/**:\n  ros__parameters: {x: 1}\n", "/n/s/a", "x=1"),
        ("'*': {ros__parameters: {x: 1}}", "/a", "x=1"),
        ("\"*\": {ros__parameters: {x: 1}}", "/ns/a", ""),
        ("/*: {ros__parameters: {x: 1}}", "/a", "x=1"),
        ("/foo/**/cam: {ros__parameters: {x: 1}}", "/foo/b/c/cam", "x=1"),
        ("/*/cam: {ros__parameters: {x: 1}}", "/l/cam", "x=1"),
        ("ns: {'*': {ros__parameters: {x: 1}}}", "/ns/a", "x=1"),
        ("/**: {ros__parameters: {x: 1, y: 1}}\na: {ros__parameters: {x: 2}}", "/a", "x=2 y=1"),
        ("a: {ros__parameters: {x: 2}}\n/**: {ros__parameters: {x: 1, y: 1}}", "/a", "x=1 y=1"),
        ("a: {ros__parameters: {x: 1, x: 2}}", "/a", "x=2"),
        ("---\na: {ros__parameters: {x: 1}}\n...\n", "/a", "x=1"),
    ] {
        assert_eq!(said(text, node), expected, "{text} for {node}");
    }
}

#[test]
fn values_have_the_types_of_their_words() {
    let texts = |words: &[&str]| V::StringArray(words.iter().map(|word| (*word).to_owned()).collect());
    for (text, expected) in [
        ("on", V::Bool(true)),
        ("'on'", V::from("on")),
        ("!!str on", V::from("on")),
        ("!!str 1.5", V::from("1.5")),
        ("\"12\"", V::from("12")),
        ("''", V::from("")),
        ("1", V::Integer(1)),
        ("0x1F", V::Integer(31)),
        ("1.0", V::Double(1.0)),
        ("1.", V::Double(1.0)),
        ("-.inf", V::Double(f64::NEG_INFINITY)),
        ("a b", V::from("a b")),
        ("a:b", V::from("a:b")),
        ("|\n  two\n  lines\n", V::from("two\nlines\n")),
        ("[true, no]", V::BoolArray(vec![true, false])),
        ("[1, 2, 0x3]", V::IntegerArray(vec![1, 2, 3])),
        ("[1.0, .5, 1e3]", V::DoubleArray(vec![1.0, 0.5, 1000.0])),
        ("[1, 2.5, -3]", V::DoubleArray(vec![1.0, 2.5, -3.0])),
        ("[2.5, 3]", V::DoubleArray(vec![2.5, 3.0])),
        ("[a, \"1\", !!str 2]", texts(&["a", "1", "2"])),
        ("- 1\n- 2\n", V::IntegerArray(vec![1, 2])),
    ] {
        assert_eq!(value(text), Ok(expected), "{text}");
    }
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    let mut others = Vec::new();
    for (text, place, problem) in [
        ("x", (1, 1), "a parameter file is a mapping"),
        ("[1]", (1, 1), "a parameter file is a mapping"),
        ("ros__parameters: {x: 1}", (1, 1), "there is no node's name above"),
        ("a:\n  x: 1\n", (2, 3), "below `x` there is no `ros__parameters`"),
        ("a: 1", (1, 1), "below `a` there is no `ros__parameters`"),
        ("a:\n", (1, 1), "below `a` there is no"),
        ("a: {ros__parameters: 1}", (1, 22), "has a mapping of names and values"),
        ("a: {ros__parameters: [1]}", (1, 22), "has a mapping of names and values"),
        ("a b: {ros__parameters: {}}", (1, 1), "`a b` is no namespace or node's name"),
        ("a*: {ros__parameters: {}}", (1, 1), "`a*` has `*` beside other characters"),
        ("a//b: {ros__parameters: {}}", (1, 1), "an empty part"),
        ("/: {ros__parameters: {}}", (1, 1), "an empty part"),
        ("a:\n  ros__parameters:\n    x:\n    y: 1\n", (3, 5), "there is no value"),
        ("a: {ros__parameters: {x: ~}}", (1, 26), "there is no value"),
        ("a: {ros__parameters: {x: null}}", (1, 26), "there is no value"),
        ("a: {ros__parameters: {'': 1}}", (1, 23), "a parameter has a name"),
        ("a: {ros__parameters: {[1]: 1}}", (1, 23), "which is a word"),
        (
            "a: {ros__parameters: {x: [1, 2.0, a]}}",
            (1, 35),
            "after those of double_array comes one of string",
        ),
        ("a: {ros__parameters: {x: [1.5, 9007199254740993]}}", (1, 32), "can't become one without loss"),
        ("a: {ros__parameters: {x: [9007199254740993, 1.5]}}", (1, 45), "9007199254740993 can't become one"),
        ("a: {ros__parameters: {x: [a, 2]}}", (1, 30), "after those of string_array comes one of integer"),
        ("a: {ros__parameters: {x: [[1], [2]]}}", (1, 27), "can't have lists"),
        ("a: {ros__parameters: {x: [{y: 1}]}}", (1, 27), "can't have mappings"),
        ("a: {ros__parameters: {x: []}}", (1, 26), "without elements has no type"),
        ("a: {ros__parameters: {x: [1, ~]}}", (1, 30), "there is no value"),
        ("a: {ros__parameters: {x: &one 1}}", (1, 26), "anchors"),
        ("a: &all {ros__parameters: {x: 1}}", (1, 4), "anchors"),
        ("a: {ros__parameters: {x: !!int 1}}", (1, 26), "only `!!str` is"),
        ("a: {ros__parameters: {x: !mine 1}}", (1, 26), "only `!!str` is"),
        ("a: {ros__parameters: {x: 1}}\n---\nb: {ros__parameters: {x: 1}}", (2, 1), "second document"),
        ("a: {ros__parameters: {x: 1}", (2, 1), ""),
        ("a:\n\tros__parameters: {}", (2, 2), ""),
        ("*: {ros__parameters: {x: 1}}", (1, 1), ""),
    ] {
        let error = read(text).expect_err(text);
        let ParameterTextError { line, column, .. } = error;
        if !error.problem.contains(problem) || (line, column) != place {
            others.push(format!("{text:?} {error}"));
        }
    }
    assert!(others.is_empty(), "{others:#?}");
    for (text, problem) in
        [("", "no value"), ("~", "no value"), ("{x: 1}", "a mapping is no value"), ("[1", "")]
    {
        let error = value(text).expect_err(text);
        assert!(error.problem.contains(problem), "{text}: {error}");
    }
}

#[test]
fn depth_is_bounded() {
    let deep = |depth: usize, leaf: &str| "{a: ".repeat(depth) + leaf + &"}".repeat(depth);
    assert_eq!(said(&deep(60, "{ros__parameters: {x: 1}}"), &"/a".repeat(60)), "x=1");
    for text in
        [deep(100, "{ros__parameters: {x: 1}}"), format!("a: {{ros__parameters: {}}}", deep(100, "1"))]
    {
        assert!(read(&text).unwrap_err().problem.contains("too deep"));
    }
    assert!(read(&"[".repeat(100_000)).is_err());
    assert!(read(&"{".repeat(100_000)).is_err());
}

/// Almost a parameter file.
fn text() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "a",
        "ns",
        "/**",
        "'*'",
        "ros__parameters",
        ": ",
        ":\n",
        "\n",
        "  ",
        "    ",
        "{",
        "}",
        "[",
        "]",
        ", ",
        "- ",
        "1",
        "2.5",
        "on",
        "~",
        "&x ",
        "*x",
        "!!str ",
        "!!int ",
        "---\n",
        "\"",
        "'",
        "|\n",
        "#",
        "\t",
        "\u{85}",
        "é",
    ]);
    prop_oneof![
        3 => prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat()),
        1 => any::<String>(),
    ]
}

fn scalar() -> impl Strategy<Value = V> {
    prop_oneof![
        any::<bool>().prop_map(V::Bool),
        any::<i64>().prop_map(V::Integer),
        any::<f64>().prop_filter("equal to itself", |number| !number.is_nan()).prop_map(V::Double),
        any::<String>().prop_map(V::String),
        prop::collection::vec(any::<bool>(), 1..4).prop_map(V::BoolArray),
        prop::collection::vec(any::<i64>(), 1..4).prop_map(V::IntegerArray),
        prop::collection::vec(any::<String>(), 1..4).prop_map(V::StringArray),
    ]
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in text()) {
        let _ = read(&text);
        let _ = value(&text);
    }

    /// A printed value is read as the same value again.
    #[test]
    fn printed_values_come_back(expected in scalar()) {
        prop_assert_eq!(value(&expected.to_string()), Ok(expected.clone()));
        let file = format!("a:\n  ros__parameters:\n    x: {expected}\n");
        let blocks = read(&file).unwrap();
        prop_assert_eq!(&blocks[0].values[0].value, &expected);
    }
}

#[test]
fn a_file_has_its_patterns_in_their_order() {
    let text = "
/b/**: {ros__parameters: {rate: 1}}
a: {cam: {ros__parameters: {rate: 2, gain: 1.5}}}
b: {'**': {ros__parameters: {rate: 3}}}
";
    let file = ParameterFile::parse(text).unwrap();
    assert_eq!(file.patterns(), ["/b/**", "/a/cam"]);
    assert_eq!(file.under("/b/**"), [NamedValue::new("rate", 3)], "the last one counts");
    assert_eq!(file.under("/a/cam"), [NamedValue::new("gain", 1.5), NamedValue::new("rate", 2)]);
    assert_eq!(file.under("a/cam"), []);
}
