//! Messages that the user gives as text, with the time at which they are sent.

use std::sync::Arc;

use sinew::time::Time;
use sinew_msg::dynamic::{DynamicMessage, MessageType, Template, TextError};

use crate::error::Error;

/// Parses the user's message, in YAML or JSON; times are filled in later.
pub(super) fn message_of(message_type: &Arc<MessageType>, text: &str) -> Result<Template, Error> {
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
pub(super) fn now(template: &mut Template) -> &DynamicMessage {
    const SECOND: i64 = 1_000_000_000;
    let now = Time::wall().nanoseconds();
    // ROS 2's time ends in 2038.
    let seconds = i32::try_from(now.div_euclid(SECOND)).unwrap_or(i32::MAX);
    template.at(seconds, u32::try_from(now.rem_euclid(SECOND)).unwrap_or(0))
}
