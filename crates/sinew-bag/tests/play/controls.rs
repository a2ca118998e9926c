//! Pausing, stepping, seeking, stopping.

use crate::{BEGIN, MILLISECOND, context, listen, numbers, place, take, write};
use sinew::prelude::*;
use sinew::time::Time;
use sinew_bag::{PlayEnd, Player};
use sinew_interfaces::std_msgs::msg::String as Text;
use std::sync::atomic::{AtomicBool, Ordering};

#[test]
fn steps_publish_the_next_messages() {
    let (_directory, path) = place();
    write(&path, 10);
    let context = context();
    let listener = listen(&context, "/chatter");
    let player = Player::builder(&context).bags([&path]).start_paused().start().unwrap();
    assert!(player.is_paused());
    assert_eq!((player.step(1), take(&listener)), (1, numbers(0..1)));
    assert_eq!((player.step(3), take(&listener)), (3, numbers(1..4)));
    assert_eq!(player.progress().position, BEGIN + 3 * MILLISECOND);
    assert_eq!((player.step(0), player.step(100), take(&listener)), (0, 6, numbers(4..10)));
    // At the end and paused, it may still go back.
    assert_eq!(player.wait_for(Duration::from_millis(1)), None);
    assert!(player.seek(BEGIN + 8 * MILLISECOND));
    player.resume();
    assert_eq!(player.wait(), PlayEnd::Finished);
    assert_eq!((take(&listener), player.step(1)), (numbers(8..10), 0));
    assert!(!player.seek(0));
}

#[test]
fn a_player_that_stays_plays_its_rounds_again() {
    let (_directory, path) = place();
    write(&path, 3);
    let context = context();
    let listener = listen(&context, "/chatter");
    let builder = Player::builder(&context).bags([&path]).as_fast_as_possible();
    let player = builder.loops(2).stay_at_end().start().unwrap();
    let finish = || {
        while !player.is_finished() {
            player.wait_for(Duration::from_millis(1));
        }
        take(&listener)
    };
    assert_eq!(finish(), [numbers(0..3), numbers(0..3)].concat());
    assert_eq!(player.wait_for(Duration::from_millis(1)), None);
    assert!(player.play_again(Duration::from_millis(1), Duration::ZERO));
    assert_eq!(finish(), ["1", "1"]);
    assert!(player.seek(BEGIN + MILLISECOND)); // plays what `play_again` has left
    assert_eq!(finish(), ["1", "1"]);
    let progress = player.progress();
    assert_eq!((progress.seeks, player.time_at(Time::steady())), (5, progress.position)); // 3 for rounds
    assert_eq!(player.step(1), 0);
    player.stop();
    assert_eq!(player.wait(), PlayEnd::Stopped);
    assert!(!player.play_again(Duration::ZERO, Duration::MAX));
}

#[test]
fn a_part_that_is_played_again_is_not_left() {
    let (_directory, path) = place();
    write(&path, 9);
    let context = context();
    let listener = listen(&context, "/chatter");
    let player = Player::builder(&context).bags([&path]).stay_at_end().start().unwrap();
    let finish = || {
        while !player.is_finished() {
            player.wait_for(Duration::from_millis(1));
        }
        take(&listener)
    };
    assert_eq!(finish(), numbers(0..9));
    assert!(player.play_again(Duration::from_millis(2), Duration::from_millis(3)));
    assert_eq!(finish(), numbers(2..6));
    assert!(player.seek(0));
    assert_eq!(finish(), numbers(2..6));
    assert!(player.seek(u64::MAX));
    assert_eq!(finish(), ["5"]);
    // The clock goes on, but not the time of the bag.
    let (last, later) = (BEGIN + 5 * MILLISECOND, Time::steady() + Duration::from_secs(1));
    assert_eq!((player.progress().position, player.time_at(later)), (last, last));
}

#[test]
fn seeks_go_back_and_forth() {
    let (_directory, path) = place();
    write(&path, 3_000); // more than is read ahead
    let context = context();
    let listener = listen(&context, "/chatter");
    let player = Player::builder(&context).bags([&path]).start_paused().start().unwrap();
    assert_eq!(player.step(2), 2);
    for number in [2_500, 10, 11, 0, 2_999, 1_500] {
        assert!(player.seek(BEGIN + number * MILLISECOND));
        assert_eq!(player.progress().position, BEGIN + number * MILLISECOND);
        assert_eq!(player.step(1), 1);
        assert_eq!(take(&listener).last(), Some(&number.to_string()));
    }
    // Outside: the first and the last message.
    player.seek(0);
    player.step(1);
    player.seek(u64::MAX);
    player.step(1);
    assert_eq!(take(&listener), ["0", "2999"]);
}

#[test]
fn a_seek_during_a_step_is_not_undone() {
    let (_directory, path) = place();
    write(&path, 10);
    let context = context();
    let player = Player::builder(&context).bags([&path]).start_paused().start().unwrap();
    let node = context.node("listener").unwrap();
    let (seeking, is_first) = (player.clone(), AtomicBool::new(true));
    let subscription = node.subscription::<Text>("/chatter").listener(move |_| {
        // On the publishing thread, while it publishes the first message.
        if is_first.swap(false, Ordering::Relaxed) {
            assert!(seeking.seek(BEGIN + 5 * MILLISECOND));
        }
    });
    let listener = subscription.create().unwrap();
    assert_eq!((player.step(1), player.progress().position), (1, BEGIN + 5 * MILLISECOND));
    assert_eq!((player.step(1), player.progress().position), (1, BEGIN + 5 * MILLISECOND));
    assert_eq!(take(&listener), ["0", "5"]);
    player.stop();
}

#[test]
fn seeks_while_it_plays_lose_nothing_behind_them() {
    let (_directory, path) = place();
    write(&path, 2_000);
    let context = context();
    let listener = listen(&context, "/chatter");
    let player = Player::builder(&context).bags([&path]).as_fast_as_possible().start().unwrap();
    for _ in 0..20 {
        if !player.seek(BEGIN + 1_000 * MILLISECOND) {
            break;
        }
    }
    assert_eq!(player.wait(), PlayEnd::Finished);
    let texts = take(&listener);
    assert!(texts.ends_with(&numbers(1_000..2_000)), "{} texts", texts.len());
}

#[test]
fn it_pauses_and_goes_on() {
    let (_directory, path) = place();
    write(&path, 20);
    let context = context();
    let listener = listen(&context, "/chatter");
    let player = Player::builder(&context).bags([&path]).start_paused().start().unwrap();
    player.toggle();
    assert!(!player.is_paused());
    player.pause();
    player.set_rate(1_000.0).unwrap();
    assert!(player.set_rate(f64::INFINITY).is_err() && player.set_rate(0.0).is_err());
    assert_eq!((player.is_paused(), player.rate()), (true, 1_000.0));
    assert_eq!(player.wait_for(Duration::from_millis(1)), None);
    player.resume();
    assert_eq!(player.wait(), PlayEnd::Finished);
    assert_eq!(take(&listener), numbers(0..20));
}

#[test]
fn it_ends_when_it_is_stopped_or_dropped_or_its_context_ends() {
    let (_directory, path) = place();
    write(&path, 10);
    let context = context();
    let start = || Player::builder(&context).bags([&path]).rate(1e-6).loops(u64::MAX).start().unwrap();
    let player = start();
    let other = player.clone();
    player.stop();
    assert_eq!((player.wait(), other.wait()), (PlayEnd::Stopped, PlayEnd::Stopped));
    drop(start()); // waits for its threads
    let paused = Player::builder(&context).bags([&path]).start_paused().start().unwrap();
    context.shutdown();
    assert_eq!(paused.wait(), PlayEnd::Shutdown);
    assert!(Player::builder(&context).bags([&path]).start().is_err());
}

#[test]
fn messages_keep_their_times_while_the_player_goes_elsewhere() {
    let (_directory, path) = place();
    write(&path, 10);
    let context = context();
    let listener = listen(&context, "/chatter");
    let player = Player::builder(&context).bags([&path]).start_paused().stay_at_end().start().unwrap();
    player.step(3);
    player.seek(BEGIN + 7 * MILLISECOND);
    player.step(1);
    player.set_rate(1_000.0).unwrap();
    player.resume();
    while !player.is_finished() {
        player.wait_for(Duration::from_millis(1));
    }
    player.seek(BEGIN);
    let played: Vec<_> = std::iter::from_fn(|| listener.take())
        .map(|(text, info)| {
            let played = player.played(&info).unwrap();
            (
                text.data.clone(),
                (played.time - BEGIN) / MILLISECOND,
                (played.time - BEGIN) % MILLISECOND,
                played.seeks,
            )
        })
        .collect();
    let expected = [(0, 0), (1, 0), (2, 0), (7, 1), (8, 1), (9, 1)];
    let expected = expected.map(|(number, seeks)| (number.to_string(), number, 0, seeks));
    assert_eq!(played[..6], expected);
    assert!(played[6..].iter().all(|(.., seeks)| *seeks == 2)); // it plays on

    let own = context.node("other").unwrap().publisher::<Text>("/chatter").create().unwrap();
    player.stop();
    player.wait();
    take(&listener);
    own.publish(Text::default()).unwrap();
    let (_text, info) = listener.take().unwrap();
    assert_eq!(player.played(&info), None);
}

#[test]
fn a_step_has_reached_a_message_before_it_is_published() {
    let (_directory, path) = place();
    write(&path, 3);
    let context = context();
    let player = Player::builder(&context).bags([&path]).start_paused().start().unwrap();
    let (watched, positions) = (player.clone(), std::sync::mpsc::channel());
    let node = context.node("listener").unwrap();
    let subscription = node.subscription::<Text>("/chatter").listener(move |_| {
        positions.0.send(watched.progress().position).unwrap();
    });
    let _listener = subscription.create().unwrap();
    player.step(3);
    let expected = [0, 1, 2].map(|number| BEGIN + number * MILLISECOND);
    assert_eq!(positions.1.try_iter().collect::<Vec<_>>(), expected);
    player.stop();
}
