//! Measures by how much a player is late: writes a bag with messages on ten topics in turn, and
//! plays it to listeners of the same process.
//!
//! `cargo run --example lateness -- RATE SECONDS HERTZ`, the last two by the time of the bag.

use sinew::prelude::*;
use sinew_bag::{BagWriter, Player, Stamps, TopicDefinition, WriterOptions};
use sinew_interfaces::std_msgs::msg::String as Text;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let rate: f64 = arguments.next().map_or(Ok(1.0), |text| text.parse())?;
    let seconds: u64 = arguments.next().map_or(Ok(1), |text| text.parse())?;
    let hertz: u64 = arguments.next().map_or(Ok(1_000), |text| text.parse())?;
    let directory = tempfile::tempdir()?;
    let path = directory.path().join("bag");
    let mut writer = BagWriter::create(&path, WriterOptions::default())?;
    let mut topics = Vec::new();
    for number in 0..10 {
        let topic = TopicDefinition::of::<Text>(&format!("/topic_{number}")).ok_or("it has an encoding")?;
        topics.push(writer.add_topic(&topic)?);
    }
    for number in 0..seconds * hertz {
        let topic = topics[usize::try_from(number)? % topics.len()];
        let text = Text { data: "a message of some length, as most are".to_owned() };
        writer.write_message(topic, Stamps::at(number * 1_000_000_000 / hertz), &text)?;
    }
    writer.close()?;

    let context = Context::new()?;
    let node = context.node("listener")?;
    let listen = |number| node.subscription::<Text>(&format!("/topic_{number}")).create();
    let _listeners = (0..10).map(listen).collect::<Result<Vec<_>, _>>()?;
    let player = Player::builder(&context).bags([&path]).rate(rate).start()?;
    player.wait();
    let late = player.statistics().lateness;
    let late = |percent| late.percentile(percent).unwrap_or_default();
    println!("late: P50 {:?}, P99 {:?}, at most {:?}", late(50.0), late(99.0), late(100.0));
    Ok(())
}
