//! Requests on their way, and where their answers go.

use super::failure::CallFailure;
use super::pending_calls::{CallFault, CallId, CallOutcome, PendingCalls};
use super::types::ServiceTypes;
use crate::executor::caught;
use crate::message::Gid;
use crate::message::block::RawMessage;
use crate::message::info::Publication;
use crate::sys::sync::Arc;
use crate::topic::typed_reader::TypedReader;

/// A client elsewhere, as the server here sees it.
pub(crate) trait RemoteClient: Send + Sync {
    /// Sends it what came of a call. Takes short locks, and runs no code of the program.
    fn answer(&self, call: CallId, outcome: Result<&RawMessage, &CallFailure>);

    /// As in [`Publication::publisher`].
    fn number(&self) -> u64;

    /// Does what there was no room for.
    fn retry(self: Arc<Self>);

    /// Another executor runs the server, or none: others are told of requests.
    fn retune(self: Arc<Self>);
}

/// Where an answer goes. A call has one, and answering consumes it.
pub(crate) enum ReplyTo {
    /// To a client of this process that holds messages as the server does.
    Local(Arc<PendingCalls>, CallId),
    /// To a client of this process that holds them in another form. Its request lies in the queue as
    /// it was given; it is turned into the server's form when it is taken, and the answer into the
    /// client's.
    Converted(Arc<PendingCalls>, CallId),
    /// To a client elsewhere, with its own id of the call.
    Remote(Arc<dyn RemoteClient>, CallId),
}

impl ReplyTo {
    /// Gives the caller what came of its request. An outcome that no caller waits for comes back.
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

    /// Who asked, and which of its calls it is; to a server of this participant.
    pub(crate) fn caller(&self, own: u64) -> (Gid, u64) {
        match self {
            Self::Local(calls, id) | Self::Converted(calls, id) => calls.named(*id),
            Self::Remote(client, id) => (Gid::of(client.number(), own), id.sequence()),
        }
    }

    /// Whether the caller still waits, as far as that is known here.
    pub(crate) fn is_awaited(&self) -> bool {
        self.local().is_none_or(|(calls, id)| calls.is_awaited(id))
    }

    /// Has a caller that waits look again, as [`PendingCalls::nudge`].
    pub(crate) fn nudge(&self, deferred: bool) {
        if let Some((calls, id)) = self.local() {
            calls.nudge(id, deferred);
        }
    }

    /// The call, if its client is in this process.
    #[inline]
    pub(super) fn local(&self) -> Option<(&Arc<PendingCalls>, CallId)> {
        match self {
            Self::Local(calls, id) | Self::Converted(calls, id) => Some((calls, *id)),
            Self::Remote(..) => None,
        }
    }

    /// The types of its client. What came from elsewhere is for the server that it came to.
    pub(super) fn types(&self) -> Option<&ServiceTypes> {
        self.local().map(|(calls, _)| &calls.types)
    }

    /// The same to a server of these types, which exchange with the client's.
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

/// Gives a caller an answer in its own form. One that it can't read fails its call.
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

/// A request or response, as the reader makes it. Encoding it in its own form is the program's code.
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

/// A request on its way.
pub(crate) struct Request {
    pub(crate) message: RawMessage,
    pub(crate) publication: Publication,
    pub(crate) reply_to: ReplyTo,
}

/// A request that didn't come to wait, or waits no longer.
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

    /// As [`ReplyTo::meeting`].
    pub(super) fn meeting(self, types: &ServiceTypes) -> Self {
        Self { reply_to: self.reply_to.meeting(types), ..self }
    }
}

impl RefusedRequest {
    /// The caller gets it back, with the reason.
    pub(crate) fn give_back(self) {
        let Self { message, reply_to, failure } = self;
        // If the caller doesn't wait any more, it doesn't want it.
        drop(reply_to.complete(Err(CallFault { failure, request: Some(message) })));
    }
}
