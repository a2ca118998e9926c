//! Latched topics.

use crate::{BEGIN, MILLISECOND, Writing, context, listen, listen_with, place, take};
use sinew::prelude::*;
use sinew::qos::{Durability, History};
use sinew_bag::{PlayEnd, Player};
use std::path::Path;

fn latched() -> QoS {
    QoS::default().keep_last(1).transient_local()
}

/// Writes a bag with a latched topic of two publishers, one of one publisher, and an ordinary one.
fn write(path: &Path) {
    let mut bag = Writing::begin(path);
    let frames = bag.topic("/tf_static", &[latched(), latched()]);
    let map = bag.topic("/map", &[latched()]);
    let chatter = bag.topic("/chatter", &[QoS::default()]);
    bag.text(chatter, 0, "c0");
    bag.text(frames, 1, "base");
    bag.text(map, 2, "old map");
    bag.text(frames, 3, "laser");
    bag.text(map, 4, "map");
    bag.text(chatter, 5, "c5");
    bag.text(map, 6, "new map");
    bag.text(chatter, 7, "c7");
    bag.close();
}

#[test]
fn what_was_retained_at_the_start_comes_first() {
    let (_directory, path) = place();
    write(&path);
    let context = context();
    let [frames, map, chatter] = ["/tf_static", "/map", "/chatter"].map(|topic| listen(&context, topic));
    let offset = Duration::from_millis(5);
    let player = Player::builder(&context).bags([&path]).start_offset(offset).loops(2).start().unwrap();
    assert_eq!(player.wait(), PlayEnd::Finished);
    assert_eq!(take(&frames), ["base", "laser", "base", "laser"]);
    assert_eq!(take(&map), ["map", "new map", "map", "new map"]);
    assert_eq!(take(&chatter), ["c5", "c7", "c5", "c7"]);
    let topics = player.statistics().topics;
    let figures = topics.iter().map(|topic| (topic.name.as_str(), topic.published, topic.restored));
    assert_eq!(figures.collect::<Vec<_>>(), [("/chatter", 4, 0), ("/map", 2, 2), ("/tf_static", 0, 4)]);
}

#[test]
fn a_seek_restores_what_was_retained_then() {
    let (_directory, path) = place();
    write(&path);
    let context = context();
    let [frames, map] = ["/tf_static", "/map"].map(|topic| listen(&context, topic));
    let player = Player::builder(&context).bags([&path]).start_paused().start().unwrap();
    let seek = |at: u64| {
        player.seek(BEGIN + at * MILLISECOND);
        player.step(1); // behind what is restored
        (take(&frames), take(&map))
    };
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    assert_eq!(seek(7), (texts(&["base", "laser"]), texts(&["new map"])));
    assert_eq!(seek(5), (texts(&["base", "laser"]), texts(&["map"])));
    assert_eq!(seek(2), (texts(&["base"]), texts(&["old map"])));
    assert_eq!(seek(0), (texts(&[]), texts(&[])));
}

#[test]
fn restored_messages_have_the_time_of_the_seek() {
    let (_directory, path) = place();
    write(&path);
    let context = context();
    let map = listen(&context, "/map");
    let player = Player::builder(&context).bags([&path]).start_paused().start().unwrap();
    player.seek(BEGIN + 5 * MILLISECOND);
    player.step(2);
    let times = std::iter::from_fn(|| map.take()).map(|(_, info)| player.played(&info).unwrap().time - BEGIN);
    assert_eq!(times.collect::<Vec<_>>(), [5 * MILLISECOND, 6 * MILLISECOND]);
}

#[test]
fn late_joiners_get_as_much_as_from_the_recorded_publishers() {
    let (_directory, path) = place();
    write(&path);
    let context = context();
    let player = Player::builder(&context).bags([&path]).start_paused().start().unwrap();
    player.step(8);
    let publishers = player.node().graph().publishers("/tf_static");
    assert_eq!(publishers[0].qos.durability, Durability::TransientLocal);
    assert_eq!(publishers[0].qos.history, History::KeepLast(2));
    let late = |topic| take(&listen_with(&context, topic, QoS::default().keep_last(10).transient_local()));
    assert_eq!(late("/tf_static"), ["base", "laser"]);
    assert_eq!(late("/map"), ["new map"]);
}

#[test]
fn another_qos_can_be_given() {
    let (_directory, path) = place();
    write(&path);
    let context = context();
    let builder =
        Player::builder(&context).bags([&path]).qos_overrides([("/map".to_owned(), QoS::sensor_data())]);
    let player =
        builder.start_offset(Duration::from_millis(5)).as_fast_as_possible().start_paused().start().unwrap();
    let publishers = player.node().graph().publishers("/map");
    assert_eq!(publishers[0].qos, QoS::sensor_data());
    player.resume();
    assert_eq!(player.wait(), PlayEnd::Finished);
    let map = player.statistics().topics.into_iter().find(|topic| topic.name == "/map").unwrap();
    assert_eq!((map.published, map.restored), (1, 0)); // no longer latched
}
