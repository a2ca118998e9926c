//! Memory for a writer's messages: lending it, and taking it back from older messages.

use crate::chunk::loan::{Lent, Loan};
use crate::chunk::pool::Pool;
use crate::error::CapacityError;
use crate::platform::sync::Arc;
use crate::segment::slab::class_of;
use crate::writer::message_writer::{Writer, slot_index};
use std::fmt;

impl Writer {
    /// Lends memory for an encoded message of `length` bytes. If necessary, the oldest messages
    /// make room: first those that all readers have read, then those that only readers that needn't
    /// get every message have yet to read. No message is dropped that wouldn't make room. Allocates
    /// nothing once warm.
    ///
    /// # Errors
    /// [`CapacityError`]: the file system is full, and the messages that may make room don't
    /// suffice: the remaining ones are being read, are retained, or must still be read.
    pub fn loan(&mut self, length: usize) -> Result<Loan, CapacityError> {
        self.loan_for(self.next, length)
    }

    /// Like [`loan`](Self::loan), for a message that was published before and is to be [brought
    /// back](Self::bring_back). Only messages before it make room: if the newest message is brought
    /// back first, none that was brought back already is lost.
    ///
    /// # Errors
    /// As [`loan`](Self::loan).
    pub fn loan_for(&mut self, number: u64, length: usize) -> Result<Loan, CapacityError> {
        loop {
            let error = match self.pool.loan(length) {
                Err(error) => error,
                loaned => return loaned,
            };
            let room = match &error {
                CapacityError::FileSystem { .. } => Some(self.endpoint.own.domain.usable(class_of(length))),
                CapacityError::System(_) => None, // no descriptor: a larger chunk needs none
                _ => return Err(error),
            };
            if !self.displace(class_of(length), number, room) {
                return Err(error);
            }
        }
    }

    /// Returns a handle that lends memory for this writer's messages without the writer's lock.
    pub fn lender(&self) -> Lender {
        Lender(self.pool.clone())
    }

    /// W0: releases the chunks of the messages that all readers have read and that aren't retained
    /// for late joiners. Returns `true` if there were any. Publishing a large message does it each
    /// time. The helper thread gives memory back that wasn't needed for some seconds.
    pub fn let_go(&mut self) -> bool {
        let readers = self.connections.iter().chain(&self.ending);
        let passed = readers.map(|connection| connection.accepted.passed(false)).min();
        let end = passed.unwrap_or(u64::MAX).min(self.not_retained());
        let mut is_any = false;
        while self.withdraw(end, |_| true) {
            is_any = true;
        }
        is_any
    }

    /// Lets [go](Self::let_go) of what was read, for writers that publish seldom. Returns `true` if
    /// it must be called again: messages were published since the last call, or are still to be
    /// read. If not, the next message with a chunk [requests a
    /// look](crate::transport::Participant::request_look), so that an observer calls this again.
    pub fn tidy(&mut self) -> bool {
        self.let_go();
        let slots = self.named.len();
        let mut unread = self.oldest.max(self.next.saturating_sub(slots as u64))..self.not_retained();
        let has_published = self.tidied.is_some_and(|next| next != self.next);
        let is_needed = has_published || unread.any(|number| self.named[slot_index(number, slots)].is_some());
        self.tidied = is_needed.then_some(self.next);
        is_needed
    }

    /// The number of the first message that is retained for late joiners.
    fn not_retained(&self) -> u64 {
        self.next.saturating_sub(self.retained)
    }

    /// Makes room for a chunk of this class: W0 of the messages that all readers have read. If
    /// there are none, W0 of the oldest message before number `before` that a reader may miss,
    /// provided that such messages make enough room. A message that a reader, or anything else in
    /// this process, still holds makes none. For `room` see
    /// [`would_do`](crate::memory::data_segments::Memory::would_do). Returns `false` if no message
    /// that may be withdrawn would make room.
    #[cold]
    pub(crate) fn displace(&mut self, class: usize, before: u64, room: Option<i64>) -> bool {
        let readers = || self.connections.iter().chain(&self.ending);
        readers().for_each(|connection| connection.accepted.look_for_reader());
        let bound = readers().filter(|connection| connection.capacity.is_some());
        let end = bound.map(|connection| connection.accepted.passed(true)).min();
        if self.let_go() {
            return true;
        }
        let end = end.unwrap_or(u64::MAX).min(before).min(self.next);
        let slots = self.named.len();
        let first = self.oldest.max(self.next.saturating_sub(slots as u64));
        let may_go = (first..end).filter_map(|number| self.named[slot_index(number, slots)].as_ref());
        // A chunk that was published several times is named several times.
        let mut named: Vec<u64> = may_go.clone().map(Lent::name).collect();
        named.sort_unstable();
        let own = &self.endpoint.own;
        let mut held = Vec::new();
        // A hint, as the reference counts are: other threads change both.
        own.readers.collect_held(&mut held);
        held.sort_unstable();
        let is_freed = |lent: &Lent| {
            let name = lent.name();
            let (begin, end) =
                (named.partition_point(|&other| other < name), named.partition_point(|&other| other <= name));
            lent.references() <= 1 + (end - begin) && held.binary_search(&name).is_err()
        };
        let mut freed: Vec<u64> = may_go.filter(|lent| is_freed(lent)).map(Lent::name).collect();
        freed.sort_unstable();
        own.memory.would_do(class, &freed, room) && self.withdraw(end, is_freed)
    }

    /// W0 of the oldest message before `end` that has a chunk and may go. Returns `false` if there
    /// is none.
    fn withdraw(&mut self, end: u64, may_go: impl Fn(&Lent) -> bool) -> bool {
        if self.endpoint.own.is_forked() {
            return false;
        }
        let slots = self.named.len();
        self.oldest = self.oldest.max(self.next.saturating_sub(slots as u64));
        for number in self.oldest..end.min(self.next) {
            let named = &mut self.named[slot_index(number, slots)];
            if let Some(lent) = named.take_if(|lent| may_go(lent)) {
                self.ring.withdraw(number);
                drop(lent);
                return true;
            }
            if named.is_none() && number == self.oldest {
                self.oldest += 1;
            }
        }
        false
    }
}

/// A handle that lends memory for the messages of one writer.
#[derive(Clone)]
pub struct Lender(Arc<Pool>);

impl fmt::Debug for Lender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Lender")
    }
}

impl Lender {
    #[cfg(all(test, not(loom)))]
    pub(crate) fn pool(&self) -> &Arc<Pool> {
        &self.0
    }

    /// Lends memory for an encoded message of `length` bytes. Once warm, allocates nothing and
    /// makes no system call; takes a short lock.
    ///
    /// # Errors
    /// [`CapacityError`]: the file system is full.
    #[inline]
    pub fn loan(&self, length: usize) -> Result<Loan, CapacityError> {
        self.0.loan(length)
    }
}
