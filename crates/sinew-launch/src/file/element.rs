//! The tree of ROS 2's launch files, in XML as in YAML: elements with attributes.

use crate::error::{LoadError, Problem};
use crate::place::Place;
use crate::similar::suggestion;
use crate::text::Text;

/// `<tag attribute="..">children</tag>`, or the same in YAML.
pub(super) struct Element {
    pub(super) tag: String,
    pub(super) place: Place,
    pub(super) attributes: Vec<Attribute>,
    pub(super) children: Vec<Element>,
}

pub(super) struct Attribute {
    pub(super) name: String,
    pub(super) place: Place,
    pub(super) value: Value,
}

pub(super) enum Value {
    Text {
        text: String,
        /// It is quoted in YAML, and so not a number.
        is_quoted: bool,
    },
    /// Only in YAML.
    List(Vec<(String, Place)>),
}

impl Element {
    /// Rejects unknown attributes and children.
    pub(super) fn check(&self, attributes: &[&str], children: &[&str]) -> Result<(), LoadError> {
        let owner = || format!("`{}`", self.tag);
        let unknown = |key: &str, known: &[&str], place: &Place| {
            let similar = suggestion(key, known.iter().copied());
            let known = if known.is_empty() { "nothing of this kind".to_owned() } else { known.join(", ") };
            Problem::UnknownKey { owner: owner(), key: key.to_owned(), similar, known }.at(place)
        };
        for attribute in &self.attributes {
            let is_known = attributes.contains(&attribute.name.as_str());
            if !is_known && !["if", "unless"].contains(&attribute.name.as_str()) {
                return Err(unknown(&attribute.name, attributes, &attribute.place));
            }
        }
        for child in &self.children {
            if !children.contains(&child.tag.as_str()) {
                return Err(unknown(&child.tag, children, &child.place));
            }
            // Only a component can be left out by a condition; other children always count.
            let condition = child.attribute("if").or_else(|| child.attribute("unless"));
            if let Some(condition) = condition.filter(|_| child.tag != "composable_node") {
                let what = format!("`{}` of `{}` in `{}`", condition.name, child.tag, self.tag);
                let remedy = "give the condition to the element that contains it".to_owned();
                return Err(Problem::NotUnderstood { what, remedy }.at(&condition.place));
            }
        }
        Ok(())
    }

    pub(super) fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|attribute| attribute.name == name)
    }

    /// Returns the text of an attribute.
    pub(super) fn text(&self, name: &str) -> Result<Option<Text>, LoadError> {
        let Some(attribute) = self.attribute(name) else { return Ok(None) };
        match &attribute.value {
            Value::Text { text, .. } => Text::parse(text, &attribute.place).map(Some),
            Value::List(_) => {
                Err(Problem::value(name, "a list", "it has to be one value").at(&attribute.place))
            }
        }
    }

    /// Returns the text of one of these attributes: some have two spellings.
    pub(super) fn text_of(&self, names: [&str; 2]) -> Result<Option<Text>, LoadError> {
        match self.text(names[0])? {
            Some(text) => Ok(Some(text)),
            None => self.text(names[1]),
        }
    }

    /// Returns the text of a required attribute.
    pub(super) fn needed(&self, name: &'static str, purpose: &'static str) -> Result<Text, LoadError> {
        let missing =
            || Problem::Missing { owner: format!("`{}`", self.tag), key: name, purpose }.at(&self.place);
        self.text(name)?.ok_or_else(missing)
    }

    /// Returns the text of an attribute that allows no substitutions.
    pub(super) fn literal(&self, name: &'static str) -> Result<Option<String>, LoadError> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        match text.as_literal() {
            Some(literal) => Ok(Some(literal.to_owned())),
            None => {
                Err(Problem::value(name, "a text with `$(..)`", "nothing is replaced in it").at(&text.place))
            }
        }
    }

    pub(super) fn children<'a>(&'a self, tag: &'a str) -> impl Iterator<Item = &'a Element> {
        self.children.iter().filter(move |child| child.tag == tag)
    }
}
