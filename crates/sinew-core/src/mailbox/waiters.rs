//! Threads, tasks and listeners that wait, and how they are woken.
//!
//! A [`Waiter`] is a thread, a task or a listener. Its owner takes it out under the lock that
//! guards what it waits for, and wakes it once no lock is held. [`Waiters`] are those of one
//! subscription: the tasks that wait for its messages, and its listener.
//!
//! # Tasks
//!
//! A future that finds nothing leaves its waker in a queue, under the history's lock and after it
//! has looked once more (A1). Each message that arrives takes the first task out of that queue,
//! under the same lock, and wakes it once no lock is held (A2). So no message arrives unnoticed
//! between the look and the sleep, and one message wakes one task.
//!
//! A task that was taken out *owes* a look at the history. It pays by polling, or, if its future is
//! dropped, by passing the wake on to the next in the queue (A3). While a task is in the queue, at
//! least as many other tasks owe a look as there are messages: it was queued when there were none,
//! every message since has made another task owe, and each look that was paid took a message, found
//! none left, or was passed on. So while a task sleeps, some other task is going to fetch each
//! message that waits.
//!
//! A waiting future has a ticket that identifies it in the queue, which is first come, first
//! served; a task that was woken for a message that another reader took returns to its former
//! place.
//!
//! # By hand
//!
//! A thread that takes a message by hand, or waits for an answer, reads messages from other
//! processes, also for other subscriptions. The program may hold a lock there that the listeners of
//! these subscriptions want. So no listener runs on that thread: [`by_hand`] collects the
//! notifications, and a dedicated thread makes them.

use crate::executor::report;
use crate::sys::logging::Level;
use crate::sys::panics::{dispose_of, panic_message};
use crate::sys::parker::Parker;
use crate::sys::sync::{Arc, AtomicU64, Ordering, no_lock_is_held};
use sinew_shm::transport::EventReceiver;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Waker;

/// A thread, task or listener to be woken once no lock is held.
#[must_use = "it waits until it is woken"]
pub(crate) enum Waiter {
    Thread(Arc<Parker>),
    /// A thread that waits for another process, on a port of its own.
    Port(Arc<EventReceiver>),
    Task(Waker),
    /// Is notified of one arrival.
    Listener(Arc<Listener>),
}

impl Waiter {
    /// Wakes it. The caller holds no lock: tasks and listeners run code of the program.
    #[inline]
    pub(crate) fn wake(self) {
        match self {
            Self::Thread(parker) => parker.unpark(),
            Self::Port(port) => port.ring(),
            Self::Task(task) => contain(|| task.wake(), || "waking a task".to_owned()),
            Self::Listener(listener) => listener.notify(1),
        }
    }
}

/// A function of the program that is called with the number of news.
pub(crate) type OnNews = Box<dyn Fn(u64) + Send + Sync>;

/// A function of the program that is called when a message or request arrives.
pub(crate) struct Listener {
    /// For log lines: "subscription to /frames of node /viewer".
    entity: String,
    call: OnNews,
    /// Count of arrivals that the listener itself caused while it ran: it runs again for them after
    /// it returns.
    own: AtomicU64,
}

thread_local! {
    /// The listeners that this thread is running: seldom more than one.
    static RUNNING: RefCell<Vec<*const Listener>> = const { RefCell::new(Vec::new()) };
    /// Notifications that this thread collects while it reads [by hand](self#by-hand).
    static BY_HAND: RefCell<Option<Notifications>> = const { RefCell::new(None) };
}

/// Closures that notify listeners.
pub(crate) type Notifications = Vec<Box<dyn FnOnce() + Send>>;

/// Runs `read`, which reads messages from elsewhere, on a thread that must not run listeners.
/// Passes their notifications to `notify`, even if `read` panics, as dropping a displaced message
/// may: the listeners of earlier messages are still notified. A nested call leaves them to the
/// outer one.
pub(crate) fn by_hand(read: impl FnOnce(), notify: impl FnOnce(Notifications)) {
    struct Reading<F: FnOnce(Notifications)>(Option<F>);

    impl<F: FnOnce(Notifications)> Drop for Reading<F> {
        fn drop(&mut self) {
            let notifications = BY_HAND.try_with(RefCell::take).ok().flatten().unwrap_or_default();
            if let Some(notify) = self.0.take()
                && !notifications.is_empty()
            {
                notify(notifications);
            }
        }
    }

    let begin = |place: &RefCell<Option<Notifications>>| {
        let mut place = place.borrow_mut();
        let is_outermost = place.is_none();
        place.get_or_insert_default();
        is_outermost
    };
    if !BY_HAND.try_with(begin).unwrap_or(false) {
        return read(); // nested, or in a thread that is ending
    }
    let _reading = Reading(Some(notify));
    read();
}

/// Runs `notify` here and now, or leaves it to another thread if this one reads [by
/// hand](self#by-hand).
pub(crate) fn notify_where_allowed(notify: impl FnOnce() + Send + 'static) {
    let is_by_hand = BY_HAND.try_with(|place| place.borrow().is_some()).unwrap_or(false);
    if !is_by_hand {
        return notify();
    }
    let _ = BY_HAND.try_with(|place| place.borrow_mut().get_or_insert_default().push(Box::new(notify)));
}

/// Returns `None` on a thread that is ending.
fn running<R>(look: impl FnOnce(&mut Vec<*const Listener>) -> R) -> Option<R> {
    RUNNING.try_with(|running| look(&mut running.borrow_mut())).ok()
}

impl Listener {
    pub(crate) fn new(entity: String, call: impl Fn(u64) + Send + Sync + 'static) -> Arc<Self> {
        Self::boxed(entity, Box::new(call))
    }

    /// As `new`, for a function that a builder has kept.
    pub(crate) fn boxed(entity: String, call: OnNews) -> Arc<Self> {
        Arc::new(Self { entity, call, own: AtomicU64::new(0) })
    }

    /// Notifies the listener of `count` arrivals: here, or, if this thread reads by hand, on
    /// another thread. The caller holds no lock.
    ///
    /// A listener that takes messages, as most do, may read the next ones from another process: it
    /// is notified of them once it has returned. Otherwise a burst would recurse once for each
    /// message, and a listener that holds a lock of its own would deadlock.
    pub(crate) fn notify(self: Arc<Self>, count: u64) {
        no_lock_is_held();
        let this = Arc::as_ptr(&self);
        if running(|running| running.contains(&this)) == Some(true) {
            // Relaxed: this thread adds the count and reads it. Another thread that runs the
            // listener may report it instead.
            self.own.fetch_add(count, Ordering::Relaxed);
            return;
        }
        notify_where_allowed(move || self.run(count));
    }

    fn run(self: Arc<Self>, count: u64) {
        let this = Arc::as_ptr(&self);
        running(|running| running.push(this));
        let mut count = count;
        while count > 0 {
            contain(|| (self.call)(count), || format!("the listener of the {}", self.entity));
            count = self.own.swap(0, Ordering::Relaxed);
        }
        running(|running| running.retain(|other| *other != this));
        // If the listener was replaced meanwhile, dropping it runs code of the program.
        contain(|| drop(self), || "dropping a listener".to_owned());
    }
}

/// Runs code of the program and reports its panic, which must not reach the publisher, caller or
/// server on this thread.
#[track_caller]
pub(crate) fn contain(code: impl FnOnce(), what: impl FnOnce() -> String) {
    no_lock_is_held();
    let Err(panic) = catch_unwind(AssertUnwindSafe(code)) else { return };
    let what = what();
    report(Level::Error, &what, &format_args!("{what} panicked: {}", panic_message(&*panic)));
    dispose_of(panic);
}

/// A future's place in the queue; 0 for none.
#[derive(Default)]
pub(crate) struct WaiterId(u64);

impl WaiterId {
    #[inline]
    pub(crate) fn is_none(&self) -> bool {
        self.0 == 0
    }
}

/// The listener and the tasks that wait, kept under the history's lock.
#[derive(Default)]
pub(crate) struct Waiters {
    listener: Option<Arc<Listener>>,
    /// In the order of their tickets.
    tasks: VecDeque<(u64, Waker)>,
    last_id: u64,
}

impl Waiters {
    /// Whether an arriving message notifies a task or the listener.
    pub(crate) fn is_wanted(&self) -> bool {
        self.listener.is_some() || !self.tasks.is_empty()
    }

    /// A2: returns the task and the listener to wake for a message; takes the task out.
    pub(crate) fn arrived(&mut self) -> impl Iterator<Item = Waiter> + use<> {
        let task = self.tasks.pop_front().map(|(_, task)| Waiter::Task(task));
        task.into_iter().chain(self.listener.clone().map(Waiter::Listener))
    }

    /// Sets another listener, or none; returns the previous one, to be dropped outside the lock.
    #[must_use]
    pub(crate) fn set_listener(&mut self, listener: Option<Arc<Listener>>) -> Option<Arc<Listener>> {
        std::mem::replace(&mut self.listener, listener)
    }

    /// Whether this same task already waits under the ticket.
    pub(crate) fn has(&self, waiter: &WaiterId, task: &Waker) -> bool {
        self.find(waiter).is_ok_and(|index| self.tasks[index].1.will_wake(task))
    }

    /// A1: registers a waiting task. Returns the waker that it had left before, to be dropped
    /// outside the lock.
    #[must_use]
    pub(crate) fn wait(&mut self, waiter: &mut WaiterId, task: Waker) -> Option<Waker> {
        if waiter.is_none() {
            self.last_id += 1;
            waiter.0 = self.last_id;
        }
        match self.find(waiter) {
            Ok(index) => Some(std::mem::replace(&mut self.tasks[index].1, task)),
            Err(index) => {
                self.tasks.insert(index, (waiter.0, task));
                None
            }
        }
    }

    /// Ends the wait of a future that has its message. Returns its waker, to be dropped outside the
    /// lock.
    #[must_use]
    pub(crate) fn served(&mut self, waiter: &mut WaiterId) -> Option<Waker> {
        let found = self.find(waiter);
        waiter.0 = 0;
        self.tasks.remove(found.ok()?).map(|(_, task)| task)
    }

    /// A3: ends the wait of a dropped future. Returns its waker, to be dropped; or, if it owes a
    /// look and there are messages, the next task, to be woken. Both happen outside the lock.
    #[must_use]
    pub(crate) fn left(
        &mut self,
        waiter: &mut WaiterId,
        has_messages: bool,
    ) -> (Option<Waker>, Option<Waiter>) {
        let found = self.find(waiter);
        waiter.0 = 0;
        match found {
            Ok(index) => (self.tasks.remove(index).map(|(_, task)| task), None),
            Err(_) if has_messages => (None, self.tasks.pop_front().map(|(_, task)| Waiter::Task(task))),
            Err(_) => (None, None),
        }
    }

    /// Takes out all waiting tasks, for an event that all of them wait for.
    pub(crate) fn take_tasks(&mut self) -> impl Iterator<Item = Waiter> + use<> {
        std::mem::take(&mut self.tasks).into_iter().map(|(_, task)| Waiter::Task(task))
    }

    fn find(&self, waiter: &WaiterId) -> Result<usize, usize> {
        self.tasks.binary_search_by_key(&waiter.0, |(waiter, _)| *waiter)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::sync::mpsc;

    #[test]
    fn reading_by_hand_notifies_afterwards_even_if_it_panics() {
        let (sender, notified) = mpsc::channel();
        let send = |number: u64| {
            let sender = sender.clone();
            move || sender.send(number).unwrap()
        };
        let (read, notified_within) = (Cell::new(0), Cell::new(0));
        let reading = AssertUnwindSafe(|| {
            by_hand(
                || {
                    notify_where_allowed(send(1));
                    by_hand(|| notify_where_allowed(send(2)), |_| notified_within.set(1));
                    read.set(notified.try_iter().count());
                    panic!("as a displaced message may, when it is dropped");
                },
                |notifications| notifications.into_iter().for_each(|notify| notify()),
            );
        });
        assert!(catch_unwind(reading).is_err());
        assert_eq!((read.get(), notified_within.get()), (0, 0), "no listener is notified while it reads");
        assert_eq!(notified.try_iter().collect::<Vec<_>>(), [1, 2]);
        notify_where_allowed(send(3));
        assert_eq!(notified.try_recv(), Ok(3), "the thread notifies again");
    }
}
