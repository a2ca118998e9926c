//! Conversions of type descriptions to and from messages:
//! [`type_description_interfaces`](crate::type_description_interfaces) has the same fields as
//! [`sinew_msg::description`].
//!
//! ```
//! use sinew_interfaces::std_msgs::msg::String;
//! use sinew_interfaces::type_description_interfaces::msg;
//! use sinew_msg::Message;
//! use sinew_msg::description::TypeDescription;
//!
//! let description = String::ENCODING.unwrap().description.unwrap().describe().unwrap();
//! let message = msg::TypeDescription::try_from(&description).unwrap();
//! assert_eq!(message.type_description.type_name, "std_msgs/msg/String");
//! assert_eq!(TypeDescription::from(&message), description);
//! ```

use crate::type_description_interfaces::msg;
use sinew_msg::cdr::BoundedString;
use sinew_msg::description::{
    FieldDescription, FieldTypeDescription, IndividualTypeDescription, TypeDescription,
};

/// The name of a type is longer than the 255 characters that the message can hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` is too long a name for a type description: it has at most 255 characters")]
pub struct TypeNameTooLong {
    /// The name.
    pub name: String,
}

impl TryFrom<&TypeDescription> for msg::TypeDescription {
    type Error = TypeNameTooLong;

    fn try_from(description: &TypeDescription) -> Result<Self, TypeNameTooLong> {
        let others = &description.referenced_type_descriptions;
        Ok(Self {
            type_description: (&description.type_description).try_into()?,
            referenced_type_descriptions: others.iter().map(TryInto::try_into).collect::<Result<_, _>>()?,
        })
    }
}

impl TryFrom<&IndividualTypeDescription> for msg::IndividualTypeDescription {
    type Error = TypeNameTooLong;

    fn try_from(one: &IndividualTypeDescription) -> Result<Self, TypeNameTooLong> {
        let fields = one.fields.iter().map(|field| {
            let FieldTypeDescription { type_id, capacity, string_capacity, .. } = field.field_type;
            let nested_type_name = bounded(&field.field_type.nested_type_name)?;
            Ok(msg::Field {
                name: field.name.clone(),
                r#type: msg::FieldType { type_id, capacity, string_capacity, nested_type_name },
                default_value: field.default_value.clone(),
            })
        });
        Ok(Self { type_name: bounded(&one.type_name)?, fields: fields.collect::<Result<_, _>>()? })
    }
}

fn bounded(name: &str) -> Result<BoundedString<255>, TypeNameTooLong> {
    name.to_owned().try_into().map_err(|_| TypeNameTooLong { name: name.to_owned() })
}

impl From<&msg::TypeDescription> for TypeDescription {
    fn from(message: &msg::TypeDescription) -> Self {
        let others = &message.referenced_type_descriptions;
        Self {
            type_description: (&message.type_description).into(),
            referenced_type_descriptions: others.iter().map(Into::into).collect(),
        }
    }
}

impl From<&msg::IndividualTypeDescription> for IndividualTypeDescription {
    fn from(message: &msg::IndividualTypeDescription) -> Self {
        let fields = message.fields.iter().map(|field| {
            let msg::FieldType { type_id, capacity, string_capacity, nested_type_name } = &field.r#type;
            FieldDescription {
                name: field.name.clone(),
                field_type: FieldTypeDescription {
                    type_id: *type_id,
                    capacity: *capacity,
                    string_capacity: *string_capacity,
                    nested_type_name: nested_type_name.to_string(),
                },
                default_value: field.default_value.clone(),
            }
        });
        Self { type_name: message.type_name.to_string(), fields: fields.collect() }
    }
}
