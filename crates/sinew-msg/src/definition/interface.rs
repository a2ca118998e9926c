//! A type, defined or derived.

use super::model::{Constant, ElementType, FieldDefinition};
use super::names::TypeName;

/// A type: one that a message is an instance of, or a service or action, which has its parts as
/// fields.
#[derive(Debug, Clone, PartialEq)]
pub struct Interface {
    /// Its name, e.g. `example_interfaces/srv/AddTwoInts_Request`.
    pub name: TypeName,
    /// What it is.
    pub role: Role,
    /// The comment at the beginning of its section, without `#`; empty if there is none.
    pub documentation: String,
    /// In the order of the file.
    pub constants: Vec<Constant>,
    /// In the order of the image. (One without fields has a byte in its image, and a field in its
    /// description.)
    pub fields: Vec<FieldDefinition>,
}

/// What a type is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// Messages, and the parts of services and actions.
    Message,
    /// A service: a name for its request, response and event. Has no values.
    Service,
    /// An action: a name for its parts. Has no values.
    Action,
}

impl Interface {
    /// The fields that have a message type, and the type.
    pub(super) fn messages(&self) -> impl Iterator<Item = (&FieldDefinition, &TypeName)> {
        self.fields.iter().filter_map(|field| match &field.field_type.element {
            ElementType::Message(name) => Some((field, name)),
            _ => None,
        })
    }
}
