//! Spawned futures that are woken, cancelled and polled at once.

use super::{Probe, check};
use crate::executor::crew::scheduler::Scheduler;
use crate::executor::crew::wait_graph::WaitGraph;
use crate::executor::error::JoinError;
use crate::executor::group_token::GroupToken;
use crate::executor::owner::{Close, Host, Owner};
use crate::executor::task::{CallbackResult, Run, TaskOwner};
use crate::executor::work::future_cell::{FutureCell, FutureRoom, OutputSink};
use crate::executor::work::join::{self, Joinable};
use crate::executor::work::queue::{SpawnedFuture, WorkQueueCore};
use crate::sys::clock::Clock;
use crate::sys::sync::{Arc, AtomicBool, Mutex, Ordering};
use loom::thread;
use sinew_shm::EndpointKey;
use sinew_shm::transport::Participant;
use std::any::Any;
use std::pin::Pin;
use std::sync::Weak;
use std::task::{Context, Poll, Waker};

/// A node that has only a name.
struct Stub {
    name: Arc<str>,
    clock: Clock,
    said_idle: AtomicBool,
    wait_graph: Arc<WaitGraph>,
}

impl TaskOwner for Stub {
    fn full_name(&self) -> &Arc<str> {
        &self.name
    }

    fn has_ended(&self) -> bool {
        false
    }
}

impl Owner for Stub {
    fn known(&self) -> Option<EndpointKey> {
        None
    }

    fn said_idle(&self) -> &AtomicBool {
        &self.said_idle
    }

    fn host(&self) -> &dyn Host {
        self
    }

    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        unreachable!("no model asks")
    }
}

impl Host for Stub {
    fn clock(&self) -> &Clock {
        &self.clock
    }

    fn wait_graph(&self) -> &WaitGraph {
        &self.wait_graph
    }

    fn has_ended(&self) -> bool {
        false
    }

    fn register_executor(&self, _: &Arc<Scheduler>) -> bool {
        true
    }

    fn release_executor(&self, _: &Arc<Scheduler>) {}

    fn close_at_end(&self, _: Weak<dyn Close>, _: bool) {}

    fn end_detached(&self) {}

    fn participant(&self) -> Option<&Arc<Participant>> {
        None
    }
}

/// A queue without an executor: the model's threads run it.
struct Queue {
    core: Arc<WorkQueueCore>,
    _owner: Arc<dyn Owner>,
}

impl Queue {
    fn new() -> Self {
        Probe::reset_counts();
        let clock = Clock::new(None);
        let (said_idle, wait_graph) = (AtomicBool::new(false), WaitGraph::of_this_process());
        let owner: Arc<dyn Owner> =
            Arc::new(Stub { name: "/stub".into(), clock: clock.clone(), said_idle, wait_graph });
        Self { core: WorkQueueCore::new(&owner, &clock, "work", true), _owner: owner }
    }

    /// Runs the waiting work, as a thread of an executor does.
    fn run(&self) {
        for _ in 0..self.core.len() {
            let _ = self.core.run(&mut GroupToken::reentrant());
        }
    }
}

/// A future that is ready once it is opened.
struct Door {
    /// Each poll, and the drop, is an access.
    probe: Probe,
    bell: Arc<Bell>,
}

struct Bell {
    is_open: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

impl Bell {
    fn new() -> Arc<Self> {
        Arc::new(Self { is_open: AtomicBool::new(false), waker: Mutex::new(None) })
    }

    fn door(self: &Arc<Self>) -> Door {
        Door { probe: Probe::new(0), bell: self.clone() }
    }

    fn open(&self) {
        self.is_open.store(true, Ordering::Release);
        let waker = self.waker.lock().take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl Future for Door {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        self.probe.write(self.probe.read() + 1);
        *self.bell.waker.lock() = Some(context.waker().clone());
        if self.bell.is_open.load(Ordering::Acquire) { Poll::Ready(()) } else { Poll::Pending }
    }
}

/// A future that is woken at any time is polled afterwards.
///
/// Fails if a wake-up during a poll is forgotten.
#[test]
fn a_wake_up_during_a_poll_is_not_lost() {
    check(4, || {
        let (queue, bell) = (Queue::new(), Bell::new());
        let future = join::spawn(&queue.core, bell.door()).unwrap();
        let its = bell.clone();
        let thread = thread::spawn(move || its.open());
        queue.run();
        thread.join().unwrap();
        queue.run();
        assert!(future.is_over());
        Probe::expect_counts(1, 1);
    });
}

/// A future that is cancelled while a thread polls it, or is about to, is dropped once, and by then
/// no thread polls it.
///
/// Fails if the thread that polls it puts it back without looking, or if a cancelled future is
/// polled.
#[test]
fn a_future_that_is_cancelled_goes_once() {
    check(4, || {
        let (queue, bell) = (Queue::new(), Bell::new());
        let future = join::spawn(&queue.core, bell.door()).unwrap();
        let its = future.clone();
        let thread = thread::spawn(move || its.cancel());
        queue.run();
        thread.join().unwrap();
        assert!(future.is_over());
        Probe::expect_counts(1, 1);
    });
}

/// Two threads that cancel one future leave the others of its queue alone.
///
/// Fails if a future that is being cancelled is cancelled once more.
#[test]
fn a_future_is_forgotten_once() {
    check(4, || {
        let (queue, bell) = (Queue::new(), Bell::new());
        let future = join::spawn(&queue.core, bell.door()).unwrap();
        let its = future.clone();
        let thread = thread::spawn(move || its.cancel());
        future.cancel();
        let another = join::spawn(&queue.core, bell.door()).unwrap();
        thread.join().unwrap();
        queue.core.close();
        assert!(another.is_over());
        Probe::expect_counts(2, 2);
    });
}

/// A queue that is closed while a future comes drops it, or refuses it.
#[test]
fn a_closing_queue_keeps_nothing() {
    check(4, || {
        let (queue, bell) = (Queue::new(), Bell::new());
        let its = queue.core.clone();
        let thread = thread::spawn(move || its.close());
        let spawned = join::spawn(&queue.core, bell.door());
        queue.run();
        thread.join().unwrap();
        assert!(spawned.map_or(true, |future| future.is_over()));
        assert_eq!(queue.core.len(), 0);
        Probe::expect_counts(1, 1);
    });
}

/// Reuses a cell.
struct Again;

impl OutputSink<Door> for Again {
    fn finish(&self, _: Result<(), JoinError>) -> CallbackResult {
        Ok(())
    }

    fn retire(cell: Arc<FutureCell<Door, Self>>, room: FutureRoom<Door>) {
        cell.reuse(room);
    }
}

/// A waker of a future that is over at most polls the next one of its cell, which is neither lost
/// nor polled by two threads.
///
/// Fails if a future isn't noted as polled from its beginning.
#[test]
fn a_cell_is_used_again() {
    check(4, || {
        let (queue, first, second) = (Queue::new(), Bell::new(), Bell::new());
        first.is_open.store(true, Ordering::Release);
        let cell = FutureCell::new(&queue.core, Again);
        let _ = cell.clone().start(first.door(), None);
        let its = second.clone();
        let thread = thread::spawn(move || {
            first.open();
            its.open();
        });
        let _ = cell.start(second.door(), None);
        thread.join().unwrap();
        queue.run();
        queue.run();
        Probe::expect_counts(2, 2);
    });
}
