//! What a service is.

use crate::hash::TypeHash;
use crate::message::Message;

/// A service type: what is asked, and what is answered.
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
    /// What a client sends.
    type Request: Message;
    /// What the server answers.
    type Response: Message;
    /// The ROS 2 side of the service type; `None` (the default) for one that only serves inside a
    /// process.
    const TYPE: Option<&'static ServiceType> = None;
}

/// The ROS 2 side of a service type. (How its request and response become images is theirs, see
/// [`Message::ENCODING`].)
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServiceType {
    /// The ROS 2 type name, e.g. `example_interfaces/srv/AddTwoInts`.
    pub name: &'static str,
    /// The RIHS01 hash of the type's description.
    pub hash: TypeHash,
}
