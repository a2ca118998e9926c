//! Type descriptions, which tools need to decode messages, and their hashes.
//!
//! They have the contents of ROS 2's message `type_description_interfaces/msg/TypeDescription`,
//! under the same names. Programs without the definition of a type ask for its description.

mod constant;
mod difference;
mod json;
#[cfg(feature = "text")]
mod read;
mod service;
mod text;
pub mod type_id;

pub use constant::{ConstDescription, ConstFieldType, Nested};

/// A type, with every type in it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct TypeDescription {
    /// The description of the type itself.
    pub type_description: IndividualTypeDescription,
    /// The types of its fields and of their fields, each once, ordered by name.
    pub referenced_type_descriptions: Vec<IndividualTypeDescription>,
}

/// A type, with the names of the types in it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct IndividualTypeDescription {
    /// The full name, e.g. `sensor_msgs/msg/Image`.
    pub type_name: String,
    /// The fields in the order of the encoding. A type without fields is described with a `uint8`
    /// named `structure_needs_at_least_one_member`.
    pub fields: Vec<FieldDescription>,
}

/// A field.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct FieldDescription {
    /// The name.
    pub name: String,
    /// The type. (ROS 2 calls it `type`, which is a keyword in Rust.)
    pub field_type: FieldTypeDescription,
    /// The default value as Python would print it; empty if there is none. Not part of the hash.
    pub default_value: String,
}

/// The type of a field.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct FieldTypeDescription {
    /// The number of the type in `type_description_interfaces/msg/FieldType`; see [`type_id`].
    pub type_id: u8,
    /// The length of an array or the bound of a sequence; otherwise 0.
    pub capacity: u64,
    /// The bound of a string; 0 if it has none.
    pub string_capacity: u64,
    /// The full name of a message type; otherwise empty.
    pub nested_type_name: String,
}

/// The name of the only field in the description of a type without fields.
pub const PLACEHOLDER: &str = "structure_needs_at_least_one_member";
