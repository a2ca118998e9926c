//! The waiters for transforms.
//!
//! A waiter first registers and then looks the transform up; an inserting thread first inserts and
//! then checks the waiters. The buffer's lock orders the two, so at least one of them sees the
//! other's step.

use crate::lookup::At;
use sinew::__private::locks::{Mutex, no_lock_is_held};
use slab::Slab;
use std::sync::Arc;
use std::task::Waker;

/// A requested transform.
#[derive(Debug, Clone)]
pub(crate) struct Query {
    pub(crate) target: Arc<str>,
    pub(crate) source: Arc<str>,
    pub(crate) at: At,
}

/// The waiters. An entry without a waker has been woken, and has not looked the transform up again
/// yet.
#[derive(Debug, Default)]
pub(crate) struct Waiters(Mutex<Slab<(Query, Option<Waker>)>>);

impl Waiters {
    /// Wakes the waiters for which `is_over` is true.
    pub(crate) fn wake(&self, is_over: impl Fn(&Query) -> bool) {
        let mut waiters = self.0.lock();
        if waiters.is_empty() {
            return;
        }
        let over = waiters.iter_mut().filter(|(_, (query, waker))| waker.is_some() && is_over(query));
        let over: Vec<Waker> = over.filter_map(|(_, (_, waker))| waker.take()).collect();
        drop(waiters); // woken tasks may wait again
        no_lock_is_held();
        over.into_iter().for_each(Waker::wake);
    }

    /// Registers the waiter at `place`, or a new one, with this waker. Returns its place.
    pub(crate) fn register(&self, place: Option<usize>, query: &Query, waker: &Waker) -> usize {
        let ours = Some(waker.clone()); // runs the program's code, as all wakers do, so outside the lock
        let mut waiters = self.0.lock();
        let (place, former) = match place.and_then(|place| Some((place, waiters.get_mut(place)?))) {
            Some((place, (_, former))) => (place, std::mem::replace(former, ours)),
            None => (waiters.insert((query.clone(), ours)), None),
        };
        drop(waiters);
        drop(former);
        place
    }

    pub(crate) fn remove(&self, place: usize) {
        let gone = self.0.lock().remove(place);
        drop(gone); // drops the waker as well, so outside the lock
    }
}
