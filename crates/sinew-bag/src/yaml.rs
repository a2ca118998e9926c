//! The little of YAML that bags have: reading any of it into a tree, and quoting texts as yaml-cpp
//! does, which writes rosbag2's.

use sinew_msg::yaml::{Event, Events};
use std::fmt::Write as _;

/// Deepest nesting that is read.
const MAX_DEPTH: usize = 32;

/// A value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Yaml {
    Text(String),
    List(Vec<Yaml>),
    Map(Vec<(String, Yaml)>),
}

impl Yaml {
    /// Reads one document; `Err` has the line and the problem.
    pub(crate) fn read(text: &str) -> Result<Self, (usize, String)> {
        let mut open: Vec<(Self, Option<String>)> = Vec::new();
        for event in Events::new(text) {
            let (event, at) = event.map_err(|error| (error.marker().line(), error.info().to_owned()))?;
            let line = at.line();
            let complete = match event {
                Event::SequenceStart(..) => Err(Self::List(Vec::new())),
                Event::MappingStart(..) => Err(Self::Map(Vec::new())),
                Event::Scalar(text, ..) => Ok(Self::Text(text.into_owned())),
                Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                    Some((value, _)) => Ok(value),
                    None => continue,
                },
                Event::Alias(_) => return Err((line, "references are not read".to_owned())),
                _ => continue,
            };
            match complete {
                Err(_) if open.len() == MAX_DEPTH => {
                    return Err((line, "it is nested too deeply".to_owned()));
                }
                Err(begun) => open.push((begun, None)),
                Ok(value) => match open.last_mut() {
                    None => return Ok(value),
                    Some((Self::List(items), _)) => items.push(value),
                    Some((Self::Map(entries), key)) => match (key.take(), value) {
                        (Some(key), value) => entries.push((key, value)),
                        (None, Self::Text(text)) => *key = Some(text),
                        (None, _) => return Err((line, "a key is not a text".to_owned())),
                    },
                    Some((Self::Text(_), _)) => unreachable!("only lists and maps are opened"),
                },
            }
        }
        Ok(Self::Text(String::new()))
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Self> {
        let Self::Map(entries) = self else { return None };
        entries.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    pub(crate) fn text(&self) -> Option<&str> {
        let Self::Text(text) = self else { return None };
        Some(text)
    }

    /// The elements of a list; nothing and `~` are an empty one.
    pub(crate) fn list(&self) -> Option<&[Self]> {
        match self {
            Self::List(items) => Some(items),
            Self::Text(text) if text.is_empty() || text == "~" => Some(&[]),
            _ => None,
        }
    }

    /// The entries of a map; nothing and `~` are an empty one.
    pub(crate) fn entries(&self) -> Option<&[(String, Self)]> {
        match self {
            Self::Map(entries) => Some(entries),
            Self::Text(text) if text.is_empty() || text == "~" || text == "null" => Some(&[]),
            _ => None,
        }
    }
}

/// Writes a text as yaml-cpp does: plain where that is safe, else in double quotes on one line.
pub(crate) fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_/.+-".contains(c);
    if text.starts_with(|c: char| c.is_ascii_alphanumeric() || "_/".contains(c)) && text.chars().all(is_plain)
    {
        return text.to_owned();
    }
    let mut written = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => written.extend(['\\', c]),
            '\n' => written.push_str("\\n"),
            '\t' => written.push_str("\\t"),
            '\r' => written.push_str("\\r"),
            c if c.is_control() => {
                let _ = write!(written, "\\u{:04x}", u32::from(c)); // writing to a string can't fail
            }
            c => written.push(c),
        }
    }
    written + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted_where_they_must_be() {
        for text in ["/a/b_c", "jazzy", "bag_0.mcap", "", "- x", "a\n  b: \"c\"\\", "ä: 1", "\u{1}", "~"] {
            let read = Yaml::read(&format!("key: {}", quoted(text))).unwrap();
            assert_eq!(read.get("key").and_then(Yaml::text), Some(text));
        }
        assert_eq!(quoted("/a/b_c"), "/a/b_c");
        assert_eq!(quoted("a b\n"), "\"a b\\n\"");
    }

    #[test]
    fn deep_and_odd_texts_are_refused() {
        assert!(Yaml::read(&"[".repeat(1000)).is_err());
        assert!(Yaml::read("{[a]: b}").is_err());
        assert!(Yaml::read("a: &b c\nd: *b").is_err());
    }
}
