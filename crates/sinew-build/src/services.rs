//! Services and actions: types that name other types.

use super::code::Code;
use super::names::Module;
use super::package::Generation;
use sinew_msg::definition::{ElementType, Interface};

impl Generation<'_> {
    pub(super) fn service(&self, code: &mut Code, module: &Module<'_>, interface: &Interface) {
        let part = |field: &str| self.part(module, interface, field);
        code.add("\n", &[]);
        code.comment(&[format!("`{}`", interface.name)]);
        code.add(
            "#[derive(Clone, Copy, Debug)]
            pub enum $name {}

            impl sinew::Service for $name {
            type Request = $request;
            type Response = $response;
            const TYPE: $option<&'static sinew::ServiceType> = Some(&sinew::ServiceType {
            name: \"$ros\",
            hash: sinew::TypeHash::from_rihs01(
            \"$hash\",
            ),
            });
            }",
            &[
                ("name", self.names.own(&interface.name)),
                ("request", &part("request_message")),
                ("response", &part("response_message")),
                ("option", &self.names.prelude(module, "Option", "::core::option::Option")),
                ("ros", interface.name.as_str()),
                ("hash", &self.hash(interface)),
            ],
        );
    }

    pub(super) fn action(&self, code: &mut Code, module: &Module<'_>, interface: &Interface) {
        let part = |field: &str| self.part(module, interface, field);
        code.add("\n", &[]);
        code.comment(&[format!("`{}`", interface.name)]);
        code.add(
            "#[derive(Clone, Copy, Debug)]
            pub enum $name {}

            impl sinew::Action for $name {
            type Goal = $goal;
            type Result = $result;
            type Feedback = $feedback;
            type SendGoal = $send_goal;
            type GetResult = $get_result;
            type FeedbackMessage = $message;
            const NAME: &'static str = \"$ros\";
            const HASH: sinew::TypeHash = sinew::TypeHash::from_rihs01(
            \"$hash\",
            );
            }",
            &[
                ("name", self.names.own(&interface.name)),
                ("goal", &part("goal")),
                ("result", &part("result")),
                ("feedback", &part("feedback")),
                ("send_goal", &part("send_goal_service")),
                ("get_result", &part("get_result_service")),
                ("message", &part("feedback_message")),
                ("ros", interface.name.as_str()),
                ("hash", &self.hash(interface)),
            ],
        );
    }

    fn hash(&self, interface: &Interface) -> String {
        let hash = self.interfaces.hash(&interface.name);
        hash.expect("resolved interfaces are complete").to_string()
    }

    /// Returns the type of a field that every service or action has.
    fn part(&self, module: &Module<'_>, interface: &Interface, name: &str) -> String {
        let field = interface.fields.iter().find(|field| field.name == name);
        match field.map(|field| &field.field_type.element) {
            Some(ElementType::Message(name)) => self.names.message(module, name),
            other => unreachable!("{} has {other:?} for `{name}`", interface.name),
        }
    }
}
