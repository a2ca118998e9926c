//! The service trait.

use crate::hash::TypeHash;
use crate::message::Message;

/// A service type: its request and its response.
///
/// ```
/// use sinew_msg::{Message, Service};
///
/// struct Operands { a: i64, b: i64 }
/// impl Message for Operands {}
/// struct Sum(i64);
/// impl Message for Sum {}
///
/// struct AddTwoInts; // never made: it only names the pair
/// impl Service for AddTwoInts {
///     type Request = Operands;
///     type Response = Sum;
/// }
/// ```
pub trait Service: Sized + 'static {
    /// The message that a client sends.
    type Request: Message;
    /// The message with which the server answers.
    type Response: Message;
    /// The ROS 2 side of the service type; `None` (the default) for a service that stays inside a
    /// process.
    const TYPE: Option<&'static ServiceType> = None;
}

/// The ROS 2 side of a service type. (The encodings of request and response belong to their types,
/// see [`Message::ENCODING`].)
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServiceType {
    /// The ROS 2 type name, e.g. `example_interfaces/srv/AddTwoInts`.
    pub name: &'static str,
    /// The RIHS01 hash of the type's description.
    pub hash: TypeHash,
}
