//! H3-H7, W4-W6: reading in place while chunks are reclaimed and rewritten.

use super::{check, ring, words};
use crate::hazards::holds::{Hazards, collect};
use crate::platform::shm_ref::ShmRef;
use crate::platform::sync::{Arc, AtomicU64, Ordering};
use crate::ring::{Chunk, Found, Head, Payload, Ring};
use crate::tables::control_segment;
use loom::cell::UnsafeCell;
use loom::thread::{self, JoinHandle};

/// Chunks; loom watches every access to them.
struct Chunks([UnsafeCell<u64>; 2]);

// SAFETY: it is shared like chunks, which is what the models check: loom reports every unordered
// access.
unsafe impl Sync for Chunks {}
// SAFETY: as above.
unsafe impl Send for Chunks {}

impl Chunks {
    fn new() -> Arc<Self> {
        Arc::new(Self([UnsafeCell::new(0), UnsafeCell::new(0)]))
    }

    fn write(&self, chunk: u64, value: u64) {
        // SAFETY: loom hands out a valid pointer, and has checked that no other thread uses it.
        self.0[usize::try_from(chunk).unwrap()].with_mut(|place| unsafe { *place = value });
    }

    fn read(&self, chunk: u64) -> u64 {
        // SAFETY: loom hands out a valid pointer, and has checked that no thread is writing.
        self.0[usize::try_from(chunk).unwrap()].with(|place| unsafe { *place })
    }
}

/// A writer's ring and chunks, and a reader's table of holds.
struct Scene {
    ring: Ring,
    chunks: Arc<Chunks>,
    table: ShmRef<[AtomicU64]>,
}

impl Scene {
    /// The reader's end of the table: one word to keep a chunk with, and one for copying.
    fn new(places: usize) -> (Self, Hazards) {
        let table = words(2);
        let hazards = Hazards::new(table.clone());
        hazards.add(2);
        (Self { ring: ring(places), chunks: Chunks::new(), table }, hazards)
    }

    /// Publishes a message in a chunk.
    fn publish(&self, number: u64, chunk: u64) {
        self.chunks.write(chunk, number);
        let chunk = Chunk { name: chunk, length: 8 };
        self.ring.publish(number, &Head::default(), Payload::Chunk(chunk));
    }

    /// Reads these messages on a thread of the reader.
    fn read<const N: usize>(&self, numbers: [u64; N], hazards: Hazards) -> JoinHandle<()> {
        let (ring, chunks) = (self.ring.clone(), self.chunks.clone());
        thread::spawn(move || {
            for number in numbers {
                read(&ring, number, &hazards, &chunks, &AtomicU64::new(0));
            }
        })
    }

    /// Whether a retired chunk may be rewritten.
    fn is_free(&self, chunk: u64) -> bool {
        is_free(chunk, || Some(self.table.clone()))
    }
}

/// Reads a message in place, as `Incoming::read_chunk` does, unless the reader has left. Returns
/// `true` if the message was there; it is then checked to be the published one.
fn read(ring: &Ring, number: u64, hazards: &Hazards, chunks: &Chunks, state: &AtomicU64) -> bool {
    let Found::Chunk(_, chunk) = ring.look(number) else { return false };
    let Some(mark) = hazards.take() else { return false };
    let there = hazards.hold(&mark, chunk.name, ring, number);
    if there {
        assert_eq!(chunks.read(chunk.name), number, "another message's bytes");
    }
    if hazards.give_back(&mark) {
        control_segment::let_go(state); // Q3
    }
    there
}

/// Whether a retired chunk may be rewritten, according to these tables.
fn is_free<L: IntoIterator<Item = ShmRef<[AtomicU64]>>>(chunk: u64, tables: impl FnOnce() -> L) -> bool {
    let mut held = Vec::new();
    collect(&mut held, tables);
    !held.contains(&chunk)
}

/// A chunk is rewritten only when no reader reads it any more, and a reader reads what was
/// published.
///
/// Fails if W4 or H4 is left out or weakened, if H5 doesn't check, or if H7 or W6 is relaxed.
#[test]
fn nobody_reads_what_is_written() {
    check(2, || {
        let (scene, hazards) = Scene::new(1);
        scene.publish(1, 0);
        let reader = scene.read([1], hazards);
        scene.publish(2, 1); // no slot names the first chunk any more
        if scene.is_free(0) {
            scene.publish(3, 0);
        }
        reader.join().unwrap();
    });
}

/// A chunk that is withdrawn from its message is rewritten only when no reader reads it any more,
/// even if it comes back for another message in the same slot.
///
/// Fails if W0 is left out, or if H5 checks only the chunk or only the sequence, or has no fence
/// between them.
#[test]
fn a_message_that_loses_its_chunk() {
    check(3, || {
        let (scene, hazards) = Scene::new(1);
        scene.publish(1, 0);
        let reader = scene.read([1], hazards);
        scene.ring.withdraw(1); // W0
        if scene.is_free(0) {
            scene.publish(2, 0);
        }
        reader.join().unwrap();
    });
}

/// The same when the message is brought back in that chunk, or in another one.
///
/// Fails if H5 doesn't check the chunk.
#[test]
fn a_message_that_is_brought_back() {
    for another in [0, 1] {
        check(3, move || {
            let (scene, hazards) = Scene::new(1);
            scene.publish(1, 0);
            let reader = scene.read([1], hazards);
            scene.ring.withdraw(1); // W0
            if scene.is_free(0) {
                scene.chunks.write(0, 7); // it belonged to another message meanwhile
                scene.publish(1, another);
            }
            reader.join().unwrap();
        });
    }
}

/// A word that marked one chunk and now marks another shows that the first one is no longer read.
///
/// Fails if H3 is relaxed.
#[test]
fn a_word_marks_one_chunk_after_another() {
    check(3, || {
        let (scene, hazards) = Scene::new(2);
        scene.publish(2, 0);
        scene.publish(3, 1);
        let reader = scene.read([2, 3], hazards);
        // No slot names the first chunk from now on.
        scene.ring.publish(4, &Head::default(), Payload::Inline(&[]));
        if scene.is_free(0) {
            scene.chunks.write(0, 5);
        }
        reader.join().unwrap();
    });
}

/// A reader that is accepted while a chunk is reclaimed is either in the list by then, or finds the
/// chunk's message overwritten.
///
/// Fails if the list is loaded before W4.
#[test]
fn a_reader_that_is_accepted_meanwhile() {
    check(2, || {
        let (scene, hazards) = Scene::new(1);
        // A list that is stored as a whole, the weakest kind that would suffice.
        let accepted = Arc::new(AtomicU64::new(0));
        let record = Arc::new(AtomicU64::new(0));
        scene.publish(1, 0);
        let (ring, chunks, taken_up) = (scene.ring.clone(), scene.chunks.clone(), record.clone());
        let reader = thread::spawn(move || {
            if taken_up.load(Ordering::Acquire) == 1 {
                // T3
                read(&ring, 1, &hazards, &chunks, &AtomicU64::new(0));
            }
        });
        let list = accepted.clone();
        let helper = thread::spawn(move || {
            list.store(1, Ordering::Release);
            record.store(1, Ordering::Release); // T2: the reader sees it
        });
        scene.publish(2, 1);
        if is_free(0, || (accepted.load(Ordering::Acquire) == 1).then(|| scene.table.clone())) {
            scene.chunks.write(0, 3);
        }
        reader.join().unwrap();
        helper.join().unwrap();
    });
}

/// A leaving reader counts until it has given back its holds, and takes no more.
///
/// Fails if marks are given out after Q1, if Q3 doesn't wait for them, or if Q3 or Q4 is relaxed.
#[test]
fn a_reader_that_leaves() {
    leaves(3, false);
}

/// The same, if its word is in the place for one, outside the lock.
///
/// Fails if Q1 doesn't close the place or doesn't count the word in it, if the word is taken in two
/// steps, or if the exchange that puts it there is relaxed.
#[test]
fn a_reader_that_leaves_while_its_word_is_at_hand() {
    leaves(2, true);
}

fn leaves(preemptions: usize, has_read_before: bool) {
    check(preemptions, move || {
        let (scene, hazards) = Scene::new(1);
        let hazards = Arc::new(hazards);
        let state = Arc::new(AtomicU64::new(0));
        scene.publish(1, 0);
        let (ring, chunks) = (scene.ring.clone(), scene.chunks.clone());
        if has_read_before {
            assert!(read(&ring, 1, &hazards, &chunks, &state));
        }
        let (marks, theirs) = (hazards.clone(), state.clone());
        let reader = thread::spawn(move || read(&ring, 1, &marks, &chunks, &theirs));
        let left = state.clone();
        let leaver = thread::spawn(move || {
            hazards.refuse(); // Q1
            control_segment::leave(&left); // Q2
            if hazards.are_all_back() {
                control_segment::let_go(&left); // Q3
            }
        });
        scene.publish(2, 1);
        // Q4 runs on the helper thread: it may change the list at the last moment.
        if is_free(0, || (!control_segment::has_let_go(&state)).then(|| scene.table.clone())) {
            scene.chunks.write(0, 3);
        }
        reader.join().unwrap();
        leaver.join().unwrap();
        assert!(control_segment::has_let_go(&state), "the last one says so");
    });
}

/// Growth is like overwriting: once the chunks that the old ring named may be reclaimed, no reader
/// takes them from there.
///
/// Fails if G3 is left out.
#[test]
fn a_chunk_of_an_outgrown_ring() {
    check(2, || {
        let (mut scene, hazards) = Scene::new(1);
        let bigger = ring(2);
        scene.publish(1, 0);
        let (old, new, chunks) = (scene.ring.clone(), bigger.clone(), scene.chunks.clone());
        let reader = thread::spawn(move || {
            if !read(&old, 1, &hazards, &chunks, &AtomicU64::new(0)) {
                read(&new, 1, &hazards, &chunks, &AtomicU64::new(0));
            }
        });
        scene.ring.grow(bigger, 2, &AtomicU64::new(0), 1);
        // Message 1 is in the new ring; two more displace it there.
        scene.ring.publish(2, &Head::default(), Payload::Inline(&[]));
        scene.ring.publish(3, &Head::default(), Payload::Inline(&[]));
        if scene.is_free(0) {
            scene.chunks.write(0, 4);
        }
        reader.join().unwrap();
    });
}
