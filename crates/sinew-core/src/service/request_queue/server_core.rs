//! A server: the state that its requests and all its answers need.

use super::{QueueState, RequestQueue};
use crate::executor::inbox::InboxGuard;
use crate::mailbox::waiters::contain;
use crate::message::block::OwnPool;
use crate::ros::origin::Origin;
use crate::ros::qos::QoS;
use crate::service::observed::Observed;
use crate::service::request::{Request, convert};
use crate::service::statistics::ServerStatistics;
use crate::service::types::ServiceTypes;
use crate::sys::sync::{Arc, AtomicU64, Mutex, Ordering};
use crate::topic::typed_reader::TypedReader;
use sinew_shm::transport::OwnEndpoint;
use std::mem;
use std::sync::OnceLock;

/// Counts of the requests that a server took, and of its answers.
#[derive(Default)]
pub(crate) struct ServerStats {
    /// Taken to be answered later, and not answered yet.
    pub(crate) in_hand: AtomicU64,
    pub(crate) answered: AtomicU64,
    pub(crate) failed: AtomicU64,
    pub(crate) dropped: AtomicU64,
    pub(crate) unclaimed: AtomicU64,
}

/// A server: the state that its requests and all its answers need.
#[repr(C)] // fields that every call touches come first
pub(crate) struct ServerCore {
    pub(crate) requests: Arc<RequestQueue>,
    /// Blocks for its responses.
    pub(crate) pool: OwnPool,
    pub(crate) stats: ServerStats,
    /// Observes requests that are received and responses that are sent.
    pub(crate) observed: Observed,
    /// Maximum number of requests that may wait or be in hand.
    pub(crate) limit: usize,
    pub(crate) types: ServiceTypes,
    /// The QoS of its requests, as other processes see it.
    pub(crate) qos: QoS,
    /// The origin of the server that this one stands for.
    pub(crate) origin: Origin,
    /// Its number in its participant.
    pub(crate) number: u64,
    /// Its node's full name, for log lines.
    pub(crate) node: Arc<str>,
    /// The server's endpoint as other processes see it, until it is removed.
    pub(crate) known: Mutex<Option<OwnEndpoint>>,
    /// Converts requests of clients that hold them in another form.
    pub(crate) converted: OnceLock<TypedReader>,
}

/// Number of cache lines of a server that each call touches.
pub(crate) const LINES: usize = 3;

const _: () = assert!(cfg!(loom) || mem::offset_of!(ServerCore, observed) < LINES * 64);

/// Takes a server's requests on the threads that add them: threads that call, or that receive from
/// other processes.
pub(crate) struct RequestTaker(Box<TakeRequest>);

type TakeRequest = dyn Fn(&Arc<ServerCore>, Request) + Send + Sync;

impl RequestTaker {
    pub(crate) fn new(take: impl Fn(&Arc<ServerCore>, Request) + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self(Box::new(take)))
    }

    /// Hands it a request. The caller holds no lock.
    pub(super) fn hand_over(self: Arc<Self>, server: &Arc<ServerCore>, request: Request) {
        let what =
            || format!("the immediate callback of service {} of node {}", server.requests.name, server.node);
        contain(|| (self.0)(server, request), what);
        // If the server was removed meanwhile, dropping it runs code of the program.
        contain(|| drop(self), || "dropping an immediate callback".to_owned());
    }
}

impl ServerCore {
    /// Converts a request to the server's form. A request that can't be read goes back to its
    /// caller.
    #[cold]
    pub(super) fn converted(&self, request: Request) -> Option<Request> {
        if request.message.table().is(self.types.request) {
            return Some(request);
        }
        let reader = self.converted.get_or_init(|| TypedReader::for_values(self.types.request));
        match convert(reader, &request.message, "request") {
            Ok(message) => Some(Request { message, ..request }),
            Err(failure) => {
                request.refused(failure).give_back();
                None
            }
        }
    }

    pub(crate) fn statistics(&self) -> ServerStatistics {
        let seen = |state: InboxGuard<'_, QueueState>| (state.seen, state.queue.len() as u64);
        let (seen, waiting) = self.requests.of(self).map(seen).unwrap_or_default();
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed); // orders nothing
        let ServerStats { in_hand, answered, failed, dropped, unclaimed } = &self.stats;
        ServerStatistics {
            waiting,
            in_hand: read(in_hand),
            answered: read(answered),
            failed: read(failed),
            dropped: read(dropped),
            unclaimed: read(unclaimed),
            ..seen
        }
    }
}
