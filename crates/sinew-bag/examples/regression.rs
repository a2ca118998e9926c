//! A regression test of a node: replays a bag in virtual time twice, and compares the outputs. A
//! test of a project compares with the output of the last accepted run, in a file.
//!
//! `cargo run --example regression -- BAG TOPIC`, for a topic of std_msgs/msg/String.

use sinew::prelude::*;
use sinew::time::{Time, VirtualClock};
use sinew_bag::{BagReader, Player};
use sinew_interfaces::std_msgs::msg::String as Text;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("name a bag")?;
    let topic = arguments.next().ok_or("name a topic of the bag")?;
    let (first, second) = (output(&path, &topic)?, output(&path, &topic)?);
    print!("{first}");
    assert_eq!(first, second, "two runs differ");
    Ok(())
}

/// The node under test: repeats the last text each 100 ms.
struct Repeater {
    _texts: Subscription<Text>,
    _timer: Timer,
}

impl Repeater {
    fn new(node: &Node, topic: &str) -> sinew::Result<Self> {
        let state = node.group(String::new());
        let repeated = node.publisher::<Text>("/repeated").create()?;
        let heard = |last: &mut String, text: &Text| last.clone_from(&text.data);
        let repeat = move |last: &mut String| repeated.publish(Text { data: last.clone() });
        Ok(Self {
            _texts: state.subscription::<Text>(topic).callback(heard)?,
            _timer: state.timer(Duration::from_millis(100)).callback(repeat)?,
        })
    }
}

/// Replays the bag; returns all that the node has published, with the times.
fn output(path: &str, topic: &str) -> Result<String, Box<dyn std::error::Error>> {
    let (begin, _end) = BagReader::open(path)?.times().ok_or("the bag is empty")?;
    let clock = VirtualClock::new();
    clock.set(Time::from_nanoseconds(i64::try_from(begin)?)); // the node's timer counts from here
    let context = Context::builder().virtual_time(&clock).shared_memory(false).build()?;
    let _repeater = Repeater::new(&context.node("repeater")?, topic)?;
    let all = QoS::default().keep_all();
    let repeated = context.node("test")?.subscription::<Text>("/repeated").qos(all).create()?;

    let executor = Executor::single();
    executor.add(&context)?;
    let mut replay = Player::builder(&context).bags([path]).topics([topic]).replay(&clock, &executor)?;
    let mut output = String::new();
    while replay.step()?.is_some() {
        while let Some((text, info)) = repeated.take() {
            output += &format!("{} {}\n", info.source_time().nanoseconds(), text.data);
        }
    }
    Ok(output)
}
