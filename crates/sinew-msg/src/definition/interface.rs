//! A type, defined or derived.

use super::model::{Constant, ElementType, FieldDefinition};
use super::names::TypeName;

/// A type: a message type, or a service or action, which has its parts as fields.
#[derive(Debug, Clone, PartialEq)]
pub struct Interface {
    /// The name, e.g. `example_interfaces/srv/AddTwoInts_Request`.
    pub name: TypeName,
    /// The role of the type.
    pub role: Role,
    /// The comment at the beginning of its section, without `#`; empty if there is none.
    pub documentation: String,
    /// The constants, in the order of the file.
    pub constants: Vec<Constant>,
    /// The fields, in the order of the encoding. (A type without fields is encoded as one byte, and
    /// has a field in its description.)
    pub fields: Vec<FieldDefinition>,
}

/// The role of a type.
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
    /// Returns the fields with a message type, each with that type.
    pub(super) fn messages(&self) -> impl Iterator<Item = (&FieldDefinition, &TypeName)> {
        self.fields.iter().filter_map(|field| match &field.field_type.element {
            ElementType::Message(name) => Some((field, name)),
            _ => None,
        })
    }
}
