//! A name that is open in this process, and its sending end.

use super::declared::{Declared, Role};
use super::error::WriteError;
use super::member::Member;
use super::registry::{Reading, Writing};
use super::retained::Encoded;
use crate::connection::outgoing::Connect;
use crate::error::CapacityError;
use crate::participant::OwnEndpoint;
use crate::peer::mapped_peer::Peer;
use crate::platform::logging::log_line_later;
use crate::platform::sync::{Arc, Mutex, Ordering, fence};
use crate::platform::sys;
use crate::ring::Head;
use crate::tables::bell::Bell;
use crate::tables::endpoint::EndpointKey;
use crate::writer::connection::Laggard;
use crate::writer::message_writer::Writer;
use crate::writer::waiting::Waiting;
use std::ops::DerefMut;
use std::sync::Weak;
use std::time::Duration;

/// Time for which a joining reader waits for the writers at most, as a writer may be stopped.
const PATIENCE: Duration = Duration::from_millis(500);

/// Time between two checks of a joining reader that no process notifies.
const AGAIN: Duration = Duration::from_millis(2);

/// The parameters of a name's sending end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan {
    /// Number of messages that the ring has room for.
    pub(super) depth: usize,
    /// Encoded bytes that fit into the ring itself.
    pub(super) inline: usize,
    /// If set, every reader must get every message, and this is the number of messages that it may
    /// have yet to read.
    pub(super) capacity: Option<usize>,
}

/// A name that is open in this process.
pub(super) struct Channel {
    pub(super) space: Arc<Member>,
    pub(super) declared: Declared,
    pub(super) plan: Plan,
    /// The claim to the name, until the channel is closed.
    name: Mutex<Option<OwnEndpoint>>,
    /// Whether a variable has its master here.
    has_master: Mutex<bool>,
    /// Held while the sending end is created, so that it is created once.
    starting: Mutex<()>,
    sending: Mutex<Sending>,
}

/// The sending end.
#[derive(Default)]
pub(super) struct Sending {
    writer: Option<Writer>,
    /// Readers of other processes that are not connected yet, because there was no room.
    refused: Vec<(Arc<Peer>, EndpointKey)>,
    /// Whether all readers that existed before are connected.
    is_ready: bool,
    /// The stamp of the last message; each message has a later one.
    stamp: i64,
    /// Reading ends of this process.
    local: Vec<Weak<dyn Reading>>,
    /// Number of threads that wait for room or for a reader.
    waiters: usize,
    /// The reader that a writer last found without room, and the time since when it has none.
    stuck: Option<Stuck>,
}

/// The right to be this process's only master of a variable.
pub(super) struct Seat(Arc<Channel>);

impl Drop for Seat {
    fn drop(&mut self) {
        *self.0.has_master.lock() = false;
    }
}

/// A reader that has no room.
struct Stuck {
    peer: u64,
    target: EndpointKey,
    cursor: u64,
    /// The time since when it has none, in steady nanoseconds.
    since: i64,
}

impl Channel {
    pub(super) fn new(space: Arc<Member>, declared: Declared, plan: Plan, name: OwnEndpoint) -> Self {
        let (starting, sending, has_master) = (Mutex::default(), Mutex::default(), Mutex::default());
        Self { space, declared, plan, name: Mutex::new(Some(name)), has_master, starting, sending }
    }

    /// The right to be a variable's master in this process; `None` if another handle has it.
    pub(super) fn take_seat(self: &Arc<Self>) -> Option<Seat> {
        let was_taken = std::mem::replace(&mut *self.has_master.lock(), true);
        (!was_taken).then(|| Seat(self.clone()))
    }

    fn retains(&self) -> bool {
        self.plan.capacity.is_none()
    }

    // ---- readers ----

    fn connect_to(
        &self,
        (writer, refused): (&mut Writer, &mut Vec<(Arc<Peer>, EndpointKey)>),
        peer: &Arc<Peer>,
        key: EndpointKey,
    ) {
        if let Err(error) = self.try_to_connect(writer, peer, key) {
            refused.push((peer.clone(), key));
            // The look that writes the line also tries again.
            log_line_later!(
                self.space.participant; log::Level::Error,
                "a reader of `{}` gets nothing, until there is room: {error}",
                self.declared.name
            );
        }
    }

    fn try_to_connect(
        &self,
        writer: &mut Writer,
        peer: &Arc<Peer>,
        key: EndpointKey,
    ) -> Result<(), CapacityError> {
        if writer.has_endpoint(peer.id(), key) {
            return Ok(());
        }
        let live = writer.next();
        // The last message, if there is one, is for late joiners.
        let first = if self.retains() { live.saturating_sub(1).max(1) } else { live };
        let Plan { depth, capacity, .. } = self.plan;
        writer.connect(peer, &Connect { target: Some(key), first, live, depth, capacity })
    }

    /// Makes a reading end of this process, announces it to other processes, and joins.
    pub(super) fn add_reader<R: Reading + 'static>(
        self: &Arc<Self>,
        make: impl FnOnce(Arc<Self>, OwnEndpoint) -> R,
    ) -> Result<Arc<R>, CapacityError> {
        let reading = self.space.registry.add_reading(|| {
            let endpoint = self.declared.endpoint(Role::Reader, self.space.number());
            let endpoint = self.space.participant.advertise(&endpoint, None)?;
            Ok(Arc::new(make(self.clone(), endpoint)))
        })?;
        self.join(&reading);
        Ok(reading)
    }

    /// Adds a reading end of this process, and waits until all writing processes know it.
    fn join(&self, reading: &Arc<impl Reading + 'static>) {
        let weak: Weak<dyn Reading> = Arc::downgrade(&(reading.clone() as Arc<dyn Reading>));
        let mut sending = self.sending.lock();
        sending.local.retain(|local| local.strong_count() > 0);
        sending.local.push(weak);
        if self.retains() {
            sending.offer_last(self.space.participant.id(), &**reading);
        }
        self.notify_waiters(&sending);
        drop(sending);
        // SeqCst, pairs with the one in `start`. Forbids that neither a writer that starts nor a
        // reader that joins sees the other.
        fence(Ordering::SeqCst);
        let begin = sys::steady();
        let Ok(bell) = self.space.participant.space_bell() else { return };
        loop {
            let seen = bell.rung();
            self.space.participant.refresh();
            let writers = self.space.registry.others(&self.declared.name, Role::Writer);
            let missing = writers.iter().find(|other| {
                other.declared == self.declared && !reading.is_connected(other.peer.id(), other.key)
            });
            let Some(missing) = missing else { return };
            if elapsed(begin) > PATIENCE {
                crate::log_line!(
                    log::Level::Warn,
                    "process {} ({}) doesn't answer: a reader of `{}` may miss its next messages",
                    missing.peer.pid(),
                    missing.peer.program(),
                    self.declared.name
                );
                return;
            }
            bell.sleep(seen, Some(AGAIN));
        }
    }

    // ---- writing ----

    /// The sending end; creates it if necessary.
    fn sending(&self) -> Result<impl DerefMut<Target = Sending> + '_, CapacityError> {
        self.space.participant.check()?;
        let sending = self.sending.lock();
        if sending.is_ready {
            return Ok(sending);
        }
        drop(sending);
        self.start()?;
        Ok(self.sending.lock())
    }

    /// Returns when all existing readers are connected.
    #[cold]
    fn start(&self) -> Result<(), CapacityError> {
        let _starting = self.starting.lock();
        if self.sending.lock().is_ready {
            return Ok(());
        }
        let participant = &self.space.participant;
        let endpoint = self.declared.endpoint(Role::Writer, self.space.number());
        let endpoint = Arc::new(participant.advertise(&endpoint, None)?);
        let mut writer = Writer::new(endpoint, self.plan.depth, self.plan.inline, 1)?;
        let mut sending = self.sending.lock();
        // A reader that appears from here on waits for the lock, and is connected then.
        for other in self.space.registry.others(&self.declared.name, Role::Reader) {
            if other.declared == self.declared {
                self.connect_to((&mut writer, &mut sending.refused), &other.peer, other.key);
            }
        }
        sending.writer = Some(writer);
        drop(sending);
        // SeqCst, pairs with the one in `join`.
        fence(Ordering::SeqCst);
        participant.refresh();
        self.sending.lock().is_ready = true;
        Ok(())
    }

    /// Closes the channel when its last handle is dropped: its name becomes free, and its written
    /// values are lost.
    pub(super) fn close(&self) {
        self.stop();
        drop(self.name.lock().take());
    }

    /// Ends the sending end, and drops the messages written with it.
    pub(super) fn stop(&self) {
        let stopped = std::mem::take(&mut *self.sending.lock());
        for local in stopped.local.iter().filter_map(Weak::upgrade) {
            local.ended(self.space.participant.id());
        }
        self.sending.lock().local = stopped.local;
    }

    /// Writes a message that replaces the one before.
    pub(super) fn write(&self, bytes: &[u8]) -> Result<(), CapacityError> {
        let encoded = self.encoded(bytes)?;
        self.sending()?.publish(self, encoded)
    }

    /// Writes a message as soon as all readers have room. A reader of another process that reads
    /// nothing for `patience` is not waited for any longer.
    pub(super) fn write_when_room(
        &self,
        bytes: &[u8],
        timeout: Option<Duration>,
        patience: Option<Duration>,
    ) -> Result<(), WriteError> {
        let encoded = self.encoded(bytes)?;
        let bell = self.space.participant.space_bell()?;
        let begin = sys::steady();
        loop {
            let remaining = timeout.map(|timeout| timeout.saturating_sub(elapsed(begin)));
            let mut sending = self.sending()?;
            sending.connect_refused(self)?; // each reader gets each message, or none does
            let Some(waiting) = sending.wait_for_room(self.plan, &bell, remaining) else {
                sending.publish(self, encoded)?;
                self.notify_waiters(&sending); // there may be room for their messages too
                return Ok(());
            };
            if patience.is_some_and(|patience| sending.cut_off(self, patience)) {
                continue;
            }
            if remaining == Some(Duration::ZERO) {
                return Err(self.full(&sending, elapsed(begin)));
            }
            sending.waiters += 1;
            drop(sending);
            waiting.sleep(remaining.into_iter().chain(patience).min());
            self.sending.lock().waiters -= 1;
        }
    }

    /// Waits for the first reader. Returns `false` if there is none in time.
    pub(super) fn wait_for_reader(&self, timeout: Option<Duration>) -> Result<bool, CapacityError> {
        let bell = self.space.participant.space_bell()?;
        let begin = sys::steady();
        loop {
            let seen = bell.rung();
            let mut sending = self.sending()?;
            let local = sending.local.iter().any(|local| local.strong_count() > 0);
            if local || sending.writer.as_ref().is_some_and(Writer::is_connected) {
                return Ok(true);
            }
            let remaining = timeout.map(|timeout| timeout.saturating_sub(elapsed(begin)));
            if remaining == Some(Duration::ZERO) {
                return Ok(false);
            }
            sending.waiters += 1;
            drop(sending);
            bell.sleep(seen, remaining);
            self.sending.lock().waiters -= 1;
        }
    }

    /// Notifies threads that wait to write.
    pub(super) fn room_made(&self) {
        self.notify_waiters(&self.sending.lock());
    }

    fn notify_waiters(&self, sending: &Sending) {
        if sending.waiters > 0
            && let Ok(bell) = self.space.participant.space_bell()
        {
            bell.ring();
        }
    }

    /// The encoded form of a message: in shared memory, unless it is small.
    fn encoded<'a>(&self, bytes: &'a [u8]) -> Result<Encoded<'a>, CapacityError> {
        if bytes.len() <= self.plan.inline {
            return Ok(Encoded::Inline(bytes));
        }
        // Copied without the lock, because it may take a while.
        let lender = self.sending()?.writer.as_ref().map(Writer::lender);
        let mut loan = lender.ok_or(GONE)?.loan(bytes.len())?;
        loan.bytes_mut().copy_from_slice(bytes);
        Ok(Encoded::Lent(loan.share()))
    }

    fn full(&self, sending: &Sending, waited: Duration) -> WriteError {
        let laggard = sending.writer.as_ref().and_then(Writer::laggard);
        let (pid, program) = match laggard {
            Some(Laggard { peer, .. }) => (peer.pid(), peer.program()),
            None => (u64::from(std::process::id()), "this one".to_owned()),
        };
        let capacity = self.plan.capacity.unwrap_or(0);
        WriteError::Full { name: self.declared.name.clone(), capacity, pid, program, waited }
    }
}

impl Writing for Channel {
    fn declared(&self) -> &Declared {
        &self.declared
    }

    fn connect(&self, peer: &Arc<Peer>, key: EndpointKey) {
        let mut sending = self.sending.lock();
        // A writer that has not begun finds the reader when it begins.
        let Sending { writer: Some(writer), refused, .. } = &mut *sending else { return };
        self.connect_to((writer, refused), peer, key);
        self.notify_waiters(&sending);
    }

    fn connect_again(&self) -> bool {
        let mut sending = self.sending.lock();
        if sending.refused.is_empty() {
            return false;
        }
        let lacks_room = sending.connect_refused(self).is_err();
        self.notify_waiters(&sending);
        lacks_room
    }

    fn disconnect(&self, peer: u64, key: EndpointKey) {
        let mut sending = self.sending.lock();
        sending.refused.retain(|(other, known)| other.id() != peer || *known != key);
        if let Some(writer) = &mut sending.writer {
            writer.disconnect_endpoint(peer, key);
        }
        self.notify_waiters(&sending);
    }
}

impl Sending {
    /// Delivers a message to this process's readers and the ring, and keeps it for readers that
    /// come later.
    fn publish(&mut self, channel: &Channel, encoded: Encoded<'_>) -> Result<(), CapacityError> {
        let writer = self.writer.as_mut().ok_or(GONE)?;
        let id = channel.space.participant.id();
        self.stamp = sys::steady().max(self.stamp + 1);
        let head = Head { stamp: self.stamp, order: id, ..Head::default() };
        for local in self.local.iter().filter_map(Weak::upgrade) {
            local.offer(&head, id, &encoded);
        }
        let number = writer.next();
        match encoded {
            Encoded::Inline(bytes) => writer.publish_inline(number, &head, bytes),
            Encoded::Lent(lent) => writer.publish_lent(number, &head, lent),
        }
        Ok(())
    }

    /// Gives a reader that comes later the last message of this participant.
    fn offer_last(&self, id: u64, reading: &dyn Reading) {
        let Some(last) = self.writer.as_ref().and_then(Writer::last) else { return };
        let head = Head { stamp: self.stamp, order: id, ..Head::default() };
        let encoded = match &last {
            Ok(lent) => Encoded::Lent(lent.clone()),
            Err(bytes) => Encoded::Inline(bytes),
        };
        reading.offer(&head, id, &encoded);
    }

    /// Connects readers for which there was no room before.
    fn connect_refused(&mut self, channel: &Channel) -> Result<(), CapacityError> {
        let Some(writer) = &mut self.writer else { return Ok(()) };
        while let Some((peer, key)) = self.refused.last() {
            channel.try_to_connect(writer, peer, *key)?;
            self.refused.pop();
        }
        Ok(())
    }

    /// Returns `None` if every reader has room; otherwise a handle to wait for it, unless no time
    /// is left and there is room.
    fn wait_for_room(&mut self, plan: Plan, bell: &Bell, left: Option<Duration>) -> Option<Waiting> {
        let (writer, capacity) = self.writer.as_mut().zip(plan.capacity)?;
        let mut local = self.local.iter().filter_map(Weak::upgrade);
        if !local.all(|local| local.has_room(capacity)) {
            // A reader of this process that makes room rings after it has taken this lock.
            return Some(Waiting::on(bell.clone()));
        }
        let waiting = writer.wait_for_room()?; // B1
        let is_enough = left == Some(Duration::ZERO) && writer.has_room();
        (!is_enough).then_some(waiting)
    }

    /// Disconnects the reader that has no room, if it has read nothing for `patience` since a
    /// writer began to wait for it.
    fn cut_off(&mut self, channel: &Channel, patience: Duration) -> bool {
        let Some(writer) = &mut self.writer else { return false };
        let Some(Laggard { peer, target: Some(target), cursor }) = writer.laggard() else { return false };
        let stuck = self.stuck.get_or_insert(Stuck { peer: 0, target, cursor, since: 0 });
        if (stuck.peer, stuck.target, stuck.cursor) != (peer.id(), target, cursor) {
            *stuck = Stuck { peer: peer.id(), target, cursor, since: sys::steady() };
            return false;
        }
        if elapsed(stuck.since) < patience {
            return false;
        }
        let (name, pid) = (&channel.declared.name, peer.pid());
        log_line_later!(
            channel.space.participant; log::Level::Warn,
            "process {pid} ({}) is cut off from `{name}`: it read nothing for {patience:?}",
            peer.program()
        );
        writer.disconnect_endpoint(peer.id(), target);
        self.stuck = None;
        true
    }
}

/// The sending end has ended meanwhile.
const GONE: CapacityError = CapacityError::Left { forked: false };

/// Time since a moment of the steady clock.
pub(super) fn elapsed(since: i64) -> Duration {
    Duration::from_nanos(sys::steady().saturating_sub(since).try_into().unwrap_or(0))
}
