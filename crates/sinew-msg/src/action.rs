//! The action trait.

use crate::cdr::Structure;
use crate::hash::TypeHash;
use crate::message::Message;
use crate::service::Service;

/// An action type: its goal, its result and its feedback, and the services and the message that ROS
/// 2 derives from them. The generator implements it.
///
/// All of them are structs, so that code generic over the action can write and read what ROS 2
/// wraps around a goal, a result or feedback without knowing the generated wrappers.
pub trait Action: Sized + 'static {
    /// The goal of the action.
    type Goal: Message + Structure;
    /// The outcome of a goal. An unknown or aborted goal has the default result.
    type Result: Message + Structure + Default;
    /// The progress report of a goal.
    type Feedback: Message + Structure;
    /// The service that sends a goal with an id.
    type SendGoal: Service<Request: Structure, Response: Structure>;
    /// The service that asks for the result of the goal with an id.
    type GetResult: Service<Request: Structure, Response: Structure>;
    /// The feedback of the goal with an id.
    type FeedbackMessage: Message + Structure;
    /// The ROS 2 type name, e.g. `example_interfaces/action/Fibonacci`.
    const NAME: &'static str;
    /// The RIHS01 hash of the type's description.
    const HASH: TypeHash;
}
