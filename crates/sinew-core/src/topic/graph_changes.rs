//! Notices of changes of the graph: the nodes and endpoints here and elsewhere.
//!
//! A thread counts a change under a short lock, after it has changed the list that shows it. If the
//! graph has watchers, the same thread then notifies them with no lock held, since listeners and
//! wakers are code of the program. Publishing never comes here.

use crate::mailbox::waiters::{Listener, Waiter};
use crate::sys::clock::Time;
use crate::sys::sync::{Arc, Condvar, Mutex, no_lock_is_held};
use std::task::Waker;
use std::time::Duration;

/// Counts changes, and notifies the watchers.
pub(crate) struct GraphChanges {
    state: Mutex<State>,
    /// Wakes threads that wait.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    count: u64,
    /// Number of threads that wait.
    waiting: usize,
    /// Tasks that wait, by the serials of their waits.
    tasks: Vec<(u64, Waker)>,
    /// By their serials.
    listeners: Vec<(u64, Arc<Listener>)>,
}

impl GraphChanges {
    pub(crate) fn new() -> Self {
        Self { state: Mutex::default(), changed: Condvar::new() }
    }

    /// Returns the number of changes so far.
    pub(crate) fn count(&self) -> u64 {
        self.state.lock().count
    }

    /// Counts a change. Returns `true` if the caller has to [notify](Self::notify) once it holds no
    /// lock.
    #[must_use]
    pub(crate) fn note(&self) -> bool {
        let mut state = self.state.lock();
        state.count += 1;
        state.waiting > 0 || !state.tasks.is_empty() || !state.listeners.is_empty()
    }

    /// Notifies all watchers.
    pub(crate) fn notify(&self) {
        let listeners: Vec<_> = {
            let state = self.state.lock();
            state.listeners.iter().map(|(_, listener)| listener.clone()).collect()
        };
        self.wake();
        listeners.into_iter().for_each(|listener| Waiter::Listener(listener).wake());
    }

    /// Wakes all threads and tasks that wait: there was a change, or the context has ended.
    pub(crate) fn wake(&self) {
        no_lock_is_held(); // wakers are code of the program
        let tasks = {
            let mut state = self.state.lock();
            self.changed.notify_all();
            std::mem::take(&mut state.tasks)
        };
        tasks.into_iter().for_each(|(_, task)| Waiter::Task(task).wake());
    }

    /// Waits until the count isn't `seen`, for at most `timeout` of real time. Returns the count;
    /// `None` if it still is `seen`, or the context has ended.
    pub(crate) fn wait(&self, seen: u64, has_ended: impl Fn() -> bool, timeout: Duration) -> Option<u64> {
        let deadline = Time::steady() + timeout;
        let mut state = self.state.lock();
        state.waiting += 1;
        while state.count == seen && !has_ended() {
            let left = deadline - Time::steady();
            if left.is_zero() {
                break;
            }
            self.changed.wait_at_most(&mut state, Some(left));
        }
        state.waiting -= 1;
        (state.count != seen && !has_ended()).then_some(state.count)
    }

    /// Returns the count if it isn't `seen`; otherwise registers the task to be woken when the
    /// count changes or the context ends. `serial` identifies the task's wait.
    pub(crate) fn poll(&self, seen: u64, serial: u64, task: &Waker) -> Option<u64> {
        let task = task.clone(); // code of the program, as the drop below
        let before = {
            let mut state = self.state.lock();
            let before = take(&mut state.tasks, serial);
            if state.count != seen {
                let count = state.count;
                drop(state);
                drop(before);
                return Some(count);
            }
            state.tasks.push((serial, task));
            before
        };
        drop(before);
        None
    }

    /// Ends a task's wait.
    pub(crate) fn forget(&self, serial: u64) {
        let gone = take(&mut self.state.lock().tasks, serial);
        drop(gone); // code of the program, outside the lock
    }

    /// Adds a listener.
    pub(crate) fn listen(&self, serial: u64, listener: Arc<Listener>) {
        self.state.lock().listeners.push((serial, listener));
    }

    /// Removes a listener; a thread that notifies now may still call it.
    pub(crate) fn ignore(&self, serial: u64) {
        let gone = take(&mut self.state.lock().listeners, serial);
        drop(gone); // code of the program, outside the lock
    }
}

fn take<T>(all: &mut Vec<(u64, T)>, serial: u64) -> Option<T> {
    let at = all.iter().position(|(known, _)| *known == serial)?;
    Some(all.swap_remove(at).1)
}
