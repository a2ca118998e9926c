//! Quality of service: the messages that are kept for readers, and the promises that are made.
//!
//! A publisher *offers* a [`QoS`], a subscription *requests* one. They match if the publisher
//! offers everything the subscription requests (DDS 1.4, section 2.2.3: request/offered); each
//! endpoint settles everything else for itself. Names, presets and defaults are those of ROS 2.

mod best_available;
mod limits;
mod matching;
mod policy;
mod settings;
mod validation;

#[cfg(test)]
mod any;

pub use matching::Incompatibility;
pub(crate) use matching::incompatibility;
pub use policy::Policy;
pub use settings::{Durability, History, Liveliness, QoS, Reliability};
pub use validation::QosError;
