//! The services of rosbag2's player.

use crate::{BEGIN, MILLISECOND, context, listen, numbers, place, take, write};
use sinew::Service;
use sinew::prelude::*;
use sinew_bag::{PlayEnd, Player};
use sinew_interfaces::builtin_interfaces::msg::{Duration as DurationMessage, Time as TimeMessage};
use sinew_interfaces::rosbag2_interfaces::srv::*;

#[test]
fn they_control_the_player() {
    let (_directory, path) = place();
    write(&path, 10);
    let context = context();
    let listener = listen(&context, "/chatter");
    let player = Player::builder(&context).bags([&path]).rate(1e-6).control_services().start().unwrap();
    let node = context.node("rqt").unwrap();

    assert!(!call::<PlayNext>(&node, "play_next", Default::default()).success); // not paused
    call::<Pause>(&node, "pause", Default::default());
    assert!(call::<IsPaused>(&node, "is_paused", Default::default()).paused);
    assert!(call::<Seek>(&node, "seek", SeekRequest { time: time(2) }).success);
    assert!(call::<PlayNext>(&node, "play_next", Default::default()).success);
    assert!(take(&listener).ends_with(&numbers(2..3)));
    assert_eq!(call::<Burst>(&node, "burst", BurstRequest { num_messages: 3 }).actually_burst, 3);
    assert_eq!(take(&listener), numbers(3..6));
    assert_eq!(call::<Burst>(&node, "burst", Default::default()).actually_burst, 4);
    assert_eq!(take(&listener), numbers(6..10));

    assert!(call::<SetRate>(&node, "set_rate", SetRateRequest { rate: 2.0 }).success);
    assert!(!call::<SetRate>(&node, "set_rate", SetRateRequest { rate: 0.0 }).success);
    assert!((call::<GetRate>(&node, "get_rate", Default::default()).rate - 2.0).abs() < f64::EPSILON);
    assert!(call::<Seek>(&node, "seek", SeekRequest { time: TimeMessage { sec: -1, nanosec: 0 } }).success);
    assert_eq!(player.progress().position, BEGIN);
    call::<TogglePaused>(&node, "toggle_paused", Default::default());
    assert!(!player.is_paused());
    call::<Pause>(&node, "pause", Default::default());
    call::<Resume>(&node, "resume", Default::default());
    assert_eq!(player.wait(), PlayEnd::Finished);
    assert_eq!(take(&listener), numbers(0..10));
    assert_eq!(call::<Burst>(&node, "burst", Default::default()).actually_burst, 0);
}

#[test]
fn play_begins_again() {
    let (_directory, path) = place();
    write(&path, 10);
    let context = context();
    let listener = listen(&context, "/chatter");
    let builder = Player::builder(&context).bags([&path]).as_fast_as_possible();
    let player = builder.stay_at_end().control_services().start_paused().start().unwrap();
    let node = context.node("rqt").unwrap();
    let play = |request| call::<Play>(&node, "play", request).success;
    let finish = || {
        while !player.is_finished() {
            player.wait_for(Duration::from_millis(1));
        }
        take(&listener)
    };
    assert!(!play(PlayRequest::default())); // it is playing
    player.resume();
    assert_eq!(finish(), numbers(0..10));
    let milliseconds = |number: u32| number * 1_000_000;
    let offset = |number| TimeMessage { sec: 0, nanosec: milliseconds(number) };
    let length = |number| DurationMessage { sec: 0, nanosec: milliseconds(number) };
    for (request, played) in [
        (PlayRequest::default(), 0..10),
        (PlayRequest { start_offset: offset(7), ..Default::default() }, 7..10),
        (PlayRequest { start_offset: offset(2), playback_duration: length(3), ..Default::default() }, 2..6),
        (PlayRequest { playback_until_timestamp: time(4), ..Default::default() }, 0..5),
        (
            PlayRequest {
                playback_duration: length(2),
                playback_until_timestamp: time(5),
                ..Default::default()
            },
            0..6,
        ),
    ] {
        assert!(play(request), "{request:?}");
        assert_eq!(finish(), numbers(played), "{request:?}");
    }
    assert_eq!((player.wait_for(Duration::ZERO), player.progress().rounds), (None, 6));
    player.stop();
    assert_eq!(player.wait(), PlayEnd::Stopped);
    assert!(!play(PlayRequest::default()));
}

#[test]
fn stop_ends_it() {
    let (_directory, path) = place();
    write(&path, 10);
    let context = context();
    let player = Player::builder(&context).bags([&path]).start_paused().control_services().start().unwrap();
    call::<Stop>(&context.node("rqt").unwrap(), "stop", Default::default());
    assert_eq!(player.wait(), PlayEnd::Stopped);
}

fn time(at: u64) -> TimeMessage {
    sinew::time::Time::from_nanoseconds((BEGIN + at * MILLISECOND) as i64).to_msg()
}

fn call<S: Service>(node: &Node, name: &str, request: S::Request) -> S::Response
where
    S::Response: Clone,
{
    let client = node.client::<S>(&format!("/rosbag2_player/{name}")).create().unwrap();
    (*client.call(request, Duration::from_secs(60)).unwrap()).clone()
}
