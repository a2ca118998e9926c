//! Queues: every message to every reader.

use super::channel::{Channel, Plan, elapsed};
use super::declared::{ChannelKind, Declared};
use super::error::{OpenError, ReadError, WriteError};
use super::registry::Reading;
use super::retained::{Encoded, EncodedStorage};
use super::space::{Opened, Space};
use super::topic::inline_for;
use super::value::{Origin, Sample, Value};
use super::waiter::Waiter;
use crate::connection::incoming::{Incoming, Message};
use crate::error::CapacityError;
use crate::participant::OwnEndpoint;
use crate::peer::mapped_peer::Peer;
use crate::platform::sync::{Arc, Mutex};
use crate::platform::sys;
use crate::ring::Head;
use crate::tables::endpoint::EndpointKey;
use std::collections::VecDeque;
use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

/// Options for a process that writes a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueOptions {
    /// Number of messages of this process that each reader may have yet to read; at least 1.
    /// Default: 64. The first handle that a process opens decides for all of them.
    pub capacity: usize,
    /// Time for which a reader of another process may block this handle without reading, before it
    /// is cut off: no writer waits for it any more, and it gets [`ReadError::CutOff`]. Default:
    /// `None`, without a limit.
    pub patience: Option<Duration>,
}

impl Default for QueueOptions {
    fn default() -> Self {
        Self { capacity: 64, patience: None }
    }
}

/// A queue with many writers and many readers: every reader gets every message that was written
/// after it joined.
///
/// A handle joins as a reader when it first reads, or when its program calls [`join`](Self::join);
/// a handle that only writes never does. Messages of one writing process arrive in the order in
/// which they were written. A full queue blocks its writers and an empty one its readers; they
/// sleep, and are woken at once. Messages that are written while there is no reader are not kept:
/// see [`wait_for_reader`](Self::wait_for_reader). A handle that writes and reads gets its own
/// messages as well.
///
/// A reader that dies is removed and disturbs no other. A reader that is alive but doesn't read
/// fills the queue: then writing blocks until its timeout, or until the reader is cut off
/// ([`QueueOptions::patience`]). The other readers can still read meanwhile.
///
/// Writing and reading take short locks of this process and copy the message once each. Once warm
/// they allocate nothing, except for messages to readers of the same process, and make no system
/// call, except to sleep and to wake a sleeper.
///
/// ```
/// # let base = tempfile::tempdir_in("/dev/shm")?;
/// # let space = sinew_shm::raw::Space::join(&sinew_shm::Domain::open(Some(base.path()), 0)?)?;
/// use sinew_shm::raw::Queue;
/// let orders = Queue::<[u8]>::open_in(&space, "orders")?; // or `Queue::open("orders")`
/// let mut kitchen = Queue::<[u8]>::open_in(&space, "orders")?;
/// kitchen.join()?;
/// orders.write(b"soup")?;
/// orders.write(b"fish")?;
/// assert_eq!(*kitchen.read()?, b"soup");
/// assert_eq!(*kitchen.read()?, b"fish");
/// assert_eq!(kitchen.read_within(std::time::Duration::from_millis(1))?, None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Queue<V: Value + ?Sized> {
    channel: Arc<Opened>,
    patience: Option<Duration>,
    reading: Option<Arc<QueueReader>>,
    value: PhantomData<fn(&V)>,
}

impl<V: Value + ?Sized> fmt::Debug for Queue<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Queue({:?}: {})", self.channel.declared.name, self.channel.declared.type_name)
    }
}

impl<V: Value + ?Sized> Queue<V> {
    /// Opens a queue in the [shared space](Space::shared) of this process.
    ///
    /// # Errors
    /// [`OpenError`]: above all, the name is in use for something else.
    pub fn open(name: &str) -> Result<Self, OpenError> {
        Self::open_in(&Space::shared()?, name)
    }

    /// Opens a queue in a space.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_in(space: &Space, name: &str) -> Result<Self, OpenError> {
        Self::open_with(space, name, &QueueOptions::default())
    }

    /// Opens a queue in a space, with options.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_with(space: &Space, name: &str, options: &QueueOptions) -> Result<Self, OpenError> {
        let capacity = options.capacity.max(1);
        let plan = Plan { depth: capacity, inline: inline_for::<V>(), capacity: Some(capacity) };
        let channel = space.channel(Declared::new::<V>(ChannelKind::Queue, name)?, plan)?;
        Ok(Self { channel, patience: options.patience, reading: None, value: PhantomData })
    }

    /// Writes a message; blocks while a reader has no room. Several threads may call it at once.
    ///
    /// # Errors
    /// [`WriteError::Capacity`]
    pub fn write(&self, message: &V) -> Result<(), WriteError> {
        self.channel.write_when_room(message.bytes(), None, self.patience)
    }

    /// Writes a message; blocks for at most `timeout`, which may be zero. Several threads may call
    /// it at once.
    ///
    /// # Errors
    /// [`WriteError::Full`]: a reader had no room in time; no reader gets the message.
    /// [`WriteError::Capacity`]
    pub fn write_within(&self, message: &V, timeout: Duration) -> Result<(), WriteError> {
        self.channel.write_when_room(message.bytes(), Some(timeout), self.patience)
    }

    /// Blocks until the queue has a reader, in this process or another; without a timeout, until
    /// then however long it takes. Returns `false` if none joins in time. The readers that are
    /// there get all messages written afterwards.
    ///
    /// # Errors
    /// [`WriteError::Capacity`]
    pub fn wait_for_reader(&self, timeout: Option<Duration>) -> Result<bool, WriteError> {
        Ok(self.channel.wait_for_reader(timeout)?)
    }

    /// Joins as a reader, unless this handle is one already: it gets every message that is written
    /// after this returns. Blocks until all writers know it, for at most half a second if one of
    /// them doesn't answer.
    ///
    /// # Errors
    /// [`ReadError::Capacity`]
    pub fn join(&mut self) -> Result<(), ReadError> {
        self.reading().map(|_| ())
    }

    fn reading(&mut self) -> Result<Arc<QueueReader>, ReadError> {
        self.channel.space.participant.check()?;
        let reading = match self.reading.take() {
            Some(reading) => reading,
            None => QueueReader::join(self.channel.channel())?,
        };
        Ok(self.reading.insert(reading).clone())
    }

    /// Returns the next message; blocks until there is one, without a time limit.
    ///
    /// # Errors
    /// [`ReadError`]
    pub fn read(&mut self) -> Result<Sample<V::Owned>, ReadError> {
        let mut value = V::empty();
        loop {
            if let Some(origin) = self.read_into(&mut value, None)? {
                return Ok(Sample { value, origin });
            }
        }
    }

    /// Returns the next message, or `None` if none arrives within `timeout`, which may be zero.
    ///
    /// # Errors
    /// [`ReadError`]
    pub fn read_within(&mut self, timeout: Duration) -> Result<Option<Sample<V::Owned>>, ReadError> {
        let mut value = V::empty();
        let origin = self.read_into(&mut value, Some(timeout))?;
        Ok(origin.map(|origin| Sample { value, origin }))
    }

    /// Reads into an existing value, e.g. one that is too big for the stack, or a `Vec` to be
    /// reused. Without a timeout it blocks until there is a message. If none arrives in time,
    /// returns `None` and leaves the value unchanged.
    ///
    /// # Errors
    /// [`ReadError`]
    pub fn read_into(
        &mut self,
        value: &mut V::Owned,
        timeout: Option<Duration>,
    ) -> Result<Option<Origin>, ReadError> {
        let reading = self.reading()?;
        let found = reading.read::<V>(value, timeout);
        if let Err(ReadError::CutOff { .. }) = found {
            self.leave(); // the next read joins again
        }
        found
    }

    fn leave(&mut self) {
        if self.reading.take().is_some() {
            self.channel.room_made(); // this process's writers no longer wait for a reader here
        }
    }
}

impl<V: Value + ?Sized> Drop for Queue<V> {
    fn drop(&mut self) {
        self.leave();
    }
}

/// The reading end of one handle of a queue.
struct QueueReader {
    channel: Arc<Channel>,
    endpoint: OwnEndpoint,
    state: Mutex<QueueState>,
}

#[derive(Default)]
struct QueueState {
    /// Connections with the processes that write.
    links: Vec<Incoming>,
    /// Messages that this process wrote, and messages that couldn't be returned together with an
    /// error.
    local: VecDeque<Arrived>,
    /// Number of links that have had their turn.
    turn: usize,
    scratch: Vec<u8>,
    /// Set once a thread has waited.
    waiter: Option<Arc<Waiter>>,
}

struct Arrived {
    origin: Origin,
    encoded: QueuedValue,
    is_own: bool,
}

enum QueuedValue {
    There(EncodedStorage),
    Here(Box<[u8]>),
}

impl QueuedValue {
    fn bytes(&self) -> &[u8] {
        match self {
            QueuedValue::There(place) => place.bytes(),
            QueuedValue::Here(bytes) => bytes,
        }
    }
}

impl QueueReader {
    fn join(channel: &Arc<Channel>) -> Result<Arc<Self>, CapacityError> {
        channel.add_reader(|channel, endpoint| Self { channel, endpoint, state: Mutex::default() })
    }

    fn read<V: Value + ?Sized>(
        &self,
        to: &mut V::Owned,
        timeout: Option<Duration>,
    ) -> Result<Option<Origin>, ReadError> {
        if let Some(origin) = self.take::<V>(to)? {
            return Ok(Some(origin));
        }
        if timeout == Some(Duration::ZERO) {
            return Ok(None);
        }
        let begin = sys::steady();
        let waiter = self.listen()?;
        loop {
            if let Some(origin) = self.take::<V>(to)? {
                return Ok(Some(origin));
            }
            self.channel.space.participant.check()?;
            let remaining = timeout.map(|timeout| timeout.saturating_sub(elapsed(begin)));
            if remaining == Some(Duration::ZERO) {
                return Ok(None);
            }
            waiter.sleep_unless(|| self.is_ready(), remaining);
        }
    }

    /// From now on, a thread that writes wakes sleeping readers.
    fn listen(&self) -> Result<Arc<Waiter>, CapacityError> {
        if let Some(waiter) = &self.state.lock().waiter {
            return Ok(waiter.clone());
        }
        let waiter = self.channel.space.waiter()?;
        let mut state = self.state.lock();
        for link in &mut state.links {
            link.set_port(Some(waiter.port()));
        }
        Ok(state.waiter.insert(waiter).clone())
    }

    /// Whether there is a message, or the end of a connection.
    fn is_ready(&self) -> bool {
        let mut state = self.state.lock();
        !state.local.is_empty() || state.links.iter_mut().any(|link| link.is_ready() || link.is_over())
    }

    /// The next message, if there is one. The writing processes take turns.
    fn take<V: Value + ?Sized>(&self, to: &mut V::Owned) -> Result<Option<Origin>, ReadError> {
        let mut state = self.state.lock();
        let sources = state.links.len() + 1;
        for _ in 0..sources {
            let turn = state.turn % (state.links.len() + 1);
            state.turn = turn + 1;
            if turn == state.links.len() {
                let Some(arrived) = state.local.pop_front() else { continue };
                drop(state);
                if arrived.is_own {
                    self.channel.room_made();
                }
                self.copy::<V>(arrived.encoded.bytes(), to)?;
                return Ok(Some(arrived.origin));
            }
            if let Some(origin) = self.take_from::<V>(&mut state, turn, to)? {
                return Ok(Some(origin));
            }
        }
        Ok(None)
    }

    fn take_from<V: Value + ?Sized>(
        &self,
        state: &mut QueueState,
        turn: usize,
        to: &mut V::Owned,
    ) -> Result<Option<Origin>, ReadError> {
        let QueueState { links, local, scratch, .. } = state;
        let link = &mut links[turn];
        let writer = link.peer().clone();
        let before = link.next();
        let found = if link.is_over() { Ok(None) } else { link.read(scratch) };
        // A writer that ends a connection overwrites messages only afterwards, so a reader that
        // misses messages sees the end.
        let is_overwritten = matches!(found, Ok(Some(Message { missed: 1.., .. }))) && link.has_ended();
        if is_overwritten || link.is_over() && matches!(found, Ok(None)) {
            let link = links.swap_remove(turn);
            return if Self::is_cut_off(&link) { Err(self.cut_off(&writer)) } else { Ok(None) };
        }
        let result = match found {
            Ok(None) => Ok(None),
            Ok(Some(Message { head, missed, hold, .. })) => {
                let origin = Origin { stamp: head.stamp, writer: writer.id() };
                if missed > 0 {
                    let here = || QueuedValue::Here(scratch[..].into());
                    let encoded =
                        hold.map_or_else(here, |hold| QueuedValue::There(EncodedStorage::Hold(hold)));
                    local.push_front(Arrived { origin, encoded, is_own: false });
                    Err(self.missed(&writer, missed))
                } else {
                    let bytes = hold.as_ref().map_or(&scratch[..], |hold| hold.bytes());
                    self.copy::<V>(bytes, to).map(|()| Some(origin))
                }
            }
            Err(error) => Err(error.into()),
        };
        let link = &mut links[turn];
        if link.next() != before {
            link.set_cursor(link.next()); // B2
        }
        result
    }

    /// A writer that ends withdraws its entity before the connection; a writer that cuts a reader
    /// off still has its entity.
    fn is_cut_off(link: &Incoming) -> bool {
        let writer = link.peer();
        let has_left = writer.is_gone() || writer.has_left();
        link.has_ended() && !has_left && writer.counts(link.source()).is_some()
    }

    fn copy<V: Value + ?Sized>(&self, bytes: &[u8], to: &mut V::Owned) -> Result<(), ReadError> {
        if V::copy_from(bytes, to) {
            return Ok(());
        }
        let name = self.channel.declared.name.clone();
        Err(ReadError::Size { name, found: bytes.len(), expected: V::SIZE })
    }

    fn missed(&self, writer: &Peer, missed: u64) -> ReadError {
        let name = self.channel.declared.name.clone();
        ReadError::Missed { name, missed, pid: writer.pid(), program: writer.program() }
    }

    fn cut_off(&self, writer: &Peer) -> ReadError {
        let name = self.channel.declared.name.clone();
        ReadError::CutOff { name, pid: writer.pid(), program: writer.program() }
    }

    fn wake(&self, state: &QueueState) {
        if let Some(waiter) = &state.waiter {
            waiter.wake();
        }
    }
}

impl Reading for QueueReader {
    fn key(&self) -> EndpointKey {
        self.endpoint.key()
    }

    fn connected(&self, mut incoming: Incoming) {
        let mut state = self.state.lock();
        incoming.set_port(state.waiter.as_ref().map(|waiter| waiter.port()));
        state.links.push(incoming);
        self.wake(&state);
        drop(state);
        if let Ok(bell) = self.channel.space.participant.space_bell() {
            bell.ring(); // `Channel::join` looks again
        }
    }

    fn changed(&self) {
        let mut state = self.state.lock();
        // Connections that are read to the end are removed at once: this handle might never be read
        // again.
        state.links.retain_mut(|link| !link.is_over() || Self::is_cut_off(link));
        self.wake(&state);
    }

    fn is_connected(&self, peer: u64, source: EndpointKey) -> bool {
        let state = self.state.lock();
        state.links.iter().any(|link| link.peer().id() == peer && link.source() == source)
    }

    fn offer(&self, head: &Head, writer: u64, encoded: &Encoded<'_>) {
        let encoded = match encoded {
            Encoded::Inline(bytes) => QueuedValue::Here((*bytes).into()),
            Encoded::Lent(lent) => QueuedValue::There(EncodedStorage::Lent(lent.clone())),
        };
        let origin = Origin { stamp: head.stamp, writer };
        let mut state = self.state.lock();
        state.local.push_back(Arrived { origin, encoded, is_own: true });
        self.wake(&state);
    }

    fn has_room(&self, capacity: usize) -> bool {
        self.state.lock().local.len() < capacity
    }

    fn ended(&self, _: u64) {}
}

impl Drop for QueueReader {
    fn drop(&mut self) {
        self.channel.space.registry.remove_reading(self.endpoint.key());
    }
}
