//! What a delivery leaves to do once no lock is held.

use super::waiters::Notification;
use crate::executor::scheduler::Scheduler;
use crate::message::block::RawMessage;
use crate::sys::logging::{About, Level, tell};
use crate::sys::sync::Arc;
use std::cell::Cell;

/// What has to wait until all locks are released: dropping messages, telling tasks and listeners,
/// and logging (other people's code), and signalling executors (a system call).
#[derive(Default)]
pub(crate) struct Deferred {
    pub(crate) dropped: Vec<RawMessage>,
    pub(crate) signals: Vec<Arc<Scheduler>>,
    pub(crate) heard: Vec<Notification>,
    warnings: Vec<Warning>,
    /// Where there may be something to read that came from elsewhere.
    undrained: Vec<Arc<dyn Drainable>>,
    /// It is kept as it is: a lock is held all the while.
    is_kept: bool,
}

/// Something that brings in what came from elsewhere.
pub(crate) trait Drainable: Send + Sync {
    /// Brings in what there is. The caller holds no lock.
    fn drain(&self);
}

/// Something for the person who runs the program.
struct Warning {
    /// The full name of the node it concerns.
    node: Arc<str>,
    topic: Arc<str>,
    text: String,
}

thread_local! {
    /// What this thread has deferred, with the room it has: publishing allocates none.
    static OUTBOX: Cell<Option<Box<Deferred>>> = const { Cell::new(None) };
}

impl Deferred {
    /// Runs `work` with nothing deferred, then does what it deferred.
    #[inline]
    pub(crate) fn with<R>(work: impl FnOnce(&mut Deferred) -> R) -> R {
        // Taken out while in use: a `Drop` that publishes finds none and gets its own.
        let mut deferred = Self::take();
        let result = work(&mut deferred);
        deferred.done();
        result
    }

    fn take() -> Box<Self> {
        OUTBOX.try_with(Cell::take).ok().flatten().unwrap_or_default()
    }

    /// Does what was deferred, and puts back the room for more.
    fn done(mut self: Box<Self>) {
        if !self.is_kept {
            self.empty();
        }
        let _ = OUTBOX.try_with(|place| place.set(Some(self))); // none is left in a thread that ends
    }

    /// Runs `work`, which holds a lock over several deliveries; then does what all of them left to
    /// do.
    pub(crate) fn keep(work: impl FnOnce()) {
        /// Also if `work` panics: deliveries of this thread would tell no task any more.
        struct Keeping;

        impl Drop for Keeping {
            fn drop(&mut self) {
                let mut deferred = Deferred::take();
                deferred.is_kept = false;
                deferred.done();
            }
        }

        let mut deferred = Self::take();
        deferred.is_kept = true;
        let _ = OUTBOX.try_with(|place| place.set(Some(deferred)));
        let _keeping = Keeping;
        work();
    }

    #[inline]
    fn empty(&mut self) {
        let deferred = self;
        if !deferred.signals.is_empty() {
            deferred.signals.drain(..).for_each(|scheduler| scheduler.signal());
        }
        if !deferred.heard.is_empty() {
            deferred.heard.drain(..).for_each(Notification::tell);
        }
        if !deferred.dropped.is_empty() {
            deferred.dropped.clear();
        }
        while let Some(source) = deferred.undrained.pop() {
            source.drain();
        }
        if !deferred.warnings.is_empty() {
            deferred.say_warnings();
        }
    }

    #[cold]
    fn say_warnings(&mut self) {
        for Warning { node, topic, text } in self.warnings.drain(..) {
            tell!(Level::Warn; About { node: &node, subject: &topic }, "{text}");
        }
    }

    /// Warns of something about a topic.
    #[cold]
    pub(crate) fn warn(&mut self, node: &Arc<str>, topic: &Arc<str>, text: String) {
        self.warnings.push(Warning { node: node.clone(), topic: topic.clone(), text });
    }

    /// Has what came from elsewhere read, once all locks are released.
    pub(crate) fn drain_later(&mut self, source: Arc<dyn Drainable>) {
        self.undrained.push(source);
    }

    pub(crate) fn signal(&mut self, scheduler: Option<Arc<Scheduler>>) {
        self.signals.extend(scheduler);
    }

    #[inline]
    pub(crate) fn add(&mut self, left: PushEffects) {
        self.dropped.extend(left.dropped);
        self.signals.extend(left.signal);
        if let Some(seldom) = left.seldom {
            self.signals.extend(seldom.lost_signal);
            self.signals.extend(seldom.deadline_signal);
            self.heard.push(seldom.heard);
        }
    }
}

/// What one publish leaves to do: that of its first delivery stays where it is, as most have no
/// other.
#[derive(Default)]
#[must_use]
pub(crate) struct PublishEffects {
    first: Option<PushEffects>,
    rest: Option<Box<Deferred>>,
}

impl PublishEffects {
    #[inline]
    pub(crate) fn add(&mut self, left: PushEffects) {
        if self.first.is_none() {
            self.first = Some(left);
        } else {
            self.deferred().add(left);
        }
    }

    /// Where the rest goes.
    #[inline(never)]
    pub(crate) fn deferred(&mut self) -> &mut Deferred {
        self.rest.get_or_insert_with(Deferred::take)
    }

    /// The message, if it is for one subscription, which had no [free
    /// place](super::history::Admission::Free).
    #[inline]
    pub(crate) fn went_back(&mut self) -> Option<RawMessage> {
        self.first.as_mut().filter(|first| first.went_back)?.dropped.take()
    }

    /// Does it. No lock is held.
    #[inline]
    pub(crate) fn finish(self) {
        match (self.first, self.rest) {
            (Some(first), None) => first.finish(),
            (first, Some(rest)) => Self::finish_all(first, rest),
            (None, None) => {}
        }
    }

    #[inline(never)]
    fn finish_all(first: Option<PushEffects>, mut rest: Box<Deferred>) {
        if let Some(first) = first {
            rest.add(first);
        }
        rest.done();
    }
}

/// What one delivery leaves to do once all locks are released.
#[must_use]
pub(crate) struct PushEffects {
    /// What gave way; or the message itself, if it [went back](PushEffects::went_back).
    pub(crate) dropped: Option<RawMessage>,
    /// There was no [free place](super::history::Admission::Free).
    pub(crate) went_back: bool,
    pub(crate) signal: Option<Arc<Scheduler>>,
    pub(crate) seldom: Option<RareEffects>,
}

/// What most deliveries don't leave to do: one look tells.
#[derive(Default)]
pub(crate) struct RareEffects {
    pub(crate) lost_signal: Option<Arc<Scheduler>>,
    pub(crate) deadline_signal: Option<Arc<Scheduler>>,
    pub(crate) heard: Notification,
}

impl PushEffects {
    /// The message, for which there was no [free place](super::history::Admission::Free); else what
    /// is left to do.
    #[inline]
    pub(crate) fn placed(self) -> Result<Self, RawMessage> {
        match self.dropped {
            Some(message) if self.went_back => Err(message),
            _ => Ok(self),
        }
    }

    #[inline]
    pub(crate) fn finish(self) {
        if let Some(scheduler) = &self.signal {
            scheduler.signal();
        }
        if let Some(seldom) = self.seldom {
            seldom.finish();
        }
        drop(self.dropped);
    }
}

impl RareEffects {
    #[cold]
    #[inline(never)]
    fn finish(self) {
        if let Some(scheduler) = &self.lost_signal {
            scheduler.signal();
        }
        if let Some(scheduler) = &self.deadline_signal {
            scheduler.signal();
        }
        self.heard.tell();
    }
}
