//! A publisher of another process, as its subscriptions here see it.
//!
//! It reads the publisher's ring and adds the messages to their histories, as a local publisher
//! would: so depth, filters, copies and events don't depend on the way a message came.
//!
//! A thread that expects something to read calls [`RemotePublisher::drain`]: a worker of an
//! executor that an event notified, a thread that takes by hand, or the helper thread. One thread
//! at a time reads; the others make it look once more ([`CoalescingLock`]). So no thread waits, and
//! filters run under no lock that they could want.

use super::notes;
use super::own_participant::OwnParticipant;
use super::sender::publication_of;
use crate::event::liveliness::{LivelinessLease, RemoteSigns};
use crate::mailbox::deferred::{Deferred, Drainable};
use crate::mailbox::history::{Entry, JoinOrder};
use crate::mailbox::waiters::Notifications;
use crate::message::block::RawMessage;
use crate::message::info::{NETWORK, Publication, introduce};
use crate::sys::coalescing_lock::CoalescingLock;
use crate::sys::logging::{About, log_line};
use crate::sys::panics::caught;
#[cfg(test)]
use crate::sys::sync::AtomicUsize;
use crate::sys::sync::{Arc, AtomicBool, Mutex, Ordering, no_lock_is_held};
use crate::topic::remote_endpoint::RemoteEndpoint;
use crate::topic::remote_reads::{DirectTake, Gap, Progress, UnreadableMessage};
use crate::topic::subscribers::{TypedReaders, groups};
use crate::topic::subscription_core::{RemoteSource, SubscriptionCore};
use crate::topic::typed_reader::TypedReader;
use crate::topic::warn_once::WarnOnce;
use sinew_msg::DecodeError;
use sinew_shm::transport::{EventReceiver, Incoming, Message, Sink};
use sinew_shm::{EndpointKey, Peer, SegmentError};
use std::fmt;
use std::sync::Weak;

/// A publisher of another process.
pub(crate) struct RemotePublisher {
    pub(crate) offered: RemoteEndpoint,
    own: Weak<OwnParticipant>,
    /// Its lease, if it has to give signs of life within one.
    lease: Option<Arc<LivelinessLease>>,
    /// As in [`Publication::publisher`].
    publisher: u64,
    lifespan: i64,
    reading: CoalescingLock<RingReader>,
    /// The subscriptions that it serves.
    served: Mutex<Vec<Arc<SubscriptionCore>>>,
    /// Changes of them that take effect at the next look.
    ends: Mutex<Option<Ends>>,
    /// The connection that is read from the next look on.
    accepted: Mutex<Option<Box<Incoming>>>,
    /// Messages retained for late subscriptions, to be read from the next look on.
    handed_over: Mutex<Vec<RetainedReader>>,
    /// Whether one of the last three has changed since a thread looked.
    has_news: AtomicBool,
    /// Whether there is nothing to read: there is no connection yet, or all connections have ended
    /// and were read completely. Changes while they are being read.
    is_over: AtomicBool,
    /// Whether the publisher is gone: there are no more connections.
    is_gone: AtomicBool,
    /// Progress of a publisher on the network, once one of its messages has arrived.
    progress: Mutex<Option<Progress>>,
    complaints: WarnOnce,
    /// Number of times that the served subscriptions changed.
    #[cfg(test)]
    pub(crate) changes: AtomicUsize,
}

/// The signs of life of a publisher, which its process stores in shared memory.
pub(super) struct StoredSigns {
    pub(super) peer: Arc<Peer>,
    pub(super) key: EndpointKey,
}

impl RemoteSigns for StoredSigns {
    fn last(&self) -> Option<i64> {
        self.peer.last_alive(self.key)
    }
}

/// The signs of life of a publisher's process.
pub(super) struct Heartbeats(pub(super) Arc<Peer>);

impl RemoteSigns for Heartbeats {
    fn last(&self) -> Option<i64> {
        self.0.last_beat()
    }
}

/// The subscriptions that get the messages, and the port to notify of them.
#[derive(Default)]
pub(crate) struct Ends {
    groups: Vec<TypedReaders>,
    port: Option<Arc<EventReceiver>>,
    /// Number of the newest messages that are enough; `None` if all are wanted, or a filter must
    /// see them.
    depth: Option<u64>,
}

/// The group that a message is for, and the message.
type Stalled = (usize, RawMessage, Publication);

struct RingReader {
    incoming: Option<Incoming>,
    ends: Ends,
    buffer: Vec<u8>,
    /// Messages for which a subscription that must get every message had no place.
    stalled: Vec<Stalled>,
    /// Difference of the last message, if it is of the network, for the subscriptions that have
    /// existed since: see [`notes`].
    difference: Option<u64>,
    /// Read before anything else: a late subscription gets the oldest messages first.
    retained: Vec<RetainedReader>,
}

/// The messages that a transient-local publisher retained for one late subscription, which may be
/// removed before all of them are read.
struct RetainedReader {
    subscription: Weak<SubscriptionCore>,
    incoming: Incoming,
}

impl RemotePublisher {
    pub(crate) fn new(
        own: &Arc<OwnParticipant>,
        peer: &Peer,
        offered: RemoteEndpoint,
        lease: Option<Arc<LivelinessLease>>,
    ) -> Arc<Self> {
        let network = if offered.origin.is_network() { NETWORK } else { 0 };
        let publisher = introduce(peer.id()) | (offered.number & u64::from(u32::MAX)) | network;
        let lifespan = offered.qos.lifespan_nanoseconds().unwrap_or(i64::MAX);
        let reading = RingReader {
            incoming: None,
            ends: Ends::default(),
            buffer: Vec::new(),
            stalled: Vec::new(),
            difference: None,
            retained: Vec::new(),
        };
        Arc::new(Self {
            offered,
            own: Arc::downgrade(own),
            lease,
            publisher,
            lifespan,
            reading: CoalescingLock::new(reading),
            served: Mutex::default(),
            ends: Mutex::new(None),
            accepted: Mutex::new(None),
            handed_over: Mutex::default(),
            has_news: AtomicBool::new(false),
            is_over: AtomicBool::new(true),
            is_gone: AtomicBool::new(false),
            progress: Mutex::default(),
            complaints: WarnOnce::default(),
            #[cfg(test)]
            changes: AtomicUsize::new(0),
        })
    }

    /// Sets the connection by which its messages arrive. The caller then drains.
    pub(crate) fn accept(&self, incoming: Incoming) {
        let before = self.accepted.lock().replace(Box::new(incoming)); // not over: see `is_over`
        self.has_news.store(true, Ordering::Release); // pairs with `has_news`
        if let Some(mut before) = before {
            before.done(); // as in `read_on`
        }
    }

    /// Adds the connection by which the messages retained for this subscription arrive. The caller
    /// then drains.
    pub(crate) fn accept_retained(&self, subscription: Weak<SubscriptionCore>, incoming: Incoming) {
        self.handed_over.lock().push(RetainedReader { subscription, incoming });
        self.has_news.store(true, Ordering::Release); // pairs with `has_news`
    }

    /// Changes the subscriptions that are served. Returns those that were served before, to be
    /// dropped outside all locks.
    ///
    /// One thread at a time changes the list and everything that follows from it: otherwise another
    /// thread's change could bring back a removed subscription, which would be kept forever. Each
    /// change looks at all subscriptions.
    #[must_use]
    fn change_served(
        &self,
        change: impl FnOnce(&[Arc<SubscriptionCore>]) -> Vec<Arc<SubscriptionCore>>,
    ) -> Vec<Arc<SubscriptionCore>> {
        let mut served = self.served.lock();
        let subscriptions = change(&served);
        let groups = groups(&subscriptions, self.offered.qos.is_blocking());
        let ends = Ends { groups, port: self.port_for(&subscriptions), depth: enough_for(&subscriptions) };
        let ends = self.ends.lock().replace(ends);
        self.has_news.store(true, Ordering::Release); // pairs with `has_news`
        let before = std::mem::replace(&mut *served, subscriptions);
        #[cfg(test)]
        self.changes.fetch_add(1, Ordering::Relaxed); // a count only
        drop(served);
        drop(ends); // may be the last references to a subscription: outside the locks
        before
    }

    /// Returns the port to notify: that of the executor of one of the subscriptions, otherwise that
    /// of the thread which receives for subscriptions without an executor.
    fn port_for(&self, subscriptions: &[Arc<SubscriptionCore>]) -> Option<Arc<EventReceiver>> {
        let own = self.own.upgrade()?;
        let executor = subscriptions.iter().find_map(|subscription| own.port_of(&*subscription.scheduler()?));
        executor.or_else(|| {
            subscriptions.iter().any(|subscription| subscription.needs_receiver()).then(|| own.receiver())?
        })
    }

    /// Whether something has changed that no look has seen. The thread that changed it drains, but
    /// may not have done so yet.
    #[inline]
    fn has_news(&self) -> bool {
        self.has_news.load(Ordering::Acquire)
    }

    /// Marks the publisher as gone.
    pub(crate) fn end(&self) {
        self.is_gone.store(true, Ordering::Release); // pairs with `is_over`
    }

    /// As [`RemoteSource::take_for`]. The caller does the rest of the work.
    #[inline]
    fn take_next(&self, subscription: &SubscriptionCore, depth: u64) -> DirectTake {
        if self.has_news() {
            return DirectTake::NotSo;
        }
        let Some(mut reading) = self.reading.try_enter() else { return DirectTake::NotSo };
        let RingReader { incoming: Some(incoming), ends, buffer, stalled, retained, .. } = &mut *reading
        else {
            return DirectTake::NotSo;
        };
        let [group] = &ends.groups[..] else { return DirectTake::NotSo };
        let is_calm = stalled.is_empty() && retained.is_empty();
        let is_simple = ends.port.is_none() && group.subscribers.is_only(subscription) && is_calm;
        if !is_simple || self.lifespan != i64::MAX {
            return DirectTake::NotSo;
        }
        if !incoming.is_ready() {
            return if incoming.is_over() { DirectTake::NotSo } else { DirectTake::Nothing };
        }
        let skipped = incoming.skip_to_newest(depth);
        let message = match incoming.read(buffer) {
            Ok(Some(message)) => message,
            Ok(None) => return DirectTake::NotSo,
            Err(error) => {
                let text = self.unreadable(&error).to_string();
                let lost = skipped; // the unreadable message itself counts with the next one
                return DirectTake::Bad(UnreadableMessage {
                    lost,
                    problem: None,
                    level: self.complaints.level(),
                    text,
                });
            }
        };
        if self.offered.qos.is_blocking() && subscription.wanted.qos.is_blocking() {
            incoming.set_cursor(incoming.next()); // its encoded form is copied or held
        }
        let publication = self.publication(incoming, &message);
        let gap = gap_before(&message);
        let lost = Gap { overwritten: skipped + gap.overwritten, ..gap };
        let value = match message.hold {
            Some(hold) => group.reader.read(hold),
            None => group.reader.decode_copied(buffer),
        };
        match value {
            Ok((value, work)) => DirectTake::Message(value, publication, lost, work),
            Err(error) => {
                let text = self.undecodable(&error).to_string();
                let (lost, problem) = (lost.overwritten + lost.missed + 1, Some(error));
                DirectTake::Bad(UnreadableMessage { lost, problem, level: self.complaints.level(), text })
            }
        }
    }

    /// Whether another thread found it being read, and asked for another look.
    #[inline]
    fn is_wanted(&self) -> bool {
        self.reading.is_wanted()
    }

    #[cold]
    fn cannot_read(&self, error: &SegmentError) {
        let about = About { node: "", subject: &self.offered.topic };
        log_line!(self.complaints.level(); about, "{}", self.unreadable(error));
    }

    #[cold]
    fn cannot_decode(&self, error: &DecodeError) {
        let about = About { node: "", subject: &self.offered.topic };
        log_line!(self.complaints.level(); about, "{}", self.undecodable(error));
    }

    fn unreadable(&self, error: &SegmentError) -> impl fmt::Display {
        fmt::from_fn(move |f| write!(f, "a message on {} can't be read: {error}", self.offered.topic))
    }

    fn undecodable(&self, error: &DecodeError) -> impl fmt::Display {
        fmt::from_fn(move |f| write!(f, "a message on {} can't be decoded: {error}", self.offered.topic))
    }

    /// Reads the available messages. A publisher that is gone is forgotten once all were read.
    #[inline]
    pub(crate) fn drain(&self) {
        self.read();
        if self.is_gone.load(Ordering::Acquire) && self.is_over() {
            self.leave();
        }
    }

    #[inline]
    fn read(&self) {
        self.reading.look(|mut reading| {
            Deferred::with(|deferred| {
                self.read_on(&mut reading, deferred);
                drop(reading);
            });
        });
    }

    /// Makes all subscriptions forget this publisher, which is over. The list of subscriptions is
    /// replaced once, not once for each: the work grows with their number, not with its square.
    #[cold]
    fn leave(&self) {
        if self.served.lock().is_empty() {
            return;
        }
        let served = self.change_served(|_| Vec::new());
        served.iter().for_each(|subscription| subscription.forget_sources_that_are_over());
        self.read(); // the thread that reads lets the subscriptions go as well
    }

    fn read_on(&self, reading: &mut RingReader, deferred: &mut Deferred) {
        // Acquire: pairs with the Releases that set it. It comes before the checks for changes: a
        // later change sets it again, and drains.
        let has_news = self.has_news() && self.has_news.swap(false, Ordering::Acquire);
        if has_news || !reading.retained.is_empty() {
            self.read_retained(reading, deferred);
        }
        self.read_all(reading, deferred);
        if has_news {
            self.read_news(reading, deferred);
        }
        if let Some(lease) = &self.lease {
            lease.look_again(deferred); // a message of a manual publisher was a sign of life
        }
        let RingReader { incoming, stalled, retained, .. } = reading;
        let is_read = incoming.as_mut().is_none_or(Incoming::is_over);
        if stalled.is_empty() && retained.is_empty() && is_read {
            if let Some(incoming) = incoming {
                incoming.done();
            }
            self.is_over.store(true, Ordering::Release); // pairs with `is_over`
        }
    }

    /// Switches to the connection and the subscriptions added since the last look.
    fn read_news(&self, reading: &mut RingReader, deferred: &mut Deferred) {
        if reading.ends.groups.is_empty() {
            // The first subscriptions get all messages of a connection that is equally new: its
            // writer opened it for them.
            self.take_ends(reading, deferred);
        }
        let accepted = {
            let mut accepted = self.accepted.lock();
            if accepted.is_some() {
                self.is_over.store(false, Ordering::Relaxed); // until all of this one is read
            }
            accepted.take()
        };
        if let Some(accepted) = accepted {
            reading.difference = None;
            if let Some(mut before) = reading.incoming.replace(*accepted) {
                before.done(); // its end was reached: the new one begins there
            }
            self.read_all(reading, deferred);
        }
        if self.take_ends(reading, deferred) {
            self.read_all(reading, deferred);
        }
        let RingReader { incoming: Some(incoming), ends, .. } = reading else { return };
        // E1: messages published before the writer saw this port are read now.
        if incoming.set_port(ends.port.as_deref()) {
            self.read_all(reading, deferred);
        }
    }

    /// Delivers to the newest list of subscriptions from here on. Returns `false` if the list is
    /// unchanged.
    fn take_ends(&self, reading: &mut RingReader, deferred: &mut Deferred) -> bool {
        let Some(ends) = self.ends.lock().take() else { return false };
        let before = std::mem::replace(&mut reading.ends, ends);
        // Messages that wait for a place keep waiting for subscriptions that take the same form; if
        // there are none left, no subscription misses them.
        for (index, message, publication) in std::mem::take(&mut reading.stalled) {
            let reader = before.groups.get(index).map(|group| &group.reader);
            let takes_it = |group: &TypedReaders| {
                reader
                    .zip(group.subscribers.subscriptions().first())
                    .is_some_and(|(reader, subscription)| reader.suits(subscription))
            };
            match reading.ends.groups.iter().position(takes_it) {
                Some(index) => reading.stalled.push((index, message, publication)),
                None => deferred.drop_later(message),
            }
        }
        true
    }

    fn read_all(&self, reading: &mut RingReader, deferred: &mut Deferred) {
        let RingReader { incoming: Some(incoming), ends, buffer, stalled, difference, .. } = reading else {
            return;
        };
        if ends.groups.is_empty() {
            incoming.skip_to_newest(0); // no subscription wants them
            *difference = None;
            incoming.unbind();
            return;
        }
        for turn in 0u64.. {
            // A message that stalled before is tried again; one that stalls now waits for the next
            // look.
            if !stalled.is_empty() && (turn > 0 || !ends.deliver_stalled(stalled, deferred)) {
                break;
            }
            // A thread that was notified expects a message, and mostly no second one.
            if turn > 0 && incoming.has_read_all() {
                break;
            }
            if turn % 2 == 1
                && let Some(depth) = ends.depth
                && let skipped @ 1.. = incoming.skip_to_newest(depth)
            {
                ends.subscriptions().for_each(|subscription| subscription.count_lost(skipped, deferred));
            }
            let message = match incoming.read_next(buffer) {
                Ok(Some(message)) => message,
                Ok(None) => break,
                Err(error) => {
                    self.cannot_read(&error);
                    continue;
                }
            };
            if message.missed > 0 {
                let gap = gap_before(&message);
                ends.subscriptions().for_each(|subscription| subscription.count_gap(gap, deferred));
            }
            let publication = self.publication(incoming, &message);
            if let Some(now) = notes::difference_in(incoming, &publication) {
                // Messages lost before the first one don't concern these subscriptions, unless
                // another gateway brought the same publisher before.
                let missed = difference.replace(now).map_or(0, |before| now.saturating_sub(before));
                ends.subscriptions().for_each(|subscription| subscription.count_missed(missed, deferred));
                self.note_progress(incoming, ends, &publication, deferred);
            }
            let mut hold = message.hold;
            for (index, group) in ends.groups.iter().enumerate() {
                let is_last = index + 1 == ends.groups.len();
                let held = if is_last { hold.take() } else { None };
                let value = match (held, &hold) {
                    (Some(held), _) => group.reader.read(held),
                    (None, Some(hold)) => group.reader.decode(hold.bytes()),
                    (None, None) => group.reader.decode_copied(buffer),
                };
                match value {
                    Ok((value, work)) => {
                        group.count(work);
                        if let Err(value) = group.deliver(value, &publication, deferred) {
                            stalled.push((index, value, publication));
                        }
                    }
                    Err(error) => {
                        self.cannot_decode(&error);
                        let subscriptions = group.subscribers.subscriptions().iter();
                        subscriptions
                            .for_each(|subscription| subscription.count_lost_for(1, Some(&error), deferred));
                    }
                }
            }
        }
        self.set_cursor(incoming, ends, stalled.first());
    }

    /// Sets how far the writer may count messages as done with.
    fn set_cursor(&self, incoming: &mut Incoming, ends: &Ends, stalled: Option<&Stalled>) {
        if !self.offered.qos.is_blocking() {
            return;
        }
        let bound = ends.subscriptions().filter(|subscription| subscription.wanted.qos.is_blocking());
        let number_of = |publication: &Publication| notes::number_in(incoming, publication);
        let next = stalled.map_or(incoming.next(), |(_, _, publication)| number_of(publication));
        let oldest_of = |subscription: &Arc<SubscriptionCore>| {
            subscription.oldest_of(self.publisher).map_or(next, |oldest| number_of(&oldest))
        };
        let oldest = bound.map(oldest_of).min();
        match oldest {
            Some(oldest) => incoming.set_cursor(oldest.min(next)),
            None => incoming.unbind(),
        }
    }

    fn publication(&self, from: &Incoming, message: &Message) -> Publication {
        let here = publication_of(&message.head, message.number, self.publisher, self.lifespan);
        notes::numbered(here, from)
    }

    /// Records the progress of a publisher on the network after a message.
    fn note_progress(
        &self,
        from: &Incoming,
        ends: &Ends,
        publication: &Publication,
        deferred: &mut Deferred,
    ) {
        let identity = from.note(notes::IDENTITY);
        if identity == 0 {
            return;
        }
        let none = Progress { identity, first: publication.sequence, first_new: None, last: 0 };
        let progress = {
            let mut progress = self.progress.lock();
            let now = progress.unwrap_or(none).and(publication);
            *progress = Some(now);
            now
        };
        let remembering = ends.subscriptions().filter(|subscription| subscription.has_left());
        remembering.for_each(|subscription| subscription.goes_on(&progress, deferred));
    }
}

impl Ends {
    fn subscriptions(&self) -> impl Iterator<Item = &Arc<SubscriptionCore>> {
        self.groups.iter().flat_map(|group| group.subscribers.subscriptions())
    }

    /// Delivers the messages for which there was no place. Returns whether all found one.
    #[cold]
    fn deliver_stalled(&self, stalled: &mut Vec<Stalled>, deferred: &mut Deferred) -> bool {
        for (index, message, publication) in std::mem::take(stalled) {
            let Some(group) = self.groups.get(index) else { continue };
            if let Err(message) = group.deliver(message, &publication, deferred) {
                stalled.push((index, message, publication));
            }
        }
        stalled.is_empty()
    }
}

/// Returns the number of the newest messages that are enough for these subscriptions; see
/// [`Ends::depth`].
fn enough_for(subscriptions: &[Arc<SubscriptionCore>]) -> Option<u64> {
    let mut depth = 0;
    for subscription in subscriptions {
        let qos = &subscription.wanted.qos;
        if qos.is_keep_all() || subscription.wanted.filter.is_some() {
            return None;
        }
        depth = depth.max(qos.capacity() as u64);
    }
    Some(depth)
}

impl RemoteSource for RemotePublisher {
    fn offered(&self) -> &RemoteEndpoint {
        &self.offered
    }

    fn serve(&self, subscriptions: &[Arc<SubscriptionCore>]) {
        drop(self.change_served(|_| subscriptions.to_vec()));
    }

    fn disconnect(&self, subscription: &SubscriptionCore) {
        let is_it = |other: &Arc<SubscriptionCore>| std::ptr::eq(Arc::as_ptr(other), subscription);
        if self.served.lock().iter().any(is_it) {
            let without = |served: &[_]| served.iter().filter(|other| !is_it(other)).cloned().collect();
            drop(self.change_served(without));
            self.drain();
        }
    }

    fn retune(&self) {
        drop(self.change_served(<[_]>::to_vec));
        self.drain();
    }

    #[inline]
    fn look(&self) {
        // The cursor that a waiting publisher needs is updated at each look.
        if !self.offered.qos.is_blocking()
            && let Some(mut reading) = self.reading.try_enter()
        {
            let is_calm = reading.stalled.is_empty();
            let nothing = reading.incoming.as_mut().is_none_or(|incoming| incoming.has_nothing());
            drop(reading);
            if is_calm && nothing && !self.has_news() && !self.is_wanted() {
                return;
            }
        }
        self.drain();
    }

    fn is_being_read(&self) -> bool {
        self.reading.is_held()
    }

    fn notify_elsewhere(&self, notifications: Notifications) {
        OwnParticipant::notify_elsewhere(&self.own, notifications);
    }

    fn lease(&self) -> Option<&Arc<LivelinessLease>> {
        self.lease.as_ref()
    }

    fn progress(&self) -> Option<Progress> {
        *self.progress.lock()
    }

    // The end of a connection is not enough: where subscriptions come and go, there will be another
    // one.
    fn is_over(&self) -> bool {
        // Acquire: pairs with `end` and `read_on`.
        if !self.is_gone.load(Ordering::Acquire) {
            return false;
        }
        // Under their locks: a thread that takes one of them out updates `is_over` there.
        let (accepted, handed_over) = (self.accepted.lock(), self.handed_over.lock());
        accepted.is_none() && handed_over.is_empty() && self.is_over.load(Ordering::Acquire)
    }

    #[inline]
    fn take_for(&self, subscription: &SubscriptionCore, depth: u64) -> (DirectTake, bool) {
        let direct = self.take_next(subscription, depth);
        (direct, self.is_wanted())
    }

    #[inline]
    fn advance_for(&self, subscription: &SubscriptionCore, oldest: &Publication) -> bool {
        if oldest.publisher != self.publisher || self.has_news() {
            return false;
        }
        let Some(mut reading) = self.reading.try_enter() else { return false };
        let RingReader { incoming: Some(incoming), ends, .. } = &mut *reading else { return false };
        let [group] = &ends.groups[..] else { return false };
        if !self.offered.qos.is_blocking() || !group.subscribers.is_only(subscription) {
            return false;
        }
        incoming.set_cursor(notes::number_in(incoming, oldest).min(incoming.next()));
        drop(reading);
        !self.is_wanted()
    }
}

/// Returns the losses before a message.
fn gap_before(message: &Message) -> Gap {
    Gap { overwritten: message.missed - message.left_out, missed: message.left_out }
}

impl Drainable for RemotePublisher {
    fn drain(&self) {
        RemotePublisher::drain(self);
    }
}

impl Sink for RemotePublisher {
    fn drain(&self) {
        RemotePublisher::drain(self);
    }
}

impl RemotePublisher {
    /// Reads the available messages that were retained for late subscriptions.
    fn read_retained(&self, reading: &mut RingReader, deferred: &mut Deferred) {
        let mut handed_over = {
            let mut handed_over = self.handed_over.lock();
            if !handed_over.is_empty() {
                self.is_over.store(false, Ordering::Relaxed); // until it is read
            }
            std::mem::take(&mut *handed_over)
        };
        reading.retained.append(&mut handed_over);
        let RingReader { retained, buffer, .. } = reading;
        retained.retain_mut(|RetainedReader { subscription, incoming }| {
            let subscription = subscription.upgrade();
            match &subscription {
                Some(subscription) => self.bring_in(subscription, incoming, buffer, deferred),
                None => drop(incoming.skip_to_newest(0)),
            }
            let is_over = incoming.is_over();
            if is_over {
                incoming.done();
                if let Some(subscription) = &subscription {
                    subscription.has_all_of(self, deferred);
                }
            }
            !is_over
        });
    }

    fn bring_in(
        &self,
        subscription: &Arc<SubscriptionCore>,
        incoming: &mut Incoming,
        buffer: &mut Vec<u8>,
        deferred: &mut Deferred,
    ) {
        let reader = TypedReader::for_subscription(subscription);
        let mut entries = Vec::new();
        while !incoming.is_over() {
            let message = match incoming.read(buffer) {
                Ok(Some(message)) => message,
                Ok(None) => break,
                Err(error) => {
                    self.cannot_read(&error);
                    continue;
                }
            };
            subscription.count_gap(gap_before(&message), deferred);
            let publication = self.publication(incoming, &message);
            let value = match message.hold {
                Some(hold) => reader.read(hold),
                None => reader.decode_copied(buffer),
            };
            match value {
                Ok((value, work)) => {
                    subscription.count(work);
                    entries.push(Entry { message: value, publication, reception: 0 });
                }
                Err(error) => {
                    self.cannot_decode(&error);
                    subscription.count_lost_for(1, Some(&error), deferred);
                }
            }
        }
        if let Some(filter) = &subscription.wanted.filter {
            no_lock_is_held();
            entries.retain(|entry| {
                caught(|| filter(&entry.message)).unwrap_or_else(|panic| {
                    subscription.is_lost_by_panic(&panic, deferred);
                    false
                })
            });
        }
        if !entries.is_empty() {
            let more = subscription.merge(entries, JoinOrder::Before);
            subscription.announce_waiting(more, deferred);
        }
    }
}
