//! This context's participant: advertising endpoints to other processes, and the ports on which
//! they notify this process's threads.

use super::endpoint_info::write_clock;
use super::local_endpoints::LocalEndpoints;
use super::receiver_thread::{ReceiverThread, StartError};
use super::type_descriptions::KnownTypes;
use crate::executor::crew::remote_events::Presence;
use crate::executor::crew::scheduler::Scheduler;
use crate::mailbox::waiters::Notifications;
use crate::message::type_support::TypeSupport;
use crate::ros::failure::{CreateError, SharedMemoryError};
use crate::ros::origin::Origin;
use crate::ros::qos::QoS;
use crate::service::types::ServiceTypes;
use crate::sys::logging::{Level, later, log_line};
use crate::sys::sync::{Arc, AtomicBool, Mutex, Ordering};
use sinew_shm::transport::{EventReceiver, OwnEndpoint, Participant};
use sinew_shm::{CapacityError, Endpoint, EndpointKey, EndpointKind, Peer};
use std::sync::{OnceLock, Weak};
use std::time::Duration;

/// Number of heartbeats within the lease of an automatic publisher: some may be late.
const BEATS: u32 = 4;

/// Shortest time between two heartbeats.
const SHORTEST_BEAT: Duration = Duration::from_millis(1);

/// Shortest lease of an automatic publisher that other processes watch, in nanoseconds: a shorter
/// one counts as this one, which has time for all its heartbeats.
pub(super) const SHORTEST_LEASE: i64 = BEATS as i64 * 1_000_000;
const _: () = assert!(SHORTEST_LEASE.unsigned_abs() as u128 == SHORTEST_BEAT.as_nanos() * BEATS as u128);

/// A context's participant among the processes of its host.
pub(crate) struct OwnParticipant {
    participant: OnceLock<Arc<Participant>>,
    context: Weak<dyn LocalEndpoints>,
    /// The whole transport, as executors see it.
    presence: Weak<dyn Presence>,
    receiver: Mutex<Option<ReceiverThread>>,
    /// Notifications that the receiver is to make.
    notifications: Arc<Mutex<Notifications>>,
    /// The receiver's port, once the receiver or a thread that waits for an answer needs one.
    receiver_port: OnceLock<Arc<EventReceiver>>,
    /// Whether the receiver couldn't be started.
    lacks_receiver: AtomicBool,
    offered_types: KnownTypes,
    /// Number of the context's clock, of which the signs of life are times.
    clock: u64,
}

impl OwnParticipant {
    /// Has no participant before [`joined`](Self::joined).
    pub(super) fn new(context: &Arc<dyn LocalEndpoints>, presence: Weak<dyn Presence>) -> Self {
        Self {
            participant: OnceLock::new(),
            context: Arc::downgrade(context),
            presence,
            receiver: Mutex::default(),
            notifications: Arc::default(),
            receiver_port: OnceLock::new(),
            lacks_receiver: AtomicBool::new(false),
            offered_types: KnownTypes::default(),
            clock: context.session().clock.identity(),
        }
    }

    pub(super) fn joined(&self, participant: Arc<Participant>) {
        let _ = self.participant.set(participant); // once
    }

    pub(crate) fn participant(&self) -> Option<&Arc<Participant>> {
        self.participant.get()
    }

    /// Advertises an entity to the other processes.
    pub(crate) fn advertise(&self, about: &EndpointAbout<'_>) -> Result<OwnEndpoint, CapacityError> {
        let Some(participant) = self.participant() else { return Err(CapacityError::Left { forked: false }) };
        let entity = Endpoint {
            kind: about.kind,
            number: about.number,
            node: about.node.to_owned(),
            name: about.name.to_owned(),
            type_name: about.table.map_or("", TypeSupport::name).to_owned(),
            hash: about.table.and_then(TypeSupport::hash).map_or([0; 32], |hash| hash.0),
            qos: self.published_qos(
                about.qos,
                about.table.is_some_and(|table| table.encoded.is_some()),
                about.origin,
            ),
        };
        if let Some(table) = about.table {
            self.offered_types.offer(participant.domain(), table);
        }
        let lease = about.qos.automatic_lease_nanoseconds().filter(|_| about.kind == EndpointKind::Publisher);
        // Asked for before others see the endpoint, so that they find a recent one.
        let heartbeat = lease.map(|lease| {
            let period = Duration::from_nanos(lease.unsigned_abs()) / BEATS;
            participant.beat_every(period.max(SHORTEST_BEAT))
        });
        let mut endpoint = participant.advertise(&entity, about.of_node)?;
        if let Some(heartbeat) = heartbeat {
            endpoint.keep_heartbeat(heartbeat);
        }
        Ok(endpoint)
    }

    /// Advertises a separate entity for one line: of requests from a client to one server, or of
    /// answers to one client. `about`: the endpoint's number, its node, and the service.
    pub(super) fn advertise_line(
        &self,
        kind: EndpointKind,
        (number, node, name): (u64, &str, &str),
        table: &'static TypeSupport,
    ) -> Result<OwnEndpoint, CapacityError> {
        let (table, qos) = (Some(table), QoS::services());
        let origin = Origin::Local;
        self.advertise(&EndpointAbout { kind, number, node, name, table, qos, origin, of_node: None })
    }

    /// Returns a port of the calling thread's own for waiting for answers; the thread keeps it.
    /// Returns `None` if there are too many ports: then the receiver's port, the last one, is
    /// notified of answers.
    pub(crate) fn port_of_this_thread(&self) -> Option<Arc<EventReceiver>> {
        std::thread_local! {
            static PORTS: std::cell::RefCell<Vec<Arc<EventReceiver>>> = const { std::cell::RefCell::new(Vec::new()) };
        }
        let participant = self.participant()?;
        let find = |ports: &std::cell::RefCell<Vec<Arc<EventReceiver>>>| {
            let mut ports = ports.borrow_mut();
            if let Some(port) = ports.iter().find(|port| port.participant() == participant.id()) {
                return Some(port.clone());
            }
            ports.retain(|port| port.check().is_ok());
            self.receiver_port().ok()?;
            let port = participant.port(None).ok()?;
            ports.push(port.clone());
            Some(port)
        };
        PORTS.try_with(find).ok().flatten() // none in a thread that ends
    }

    /// Returns the port on which an executor is notified by other processes; `None` if it can't get
    /// one.
    pub(crate) fn port_of(&self, scheduler: &Scheduler) -> Option<Arc<EventReceiver>> {
        scheduler.port(&self.presence.upgrade()?)
    }

    /// Returns the port of the thread that receives for subscriptions without an executor.
    pub(crate) fn receiver(&self) -> Option<Arc<EventReceiver>> {
        self.participant()?;
        later(|| {
            let mut receiver = self.receiver.lock();
            if receiver.is_none() {
                match self.start_receiver() {
                    Ok(started) => *receiver = Some(started),
                    Err(error) => {
                        log_line!(
                            Level::Error,
                            "nothing is received for subscriptions that wait without an executor, until this works: {error}"
                        );
                        self.lacks_receiver.store(true, Ordering::Relaxed); // read by the next look
                        self.participant()?.request_look();
                    }
                }
            }
            receiver.as_ref().map(ReceiverThread::port)
        })
    }

    fn start_receiver(&self) -> Result<ReceiverThread, StartError> {
        ReceiverThread::start(self.receiver_port()?, &self.notifications)
    }

    /// Matches the entities that a process had created before it sent a request, or an answer, that
    /// this thread has read. So what a server publishes for a request reaches the client's process,
    /// such as the feedback of a goal; and what a client publishes after a call, the server's.
    #[inline]
    pub(super) fn meet_entities_of(this: &Weak<Self>, peer: &Peer) {
        if peer.has_news()
            && let Some(this) = this.upgrade()
        {
            this.refresh();
        }
    }

    /// Looks up the present participants and endpoints.
    #[cold]
    pub(super) fn refresh(&self) {
        if let Some(participant) = self.participant() {
            participant.refresh();
        }
    }

    /// As [`notify`](Self::notify); notifies them here and now if the participant is gone.
    pub(super) fn notify_elsewhere(this: &Weak<Self>, notifications: Notifications) {
        match this.upgrade() {
            Some(this) => this.notify(notifications),
            None => notifications.into_iter().for_each(|notify| notify()), // nothing goes unnoticed
        }
    }

    /// Makes the receiver notify listeners of messages that other threads read.
    fn notify(&self, mut notifications: Notifications) {
        if self.context.upgrade().is_none_or(|context| context.session().has_ended()) {
            return notifications.into_iter().for_each(|notify| notify()); // the receiver is ending
        }
        self.notifications.lock().append(&mut notifications);
        if let Some(port) = self.receiver() {
            port.ring();
        }
    }

    /// Returns the receiver's port, even before there is a receiver.
    fn receiver_port(&self) -> Result<Arc<EventReceiver>, CapacityError> {
        if let Some(port) = self.receiver_port.get() {
            return Ok(port.clone());
        }
        let participant = self.participant().ok_or(CapacityError::Left { forked: false })?;
        let port = participant.port(None)?;
        Ok(self.receiver_port.get_or_init(|| port).clone()) // another thread's serves as well
    }

    /// Returns the port on which a line is received: of the executor that runs its endpoint, or of
    /// the receiver.
    pub(super) fn port_for(&self, scheduler: Option<&Scheduler>) -> Option<Arc<EventReceiver>> {
        scheduler.and_then(|scheduler| self.port_of(scheduler)).or_else(|| self.receiver())
    }

    pub(super) fn advertise_service(
        &self,
        (kind, number): (EndpointKind, u64),
        (node, name): (&str, &str),
        types: &ServiceTypes,
        (qos, origin): (QoS, Origin),
    ) -> Result<OwnEndpoint, CreateError> {
        let (type_name, hash, travels) = types.published();
        let entity = Endpoint {
            kind,
            number,
            node: node.to_owned(),
            name: name.to_owned(),
            type_name,
            hash,
            qos: self.published_qos(qos, travels, origin),
        };
        let failed = |source: CapacityError| CreateError::SharedMemory {
            name: name.to_owned(),
            source: Box::new(SharedMemoryError::capacity(source)),
        };
        let participant = self.participant().ok_or_else(|| failed(CapacityError::Left { forked: false }))?;
        self.offered_types.offer_service(participant.domain(), types);
        participant.advertise(&entity, None).map_err(failed)
    }

    /// Returns the published form of a QoS, for an endpoint with this origin.
    fn published_qos(&self, qos: QoS, travels: bool, origin: Origin) -> [u8; 64] {
        let mut bytes = qos.to_bytes(travels);
        origin.write_to(&mut bytes);
        write_clock(self.clock, &mut bytes);
        bytes
    }

    /// Whether the receiver couldn't be started before, and is there now.
    pub(super) fn gets_receiver(&self) -> bool {
        self.lacks_receiver.swap(false, Ordering::Relaxed) && self.receiver().is_some()
    }

    /// Whether the receiver couldn't be started.
    pub(super) fn lacks_receiver(&self) -> bool {
        self.lacks_receiver.load(Ordering::Relaxed)
    }

    /// Leaves the domain. Everything that the receiver was to do is done on this thread.
    pub(super) fn leave(&self) {
        let receiver = self.receiver.lock().take();
        if let Some(receiver) = receiver {
            receiver.stop();
        }
        if let Some(participant) = self.participant() {
            participant.leave();
        }
        let notifications = std::mem::take(&mut *self.notifications.lock());
        notifications.into_iter().for_each(|notify| notify());
    }
}

/// The data to advertise of an entity.
pub(crate) struct EndpointAbout<'a> {
    pub(crate) kind: EndpointKind,
    pub(crate) number: u64,
    pub(crate) node: &'a str,
    pub(crate) name: &'a str,
    pub(crate) table: Option<&'static TypeSupport>,
    pub(crate) qos: QoS,
    pub(crate) origin: Origin,
    pub(crate) of_node: Option<EndpointKey>,
}
