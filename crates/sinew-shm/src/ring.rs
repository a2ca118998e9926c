//! The ring: a writer's sequence of slots, which it writes once for all its readers.
//!
//! # Purpose
//!
//! One writer, any number of readers, each of which may die at any instruction. The writer never
//! waits here, and never looks at a reader. (A sequence lock per slot; see Hans Boehm, "Can
//! seqlocks get along with programming language memory models?", MSPC 2012, for the fences.)
//!
//! # Layout
//!
//! A block of a data segment: 64 bytes of header, of which word 0 is `slots << 32 | words per slot`
//! and word 1 the number of the first message that was ever to be found here, then the slots.
//! Message `n` lies in slot `n % slots`. A slot begins with [`HEAD`] words:
//!
//! | word | field | unit |
//! |---|---|---|
//! | 0 | sequence | `2n + 1` being written, `2n + 2` published, [`MOVED`] in an outgrown ring, 0 never used |
//! | 1 | length of the image | bytes |
//! | 2 | chunk | 0: the image stands in the slot; [`LEFT_OUT`]: it is nowhere, for want of room; else 1 + (segment << 32, index) |
//! | 3 | time of the publication's stamp | steady ns |
//! | 4 | order of the publication's stamp | |
//! | 5 | lineage: time of the chain's first publication | steady ns |
//! | 6 | lineage: id of the chain's first message | |
//! | 7.. | the image, if it stands here | |
//!
//! All are written by the writer alone, and read by all participants.
//!
//! # Sync points
//!
//! Publish (one thread at a time):
//! - W1 sequence = 2n+1 (Relaxed), fence Release: a reader that sees what W2 writes sees that the
//!   slot changes.
//! - W2 fields and bytes (Relaxed).
//! - W3 sequence = 2n+2 (Release); pairs with R1; carries W2.
//!
//! Withdraw, when the chunk of message n is wanted before the message's place is:
//! - W0 chunk = [`LEFT_OUT`] (Relaxed), and nothing else: whenever the writer dies, the slot is
//!   whole. A reader that hasn't read the message misses it; one that is about to read it in place
//!   notices (H5). The chunk is *retired* as by W3 for message n + slots. The message may be
//!   brought back, in this chunk or another one, by W1 to W3.
//!
//! Copy out:
//! - R1 sequence (Acquire). Smaller than 2n+2: nothing new. Greater: overwritten.
//! - R2 fields and bytes (Relaxed).
//! - R3 fence Acquire, sequence unchanged (Relaxed); pairs with W1: had R2 read anything newer,
//!   this would see it.
//!
//! Read in place: R1 and R2 of the fields, then the hold (see [`holds`](crate::hazards)), which
//! checks chunk and sequence in R3's stead.
//!
//! Growth, under the writer's lock:
//! - G1 the live slots are copied to the new ring, with the same numbers.
//! - G2 its location is published in the entity's record (Release).
//! - G3 every old slot's sequence = MOVED (Release); pairs with R1; carries G2. Only then is
//!   anything published or let go. Without it the old ring would look valid for ever.
//!
//! A crash leaves a slot at 2n+1 at worst, which no reader takes.

use crate::error::{CapacityError, SegmentError};
use crate::failpoints::{self, Point};
use crate::shm_ref::ShmRef;
use crate::sync::{AtomicU64, Ordering, fence};

/// The sequence of every slot of an outgrown ring.
pub(crate) const MOVED: u64 = u64::MAX;

/// In the word for the chunk: the message has no image. No chunk is called so: numbers of segments
/// have 31 bits.
const LEFT_OUT: u64 = u64::MAX;

/// Words of a slot before the image.
pub(crate) const HEAD: usize = 7;

/// The most messages that a ring keeps. What is asked for may come from another process.
pub(crate) const DEEPEST: usize = 1 << 24;

/// The most messages that a ring keeps for its readers' sake, whatever they ask for: the memory is
/// the writer's.
const DEEPEST_FOR_READERS: usize = 1 << 16;

/// The most bytes of slots that a ring has for its readers' sake.
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

/// What is said of a message besides its image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Head {
    /// Steady nanoseconds of its publication.
    pub stamp: i64,
    /// Keeps apart what was published at the same time.
    pub order: u64,
    /// Steady nanoseconds of the publication with which its chain began.
    pub lineage_stamp: i64,
    /// The chain's first message.
    pub lineage_id: u64,
}

/// How big a ring is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    /// A power of two.
    pub(crate) slots: usize,
    /// Words per slot, a multiple of 8.
    pub(crate) stride: usize,
}

impl Shape {
    /// The shape for so many messages, with so many bytes of image in each slot.
    pub(crate) fn new(messages: usize, inline: usize) -> Result<Self, CapacityError> {
        let stride = (HEAD + inline.div_ceil(8)).next_multiple_of(8);
        Self { slots: 1, stride }.keeping(messages)
    }

    /// The same, but for so many messages.
    pub(crate) fn keeping(self, messages: usize) -> Result<Self, CapacityError> {
        if messages > DEEPEST {
            return Err(CapacityError::Depth { depth: messages, limit: DEEPEST });
        }
        Ok(Self { slots: messages.max(1).next_power_of_two(), ..self })
    }

    /// The most messages that a ring of such slots keeps for its readers' sake: a power of two.
    pub(crate) fn most_for_readers(self) -> usize {
        let fitting = (LONGEST_FOR_READERS / (self.stride * 8)).max(1);
        (1 << fitting.ilog2()).min(DEEPEST_FOR_READERS)
    }

    /// Bytes of the whole ring.
    pub(crate) fn bytes(self) -> usize {
        (HEADER + self.slots * self.stride) * 8
    }

    /// Bytes of image that a slot has room for.
    pub(crate) fn inline(self) -> usize {
        (self.stride - HEAD) * 8
    }

    fn word(self) -> u64 {
        (self.slots as u64) << 32 | self.stride as u64
    }

    /// What the first word of a ring says, if that makes sense within `words`.
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

/// A ring, as its writer or a reader has it.
#[derive(Clone)]
pub(crate) struct Ring {
    words: ShmRef<[AtomicU64]>,
    pub(crate) shape: Shape,
    /// What came before was overwritten in the ring before this one. Only ever becomes less: see
    /// [`reach_back`](Self::reach_back).
    first: u64,
}

/// What a reader finds in a message's slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// It isn't published yet.
    Nothing,
    /// It was overwritten; the oldest message that may still be there.
    Overwritten(u64),
    /// The ring was outgrown: look again in the new one.
    Moved,
    /// It stands in the slot: so many bytes.
    Inline(Head, usize),
    /// It lies in a chunk.
    Chunk(Head, Chunk),
    /// It was published without its image, for which there was no room.
    LeftOut,
}

/// Where a message's image is, if it isn't in its slot. Nothing vouches for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Chunk {
    /// Segment << 32, index.
    pub(crate) name: u64,
    /// Bytes of the image.
    pub(crate) length: u64,
}

impl Ring {
    /// A ring in fresh (zeroed) memory.
    pub(crate) fn create(words: ShmRef<[AtomicU64]>, shape: Shape) -> Self {
        debug_assert!(words.len() >= HEADER + shape.slots * shape.stride);
        words[0].store(shape.word(), Ordering::Relaxed); // G2 publishes it
        Self { words, shape, first: 0 }
    }

    /// A peer's ring.
    pub(crate) fn open(words: ShmRef<[AtomicU64]>, file: &str) -> Result<Self, SegmentError> {
        let first = words.first().map_or(0, |word| word.load(Ordering::Relaxed)); // G2 published it
        let shape = Shape::parse(first, words.len(), file)?;
        let first = words.get(1).map_or(0, |word| word.load(Ordering::Acquire)); // pairs with `reach_back`; G2 published the first
        Ok(Self { words, shape, first })
    }

    #[inline]
    fn slot(&self, number: u64) -> &[AtomicU64] {
        #[expect(clippy::cast_possible_truncation, reason = "only the lower bits count")]
        let index = number as usize & (self.shape.slots - 1);
        let begin = HEADER + index * self.shape.stride;
        &self.words[begin..begin + self.shape.stride]
    }

    /// Where a message will stand: address and bytes.
    pub(crate) fn place_of(&self, number: u64) -> (usize, usize) {
        let slot = self.slot(number);
        (slot.as_ptr().addr(), size_of_val(slot))
    }

    /// W1 to W3. An image in the slot, which has room for it, or the chunk.
    #[inline]
    pub(crate) fn publish(&self, number: u64, head: &Head, payload: Payload<'_>) {
        let slot = self.slot(number);
        slot[SEQUENCE].store(number.wrapping_mul(2).wrapping_add(1), Ordering::Relaxed); // W1
        fence(Ordering::Release); // W1: pairs with the fence of R3
        failpoints::at(Point::SlotBegun);
        let store = |word: usize, value: u64| slot[word].store(value, Ordering::Relaxed); // W2: W3 publishes it
        store(STAMP, head.stamp.cast_unsigned());
        store(ORDER, head.order);
        store(LINEAGE_STAMP, head.lineage_stamp.cast_unsigned());
        store(LINEAGE_ID, head.lineage_id);
        match payload {
            Payload::Inline(image) => {
                store(LENGTH, image.len() as u64);
                store(CHUNK, 0);
                let (whole, rest) = image.as_chunks::<8>();
                let words = &slot[HEAD..];
                debug_assert!(image.len() <= words.len() * 8);
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

    /// W0: this message has no image from now on. For the writer.
    pub(crate) fn withdraw(&self, number: u64) {
        self.slot(number)[CHUNK].store(LEFT_OUT, Ordering::Relaxed); // W0: W4 orders it before W6
        failpoints::at(Point::Withdrawn);
    }

    /// R1: whether this message stands there now.
    #[inline]
    pub(crate) fn has(&self, number: u64) -> bool {
        self.slot(number)[SEQUENCE].load(Ordering::Acquire) == number.wrapping_mul(2).wrapping_add(2) // R1
    }

    /// How many messages from `next` to before `end` are there, which may change at once; `None` in
    /// an outgrown ring. For tools: some twenty looks.
    pub(crate) fn count_from(&self, next: u64, end: u64) -> Option<u64> {
        let first = match self.look(next) {
            Found::Nothing => return Some(0),
            Found::Moved => return None,
            Found::Overwritten(oldest) => oldest,
            Found::Inline(..) | Found::Chunk(..) | Found::LeftOut => next,
        };
        // Published ones come one after the other: so they end where the first one is missing.
        let (mut there, mut at_most) = (0, self.shape.slots as u64);
        while there < at_most {
            let middle = there + (at_most - there).div_ceil(2);
            let last = first.wrapping_add(middle - 1);
            if self.has(last) || self.is_displaced(last) { there = middle } else { at_most = middle - 1 }
        }
        Some(there.min(end.saturating_sub(first)))
    }

    /// R1, and R2 of the fields. What it says holds only if `still_there` says so afterwards.
    #[inline]
    pub(crate) fn look(&self, number: u64) -> Found {
        let slot = self.slot(number);
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
            return Found::Overwritten(self.first); // its slot may never have been used here
        }
        // The number that stands there, or is being written there now.
        let there = (sequence.wrapping_sub(1)) / 2;
        if sequence == 0 || there <= number {
            return Found::Nothing;
        }
        // Of the messages up to that one, as many as there are slots may be there still, but for
        // the one that it replaces. Newer ones may have displaced some of those, from the oldest
        // on: a reader that took one after the other would try for too long.
        let oldest = there.saturating_sub(self.shape.slots as u64 - 1);
        let (mut low, mut high) = (oldest.max(number.saturating_add(1)), there);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.is_displaced(middle) { low = middle + 1 } else { high = middle }
        }
        Found::Overwritten(low)
    }

    /// R2 of an image that stands in the slot.
    #[inline]
    pub(crate) fn copy_inline(&self, number: u64, to: &mut [u8]) {
        let words = &self.slot(number)[HEAD..];
        let (whole, rest) = to.as_chunks_mut::<8>();
        for (bytes, word) in whole.iter_mut().zip(words) {
            *bytes = word.load(Ordering::Relaxed).to_le_bytes(); // R2
        }
        if let Some(word) = words.get(whole.len()) {
            let length = rest.len();
            rest.copy_from_slice(&word.load(Ordering::Relaxed).to_le_bytes()[..length]); // R2
        }
    }

    /// R3: whether the message was there all the time.
    #[inline]
    pub(crate) fn still_there(&self, number: u64) -> bool {
        fence(Ordering::Acquire); // R3: pairs with the fence of W1
        // Relaxed: the fence orders it after R2; its value is all that counts.
        self.slot(number)[SEQUENCE].load(Ordering::Relaxed) == number.wrapping_mul(2).wrapping_add(2)
    }

    /// H5 of `holds`, for a reader that has marked a hold, after a fence SeqCst: whether the
    /// message is there, and in this chunk.
    #[inline]
    pub(crate) fn still_names(&self, number: u64, chunk: u64) -> bool {
        let slot = self.slot(number);
        // Relaxed: the caller's fence orders it after the hold: it is as new as W0 and W3 before
        // W4.
        let named = slot[CHUNK].load(Ordering::Relaxed);
        // Acquire: pairs with the fence of W1. The chunk may have come back for another message
        // that has this one's place: then the sequence says so.
        fence(Ordering::Acquire);
        // Acquire: pairs with W3, should this message have been brought back; the fence above would
        // do.
        named == chunk.wrapping_add(1)
            && slot[SEQUENCE].load(Ordering::Acquire) == number.wrapping_mul(2).wrapping_add(2)
    }

    /// Whether a newer message has this one's place. For the writer.
    pub(crate) fn is_displaced(&self, number: u64) -> bool {
        // Relaxed: our own writes, or a hint.
        self.slot(number)[SEQUENCE].load(Ordering::Relaxed) > number.wrapping_mul(2).wrapping_add(2)
    }

    /// All messages from this one on were brought back: a reader that opens the ring from now on
    /// finds them, a reader that has it already goes on to those that were there before. For the
    /// writer.
    pub(crate) fn reach_back(&mut self, first: u64) {
        if first < self.first {
            self.first = first;
            self.words[1].store(first, Ordering::Release); // pairs with `open`; carries what was brought back
        }
    }

    /// G1 to G3: goes on in a bigger ring, from message `next` on. `place` is the word that says
    /// where the ring is.
    pub(crate) fn grow(&mut self, mut new: Ring, next: u64, place: &AtomicU64, location: u64) {
        new.take_over(self, next); // G1
        failpoints::at(Point::RingCopied);
        place.store(location, Ordering::Release); // G2: pairs with the Acquire of a reader that looks for it
        failpoints::at(Point::RingPublished);
        self.outgrown(); // G3
        *self = new;
    }

    /// G1: takes over what stands in an outgrown ring, of the messages before `next`. For the
    /// writer.
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

    /// G3: nothing is to be found here any more. For the writer, after it published where the new
    /// ring is.
    fn outgrown(&self) {
        for slot in self.words[HEADER..].chunks_exact(self.shape.stride).take(self.shape.slots) {
            slot[SEQUENCE].store(MOVED, Ordering::Release); // G3: pairs with R1
            failpoints::at(Point::RingMoving);
        }
    }
}

/// Where an image is that is to be published.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Payload<'a> {
    /// Here; it goes into the slot.
    Inline(&'a [u8]),
    /// In a chunk.
    Chunk(Chunk),
    /// Nowhere.
    LeftOut,
}
