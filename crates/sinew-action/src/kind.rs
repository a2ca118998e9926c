//! What differs between actions of Rust types and actions of types that are known at run time.

use crate::goal_id::GoalId;
use crate::status::GoalStatus;
use crate::wire::{FeedbackMessage, describe};
use sinew::executor::Maker;
use sinew::introspection::RegisteredType;
use sinew::msg::Action;
use sinew::{Message, Shared};

/// A kind of action: each [`Action`] is one, and so is
/// [`ErasedAction`](crate::erased::ErasedAction), which stands for all types that are known at run
/// time only. Servers, clients and goals are generic over it; programs need not implement it.
pub trait Kind: Sized + 'static {
    /// A goal, as the server's program gets it.
    type Goal: Send + Sync + 'static;
    /// A result, shared by the server and the clients of a process.
    type SharedResult: Clone + Send + Sync + 'static;
    /// A feedback message as it arrives.
    type SharedFeedback: Send + Sync + 'static;
    /// The values of the run time that describe the types; nothing for types of Rust.
    #[doc(hidden)]
    type Types: Clone + Send + Sync + 'static;

    /// Registers the action's type with the node of a server or client, which describes it to other
    /// processes.
    #[doc(hidden)]
    fn register<M: Maker>(maker: &M) -> Option<RegisteredType>;

    /// Returns the result of a goal that ends without one.
    #[doc(hidden)]
    fn empty_result(types: &Self::Types, status: GoalStatus) -> Self::SharedResult;

    /// Returns the size of a result: that of its encoded form, but at least that of the value
    /// itself.
    #[doc(hidden)]
    fn result_bytes(result: &Self::SharedResult) -> usize;

    /// Returns the id of a feedback message's goal.
    #[doc(hidden)]
    fn goal_of(types: &Self::Types, feedback: &Self::SharedFeedback) -> GoalId;
}

impl<A: Action> Kind for A {
    type Goal = A::Goal;
    type SharedResult = Shared<A::Result>;
    type SharedFeedback = Shared<FeedbackMessage<A>>;
    type Types = ();

    fn register<M: Maker>(maker: &M) -> Option<RegisteredType> {
        Some(maker.register_type(A::HASH, describe::<A>))
    }

    fn empty_result((): &(), _: GoalStatus) -> Self::SharedResult {
        Shared::new(A::Result::default())
    }

    fn result_bytes(result: &Self::SharedResult) -> usize {
        let encoded = <A::Result as Message>::ENCODING.map_or(0, |encoding| (encoding.size)(result));
        encoded.max(size_of::<A::Result>())
    }

    fn goal_of((): &(), feedback: &Self::SharedFeedback) -> GoalId {
        feedback.goal_id
    }
}
