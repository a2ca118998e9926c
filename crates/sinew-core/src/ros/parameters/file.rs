//! Parameter files, and the values of `-p`: YAML with the rules of `rcl_yaml_param_parser`.
//!
//! ```yaml
//! /robot/*:          # nodes; namespaces may lie above it as mappings of their own
//!   ros__parameters:
//!     gain: 1.5
//!     limits:        # limits.speed
//!       speed: 2.0
//! ```
//!
//! No anchors, aliases or second document; a list has elements of one type (among doubles, integers
//! are doubles) and no lists; every parameter has a value. Errors have line and column.

use super::pattern::NodePattern;
use super::value_block::Block;
use super::word;
use crate::parameters::value::{NamedValue, ParameterValue, exact};
use sinew_msg::yaml::{Event, Events, Marker, ScalarStyle, Tag};

/// The key between a node's name and its parameters.
const PARAMETERS: &str = "ros__parameters";

/// Most levels of nested mappings.
const MAX_DEPTH: usize = 64;

/// An error in a text with values of parameters, and its place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {problem}")]
pub struct ParameterTextError {
    pub(super) line: usize,
    pub(super) column: usize,
    pub(super) problem: String,
}

impl ParameterTextError {
    /// Returns the line, from 1.
    pub fn line(&self) -> usize {
        self.line
    }

    /// Returns the character in the line, from 1.
    pub fn column(&self) -> usize {
        self.column
    }

    /// Returns the problem at that place.
    pub fn problem(&self) -> &str {
        &self.problem
    }
}

fn wrong<T>(at: Marker, problem: impl Into<String>) -> Result<T, ParameterTextError> {
    Err(ParameterTextError { line: at.line(), column: at.col() + 1, problem: problem.into() })
}

/// Reads a parameter file.
pub(crate) fn read(text: &str) -> Result<Vec<Block>, ParameterTextError> {
    let mut reader = Reader(Events::new(text));
    let mut blocks = Vec::new();
    let Some((node, at)) = reader.document()? else { return Ok(blocks) };
    match node {
        Node::Mapping => reader.nodes("", 1, &mut blocks)?,
        node if node.is_nothing() => {}
        _ => {
            return wrong(
                at,
                format!("a parameter file is a mapping: a node's name, `{PARAMETERS}`, and its parameters"),
            );
        }
    }
    reader.end()?;
    Ok(blocks)
}

/// Reads a value as written for `-p`.
pub(crate) fn value(text: &str) -> Result<ParameterValue, ParameterTextError> {
    let mut reader = Reader(Events::new(text));
    let Some((node, at)) = reader.document()? else {
        return Err(ParameterTextError { line: 1, column: 1, problem: NO_VALUE.to_owned() });
    };
    let value = reader.value(node, at)?;
    reader.end()?;
    Ok(value)
}

const NO_VALUE: &str = "there is no value; a text without characters is \"\"";

/// The start of a node of the text.
enum Node {
    Word(String),
    Text(String),
    Sequence,
    Mapping,
}

impl Node {
    fn is_nothing(&self) -> bool {
        matches!(self, Self::Word(word) if matches!(word.as_str(), "" | "~" | "null" | "Null" | "NULL"))
    }
}

struct Reader<'a>(Events<'a>);

impl Reader<'_> {
    /// Returns the next event.
    fn next(&mut self) -> Result<Option<(Event<'_>, Marker)>, ParameterTextError> {
        match self.0.next().transpose() {
            Ok(next) => Ok(next),
            Err(error) => wrong(*error.marker(), error.info()),
        }
    }

    /// Returns the next node; `None` where the mapping, the sequence or the text ends.
    fn node(&mut self) -> Result<Option<(Node, Marker)>, ParameterTextError> {
        let Some((event, at)) = self.next()? else { return Ok(None) };
        if let Event::Scalar(_, _, anchor, _)
        | Event::SequenceStart(anchor, _)
        | Event::MappingStart(anchor, _) = &event
            && *anchor > 0
        {
            return wrong(at, "anchors (`&name`) are not read in parameter files");
        }
        let node = match event {
            Event::Scalar(text, style, _, tag) => {
                let is_text = match &tag {
                    Some(tag) => check(tag, at)?,
                    None => false,
                };
                if is_text || style != ScalarStyle::Plain {
                    Node::Text(text.into_owned())
                } else {
                    Node::Word(text.into_owned())
                }
            }
            Event::SequenceStart(..) => Node::Sequence,
            Event::MappingStart(..) => Node::Mapping,
            Event::Alias(_) => {
                return wrong(
                    at,
                    "references (`*name`) are not read in parameter files; write the value again, and a node called `*` in quotes",
                );
            }
            _ => return Ok(None),
        };
        Ok(Some((node, at)))
    }

    /// Returns the document's first node.
    fn document(&mut self) -> Result<Option<(Node, Marker)>, ParameterTextError> {
        loop {
            match self.next()? {
                None | Some((Event::StreamEnd, _)) => return Ok(None),
                Some((Event::DocumentStart(_), _)) => return self.node(),
                Some(_) => {}
            }
        }
    }

    /// Checks that nothing follows.
    fn end(&mut self) -> Result<(), ParameterTextError> {
        while let Some((event, at)) = self.next()? {
            if matches!(event, Event::DocumentStart(_)) {
                return wrong(at, "this is a second document; a parameter file has one");
            }
        }
        Ok(())
    }

    /// Returns the next key of a mapping; `None` at its end.
    fn key(&mut self) -> Result<Option<(String, Marker)>, ParameterTextError> {
        match self.node()? {
            None => Ok(None),
            Some((Node::Word(key) | Node::Text(key), at)) => Ok(Some((key, at))),
            Some((_, at)) => wrong(at, "this stands for a name, which is a word"),
        }
    }

    /// Returns the value of a key.
    fn after_key(&mut self, at: Marker) -> Result<(Node, Marker), ParameterTextError> {
        match self.node()? {
            Some(found) => Ok(found),
            None => wrong(at, NO_VALUE),
        }
    }

    /// Reads a mapping of namespaces and nodes.
    fn nodes(
        &mut self,
        above: &str,
        depth: usize,
        blocks: &mut Vec<Block>,
    ) -> Result<(), ParameterTextError> {
        while let Some((key, at)) = self.key()? {
            let (node, value_at) = self.after_key(at)?;
            if key == PARAMETERS {
                if above.is_empty() {
                    return wrong(
                        at,
                        format!("there is no node's name above `{PARAMETERS}`; `/**` stands for all nodes"),
                    );
                }
                let nodes = match NodePattern::parse(above) {
                    Ok(nodes) => nodes,
                    Err(problem) => return wrong(at, format!("`{above}` is no node's name: {problem}")),
                };
                let mut values = Vec::new();
                match node {
                    Node::Mapping => self.parameters("", depth + 1, &mut values)?,
                    node if node.is_nothing() => {}
                    _ => return wrong(value_at, format!("`{PARAMETERS}` has a mapping of names and values")),
                }
                blocks.push(Block { nodes, values });
                continue;
            }
            if !matches!(node, Node::Mapping) {
                return wrong(
                    at,
                    format!(
                        "below `{key}` there is no `{PARAMETERS}`: a parameter stands below that, and that below a node's name"
                    ),
                );
            }
            if depth == MAX_DEPTH {
                return wrong(at, "namespaces lie too deep in each other");
            }
            let below = key.trim_start_matches('/');
            let name = if above.is_empty() { below.to_owned() } else { format!("{above}/{below}") };
            if let Err(problem) = NodePattern::parse(&name) {
                return wrong(at, format!("`{key}` is no namespace or node's name: {problem}"));
            }
            self.nodes(&name, depth + 1, blocks)?;
        }
        Ok(())
    }

    /// Reads a mapping of parameters.
    fn parameters(
        &mut self,
        above: &str,
        depth: usize,
        values: &mut Vec<NamedValue>,
    ) -> Result<(), ParameterTextError> {
        while let Some((key, at)) = self.key()? {
            if key.is_empty() {
                return wrong(at, "a parameter has a name");
            }
            let name = if above.is_empty() { key } else { format!("{above}.{key}") };
            let (node, value_at) = self.after_key(at)?;
            if !matches!(node, Node::Mapping) {
                // A missing value has no place of its own.
                let is_missing = matches!(&node, Node::Word(word) if word.is_empty());
                let value = self.value(node, if is_missing { at } else { value_at })?;
                values.push(NamedValue { name, value });
                continue;
            }
            if depth == MAX_DEPTH {
                return wrong(at, "parameters lie too deep in each other");
            }
            self.parameters(&name, depth + 1, values)?;
        }
        Ok(())
    }

    fn value(&mut self, node: Node, at: Marker) -> Result<ParameterValue, ParameterTextError> {
        match node {
            node if node.is_nothing() => wrong(at, NO_VALUE),
            Node::Word(word) => Ok(word::value(&word)),
            Node::Text(text) => Ok(ParameterValue::String(text)),
            Node::Sequence => self.sequence(at),
            Node::Mapping => wrong(at, "a mapping is no value"),
        }
    }

    fn sequence(&mut self, at: Marker) -> Result<ParameterValue, ParameterTextError> {
        let mut all = None;
        while let Some((node, at)) = self.node()? {
            let one = match node {
                Node::Sequence => return wrong(at, "a list can't have lists for elements"),
                Node::Mapping => return wrong(at, "a list can't have mappings for elements"),
                node => self.value(node, at)?,
            };
            match add(all, one) {
                Ok(more) => all = Some(more),
                Err(problem) => return wrong(at, problem),
            }
        }
        match all {
            Some(all) => Ok(all),
            None => wrong(at, "a list without elements has no type, so it can't be given here"),
        }
    }
}

/// Converts an integer in a list of doubles.
fn widened(integer: i64) -> Result<f64, String> {
    exact(integer).ok_or_else(|| {
        format!("this is a list of doubles, and {integer} can't become one without loss: write the nearest, with a point")
    })
}

/// Adds an element to a list. Among doubles, integers become doubles.
fn add(all: Option<ParameterValue>, one: ParameterValue) -> Result<ParameterValue, String> {
    use ParameterValue::{
        Bool, BoolArray, Double, DoubleArray, Integer, IntegerArray, String as Text, StringArray,
    };
    fn with<T>(mut all: Vec<T>, one: T) -> Vec<T> {
        all.push(one);
        all
    }
    Ok(match (all, one) {
        (None, Bool(one)) => BoolArray(vec![one]),
        (None, Integer(one)) => IntegerArray(vec![one]),
        (None, Double(one)) => DoubleArray(vec![one]),
        (None, Text(one)) => StringArray(vec![one]),
        (Some(BoolArray(all)), Bool(one)) => BoolArray(with(all, one)),
        (Some(IntegerArray(all)), Integer(one)) => IntegerArray(with(all, one)),
        (Some(DoubleArray(all)), Double(one)) => DoubleArray(with(all, one)),
        (Some(StringArray(all)), Text(one)) => StringArray(with(all, one)),
        (Some(IntegerArray(all)), Double(one)) => {
            let wide = all.into_iter().map(widened).collect::<Result<Vec<_>, _>>()?;
            DoubleArray(with(wide, one))
        }
        (Some(DoubleArray(all)), Integer(one)) => DoubleArray(with(all, widened(one)?)),
        (all, one) => {
            let all = all.map_or_else(String::new, |all| all.kind().to_string());
            return Err(format!(
                "the elements of a list are of one type; after those of {all} comes one of {}",
                one.kind()
            ));
        }
    })
}

/// Returns `true` if a tag makes a word a string. Any other tag, which would change the type, is an
/// error.
fn check(tag: &Tag, at: Marker) -> Result<bool, ParameterTextError> {
    match (tag.is_yaml_core_schema(), tag.suffix.as_str()) {
        (true, "str") => Ok(true),
        (true, suffix) => {
            wrong(at, format!("the tag `!!{suffix}` is not read in parameter files; only `!!str` is"))
        }
        (false, suffix) => wrong(
            at,
            format!("the tag `{}{suffix}` is not read in parameter files; only `!!str` is", tag.handle),
        ),
    }
}

#[cfg(test)]
mod tests;
