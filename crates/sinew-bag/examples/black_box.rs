//! A robot with a black box: it records itself, and keeps the last minutes only. When it bumps into
//! something, the messages of the seconds before go into a bag of their own.
//!
//! Run it with a directory and a number of seconds: `cargo run --example black_box -- /tmp/robot 10`.

use sinew::prelude::*;
use sinew_bag::{Recorder, Snapshot, StoragePreset, WriterOptions};
use sinew_interfaces::sensor_msgs::msg::LaserScan;
use sinew_interfaces::std_msgs::msg::String as Text;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let directory = PathBuf::from(arguments.next().ok_or("name a directory")?);
    let seconds: u64 = arguments.next().map_or(Ok(10), |text| text.to_string_lossy().parse())?;
    std::fs::create_dir_all(&directory)?;
    let context = Context::new()?;

    // Everything, compressed, in files of ten seconds, of which the last six are kept.
    let ring = WriterOptions {
        storage: StoragePreset::ZstdFast.into(),
        max_duration: Duration::from_secs(10),
        max_files: 6,
        ..WriterOptions::default()
    };
    let black_box = Recorder::builder(&context).all().storage(ring).start(directory.join("black_box"))?;
    // The five seconds before a bump.
    let before = Snapshot { duration: Duration::from_secs(5) };
    let bumps = Recorder::builder(&context)
        .node_name("bumps")
        .topics(["/scan"])
        .snapshot(before)
        .trigger("/bump")
        .start(directory.join("bumps"))?;

    let node = context.node("robot")?;
    let (scans, bump) =
        (node.publisher::<LaserScan>("scan").create()?, node.publisher::<Text>("bump").create()?);
    let mut rate = node.rate(Duration::from_millis(20))?;
    for number in 0..seconds * 50 {
        scans.publish(LaserScan { ranges: vec![1.0; 720], ..LaserScan::default() })?;
        if number % 200 == 199 {
            bump.publish(Text { data: "ouch".to_owned() })?;
        }
        rate.sleep()?;
    }

    for recorder in [black_box, bumps] {
        let recorded = recorder.stop();
        let (path, files) = (recorded.path.display(), recorded.files);
        println!("{path}: {} messages in {files} files, {} lost", recorded.messages(), recorded.lost());
        if let Some(failure) = recorded.failure {
            return Err(failure.to_string().into());
        }
    }
    Ok(())
}
