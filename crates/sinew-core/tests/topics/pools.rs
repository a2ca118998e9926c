//! Where messages lie and where they go when nobody needs them any more.

use crate::support;

use sinew::Unique;
use sinew::msg::BufferType;
use sinew::prelude::*;
use std::thread;
use support::{Log, Number, Pen, Room, address};

#[derive(Default)]
struct Frame {
    pixels: Vec<u8>,
    drops: Option<Pen<()>>,
}

impl Message for Frame {}

impl Drop for Frame {
    fn drop(&mut self) {
        if let Some(drops) = &self.drops {
            drops.write(());
        }
    }
}

#[test]
fn a_loan_comes_back_to_its_address_with_what_it_has_reserved() -> sinew::Result<()> {
    let room = Room::new();
    let _reader = room.node.subscription::<Frame>("frames").callback(|frame: &Frame| {
        assert_eq!(frame.pixels.len(), 10_000);
    })?;
    let publisher = room.node.publisher::<Frame>("frames").create()?;
    let mut frame = publisher.loan();
    frame.pixels.resize(10_000, 7);
    let (place, pixels) = (address(&*frame), frame.pixels.as_ptr());
    publisher.publish(frame)?;
    for _ in 0..10 {
        assert_eq!(room.run(), 1);
        let frame = publisher.loan();
        assert_eq!((address(&*frame), frame.pixels.as_ptr(), frame.pixels.len()), (place, pixels, 10_000));
        publisher.publish(frame)?;
    }
    assert_eq!(publisher.statistics().pooled, 1);
    Ok(())
}

#[test]
fn a_loan_that_is_never_published_comes_back_as_well() -> sinew::Result<()> {
    let publisher = Room::new().node.publisher::<Frame>("frames").create()?;
    let place = address(&*publisher.loan());
    assert_eq!(address(&*publisher.loan()), place);
    assert_eq!(publisher.statistics().pooled, 1);
    Ok(())
}

#[test]
fn a_pooled_message_comes_home_from_whatever_thread_drops_its_last_reference() -> sinew::Result<()> {
    let room = Room::new();
    let publisher = room.node.publisher::<Frame>("frames").create()?;
    let subscription = room.node.subscription::<Frame>("frames").create()?;
    let frame = publisher.loan();
    let place = address(&*frame);
    publisher.publish(frame)?;
    let (here, _) = subscription.take().unwrap();
    let there = here.clone();
    drop(here);
    thread::spawn(move || drop(there)).join().unwrap();
    assert_eq!(address(&*publisher.loan()), place);
    Ok(())
}

#[test]
fn a_message_outlives_the_publisher_whose_pool_it_came_from() -> sinew::Result<()> {
    let room = Room::new();
    let log = Log::new();
    let publisher = room.node.publisher::<Frame>("frames").create()?;
    let subscription = room.node.subscription::<Frame>("frames").create()?;
    let mut idle = publisher.loan();
    idle.drops = Some(log.pen());
    let mut lent = publisher.loan();
    lent.drops = Some(log.pen());
    lent.pixels.push(42);
    publisher.publish(lent)?;
    drop(idle); // goes home, with its content
    assert_eq!(log.lines().len(), 0);
    drop(publisher);
    assert_eq!(log.lines().len(), 1, "what the pool keeps goes with the publisher");
    let (lent, _) = subscription.take().unwrap();
    assert_eq!(lent.pixels, [42]);
    drop(lent);
    assert_eq!(log.lines().len(), 1, "what it had lent goes when it would have come home");
    Ok(())
}

#[test]
fn a_pool_has_so_many_blocks_and_no_more() -> sinew::Result<()> {
    let room = Room::new();
    let log = Log::new();
    let publisher = room.node.publisher::<Frame>("frames").pool_capacity(2).create()?;
    let mut frames: Vec<_> = (0..5).map(|_| publisher.loan()).collect();
    frames.iter_mut().for_each(|frame| frame.drops = Some(log.pen()));
    assert_eq!(publisher.statistics().pooled, 2);
    drop(frames);
    assert_eq!(log.lines().len(), 3, "those beyond the pool are freed");
    let frames: Vec<_> = (0..3).map(|_| publisher.loan()).collect();
    assert_eq!(frames.iter().filter(|frame| frame.drops.is_some()).count(), 2);
    assert_eq!(publisher.statistics().pooled, 2);
    Ok(())
}

#[test]
fn a_publisher_without_a_pool_publishes_all_the_same() -> sinew::Result<()> {
    let room = Room::new();
    let publisher = room.node.publisher::<Frame>("frames").pool_capacity(0).create()?;
    let subscription = room.node.subscription::<Frame>("frames").create()?;
    publisher.publish(publisher.loan())?;
    publisher.publish(Frame::default())?;
    publisher.publish(Box::new(Frame::default()))?;
    assert_eq!(subscription.statistics().waiting, 3);
    assert_eq!(publisher.statistics().pooled, 0);
    Ok(())
}

#[test]
fn a_steady_flow_of_values_references_and_copies_uses_the_same_few_blocks() -> sinew::Result<()> {
    let room = Room::new();
    let _owners = [
        room.node.subscription::<Number>("numbers").callback(|_: Unique<Number>| {})?,
        room.node.subscription::<Number>("numbers").callback(|_: Unique<Number>| {})?,
    ];
    let _sharer = room.node.subscription::<Number>("numbers").callback(|_: &Number| {})?;
    let publisher = room.node.publisher::<Number>("numbers").create()?;
    let latest = Number(7);
    for number in 0..1000 {
        publisher.publish(Number(number))?;
        publisher.publish(&latest)?;
        assert_eq!(room.run(), 6);
    }
    assert_eq!(publisher.statistics().pooled, 6, "two messages at once, three instances each");
    Ok(())
}

#[test]
fn a_value_buffer_frees_the_publishers_block_at_once() -> sinew::Result<()> {
    let room = Room::new();
    let values = room.node.subscription::<Number>("numbers").buffer(BufferType::Value).create()?;
    let publisher = room.node.publisher::<Number>("numbers").create()?;
    for number in 0..10 {
        publisher.publish(Number(number))?;
    }
    assert_eq!(values.statistics().waiting, 10);
    assert_eq!(publisher.statistics().pooled, 1);
    Ok(())
}

/// All that is kept may be on its way at once: it comes home, but for types that keep memory
/// elsewhere.
#[test]
fn the_pool_of_a_publisher_that_keeps_all_is_as_large_as_that() -> sinew::Result<()> {
    let room = Room::new();
    let all = QoS::default().keep_all().max_samples(200);
    let numbers = room.node.subscription::<Number>("numbers").qos(all).create()?;
    let frames = room.node.subscription::<Frame>("frames").qos(all).create()?;
    let publisher = room.node.publisher::<Number>("numbers").qos(all).create()?;
    let few = room.node.publisher::<Number>("numbers").qos(all).pool_capacity(3).create()?;
    let of_frames = room.node.publisher::<Frame>("frames").qos(all).create()?;
    for number in 0..100 {
        publisher.publish(Number(number))?;
        few.publish(Number(number))?;
        of_frames.publish(of_frames.loan())?;
    }
    let pooled = || [publisher.statistics(), few.statistics()].map(|statistics| statistics.pooled);
    assert_eq!((pooled(), of_frames.statistics().pooled), ([100, 3], 64));
    while numbers.take().is_some() {}
    while frames.take().is_some() {}
    assert_eq!(pooled(), [100, 3]);
    Ok(())
}
