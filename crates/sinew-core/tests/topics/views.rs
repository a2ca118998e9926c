//! Views and drafts: messages that are read and written where their images lie.
#![expect(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    reason = "helpers of tests fail as tests do"
)]

use crate::support;

use sinew::View;
use sinew::error::{DecodeError, PublishFailure, UnsentMessage};
use sinew::msg::loan::BuildError;
use sinew::msg::view::Viewed;
use sinew::msg::{BufferType, Encoding, Sample, Transport};
use sinew::prelude::*;
use sinew_interfaces::geometry_msgs::msg::Point32;
use sinew_interfaces::sensor_msgs::msg::{Image, ImageLengths, PointCloud};
use std::sync::mpsc;
use support::{PATIENCE, Place, real_context, wait_for};

/// The inode of the file in shared memory that is mapped at this address. (Its writer's mapping may
/// be older than its name.)
fn file_at(address: usize) -> Option<String> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let contains = |line: &&str| {
        let (from, to) = line.split_whitespace().next().unwrap().split_once('-').unwrap();
        let parse = |text| usize::from_str_radix(text, 16).unwrap();
        (parse(from)..parse(to)).contains(&address)
    };
    let mut columns = maps.lines().find(contains)?.split_whitespace().skip(4);
    let inode = columns.next()?;
    columns.next().filter(|file| file.starts_with("/dev/shm/")).map(|_| inode.to_owned())
}

fn image(width: u32, length: usize) -> Image {
    let mut image =
        Image { width, encoding: "mono8".to_owned(), data: vec![width as u8; length], ..Image::default() };
    image.header.frame_id = "camera".to_owned();
    image
}

fn small(width: u32) -> Image {
    image(width, 0)
}

fn lengths(data: usize) -> ImageLengths {
    ImageLengths { data }
}

/// Where the pixels lie that a view shows without a copy.
fn borrowed(view: &<Image as Viewed>::View<'_>) -> usize {
    view.data.as_ptr().addr()
}

#[test]
fn a_value_of_the_same_process_is_seen_where_it_lies() -> sinew::Result<()> {
    let context = real_context();
    let node = context.node("both")?;
    let (sender, seen) = mpsc::channel();
    let _viewer =
        node.subscription("image").callback(move |image: View<'_, Image>, info: &MessageInfo| {
            sender.send((borrowed(&image), image.width, info.transport())).unwrap();
        })?;
    let held = node.subscription::<Image>("image").read_in_place().create()?;
    let publisher = node.publisher::<Image>("image").create()?;
    let message = Unique::new(image(3, 1000));
    let address = message.data.as_ptr().addr();
    publisher.publish(message)?;
    let executor = Executor::single();
    executor.add(&context)?;
    executor.spin_some()?;
    assert_eq!(seen.try_recv(), Ok((address, 3, Transport::Intra)));
    let (sample, _) = held.take_sample().unwrap();
    assert!(!sample.is_encoded());
    assert_eq!(borrowed(&sample.view().unwrap()), address);
    assert_eq!(sample.into_shared().unwrap().data.as_ptr().addr(), address);
    assert_eq!(publisher.statistics().copies, 0);
    Ok(())
}

#[test]
fn a_view_shows_an_image_in_the_memory_of_its_publisher() -> sinew::Result<()> {
    let place = Place::new();
    let (one, other) = (place.context(), place.context());
    let (sender, seen) = mpsc::channel();
    let node = other.node("viewer")?;
    let _viewer =
        node.subscription("image").callback(move |image: View<'_, Image>, info: &MessageInfo| {
            assert!(image.header.frame_id == "camera" && image.encoding == "mono8");
            assert!(image.data.iter().all(|pixel| u32::from(*pixel) == image.width));
            sender.send((borrowed(&image), image.width, image.data.len(), info.transport())).unwrap();
        })?;
    let publisher = one.node("camera")?.publisher::<Image>("image").create()?;
    assert!(publisher.wait_for_subscribers(1, PATIENCE));
    let executor = Executor::single();
    executor.add(&other)?;
    for (width, length) in [(1, 1000), (2, 100_000), (3, 1_000_000), (4, 1001)] {
        publisher.publish(image(width, length))?;
        let (address, width_seen, length_seen, path) = wait_for("it comes", || {
            executor.spin_some().unwrap();
            seen.try_recv().ok()
        });
        assert_eq!((width_seen, length_seen, path), (width, length, Transport::Shm));
        assert!(file_at(address).is_some(), "it lies in no file of the domain");
        assert_eq!(address % 4, 0, "where the image lies, its numbers are aligned");
    }
    Ok(())
}

#[test]
fn a_draft_is_filled_where_others_read_it() -> Result<(), Box<dyn std::error::Error>> {
    let place = Place::new();
    let (one, other) = (place.context(), place.context());
    let viewer = other.node("viewer")?.subscription::<Image>("image").read_in_place().create()?;
    let publisher = one.node("camera")?.publisher::<Image>("image").create()?;
    assert!(publisher.wait_for_subscribers(1, PATIENCE));
    let mut small = small(0);
    for width in 1..=20 {
        small.width = width;
        let mut draft = publisher.draft(&small, lengths(300_000))?; // its strings are allocated once
        let pixels = draft.parts().data;
        pixels.fill(width as u8);
        let written = file_at(pixels.as_ptr().addr()).expect("it is made where it is published");
        assert_eq!(draft.value().width, width);
        publisher.publish(draft)?;
        let (sample, info) = wait_for("it comes", || viewer.take_sample());
        assert!(sample.is_encoded());
        let view = sample.view()?;
        let read = file_at(borrowed(&view)).expect("it is read where it lies");
        assert_eq!(read, written);
        assert_eq!(
            (view.width, view.data, info.transport()),
            (width, &vec![width as u8; 300_000][..], Transport::Shm)
        );
    }
    assert_eq!(publisher.statistics().copies, 0);
    Ok(())
}

#[test]
fn samples_stay_while_newer_messages_come() -> Result<(), Box<dyn std::error::Error>> {
    let place = Place::new();
    let (one, other) = (place.context(), place.context());
    let viewer = other.node("viewer")?.subscription::<Image>("image").read_in_place().create()?;
    let publisher = one.node("camera")?.publisher::<Image>("image").create()?;
    assert!(publisher.wait_for_subscribers(1, PATIENCE));
    let mut held = Vec::new();
    for width in 1..=6 {
        let mut draft = publisher.draft(small(width), lengths(10_000))?;
        draft.parts().data.fill(width as u8);
        publisher.publish(draft)?;
        held.push(wait_for("it comes", || viewer.take_sample()).0);
    }
    let again = held.clone();
    drop(publisher); // and so is the memory, but for what is held
    for (sample, width) in held.iter().chain(&again).zip((1..=6).chain(1..=6)) {
        let view = sample.view()?;
        assert_eq!((view.width, view.data), (width, &vec![width as u8; 10_000][..]));
    }
    Ok(())
}

#[test]
fn in_its_process_a_draft_is_seen_by_viewers_and_decoded_for_others() -> Result<(), Box<dyn std::error::Error>>
{
    let context = real_context();
    let node = context.node("both")?;
    let publisher = node.publisher::<Image>("image").create()?;
    let viewing = node.subscription::<Image>("image").read_in_place().create()?;
    let other = node.subscription::<Image>("image").read_in_place().create()?;
    let mut draft = publisher.draft(small(1), lengths(10))?;
    draft.parts().data.fill(9);
    let address = draft.parts().data.as_ptr().addr();
    publisher.publish(draft)?;
    for viewer in [&viewing, &other] {
        let (sample, _) = viewer.take_sample().unwrap();
        assert!(sample.is_encoded());
        assert_eq!(borrowed(&sample.view()?), address, "nobody needs a value");
    }

    let owner = node.subscription::<Image>("image").buffer(BufferType::Unique).create()?;
    let reader = node.subscription::<Image>("image").create()?;
    let picky =
        node.subscription::<Image>("image").read_in_place().filter(|image| image.width == 2).create()?;
    let mut draft = publisher.draft(small(2), lengths(10))?;
    draft.parts().data.fill(8);
    publisher.publish(draft)?;
    let expected = Image { data: vec![8; 10], ..small(2) };
    assert_eq!(*owner.take_unique().unwrap().0, expected);
    let shared = reader.take().unwrap().0;
    assert_eq!(*shared, expected);
    for viewer in [&viewing, &other, &picky] {
        let (sample, _) = viewer.take_sample().unwrap();
        assert_eq!(borrowed(&sample.view()?), shared.data.as_ptr().addr(), "all who read see one value");
    }
    assert_eq!(publisher.statistics().copies, 1, "as of a `Unique` with an owner and readers");
    assert!(viewing.take().is_none() && reader.take().is_none());
    Ok(())
}

#[test]
fn who_views_may_take_values_all_the_same() -> Result<(), Box<dyn std::error::Error>> {
    let context = real_context();
    let node = context.node("both")?;
    let viewer = node.subscription::<Image>("image").read_in_place().create()?;
    let publisher = node.publisher::<Image>("image").create()?;
    for take in [0, 1, 2] {
        let mut draft = publisher.draft(small(5), lengths(4))?;
        draft.parts().data.copy_from_slice(&[1, 2, 3, 4]);
        publisher.publish(draft)?;
        let expected = Image { data: vec![1, 2, 3, 4], ..small(5) };
        match take {
            0 => assert_eq!(*viewer.take().unwrap().0, expected),
            1 => assert_eq!(*viewer.take_unique().unwrap().0, expected),
            _ => {
                let mut waiting = std::pin::pin!(viewer.recv());
                let mut task = std::task::Context::from_waker(std::task::Waker::noop());
                let std::task::Poll::Ready(Some((image, _))) = waiting.as_mut().poll(&mut task) else {
                    panic!("it is there")
                };
                assert_eq!(*image, expected);
            }
        }
    }
    assert_eq!(viewer.statistics().taken, 3);
    Ok(())
}

#[test]
fn what_a_publisher_retains_comes_to_every_kind_of_late_subscription()
-> Result<(), Box<dyn std::error::Error>> {
    let place = Place::new();
    let (one, other) = (place.context(), place.context());
    let latched = QoS::default().transient_local().keep_last(2);
    let camera = one.node("camera")?;
    let publisher = camera.publisher::<Image>("image").qos(latched).create()?;
    for width in 1..=3 {
        let mut draft = publisher.draft(small(width), lengths(5000))?;
        draft.parts().data.fill(width as u8);
        publisher.publish(draft)?;
    }
    let expected = [2, 3].map(|width| Image { data: vec![width as u8; 5000], ..small(width) });
    for (name, node) in [("same", &camera), ("other", &other.node("late")?)] {
        let reader = node.subscription::<Image>("image").qos(latched).create()?;
        let viewer = node.subscription::<Image>("image").qos(latched).read_in_place().create()?;
        for expected in &expected {
            let (value, _) = wait_for("it comes", || reader.take());
            assert_eq!(*value, *expected, "{name}");
            let (sample, _) = wait_for("it comes", || viewer.take_sample());
            assert!(sample.is_encoded(), "{name}");
            assert_eq!(*sample.into_shared()?, *expected, "{name}");
        }
    }
    Ok(())
}

#[test]
fn a_sample_is_passed_on_as_it_is() -> Result<(), Box<dyn std::error::Error>> {
    let place = Place::new();
    let (one, other, third) = (place.context(), place.context(), place.context());
    let relay = other.node("relay")?;
    let incoming = relay.subscription::<Image>("image").read_in_place().create()?;
    let outgoing = relay.publisher::<Image>("again").create()?;
    let near = relay.subscription::<Image>("again").read_in_place().create()?;
    let far = third.node("far")?.subscription::<Image>("again").create()?;
    let publisher = one.node("camera")?.publisher::<Image>("image").create()?;
    assert!(publisher.wait_for_subscribers(1, PATIENCE) && outgoing.wait_for_subscribers(2, PATIENCE));
    publisher.publish(image(7, 5000))?;
    let (sample, _) = wait_for("it comes", || incoming.take_sample());
    let address = borrowed(&sample.view()?);
    outgoing.publish(sample)?;
    let (again, _) = near.take_sample().unwrap();
    assert_eq!(borrowed(&again.view()?), address, "still in the first publisher's memory");
    assert_eq!(*wait_for("it comes", || far.take()).0, image(7, 5000));
    drop(far);
    // A sample that is a value, too.
    outgoing.publish(Sample::from(Shared::new(image(8, 10))))?;
    assert_eq!(near.take_sample().unwrap().0.view()?.width, 8);
    Ok(())
}

#[test]
fn a_draft_may_be_older_than_who_listens() -> Result<(), Box<dyn std::error::Error>> {
    let place = Place::new();
    let (one, other) = (place.context(), place.context());
    let publisher = one.node("camera")?.publisher::<Image>("image").create()?;
    let near = one.node("near")?.subscription::<Image>("image").create()?;
    let filled = |width| {
        let mut draft = publisher.draft(small(width), lengths(70_000)).unwrap();
        draft.parts().data.fill(width as u8);
        draft
    };
    let before = filled(1);
    assert!(format!("{before:?}").contains("sensor_msgs/msg/Image"));
    let viewer = other.node("viewer")?.subscription::<Image>("image").read_in_place().create()?;
    assert!(publisher.wait_for_subscribers(2, PATIENCE));
    publisher.publish(before)?; // lies in ordinary memory: copied
    assert_eq!(wait_for("it comes", || viewer.take_sample()).0.view()?.data[69_999], 1);
    let outside = filled(2);
    drop(viewer);
    wait_for("it comes", || (publisher.subscription_count() == 1).then_some(()));
    publisher.publish(outside)?; // lies in shared memory, and nobody is there
    drop(filled(3)); // was never there
    let widths: Vec<_> = std::iter::from_fn(|| near.take()).map(|(image, _)| image.data[69_999]).collect();
    assert_eq!(widths, [1, 2]);
    Ok(())
}

#[test]
fn a_draft_that_can_not_be_published_comes_back() -> Result<(), Box<dyn std::error::Error>> {
    let context = real_context();
    let node = context.node("both")?;
    let bounded = QoS::default().keep_all().max_samples(1).max_blocking_time(Duration::ZERO);
    let publisher = node.publisher::<Image>("image").qos(bounded).create()?;
    let reader = node.subscription::<Image>("image").qos(bounded).create()?;
    let filled = |width| {
        let mut draft = publisher.draft(small(width), lengths(10)).unwrap();
        draft.parts().data.fill(width as u8);
        draft
    };
    publisher.publish(filled(1))?;
    let error = publisher.publish(filled(2)).unwrap_err();
    assert!(matches!(error.failure(), PublishFailure::Full { .. }));
    let UnsentMessage::Encoded(sample) = error.into_message() else { panic!("it was an image") };
    assert_eq!(reader.take().unwrap().0.width, 1);
    publisher.publish(sample)?;
    assert_eq!(reader.take().unwrap().0.data, [2; 10]);
    context.shutdown();
    let error = publisher.publish(filled(3)).unwrap_err();
    assert_eq!(error.failure(), PublishFailure::Shutdown);
    assert_eq!(error.into_message().into_shared()?.data, [3; 10]);
    Ok(())
}

/// Bytes that claim to be an image.
#[derive(Clone)]
struct Claims(Vec<u8>);

impl Message for Claims {
    const ENCODING: Option<&'static Encoding<Self>> = Some(&Encoding {
        name: "sensor_msgs/msg/Image",
        hash: match Image::ENCODING {
            Some(encoding) => encoding.hash,
            None => panic!("it has one"),
        },
        description: None,
        size: |claims| claims.0.len(),
        encode: |claims, image| image.copy_from_slice(&claims.0),
        decode: |image| Ok(Claims(image.to_vec())),
        decode_into: |image, claims| {
            claims.0 = image.to_vec();
            Ok::<_, DecodeError>(())
        },
        plain: None,
        stamp: None,
    });
}

#[test]
fn what_is_no_image_is_lost_and_what_is_not_utf_8_is_seen() -> Result<(), Box<dyn std::error::Error>> {
    let encode = |image: &Image| {
        let encoding = Image::ENCODING.unwrap();
        let mut bytes = vec![0; (encoding.size)(image)];
        (encoding.encode)(image, &mut bytes);
        bytes
    };
    let place = Place::new();
    let (one, other) = (place.context(), place.context());
    let node = other.node("viewer")?;
    let deep = QoS::default().keep_last(100);
    let viewer = node.subscription::<Image>("image").qos(deep).read_in_place().create()?;
    let reader = node.subscription::<Image>("image").qos(deep).create()?;
    let publisher = one.node("camera")?.publisher::<Claims>("image").qos(deep).create()?;
    assert!(publisher.wait_for_subscribers(2, PATIENCE));
    let good = encode(&image(9, 500));
    let mut foreign = good.clone();
    let at = foreign.windows(6).position(|window| window == b"camera").unwrap();
    foreign[at] = 0xff;
    let mut lies = good.clone();
    let at = lies.len() - 500 - 4;
    lies[at..at + 4].copy_from_slice(&u32::MAX.to_le_bytes());
    let truncated = good[..good.len() - 1].to_vec();
    for bytes in [&truncated, &lies, &foreign, &vec![], &vec![0, 1], &good] {
        publisher.publish(Claims(bytes.clone()))?;
    }
    let (seen, _) = wait_for("it comes", || viewer.take_sample());
    let view = seen.view()?;
    assert_eq!((view.header.frame_id.bytes, view.data.len()), (&b"\xffamera"[..], 500));
    assert!(view.header.frame_id.to_str().is_err());
    let (good_seen, _) = wait_for("it comes", || viewer.take_sample());
    assert_eq!(*good_seen.into_shared()?, image(9, 500));
    assert_eq!(*wait_for("it comes", || reader.take()).0, image(9, 500), "only this one is a value");
    assert!(reader.take().is_none() && viewer.take_sample().is_none());
    assert_eq!(reader.statistics().overwritten, 5, "the others are lost");
    assert_eq!(viewer.statistics().overwritten, 4);

    // Passed on where values are taken, it comes back.
    let outgoing = node.publisher::<Image>("again").create()?;
    let values = node.subscription::<Image>("again").create()?;
    let error = outgoing.publish(seen.clone()).unwrap_err();
    assert_eq!(error.failure(), PublishFailure::Undecodable);
    assert!(error.into_message().into_shared().is_err());
    drop(values);
    let viewer = node.subscription::<Image>("again").read_in_place().create()?;
    outgoing.publish(seen)?;
    assert!(viewer.take().is_none(), "no value, but lost");
    assert_eq!(viewer.statistics().overwritten, 1);
    Ok(())
}

#[test]
fn a_draft_that_is_too_long_takes_no_memory() -> Result<(), Box<dyn std::error::Error>> {
    let place = Place::new();
    let (one, other) = (place.context(), place.context());
    let _viewer = other.node("viewer")?.subscription::<Image>("image").read_in_place().create()?;
    let publisher = one.node("camera")?.publisher::<Image>("image").create()?;
    assert!(publisher.wait_for_subscribers(1, PATIENCE));
    let error = publisher.draft(Image::default(), lengths(1 << 40)).unwrap_err();
    assert!(matches!(error, BuildError::TooMany { field: "data", bound: u32::MAX, .. }), "{error}");
    let memory = || {
        let files = std::fs::read_dir(place.0.path().join("3")).unwrap().flatten();
        files.map(|file| std::os::unix::fs::MetadataExt::blocks(&file.metadata().unwrap())).sum::<u64>()
    };
    let before = memory();
    for _ in 0..10 {
        assert!(publisher.draft(small(1), lengths(1 << 33)).is_err());
    }
    // The other participant may still be taking the connection up, which takes some pages.
    assert!(memory() < before + 2048, "in units of 512 bytes");
    Ok(())
}

#[test]
fn sequences_of_plain_structs_are_drafted_and_viewed_too() -> Result<(), Box<dyn std::error::Error>> {
    let context = real_context();
    let node = context.node("both")?;
    let viewer = node.subscription::<PointCloud>("cloud").read_in_place().create()?;
    let publisher = node.publisher::<PointCloud>("cloud").create()?;
    let lengths = sinew_interfaces::sensor_msgs::msg::PointCloudLengths { points: 3 };
    let mut draft = publisher.draft(PointCloud::default(), lengths)?;
    let point = Point32 { x: 1.0, y: 2.0, z: 3.0 };
    draft.parts().points.fill(point);
    publisher.publish(draft)?;
    let (sample, _) = viewer.take_sample().unwrap();
    assert_eq!(*sample.view()?.points, [point; 3]);
    Ok(())
}

#[test]
fn callbacks_of_every_kind_of_group_may_view() -> sinew::Result<()> {
    let context = real_context();
    let node = context.node("both")?;
    let (sender, seen) = mpsc::channel();
    let counting = node.group(0_u32);
    let say = sender.clone();
    let _state =
        counting.subscription("image").callback(move |count: &mut u32, image: View<'_, Image>| {
            *count += image.width;
            say.send(*count).unwrap();
        })?;
    let many = node.reentrant_group();
    let _reentrant = many.subscription("image").callback(move |image: Sample<Image>, _: &MessageInfo| {
        let width = image.view().map_err(|error| error.to_string())?.width;
        sender.send(100 * width).unwrap();
        Ok::<(), String>(())
    })?;
    let publisher = node.publisher::<Image>("image").create()?;
    let executor = Executor::single();
    executor.add(&context)?;
    for width in [1, 2] {
        publisher.publish(small(width))?;
        executor.spin_some()?;
    }
    let mut seen: Vec<_> = seen.try_iter().collect();
    seen.sort_unstable();
    assert_eq!(seen, [1, 3, 100, 200]);
    Ok(())
}

/// A writer that is broken, or hostile, changes what it has published. A reader that decodes a copy
/// of it all the same gets text, or an error.
#[test]
fn no_text_is_made_of_bytes_that_change() -> Result<(), Box<dyn std::error::Error>> {
    use sinew_interfaces::std_msgs::msg::String as Text;
    use std::os::unix::fs::{FileExt, PermissionsExt};
    use std::sync::atomic::{AtomicBool, Ordering};

    const LENGTH: usize = 20_000;
    let place = Place::new();
    let (one, other) = (place.context(), place.context());
    let viewer = other.node("reader")?.subscription::<Text>("text").read_in_place().create()?;
    let publisher = one.node("writer")?.publisher::<Text>("text").create()?;
    assert!(publisher.wait_for_subscribers(1, PATIENCE));
    publisher.publish(Text { data: "a".repeat(LENGTH) })?;
    let (sample, _) = wait_for("it comes", || viewer.take_sample());

    let files = std::fs::read_dir(place.0.path().join("3"))?.map(|entry| entry.unwrap().path());
    let begins = "a".repeat(LENGTH);
    let found = files.into_iter().find_map(|path| {
        let content = std::fs::read(&path).ok()?;
        Some((path, content.windows(LENGTH).position(|window| window == begins.as_bytes())?))
    });
    let (path, at) = found.expect("the text lies in a file of the domain");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600))?;
    let file = std::fs::OpenOptions::new().write(true).open(&path)?;
    let done = AtomicBool::new(false);
    let texts = std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                file.write_all_at(b"\xff", (at + LENGTH / 2) as u64).unwrap();
                file.write_all_at(b"a", (at + LENGTH / 2) as u64).unwrap();
            }
        });
        let texts = (0..20_000).filter_map(|_| sample.clone().into_shared().ok());
        let texts = texts.filter(|text| std::str::from_utf8(text.data.as_bytes()).is_err()).count();
        done.store(true, Ordering::Relaxed);
        writer.join().expect("it writes"); // ThreadSanitizer sees no end of the scope: std isn't instrumented
        texts
    });
    assert_eq!(texts, 0, "strings that are not UTF-8");
    Ok(())
}

/// How a message is published.
#[derive(Debug, Clone, Copy)]
enum Published {
    Value,
    Shared,
    Draft,
}

#[test]
fn those_here_and_those_elsewhere_get_the_same_messages_in_order() -> Result<(), Box<dyn std::error::Error>> {
    for here in [0, 1, 3] {
        for retains in [false, true] {
            let place = Place::new();
            let (one, other) = (place.context(), place.context());
            let qos = QoS::new().keep_last(64);
            let qos = if retains { qos.transient_local() } else { qos };
            let node = one.node("camera")?;
            let publisher = node.publisher::<Image>("image").qos(qos).create()?;
            let viewer = || node.subscription::<Image>("image").qos(qos).read_in_place().create();
            let viewing = (0..here).map(|_| viewer()).collect::<Result<Vec<_>, _>>()?;
            let away =
                other.node("viewer")?.subscription::<Image>("image").qos(qos).read_in_place().create()?;
            assert!(publisher.wait_for_subscribers(here + 1, PATIENCE));
            let ways = [Published::Value, Published::Draft, Published::Shared, Published::Draft];
            for (width, way) in (0_u32..).zip(ways.iter().cycle().take(24)) {
                let length = width as usize * 97; // into the ring, and into chunks
                match way {
                    Published::Value => publisher.publish(image(width, length))?,
                    Published::Shared => publisher.publish(Shared::new(image(width, length)))?,
                    Published::Draft => {
                        let mut draft = publisher.draft(small(width), lengths(length))?;
                        draft.parts().data.fill(width as u8);
                        publisher.publish(draft)?;
                    }
                }
            }
            for subscription in viewing.iter().chain([&away]) {
                for width in 0..24 {
                    let (sample, info) = wait_for("the next one", || subscription.take_sample());
                    let view = sample.view()?;
                    assert_eq!((view.width, view.data.len()), (width, width as usize * 97), "{here} here");
                    assert!(view.data.iter().all(|&byte| byte == width as u8));
                    assert_eq!(info.publication_sequence(), u64::from(width) + 1);
                }
                assert!(subscription.take_sample().is_none());
                assert_eq!(subscription.statistics().copies, 0);
            }
            assert_eq!(publisher.statistics().copies, 0);
        }
    }
    Ok(())
}

#[test]
fn who_takes_values_may_come_and_go_beside_who_views() -> Result<(), Box<dyn std::error::Error>> {
    let place = Place::new();
    let (one, other) = (place.context(), place.context());
    let node = other.node("viewer")?;
    let narrow = QoS::new().keep_all().max_samples(1);
    let viewing = node.subscription::<Image>("image").qos(narrow).read_in_place().create()?;
    viewing.set_listener(|_| ()); // so that a thread reads for it
    let wide = QoS::new().keep_all().max_samples(8);
    let publisher = one.node("camera")?.publisher::<Image>("image").qos(wide).create()?;
    assert!(publisher.wait_for_subscribers(1, PATIENCE));
    publisher.publish(image(0, 999))?;
    wait_for("one waits", || (viewing.statistics().waiting == 1).then_some(()));
    let taking = node.subscription::<Image>("image").create()?; // values
    assert!(publisher.wait_for_subscribers(2, PATIENCE));
    let publishing = std::thread::spawn(move || {
        for width in 1..4 {
            publisher.publish(image(width, 999))?;
        }
        Ok::<_, sinew::error::PublishError<Image>>(publisher)
    });
    // While one waits for its place, who takes values comes and goes.
    for _ in 0..10 {
        let _for_a_moment = node.subscription::<Image>("image").create()?;
    }
    for width in 0..4 {
        let (sample, _) = wait_for("the next one", || viewing.take_sample());
        assert_eq!(sample.view()?.width, width);
        let _for_a_moment = node.subscription::<Image>("image").create()?;
    }
    for width in 1..4 {
        let (taken, _) = wait_for("the next value", || taking.take());
        assert_eq!(*taken, image(width, 999));
    }
    let _publisher = publishing.join().expect("no panic")?;
    Ok(())
}
