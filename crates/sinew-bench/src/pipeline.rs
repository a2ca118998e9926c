//! Scenario `pipeline`: camera -> filter -> viewers, images of `sensor_msgs` at 30 Hz. The camera
//! makes a draft, the filter changes it in place, and the viewers view it there, in the same
//! process or in another one.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use sinew::msg::Sample;
use sinew::{Executor, Node, Publisher, Subscription, View};
use sinew_interfaces::sensor_msgs::msg::{Image, ImageLengths};

use super::payload::WARM_AFTER;
use super::picture::{Mark, without_pixels};
use crate::news;
use crate::options::PipelineCase;
use crate::{
    Case, Collected, Error, Figures, Floor, Ground, Heard, Measuring, MultiProcess, Part, Run, Usage,
    matched, now_ns, ticks, warm_up,
};

/// Images per second.
const RATE: f64 = 30.0;

/// Width and height of an image.
const SIZE: (u32, u32) = (640, 480);

/// Bytes of a pixel: red, green, blue.
const PIXEL: u32 = 3;

/// Bytes of an image's pixels.
const BYTES: usize = SIZE.0 as usize * SIZE.1 as usize * PIXEL as usize;

/// The observations of the viewers.
#[derive(Debug, Deserialize, Serialize)]
struct PipelineSeen {
    /// An image with pixels that differ from the filter's result isn't heard.
    heard: Heard,
    /// Number of copies that subscriptions made.
    copies: u64,
    usage: Usage,
}

/// Measured beside copying such an image once.
impl Case for PipelineCase {
    fn floors(&self) -> Result<Vec<Floor>, Error> {
        Ok(vec![Floor::copy(BYTES)])
    }

    fn round(&self, ground: &Ground, time: Duration) -> Result<Figures, Error> {
        match self.other_process {
            false => Ok(round(self.viewers, time)?),
            true => ground.measure(self, time),
        }
    }
}

/// Measures one round: the time from the camera, which stamps an image when it is complete, to the
/// last viewer.
fn round(viewers: u32, time: Duration) -> sinew::Result<Figures> {
    let ticks = ticks(RATE, time);
    let run = Run::new()?;
    let making = Making::create(&run)?;
    let heard = Collected::new(Heard::by(viewers, ticks as usize + 1));
    let viewing = view(&run, viewers, &heard)?;
    let usage = making.run_for(&run, time)?;
    run.drain()?;
    let seen = PipelineSeen { heard: heard.with(std::mem::take), copies: copies(&viewing), usage };
    Ok(making.figures(warm_up(ticks).into(), seen))
}

impl MultiProcess for PipelineCase {
    const SCENARIO: &'static str = "pipeline";

    /// Measures the same with the viewers in another process.
    fn measure(part: &Part<Self>) -> Result<Figures, Error> {
        let ticks = ticks(RATE, part.time);
        // A short round can't wait until everything is warm.
        let counts_from = u64::from(warm_up(ticks)).max(WARM_AFTER.min(u64::from(ticks) / 2));
        let mut other = part.start(1)?;
        let run = part.run(Executor::builder())?;
        let mut making = Making::create(&run)?;
        other.hear::<()>()?;
        matched(&making.negatives, part.case.viewers)?;
        making.take_first(&run)?;
        let usage = making.run_for(&run, part.time)?;
        run.drain()?;
        let seen: PipelineSeen = other.finish_after(making.images.statistics().published)?;
        Ok(making.figures(counts_from, PipelineSeen { usage: usage + seen.usage, ..seen }))
    }

    /// Views images.
    fn play(part: &Part<Self>, measuring: Measuring) -> Result<(), Error> {
        let run = part.run(Executor::builder())?;
        let heard = Collected::new(Heard::by(part.case.viewers, ticks(RATE, part.time) as usize + 2));
        let viewing = view(&run, part.case.viewers, &heard)?;
        measuring.tell(&())?;
        let received = heard.clone();
        let usage = run.serve(measuring, move || received.with(|heard| heard.received_by_all()))?;
        let heard = heard.with(std::mem::take);
        measuring.tell(&PipelineSeen { heard, copies: copies(&viewing), usage })
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

    /// Makes the camera take images. Returns the resources that this process used meanwhile.
    fn run_for(&self, run: &Run, time: Duration) -> sinew::Result<Usage> {
        let images = self.images.clone();
        let mut number = images.statistics().published;
        let _timer = self.camera.timer(Duration::from_secs_f64(1.0 / RATE)).callback(move || {
            number += 1;
            take(&images, number)
        })?;
        run.spin_for(time)
    }

    /// Takes one more image first, so that the camera learns where its images go.
    fn take_first(&mut self, run: &Run) -> sinew::Result<()> {
        take(&self.images, 1)?;
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

    fn figures(&self, counts_from: u64, seen: PipelineSeen) -> Figures {
        let PipelineSeen { heard, copies, usage } = seen;
        let figures = news::figures(&[heard], counts_from, self.images.statistics().published);
        Figures { copies: Some(self.copies() - self.before + copies), ..figures.using(usage) }
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

/// Creates the viewers, each a node.
fn view(run: &Run, viewers: u32, heard: &Collected<Heard>) -> sinew::Result<Vec<Subscription<Image>>> {
    let mut viewing = Vec::new();
    for viewer in 0..viewers as usize {
        let seen = heard.clone();
        let node = run.context.node(&format!("viewer_{viewer}"))?;
        viewing.push(node.subscription::<Image>("negatives").callback(move |image: View<'_, Image>| {
            let now = now_ns();
            if let Some(Mark { stamp, number }) = Mark::of_negative(image.data) {
                seen.with(|seen| seen.note(viewer, number, now - stamp));
            }
        })?);
    }
    Ok(viewing)
}
