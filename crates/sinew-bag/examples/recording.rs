//! Measures what recording costs, and what is lost: a process of its own publishes on some topics,
//! this one records them.
//!
//! `cargo run --release --example recording -- DIRECTORY TOPICS BYTES HERTZ SECONDS [PRESET]`; five
//! cameras are `/dev/shm 5 6220800 30 10`. Topics of more than 64 KiB are images.

use sinew::prelude::*;
use sinew::time::{ClockKind, Time};
use sinew_bag::{Recorder, StoragePreset, WriterOptions};
use sinew_interfaces::sensor_msgs::msg::{Image, ImageLengths};
use sinew_interfaces::std_msgs::msg::String as Text;
use std::process::{Command, Stdio};
use std::str::FromStr;

/// The first argument of the process that publishes.
const PUBLISH: &str = "publish";

struct Load {
    topics: usize,
    bytes: usize,
    hertz: f64,
    seconds: f64,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [directory, topics, bytes, hertz, seconds, preset @ ..] = &*arguments else {
        return Err("give DIRECTORY TOPICS BYTES HERTZ SECONDS [PRESET]".into());
    };
    let load = Load {
        topics: topics.parse()?,
        bytes: bytes.parse()?,
        hertz: hertz.parse()?,
        seconds: seconds.parse()?,
    };
    if directory == PUBLISH {
        return publish(&load);
    }

    let directory = tempfile::tempdir_in(directory)?;
    let preset = preset.first().map_or(Ok(StoragePreset::None), |name| StoragePreset::from_str(name))?;
    let context = Context::new()?;
    let storage = WriterOptions { storage: preset.into(), ..WriterOptions::default() };
    let recorder = Recorder::builder(&context).pattern("/load_.*").storage(storage);
    let recorder = recorder.start(directory.path().join("bag"))?;
    let mut publisher = Command::new(std::env::current_exe()?)
        .args([PUBLISH, topics, bytes, hertz, seconds])
        .stdin(Stdio::null())
        .spawn()?;
    let (before, began) = (processor_time(), Time::steady());
    publisher.wait()?;
    let (used, took) = (processor_time() - before, Time::steady() - began);
    let recorded = recorder.stop();
    if let Some(failure) = &recorded.failure {
        return Err(failure.to_string().into());
    }
    let early: u64 = recorded.topics.iter().map(|topic| topic.early).sum();
    println!(
        "{} messages and {} MB recorded, {} lost, {early} published before it could hear them; \
         {:.1} % of a core",
        recorded.messages(),
        recorded.bytes() / 1_000_000,
        recorded.lost(),
        100.0 * used.as_secs_f64() / took.as_secs_f64(),
    );
    Ok(())
}

/// Publishes on all topics at once, at the load's rate. The pixels of an image stay as they are.
fn publish(load: &Load) -> Result<(), Box<dyn std::error::Error>> {
    let context = Context::new()?;
    let node = context.node("load")?;
    let name = |number| format!("/load_{number}");
    let mut images = Vec::new();
    let mut texts = Vec::new();
    for number in 0..load.topics {
        if load.bytes > 64 << 10 {
            images.push(node.publisher::<Image>(&name(number)).create()?);
        } else {
            texts.push(node.publisher::<Text>(&name(number)).create()?);
        }
    }
    node.sleep_for(ClockKind::Steady, Duration::from_millis(200))?; // until the recorder has found them
    let mut rate = node.rate(Duration::from_secs_f64(1.0 / load.hertz))?;
    let header = Image { encoding: "rgb8".to_owned(), ..Image::default() };
    let text = Text { data: "x".repeat(load.bytes) };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small number")]
    let rounds = (load.hertz * load.seconds) as u64;
    for _ in 0..rounds {
        for publisher in &images {
            publisher.publish(publisher.draft(&header, ImageLengths { data: load.bytes })?)?;
        }
        for publisher in &texts {
            publisher.publish(&text)?;
        }
        rate.sleep()?;
    }
    println!("{} messages published", rounds * load.topics as u64);
    Ok(())
}

/// Returns the processor's time that this process has used, in user mode and in the kernel.
fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::try_from(time).unwrap_or_default()
}
