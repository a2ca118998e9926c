//! What is played, and in which order.

use crate::{BEGIN, MILLISECOND, Writing, context, listen, listen_to_type, numbers, place, take, write};
use sinew::error::{ErrorCode, HasCode};
use sinew::msg::GenericType;
use sinew::prelude::*;
use sinew_bag::{
    BagError, BagReader, BagWriter, MessageOrder, PlayEnd, PlayError, Player, PlayerClock, Schema, Stamps,
    TopicDefinition, WriterOptions,
};
use sinew_interfaces::rosgraph_msgs::msg::Clock;
use sinew_interfaces::std_msgs::msg::String as Text;
use std::fs;

#[test]
fn everything_is_played_in_order() {
    let (_directory, path) = place();
    write(&path, 2_500);
    let context = context();
    let listener = listen(&context, "/chatter");
    let player = Player::builder(&context).bags([&path]).as_fast_as_possible().start().unwrap();
    assert_eq!(player.wait(), PlayEnd::Finished);
    assert_eq!(take(&listener), numbers(0..2_500));
    let statistics = player.statistics();
    assert_eq!((statistics.published(), statistics.lost()), (2_500, 0));
    assert_eq!(statistics.topics[0].type_name, "std_msgs/msg/String");
    assert_eq!(statistics.lateness.count(), 0);
    assert_eq!(player.progress().position, BEGIN + 2_499 * MILLISECOND);
    assert_eq!((player.progress().rounds, player.problems().len()), (1, 0));
}

#[test]
fn paced_messages_are_all_due_once() {
    let (_directory, path) = place();
    write(&path, 50);
    let context = context();
    let listener = listen(&context, "/chatter");
    let spin = Duration::from_micros(50);
    let player = Player::builder(&context).bags([&path]).rate(10.0).spin_before_due(spin).start().unwrap();
    assert_eq!((player.wait(), player.rate()), (PlayEnd::Finished, 10.0));
    assert_eq!(take(&listener), numbers(0..50));
    assert_eq!(player.statistics().lateness.count(), 50);
}

#[test]
fn splits_make_no_difference() {
    let (_directory, path) = place();
    let options = WriterOptions { max_duration: Duration::from_millis(10), ..WriterOptions::default() };
    let mut writer = BagWriter::create(&path, options).unwrap();
    let topic = writer.add_topic(&TopicDefinition::of::<Text>("/chatter").unwrap()).unwrap();
    for number in 0..100 {
        let text = Text { data: number.to_string() };
        writer.write_message(topic, Stamps::at(BEGIN + number * MILLISECOND), &text).unwrap();
    }
    writer.close().unwrap();
    assert!(BagReader::open(&path).unwrap().files().len() > 5);
    let context = context();
    let listener = listen(&context, "/chatter");
    let player = Player::builder(&context).bags([&path]).rate(100.0).start().unwrap();
    assert_eq!(player.wait(), PlayEnd::Finished);
    assert_eq!(take(&listener), numbers(0..100));
}

#[test]
fn several_bags_are_merged_in_time() {
    let (directory, one) = place();
    let other = directory.path().join("other");
    let mut bag = Writing::begin(&one);
    let chatter = bag.topic("/chatter", &[QoS::default()]);
    [0, 2, 4].iter().for_each(|at| bag.text(chatter, *at, &at.to_string()));
    bag.close();
    let mut bag = Writing::begin(&other);
    let chatter = bag.topic("/chatter", &[QoS::sensor_data()]);
    [1, 2, 3, 5].iter().for_each(|at| bag.text(chatter, *at, &format!("{at}b")));
    bag.close();

    let context = context();
    let listener = listen(&context, "/chatter");
    let player = Player::builder(&context).bags([&one, &other]).as_fast_as_possible().start().unwrap();
    assert_eq!(player.wait(), PlayEnd::Finished);
    assert_eq!(take(&listener), ["0", "1b", "2", "2b", "3b", "4", "5b"]);
    // One publisher stands for both.
    assert_eq!((player.statistics().topics.len(), player.statistics().published()), (1, 7));
}

#[test]
fn topics_are_selected_and_renamed() {
    let (_directory, path) = place();
    let mut bag = Writing::begin(&path);
    let topics = ["/a", "/b", "/c", "/d"].map(|name| bag.topic(name, &[]));
    for (at, topic) in (0..).zip(topics) {
        bag.text(topic, at, "x");
    }
    bag.close();
    let context = context();
    let played = |player: Player| {
        assert_eq!(player.wait(), PlayEnd::Finished);
        let topics = player.statistics().topics;
        topics.iter().map(|topic| (topic.name.clone(), topic.published)).collect::<Vec<_>>()
    };
    let builder = || Player::builder(&context).bags([&path]).as_fast_as_possible();
    let named = builder().topics(["/a", "/b", "/c"]).exclude(["/b"]).remap("/c", "/new/name");
    assert_eq!(played(named.start().unwrap()), [("/a".to_owned(), 1), ("/new/name".to_owned(), 1)]);
    let found = builder().topics(["/d"]).pattern("[ab]$").exclude_pattern("a");
    assert_eq!(played(found.start().unwrap()), [("/b".to_owned(), 1), ("/d".to_owned(), 1)]);
    assert!(builder().pattern("(").start().unwrap_err().to_string().contains("regular expression"));
    let filtered = builder().filter(|topic| *topic.name > *"/b");
    assert_eq!(played(filtered.start().unwrap()), [("/c".to_owned(), 1), ("/d".to_owned(), 1)]);
}

#[test]
fn a_part_of_the_time_is_played() {
    let (_directory, path) = place();
    write(&path, 10);
    let context = context();
    let listener = listen(&context, "/chatter");
    let builder = || Player::builder(&context).bags([&path]).as_fast_as_possible();
    let milliseconds = Duration::from_millis;
    for (builder, expected) in [
        (builder().start_offset(milliseconds(3)), 3..10),
        (builder().until(BEGIN + 4 * MILLISECOND), 0..5),
        (builder().start_offset(milliseconds(2)).duration(milliseconds(3)), 2..6),
        (builder().duration(Duration::ZERO), 0..1),
    ] {
        let player = builder.start().unwrap();
        assert_eq!(player.wait(), PlayEnd::Finished);
        assert_eq!(take(&listener), numbers(expected));
    }
}

#[test]
fn rounds_begin_again() {
    let (_directory, path) = place();
    write(&path, 4);
    let context = context();
    let listener = listen(&context, "/chatter");
    let player = Player::builder(&context).bags([&path]).loops(3).rate(50.0).start().unwrap();
    assert_eq!(player.wait(), PlayEnd::Finished);
    assert_eq!(take(&listener), [numbers(0..4), numbers(0..4), numbers(0..4)].concat());
    assert_eq!(player.progress().rounds, 3);
}

#[test]
fn the_order_of_sending_can_be_chosen() {
    let (_directory, path) = place();
    let mut bag = Writing::begin(&path);
    let chatter = bag.topic("/chatter", &[]);
    // Sent in reverse, and the last one too late to be put in order.
    for (received, sent) in [(10, 9), (11, 7), (12, 8), (1_500, 1_499), (2_000, 6)] {
        let stamps = Stamps {
            received: BEGIN + received * MILLISECOND,
            sent: BEGIN + sent * MILLISECOND,
            sequence: 0,
        };
        bag.0.write_message(chatter, stamps, &Text { data: sent.to_string() }).unwrap();
    }
    bag.close();
    let context = context();
    let listener = listen(&context, "/chatter");
    for (order, expected) in [
        (MessageOrder::Sent, ["7", "8", "9", "6", "1499"]),
        (MessageOrder::Received, ["9", "7", "8", "1499", "6"]),
    ] {
        let builder = Player::builder(&context).bags([&path]).order(order);
        assert_eq!(builder.as_fast_as_possible().start().unwrap().wait(), PlayEnd::Finished);
        assert_eq!(take(&listener), expected);
    }
}

#[test]
fn a_wrong_clock_of_a_sender_costs_no_message() {
    let (_directory, path) = place();
    let mut bag = Writing::begin(&path);
    let chatter = bag.topic("/chatter", &[]);
    let right = |at| BEGIN + at * MILLISECOND;
    for (at, sent) in [(0, right(0)), (1, 0), (2, u64::MAX), (3, right(3)), (5_000, right(9_000))] {
        let stamps = Stamps { received: right(at), sent, sequence: 0 };
        bag.0.write_message(chatter, stamps, &Text { data: at.to_string() }).unwrap();
    }
    bag.close();
    let context = context();
    let listener = listen(&context, "/chatter");
    let builder = || Player::builder(&context).bags([&path]).order(MessageOrder::Sent);
    let milliseconds = Duration::from_millis;
    for (builder, expected) in [
        (builder(), &["1", "0", "3", "2", "5000"][..]),
        (builder().start_offset(milliseconds(1)), &["1", "3", "2", "5000"]),
        (builder().until(right(2)), &["1", "0", "2"]),
    ] {
        assert_eq!(builder.as_fast_as_possible().start().unwrap().wait(), PlayEnd::Finished);
        assert_eq!(take(&listener), expected);
    }
}

#[test]
fn a_type_that_the_program_does_not_know_is_played() {
    let (_directory, path) = place();
    let schema = Schema {
        encoding: "ros2msg".to_owned(),
        text: "int32 x\nodd_msgs/Inner[] all\n\
        ================================================================================\n\
        MSG: odd_msgs/Inner\nfloat64 y\n"
            .to_owned(),
    };
    let type_name = "odd_msgs/msg/Odd";
    let known = GenericType::described(schema.description(type_name).unwrap()).unwrap();
    let topic = |name: &str, schema: Option<&Schema>, type_hash| TopicDefinition {
        name: name.to_owned(),
        type_name: type_name.to_owned(),
        encoding: "cdr".to_owned(),
        schema: schema.cloned(),
        qos: Vec::new(),
        type_hash,
    };
    let mut writer = BagWriter::create(&path, WriterOptions::default()).unwrap();
    let described = writer.add_topic(&topic("/described", Some(&schema), None)).unwrap();
    let hashed = writer.add_topic(&topic("/hashed", None, Some(known.hash()))).unwrap();
    let unknown = writer.add_topic(&topic("/unknown", None, None)).unwrap();
    let bytes = [0, 1, 0, 0, 42, 0, 0, 0, 0, 0, 0, 0];
    for id in [described, hashed, unknown] {
        writer.write(id, Stamps::at(BEGIN), &bytes).unwrap();
    }
    writer.close().unwrap();

    let context = context();
    let listeners = ["/described", "/hashed"].map(|name| listen_to_type(&context, name, known));
    let player = Player::builder(&context).bags([&path]).start().unwrap();
    assert_eq!(player.wait(), PlayEnd::Finished);
    for listener in &listeners {
        assert_eq!(listener.take_sample().unwrap().0.bytes(), bytes);
    }
    let [skipped] = player.skipped() else { panic!("{:?}", player.skipped()) };
    assert_eq!(skipped.name, "/unknown");
    assert!(skipped.why.contains("neither the hash nor the definition"), "{}", skipped.why);
    let error = Player::builder(&context).bags([&path]).topics(["/unknown"]).start().unwrap_err();
    assert!(error.to_string().contains("/unknown: neither"), "{error}");
}

#[test]
fn a_bag_that_is_cut_off_is_played_as_far_as_it_goes() {
    let (_directory, path) = place();
    let mut bag = Writing::begin(&path);
    let chatter = bag.topic("/chatter", &[]);
    for number in 0..10 {
        bag.text(chatter, number, &format!("{number}"));
        bag.0.flush().unwrap();
    }
    bag.close();
    let file = path.join("bag_0.mcap");
    let bytes = fs::read(&file).unwrap();
    let end = bytes.windows(6).position(|part| part == b"\x02\0\0\x007\0").unwrap();
    fs::write(&file, &bytes[..end]).unwrap();

    let context = context();
    let listener = listen(&context, "/chatter");
    let player = Player::builder(&context).bags([&path]).loops(2).as_fast_as_possible().start().unwrap();
    assert_eq!(player.wait(), PlayEnd::Finished);
    assert_eq!(take(&listener), [numbers(0..7), numbers(0..7)].concat());
    let problems = player.problems();
    assert!(problems.len() == 1 && problems[0].contains("the file ends inside"), "{problems:?}");
}

#[test]
fn the_clock_follows_the_bag() {
    let (_directory, path) = place();
    write(&path, 5);
    let context = context();
    let node = context.node("clocks").unwrap();
    let clocks =
        node.subscription::<Clock>("/clock").qos(QoS::default().keep_last(1_000_000)).create().unwrap();
    let times = || -> Vec<u64> {
        let all = std::iter::from_fn(|| clocks.take());
        let time = |clock: &Clock| sinew::time::Time::from(clock.clock).nanoseconds().unsigned_abs();
        all.map(|(clock, _)| time(&clock)).collect()
    };
    context.use_sim_time(true).unwrap();
    let builder = Player::builder(&context).bags([&path]).clock(PlayerClock::Messages);
    assert_eq!(builder.as_fast_as_possible().start().unwrap().wait(), PlayEnd::Finished);
    assert_eq!(times(), (0..5).map(|at| BEGIN + at * MILLISECOND).collect::<Vec<_>>());
    assert_eq!(node.now().nanoseconds().unsigned_abs(), BEGIN + 4 * MILLISECOND);

    let builder = Player::builder(&context).bags([&path]).clock(PlayerClock::Hertz(1e5)).start_paused();
    let player = builder.start().unwrap();
    // It shows the time while it stands still, too.
    while node.now().nanoseconds().unsigned_abs() != BEGIN {
        assert_eq!(player.wait_for(Duration::from_micros(100)), None);
    }
    player.resume();
    assert_eq!(player.wait(), PlayEnd::Finished);
    let times = times();
    assert!(times.first() == Some(&BEGIN) && times.is_sorted(), "{times:?}");
}

#[test]
fn a_clock_that_is_always_due_lets_messages_through() {
    let (_directory, path) = place();
    write(&path, 5);
    let context = context();
    let listener = listen(&context, "/chatter");
    let player = Player::builder(&context).bags([&path]).clock(PlayerClock::Hertz(1e9)).start().unwrap();
    assert_eq!((player.wait(), take(&listener)), (PlayEnd::Finished, numbers(0..5)));
}

#[test]
fn errors_say_why_nothing_is_played() {
    let (_directory, path) = place();
    write(&path, 3);
    let context = context();
    let builder = || Player::builder(&context).bags([&path]);
    let error = builder().topics(["/other/chatter"]).start().unwrap_err();
    assert!(
        matches!(&error, PlayError::Bag(BagError::NoTopic { similar: Some(name), .. }) if name == "/chatter")
    );
    assert_eq!(error.code(), ErrorCode::UnknownTopic);
    let error = builder().exclude(["/chatter"]).start().unwrap_err();
    assert_eq!(error.to_string(), "nothing can be played: no topic is selected");
    let error = builder().start_offset(Duration::from_secs(1)).start().unwrap_err();
    assert!(error.to_string().contains("the bags last 2ms"), "{error}");
    for rate in [0.0, -1.0, f64::NAN] {
        assert!(matches!(builder().rate(rate).start(), Err(PlayError::Rate { .. })));
    }
    for hertz in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e10] {
        let error = builder().clock(PlayerClock::Hertz(hertz)).start().unwrap_err();
        assert!(matches!(error, PlayError::Frequency { .. }), "{hertz}");
    }
    assert!(matches!(builder().bags(["/nowhere"]).start(), Err(PlayError::Bag(BagError::File { .. }))));
    assert!(Player::builder(&context).start().is_err());
}
