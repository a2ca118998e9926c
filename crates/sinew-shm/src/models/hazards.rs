//! H3-H7, W4-W6: reading in place while chunks are reclaimed and written again.

use super::{check, ring, words};
use crate::control;
use crate::hazards::{Hazards, collect};
use crate::ring::{Chunk, Found, Head, Payload, Ring};
use crate::shm_ref::ShmRef;
use crate::sync::{Arc, AtomicU64, Ordering};
use loom::cell::UnsafeCell;
use loom::thread::{self, JoinHandle};

/// Chunks; loom watches every access to them.
struct Chunks([UnsafeCell<u64>; 2]);

// SAFETY: it is shared as chunks are, which is what the models check: loom reports every access
// that isn't ordered.
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
    /// And the reader's end of the table: one word to keep something with, one to copy.
    fn new(places: usize) -> (Self, Hazards) {
        let table = words(2);
        let hazards = Hazards::new(table.clone());
        hazards.add(2);
        (Self { ring: ring(places), chunks: Chunks::new(), table }, hazards)
    }

    /// Publishes a message that lies in a chunk.
    fn publish(&self, number: u64, chunk: u64) {
        self.chunks.write(chunk, number);
        let chunk = Chunk { name: chunk, length: 8 };
        self.ring.publish(number, &Head::default(), Payload::Chunk(chunk));
    }

    /// Reads these messages on a thread of the reader's.
    fn read<const N: usize>(&self, numbers: [u64; N], hazards: Hazards) -> JoinHandle<()> {
        let (ring, chunks) = (self.ring.clone(), self.chunks.clone());
        thread::spawn(move || {
            for number in numbers {
                read(&ring, number, &hazards, &chunks, &AtomicU64::new(0));
            }
        })
    }

    /// Whether a retired chunk may be written again.
    fn is_free(&self, chunk: u64) -> bool {
        is_free(chunk, || Some(self.table.clone()))
    }
}

/// Reads a message in place, as `Incoming::read_chunk` does, if no one has left. True if it was
/// there, and then it was what was published.
fn read(ring: &Ring, number: u64, hazards: &Hazards, chunks: &Chunks, state: &AtomicU64) -> bool {
    let Found::Chunk(_, chunk) = ring.look(number) else { return false };
    let Some(mark) = hazards.take() else { return false };
    let there = hazards.hold(&mark, chunk.name, ring, number);
    if there {
        assert_eq!(chunks.read(chunk.name), number, "another message's bytes");
    }
    if hazards.give_back(&mark) {
        control::let_go(state); // Q3
    }
    there
}

/// Whether a retired chunk may be written again, as far as these tables say.
fn is_free<L: IntoIterator<Item = ShmRef<[AtomicU64]>>>(chunk: u64, tables: impl FnOnce() -> L) -> bool {
    let mut held = Vec::new();
    collect(&mut held, tables);
    !held.contains(&chunk)
}

/// A chunk is written again only when no reader reads it any more, and what is read is what was
/// published.
///
/// Fails if W4 or H4 is left out or weakened, if H5 doesn't look, or if H7 or W6 is relaxed.
#[test]
fn nobody_reads_what_is_written() {
    check(2, || {
        let (scene, hazards) = Scene::new(1);
        scene.publish(1, 0);
        let reader = scene.read([1], hazards);
        scene.publish(2, 1); // nothing names the first chunk any more
        if scene.is_free(0) {
            scene.publish(3, 0);
        }
        reader.join().unwrap();
    });
}

/// A chunk of which its message is deprived is written again only when no reader reads it any more,
/// also when it comes back as that of another message in the same place.
///
/// Fails if W0 is left out, or if H5 looks at the chunk or the sequence alone, or without a fence
/// between.
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
/// Fails if H5 doesn't look at the chunk.
#[test]
fn a_message_that_is_brought_back() {
    for another in [0, 1] {
        check(3, move || {
            let (scene, hazards) = Scene::new(1);
            scene.publish(1, 0);
            let reader = scene.read([1], hazards);
            scene.ring.withdraw(1); // W0
            if scene.is_free(0) {
                scene.chunks.write(0, 7); // it was another's meanwhile
                scene.publish(1, another);
            }
            reader.join().unwrap();
        });
    }
}

/// A word that marked one chunk and marks another now says of the first one that it is read no
/// more.
///
/// Fails if H3 is relaxed.
#[test]
fn a_word_marks_one_chunk_after_another() {
    check(3, || {
        let (scene, hazards) = Scene::new(2);
        scene.publish(2, 0);
        scene.publish(3, 1);
        let reader = scene.read([2, 3], hazards);
        // Nothing names the first chunk from now on.
        scene.ring.publish(4, &Head::default(), Payload::Inline(&[]));
        if scene.is_free(0) {
            scene.chunks.write(0, 5);
        }
        reader.join().unwrap();
    });
}

/// A reader that is accepted while a chunk is reclaimed either is in the list by then, or finds the
/// chunk's message overwritten.
///
/// Fails if the list is loaded before W4.
#[test]
fn a_reader_that_is_accepted_meanwhile() {
    check(2, || {
        let (scene, hazards) = Scene::new(1);
        // A list that is stored whole, as the weakest that would do.
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
            record.store(1, Ordering::Release); // T2: the reader learns of it
        });
        scene.publish(2, 1);
        if is_free(0, || (accepted.load(Ordering::Acquire) == 1).then(|| scene.table.clone())) {
            scene.chunks.write(0, 3);
        }
        reader.join().unwrap();
        helper.join().unwrap();
    });
}

/// A reader that leaves counts until it has brought back what it holds, and takes nothing more.
///
/// Fails if marks are given after Q1, if Q3 doesn't wait for them, or if Q3 or Q4 is relaxed.
#[test]
fn a_reader_that_leaves() {
    check(3, || {
        let (scene, hazards) = Scene::new(1);
        let hazards = Arc::new(hazards);
        let state = Arc::new(AtomicU64::new(0));
        scene.publish(1, 0);
        let (ring, chunks) = (scene.ring.clone(), scene.chunks.clone());
        let (marks, theirs) = (hazards.clone(), state.clone());
        let reader = thread::spawn(move || read(&ring, 1, &marks, &chunks, &theirs));
        let left = state.clone();
        let leaver = thread::spawn(move || {
            hazards.refuse(); // Q1
            control::leave(&left); // Q2
            if hazards.are_all_back() {
                control::let_go(&left); // Q3
            }
        });
        scene.publish(2, 1);
        // Q4 is the helper thread's: it may change the list at the last moment.
        if is_free(0, || (!control::has_let_go(&state)).then(|| scene.table.clone())) {
            scene.chunks.write(0, 3);
        }
        reader.join().unwrap();
        leaver.join().unwrap();
        assert!(control::has_let_go(&state), "the last one says so");
    });
}

/// Growth is as an overwriting: what the old ring named isn't taken from there any more once it may
/// be reclaimed.
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
