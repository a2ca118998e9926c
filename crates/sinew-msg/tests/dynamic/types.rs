//! Descriptions that are types, and others that are not.

use crate::{message_type, ros};
use sinew_msg::definition::Kind;
use sinew_msg::description::{
    FieldDescription, FieldTypeDescription, IndividualTypeDescription, TypeDescription, type_id,
};
use sinew_msg::dynamic::{DynamicMessage, MAX_DEPTH, MessageType, TypeError};
use std::sync::Arc;

fn field(name: &str, type_id: u8, capacity: u64, nested: &str) -> FieldDescription {
    let field_type =
        FieldTypeDescription { type_id, capacity, string_capacity: 0, nested_type_name: nested.to_owned() };
    FieldDescription { name: name.to_owned(), field_type, ..Default::default() }
}

fn one(name: &str, fields: Vec<FieldDescription>) -> IndividualTypeDescription {
    IndividualTypeDescription { type_name: name.to_owned(), fields }
}

fn description(all: Vec<IndividualTypeDescription>) -> TypeDescription {
    let mut all = all.into_iter();
    TypeDescription { type_description: all.next().unwrap(), referenced_type_descriptions: all.collect() }
}

fn error(all: Vec<IndividualTypeDescription>) -> String {
    MessageType::new(&description(all)).unwrap_err().to_string()
}

#[test]
fn all_types_of_ros_2_can_be_read() {
    let interfaces = ros();
    for interface in interfaces.iter() {
        let message_type = Arc::new(MessageType::of(&interfaces, &interface.name).unwrap());
        let message = DynamicMessage::new(&message_type);
        assert_eq!(DynamicMessage::decode(&message_type, &message.encode()).unwrap(), message);
    }
}

#[test]
fn descriptions_that_make_no_sense_are_refused() {
    assert_eq!(
        error(vec![one("a", vec![field("b", type_id::NESTED, 0, "c")])]),
        "`b` of a is described wrongly: its type c is not described"
    );
    assert_eq!(
        error(vec![one("a", vec![])]),
        "a is described without fields; describe one without as ROS 2 does, with a placeholder"
    );
    let number = || field("b", type_id::INT8, 0, "");
    assert_eq!(
        error(vec![one("a", vec![number(), number()])]),
        "`b` of a is described wrongly: there is another of this name"
    );
    assert_eq!(
        error(vec![one("a", vec![number()]), one("a", vec![number()])]),
        "a is described twice; describe each type once"
    );
    for wrong in [0, type_id::LONG_DOUBLE, type_id::WCHAR, type_id::FIXED_STRING, 47, 48, 95, 143, 144, 255] {
        let text = error(vec![one("a", vec![field("b", wrong, 1, "")])]);
        assert!(text.contains(&format!("number {wrong}")), "{text}");
    }
    let text = error(vec![one("a", vec![field("b", type_id::INT8 + type_id::ARRAY, 0, "")])]);
    assert!(text.ends_with("its size is 0, where 1 to 4294967295 can be"), "{text}");
}

#[test]
fn types_that_never_end_are_refused() {
    let text = error(vec![one("a", vec![field("b", type_id::NESTED + type_id::SEQUENCE, 0, "a")])]);
    assert!(text.starts_with("a contains itself"), "{text}");

    // Each type has the next one twice: 2^60 values.
    let name = |index: usize| format!("t{index}");
    let pair = |index| {
        let next = name(index + 1);
        one(&name(index), vec![field("a", type_id::NESTED, 0, &next), field("b", type_id::NESTED, 0, &next)])
    };
    let mut doubled: Vec<_> = (0..60).map(pair).collect();
    doubled.push(one("t60", vec![field("a", type_id::INT8, 0, "")]));
    let text = error(doubled);
    assert!(text.contains("too large"), "{text}");

    let next = |index| one(&name(index), vec![field("a", type_id::NESTED, 0, &name(index + 1))]);
    let chain = |length| {
        let mut chain: Vec<_> = (0..length - 1).map(next).collect();
        chain.push(one(&name(length - 1), vec![field("a", type_id::INT8, 0, "")]));
        MessageType::new(&description(chain))
    };
    assert!(chain(MAX_DEPTH).is_ok());
    assert!(matches!(chain(MAX_DEPTH + 1), Err(TypeError::TooDeep { .. })));
    assert!(matches!(chain(100_000), Err(TypeError::TooDeep { .. })));
}

#[test]
fn arrays_have_a_reasonable_size() {
    let array = |size, id| error(vec![one("a", vec![field("b", id + type_id::ARRAY, size, "")])]);
    assert!(array(u64::from(u32::MAX), type_id::UINT8).contains("too large"));
    assert!(array(1 << 27, type_id::DOUBLE).contains("too large"));
    assert!(array(1 << 24, type_id::STRING).contains("too large"));
    let _ = message_type(&[("A", "uint8[1000000] a")]);
}

#[test]
fn descriptions_survive_writing_and_are_derived_for_services() {
    let interfaces = ros();
    let without_defaults = |mut description: TypeDescription| {
        let all = std::iter::once(&mut description.type_description);
        let all = all.chain(&mut description.referenced_type_descriptions);
        all.flat_map(|one| &mut one.fields).for_each(|field| field.default_value.clear());
        description
    };
    for interface in interfaces.iter() {
        let description = interfaces.description(&interface.name).unwrap();
        let read = TypeDescription::from_json(&description.to_json());
        assert_eq!(read, Some(without_defaults(description)));
    }
    for definition in interfaces.definitions().filter(|definition| definition.name.kind() == Kind::Service) {
        let part = |suffix| {
            let name = format!("{}{suffix}", definition.name).parse().unwrap();
            interfaces.description(&name).unwrap()
        };
        let (request, response) = (part("_Request"), part("_Response"));
        let service = TypeDescription::of_service(definition.name.as_str(), &request, &response);
        assert_eq!(Some(service.hash()), interfaces.hash(&definition.name));
        let inside = service.of_inside(&request.type_description.type_name).unwrap();
        assert_eq!(MessageType::new(&inside).unwrap().name(), request.type_description.type_name);
        assert_eq!(service.of_inside("test_msgs/msg/None"), None);
    }
}
