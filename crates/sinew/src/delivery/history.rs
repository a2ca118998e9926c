//! A subscription's history: what it keeps, and what must give way.
//!
//! Plain data without locks or clocks; [`Inbox`](super::inbox::Inbox) puts both around it.

use crate::clock::Stamp;
use crate::message::block::Erased;
use crate::message::info::Publication;
use std::collections::VecDeque;

/// A message in a history.
pub(crate) struct Entry {
    pub(crate) message: Erased,
    pub(crate) publication: Publication,
    /// Counts what reached this history, from 1.
    pub(crate) reception: u64,
}

impl Entry {
    fn expired(&self, now: i64) -> bool {
        self.publication.expires <= now
    }
}

/// Whether a place was reserved for a message before it came.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Any,
    Reserved,
}

/// Why a message is not in the history any more, or never was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    /// keep_last: a newer one came.
    Overwritten,
    /// keep_all without back-pressure: there was no room for it.
    Refused,
    /// Its lifespan was over.
    Expired,
}

/// What became of a subscription's messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) received: u64,
    pub(crate) taken: u64,
    pub(crate) overwritten: u64,
    pub(crate) refused: u64,
    pub(crate) expired: u64,
    pub(crate) copies: u64,
}

/// The messages a subscription still has to take, oldest first.
pub(crate) struct History {
    entries: VecDeque<Entry>,
    /// The depth of keep_last, or the bound of keep_all.
    capacity: usize,
    keep_all: bool,
    /// Places promised to publishers that are about to deliver.
    reserved: usize,
    /// Entries that can expire.
    mortal: usize,
    pub(crate) counts: Counts,
}

impl History {
    pub(crate) fn new(capacity: usize, keep_all: bool) -> Self {
        let entries = VecDeque::new(); // grows with its use: most histories never fill
        Self { entries, capacity, keep_all, reserved: 0, mortal: 0, counts: Counts::default() }
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The stamp of the oldest message.
    #[inline]
    pub(crate) fn oldest(&self) -> Option<Stamp> {
        self.entries.front().map(|entry| entry.publication.stamp)
    }

    /// Whether a message could come in without anything giving way.
    fn has_room(&self) -> bool {
        self.entries.len() + self.reserved < self.capacity
    }

    /// Promises a place to a publisher, if there is one; an expired message gives way. What gave way is returned.
    pub(crate) fn reserve(&mut self, now: i64) -> (bool, Option<Entry>) {
        let freed = if self.has_room() { None } else { self.remove_expired(now) };
        let granted = self.has_room();
        self.reserved += usize::from(granted);
        (granted, freed)
    }

    /// Takes back a promise.
    pub(crate) fn unreserve(&mut self) {
        self.reserved -= 1;
    }

    /// Brings a message in. Returns what had to give way, which may be the message itself.
    #[inline]
    pub(crate) fn push(
        &mut self,
        message: Erased,
        publication: &Publication,
        place: Place,
    ) -> Option<(Entry, Cause)> {
        let entry = Entry { message, publication: *publication, reception: self.counts.received + 1 };
        if place == Place::Reserved {
            self.reserved -= 1;
        }
        let mut out = None;
        if !self.has_room() && place == Place::Any {
            // A publication's stamp is as good as the time now: it was read for this message.
            out = self.remove_expired(publication.stamp.time).map(|entry| (entry, Cause::Expired));
            if out.is_none() && self.keep_all {
                self.counts.refused += 1;
                return Some((entry, Cause::Refused));
            }
            if out.is_none() {
                out = self.remove(0).map(|entry| (entry, Cause::Overwritten));
                self.counts.overwritten += 1;
            }
        }
        self.counts.received += 1;
        self.mortal += usize::from(entry.publication.expires != i64::MAX);
        self.entries.push_back(entry);
        out
    }

    /// The oldest message that has not expired; `expired` gets those that have.
    #[inline]
    pub(crate) fn pop(&mut self, now: impl Fn() -> i64, mut expired: impl FnMut(Entry)) -> Option<Entry> {
        loop {
            let entry = self.entries.pop_front()?;
            if entry.publication.expires != i64::MAX {
                self.mortal -= 1;
                if entry.expired(now()) {
                    self.counts.expired += 1;
                    expired(entry);
                    continue;
                }
            }
            self.counts.taken += 1;
            return Some(entry);
        }
    }

    /// Brings in what publishers had retained when this subscription joined, among what arrived since: each message
    /// once, in order of publication, the newest ones that fit. Returns the others.
    ///
    /// Nothing may have been taken yet.
    pub(crate) fn merge(&mut self, retained: Vec<Entry>, now: i64) -> Vec<Entry> {
        let identity = |entry: &Entry| (entry.publication.publisher, entry.publication.sequence);
        let arrived: std::collections::HashSet<_> = self.entries.iter().map(identity).collect();
        let mut out = Vec::new();
        let mut all: Vec<Entry> = self.entries.drain(..).collect();
        for entry in retained {
            if arrived.contains(&identity(&entry)) || entry.expired(now) {
                out.push(entry);
            } else {
                all.push(entry);
            }
        }
        all.sort_by_key(|entry| (entry.publication.stamp, identity(entry)));
        let room = self.capacity.saturating_sub(self.reserved);
        let surplus = all.len().saturating_sub(room);
        out.extend(all.drain(..surplus));
        for (entry, reception) in all.iter_mut().zip(1..) {
            entry.reception = reception;
        }
        self.mortal = all.iter().filter(|entry| entry.publication.expires != i64::MAX).count();
        self.counts = Counts { received: all.len() as u64, ..self.counts };
        self.entries = all.into();
        out
    }

    /// Everything, when the subscription goes.
    pub(crate) fn drain(&mut self) -> VecDeque<Entry> {
        self.mortal = 0;
        std::mem::take(&mut self.entries)
    }

    fn remove_expired(&mut self, now: i64) -> Option<Entry> {
        if self.mortal == 0 {
            return None;
        }
        let index = self.entries.iter().position(|entry| entry.expired(now))?;
        self.counts.expired += 1;
        self.remove(index)
    }

    fn remove(&mut self, index: usize) -> Option<Entry> {
        let entry = self.entries.remove(index)?;
        self.mortal -= usize::from(entry.publication.expires != i64::MAX);
        Some(entry)
    }
}
