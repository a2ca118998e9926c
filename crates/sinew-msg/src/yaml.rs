//! The events of a YAML text, for the readers of files in this workspace.
//!
//! The parser is generic over its input: this is its one instance, which every crate shares.

pub use saphyr_parser::{Event, Marker, ScalarStyle, Tag};
use saphyr_parser::{Parser, ScanError, StrInput};

/// Iterates over the events of a text, each with the place where it begins. After an error it ends.
pub struct Events<'a>(Parser<'a, StrInput<'a>>);

impl<'a> Events<'a> {
    /// Begins at the start of the text.
    pub fn new(text: &'a str) -> Self {
        Self(Parser::new_from_str(text))
    }
}

impl<'a> Iterator for Events<'a> {
    type Item = Result<(Event<'a>, Marker), ScanError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.0.next_event()?;
        Some(next.map(|(event, span)| (event, span.start)))
    }
}
