//! The last node of the demonstration: counts, shows and saves its frames.

use sinew::MessageInfo;
use sinew::executor::StopHandle;
use sinew::msg::Sample;
use sinew_interfaces::sensor_msgs::msg::Image;

use super::frame::FrameView;
use super::save::Saver;
use super::screen::{Screen, Status};
use crate::error::Error;
use sinew_bench::clock::now_ns;
use sinew_bench::histogram::Histogram;
use sinew_bench::run::Collected;

/// The frames on their way to the viewer's node.
#[derive(Clone, Copy, Default)]
pub(super) struct Underway {
    pub(super) copies: u64,
    pub(super) encodings: u64,
    pub(super) decodings: u64,
    pub(super) lost: u64,
}

/// Counts the frames on their way so far.
pub(super) type Ask = Box<dyn Fn() -> Underway + Send>;

/// The viewer's counts; they outlive it.
pub(super) struct ViewerCounts {
    frames: u64,
    /// Between filter and viewer.
    lost: u64,
    /// The number of the filter's last frame.
    last_number: u64,
    latencies: Histogram,
    last_latency: i64,
    first_ns: i64,
    last_ns: i64,
    recent: Recent,
    underway: Ask,
    pub(super) saver: Option<Saver>,
    /// The reason why the run ended early.
    pub(super) failure: Option<Error>,
}

/// The frame rate of the last second or so.
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

impl ViewerCounts {
    pub(super) fn new(underway: Ask, saver: Option<Saver>) -> Self {
        Self {
            frames: 0,
            lost: 0,
            last_number: 0,
            latencies: Histogram::empty(),
            last_latency: 0,
            first_ns: 0,
            last_ns: 0,
            recent: Recent::default(),
            underway,
            saver,
            failure: None,
        }
    }

    /// Takes the last counts, and returns the closure: it may keep nodes alive, and so this value
    /// itself.
    pub(super) fn settle(&mut self) -> Ask {
        let became = (self.underway)();
        std::mem::replace(&mut self.underway, Box::new(move || became))
    }

    fn count(&mut self, number: u64, latency: i64) {
        let now = now_ns();
        if self.frames == 0 {
            self.first_ns = now;
        }
        self.last_ns = now;
        self.frames += 1;
        self.lost += number.saturating_sub(self.last_number + 1);
        self.last_number = number;
        self.last_latency = latency;
        self.latencies.record(latency);
        self.recent.count(now);
    }

    /// Returns the current figures, with the rate of the last second.
    fn status(&self) -> Status {
        let all = self.summary();
        Status { frames_per_second: self.recent.per_second.unwrap_or(all.frames_per_second), ..all }
    }

    /// Returns the figures of the whole run.
    pub(super) fn summary(&self) -> Status {
        let intervals = self.frames.saturating_sub(1) as f64;
        let passed = (self.last_ns - self.first_ns).max(1) as f64;
        let Underway { copies, encodings, decodings, lost } = (self.underway)();
        Status {
            frames: self.frames,
            frames_per_second: intervals * 1e9 / passed,
            last_latency: self.last_latency as f64,
            latency: self.latencies.summary(),
            copies,
            encodings,
            decodings,
            lost: lost + self.lost,
        }
    }
}

/// The state of the viewer's group.
pub(super) struct Viewer {
    screen: Screen,
    seen: Collected<ViewerCounts>,
    stop: StopHandle,
}

impl Viewer {
    pub(super) fn new(screen: Screen, seen: Collected<ViewerCounts>, stop: StopHandle) -> Self {
        Self { screen, seen, stop }
    }

    /// Takes in a frame. If it can't be shown, the run ends.
    pub(super) fn view(&mut self, frame: &Sample<Image>, info: &MessageInfo) -> Result<(), String> {
        // From the camera's publish to here: every message knows when the first of its chain was
        // published.
        let latency = i64::try_from(info.chain_latency().as_nanos()).unwrap_or(i64::MAX);
        let image = frame.view().map_err(|error| error.to_string())?;
        let picture = FrameView::of(&image)?;
        let (screen, stop) = (&mut self.screen, &self.stop);
        self.seen.with(|seen| {
            seen.count(info.publication_sequence(), latency);
            if let Some(saver) = &mut seen.saver {
                saver.offer(picture.name, frame);
                if let Some(failure) = saver.failure() {
                    screen.remark(format!("{failure}; no more frames are saved"));
                }
            }
            if let Err(error) = screen.show(&picture, || seen.status()) {
                seen.failure = Some(error);
                stop.stop();
            }
        });
        Ok(())
    }

    /// Ends the run.
    pub(super) fn end(&self) {
        self.stop.stop();
    }
}
