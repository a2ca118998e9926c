//! Requests, and the targets of their answers.

use super::failure::CallFailure;
use super::pending_calls::{CallFault, CallId, CallOutcome, PendingCalls};
use super::types::ServiceTypes;
use crate::message::Gid;
use crate::message::block::RawMessage;
use crate::message::info::Publication;
use crate::sys::panics::caught;
use crate::sys::sync::Arc;
use crate::topic::typed_reader::TypedReader;

/// A client elsewhere, as the server here sees it.
pub(crate) trait RemoteClient: Send + Sync {
    /// Sends the outcome of a call to the client. Takes short locks, and runs no code of the
    /// program.
    fn answer(&self, call: CallId, outcome: Result<&RawMessage, &CallFailure>);

    /// As in [`Publication::publisher`].
    fn number(&self) -> u64;

    /// Sends the outcomes again that found no room before. Returns `true` if there still is none.
    fn retry(self: Arc<Self>) -> bool;

    /// Changes which executor is notified of requests, after the server moved to another one or to
    /// none.
    fn retune(self: Arc<Self>);

    /// Reads the requests that have come, on a thread that takes requests by hand: listeners run on
    /// another thread.
    fn look(self: Arc<Self>);
}

/// The target of an answer. A call has one, and answering consumes it.
pub(crate) enum ReplyTo {
    /// A client of this process that holds messages as the server does.
    Local(Arc<PendingCalls>, CallId),
    /// A client of this process that holds messages in another form. Its request lies in the queue
    /// in the client's form; it is converted to the server's form when it is taken, and the answer
    /// to the client's.
    Converted(Arc<PendingCalls>, CallId),
    /// A client elsewhere, with its own id of the call.
    Remote(Arc<dyn RemoteClient>, CallId),
}

impl ReplyTo {
    /// Gives the caller the outcome of its request. Returns an outcome that no caller waits for.
    #[inline]
    pub(crate) fn complete(self, outcome: CallOutcome) -> Result<(), CallOutcome> {
        match self {
            Self::Local(calls, id) => calls.complete(id, outcome),
            Self::Converted(calls, id) => complete_converted(&calls, id, outcome),
            Self::Remote(client, id) => {
                client.answer(id, outcome.as_ref().map_err(|fault| &fault.failure));
                Ok(())
            }
        }
    }

    /// Returns the client and the number of its call; `own` is the server's participant.
    pub(crate) fn caller(&self, own: u64) -> (Gid, u64) {
        match self {
            Self::Local(calls, id) | Self::Converted(calls, id) => calls.named(*id),
            Self::Remote(client, id) => (Gid::of(client.number(), own), id.sequence()),
        }
    }

    /// Whether the caller still waits, as far as this process knows.
    pub(crate) fn is_awaited(&self) -> bool {
        self.local().is_none_or(|(calls, id)| calls.is_awaited(id))
    }

    /// Makes a waiting caller check again, like [`PendingCalls::nudge`].
    pub(crate) fn nudge(&self, deferred: bool) {
        if let Some((calls, id)) = self.local() {
            calls.nudge(id, deferred);
        }
    }

    /// Returns the call, if its client is in this process.
    #[inline]
    pub(super) fn local(&self) -> Option<(&Arc<PendingCalls>, CallId)> {
        match self {
            Self::Local(calls, id) | Self::Converted(calls, id) => Some((calls, *id)),
            Self::Remote(..) => None,
        }
    }

    /// Returns the types of its client. `None` for a client elsewhere: its request is for the
    /// server that it reached.
    pub(super) fn types(&self) -> Option<&ServiceTypes> {
        self.local().map(|(calls, _)| &calls.types)
    }

    /// Returns the same target for a server of these types: with a conversion if the client holds
    /// messages in another form.
    #[cold]
    pub(super) fn meeting(self, types: &ServiceTypes) -> Self {
        match self {
            Self::Local(calls, id) | Self::Converted(calls, id) if calls.types.agree(types) => {
                Self::Local(calls, id)
            }
            Self::Local(calls, id) => Self::Converted(calls, id),
            other => other,
        }
    }
}

/// Gives a caller an answer in the client's form. An answer that can't be converted fails the call.
#[cold]
fn complete_converted(
    calls: &Arc<PendingCalls>,
    id: CallId,
    outcome: CallOutcome,
) -> Result<(), CallOutcome> {
    let response = match outcome {
        Ok(response) if !calls.is_awaited(id) => return Err(Ok(response)),
        Ok(response) if !response.table().is(calls.types.response) => response,
        other => return calls.complete(id, other),
    };
    let converted = calls.responses.get_or_init(|| TypedReader::for_values(calls.types.response));
    let converted = convert(converted, &response, "response");
    let converted = converted.map_err(|failure| CallFault { failure, request: None });
    calls.complete(id, converted).map_err(|_| Ok(response))
}

/// Converts a request or response with the reader. Encoding the message runs code of the program.
pub(super) fn convert(
    reader: &TypedReader,
    message: &RawMessage,
    what: &'static str,
) -> Result<RawMessage, CallFailure> {
    match caught(|| reader.convert(message)) {
        Ok(Ok((converted, _))) => Ok(converted),
        Ok(Err(error)) => Err(CallFailure::Undecodable { what, reason: error.to_string() }),
        Err(reason) => Err(CallFailure::Unencodable { what, reason }),
    }
}

/// A request that waits for the server.
pub(crate) struct Request {
    pub(crate) message: RawMessage,
    pub(crate) publication: Publication,
    pub(crate) reply_to: ReplyTo,
}

/// A request that was refused, or no longer waits.
pub(crate) struct RefusedRequest {
    pub(crate) message: RawMessage,
    pub(crate) reply_to: ReplyTo,
    pub(crate) failure: CallFailure,
}

impl Request {
    #[cold]
    pub(super) fn refused(self, failure: CallFailure) -> RefusedRequest {
        RefusedRequest { message: self.message, reply_to: self.reply_to, failure }
    }

    /// See [`ReplyTo::meeting`].
    pub(super) fn meeting(self, types: &ServiceTypes) -> Self {
        Self { reply_to: self.reply_to.meeting(types), ..self }
    }
}

impl RefusedRequest {
    /// Hands the request back to the caller, with the reason.
    pub(crate) fn give_back(self) {
        let Self { message, reply_to, failure } = self;
        // A caller that no longer waits doesn't want it.
        drop(reply_to.complete(Err(CallFault { failure, request: Some(message) })));
    }
}
