//! Scenario `big`: 8 MB images at 10 Hz to another process: a plain one that is filled in place, and one whose pixels are in
//! a vector, which is passed as an owned message.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sinew::{Executor, Message, Publisher};

use super::floors::{copy, ticks};
use super::payload::WARM_AFTER;
use super::process::{Directory, Measuring, Process, Role};
use super::progress::Progress;
use super::report::{Figures, Row, hundredth, tenth};
use super::rounds::{Round, alternate};
use super::run::{Collected, Run, matched, waiting};
use super::samples::{Samples, median};
use super::sequence::Sequence;
use crate::cli::{BigMode, BigOptions, Wait};
use crate::clock::now_ns;
use crate::error::Error;

/// Images per second.
const RATE: f64 = 10.0;

/// Bytes of pixels.
const BYTES: usize = copy::COLD_SIZE;

const WIDTH: u32 = 2048;
const HEIGHT: u32 = 1024;
const STEP: u32 = WIDTH * 4;
const _: () = assert!(STEP as usize * HEIGHT as usize == BYTES);

/// An image that is its own image in memory.
#[derive(Clone, Copy, Message)]
#[message(plain)]
#[repr(C)]
struct PlainImage {
    stamp: i64,
    number: u64,
    height: u32,
    width: u32,
    step: u32,
    is_bigendian: u32,
    pixels: [u64; BYTES / 8],
}

impl Default for PlainImage {
    fn default() -> Self {
        Self {
            stamp: 0,
            number: 0,
            height: HEIGHT,
            width: WIDTH,
            step: STEP,
            is_bigendian: 0,
            pixels: [0; BYTES / 8],
        }
    }
}

/// An image as `sensor_msgs/Image` has it.
#[derive(Clone, Default, Message)]
struct OwnedImage {
    stamp: i64,
    number: u64,
    frame_id: String,
    height: u32,
    width: u32,
    encoding: String,
    is_bigendian: bool,
    step: u32,
    pixels: Vec<u8>,
}

/// What both kinds of image can do here.
trait Picture: Message {
    /// Publishes the next one, filled; yields the time inside publish.
    fn publish(publisher: &Publisher<Self>, number: u64) -> sinew::Result<i64>;

    /// When it was complete, its number, and whether its pixels are its own at both ends.
    fn look_at(&self) -> (i64, u64, bool);
}

impl Picture for PlainImage {
    fn publish(publisher: &Publisher<Self>, number: u64) -> sinew::Result<i64> {
        let mut image = publisher.loan();
        image.pixels.fill(number);
        image.number = number;
        let start = now_ns();
        image.stamp = start;
        publisher.publish(image)?;
        Ok(now_ns() - start)
    }

    fn look_at(&self) -> (i64, u64, bool) {
        let is_right = self.pixels[0] == self.number && self.pixels[BYTES / 8 - 1] == self.number;
        (self.stamp, self.number, is_right)
    }
}

impl Picture for OwnedImage {
    fn publish(publisher: &Publisher<Self>, number: u64) -> sinew::Result<i64> {
        let mut image = Self {
            number,
            frame_id: "camera".to_owned(),
            height: HEIGHT,
            width: WIDTH,
            encoding: "rgba8".to_owned(),
            is_bigendian: false,
            step: STEP,
            pixels: vec![shade(number); BYTES],
            stamp: 0,
        };
        let start = now_ns();
        image.stamp = start;
        publisher.publish(image)?;
        Ok(now_ns() - start)
    }

    fn look_at(&self) -> (i64, u64, bool) {
        let shade = Some(shade(self.number));
        let is_right = self.pixels.first().copied() == shade && self.pixels.last().copied() == shade;
        (self.stamp, self.number, is_right)
    }
}

/// What every byte of an owned image is.
fn shade(number: u64) -> u8 {
    number.to_le_bytes()[0]
}

/// What is measured.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
struct Case {
    mode: BigMode,
    wait: Wait,
}

/// What the other process is to do.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Reader {
    directory: PathBuf,
    case: Case,
    /// Messages up to this number warm up.
    counts_from: u64,
    /// Messages there is room for.
    room: usize,
}

/// What it saw.
#[derive(Debug, Default, Deserialize, Serialize)]
struct Seen {
    /// From the complete image to the callback.
    samples: Samples,
    sequence: Sequence,
    /// Images with wrong pixels.
    spoilt: u64,
    cpu_percent: f64,
}

/// A row for each way to publish, with a reader that is awake and with one that sleeps, beside copying such an image.
pub(super) fn measure(options: &BigOptions, progress: &mut Progress) -> Result<Vec<Row>, Error> {
    let directory = Directory::create()?;
    let modes = options.mode.map_or(vec![BigMode::Loan, BigMode::Owned], |mode| vec![mode]);
    let waits = options.wait.map_or(vec![Wait::Spin, Wait::Sleep], |wait| vec![wait]);
    let mut rows = Vec::new();
    for case in modes.iter().flat_map(|&mode| waits.iter().map(move |&wait| Case { mode, wait })) {
        let what = format!("8 MB images, {}, reader {}", case.mode.name(), case.wait.name());
        let mut cold = copy::Cold::new(BYTES);
        let mut publish_p50s = Vec::new();
        let mut floor = |time: Duration| Ok(cold.round(time / 10));
        let mut ours = |time| {
            let (round, publishing) = directory.round(|path| round(path, case, time))?;
            publish_p50s.push(publishing.summary(1).map(|summary| summary.p50));
            Ok(round)
        };
        let sides = [&mut floor as _, &mut ours as _];
        let [floor, ours] = alternate(progress, &what, options.output.time_or(10), sides)?;
        let floor_p50s = floor.iter().map(|round| Some(round.samples.summary(1)?.p50));
        let ratios = publish_p50s.iter().zip(floor_p50s).filter_map(|(ours, floor)| Some((*ours)? / floor?));
        let figures = Figures {
            publish_floor_ratio: median(ratios).map(hundredth),
            publish_p50_ns: median(publish_p50s.iter().copied().flatten()).map(tenth),
            ..Figures::over(&ours, 1)
        };
        let row = |row: Row| row.with("mode", case.mode.name()).with("wait", case.wait.name());
        let floor = Row::floor("big", "copy", Figures::over(&floor, 1)).with("cache", "cold");
        rows.push(row(floor.with("size", BYTES)));
        rows.push(row(Row::sinew("big", figures).with("size", BYTES).with("rate", RATE)));
    }
    Ok(rows)
}

/// One round. A sample is the time from the complete image to the other process's callback; besides, the times inside
/// publish.
fn round(directory: &Path, case: Case, time: Duration) -> Result<(Round, Samples), Error> {
    match case.mode {
        BigMode::Loan => round_of::<PlainImage>(directory, case, time),
        BigMode::Owned => round_of::<OwnedImage>(directory, case, time),
    }
}

fn round_of<P: Picture>(directory: &Path, case: Case, time: Duration) -> Result<(Round, Samples), Error> {
    let ticks = ticks(RATE, time);
    let (counts_from, room) = (WARM_AFTER, ticks as usize + 1);
    let reader = Reader { directory: directory.to_owned(), case, counts_from, room };
    let mut other = Process::start(&Role::BigReader(reader))?;
    let run = Run::shared(directory, Executor::single())?;
    let camera = run.context.node("camera")?;
    let images = camera.publisher::<P>("images").create()?;
    other.hear::<()>()?;
    matched(&images, 1)?;

    let publishing = Collected::new(Samples::with_room_for(room));
    let (spent, publisher) = (publishing.clone(), images.clone());
    for number in 1..=WARM_AFTER {
        P::publish(&images, number)?;
        run.spin_for(Duration::from_millis(20))?;
    }
    let mut number = WARM_AFTER;
    let timer =
        camera.timer(Duration::from_secs_f64(1.0 / RATE)).callback(move || -> sinew::Result<()> {
            number += 1;
            let time_inside = P::publish(&publisher, number)?;
            spent.with(|spent| spent.record(time_inside));
            Ok(())
        })?;
    let cpu_percent = run.spin_for(Duration::from_secs_f64((f64::from(ticks) + 0.5) / RATE))?;
    drop(timer);
    let sent = images.statistics().published;
    let seen: Seen = other.finish_after(sent)?;
    let round = Round {
        lost: seen.sequence.lost(sent) + seen.spoilt,
        reordered: seen.sequence.reordered,
        cpu_percent: Some(cpu_percent + seen.cpu_percent),
        ..Round::of(seen.samples)
    };
    Ok((round, publishing.with(std::mem::take)))
}

/// In the other process: looks at images until the measuring process has had enough.
pub(crate) fn serve(reader: &Reader, measuring: Measuring) -> Result<(), Error> {
    match reader.case.mode {
        BigMode::Loan => read::<PlainImage>(reader, measuring),
        BigMode::Owned => read::<OwnedImage>(reader, measuring),
    }
}

fn read<P: Picture>(reader: &Reader, measuring: Measuring) -> Result<(), Error> {
    let run = Run::shared(&reader.directory, waiting(reader.case.wait))?;
    let arrivals = Collected::new(Seen { samples: Samples::with_room_for(reader.room), ..Seen::default() });
    let (seen, counts_from) = (arrivals.clone(), reader.counts_from);
    let viewer = run.context.node("viewer")?;
    let _images = viewer.subscription::<P>("images").callback(move |image: &P| {
        let now = now_ns();
        let (stamp, number, is_right) = image.look_at();
        seen.with(|seen| {
            seen.sequence.note(number);
            seen.spoilt += u64::from(!is_right);
            if number > counts_from {
                seen.samples.record(now - stamp);
            }
        });
    })?;
    measuring.tell(&())?;
    let received = arrivals.clone();
    let cpu_percent = run.serve(measuring, move || received.with(|seen| seen.sequence.received))?;
    measuring.tell(&arrivals.with(|seen| Seen { cpu_percent, ..std::mem::take(seen) }))
}
