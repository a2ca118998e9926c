//! Messages written as text.

use crate::driver::{Kind, fuzz};
use crate::memory::Bound;
use sinew_msg::definition::{Definition, Definitions};
use sinew_msg::dynamic::{DynamicMessage, MessageType, Style};
use std::sync::Arc;

/// An element of one character becomes a tree, a value and an entry on the parser's stack.
const TEXT: Bound = Bound { per_byte: 150, fixed: 4 << 10 };

const DEFINITIONS: &[(&str, &str)] = &[
    (
        "All",
        "bool flag\nbyte octet\nint8 small\nuint64 large\nfloat32 single\nfloat64 double\nstring text\nwstring wide\n\
         string<=3 short\nwstring<=3 shorter",
    ),
    (
        "Many",
        "bool[] flags\nint16[<=3] few\nfloat32[2] two\nstring[] texts\nwstring[<=2] wides\nAll[] all\nPoint[] points",
    ),
    ("Point", "float64 x\nfloat64 y 1.5\nuint8 kind"),
    ("Empty", ""),
    ("Deep", "Many[] many\nEmpty nothing\nEmpty[] nothings"),
];

const WORDS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ", ",
    ": ",
    ",",
    ":",
    "\n",
    "\n- ",
    "\n  ",
    "  ",
    "\"",
    "'",
    "|",
    "|-",
    ">",
    "&a ",
    "*a",
    "!!str ",
    "!",
    "%",
    "---",
    "...",
    "? ",
    "#",
    "\t",
    "\\",
    "\\u",
    "\\ud83d",
    "\\ude00",
    "\\x",
    "\r",
    "\0",
    "\u{feff}",
    "\u{2028}",
    "null",
    "~",
    "true",
    "no",
    ".inf",
    "-.inf",
    "nan",
    "0x",
    "0o",
    "-",
    "+",
    "1e9",
    "1e999",
    "_",
    ".",
    "0",
    "255",
    "256",
    "-1",
    "18446744073709551615",
    "99999999999999999999999999999999999999999",
    "ä",
    "😀",
    "flag: ",
    "text: ",
    "wide: ",
    "short: ",
    "flags: ",
    "few: ",
    "texts: ",
    "all: ",
    "points: ",
    "many: ",
    "nothing: ",
    "x: ",
    "kind: ",
];

const STYLES: [Style; 2] = [
    Style { truncate: None, no_arr: false, no_str: false, flow: false },
    Style { truncate: None, no_arr: false, no_str: false, flow: true },
];

/// Reads the text as YAML and as JSON.
fn check(message_type: &Arc<MessageType>, input: &[u8]) -> bool {
    let text = String::from_utf8_lossy(input);
    let yaml = TEXT.check(text.len(), || DynamicMessage::from_yaml(message_type, &text));
    let json = TEXT.check(text.len(), || DynamicMessage::from_json(message_type, &text));
    let understood = yaml.is_ok() || json.is_ok();
    for read in [yaml, json] {
        match read {
            Ok(message) => comes_back(&message),
            Err(error) => assert!(error.to_string().len() < 2000, "{error}"),
        }
    }
    understood
}

fn comes_back(message: &DynamicMessage) {
    let message_type = message.message_type();
    let decoded = DynamicMessage::decode(message_type, &message.encode());
    assert_eq!(decoded.as_ref(), Ok(message));
    // Of the many NaNs, only one is written.
    let json = message.to_json();
    assert!(serde_json::from_str::<serde_json::Value>(&json).is_ok(), "{json}");
    let read =
        DynamicMessage::from_json(message_type, &json).unwrap_or_else(|error| panic!("{json}: {error}"));
    assert_eq!(read.to_json(), json);
    for style in &STYLES {
        let yaml = message.to_yaml(style);
        let read =
            DynamicMessage::from_yaml(message_type, &yaml).unwrap_or_else(|error| panic!("{yaml}: {error}"));
        assert_eq!(read.to_json(), json, "{yaml}");
    }
    let _ = message.to_yaml(&Style { truncate: Some(1), no_arr: true, no_str: true, flow: false });
}

#[test]
fn texts() {
    let name = |base: &str| format!("test_msgs/msg/{base}").parse().unwrap();
    let mut definitions = Definitions::new();
    for (base, text) in DEFINITIONS {
        definitions.add(Definition::parse(&name(base), base, text).unwrap()).unwrap();
    }
    let interfaces = definitions.resolve().unwrap();
    let right = [
        "",
        "{}",
        "{flag: true, octet: 0x10, small: -5, large: 18446744073709551615, single: 1.5, double: -.inf, text: \"a\\n\"}",
        "flag: false\ntext: 'it''s'\nwide: \"\\ud83d\\ude00\"\nshort: abc\nshorter: ä",
        "text: |\n  two\n  lines\ndouble: nan",
        "{\"flags\": [true, false], \"few\": [1, 2, 3], \"two\": [0.5, -0.0], \"texts\": [\"a\", \"\"], \"wides\": [\"b\"]}",
        "all:\n- {text: a}\n- flag: true\n  short: b\npoints:\n- x: 1\n- {y: 2, kind: 3}",
        "many: [{all: [{flag: true}], points: [{x: 1}, {}]}, {}]\nnothing: {}\nnothings: [{}, {}]",
        "{x: 1, y: 1e3, kind: 0o17}",
    ];
    let kinds = DEFINITIONS.iter().map(|(base, _)| {
        let message_type = Arc::new(MessageType::of(&interfaces, &name(base)).unwrap());
        let fits = |text: &&str| DynamicMessage::from_yaml(&message_type, text).is_ok();
        let inputs = right.iter().copied().filter(fits).map(|text| text.as_bytes().to_vec()).collect();
        Kind {
            name: (*base).to_owned(),
            inputs,
            words: WORDS,
            check: Box::new(move |text| check(&message_type, text)),
        }
    });
    fuzz(kinds.collect());
}
