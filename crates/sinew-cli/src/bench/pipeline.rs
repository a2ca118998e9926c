//! Scenario `pipeline`: camera -> filter that changes the image in place -> viewers, at 30 Hz.

use std::time::Duration;

use sinew::{Message, Unique};

use super::floors::{copy, ticks, warm_up};
use super::progress::Progress;
use super::report::{Figures, Row};
use super::rounds::{Round, alternate};
use super::run::{Collected, Run};
use super::samples::Samples;
use crate::cli::{ExecutorOptions, PipelineOptions};
use crate::clock::now_ns;
use crate::error::Error;

/// Images per second.
const RATE: f64 = 30.0;

/// Bytes of an image: 640x480 RGB.
const BYTES: usize = 640 * 480 * 3;

/// An image. A `Clone` is what the copies counted would be.
#[derive(Clone, Default)]
struct Image {
    stamp: i64,
    number: u64,
    pixels: Vec<u8>,
}

impl Message for Image {}

/// One row, beside copying such an image once.
pub(super) fn measure(options: &PipelineOptions, progress: &mut Progress) -> Result<Vec<Row>, Error> {
    let viewers = options.viewers;
    let mut warm = copy::Warm::new(BYTES);
    let mut floor = |time: Duration| Ok(warm.round(time / 10));
    let mut ours = |time| Ok(round(viewers, time)?);
    let what = format!("pipeline to {viewers} viewers");
    let sides = [&mut floor as _, &mut ours as _];
    let [floor, ours] = alternate(progress, &what, options.output.time_or(10), sides)?;
    let floor = Figures::over(&floor, copy::Warm::operations(BYTES));
    let row = Row::sinew("pipeline", Figures::over(&ours, 1)).with("viewers", viewers).with("rate", RATE);
    Ok(vec![
        Row::floor("pipeline", "copy", floor).with("size", BYTES).with("cache", "warm"),
        row.with("size", BYTES).run_by(ExecutorOptions::default()),
    ])
}

/// What the viewers see together.
struct Arrivals {
    /// From the camera's publish to the last viewer.
    to_last: Samples,
    received: u64,
    /// Images that were not what the filter makes of what the camera sent.
    spoilt: u64,
    number: u64,
    have_it: u32,
}

/// One round. A sample is the time from the camera, which stamps an image when it is complete, to the last viewer.
fn round(viewers: u32, time: Duration) -> sinew::Result<Round> {
    let ticks = ticks(RATE, time);
    let counts_from = u64::from(warm_up(ticks));
    let run = Run::new()?;

    let camera = run.context.node("camera")?;
    let images = camera.publisher::<Image>("images").create()?;
    let taken = images.clone();
    let mut number = 0;
    let timer = camera.timer(Duration::from_secs_f64(1.0 / RATE)).callback(move || {
        number += 1;
        let mut image = images.loan();
        image.pixels.resize(BYTES, 0);
        image.pixels.fill(shade(number));
        image.number = number;
        image.stamp = now_ns();
        images.publish(image)
    })?;

    let filter = run.context.node("filter")?;
    let negatives = filter.publisher::<Image>("negatives").create()?;
    let filtered = negatives.clone();
    let filtering = filter.subscription::<Image>("images").callback(move |mut image: Unique<Image>| {
        image.pixels.iter_mut().for_each(|byte| *byte = !*byte);
        negatives.publish(image)
    })?;

    let arrivals = Collected::new(Arrivals {
        to_last: Samples::with_room_for(ticks as usize + 1),
        received: 0,
        spoilt: 0,
        number: 0,
        have_it: 0,
    });
    let mut viewing = Vec::new();
    for viewer in 0..viewers {
        let seen = arrivals.clone();
        let node = run.context.node(&format!("viewer_{viewer}"))?;
        viewing.push(node.subscription::<Image>("negatives").callback(move |image: &Image| {
            let latency = now_ns() - image.stamp;
            let right = Some(!shade(image.number));
            let spoilt = image.pixels.first().copied() != right || image.pixels.last().copied() != right;
            seen.with(|seen| {
                seen.received += 1;
                seen.spoilt += u64::from(spoilt);
                if seen.number != image.number {
                    (seen.number, seen.have_it) = (image.number, 0);
                }
                seen.have_it += 1;
                if seen.have_it == viewers && image.number > counts_from {
                    seen.to_last.record(latency);
                }
            });
        })?);
    }

    let cpu_percent = run.spin_for(time)?;
    drop(timer);
    run.drain()?;
    let copies = taken.statistics().copies
        + filtered.statistics().copies
        + filtering.statistics().copies
        + viewing.iter().map(|viewer| viewer.statistics().copies).sum::<u64>();
    let expected = taken.statistics().published * u64::from(viewers);
    Ok(arrivals.with(|arrivals| Round {
        lost: expected.saturating_sub(arrivals.received - arrivals.spoilt),
        copies: Some(copies),
        cpu_percent: Some(cpu_percent),
        ..Round::of(std::mem::take(&mut arrivals.to_last))
    }))
}

/// What every byte of an image is when it leaves the camera.
fn shade(number: u64) -> u8 {
    number.to_le_bytes()[0]
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
