//! Scenario `pipeline`: camera -> filter -> viewers, images of `sensor_msgs` at 30 Hz. The camera
//! makes a draft, the filter changes it in place, and the viewers view it there, in the same
//! process or in another one.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sinew::msg::Sample;
use sinew::{Executor, Node, Publisher, Subscription, View};
use sinew_interfaces::sensor_msgs::msg::{Image, ImageLengths};

use super::floors::copy;
use super::payload::WARM_AFTER;
use super::picture::{Mark, without_pixels};
use super::process::{Directory, Measuring, Process, Work};
use super::progress::Progress;
use super::report::{Figures, Row};
use super::rounds::{Round, Usage, alternate};
use super::run::{Collected, Run, matched};
use super::samples::Samples;
use crate::clock::now_ns;
use crate::error::Error;
use crate::options::{ExecutorOptions, PipelineOptions};
use crate::pacing::{ticks, warm_up};

/// Images per second.
const RATE: f64 = 30.0;

/// Width and height of an image.
const SIZE: (u32, u32) = (640, 480);

/// Bytes of a pixel: red, green, blue.
const PIXEL: u32 = 3;

/// Bytes of an image's pixels.
const BYTES: usize = SIZE.0 as usize * SIZE.1 as usize * PIXEL as usize;

/// The work of the other process.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Viewers {
    directory: PathBuf,
    viewers: u32,
    /// Images up to this number warm up.
    counts_from: u64,
    /// Number of images to make room for.
    room: usize,
}

/// The other process's observations.
#[derive(Debug, Deserialize, Serialize)]
struct PipelineSeen {
    arrivals: PipelineArrivals,
    /// Number of copies that subscriptions made.
    copies: u64,
    usage: Usage,
}

/// Measures one row, beside copying such an image once.
pub(super) fn measure(options: &PipelineOptions, progress: &mut Progress) -> Result<Vec<Row>, Error> {
    let viewers = options.viewers;
    let directory = if options.other_process { Some(Directory::create()?) } else { None };
    let mut warm = copy::Warm::new(BYTES);
    let mut floor = |time: Duration| Ok(warm.round(time / 10));
    let mut ours = |time| match &directory {
        None => Ok(round(viewers, time)?),
        Some(directory) => directory.round(|path| round_with_other_process(path, viewers, time)),
    };
    let what = format!("pipeline to {viewers} viewers");
    let sides = [&mut floor as _, &mut ours as _];
    let [floor, ours] = alternate(progress, &what, options.output.turns_or(10), sides)?;
    let floor = Figures::over(&floor, copy::Warm::operations(BYTES));
    let row = Row::sinew("pipeline", Figures::over(&ours, 1)).with("viewers", viewers).with("rate", RATE);
    let row = row.with("other_process", options.other_process);
    Ok(vec![
        Row::floor("pipeline", "copy", floor).with("size", BYTES).with("cache", "warm"),
        row.with("size", BYTES).run_by(ExecutorOptions::default()),
    ])
}

/// The observations of all viewers together.
#[derive(Debug, Default, Deserialize, Serialize)]
struct PipelineArrivals {
    /// From the camera's publish to the last viewer.
    to_last: Samples,
    received: u64,
    /// Images that differ from the filter's result for the camera's image.
    spoilt: u64,
    /// The current image, and the number of viewers that have it.
    number: u64,
    have_it: u32,
}

/// Measures one round. A sample is the time from the camera, which stamps an image when it is
/// complete, to the last viewer.
fn round(viewers: u32, time: Duration) -> sinew::Result<Round> {
    let ticks = ticks(RATE, time);
    let run = Run::new()?;
    let making = Making::create(&run)?;
    let arrivals = Collected::new(PipelineArrivals::with_room_for(ticks as usize + 1));
    let viewing = view(&run, viewers, warm_up(ticks).into(), &arrivals)?;
    let usage = making.run_for(&run, time)?;
    run.drain()?;
    let seen = PipelineSeen { copies: copies(&viewing), arrivals: arrivals.with(std::mem::take), usage };
    Ok(making.round(viewers, seen))
}

/// Measures the same with the viewers in another process.
fn round_with_other_process(directory: &Path, viewers: u32, time: Duration) -> Result<Round, Error> {
    let ticks = ticks(RATE, time);
    // A short round can't wait until everything is warm.
    let counts_from = u64::from(warm_up(ticks)).max(WARM_AFTER.min(u64::from(ticks) / 2));
    let room = ticks as usize + 1;
    let role = Viewers { directory: directory.to_owned(), viewers, counts_from, room };
    let mut other = Process::start(&role)?;
    let run = Run::shared(directory, Executor::builder())?;
    let mut making = Making::create(&run)?;
    other.hear::<()>()?;
    matched(&making.negatives, viewers)?;
    making.take_first(&run)?;
    let usage = making.run_for(&run, time)?;
    run.drain()?;
    let sent = making.images.statistics().published;
    let seen: PipelineSeen = other.finish_after(sent * u64::from(viewers))?;
    Ok(making.round(viewers, PipelineSeen { usage: usage + seen.usage, ..seen }))
}

impl Work for Viewers {
    const ROLE: &'static str = "Viewers";

    fn scenario(&self) -> &'static str {
        "pipeline"
    }

    /// In the other process: views images until the measuring process ends the round.
    fn play(&self, measuring: Measuring) -> Result<(), Error> {
        let run = Run::shared(&self.directory, Executor::builder())?;
        let arrivals = Collected::new(PipelineArrivals::with_room_for(self.room));
        let viewing = view(&run, self.viewers, self.counts_from, &arrivals)?;
        measuring.tell(&())?;
        let received = arrivals.clone();
        let usage = run.serve(measuring, move || received.with(|arrivals| arrivals.received))?;
        measuring.tell(&PipelineSeen {
            copies: copies(&viewing),
            arrivals: arrivals.with(std::mem::take),
            usage,
        })
    }
}

/// Camera and filter.
struct Making {
    camera: Node,
    images: Publisher<Image>,
    filtering: Subscription<Image>,
    negatives: Publisher<Image>,
    /// Number of copies before the measurement began.
    before: u64,
}

impl Making {
    fn create(run: &Run) -> sinew::Result<Self> {
        let camera = run.context.node("camera")?;
        let images = camera.publisher::<Image>("images").create()?;
        let filter = run.context.node("filter")?;
        let negatives = filter.publisher::<Image>("negatives").create()?;
        let filtered = negatives.clone();
        let filtering = filter.subscription::<Image>("images").callback(move |image: Sample<Image>| {
            let mut negative = filtered.edit(image)?;
            negative.parts().data.iter_mut().for_each(|byte| *byte = !*byte);
            filtered.publish(negative).map_err(sinew::Error::from)
        })?;
        Ok(Self { camera, images, filtering, negatives, before: 0 })
    }

    /// Makes the camera take images. Returns the CPU used, in percent of one core.
    fn run_for(&self, run: &Run, time: Duration) -> sinew::Result<Usage> {
        let images = self.images.clone();
        let mut number = 0;
        let _timer = self.camera.timer(Duration::from_secs_f64(1.0 / RATE)).callback(move || {
            number += 1;
            take(&images, number)
        })?;
        run.spin_for(time)
    }

    /// Takes one more image first, so that the camera learns where its images go.
    fn take_first(&mut self, run: &Run) -> sinew::Result<()> {
        take(&self.images, 0)?;
        run.spin_until(1, || self.filtering.statistics().taken)?;
        self.before = self.copies();
        Ok(())
    }

    /// Returns the number of times that camera and filter processed a whole image: copies,
    /// encodings, decodings.
    fn copies(&self) -> u64 {
        let made = [&self.images, &self.negatives].map(|publisher| {
            let counts = publisher.statistics();
            counts.copies + counts.encodings + counts.decodings
        });
        made.iter().sum::<u64>() + copies(std::slice::from_ref(&self.filtering))
    }

    fn round(&self, viewers: u32, seen: PipelineSeen) -> Round {
        let PipelineSeen { arrivals, copies, usage } = seen;
        let expected = self.images.statistics().published * u64::from(viewers);
        Round {
            lost: expected.saturating_sub(arrivals.received - arrivals.spoilt),
            copies: Some(self.copies() - self.before + copies),
            usage: Some(usage),
            ..Round::of(arrivals.to_last)
        }
    }
}

/// Takes an image.
fn take(images: &Publisher<Image>, number: u64) -> sinew::Result<()> {
    let begun = without_pixels(SIZE, "rgb8", PIXEL);
    let mut image = images.draft(begun, ImageLengths { data: BYTES })?;
    let pixels = image.parts().data;
    Mark::paint(pixels, number);
    Mark::complete(pixels, now_ns());
    Ok(images.publish(image)?)
}

/// Returns the number of copies and decodings by subscriptions.
fn copies(subscriptions: &[Subscription<Image>]) -> u64 {
    let counts = subscriptions.iter().map(Subscription::statistics);
    counts.map(|counts| counts.copies + counts.decodings).sum()
}

impl PipelineArrivals {
    fn with_room_for(images: usize) -> Self {
        Self { to_last: Samples::with_room_for(images), ..Self::default() }
    }
}

/// Creates the viewers, each a node.
fn view(
    run: &Run,
    viewers: u32,
    counts_from: u64,
    arrivals: &Collected<PipelineArrivals>,
) -> sinew::Result<Vec<Subscription<Image>>> {
    let mut viewing = Vec::new();
    for viewer in 0..viewers {
        let seen = arrivals.clone();
        let node = run.context.node(&format!("viewer_{viewer}"))?;
        viewing.push(node.subscription::<Image>("negatives").callback(move |image: View<'_, Image>| {
            let now = now_ns();
            let mark = Mark::of_negative(image.data);
            seen.with(|seen| {
                seen.received += 1;
                let Some(Mark { stamp, number }) = mark else {
                    seen.spoilt += 1;
                    return;
                };
                if seen.number != number {
                    (seen.number, seen.have_it) = (number, 0);
                }
                seen.have_it += 1;
                if seen.have_it == viewers && number > counts_from {
                    seen.to_last.record(now - stamp);
                }
            });
        })?);
    }
    Ok(viewing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_reach_all_viewers_changed_and_uncopied() {
        for viewers in [1, 2] {
            let round = round(viewers, Duration::from_millis(300)).unwrap();
            assert!(round.messages > 0);
            assert_eq!((round.lost, round.copies), (0, Some(0)), "{viewers} viewers");
        }
    }
}
