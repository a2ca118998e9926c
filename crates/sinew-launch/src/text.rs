//! Texts that contain `$(..)`, which is replaced when the file is planned.
//!
//! The form is that of ROS 2's launch files: `$(name argument ..)`, nested, with arguments
//! separated by spaces or in quotes; after a backslash, `$`, quotes and a backslash stand for
//! themselves.

use std::iter::Peekable;
use std::str::Chars;

use crate::error::{LoadError, Problem};
use crate::place::Place;

/// A text that may contain substitutions.
#[derive(Debug, Clone)]
pub(crate) struct Text {
    pub(crate) parts: Vec<Part>,
    pub(crate) place: Place,
}

#[derive(Debug, Clone)]
pub(crate) enum Part {
    Literal(String),
    /// `$(name arguments)`.
    Call {
        name: String,
        arguments: Vec<Vec<Part>>,
    },
}

/// Deepest nesting; deeper ones are a mistake, and would cost stack.
const DEEPEST: usize = 16;

impl Text {
    /// Parses the text that is written at `place`.
    pub(crate) fn parse(text: &str, place: &Place) -> Result<Self, LoadError> {
        let mut reading = Reading { rest: text.chars().peekable(), depth: 0 };
        let parts = reading.outside().map_err(|message| {
            Problem::Substitution { text: text.to_owned(), message: message.to_owned() }.at(place)
        })?;
        Ok(Self { parts, place: place.clone() })
    }

    /// Makes a text without substitutions.
    pub(crate) fn literal(text: impl Into<String>, place: &Place) -> Self {
        Self { parts: vec![Part::Literal(text.into())], place: place.clone() }
    }

    /// Returns the text, if nothing in it is replaced.
    pub(crate) fn as_literal(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [] => Some(""),
            [Part::Literal(text)] => Some(text),
            _ => None,
        }
    }
}

struct Reading<'a> {
    rest: Peekable<Chars<'a>>,
    depth: usize,
}

type Read<T> = Result<T, &'static str>;

impl Reading<'_> {
    /// Parses text up to the end.
    fn outside(&mut self) -> Read<Vec<Part>> {
        let mut parts = Parts::default();
        while let Some(c) = self.rest.next() {
            match c {
                '\\' if matches!(self.rest.peek(), Some('$' | '\\')) => parts.push(self.rest.next()),
                '$' if self.rest.peek() == Some(&'(') => parts.call(self.call()?),
                c => parts.push(Some(c)),
            }
        }
        Ok(parts.end())
    }

    /// Parses a substitution between `$` and its closing bracket, both included.
    fn call(&mut self) -> Read<Part> {
        self.rest.next(); // the bracket
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err("`$(..)` is nested more than 16 deep");
        }
        let name: String =
            std::iter::from_fn(|| self.rest.next_if(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_')))
                .collect();
        if name.is_empty() {
            return Err("a name such as `var` or `env` has to follow `$(`");
        }
        let mut arguments = Vec::new();
        loop {
            match self.rest.peek() {
                None => return Err("`$(` is never closed"),
                Some(')') => break,
                Some(c) if c.is_whitespace() => drop(self.rest.next()),
                Some(_) => arguments.push(self.argument()?),
            }
        }
        self.rest.next();
        self.depth -= 1;
        Ok(Part::Call { name, arguments })
    }

    /// Parses one argument: up to a space or the closing bracket, outside quotes.
    fn argument(&mut self) -> Read<Vec<Part>> {
        let mut parts = Parts::default();
        let mut quote = None;
        loop {
            let Some(&c) = self.rest.peek() else {
                return Err(if quote.is_some() { "a quote is never closed" } else { "`$(` is never closed" });
            };
            if quote.is_none() && (c.is_whitespace() || c == ')') {
                return Ok(parts.end());
            }
            self.rest.next();
            match c {
                '\\' => parts.push(Some(self.rest.next().ok_or("nothing follows the last backslash")?)),
                '$' if self.rest.peek() == Some(&'(') => parts.call(self.call()?),
                '\'' | '"' if quote.is_none() => {
                    quote = Some(c);
                    parts.quoted = true;
                }
                c if quote == Some(c) => quote = None,
                c => parts.push(Some(c)),
            }
        }
    }
}

/// The parts read so far.
#[derive(Default)]
struct Parts {
    done: Vec<Part>,
    literal: String,
    /// Also counts an empty literal.
    quoted: bool,
}

impl Parts {
    fn push(&mut self, c: Option<char>) {
        self.literal.extend(c);
    }

    fn call(&mut self, call: Part) {
        self.flush();
        self.done.push(call);
    }

    fn flush(&mut self) {
        if !self.literal.is_empty() {
            self.done.push(Part::Literal(std::mem::take(&mut self.literal)));
        }
    }

    fn end(mut self) -> Vec<Part> {
        self.flush();
        if self.quoted && self.done.is_empty() {
            self.done.push(Part::Literal(String::new()));
        }
        self.done
    }
}
