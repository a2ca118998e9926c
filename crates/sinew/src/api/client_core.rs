//! What all handles of a client have in common, and the calls that are on their way.

use super::node::NodeCore;
use crate::executor::group::{GroupCore, Membership};
use crate::executor::prefetch;
use crate::executor::scheduler::TaskRef;
use crate::message::Unique;
use crate::message::block::{Pool, RawMessage};
use crate::service::error::CallError;
use crate::service::pending_calls::{CallFault, CallId, OnOutcome, PendingCalls};
use crate::service::reply::CallResult;
use crate::service::request_queue::Announcement;
use crate::service::request_queue::{Caller, Origin, Request};
use crate::sys::clock::Stamp;
use crate::sys::sync::Arc;
use sinew_msg::Service;

/// What goes with the last handle.
pub(crate) struct ClientCore {
    pub(crate) calls: Arc<PendingCalls>,
    /// Its place among the clients of the service.
    pub(crate) place: usize,
    pub(crate) pool: Arc<Pool>,
    pub(crate) group: Arc<GroupCore>,
    pub(crate) membership: Membership,
    /// Where the thread that calls with it has noted it.
    pub(crate) note: prefetch::NoteIndex,
    pub(crate) node: Arc<NodeCore>,
}

impl ClientCore {
    /// What a call uses.
    #[cold]
    fn parts(self: &Arc<Self>) -> Vec<prefetch::Part> {
        vec![
            prefetch::Part::value(self, 2),
            prefetch::Part::value(&self.calls, 6),
            prefetch::Part::pool(&self.pool),
        ]
    }

    /// Begins a call.
    pub(crate) fn send(
        self: &Arc<Self>,
        request: RawMessage,
        then: Option<OnOutcome>,
        quietly: bool,
    ) -> Result<(CallId, Option<(TaskRef, Stamp)>), CallFault> {
        prefetch::note(Arc::as_ptr(self).addr(), &self.note, || self.parts());
        let (id, publication) = self.calls.begin(then);
        let caller = Caller { calls: self.calls.clone(), id };
        let requests = &self.calls.requests;
        match requests.push(Request { message: request, publication, caller }, quietly, Origin::Client) {
            Ok(Announcement::Callers(task_ref, since)) => Ok((id, Some((task_ref, since)))),
            Ok(announcement) => {
                announcement.signal();
                Ok((id, None))
            }
            Err((request, failure)) => {
                self.calls.refused(id);
                Err(CallFault { failure, request: Some(request) })
            }
        }
    }
}

/// What came of a call, typed.
pub(crate) fn result_of<S: Service>(outcome: Result<RawMessage, (CallFault, &str)>) -> CallResult<S> {
    match outcome {
        Ok(response) => Ok(Unique::assume(response)),
        Err((fault, service)) => Err(error_of::<S>(service, fault)),
    }
}

#[cold]
pub(crate) fn error_of<S: Service>(service: &str, fault: CallFault) -> CallError<S::Request> {
    CallError::new(service, fault.failure, fault.request.map(Unique::assume))
}

impl Drop for ClientCore {
    fn drop(&mut self) {
        self.group.deregister(self.membership, false);
        self.calls.close();
        self.node.context.services.remove_client(&self.calls.requests.name, self.place);
        self.pool.close();
    }
}
