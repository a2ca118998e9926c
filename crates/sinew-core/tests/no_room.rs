//! Nodes whose shared memory is full. Each test runs in a process of its own, for which a small
//! file system is mounted.
#![expect(clippy::disallowed_methods, reason = "other processes are waited for in real time")]

mod support;

use sinew::error::{DecodeError, PublishFailure};
use sinew::msg::{Encoding, TypeHash};
use sinew::prelude::*;
use sinew_shm::{Counter, EndpointKind};
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use support::outside::Onlooker;

const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Debug, Clone, Default, PartialEq)]
struct Blob(Vec<u8>);

impl Message for Blob {
    const ENCODING: Option<&'static Encoding<Self>> = Some(&Encoding {
        name: "test_msgs/msg/Blob",
        description: None,
        hash: TypeHash([7; 32]),
        size: |blob| blob.0.len(),
        encode: |blob, image| image.copy_from_slice(&blob.0),
        decode: |image| match image {
            [0xff, ..] => Err(DecodeError::Invalid {
                type_name: "test_msgs/msg/Blob",
                field: "bytes",
                offset: 0,
                problem: "they begin with 0xff",
            }),
            image => Ok(Blob(image.to_vec())),
        },
        decode_into: |image, blob| {
            *blob = (Blob::ENCODING.expect("above").decode)(image)?;
            Ok(())
        },
        plain: None,
        stamp: None,
    });
}

/// A directory on a file system of its own.
struct Place(PathBuf);

impl Place {
    fn context(&self) -> Context {
        Context::builder().domain(3).directory(&self.0).build().expect("a context")
    }

    /// Fills the file system but for so many KB.
    fn fill_but(&self, kilobytes: u64) -> PathBuf {
        let path = self.0.join("ballast");
        let mut ballast = File::create(&path).expect("there is room for a file");
        while ballast.write_all(&[1; 4096]).is_ok() {}
        let length = ballast.metadata().expect("its own file").len();
        ballast.set_len(length.saturating_sub(kilobytes << 10)).expect("its own file");
        path
    }
}

/// Runs the part with a file system of 4 MB, if this user may mount one.
#[track_caller]
fn on_a_small_file_system(test: &str, part: impl FnOnce(&Place) -> sinew::Result<()>) -> sinew::Result<()> {
    support::small::on_a_small_file_system(test, "4m", |place| part(&Place(place.to_owned())))
}

/// What is taken next.
#[track_caller]
fn next(subscription: &Subscription<Blob>) -> Blob {
    let begin = std::time::Instant::now();
    loop {
        if let Some((blob, _)) = subscription.take() {
            return Blob(blob.0.clone());
        }
        assert!(begin.elapsed() < PATIENCE, "nothing comes");
        std::thread::yield_now();
    }
}

#[test]
fn who_looks_on_from_outside_stops_no_delivery_in_a_process() -> sinew::Result<()> {
    const LENGTH: usize = 600_000;
    on_a_small_file_system("who_looks_on_from_outside_stops_no_delivery_in_a_process", |place| {
        let (own, other) = (place.context(), place.context());
        let node = own.node("camera")?;
        let publisher = node.publisher::<Blob>("images").create()?;
        let local = node.subscription::<Blob>("images").qos(QoS::default().keep_last(10)).create()?;
        let away = other.node("tool")?.subscription::<Blob>("images").create()?;
        assert!(publisher.wait_for_subscribers(2, PATIENCE));
        publisher.publish(Blob(vec![1]))?;
        assert_eq!((next(&local), next(&away)), (Blob(vec![1]), Blob(vec![1])));
        let onlooker = Onlooker::join(&place.0, 3);
        place.fill_but(300);
        for byte in 2..30 {
            publisher.publish(Blob(vec![byte; LENGTH]))?;
            assert_eq!(next(&local), Blob(vec![byte; LENGTH]));
        }
        assert!(away.take().is_none());
        publisher.publish(Blob(vec![30]))?;
        assert_eq!((next(&local), next(&away)), (Blob(vec![30]), Blob(vec![30])), "what fits comes");
        let missed = onlooker.count(EndpointKind::Publisher, "/images", "/camera", Counter::Missed);
        assert_eq!(missed, 28);
        let all = QoS::default().keep_all().max_samples(4);
        // A reader that must get everything, or no reader here: it isn't published.
        let blocking = node.publisher::<Blob>("everything").qos(all).create()?;
        let here = node.subscription::<Blob>("everything").qos(all).create()?;
        let bound = other.node("recorder")?.subscription::<Blob>("everything").qos(all).create()?;
        assert!(blocking.wait_for_subscribers(2, PATIENCE));
        let refused = blocking.publish(Blob(vec![1; LENGTH])).expect_err("there is no room");
        assert!(matches!(refused.failure(), PublishFailure::NoSpace { wanted: LENGTH, .. }), "{refused}");
        assert!(here.take().is_none() && bound.take().is_none(), "nobody got it");
        drop(local);
        let refused = publisher.publish(Blob(vec![1; LENGTH])).expect_err("there is no room");
        assert!(matches!(refused.failure(), PublishFailure::NoSpace { wanted: LENGTH, .. }), "{refused}");
        Ok(())
    })
}

#[test]
fn a_camera_goes_on_where_its_history_has_no_room() -> sinew::Result<()> {
    const LENGTH: usize = 600_000;
    on_a_small_file_system("a_camera_goes_on_where_its_history_has_no_room", |place| {
        let (own, other) = (place.context(), place.context());
        let node = own.node("camera")?;
        let publisher = node.publisher::<Blob>("images").create()?; // keeps ten: 6 MB
        let listener = other.node("viewer")?;
        let viewer = listener.subscription::<Blob>("images").create()?;
        assert!(publisher.wait_for_subscribers(1, PATIENCE));
        // One that takes each gets each, and small ones have room, too.
        for byte in 1..=60 {
            publisher.publish(Blob(vec![byte; LENGTH]))?;
            publisher.publish(Blob(vec![byte; 1000]))?;
            assert_eq!((next(&viewer), next(&viewer)), (Blob(vec![byte; LENGTH]), Blob(vec![byte; 1000])));
        }
        // One that doesn't misses the oldest, though its history would have held them.
        for byte in 61..=70 {
            publisher.publish(Blob(vec![byte; LENGTH]))?;
        }
        let mut taken = Vec::new();
        while let Some((blob, _)) = viewer.take() {
            assert_eq!(blob.0, [blob.0[0]; LENGTH]);
            taken.push(blob.0[0]);
        }
        let kept = u8::try_from(taken.len()).unwrap();
        assert_eq!(taken, (71 - kept..=70).collect::<Vec<_>>());
        assert!((3..10).contains(&taken.len()), "{taken:?}");
        Ok(())
    })
}

/// Counts what is logged of messages that can't leave.
struct Complaints(AtomicUsize);

impl log::Log for Complaints {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &log::Record<'_>) {
        if record.args().to_string().contains("can't leave the process") {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    fn flush(&self) {}
}

#[test]
fn without_descriptors_the_log_says_once_that_messages_stay() -> sinew::Result<()> {
    static COMPLAINTS: Complaints = Complaints(AtomicUsize::new(0));
    on_a_small_file_system("without_descriptors_the_log_says_once_that_messages_stay", |place| {
        log::set_logger(&COMPLAINTS).expect("a process of its own");
        log::set_max_level(log::LevelFilter::Error);
        let (own, other) = (place.context(), place.context());
        let publisher = own.node("camera")?.publisher::<Blob>("images").create()?;
        let viewer = other.node("viewer")?.subscription::<Blob>("images").create()?;
        assert!(publisher.wait_for_subscribers(1, PATIENCE));
        publisher.publish(Blob(vec![1]))?;
        assert_eq!(next(&viewer), Blob(vec![1]));
        let files: Vec<File> = std::iter::from_fn(|| File::open("/dev/null").ok()).collect();
        assert!(File::open("/dev/null").is_err(), "{} are open", files.len());
        for _ in 0..20 {
            publisher.publish(Blob(vec![2; 100_000])).expect_err("nothing can be opened");
        }
        assert_eq!(COMPLAINTS.0.load(Ordering::SeqCst), 1);
        drop(files);
        publisher.publish(Blob(vec![3; 100_000]))?;
        assert_eq!(next(&viewer), Blob(vec![3; 100_000]));
        Ok(())
    })
}

#[test]
fn a_transient_local_camera_has_for_late_joiners_what_there_is_room_for() -> sinew::Result<()> {
    const LENGTH: usize = 300_000;
    on_a_small_file_system("a_transient_local_camera_has_for_late_joiners_what_there_is_room_for", |place| {
        let (own, other) = (place.context(), place.context());
        let qos = QoS::default().keep_last(5).transient_local();
        let publisher = own.node("camera")?.publisher::<Blob>("images").qos(qos).create()?;
        let listener = other.node("viewer")?;
        let viewer = listener.subscription::<Blob>("images").qos(qos).create()?;
        assert!(publisher.wait_for_subscribers(1, PATIENCE));
        for byte in 1..=40 {
            publisher.publish(Blob(vec![byte; LENGTH]))?;
            assert_eq!(next(&viewer), Blob(vec![byte; LENGTH]));
        }
        let late = listener.subscription::<Blob>("images").qos(qos).create()?;
        for byte in 36..=40 {
            assert_eq!(next(&late), Blob(vec![byte; LENGTH]), "the depth that was promised");
        }
        Ok(())
    })
}

#[test]
fn what_was_kept_before_anyone_listened_displaces_nothing_newer() -> sinew::Result<()> {
    const LENGTH: usize = 200_000;
    on_a_small_file_system("what_was_kept_before_anyone_listened_displaces_nothing_newer", |place| {
        let (own, other, third) = (place.context(), place.context(), place.context());
        let node = own.node("camera")?;
        let qos = QoS::default().keep_last(10);
        let publisher = node.publisher::<Blob>("images").qos(qos.transient_local()).create()?;
        // Published before the process has a connection; the first alone takes most of what there
        // is.
        publisher.publish(Blob(vec![1; 3_400_000]))?;
        (2..=5).try_for_each(|byte| publisher.publish(Blob(vec![byte; LENGTH])))?;
        let viewer = other.node("viewer")?.subscription::<Blob>("images").qos(qos).create()?;
        assert!(publisher.wait_for_subscribers(1, PATIENCE));
        (6..=10).try_for_each(|byte| publisher.publish(Blob(vec![byte; LENGTH])))?;
        let late = third.node("late")?.subscription::<Blob>("images").qos(qos.transient_local()).create()?;
        for byte in 2..=10 {
            assert_eq!(next(&late), Blob(vec![byte; LENGTH]));
        }
        for byte in 6..=10 {
            assert_eq!(next(&viewer), Blob(vec![byte; LENGTH]), "it isn't lost to one that comes later");
        }
        assert_eq!(late.statistics().missed, 1, "the first");
        assert_eq!(publisher.statistics().encodings, 5 + 4, "none was brought back that stood there");
        Ok(())
    })
}

#[test]
fn who_must_get_all_that_was_kept_does_once_there_is_room() -> sinew::Result<()> {
    const LENGTH: usize = 200_000;
    on_a_small_file_system("who_must_get_all_that_was_kept_does_once_there_is_room", |place| {
        let (own, other) = (place.context(), place.context());
        let qos = QoS::default().keep_all().max_samples(8).transient_local();
        let publisher = own.node("camera")?.publisher::<Blob>("images").qos(qos).create()?;
        (1..=8).try_for_each(|byte| publisher.publish(Blob(vec![byte; LENGTH])))?;
        // Both have what they need beside the images.
        let node = other.node("recorder")?;
        let known = node.publisher::<Blob>("known").create()?;
        let _here = own.node("listener")?.subscription::<Blob>("known").create()?;
        assert!(known.wait_for_subscribers(1, PATIENCE));
        let ballast = place.fill_but(1000);
        let late = node.subscription::<Blob>("images").qos(qos).create()?;
        let begin = std::time::Instant::now();
        while late.publisher_count() == 0 || begin.elapsed() < Duration::from_millis(100) {
            assert!(begin.elapsed() < PATIENCE, "it knows the publisher");
            std::thread::yield_now();
        }
        assert_eq!(publisher.subscription_count(), 0, "there is no room for all of it");
        std::fs::remove_file(ballast).expect("it is there");
        for byte in 1..=8 {
            assert_eq!(next(&late), Blob(vec![byte; LENGTH]));
        }
        Ok(())
    })
}

#[test]
fn a_subscription_for_which_there_was_no_room_is_connected_when_there_is_some() -> sinew::Result<()> {
    on_a_small_file_system(
        "a_subscription_for_which_there_was_no_room_is_connected_when_there_is_some",
        |place| {
            let (own, other) = (place.context(), place.context());
            let qos = QoS::default().transient_local();
            let publisher = own.node("talker")?.publisher::<Blob>("blobs").qos(qos.keep_last(2)).create()?;
            let node = other.node("listener")?;
            let known = node.subscription::<Blob>("blobs").create()?;
            assert!(publisher.wait_for_subscribers(1, PATIENCE));
            (1..4).try_for_each(|byte| publisher.publish(Blob(vec![byte])))?;
            // Their connection stands: what comes by it is not for who comes later.
            assert_eq!([1, 2, 3].map(|_| next(&known)), [1, 2, 3].map(|byte| Blob(vec![byte])));
            let ballast = place.fill_but(200);
            // A ring that is so deep takes more than a megabyte.
            let deep = node.subscription::<Blob>("blobs").qos(qos.keep_last(5000)).create()?;
            let begin = std::time::Instant::now();
            while deep.publisher_count() == 0 || begin.elapsed() < Duration::from_millis(100) {
                assert!(begin.elapsed() < PATIENCE, "it knows the publisher");
                std::thread::yield_now();
            }
            assert_eq!(publisher.subscription_count(), 1, "it isn't connected");
            std::fs::remove_file(ballast).expect("it is there");
            assert!(publisher.wait_for_subscribers(2, PATIENCE));
            // What was retained comes by a connection of its own: taken first, it isn't overtaken.
            assert_eq!([2, 3].map(|_| next(&deep)), [2, 3].map(|byte| Blob(vec![byte])));
            publisher.publish(Blob(vec![4]))?;
            assert_eq!(next(&deep), Blob(vec![4]));
            drop(deep);
            let begin = std::time::Instant::now();
            while publisher.subscription_count() > 1 {
                assert!(begin.elapsed() < PATIENCE, "its end is noticed");
                std::thread::yield_now();
            }
            Ok(())
        },
    )
}

/// Answers with a thousand times as much.
struct Enlarge;

impl sinew::Service for Enlarge {
    type Request = Blob;
    type Response = Blob;
}

fn spin_aside(context: &Context) -> std::thread::JoinHandle<sinew::Result<()>> {
    let context = context.clone();
    std::thread::spawn(move || sinew::spin(&context))
}

#[test]
fn an_answer_for_which_there_is_no_room_fails_its_call() -> sinew::Result<()> {
    on_a_small_file_system("an_answer_for_which_there_is_no_room_fails_its_call", |place| {
        let (serving, asking) = (place.context(), place.context());
        let enlarge = |request: &Blob| Blob(vec![0; request.0.len() * 1000]);
        let _server = serving.node("server")?.server::<Enlarge>("enlarge").callback(enlarge)?;
        let client = asking.node("asker")?.client::<Enlarge>("enlarge").create()?;
        let spinning = spin_aside(&serving);
        assert!(client.wait_for_server(PATIENCE));
        assert_eq!(client.call(Blob(vec![1]), PATIENCE)?.0.len(), 1000);
        place.fill_but(200);
        for _ in 0..20 {
            let failed = client.call(Blob(vec![1; 1000]), PATIENCE).expect_err("there is no room");
            let said = failed.to_string();
            assert!(said.contains("1000000 bytes") && said.contains("sinew doctor"), "{said}");
        }
        // Nobody gives up waiting for this one.
        let later = client.call_async(Blob(vec![1; 1000]));
        let failed = Executor::single().spin_until(later)?.expect_err("there is no room");
        assert!(matches!(failed.failure(), sinew::error::CallFailure::Transport { .. }), "{failed}");
        assert_eq!(client.call(Blob(vec![1; 2]), PATIENCE)?.0.len(), 2000, "what fits comes");
        serving.shutdown();
        spinning.join().expect("no panic")
    })
}

#[test]
fn a_client_for_whose_answers_there_is_no_room_is_served_when_there_is_some() -> sinew::Result<()> {
    on_a_small_file_system(
        "a_client_for_whose_answers_there_is_no_room_is_served_when_there_is_some",
        |place| {
            let (serving, asking) = (place.context(), place.context());
            let enlarge = |request: &Blob| Blob(vec![0; request.0.len() * 10]);
            let node = serving.node("server")?;
            let _server = node.server::<Enlarge>("enlarge").callback(enlarge)?;
            // The client's process has what it needs: room in its tables, and for a ring.
            let asker = asking.node("asker")?;
            let publishers = ["a", "b", "c"].map(|name| asker.publisher::<Blob>(name).create());
            let listening = node.subscription::<Blob>("a").create()?;
            let [Ok(a), _b, _c] = publishers else { panic!("there is room") };
            assert!(a.wait_for_subscribers(1, PATIENCE));
            a.publish(Blob(vec![1]))?;
            next(&listening);
            let client = asker.client::<Enlarge>("enlarge").create()?;
            let spinning = spin_aside(&serving);
            assert!(client.wait_for_server(PATIENCE));
            let ballast = place.fill_but(0);
            let mut call = std::pin::pin!(client.call_async(Blob(vec![1; 5])));
            let mut task = std::task::Context::from_waker(std::task::Waker::noop());
            let begin = std::time::Instant::now();
            while begin.elapsed() < Duration::from_millis(300) {
                assert!(call.as_mut().poll(&mut task).is_pending(), "there is no room for an answer");
                std::thread::yield_now();
            }
            std::fs::remove_file(ballast).expect("it is there");
            assert_eq!(Executor::single().spin_until(call)?.expect("an answer").0.len(), 50);
            assert_eq!(client.call(Blob(vec![1; 5]), PATIENCE)?.0.len(), 50);
            serving.shutdown();
            spinning.join().expect("no panic")
        },
    )
}

#[test]
fn messages_leave_room_for_those_who_join() -> sinew::Result<()> {
    on_a_small_file_system("messages_leave_room_for_those_who_join", |place| {
        let (own, other) = (place.context(), place.context());
        let (talker, listener) = (own.node("talker")?, other.node("listener")?);
        // Messages of all sizes that nobody takes, more than there is room for.
        let deep = QoS::default().keep_last(500);
        let mut ends = Vec::new();
        for (topic, length, count) in [("large", 300_000, 20), ("middling", 20_000, 50), ("small", 3000, 500)]
        {
            let publisher = talker.publisher::<Blob>(topic).qos(deep).create()?;
            let subscription = listener.subscription::<Blob>(topic).qos(deep).create()?;
            assert!(publisher.wait_for_subscribers(1, PATIENCE));
            ends.push((publisher, subscription, length, count));
        }
        for (publisher, _, length, count) in &ends {
            for _ in 0..*count {
                let _ = publisher.publish(Blob(vec![1; *length])); // there may be no room
            }
        }
        let mut newcomers = Vec::new();
        for newcomer in 0..2 {
            let context = place.context();
            let node = context.node(&format!("newcomer_{newcomer}"))?;
            let topic = format!("known_{newcomer}");
            let publisher = talker.publisher::<Blob>(&topic).create()?;
            let subscription = node.subscription::<Blob>(&topic).create()?;
            assert!(publisher.wait_for_subscribers(1, PATIENCE));
            publisher.publish(Blob(vec![newcomer]))?;
            assert_eq!(next(&subscription), Blob(vec![newcomer]));
            newcomers.push((context, node, publisher, subscription));
        }
        Ok(())
    })
}

#[test]
fn the_error_of_a_program_without_shared_memory_names_the_remedy() -> sinew::Result<()> {
    on_a_small_file_system("the_error_of_a_program_without_shared_memory_names_the_remedy", |place| {
        place.fill_but(0);
        let context = place.context();
        let refused = context.node("lonely").expect_err("there is no room").to_string();
        for remedy in ["shared_memory(false)", "SINEW_DIR", "sinew doctor", "--shm-size"] {
            assert!(refused.contains(remedy), "{remedy} in {refused}");
        }
        let context = Context::builder().shared_memory(false).build()?;
        let node = context.node("lonely")?;
        let numbers = node.subscription::<Blob>("numbers").create()?;
        node.publisher::<Blob>("numbers").create()?.publish(Blob(vec![1]))?;
        assert_eq!(next(&numbers), Blob(vec![1]));
        Ok(())
    })
}
