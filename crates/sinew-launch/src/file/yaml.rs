//! ROS 2's launch files in YAML: `launch:` and a list of elements. A list of maps below an element
//! holds children of that name; everything else is an attribute.

use std::collections::HashMap;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle};

use super::element::{Attribute, Element, Value};
use crate::error::{LoadError, Problem};
use crate::place::{Place, Source};

/// Deepest nesting; deeper elements are a mistake, and would cost stack.
const DEEPEST: usize = 64;

enum Node {
    Scalar { text: String, is_quoted: bool },
    List(Vec<(Node, Place)>),
    Map(Vec<(String, Place, Node)>),
}

/// Reads the tree.
pub(super) fn read(source: &Source) -> Result<Element, LoadError> {
    let mut reading = Reading { source, parser: Parser::new_from_str(&source.text) };
    let first = source.at(1, 1);
    let root = loop {
        match reading.next()? {
            Some((Event::StreamStart | Event::DocumentStart(_), _)) => {}
            Some((Event::StreamEnd | Event::DocumentEnd, _)) | None => {
                return Err(wrong("an empty file", "it begins with `launch:`", &first));
            }
            Some((event, place)) => break reading.node(event, &place, 0)?,
        }
    };
    while let Some((event, place)) = reading.next()? {
        if let Event::DocumentStart(_) = event {
            return Err(wrong("a second document", "a launch file has one", &place));
        }
    }
    let Node::Map(mut entries) = root else {
        return Err(wrong("a file without `launch:`", "it begins with `launch:`, and a list", &first));
    };
    match entries.pop() {
        Some((key, place, Node::List(items))) if key == "launch" && entries.is_empty() => {
            let mut launch = Element { tag: key, place, attributes: Vec::new(), children: Vec::new() };
            launch.children = items.into_iter().map(child).collect::<Result<_, _>>()?;
            Ok(launch)
        }
        Some((key, place, _)) => {
            Err(wrong(&format!("`{key}` here"), "a launch file has `launch:`, and a list", &place))
        }
        None => Err(wrong("an empty file", "it begins with `launch:`", &first)),
    }
}

/// Reads an element of a list: a map with one key, the tag.
fn child((node, place): (Node, Place)) -> Result<Element, LoadError> {
    let Node::Map(mut entries) = node else {
        return Err(wrong("this element", "it has to be a map with one key, such as `node:`", &place));
    };
    if let Some((_, place, _)) = entries.get(1) {
        return Err(wrong("a second key", "each element of the list has one, its name", place));
    }
    match entries.pop() {
        Some((tag, place, node)) => element(tag, place, node),
        None => Err(wrong("an empty map", "it has to have a key, such as `node:`", &place)),
    }
}

fn element(tag: String, place: Place, node: Node) -> Result<Element, LoadError> {
    let mut element = Element { tag, place, attributes: Vec::new(), children: Vec::new() };
    let entries = match node {
        Node::Map(entries) => entries,
        Node::List(items) => {
            element.children = items.into_iter().map(child).collect::<Result<_, _>>()?;
            return Ok(element);
        }
        Node::Scalar { .. } => {
            let what = format!("`{}` with one value", element.tag);
            return Err(wrong(&what, "its attributes are keys below it", &element.place));
        }
    };
    for (name, place, node) in entries {
        match node {
            Node::Scalar { text, is_quoted } => {
                element.attributes.push(Attribute { name, place, value: Value::Text { text, is_quoted } });
            }
            Node::List(items) if name == "children" => {
                for item in items {
                    element.children.push(child(item)?);
                }
            }
            Node::List(items) if items.iter().all(|(item, _)| matches!(item, Node::Scalar { .. })) => {
                let texts = items.into_iter().filter_map(|(item, place)| match item {
                    // A quoted number stays a text.
                    Node::Scalar { text, is_quoted: true } => Some((format!("'{text}'"), place)),
                    Node::Scalar { text, .. } => Some((text, place)),
                    _ => None,
                });
                let value = Value::List(texts.collect());
                element.attributes.push(Attribute { name, place, value });
            }
            Node::List(items) => {
                for (item, place) in items {
                    element.children.push(self::element(name.clone(), place, item)?);
                }
            }
            node @ Node::Map(_) => element.children.push(self::element(name, place, node)?),
        }
    }
    Ok(element)
}

struct Reading<'a> {
    source: &'a Source,
    parser: Parser<'a, saphyr_parser::StrInput<'a>>,
}

impl<'a> Reading<'a> {
    fn next(&mut self) -> Result<Option<(Event<'a>, Place)>, LoadError> {
        match self.parser.next_event() {
            None => Ok(None),
            Some(Ok((event, span))) => Ok(Some((event, self.place(&span.start)))),
            Some(Err(error)) => {
                let message = error.info().to_owned();
                Err(Problem::Syntax { format: "YAML", message }.at(&self.place(error.marker())))
            }
        }
    }

    fn place(&self, marker: &Marker) -> Place {
        self.source.at(marker.line(), marker.col() + 1)
    }

    fn node(&mut self, event: Event<'a>, place: &Place, depth: usize) -> Result<Node, LoadError> {
        if depth == DEEPEST {
            return Err(wrong("this", "lists and maps are nested more than 64 deep", place));
        }
        match event {
            Event::Scalar(text, style, ..) => {
                Ok(Node::Scalar { text: text.into_owned(), is_quoted: style != ScalarStyle::Plain })
            }
            Event::SequenceStart(..) => {
                let mut items = Vec::new();
                while let Some((event, place)) = self.next()? {
                    if matches!(event, Event::SequenceEnd) {
                        break;
                    }
                    items.push((self.node(event, &place, depth + 1)?, place));
                }
                Ok(Node::List(items))
            }
            Event::MappingStart(..) => {
                let mut entries: Vec<(String, Place, Node)> = Vec::new();
                let mut known: HashMap<String, usize> = HashMap::new();
                while let Some((event, place)) = self.next()? {
                    let key = match event {
                        Event::MappingEnd => break,
                        Event::Scalar(key, ..) => key.into_owned(),
                        _ => return Err(wrong("this key", "keys are texts", &place)),
                    };
                    if let Some(first) = known.insert(key.clone(), entries.len()) {
                        let (what, other) = ("keys", entries[first].1.clone());
                        return Err(Problem::Twice { what, name: key, other }.at(&place));
                    }
                    let Some((event, value_place)) = self.next()? else { break };
                    let node = self.node(event, &value_place, depth + 1)?;
                    entries.push((key, place, node));
                }
                Ok(Node::Map(entries))
            }
            Event::Alias(_) => Err(wrong("an alias", "write the value where it is needed", place)),
            _ => Err(wrong("this", "a value has to be there", place)),
        }
    }
}

fn wrong(what: &str, remedy: &str, place: &Place) -> LoadError {
    Problem::NotUnderstood { what: what.to_owned(), remedy: remedy.to_owned() }.at(place)
}
