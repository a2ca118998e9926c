//! Any file gives a definition, or an error with a place.

use super::{definitions, name};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use sinew_msg::definition::{Definition, Definitions, ParseError};

const KINDS: [&str; 3] = ["msg", "srv", "action"];

/// Words of every construct.
const WORDS: &[&str] = &[
    "bool",
    "byte",
    "char",
    "int8",
    "uint64",
    "float32",
    "string",
    "wstring",
    "string<=",
    "Header",
    "a/B",
    "a/",
    "[",
    "]",
    "<=",
    "=",
    "-",
    "+",
    "0",
    "1",
    "255",
    "99999999999999999999",
    "4294967296",
    "0x",
    "1e9",
    "_",
    ".",
    ",",
    "true",
    "\"",
    "'",
    "\\",
    "\\x",
    "\\u",
    "\\777",
    "#",
    "# comment",
    "---",
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
];

/// Valid lines for the tests to break.
const RIGHT: &str = "\
# A heading
int32[3] numbers [1, -2, 0x3]  # behind
string<=10[<=2] texts [\"a, \\\"b\\\"\", 'c']
wstring wide \"hell\\u00f6\"
uint8 A=5
    # after
string B = 'x y'
std_msgs/Header[] headers
@optional float64 f 1.5e3
---
bool ok true
---
Other other
";

/// Parses the text as each kind. An error must point into the text; an accepted definition must
/// pass all later stages.
fn check(text: &[u8]) -> Result<(), TestCaseError> {
    for kind in KINDS {
        match Definition::parse(&name(&format!("x/{kind}/T")), "T", text) {
            Ok(definition) => {
                let mut definitions = definitions(&[("std_msgs/msg/Header", ""), ("x/msg/Other", "")]);
                definitions.add(definition).map_err(|error| TestCaseError::fail(error.to_string()))?;
                describe_all(definitions);
            }
            Err(error) => check_place(text, &error)?,
        }
    }
    Ok(())
}

fn describe_all(definitions: Definitions) {
    if let Ok(interfaces) = definitions.resolve() {
        for interface in interfaces.iter() {
            let description = interfaces.description(&interface.name);
            assert!(description.is_some_and(|description| description.to_json().is_ascii()));
        }
    }
}

fn check_place(text: &[u8], error: &ParseError) -> Result<(), TestCaseError> {
    let text = String::from_utf8_lossy(text);
    let lines = text.split(['\n', '\r']).count();
    prop_assert!((1..=lines).contains(&error.place.line), "{error}");
    let longest = text.split(['\n', '\r']).map(|line| line.chars().count()).max().unwrap_or(0);
    prop_assert!((1..=longest + 1).contains(&error.place.column), "{error}");
    prop_assert!(error.to_string().len() < 1000, "{error}");
    Ok(())
}

proptest! {
    #[test]
    fn bytes(text in vec(any::<u8>(), 0..200)) {
        check(&text)?;
    }

    #[test]
    fn words(text in vec(select(WORDS), 0..60)) {
        check(text.concat().as_bytes())?;
    }

    #[test]
    fn one_line_of_words(start in select(WORDS), text in vec(select(WORDS), 0..10)) {
        check(format!("{start} {}", text.concat()).as_bytes())?;
    }

    #[test]
    fn mutations(changes in vec((any::<Index>(), select(WORDS), 0..4_usize), 1..4)) {
        let mut text = RIGHT.as_bytes().to_vec();
        for (at, word, removed) in changes {
            let begin = at.index(text.len());
            let end = (begin + removed).min(text.len());
            text.splice(begin..end, word.bytes());
        }
        check(&text)?;
    }

    /// Values are read as written.
    #[test]
    fn strings_come_back(content in "[^#\r\n\\\\\"]{0,20}") {
        let section = super::message(&format!("string x \"{content}\"\nstring[] y [\"{content}\", \"{content}\"]"));
        prop_assert_eq!(format!("{:?}", section.fields[0].default), format!("Some(String({content:?}))"));
        prop_assert_eq!(format!("{:?}", section.fields[1].default), format!("Some(Sequence([String({content:?}), String({content:?})]))"));
    }
}

#[test]
fn the_text_to_be_broken_is_right() {
    let action = Definition::parse(&name("x/action/T"), "T", RIGHT);
    assert!(action.is_ok(), "{}", action.unwrap_err());
}

#[test]
fn long_lines_and_many_lines() {
    let brackets = "[".repeat(100_000);
    let backslashes = format!("string x \"{}\"", "\\\\".repeat(100_000));
    let values = format!("uint8[] x [{}0]", "0, ".repeat(100_000));
    let fields: String = (0..20_000).map(|n| format!("int32 x{n}\n# doc\n")).collect();
    for text in [brackets, backslashes, values, fields] {
        check(text.as_bytes()).unwrap();
    }
}
