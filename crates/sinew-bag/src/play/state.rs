//! The state that a player's handle, its publishing thread and its reading thread share.
//!
//! One lock guards all of it; no thread publishes, reads or drops messages under it. The reading
//! thread fills the queue and stops at the limits; the publishing thread empties it. A seek empties
//! it as well, and counts the generation up: the publishing thread drops a message that it has
//! prepared in an older one.

use super::pace::Pace;
use super::played::{Played, PlayedMessage};
use super::source::{Item, Source, Span};
use super::statistics::PlayerStatistics;
use sinew::__private::locks::{Condvar, Mutex, MutexGuard};
use sinew::Duration;
use sinew::time::Time;
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::thread;

/// Limits of the messages that are read ahead.
const MAX_AHEAD: usize = 1_000;
const MAX_AHEAD_BYTES: usize = 64 << 20;

/// Maximum number of different problems that a player remembers.
const MAX_PROBLEMS: usize = 1_000;

/// Length of a page: each is touched once before a message is due.
const PAGE: usize = 4096;

/// The reason why a player has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PlayEnd {
    /// Everything was played.
    Finished,
    /// [`Player::stop`](crate::Player::stop) was called, or the last handle was dropped.
    Stopped,
    /// The context was shut down.
    Shutdown,
    /// One of the player's threads has panicked.
    Failed,
}

/// Ends the player if its thread panics, so that no caller waits for ever.
pub(super) struct AtPanic(pub(super) Arc<Shared>, pub(super) fn(&Shared));

impl Drop for AtPanic {
    fn drop(&mut self) {
        if thread::panicking() {
            (self.1)(&self.0);
        }
    }
}

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) span: Span,
    state: Mutex<State>,
    /// For the publishing thread: there are messages, or the state has changed.
    changed: Condvar,
    /// For the reading thread: there is room, or a seek, or the end.
    room: Condvar,
    /// For callers: the player has ended.
    done: Condvar,
}

#[derive(Debug)]
pub(super) struct State {
    pub(super) pace: Pace,
    queue: VecDeque<Item>,
    queued_bytes: usize,
    /// A time for the reading thread to go to.
    seek: Option<u64>,
    /// The queue has the last messages.
    pub(super) is_exhausted: bool,
    /// The time at which a round begins.
    pub(super) start: u64,
    /// The last time that is played.
    pub(super) until: u64,
    /// Everything is played, and the player stays for [`play_again`](Shared::play_again).
    pub(super) is_finished: bool,
    pub(super) generation: u64,
    /// The time at which this generation began: that of the last seek.
    origin: u64,
    pub(super) played: Played,
    /// One after the other.
    steps: VecDeque<Step>,
    pub(super) is_stopped: bool,
    /// The reading thread has panicked.
    pub(super) has_failed: bool,
    pub(super) end: Option<PlayEnd>,
    pub(super) rounds: u64,
    pub(super) statistics: PlayerStatistics,
    pub(super) problems: Vec<String>,
}

/// Messages that are to be published at once, while the player is paused.
pub(super) struct Step {
    pub(super) left: u64,
    published: u64,
    /// Gets the number of messages that were published, on the publishing thread.
    done: Box<dyn FnOnce(u64) + Send>,
}

impl Step {
    /// Reports the end of the step.
    pub(super) fn end(self) {
        (self.done)(self.published);
    }
}

impl fmt::Debug for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Step").field("left", &self.left).finish_non_exhaustive()
    }
}

impl Shared {
    pub(super) fn new(span: Span, pace: Pace, statistics: PlayerStatistics, problems: Vec<String>) -> Self {
        let state = State {
            pace,
            queue: VecDeque::new(),
            queued_bytes: 0,
            seek: None,
            is_exhausted: false,
            start: span.start,
            until: span.end,
            is_finished: false,
            generation: 0,
            origin: span.start,
            played: Played::new(),
            steps: VecDeque::new(),
            is_stopped: false,
            has_failed: false,
            end: None,
            rounds: 0,
            statistics,
            problems,
        };
        Self {
            span,
            state: Mutex::new(state),
            changed: Condvar::new(),
            room: Condvar::new(),
            done: Condvar::new(),
        }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Changes the motion at the present time.
    pub(super) fn change<R>(&self, change: impl FnOnce(&mut State, i64) -> R) -> R {
        let result = change(&mut self.state(), now());
        self.changed.notify_one();
        result
    }

    /// Goes to a time, within the part that is played; returns `false` if the player has ended.
    pub(super) fn seek(&self, time: u64) -> bool {
        let mut state = self.state();
        if state.end.is_some() || state.is_stopped {
            return false;
        }
        let time = state.within(time);
        let old = state.seek(time);
        drop(state);
        drop(old);
        self.wake_all();
        true
    }

    /// Plays the part between these times if everything is played and the player stays for that;
    /// returns whether it does.
    pub(super) fn play_again(&self, start: u64, until: u64) -> bool {
        let Span { start: first, end, .. } = self.span;
        let mut state = self.state();
        if !state.is_finished || state.end.is_some() || state.is_stopped {
            return false;
        }
        state.start = start.clamp(first, end.max(first));
        state.until = until.min(end);
        let start = state.start;
        let old = state.seek(start);
        drop(state);
        drop(old);
        self.wake_all();
        true
    }

    /// Pauses, or goes on; returns whether it is paused then.
    pub(super) fn toggle(&self) -> bool {
        self.change(|state, now| {
            match state.pace.is_paused() {
                true => state.pace.resume(now),
                false => state.pace.pause(now),
            }
            state.pace.is_paused()
        })
    }

    /// Sets the rate, unless it is no positive number; returns whether it is one.
    pub(super) fn set_rate(&self, rate: f64) -> bool {
        let is_rate = rate.is_finite() && rate > 0.0;
        if is_rate {
            self.change(|state, now| state.pace.set_rate(rate, now));
        }
        is_rate
    }

    /// Publishes the next messages and pauses; `done` gets how many there were.
    pub(super) fn step(&self, count: u64, done: impl FnOnce(u64) + Send + 'static) {
        let step = Step { left: count, published: 0, done: Box::new(done) };
        let refused = self.change(|state, now| {
            if count == 0 || state.end.is_some() {
                return Some(step);
            }
            state.pace.pause(now);
            state.steps.push_back(step);
            None
        });
        if let Some(step) = refused {
            step.end();
        }
    }

    /// Ends the player, once its threads have noticed.
    pub(super) fn stop(&self) {
        self.state().is_stopped = true;
        self.wake_all();
    }

    /// Lets the publishing thread end the player, as nothing more will be read.
    pub(super) fn reading_failed(&self) {
        self.state().has_failed = true;
        self.stop();
    }

    /// Ends the player in place of the publishing thread.
    pub(super) fn publishing_failed(&self) {
        self.ended(PlayEnd::Failed);
    }

    pub(super) fn wake_all(&self) {
        self.changed.notify_one();
        self.room.notify_one();
    }

    /// Reports the end of the publishing thread.
    pub(super) fn ended(&self, end: PlayEnd) {
        let steps = {
            let mut state = self.state();
            state.end = Some(end);
            state.is_stopped = true; // for the reading thread
            state.take_steps()
        };
        steps.into_iter().for_each(Step::end);
        self.wake_all();
        self.done.notify_all();
    }

    /// Waits for the end, at most for `timeout`.
    pub(super) fn wait(&self, timeout: Duration) -> Option<PlayEnd> {
        let until = Time::steady() + timeout;
        let mut state = self.state();
        loop {
            let left = until - Time::steady();
            if state.end.is_some() || left.is_zero() {
                return state.end;
            }
            self.done.wait_for(&mut state, left.min(Duration::from_secs(3600)));
        }
    }

    /// Waits for a change or a message, at most until a steady time.
    pub(super) fn await_change(&self, state: &mut MutexGuard<'_, State>, until: i64) {
        let left = u64::try_from(until.saturating_sub(now())).unwrap_or(0);
        if left > 0 {
            self.changed.wait_for(state, Duration::from_nanos(left));
        }
    }

    /// Takes the next message.
    pub(super) fn pop(&self, state: &mut State) -> Option<Item> {
        let item = state.queue.pop_front()?;
        state.queued_bytes -= length(&item);
        self.room.notify_one();
        Some(item)
    }

    /// The reading thread: fills the queue until the end of the player, and touches the pages of
    /// mapped messages, so that the publishing thread waits neither for the disk nor for a chunk to
    /// be uncompressed.
    pub(super) fn read_ahead(&self, mut source: Source) {
        while let Some(seek) = self.await_room() {
            if let Some(time) = seek {
                source.seek(time);
            }
            let item = source.next();
            if let Some(Item::Message(selected)) = &item {
                let pages = selected.message.bytes.iter().step_by(PAGE);
                std::hint::black_box(pages.fold(0, |sum: u8, byte| sum.wrapping_add(*byte)));
            }
            let mut state = self.state();
            if state.seek.is_some() {
                drop(state);
                continue; // drops the message outside the lock
            }
            match item {
                Some(item) => {
                    state.queued_bytes += length(&item);
                    state.queue.push_back(item);
                }
                None => state.is_exhausted = true,
            }
            drop(state);
            self.changed.notify_one();
        }
    }

    /// Waits until there is room, or a seek; returns that. `None`: the player is over.
    fn await_room(&self) -> Option<Option<u64>> {
        let mut state = self.state();
        loop {
            let has_room = state.queue.len() < MAX_AHEAD && state.queued_bytes < MAX_AHEAD_BYTES;
            if state.is_stopped {
                return None;
            }
            if state.seek.is_some() || (has_room && !state.is_exhausted) {
                return Some(state.seek.take());
            }
            self.room.wait(&mut state);
        }
    }
}

impl State {
    /// Goes to a time. Returns the messages that are not played, to be dropped outside the lock.
    pub(super) fn seek(&mut self, time: u64) -> VecDeque<Item> {
        self.pace.reached(time, now());
        self.seek = Some(time);
        self.origin = time;
        (self.is_exhausted, self.is_finished) = (false, false);
        self.generation += 1;
        self.queued_bytes = 0;
        std::mem::take(&mut self.queue)
    }

    /// Returns the time of the part that is played that is nearest to this one.
    pub(super) fn within(&self, time: u64) -> u64 {
        time.clamp(self.start, self.until.max(self.start))
    }

    /// Returns the entry of [`Played`] for a message of this generation.
    pub(super) fn played_at(&self, time: u64, is_restored: bool) -> PlayedMessage {
        let time = if is_restored { self.origin } else { self.within(time) };
        PlayedMessage { time, seeks: self.generation }
    }

    /// Returns whether the next message is to be published at once.
    pub(super) fn is_stepping(&self) -> bool {
        !self.steps.is_empty()
    }

    /// Takes note of a message that was published at once; returns the step that it completes.
    pub(super) fn stepped(&mut self) -> Option<Step> {
        let step = self.steps.front_mut()?;
        step.left -= 1;
        step.published += 1;
        if step.left > 0 { None } else { self.steps.pop_front() }
    }

    /// Takes all steps, as there is no further message.
    pub(super) fn take_steps(&mut self) -> VecDeque<Step> {
        std::mem::take(&mut self.steps)
    }

    /// Notes a problem, unless it is known.
    pub(super) fn problem(&mut self, problem: String) -> bool {
        let is_new = self.problems.len() < MAX_PROBLEMS && !self.problems.contains(&problem);
        if is_new {
            self.problems.push(problem);
        }
        is_new
    }
}

fn length(item: &Item) -> usize {
    match item {
        Item::Message(selected) => selected.message.bytes.len(),
        Item::Problem(_) => 0,
    }
}

/// Returns the steady time in nanoseconds.
pub(super) fn now() -> i64 {
    Time::steady().nanoseconds()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    fn shared() -> Arc<Shared> {
        let span = Span { begin: 0, start: 0, end: 9 };
        let pace = Pace::new(0, 1.0, true);
        Arc::new(Shared::new(span, pace, PlayerStatistics::default(), Vec::new()))
    }

    /// Runs a thread that panics.
    fn fail(shared: &Arc<Shared>, at_panic: fn(&Shared)) {
        let guard = AtPanic(shared.clone(), at_panic);
        let failing = thread::spawn(move || {
            let _guard = guard;
            std::panic::resume_unwind(Box::new(())); // without a message
        });
        assert!(failing.join().is_err());
    }

    #[test]
    fn a_panic_of_the_publishing_thread_ends_everything() {
        let shared = shared();
        let (done, published) = mpsc::channel();
        shared.step(2, move |count| done.send(count).unwrap());
        fail(&shared, Shared::publishing_failed);
        assert_eq!((published.recv(), shared.wait(Duration::ZERO)), (Ok(0), Some(PlayEnd::Failed)));
        assert!(!shared.seek(1) && shared.await_room().is_none());
    }

    #[test]
    fn a_panic_of_the_reading_thread_tells_the_other_one() {
        let shared = shared();
        fail(&shared, Shared::reading_failed);
        let state = shared.state();
        assert_eq!((state.is_stopped, state.has_failed, state.end), (true, true, None));
    }

    #[test]
    fn a_thread_that_returns_ends_nothing() {
        let shared = shared();
        drop(AtPanic(shared.clone(), Shared::publishing_failed));
        assert_eq!(shared.wait(Duration::ZERO), None);
    }
}
