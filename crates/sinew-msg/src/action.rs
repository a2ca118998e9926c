//! What an action is.

use crate::hash::TypeHash;
use crate::message::Message;
use crate::service::Service;

/// An action type: what is to be done, what came of it, and how far it is; and the services and the
/// message that ROS 2 makes of these. The generator implements it.
pub trait Action: Sized + 'static {
    /// What is to be done.
    type Goal: Message;
    /// What came of it.
    type Result: Message;
    /// How far it is.
    type Feedback: Message;
    /// Asks for a goal with an id.
    type SendGoal: Service;
    /// Asks for the result of the goal with an id.
    type GetResult: Service;
    /// The feedback of the goal with an id.
    type FeedbackMessage: Message;
    /// The ROS 2 type name, e.g. `example_interfaces/action/Fibonacci`.
    const NAME: &'static str;
    /// The RIHS01 hash of the type's description.
    const HASH: TypeHash;
}
