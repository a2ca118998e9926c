//! `sinew node|topic|service|action`: the nodes and endpoints of a domain and their activity, read
//! from the participants' own memory.
//!
//! Only these commands join the domain: `topic echo`, `topic delay`, `topic pub`, `service call`,
//! `action send_goal`, and `topic hz` and `bw` for topics that only the network has. For all
//! others, the observed processes do no work, and don't notice. Names and forms of the output are
//! those of the `ros2` command where it has them.

mod action;
mod call;
mod carried;
mod delay;
mod echo;
mod held;
mod info;
mod list;
pub(crate) mod mismatch;
pub(crate) mod one_sided;
mod printing;
mod publish;
mod qos;
pub(crate) mod timers;
mod track;
mod values;
mod watch;

use std::sync::Arc;

use sinew::time::Time;
use sinew_msg::dynamic::{DynamicMessage, MessageType, Template, TextError};

use crate::cli::tools::{ActionCommand, NodeCommand, ServiceCommand, TopicCommand};
use crate::error::Error;
pub(crate) use action::{names as action_names, types_named as action_types};
pub(crate) use carried::{NOT_CARRIED, Taken};
pub(crate) use held::{Held, STUCK_NS};
pub(crate) use track::{Change, Latencies, Track, dropped};

/// Runs `sinew node`.
pub(crate) fn node(command: &NodeCommand) -> Result<(), Error> {
    match command {
        NodeCommand::List(options) => list::nodes(options),
        NodeCommand::Info(options) => info::node(options),
    }
}

/// Runs `sinew topic`.
pub(crate) fn topic(command: &TopicCommand) -> Result<(), Error> {
    match command {
        TopicCommand::List(options) => list::topics(options),
        TopicCommand::Info(options) => info::topic(options),
        TopicCommand::Check(options) => mismatch::check(options),
        TopicCommand::Hz(options) => watch::run::<watch::Rate>(options),
        TopicCommand::Bw(options) => watch::run::<watch::Bandwidth>(options),
        TopicCommand::Latency(options) => watch::run::<watch::Latency>(options),
        TopicCommand::Delay(options) => delay::run(options),
        TopicCommand::Type(options) => list::types(options, &list::TOPICS),
        TopicCommand::Find(options) => list::find(options, &list::TOPICS),
        TopicCommand::Echo(options) => echo::topic(options),
        TopicCommand::Pub(options) => publish::run(options),
    }
}

/// Runs `sinew service`.
pub(crate) fn service(command: &ServiceCommand) -> Result<(), Error> {
    match command {
        ServiceCommand::List(options) => list::services(options),
        ServiceCommand::Info(options) => info::service(options),
        ServiceCommand::Type(options) => list::types(options, &list::SERVICES),
        ServiceCommand::Find(options) => list::find(options, &list::SERVICES),
        ServiceCommand::Echo(options) => echo::service(options),
        ServiceCommand::Call(options) => call::run(options),
    }
}

/// Runs `sinew action`.
pub(crate) fn action(command: &ActionCommand) -> Result<(), Error> {
    match command {
        ActionCommand::List(options) => action::list(options),
        ActionCommand::Info(options) => action::info(options),
        ActionCommand::SendGoal(options) => action::send_goal(options),
    }
}

/// Parses the user's message, in YAML or JSON; times are filled in later.
fn message_of(message_type: &Arc<MessageType>, text: &str) -> Result<Template, Error> {
    let read = match text.trim_start().starts_with(['{', '[']) {
        true => Template::from_json(message_type, text),
        false => Template::from_yaml(message_type, text),
    };
    read.map_err(|problem| Error::Message {
        type_name: message_type.name().to_owned(),
        problem: Box::new(placed(problem, text)),
    })
}

/// Moves the end of a text to the end of its last line: the parser reports it on the line behind,
/// where people don't look.
fn placed(mut problem: TextError, text: &str) -> TextError {
    if let TextError::Yaml { line, column, .. } = &mut problem
        && let Some((last, end)) = text.lines().enumerate().last()
        && *line > last + 1
    {
        (*line, *column) = (last + 1, end.chars().count() + 1);
    }
    problem
}

/// Returns the message with the current time.
fn now(template: &mut Template) -> &DynamicMessage {
    const SECOND: i64 = 1_000_000_000;
    let now = Time::wall().nanoseconds();
    // ROS 2's time ends in 2038.
    let seconds = i32::try_from(now.div_euclid(SECOND)).unwrap_or(i32::MAX);
    template.at(seconds, u32::try_from(now.rem_euclid(SECOND)).unwrap_or(0))
}

/// Splits a node's name into its namespace and name.
fn split(node: &str) -> (&str, &str) {
    match node.rsplit_once('/') {
        Some(("", name)) => ("/", name),
        Some(both) => both,
        None => ("/", node),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_have_a_namespace() {
        assert_eq!(split("/talker"), ("/", "talker"));
        assert_eq!(split("/a/b/talker"), ("/a/b", "talker"));
        assert_eq!(split("talker"), ("/", "talker"));
    }
}
