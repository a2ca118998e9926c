//! Which form of a message is copied, encoded or decoded where: the table of
//! `docs/book/copy-free.md`, cell by cell.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use crate::support;

use sinew::View;
use sinew::msg::{IntoMessage, Sample};
use sinew::prelude::*;
use sinew_interfaces::sensor_msgs::msg::{Image, ImageLengths};
use std::sync::mpsc;
use support::outside::Onlooker;
use support::{PATIENCE, Place, wait_for};

const BYTES: usize = 100_000;

/// A plain type that doesn't fit into a slot of a ring.
#[derive(Message, Clone, Copy)]
#[message(name = "test/msg/Grid", plain)]
#[repr(C)]
struct Grid {
    cells: [u64; 100],
}

impl Default for Grid {
    fn default() -> Self {
        Self { cells: [7; 100] }
    }
}

fn image() -> Image {
    Image { width: 1, data: vec![7; BYTES], ..Image::default() }
}

/// What was done with one message: of the publisher copies, encodings, decodings, drafts; of the
/// subscription copies, decodings, views.
type Counted = ([u64; 4], [u64; 3]);

/// Publisher and subscription in one context, or in two.
struct Pair {
    _place: Place,
    from: Node,
    to: Node,
}

impl Pair {
    fn new(is_split: bool) -> Self {
        let place = Place::new();
        let one = place.context();
        let other = if is_split { place.context() } else { one.clone() };
        Self { from: one.node("from").unwrap(), to: other.node("to").unwrap(), _place: place }
    }
}

/// Publishes a message in a form, takes it in another, and says what was counted; of the second
/// one: for the first, the publisher has to find out who listens.
fn count<T: Message, M: IntoMessage<T>>(
    is_split: bool,
    form: impl Fn(&Publisher<T>) -> M,
    subscribe: impl FnOnce(&Node) -> Subscription<T>,
    take: impl Fn(&Subscription<T>) -> bool,
) -> Counted {
    let pair = Pair::new(is_split);
    let subscription = subscribe(&pair.to);
    let publisher = pair.from.publisher::<T>("topic").create().unwrap();
    assert!(publisher.wait_for_subscribers(1, PATIENCE));
    let send = || -> Counted {
        publisher.publish(form(&publisher)).unwrap();
        wait_for("it comes", || take(&subscription).then_some(()));
        let (sent, got) = (publisher.statistics(), subscription.statistics());
        ([sent.copies, sent.encodings, sent.decodings, sent.drafts], [got.copies, got.decodings, got.views])
    };
    let (first, both) = (send(), send());
    (
        std::array::from_fn(|index| both.0[index] - first.0[index]),
        std::array::from_fn(|index| both.1[index] - first.1[index]),
    )
}

fn reading<T: Message>(node: &Node) -> Subscription<T> {
    node.subscription::<T>("topic").create().unwrap()
}

fn viewing(node: &Node) -> Subscription<Image> {
    node.subscription::<Image>("topic").read_in_place().create().unwrap()
}

fn value<T: Message>(subscription: &Subscription<T>) -> bool {
    subscription.take().is_some()
}

fn owned<T: Message + Clone>(subscription: &Subscription<T>) -> bool {
    subscription.take_unique().is_some()
}

fn sample<T: Message>(subscription: &Subscription<T>) -> bool {
    subscription.take_sample().is_some()
}

fn lent(publisher: &Publisher<Image>) -> Unique<Image> {
    let mut message = publisher.loan();
    *message = image();
    message
}

fn draft(publisher: &Publisher<Image>) -> sinew::msg::Draft<Image> {
    let mut draft = publisher.draft(Image::default(), ImageLengths { data: BYTES }).unwrap();
    draft.parts().data.fill(7);
    draft
}

const NOTHING: [u64; 4] = [0; 4];
const COPIED: [u64; 4] = [1, 0, 0, 0];
const ENCODED: [u64; 4] = [0, 1, 0, 0];
const DRAFTED: [u64; 4] = [0, 0, 0, 1];
const DECODED: [u64; 3] = [0, 1, 0];
const VIEWED: [u64; 3] = [0, 0, 1];

#[test]
fn a_value() {
    for (split, expected) in [(false, (NOTHING, [0; 3])), (true, (ENCODED, DECODED))] {
        assert_eq!(count(split, |_| image(), reading, value), expected, "split: {split}");
        assert_eq!(count(split, |_| image(), reading, owned), expected, "split: {split}");
        assert_eq!(count(split, |_| Box::new(image()), reading, value), expected, "split: {split}");
        assert_eq!(count(split, lent, reading, value), expected, "split: {split}");
    }
}

#[test]
fn a_reference_to_a_value() {
    let image = &image();
    assert_eq!(count(false, |_| image, reading, value), (COPIED, [0; 3]));
    assert_eq!(count(true, |_| image, reading, value), (ENCODED, DECODED), "encoded where it lies");
}

#[test]
fn a_value_that_is_viewed() {
    assert_eq!(count(false, lent, viewing, sample), (NOTHING, [0; 3]), "what is viewed is a value");
    assert_eq!(count(true, lent, viewing, sample), (ENCODED, VIEWED));
}

#[test]
fn a_plain_value() {
    for split in [false, true] {
        let lent = |publisher: &Publisher<Grid>| publisher.loan();
        assert_eq!(count(split, lent, reading, value), (NOTHING, [0; 3]), "split: {split}");
    }
    assert_eq!(count(false, |_| Grid::default(), reading, value), (NOTHING, [0; 3]));
    assert_eq!(count(true, |_| Grid::default(), reading, value), (COPIED, [0; 3]), "into shared memory");
    let lent = |publisher: &Publisher<Grid>| publisher.loan();
    assert_eq!(count(true, lent, reading, owned), (NOTHING, [1, 0, 0]), "others may read it, too");
}

#[test]
fn a_small_plain_value_lies_in_the_ring() {
    #[derive(Message, Clone, Copy, Default)]
    #[message(name = "test/msg/Small", plain)]
    #[repr(C)]
    struct Small {
        cells: [u64; 30],
    }
    for split in [false, true] {
        assert_eq!(count(split, |_| Small::default(), reading, value), (NOTHING, [0; 3]), "split: {split}");
        let lent = |publisher: &Publisher<Small>| publisher.loan();
        assert_eq!(count(split, lent, reading, value), (NOTHING, [0; 3]), "split: {split}");
    }
}

#[test]
fn a_draft() {
    for split in [false, true] {
        assert_eq!(count(split, draft, viewing, sample), (DRAFTED, VIEWED), "split: {split}");
    }
    assert_eq!(count(false, draft, reading, value), ([0, 0, 1, 1], [0; 3]), "decoded when it is published");
    assert_eq!(count(true, draft, reading, value), (DRAFTED, DECODED));
    for split in [false, true] {
        let expected = (DRAFTED, DECODED);
        assert_eq!(count(split, draft, viewing, value), expected, "decoded when it is taken; split: {split}");
    }
}

#[test]
fn a_draft_that_was_made_before_another_process_listened() {
    let pair = Pair::new(true);
    let publisher = pair.from.publisher::<Image>("topic").create().unwrap();
    let early = draft(&publisher);
    let viewer = viewing(&pair.to);
    assert!(publisher.wait_for_subscribers(1, PATIENCE));
    publisher.publish(early).unwrap();
    wait_for("it comes", || viewer.take_sample());
    let counted = publisher.statistics();
    assert_eq!((counted.copies, counted.drafts), (1, 1));
}

#[test]
fn a_sample_that_is_passed_on() {
    let place = Place::new();
    let (one, other, third) = (place.context(), place.context(), place.context());
    let relay = other.node("relay").unwrap();
    let incoming = viewing(&relay);
    let outgoing = relay.publisher::<Image>("again").create().unwrap();
    let near = relay.subscription::<Image>("again").read_in_place().create().unwrap();
    let publisher = one.node("camera").unwrap().publisher::<Image>("topic").create().unwrap();
    assert!(publisher.wait_for_subscribers(1, PATIENCE));
    let pass_on = || {
        publisher.publish(draft(&publisher)).unwrap();
        outgoing.publish(wait_for("it comes", || incoming.take_sample()).0).unwrap();
        drop(wait_for("it is passed on", || near.take_sample()));
        (outgoing.statistics().copies, outgoing.statistics().drafts)
    };
    assert_eq!(pass_on(), (0, 1), "within the process, where it lies");
    let _far = third.node("far").unwrap().subscription::<Image>("again").read_in_place().create().unwrap();
    assert!(outgoing.wait_for_subscribers(2, PATIENCE));
    assert_eq!(pass_on(), (1, 2), "another process doesn't map the first one's memory for us");
}

#[test]
fn callbacks_count_as_taking_by_hand() {
    for (split, decodings) in [(false, 0), (true, 1)] {
        let pair = Pair::new(split);
        let read = pair.to.subscription("topic").callback(|_: &Image| {}).unwrap();
        let viewed = pair.to.subscription("topic").callback(|_: View<'_, Image>| {}).unwrap();
        let kept = pair.to.subscription("topic").callback(|_: Sample<Image>| {}).unwrap();
        let publisher = pair.from.publisher::<Image>("topic").create().unwrap();
        assert!(publisher.wait_for_subscribers(3, PATIENCE));
        let executor = Executor::single();
        executor.add(&pair.to).unwrap();
        publisher.publish(draft(&publisher)).unwrap();
        let mut run = 0;
        wait_for("all are called", || {
            run += executor.spin_some().unwrap();
            (run == 3).then_some(())
        });
        // Inside the process there is a value for one, so all see that.
        let views = u64::from(split);
        assert_eq!(publisher.statistics().decodings, u64::from(!split));
        assert_eq!((read.statistics().decodings, read.statistics().views), (decodings, 0));
        for viewer in [viewed, kept] {
            assert_eq!((viewer.statistics().decodings, viewer.statistics().views), (0, views));
        }
    }
}

#[test]
fn what_is_retained_counts_when_a_reader_comes() {
    let latched = QoS::default().transient_local();
    let pair = Pair::new(true);
    let publisher = pair.from.publisher::<Image>("topic").qos(latched).create().unwrap();
    publisher.publish(image()).unwrap();
    assert_eq!(publisher.statistics().encodings, 0, "it is kept as it is");
    let late = pair.to.subscription::<Image>("topic").qos(latched).create().unwrap();
    wait_for("it comes", || late.take());
    assert_eq!((publisher.statistics().encodings, late.statistics().decodings), (1, 1));
    let again = pair.to.subscription::<Image>("topic").qos(latched).create().unwrap();
    wait_for("it comes", || again.take());
    assert_eq!((publisher.statistics().encodings, again.statistics().decodings), (1, 1), "it is in the ring");
}

#[test]
fn others_see_what_is_counted() {
    use sinew_shm::Counter::{Copies, Decodings, Encoded, Encodings};
    use sinew_shm::EndpointKind::{Publisher, Subscription};
    let place = Place::new();
    let (one, other) = (place.context(), place.context());
    let reader = reading::<Image>(&other.node("reader").unwrap());
    let viewer = viewing(&other.node("viewer").unwrap());
    let publisher = one.node("from").unwrap().publisher::<Image>("topic").create().unwrap();
    assert!(publisher.wait_for_subscribers(2, PATIENCE));
    publisher.publish(lent(&publisher)).unwrap();
    publisher.publish(draft(&publisher)).unwrap();
    for _ in 0..2 {
        wait_for("it comes", || reader.take());
        wait_for("it comes", || viewer.take_sample());
    }
    let onlooker = Onlooker::join(place.0.path(), 3);
    let sums = |kind, node| {
        [Copies, Encodings, Decodings, Encoded].map(|counter| onlooker.count(kind, "/topic", node, counter))
    };
    assert_eq!(sums(Publisher, "/from"), [0, 1, 0, 1]);
    assert_eq!(sums(Subscription, "/reader"), [0, 0, 2, 0]);
    assert_eq!(sums(Subscription, "/viewer"), [0, 0, 0, 2]);
}

/// A camera, a filter and a viewer as a program would have them: nothing in them says where the
/// others are.
mod robot {
    use super::{Image, ImageLengths, Sample, Spot, View, borrowed, spot};
    use sinew::prelude::*;
    use std::sync::mpsc::Sender;

    pub(super) const BYTES: usize = 300_000;

    pub(super) fn take(images: &Publisher<Image>, number: u8) -> Spot {
        let mut image = images.draft(Image::default(), ImageLengths { data: BYTES }).unwrap();
        let pixels = image.parts().data;
        pixels.fill(number);
        let lies = spot(pixels);
        images.publish(image).unwrap();
        lies
    }

    /// Tells where each image lies, and whether it was changed in place.
    pub(super) fn filter(
        node: &Node,
        received: Sender<(Spot, bool)>,
    ) -> (Publisher<Image>, Subscription<Image>) {
        let negatives = node.publisher::<Image>("negatives").create().unwrap();
        let to = negatives.clone();
        let filtering =
            node.subscription("images").callback(move |image: Sample<Image>| -> sinew::Result<()> {
                let mut image = to.edit(image)?;
                let is_in_place = image.is_in_place();
                let pixels = image.parts().data;
                pixels.iter_mut().for_each(|pixel| *pixel = !*pixel);
                received.send((spot(pixels), is_in_place)).unwrap();
                Ok(to.publish(image)?)
            });
        (negatives, filtering.unwrap())
    }

    /// Tells where each image lies, and what is in it.
    pub(super) fn viewer(node: &Node, received: Sender<(Spot, u8)>) -> Subscription<Image> {
        let viewing = node.subscription("negatives").callback(move |image: View<'_, Image>| {
            let pixels = borrowed(&image);
            assert!(pixels.iter().all(|pixel| *pixel == pixels[0]));
            received.send((spot(pixels), pixels[0])).unwrap();
        });
        viewing.unwrap()
    }
}

/// Where something lies: in a file of shared memory by inode and offset, else by address.
type Spot = (String, usize);

fn spot(bytes: &[u8]) -> Spot {
    let address = bytes.as_ptr().addr();
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    for line in maps.lines() {
        let mut columns = line.split_whitespace();
        let (from, to) = columns.next().unwrap().split_once('-').unwrap();
        let parse = |text| usize::from_str_radix(text, 16).unwrap();
        if !(parse(from)..parse(to)).contains(&address) {
            continue;
        }
        let (offset, inode) = (columns.nth(1).unwrap(), columns.nth(1).unwrap());
        if columns.next().is_some_and(|file| file.starts_with("/dev/shm/")) {
            return (inode.to_owned(), address - parse(from) + parse(offset));
        }
    }
    (String::new(), address)
}

fn borrowed<'a>(view: &sinew_interfaces::sensor_msgs::msg::ImageView<'a>) -> &'a [u8] {
    view.data
}

/// In which process camera, filter and viewer are; whether the filter copies its first image, and
/// whether all of them.
const PLACEMENTS: [([usize; 3], u64, u64); 5] =
    [([0, 0, 0], 0, 0), ([0, 0, 1], 1, 0), ([0, 1, 1], 1, 1), ([0, 1, 0], 1, 1), ([0, 1, 2], 1, 1)];

/// Runs what is in these contexts while `work` is done.
fn spun(contexts: &[Context], threads: usize, work: impl FnOnce()) {
    let executor = if threads == 1 { Executor::single() } else { Executor::multi(threads) };
    contexts.iter().for_each(|context| executor.add(context).unwrap());
    let stop = executor.stop_handle();
    let spinning = std::thread::spawn(move || executor.spin());
    work();
    stop.stop();
    spinning.join().unwrap().unwrap();
}

#[test]
fn one_form_is_right_in_every_placement() {
    for ([camera, filter, viewer], first, each) in PLACEMENTS {
        for threads in [1, 3] {
            let what = format!("{camera} {filter} {viewer}, {threads} threads");
            let place = Place::new();
            let contexts = [0, 1, 2].map(|_| place.context());
            let (filtered, of_filter) = mpsc::channel();
            let (viewed, of_viewer) = mpsc::channel();
            let viewing = robot::viewer(&contexts[viewer].node("viewer").unwrap(), viewed);
            let (negatives, filtering) = robot::filter(&contexts[filter].node("filter").unwrap(), filtered);
            let images =
                contexts[camera].node("camera").unwrap().publisher::<Image>("images").create().unwrap();
            assert!(images.wait_for_subscribers(1, PATIENCE) && negatives.wait_for_subscribers(1, PATIENCE));
            const COUNT: u8 = 20;
            spun(&contexts, threads, || {
                for number in 1..=COUNT {
                    let made = robot::take(&images, number);
                    let (changed, is_in_place) = of_filter.recv_timeout(PATIENCE).unwrap();
                    let (seen, pixel) = of_viewer.recv_timeout(PATIENCE).unwrap();
                    let copies = if number == 1 { first } else { each };
                    assert_eq!(pixel, !number, "{what}");
                    assert_eq!(seen, changed, "{what}: it is viewed where the filter left it");
                    assert_eq!(
                        (is_in_place, made == changed),
                        (copies == 0, copies == 0),
                        "{what}, {number}"
                    );
                    // The viewer's callback lets go of it a moment later.
                    wait_for("it is taken", || {
                        (viewing.statistics().taken == u64::from(number)).then_some(())
                    });
                }
            });
            let count = u64::from(COUNT);
            let (made, changed) = (images.statistics(), negatives.statistics());
            let (came, seen) = (filtering.statistics(), viewing.statistics());
            assert_eq!(
                [made.copies, made.encodings, made.decodings, made.drafts],
                [0, 0, 0, count],
                "{what}"
            );
            assert_eq!(changed.copies, first + each * (count - 1), "{what}");
            assert_eq!([changed.encodings, changed.decodings, changed.drafts], [0, 0, count], "{what}");
            for side in [came, seen] {
                assert_eq!([side.copies, side.decodings, side.views], [0, 0, count], "{what}");
            }
        }
    }
}

#[test]
fn drafts_are_made_in_shared_memory_as_long_as_they_are_viewed_there() {
    let place = Place::new();
    let (here, there) = (place.context(), place.context());
    let node = here.node("both").unwrap();
    let images = node.publisher::<Image>("images").create().unwrap();
    let frames = node.subscription::<Image>("images").read_in_place().create().unwrap();
    let negatives = node.publisher::<Image>("negatives").create().unwrap();
    let pass_on = || {
        let (lies, _) = robot::take(&images, 1);
        let edit = negatives.edit(frames.take_sample().unwrap().0).unwrap();
        let is_in_place = edit.is_in_place();
        negatives.publish(edit).unwrap();
        (!lies.is_empty(), is_in_place)
    };
    assert_eq!(pass_on(), (false, true), "no subscription is outside");
    let viewer =
        there.node("viewer").unwrap().subscription::<Image>("negatives").read_in_place().create().unwrap();
    assert!(negatives.wait_for_subscribers(1, PATIENCE));
    assert_eq!(pass_on(), (false, false), "the camera doesn't know yet");
    assert_eq!(pass_on(), (true, true));
    wait_for("two come", || viewer.take_sample());
    wait_for("two come", || viewer.take_sample());
    drop(viewer);
    wait_for("it is gone", || (negatives.subscription_count() == 0).then_some(()));
    assert_eq!(pass_on(), (false, true), "no subscription is outside any more");
    assert_eq!(negatives.statistics().copies, 1);
    drop(negatives);
    assert!(robot::take(&images, 2).0.is_empty());
}

#[test]
fn what_others_read_is_copied_before_it_is_changed() {
    let place = Place::new();
    let context = place.context();
    let node = context.node("both").unwrap();
    let frames = node.subscription::<Image>("images").read_in_place().create().unwrap();
    let negatives = node.publisher::<Image>("negatives").create().unwrap();
    let unchanged = |sample: &Sample<Image>| assert_eq!(borrowed(&sample.view().unwrap())[0], 7);
    let change = |sample: Sample<Image>, what: &str| {
        let before = negatives.statistics();
        let mut edit = negatives.edit(sample).unwrap();
        edit.parts().data.fill(8);
        assert_eq!(edit.view().unwrap().data[0], 8);
        let after = negatives.statistics();
        let work = [after.copies - before.copies, after.encodings - before.encodings];
        assert_eq!(edit.is_in_place(), work == [0, 0], "{what}");
        work
    };

    let images = node.publisher::<Image>("images").create().unwrap();
    let next = || frames.take_sample().unwrap().0;
    robot::take(&images, 7);
    assert_eq!(change(next(), "a draft"), [0, 0]);
    robot::take(&images, 7);
    let (one, other) = {
        let one = next();
        (one.clone(), one)
    };
    assert_eq!(change(one, "a draft of which there is another reference"), [1, 0]);
    unchanged(&other);
    assert_eq!(change(other, "it alone is left"), [0, 0]);
    images.publish(image()).unwrap();
    assert_eq!(change(next(), "a value"), [0, 0]);
    let kept = Shared::new(image());
    images.publish(kept.clone()).unwrap();
    assert_eq!(change(next(), "a value that the camera keeps"), [0, 1]);
    assert_eq!(kept.data[0], 7);
    assert_eq!(change(kept.into(), "no longer"), [0, 0], "a `Shared` is edited, too");

    drop(images);
    let latched = QoS::default().transient_local();
    let images = node.publisher::<Image>("images").qos(latched).create().unwrap();
    robot::take(&images, 7);
    assert_eq!(change(next(), "a draft that is retained"), [1, 0]);
    let late = node.subscription::<Image>("images").qos(latched).read_in_place().create().unwrap();
    unchanged(&late.take_sample().unwrap().0);
    drop(images);

    // While another process reads the camera's frames they are its, too.
    let images = node.publisher::<Image>("images").create().unwrap();
    let elsewhere = place.context();
    let far =
        elsewhere.node("far").unwrap().subscription::<Image>("images").read_in_place().create().unwrap();
    assert!(images.wait_for_subscribers(2, PATIENCE));
    robot::take(&images, 7);
    assert_eq!(change(next(), "a draft that left the process"), [1, 0]);
    unchanged(&wait_for("it comes", || far.take_sample()).0);
}

#[test]
fn an_edit_that_can_not_be_published_comes_back() {
    let place = Place::new();
    let node = place.context().node("both").unwrap();
    let negatives = node.publisher::<Image>("negatives").create().unwrap();
    let mut edit = negatives.edit(Shared::new(image())).unwrap();
    edit.parts().data.fill(9);
    assert_eq!(format!("{edit:?}"), "Edit(a value of sensor_msgs/msg/Image, in place)");
    let reader = node.subscription::<Image>("negatives").create().unwrap();
    negatives.publish(edit).unwrap();
    let sample = Sample::from(reader.take().unwrap().0);
    let edit = negatives.edit(sample).unwrap();
    assert!(edit.is_in_place(), "a value goes on as a value");
    drop(edit);
}
