//! Messages in virtual time, the same in every run.

use super::clock::{ClockOutput, ros};
use super::error::{PlayError, ReplayError};
use super::options::PlayerClock;
use super::output::Output;
use super::plan::Plan;
use super::source::{Item, Selected, Source, Span};
use super::statistics::SkippedTopic;
use sinew::time::{Time, VirtualClock};
use sinew::{Executor, Node};
use std::collections::HashSet;

/// Replays bags in virtual time: nodes of this process get the messages in the same order and at
/// the same times in every run, so the same input gives the same output. From
/// [`PlayerBuilder::replay`](crate::PlayerBuilder::replay).
///
/// For each message, the executor first runs the timers that are due until the message's time, in
/// the order of time; then the clock shows that time, the message is published, and everything runs
/// that is ready. A timer that is due at the time of a message runs before it. Hours of a bag take
/// as long as the callbacks do.
///
/// The clock begins with the bags: if it shows an earlier time, it is set to the first one. A
/// program with timers sets it before it makes its nodes, as here; otherwise each timer runs once
/// at the beginning, for all the periods since 1970.
///
/// Some things still differ from run to run: threads of the program's own, executors with several
/// threads (this one runs all callbacks on the calling thread), other processes, the machine's wall
/// clock (`std::time`), random numbers and the order of a `HashMap`.
///
/// ```
/// use sinew::prelude::*;
/// use sinew::time::{Time, VirtualClock};
/// use sinew_bag::{BagReader, Player};
/// use sinew_interfaces::std_msgs::msg::String as Text;
/// use std::sync::{Arc, Mutex};
///
/// # use sinew_bag::{BagWriter, Stamps, TopicDefinition};
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("drive");
/// # let mut writer = BagWriter::create(&path, Default::default())?;
/// # let chatter = writer.add_topic(&TopicDefinition::of::<Text>("/chatter").unwrap())?;
/// # for number in 0..3 {
/// #     let stamps = Stamps::at(1_000_000_000 * (number + 1));
/// #     writer.write_message(chatter, stamps, &Text { data: format!("hello {number}") })?;
/// # }
/// # writer.close()?;
/// let (begin, _end) = BagReader::open(&path)?.times().unwrap();
/// let clock = VirtualClock::new();
/// clock.set(Time::from_nanoseconds(begin as i64));
/// let context = Context::builder().virtual_time(&clock).shared_memory(false).build()?;
/// let node = context.node("listener")?;
/// let log = Arc::new(Mutex::new(Vec::new()));
/// let (heard, ticked, now) = (log.clone(), log.clone(), node.clone());
/// let _subscription = node.subscription::<Text>("chatter").callback(move |text: &Text| {
///     heard.lock().unwrap().push((now.now(), text.data.clone()));
/// })?;
/// let now = node.clone();
/// let _timer = node.timer(Duration::from_millis(1500)).callback(move || {
///     ticked.lock().unwrap().push((now.now(), "tick".to_owned()));
/// })?;
///
/// let executor = Executor::single();
/// executor.add(&context)?;
/// let mut replay = Player::builder(&context).bags([&path]).replay(&clock, &executor)?;
/// replay.run()?;
/// let at = |seconds: f64, text: &str| (Time::from_nanoseconds((seconds * 1e9) as i64), text.to_owned());
/// let expected = [at(1.0, "hello 0"), at(2.0, "hello 1"), at(2.5, "tick"), at(3.0, "hello 2")];
/// assert_eq!(*log.lock().unwrap(), expected);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Replay<'a> {
    clock: &'a VirtualClock,
    executor: &'a Executor,
    node: Node,
    outputs: Vec<Output>,
    ros_clock: Option<ClockOutput>,
    source: Source,
    next: Option<Selected>,
    span: Span,
    skipped: Vec<SkippedTopic>,
    problems: Vec<String>,
    known_problems: HashSet<String>,
    published: u64,
}

impl<'a> Replay<'a> {
    pub(super) fn new(
        plan: Plan,
        wanted: PlayerClock,
        clock: &'a VirtualClock,
        executor: &'a Executor,
    ) -> Result<Self, PlayError> {
        let Plan { node, outputs, source, span, skipped, problems } = plan;
        let start = ros(span.start);
        if clock.now() < start {
            clock.set(start);
        }
        let ros_clock = ClockOutput::new(&node, wanted, clock.now().nanoseconds())?;
        let known_problems = problems.iter().cloned().collect();
        let mut replay = Self {
            clock,
            executor,
            node,
            outputs,
            ros_clock,
            source,
            next: None,
            span,
            skipped,
            problems,
            known_problems,
            published: 0,
        };
        replay.read();
        Ok(replay)
    }

    /// Replays the next message: runs the timers that are due before, publishes it, and runs
    /// everything that is ready then. Returns its time, in nanoseconds since the epoch; `None`
    /// after the last one.
    ///
    /// # Errors
    /// [`ReplayError`]: a callback failed, the executor has another clock, or the message can't be
    /// published. A program may go on after it. If the message was not yet to be published, the
    /// next call replays it; otherwise the one behind it.
    pub fn step(&mut self) -> Result<Option<u64>, ReplayError> {
        let Some(time) = self.next.as_ref().map(|next| next.time) else { return Ok(None) };
        self.advance(ros(time))?;
        let outcome = self.next.take().map_or(Ok(()), |next| self.publish(next));
        self.read();
        outcome.map(|()| Some(time))
    }

    /// Publishes a message at its time, and runs everything that is ready then.
    fn publish(&mut self, selected: Selected) -> Result<(), ReplayError> {
        let Selected { output, time, is_restored, message } = selected;
        if let Some(clock) = self.ros_clock.as_ref().filter(|_| !is_restored) {
            clock.of_message(time);
        }
        let output = &mut self.outputs[output];
        let prepared = output.prepare(&message.bytes);
        output.publish(prepared, || true).map_err(|failure| ReplayError::Publish {
            topic: output.publisher.topic().to_owned(),
            failure,
        })?;
        self.published += 1;
        drop(message); // its chunk may be the last one that is held
        self.advance(self.clock.now())
    }

    /// Replays the messages up to a time, in nanoseconds since the epoch, and runs everything that
    /// is due until then.
    ///
    /// # Errors
    /// As for [`step`](Self::step).
    pub fn run_until(&mut self, time: u64) -> Result<(), ReplayError> {
        while self.next.as_ref().is_some_and(|next| next.time <= time) {
            self.step()?;
        }
        self.advance(ros(time))
    }

    /// Replays all messages that are left. Timers that are due after the last one don't run: a
    /// program that wants them calls [`Executor::advance`] then.
    ///
    /// # Errors
    /// As for [`step`](Self::step).
    pub fn run(&mut self) -> Result<(), ReplayError> {
        while self.step()?.is_some() {}
        Ok(())
    }

    /// Returns the number of messages that were published.
    #[must_use]
    pub fn published(&self) -> u64 {
        self.published
    }

    /// Returns the first and the last time that are replayed, in nanoseconds since the epoch.
    #[must_use]
    pub fn times(&self) -> (u64, u64) {
        (self.span.start, self.span.end)
    }

    /// Returns the damage that was found so far, as sentences. The messages that it cost are not
    /// replayed.
    #[must_use]
    pub fn problems(&self) -> &[String] {
        &self.problems
    }

    /// Returns the selected topics that can't be replayed.
    #[must_use]
    pub fn skipped(&self) -> &[SkippedTopic] {
        &self.skipped
    }

    /// Reads the next message.
    fn read(&mut self) {
        while self.next.is_none() {
            match self.source.next() {
                Some(Item::Message(selected)) => self.next = Some(selected),
                Some(Item::Problem(problem)) => {
                    let problem = problem.to_string();
                    if self.known_problems.insert(problem.clone()) {
                        sinew::warn!(self.node, "{problem}");
                        self.problems.push(problem);
                    }
                }
                None => return,
            }
        }
    }

    /// Runs everything that is due until a time, publishing `/clock` on the way.
    fn advance(&mut self, time: Time) -> Result<(), ReplayError> {
        while let Some(clock) = &mut self.ros_clock {
            let Some(due) = clock.due().filter(|due| *due <= time.nanoseconds()) else { break };
            advance(self.executor, self.clock, Time::from_nanoseconds(due))?;
            clock.tick(u64::try_from(due).unwrap_or(0), due);
        }
        advance(self.executor, self.clock, time)
    }
}

/// Moves the clock to a time, unless it is past, from one timer to the next, and runs everything
/// that is ready.
fn advance(executor: &Executor, clock: &VirtualClock, time: Time) -> Result<(), ReplayError> {
    let left = time - clock.now(); // zero for restored messages of an earlier time
    executor.advance(left)?;
    if clock.now() < time { Err(ReplayError::OtherClock) } else { Ok(()) }
}

impl std::fmt::Debug for Replay<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Replay").field("published", &self.published).finish_non_exhaustive()
    }
}
