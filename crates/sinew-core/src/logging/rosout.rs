//! `/rosout`: lines of nodes' loggers, for tools and recorders.
//!
//! As in ROS 2, each node has a publisher of its own. The logging thread creates it when the node
//! first logs a line, and it ends with the node: the node keeps it, and it keeps a stand-in of the
//! node ([`NodeCore::stand_in`]), because otherwise each would keep the other forever.

use super::line::Line;
use crate::api::node::NodeCore;
use crate::api::publisher::{Publisher, PublisherBuilder};
use crate::executor::group::Group;
use crate::ros::qos::QoS;
use crate::sys::clock::Time;
use crate::sys::logging::{About, Level, log_line};
use crate::sys::sync::Arc;
use sinew_interfaces::rcl_interfaces::msg::Log;

const TOPIC: &str = "/rosout";

/// Publishes a line for the node that its logger belongs to, if there is one.
pub(super) fn publish(line: &Line) {
    let logger = line.logger();
    let Some(node) = NodeCore::of_logger(&logger) else { return };
    let Some(qos) = node.own_publishers.rosout() else { return };
    if !node.context.arguments.rosout_logs() || node.context.session.has_ended() {
        return;
    }
    let publisher = node.rosout.get_or_init(|| Box::new(publisher(&node, qos)));
    let Some(Some(publisher)) = publisher.downcast_ref::<Option<Publisher<Log>>>() else { return };
    let log = Log {
        stamp: Time::from_nanoseconds(line.stamp).to_msg(),
        level: line.level.number(),
        name: logger.into_owned(),
        msg: line.message().to_owned(),
        file: line.place.file.to_owned(),
        function: line.place.module.to_owned(),
        line: line.place.line,
    };
    // Fails only if the context ends, or if shared memory is full, which is reported elsewhere.
    drop(publisher.publish(log));
}

fn publisher(node: &Arc<NodeCore>, qos: QoS) -> Option<Publisher<Log>> {
    let group = Group::new(node.stand_in(), ());
    let made = PublisherBuilder::new(&group, TOPIC).qos(qos).create();
    let full_name = &node.full_name;
    let failed = |error| {
        log_line!(
            Level::Warn; About { node: full_name, subject: TOPIC },
            "its lines are not on {TOPIC}: {error}"
        );
    };
    made.map_err(failed).ok()
}
