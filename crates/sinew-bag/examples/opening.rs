//! Measures how long it takes to open a bag, and to go to a time in it: `cargo run --release
//! --example opening -- BAG`.

use sinew::time::Time;
use sinew_bag::{BagReader, Selection};
use std::time::Duration;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args_os().nth(1).ok_or("name a bag")?;
    let began = Time::steady();
    let bag = BagReader::open(&path)?;
    let (topics, messages) = (bag.topics().len(), bag.message_count());
    println!("opened in {:.1?}: {messages} messages on {topics} topics", Time::steady() - began);

    let (begin, end) = bag.times().ok_or("the bag is empty")?;
    let mut seeks = Vec::new();
    for number in 0..100 {
        let to = begin + (end - begin) / 100 * (number * 37 % 100); // to and fro
        let began = Time::steady();
        let mut messages = bag.messages(&Selection::all())?;
        messages.seek(to);
        let found = messages.next().ok_or("no message behind this time")??;
        assert!(found.stamps.received >= to, "a seek goes to a time");
        seeks.push(Time::steady() - began);
    }
    seeks.sort();
    let most = seeks.last().copied().unwrap_or(Duration::ZERO);
    println!("to the first message behind a time: P50 {:.1?}, at most {most:.1?}", seeks[seeks.len() / 2]);
    Ok(())
}
