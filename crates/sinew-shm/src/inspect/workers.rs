//! The state of the threads that run callbacks, published for tools.
//!
//! A callback that doesn't return leaves no other trace: messages that arrive meanwhile aren't even
//! fetched. So each thread of an executor has a record of the callback that it is running and of
//! the time when it began. A tool reads the record from outside.
//!
//! Only the thread writes its record (its executor holds it under a lock); tools read it:
//!
//! - A1 `since` (Relaxed), before A2: a reader that sees a callback sees its time or that of a
//!   later one, but none before.
//! - A2 `running` (Release): the callback that begins, or 0 when the thread has nothing to do.
//! - A3 a reader loads `running` (Acquire; pairs with A2), then `since` (Relaxed).
//!
//! A thread that goes from one callback to the next doesn't publish the gap between them. A crash
//! leaves the last state; the participant is dead then.

use crate::error::CapacityError;
use crate::participant::Participant;
use crate::peer::mapped_peer::Peer;
use crate::platform::fork::Maker;
use crate::platform::shm_ref::ShmRef;
use crate::platform::sync::{Arc, AtomicU64, Ordering};
use crate::tables::control_segment::{Table, WorkerRecord, read_generation};
use crate::tables::endpoint::EndpointKey;
use std::fmt;

/// A callback, as tools see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Callback {
    /// The callback of a subscription, a server or a client.
    Of(EndpointKey),
    /// The callback of a timer of this node.
    Timer(EndpointKey),
    /// Another callback of this node: of an event, a guard condition or a descriptor.
    Other(EndpointKey),
    /// A callback that belongs to another participant of the same process.
    Elsewhere,
}

/// A [`Callback`] in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PackedCallback(u64);

impl Callback {
    /// Packs the callback into a word.
    pub fn task(self) -> PackedCallback {
        // A slot has 15 bits, so there is room above it for the kind.
        let (kind, reference) = match self {
            Self::Of(key) => (1, key.reference()),
            Self::Timer(key) => (2, key.reference()),
            Self::Other(key) => (3, key.reference()),
            Self::Elsewhere => (4, 0),
        };
        PackedCallback(kind << 48 | reference)
    }

    /// Unpacks a word, which is not trusted.
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

/// The record of a thread that runs callbacks. The executor uses it on one thread at a time. Does
/// nothing in a forked child.
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
    /// Makes a record for one of an executor's threads. `executor` distinguishes it from the other
    /// executors of the participant.
    ///
    /// # Errors
    /// [`CapacityError`]: a participant has at most 1024 records, or there is no room for another
    /// one.
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

    /// Returns the participant that the record belongs to.
    pub fn participant(&self) -> &Arc<Participant> {
        &self.participant
    }

    /// Notes that a callback begins. `earliest` is the latest moment known to precede it, in steady
    /// nanoseconds.
    #[inline]
    pub fn begin(&self, task: PackedCallback, earliest: i64) {
        if self.maker.is_here() {
            begin(&self.record.running, &self.record.since, task.0, earliest);
        }
    }

    /// Notes that the thread has nothing to do.
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

/// A3: returns the callback that the thread is running, and the time when it began.
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

/// A thread that is running a callback, according to its own record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Busy {
    /// The executor's number, the same for all its threads.
    pub executor: u64,
    /// The thread's number in its executor.
    pub worker: u64,
    /// The callback that the thread is running.
    pub callback: Callback,
    /// Start of the callback in steady nanoseconds. At most some milliseconds early if callbacks
    /// are usually short.
    pub since: i64,
}

impl Peer {
    /// Returns the participant's threads that are running a callback, or ran one a moment ago.
    /// Takes a few loads per thread; the peer doesn't notice.
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
