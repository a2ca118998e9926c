//! The last node of the demonstration: counts, shows and saves what it gets.

use sinew::{MessageInfo, Shared, StopHandle};

use super::frame::Picture;
use super::save::Saver;
use super::screen::{Screen, Status};
use crate::bench::histogram::Histogram;
use crate::bench::run::Collected;
use crate::clock::now_ns;
use crate::error::Error;

/// Tells how many frames were copied on their way.
pub(super) type Copies = Box<dyn Fn() -> u64 + Send>;

/// What the viewer has seen; outlives it.
pub(super) struct Seen<F: Picture> {
    frames: u64,
    lost: u64,
    next_number: u64,
    latencies: Histogram,
    last_latency: i64,
    first_ns: i64,
    last_ns: i64,
    recent: Recent,
    copies: Copies,
    pub(super) saver: Option<Saver<Shared<F>>>,
    /// Why the run was ended early.
    pub(super) failure: Option<Error>,
}

/// The rate of the last second or so.
#[derive(Default)]
struct Recent {
    since_ns: i64,
    frames: u64,
    per_second: Option<f64>,
}

impl Recent {
    fn count(&mut self, now_ns: i64) {
        self.frames += 1;
        let passed = now_ns - self.since_ns;
        if self.since_ns == 0 {
            *self = Self { since_ns: now_ns, ..Self::default() };
        } else if passed >= 1_000_000_000 {
            let per_second = Some(self.frames as f64 * 1e9 / passed as f64);
            *self = Self { since_ns: now_ns, frames: 0, per_second };
        }
    }
}

impl<F: Picture> Seen<F> {
    pub(super) fn new(copies: Copies, saver: Option<Saver<Shared<F>>>) -> Self {
        Self {
            frames: 0,
            lost: 0,
            next_number: 0,
            latencies: Histogram::new(),
            last_latency: 0,
            first_ns: 0,
            last_ns: 0,
            recent: Recent::default(),
            copies,
            saver,
            failure: None,
        }
    }

    /// Counts copies no more, and gives back what was asked for them: it may keep nodes, and so ourselves, from going.
    pub(super) fn settle(&mut self) -> Copies {
        let made = (self.copies)();
        std::mem::replace(&mut self.copies, Box::new(move || made))
    }

    fn count(&mut self, number: u64, latency: i64) {
        let now = now_ns();
        if self.frames == 0 {
            self.first_ns = now;
        }
        self.last_ns = now;
        self.frames += 1;
        self.lost += number.saturating_sub(self.next_number);
        self.next_number = number + 1;
        self.last_latency = latency;
        self.latencies.record(latency);
        self.recent.count(now);
    }

    /// The figures of now, with the rate of the last second.
    fn status(&self) -> Status {
        let all = self.summary();
        Status { frames_per_second: self.recent.per_second.unwrap_or(all.frames_per_second), ..all }
    }

    /// The figures of the whole run.
    pub(super) fn summary(&self) -> Status {
        let intervals = self.frames.saturating_sub(1) as f64;
        let passed = (self.last_ns - self.first_ns).max(1) as f64;
        Status {
            frames: self.frames,
            frames_per_second: intervals * 1e9 / passed,
            last_latency: self.last_latency as f64,
            latency: self.latencies.summary(),
            copies: (self.copies)(),
            lost: self.lost,
        }
    }
}

/// The state of the viewer's group.
pub(super) struct Viewer<F: Picture> {
    screen: Screen,
    seen: Collected<Seen<F>>,
    stop: StopHandle,
}

impl<F: Picture> Viewer<F> {
    pub(super) fn new(screen: Screen, seen: Collected<Seen<F>>, stop: StopHandle) -> Self {
        Self { screen, seen, stop }
    }

    /// Takes a frame in. If it can't be shown, the run ends.
    pub(super) fn view(&mut self, frame: &Shared<F>, info: &MessageInfo) {
        // From the camera's publish to here: every message knows when the first of its chain was published.
        let latency = i64::try_from(info.chain_latency().as_nanos()).unwrap_or(i64::MAX);
        let (screen, stop) = (&mut self.screen, &self.stop);
        self.seen.with(|seen| {
            seen.count(frame.number(), latency);
            if let Some(saver) = &mut seen.saver {
                saver.offer(frame, || frame.clone());
                if let Some(failure) = saver.failure() {
                    screen.remark(format!("{failure}; no more frames are saved"));
                }
            }
            if let Err(error) = screen.show(&**frame, || seen.status()) {
                seen.failure = Some(error);
                stop.stop();
            }
        });
    }

    /// Ends the run.
    pub(super) fn end(&self) {
        self.stop.stop();
    }
}
