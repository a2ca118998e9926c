//! The return types of a server's callback, and their meaning for the caller.

use super::error::CallError;
use super::failure::CallFailure;
use super::pending_calls::CallFault;
use crate::message::Unique;
use crate::message::block::{Pool, RawMessage};
use crate::message::into_message::{IntoUnique, erase};
use crate::sys::sync::Arc;
use sinew_msg::{Message, Service};
use std::fmt::Display;

/// The result of a call: the response, or the reason why there is none.
pub type CallResult<S> = Result<Unique<<S as Service>::Response>, CallError<<S as Service>::Request>>;

/// A return type of a server's callback: a response with its ownership ([`IntoUnique`]: `T`,
/// `Box<T>` or `Unique<T>`), or a `Result` of one with an error that implements `Display`. The
/// caller gets the error's text as [`CallFailure::Failed`], also in another process.
///
/// The caller owns the response, so a [`Shared<T>`](crate::Shared) is not accepted: return a clone
/// of the value.
#[diagnostic::on_unimplemented(
    message = "a server's callback can't answer with `{Self}` where the response is a `{T}`",
    label = "returns `{Self}`",
    note = "it returns `{T}`, `Box<{T}>`, `Unique<{T}>`, or a `Result` of one of these with a `Display` error; with a `Responder` as its last parameter it returns `()` or `Result<(), E>` with an error or a text"
)]
pub trait Reply<T: Message>: into_reply::IntoReply<T> {}

impl<T: Message, R: into_reply::IntoReply<T>> Reply<T> for R {}

mod into_reply {
    use super::{IntoUnique, Message};

    #[diagnostic::on_unimplemented(
        message = "a server's callback can't answer with `{Self}` where the response is a `{T}`",
        label = "returns `{Self}`",
        note = "it returns `{T}`, `Box<{T}>`, `Unique<{T}>`, or a `Result` of one of these with a `Display` error; with a `Responder` as its last parameter it returns `()` or `Result<(), E>` with an error or a text"
    )]
    pub trait IntoReply<T: Message> {
        type Response: IntoUnique<T>;

        /// Returns the response, or the error's text.
        fn into_reply(self) -> Result<Self::Response, String>;
    }
}

macro_rules! replies {
    ($($response:ty),*) => {$(
        impl<T: Message> into_reply::IntoReply<T> for $response {
            type Response = Self;

            #[inline]
            fn into_reply(self) -> Result<Self, String> {
                Ok(self)
            }
        }

        impl<T: Message, E: Display> into_reply::IntoReply<T> for Result<$response, E> {
            type Response = $response;

            #[inline]
            fn into_reply(self) -> Result<$response, String> {
                self.map_err(|error| error.to_string())
            }
        }
    )*};
}

replies!(T, Box<T>, Unique<T>);

/// Converts a server's reply into the outcome of the call.
#[inline]
pub(crate) fn outcome<T: Message>(reply: impl Reply<T>, pool: &Arc<Pool>) -> Result<RawMessage, CallFault> {
    match reply.into_reply() {
        Ok(response) => Ok(erase(response, pool)),
        Err(message) => Err(CallFault { failure: CallFailure::Failed { message }, request: None }),
    }
}
