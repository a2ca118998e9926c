//! The commands, by their subjects.

use super::{call, delay, echo, image, info, list, mismatch, plot, publish, watch};
use crate::cli::tools::{ActionCommand, NodeCommand, ServiceCommand, TopicCommand};
use crate::error::Error;

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
        TopicCommand::Plot(options) => plot::run(options),
        TopicCommand::Image(options) => image::run(options),
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
        ActionCommand::List(options) => super::action::list(options),
        ActionCommand::Info(options) => super::action::info(options),
        ActionCommand::SendGoal(options) => super::action::send_goal(options),
    }
}
