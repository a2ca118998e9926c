//! Actions of types that are known at run time: for bindings to other languages.
//!
//! [`ErasedAction`] stands in the place of an [`Action`](crate::Action): `ActionServer<ErasedAction>`,
//! `GoalHandle<ErasedAction>`. Its types are values, [`ActionTypes`]. Goals, results and feedback are
//! [messages](sinew::erased::Message) of the types that carry them in ROS 2: `.._SendGoal_Request`,
//! `.._GetResult_Response` and `.._FeedbackMessage`. So a goal moves from a client of C++ to a server
//! of C++ in the same process; between two languages and between processes it is encoded.
//!
//! The protocol is that of other actions, in the same code. A message that a program hands over must
//! have the right type, and is copied if there are other references to it.
//!
//! | file | contents |
//! |---|---|
//! | `types` | the types of an action, and access to the fields of its messages |
//! | `server`, `client` | the endpoints, and the program's handles |

mod client;
mod server;
mod types;

pub use server::{GoalFeedback, GoalMessageError, GoalMessageFailure, Unended};
pub use types::{ActionFields, ActionParts, ActionTypeError, ActionTypes, ServicePart, Unfit};

use crate::client::ActionClientBuilder;
use crate::goal_id::GoalId;
use crate::kind::Kind;
use crate::server::ActionServerBuilder;
use crate::status::GoalStatus;
use sinew::erased::Message;
use sinew::executor::Maker;
use sinew::introspection::RegisteredType;

/// Stands for any action's types, which are known at run time.
#[derive(Debug)]
pub enum ErasedAction {}

impl Kind for ErasedAction {
    type Goal = Message;
    type SharedResult = Message;
    type SharedFeedback = Message;
    type Types = ActionTypes;

    fn register<M: Maker>(_: &M) -> Option<RegisteredType> {
        None // its messages and services are described by their own endpoints, if at all
    }

    fn empty_result(types: &ActionTypes, status: GoalStatus) -> Message {
        types.empty_result(status)
    }

    fn result_bytes(result: &Message) -> usize {
        result.encoded_length().unwrap_or(0).max(result.message_type().layout().size())
    }

    fn goal_of(types: &ActionTypes, feedback: &Message) -> GoalId {
        types.fields().feedback_goal_id(feedback)
    }
}

/// Makes action servers and clients of types that are known at run time; implemented by nodes and
/// groups.
pub trait ErasedActions: Maker {
    /// Makes a server, as [`Actions::action_server`](crate::Actions::action_server).
    fn erased_action_server(
        &self,
        name: &str,
        types: &ActionTypes,
    ) -> ActionServerBuilder<ErasedAction, Self> {
        ActionServerBuilder::new(self, name, types.clone())
    }

    /// Makes a client, as [`Actions::action_client`](crate::Actions::action_client).
    fn erased_action_client(
        &self,
        name: &str,
        types: &ActionTypes,
    ) -> ActionClientBuilder<ErasedAction, Self> {
        ActionClientBuilder::new(self, name, types.clone())
    }
}

impl<M: Maker> ErasedActions for M {}
