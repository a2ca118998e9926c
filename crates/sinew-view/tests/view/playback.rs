//! A bag that viewers play.

use crate::client::{Viewer, decoded};
use serde_json::Value;
use sinew::{Context, QoS};
use sinew_bag::{BagWriter, Player, Stamps, TopicDefinition, TopicId};
use sinew_interfaces::std_msgs::msg::String as Text;
use sinew_view::{ViewServer, ViewServerBuilder};
use std::time::Duration;
use tempfile::TempDir;

/// The time of the first message.
const BEGIN: u64 = 1_700_000_000_000_000_000;
const MILLISECOND: u64 = 1_000_000;
const SDK: &[&str] = &["foxglove.sdk.v1"];

/// The status, the time, the rate, whether it has sought, and the request of a state.
type State = (u8, u64, f32, bool, String);

/// A server with a paused player of ten messages, a millisecond after each other, which viewers may
/// control.
fn served() -> (Player, ViewServer, TempDir) {
    served_with(|builder| builder.allow_playback(true))
}

fn served_with(
    settings: impl FnOnce(ViewServerBuilder) -> ViewServerBuilder,
) -> (Player, ViewServer, TempDir) {
    let numbers = |bag: &mut BagWriter| {
        let chatter = bag.add_topic(&TopicDefinition::of::<Text>("/chatter").unwrap()).unwrap();
        (0..10).for_each(|number| write(bag, chatter, number));
    };
    served_bag(numbers, settings)
}

fn served_bag(
    write: impl FnOnce(&mut BagWriter),
    settings: impl FnOnce(ViewServerBuilder) -> ViewServerBuilder,
) -> (Player, ViewServer, TempDir) {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let path = directory.path().join("bag");
    let mut bag = BagWriter::create(&path, Default::default()).unwrap();
    write(&mut bag);
    bag.close().unwrap();
    let context = Context::builder().shared_memory(false).build().unwrap();
    let player = Player::builder(&context).bags([&path]).start_paused().stay_at_end().start().unwrap();
    let server = settings(ViewServer::builder().port(0).playback(player.clone()));
    let server = server.start(&context).unwrap();
    (player, server, directory)
}

/// Writes a number at that many milliseconds after the beginning.
fn write(bag: &mut BagWriter, topic: TopicId, number: u64) {
    let stamps = Stamps::at(BEGIN + number * MILLISECOND);
    bag.write_message(topic, stamps, &Text { data: number.to_string() }).unwrap();
}

/// Subscribes to a topic of the player; returns its channel.
fn subscribe(viewer: &mut Viewer, player: &Player, topic: &str) -> Value {
    let channel = viewer.channel(topic);
    viewer.subscribe(1, &channel);
    while player.node().graph().subscription_count(topic) == 0 {
        player.node().graph().changes().wait(Duration::from_millis(10));
    }
    channel
}

fn control(viewer: &mut Viewer, command: u8, rate: f32, seek: Option<u64>, request: &str) {
    let mut frame = vec![command];
    frame.extend_from_slice(&rate.to_le_bytes());
    frame.push(seek.is_some().into());
    frame.extend_from_slice(&seek.unwrap_or(0).to_le_bytes());
    frame.extend_from_slice(&u32::try_from(request.len()).unwrap().to_le_bytes());
    frame.extend_from_slice(request.as_bytes());
    viewer.send_binary(3, &[], &frame);
}

fn state(viewer: &mut Viewer) -> State {
    let frame = viewer.binary(5);
    let time = u64::from_le_bytes(frame[2..10].try_into().unwrap());
    let rate = f32::from_le_bytes(frame[10..14].try_into().unwrap());
    (frame[1], time, rate, frame[14] != 0, String::from_utf8(frame[19..].to_vec()).unwrap())
}

#[test]
fn a_viewer_plays_a_bag() {
    let (player, server, _directory) = served();
    let mut viewer = Viewer::connect(&server, "", SDK).unwrap();
    for capability in ["time", "playbackControl"] {
        assert!(viewer.info["capabilities"].as_array().unwrap().contains(&capability.into()));
    }
    assert_eq!(viewer.info["dataStartTime"]["sec"], BEGIN / 1_000_000_000);
    assert_eq!(viewer.info["dataEndTime"]["nsec"], 9 * MILLISECOND);
    assert_eq!(state(&mut viewer), (1, BEGIN, 1.0, false, String::new()));
    let channel = subscribe(&mut viewer, &player, "/chatter");

    control(&mut viewer, 1, 1.0, Some(BEGIN + 7 * MILLISECOND), "seek");
    assert_eq!(state(&mut viewer), (1, BEGIN + 7 * MILLISECOND, 1.0, true, "seek".to_owned()));
    control(&mut viewer, 0, 0.25, None, "play");
    let (status, _, rate, did_seek, request) = state(&mut viewer);
    assert!(status != 1 && rate == 0.25 && !did_seek && request == "play");
    for number in 7..10 {
        let (id, time, bytes) = viewer.message();
        assert_eq!((id, &decoded(&channel, &bytes)["data"]), (1, &number.to_string().into()));
        assert_eq!(time, BEGIN + number * MILLISECOND);
    }
}

#[test]
fn messages_of_a_step_have_their_times() {
    let (player, server, _directory) = served();
    let mut viewer = Viewer::connect(&server, "", SDK).unwrap();
    let channel = subscribe(&mut viewer, &player, "/chatter");
    assert_eq!(player.step(3), 3);
    for number in 0..3 {
        let (_, time, bytes) = viewer.message();
        assert_eq!(decoded(&channel, &bytes)["data"], number.to_string());
        assert_eq!(time, BEGIN + number * MILLISECOND);
    }
}

#[test]
fn a_seek_comes_before_what_it_restores() {
    let latched = |bag: &mut BagWriter| {
        let map = TopicDefinition::of::<Text>("/map").unwrap().qos(QoS::new().keep_last(1).transient_local());
        let map = bag.add_topic(&map).unwrap();
        (0..10).for_each(|number| write(bag, map, number));
    };
    let (player, server, _directory) = served_bag(latched, |builder| builder.allow_playback(true));
    let mut viewer = Viewer::connect(&server, "", SDK).unwrap();
    state(&mut viewer);
    let channel = subscribe(&mut viewer, &player, "/map");
    for (number, by_viewer) in [(8, true), (5, false), (9, false), (2, true)] {
        let time = BEGIN + number * MILLISECOND;
        match by_viewer {
            true => control(&mut viewer, 1, 1.0, Some(time), ""),
            false => assert!(player.seek(time)),
        }
        assert_eq!(state(&mut viewer).1, time);
        assert_eq!(viewer.any_binary()[..], [&[2][..], &time.to_le_bytes()].concat());
        let frame = viewer.any_binary();
        assert_eq!((frame[0], &frame[5..13]), (1, &time.to_le_bytes()[..]));
        assert_eq!(decoded(&channel, &frame[13..])["data"], (number - 1).to_string());
    }
}

#[test]
fn all_viewers_follow_a_player_that_others_control() {
    let (player, server, _directory) = served();
    let mut viewers = [0, 1].map(|_| Viewer::connect(&server, "", SDK).unwrap());
    viewers.iter_mut().for_each(|viewer| drop(state(viewer)));
    player.seek(BEGIN + 2 * MILLISECOND);
    for viewer in &mut viewers {
        assert_eq!(state(viewer), (1, BEGIN + 2 * MILLISECOND, 1.0, true, String::new()));
    }
    player.step(100); // to the end
    for viewer in &mut viewers {
        assert_eq!(state(viewer), (3, BEGIN + 9 * MILLISECOND, 1.0, false, String::new()));
    }
    // What can't be done is said to the viewer that wanted it.
    control(&mut viewers[0], 1, 0.0, None, "x");
    viewers[0].status("rate");
    assert_eq!(state(&mut viewers[1]).4, "x");
    player.stop();
    player.wait();
    control(&mut viewers[0], 0, 1.0, Some(BEGIN), "y");
    viewers[0].status("has ended");
    assert_eq!(state(&mut viewers[1]).4, "y");
}

#[test]
fn a_bag_is_watched_and_not_controlled_by_default() {
    let (player, server, _directory) = served_with(|builder| builder);
    let mut viewer = Viewer::connect(&server, "", SDK).unwrap();
    let capabilities = viewer.info["capabilities"].as_array().unwrap();
    assert!(capabilities.contains(&"time".into()) && !capabilities.contains(&"playbackControl".into()));
    assert_eq!(state(&mut viewer), (1, BEGIN, 1.0, false, String::new()));
    control(&mut viewer, 0, 2.0, Some(BEGIN + 7 * MILLISECOND), "x");
    viewer.status("can't be controlled");
    assert!(player.is_paused() && player.rate() == 1.0 && player.progress().position == BEGIN);
}

#[test]
fn a_server_without_a_bag_refuses_commands() {
    let world = crate::world::World::new();
    let mut viewer = world.viewer();
    assert!(viewer.info.get("dataStartTime").is_none());
    control(&mut viewer, 0, 1.0, None, "x");
    viewer.status("no bag");
}
