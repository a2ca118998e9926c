//! ROS 2's launch files in XML.

use roxmltree::{Document, Node};

use super::element::{Attribute, Element, Value};
use crate::error::{LoadError, Problem};
use crate::place::Source;

/// Deepest nesting; deeper elements are a mistake, and would cost stack.
const DEEPEST: usize = 64;

/// Reads the tree.
pub(super) fn read(source: &Source) -> Result<Element, LoadError> {
    let document = Document::parse(&source.text).map_err(|error| {
        let at = error.pos();
        let message = error.to_string();
        // The message ends with the place, which the error reports anyway.
        let message = message.rsplit_once(" at ").map_or(message.as_str(), |(head, _)| head).to_owned();
        Problem::Syntax { format: "XML", message }.at(&source.at(at.row as usize, at.col as usize))
    })?;
    element(source, document.root_element(), 0)
}

fn element(source: &Source, node: Node<'_, '_>, depth: usize) -> Result<Element, LoadError> {
    let place = source.place(node.range().start);
    if depth == DEEPEST {
        let message = "elements are nested more than 64 deep".to_owned();
        return Err(Problem::Syntax { format: "launch file", message }.at(&place));
    }
    let attributes = node.attributes().map(|attribute| Attribute {
        name: attribute.name().to_owned(),
        place: source.place(attribute.range().start),
        value: Value::Text { text: attribute.value().to_owned(), is_quoted: false },
    });
    let mut children = Vec::new();
    for child in node.children() {
        if child.is_element() {
            children.push(element(source, child, depth + 1)?);
        } else if let Some(text) = child.text().filter(|text| child.is_text() && !text.trim().is_empty()) {
            let what = format!("the text `{}`", text.trim());
            let remedy = "launch files have elements and attributes only".to_owned();
            return Err(Problem::NotUnderstood { what, remedy }.at(&source.place(child.range().start)));
        }
    }
    Ok(Element { tag: node.tag_name().name().to_owned(), place, attributes: attributes.collect(), children })
}
