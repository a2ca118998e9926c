//! The futures of an asynchronous server, between their request and their response.
//!
//! They are polled only by the server's executor, with its group's token: a waker merely announces
//! the server again, in the same queue as everything else. Each future has a *room*: memory, a
//! waker, and its reply token. Rooms are reused, so a steady flow allocates nothing.
//!
//! | phase of a room | holder | a wake-up makes it |
//! |---|---|---|
//! | `Free` | the list | - |
//! | `Idle` | the list | `Woken`, and it enters the queue |
//! | `Woken` | the list | - |
//! | `Polled` | the thread that polls it | `PolledAgain` |
//! | `PolledAgain` | the thread that polls it, which puts it back as `Woken` | - |
//!
//! A waker of a finished future may wake the next one in its room, which is then polled once for
//! nothing. Polling a future, and dropping it or its output, run code of the program: the room is
//! taken out for that, and no lock is held.

use super::failure::CallFailure;
use super::reply::{Reply, outcome};
use super::responder::ReplyToken;
use crate::executor::group_token::GroupToken;
use crate::executor::notifier::{TaskNotifier, ToSignal};
use crate::executor::owner::Close;
use crate::executor::panic_message;
use crate::executor::scheduler::{TaskRef, index, signal};
use crate::message::info::{ChainScope, Lineage};
use crate::sys::clock::{Clock, Stamp};
use crate::sys::sync::{Arc, Mutex};
use sinew_msg::Message;
use std::any::Any;
use std::collections::VecDeque;
use std::marker::PhantomData;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::Weak;
use std::task::{Context, Poll, Wake, Waker};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Free,
    Idle,
    Woken,
    Polled,
    PolledAgain,
}

/// The memory of a future.
pub(crate) struct FutureCell<A> {
    future: Pin<Box<Option<A>>>,
    waker: Waker,
    reply_token: Option<ReplyToken>,
    lineage: Option<Lineage>,
}

struct FutureSlot<A> {
    phase: Phase,
    /// Absent while the future is polled.
    room: Option<FutureCell<A>>,
}

/// The futures of one server, which answers with `T`.
pub(crate) struct ServerFutures<A, T> {
    me: Weak<Self>,
    clock: Clock,
    state: Mutex<FuturesState<A>>,
    of: PhantomData<fn() -> T>,
}

struct FuturesState<A> {
    slots: Vec<FutureSlot<A>>,
    free: Vec<u32>,
    /// In the order of their wake-ups.
    woken: VecDeque<(Stamp, u32)>,
    notifier: TaskNotifier,
    closed: bool,
}

impl<A> FuturesState<A> {
    fn oldest(&self) -> Option<Stamp> {
        self.woken.front().map(|(stamp, _)| *stamp)
    }

    /// Queues a future that can go on.
    fn queue(&mut self, place: u32, stamp: Stamp) -> ToSignal {
        self.slots[place as usize].phase = Phase::Woken;
        self.woken.push_back((stamp, place));
        self.notifier.notify(stamp)
    }
}

/// A future that has been taken out to be polled.
pub(crate) struct TakenFuture<A> {
    place: u32,
    room: FutureCell<A>,
}

impl<A, T> ServerFutures<A, T>
where
    A: Future<Output: Reply<T>> + Send + 'static,
    T: Message,
{
    pub(crate) fn new(clock: Clock) -> Arc<Self> {
        let state = FuturesState {
            slots: Vec::new(),
            free: Vec::new(),
            woken: VecDeque::new(),
            notifier: TaskNotifier::default(),
            closed: false,
        };
        Arc::new_cyclic(|me| Self { me: me.clone(), clock, state: Mutex::new(state), of: PhantomData })
    }

    /// Begins to answer a request: polls the future for the first time.
    ///
    /// # Panics
    /// Panics if the future does; its caller has been notified by then.
    pub(crate) fn begin(&self, future: A, reply_token: ReplyToken, lineage: Lineage) {
        let TakenFuture { place, mut room } = self.room();
        room.future.set(Some(future));
        room.reply_token = Some(reply_token);
        room.lineage = Some(lineage);
        self.poll(TakenFuture { place, room });
    }

    /// Returns a free room.
    fn room(&self) -> TakenFuture<A> {
        let mut state = self.state.lock();
        let place = state.free.pop().unwrap_or_else(|| {
            state.slots.push(FutureSlot { phase: Phase::Free, room: None });
            index(state.slots.len() - 1)
        });
        let slot = &mut state.slots[place as usize];
        slot.phase = Phase::Polled;
        if let Some(room) = slot.room.take() {
            return TakenFuture { place, room };
        }
        drop(state);
        let waker = Waker::from(Arc::new(FutureWaker { tasks: self.me.clone(), place }));
        TakenFuture {
            place,
            room: FutureCell { future: Box::pin(None), waker, reply_token: None, lineage: None },
        }
    }

    /// Takes out the future that was woken first.
    pub(crate) fn take_woken(&self) -> Option<TakenFuture<A>> {
        let mut state = self.state.lock();
        let (_, place) = state.woken.pop_front()?;
        let slot = &mut state.slots[place as usize];
        slot.phase = Phase::Polled;
        let room = slot.room.take()?;
        Some(TakenFuture { place, room })
    }

    /// Polls a future, and puts it back or answers.
    ///
    /// # Panics
    /// As in [`begin`](Self::begin).
    pub(crate) fn poll(&self, taken: TakenFuture<A>) {
        let TakenFuture { place, mut room } = taken;
        let chain = ChainScope::enter(room.lineage);
        let FutureCell { future, waker, reply_token, .. } = &mut room;
        let polled = catch_unwind(AssertUnwindSafe(|| {
            let future = future.as_mut().as_pin_mut()?;
            match future.poll(&mut Context::from_waker(waker)) {
                Poll::Pending => None,
                Poll::Ready(reply) => {
                    if let Some(reply_token) = reply_token {
                        let outcome = outcome(reply, &reply_token.core().pool);
                        // A caller that no longer waits doesn't miss the outcome.
                        drop(reply_token.complete(outcome));
                    }
                    Some(())
                }
            }
        }));
        let panic = match polled {
            Ok(None) => {
                self.put_back(place, room);
                return;
            }
            Ok(Some(())) => None,
            Err(panic) => {
                if let Some(reply_token) = &mut room.reply_token {
                    reply_token.fail(CallFailure::Panicked { message: panic_message(&*panic) });
                }
                Some(panic)
            }
        };
        let another = vacate(&mut room);
        drop(chain);
        self.release(place, room);
        if let Some(panic) = panic.or(another) {
            resume_unwind(panic);
        }
    }

    /// Puts back a future that is not ready.
    fn put_back(&self, place: u32, room: FutureCell<A>) {
        let mut state = self.state.lock();
        if state.closed {
            state.slots[place as usize].phase = Phase::Free;
            drop(state);
            end(room);
            return;
        }
        let slot = &mut state.slots[place as usize];
        slot.room = Some(room);
        let again = mem::replace(&mut slot.phase, Phase::Idle) == Phase::PolledAgain;
        let call = if again { state.queue(place, self.clock.stamp()) } else { None };
        drop(state);
        signal(call);
    }

    /// Frees the room of a finished future.
    fn release(&self, place: u32, room: FutureCell<A>) {
        let mut state = self.state.lock();
        let slot = &mut state.slots[place as usize];
        slot.phase = Phase::Free;
        slot.room = Some(room);
        state.free.push(place);
    }

    fn wake(&self, place: u32) {
        let mut state = self.state.lock();
        let slot = &mut state.slots[place as usize];
        let call = match slot.phase {
            Phase::Idle => state.queue(place, self.clock.stamp()),
            Phase::Polled => {
                slot.phase = Phase::PolledAgain;
                None
            }
            Phase::Free | Phase::Woken | Phase::PolledAgain => None,
        };
        drop(state);
        signal(call);
    }

    // ---- as a part of the server's entity ----

    /// Returns the stamp of the next future that can go on, once one was taken. In a reentrant
    /// group it is announced here.
    pub(crate) fn next_for(&self, token: &GroupToken) -> Option<Stamp> {
        let mut state = self.state.lock();
        let oldest = state.oldest();
        let (next, call) = state.notifier.next(oldest, token.is_reentrant());
        drop(state);
        signal(call);
        next
    }

    pub(crate) fn pending(&self) -> Option<Stamp> {
        let mut state = self.state.lock();
        let oldest = state.oldest();
        state.notifier.pending(oldest)
    }

    /// Takes back the server's announcement if no future can go on, together with that of the
    /// requests. `requests` is passed whether a future can go on, and returns whether a request
    /// waits.
    pub(crate) fn retract(&self, requests: impl FnOnce(bool) -> bool) -> bool {
        let mut state = self.state.lock(); // held for both, so that nothing is announced and retracted in between
        let woken = state.oldest().is_some();
        if !woken {
            state.notifier.retract(true); // the requests' part takes the task out of the queue
        }
        requests(woken)
    }

    pub(crate) fn attach(&self, task_ref: Option<TaskRef>) {
        let mut state = self.state.lock();
        let oldest = state.oldest();
        let (before, call) = state.notifier.attach(task_ref, oldest);
        drop(state);
        drop(before);
        signal(call);
    }
}

impl<A, T> Close for ServerFutures<A, T>
where
    A: Future<Output: Reply<T>> + Send + 'static,
    T: Message,
{
    /// Drops the futures; their callers are notified. A future that is being polled is dropped
    /// after that, unless it is ready then.
    fn close(&self) {
        let gone: Vec<_> = {
            let mut state = self.state.lock();
            state.closed = true;
            state.woken.clear();
            state.free.clear();
            let rooms = state.slots.iter_mut().filter_map(|slot| {
                let room = slot.room.take()?;
                slot.phase = Phase::Free;
                Some(room)
            });
            rooms.collect()
        };
        gone.into_iter().for_each(end);
    }
}

/// Ends a future that was never ready.
fn end<A>(mut room: FutureCell<A>) {
    if let Some(reply_token) = &mut room.reply_token {
        reply_token.fail(CallFailure::ServerGone);
    }
    drop(room);
}

/// Empties a room. Returns the panic if the future's `Drop` panics.
fn vacate<A>(room: &mut FutureCell<A>) -> Option<Box<dyn Any + Send>> {
    room.reply_token = None;
    room.lineage = None;
    let future = &mut room.future;
    catch_unwind(AssertUnwindSafe(|| future.set(None))).err()
}

/// The action of a room's waker.
struct FutureWaker<A, T> {
    tasks: Weak<ServerFutures<A, T>>,
    place: u32,
}

impl<A, T> Wake for FutureWaker<A, T>
where
    A: Future<Output: Reply<T>> + Send + 'static,
    T: Message,
{
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if let Some(tasks) = self.tasks.upgrade() {
            tasks.wake(self.place);
        }
    }
}
