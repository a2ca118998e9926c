//! How a publisher's messages leave the process.

use super::{PublisherCore, PublisherState};
use crate::executor::prefetch::NoteIndex;
use crate::message::backing::{Backing, ImageLender};
use crate::message::block::{Pool, RawMessage};
use crate::message::info::Publication;
use crate::message::work::CopyWork;
use crate::sys::clock::Time;
use crate::sys::logging::{About, Level, tell};
use crate::sys::sync::{Arc, AtomicBool, Guard, Mutex, Ordering};
use crate::topic::recipients::Unpublished;
use crate::topic::remote_sink::{
    JoiningSubscription, Prepared, PublisherEndpoint, RemoteSink, RemoteSubscription, RetainedSent,
};
use sinew_shm::{CapacityError, Lent, Loan};
use std::collections::VecDeque;
use std::ptr::NonNull;
use std::sync::OnceLock;

/// How a publisher's messages leave the process.
#[derive(Default)]
pub(crate) struct RemoteDelivery {
    /// There once somebody matched. Locked before the publisher's state.
    pub(super) sender: Mutex<Option<Box<dyn RemoteSink>>>,
    /// What others know it by.
    endpoint: OnceLock<Box<dyn PublisherEndpoint>>,
    /// Subscriptions elsewhere that are not connected yet, for want of room.
    pub(super) refused: Mutex<Vec<JoiningSubscription>>,
    /// Control blocks for messages that are lent where they will be published.
    pub(super) foreign: OnceLock<Arc<Pool>>,
    /// The same for messages of which there is only an image.
    pub(super) images: OnceLock<Arc<Pool>>,
    /// The log says why messages don't leave.
    has_complained: AtomicBool,
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

/// A message's way out, for the time of one publish.
pub(super) struct OpenSink<'a> {
    sender: Guard<'a, Option<Box<dyn RemoteSink>>>,
    /// Until it is used. An error: it is delivered here alone.
    prepared: Option<Result<Prepared, CapacityError>>,
}

pub(super) enum SinkState<'a> {
    /// Nobody is connected.
    Closed,
    Open(OpenSink<'a>),
    /// Somebody came or went: all is to be thought of again.
    Changed,
}

impl OpenSink<'_> {
    /// What it takes to bring the message out.
    pub(super) fn work(&self, message: &RawMessage) -> CopyWork {
        match &self.prepared {
            Some(Ok(prepared)) => prepared.work(message),
            _ => CopyWork::NONE,
        }
    }

    pub(super) fn encode(&mut self, message: &RawMessage) -> Option<Lent> {
        let sender = self.sender.as_deref_mut()?;
        let prepared = self.prepared.take_if(|prepared| prepared.is_ok())?.ok()?;
        prepared.encode(sender, |to| message.write_image(to))
    }

    /// Returns what to say if there was no room for the first time.
    pub(super) fn send(
        &mut self,
        publication: &Publication,
        image: Option<Lent>,
        topic: &str,
    ) -> Option<String> {
        let sender = self.sender.as_deref_mut()?;
        let Some(Err(error)) = self.prepared.take() else {
            sender.send(publication, image);
            return None;
        };
        sender.leave_out(publication).then(|| {
            format!("messages on {topic} reach subscriptions of this process only, others miss them: {error}")
        })
    }
}

impl PublisherCore {
    /// Locks the way out, once every reader that must get everything has room, with memory for the image. If there is none, that is an
    /// error only if nobody takes the message here, or somebody outside must get everything.
    pub(super) fn open_sink(
        &self,
        leaves: bool,
        taken_here: bool,
        message: &mut RawMessage,
        deadline: Time,
    ) -> Result<SinkState<'_>, Unpublished> {
        if !leaves {
            return Ok(SinkState::Closed);
        }
        loop {
            let mut sender = self.remote.sender.lock();
            let Some(open) = sender.as_deref_mut().filter(|sender| sender.is_connected()) else {
                return Ok(SinkState::Changed);
            };
            if self.session.has_ended() {
                return Err(Unpublished::Shutdown);
            }
            if let Some(waiting) = open.wait_for_room() {
                let left = deadline - Time::steady();
                if !left.is_zero() {
                    drop(sender);
                    // Again, as the bell was read only now: a shutdown between has rung before, and rings no more.
                    if self.session.has_ended() {
                        return Err(Unpublished::Shutdown);
                    }
                    waiting.sleep(Some(left));
                    continue;
                }
                if !open.has_room() {
                    return Err(Unpublished::Full);
                }
            }
            let length = message.image_length().unwrap_or(0);
            let prepared = open.prepare(length, Some(&mut *message));
            let is_vital = !taken_here || open.is_bound();
            if let Err(error) = &prepared
                && (is_vital || matches!(error, CapacityError::Left { .. }))
            {
                return Err(self.no_space(error));
            }
            return Ok(SinkState::Open(OpenSink { sender, prepared: Some(prepared) }));
        }
    }

    /// Names the memory that a message touches on its way out, as [`RemoteSink::footprint`].
    pub(crate) fn name_remote(&self, level: usize, name: &mut dyn FnMut(usize, usize)) -> bool {
        if level == 0 {
            name((&raw const self.remote.sender).addr(), size_of_val(&self.remote.sender));
            return true;
        }
        let Some(sender) = self.remote.sender.try_lock() else { return false };
        let Some(sender) = sender.as_deref() else { return false };
        if level == 1 {
            name((&raw const *sender).addr(), size_of_val(sender));
            return true;
        }
        sender.footprint(level - 2, name)
    }

    /// What others know it by; set once.
    pub(crate) fn is_known_as(&self, endpoint: Box<dyn PublisherEndpoint>) {
        self.match_listeners.is_counted(endpoint.counters());
        self.state.lock().counters = Some(endpoint.counters());
        let _ = self.remote.endpoint.set(endpoint);
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
        if let Some(sender) = self.remote.sender.try_lock().as_deref_mut().and_then(Option::as_deref_mut) {
            sender.let_go();
        }
    }

    /// Connects those for whom there was no room before. Returns how many are connected now.
    pub(crate) fn connect_again(&self) -> usize {
        let mut refused = std::mem::take(&mut *self.remote.refused.lock());
        let before = refused.len();
        refused.retain_mut(|other| self.try_to_connect(other).is_err());
        let connected = before - refused.len();
        if !refused.is_empty() {
            self.remote.refused.lock().append(&mut refused);
            self.session.has_refused();
        }
        connected
    }

    fn try_to_connect(&self, other: &mut JoiningSubscription) -> Result<(), CapacityError> {
        let Some(endpoint) = self.remote.endpoint.get() else { return Ok(()) };
        let mut sender = self.remote.sender.lock();
        let mut state = self.state.lock();
        if state.closed {
            return Ok(());
        }
        let next = state.sequence + 1;
        let made = match &mut *sender {
            Some(_) => Ok(()),
            none => endpoint.open(next).map(|made| *none = Some(made)),
        };
        let retained = state.retained.as_ref().map(|retained| &retained.0);
        let none = VecDeque::new();
        let connected = made.and_then(|()| {
            let Some(sender) = sender.as_deref_mut() else { return Ok(RetainedSent::default()) };
            sender.connect(other, next, retained.unwrap_or(&none))
        });
        self.mark_sink(&sender, &mut state);
        let brought_back = connected?;
        state.count(brought_back.work);
        drop((state, sender)); // the program's logger may publish
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
        let mut sender = self.remote.sender.lock();
        let mut state = self.state.lock();
        if let Some(sender) = sender.as_deref_mut() {
            sender.disconnect(subscription);
        }
        self.mark_sink(&sender, &mut state);
        true
    }

    fn mark_sink(&self, sender: &Option<Box<dyn RemoteSink>>, state: &mut PublisherState) {
        state.leaves = sender.as_ref().is_some_and(|sender| sender.is_connected());
        state.generation = 0; // the next publish looks
        self.leaves.store(state.leaves, Ordering::Relaxed); // checked again under the locks
    }

    /// A message to be written where it is published, if somebody outside listens and the type allows it.
    pub(crate) fn loan_shared(&self) -> Option<RawMessage> {
        if !self.leaves.load(Ordering::Relaxed) || !self.table.is_plain() {
            return None;
        }
        self.loan_in_chunk()
    }

    fn loan_in_chunk(&self) -> Option<RawMessage> {
        let size = self.table.layout.size();
        // If there is no room, an ordinary block does, and publishing says so.
        let mut loan = self.remote.endpoint.get()?.lend(size + 4)?;
        let (header, value) = loan.bytes_mut().split_at_mut(4);
        header.copy_from_slice(&[0, 1, 0, 0]); // plain CDR, little endian (DDS-XTypes 1.3, 7.6.3.1.2)
        let value = NonNull::from(value).cast::<u8>();
        if !value.addr().get().is_multiple_of(self.table.layout.align()) {
            return None;
        }
        let foreign = self.remote.foreign.get_or_init(|| Pool::for_foreign(self.table, FOREIGN));
        // SAFETY: a plain type: whatever bytes are there are a value; the loan keeps them, for this message alone.
        Some(unsafe { RawMessage::foreign(foreign, Backing::Loan(loan), value) })
    }

    /// A message of which there is only an image of so many bytes, to be written: where it will be published, if somebody outside listens.
    /// `None`: there is no memory for it.
    pub(crate) fn image_of(&self, length: usize) -> Option<RawMessage> {
        let images = self.remote.images.get_or_init(|| Pool::for_images(self.table, FOREIGN));
        let loan = match self.leaves.load(Ordering::Relaxed) {
            true => self.lend(length),
            // Nobody outside listens here, but where such images are passed on.
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

    /// Whether a message that its holder alone has is published without a copy, as far as that is known now.
    pub(crate) fn publishes_where_it_lies(&self, message: &RawMessage) -> bool {
        if !self.leaves.load(Ordering::Relaxed) {
            return true;
        }
        self.remote.endpoint.get().is_none_or(|endpoint| endpoint.sends_where_it_lies(message))
    }
}

impl ImageLender for PublisherCore {
    fn lend(&self, length: usize) -> Option<Loan> {
        if !self.leaves.load(Ordering::Relaxed) {
            return None;
        }
        self.remote.endpoint.get()?.lend(length)
    }
}

/// Control blocks for messages in shared memory that a publisher keeps.
const FOREIGN: usize = 64;
