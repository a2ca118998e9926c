//! How a publisher's messages leave the process: its sinks, one for each transport.

use super::foreign::{ForeignMessage, Numbering};
use super::{PublisherCore, PublisherState};
use crate::executor::prefetch::NoteIndex;
use crate::message::backing::{Backing, ImageLender};
use crate::message::block::{Pool, RawMessage};
use crate::message::info::Publication;
use crate::message::work::CopyWork;
use crate::ros::origin::Origin;
use crate::sys::clock::Time;
use crate::sys::logging::{About, Level, tell};
use crate::sys::sync::{Arc, AtomicBool, Guard, Mutex, Ordering};
use crate::topic::recipients::Unpublished;
use crate::topic::remote_sink::{
    Content, JoiningSubscription, Prepared, PublisherEndpoint, RemoteSink, RemoteSubscription,
};
use sinew_shm::{CapacityError, Loan};
use std::collections::VecDeque;
use std::ptr::NonNull;
use std::sync::OnceLock;

/// How a publisher's messages leave the process.
#[derive(Default)]
pub(crate) struct RemoteDelivery {
    /// Each there once a subscription matched. Locked before the publisher's state.
    sinks: Mutex<Vec<Slot>>,
    /// What others know it by; set once.
    endpoints: OnceLock<Vec<Box<dyn PublisherEndpoint>>>,
    /// Subscriptions elsewhere that are not connected yet, for want of room.
    refused: Mutex<Vec<JoiningSubscription>>,
    /// Control blocks for messages that are lent where they will be published.
    foreign: OnceLock<Arc<Pool>>,
    /// The same for messages of which there is only an image.
    images: OnceLock<Arc<Pool>>,
    /// The log says why messages don't leave.
    has_complained: AtomicBool,
    /// What is known of the message that is being published, of a publisher on the network.
    pub(super) source: Mutex<Option<ForeignMessage>>,
    /// And how its messages are numbered.
    pub(super) numbering: Mutex<Numbering>,
    /// Where the thread that publishes with it has noted it.
    pub(crate) place: NoteIndex,
}

impl RemoteDelivery {
    /// Runs it the first time: what is wrong is wrong for each message.
    pub(super) fn says_once(&self, say: impl FnOnce()) {
        if !self.has_complained.swap(true, Ordering::Relaxed) {
            say(); // counts for itself
        }
    }
}

/// A sink, and where the message that is being published is on its way through it.
struct Slot {
    sink: Box<dyn RemoteSink>,
    /// The endpoint that made it.
    endpoint: usize,
    is_connected: bool,
    /// Memory for the message's image, for the time of one publish.
    prepared: Option<Prepared>,
    /// Why there is none: those behind this sink miss the message.
    failed: Option<CapacityError>,
}

/// The way out of the process, for the time of one publish.
pub(super) trait Beyond {
    /// Whether messages leave.
    fn is_open(&self) -> bool;

    /// Whether every subscription elsewhere that must get everything has room for a message.
    fn has_room(&mut self) -> bool;

    /// Makes sure that there is memory for the images; whether there is for all.
    fn prepare(&mut self, content: &mut impl Content) -> bool;

    /// What it takes to bring out what was prepared.
    fn work(&self) -> CopyWork;

    /// Sends the message. Returns what to say if there was no room for the first time. `content` is
    /// there unless the images are.
    fn send(
        &mut self,
        publication: &Publication,
        content: Option<&impl Content>,
        topic: &str,
    ) -> Option<String>;
}

/// The message stays here.
pub(super) struct Closed;

impl Beyond for Closed {
    #[inline]
    fn is_open(&self) -> bool {
        false
    }

    #[inline]
    fn has_room(&mut self) -> bool {
        true
    }

    #[inline]
    fn prepare(&mut self, _content: &mut impl Content) -> bool {
        true
    }

    #[inline]
    fn work(&self) -> CopyWork {
        CopyWork::NONE
    }

    #[inline]
    fn send(
        &mut self,
        _publication: &Publication,
        _content: Option<&impl Content>,
        _topic: &str,
    ) -> Option<String> {
        None
    }
}

/// The sinks, locked; or none if the message stays here, which is known only when it is published.
pub(super) struct Sinks<'a> {
    slots: Option<Guard<'a, Vec<Slot>>>,
    /// What it takes to bring out what is prepared.
    work: CopyWork,
    /// Something is prepared, and not sent.
    is_prepared: bool,
}

impl Drop for Sinks<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.is_prepared {
            self.forget();
        }
    }
}

impl<'a> Sinks<'a> {
    fn new(slots: Option<Guard<'a, Vec<Slot>>>) -> Self {
        Self { slots, work: CopyWork::NONE, is_prepared: false }
    }

    pub(super) fn none() -> Self {
        Self::new(None)
    }

    #[cold]
    fn forget(&mut self) {
        self.connected().for_each(|slot| (slot.prepared, slot.failed) = (None, None));
    }

    #[inline]
    fn connected(&mut self) -> impl Iterator<Item = &mut Slot> {
        let slots = self.slots.as_deref_mut().map_or(&mut [][..], Vec::as_mut_slice);
        slots.iter_mut().filter(|slot| slot.is_connected)
    }

    /// Writes the images now: the message is about to be given away.
    pub(super) fn encode(&mut self, message: &RawMessage) {
        for slot in self.connected() {
            if let Some(prepared) = slot.prepared.take() {
                let image = prepared.encode(&mut *slot.sink, message);
                slot.prepared = Some(image.map_or(Prepared::Written, Prepared::There));
            }
        }
    }
}

impl Beyond for Sinks<'_> {
    #[inline]
    fn is_open(&self) -> bool {
        self.slots.is_some()
    }

    #[inline]
    fn has_room(&mut self) -> bool {
        self.connected().all(|slot| slot.sink.has_room())
    }

    #[inline]
    fn prepare(&mut self, content: &mut impl Content) -> bool {
        let length = content.length();
        let (mut are_all, mut work) = (true, CopyWork::NONE);
        self.is_prepared = true;
        for slot in self.connected() {
            match slot.sink.prepare(length, content.message()) {
                Ok(prepared) => {
                    work = work + prepared.work(content);
                    slot.prepared = Some(prepared);
                }
                Err(error) => {
                    slot.failed = Some(error);
                    are_all = false;
                }
            }
        }
        self.work = work;
        are_all
    }

    #[inline]
    fn work(&self) -> CopyWork {
        self.work
    }

    #[inline]
    fn send(
        &mut self,
        publication: &Publication,
        content: Option<&impl Content>,
        topic: &str,
    ) -> Option<String> {
        let mut warning = None;
        self.is_prepared = false;
        for slot in self.connected() {
            let Some(prepared) = slot.prepared.take() else {
                warning = warning.or(slot.leave_out(publication, topic));
                continue;
            };
            let image = match (prepared, content) {
                (prepared, Some(content)) => prepared.encode(&mut *slot.sink, content),
                (Prepared::There(image), None) => Some(image),
                (_, None) => None, // it is in the sink's buffer
            };
            slot.sink.send(publication, image);
        }
        warning
    }
}

impl Slot {
    /// Those behind it miss the message. Returns what to say if it is the first one.
    #[cold]
    fn leave_out(&mut self, publication: &Publication, topic: &str) -> Option<String> {
        let error = self.failed.take()?;
        self.sink.leave_out(publication).then(|| {
            format!("messages on {topic} reach subscriptions of this process only, others miss them: {error}")
        })
    }
}

impl PublisherCore {
    /// Locks the way out.
    #[inline]
    pub(super) fn sinks(&self) -> Sinks<'_> {
        Sinks::new(Some(self.remote.sinks.lock()))
    }

    /// Whether at least so many subscriptions of that participant are connected. Those of its own
    /// are as soon as they are there.
    pub(crate) fn has_subscriptions_of(&self, participant: u64, count: usize) -> bool {
        let connected = || self.remote.sinks.lock().iter().map(|slot| slot.sink.count_of(participant)).sum();
        participant == self.session.participant || count <= connected()
    }

    /// Locks the way out, once every reader that must get everything has room, with memory for the
    /// images. If there is none, that is an error only if no subscription takes the message here,
    /// or one elsewhere must get everything. `None`: a subscription came or went.
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
                    // Again, as the bell was read only now: a shutdown between has rung before, and
                    // rings no more.
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

    /// Names the memory that a message touches on its way out, as [`RemoteSink::footprint`].
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

    /// What others know it by; set once.
    pub(crate) fn is_known_as(&self, endpoints: Vec<Box<dyn PublisherEndpoint>>) {
        if let Some(counters) = endpoints.iter().find_map(|endpoint| endpoint.counters()) {
            self.match_listeners.is_counted(counters.clone());
            self.state.lock().counters = Some(counters);
        }
        let _ = self.remote.endpoints.set(endpoints);
    }

    pub(super) fn endpoints(&self) -> &[Box<dyn PublisherEndpoint>] {
        self.remote.endpoints.get().map_or(&[], Vec::as_slice)
    }

    /// A subscription elsewhere matches. False: there is no room to connect it, which is tried
    /// [again](Self::connect_again).
    pub(crate) fn connect(&self, subscription: &Arc<RemoteSubscription>) -> bool {
        let mut other = JoiningSubscription { subscription: subscription.clone(), has_retained: false };
        let Err(error) = self.try_to_connect(&mut other) else { return true };
        tell!(
            Level::Error; About { node: &self.node, subject: &self.topic },
            "publisher on {} can't reach a subscription in another process, until there is room: {error}",
            self.topic
        );
        self.remote.refused.lock().push(other);
        self.session.has_refused();
        false
    }

    /// Lets go of what those outside have read; a thread that publishes does so itself.
    pub(crate) fn tidy(&self) {
        if let Some(mut sinks) = self.remote.sinks.try_lock() {
            sinks.iter_mut().for_each(|slot| slot.sink.let_go());
        }
    }

    /// Connects those for whom there was no room before. Returns where those are at home that are
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
                sinks.push(Slot { sink, endpoint: index, is_connected: false, prepared: None, failed: None });
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
            tell!(
                Level::Warn; About { node: &self.node, subject: &self.topic },
                "a late subscription to {} in another process misses {count} of the messages that are kept for it: {error}",
                self.topic
            );
        }
        Ok(())
    }

    /// A subscription elsewhere is gone. Whether it was connected.
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

    /// Who is connected has changed.
    fn renew_sinks(&self, sinks: &mut [Slot], state: &mut PublisherState) {
        sinks.iter_mut().for_each(|slot| slot.is_connected = slot.sink.is_connected());
        self.renew_strategy(state, sinks.iter().any(|slot| slot.is_connected));
    }

    /// No message leaves the process any more.
    pub(super) fn close_sinks(&self) {
        let sinks = std::mem::take(&mut *self.remote.sinks.lock());
        drop(sinks);
        self.remote.refused.lock().clear();
        for pool in [&self.remote.foreign, &self.remote.images] {
            if let Some(pool) = pool.get() {
                pool.close();
            }
        }
    }

    /// A message to be written where it is published, if subscriptions elsewhere match and the type
    /// allows it.
    pub(crate) fn loan_shared(&self) -> Option<RawMessage> {
        if !self.is_remote() || !self.table.is_plain() {
            return None;
        }
        self.loan_in_chunk()
    }

    fn loan_in_chunk(&self) -> Option<RawMessage> {
        let size = self.table.layout.size();
        // If there is no room, an ordinary block does, and publishing says so.
        let mut loan = self.lend_where_it_leaves(size + 4)?;
        let (header, value) = loan.bytes_mut().split_at_mut(4);
        header.copy_from_slice(&[0, 1, 0, 0]); // plain CDR, little endian (DDS-XTypes 1.3, 7.6.3.1.2)
        let value = NonNull::from(value).cast::<u8>();
        if !value.addr().get().is_multiple_of(self.table.layout.align()) {
            return None;
        }
        let foreign = self.remote.foreign.get_or_init(|| Pool::for_foreign(self.table, FOREIGN));
        // SAFETY: a plain type: whatever bytes are there are a value; the loan keeps them, for this
        // message alone.
        Some(unsafe { RawMessage::foreign(foreign, Backing::Loan(loan), value) })
    }

    /// A message of which there is only an image of so many bytes, to be written: where it will be
    /// published, if subscriptions elsewhere match. `None`: there is no memory for it.
    pub(crate) fn image_of(&self, length: usize) -> Option<RawMessage> {
        let images = self.remote.images.get_or_init(|| Pool::for_images(self.table, FOREIGN));
        let loan = match self.is_remote() {
            true => self.lend(length),
            // No subscription elsewhere matches, but where such images are passed on.
            false => images.wanted_by().and_then(|other| other.lend(length)),
        };
        match loan {
            Some(loan) => Some(RawMessage::image_kept_by(images, Backing::Loan(loan))),
            None => RawMessage::own_image(images, length), // also without room there, which publishing says
        }
    }

    /// An image of the message in memory of its own, as [`image_of`](Self::image_of) finds it.
    pub(crate) fn image_of_message(&self, message: &RawMessage) -> Option<RawMessage> {
        let mut image = self.image_of(message.image_length()?)?;
        message.write_image(image.image_mut()?);
        Some(image)
    }

    /// Whether a message that its holder alone has is published without a copy, as far as that is
    /// known now.
    pub(crate) fn publishes_where_it_lies(&self, message: &RawMessage) -> bool {
        !self.is_remote() || self.endpoints().iter().all(|endpoint| endpoint.sends_where_it_lies(message))
    }

    fn lend_where_it_leaves(&self, length: usize) -> Option<Loan> {
        self.endpoints().iter().find_map(|endpoint| endpoint.lend(length))
    }
}

impl ImageLender for PublisherCore {
    fn lend(&self, length: usize) -> Option<Loan> {
        if self.is_remote() { self.lend_where_it_leaves(length) } else { None }
    }
}

/// Control blocks for messages in shared memory that a publisher keeps.
const FOREIGN: usize = 64;
