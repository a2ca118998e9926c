//! A line: messages for one reader elsewhere that must get all of them. Requests and answers travel
//! by such lines.
//!
//! A line is a ring of its own, and both sides are bound: the writer never overtakes the reader. A
//! message begins with a header of 16 bytes:
//!
//! | bytes | field |
//! |---|---|
//! | 0.. | the call's sequence number, u64 |
//! | 8.. | its place in its client's list, u32 |
//! | 12 | its kind, see [`kind`] |
//!
//! The encoded request or response, or the text of a failure, follows.

use crate::message::block::{OwnPool, Pool, RawMessage};
use crate::message::type_support::TypeSupport;
use crate::service::failure::CallFailure;
use crate::service::pending_calls::CallId;
use crate::sys::coalescing_lock::CoalescingLock;
use crate::sys::last_out::{Inside, LastOut};
use crate::sys::panics::caught;
use crate::sys::sync::{Arc, Mutex};
use sinew_msg::DecodeError;
use sinew_shm::transport::{Connect, EventReceiver, Head, Incoming, OwnEndpoint, Writer};
use sinew_shm::{CapacityError, EndpointKey, Peer};
use std::collections::VecDeque;
use std::mem;

/// Length of the header in bytes.
const HEADER: usize = 16;

/// Bytes of a message that fit into a ring's slot.
const INLINE: usize = 200;

/// Places of a new ring, which doubles when they are not enough.
const FIRST_DEPTH: usize = 8;

/// Number of blocks for messages from outside.
const POOL_CAPACITY: usize = 64;

/// Maximum length of a failure's text in bytes.
const LONGEST_TEXT: usize = 4096;

/// The kinds of messages; 0 is a request or a response.
mod kind {
    pub(super) const VALUE: u8 = 0;
    pub(super) const FAILED: u8 = 1;
    pub(super) const PANICKED: u8 = 2;
    pub(super) const DROPPED: u8 = 3;
    pub(super) const FULL: u8 = 4;
    pub(super) const GONE: u8 = 5;
    pub(super) const OTHER: u8 = 6;
    /// A request can't be read, so its call is unknown.
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

/// Splits a received message into header and body; `None` if it is too short.
fn parse(bytes: &[u8]) -> Option<(CallId, u8, &[u8])> {
    let (header, body) = bytes.split_first_chunk::<HEADER>()?;
    let (sequence, rest) = header.split_first_chunk::<8>()?;
    let (place, rest) = rest.split_first_chunk::<4>()?;
    Some((CallId::new(u32::from_le_bytes(*place), u64::from_le_bytes(*sequence)), rest[0], body))
}

/// A value of a call, or the reason why there is none.
pub(super) type Content<'a> = Result<&'a RawMessage, &'a CallFailure>;

/// The part after the header.
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
            Body::Value(value) => value.encoded_length().unwrap_or(0),
            Body::Text(text) => text.len().min(LONGEST_TEXT),
        }
    }

    fn write(&self, to: &mut [u8]) {
        match self {
            Body::Value(value) => value.write_encoded(to),
            Body::Text(text) => to.copy_from_slice(&text.as_bytes()[..to.len()]),
        }
    }
}

/// Returns the text of an answer or request. It may lie in the memory of its writer, which may
/// still be changing it: the text is copied before it is checked.
fn text_of(body: &[u8]) -> String {
    let copy = body.to_vec();
    String::from_utf8_lossy(&copy).into_owned()
}

/// Returns the failure of that kind.
fn failure_of(kind: u8, text: &[u8]) -> CallFailure {
    let text = text_of(text);
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

/// The reason why a part of a call wasn't sent.
#[derive(Debug, thiserror::Error)]
pub(super) enum SendError {
    /// There is no memory for it.
    #[error(transparent)]
    Capacity(#[from] CapacityError),
    /// Encoding it panicked: for example, a string is too long for CDR, or an adapter of the
    /// program failed.
    #[error("it can't be encoded: {0}")]
    Encoding(String),
}

/// The writing side of a line.
pub(super) struct DirectedWriter {
    writer: Writer,
    peer: u64,
    next: u64,
    depth: usize,
    scratch: Vec<u8>,
    /// Short failures that wait for room in the ring.
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

    /// Makes room for one more message, growing the ring if needed. Returns `false` if `most` are
    /// already under way.
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

    /// Sends a part of a call. Returns `false` if `most` are already under way.
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

    /// Sends an answer. If there is no memory for it, or it can't be encoded, sends a short failure
    /// in its place and returns the error.
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

    /// Reports that a request can't be read, so that its call is unknown.
    pub(super) fn send_lost(&mut self, head: &Head, problem: &str) {
        self.send_short(header(CallId::new(0, 0), kind::LOST), head, problem);
    }

    /// Sends a failure that needs no memory except a slot of the ring; later, if there is no slot.
    /// Its text may be truncated.
    fn send_short(&mut self, header: [u8; HEADER], head: &Head, text: &str) {
        let mut encoded = header.to_vec();
        let end = text.floor_char_boundary(self.writer.inline() - HEADER);
        encoded.extend_from_slice(&text.as_bytes()[..end]);
        self.overdue.push_back((*head, encoded));
        self.send_overdue();
    }

    /// Sends the failures that found no room before. Returns `false` if some still find none.
    pub(super) fn send_overdue(&mut self) -> bool {
        while !self.overdue.is_empty() && matches!(self.make_room(usize::MAX), Ok(true)) {
            let Some((head, encoded)) = self.overdue.pop_front() else { break };
            self.writer.publish_inline(self.next, &head, &encoded);
            self.next += 1;
        }
        self.overdue.is_empty()
    }
}

/// Describes why an answer wasn't sent, shorter than the error does.
fn no_room(length: usize, error: &CapacityError) -> String {
    match error {
        CapacityError::FileSystem { free, size, .. } => format!(
            "its answer of {length} bytes doesn't fit into the shared memory, with {free} of its {size} bytes free: see `sinew doctor`"
        ),
        other => format!("its answer can't be sent: {other}"),
    }
}

/// A message received by a line, or its end.
pub(super) enum Received {
    /// A value of a call, or the reason why there is none.
    Content(CallId, Head, Result<RawMessage, CallFailure>),
    /// A message was invalid, and its call is unknown.
    Lost(String),
    /// The line has ended: no more messages arrive.
    Over,
    /// Every message that was there at [`DirectedReader::end`] has been passed on, by whichever
    /// thread read it.
    Ended,
}

/// The reading side of a line. One thread reads at a time; others make it look once more
/// ([`CoalescingLock`]).
///
/// Threads pass on what they read under no lock, so several may do so at once. The end is reported
/// after all of them: `reading` is the lock of the protocol of [`LastOut`].
pub(super) struct DirectedReader {
    /// Whether it receives requests, for a server; otherwise it receives answers.
    is_of_server: bool,
    reading: CoalescingLock<Reading>,
    /// Changes that take effect at the next look.
    changes: Mutex<Changes>,
    /// Threads that pass on messages.
    passing_on: LastOut,
}

struct Reading {
    incoming: Option<Incoming>,
    buffer: Vec<u8>,
    pool: OwnPool,
    /// Scratch of `look`.
    received: Vec<Received>,
}

#[derive(Default)]
struct Changes {
    /// The connection that messages arrive by.
    incoming: Option<Incoming>,
    /// The port to notify of messages, or `None` for no port.
    port: Option<Option<Arc<EventReceiver>>>,
    /// Whether the end is to be reported.
    end: bool,
}

impl DirectedReader {
    /// Creates a reader. `table`: the type of the received values. `incoming`: their connection, if
    /// it is known yet.
    pub(super) fn new(is_of_server: bool, table: &'static TypeSupport, incoming: Option<Incoming>) -> Self {
        let pool = Pool::of_table(table, POOL_CAPACITY);
        let reading = Reading { incoming, buffer: Vec::new(), pool, received: Vec::new() };
        let reading = CoalescingLock::new(reading);
        Self { is_of_server, reading, changes: Mutex::default(), passing_on: LastOut::new() }
    }

    /// Whether no more messages will arrive. Returns `false` while a thread looks.
    pub(super) fn is_over(&self) -> bool {
        let mut reading = self.reading.try_enter();
        reading.as_mut().and_then(|reading| reading.incoming.as_mut()).is_some_and(Incoming::is_over)
    }

    /// Sets the connection that messages arrive by from the next look on.
    pub(super) fn accept(&self, incoming: Incoming) {
        let before = self.changes.lock().incoming.replace(incoming);
        drop(before);
    }

    /// Sets the port that is notified of messages from the next look on.
    pub(super) fn set_port(&self, port: Option<Arc<EventReceiver>>) {
        self.changes.lock().port = Some(port);
    }

    /// Makes the next look report [`Received::Ended`], once the messages that are there have been
    /// passed on. The caller then looks.
    pub(super) fn end(&self) {
        self.changes.lock().end = true;
    }

    /// Returns `true` if there is nothing to read, and no thread reads. Cheaper than a look.
    #[inline]
    pub(super) fn has_nothing(&self) -> bool {
        let Some(mut reading) = self.reading.try_enter() else { return false };
        let nothing = reading.incoming.as_mut().is_none_or(Incoming::has_nothing);
        drop(reading);
        nothing && !self.reading.is_wanted()
    }

    /// Reads the available messages, and passes them to `take` under no lock.
    #[inline]
    pub(super) fn look(&self, mut take: impl FnMut(Received)) {
        self.reading.look(|mut reading| {
            let mut received = mem::take(&mut reading.received);
            let inside = self.passing_on.enter();
            self.read(&mut reading, &mut received);
            if self.change(&mut reading, &inside) {
                self.read(&mut reading, &mut received);
            }
            drop(reading);
            received.drain(..).for_each(&mut take);
            if inside.leave() {
                take(Received::Ended);
            }
            if received.capacity() > 0
                && let Some(mut reading) = self.reading.try_enter()
            {
                reading.received = received; // its memory is reused
            }
        });
    }

    /// Applies the pending changes. Returns whether there may be something to read.
    fn change(&self, reading: &mut Reading, inside: &Inside<'_>) -> bool {
        let mut changes = self.changes.lock();
        let is_ending = mem::take(&mut changes.end);
        if is_ending {
            inside.mark();
        }
        let accepted = changes.incoming.take();
        let is_new = accepted.is_some();
        let before = if is_new { mem::replace(&mut reading.incoming, accepted) } else { None };
        let Some(incoming) = &mut reading.incoming else { return false }; // the port is for later
        let port = changes.port.take();
        drop(changes);
        drop(before);
        port.is_some_and(|port| incoming.set_port(port.as_deref())) || is_new || is_ending
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
                Some((_, kind::LOST, body)) => Received::Lost(text_of(body)),
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
