//! The thread that publishes.

use super::clock::ClockOutput;
use super::output::{Output, Prepared, SLICE};
use super::source::{Item, Selected};
use super::state::{PlayEnd, Shared, State, Step, now};
use crate::error::BagError;
use sinew::error::PublishFailure;
use sinew::time::Time;
use sinew::{Context, Duration, Node};
use std::collections::VecDeque;
use std::num::NonZeroU64;
use std::sync::Arc;

/// Nanoseconds between two looks whether the context has ended.
const LOOK_AGAIN: i64 = 100_000_000;

/// Nanoseconds by which a lossless player may be late before everything is delayed.
const MAX_LATE: i64 = 100_000_000;

/// Longest wait at the beginning for subscriptions that the graph shows already.
const MATCHING: Duration = Duration::from_millis(500);

/// The publishing thread.
pub(super) struct Playback {
    pub(super) shared: Arc<Shared>,
    pub(super) context: Context,
    pub(super) node: Node,
    pub(super) outputs: Vec<Output>,
    pub(super) clock: Option<ClockOutput>,
    pub(super) settings: Settings,
    pub(super) next: Option<Next>,
    /// The last work was a tick of the clock: now messages come first.
    pub(super) has_ticked: bool,
}

/// The options that concern the publishing thread.
#[derive(Debug, Clone, Copy)]
pub(super) struct Settings {
    /// Rounds that are played at a time.
    pub(super) loops: u64,
    /// Rounds of them that are still to come.
    pub(super) rounds: u64,
    /// At the end the player waits for another start instead of ending.
    pub(super) stays: bool,
    pub(super) is_lossless: bool,
    pub(super) delay: Duration,
    pub(super) wait_for_subscribers: Duration,
    pub(super) wait_for_readers: Duration,
    /// Nanoseconds before a message is due from which on the thread doesn't sleep.
    pub(super) spin: i64,
}

/// The next message, which lies where it will be published.
pub(super) struct Next {
    generation: u64,
    output: usize,
    time: u64,
    length: usize,
    is_restored: bool,
    prepared: Prepared,
}

/// The next thing that the thread does, outside the lock.
enum Work {
    /// Copies a message to where it will be published.
    Prepare(Item, u64),
    Publish(Reason),
    /// Drops the next message: the player has gone elsewhere.
    Drop,
    /// Publishes the time.
    Tick(u64),
    /// Keeps the processor until the next message is due.
    Spin(i64),
    /// Reports the end of steps, as there is no further message.
    EndSteps(VecDeque<Step>),
    /// The next round begins. Drops what is left of the last one.
    Again(VecDeque<Item>),
    /// Waits for the readers at the end of the last round of this generation, and then for another
    /// start.
    Stay(u64),
    End(PlayEnd),
}

/// The reason why the next message is published now.
#[derive(Debug, Clone, Copy)]
enum Reason {
    /// It was due at that time.
    Due(i64),
    /// A step asks for it.
    Step,
    /// It is not due at a time: it restores a latched topic, or everything goes as fast as
    /// possible.
    Undue,
}

impl Playback {
    pub(super) fn run(mut self) {
        // Without it the kernel may delay each wake-up by 50 µs; a refusal costs that.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        self.wait_for_subscribers();
        let delay = i64::try_from(self.settings.delay.as_nanos()).unwrap_or(i64::MAX);
        self.shared.change(|state, now| state.pace.begin(now.saturating_add(delay)));
        let end = loop {
            let work = self.wait_for_work();
            self.has_ticked = matches!(work, Work::Tick(_));
            match work {
                Work::Prepare(Item::Message(selected), generation) => self.prepare(selected, generation),
                Work::Prepare(Item::Problem(problem), _) => self.report(&problem),
                Work::Publish(reason) => self.publish(reason),
                Work::Drop => self.next = None,
                Work::Tick(time) => self.tick(time),
                Work::Spin(due) => {
                    while now() < due {
                        std::hint::spin_loop();
                    }
                }
                Work::EndSteps(steps) => steps.into_iter().for_each(Step::end),
                Work::Again(old) => {
                    self.settings.rounds -= 1;
                    drop(old);
                    self.shared.wake_all();
                }
                Work::Stay(generation) => {
                    self.settings.rounds = self.settings.loops;
                    self.wait_for_readers(|state| state.generation != generation || state.is_stepping());
                }
                Work::End(end) => break end,
            }
        };
        if end == PlayEnd::Finished {
            self.shared.state().rounds += 1;
            self.wait_for_readers(|_| false);
        }
        self.next = None;
        let Self { shared, outputs, .. } = self;
        drop(outputs); // what is waited for is over when they are gone
        shared.ended(end);
    }

    /// Waits for subscriptions: shortly for those that there are, and as long as was asked for
    /// until each topic has one.
    fn wait_for_subscribers(&self) {
        let until = |timeout: Duration| {
            let end = Time::steady() + timeout;
            move || end - Time::steady()
        };
        let left = until(MATCHING);
        for Output { publisher, known, .. } in &self.outputs {
            let there = self.node.graph().subscriptions(publisher.topic());
            let matching = there.iter().filter(|there| {
                there.type_name == known.name()
                    && there.type_hash == Some(known.hash())
                    && publisher.qos().incompatibility(&there.qos).is_none()
            });
            publisher.wait_for_subscribers(matching.count(), left());
        }
        let left = until(self.settings.wait_for_subscribers);
        for Output { publisher, .. } in &self.outputs {
            while !publisher.wait_for_subscribers(1, left().min(SLICE)) {
                if left().is_zero() || self.is_over() {
                    return;
                }
            }
        }
    }

    /// Waits until everything is read, unless there is something else to do.
    fn wait_for_readers(&self, has_work: impl Fn(&State) -> bool) {
        let end = Time::steady() + self.settings.wait_for_readers;
        for Output { publisher, .. } in &self.outputs {
            while !publisher.wait_for_all_acked((end - Time::steady()).min(SLICE)) {
                if end <= Time::steady() || self.is_over() || has_work(&self.shared.state()) {
                    return;
                }
            }
        }
    }

    fn is_over(&self) -> bool {
        is_over(&self.shared, &self.context)
    }

    /// Waits until there is something to do.
    fn wait_for_work(&self) -> Work {
        let mut state = self.shared.state();
        loop {
            if state.is_stopped {
                let end = if state.has_failed { PlayEnd::Failed } else { PlayEnd::Stopped };
                return Work::End(end);
            }
            if self.context.is_shutdown() {
                return Work::End(PlayEnd::Shutdown);
            }
            let now = now();
            let clock = self.clock.as_ref().filter(|_| !state.is_finished);
            let tick = clock.and_then(ClockOutput::due);
            let is_tick_due = tick.is_some_and(|due| due <= now);
            if is_tick_due && !self.has_ticked {
                return Work::Tick(state.pace.time(now));
            }
            let mut until = tick.unwrap_or(i64::MAX).min(now.saturating_add(LOOK_AGAIN));
            match self.work(&mut state, now) {
                Ok(work) => return work,
                Err(Some(due)) if due <= until && due - now <= self.settings.spin => return Work::Spin(due),
                Err(Some(due)) => until = until.min(due.saturating_sub(self.settings.spin)),
                Err(None) => {}
            }
            if is_tick_due {
                return Work::Tick(state.pace.time(now));
            }
            self.shared.await_change(&mut state, until);
        }
    }

    /// Returns the present work with the messages, or the time at which there is some.
    fn work(&self, state: &mut State, now: i64) -> Result<Work, Option<i64>> {
        let Some(next) = &self.next else {
            if let Some(item) = self.shared.pop(state) {
                return Ok(Work::Prepare(item, state.generation));
            }
            return if state.is_exhausted { self.at_end(state) } else { Err(None) };
        };
        if next.generation != state.generation {
            return Ok(Work::Drop);
        }
        if next.is_restored {
            return Ok(Work::Publish(Reason::Undue));
        }
        if next.time > state.until {
            return self.at_end(state);
        }
        if state.is_stepping() {
            return Ok(Work::Publish(Reason::Step));
        }
        let Some(due) = state.pace.due(next.time) else { return Err(None) };
        if due > now {
            return Err(Some(due));
        }
        if state.pace.is_unpaced() {
            return Ok(Work::Publish(Reason::Undue));
        }
        let late = now - due;
        if self.settings.is_lossless && late > MAX_LATE {
            // Slow readers: the bag waits for them, and goes on at its rate.
            state.pace.delay(late);
            state.statistics.delayed += late.unsigned_abs();
            return Ok(Work::Publish(Reason::Due(now)));
        }
        Ok(Work::Publish(Reason::Due(due)))
    }

    /// Returns the work behind the last message of a round.
    fn at_end(&self, state: &mut State) -> Result<Work, Option<i64>> {
        if state.is_stepping() {
            return Ok(Work::EndSteps(state.take_steps()));
        }
        // While it is paused, it may still go back.
        if state.pace.is_paused() || state.is_finished {
            return Err(None);
        }
        match self.settings {
            Settings { rounds: 2.., .. } => {
                state.rounds += 1;
                // Under this lock: a later seek of another thread would be undone.
                let old = state.seek(state.start);
                Ok(Work::Again(old))
            }
            Settings { stays: true, .. } => {
                state.is_finished = true;
                state.rounds += 1;
                Ok(Work::Stay(state.generation))
            }
            _ => Ok(Work::End(PlayEnd::Finished)),
        }
    }

    fn prepare(&mut self, selected: Selected, generation: u64) {
        let Selected { output, time, is_restored, message } = selected;
        let prepared = self.outputs[output].prepare(&message.bytes);
        let length = message.bytes.len();
        self.next = Some(Next { generation, output, time, length, is_restored, prepared });
    }

    fn publish(&mut self, reason: Reason) {
        let Some(next) = self.next.take() else { return };
        let Next { generation, output, time, length, is_restored, prepared } = next;
        let publisher = &self.outputs[output].publisher;
        let (gid, number) = (publisher.gid(), publisher.statistics().published + 1);
        let mut state = self.shared.state();
        if generation != state.generation {
            drop(state);
            return; // the player has gone elsewhere meanwhile
        }
        // Before it is published: readers that have it find its time, and the player at its place.
        let played = state.played_at(time, is_restored);
        state.played.note(gid, number, played);
        if !is_restored && !matches!(reason, Reason::Due(_)) {
            state.pace.reached(time, now());
        }
        drop(state);
        if let Some(clock) = self.clock.as_ref().filter(|_| !is_restored) {
            clock.of_message(time);
        }
        let began = now();
        let (shared, context) = (&self.shared, &self.context);
        let outcome = self.outputs[output].publish(prepared, || is_over(shared, context));
        let mut state = self.shared.state();
        let topic = &mut state.statistics.topics[output];
        match &outcome {
            Ok(()) => {
                *(if is_restored { &mut topic.restored } else { &mut topic.published }) += 1;
                topic.bytes += length as u64;
            }
            Err(PublishFailure::Shutdown) => {}
            Err(_) => topic.lost += 1,
        }
        let is_first_loss = topic.lost == 1 && outcome.is_err();
        if let Reason::Due(due) = reason {
            let late = u64::try_from(began.saturating_sub(due)).unwrap_or(0);
            state.statistics.lateness.record(Duration::from_nanos(late), 1);
        }
        // Steps end on this thread, so it is still the one for which the message was published.
        let step = if matches!(reason, Reason::Step) { state.stepped() } else { None };
        drop(state);
        if let Some(step) = step {
            step.end();
        }
        if let (Err(failure), true) = (outcome, is_first_loss) {
            let topic = self.outputs[output].publisher.topic();
            sinew::warn!(
                self.node,
                "a message of {topic} is lost: {failure} (further ones are only counted)"
            );
        }
    }

    fn tick(&mut self, time: u64) {
        if let Some(clock) = &mut self.clock {
            clock.tick(time, now());
        }
    }

    fn report(&self, problem: &BagError) {
        let problem = problem.to_string();
        let is_new = self.shared.state().problem(problem.clone());
        if is_new {
            sinew::warn!(self.node, "{problem}");
        }
    }
}

fn is_over(shared: &Shared, context: &Context) -> bool {
    context.is_shutdown() || shared.state().is_stopped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::play::pace::Pace;
    use crate::play::source::Span;
    use crate::play::statistics::PlayerStatistics;

    #[test]
    fn a_seek_while_the_next_round_begins_is_not_undone() {
        let span = Span { begin: 0, start: 2, end: 9 };
        let pace = Pace::new(2, f64::INFINITY, false);
        let shared = Arc::new(Shared::new(span, pace, PlayerStatistics::default(), Vec::new()));
        let context = Context::builder().shared_memory(false).build().unwrap();
        let node = context.node("player").unwrap();
        let settings = Settings {
            loops: 2,
            rounds: 2,
            stays: false,
            is_lossless: false,
            delay: Duration::ZERO,
            wait_for_subscribers: Duration::ZERO,
            wait_for_readers: Duration::ZERO,
            spin: 0,
        };
        let playback = Playback {
            shared: shared.clone(),
            context,
            node,
            outputs: Vec::new(),
            clock: None,
            settings,
            next: None,
            has_ticked: false,
        };
        shared.state().is_exhausted = true;
        assert!(matches!(playback.wait_for_work(), Work::Again(_)));
        // The thread has gone back already, so this seek is the later one.
        let state = shared.state();
        assert_eq!((state.generation, state.rounds, state.is_exhausted), (1, 1, false));
        drop(state);
        assert!(shared.seek(5));
        assert_eq!(shared.state().pace.time(0), 5);
    }
}
