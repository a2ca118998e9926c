//! Loom models of the protocols between processes. The processes are threads here, and their memory
//! is ordinary memory.
//!
//! Run with `RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR=target/loom cargo test -p sinew-shm --profile
//! loom --lib models`.
//!
//! Every model states the promise that it checks, and the changes to the code that make it fail;
//! `.ci/mutations` applies those changes to a copy of the tree and expects exactly that. loom runs
//! a model again and again, each time with another order of the threads' steps, and lets each load
//! see any value that the orderings allow. A chunk is a [`loom::cell::UnsafeCell`], so that loom
//! reports a thread that accesses one at the wrong time. A thread that sleeps on a bell continues
//! only when the bell has changed, so a lost wake-up is a deadlock.
//!
//! The writer is the first thread, and its readers are spawned. loom tries fewer orders of a thread
//! that loads a word before it stores to it (it compares a step only with the last one on the same
//! word), which owners do with their own words. The readers' loads may still see any older value.
//!
//! | module | protocol | sync points |
//! |---|---|---|
//! | `rings` | publishing and copying out; growth | W1-W3, R1-R3, G1-G3 |
//! | `hazards` | reading in place while chunks are reclaimed | H3-H7, W0, W4-W6 |
//! | `announcing` | events, growth of their rings, change of a port | P1, P2, D1-D3, G1-G3, E1 |
//! | `sleeping` | parking and ringing | P3, K1-K4 |
//! | `records` | records of tables and their lives, the log | T1-T4, L1-L3 |
//! | `pressure` | writers that wait for their readers | B1-B3 |
//! | `worker_records` | the records of the threads that run callbacks | A1-A3 |

mod announcing;
mod hazards;
mod pressure;
mod records;
mod rings;
mod sleeping;
mod worker_records;

use crate::event::protocol::{Announced, Drained, Drainer, Entries, Position, Pusher};
use crate::platform::shm_ref::ShmRef;
use crate::platform::sync::{Arc, AtomicU32, AtomicU64, Ordering};
use crate::ring::{Found, Head, Payload, Ring, Shape};
use crate::tables::bell::Bell;
use std::cell::RefCell;

/// Runs a model in every order with at most this many preemptions, or fewer if
/// `LOOM_MAX_PREEMPTIONS` is less.
fn check(preemptions: usize, model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound =
        Some(builder.preemption_bound.map_or(preemptions, |most| most.min(preemptions)));
    builder.max_branches = 20_000;
    builder.check(model);
}

/// A fresh piece of shared memory: `count` words of 0.
fn words(count: usize) -> ShmRef<[AtomicU64]> {
    ShmRef::of((0..count).map(|_| AtomicU64::new(0)).collect())
}

/// A fresh ring with room for one word of a message in each slot.
fn ring(slots: usize) -> Ring {
    let shape = Shape::new(slots, 8).unwrap();
    Ring::create(words(shape.bytes() / 8), shape)
}

/// Publishes message `number`; all its parts contain the number.
fn publish(ring: &Ring, number: u64) {
    let head = Head { order: number, ..Head::default() };
    ring.publish(number, &head, Payload::Inline(&number.to_le_bytes()));
}

/// The result of reading message `number`, as `Incoming::read` does once.
#[derive(Debug, PartialEq, Eq)]
enum Read {
    Nothing,
    Overwritten(u64),
    Moved,
    /// The message changed while it was read.
    Changed,
    /// The message is there, and is what was published under this number.
    There,
}

fn read(ring: &Ring, number: u64) -> Read {
    match ring.look(number) {
        Found::Nothing => Read::Nothing,
        Found::Overwritten(oldest) => Read::Overwritten(oldest),
        Found::Moved => Read::Moved,
        Found::Inline(head, length) => {
            let mut encoded = vec![0; length];
            if !ring.read_inline(number, &mut encoded) {
                return Read::Changed;
            }
            assert_eq!(
                (head.order, &encoded[..]),
                (number, &number.to_le_bytes()[..]),
                "torn or another one"
            );
            Read::There
        }
        Found::Chunk(..) | Found::LeftOut => panic!("no chunk was published"),
    }
}

/// The state that a reader shows its writers.
#[derive(Clone)]
struct Port {
    tail: Arc<AtomicU64>,
    parked: Arc<AtomicU64>,
    bell: Bell,
}

fn port() -> Port {
    Port {
        tail: Arc::new(AtomicU64::new(0)),
        parked: Arc::new(AtomicU64::new(0)),
        bell: Bell(ShmRef::alone(AtomicU32::new(0))),
    }
}

/// A fresh event ring.
fn entries(capacity: usize) -> Entries {
    Entries::create(words(Entries::words(capacity)), capacity)
}

/// The writing end of a connection: like `Accepted` and `EventSender`, but without their locks,
/// because it has only one thread here.
struct Route {
    connection: u32,
    port: Port,
    end: RefCell<(Pusher, Position)>,
}

impl Route {
    fn new(connection: u32, port: &Port, entries: &Entries) -> Self {
        Self { connection, port: port.clone(), end: RefCell::new((Pusher::new(entries.clone()), 0)) }
    }
}

impl Announced for Route {
    fn push(&self) -> bool {
        let (pusher, last) = &mut *self.end.borrow_mut();
        pusher.push(self.connection, last, &self.port.tail);
        true
    }

    fn ring_if_parked(&self) {
        if self.end.borrow_mut().0.must_ring(&self.port.parked) {
            self.port.bell.ring();
        }
    }
}

/// The number of published messages, in place of a connection's ring (W3, R1).
type Published = Arc<AtomicU64>;

/// W3
fn publish_one(published: &Published) {
    let number = published.load(Ordering::Relaxed); // ours alone
    published.store(number + 1, Ordering::Release);
}

/// Drains the ring into `seen`, by connection.
fn drain(
    drainer: &mut Drainer,
    port: &Port,
    find: impl Fn() -> Option<Entries>,
    published: &[Published],
    seen: &mut [u64],
) {
    while let Drained::Connection(connection) = drainer.next(&port.tail, &find) {
        let connection = connection as usize;
        seen[connection] = published[connection].load(Ordering::Acquire); // R1
    }
}
