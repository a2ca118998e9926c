//! A subscription's history: the messages it keeps, and those that must give way.
//!
//! Plain data without locks or clocks;
//! [`SubscriptionCore`](crate::topic::subscription_core::SubscriptionCore) adds both.

use crate::message::block::RawMessage;
use crate::message::info::{Publication, expiry};
use crate::sys::clock::Stamp;
use std::collections::{HashSet, VecDeque};

/// A message in a history.
pub(crate) struct Entry {
    pub(crate) message: RawMessage,
    pub(crate) publication: Publication,
    /// Number of the message among those that reached this history, from 1.
    pub(crate) reception: u64,
}

impl Entry {
    fn expired(&self, now: i64) -> bool {
        self.publication.expires <= now
    }
}

/// The place that a message gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Admission {
    /// Another message gives way to it, or it is lost.
    Any,
    /// A free place; if there is none, the message is returned.
    Free,
    /// A place that was reserved before.
    Reserved,
}

/// The reason why a message is not in the history any more, or never was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LossCause {
    /// keep_last: a newer one arrived.
    Overwritten,
    /// keep_all without back-pressure: there was no room for it.
    Refused,
    /// Its lifespan has ended.
    Expired,
}

/// Whether a subscription joins before or after its retained messages arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JoinOrder {
    /// It joins now, and no thread has seen its messages yet.
    Now,
    /// It joined before and has counted the messages that gave way: none gives way to older ones
    /// that arrive late.
    Before,
}

/// Counts of a subscription's messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct HistoryCounts {
    pub(crate) received: u64,
    pub(crate) taken: u64,
    pub(crate) overwritten: u64,
    /// Messages lost on their way here: they never counted as received.
    pub(crate) missed: u64,
    pub(crate) refused: u64,
    pub(crate) expired: u64,
}

/// Number of freed places that a subscription with many places reports together.
const NOTIFIED_TOGETHER: usize = 8;

/// The messages that a subscription still has to take, oldest first.
///
/// The oldest message is stored inline, next to everything else here: a history that is emptied as
/// fast as it fills never touches the queue behind it.
#[repr(C)]
pub(crate) struct HistoryCache {
    first: Oldest,
    /// Number of waiting messages.
    waiting: usize,
    /// Number of messages that arrived; of these, `taken` were taken.
    received: u64,
    taken: u64,
    /// The depth of keep_last, or the bound of keep_all.
    capacity: usize,
    /// Places reserved for publishers that are about to deliver.
    reserved: usize,
    /// Entries that can expire.
    mortal: usize,
    /// Counts of messages that were not taken; present if there are any.
    lost: Option<Box<Losses>>,
    keep_all: bool,
    /// Whether the history hands out nothing yet, because messages retained by publishers elsewhere
    /// are still arriving. All messages are in `rest`.
    is_held: bool,
    rest: VecDeque<Entry>,
}

/// The oldest message of a history, if there is any, in parts: taking it out writes one word.
#[repr(C)]
struct Oldest {
    message: Option<RawMessage>,
    /// These two belong to the message, or to an earlier one.
    publication: Publication,
    reception: u64,
}

impl Oldest {
    const NONE: Self = Self { message: None, publication: Publication::NONE, reception: 0 };

    #[inline]
    fn is_none(&self) -> bool {
        self.message.is_none()
    }

    #[inline]
    fn publication(&self) -> Option<&Publication> {
        self.message.is_some().then_some(&self.publication)
    }

    /// Puts a message where none is.
    #[inline]
    fn put(&mut self, Entry { message, publication, reception }: Entry) {
        debug_assert!(self.is_none());
        *self = Self { message: Some(message), publication, reception };
    }

    #[inline]
    fn take(&mut self) -> Option<Entry> {
        let message = self.message.take()?;
        Some(Entry { message, publication: self.publication, reception: self.reception })
    }
}

/// Counts of messages that were not taken.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Losses {
    pub(crate) overwritten: u64,
    /// Number of the overwritten messages that never arrived here.
    pub(crate) unread: u64,
    /// Messages lost on their way here: they never counted as received.
    pub(crate) missed: u64,
    pub(crate) refused: u64,
    pub(crate) expired: u64,
}

impl HistoryCache {
    /// Number of its first bytes that every message touches.
    pub(crate) const HOT: usize = std::mem::offset_of!(Self, rest);

    pub(crate) fn new(capacity: usize, keep_all: bool) -> Self {
        Self {
            first: Oldest::NONE,
            waiting: 0,
            received: 0,
            taken: 0,
            capacity,
            rest: VecDeque::new(), // grows with its use: most histories never fill
            keep_all,
            is_held: false,
            reserved: 0,
            mortal: 0,
            lost: None,
        }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.waiting
    }

    pub(crate) fn counts(&self) -> HistoryCounts {
        let Losses { overwritten, missed, refused, expired, .. } = self.losses().copied().unwrap_or_default();
        HistoryCounts { received: self.received, taken: self.taken, overwritten, missed, refused, expired }
    }

    /// Returns the number of messages that arrived, and the number of them that were taken.
    #[inline]
    pub(crate) fn received_and_taken(&self) -> (u64, u64) {
        (self.received, self.taken)
    }

    /// Returns the losses, if there were any.
    #[inline]
    pub(crate) fn losses(&self) -> Option<&Losses> {
        self.lost.as_deref()
    }

    #[cold]
    fn lose(&mut self) -> &mut Losses {
        self.lost.get_or_insert_default()
    }

    /// Stops handing out messages until [`open`](Self::open): there is no oldest message meanwhile.
    pub(crate) fn hold(&mut self) {
        self.is_held = true;
        if let Some(first) = self.first.take() {
            self.rest.push_front(first);
        }
    }

    /// Hands out the messages that arrived while the history was held.
    pub(crate) fn open(&mut self) {
        self.is_held = false;
        if self.first.is_none() {
            self.advance();
        }
    }

    /// Makes the next message the oldest, after that was taken out.
    fn advance(&mut self) {
        if let Some(next) = self.rest.pop_front() {
            self.first.put(next);
        }
    }

    /// Returns the publications of all messages here, oldest first.
    fn publications(&self) -> impl Iterator<Item = &Publication> {
        self.first.publication().into_iter().chain(self.rest.iter().map(|entry| &entry.publication))
    }

    /// Whether nothing is handed out yet.
    #[inline]
    pub(crate) fn is_held(&self) -> bool {
        self.is_held
    }

    /// Counts a message that is taken as soon as it arrives. Returns its number.
    #[inline]
    pub(crate) fn pass(&mut self) -> u64 {
        self.received += 1;
        self.taken += 1;
        self.received
    }

    /// Counts messages that were overwritten elsewhere before they arrived.
    pub(crate) fn count_lost(&mut self, count: u64) {
        self.received += count;
        let lost = self.lose();
        lost.overwritten += count;
        lost.unread += count;
    }

    /// Counts messages that were lost on their way here.
    pub(crate) fn count_missed(&mut self, count: u64) {
        self.lose().missed += count;
    }

    /// Returns the publication of the oldest message of this publisher.
    pub(crate) fn oldest_of(&self, publisher: u64) -> Option<Publication> {
        self.publications().find(|publication| publication.publisher == publisher).copied()
    }

    /// Returns the publication of the oldest message.
    #[inline]
    pub(crate) fn first(&self) -> Option<&Publication> {
        self.first.publication()
    }

    /// Returns the stamp of the oldest message.
    #[inline]
    pub(crate) fn oldest(&self) -> Option<Stamp> {
        self.first.publication().map(|publication| publication.stamp)
    }

    /// Whether a message could be added without another giving way.
    #[inline]
    pub(crate) fn has_room(&self) -> bool {
        self.free() > 0
    }

    /// Returns the number of places that are neither taken nor reserved.
    #[inline]
    pub(crate) fn free(&self) -> usize {
        self.capacity.saturating_sub(self.len() + self.reserved)
    }

    /// Reserves a place, if there is a free one.
    #[inline]
    pub(crate) fn reserve_free(&mut self) -> bool {
        let granted = self.has_room();
        self.reserved += usize::from(granted);
        granted
    }

    /// Returns the number of free places that a blocked publisher waits for: half of all, so that
    /// it doesn't wait for every message.
    pub(crate) fn half(&self) -> usize {
        (self.capacity / 2).max(1)
    }

    /// Whether the subscription notifies publishers elsewhere at once that it took the message with
    /// this number, because places may be short or no message waits any more. Otherwise it reports
    /// several places together.
    #[inline]
    pub(crate) fn is_to_be_notified(&self, reception: u64) -> bool {
        let half = self.half();
        half < 8 * NOTIFIED_TOGETHER
            || self.free() < half
            || self.first.is_none()
            || reception.is_multiple_of(NOTIFIED_TOGETHER as u64)
    }

    /// Reserves a place for a publisher, if there is one; an expired message gives way. Also
    /// returns the message that gave way.
    pub(crate) fn reserve(&mut self, now: i64) -> (bool, Option<Entry>) {
        let freed = if self.has_room() { None } else { self.remove_expired(now) };
        (self.reserve_free(), freed)
    }

    /// Releases a reserved place.
    pub(crate) fn unreserve(&mut self) {
        self.reserved -= 1;
    }

    /// Adds a message, for at most `lifespan` nanoseconds. Returns the message that had to give
    /// way, which may be the new one.
    #[inline]
    pub(crate) fn push(
        &mut self,
        message: RawMessage,
        publication: &Publication,
        lifespan: i64,
        place: Admission,
    ) -> Option<(RawMessage, LossCause)> {
        let mut out = None;
        if place == Admission::Reserved {
            self.reserved -= 1;
        } else if !self.has_room() {
            // A publication's stamp serves as the present time: it was read for this message.
            out = self.make_room(publication.stamp.time);
            if out.is_none() {
                self.lose().refused += 1;
                return Some((message, LossCause::Refused));
            }
        }
        let expires = publication.expires.min(expiry(publication.stamp.time, lifespan));
        self.mortal += usize::from(expires != i64::MAX);
        self.received += 1;
        self.waiting += 1;
        let reception = self.received;
        let entry = Entry { message, publication: Publication { expires, ..*publication }, reception };
        if self.first.is_none() && !self.is_held {
            self.first.put(entry);
        } else {
            self.rest.push_back(entry);
        }
        out
    }

    /// Removes the message that gives way to a new one in a full history: one that has expired, or
    /// with keep_last the oldest.
    #[cold]
    fn make_room(&mut self, now: i64) -> Option<(RawMessage, LossCause)> {
        if let Some(expired) = self.remove_expired(now) {
            return Some((expired.message, LossCause::Expired));
        }
        if self.keep_all {
            return None;
        }
        let oldest = self.remove(0)?;
        self.lose().overwritten += 1;
        Some((oldest.message, LossCause::Overwritten))
    }

    /// Returns the time at which the first message expires.
    pub(crate) fn first_expiry(&self) -> Option<i64> {
        if self.mortal == 0 {
            return None;
        }
        self.publications()
            .map(|publication| publication.expires)
            .filter(|&expires| expires != i64::MAX)
            .min()
    }

    /// Whether there are messages that can expire.
    #[inline]
    pub(crate) fn has_mortals(&self) -> bool {
        self.mortal > 0
    }

    /// Removes the oldest message of a history without any that [can expire](Self::has_mortals).
    #[inline]
    pub(crate) fn pop_first(&mut self) -> Option<Entry> {
        debug_assert!(self.mortal == 0);
        let entry = self.remove_first()?;
        self.taken += 1;
        Some(entry)
    }

    #[inline]
    fn remove_first(&mut self) -> Option<Entry> {
        let entry = self.first.take()?;
        self.waiting -= 1;
        if self.waiting > 0 {
            self.advance();
        }
        Some(entry)
    }

    /// Removes the oldest message that has not expired; passes expired messages to `expired`.
    #[inline]
    pub(crate) fn pop(&mut self, now: impl Fn() -> i64, mut expired: impl FnMut(Entry)) -> Option<Entry> {
        loop {
            let entry = self.remove_first()?;
            if entry.publication.expires != i64::MAX {
                self.mortal -= 1;
                if entry.expired(now()) {
                    self.lose().expired += 1;
                    expired(entry);
                    continue;
                }
            }
            self.taken += 1;
            return Some(entry);
        }
    }

    /// Adds messages that publishers had retained when this subscription joined to those that
    /// arrived since: each message once, in order of publication, the newest ones that fit. Returns
    /// the others.
    ///
    /// The waiting messages are renumbered.
    pub(crate) fn merge(&mut self, retained: Vec<Entry>, now: i64, joins: JoinOrder) -> Vec<Entry> {
        let identity = |entry: &Entry| (entry.publication.publisher, entry.publication.sequence);
        let mut all: Vec<Entry> = self.drain().into();
        let arrived: HashSet<_> = all.iter().map(identity).collect();
        let is_wanted = |entry: &Entry| !arrived.contains(&identity(entry)) && !entry.expired(now);
        let (mut older, mut out): (Vec<_>, Vec<_>) = retained.into_iter().partition(is_wanted);
        let by_age = |entry: &Entry| (entry.publication.stamp, identity(entry));
        let room = self.capacity.saturating_sub(self.reserved);
        match joins {
            // Messages that gave way while the subscription joined never counted as received or
            // lost; messages lost on their way from another process did.
            JoinOrder::Now => {
                if let Some(lost) = &mut self.lost {
                    (lost.overwritten, lost.expired) = (lost.unread, 0);
                }
            }
            JoinOrder::Before if self.is_held => {} // no message was handed out: the newest of all stay
            JoinOrder::Before => {
                older.sort_by_key(by_age);
                let surplus = older.len().saturating_sub(room.saturating_sub(all.len()));
                out.extend(older.drain(..surplus));
            }
        }
        all.append(&mut older);
        all.sort_by_key(by_age);
        let surplus = all.len().saturating_sub(room);
        out.extend(all.drain(..surplus));
        let before = self.taken + self.losses().map_or(0, |lost| lost.overwritten + lost.expired);
        for (entry, reception) in all.iter_mut().zip(before + 1..) {
            entry.reception = reception;
        }
        self.mortal = all.iter().filter(|entry| entry.publication.expires != i64::MAX).count();
        self.waiting = all.len();
        self.received = before + all.len() as u64;
        self.rest = all.into();
        if !self.is_held {
            self.advance();
        }
        out
    }

    /// Removes all messages, when the subscription is closed.
    pub(crate) fn drain(&mut self) -> VecDeque<Entry> {
        self.mortal = 0;
        let mut all = std::mem::take(&mut self.rest);
        if let Some(first) = self.first.take() {
            all.push_front(first);
        }
        self.waiting -= all.len();
        self.received -= all.len() as u64; // messages that no thread took never count
        all
    }

    fn remove_expired(&mut self, now: i64) -> Option<Entry> {
        if self.mortal == 0 {
            return None;
        }
        let index = self.publications().position(|publication| publication.expires <= now)?;
        self.lose().expired += 1;
        self.remove(index)
    }

    fn remove(&mut self, index: usize) -> Option<Entry> {
        let entry = match index.checked_sub(1) {
            _ if self.is_held => self.rest.remove(index),
            Some(index) => self.rest.remove(index),
            None => {
                let first = self.first.take();
                self.advance();
                first
            }
        }?;
        self.waiting -= 1;
        self.mortal -= usize::from(entry.publication.expires != i64::MAX);
        Some(entry)
    }
}
