//! Services across processes.
//!
//! A client has a ring of its own for its requests, and for each client of another process a server
//! has a ring for its answers (so no client holds up another). Both ends are bound: a writer never
//! overtakes its reader. What is announced to whom follows the same rules as messages.
//!
//! | | client's process | server's process |
//! |---|---|---|
//! | request | [`ShmServerConnection`]: encodes it into the client's ring | [`ShmClient`]: reads it, and asks for the client as if it were here |
//! | answer | [`ShmServerConnection`]: reads it, and settles the call | [`ShmClient`]: encodes it into the ring for this client |
//!
//! A request begins with a header of 16 bytes: the call's sequence number, and its place in the
//! client's list. So does an answer; its header also tells what kind of answer it is. Then follows
//! the image of the request or response, or the text of a failure.
//!
//! # What can't be sent or read
//!
//! Each call is told. An answer for which there is no memory becomes a short failure, which needs
//! none; if there is not even room in the ring, it waits for some. What can't be read doesn't say
//! whose it is: then all calls fail that wait for an answer by that way. A client for whose answers
//! there is no room at all is served when there is some.

use super::sender::head_of;
use super::{EndpointAbout, ShmTransport};
use crate::executor::blocked::Blocked;
use crate::executor::scheduler::Scheduler;
use crate::message::block::{Pool, RawMessage};
use crate::message::info::{Lineage, Publication, introduce};
use crate::ros::qos::QoS;
use crate::service::failure::CallFailure;
use crate::service::pending_calls::{
    CallFault, CallId, CallOutcome, PendingCalls, RemoteClient, WakeWaiters,
};
use crate::service::request_queue::{
    Caller, MAX_REQUESTS, Origin, RemoteServer, RemoteServerConnection, Request, RequestQueue,
};
use crate::service::types::ServiceTypes;
use crate::sys::clock::{Stamp, Time};
use crate::sys::coalescing_lock::CoalescingLock;
use crate::sys::logging::{Level, tell};
use crate::sys::sync::{Arc, Guard, Mutex};
use crate::topic::remote_endpoint::RemoteEndpoint;
use sinew_shm::{
    CapacityError, Connect, EndpointKey, EndpointKind, EventReceiver, Head, Incoming, OwnEndpoint, Peer,
    Sink, Writer,
};
use std::collections::VecDeque;
use std::sync::{OnceLock, Weak};

/// Bytes before the image.
const HEADER: usize = 16;

/// Bytes that go into a ring's slot.
const INLINE: usize = 200;

/// Places of a new ring; it doubles when they don't do.
const FIRST_DEPTH: usize = 8;

/// Blocks for what comes from outside.
const POOL_CAPACITY: usize = 64;

/// How long a failure's text may be.
const LONGEST_TEXT: usize = 4096;

/// What an answer is; 0 is a response.
mod answer {
    pub(super) const RESPONSE: u8 = 0;
    pub(super) const FAILED: u8 = 1;
    pub(super) const PANICKED: u8 = 2;
    pub(super) const DROPPED: u8 = 3;
    pub(super) const FULL: u8 = 4;
    pub(super) const GONE: u8 = 5;
    pub(super) const OTHER: u8 = 6;
    /// A request that can't be read, nobody knows which.
    pub(super) const LOST: u8 = 7;
}

fn header(sequence: u64, place: u32, kind: u8) -> [u8; HEADER] {
    let mut bytes = [0; HEADER];
    bytes[..8].copy_from_slice(&sequence.to_le_bytes());
    bytes[8..12].copy_from_slice(&place.to_le_bytes());
    bytes[12] = kind;
    bytes
}

/// Header and body of what came; `None` if it is too short.
fn parse(bytes: &[u8]) -> Option<(u64, u32, u8, &[u8])> {
    let (header, body) = bytes.split_first_chunk::<HEADER>()?;
    let (sequence, rest) = header.split_first_chunk::<8>()?;
    let (place, rest) = rest.split_first_chunk::<4>()?;
    Some((u64::from_le_bytes(*sequence), u32::from_le_bytes(*place), rest[0], body))
}

/// A ring with one reader that must get everything.
struct DirectedRing {
    writer: Writer,
    peer: u64,
    next: u64,
    depth: usize,
    scratch: Vec<u8>,
    /// Short failures for which there is no room in the ring.
    overdue: VecDeque<(Head, Vec<u8>)>,
}

impl DirectedRing {
    fn open(entity: &Arc<OwnEndpoint>, peer: &Arc<Peer>, target: EndpointKey) -> Result<Self, CapacityError> {
        let mut writer = Writer::new(entity.clone(), FIRST_DEPTH, INLINE, 1)?;
        let connect = Connect {
            target: Some(target),
            first: 1,
            live: 1,
            depth: FIRST_DEPTH,
            capacity: Some(FIRST_DEPTH),
        };
        writer.connect(peer, &connect)?;
        let (scratch, overdue) = (Vec::new(), VecDeque::new());
        Ok(Self { writer, peer: peer.id(), next: 1, depth: FIRST_DEPTH, scratch, overdue })
    }

    /// Whether there is a place for one more, or as many as `most` are under way.
    fn make_room(&mut self, most: usize) -> Result<bool, CapacityError> {
        if !self.writer.has_room() {
            if self.depth >= most {
                return Ok(false);
            }
            self.writer.grow(self.depth * 2)?;
            self.depth *= 2;
            self.writer.bind(self.peer, Some(self.depth));
        }
        Ok(true)
    }

    /// Sends a failure that needs no memory but a slot of the ring; later, if there is none. Its
    /// text may be cut.
    fn send_short(&mut self, header: [u8; HEADER], head: &Head, text: &str) {
        let mut image = header.to_vec();
        let room = self.writer.inline() - HEADER;
        let end = (0..=text.len().min(room)).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
        image.extend_from_slice(&text.as_bytes()[..end]);
        self.overdue.push_back((*head, image));
        self.send_overdue();
    }

    /// Sends what had no room.
    fn send_overdue(&mut self) {
        while !self.overdue.is_empty() && matches!(self.make_room(usize::MAX), Ok(true)) {
            let Some((head, image)) = self.overdue.pop_front() else { return };
            self.writer.publish_inline(self.next, &head, &image);
            self.next += 1;
        }
    }

    /// Sends a header and the image of a value. False if as many as `most` are under way already.
    fn send(
        &mut self,
        header: [u8; HEADER],
        head: &Head,
        body: Body<'_>,
        most: usize,
    ) -> Result<bool, CapacityError> {
        if !self.make_room(most)? {
            return Ok(false);
        }
        let length = HEADER + body.length();
        if length <= self.writer.inline() {
            self.scratch.clear();
            self.scratch.extend_from_slice(&header);
            self.scratch.resize(length, 0);
            body.write(&mut self.scratch[HEADER..]);
            self.writer.publish_inline(self.next, head, &self.scratch);
        } else {
            let mut loan = self.writer.lender().loan(length)?;
            let bytes = loan.bytes_mut();
            bytes[..HEADER].copy_from_slice(&header);
            body.write(&mut bytes[HEADER..]);
            self.writer.publish_lent(self.next, head, loan.share());
        }
        self.next += 1;
        Ok(true)
    }
}

/// What follows the header.
#[derive(Clone, Copy)]
enum Body<'a> {
    Value(&'a RawMessage),
    Text(&'a str),
}

impl Body<'_> {
    fn length(self) -> usize {
        match self {
            Body::Value(value) => match &value.table().image {
                // SAFETY: the table is the value's own.
                Some(image) => unsafe { (image.size)(value.value().as_ptr()) },
                None => 0,
            },
            Body::Text(text) => text.len().min(LONGEST_TEXT),
        }
    }

    fn write(self, to: &mut [u8]) {
        match self {
            Body::Value(value) => {
                if let Some(image) = &value.table().image {
                    // SAFETY: the table is the value's own.
                    unsafe { (image.encode)(value.value().as_ptr(), to) };
                }
            }
            Body::Text(text) => to.copy_from_slice(&text.as_bytes()[..to.len()]),
        }
    }
}

/// A server of another process.
pub(crate) struct ShmServer {
    transport: Weak<ShmTransport>,
    peer: Arc<Peer>,
    key: EndpointKey,
    described: RemoteEndpoint,
}

impl ShmServer {
    pub(crate) fn new(
        transport: &Arc<ShmTransport>,
        peer: &Arc<Peer>,
        key: EndpointKey,
        described: RemoteEndpoint,
    ) -> Arc<Self> {
        Arc::new(Self { transport: Arc::downgrade(transport), peer: peer.clone(), key, described })
    }
}

impl RemoteServer for ShmServer {
    fn described(&self) -> &RemoteEndpoint {
        &self.described
    }

    fn is_there(&self) -> bool {
        self.peer.has(self.key)
    }

    fn connect(&self, calls: &Arc<PendingCalls>) -> Result<Arc<dyn RemoteServerConnection>, String> {
        let Some(transport) = self.transport.upgrade() else {
            return Err("the client is not known to other processes".to_owned());
        };
        let connection =
            ShmServerConnection::open(&transport, calls, self).map_err(|error| error.to_string())?;
        Ok(connection)
    }
}

/// A client's connection with the server of another process.
pub(crate) struct ShmServerConnection {
    calls: Weak<PendingCalls>,
    transport: Weak<ShmTransport>,
    /// As [`RemoteServerConnection::key`].
    key: EndpointKey,
    /// How many requests may be under way.
    limit: usize,
    /// `None` once it has ended.
    ring: Mutex<Option<DirectedRing>>,
    replies: CoalescingLock<Replies>,
    /// What else is to be done at the next look.
    changes: Mutex<Changes>,
    /// Threads that wait for answers.
    threads: Mutex<Threads>,
}

struct Replies {
    incoming: Option<Incoming>,
    buffer: Vec<u8>,
    pool: Arc<Pool>,
    /// Scratch of `drain_replies`.
    completed: Vec<(CallId, CallOutcome)>,
    /// Something was wrong with an answer, nobody knows whose.
    lost: Option<String>,
}

/// What changed about a line.
#[derive(Default)]
struct Changes {
    /// Where the answers come from.
    incoming: Option<Incoming>,
    /// Who is to be told of them.
    port: Option<Option<Arc<EventReceiver>>>,
}

#[derive(Default)]
struct Threads {
    waiting: usize,
    /// The port of the one that waits alone, or was the last one that did: nobody else is told of
    /// answers.
    alone: Option<Arc<EventReceiver>>,
}

impl ShmServerConnection {
    /// Connects a client with a server of another process.
    fn open(
        transport: &Arc<ShmTransport>,
        calls: &Arc<PendingCalls>,
        server: &ShmServer,
    ) -> Result<Arc<Self>, CapacityError> {
        let entity = Arc::new(transport.advertise_connection(calls)?);
        let key = entity.key();
        let pool = Pool::of_table(calls.types.response(), POOL_CAPACITY);
        let replies = Replies { incoming: None, buffer: Vec::new(), pool, completed: Vec::new(), lost: None };
        let this = Arc::new(Self {
            calls: Arc::downgrade(calls),
            transport: Arc::downgrade(transport),
            key,
            limit: server.described.qos.max_samples.unwrap_or(MAX_REQUESTS),
            ring: Mutex::new(None),
            replies: CoalescingLock::new(replies),
            changes: Mutex::default(),
            threads: Mutex::default(),
        });
        transport.add_connection(&this); // before the server hears of it, whose answers are to find it
        let ring = DirectedRing::open(&entity, &server.peer, server.key)
            .inspect_err(|_| transport.remove_connection(key))?;
        *this.ring.lock() = Some(ring);
        Ok(this)
    }

    /// Answers come by this connection. The caller then drains.
    pub(crate) fn accept(&self, incoming: Incoming) {
        let before = self.changes.lock().incoming.replace(incoming);
        drop(before);
        self.retune();
    }

    /// A thread that waits alone is told of answers itself, else the executor or the receiver.
    fn tell_right_one(&self, mut threads: Guard<'_, Threads>) {
        let (Some(transport), Some(calls)) = (self.transport.upgrade(), self.calls.upgrade()) else { return };
        let alone = threads.alone.take().filter(|_| threads.waiting == 1);
        threads.alone.clone_from(&alone);
        let executor = || calls.scheduler().and_then(|scheduler| transport.port_of(&scheduler));
        let port = alone.or_else(executor).or_else(|| transport.receiver());
        // Under the lock of the threads: of two that change it at once, the second one's choice
        // stays.
        self.changes.lock().port = Some(port);
        drop(threads);
        self.drain_replies();
    }

    /// This thread waits for an answer, on this port of its own.
    fn enter(&self, port: &Arc<EventReceiver>) {
        let mut threads = self.threads.lock();
        threads.waiting += 1;
        let is_told = threads.alone.as_ref().is_some_and(|alone| Arc::ptr_eq(alone, port));
        threads.alone = (threads.waiting == 1).then(|| port.clone());
        if !(is_told && threads.waiting == 1) {
            self.tell_right_one(threads);
        }
    }

    /// This thread waits no longer. Its port stays the one that is told, until somebody else waits:
    /// nothing is to be told meanwhile.
    fn leave(&self) {
        let mut threads = self.threads.lock();
        threads.waiting -= 1;
        if threads.alone.is_some() && self.calls.upgrade().is_some_and(|calls| calls.has_open()) {
            self.tell_right_one(threads);
        }
    }

    /// Reads what answers there are.
    #[inline]
    fn drain_replies(&self) {
        self.replies.look(|mut replies| {
            let mut completed = std::mem::take(&mut replies.completed);
            self.read(&mut replies, &mut completed);
            self.change(&mut replies, &mut completed);
            let lost = replies.lost.take();
            drop(replies);
            let Some(calls) = self.calls.upgrade() else { return };
            for (id, outcome) in completed.drain(..) {
                drop(calls.complete(id, outcome)); // nobody waits for it any more: then nobody misses it
            }
            if let Some(problem) = lost {
                tell!(Level::Error, "calls of {} fail: {problem}", calls.requests.name);
                calls.lose_answers(self, problem);
            }
            if completed.capacity() > 0
                && let Some(mut replies) = self.replies.try_enter()
            {
                replies.completed = completed; // its room is used again
            }
        });
    }

    /// Does what is to be done from now on.
    fn change(&self, replies: &mut Replies, completed: &mut Vec<(CallId, CallOutcome)>) {
        let mut changes = self.changes.lock();
        let incoming = changes.incoming.take();
        let is_new = incoming.is_some();
        let before = if is_new { std::mem::replace(&mut replies.incoming, incoming) } else { None };
        // Without answers there is nobody to tell of them yet.
        let port = if replies.incoming.is_some() { changes.port.take() } else { None };
        drop(changes);
        drop(before);
        let is_told = |incoming: &mut Incoming| port.is_some_and(|port| incoming.set_port(port.as_deref()));
        if replies.incoming.as_mut().is_some_and(is_told) || is_new {
            self.read(replies, completed);
        }
    }

    fn read(&self, replies: &mut Replies, completed: &mut Vec<(CallId, CallOutcome)>) {
        let Replies { incoming: Some(incoming), buffer, pool, lost, .. } = replies else { return };
        loop {
            let message = match incoming.read(buffer) {
                Ok(Some(message)) => message,
                Ok(None) => break,
                Err(error) => {
                    *lost = Some(format!("an answer can't be read: {error}"));
                    continue;
                }
            };
            let bytes = message.hold.as_ref().map_or(&**buffer, |hold| hold.bytes());
            let Some((sequence, place, kind, body)) = parse(bytes) else {
                *lost = Some(format!("an answer is too short: {} bytes", bytes.len()));
                continue;
            };
            if kind == answer::LOST {
                *lost = Some(String::from_utf8_lossy(body).into_owned());
                continue;
            }
            completed.push((CallId::new(place, sequence), outcome_of(kind, body, pool)));
        }
        incoming.set_cursor(incoming.next());
        if incoming.is_over() {
            incoming.done();
        }
    }
}

/// This thread is one of those that wait for answers by a line.
struct Entered<'a>(&'a ShmServerConnection);

impl<'a> Entered<'a> {
    fn begin(connection: &'a ShmServerConnection, port: &Arc<EventReceiver>) -> Self {
        connection.enter(port);
        Self(connection)
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        self.0.leave();
    }
}

impl WakeWaiters for EventReceiver {
    fn wake(&self) {
        self.ring();
    }
}

impl RemoteServerConnection for ShmServerConnection {
    fn key(&self) -> EndpointKey {
        self.key
    }

    fn send(&self, request: &Request, quietly: bool) -> Result<(), CallFailure> {
        if !quietly && self.threads.lock().alone.is_some() {
            self.retune();
        }
        let publication = &request.publication;
        let head = head_of(publication);
        let header = header(request.caller.id.sequence(), request.caller.id.place(), 0);
        let mut ring = self.ring.lock();
        let Some(ring) = &mut *ring else { return Err(CallFailure::ServerGone) };
        // Under this lock: whoever ends the line finds the call afterwards.
        request.caller.calls.goes_by(request.caller.id, self.key);
        match ring.send(header, &head, Body::Value(&request.message), self.limit) {
            Ok(true) => Ok(()),
            Ok(false) => Err(CallFailure::Full { limit: self.limit }),
            Err(error) => Err(CallFailure::Transport { problem: error.to_string() }),
        }
    }

    /// On a port of this thread's own, so that the answer wakes it at once.
    fn wait(
        &self,
        calls: &PendingCalls,
        id: CallId,
        deadline: Time,
    ) -> Option<Result<CallOutcome, Option<RawMessage>>> {
        let port = self.transport.upgrade()?.port_of_this_thread()?;
        let _blocked = Blocked::begin();
        let _entered = Entered::begin(self, &port);
        let awake = Time::steady() + calls.patience();
        loop {
            let seen = port.bell(); // K1
            self.drain_replies();
            if let Some(outcome) = calls.take_or_wait_on(id, || port.clone()) {
                return Some(Ok(outcome));
            }
            let now = Time::steady();
            let left = deadline - now;
            if left.is_zero() {
                return Some(calls.give_up(id));
            }
            if now < awake {
                std::hint::spin_loop();
                continue;
            }
            port.park(); // K2
            if !port.is_pending() {
                port.sleep(seen, Some(left)); // K3
            }
            port.unpark();
            port.drain();
        }
    }

    fn retune(&self) {
        self.tell_right_one(self.threads.lock());
    }

    fn drain(&self) {
        self.drain_replies();
    }

    /// Its entity stays until the server's answers have ended, too.
    fn end(&self) {
        let ring = self.ring.lock().take();
        drop(ring);
        if let Some(transport) = self.transport.upgrade() {
            transport.remove_connection(self.key);
        }
    }
}

impl Sink for ShmServerConnection {
    fn drain(&self) {
        self.drain_replies();
    }
}

fn outcome_of(kind: u8, body: &[u8], pool: &Arc<Pool>) -> CallOutcome {
    let text = || String::from_utf8_lossy(body).into_owned();
    let failure = match kind {
        answer::RESPONSE => match RawMessage::decode(pool, body) {
            Ok(response) => return Ok(response),
            Err(error) => CallFailure::Transport { problem: error.to_string() },
        },
        answer::FAILED => CallFailure::Failed { message: text() },
        answer::PANICKED => CallFailure::Panicked { message: text() },
        answer::DROPPED => CallFailure::Dropped,
        answer::GONE => CallFailure::ServerGone,
        answer::FULL => CallFailure::Full { limit: text().parse().unwrap_or(0) },
        _ => CallFailure::Transport { problem: text() },
    };
    Err(CallFault { failure, request: None })
}

/// A client of another process, as the server sees it.
pub(crate) struct ShmClient {
    transport: Weak<ShmTransport>,
    requests: Arc<RequestQueue>,
    /// Stands in for the client.
    calls: Arc<PendingCalls>,
    /// As in [`Publication::publisher`].
    client: u64,
    reading: CoalescingLock<RequestReader>,
    /// Who is to be told of requests, from the next look on.
    port: Mutex<Option<Option<Arc<EventReceiver>>>>,
    answers: Mutex<DirectedRing>,
}

struct RequestReader {
    incoming: Incoming,
    buffer: Vec<u8>,
    pool: Arc<Pool>,
    /// Scratch of `drain_requests`.
    asked: Vec<ReceivedRequest>,
}

/// A request, and what its client knows it by.
type ReceivedRequest = (RawMessage, Publication, (u64, u32));

impl ShmClient {
    /// The way for answers to a client of another process.
    fn open_answers(
        transport: &Arc<ShmTransport>,
        incoming: &Incoming,
        server: &LocalServer,
    ) -> Result<DirectedRing, CapacityError> {
        let about = EndpointAbout {
            kind: EndpointKind::Reply,
            number: server.number,
            node: &server.node,
            name: &server.requests.name,
            table: Some(server.types.response()),
            qos: QoS::services(),
            of_node: None,
        };
        let entity = Arc::new(transport.advertise(&about)?);
        DirectedRing::open(&entity, incoming.peer(), incoming.source())
    }

    /// A client of another process asks a server here.
    fn new(
        transport: &Arc<ShmTransport>,
        incoming: Incoming,
        server: &LocalServer,
        answers: DirectedRing,
    ) -> Option<Arc<Self>> {
        let context = transport.context()?;
        let peer = incoming.peer().clone();
        let pool = Pool::of_table(server.types.request(), POOL_CAPACITY);
        let node: Arc<str> = Arc::from("another process");
        let calls =
            PendingCalls::new(context.session(), server.number, node, server.types, server.requests.clone());
        let reading = RequestReader { incoming, buffer: Vec::new(), pool, asked: Vec::new() };
        Some(Arc::new(Self {
            transport: Arc::downgrade(transport),
            requests: server.requests.clone(),
            calls,
            client: introduce(peer.id()),
            reading: CoalescingLock::new(reading),
            port: Mutex::new(None),
            answers: Mutex::new(answers),
        }))
    }

    /// Reads what requests there are.
    pub(crate) fn drain_requests(self: &Arc<Self>) {
        self.reading.look(|mut reading| {
            let mut asked = std::mem::take(&mut reading.asked);
            self.read(&mut reading, &mut asked);
            let port = self.port.lock().take();
            if let Some(port) = port
                && reading.incoming.set_port(port.as_deref())
            {
                self.read(&mut reading, &mut asked);
            }
            drop(reading);
            for (message, publication, remote) in asked.drain(..) {
                self.ask(message, publication, remote);
            }
            if asked.capacity() > 0
                && let Some(mut reading) = self.reading.try_enter()
            {
                reading.asked = asked; // as in `ShmServerConnection::drain_replies`
            }
        });
    }

    fn read(self: &Arc<Self>, reading: &mut RequestReader, asked: &mut Vec<ReceivedRequest>) {
        let RequestReader { incoming, buffer, pool, .. } = reading;
        loop {
            let message = match incoming.read(buffer) {
                Ok(Some(message)) => message,
                Ok(None) => break,
                Err(error) => {
                    self.say_lost(&format!("a request can't be read: {error}"));
                    continue;
                }
            };
            let bytes = message.hold.as_ref().map_or(&**buffer, |hold| hold.bytes());
            let Some((sequence, place, _, body)) = parse(bytes) else {
                self.say_lost(&format!("a request is too short: {} bytes", bytes.len()));
                continue;
            };
            let publication = Publication {
                stamp: Stamp { time: message.head.stamp, order: message.head.order },
                sequence,
                publisher: self.client,
                lineage: Lineage::new(message.head.lineage_stamp, message.head.lineage_id),
                expires: i64::MAX,
            };
            match RawMessage::decode(pool, body) {
                Ok(value) => asked.push((value, publication, (sequence, place))),
                Err(error) => {
                    let failure = CallFailure::Transport { problem: error.to_string() };
                    self.answer((sequence, place), &Err(CallFault { failure, request: None }));
                }
            }
        }
        incoming.set_cursor(incoming.next());
        if incoming.is_over() {
            incoming.done();
            let this: Arc<dyn RemoteClient> = self.clone();
            self.requests.remove_remote_client(&this); // whose answers end with it
        }
    }

    /// A request is lost, nobody knows which.
    #[cold]
    fn say_lost(&self, problem: &str) {
        tell!(Level::Error, "{} of another process: {problem}", self.requests.name);
        self.answers.lock().send_short(header(0, 0, answer::LOST), &self.head(), problem);
    }

    fn head(&self) -> Head {
        let stamp = self.calls.session.clock.stamp();
        Head { stamp: stamp.time, order: stamp.order, ..Head::default() }
    }

    /// Asks the server on behalf of the client.
    fn ask(self: &Arc<Self>, message: RawMessage, publication: Publication, remote: (u64, u32)) {
        let id = self.calls.begin_remote(self.clone(), remote);
        let caller = Caller { calls: self.calls.clone(), id };
        let origin = Origin::Remote { server: self.calls.number };
        match self.requests.push(Request { message, publication, caller }, false, origin) {
            Ok(announcement) => announcement.signal(),
            Err((_, failure)) => {
                self.calls.refused(id);
                self.answer(remote, &Err(CallFault { failure, request: None }));
            }
        }
    }
}

impl RemoteClient for ShmClient {
    fn send_overdue(&self) {
        self.answers.lock().send_overdue();
    }

    fn retune(self: Arc<Self>) {
        let Some(transport) = self.transport.upgrade() else { return };
        let scheduler: Option<Arc<Scheduler>> =
            self.requests.task_ref().map(|task_ref| task_ref.scheduler.clone());
        let port =
            scheduler.and_then(|scheduler| transport.port_of(&scheduler)).or_else(|| transport.receiver());
        *self.port.lock() = Some(port);
        self.drain_requests();
    }

    fn answer(&self, (sequence, place): (u64, u32), outcome: &CallOutcome) {
        let text;
        let (kind, body) = match outcome {
            Ok(response) => (answer::RESPONSE, Body::Value(response)),
            Err(CallFault { failure, .. }) => {
                let (kind, said) = match failure {
                    CallFailure::Failed { message } => (answer::FAILED, message.clone()),
                    CallFailure::Panicked { message } => (answer::PANICKED, message.clone()),
                    CallFailure::Dropped => (answer::DROPPED, String::new()),
                    CallFailure::Full { limit } => (answer::FULL, limit.to_string()),
                    CallFailure::ServerGone | CallFailure::Shutdown => (answer::GONE, String::new()),
                    other => (answer::OTHER, other.to_string()),
                };
                text = said;
                (kind, Body::Text(&text))
            }
        };
        let head = self.head();
        let mut answers = self.answers.lock();
        answers.send_overdue();
        if let Err(error) = answers.send(header(sequence, place, kind), &head, body, usize::MAX) {
            let problem = no_room(body.length(), &error);
            answers.send_short(header(sequence, place, answer::OTHER), &head, &problem);
            drop(answers);
            tell!(
                Level::Error,
                "an answer of {} can't be sent, its caller is told: {error}",
                self.requests.name
            );
        }
    }
}

/// Why an answer wasn't sent, in fewer letters than the error has.
fn no_room(length: usize, error: &CapacityError) -> String {
    match error {
        CapacityError::FileSystem { free, size, .. } => format!(
            "its answer of {length} bytes doesn't fit into the shared memory, of whose {size} bytes {free} are free: see `sinew doctor`"
        ),
        other => format!("its answer can't be sent: {other}"),
    }
}

/// A client there, as those see it who announce requests; or one for whose answers there is no room
/// yet.
pub(crate) struct PendingClient {
    transport: Weak<ShmTransport>,
    server: LocalServer,
    /// What others know the server by.
    target: EndpointKey,
    /// There was no room for answers: where the requests are.
    waiting: Mutex<Option<Incoming>>,
    /// The server's queue keeps it, as long as there is the server: it keeps the context.
    remote_client: OnceLock<Weak<ShmClient>>,
}

impl PendingClient {
    /// A client of another process asks a server here.
    pub(crate) fn receive(
        transport: &Arc<ShmTransport>,
        incoming: Incoming,
        (target, server): (EndpointKey, LocalServer),
    ) -> Arc<Self> {
        let (waiting, remote_client) = (Mutex::new(Some(incoming)), OnceLock::new());
        let this =
            Arc::new(Self { transport: Arc::downgrade(transport), server, target, waiting, remote_client });
        if let Err(error) = this.serve() {
            tell!(Level::Error, "a client of another process isn't served, until there is room: {error}");
        }
        this
    }

    /// Whether there is nothing left to try.
    pub(crate) fn is_served(&self) -> bool {
        self.waiting.lock().is_none()
    }

    /// Serves the client from now on, if it isn't served yet and there is room.
    pub(crate) fn serve(&self) -> Result<(), CapacityError> {
        let Some(transport) = self.transport.upgrade() else { return Ok(()) };
        let mut waiting = self.waiting.lock();
        let Some(incoming) = &mut *waiting else { return Ok(()) };
        if incoming.is_over() || !transport.has_server(self.target) {
            let gone = waiting.take();
            drop(waiting);
            drop(gone);
            return Ok(());
        }
        let answers = ShmClient::open_answers(&transport, incoming, &self.server)?;
        let Some(incoming) = waiting.take() else { return Ok(()) };
        drop(waiting);
        let Some(remote_client) = ShmClient::new(&transport, incoming, &self.server, answers) else {
            return Ok(());
        };
        if self.server.requests.add_remote_client(self.server.number, remote_client.clone()) {
            self.remote_client.get_or_init(|| Arc::downgrade(&remote_client)); // the thread that took the incoming does this
            remote_client.retune();
        }
        Ok(())
    }
}

impl Sink for PendingClient {
    fn drain(&self) {
        match self.remote_client.get() {
            Some(remote_client) => remote_client.upgrade().iter().for_each(ShmClient::drain_requests),
            None => drop(self.serve()), // the log has said why not
        }
    }
}

/// A server here, as far as clients of other processes are concerned.
#[derive(Clone)]
pub(crate) struct LocalServer {
    pub(crate) requests: Arc<RequestQueue>,
    pub(crate) number: u64,
    pub(crate) node: Arc<str>,
    pub(crate) types: ServiceTypes,
}
