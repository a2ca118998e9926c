//! The descriptions of services, which ROS 2 derives from those of their messages.

use super::{FieldDescription, FieldTypeDescription, IndividualTypeDescription, TypeDescription, type_id};
use std::collections::BTreeMap;

impl TypeDescription {
    /// The description of the service type with these messages: a type that has them, and the event
    /// of their coming and going, as fields.
    #[must_use]
    pub fn of_service(name: &str, request: &Self, response: &Self) -> Self {
        let event_name = format!("{name}_Event");
        let [request_name, response_name] =
            [request, response].map(|message| message.type_description.type_name.as_str());
        let event = vec![
            field("info", type_id::NESTED, 0, "service_msgs/msg/ServiceEventInfo"),
            field("request", type_id::NESTED + type_id::BOUNDED_SEQUENCE, 1, request_name),
            field("response", type_id::NESTED + type_id::BOUNDED_SEQUENCE, 1, response_name),
        ];
        let info = vec![
            field("event_type", type_id::UINT8, 0, ""),
            field("stamp", type_id::NESTED, 0, "builtin_interfaces/msg/Time"),
            field("client_gid", type_id::UINT8 + type_id::ARRAY, 16, ""),
            field("sequence_number", type_id::INT64, 0, ""),
        ];
        let time = vec![field("sec", type_id::INT32, 0, ""), field("nanosec", type_id::UINT32, 0, "")];
        let parts = vec![
            field("request_message", type_id::NESTED, 0, request_name),
            field("response_message", type_id::NESTED, 0, response_name),
            field("event_message", type_id::NESTED, 0, &event_name),
        ];
        let mut inside = vec![
            individual(&event_name, event),
            individual("service_msgs/msg/ServiceEventInfo", info),
            individual("builtin_interfaces/msg/Time", time),
        ];
        for message in [request, response] {
            inside.push(message.type_description.clone());
            inside.extend(message.referenced_type_descriptions.iter().cloned());
        }
        // Each once, in the order of their names.
        let inside: BTreeMap<_, _> = inside.into_iter().map(|one| (one.type_name.clone(), one)).collect();
        Self {
            type_description: individual(name, parts),
            referenced_type_descriptions: inside.into_values().collect(),
        }
    }

    /// The description of a type inside this one. (It may refer to more types than it needs.)
    #[must_use]
    pub fn of_inside(&self, name: &str) -> Option<Self> {
        let (found, others): (Vec<_>, Vec<_>) =
            self.referenced_type_descriptions.iter().cloned().partition(|one| one.type_name == name);
        let type_description = found.into_iter().next()?;
        Some(Self { type_description, referenced_type_descriptions: others })
    }
}

fn individual(name: &str, fields: Vec<FieldDescription>) -> IndividualTypeDescription {
    IndividualTypeDescription { type_name: name.to_owned(), fields }
}

fn field(name: &str, type_id: u8, capacity: u64, nested: &str) -> FieldDescription {
    let field_type =
        FieldTypeDescription { type_id, capacity, string_capacity: 0, nested_type_name: nested.to_owned() };
    FieldDescription { name: name.to_owned(), field_type, default_value: String::new() }
}
