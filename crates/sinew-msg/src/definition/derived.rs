//! The types that ROS 2 derives from a definition, with the names and fields that `rosidl_parser`
//! gives them.

use super::interface::{Interface, Role};
use super::model::{
    Content, Definition, ElementType, FieldDefinition, FieldType, Place, Primitive, Section, Shape,
};
use super::names::TypeName;

/// Types that derived types refer to, for sets of definitions that lack them.
pub(super) const FOUNDATIONS: [(&str, &str); 3] = [
    (TIME, "int32 sec\nuint32 nanosec"),
    (
        SERVICE_EVENT_INFO,
        "uint8 REQUEST_SENT=0\nuint8 REQUEST_RECEIVED=1\nuint8 RESPONSE_SENT=2\nuint8 RESPONSE_RECEIVED=3\n\
         uint8 event_type\nbuiltin_interfaces/Time stamp\nchar[16] client_gid\nint64 sequence_number",
    ),
    (UUID, "uint8[16] uuid"),
];

const TIME: &str = "builtin_interfaces/msg/Time";
const SERVICE_EVENT_INFO: &str = "service_msgs/msg/ServiceEventInfo";
const UUID: &str = "unique_identifier_msgs/msg/UUID";

/// Returns all types of a definition, beginning with the type that it names.
pub(super) fn interfaces(definition: &Definition) -> Vec<Interface> {
    let Definition { name, content, .. } = definition;
    let derived = Derived { place: Place { file: definition.file.clone(), line: 1, column: 1 } };
    match content {
        Content::Message(section) => vec![of_section(name.clone(), section)],
        Content::Service { request, response } => {
            let [request_name, response_name] = ["_Request", "_Response"].map(|suffix| name.derived(suffix));
            derived.service(name, [of_section(request_name, request), of_section(response_name, response)])
        }
        Content::Action { goal, result, feedback } => {
            let names = ["_Goal", "_Result", "_Feedback"].map(|suffix| name.derived(suffix));
            let [goal_name, result_name, feedback_name] = names;
            let sections = [
                of_section(goal_name, goal),
                of_section(result_name, result),
                of_section(feedback_name, feedback),
            ];
            derived.action(name, sections)
        }
    }
}

fn of_section(name: TypeName, section: &Section) -> Interface {
    let Section { documentation, constants, fields } = section.clone();
    Interface { name, role: Role::Message, documentation, constants, fields }
}

/// Makes the fields and types that are not in any file.
struct Derived {
    place: Place,
}

impl Derived {
    fn service(&self, name: &TypeName, [request, response]: [Interface; 2]) -> Vec<Interface> {
        let event_name = name.derived("_Event");
        let parts = vec![
            self.message("request_message", &request.name),
            self.message("response_message", &response.name),
            self.message("event_message", &event_name),
        ];
        let at_most_one = |name, message: &TypeName| {
            self.field(name, ElementType::Message(message.clone()), Shape::BoundedSequence(1))
        };
        let event = vec![
            self.message("info", &foundation(SERVICE_EVENT_INFO)),
            at_most_one("request", &request.name),
            at_most_one("response", &response.name),
        ];
        let service = interface(name.clone(), Role::Service, parts);
        vec![service, request, response, interface(event_name, Role::Message, event)]
    }

    fn action(&self, name: &TypeName, [goal, result, feedback]: [Interface; 3]) -> Vec<Interface> {
        let goal_id = || self.message("goal_id", &foundation(UUID));
        let message = |suffix, fields| interface(name.derived(suffix), Role::Message, fields);
        let send_goal = [
            message("_SendGoal_Request", vec![goal_id(), self.message("goal", &goal.name)]),
            message(
                "_SendGoal_Response",
                vec![self.primitive("accepted", Primitive::Bool), self.message("stamp", &foundation(TIME))],
            ),
        ];
        let result_fields =
            vec![self.primitive("status", Primitive::Int8), self.message("result", &result.name)];
        let get_result =
            [message("_GetResult_Request", vec![goal_id()]), message("_GetResult_Response", result_fields)];
        let feedback_message =
            message("_FeedbackMessage", vec![goal_id(), self.message("feedback", &feedback.name)]);
        let send_goal = self.service(&name.derived("_SendGoal"), send_goal);
        let get_result = self.service(&name.derived("_GetResult"), get_result);
        let parts = vec![
            self.message("goal", &goal.name),
            self.message("result", &result.name),
            self.message("feedback", &feedback.name),
            self.message("send_goal_service", &send_goal[0].name),
            self.message("get_result_service", &get_result[0].name),
            self.message("feedback_message", &feedback_message.name),
        ];
        let mut all = vec![interface(name.clone(), Role::Action, parts), goal, result, feedback];
        all.extend(send_goal);
        all.extend(get_result);
        all.push(feedback_message);
        all
    }

    fn message(&self, name: &str, message: &TypeName) -> FieldDefinition {
        self.field(name, ElementType::Message(message.clone()), Shape::Single)
    }

    fn primitive(&self, name: &str, primitive: Primitive) -> FieldDefinition {
        self.field(name, ElementType::Primitive(primitive), Shape::Single)
    }

    fn field(&self, name: &str, element: ElementType, shape: Shape) -> FieldDefinition {
        FieldDefinition {
            name: name.to_owned(),
            field_type: FieldType { element, shape },
            default: None,
            optional: false,
            documentation: String::new(),
            place: self.place.clone(),
        }
    }
}

fn interface(name: TypeName, role: Role, fields: Vec<FieldDefinition>) -> Interface {
    Interface { name, role, documentation: String::new(), constants: Vec::new(), fields }
}

fn foundation(name: &str) -> TypeName {
    name.parse().expect("the names in this file are right")
}
