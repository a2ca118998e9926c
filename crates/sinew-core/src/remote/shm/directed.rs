//! A line: messages for one reader elsewhere that must get all of them. Requests go by such lines,
//! and answers.
//!
//! A line is a ring of its own, and both ends are bound: the writer never overtakes the reader. A
//! message begins with a header of 16 bytes:
//!
//! | bytes | field |
//! |---|---|
//! | 0.. | the call's sequence number, u64 |
//! | 8.. | its place in its client's list, u32 |
//! | 12 | what it is, see [`kind`] |
//!
//! Then follows the image of the request or response, or the text of a failure.

use crate::executor::caught;
use crate::message::block::{Pool, RawMessage};
use crate::message::type_support::TypeSupport;
use crate::service::failure::CallFailure;
use crate::service::pending_calls::CallId;
use crate::sys::coalescing_lock::CoalescingLock;
use crate::sys::sync::{Arc, Mutex};
use sinew_msg::DecodeError;
use sinew_shm::{
    CapacityError, Connect, EndpointKey, EventReceiver, Head, Incoming, OwnEndpoint, Peer, Writer,
};
use std::collections::VecDeque;
use std::mem;

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

/// What a message is; 0 is a request or a response.
mod kind {
    pub(super) const VALUE: u8 = 0;
    pub(super) const FAILED: u8 = 1;
    pub(super) const PANICKED: u8 = 2;
    pub(super) const DROPPED: u8 = 3;
    pub(super) const FULL: u8 = 4;
    pub(super) const GONE: u8 = 5;
    pub(super) const OTHER: u8 = 6;
    /// A request can't be read, so it isn't known which.
    pub(super) const LOST: u8 = 7;
    /// A response can't be encoded.
    pub(super) const UNENCODABLE: u8 = 8;
}

fn header(id: CallId, kind: u8) -> [u8; HEADER] {
    let mut bytes = [0; HEADER];
    bytes[..8].copy_from_slice(&id.sequence().to_le_bytes());
    bytes[8..12].copy_from_slice(&id.place().to_le_bytes());
    bytes[12] = kind;
    bytes
}

/// Header and body of what came; `None` if it is too short.
fn parse(bytes: &[u8]) -> Option<(CallId, u8, &[u8])> {
    let (header, body) = bytes.split_first_chunk::<HEADER>()?;
    let (sequence, rest) = header.split_first_chunk::<8>()?;
    let (place, rest) = rest.split_first_chunk::<4>()?;
    Some((CallId::new(u32::from_le_bytes(*place), u64::from_le_bytes(*sequence)), rest[0], body))
}

/// A value of a call, or why there is none.
pub(super) type Content<'a> = Result<&'a RawMessage, &'a CallFailure>;

/// What follows the header.
enum Body<'a> {
    Value(&'a RawMessage),
    Text(String),
}

impl<'a> Body<'a> {
    fn of(content: Content<'a>) -> (u8, Self) {
        let (kind, text) = match content {
            Ok(value) => return (kind::VALUE, Body::Value(value)),
            Err(CallFailure::Failed { message }) => (kind::FAILED, message.clone()),
            Err(CallFailure::Panicked { message }) => (kind::PANICKED, message.clone()),
            Err(CallFailure::Dropped) => (kind::DROPPED, String::new()),
            Err(CallFailure::Full { limit }) => (kind::FULL, limit.to_string()),
            Err(CallFailure::Unencodable { reason, .. }) => (kind::UNENCODABLE, reason.clone()),
            Err(CallFailure::ServerGone | CallFailure::Shutdown) => (kind::GONE, String::new()),
            Err(other) => (kind::OTHER, other.to_string()),
        };
        (kind, Body::Text(text))
    }

    fn length(&self) -> usize {
        match self {
            Body::Value(value) => value.image_length().unwrap_or(0),
            Body::Text(text) => text.len().min(LONGEST_TEXT),
        }
    }

    fn write(&self, to: &mut [u8]) {
        match self {
            Body::Value(value) => value.write_image(to),
            Body::Text(text) => to.copy_from_slice(&text.as_bytes()[..to.len()]),
        }
    }
}

/// The failure of that kind.
fn failure_of(kind: u8, text: &[u8]) -> CallFailure {
    let text = String::from_utf8_lossy(text).into_owned();
    match kind {
        kind::FAILED => CallFailure::Failed { message: text },
        kind::PANICKED => CallFailure::Panicked { message: text },
        kind::DROPPED => CallFailure::Dropped,
        kind::FULL => CallFailure::Full { limit: text.parse().unwrap_or(0) },
        kind::GONE => CallFailure::ServerGone,
        kind::UNENCODABLE => CallFailure::Unencodable { what: "response", reason: text },
        _ => CallFailure::Transport { problem: text },
    }
}

/// Why something of a call wasn't sent.
#[derive(Debug, thiserror::Error)]
pub(super) enum SendError {
    /// There is no memory for it.
    #[error(transparent)]
    Capacity(#[from] CapacityError),
    /// Encoding it panicked: a string is too long for CDR, say, or an adapter of the program's failed.
    #[error("it can't be encoded: {0}")]
    Encoding(String),
}

/// The writing end.
pub(super) struct DirectedWriter {
    writer: Writer,
    peer: u64,
    next: u64,
    depth: usize,
    scratch: Vec<u8>,
    /// Short failures for which there is no room in the ring.
    overdue: VecDeque<(Head, Vec<u8>)>,
}

impl DirectedWriter {
    pub(super) fn open(
        entity: OwnEndpoint,
        peer: &Arc<Peer>,
        target: EndpointKey,
    ) -> Result<Self, CapacityError> {
        let mut writer = Writer::new(Arc::new(entity), FIRST_DEPTH, INLINE, 1)?;
        let (target, capacity) = (Some(target), Some(FIRST_DEPTH));
        writer.connect(peer, &Connect { target, first: 1, live: 1, depth: FIRST_DEPTH, capacity })?;
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

    /// Sends something of a call. False if as many as `most` are under way already.
    pub(super) fn send(
        &mut self,
        id: CallId,
        head: &Head,
        content: Content<'_>,
        most: usize,
    ) -> Result<bool, SendError> {
        if !self.make_room(most)? {
            return Ok(false);
        }
        let (kind, body) = Body::of(content);
        let header = header(id, kind);
        let length = HEADER + caught(|| body.length()).map_err(SendError::Encoding)?;
        if length <= self.writer.inline() {
            self.scratch.clear();
            self.scratch.extend_from_slice(&header);
            self.scratch.resize(length, 0);
            caught(|| body.write(&mut self.scratch[HEADER..])).map_err(SendError::Encoding)?;
            self.writer.publish_inline(self.next, head, &self.scratch);
        } else {
            let mut loan = self.writer.lender().loan(length)?;
            let bytes = loan.bytes_mut();
            bytes[..HEADER].copy_from_slice(&header);
            caught(|| body.write(&mut bytes[HEADER..])).map_err(SendError::Encoding)?;
            self.writer.publish_lent(self.next, head, loan.share());
        }
        self.next += 1;
        Ok(true)
    }

    /// Sends an answer. If there is no memory for it, or it can't be encoded, a short failure says so in
    /// its place, and the error is returned.
    pub(super) fn answer(&mut self, id: CallId, head: &Head, answer: Content<'_>) -> Result<(), SendError> {
        self.send_overdue();
        self.send(id, head, answer, usize::MAX).map(drop).inspect_err(|error| {
            let (kind, problem) = match error {
                SendError::Capacity(error) => (kind::OTHER, no_room(Body::of(answer).1.length(), error)),
                SendError::Encoding(reason) => (kind::UNENCODABLE, reason.clone()),
            };
            self.send_short(header(id, kind), head, &problem);
        })
    }

    /// Says that a request can't be read, so that it isn't known which.
    pub(super) fn send_lost(&mut self, head: &Head, problem: &str) {
        self.send_short(header(CallId::new(0, 0), kind::LOST), head, problem);
    }

    /// Sends a failure that needs no memory but a slot of the ring; later, if there is none. Its
    /// text may be cut.
    fn send_short(&mut self, header: [u8; HEADER], head: &Head, text: &str) {
        let mut image = header.to_vec();
        let end = text.floor_char_boundary(self.writer.inline() - HEADER);
        image.extend_from_slice(&text.as_bytes()[..end]);
        self.overdue.push_back((*head, image));
        self.send_overdue();
    }

    /// Sends what had no room.
    pub(super) fn send_overdue(&mut self) {
        while !self.overdue.is_empty() && matches!(self.make_room(usize::MAX), Ok(true)) {
            let Some((head, image)) = self.overdue.pop_front() else { return };
            self.writer.publish_inline(self.next, &head, &image);
            self.next += 1;
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

/// What came by a line.
pub(super) enum Received {
    /// A value of a call, or why there is none.
    Content(CallId, Head, Result<RawMessage, CallFailure>),
    /// Something was wrong with a message, and it isn't known of which call it was.
    Lost(String),
    /// The line has ended: nothing more comes.
    Over,
}

/// The reading end. One thread reads at a time, and others leave word ([`CoalescingLock`]).
pub(super) struct DirectedReader {
    /// What comes by it: requests if this is a server's, else answers.
    is_of_server: bool,
    reading: CoalescingLock<Reading>,
    /// What is to be done from the next look on.
    changes: Mutex<Changes>,
}

struct Reading {
    incoming: Option<Incoming>,
    buffer: Vec<u8>,
    pool: Arc<Pool>,
    /// Scratch of `look`.
    received: Vec<Received>,
}

#[derive(Default)]
struct Changes {
    /// Where messages come from.
    incoming: Option<Incoming>,
    /// The port that is told of them; or none.
    port: Option<Option<Arc<EventReceiver>>>,
}

impl DirectedReader {
    /// `table`: the type of the values that come. They come by `incoming`, if that is known yet.
    pub(super) fn new(is_of_server: bool, table: &'static TypeSupport, incoming: Option<Incoming>) -> Self {
        let pool = Pool::of_table(table, POOL_CAPACITY);
        let reading = Reading { incoming, buffer: Vec::new(), pool, received: Vec::new() };
        Self { is_of_server, reading: CoalescingLock::new(reading), changes: Mutex::default() }
    }

    /// Whether nothing more will come. Only while no thread looks.
    pub(super) fn is_over(&self) -> bool {
        let mut reading = self.reading.try_enter();
        reading.as_mut().and_then(|reading| reading.incoming.as_mut()).is_some_and(Incoming::is_over)
    }

    /// Messages come by this connection, from the next look on.
    pub(super) fn accept(&self, incoming: Incoming) {
        let before = self.changes.lock().incoming.replace(incoming);
        drop(before);
    }

    /// This port is told of messages, from the next look on.
    pub(super) fn set_port(&self, port: Option<Arc<EventReceiver>>) {
        self.changes.lock().port = Some(port);
    }

    /// Reads what there is, and hands it on under no lock.
    #[inline]
    pub(super) fn look(&self, mut take: impl FnMut(Received)) {
        self.reading.look(|mut reading| {
            let mut received = mem::take(&mut reading.received);
            self.read(&mut reading, &mut received);
            if self.change(&mut reading) {
                self.read(&mut reading, &mut received);
            }
            drop(reading);
            received.drain(..).for_each(&mut take);
            if received.capacity() > 0
                && let Some(mut reading) = self.reading.try_enter()
            {
                reading.received = received; // its room is used again
            }
        });
    }

    /// Does what is to be done from now on. Whether there may be something to read.
    fn change(&self, reading: &mut Reading) -> bool {
        let mut changes = self.changes.lock();
        let accepted = changes.incoming.take();
        let is_new = accepted.is_some();
        let before = if is_new { mem::replace(&mut reading.incoming, accepted) } else { None };
        let Some(incoming) = &mut reading.incoming else { return false }; // the port is for later
        let port = changes.port.take();
        drop(changes);
        drop(before);
        port.is_some_and(|port| incoming.set_port(port.as_deref())) || is_new
    }

    fn read(&self, reading: &mut Reading, received: &mut Vec<Received>) {
        let Reading { incoming: Some(incoming), buffer, pool, .. } = reading else { return };
        let what = if self.is_of_server { "a request" } else { "an answer" };
        loop {
            let message = match incoming.read(buffer) {
                Ok(Some(message)) => message,
                Ok(None) => break,
                Err(error) => {
                    received.push(Received::Lost(format!("{what} can't be read: {error}")));
                    continue;
                }
            };
            let bytes = message.hold.as_ref().map_or(&**buffer, |hold| hold.bytes());
            received.push(match parse(bytes) {
                None => Received::Lost(format!("{what} is too short: {} bytes", bytes.len())),
                Some((id, kind, body)) if kind == kind::VALUE || self.is_of_server => {
                    let failed = |error: DecodeError| CallFailure::Transport { problem: error.to_string() };
                    Received::Content(id, message.head, RawMessage::decode(pool, body).map_err(failed))
                }
                Some((_, kind::LOST, body)) => Received::Lost(String::from_utf8_lossy(body).into_owned()),
                Some((id, kind, body)) => Received::Content(id, message.head, Err(failure_of(kind, body))),
            });
        }
        incoming.set_cursor(incoming.next());
        if incoming.is_over() {
            incoming.done();
            received.push(Received::Over);
        }
    }
}
