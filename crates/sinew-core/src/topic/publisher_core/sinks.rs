//! A publisher's sinks, one for each transport, and the state of a message on its way through them.

use crate::executor::prefetch::NoteIndex;
use crate::message::block::{OwnPool, RawMessage};
use crate::message::info::{Publication, SourceInfo};
use crate::message::work::CopyWork;
use crate::sys::sync::{AtomicBool, Guard, Mutex, Ordering};
use crate::topic::remote_sink::{Content, JoiningSubscription, Prepared, PublisherEndpoint, RemoteSink};
use sinew_shm::CapacityError;
use std::sync::OnceLock;
use std::time::Duration;

/// A publisher's way out of the process.
#[derive(Default)]
pub(crate) struct RemoteDelivery {
    /// The sinks; each is created once a subscription matched. Locked before the publisher's state.
    pub(super) sinks: Mutex<Vec<Slot>>,
    /// The publisher's endpoints as other processes see them; set once.
    pub(super) endpoints: OnceLock<Vec<Box<dyn PublisherEndpoint>>>,
    /// Subscriptions elsewhere that are not connected yet, for lack of room.
    pub(super) refused: Mutex<Vec<JoiningSubscription>>,
    /// Control blocks for messages lent in the memory from which they are published.
    pub(super) foreign: OnceLock<OwnPool>,
    /// The same for messages that exist only in encoded form.
    pub(super) encoded: OnceLock<OwnPool>,
    /// Whether the log already reports why messages don't leave.
    has_complained: AtomicBool,
    /// Metadata of the message being republished for a publisher on the network.
    pub(super) source: Mutex<Option<ForeignMessage>>,
    /// The numbering of such messages.
    pub(super) numbering: Mutex<Numbering>,
    /// Index of the note that the publishing thread made of this publisher.
    pub(crate) place: NoteIndex,
}

impl RemoteDelivery {
    /// Runs `say` the first time only: the cause is the same for each message.
    pub(super) fn says_once(&self, say: impl FnOnce()) {
        if !self.has_complained.swap(true, Ordering::Relaxed) {
            say(); // has its own counter of log lines
        }
    }
}

/// A sink, and the state of the message being published on its way through it.
pub(super) struct Slot {
    pub(super) sink: Box<dyn RemoteSink>,
    /// The endpoint that made it.
    pub(super) endpoint: usize,
    pub(super) is_connected: bool,
    /// Whether a connected subscription must get every message, and so may lack room.
    pub(super) is_bound: bool,
    /// Maximum length of an encoded form that needs no memory of the sink: it is not asked then.
    pub(super) inline: usize,
    /// Memory for the message's encoded form, during one publish.
    pub(super) prepared: Option<Prepared>,
    /// The reason why there is none: subscriptions behind this sink miss the message.
    pub(super) failed: Option<CapacityError>,
}

/// The way out of the process, during one publish.
pub(super) trait Beyond {
    /// Whether messages leave the process.
    fn is_open(&self) -> bool;

    /// Whether every subscription elsewhere that must get every message has room for one.
    fn has_room(&mut self) -> bool;

    /// Reserves memory for the encoded forms; returns whether there is enough for all.
    fn prepare(&mut self, content: &mut impl Content) -> bool;

    /// Returns the work of sending what was prepared.
    fn work(&self) -> CopyWork;

    /// Sends the message. Returns a warning if there was no room for the first time. `content` is
    /// given unless it was encoded before.
    fn send(
        &mut self,
        publication: &Publication,
        content: Option<&impl Content>,
        topic: &str,
    ) -> Option<String>;
}

/// For a message that stays in the process.
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

/// The locked sinks; without slots if the message stays in this process, as only the publish finds
/// out.
pub(super) struct Sinks<'a> {
    slots: Option<Guard<'a, Vec<Slot>>>,
    /// The work of sending what is prepared.
    work: CopyWork,
    /// Whether a slot is prepared and not sent.
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
    pub(super) fn new(slots: Option<Guard<'a, Vec<Slot>>>) -> Self {
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
    pub(super) fn connected(&mut self) -> impl Iterator<Item = &mut Slot> {
        let slots = self.slots.as_deref_mut().map_or(&mut [][..], Vec::as_mut_slice);
        slots.iter_mut().filter(|slot| slot.is_connected)
    }

    /// Encodes the message now, because it is about to be given away.
    pub(super) fn encode(&mut self, message: &RawMessage) {
        for slot in self.connected() {
            if let Some(prepared) = slot.prepared.take() {
                let encoded = prepared.encode(&mut *slot.sink, message);
                slot.prepared = Some(encoded.map_or(Prepared::Written, Prepared::There));
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
        self.connected().all(|slot| !slot.is_bound || slot.sink.has_room())
    }

    #[inline]
    fn prepare(&mut self, content: &mut impl Content) -> bool {
        let length = content.length();
        let (mut are_all, mut work) = (true, CopyWork::NONE);
        self.is_prepared = true;
        for slot in self.connected() {
            let message = content.message();
            if message.is_none() && length <= slot.inline {
                work = work + Prepared::Small(length).work(content);
                slot.prepared = Some(Prepared::Small(length));
                continue;
            }
            match slot.sink.prepare(length, message) {
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
            let encoded = match (prepared, content) {
                (prepared, Some(content)) => prepared.encode(&mut *slot.sink, content),
                (Prepared::There(encoded), None) => Some(encoded),
                (_, None) => None, // it is in the sink's buffer
            };
            slot.sink.send(publication, encoded);
        }
        warning
    }
}

impl Slot {
    /// Records that subscriptions behind this sink miss the message. Returns a warning the first
    /// time.
    #[cold]
    fn leave_out(&mut self, publication: &Publication, topic: &str) -> Option<String> {
        let error = self.failed.take()?;
        self.sink.leave_out(publication).then(|| {
            format!("messages on {topic} reach subscriptions of this process only, others miss them: {error}")
        })
    }
}

/// Metadata of the message being republished for a publisher on the network.
pub(super) struct ForeignMessage {
    pub(super) source: SourceInfo,
    pub(super) numbering: Numbering,
    pub(super) max_blocking: Duration,
}

/// The amount by which the original publisher's sequence numbers exceed those given here.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Numbering {
    pub(super) difference: u64,
    pub(super) identity: u64,
}

impl Numbering {
    /// Returns a publication with its original sequence number, published `earlier` nanoseconds
    /// before.
    pub(super) fn of(self, here: Publication, earlier: i64, is_kept: bool) -> Publication {
        let stamp = here.stamp.published_earlier(earlier, self.difference, is_kept);
        Publication { stamp, sequence: here.sequence.wrapping_add(self.difference), ..here }
    }
}
