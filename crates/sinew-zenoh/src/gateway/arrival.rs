//! A message of the network, as it arrives.

use super::route::Route;
use super::shared::Shared;
use crate::wire::attachment::Attachment;
use zenoh::sample::{Sample, SampleKind};

/// A message and its attachment.
pub(super) struct Arrival {
    pub(super) sample: Sample,
    pub(super) attachment: Attachment,
    /// The publisher had retained it before local subscriptions asked: volatile ones don't get it.
    pub(super) is_kept: bool,
}

/// Parses a sample as a message of ROS 2; reports the first one that isn't.
pub(super) fn understood(shared: &Shared, route: &Route, sample: Sample) -> Option<Arrival> {
    if sample.kind() != SampleKind::Put {
        return None;
    }
    let name = &route.key.name;
    let Some(attachment) = sample.attachment() else {
        route.counters.refused();
        shared.says_once("attachment", || {
            format!("a message on {name} has no attachment, as ROS 2 puts it there, and is left out")
        });
        return None;
    };
    match Attachment::parse(&attachment.to_bytes()) {
        Ok(attachment) => Some(Arrival { sample, attachment, is_kept: false }),
        Err(error) => {
            route.counters.misunderstood(&error);
            shared.says_once("attachment", || format!("a message on {name} is left out: {error}"));
            None
        }
    }
}
