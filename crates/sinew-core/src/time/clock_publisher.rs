//! Publishes `/clock`, as a simulator, a replay or a test does.

use super::sim_time::TOPIC;
use crate::api::node::Node;
use crate::api::publisher::{PublishError, Publisher};
use crate::api::timer::Timer;
use crate::ros::failure::CreateError;
use crate::ros::qos::QoS;
use crate::sys::clock::{self, ClockKind, Time, nanoseconds};
use crate::sys::coalescing_lock::CoalescingLock;
use crate::sys::sync::{Arc, Mutex};
use sinew_interfaces::rosgraph_msgs::msg::Clock;
use std::fmt;
use std::time::Duration;

/// Default period of publishing the time: 40 times a second, as rosbag2 does.
const PERIOD: Duration = Duration::from_millis(25);

/// Publishes a time of its own on `/clock`, which advances with the steady clock at a chosen speed,
/// and can be paused, stepped and set. From [`Node::clock_publisher`].
///
/// Contexts that [use simulated time](crate::Context::use_sim_time) follow it, including its own,
/// and so do nodes of ROS 2. A domain should have only one. In [virtual
/// time](crate::time::VirtualClock) it makes hours of simulated time pass in a moment.
///
/// It publishes periodically, even while it is paused, so that late subscriptions learn the time;
/// this needs an executor that serves its node. Each call that changes the time publishes at once,
/// on its own thread. Clones are the same publisher; it ends with the last one.
///
/// ```
/// use sinew::prelude::*;
/// use sinew::time::{Time, VirtualClock};
///
/// let context = Context::builder().virtual_time(&VirtualClock::new()).use_sim_time(true).build()?;
/// let node = context.node("simulator")?;
/// let simulated = node.clock_publisher().speed(2.0).create()?;
/// let executor = Executor::single();
/// executor.add(&context)?;
/// executor.advance(Duration::from_secs(10))?;
/// assert_eq!(node.now(), Time::from_nanoseconds(20_000_000_000));
///
/// simulated.pause()?;
/// executor.advance(Duration::from_secs(10))?;
/// assert_eq!(node.now(), Time::from_nanoseconds(20_000_000_000));
/// simulated.step(Duration::from_millis(5))?;
/// assert_eq!(node.now(), Time::from_nanoseconds(20_005_000_000));
/// # Ok::<(), sinew::Error>(())
/// ```
#[derive(Clone)]
pub struct ClockPublisher {
    source: Arc<Source>,
    _timer: Timer,
}

struct Source {
    publisher: Publisher<Clock>,
    steady: clock::Clock,
    motion: Mutex<Motion>,
    /// One thread at a time publishes, so that no earlier time follows a later one.
    publishing: CoalescingLock<()>,
}

/// The motion of the time.
#[derive(Clone, Copy)]
struct Motion {
    /// The time at the steady time `since`.
    time: i64,
    since: i64,
    /// Nanoseconds per nanosecond of steady time.
    speed: f64,
    paused: bool,
}

impl Motion {
    fn now(&self, steady: i64) -> i64 {
        if self.paused {
            return self.time;
        }
        let passed = steady.saturating_sub(self.since);
        #[expect(clippy::float_cmp, reason = "the one speed at which nothing is to be rounded")]
        let passed = if self.speed == 1.0 { passed } else { scaled(passed, self.speed) };
        self.time.saturating_add(passed)
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "a cast saturates, and 104 days are exact"
)]
fn scaled(nanoseconds: i64, speed: f64) -> i64 {
    (nanoseconds as f64 * speed).round() as i64
}

impl ClockPublisher {
    /// Returns the present time of this clock.
    pub fn now(&self) -> Time {
        Time::from_nanoseconds(self.source.now())
    }

    /// Pauses the time.
    ///
    /// # Errors
    /// Returns [`PublishError`] if the context is shut down, or shared memory is full. The time is
    /// paused anyway.
    pub fn pause(&self) -> Result<(), PublishError<Clock>> {
        self.change(|motion| motion.paused = true)
    }

    /// Resumes the time from where it stood.
    ///
    /// # Errors
    /// As for [`pause`](Self::pause).
    pub fn resume(&self) -> Result<(), PublishError<Clock>> {
        self.change(|motion| motion.paused = false)
    }

    /// Returns `true` if the time is paused.
    pub fn is_paused(&self) -> bool {
        self.source.motion.lock().paused
    }

    /// Moves the time one step forward, paused or not.
    ///
    /// # Errors
    /// As for [`pause`](Self::pause).
    pub fn step(&self, duration: Duration) -> Result<(), PublishError<Clock>> {
        self.change(|motion| motion.time = motion.time.saturating_add(nanoseconds(duration)))
    }

    /// Sets the time, possibly back.
    ///
    /// # Errors
    /// As for [`pause`](Self::pause).
    pub fn set(&self, time: Time) -> Result<(), PublishError<Clock>> {
        self.change(|motion| motion.time = time.nanoseconds())
    }

    /// Sets the speed as a multiple of the steady clock's. 0 works like a pause; a negative value
    /// or NaN counts as 0.
    ///
    /// # Errors
    /// As for [`pause`](Self::pause).
    pub fn set_speed(&self, speed: f64) -> Result<(), PublishError<Clock>> {
        self.change(|motion| motion.speed = usable(speed))
    }

    /// Publishes the time now, in addition to the periodic messages.
    ///
    /// # Errors
    /// As for [`pause`](Self::pause).
    pub fn publish(&self) -> Result<(), PublishError<Clock>> {
        self.source.publish()
    }

    fn change(&self, change: impl FnOnce(&mut Motion)) -> Result<(), PublishError<Clock>> {
        let steady = self.source.steady.steady();
        {
            let mut motion = self.source.motion.lock();
            (motion.time, motion.since) = (motion.now(steady), steady);
            change(&mut motion);
        }
        self.source.publish()
    }
}

impl Source {
    fn now(&self) -> i64 {
        let steady = self.steady.steady();
        self.motion.lock().now(steady)
    }

    /// Publishes the time, or makes the thread that is already publishing it publish again.
    fn publish(&self) -> Result<(), PublishError<Clock>> {
        let mut result = Ok(());
        self.publishing.look(|_held| {
            let clock = Clock { clock: Time::from_nanoseconds(self.now()).to_msg() };
            result = self.publisher.publish(clock);
        });
        result
    }
}

/// Returns the speed if it is a number and not negative, otherwise 0.
fn usable(speed: f64) -> f64 {
    if speed > 0.0 { speed } else { 0.0 }
}

impl fmt::Debug for ClockPublisher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let motion = *self.source.motion.lock();
        f.debug_struct("ClockPublisher")
            .field("now", &self.now())
            .field("speed", &motion.speed)
            .field("paused", &motion.paused)
            .finish_non_exhaustive()
    }
}

/// Creates a [`ClockPublisher`]; from [`Node::clock_publisher`].
#[must_use = "nothing happens before `create`"]
pub struct ClockPublisherBuilder {
    node: Node,
    period: Duration,
    start: Time,
    speed: f64,
    paused: bool,
}

impl Node {
    /// Begins a publisher of `/clock`, for simulators, replays and tests.
    pub fn clock_publisher(&self) -> ClockPublisherBuilder {
        let start = Time::from_nanoseconds(0);
        ClockPublisherBuilder { node: self.clone(), period: PERIOD, start, speed: 1.0, paused: false }
    }
}

impl ClockPublisherBuilder {
    /// Sets the steady time from one message to the next. Default: 25 ms (40 Hz).
    pub fn period(mut self, period: Duration) -> Self {
        self.period = period;
        self
    }

    /// Sets the initial time. Default: 0.
    pub fn start(mut self, time: Time) -> Self {
        self.start = time;
        self
    }

    /// Sets the speed as a multiple of the steady clock's; see [`ClockPublisher::set_speed`].
    /// Default: 1.
    pub fn speed(mut self, speed: f64) -> Self {
        self.speed = speed;
        self
    }

    /// Begins with a pause.
    pub fn paused(mut self) -> Self {
        self.paused = true;
        self
    }

    /// Creates the publisher. The first message is due one period from now.
    ///
    /// # Errors
    /// Returns [`CreateError`], as for [publishers](crate::msg::PublisherBuilder::create) and
    /// [timers](crate::time::TimerBuilder::callback).
    pub fn create(self) -> Result<ClockPublisher, CreateError> {
        let Self { node, period, start, speed, paused } = self;
        let steady = node.context_shared().session.clock.clone();
        let (time, since) = (start.nanoseconds(), steady.steady());
        let source = Arc::new(Source {
            publisher: node.publisher(TOPIC).qos(QoS::default().keep_last(1)).create()?,
            motion: Mutex::new(Motion { time, since, speed: usable(speed), paused }),
            publishing: CoalescingLock::new(()),
            steady,
        });
        let again = source.clone();
        let timer = node.timer(period).clock(ClockKind::Steady).callback(move || again.publish())?;
        Ok(ClockPublisher { source, _timer: timer })
    }
}
