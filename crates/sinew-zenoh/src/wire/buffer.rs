//! The *buffer* endpoints of Lyrical (`rmw_zenoh_cpp` 0.10.5), for types with large byte fields.
//!
//! For such a type, unless it is transient local, a publisher of Lyrical writes to keys beside the
//! topic's own as soon as it assumes that every subscriber reads them; and it assumes so for every
//! subscriber with a token. A subscriber that wants its messages therefore subscribes to the
//! topic's key *and* to [`cpu_key`], and appends [`CPU_BACKEND`](super::token::CPU_BACKEND) to its
//! token. A publisher needn't do anything: those subscribers also read the topic's key.

use sinew_msg::description::{TypeDescription, type_id};

/// Returns the key on which subscribers that use ordinary memory receive messages, beside the
/// topic's.
///
/// ```
/// use sinew_zenoh::wire::buffer::cpu_key;
/// assert_eq!(cpu_key("0/image/T/H"), "0/image/T/H/_buf_cpu");
/// ```
#[must_use]
pub fn cpu_key(topic_key: &str) -> String {
    format!("{topic_key}/_buf_cpu")
}

/// Returns `true` if the type has a field that can be a buffer, directly or in a nested type: an
/// `uint8[]` or `char[]` without a bound.
///
/// ```
/// use sinew_msg::description::TypeDescription;
/// use sinew_zenoh::wire::buffer::has_buffer_field;
/// assert!(!has_buffer_field(&TypeDescription::default()));
/// ```
#[must_use]
pub fn has_buffer_field(description: &TypeDescription) -> bool {
    // ROS 2's `char` is described as `uint8`. The referenced types are the nested ones, at any
    // depth.
    std::iter::once(&description.type_description)
        .chain(&description.referenced_type_descriptions)
        .flat_map(|part| &part.fields)
        .any(|field| field.field_type.type_id == type_id::UINT8 + type_id::SEQUENCE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_msg::description::{FieldDescription, FieldTypeDescription, IndividualTypeDescription};

    fn type_of(name: &str, type_id: u8, nested: &str) -> IndividualTypeDescription {
        let nested_type_name = nested.to_owned();
        let field_type = FieldTypeDescription { type_id, nested_type_name, ..Default::default() };
        let field = FieldDescription { name: "data".to_owned(), field_type, ..Default::default() };
        IndividualTypeDescription { type_name: name.to_owned(), fields: vec![field] }
    }

    #[test]
    fn only_unbounded_sequences_of_uint8_are_buffers() {
        use type_id::*;
        for (type_id, expected) in [
            (UINT8 + SEQUENCE, true),
            (UINT8, false),
            (UINT8 + ARRAY, false),
            (UINT8 + BOUNDED_SEQUENCE, false),
            (INT8 + SEQUENCE, false),
            (BYTE + SEQUENCE, false),
            (STRING, false),
        ] {
            let type_description = type_of("a_msgs/msg/A", type_id, "");
            let description = TypeDescription { type_description, ..Default::default() };
            assert_eq!(has_buffer_field(&description), expected, "{type_id}");
        }
    }

    #[test]
    fn a_buffer_may_lie_deeper() {
        let description = TypeDescription {
            type_description: type_of("a_msgs/msg/A", type_id::NESTED, "a_msgs/msg/B"),
            referenced_type_descriptions: vec![
                type_of("a_msgs/msg/B", type_id::NESTED + type_id::SEQUENCE, "a_msgs/msg/C"),
                type_of("a_msgs/msg/C", type_id::UINT8 + type_id::SEQUENCE, ""),
            ],
        };
        assert!(has_buffer_field(&description));
    }
}
