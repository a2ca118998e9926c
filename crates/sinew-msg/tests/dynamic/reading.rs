//! Reading texts: accepted ones, and refused ones with their errors.

use crate::{message_type, of_yaml, ros};
use sinew_msg::dynamic::{DynamicMessage, MessageType, Template};
use std::sync::Arc;

fn all() -> Arc<MessageType> {
    message_type(&[
        (
            "A",
            "Pose pose\nuint8 kind 3\nstring<=4 name \"arm\"\nint16[2] pair [1, 2]\nfloat32[<=2] few\nbool on\nwstring<=2 wide\nint64 long\nuint64 longer",
        ),
        ("Pose", "Point position"),
        ("Point", "float64 x\nfloat64 y"),
    ])
}

fn error(text: &str) -> String {
    DynamicMessage::from_yaml(&all(), text).unwrap_err().to_string()
}

fn json(text: &str) -> String {
    of_yaml(&all(), text).to_json()
}

#[test]
fn what_is_not_there_has_its_default() {
    let default = json("");
    assert_eq!(
        default,
        r#"{"pose":{"position":{"x":0.0,"y":0.0}},"kind":3,"name":"arm","pair":[1,2],"few":[],"on":false,"wide":"","long":0,"longer":0}"#
    );
    assert_eq!(json("{}"), default);
    assert_eq!(json("pose: {position: {x: 0}}\nname: arm"), default);
    assert_eq!(json("pose:\nkind: 3"), default, "nothing stands for a message's default");
}

#[test]
fn numbers_are_read_as_their_type() {
    assert!(json("long: -9223372036854775808").contains(r#""long":-9223372036854775808"#));
    assert!(json("longer: 0xffffffffffffffff").contains(r#""longer":18446744073709551615"#));
    assert!(json("few: [16777217, .NaN]").contains(r#""few":[16777216.0,"nan"]"#));
    assert!(json("few: [\"-inf\", 1e-3]").contains(r#""few":["-inf",0.0010000000474974513]"#));
    assert!(json("pose: {position: {x: 1e3, y: -.5}}").contains(r#"{"x":1000.0,"y":-0.5}"#));
    assert!(json("{on: True, name: 5.0}").contains(r#""name":"5.0""#), "a text is what is written");
    assert!(json("{\"wide\": \"\\u00f6ß\"}").contains(r#""wide":"öß""#));
}

/// `PyYAML` 6.0.3 reads the same.
#[test]
fn words_are_read_as_by_ros_2() {
    let all = message_type(&[("A", "int32 whole\nfloat64 real\nfloat32 small\nbool truth\nbyte letter")]);
    let read = |text: &str| DynamicMessage::from_yaml(&all, text);
    let wholes = [
        ("010", 8),
        ("-010", -8),
        ("+0x1F", 31),
        ("0b101", 5),
        ("0_10", 8),
        ("1_000", 1000),
        ("-1_0", -10),
        ("0", 0),
        ("08", 8),
        ("019", 19),
        ("0o10", 8),
        ("00", 0),
        ("0x_f", 15),
        ("1_", 1),
    ];
    for (word, value) in wholes {
        assert_eq!(read(&format!("whole: {word}")), read(&format!("whole: {value}")), "{word}");
        let real = read(&format!("{{real: {word}, small: {word}}}"));
        assert_eq!(real, read(&format!("{{real: {value}.0, small: {value}.0}}")), "{word}");
        assert!(real.is_ok(), "{word}");
    }
    assert_eq!(read("letter: 010"), read("letter: 8"));
    for (word, value) in
        [("1_000.5", "1000.5"), ("010.5", "10.5"), ("1_0e1", "100.0"), ("010e1", "100.0"), ("-.5_5", "-0.55")]
    {
        assert_eq!(read(&format!("real: {word}")), read(&format!("real: {value}")), "{word}");
        assert!(read(&format!("real: {word}")).is_ok(), "{word}");
    }
    for word in ["yes", "Yes", "YES", "on", "On", "ON", "true", "True", "TRUE"] {
        assert_eq!(read(&format!("truth: {word}")), read("truth: true"), "{word}");
        let not = word.to_lowercase().replace("yes", "no").replace("on", "off").replace("true", "false");
        assert_eq!(read(&format!("truth: {not}")), read("truth: false"), "{not}");
    }
    for wrong in [
        "whole: _1",
        "whole: 1:30",
        "whole: 0x",
        "whole: 0b2",
        "whole: 0o8",
        "real: ._1",
        "real: _1",
        "real: 0x_",
        "truth: yEs",
    ] {
        assert!(read(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn tags_that_change_a_value_are_refused() {
    let bytes = message_type(&[("A", "uint8[] a\nstring b")]);
    let error = |text: &str| DynamicMessage::from_yaml(&bytes, text).unwrap_err().to_string();
    let binary = "line 1, column 5: `!!binary` is not read; write a list of numbers, such as [1, 255]";
    assert_eq!(error("{a: !!binary aGVsbG8=}"), binary);
    assert_eq!(error("{b: !!binary aGVsbG8=}"), binary);
    assert_eq!(error("{b: !!set {x}}"), "line 1, column 5: the tag `!!set` is not read; leave it out");
    assert_eq!(error("a: !mine [1]"), "line 1, column 4: the tag `!mine` is not read; leave it out");
    assert_eq!(of_yaml(&bytes, "{a: !!seq [!!int 1], b: !!str 5}"), of_yaml(&bytes, "{a: [1], b: '5'}"));
}

#[test]
fn errors_name_the_path() {
    assert_eq!(
        error("pose: {position: {x: abc}}"),
        "`pose.position.x`: found `abc`, expected a number for `float64`"
    );
    assert_eq!(
        error("{pose: {position: {w: 1}}}"),
        "`pose.position.w`: test_msgs/msg/Point has no such field, but `x`, `y`"
    );
    assert_eq!(error("kind: 256"), "`kind`: found `256`, expected an integer from 0 to 255 for `uint8`");
    assert_eq!(error("kind: -1"), "`kind`: found `-1`, expected an integer from 0 to 255 for `uint8`");
    assert_eq!(error("kind: 1.5"), "`kind`: found `1.5`, expected an integer from 0 to 255 for `uint8`");
    assert_eq!(error("kind: '1'"), "`kind`: found \"1\", expected an integer from 0 to 255 for `uint8`");
    assert_eq!(error("kind:"), "`kind`: found nothing, expected an integer from 0 to 255 for `uint8`");
    assert_eq!(error("pair: [1]"), "`pair`: found a list of 1 element, expected 2 for `int16[2]`");
    assert_eq!(
        error("few: [1, 2, 3]"),
        "`few`: found a list of 3 elements, expected 2 at most for `float32[<=2]`"
    );
    assert_eq!(
        error("pair: [1, x]"),
        "`pair[1]`: found `x`, expected an integer from -32768 to 32767 for `int16`"
    );
    assert_eq!(error("pair: 3"), "`pair`: found `3`, expected a list, such as `[1, 2]`, for `int16[2]`");
    assert_eq!(error("on: y"), "`on`: found `y`, expected `true` or `false` for `bool`");
    assert_eq!(error("name: shoulder"), "`name`: found 8 characters, expected 4 at most");
    assert_eq!(error("name: [a]"), "`name`: found a list of 1 element, expected a text (an empty one is '')");
    assert_eq!(error("{on: true, on: false}"), "`on` is given twice; leave one out");
    assert_eq!(error("pose: 3"), "`pose`: found `3`, expected the fields of test_msgs/msg/Pose: `position`");
    assert!(
        error("hello")
            .starts_with("`(message)`: found `hello`, expected the fields of test_msgs/msg/A: `pose`")
    );
    assert!(error("few: [1e39]").starts_with("`few[0]`: found `1e39`, expected a number from -3.4028235e38"));
    for wrong in ["infinity", "1_0", "0x", "--1", "+-1", "1e", "e5", ""] {
        assert!(error(&format!("few: [{wrong:?}]")).starts_with("`few[0]`"), "{wrong}");
    }
}

#[test]
fn what_is_no_yaml_is_refused_with_its_place() {
    assert!(error("{kind: 3").starts_with("line "), "{}", error("{kind: 3"));
    assert_eq!(
        error("pose: &a {}\nkind: *a"),
        "line 2, column 7: references are not read; write the value again"
    );
    assert_eq!(error("kind: 1\n---\nkind: 2"), "line 2, column 1: this is a second message; give one");
    assert!(error("{[1]: 2}").contains("the name of a field"));
    assert_eq!(error(&"[".repeat(200)), "line 1, column 129: this lies deeper than any message");
    assert!(error(&"[".repeat(100_000)).starts_with("line 1"));
    let error = DynamicMessage::from_json(&all(), "{\"kind\": }").unwrap_err().to_string();
    assert_eq!(error, "`kind`: found nothing, expected an integer from 0 to 255 for `uint8`");
}

#[test]
fn a_message_takes_at_most_the_memory_that_is_allowed() {
    let types = message_type(&[
        ("A", "Row[] rows\nuint8[] bytes\nstring[] texts"),
        ("Row", "float64[1000] cells\nRow2 more"),
        ("Row2", "string name\nuint8 a\nuint8 b"),
    ]);
    let least = |text: &str| {
        let fits = |limit: usize| DynamicMessage::from_json_within(&types, text, limit).is_ok();
        (0..20).map(|power| 1 << power).find(|limit| fits(*limit)).unwrap_or(usize::MAX)
    };
    // A row takes its 8000 bytes of numbers and its values, whether it is written or not.
    assert_eq!([least("{}"), least(r#"{"rows": []}"#)], [256, 256]);
    assert_eq!(least(r#"{"rows": [{}]}"#), 16_384);
    assert_eq!(least(r#"{"rows": [{"more": {"name": "a", "a": 1, "b": 2}}]}"#), 16_384);
    assert_eq!(least(r#"{"rows": [{}, {}, {}]}"#), 32_768);
    // As do the words of the text.
    assert_eq!(least(&format!(r#"{{"bytes": [{}1]}}"#, "1,".repeat(999))), 65_536);
    assert_eq!(least(&format!(r#"{{"texts": ["{}"]}}"#, "a".repeat(40_000))), 65_536);

    let error = |text: &str| DynamicMessage::from_json_within(&types, text, 10_000).unwrap_err().to_string();
    let problem = "from here on, the message takes more than 10000 bytes of memory to read; send it encoded, or in parts";
    assert_eq!(error(r#"{"rows": [{}, {}]}"#), format!("`rows`: {problem}"));
    let long = format!("[{}]", "1,".repeat(1000));
    assert_eq!(error(&long), format!("line 1, column 608: {problem}"));
}

#[test]
fn json_has_characters_in_two_halves() {
    let texts = message_type(&[("A", "string a")]);
    let read = |text: &str| DynamicMessage::from_json(&texts, text).map(|message| message.to_json());
    assert_eq!(read(r#"{"a": "\ud834\udd1e\u0041\/"}"#).as_deref(), Ok(r#"{"a":"𝄞A/"}"#));
    assert!(read(r#"{"a": "\\ud834\udd1e"}"#).is_err());
    assert_eq!(read(r#"{"a": "\\ud834"}"#).as_deref(), Ok(r#"{"a":"\\ud834"}"#));
    assert!(read(r#"{"a": "\ud834"}"#).is_err() && read(r#"{"a": "\udd1e\ud834"}"#).is_err());
}

#[test]
fn times_can_be_left_open() {
    let interfaces = ros();
    let of = |name: &str| Arc::new(MessageType::of(&interfaces, &name.parse().unwrap()).unwrap());
    let path = of("nav_msgs/msg/Path");
    let text = "{header: auto, poses: [{}, {header: {stamp: now, frame_id: map}}]}";
    let mut template = Template::from_yaml(&path, text).unwrap();
    assert!(template.has_times());
    for sec in [5, 6] {
        let expected = format!(
            "{{header: {{stamp: {{sec: {sec}, nanosec: 7}}}}, \
             poses: [{{}}, {{header: {{stamp: {{sec: {sec}, nanosec: 7}}, frame_id: map}}}}]}}"
        );
        assert_eq!(template.at(sec, 7), &of_yaml(&path, &expected));
    }
    let header = of("std_msgs/msg/Header");
    assert_eq!(
        Template::from_yaml(&header, "auto").unwrap().at(1, 2),
        &of_yaml(&header, "{stamp: {sec: 1, nanosec: 2}}")
    );
    let mut quoted = Template::from_json(&header, r#"{"stamp": "now"}"#).unwrap();
    assert_eq!(quoted.at(1, 2), &of_yaml(&header, "{stamp: {sec: 1, nanosec: 2}}"));
    // These words stand for times only in place of a time, and only if the caller allows them.
    let string = of("std_msgs/msg/String");
    assert!(!Template::from_yaml(&string, "{data: now}").unwrap().has_times());
    for (message_type, wrong) in [(&header, "{stamp: auto}"), (&header, "now"), (&path, "auto")] {
        assert!(Template::from_yaml(message_type, wrong).is_err(), "{wrong}");
    }
    let error = |text: &str| Template::from_yaml(&path, text).unwrap_err().to_string();
    assert!(
        error("{header: {stamp: noww}}").ends_with("builtin_interfaces/msg/Time: `sec`, `nanosec`, or `now`")
    );
    assert!(error("{header: now}").ends_with("std_msgs/msg/Header: `stamp`, `frame_id`, or `auto`"));
    let strict = DynamicMessage::from_yaml(&header, "{stamp: now}").unwrap_err().to_string();
    let expected =
        "`stamp`: found `now`, expected the fields of builtin_interfaces/msg/Time: `sec`, `nanosec`";
    assert_eq!(strict, expected);
}
