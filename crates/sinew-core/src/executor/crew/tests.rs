//! Executors and their lanes.

use super::control::Place;
use super::current::{self, CallbackScope};
use super::members::GroupSlot;
use super::run::Spin;
use super::scheduler::{Scheduler, TaskRef};
use super::worker::{Blocking, Next, Worker};
use crate::executor::group_token::{GroupNumber, GroupToken};
use crate::executor::prefetch::{self, Hint, NoteIndex, Part};
use crate::executor::task::{Run, TaskOutcome};
use crate::sys::clock::Stamp;
use crate::sys::sync::Arc;
use crate::testing::idle;
use std::cell::Cell;
use std::ptr;
use std::sync::OnceLock;

/// A worker with a short task in its lane takes a task of the queue that may be long: the task in
/// the lane goes into the queue, and the other worker is called for it. (W1)
#[test]
fn a_task_of_the_lane_does_not_wait_behind_a_long_one_of_the_queue() {
    let scheduler = Scheduler::with(2);
    idle::spin(&scheduler);
    scheduler.open_lane(0, true);
    current::enter_lane(scheduler.id);
    let [first, long, short] =
        [(); 3].map(|()| idle::enter(&GroupSlot::new(&scheduler, GroupNumber::new().get(), 0).unwrap()));
    short.0.is_known_to_be_short();
    let at = |time| Stamp { time, order: 1 };
    let (mut worker, mut work) = (Worker::new(&scheduler, 0), None);
    assert!(first.0.notify(at(1)).is_none() && long.0.notify(at(2)).is_none(), "no worker sleeps");
    assert!(matches!(worker.next(&mut work, Blocking::None), Next::Run));
    let _ = scheduler.lock().workers.park(1, 1); // the other one is the monitor from now on
    current::begin_with_tail(0);
    let running = CallbackScope::enter(first.1, u64::MAX);
    assert!(short.0.notify(at(3)).is_none(), "this worker runs it itself");
    drop(running);
    assert!(scheduler.lane.lock().first().is_some(), "it is in the lane");

    assert!(matches!(worker.next(&mut work, Blocking::None), Next::Run));
    assert_eq!(work.as_ref().map(|work| work.serial()), Some(long.1));
    assert!(!scheduler.lock().workers.has_parked(), "the other worker is called");
    let mut others = None;
    let _ = scheduler.lock().workers.unpark(1, 1);
    assert!(matches!(Worker::new(&scheduler, 1).next(&mut others, Blocking::None), Next::Run));
    assert_eq!(others.as_ref().map(|work| work.serial()), Some(short.1));
    current::enter_lane(0);
}

/// Two cache lines.
#[derive(Default)]
#[repr(align(64))]
struct Lines {
    _memory: [u64; 16],
}

/// Uses some memory and code, as if it published, and makes the next task ready.
#[derive(Default)]
struct Relay {
    uses: Arc<Lines>,
    note: NoteIndex,
    next: OnceLock<TaskRef>,
}

impl Run for Relay {
    fn run(&self, _token: &mut GroupToken) -> TaskOutcome {
        let code = || Part::Hint(Hint::new(Self::run as *const (), 512));
        let used = || vec![Part::value(&self.uses, 2), code(), code(), code()];
        prefetch::note(Arc::as_ptr(&self.uses).addr(), &self.note, used);
        if let Some(next) = self.next.get() {
            assert!(next.notify(Stamp { time: 2, order: 1 }).is_none(), "this worker runs it itself");
        }
        TaskOutcome { result: Ok(()), next: None, called: true }
    }

    fn pending(&self) -> Option<Stamp> {
        None
    }

    fn clear_ready(&self) -> bool {
        true
    }
}

/// Runs three relays, one after the other, by a thread that has used this many entities in its
/// burst. Returns what is known of the second relay, which the lane runs, and the addresses of what
/// it uses and of the third one's header and entity.
fn relay_after(entities: usize) -> (Vec<(usize, usize)>, [usize; 3]) {
    let scheduler = Scheduler::with(1);
    let group = GroupSlot::new(&scheduler, GroupNumber::new().get(), 0).expect("the executor lives");
    let [first, second, third] = [(); 3].map(|()| {
        let relay = idle::task(Relay::default());
        (idle::enter_task(&group, relay.clone()).0, relay)
    });
    assert!(
        first.1.work.next.set(second.0.clone()).is_ok() && second.1.work.next.set(third.0.clone()).is_ok()
    );
    assert!(first.0.notify(Stamp { time: 1, order: 1 }).is_none(), "no worker sleeps");
    let spin = Spin::begin(Place::first(&scheduler, true).expect("no thread spins it"), true);
    (1..=entities).for_each(|entity| prefetch::note(entity, &NoteIndex::new(), Vec::new));
    assert_eq!(spin.run(Blocking::None).ok(), Some(3));
    drop(spin);
    let uses = Arc::as_ptr(&second.1.work.uses).addr();
    let next = [ptr::from_ref(&*third.0.header).addr(), Arc::as_ptr(&third.1).addr()];
    let known = second.0.header.working_set.places();
    [first, second, third].iter().for_each(|(task_ref, _)| task_ref.leave(false)); // they keep one another
    (known, [uses, next[0], next[1]])
}

#[test]
fn a_task_beyond_the_notes_knows_what_its_callback_uses() {
    let (known, [uses, header, entity]) = relay_after(1000);
    assert_eq!(known[..2], [(uses, 2), (header, 2)], "the publisher, and the next task");
    assert_eq!(known[2].0, entity - entity % 64);
    assert_eq!(known.len(), 3, "no code");
}

#[test]
fn a_task_that_is_noted_has_no_working_set() {
    assert_eq!(relay_after(10).0, []);
}

/// A thread that another process's message has woken.
#[test]
fn a_burst_without_a_fetch_is_beyond_the_notes_and_notes_nothing() {
    let uses = |entity: usize, place: &NoteIndex| {
        let learnt = Cell::new(false);
        prefetch::note(entity, place, || {
            learnt.set(true);
            Vec::new()
        });
        learnt.get()
    };
    let noting = prefetch::Noting::begin(|_| ());
    prefetch::fetch();
    let [known, unknown] = [(); 2].map(|()| NoteIndex::new());
    assert!(uses(1, &known) && !prefetch::is_beyond_notes());
    prefetch::skip();
    assert!(prefetch::is_beyond_notes());
    assert!(!uses(1, &known), "it stays noted");
    assert!(!uses(2, &unknown), "it is not noted in this burst");
    prefetch::fetch();
    assert!(!prefetch::is_beyond_notes());
    assert!(uses(2, &unknown), "but in the next one that begins with a fetch");
    drop(noting);
}
