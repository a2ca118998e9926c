//! Work that a delivery defers until no lock is held.

use super::waiters::Waiter;
use crate::executor::crew::scheduler::ToSignal;
use crate::message::block::RawMessage;
use crate::sys::logging::{About, Level, log_line};
use crate::sys::sync::Arc;
use std::cell::Cell;

/// Work that has to wait until all locks are released: dropping messages, waking tasks and
/// listeners, and logging, because they run code of the program; and signalling executors, a system
/// call.
///
/// Most deliveries defer nothing, or one executor to signal, or one message to drop: those are
/// stored inline. The rest goes into a list that the thread keeps.
#[derive(Default)]
#[must_use]
pub(crate) struct Deferred {
    signal: ToSignal,
    dropped: Option<RawMessage>,
    backlog: Option<Box<Backlog>>,
}

/// A source with messages from elsewhere to read.
pub(crate) trait Drainable: Send + Sync {
    /// Reads the available messages into the histories. The caller holds no lock.
    fn drain(&self);
}

/// An object that programs watch, such as the graph.
pub(crate) trait Watched: Send + Sync {
    /// Notifies the watchers of a change. The caller holds no lock.
    fn notify(&self);
}

/// Deferred work beyond what is stored inline.
#[derive(Default)]
struct Backlog {
    dropped: Vec<RawMessage>,
    signals: Vec<ToSignal>,
    woken: Vec<Waiter>,
    warnings: Vec<Warning>,
    /// Sources elsewhere that may have messages to read.
    undrained: Vec<Arc<dyn Drainable>>,
    /// Watched objects that have changed, each once.
    changed: Vec<Arc<dyn Watched>>,
    /// Other code of the program.
    work: Vec<Box<dyn FnOnce() + Send>>,
}

/// A warning for the log.
struct Warning {
    /// The full name of the node it concerns.
    node: Arc<str>,
    topic: Arc<str>,
    text: String,
}

thread_local! {
    /// This thread's deferred work while it keeps a lock, otherwise its empty lists, which it
    /// reuses: so publishing allocates none.
    static BACKLOG: Cell<Option<Box<Backlog>>> = const { Cell::new(None) };
    /// Whether a lock is held over several deliveries.
    static IS_KEEPING: Cell<bool> = const { Cell::new(false) };
}

impl Deferred {
    /// Runs `work` with nothing deferred, then does the work that it deferred.
    #[inline]
    pub(crate) fn with<R>(work: impl FnOnce(&mut Deferred) -> R) -> R {
        let mut deferred = Self::default();
        let result = work(&mut deferred);
        deferred.finish();
        result
    }

    /// Runs `work`, which holds a lock over several deliveries; then does the work that all of them
    /// deferred. A nested call leaves it to the outer one.
    pub(crate) fn keep<R>(work: impl FnOnce() -> R) -> R {
        /// Also ends if `work` panics: otherwise deliveries of this thread would never notify a
        /// task again.
        struct Keeping {
            is_inside: bool,
        }

        impl Drop for Keeping {
            fn drop(&mut self) {
                IS_KEEPING.set(self.is_inside);
                let kept = Deferred { backlog: Some(Backlog::take()), ..Deferred::default() };
                kept.finish();
            }
        }

        let _keeping = Keeping { is_inside: IS_KEEPING.replace(true) };
        work()
    }

    /// Runs code of the program: at once, or when this thread no longer [keeps](Self::keep) a lock.
    pub(crate) fn run(work: impl FnOnce() + Send + 'static) {
        if !IS_KEEPING.get() {
            return work();
        }
        Self::with(|deferred| deferred.run_later(work));
    }

    /// Defers code of the program.
    pub(crate) fn run_later(&mut self, work: impl FnOnce() + Send + 'static) {
        self.backlog().work.push(Box::new(work));
    }

    /// Notifies the watchers: at once, or when this thread no longer [keeps](Self::keep) a lock,
    /// then once for all changes until then.
    pub(crate) fn notify(watched: Arc<dyn Watched>) {
        if !IS_KEEPING.get() {
            return watched.notify();
        }
        Self::with(|deferred| deferred.notify_later(watched));
    }

    /// Defers notifying the watchers, once for all changes until then.
    pub(crate) fn notify_later(&mut self, watched: Arc<dyn Watched>) {
        self.backlog().has_changed(watched);
    }

    /// Defers signalling an executor.
    #[inline]
    pub(crate) fn signal(&mut self, executor: ToSignal) {
        if !executor.is_none() {
            self.add_signal(executor);
        }
    }

    #[inline(never)]
    fn add_signal(&mut self, executor: ToSignal) {
        if self.signal.is_none() {
            self.signal = executor;
        } else if !self.signal.is_same(&executor) {
            self.backlog().signals.push(executor);
        }
    }

    /// Defers dropping a message.
    #[inline]
    pub(crate) fn drop_later(&mut self, message: RawMessage) {
        if self.dropped.is_none() {
            self.dropped = Some(message);
        } else {
            self.backlog().dropped.push(message);
        }
    }

    /// Wakes a waiter: at once, or when this thread no longer [keeps](Self::keep) a lock.
    #[inline]
    pub(crate) fn wake(waiter: Waiter) {
        if !IS_KEEPING.get() {
            return waiter.wake();
        }
        Self::with(|deferred| deferred.wake_later(waiter));
    }

    /// Defers waking a waiter.
    pub(crate) fn wake_later(&mut self, waiter: Waiter) {
        self.backlog().woken.push(waiter);
    }

    /// Defers a warning about a topic.
    #[cold]
    pub(crate) fn warn(&mut self, node: &Arc<str>, topic: &Arc<str>, text: String) {
        self.backlog().warnings.push(Warning { node: node.clone(), topic: topic.clone(), text });
    }

    /// Defers reading a source elsewhere.
    pub(crate) fn drain_later(&mut self, source: Arc<dyn Drainable>) {
        self.backlog().undrained.push(source);
    }

    /// Does all the deferred work. The caller holds no lock.
    #[inline]
    pub(crate) fn finish(self) {
        if !self.signal.is_none() || self.dropped.is_some() || self.backlog.is_some() {
            self.finish_some();
        } else {
            std::mem::forget(self); // there is nothing in it
        }
    }

    #[inline(never)]
    fn finish_some(mut self) {
        if self.backlog.is_some() || IS_KEEPING.get() {
            let mut backlog = self.backlog.take().unwrap_or_else(Backlog::take);
            if !self.signal.is_none() {
                backlog.signals.push(self.signal);
            }
            backlog.dropped.extend(self.dropped);
            backlog.finish();
            return;
        }
        self.signal.signal();
        drop(self.dropped);
    }

    #[inline(never)]
    fn backlog(&mut self) -> &mut Backlog {
        self.backlog.get_or_insert_with(Backlog::take)
    }
}

impl Backlog {
    /// Takes the lists out while they are in use: a `Drop` that publishes finds none and gets its
    /// own.
    fn take() -> Box<Self> {
        BACKLOG.try_with(Cell::take).ok().flatten().unwrap_or_default()
    }

    /// Does the work, unless it is kept, and puts the empty lists back.
    fn finish(mut self: Box<Self>) {
        if !IS_KEEPING.get() {
            self.empty();
        } else if let Some(mut kept) = BACKLOG.try_with(Cell::take).ok().flatten() {
            // Nested calls deferred this while the lists were in use.
            self.append(&mut kept);
        }
        let _ = BACKLOG.try_with(|place| place.set(Some(self))); // fails if this thread is ending
    }

    fn has_changed(&mut self, watched: Arc<dyn Watched>) {
        if !self.changed.iter().any(|known| Arc::ptr_eq(known, &watched)) {
            self.changed.push(watched);
        }
    }

    fn append(&mut self, other: &mut Self) {
        self.dropped.append(&mut other.dropped);
        self.signals.append(&mut other.signals);
        self.woken.append(&mut other.woken);
        self.warnings.append(&mut other.warnings);
        self.undrained.append(&mut other.undrained);
        other.changed.drain(..).for_each(|watched| self.has_changed(watched));
        self.work.append(&mut other.work);
    }

    fn empty(&mut self) {
        empty(&mut self.signals, ToSignal::signal);
        empty(&mut self.woken, Waiter::wake);
        empty(&mut self.changed, |watched| watched.notify());
        empty(&mut self.work, |work| work());
        self.dropped.clear();
        while let Some(source) = self.undrained.pop() {
            source.drain();
        }
        empty(&mut self.warnings, |Warning { node, topic, text }| {
            log_line!(Level::Warn; About { node: &node, subject: &topic }, "{text}");
        });
    }
}

/// Empties a list, which mostly has nothing in it: an iterator that drains it costs more than
/// asking first.
#[inline]
fn empty<T>(list: &mut Vec<T>, act: impl FnMut(T)) {
    if !list.is_empty() {
        list.drain(..).for_each(act);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::sys::sync::{AtomicUsize, Ordering};

    #[test]
    fn changes_while_a_lock_is_kept_are_one_notification() {
        struct Notified(AtomicUsize);

        impl Watched for Notified {
            fn notify(&self) {
                self.0.fetch_add(1, Ordering::Relaxed);
            }
        }

        let [one, other] = [(); 2].map(|()| Arc::new(Notified(AtomicUsize::new(0))));
        let counts = || [&one, &other].map(|notified| notified.0.load(Ordering::Relaxed));
        Deferred::keep(|| {
            for _ in 0..3 {
                Deferred::notify(one.clone());
                Deferred::with(|deferred| deferred.notify_later(other.clone()));
            }
            assert_eq!(counts(), [0, 0]);
        });
        assert_eq!(counts(), [1, 1]);
        (0..3).for_each(|_| Deferred::notify(one.clone()));
        assert_eq!(counts(), [4, 1], "at once");
    }

    #[test]
    fn what_is_left_to_do_inside_waits_for_the_outermost() {
        let done = Arc::new(AtomicUsize::new(0));
        let count = || done.load(Ordering::Relaxed);
        let work = || {
            let done = done.clone();
            Deferred::run(move || _ = done.fetch_add(1, Ordering::Relaxed));
        };
        Deferred::keep(|| {
            work();
            Deferred::keep(work);
            assert_eq!(count(), 0);
            work();
            assert_eq!(count(), 0);
        });
        assert_eq!(count(), 3);
        work();
        assert_eq!(count(), 4, "at once");
    }
}
