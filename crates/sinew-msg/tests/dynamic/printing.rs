//! Printing.

use crate::{message_type, of_yaml};
use sinew_msg::dynamic::{DynamicMessage, MessageType, Style};
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
- 'a

  b'
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

#[test]
fn bytes_are_characters_and_uint8_are_numbers() {
    let all = message_type(&[("A", "byte a\nbyte[] b\nuint8[2] c\nbyte[1] d")]);
    let message = of_yaml(&all, r#"{a: 0, b: [97, "5", 5, '~', 255, "\x85"], c: [97, 0]}"#);
    let expected =
        "a: \"\\0\"\nb:\n- a\n- '5'\n- \"\\x05\"\n- '~'\n- ÿ\n- \"\\N\"\nc:\n- 97\n- 0\nd:\n- \"\\0\"\n";
    assert_eq!(message.to_yaml(&Style::default()), expected);
    assert_eq!(of_yaml(&all, expected), message);
    assert_eq!(message.to_json(), r#"{"a":0,"b":[97,53,5,126,255,133],"c":[97,0],"d":[0]}"#);
}

#[test]
fn csv_is_a_line_of_values() {
    let text = TEXT.replace("frame_id: map", "frame_id: 'a, \"b\"'");
    let message = of_yaml(&scan(), &text);
    let expected = "1,0,\"a, \"\"b\"\"\",0.5,inf,9.999999747378752e-06,,yes,\"a\nb\",1.0,0.0\n";
    assert_eq!(message.to_csv(&Style::default()), expected);
    let short = Style { truncate: Some(1), ..Style::default() };
    assert_eq!(message.to_csv(&short), "1,0,a...,0.5,...,,...,1.0,...\n");
    let lengths = Style { no_arr: true, no_str: true, ..Style::default() };
    let expected = "1,0,<string length: <6>>,\"<sequence type: float32, length: 3>\",\"<sequence type: string[3], length: 3>\",\
                    <array type: test_msgs/Point[2]>,\"<sequence type: uint8, length: 0>\"\n";
    assert_eq!(message.to_csv(&lengths), expected);
    let truths = message_type(&[("A", "bool[] a\nbyte b")]);
    assert_eq!(of_yaml(&truths, "{a: [true, false], b: 7}").to_csv(&Style::default()), "True,False,7\n");
}

#[test]
fn parts_are_printed_by_themselves() {
    let message = of_yaml(&scan(), TEXT);
    let yaml = |path: &str| {
        let path = message.message_type().path(path).unwrap();
        message.part(&path).map(|part| part.to_yaml(&Style::default()))
    };
    let is = |path: &str, text: &str| assert_eq!(yaml(path).as_deref(), Some(text), "{path}");
    is("header", "stamp:\n  sec: 1\n  nanosec: 0\nframe_id: map\n");
    is("header.stamp.sec", "1\n");
    is("header.frame_id", "map\n");
    is("ranges", "- 0.5\n- .inf\n- 9.999999747378752e-06\n");
    is("ranges[1]", ".inf\n");
    is("names[1]", "'yes'\n");
    is("ends", "- x: 1.0\n  none: []\n- x: 0.0\n  none:\n  - {}\n");
    is("ends[1].none[0]", "{}\n");
    is("data", "[]\n");
    assert_eq!(yaml("ranges[3]"), None);
    let path = message.message_type().path("ends").unwrap();
    let part = message.part(&path).unwrap();
    assert_eq!(part.to_json(), r#"[{"x":1.0,"none":[]},{"x":0.0,"none":[{}]}]"#);
    assert_eq!(part.to_csv(&Style::default()), "1.0,0.0\n");
    let lengths = Style { no_arr: true, ..Style::default() };
    assert_eq!(part.to_yaml(&lengths), "'<array type: test_msgs/Point[2]>'\n");
}

#[test]
fn what_names_no_part_is_an_error() {
    let scan = scan();
    let error = |path: &str| scan.path(path).unwrap_err().to_string();
    for wrong in
        ["", ".", "header.", "header..stamp", "ranges[", "ranges[-1]", "ranges[+1]", "[1]", "a b", "a[1]b"]
    {
        assert!(error(wrong).starts_with(&format!("`{wrong}` is no field: write names")), "{wrong}");
    }
    let fields = "`header`, `ranges`, `names`, `ends`, `nothing`, `data`";
    assert_eq!(error("head"), format!("`head`: test_msgs/msg/Scan has no such field, but {fields}"));
    let time = "test_msgs/msg/Time has no such field, but `sec`, `nanosec`";
    assert_eq!(error("header.stamp.nsec"), format!("`header.stamp.nsec`: {time}"));
    assert_eq!(error("ends.x"), "`ends` is of type `test_msgs/Point[2]`, which has no field `x`");
    assert_eq!(error("names[3]"), "`names` is of type `string[<=3]`, which has no element [3]");
    assert_eq!(error("header[0]"), "`header` is of type `test_msgs/Header`, which has no element [0]");
    assert_eq!(error("ranges[0][1]"), "`ranges[0]` is of type `float32`, which has no element [1]");
}

/// Texts printed without quotes.
const BARE: &[&str] = &[
    "a",
    "base_link",
    "Hello world!",
    "ö",
    "😀",
    "\u{a0}",
    "-left",
    "a#b",
    "1 m",
    "it's",
    "y",
    "n",
    "yEs",
    "None",
    "nuLL",
    "1e3",
    "1.5e3",
    ".5e3",
    "12e03",
    "+.5",
    "-.5",
    "+.nan",
    "0o7",
    "0x",
    "08",
    "+",
    ".",
    "..",
    "2001-1-1",
    "1.2.3",
    "1-2",
    "_1",
    "True!",
    "0b2",
    "1.5e+",
    "a=b",
];

/// Texts with quotes in flow style and without in block style.
const BARE_BUT_IN_FLOW: &[&str] =
    &["a, b", "a]", "a:b", "?a", ":a", "a?", "1:60", "a{b", "2001-1-1 1:00:0", "2001-1-1 1:00"];

/// Texts printed in single quotes.
const QUOTED: &[&str] = &[
    "",
    " ",
    " a",
    "a ",
    "- a",
    "-",
    "?",
    ":",
    "#a",
    "a: b",
    "a:",
    "a #b",
    "[a",
    "{a",
    "'a",
    "*a",
    "&a",
    "!a",
    "|",
    ">",
    "%a",
    "@a",
    "`a",
    ",a",
    "\"a",
    "---",
    "...",
    "--- a",
    "<<",
    "=",
    "1",
    "-1",
    "+1",
    "0",
    "00",
    "07",
    "0_",
    "1_000",
    "0x1f",
    "0b1",
    "1.5",
    "1.",
    "1_0.0_1",
    ".5",
    "1.5e+3",
    "1.5E-3",
    "1:30",
    "-12:30:00",
    "1:30.5",
    "true",
    "No",
    "ON",
    "off",
    "~",
    "null",
    "NULL",
    "2001-01-01",
    "2001-1-1 1:00:00",
    "2001-01-01T12:30:00.5Z",
    "2001-01-01 12:30:00 +01:30",
    "2001-01-01 12:30:00-5",
    ".inf",
    "+.INF",
    "-.Inf",
    ".nan",
    ".NaN",
];

/// Texts printed in double quotes, each with its printed form.
const ESCAPED: &[(&str, &str)] = &[
    ("\0", "\"\\0\""),
    ("\x07", "\"\\a\""),
    ("\x08\x0b\x0c", "\"\\b\\v\\f\""),
    ("\x1b[1m", "\"\\e[1m\""),
    ("a\tö", "\"a\\tö\""),
    ("\r\n", "\"\\r\\n\""),
    ("\x7f\x01", "\"\\x7F\\x01\""),
    ("\u{feff}\u{ffff}", "\"\\uFEFF\\uFFFF\""),
    ("\"\\\t", "\"\\\"\\\\\\t\""),
    ("a \nb", "\"a \\nb\""),
    ("a\n b", "\"a\\n b\""),
    ("😀\t\u{a0}", "\"\\U0001F600\\t\u{a0}\""),
    ("\u{10ffff}", "\"\\U0010FFFF\""),
];

/// The output of `PyYAML` 6.0.3 for texts, in block style and in flow style: `yaml.dump({"a":
/// text}, allow_unicode=True, width=sys.maxsize, default_flow_style=..)`.
#[test]
fn texts_are_quoted_as_by_ros_2() {
    let mut expected: Vec<(&str, String, String)> = Vec::new();
    expected.extend(BARE.iter().map(|&text| (text, text.to_owned(), text.to_owned())));
    expected.extend(BARE_BUT_IN_FLOW.iter().map(|&text| (text, text.to_owned(), format!("'{text}'"))));
    expected.extend(QUOTED.iter().map(|&text| {
        let text_in_quotes = format!("'{}'", text.replace('\'', "''"));
        (text, text_in_quotes.clone(), text_in_quotes)
    }));
    expected.extend(ESCAPED.iter().map(|&(text, escaped)| (text, escaped.to_owned(), escaped.to_owned())));
    let texts = message_type(&[("A", "string a")]);
    let flow = Style { flow: true, ..Style::default() };
    for (text, block, in_flow) in expected {
        let json = serde_json::json!({"a": text}).to_string();
        let message = DynamicMessage::from_json(&texts, &json).unwrap();
        assert_eq!(message.to_yaml(&Style::default()), format!("a: {block}\n"), "{text:?}");
        assert_eq!(message.to_yaml(&flow), format!("{{a: {in_flow}}}\n"), "{text:?}");
        assert_eq!(of_yaml(&texts, &message.to_yaml(&Style::default())), message, "{text:?}");
        assert_eq!(of_yaml(&texts, &message.to_yaml(&flow)), message, "{text:?}");
    }
}

#[test]
fn ends_of_lines_are_printed_as_by_ros_2() {
    let all = message_type(&[("A", "string a\nB b\nB[] c\nstring[] d"), ("B", "string e")]);
    let text = r#"{a: "it's\nso", b: {e: "\na"}, c: [{e: "a\n\nb\nc"}], d: ["a\n", "\n"]}"#;
    let message = of_yaml(&all, text);
    let expected = "\
a: 'it''s

  so'
b:
  e: '

    a'
c:
- e: 'a


    b

    c'
d:
- 'a

  '
- '

  '
";
    assert_eq!(message.to_yaml(&Style::default()), expected);
    assert_eq!(of_yaml(&all, expected), message);
    let path = all.path("c[0].e").unwrap();
    assert_eq!(message.part(&path).unwrap().to_yaml(&Style::default()), "'a\n\n\n  b\n\n  c'\n");
    // Flow style differs: it is one line here.
    let flow = message.to_yaml(&Style { flow: true, ..Style::default() });
    assert_eq!(flow, format!("{text}\n"));
    assert_eq!(of_yaml(&all, &flow), message);
    // Line ends that YAML 1.2 treats as characters differ as well.
    let others = message_type(&[("A", "string a")]);
    let message = of_yaml(&others, r#"{a: "\N\L\P"}"#);
    assert_eq!(message.to_yaml(&Style::default()), "a: \"\\N\\L\\P\"\n");
}
