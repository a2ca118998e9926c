//! What is printed.

use crate::{message_type, of_yaml};
use sinew_msg::dynamic::{MessageType, Style};
use std::sync::Arc;

fn scan() -> Arc<MessageType> {
    message_type(&[
        (
            "Scan",
            "Header header\nfloat32[] ranges\nstring[<=3] names\nPoint[2] ends\nEmpty nothing\nuint8[] data",
        ),
        ("Header", "Time stamp\nstring frame_id"),
        ("Time", "int32 sec\nuint32 nanosec"),
        ("Point", "float64 x\nEmpty[] none"),
        ("Empty", ""),
    ])
}

const TEXT: &str = "{header: {stamp: {sec: 1}, frame_id: map}, ranges: [0.5, .inf, 1e-05], names: ['', 'yes', \"a\\nb\"], ends: [{x: 1}, {none: [{}]}]}";

#[test]
fn block_style_is_that_of_ros_2() {
    let expected = "\
header:
  stamp:
    sec: 1
    nanosec: 0
  frame_id: map
ranges:
- 0.5
- .inf
- 9.999999747378752e-06
names:
- ''
- 'yes'
- \"a\\nb\"
ends:
- x: 1.0
  none: []
- x: 0.0
  none:
  - {}
nothing: {}
data: []
";
    assert_eq!(of_yaml(&scan(), TEXT).to_yaml(&Style::default()), expected);
    let empty = message_type(&[("Empty", "")]);
    assert_eq!(of_yaml(&empty, "").to_yaml(&Style::default()), "{}\n");
}

#[test]
fn flow_style_is_one_line() {
    let expected = "{header: {stamp: {sec: 1, nanosec: 0}, frame_id: map}, ranges: [0.5, .inf, 9.999999747378752e-06], \
                    names: ['', 'yes', \"a\\nb\"], ends: [{x: 1.0, none: []}, {x: 0.0, none: [{}]}], nothing: {}, data: []}\n";
    assert_eq!(of_yaml(&scan(), TEXT).to_yaml(&Style { flow: true, ..Style::default() }), expected);
}

#[test]
fn long_values_are_cut() {
    let texts = message_type(&[("A", "string a\nint8[] b\nstring[] c\nwstring d")]);
    let message = of_yaml(&texts, "{a: Größen, b: [1, 2, 3], c: [abcd, b, c], d: abc}");
    let cut = Style { truncate: Some(2), ..Style::default() };
    assert_eq!(
        message.to_yaml(&cut),
        "a: Gr...\nb:\n- 1\n- 2\n- '...'\nc:\n- ab...\n- b\n- '...'\nd: ab...\n"
    );
    let flow = Style { flow: true, truncate: Some(0), ..Style::default() };
    assert_eq!(
        message.to_yaml(&flow),
        "{a: ..., b: ['...'], c: ['...'], d: ...}\n".replace(": ...", ": '...'")
    );
}

#[test]
fn lengths_stand_for_what_is_left_out() {
    let all = message_type(&[("A", "string a\nint8[<=3] b\nB[] c\nfloat64[2] d"), ("B", "")]);
    let message = of_yaml(&all, "{a: ab, b: [1], c: [{}]}");
    assert_eq!(
        message.to_yaml(&Style { no_arr: true, no_str: true, ..Style::default() }),
        "a: '<string length: <2>>'\nb: '<sequence type: int8[3], length: 1>'\nc: '<sequence type: test_msgs/B, length: 1>'\n\
         d: '<array type: float64[2]>'\n"
    );
}

#[test]
fn json_is_one_line_of_json() {
    let all = message_type(&[("A", "string a\nfloat64[] b\nuint64 c\nB d"), ("B", "")]);
    let message =
        of_yaml(&all, r#"{a: "\" \\ \n \x01 ö", b: [.nan, -.inf, 1e300], c: 18446744073709551615}"#);
    let json = message.to_json();
    assert_eq!(json, r#"{"a":"\" \\ \n \u0001 ö","b":["nan","-inf",1e300],"c":18446744073709551615,"d":{}}"#);
    assert_eq!(serde_json::from_str::<serde_json::Value>(&json).unwrap()["a"], "\" \\ \n \u{1} ö");
}
