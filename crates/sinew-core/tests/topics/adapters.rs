//! A program's own types on topics of ROS 2, and several Rust types of one ROS 2 type in a program.
#![expect(clippy::cast_possible_truncation, reason = "widths are small")]

use crate::support;

use sinew::View;
use sinew::error::PublishFailure;
use sinew::event::MessageLost;
use sinew::msg::{Adapted, Adapter, Transport};
use sinew::prelude::*;
use sinew_interfaces::sensor_msgs::msg::{Image, ImageLengths};
use std::sync::atomic::{AtomicU64, Ordering};
use support::{PATIENCE, Place, real_context, wait_for};

/// A picture as a program has it.
#[derive(Debug, Clone, Default, PartialEq)]
struct Picture {
    width: usize,
    pixels: Vec<u8>,
}

/// How often one was made a message of ROS 2, in this test's thread; and back.
#[derive(Default)]
struct Conversions {
    there: AtomicU64,
    back: AtomicU64,
}

std::thread_local! {
    static CONVERSIONS: Conversions = Conversions::default();
}

fn conversions() -> (u64, u64) {
    CONVERSIONS.with(|all| (all.there.swap(0, Ordering::Relaxed), all.back.swap(0, Ordering::Relaxed)))
}

enum Pictures {}

impl Adapter for Pictures {
    type Custom = Picture;
    type Ros = Image;

    fn to_ros(picture: &Picture) -> Image {
        CONVERSIONS.with(|all| all.there.fetch_add(1, Ordering::Relaxed));
        let height = picture.pixels.len().checked_div(picture.width).unwrap_or(0);
        Image {
            width: picture.width as u32,
            height: height as u32,
            step: picture.width as u32,
            data: picture.pixels.clone(),
            ..Image::default()
        }
    }

    fn from_ros(image: Image) -> Result<Picture, &'static str> {
        CONVERSIONS.with(|all| all.back.fetch_add(1, Ordering::Relaxed));
        if image.step != image.width {
            return Err("its rows are padded");
        }
        Ok(Picture { width: image.width as usize, pixels: image.data })
    }

    fn size(picture: &Picture) -> usize {
        sinew::msg::loan::size(&Image::default(), &ImageLengths { data: picture.pixels.len() })
    }
}

fn picture(width: usize) -> Picture {
    Picture { width, pixels: vec![width as u8; 2 * width] }
}

fn image(width: u32) -> Image {
    Image { width, height: 2, step: width, data: vec![width as u8; 2 * width as usize], ..Image::default() }
}

#[test]
fn who_has_the_same_type_gets_it_as_it_is() -> sinew::Result<()> {
    let context = real_context();
    let node = context.node("both")?;
    let publisher = node.publisher::<Adapted<Pictures>>("image").create()?;
    let subscription = node.subscription::<Adapted<Pictures>>("image").create()?;
    let message = Unique::new(Adapted::<Pictures>(picture(3)));
    let address = message.pixels.as_ptr();
    publisher.publish(message)?;
    let (taken, _) = subscription.take().unwrap();
    assert_eq!((taken.pixels.as_ptr(), conversions()), (address, (0, 0)));
    Ok(())
}

#[test]
fn both_sides_of_an_adapter_meet_in_one_process() -> sinew::Result<()> {
    let context = real_context();
    let node = context.node("both")?;
    let custom = node.publisher::<Adapted<Pictures>>("image").create()?;
    let ros = node.publisher::<Image>("image").create()?;
    let pictures = node.subscription::<Adapted<Pictures>>("image").create()?;
    let images = node.subscription::<Image>("image").create()?;
    let viewer = node.subscription::<Image>("image").read_in_place().create()?;
    let (say, seen) = std::sync::mpsc::channel();
    let _callback = node.subscription("image").callback(move |image: View<'_, Image>| {
        say.send((image.width, image.data.len())).unwrap();
    })?;
    let owned = node.subscription("image").callback(|mut image: Unique<Image>| image.data.clear())?;
    assert_eq!((custom.subscription_count(), ros.subscription_count()), (5, 5));
    assert_eq!((pictures.publisher_count(), images.publisher_count()), (2, 2));

    custom.publish(Adapted(picture(3)))?;
    assert_eq!(conversions(), (1, 0), "one image for all");
    let (first, info) = pictures.take().unwrap();
    assert_eq!((&**first, info.transport()), (&picture(3), Transport::Intra));
    assert_eq!(*images.take().unwrap().0, image(3));
    assert_eq!(viewer.take_sample().unwrap().0.view().unwrap().width, 3);

    ros.publish(image(4))?;
    assert_eq!(conversions(), (0, 1), "back for the one who has the other type");
    assert_eq!(**pictures.take().unwrap().0, picture(4));
    assert_eq!(*images.take().unwrap().0, image(4));
    assert_eq!(viewer.take().unwrap().0.width, 4);

    let executor = Executor::single();
    executor.add(&context)?;
    executor.spin_all(PATIENCE)?;
    assert_eq!(seen.try_iter().collect::<Vec<_>>(), [(3, 6), (4, 8)]);
    drop(owned);
    drop((images, viewer));
    custom.publish(Adapted(picture(5)))?;
    assert_eq!(**pictures.take().unwrap().0, picture(5));
    Ok(())
}

#[test]
fn a_draft_reaches_the_other_side_too() -> Result<(), Box<dyn std::error::Error>> {
    let context = real_context();
    let node = context.node("both")?;
    let ros = node.publisher::<Image>("image").create()?;
    let pictures = node.subscription::<Adapted<Pictures>>("image").create()?;
    let viewer = node.subscription::<Image>("image").read_in_place().create()?;
    let mut draft =
        ros.draft(Image { width: 3, step: 3, height: 2, ..Image::default() }, ImageLengths { data: 6 })?;
    draft.parts().data.fill(3);
    ros.publish(draft)?;
    assert_eq!(**pictures.take().unwrap().0, picture(3));
    assert!(viewer.take_sample().unwrap().0.is_encoded(), "no value is made for it");
    Ok(())
}

#[test]
fn what_an_adapter_refuses_is_lost_to_its_subscription() -> sinew::Result<()> {
    let context = real_context();
    let node = context.node("both")?;
    let (say, seen) = std::sync::mpsc::channel();
    let pictures = node
        .subscription::<Adapted<Pictures>>("image")
        .on_message_lost(move |lost: &MessageLost| {
            let problem = lost.last_problem.as_ref().unwrap().to_string();
            say.send((lost.total, lost.undecodable, problem)).unwrap();
        })
        .create()?;
    let images = node.subscription::<Image>("image").create()?;
    let ros = node.publisher::<Image>("image").create()?;
    ros.publish(Image { step: 100, ..image(3) })?;
    ros.publish(image(4))?;
    assert_eq!(images.statistics().received, 2);
    assert_eq!(**pictures.take().unwrap().0, picture(4));
    assert!(pictures.take().is_none());
    let executor = Executor::single();
    executor.add(&context)?;
    executor.spin_all(PATIENCE)?;
    let seen: Vec<_> = seen.try_iter().collect();
    assert_eq!((seen.len(), seen[0].0, seen[0].1), (1, 1, 1));
    assert!(
        seen[0].2.contains("its rows are padded") && seen[0].2.contains("sensor_msgs/msg/Image"),
        "{}",
        seen[0].2
    );
    Ok(())
}

#[test]
fn late_subscriptions_of_either_type_get_what_is_retained() -> sinew::Result<()> {
    let context = real_context();
    let node = context.node("both")?;
    let latched = QoS::default().transient_local().keep_last(5);
    let custom = node.publisher::<Adapted<Pictures>>("image").qos(latched).create()?;
    let ros = node.publisher::<Image>("image").qos(latched).create()?;
    custom.publish(Adapted(picture(1)))?;
    ros.publish(image(2))?;
    custom.publish(Adapted(picture(3)))?;
    let pictures = node.subscription::<Adapted<Pictures>>("image").qos(latched).create()?;
    let images = node.subscription::<Image>("image").qos(latched).create()?;
    for width in 1..=3 {
        assert_eq!(**pictures.take().unwrap().0, picture(width));
        assert_eq!(*images.take().unwrap().0, image(width as u32));
    }
    Ok(())
}

#[test]
fn back_pressure_and_filters_hold_for_the_other_type() -> sinew::Result<()> {
    let context = real_context();
    let node = context.node("both")?;
    let bounded = QoS::default().keep_all().max_samples(1).max_blocking_time(Duration::ZERO);
    let custom = node.publisher::<Adapted<Pictures>>("image").qos(bounded).create()?;
    let images =
        node.subscription::<Image>("image").qos(bounded).filter(|image| image.width != 7).create()?;
    let all = node.subscription::<Adapted<Pictures>>("image").create()?;
    custom.publish(Adapted(picture(7)))?;
    custom.publish(Adapted(picture(1)))?;
    let error = custom.publish(Adapted(picture(2))).unwrap_err();
    assert!(matches!(error.failure(), PublishFailure::Full { .. }));
    assert_eq!(error.into_message().into_shared().unwrap().width, 2);
    assert_eq!(*images.take().unwrap().0, image(1));
    custom.publish(Adapted(picture(3)))?;
    assert_eq!(*images.take().unwrap().0, image(3));
    let widths: Vec<_> = std::iter::from_fn(|| all.take()).map(|(picture, _)| picture.width).collect();
    assert_eq!(widths, [7, 1, 3], "nobody gets what not all could get");
    Ok(())
}

#[test]
fn one_image_serves_here_and_outside() -> sinew::Result<()> {
    let place = Place::new();
    let (one, other) = (place.context(), place.context());
    let far = other.node("far")?.subscription::<Image>("image").read_in_place().create()?;
    let far_pictures = other.node("far")?.subscription::<Adapted<Pictures>>("image").create()?;
    let node = one.node("both")?;
    let near = node.subscription::<Image>("image").read_in_place().create()?;
    let custom = node.publisher::<Adapted<Pictures>>("image").create()?;
    assert!(custom.wait_for_subscribers(3, PATIENCE));
    conversions();
    custom.publish(Adapted(picture(2000)))?;
    assert_eq!(conversions().0, 1, "one image for all");
    assert_eq!(near.take_sample().unwrap().0.view().unwrap().width, 2000);
    let (sample, info) = wait_for("it comes", || far.take_sample());
    assert_eq!((sample.view().unwrap().data.len(), info.transport()), (4000, Transport::Shm));
    assert_eq!(**wait_for("it comes", || far_pictures.take()).0, picture(2000));
    Ok(())
}

/// Panics over a width of 13, as the encoding of a text of 4 GiB would.
enum Superstitious {}

impl Adapter for Superstitious {
    type Custom = Picture;
    type Ros = Image;

    fn to_ros(picture: &Picture) -> Image {
        assert_ne!(picture.width, 13, "not that width");
        Pictures::to_ros(picture)
    }

    fn from_ros(image: Image) -> Result<Picture, &'static str> {
        Pictures::from_ros(image)
    }
}

/// Retained messages are encoded when the late subscription comes, on the thread that notices it.
#[test]
fn a_retained_message_that_cannot_be_encoded_is_missed_and_nothing_else() -> sinew::Result<()> {
    let place = Place::new();
    let (one, other) = (place.context(), place.context());
    let latched = QoS::default().transient_local().keep_last(5);
    let node = one.node("painter")?;
    let publisher = node.publisher::<Adapted<Superstitious>>("image").qos(latched).create()?;
    for width in [1, 13, 2] {
        publisher.publish(Adapted(picture(width)))?;
    }
    let viewer = other.node("viewer")?;
    let late = viewer.subscription::<Image>("image").qos(latched).create()?;
    let taken: Vec<u32> = (0..2).map(|_| wait_for("it comes", || late.take()).0.width).collect();
    assert_eq!((taken, late.statistics().missed), (vec![1, 2], 1));
    // That thread still follows others.
    let further = viewer.publisher::<Image>("further").create()?;
    let _hears = node.subscription::<Image>("further").create()?;
    assert!(further.wait_for_subscribers(1, PATIENCE));
    publisher.publish(Adapted(picture(3)))?;
    assert_eq!(wait_for("it comes", || late.take()).0.width, 3);
    Ok(())
}
