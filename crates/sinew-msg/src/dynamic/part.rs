//! Parts of messages: nested fields and elements.

use super::error::PathError;
use super::types::{DynamicElement, MessageType};
use super::value::Value;
use super::yaml::Style;
use super::{csv, json, yaml};
use crate::definition::Shape;
use std::borrow::Cow;

/// The path of a part in the messages of a type, such as `transforms[0].header.stamp`.
///
/// [`MessageType::path`] makes a path, [`DynamicMessage::part`](super::DynamicMessage::part)
/// follows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldPath {
    steps: Vec<Step>,
    /// The type of the part.
    element: DynamicElement,
    shape: Shape,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    /// A field, by its number.
    Field(usize),
    Element(usize),
}

/// A step as written in the text.
enum Word<'a> {
    Name(&'a str),
    Index(usize),
}

impl FieldPath {
    /// Checks that a text has the syntax of a path, for any type.
    ///
    /// # Errors
    /// [`PathError::Syntax`] if it does not.
    pub fn check(text: &str) -> Result<(), PathError> {
        words(text).map(drop).ok_or_else(|| PathError::Syntax { text: text.to_owned() })
    }
}

impl MessageType {
    /// Parses a path: fields are separated by dots, and elements of arrays and sequences are given
    /// by their indices from 0 in brackets.
    ///
    /// ```
    /// # use sinew_msg::definition::{Definition, Definitions};
    /// # use sinew_msg::dynamic::{DynamicMessage, MessageType};
    /// # use std::sync::Arc;
    /// # let mut definitions = Definitions::new();
    /// # let name = "example_msgs/msg/Path".parse()?;
    /// # definitions.add(Definition::parse(&name, "Path.msg", "Point[] points")?)?;
    /// # definitions.add(Definition::parse(&"example_msgs/msg/Point".parse()?, "Point.msg", "float64 x\nfloat64 y")?)?;
    /// # let path = Arc::new(MessageType::of(&definitions.resolve()?, &name)?);
    /// let second = path.path("points[1].y")?;
    /// let message = DynamicMessage::from_yaml(&path, "{points: [{}, {y: 0.5}]}")?;
    /// assert_eq!(message.part(&second).map(|part| part.to_json()), Some("0.5".to_owned()));
    ///
    /// let error = path.path("points[1].z").unwrap_err();
    /// assert_eq!(error.to_string(), "`points[1].z`: example_msgs/msg/Point has no such field, but `x`, `y`");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`PathError`] if messages of this type have no such part.
    pub fn path(&self, text: &str) -> Result<FieldPath, PathError> {
        let words = words(text).ok_or_else(|| PathError::Syntax { text: text.to_owned() })?;
        let (mut element, mut shape) = (DynamicElement::Structure(0), Shape::Single);
        let (mut steps, mut path) = (Vec::with_capacity(words.len()), String::new());
        for word in words {
            match (word, element, shape) {
                (Word::Name(name), DynamicElement::Structure(index), Shape::Single) => {
                    let dot = if path.is_empty() { "" } else { "." };
                    path = format!("{path}{dot}{name}");
                    let structure = self.structure(index);
                    let found = structure.fields.iter().position(|field| field.name == name);
                    let Some(number) = found else {
                        let type_name = structure.name.clone();
                        let fields = super::types::names(&structure.fields);
                        return Err(PathError::UnknownField { path, type_name, fields });
                    };
                    (element, shape) = (structure.fields[number].element, structure.fields[number].shape);
                    steps.push(Step::Field(number));
                }
                (Word::Name(name), ..) => {
                    let (field_type, name) = (self.show(element, shape), name.to_owned());
                    return Err(PathError::NoFields { path, field_type, name });
                }
                (Word::Index(index), _, shape_here) => {
                    let most = match shape_here {
                        Shape::Single => 0,
                        Shape::Array(size) | Shape::BoundedSequence(size) => u64::from(size),
                        Shape::Sequence => u64::MAX,
                    };
                    if index as u64 >= most {
                        let field_type = self.show(element, shape);
                        return Err(PathError::NoElement { path, field_type, index });
                    }
                    path = format!("{path}[{index}]");
                    shape = Shape::Single;
                    steps.push(Step::Element(index));
                }
            }
        }
        Ok(FieldPath { steps, element, shape })
    }
}

/// Returns the steps of a path, at least one, beginning with a name; `None` if the syntax is wrong.
fn words(text: &str) -> Option<Vec<Word<'_>>> {
    let mut words = Vec::new();
    for part in text.split('.') {
        let (name, mut rest) = part.split_at(part.find('[').unwrap_or(part.len()));
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return None;
        }
        words.push(Word::Name(name));
        while !rest.is_empty() {
            let (digits, behind) = rest.strip_prefix('[')?.split_once(']')?;
            let index = digits.parse().ok().filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
            words.push(Word::Index(index));
            rest = behind;
        }
    }
    Some(words)
}

pub(super) fn part<'a>(
    message_type: &'a MessageType,
    fields: &'a [Value],
    path: &FieldPath,
) -> Option<Part<'a>> {
    let (first, rest) = path.steps.split_first()?;
    let Step::Field(number) = first else { return None };
    let mut value = Cow::Borrowed(fields.get(*number)?);
    for step in rest {
        let Cow::Borrowed(outer) = value else { return None }; // a number has no parts
        value = match (step, outer) {
            (Step::Field(number), Value::Structure(values)) => Cow::Borrowed(values.get(*number)?),
            (Step::Element(index), Value::Values(values)) => Cow::Borrowed(values.get(*index)?),
            (Step::Element(index), Value::Scalars(scalars)) => {
                Cow::Owned(Value::Scalar(scalars.iter().nth(*index)?))
            }
            _ => return None,
        };
    }
    Some(Part { message_type, element: path.element, shape: path.shape, value })
}

/// A field of a message, or part of one.
#[derive(Debug, Clone, PartialEq)]
pub struct Part<'a> {
    message_type: &'a MessageType,
    element: DynamicElement,
    shape: Shape,
    value: Cow<'a, Value>,
}

impl Part<'_> {
    /// Returns the part's value.
    #[must_use]
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// Returns the part as YAML; see [`DynamicMessage::to_yaml`](super::DynamicMessage::to_yaml).
    #[must_use]
    pub fn to_yaml(&self, style: &Style) -> String {
        yaml::write_part(self.message_type, (self.element, self.shape), &self.value, style)
    }

    /// Returns the part as JSON; see [`DynamicMessage::to_json`](super::DynamicMessage::to_json).
    #[must_use]
    pub fn to_json(&self) -> String {
        json::write_part(self.message_type, self.element, &self.value)
    }

    /// Returns the part as CSV; see [`DynamicMessage::to_csv`](super::DynamicMessage::to_csv).
    #[must_use]
    pub fn to_csv(&self, style: &Style) -> String {
        csv::write_part(self.message_type, (self.element, self.shape), &self.value, style)
    }
}
