//! From texts to trees: what stands where, before anything is known of its type.

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Tag};
use std::borrow::Cow;

/// How deep brackets can lie one in the other. (A message's own depth is bounded, and has sequences
/// between.)
pub(crate) const MAX_NESTING: usize = 128;

/// Why a text is no tree.
#[derive(Debug)]
pub(crate) struct Misread {
    /// From 1.
    pub(crate) line: usize,
    /// The character in the line, from 1.
    pub(crate) column: usize,
    pub(crate) problem: String,
}

/// What a text says.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Tree {
    /// A word or number, as it is written.
    Plain(String),
    /// A text in quotes, without them.
    Quoted(String),
    Sequence(Vec<Tree>),
    /// In the order of the text.
    Mapping(Vec<(String, Tree)>),
}

impl Tree {
    /// Whether nothing stands there.
    pub(crate) fn is_nothing(&self) -> bool {
        matches!(self, Self::Plain(text) if matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL"))
    }

    /// For errors.
    pub(crate) fn found(&self) -> String {
        match self {
            _ if self.is_nothing() => "nothing".to_owned(),
            Self::Plain(text) => format!("`{}`", shortened(text)),
            Self::Quoted(text) => format!("\"{}\"", shortened(text)),
            Self::Sequence(items) if items.len() == 1 => "a list of 1 element".to_owned(),
            Self::Sequence(items) => format!("a list of {} elements", items.len()),
            Self::Mapping(_) => "fields in braces".to_owned(),
        }
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// Reads JSON, which is YAML, but for characters in two halves.
pub(crate) fn json(text: &str) -> Result<Tree, Misread> {
    yaml(&with_whole_characters(text))
}

/// JSON's escapes are units of UTF-16, YAML's are characters: of two units that make one character,
/// makes that.
fn with_whole_characters(text: &str) -> Cow<'_, str> {
    if !text.contains("\\u") {
        return Cow::Borrowed(text);
    }
    let (mut whole, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        whole.push_str(before);
        if let Some(character) = pair(escape) {
            whole.push(character);
            rest = &escape[12..];
        } else {
            // The backslash, and what it is before: that may be a backslash, which begins nothing.
            let length = 1 + escape[1..].chars().next().map_or(0, char::len_utf8);
            whole.push_str(&escape[..length]);
            rest = &escape[length..];
        }
    }
    whole.push_str(rest);
    Cow::Owned(whole)
}

/// What two escapes of four digits each stand for.
fn pair(escape: &str) -> Option<char> {
    let unit = |from: usize| {
        let digits = escape.get(from..from + 6)?.strip_prefix("\\u")?;
        let is_number = digits.bytes().all(|byte| byte.is_ascii_hexdigit()); // no sign
        u16::from_str_radix(digits, 16).ok().filter(|_| is_number)
    };
    let units = [unit(0)?, unit(6)?];
    let mut characters = char::decode_utf16(units).map(Result::ok);
    let character = characters.next()??;
    characters.next().is_none().then_some(character)
}

/// Reads YAML: one document, without references, whose keys are texts.
pub(crate) fn yaml(text: &str) -> Result<Tree, Misread> {
    let mut open: Vec<Open> = Vec::new();
    let mut document = None;
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| wrong(*error.marker(), error.info()))?;
        let at = span.start;
        if let Event::Scalar(.., Some(tag))
        | Event::SequenceStart(_, Some(tag))
        | Event::MappingStart(_, Some(tag)) = &event
        {
            check(tag, at)?;
        }
        let complete = match event {
            Event::SequenceStart(..) => {
                open.push(Open { tree: Tree::Sequence(Vec::new()), key: None });
                None
            }
            Event::MappingStart(..) => {
                open.push(Open { tree: Tree::Mapping(Vec::new()), key: None });
                None
            }
            Event::SequenceEnd | Event::MappingEnd => open.pop().map(|open| open.tree),
            Event::Scalar(text, ScalarStyle::Plain, ..) => Some(Tree::Plain(text.into_owned())),
            Event::Scalar(text, ..) => Some(Tree::Quoted(text.into_owned())),
            Event::Alias(_) => return Err(wrong(at, "references are not read; write the value again")),
            Event::DocumentStart(_) if document.is_some() => {
                return Err(wrong(at, "this is a second message; give one"));
            }
            _ => None,
        };
        if open.len() > MAX_NESTING {
            return Err(wrong(at, "this lies deeper than any message"));
        }
        let Some(complete) = complete else { continue };
        match open.last_mut() {
            Some(outer) => outer.add(complete, at)?,
            None => document = Some(complete),
        }
    }
    Ok(document.unwrap_or(Tree::Plain(String::new())))
}

/// A tag changes what a value is: only those are passed over that say what the field's type says
/// anyway.
fn check(tag: &Tag, at: Marker) -> Result<(), Misread> {
    let is_plain = |suffix: &str| matches!(suffix, "str" | "int" | "float" | "bool" | "null" | "seq" | "map");
    match (tag.is_yaml_core_schema(), tag.suffix.as_str()) {
        (true, "binary") => {
            Err(wrong(at, "`!!binary` is not read; write a list of numbers, such as [1, 255]"))
        }
        (true, suffix) if is_plain(suffix) => Ok(()),
        (true, suffix) => Err(wrong(at, &format!("the tag `!!{suffix}` is not read; leave it out"))),
        (false, suffix) => {
            Err(wrong(at, &format!("the tag `{}{suffix}` is not read; leave it out", tag.handle)))
        }
    }
}

/// A list or mapping that isn't complete.
struct Open {
    tree: Tree,
    /// Of a mapping, whose value is to come.
    key: Option<String>,
}

impl Open {
    fn add(&mut self, inner: Tree, at: Marker) -> Result<(), Misread> {
        match &mut self.tree {
            Tree::Mapping(fields) => match (self.key.take(), inner) {
                (Some(key), value) => fields.push((key, value)),
                (None, Tree::Plain(key) | Tree::Quoted(key)) => self.key = Some(key),
                (None, _) => return Err(wrong(at, "this stands for the name of a field, which is a word")),
            },
            Tree::Sequence(items) => items.push(inner),
            Tree::Plain(_) | Tree::Quoted(_) => {} // nothing is inside these
        }
        Ok(())
    }
}

fn wrong(at: Marker, problem: &str) -> Misread {
    Misread { line: at.line(), column: at.col() + 1, problem: problem.to_owned() }
}
