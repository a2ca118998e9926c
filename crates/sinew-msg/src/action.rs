//! What an action is.

use crate::cdr::Structure;
use crate::hash::TypeHash;
use crate::message::Message;
use crate::service::Service;

/// An action type: what is to be done, what came of it, and how far it is; and the services and the
/// message that ROS 2 makes of these. The generator implements it.
///
/// All of them are structs, so that code for whatever action can write and read what ROS 2 wraps
/// around a goal, a result or feedback without knowing the generated wrappers.
pub trait Action: Sized + 'static {
    /// What is to be done.
    type Goal: Message + Structure;
    /// What came of it. A goal that is unknown, or was given up, has the default one.
    type Result: Message + Structure + Default;
    /// How far it is.
    type Feedback: Message + Structure;
    /// Asks for a goal with an id.
    type SendGoal: Service<Request: Structure, Response: Structure>;
    /// Asks for the result of the goal with an id.
    type GetResult: Service<Request: Structure, Response: Structure>;
    /// The feedback of the goal with an id.
    type FeedbackMessage: Message + Structure;
    /// The ROS 2 type name, e.g. `example_interfaces/action/Fibonacci`.
    const NAME: &'static str;
    /// The RIHS01 hash of the type's description.
    const HASH: TypeHash;
}
