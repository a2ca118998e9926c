//! Ends of types that are known at run time only, and ends of other hosts that a gateway stands
//! for.

use crate::support;

use sinew::error::GenericTypeError;
use sinew::event::MessageLost;
use sinew::gateway::Origin;
use sinew::msg::{GenericType, Lineage, SerializedMessage, SourceInfo, Transport, TypeHash};
use sinew::prelude::*;
use sinew::service::GenericService;
use sinew::time::Time;
use sinew_interfaces::sensor_msgs::msg::Image;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use support::{PATIENCE, Place, real_context, wait_for};

fn image_type() -> GenericType {
    let encoding = Image::ENCODING.expect("a type of ROS 2");
    GenericType::new(encoding.name, encoding.hash).expect("a name of a type")
}

fn bytes_of(image: &Image) -> Vec<u8> {
    let encoding = Image::ENCODING.expect("a type of ROS 2");
    let mut bytes = vec![0; (encoding.size)(image)];
    (encoding.encode)(image, &mut bytes);
    bytes
}

fn picture() -> Image {
    Image { width: 3, data: vec![1, 2, 3], ..Image::default() }
}

#[test]
fn typed_and_generic_ends_meet_in_a_process() -> sinew::Result<()> {
    let node = real_context().node("node")?;
    let typed = node.publisher::<Image>("image").create()?;
    let generic = node.generic_publisher("image", image_type()).create()?;
    let images = node.subscription::<Image>("image").create()?;
    let bytes = node.generic_subscription("image", image_type()).create()?;

    typed.publish(picture())?;
    assert_eq!(images.take().unwrap().0.data, [1, 2, 3]);
    assert_eq!(typed.statistics().encodings, 1);
    let counts = bytes.statistics();
    assert_eq!((counts.copies, counts.decodings), (0, 0), "its image is made once, and taken as it is");
    assert_eq!(bytes.take_sample().unwrap().0.bytes(), bytes_of(&picture()));
    let before = bytes.statistics();
    generic.publish(SerializedMessage::new(bytes_of(&picture())))?;
    assert_eq!(images.take().unwrap().0.data, [1, 2, 3]);
    assert_eq!(bytes.take().unwrap().0.bytes(), bytes_of(&picture()));
    let mut draft = generic.encoded_draft(bytes_of(&picture()).len()).expect("memory");
    draft.copy_from_slice(&bytes_of(&picture()));
    generic.publish(draft)?;
    assert_eq!(images.take().unwrap().0.width, 3);
    assert_eq!(bytes.take_sample().unwrap().0.bytes(), bytes_of(&picture()));
    assert_eq!(bytes.statistics().copies, before.copies, "the draft is taken where it lies");
    Ok(())
}

#[test]
fn typed_and_generic_ends_meet_between_processes() -> sinew::Result<()> {
    let place = Place::new();
    let (one, other) = (place.context().node("one")?, place.context().node("other")?);
    let typed = one.publisher::<Image>("there").create()?;
    let bytes = other.generic_subscription("there", image_type()).create()?;
    let generic = other.generic_publisher("back", image_type()).create()?;
    let images = one.subscription::<Image>("back").create()?;
    assert!(typed.wait_for_subscribers(1, PATIENCE) && generic.wait_for_subscribers(1, PATIENCE));
    for length in [3, 100_000] {
        let sent = Image { data: vec![7; length], ..picture() };
        typed.publish(&sent)?;
        let (sample, info) = wait_for("a message", || bytes.take_sample());
        assert_eq!((sample.bytes(), info.transport()), (&bytes_of(&sent)[..], Transport::Shm));
        let mut draft = generic.encoded_draft(sample.bytes().len()).expect("memory");
        draft.copy_from_slice(sample.bytes());
        generic.publish(draft)?;
        assert_eq!(*wait_for("a message", || images.take()).0, sent);
    }
    Ok(())
}

/// Reserves `room` bytes, writes the picture's, and keeps only these.
fn shortened(
    publisher: &Publisher<SerializedMessage>,
    picture: &Image,
    room: usize,
) -> sinew::msg::EncodedDraft {
    let bytes = bytes_of(picture);
    let mut draft = publisher.encoded_draft(room).expect("memory");
    draft[..bytes.len()].copy_from_slice(&bytes);
    draft.truncate(bytes.len());
    assert_eq!(*draft, *bytes);
    draft
}

#[test]
fn a_truncated_draft_is_as_long_as_its_message() -> sinew::Result<()> {
    let node = real_context().node("node")?;
    let generic = node.generic_publisher("image", image_type()).create()?;
    let images = node.subscription::<Image>("image").create()?;
    let bytes = node.generic_subscription("image", image_type()).create()?;
    for room in [1000, 100_000, bytes_of(&picture()).len()] {
        generic.publish(shortened(&generic, &picture(), room))?;
        assert_eq!(*images.take().unwrap().0, picture());
        assert_eq!(bytes.take_sample().unwrap().0.bytes(), bytes_of(&picture()));
        // The memory is reused for a draft of any length up to the reserved one.
        assert_eq!(generic.encoded_draft(room).expect("memory").len(), room);
    }
    Ok(())
}

/// Into the ring itself, in a chunk, and from a chunk that is far larger than the message.
#[test]
fn a_truncated_draft_is_short_in_other_processes() -> sinew::Result<()> {
    let place = Place::new();
    let (one, other) = (place.context().node("one")?, place.context().node("other")?);
    let generic = one.generic_publisher("there", image_type()).create()?;
    let bytes = other.generic_subscription("there", image_type()).create()?;
    let images = other.subscription::<Image>("there").create()?;
    assert!(generic.wait_for_subscribers(2, PATIENCE));
    for (length, room) in [(3, 200), (3, 1_000_000), (100_000, 100_500), (100_000, 1_000_000)] {
        let sent = Image { data: vec![7; length], ..picture() };
        generic.publish(shortened(&generic, &sent, room))?;
        let (sample, info) = wait_for("a message", || bytes.take_sample());
        assert_eq!((sample.bytes(), info.transport()), (&bytes_of(&sent)[..], Transport::Shm));
        assert_eq!(*wait_for("a message", || images.take()).0, sent);
    }
    assert_eq!(generic.statistics().copies, 0, "each is sent from the memory that was reserved for it");
    Ok(())
}

#[test]
#[should_panic(expected = "a draft of 16 bytes can't be truncated to 17")]
fn a_draft_is_never_made_longer() {
    let node = real_context().node("node").unwrap();
    let generic = node.generic_publisher("image", image_type()).create().unwrap();
    generic.encoded_draft(16).expect("memory").truncate(17);
}

#[test]
fn what_is_no_image_reaches_no_subscription() -> sinew::Result<()> {
    let node = real_context().node("node")?;
    let generic = node.generic_publisher("image", image_type()).create()?;
    let images = node.subscription::<Image>("image").create()?;
    let _lost = generic.publish(SerializedMessage::new(vec![0, 1, 0, 0, 9]));
    assert!(images.take().is_none());
    generic.publish(SerializedMessage::new(bytes_of(&picture())))?;
    assert_eq!(images.take().unwrap().0.width, 3);
    Ok(())
}

#[test]
fn another_hash_is_another_type() -> sinew::Result<()> {
    let node = real_context().node("node")?;
    let other = GenericType::new("sensor_msgs/msg/Image", TypeHash([1; 32])).expect("a name");
    let _images = node.subscription::<Image>("image").create()?;
    let generic = node.generic_publisher("image", other).create()?;
    let _other = node.generic_subscription("image", image_type()).create()?;
    assert_eq!(generic.subscription_count(), 0);
    let _same = node.generic_subscription("image", other).create()?;
    assert_eq!(generic.subscription_count(), 1);
    assert!(matches!(GenericType::new("Image", TypeHash([1; 32])), Err(GenericTypeError::Name { .. })));
    Ok(())
}

/// The two integers and their sum, as CDR has them.
fn add(request: &[u8]) -> Vec<u8> {
    let at = |from: usize| i64::from_le_bytes(request[from..from + 8].try_into().expect("8 bytes"));
    [&[0, 1, 0, 0][..], &(at(4) + at(12)).to_le_bytes()].concat()
}

fn request(a: i64, b: i64) -> SerializedMessage {
    SerializedMessage::new([&[0, 1, 0, 0][..], &a.to_le_bytes(), &b.to_le_bytes()].concat())
}

#[test]
fn a_generic_client_and_server() -> Result<(), Box<dyn std::error::Error>> {
    let place = Place::new();
    let known = GenericType::new("example_interfaces/srv/AddTwoInts", TypeHash([5; 32]))?;
    let context = place.context();
    let executor = sinew::Executor::single();
    executor.add(&context)?;
    let _server = context
        .node("server")?
        .generic_server("add", known)
        .callback(|request: SerializedMessage| SerializedMessage::new(add(request.bytes())))?;
    let stop = executor.stop_handle();
    let spinning = std::thread::spawn(move || executor.spin());
    for client in [context.node("here")?, place.context().node("there")?] {
        let client: Client<GenericService> = client.generic_client("add", known).create()?;
        assert!(client.wait_for_server(PATIENCE));
        let sum = client.call(request(40, 2), PATIENCE)?;
        assert_eq!(sum.bytes()[4..], 42i64.to_le_bytes());
    }
    stop.stop();
    spinning.join().expect("no panic")?;
    Ok(())
}

#[test]
fn ends_of_the_network_meet_those_of_this_host_alone() -> sinew::Result<()> {
    let place = Place::new();
    let (gateway, program) = (place.context(), place.context());
    for context in [&gateway, &program] {
        let network = gateway.node_of(Origin::Network, "/far", "talker")?;
        let carrier = gateway.node_of(Origin::Carrier, "/", "gateway")?;
        let local = context.node("local")?;
        let remote = network.generic_publisher("/image", image_type()).create()?;
        let carried = carrier.generic_subscription("/image", image_type()).create()?;
        assert_eq!((remote.subscription_count(), carried.publisher_count()), (0, 0));
        let listening = local.subscription::<Image>("/image").create()?;
        assert!(remote.wait_for_subscribers(1, PATIENCE));
        let publishing = local.publisher::<Image>("/image").create()?;
        wait_for("a message", || (carried.publisher_count() == 1).then_some(()));
        assert_eq!(publishing.subscription_count(), 1, "a carrier isn't counted");
        publishing.publish(picture())?;
        assert_eq!(*wait_for("a message", || listening.take()).0, picture());
        assert_eq!(wait_for("a message", || carried.take_sample()).0.bytes(), bytes_of(&picture()));
        drop(carried);
        assert_eq!(publishing.subscription_count(), 1);
    }
    Ok(())
}

#[test]
fn earlier_messages_are_delivered_unchanged() -> sinew::Result<()> {
    let place = Place::new();
    let (gateway, program) = (place.context(), place.context());
    let network = gateway.node_of(Origin::Network, "/", "talker")?;
    let publisher = network.generic_publisher("image", image_type()).create()?;
    for context in [&gateway, &program] {
        let lost = Arc::new(AtomicU64::new(0));
        let losses = lost.clone();
        let node = context.node("listener")?;
        let images = node
            .subscription::<Image>("image")
            .on_message_lost(move |event: &MessageLost| losses.store(event.total, Ordering::Relaxed))
            .create()?;
        let executor = sinew::Executor::single();
        executor.add(&node)?;
        assert!(publisher.wait_for_subscribers(1, PATIENCE));
        let now = context.now_by(ClockKind::System);
        // A clock that is an hour behind, one that is right, and one that is an hour ahead.
        let hour = 3_600_000_000_000;
        for (shift, gap, sequence) in [(-hour, 0, 70), (0, 0, 71), (hour, 3, 75), (0, 0, 76)] {
            let time = Time::from_nanoseconds(now.nanoseconds() + shift);
            let lineage = Some(Lineage::from_wall(time, 77));
            let mut draft = publisher.encoded_draft(bytes_of(&picture()).len()).expect("memory");
            draft.copy_from_slice(&bytes_of(&picture()));
            let source = SourceInfo {
                time,
                sequence: Some(sequence),
                lost: gap,
                lineage,
                is_kept: false,
                identity: 7,
            };
            publisher.publish_foreign(draft, source, Duration::ZERO)?;
            let (image, info) = wait_for("a message", || images.take());
            assert_eq!(*image, picture());
            let apart = (info.source_time().nanoseconds() - time.nanoseconds()).abs();
            assert!(apart < 100_000_000, "the clocks of one host: {apart} ns");
            assert_eq!((info.transport(), info.publisher()), (Transport::Network, publisher.gid()));
            assert_eq!(info.lineage().id(), 77);
            assert_eq!(info.publication_sequence(), sequence, "its publisher's number");
            assert!(info.latency() < PATIENCE, "since it came to this host");
        }
        executor.spin_all(PATIENCE)?;
        assert_eq!(lost.load(Ordering::Relaxed), 3);
        let counts = images.statistics();
        assert_eq!((counts.received, counts.missed, counts.overwritten), (4, 3, 0));
    }
    Ok(())
}
