//! Strings that are not UTF-8, as C++ programs send them: such a message is lost and counted, its
//! program is notified, and the log is not filled with it.
#![expect(clippy::disallowed_types, reason = "a log's lock")]

mod support;

use log::{Level, LevelFilter, Log, Metadata, Record};
use sinew::event::MessageLost;
use sinew::msg::Encoding;
use sinew::prelude::*;
use sinew_shm::{Counter, EndpointKind};
use std::sync::{Arc, Mutex};
use support::outside::Onlooker;
use support::wait_for;

const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Message, Debug, Clone, PartialEq)]
struct Word {
    number: u32,
    text: String,
}

const WORD: &Encoding<Word> = match Word::ENCODING {
    Some(encoding) => encoding,
    None => panic!("it travels"),
};

/// The same message where a string is any bytes: its text is what there is of its number.
#[derive(Clone)]
struct Bytes {
    number: u32,
    is_text: bool,
}

impl Bytes {
    fn encoded(&self) -> Vec<u8> {
        let word = Word { number: self.number, text: "word".to_owned() };
        let mut encoded = vec![0; (WORD.size)(&word)];
        (WORD.encode)(&word, &mut encoded);
        if !self.is_text {
            let at = encoded.windows(4).position(|four| four == b"word").expect("it is there");
            encoded[at + 1] = 0xff;
        }
        encoded
    }
}

impl Message for Bytes {
    const ENCODING: Option<&'static Encoding<Self>> = Some(&Encoding {
        name: WORD.name,
        hash: WORD.hash,
        description: None,
        size: |bytes| bytes.encoded().len(),
        encode: |bytes, encoded| encoded.copy_from_slice(&bytes.encoded()),
        decode: |_| unreachable!("nobody subscribes to these"),
        decode_into: |_, _| unreachable!("nobody subscribes to these"),
        plain: None,
        stamp: None,
    });
}

/// The lines that the log has as errors.
struct Errors(Mutex<Vec<String>>);

static ERRORS: Errors = Errors(Mutex::new(Vec::new()));

impl Log for Errors {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.level() == Level::Error
    }

    fn log(&self, record: &Record<'_>) {
        if self.enabled(record.metadata()) {
            self.0.lock().expect("no panic").push(record.args().to_string());
        }
    }

    fn flush(&self) {}
}

/// A publisher in a context of its own, and a place for others.
struct Room {
    place: tempfile::TempDir,
    topic: &'static str,
    publisher: Publisher<Bytes>,
}

impl Room {
    fn new(topic: &'static str, qos: QoS) -> sinew::Result<Self> {
        // Whichever test is the first.
        if log::set_logger(&ERRORS).is_ok() {
            log::set_max_level(LevelFilter::Trace);
        }
        let place = tempfile::tempdir_in("/dev/shm").expect("shared memory");
        let context = Context::builder().domain(3).directory(place.path()).build()?;
        let publisher = context.node("talker")?.publisher::<Bytes>(topic).qos(qos).create()?;
        Ok(Self { place, topic, publisher })
    }

    fn listener(&self) -> sinew::Result<Node> {
        Ok(Context::builder().domain(3).directory(self.place.path()).build()?.node("listener")?)
    }

    /// Numbers from 1 on; those that can't be divided by three make no sense.
    fn publish(&self, count: u32) -> sinew::Result<()> {
        for number in 1..=count {
            self.publisher.publish(Bytes { number, is_text: number % 3 == 0 })?;
        }
        Ok(())
    }

    /// What the log said, which is one thing, and what others see of the subscription.
    fn check_lost(&self, lost: u64) {
        let errors = ERRORS.0.lock().expect("no panic");
        let topic = format!("/{}", self.topic);
        let of_topic: Vec<_> = errors.iter().filter(|line| line.contains(&format!(" on {topic} "))).collect();
        assert_eq!(of_topic.len(), 1, "{of_topic:?}");
        assert!(of_topic[0].contains("`text` of") && of_topic[0].contains("UTF-8"), "{of_topic:?}");
        let onlooker = Onlooker::join(self.place.path(), 3);
        assert_eq!(onlooker.count(EndpointKind::Subscription, &topic, "/listener", Counter::Missed), lost);
    }
}

#[test]
fn a_callback_gets_the_others_and_the_event_counts() -> sinew::Result<()> {
    let room = Room::new("called", QoS::default().keep_last(100))?;
    let listener = room.listener()?;
    let received = Arc::new(Mutex::new((Vec::new(), MessageLost::default())));
    let (words, events) = (received.clone(), received.clone());
    let subscription = listener
        .subscription::<Word>("called")
        .qos(QoS::default().keep_last(100))
        .on_message_lost(move |event: &MessageLost| events.lock().expect("no panic").1 = event.clone())
        .callback(move |word: &Word| words.lock().expect("no panic").0.push(word.number))?;
    assert!(room.publisher.wait_for_subscribers(1, PATIENCE));
    room.publish(9)?;
    let executor = Executor::single();
    executor.add(&listener)?;
    wait_for("all have arrived", || {
        executor.spin_some().expect("no callback fails");
        let received = received.lock().expect("no panic");
        (received.0.len() == 3 && received.1.total == 6).then_some(())
    });
    assert_eq!(received.lock().expect("no panic").0, [3, 6, 9]);
    let event = received.lock().expect("no panic").1.clone();
    assert_eq!(event.undecodable, 6);
    let problem = event.last_problem.expect("it says what was wrong").to_string();
    assert!(problem.contains("`text` of") && problem.contains("UTF-8"), "{problem}");
    assert_eq!(subscription.statistics().overwritten, 6);
    room.check_lost(6);
    Ok(())
}

#[test]
fn who_takes_by_hand_gets_the_others() -> sinew::Result<()> {
    let qos = QoS::default().keep_last(100);
    let room = Room::new("taken", qos)?;
    let subscription = room.listener()?.subscription::<Word>("taken").qos(qos).create()?;
    assert!(room.publisher.wait_for_subscribers(1, PATIENCE));
    room.publish(9)?;
    for number in [3, 6, 9] {
        let (word, _) = wait_for("it comes", || subscription.take());
        assert_eq!(word.number, number);
    }
    assert_eq!(subscription.statistics().overwritten, 6);
    room.check_lost(6);
    Ok(())
}

#[test]
fn who_comes_late_gets_the_others() -> sinew::Result<()> {
    let qos = QoS::default().keep_last(6).transient_local();
    let room = Room::new("retained", qos)?;
    room.publish(9)?;
    let subscription = room.listener()?.subscription::<Word>("retained").qos(qos).create()?;
    for number in [6, 9] {
        let (word, _) = wait_for("it comes", || subscription.take());
        assert_eq!(word.number, number);
    }
    assert_eq!(subscription.statistics().overwritten, 4, "of the six that were retained");
    room.check_lost(4);
    Ok(())
}
