//! What a server's callback may return, and what its caller gets of it.

use super::error::CallError;
use super::failure::CallFailure;
use super::pending_calls::CallFault;
use crate::message::Unique;
use crate::message::block::{Pool, RawMessage};
use crate::message::into_message::sealed;
use crate::sys::sync::Arc;
use sinew_msg::{Message, Service};
use std::fmt::Display;

/// What came of a call: the response, or why there is none.
pub type CallResult<S> = Result<Unique<<S as Service>::Response>, CallError<<S as Service>::Request>>;

/// What a server's callback may return: a response as it may be
/// [given](crate::service::IntoMessage), or a `Result` of one whose error can be
/// displayed. The caller gets the error as [`CallFailure::Failed`].
#[diagnostic::on_unimplemented(
    message = "a server's callback can't answer with `{Self}` where the response is a `{T}`",
    label = "returns `{Self}`",
    note = "it returns `{T}`, `Box<{T}>`, `Unique<{T}>`, or a `Result` of one of these whose error is `Display`; with a `Responder` as its last parameter it returns `()` or `Result<(), E>` with an error or a text"
)]
pub trait Reply<T: Message>: into_reply::IntoReply<T> {}

impl<T: Message, R: into_reply::IntoReply<T>> Reply<T> for R {}

mod into_reply {
    use super::{Message, sealed};

    #[diagnostic::on_unimplemented(
        message = "a server's callback can't answer with `{Self}` where the response is a `{T}`",
        label = "returns `{Self}`",
        note = "it returns `{T}`, `Box<{T}>`, `Unique<{T}>`, or a `Result` of one of these whose error is `Display`; with a `Responder` as its last parameter it returns `()` or `Result<(), E>` with an error or a text"
    )]
    pub trait IntoReply<T: Message> {
        fn into_reply(self, blocks: sealed::MessagePool<'_>) -> Result<sealed::OwnedMessage, String>;
    }
}

macro_rules! replies {
    ($($response:ty),*) => {$(
        impl<T: Message> into_reply::IntoReply<T> for $response {
            #[inline]
            fn into_reply(self, blocks: sealed::MessagePool<'_>) -> Result<sealed::OwnedMessage, String> {
                Ok(sealed::IntoOwned::erase(self, blocks))
            }
        }

        impl<T: Message, E: Display> into_reply::IntoReply<T> for Result<$response, E> {
            #[inline]
            fn into_reply(self, blocks: sealed::MessagePool<'_>) -> Result<sealed::OwnedMessage, String> {
                match self {
                    Ok(response) => Ok(sealed::IntoOwned::erase(response, blocks)),
                    Err(error) => Err(error.to_string()),
                }
            }
        }
    )*};
}

replies!(T, Box<T>, Unique<T>);

/// What a reply means to the caller.
#[inline]
pub(crate) fn outcome<T: Message>(reply: impl Reply<T>, pool: &Arc<Pool>) -> Result<RawMessage, CallFault> {
    match reply.into_reply(sealed::MessagePool(pool)) {
        Ok(sealed::OwnedMessage(response)) => Ok(response),
        Err(message) => Err(CallFault { failure: CallFailure::Failed { message }, request: None }),
    }
}
