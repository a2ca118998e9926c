//! Scenario `big`: images of 8 MB (`sensor_msgs/Image`) at 10 Hz to another process, once filled
//! where the other process views them, and once passed as owned messages, of which the other
//! process gets values.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use sinew::{Executor, Publisher, View};
use sinew_interfaces::sensor_msgs::msg::{Image, ImageLengths};

use super::payload::WARM_AFTER;
use super::picture::{Mark, without_pixels};
use crate::floors::copy;
use crate::options::{BigCase, BigMode};
use crate::{
    Arrivals, Case, Collected, Error, Figures, Floor, Ground, Measuring, MultiProcess, Part, Samples, Usage,
    matched, now_ns, one, ticks, waiting,
};

/// Images per second.
const RATE: f64 = 10.0;

/// Bytes of pixels.
const BYTES: usize = copy::COLD_SIZE;

const WIDTH: u32 = 2048;
const HEIGHT: u32 = 1024;
const STEP: u32 = WIDTH * 4;
const _: () = assert!(STEP as usize * HEIGHT as usize == BYTES);

/// Returns the next image without its pixels.
fn begun() -> Image {
    without_pixels((WIDTH, HEIGHT), "rgba8", STEP / WIDTH)
}

/// Publishes the next image in the given mode; returns the time inside publish.
fn publish(publisher: &Publisher<Image>, mode: BigMode, number: u64) -> Result<i64, Error> {
    let small = begun(); // kept until the end: a program reuses one for all its images
    let start;
    match mode {
        BigMode::Loan => {
            let mut image = publisher.draft(&small, ImageLengths { data: BYTES })?;
            let pixels = image.parts().data;
            Mark::paint(pixels, number);
            Mark::complete(pixels, now_ns());
            start = now_ns(); // the last write belongs to the image, not to publishing it
            publisher.publish(image).map_err(sinew::Error::from)?;
        }
        BigMode::Owned => {
            let mut image = begun();
            image.data.resize(BYTES, 0);
            Mark::paint(&mut image.data, number);
            Mark::complete(&mut image.data, now_ns());
            start = now_ns();
            publisher.publish(image).map_err(sinew::Error::from)?;
        }
    }
    Ok(now_ns() - start)
}

/// Measured beside copying such an image.
impl Case for BigCase {
    fn floors(&self) -> Result<Vec<Floor>, Error> {
        Ok(vec![Floor::cold_copy(BYTES)])
    }

    fn round(&self, ground: &Ground, time: Duration) -> Result<Figures, Error> {
        ground.measure(self, time)
    }
}

/// The other process's observations.
#[derive(Debug, Default, Deserialize, Serialize)]
struct BigSeen {
    /// A sample is the time from the complete image to the callback.
    arrivals: Arrivals,
    /// Images with pixels that don't lie where their publisher wrote them.
    copied: u64,
    usage: Usage,
}

impl MultiProcess for BigCase {
    const SCENARIO: &'static str = "big";

    /// Measures the time from the complete image to the other process's callback, and that inside
    /// publish.
    fn measure(part: &Part<Self>) -> Result<Figures, Error> {
        let (ticks, mode) = (ticks(RATE, part.time), one(&part.case.mode));
        let mut other = part.start(1)?;
        let run = part.run(Executor::builder())?;
        let camera = run.context.node("camera")?;
        let images = camera.publisher::<Image>("images").create()?;
        other.hear::<()>()?;
        matched(&images, 1)?;

        let publishing = Collected::new(Samples::with_room_for(ticks as usize + 1));
        let (spent, publisher) = (publishing.clone(), images.clone());
        for number in 1..=WARM_AFTER {
            publish(&images, mode, number)?;
            run.spin_for(Duration::from_millis(20))?;
        }
        let mut number = WARM_AFTER;
        let timer =
            camera.timer(Duration::from_secs_f64(1.0 / RATE)).callback(move || -> Result<(), Error> {
                number += 1;
                let time_inside = publish(&publisher, mode, number)?;
                spent.with(|spent| spent.record(time_inside));
                Ok(())
            })?;
        let usage = run.spin_for(Duration::from_secs_f64((f64::from(ticks) + 0.5) / RATE))?;
        drop(timer);
        let sent = images.statistics().published;
        let seen: BigSeen = other.finish_after(sent)?;
        let made = images.statistics();
        Ok(Figures {
            copies: Some(made.copies + made.encodings + seen.copied),
            publish_p50_ns: publishing.with(|publishing| publishing.p50(1)),
            ..seen.arrivals.figures(1, sent, usage + seen.usage)
        })
    }

    /// Views images.
    fn play(part: &Part<Self>, measuring: Measuring) -> Result<(), Error> {
        let run = part.run(waiting(one(&part.case.wait)))?;
        let arrivals = Arrivals::after(WARM_AFTER, ticks(RATE, part.time) as usize + 1);
        let arrivals = Collected::new(BigSeen { arrivals, ..BigSeen::default() });
        let seen = arrivals.clone();
        let viewer = run.context.node("viewer")?;
        let images = viewer.subscription::<Image>("images");
        let _images = match one(&part.case.mode) {
            BigMode::Loan => images.callback(move |image: View<'_, Image>| {
                let now = now_ns();
                seen.with(|seen| seen.note(image.data, now, false));
            })?,
            BigMode::Owned => images.callback(move |image: &Image| {
                let now = now_ns();
                seen.with(|seen| seen.note(&image.data, now, true));
            })?,
        };
        measuring.tell(&())?;
        let received = arrivals.clone();
        let usage = run.serve(measuring, move || received.with(|seen| seen.arrivals.received()))?;
        measuring.tell(&arrivals.with(|seen| BigSeen { usage, ..std::mem::take(seen) }))
    }
}

impl BigSeen {
    /// Records an image. One with wrong pixels counts as lost.
    fn note(&mut self, pixels: &[u8], now: i64, is_copy: bool) {
        self.copied += u64::from(is_copy);
        if let Some(Mark { stamp, number }) = Mark::of(pixels) {
            self.arrivals.note(number, now - stamp);
        }
    }
}
