//! Endpoints for messages of any type, for bindings to other languages, bags and gateways.
pub use crate::api::erased::Erased;
pub use crate::api::erased::client::{Client, PendingCall};
pub use crate::api::erased::publisher::{PublishError, Publisher};
pub use crate::api::erased::server::Server;
pub use crate::api::erased::service::{
    CallError, CallResult, Request, RespondError, Responder, ServiceTypes,
};
pub use crate::api::erased::subscription::Subscription;
pub use crate::api::receive::RecvTaken;
pub use crate::message::erased::{Message, Taken, UninitMessage};
pub use crate::message::registered::{EncodingTable, MessageType, TypeError, TypeTable};
