//! What the threads that run callbacks are at, as they tell tools.
//!
//! A callback that doesn't return is seen by no other thread of its process: what comes meanwhile
//! isn't even fetched. So each thread of an executor has a record in which it notes what it begins,
//! and since when; a tool looks from outside.
//!
//! Written by the thread alone (its executor has it under a lock), read by tools:
//!
//! - A1 `since` (Relaxed), before A2: a reader that sees a callback sees its time, or that of a
//!   later one, but none before.
//! - A2 `running` (Release): what it begins, or 0 when it has nothing to do.
//! - A3 a reader loads `running` (Acquire; pairs with A2), then `since` (Relaxed).
//!
//! A thread that goes from one callback to the next doesn't say so in between. A crash leaves what
//! was there; its participant is dead then.

use crate::control::{Table, WorkerRecord, read_generation};
use crate::endpoint::EndpointKey;
use crate::error::CapacityError;
use crate::fork::Maker;
use crate::participant::Participant;
use crate::peer::Peer;
use crate::shm_ref::ShmRef;
use crate::sync::{Arc, AtomicU64, Ordering};
use std::fmt;

/// A callback, as tools are told of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Callback {
    /// That of a subscription, a server or a client.
    Of(EndpointKey),
    /// That of a timer of this node.
    Timer(EndpointKey),
    /// Another one of this node: of an event, a guard condition, a descriptor.
    Other(EndpointKey),
    /// One of another participant of the same process.
    Elsewhere,
}

/// A [`Callback`] in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PackedCallback(u64);

impl Callback {
    /// The callback as it is written down.
    pub fn task(self) -> PackedCallback {
        // A slot has 15 bits: above it there is room for the kind.
        let (kind, reference) = match self {
            Self::Of(key) => (1, key.reference()),
            Self::Timer(key) => (2, key.reference()),
            Self::Other(key) => (3, key.reference()),
            Self::Elsewhere => (4, 0),
        };
        PackedCallback(kind << 48 | reference)
    }

    /// What a word says, which is not to be trusted.
    fn of(word: u64) -> Option<Self> {
        let key = EndpointKey::of(word & 0xffff_ffff_ffff);
        match word >> 48 {
            1 => Some(Self::Of(key)),
            2 => Some(Self::Timer(key)),
            3 => Some(Self::Other(key)),
            4 => Some(Self::Elsewhere),
            _ => None,
        }
    }
}

/// The record of a thread that runs callbacks, for its executor: one thread at a time. Does nothing
/// in a forked child.
pub struct Worker {
    participant: Arc<Participant>,
    slot: u32,
    record: ShmRef<WorkerRecord>,
    maker: Maker,
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker").field("slot", &self.slot).finish_non_exhaustive()
    }
}

impl Worker {
    /// A record for one of an executor's threads. `executor` tells it from others of the
    /// participant.
    ///
    /// # Errors
    /// [`CapacityError`]: a participant has 1024 at most, or there is no room for it.
    pub fn new(participant: &Arc<Participant>, executor: u64, worker: u32) -> Result<Self, CapacityError> {
        let control = participant.control()?;
        let slot = control.allocate(Table::Workers)?;
        let record: ShmRef<WorkerRecord> = control.record(Table::Workers, slot)?;
        // Relaxed: T2 publishes it.
        record.executor.store(executor, Ordering::Relaxed);
        record.worker.store(u64::from(worker), Ordering::Relaxed);
        record.running.store(0, Ordering::Relaxed);
        record.since.store(0, Ordering::Relaxed);
        control.publish_quietly(Table::Workers, slot);
        Ok(Self { participant: participant.clone(), slot, record, maker: Maker::new() })
    }

    /// The participant that it belongs to.
    pub fn participant(&self) -> &Arc<Participant> {
        &self.participant
    }

    /// It begins a callback. `earliest`: the last moment known that comes before it, in steady
    /// nanoseconds.
    #[inline]
    pub fn begin(&self, task: PackedCallback, earliest: i64) {
        if self.maker.is_here() {
            begin(&self.record.running, &self.record.since, task.0, earliest);
        }
    }

    /// It has nothing to do.
    #[inline]
    pub fn rest(&self) {
        if self.maker.is_here() {
            self.record.running.store(0, Ordering::Release); // A2
        }
    }
}

/// A1, A2.
#[inline]
pub(crate) fn begin(running: &AtomicU64, since: &AtomicU64, task: u64, earliest: i64) {
    let before = since.load(Ordering::Relaxed).cast_signed(); // ours alone
    since.store(before.max(earliest).cast_unsigned(), Ordering::Relaxed); // A1: A2 carries it
    running.store(task, Ordering::Release); // A2: pairs with A3
}

/// A3: what it is in, and since when.
pub(crate) fn look(running: &AtomicU64, since: &AtomicU64) -> (u64, i64) {
    let task = running.load(Ordering::Acquire); // A3: pairs with A2
    (task, since.load(Ordering::Relaxed).cast_signed()) // A3: of this task, or of a later one
}

impl Drop for Worker {
    fn drop(&mut self) {
        if let Ok(control) = self.participant.control() {
            control.retire_quietly(Table::Workers, self.slot);
        }
    }
}

/// A thread that is in a callback, as it says itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Busy {
    /// The same for all threads of one executor.
    pub executor: u64,
    /// Which of them.
    pub worker: u64,
    /// What it is in.
    pub callback: Callback,
    /// Steady nanoseconds. At most some milliseconds early, of callbacks that are usually short.
    pub since: i64,
}

impl Peer {
    /// Its threads that are in a callback now, or were in one just now. A few loads for each; the
    /// peer knows nothing of it.
    pub fn busy(&self) -> Vec<Busy> {
        let Some(records) = self.records::<WorkerRecord>(Table::Workers) else { return Vec::new() };
        let busy = |record: &WorkerRecord| {
            let (_, (executor, worker, (running, since))) = read_generation(&record.generation, || {
                let load = |word: &AtomicU64| word.load(Ordering::Relaxed); // T3 checks it
                (load(&record.executor), load(&record.worker), look(&record.running, &record.since))
            })?;
            let callback = Callback::of(running)?;
            Some(Busy { executor, worker, callback, since })
        };
        records.iter().filter_map(busy).collect()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_callback_fits_into_a_word() {
        let key = EndpointKey { slot: 0x7fff, generation: u32::MAX };
        for callback in [Callback::Of(key), Callback::Timer(key), Callback::Other(key), Callback::Elsewhere] {
            assert_eq!(Callback::of(callback.task().0), Some(callback));
        }
        assert_eq!((Callback::of(0), Callback::of(5 << 48), Callback::of(u64::MAX)), (None, None, None));
    }
}
