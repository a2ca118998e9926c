//! Parses texts into trees, before their types are considered.

use crate::yaml::{Event, Events, Marker, ScalarStyle, Tag};
use std::borrow::Cow;

/// Maximum nesting of brackets. (The depth of a message is bounded too, and sequences add nesting.)
pub(crate) const MAX_NESTING: usize = 128;

/// The reason why a text could not be parsed.
#[derive(Debug)]
pub(crate) struct Misread {
    /// Line, from 1.
    pub(crate) line: usize,
    /// Column in characters, from 1.
    pub(crate) column: usize,
    pub(crate) problem: String,
}

/// Memory that reading a text may still take, in bytes. Values and texts count, the allocator's own
/// memory doesn't.
pub(crate) struct Room {
    limit: usize,
    left: usize,
}

impl Room {
    pub(crate) fn unlimited() -> Self {
        Self::new(usize::MAX)
    }

    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, left: limit }
    }

    /// # Errors
    /// The limit, if less than this is left.
    pub(crate) fn take(&mut self, bytes: usize) -> Result<(), usize> {
        self.left = self.left.checked_sub(bytes).ok_or(self.limit)?;
        Ok(())
    }
}

pub(crate) fn too_large(limit: usize) -> String {
    format!(
        "from here on, the message takes more than {limit} bytes of memory to read; send it encoded, or in parts"
    )
}

/// A parsed text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Tree {
    /// An unquoted word or number, as written.
    Plain(String),
    /// A quoted text, without the quotes.
    Quoted(String),
    Sequence(Vec<Tree>),
    /// The entries, in the order of the text.
    Mapping(Vec<(String, Tree)>),
}

impl Tree {
    /// Returns whether the value is empty or null.
    pub(crate) fn is_nothing(&self) -> bool {
        matches!(self, Self::Plain(text) if matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL"))
    }

    /// Returns the memory of the value without those in it.
    fn memory(&self) -> usize {
        let text = match self {
            Self::Plain(text) | Self::Quoted(text) => text.len(),
            Self::Sequence(_) | Self::Mapping(_) => 0,
        };
        size_of::<Self>() + text
    }

    /// Describes the value for errors.
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

/// Parses JSON as YAML, after joining surrogate pairs.
pub(crate) fn json(text: &str, room: &mut Room) -> Result<Tree, Misread> {
    yaml(&with_whole_characters(text), room)
}

/// Joins surrogate pairs: JSON escapes are UTF-16 units, YAML escapes are characters, so two units
/// that encode one character are replaced by that character.
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
            // Copy the backslash and the character after it: if that is a backslash, it begins no
            // escape.
            let length = 1 + escape[1..].chars().next().map_or(0, char::len_utf8);
            whole.push_str(&escape[..length]);
            rest = &escape[length..];
        }
    }
    whole.push_str(rest);
    Cow::Owned(whole)
}

/// Returns the character that two escapes of four digits each encode as a surrogate pair.
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

/// Parses YAML: one document, without references; all keys are texts.
pub(crate) fn yaml(text: &str, room: &mut Room) -> Result<Tree, Misread> {
    let mut open: Vec<Open> = Vec::new();
    let mut document = None;
    for event in Events::new(text) {
        let (event, at) = event.map_err(|error| wrong(*error.marker(), error.info()))?;
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
        room.take(complete.memory()).map_err(|limit| wrong(at, &too_large(limit)))?;
        match open.last_mut() {
            Some(outer) => outer.add(complete, at)?,
            None => document = Some(complete),
        }
    }
    Ok(document.unwrap_or(Tree::Plain(String::new())))
}

/// Checks a tag. A tag changes the meaning of a value, so only tags that repeat what the field's
/// type already says are accepted.
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

/// A list or mapping that is still being parsed.
struct Open {
    tree: Tree,
    /// The key of a mapping entry that has no value yet.
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
            Tree::Plain(_) | Tree::Quoted(_) => {} // scalars contain nothing
        }
        Ok(())
    }
}

fn wrong(at: Marker, problem: &str) -> Misread {
    Misread { line: at.line(), column: at.col() + 1, problem: problem.to_owned() }
}
