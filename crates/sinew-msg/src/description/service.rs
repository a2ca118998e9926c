//! The descriptions of services and actions, which ROS 2 derives from those of their messages.

use super::{FieldDescription, FieldTypeDescription, IndividualTypeDescription, TypeDescription, type_id};
use std::collections::BTreeMap;

impl TypeDescription {
    /// Returns the description of the service type with these messages: its fields are the two
    /// messages and the event that reports their traffic.
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
        let derived = vec![
            individual(&event_name, event),
            individual("service_msgs/msg/ServiceEventInfo", info),
            individual("builtin_interfaces/msg/Time", time),
        ];
        Self {
            type_description: individual(name, parts),
            referenced_type_descriptions: all_of(derived, [request, response]),
        }
    }

    /// Returns the description of the action type with these parts: its goal, result and feedback,
    /// the services that send a goal and ask for its result, and the feedback of a goal with its
    /// id.
    #[must_use]
    pub fn of_action(name: &str, parts: [&Self; 6]) -> Self {
        const FIELDS: [&str; 6] =
            ["goal", "result", "feedback", "send_goal_service", "get_result_service", "feedback_message"];
        let fields = FIELDS.iter().zip(parts).map(|(name, part)| {
            let part_name = part.type_description.type_name.as_str();
            field(name, type_id::NESTED, 0, part_name)
        });
        Self {
            type_description: individual(name, fields.collect()),
            referenced_type_descriptions: all_of(Vec::new(), parts),
        }
    }

    /// Returns the description of a type inside this one. (It may list more nested types than it
    /// needs.)
    #[must_use]
    pub fn of_inside(&self, name: &str) -> Option<Self> {
        let (found, others): (Vec<_>, Vec<_>) =
            self.referenced_type_descriptions.iter().cloned().partition(|one| one.type_name == name);
        let type_description = found.into_iter().next()?;
        Some(Self { type_description, referenced_type_descriptions: others })
    }
}

/// Returns these types and all nested types, each once, ordered by name.
fn all_of<const N: usize>(
    mut types: Vec<IndividualTypeDescription>,
    others: [&TypeDescription; N],
) -> Vec<IndividualTypeDescription> {
    for other in others {
        types.push(other.type_description.clone());
        types.extend(other.referenced_type_descriptions.iter().cloned());
    }
    let once: BTreeMap<_, _> = types.into_iter().map(|one| (one.type_name.clone(), one)).collect();
    once.into_values().collect()
}

fn individual(name: &str, fields: Vec<FieldDescription>) -> IndividualTypeDescription {
    IndividualTypeDescription { type_name: name.to_owned(), fields }
}

fn field(name: &str, type_id: u8, capacity: u64, nested: &str) -> FieldDescription {
    let field_type =
        FieldTypeDescription { type_id, capacity, string_capacity: 0, nested_type_name: nested.to_owned() };
    FieldDescription { name: name.to_owned(), field_type, default_value: String::new() }
}
