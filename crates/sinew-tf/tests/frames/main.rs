//! Frames as programs use them: in a buffer alone, and between nodes in one context and in two that
//! stand for two processes (contexts that communicate through shared memory).
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

#[path = "../../../sinew-msg/tests/support/counting.rs"]
mod counting;

mod buffer;
mod message_filter;
mod nodes;
mod oracle;
mod waiting;

use sinew::time::Time;
use sinew_interfaces::geometry_msgs::msg::TransformStamped;
use sinew_tf::{Buffer, StampedTransform, Transform};

fn at(nanoseconds: i64) -> Time {
    Time::from_nanoseconds(nanoseconds)
}

/// The child lies in the parent at this distance along x, at this time.
fn along_x(parent: &str, child: &str, stamp: i64, x: f64) -> TransformStamped {
    StampedTransform { stamp: at(stamp), transform: Transform::from_translation([x, 0.0, 0.0]) }
        .to_msg(parent, child)
}

fn insert(buffer: &Buffer, parent: &str, child: &str, stamp: i64, x: f64) {
    buffer.insert(&along_x(parent, child, stamp, x), "test").unwrap();
}

fn fix(buffer: &Buffer, parent: &str, child: &str, x: f64) {
    buffer.insert_static(&along_x(parent, child, 0, x), "test").unwrap();
}
