//! The counters of an entity, for their owner.
//!
//! They lie in shared memory, where other processes read them without the owner's involvement. A
//! forked child doesn't have that memory. It is protected by a number that the `fork` handler
//! increments in the child.

use crate::platform::fork::Maker;
use crate::platform::shm_ref::ShmRef;
use crate::platform::sync::{AtomicU64, Ordering};
use crate::tables::control_segment::{BUCKETS, EndpointRecord};
use crate::tables::endpoint::{Counter, EndpointKey};
use std::fmt;

/// The counters of an entity. Except for [`count`](Self::count), for one thread at a time; does
/// nothing in a forked child.
#[derive(Clone)]
pub struct Counters {
    record: ShmRef<EndpointRecord>,
    key: EndpointKey,
    maker: Maker,
}

impl fmt::Debug for Counters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Counters")
    }
}

impl Counters {
    pub(crate) fn new(record: ShmRef<EndpointRecord>, key: EndpointKey) -> Self {
        Self { record, key, maker: Maker::new() }
    }

    /// Returns the entity that they count for.
    pub fn key(&self) -> EndpointKey {
        self.key
    }

    /// Stores how many bytes of memory the entity has for messages. May run on another thread than
    /// the other methods.
    pub(crate) fn set_memory(&self, bytes: usize) {
        if self.maker.is_here() {
            self.record.memory.store(bytes as u64, Ordering::Relaxed); // independent of other words
        }
    }

    /// Stores the time of the entity's last heartbeat, in steady nanoseconds of the machine.
    #[inline]
    pub fn set_alive(&self, at: i64) {
        if self.maker.is_here() {
            self.record.alive.store(at.cast_unsigned(), Ordering::Relaxed); // independent of other words
        }
    }

    /// Sets one counter.
    #[inline]
    pub fn set(&self, counter: Counter, value: u64) {
        self.set_all([(counter, value)]);
    }

    /// Sets several counters.
    #[inline]
    pub fn set_all<const N: usize>(&self, values: [(Counter, u64); N]) {
        if self.maker.is_here() {
            for (counter, value) in values {
                // Each is independent of other words.
                self.record.counters[counter as usize].store(value, Ordering::Relaxed);
            }
        }
    }

    /// Names the memory of the counters, without the histogram of latencies, by address and bytes,
    /// for a thread that prefetches it.
    pub fn footprint(&self, name: &mut dyn FnMut(usize, usize)) {
        if self.maker.is_here() {
            let counters = &self.record.counters;
            name(counters.as_ptr().addr(), size_of_val(counters));
        }
    }

    /// Adds to one counter.
    #[inline]
    pub fn add(&self, counter: Counter, more: u64) {
        if self.maker.is_here() {
            let word = &self.record.counters[counter as usize];
            word.store(word.load(Ordering::Relaxed).wrapping_add(more), Ordering::Relaxed); // as `set_all`
        }
    }

    /// Adds to a word of a [report](crate::EndpointKind::Report); several threads may add at once.
    /// Does nothing beyond the last word.
    #[inline]
    pub fn count(&self, index: usize, more: u64) {
        if let Some(word) = self.word(index) {
            word.fetch_add(more, Ordering::Relaxed); // independent of other words
        }
    }

    /// Sets a word of a report. If several threads set it, the last one counts.
    #[inline]
    pub fn store(&self, index: usize, value: u64) {
        if let Some(word) = self.word(index) {
            word.store(value, Ordering::Relaxed); // as `count`
        }
    }

    fn word(&self, index: usize) -> Option<&AtomicU64> {
        self.record.counters.get(index).filter(|_| self.maker.is_here())
    }

    /// Adds a latency, in nanoseconds, to the histogram.
    pub fn record_latency(&self, nanoseconds: u64) {
        if self.maker.is_here() {
            let bucket = (63 - (nanoseconds | 1).leading_zeros() as usize).min(BUCKETS - 1);
            let word = &self.record.histogram[bucket];
            word.store(word.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed); // as `set_all`
        }
        self.add(Counter::Latencies, nanoseconds);
    }
}
