//! Files of the interface language.

use crate::driver::{Kind, fuzz};
use crate::memory::Bound;
use sinew_msg::definition::{Definition, Definitions, ParseError};
use sinew_msg::description::TypeDescription;

/// A field of 7 characters, or a value of 2, becomes a description with a name, a place and
/// documentation.
const PARSED: Bound = Bound { per_byte: 60, fixed: 2 << 10 };

/// Services and actions have derived types, and these need ROS 2's built-in ones.
const RESOLVED: Bound = Bound { per_byte: 60, fixed: 32 << 10 };

const WORDS: &[&str] = &[
    "bool",
    "byte",
    "char",
    "int8",
    "uint8",
    "int64",
    "uint64",
    "float32",
    "float64",
    "string",
    "wstring",
    "string<=",
    "Other",
    "x/Other",
    "a/",
    "[",
    "]",
    "[]",
    "[<=",
    "<=",
    "=",
    "-",
    "+",
    "0",
    "1",
    "255",
    "256",
    "4294967296",
    "99999999999999999999",
    "0x",
    "1e9",
    "1e999",
    "_",
    ".",
    ",",
    "true",
    "\"",
    "'",
    "\\",
    "\\\"",
    "\\x",
    "\\u00e4",
    "\\777",
    "#",
    "# comment",
    "---",
    "\n---\n",
    "\n",
    "\r",
    "\r\n",
    "\t",
    " ",
    "  ",
    "x",
    "X",
    "name",
    "NAME",
    "@optional",
    "@",
    "ä",
    "ハ",
    "\u{2028}",
    "\u{feff}",
    "\0",
    "\nint8 y",
    "\nuint8 B=1",
];

const SECTIONS: [&str; 3] = [
    "# A heading\nint32[3] numbers [1, -2, 0x3]  # behind\nstring<=10[<=2] texts [\"a, \\\"b\\\"\", 'c']\nwstring wide \"hell\\u00f6\"\n",
    "uint8 A=5\n    # after\nstring B = 'x y'\nx/Other[] others\n@optional float64 f 1.5e3\n",
    "bool ok true\nOther other\n",
];

/// Inputs with this number of sections.
fn right(sections: usize) -> Vec<Vec<u8>> {
    (0..3)
        .map(|first| {
            (0..sections).map(|nth| SECTIONS[(first + nth) % 3]).collect::<Vec<_>>().join("---\n").into()
        })
        .collect()
}

fn check(kind: &str, text: &[u8]) -> bool {
    let name = format!("x/{kind}/T").parse().unwrap();
    match PARSED.check(text.len(), || Definition::parse(&name, "T", text)) {
        Ok(definition) => {
            describe(definition, text.len());
            true
        }
        Err(error) => {
            check_place(text, &error);
            false
        }
    }
}

fn describe(definition: Definition, length: usize) {
    let other = Definition::parse(&"x/msg/Other".parse().unwrap(), "Other", "float64 x").unwrap();
    let mut definitions = Definitions::new();
    definitions.add(other).unwrap();
    if definitions.add(definition).is_err() {
        return;
    }
    let Ok(interfaces) = RESOLVED.check(length, || definitions.resolve()) else { return };
    for interface in interfaces.iter() {
        let description = interfaces.description(&interface.name).expect("all are there");
        let json = description.to_json();
        assert!(json.is_ascii());
        let read = TypeDescription::from_json(&json).unwrap_or_else(|| panic!("{json}"));
        assert_eq!(Some(read.hash()), interfaces.hash(&interface.name));
    }
}

fn check_place(text: &[u8], error: &ParseError) {
    let text = String::from_utf8_lossy(text);
    let lines = text.split(['\n', '\r']).count();
    assert!((1..=lines).contains(&error.place.line), "{error}");
    let longest = text.split(['\n', '\r']).map(|line| line.chars().count()).max().unwrap_or(0);
    assert!((1..=longest + 1).contains(&error.place.column), "{error}");
    assert!(error.to_string().len() < 1000, "{error}");
}

#[test]
fn definitions() {
    let kinds = [("msg", 1), ("srv", 2), ("action", 3)].map(|(kind, sections)| Kind {
        name: kind.to_owned(),
        inputs: right(sections),
        words: WORDS,
        check: Box::new(move |text| check(kind, text)),
    });
    fuzz(kinds.into());
}
