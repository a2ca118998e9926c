//! The thread that looks at deadlines and leases of endpoints with statuses that the program takes
//! by hand, so that they are noticed although no executor runs.
//!
//! It has the due times of their [`DeadlineTimer`](super::deadline_timer)s, each at most once, and
//! sleeps until the first of them. A timer that another thread arms for a sooner time ends the
//! sleep. In virtual time the clock does, whenever it moves.
//!
//! Locks: a timer's -> the agenda's. The thread holds none while a timer looks.

use crate::mailbox::deferred::{Deferred, Watched};
use crate::sys::clock::{Clock, Wake};
use crate::sys::parker::Parker;
use crate::sys::sync::{Arc, Mutex};
use sinew_shm::threads;
use std::collections::BTreeMap;
use std::io;
use std::mem;
use std::sync::Weak;
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Something that waits for a time.
pub(crate) trait Due: Send + Sync {
    /// Its time is up.
    fn due(&self);
}

/// See the module's documentation.
pub(crate) struct StatusThread {
    clock: Clock,
    agenda: Mutex<Agenda>,
    parker: Parker,
    thread: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Default)]
struct Agenda {
    /// By due time (steady nanoseconds) and number.
    entries: BTreeMap<(i64, u64), Weak<dyn Due>>,
    has_ended: bool,
}

impl StatusThread {
    /// Starts the thread.
    pub(crate) fn start(clock: &Clock) -> io::Result<Arc<Self>> {
        let this = Arc::new(Self {
            clock: clock.clone(),
            agenda: Mutex::default(),
            parker: Parker::new(),
            thread: Mutex::default(),
        });
        if let Some(source) = clock.virtual_clock() {
            let wake: Arc<dyn Wake> = this.clone();
            source.watch(Arc::downgrade(&wake));
        }
        let theirs = this.clone();
        let thread = threads::builder("sinew-statuses").spawn(move || theirs.run())?;
        *this.thread.lock() = Some(thread);
        Ok(this)
    }

    pub(crate) fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Moves the entry of a timer with this number from one time to another; `None`: it is in no
    /// place.
    pub(crate) fn arm(
        self: &Arc<Self>,
        number: u64,
        (before, due): (Option<i64>, Option<i64>),
        timer: impl FnOnce() -> Weak<dyn Due>,
        deferred: &mut Deferred,
    ) {
        let mut agenda = self.agenda.lock();
        if let Some(before) = before {
            agenda.entries.remove(&(before, number));
        }
        let Some(due) = due.filter(|_| !agenda.has_ended) else { return };
        agenda.entries.insert((due, number), timer());
        if agenda.entries.first_key_value().is_some_and(|(first, _)| *first == (due, number)) {
            deferred.notify_later(self.clone()); // it sleeps for too long
        }
    }

    fn run(&self) {
        loop {
            let now = self.clock.steady();
            let (due, next) = {
                let mut agenda = self.agenda.lock();
                if agenda.has_ended {
                    return;
                }
                let later = agenda.entries.split_off(&(now.saturating_add(1), 0));
                let due = mem::replace(&mut agenda.entries, later);
                (due, agenda.entries.first_key_value().map(|((due, _), _)| *due))
            };
            if due.is_empty() {
                self.sleep(next.map(|next| next - now));
            }
            due.into_values().filter_map(|timer| timer.upgrade()).for_each(|timer| timer.due());
        }
    }

    /// Sleeps until it is called, at most for `left` nanoseconds of real time.
    fn sleep(&self, left: Option<i64>) {
        let left = left.filter(|_| !self.clock.is_virtual());
        self.parker.park(left.map(|left| Duration::from_nanos(left.unsigned_abs())));
    }

    /// Ends the thread: no timer looks any more.
    pub(crate) fn end(&self) {
        let mut agenda = self.agenda.lock();
        agenda.has_ended = true;
        let entries = mem::take(&mut agenda.entries);
        drop(agenda);
        drop(entries);
        self.parker.unpark();
    }

    /// Waits until the thread has [ended](Self::end), unless called on the thread itself.
    pub(crate) fn join(&self) {
        let thread = self.thread.lock().take();
        if let Some(thread) = thread.filter(|thread| thread.thread().id() != thread::current().id()) {
            let _ = thread.join(); // a panic of a listener is already logged
        }
    }
}

impl Watched for StatusThread {
    fn notify(&self) {
        self.parker.unpark();
    }
}

impl Wake for StatusThread {
    fn wake(&self) {
        self.parker.unpark();
    }
}
