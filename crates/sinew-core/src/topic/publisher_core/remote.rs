//! How a publisher's messages leave the process: connecting subscriptions elsewhere, and memory for
//! messages that go there.

use super::sinks::{Beyond, Sinks, Slot};
use super::{PublisherCore, PublisherState};
use crate::message::backing::{Backing, LendsMemory};
use crate::message::block::{Pool, RawMessage};
use crate::ros::origin::Origin;
use crate::ros::qos::Reliability;
use crate::sys::clock::Time;
use crate::sys::logging::{About, Level, log_line};
use crate::sys::sync::{Arc, no_lock_is_held};
use crate::topic::recipients::Unpublished;
use crate::topic::remote_sink::{JoiningSubscription, PublisherEndpoint, RemoteSubscription};
use sinew_shm::CapacityError;
use sinew_shm::transport::Loan;
use std::collections::VecDeque;
use std::ptr::NonNull;
use std::time::Duration;

impl PublisherCore {
    /// Locks the sinks.
    #[inline]
    pub(super) fn sinks(&self) -> Sinks<'_> {
        Sinks::new(Some(self.remote.sinks.lock()))
    }

    /// Whether at least `count` subscriptions of that participant are connected. Subscriptions of
    /// the publisher's own participant are connected as soon as they exist.
    pub(crate) fn has_subscriptions_of(&self, participant: u64, count: usize) -> bool {
        let connected = || self.remote.sinks.lock().iter().map(|slot| slot.sink.count_of(participant)).sum();
        participant == self.session.participant || count <= connected()
    }

    /// Waits until the reliable subscriptions of other processes have read what was published
    /// before this call, at most for `timeout`. Returns whether they have.
    pub(crate) fn wait_until_read(&self, timeout: Duration) -> bool {
        no_lock_is_held(); // it may take long
        if self.qos.reliability != Reliability::Reliable {
            return true;
        }
        let deadline = Time::steady() + timeout;
        let slots = || self.remote.sinks.lock();
        let published: Vec<_> = slots().iter().map(|slot| (slot.endpoint, slot.sink.next())).collect();
        let mut pause = SHORTEST_PAUSE;
        loop {
            let waiting = slots().iter_mut().find_map(|slot| {
                let (_, number) = published.iter().find(|(endpoint, _)| *endpoint == slot.endpoint)?;
                slot.sink.wait_until_read(*number)
            });
            let Some(waiting) = waiting else { return true };
            let left = deadline - Time::steady();
            if left.is_zero() || self.session.has_ended() {
                return false;
            }
            waiting.sleep(Some(left.min(pause)));
            pause = LONGEST_PAUSE.min(2 * pause);
        }
    }

    /// Locks the sinks once every reader that must get every message has room, with memory for the
    /// encoded forms. Lack of memory is an error only if no subscription, here or elsewhere, would
    /// get the message, or one elsewhere must get every message. Returns `None` if no subscription
    /// elsewhere is connected any more.
    pub(super) fn prepare_sinks(
        &self,
        taken_here: bool,
        message: &mut RawMessage,
        deadline: Time,
    ) -> Result<Option<Sinks<'_>>, Unpublished> {
        loop {
            let mut sinks = self.sinks();
            if sinks.connected().next().is_none() {
                return Ok(None);
            }
            if self.session.has_ended() {
                return Err(Unpublished::Shutdown);
            }
            let waiting = sinks.connected().find_map(|slot| slot.sink.wait_for_room());
            if let Some(waiting) = waiting {
                let left = deadline - Time::steady();
                if !left.is_zero() {
                    drop(sinks);
                    // Checked again, because this thread read the bell only now: a shutdown in
                    // between has already rung it, and rings it no more.
                    if self.session.has_ended() {
                        return Err(Unpublished::Shutdown);
                    }
                    waiting.sleep(Some(left));
                    continue;
                }
                if !sinks.has_room() {
                    return Err(Unpublished::Full);
                }
            }
            if sinks.prepare(message) {
                return Ok(Some(sinks));
            }
            let is_taken = taken_here || sinks.connected().any(|slot| slot.prepared.is_some());
            let vital = sinks.connected().find_map(|slot| {
                let error = slot.failed.as_ref()?;
                let is_vital =
                    !is_taken || slot.sink.is_bound() || matches!(error, CapacityError::Left { .. });
                is_vital.then(|| error.clone())
            });
            let Some(error) = vital else { return Ok(Some(sinks)) };
            drop(sinks); // the program's logger may publish
            return Err(self.no_space(&error));
        }
    }

    /// Names the memory that a message touches on its way out, like
    /// [`RemoteSink::footprint`](crate::topic::remote_sink::RemoteSink::footprint).
    pub(crate) fn name_remote(&self, level: usize, name: &mut dyn FnMut(usize, usize)) -> bool {
        if level == 0 {
            name((&raw const self.remote.sinks).addr(), size_of_val(&self.remote.sinks));
            return true;
        }
        let Some(sinks) = self.remote.sinks.try_lock() else { return false };
        match level {
            1 => name(sinks.as_ptr().addr(), size_of_val(&sinks[..])),
            2 => sinks.iter().for_each(|slot| name((&raw const *slot.sink).addr(), size_of_val(&*slot.sink))),
            _ => return sinks.iter().fold(false, |more, slot| slot.sink.footprint(level - 3, name) | more),
        }
        true
    }

    /// Sets the endpoints by which other processes know this publisher; called once.
    pub(crate) fn is_known_as(&self, endpoints: Vec<Box<dyn PublisherEndpoint>>) {
        if let Some(counters) = endpoints.iter().find_map(|endpoint| endpoint.counters()) {
            self.match_listeners.is_counted(counters.clone());
            if let Some(lease) = &self.promised.lease {
                lease.is_counted(counters.clone());
            }
            self.state.lock().counters = Some(counters);
        }
        let _ = self.remote.endpoints.set(endpoints);
    }

    pub(super) fn endpoints(&self) -> &[Box<dyn PublisherEndpoint>] {
        self.remote.endpoints.get().map_or(&[], Vec::as_slice)
    }

    /// Connects a matching subscription elsewhere. Returns `false` if there is no room;
    /// [`connect_again`](Self::connect_again) then tries again.
    pub(crate) fn connect(&self, subscription: &Arc<RemoteSubscription>) -> bool {
        let mut other = JoiningSubscription { subscription: subscription.clone(), has_retained: false };
        let Err(error) = self.try_to_connect(&mut other) else { return true };
        log_line!(
            Level::Error; About { node: &self.node, subject: &self.topic },
            "publisher on {} can't reach a subscription in another process, until there is room: {error}",
            self.topic
        );
        self.remote.refused.lock().push(other);
        self.session.has_refused();
        // After that, since a look that has begun may not see it.
        self.endpoints().iter().for_each(|endpoint| endpoint.try_again_later());
        false
    }

    /// Releases the messages that readers elsewhere have finished; a publishing thread does so
    /// itself. Returns `true` if it must be called again.
    pub(crate) fn tidy(&self) -> bool {
        let Some(mut sinks) = self.remote.sinks.try_lock() else { return true };
        sinks.iter_mut().filter_map(|slot| slot.sink.tidy().then_some(())).count() > 0
    }

    /// Connects the subscriptions that found no room before. Returns the origins of those that are
    /// connected now.
    pub(crate) fn connect_again(&self) -> Vec<Origin> {
        let mut refused = std::mem::take(&mut *self.remote.refused.lock());
        let is_connected = |other: &mut JoiningSubscription| self.try_to_connect(other).is_ok();
        let connected = refused.extract_if(.., is_connected);
        let connected = connected.map(|other| other.subscription.wanted.origin).collect();
        if !refused.is_empty() {
            self.remote.refused.lock().append(&mut refused);
            self.session.has_refused();
        }
        connected
    }

    fn try_to_connect(&self, other: &mut JoiningSubscription) -> Result<(), CapacityError> {
        let reaches = |endpoint: &dyn PublisherEndpoint| endpoint.reaches(&other.subscription);
        let Some(index) = self.endpoints().iter().position(|endpoint| reaches(&**endpoint)) else {
            return Ok(());
        };
        let mut sinks = self.remote.sinks.lock();
        let mut state = self.state.lock();
        if state.closed {
            return Ok(());
        }
        let next = state.sequence + 1;
        let at = match sinks.iter().position(|slot| slot.endpoint == index) {
            Some(at) => at,
            None => {
                let sink = self.endpoints()[index].open(next)?;
                let inline = sink.inline();
                let (is_connected, is_bound) = (false, false);
                let slot = Slot {
                    sink,
                    endpoint: index,
                    is_connected,
                    is_bound,
                    inline,
                    prepared: None,
                    failed: None,
                };
                sinks.push(slot);
                sinks.len() - 1
            }
        };
        let none = VecDeque::new();
        let retained = state.retained.as_ref().map_or(&none, |retained| &retained.0);
        let connected = sinks[at].sink.connect(other, next, retained);
        self.renew_sinks(&mut sinks, &mut state);
        let brought_back = connected?;
        state.count(brought_back.work);
        drop((state, sinks)); // the program's logger may publish
        if let Some((count, error)) = brought_back.left_out {
            log_line!(
                Level::Warn; About { node: &self.node, subject: &self.topic },
                "a late subscription to {} in another process misses {count} of the messages that were retained for it: {error}",
                self.topic
            );
        }
        if let Some((count, panic)) = brought_back.panicked {
            log_line!(
                Level::Error; About { node: &self.node, subject: &self.topic },
                "a late subscription to {} in another process misses {count} of the messages that were retained for it, \
                 since encoding panicked: {panic}",
                self.topic
            );
        }
        Ok(())
    }

    /// Removes a subscription elsewhere. Returns whether it was connected.
    pub(crate) fn disconnect(&self, subscription: &Arc<RemoteSubscription>) -> bool {
        let was_refused = {
            let mut refused = self.remote.refused.lock();
            let before = refused.len();
            refused.retain(|other| !Arc::ptr_eq(&other.subscription, subscription));
            refused.len() < before
        };
        if was_refused {
            return false;
        }
        let mut sinks = self.remote.sinks.lock();
        let mut state = self.state.lock();
        sinks.iter_mut().for_each(|slot| slot.sink.disconnect(subscription));
        self.renew_sinks(&mut sinks, &mut state);
        true
    }

    /// Updates the sinks and the strategy after a connection was made or ended.
    fn renew_sinks(&self, sinks: &mut [Slot], state: &mut PublisherState) {
        for slot in sinks.iter_mut() {
            (slot.is_connected, slot.is_bound) = (slot.sink.is_connected(), slot.sink.is_bound());
        }
        self.renew_strategy(state, sinks.iter().any(|slot| slot.is_connected));
    }

    /// Closes the sinks: no message leaves the process any more.
    pub(super) fn close_sinks(&self) {
        let sinks = std::mem::take(&mut *self.remote.sinks.lock());
        drop(sinks);
        self.remote.refused.lock().clear();
        for pool in [&self.remote.foreign, &self.remote.encoded] {
            if let Some(pool) = pool.get() {
                pool.close();
            }
        }
    }

    /// Lends a message to be written where it is published, if subscriptions elsewhere match and
    /// the type allows it.
    pub(crate) fn loan_shared(&self) -> Option<RawMessage> {
        if !self.is_remote() || !self.table.is_plain() {
            return None;
        }
        self.loan_in_chunk()
    }

    fn loan_in_chunk(&self) -> Option<RawMessage> {
        let size = self.table.layout.size();
        // Without room, an ordinary block serves, and publishing reports the lack.
        let mut loan = self.lend_where_it_leaves(size + 4)?;
        let (header, value) = loan.bytes_mut().split_at_mut(4);
        header.copy_from_slice(&[0, 1, 0, 0]); // plain CDR, little endian (DDS-XTypes 1.3, 7.6.3.1.2)
        let value = NonNull::from(value).cast::<u8>();
        if !self.table.is_aligned(value) {
            return None;
        }
        let foreign = self.remote.foreign.get_or_init(|| Pool::for_foreign(self.table, FOREIGN));
        // SAFETY: a plain type: any bytes are a valid value; the loan keeps them, for this message
        // alone.
        Some(unsafe { RawMessage::foreign(foreign, Backing::Loan(loan), value) })
    }

    /// Lends `length` bytes for the caller to write an encoded message: in the memory from which it
    /// will be published, if subscriptions elsewhere match. Returns `None` if there is no memory.
    pub(crate) fn encoded_of(&self, length: usize) -> Option<RawMessage> {
        let encoded = self.remote.encoded.get_or_init(|| Pool::for_encoded(self.table, FOREIGN));
        let loan = match self.is_remote() {
            true => self.lend(length),
            // No subscription elsewhere matches, but another publisher may want such messages in
            // memory that its own subscriptions elsewhere read.
            false => encoded.wanted_by().and_then(|other| other.lend(length)),
        };
        match loan {
            Some(loan) => Some(RawMessage::encoded_kept_by(encoded, Backing::Loan(loan))),
            None => RawMessage::own_encoded(encoded, length), // lack of room there is reported by publishing
        }
    }

    /// Encodes the message into memory of its own, chosen as in [`encoded_of`](Self::encoded_of).
    pub(crate) fn encoded_of_message(&self, message: &RawMessage) -> Option<RawMessage> {
        let mut encoded = self.encoded_of(message.encoded_length()?)?;
        message.write_encoded(encoded.encoded_mut()?);
        Some(encoded)
    }

    /// Whether this publisher would publish a message with a single holder without a copy, as far
    /// as is known now.
    pub(crate) fn publishes_where_it_lies(&self, message: &RawMessage) -> bool {
        !self.is_remote() || self.endpoints().iter().all(|endpoint| endpoint.sends_where_it_lies(message))
    }

    fn lend_where_it_leaves(&self, length: usize) -> Option<Loan> {
        self.endpoints().iter().find_map(|endpoint| endpoint.lend(length))
    }
}

impl LendsMemory for PublisherCore {
    fn lend(&self, length: usize) -> Option<Loan> {
        if self.is_remote() { self.lend_where_it_leaves(length) } else { None }
    }
}

/// The first pause between two looks at the positions of readers. They ring for room only: another
/// ring would cost each reader a fence for every message, also if no publisher waits.
const SHORTEST_PAUSE: Duration = Duration::from_micros(50);

/// The longest such pause.
const LONGEST_PAUSE: Duration = Duration::from_millis(2);

/// Number of control blocks for messages in shared memory that a publisher keeps.
const FOREIGN: usize = 64;
