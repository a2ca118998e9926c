//! Parses the debug text of a value into a tree that can be compared with JSON.

use serde_json::Value;
use std::iter::Peekable;
use std::str::Chars;

/// Checks that the `{:?}` text of a value equals this JSON.
pub(crate) fn same(printed: &str, json: &Value) -> Result<(), String> {
    let tree = Reader { rest: printed.chars().peekable() }.value();
    compare(&tree, json, "")
}

#[derive(Debug)]
enum Tree {
    Structure(Vec<(String, Tree)>),
    Sequence(Vec<Tree>),
    Text(String),
    /// A number, or `true` or `false`.
    Word(String),
}

struct Reader<'a> {
    rest: Peekable<Chars<'a>>,
}

impl Reader<'_> {
    fn value(&mut self) -> Tree {
        match self.rest.peek() {
            Some('[') => {
                self.rest.next();
                Tree::Sequence(self.until(']', Self::value))
            }
            Some('"') => {
                self.rest.next();
                self.text()
            }
            _ => {
                let word = self.word();
                if self.take(" {") || self.take("{") {
                    Tree::Structure(self.until('}', |reader| {
                        let name = reader.word();
                        assert!(reader.take(": "), "a field has a value");
                        (name, reader.value())
                    }))
                } else if self.take("(") {
                    let value = self.value(); // a bounded type
                    assert!(self.take(")"), "one value has a bound");
                    value
                } else if word.starts_with(|c: char| c.is_ascii_uppercase()) && word != "NaN" {
                    Tree::Structure(Vec::new())
                } else {
                    Tree::Word(word)
                }
            }
        }
    }

    fn until<T>(&mut self, end: char, read: impl Fn(&mut Self) -> T) -> Vec<T> {
        let mut all = Vec::new();
        loop {
            while self.rest.next_if(|c| [' ', ','].contains(c)).is_some() {}
            if self.rest.next_if_eq(&end).is_some() {
                return all;
            }
            all.push(read(self));
        }
    }

    fn word(&mut self) -> String {
        let mut word = String::new();
        while let Some(c) = self.rest.next_if(|c| c.is_alphanumeric() || "_-+.#".contains(*c)) {
            word.push(c);
        }
        word
    }

    fn take(&mut self, text: &str) -> bool {
        let mut ahead = self.rest.clone();
        let is_there = text.chars().all(|c| ahead.next() == Some(c));
        if is_there {
            self.rest = ahead;
        }
        is_there
    }

    fn text(&mut self) -> Tree {
        let mut text = String::new();
        loop {
            match self.rest.next().unwrap() {
                '"' => return Tree::Text(text),
                '\\' => text.push(match self.rest.next().unwrap() {
                    'n' => '\n',
                    'r' => '\r',
                    't' => '\t',
                    '0' => '\0',
                    'u' => {
                        let digits: String = self.rest.by_ref().take_while(|c| *c != '}').skip(1).collect();
                        char::from_u32(u32::from_str_radix(&digits, 16).unwrap()).unwrap()
                    }
                    other => other,
                }),
                other => text.push(other),
            }
        }
    }
}

fn compare(tree: &Tree, json: &Value, path: &str) -> Result<(), String> {
    let different = || Err(format!("{path}: {tree:?} is not {json}"));
    match (tree, json) {
        (Tree::Structure(fields), Value::Object(expected)) => {
            let names: Vec<&str> = fields.iter().map(|(name, _)| name.trim_start_matches("r#")).collect();
            if names.len() != expected.len() {
                return different();
            }
            fields.iter().zip(names).try_for_each(|((_, tree), name)| match expected.get(name) {
                Some(json) => compare(tree, json, &format!("{path}.{name}")),
                None => different(),
            })
        }
        (Tree::Sequence(elements), Value::Array(expected)) if elements.len() == expected.len() => elements
            .iter()
            .zip(expected)
            .try_for_each(|(tree, json)| compare(tree, json, &format!("{path}[]"))),
        (Tree::Text(text), Value::String(expected)) if text == expected => Ok(()),
        (Tree::Word(word), Value::Bool(expected)) if *word == expected.to_string() => Ok(()),
        (Tree::Word(word), Value::String(expected)) if word.to_lowercase() == *expected => Ok(()),
        (Tree::Word(word), Value::Number(expected)) if is_same_number(word, expected) => Ok(()),
        _ => different(),
    }
}

/// Compares integers exactly; a 32-bit float may print fewer digits than the same 64-bit one.
fn is_same_number(word: &str, expected: &serde_json::Number) -> bool {
    if !expected.is_f64() {
        return word == expected.to_string() || word == format!("{expected}.0");
    }
    let expected = expected.as_f64().unwrap();
    word.parse::<f64>() == Ok(expected) || word.parse::<f32>().map(f64::from) == Ok(expected)
}
