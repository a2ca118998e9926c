//! The ring: a sequence of slots that a writer writes once for all its readers.
//!
//! # Purpose
//!
//! There is one writer and any number of readers, each of which may die at any instruction. The
//! writer never waits here, and never looks at a reader. (Each slot is a sequence lock; for the
//! fences see Hans Boehm, "Can seqlocks get along with programming language memory models?", MSPC
//! 2012.)
//!
//! # Layout
//!
//! A ring is a block of a data segment: a header of 64 bytes, then the slots. Word 0 of the header
//! is `slots << 32 | words per slot`, word 1 the number of the first message that was ever stored
//! here. Message `n` is in slot `n % slots`. A slot begins with [`HEAD`] words:
//!
//! | word | field | unit |
//! |---|---|---|
//! | 0 | sequence | one of the values below |
//! | 1 | length of the encoded message | bytes |
//! | 2 | chunk | 0: the bytes are in the slot; [`LEFT_OUT`]; else 1 + (segment << 32, index) |
//! | 3 | time of the publication's stamp | steady ns |
//! | 4 | order of the publication's stamp | |
//! | 5 | lineage: time of the chain's first publication | steady ns |
//! | 6 | lineage: id of the chain's first message | |
//! | 7.. | the encoded message, if it is in the slot | |
//!
//! The sequence is `2n + 1` while message n is being written, `2n + 2` once it is published,
//! [`MOVED`] in an outgrown ring, and 0 in a slot that was never used. [`LEFT_OUT`] means that the
//! bytes were not stored, because there was no room. Only the writer writes these words; all
//! participants read them.
//!
//! # Sync points
//!
//! Publish (one thread at a time):
//! - W1 sequence = 2n+1 (Relaxed), fence Release: a reader that sees what W2 writes sees that the
//!   slot changes.
//! - W2 fields and bytes (Relaxed).
//! - W3 sequence = 2n+2 (Release); pairs with R1; carries W2.
//!
//! Withdraw, if the chunk of message n is needed before the message's slot is:
//! - W0 chunk = [`LEFT_OUT`] (Relaxed), and nothing else: whenever the writer dies, the slot is
//!   consistent. A reader that hasn't read the message misses it; one that is about to read it in
//!   place notices (H5). The chunk is *retired*, as by W3 for message n + slots. The message may be
//!   brought back, in this chunk or another one, by W1 to W3.
//!
//! Copy out:
//! - R1 sequence (Acquire). Less than 2n+2: nothing new. Greater: overwritten.
//! - R2 fields and bytes (Relaxed).
//! - R3 fence Acquire, sequence unchanged (Relaxed); pairs with W1: had R2 read anything newer,
//!   this would see it.
//!
//! Read in place: R1 and R2 of the fields, then the hold (see [`hazards`](crate::hazards)), which
//! checks chunk and sequence in place of R3.
//!
//! Growth, under the writer's lock:
//! - G1 the live slots are copied to the new ring, with the same numbers.
//! - G2 its location is published in the entity's record (Release).
//! - G3 every old slot's sequence = MOVED (Release); pairs with R1; carries G2. Only then is
//!   anything published or released. Without this step the old ring would look valid for ever.
//!
//! At worst, a crash leaves a slot at 2n+1, which no reader takes.

use crate::error::{CapacityError, SegmentError};
use crate::platform::failpoints::{self, Point};
use crate::platform::shm_ref::ShmRef;
use crate::platform::sync::{AtomicU64, Ordering, fence};

/// The sequence of every slot of an outgrown ring.
pub(crate) const MOVED: u64 = u64::MAX;

/// In the word for the chunk: the message has no bytes. No chunk has this name, because segment
/// numbers have 31 bits.
const LEFT_OUT: u64 = u64::MAX;

/// Words of a slot before the encoded message.
pub(crate) const HEAD: usize = 7;

/// The greatest number of messages that a ring keeps. The requested depth may come from another
/// process.
pub(crate) const DEEPEST: usize = 1 << 24;

/// The greatest number of messages that a ring keeps for its readers, even if they request more:
/// the memory is the writer's.
const DEEPEST_FOR_READERS: usize = 1 << 16;

/// The greatest total size of slots, in bytes, that a ring has for its readers.
const LONGEST_FOR_READERS: usize = 64 << 20;

/// Words of a ring before the slots.
pub(crate) const HEADER: usize = 8;

const SEQUENCE: usize = 0;
const LENGTH: usize = 1;
const CHUNK: usize = 2;
const STAMP: usize = 3;
const ORDER: usize = 4;
const LINEAGE_STAMP: usize = 5;
const LINEAGE_ID: usize = 6;

/// A message's metadata, apart from its encoded bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Head {
    /// Time of the publication in steady nanoseconds.
    pub stamp: i64,
    /// Distinguishes messages that were published at the same time.
    pub order: u64,
    /// Time of the publication that began the message's chain, in steady nanoseconds.
    pub lineage_stamp: i64,
    /// The id of the chain's first message.
    pub lineage_id: u64,
}

/// The size of a ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Number of slots, a power of two.
    pub(crate) slots: usize,
    /// Words per slot, a multiple of 8.
    pub(crate) stride: usize,
}

impl Shape {
    /// The shape for `messages` messages, with room for `inline` encoded bytes in each slot.
    pub(crate) fn new(messages: usize, inline: usize) -> Result<Self, CapacityError> {
        let stride = (HEAD + inline.div_ceil(8)).next_multiple_of(8);
        Self { slots: 1, stride }.keeping(messages)
    }

    /// The same shape, but for `messages` messages.
    pub(crate) fn keeping(self, messages: usize) -> Result<Self, CapacityError> {
        if messages > DEEPEST {
            return Err(CapacityError::Depth { depth: messages, limit: DEEPEST });
        }
        Ok(Self { slots: messages.max(1).next_power_of_two(), ..self })
    }

    /// The greatest number of messages that a ring of such slots keeps for its readers: a power of
    /// two.
    pub(crate) fn most_for_readers(self) -> usize {
        let fitting = (LONGEST_FOR_READERS / (self.stride * 8)).max(1);
        (1 << fitting.ilog2()).min(DEEPEST_FOR_READERS)
    }

    /// Size of the whole ring in bytes.
    pub(crate) fn bytes(self) -> usize {
        (HEADER + self.slots * self.stride) * 8
    }

    /// Encoded bytes that a slot has room for.
    pub(crate) fn inline(self) -> usize {
        (self.stride - HEAD) * 8
    }

    fn word(self) -> u64 {
        (self.slots as u64) << 32 | self.stride as u64
    }

    /// Decodes the first word of a ring; checks that the ring fits into `words`.
    pub(crate) fn parse(word: u64, words: usize, file: &str) -> Result<Self, SegmentError> {
        let wrong = |limit: usize| SegmentError::field(file, "ring shape", word, limit as u64);
        let slots = usize::try_from(word >> 32).map_err(|_| wrong(words))?;
        let stride = usize::try_from(word & 0xffff_ffff).map_err(|_| wrong(words))?;
        let needed = slots.checked_mul(stride).and_then(|all| all.checked_add(HEADER));
        if !slots.is_power_of_two() || stride < HEAD || needed.is_none_or(|needed| needed > words) {
            return Err(wrong(words));
        }
        Ok(Self { slots, stride })
    }
}

/// A ring, as its writer or one of its readers sees it.
#[derive(Clone)]
pub(crate) struct Ring {
    words: ShmRef<[AtomicU64]>,
    pub(crate) shape: Shape,
    /// Messages before this number were overwritten in the previous, smaller ring. Only ever
    /// decreases: see [`reach_back`](Self::reach_back).
    first: u64,
}

/// The state of a message, as a reader finds it in the slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// The message isn't published yet.
    Nothing,
    /// The message was overwritten. Holds the oldest message that may still be there.
    Overwritten(u64),
    /// The ring was outgrown; the reader must look in the new one.
    Moved,
    /// The message is in the slot; holds its length in bytes.
    Inline(Head, usize),
    /// The message is in a chunk.
    Chunk(Head, Chunk),
    /// The message was published without its bytes, for which there was no room.
    LeftOut,
}

/// The place of a message that isn't in its slot. Untrusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Chunk {
    /// Segment << 32, index.
    pub(crate) name: u64,
    /// Length of the encoded message in bytes.
    pub(crate) length: u64,
}

impl Ring {
    /// Makes a ring in fresh (zeroed) memory.
    pub(crate) fn create(words: ShmRef<[AtomicU64]>, shape: Shape) -> Self {
        debug_assert!(words.len() >= HEADER + shape.slots * shape.stride);
        words[0].store(shape.word(), Ordering::Relaxed); // G2 publishes it
        Self { words, shape, first: 0 }
    }

    /// Opens a peer's ring.
    pub(crate) fn open(words: ShmRef<[AtomicU64]>, file: &str) -> Result<Self, SegmentError> {
        let first = words.first().map_or(0, |word| word.load(Ordering::Relaxed)); // G2 published it
        let shape = Shape::parse(first, words.len(), file)?;
        // Pairs with `reach_back`; G2 published the first.
        let first = words.get(1).map_or(0, |word| word.load(Ordering::Acquire));
        Ok(Self { words, shape, first })
    }

    #[inline]
    fn slot(&self, number: u64) -> &[AtomicU64] {
        #[expect(clippy::cast_possible_truncation, reason = "only the lower bits count")]
        let index = number as usize & (self.shape.slots - 1);
        let begin = HEADER + index * self.shape.stride;
        &self.words[begin..begin + self.shape.stride]
    }

    /// The slot for a message: its head, and the room for its bytes.
    #[inline]
    fn parts(&self, number: u64) -> (&[AtomicU64; HEAD], &[AtomicU64]) {
        self.slot(number).split_first_chunk().expect("no shape has shorter slots")
    }

    /// Address and size in bytes of the slot for a message.
    pub(crate) fn place_of(&self, number: u64) -> (usize, usize) {
        let slot = self.slot(number);
        (slot.as_ptr().addr(), size_of_val(slot))
    }

    /// W1 to W3, with bytes that fit into the slot, or a chunk.
    #[inline]
    pub(crate) fn publish(&self, number: u64, head: &Head, payload: Payload<'_>) {
        let (slot, words) = self.parts(number);
        slot[SEQUENCE].store(number.wrapping_mul(2).wrapping_add(1), Ordering::Relaxed); // W1
        fence(Ordering::Release); // W1: pairs with the fence of R3
        failpoints::at(Point::SlotBegun);
        // W2: W3 publishes it.
        let store = |word: usize, value: u64| slot[word].store(value, Ordering::Relaxed);
        store(STAMP, head.stamp.cast_unsigned());
        store(ORDER, head.order);
        store(LINEAGE_STAMP, head.lineage_stamp.cast_unsigned());
        store(LINEAGE_ID, head.lineage_id);
        match payload {
            Payload::Inline(encoded) => {
                store(LENGTH, encoded.len() as u64);
                store(CHUNK, 0);
                let (whole, rest) = encoded.as_chunks::<8>();
                debug_assert!(encoded.len() <= words.len() * 8);
                for (word, bytes) in words.iter().zip(whole) {
                    word.store(u64::from_le_bytes(*bytes), Ordering::Relaxed); // W2
                }
                if let (false, Some(word)) = (rest.is_empty(), words.get(whole.len())) {
                    let mut bytes = [0; 8];
                    bytes[..rest.len()].copy_from_slice(rest);
                    word.store(u64::from_le_bytes(bytes), Ordering::Relaxed); // W2
                }
            }
            Payload::Chunk(chunk) => {
                store(LENGTH, chunk.length);
                store(CHUNK, chunk.name.wrapping_add(1));
            }
            Payload::LeftOut => {
                store(LENGTH, 0);
                store(CHUNK, LEFT_OUT);
            }
        }
        failpoints::at(Point::SlotFilled);
        slot[SEQUENCE].store(number.wrapping_mul(2).wrapping_add(2), Ordering::Release); // W3
        failpoints::at(Point::SlotPublished);
    }

    /// W0: removes the bytes of this message. For the writer.
    pub(crate) fn withdraw(&self, number: u64) {
        self.slot(number)[CHUNK].store(LEFT_OUT, Ordering::Relaxed); // W0: W4 orders it before W6
        failpoints::at(Point::Withdrawn);
    }

    /// R1: whether this message is in its slot now.
    #[inline]
    pub(crate) fn has(&self, number: u64) -> bool {
        self.slot(number)[SEQUENCE].load(Ordering::Acquire) == number.wrapping_mul(2).wrapping_add(2) // R1
    }

    /// R1: whether this message isn't published yet. `false` may also mean that only a [closer
    /// look](Self::look) can find out.
    #[inline]
    pub(crate) fn is_yet_to_come(&self, number: u64) -> bool {
        // Relaxed: the caller reads nothing else that it would have to carry. What the slot held
        // before this message has a smaller sequence, and so has a slot that was never used.
        let sequence = self.slot(number)[SEQUENCE].load(Ordering::Relaxed); // R1
        sequence <= number.wrapping_mul(2) && number >= self.first
    }

    /// R1: whether this message is in its slot now (as [`has`](Self::has)) or isn't published yet
    /// (as [`is_yet_to_come`](Self::is_yet_to_come)); `None` if only a [closer look](Self::look)
    /// can find out.
    #[inline]
    pub(crate) fn is_there(&self, number: u64) -> Option<bool> {
        let sequence = self.slot(number)[SEQUENCE].load(Ordering::Acquire); // R1
        let before = number.wrapping_mul(2);
        if sequence == before.wrapping_add(2) {
            Some(true)
        } else {
            (sequence <= before && number >= self.first).then_some(false)
        }
    }

    /// Number of messages from `next` to before `end` that are there now; `None` in an outgrown
    /// ring. For tools; takes about twenty loads.
    pub(crate) fn count_from(&self, next: u64, end: u64) -> Option<u64> {
        let first = match self.look(next) {
            Found::Nothing => return Some(0),
            Found::Moved => return None,
            Found::Overwritten(oldest) => oldest,
            Found::Inline(..) | Found::Chunk(..) | Found::LeftOut => next,
        };
        // Published messages are consecutive, so they end where the first one is missing.
        let (mut there, mut at_most) = (0, self.shape.slots as u64);
        while there < at_most {
            let middle = there + (at_most - there).div_ceil(2);
            let last = first.wrapping_add(middle - 1);
            if self.has(last) || self.is_displaced(last) { there = middle } else { at_most = middle - 1 }
        }
        Some(there.min(end.saturating_sub(first)))
    }

    /// R1, and R2 of the fields. The result is valid only if `still_there` returns `true`
    /// afterwards.
    #[inline]
    pub(crate) fn look(&self, number: u64) -> Found {
        let (slot, _) = self.parts(number);
        let wanted = number.wrapping_mul(2).wrapping_add(2);
        let sequence = slot[SEQUENCE].load(Ordering::Acquire); // R1: pairs with W3 and G3
        if sequence != wanted {
            return self.not_there(number, sequence);
        }
        let load = |word: usize| slot[word].load(Ordering::Relaxed); // R2: `still_there` checks it
        let head = Head {
            stamp: load(STAMP).cast_signed(),
            order: load(ORDER),
            lineage_stamp: load(LINEAGE_STAMP).cast_signed(),
            lineage_id: load(LINEAGE_ID),
        };
        let length = load(LENGTH);
        match load(CHUNK) {
            0 => Found::Inline(head, usize::try_from(length).unwrap_or(usize::MAX).min(self.shape.inline())),
            LEFT_OUT => Found::LeftOut,
            chunk => Found::Chunk(head, Chunk { name: chunk - 1, length }),
        }
    }

    #[cold]
    fn not_there(&self, number: u64, sequence: u64) -> Found {
        if sequence == MOVED {
            return Found::Moved;
        }
        if number < self.first {
            return Found::Overwritten(self.first); // its slot may never have been used in this ring
        }
        // The number of the message that is in the slot, or being written there now.
        let there = (sequence.wrapping_sub(1)) / 2;
        if sequence == 0 || there <= number {
            return Found::Nothing;
        }
        // The messages up to that one may still be there, as many as there are slots, except for
        // the one that it replaces. Newer messages may have displaced some of them, beginning with
        // the oldest: a reader that tried them one by one would take too long.
        let oldest = there.saturating_sub(self.shape.slots as u64 - 1);
        let (mut low, mut high) = (oldest.max(number.saturating_add(1)), there);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.is_displaced(middle) { low = middle + 1 } else { high = middle }
        }
        Found::Overwritten(low)
    }

    /// R2 and R3 of a message in the slot. Returns whether it was there all the time.
    #[inline]
    pub(crate) fn read_inline(&self, number: u64, to: &mut [u8]) -> bool {
        let (slot, words) = self.parts(number);
        let (whole, rest) = to.as_chunks_mut::<8>();
        for (bytes, word) in whole.iter_mut().zip(words) {
            *bytes = word.load(Ordering::Relaxed).to_le_bytes(); // R2
        }
        if let Some(word) = words.get(whole.len()) {
            let length = rest.len();
            rest.copy_from_slice(&word.load(Ordering::Relaxed).to_le_bytes()[..length]); // R2
        }
        is_still(&slot[SEQUENCE], number)
    }

    /// R3: whether the message was in the slot all the time.
    #[inline]
    pub(crate) fn still_there(&self, number: u64) -> bool {
        is_still(&self.slot(number)[SEQUENCE], number)
    }

    /// H5 of `hazards`, for a reader that has marked a hold, after a fence SeqCst: whether the
    /// message is still there, and in this chunk.
    #[inline]
    pub(crate) fn still_names(&self, number: u64, chunk: u64) -> bool {
        let slot = self.slot(number);
        // Relaxed: the caller's fence orders it after the hold: it is as new as W0 and W3 before
        // W4.
        let named = slot[CHUNK].load(Ordering::Relaxed);
        // Acquire: pairs with the fence of W1. The chunk may have been lent again for another
        // message that has this one's slot: then the sequence shows it.
        fence(Ordering::Acquire);
        // Acquire: pairs with W3 if this message was brought back; the fence above would suffice.
        named == chunk.wrapping_add(1)
            && slot[SEQUENCE].load(Ordering::Acquire) == number.wrapping_mul(2).wrapping_add(2)
    }

    /// Whether a newer message has this one's slot. For the writer.
    pub(crate) fn is_displaced(&self, number: u64) -> bool {
        // Relaxed: our own writes, or a hint.
        self.slot(number)[SEQUENCE].load(Ordering::Relaxed) > number.wrapping_mul(2).wrapping_add(2)
    }

    /// All messages from this one on were brought back. A reader that opens the ring from now on
    /// finds them; a reader that has it open already continues from the messages that were there
    /// before. For the writer.
    pub(crate) fn reach_back(&mut self, first: u64) {
        if first < self.first {
            self.first = first;
            self.words[1].store(first, Ordering::Release); // pairs with `open`; carries the slots brought back
        }
    }

    /// G1 to G3: continues in a larger ring, from message `next` on. `place` is the word that holds
    /// the ring's location.
    pub(crate) fn grow(&mut self, mut new: Ring, next: u64, place: &AtomicU64, location: u64) {
        new.take_over(self, next); // G1
        failpoints::at(Point::RingCopied);
        place.store(location, Ordering::Release); // G2: pairs with the Acquire of a reader that looks for it
        failpoints::at(Point::RingPublished);
        self.outgrown(); // G3
        *self = new;
    }

    /// G1: takes over the contents of an outgrown ring, up to message `next`. For the writer.
    fn take_over(&mut self, old: &Ring, next: u64) {
        let kept = old.shape.slots.min(self.shape.slots) as u64;
        self.first = next.saturating_sub(kept).max(old.first);
        self.words[1].store(self.first, Ordering::Relaxed); // G2 publishes it
        for number in self.first..next {
            let (from, to) = (old.slot(number), self.slot(number));
            let sequence = from[SEQUENCE].load(Ordering::Relaxed); // our own writes
            if sequence != number.wrapping_mul(2).wrapping_add(2) {
                continue;
            }
            for (from, to) in from.iter().zip(to) {
                to.store(from.load(Ordering::Relaxed), Ordering::Relaxed); // G2 publishes it
            }
        }
    }

    /// G3: nothing is found here any more. For the writer, after it has published the location of
    /// the new ring.
    fn outgrown(&self) {
        for slot in self.words[HEADER..].chunks_exact(self.shape.stride).take(self.shape.slots) {
            slot[SEQUENCE].store(MOVED, Ordering::Release); // G3: pairs with R1
            failpoints::at(Point::RingMoving);
        }
    }
}

/// R3: whether a slot with this sequence has had the message all the time.
#[inline]
fn is_still(sequence: &AtomicU64, number: u64) -> bool {
    fence(Ordering::Acquire); // R3: pairs with the fence of W1
    // Relaxed: the fence orders it after R2; only its value counts.
    sequence.load(Ordering::Relaxed) == number.wrapping_mul(2).wrapping_add(2)
}

/// The place of the bytes of a message to publish.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Payload<'a> {
    /// Bytes that are copied into the slot.
    Inline(&'a [u8]),
    /// In a chunk.
    Chunk(Chunk),
    /// No bytes.
    LeftOut,
}
