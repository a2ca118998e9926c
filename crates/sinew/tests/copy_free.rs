//! Which form of a message is copied, encoded or decoded where: the table of `docs/copy-free.md`, cell by cell.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod support;

use sinew::prelude::*;
use sinew::{Publishable, Sample, View};
use sinew_interfaces::sensor_msgs::msg::{Image, ImageLengths};
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

/// What was done with one message: of the publisher copies, encodings, decodings, drafts; of the subscription copies,
/// decodings, views.
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

/// Publishes a message in a form, takes it in another, and says what was counted; of the second one: for the first, the
/// publisher has to find out who listens.
fn count<T: Message, M: Publishable<T>>(
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
    node.subscription::<Image>("topic").viewing().create().unwrap()
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

fn draft(publisher: &Publisher<Image>) -> sinew::Draft<Image> {
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
fn a_draft_that_was_made_before_anybody_listened_elsewhere() {
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
    let near = relay.subscription::<Image>("again").viewing().create().unwrap();
    let publisher = one.node("camera").unwrap().publisher::<Image>("topic").create().unwrap();
    assert!(publisher.wait_for_subscribers(1, PATIENCE));
    let pass_on = || {
        publisher.publish(draft(&publisher)).unwrap();
        outgoing.publish(wait_for("it comes", || incoming.take_sample()).0).unwrap();
        drop(wait_for("it is passed on", || near.take_sample()));
        (outgoing.statistics().copies, outgoing.statistics().drafts)
    };
    assert_eq!(pass_on(), (0, 1), "within the process, where it lies");
    let _far = third.node("far").unwrap().subscription::<Image>("again").viewing().create().unwrap();
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
fn what_is_retained_counts_when_somebody_comes() {
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
    use sinew_shm::Counter::{Copies, Decodings, Encodings, Images};
    use sinew_shm::EntityKind::{Publisher, Subscription};
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
        [Copies, Encodings, Decodings, Images].map(|counter| onlooker.count(kind, "/topic", node, counter))
    };
    assert_eq!(sums(Publisher, "/from"), [0, 1, 0, 1]);
    assert_eq!(sums(Subscription, "/reader"), [0, 0, 2, 0]);
    assert_eq!(sums(Subscription, "/viewer"), [0, 0, 0, 2]);
}
