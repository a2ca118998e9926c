//! Timers, guard conditions, and simulated time.

use crate::callback::{self, ContextOf, Elapsing, EventCallback, TriggeredClosure};
use crate::event::Triggered;
use crate::failure::{Error, Result};
use crate::library::{Functions, Handle, TimerInfo as FrontTimerInfo};
use crate::node::{Node, Owned, Place, Placed, nanoseconds};
use real::time::{ClockKind, Time};
use sinew_c::time as clock;
use std::sync::Arc;
use std::time::Duration;

/// What a timer's callback gets to know.
pub(crate) struct TimerInfo {
    front: &'static Functions,
    due: i64,
    actual: i64,
    skipped: u64,
    itself: Handle,
}

impl TimerInfo {
    pub(crate) fn due(&self) -> Time {
        Time::from_nanoseconds(self.due)
    }

    pub(crate) fn actual(&self) -> Time {
        Time::from_nanoseconds(self.actual)
    }

    pub(crate) fn skipped(&self) -> u64 {
        self.skipped
    }

    pub(crate) fn cancel(&self) {
        self.front.timer_info_cancel(self.itself);
    }
}

pub(crate) struct TimerBuilder<G> {
    group: G,
    period: Duration,
    clock: Option<ClockKind>,
}

impl<G: Placed> TimerBuilder<G> {
    pub(crate) fn new(group: G, period: Duration, clock: Option<ClockKind>) -> Self {
        Self { group, period, clock }
    }

    pub(crate) fn clock(self, clock: ClockKind) -> Self {
        Self { clock: Some(clock), ..self }
    }

    pub(crate) fn callback<Form>(self, callback: impl EventCallback<TimerInfo, G, Form>) -> Result<Timer> {
        let place = self.group.place().clone();
        let (front, callback) = (place.front(), callback.erased());
        let clock = match self.clock {
            None => clock::SINEW_CLOCK_DEFAULT,
            Some(ClockKind::Ros) => clock::SINEW_CLOCK_ROS,
            Some(ClockKind::System) => clock::SINEW_CLOCK_SYSTEM,
            Some(_) => clock::SINEW_CLOCK_STEADY,
        };
        let closure: Box<Elapsing> = Box::new(move |info: &FrontTimerInfo| {
            let FrontTimerInfo { due, actual, skipped, itself } = *info;
            callback(&TimerInfo { front, due, actual, skipped, itself })
        });
        let (context, period) = (ContextOf::of(front, closure), nanoseconds(self.period));
        let handle = Owned::make(front, Functions::timer_free, |timer| {
            front.timer_new(place.node(), place.group(), period, clock, callback::elapsed, context, timer)
        })?;
        Ok(Timer { handle, _place: place })
    }
}

pub(crate) struct Timer {
    handle: Arc<Owned>,
    _place: Place,
}

impl Timer {
    pub(crate) fn cancel(&self) {
        self.handle.front.timer_cancel(self.handle.handle);
    }

    pub(crate) fn reset(&self) {
        self.handle.front.timer_reset(self.handle.handle);
    }

    pub(crate) fn close(self) {
        self.handle.front.timer_close(self.handle.handle);
    }

    pub(crate) fn skipped(&self) -> u64 {
        self.handle.front.timer_skipped(self.handle.handle)
    }

    pub(crate) fn clock(&self) -> ClockKind {
        match self.handle.front.timer_clock(self.handle.handle) {
            clock::SINEW_CLOCK_ROS => ClockKind::Ros,
            clock::SINEW_CLOCK_SYSTEM => ClockKind::System,
            _ => ClockKind::Steady,
        }
    }
}

pub(crate) struct GuardBuilder<G>(G);

impl<G: Placed> GuardBuilder<G> {
    pub(crate) fn new(group: G) -> Self {
        Self(group)
    }

    pub(crate) fn callback<Form>(
        self,
        callback: impl EventCallback<Triggered, G, Form>,
    ) -> Result<GuardCondition> {
        let place = self.0.place().clone();
        let (front, callback) = (place.front(), callback.erased());
        let closure: Box<TriggeredClosure> = Box::new(move |count| callback(&Triggered { count }));
        let context = ContextOf::of(front, closure);
        let handle = Owned::make(front, Functions::guard_free, |guard| {
            front.guard_new(place.node(), place.group(), callback::triggered, context, guard)
        })?;
        Ok(GuardCondition { handle, _place: place })
    }
}

pub(crate) struct GuardCondition {
    handle: Arc<Owned>,
    _place: Place,
}

impl GuardCondition {
    pub(crate) fn trigger(&self) {
        self.handle.front.guard_trigger(self.handle.handle);
    }

    pub(crate) fn close(self) {
        self.handle.front.guard_close(self.handle.handle);
    }
}

pub(crate) struct SimulatorBuilder {
    node: Node,
    start: Time,
}

impl SimulatorBuilder {
    pub(crate) fn new(node: Node) -> Self {
        Self { node, start: Time::from_nanoseconds(0) }
    }

    /// The front ends' simulators are.
    pub(crate) fn paused(self) -> Self {
        self
    }

    pub(crate) fn start(self, start: Time) -> Self {
        Self { start, ..self }
    }

    pub(crate) fn create(self) -> Result<Simulator> {
        let front = self.node.handle.front;
        Owned::make(front, Functions::simulator_free, |simulator| {
            front.simulator_new(self.node.handle.handle, self.start.nanoseconds(), simulator)
        })
        .map(Simulator)
    }
}

/// Publishes `/clock`.
pub(crate) struct Simulator(Arc<Owned>);

impl Simulator {
    pub(crate) fn publish(&self) -> Result<()> {
        Error::check(self.0.front, self.0.front.simulator_publish(self.0.handle))
    }

    pub(crate) fn step(&self, duration: Duration) -> Result<()> {
        Error::check(self.0.front, self.0.front.simulator_step(self.0.handle, nanoseconds(duration)))
    }
}
