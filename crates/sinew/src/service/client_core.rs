//! What all handles of a client have in common, and the calls that are on their way.

use super::callback::CallResult;
use super::error::CallError;
use crate::delivery::calls::{CallId, Calls, Fault, Then};
use crate::delivery::requests::{Caller, Origin, Request};
use crate::executor::group::{GroupCore, Membership};
use crate::executor::trail;
use crate::message::Unique;
use crate::message::block::{Erased, Pool};
use crate::node::NodeCore;
use crate::sync::Arc;
use sinew_msg::Service;

/// What goes with the last handle.
pub(super) struct Inner {
    pub(super) calls: Arc<Calls>,
    /// Its place among the clients of the service.
    pub(super) place: usize,
    pub(super) pool: Arc<Pool>,
    pub(super) group: Arc<GroupCore>,
    pub(super) membership: Membership,
    /// Where the thread that calls with it has noted it.
    pub(super) trail: trail::Place,
    pub(super) node: Arc<NodeCore>,
}

impl Inner {
    /// What a call uses.
    #[cold]
    fn parts(self: &Arc<Self>) -> Vec<trail::Part> {
        vec![trail::Part::value(self, 2), trail::Part::value(&self.calls, 6), trail::Part::pool(&self.pool)]
    }

    /// Begins a call.
    pub(super) fn send(
        self: &Arc<Self>,
        request: Erased,
        then: Option<Then>,
        quietly: bool,
    ) -> Result<CallId, Fault> {
        trail::note(Arc::as_ptr(self).addr(), &self.trail, || self.parts());
        let (id, publication) = self.calls.begin(then);
        let caller = Caller { calls: self.calls.clone(), id };
        let requests = &self.calls.requests;
        match requests.push(Request { message: request, publication, caller }, quietly, Origin::Client) {
            Ok(None) => {}
            Ok(Some(scheduler)) => scheduler.signal(),
            Err((request, failure)) => {
                self.calls.refused(id);
                return Err(Fault { failure, request: Some(request) });
            }
        }
        Ok(id)
    }
}

/// What came of a call, typed.
pub(super) fn result_of<S: Service>(outcome: Result<Erased, (Fault, &str)>) -> CallResult<S> {
    match outcome {
        Ok(response) => Ok(Unique::assume(response)),
        Err((fault, service)) => Err(error_of::<S>(service, fault)),
    }
}

#[cold]
pub(super) fn error_of<S: Service>(service: &str, fault: Fault) -> CallError<S::Request> {
    CallError::new(service, fault.failure, fault.request.map(Unique::assume))
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.group.part(self.membership, false);
        self.calls.close();
        self.node.context.services.remove_client(&self.calls.requests.name, self.place);
        self.pool.close();
    }
}
