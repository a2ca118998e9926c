//! Images that the server scales and compresses.

use crate::client::decoded;
use crate::world::World;
use serde_json::{Value, json};
use sinew::prelude::*;
use sinew_interfaces::sensor_msgs::msg::{CompressedImage, Image};
use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;

/// Longer than anything takes that succeeds.
const PATIENCE: Duration = Duration::from_secs(60);

/// A grey image of 64 x 48 pixels.
fn image(grey: u8) -> Image {
    let (width, height) = (64, 48);
    let encoding = "rgb8".to_owned();
    Image { width, height, step: 192, encoding, data: vec![grey; 192 * 48], ..Image::default() }
}

#[test]
fn a_viewer_gets_small_jpegs() {
    let world = World::with(|builder| builder.image_width(20).image_quality(90));
    let images = world.node.publisher::<Image>("image").create().unwrap();
    let mut viewer = world.viewer();
    let (raw, small) = (viewer.channel("/image"), viewer.channel("/image/compressed"));
    assert_eq!(small["schemaName"], "sensor_msgs/msg/CompressedImage");
    viewer.settle();
    assert_eq!(images.subscription_count(), 0);
    viewer.subscribe(1, &small);
    assert!(images.wait_for_subscribers(1, PATIENCE));
    images.publish(image(150)).unwrap();
    let (id, _, bytes) = viewer.message();
    assert_eq!((id, &decoded(&small, &bytes)["format"]), (1, &json!("jpeg")));
    let message = (CompressedImage::ENCODING.unwrap().decode)(&bytes).unwrap();
    let mut decoder = JpegDecoder::new(ZCursor::new(&message.data));
    let pixels = decoder.decode().unwrap();
    assert_eq!(decoder.dimensions(), Some((16, 12)));
    assert!(pixels.iter().all(|sample| sample.abs_diff(150) < 3), "{pixels:?}");

    // The other channel has the images as they are.
    viewer.subscribe(2, &raw);
    assert!(images.wait_for_subscribers(2, PATIENCE));
    images.publish(image(7)).unwrap();
    let both = [viewer.message(), viewer.message()];
    let (_, _, bytes) = both.iter().find(|(id, ..)| *id == 2).unwrap();
    assert_eq!((Image::ENCODING.unwrap().decode)(bytes).unwrap(), image(7));

    drop(images);
    let gone = viewer.text("unadvertise")["channelIds"].to_string();
    assert!([raw, small].iter().all(|channel| gone.contains(&channel["id"].to_string())), "{gone}");
}

#[test]
fn images_that_cannot_be_compressed_are_told_of_once() {
    let world = World::with(|builder| builder.image_width(640));
    let images = world.node.publisher::<Image>("image").create().unwrap();
    let mut viewer = world.viewer();
    let channel = viewer.channel("/image/compressed");
    viewer.subscribe(1, &channel);
    assert!(images.wait_for_subscribers(1, PATIENCE));
    images.publish(Image { encoding: "16UC1".to_owned(), ..image(1) }).unwrap();
    images.publish(Image { step: 5, ..image(2) }).unwrap();
    images.publish(image(3)).unwrap();
    assert_eq!(viewer.message().0, 1); // of the one that can be
    let warning = viewer.status("images of /image are missing from /image/compressed: the encoding `16UC1`");
    assert_eq!((&warning["level"], &warning["id"]), (&json!(1), &json!("image:/image")));
    assert_eq!(world.server.statistics().messages, 1);
    viewer.settle();
    assert!(!viewer.has_passed("are missing from"));
}

#[test]
fn a_topic_of_that_name_takes_the_place_of_the_servers_images() {
    let world = World::with(|builder| builder.image_width(640));
    let _images = world.node.publisher::<Image>("image").create().unwrap();
    let mut viewer = world.viewer();
    let made = viewer.channel("/image/compressed");
    let own = world.node.publisher::<CompressedImage>("image/compressed").create().unwrap();
    assert_eq!(viewer.text("unadvertise")["channelIds"], json!([made["id"]]));
    let is_theirs = |channel: &Value| channel["topic"] == "/image/compressed" && channel["id"] != made["id"];
    let theirs = viewer.text_where("advertise", |text| is_theirs(&text["channels"][0]));
    let theirs = theirs["channels"][0].clone();
    viewer.subscribe(1, &theirs);
    assert!(own.wait_for_subscribers(1, PATIENCE));
    own.publish(CompressedImage { format: "png".to_owned(), ..CompressedImage::default() }).unwrap();
    assert_eq!(decoded(&theirs, &viewer.message().2)["format"], "png");
}

#[test]
fn filters_choose_compressed_images_by_their_name() {
    let world = World::with(|builder| builder.image_width(640).exclude_topics("/image"));
    let images = world.node.publisher::<Image>("image").create().unwrap();
    let mut viewer = world.viewer();
    let channel = viewer.channel("/image/compressed");
    viewer.subscribe(1, &channel);
    assert!(images.wait_for_subscribers(1, PATIENCE));
    images.publish(image(1)).unwrap();
    assert_eq!(viewer.message().0, 1);
}
