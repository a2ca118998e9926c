//! Readers in another participant, through shared memory: each gets everything that it waits for.

use crate::{Writing, listen_with, numbers, place, take, write};
use sinew::prelude::*;
use sinew::time::Time;
use sinew_bag::{PlayEnd, Player};
use sinew_interfaces::std_msgs::msg::String as Text;
use std::sync::mpsc;

/// Two contexts that meet in shared memory.
fn contexts(directory: &std::path::Path) -> [Context; 2] {
    [(); 2].map(|()| Context::builder().directory(directory).interrupts(false).build().unwrap())
}

#[test]
fn a_lossless_player_waits_for_a_slow_reader() {
    let (directory, path) = place();
    write(&path, 300);
    let [ours, theirs] = contexts(directory.path());
    let node = theirs.node("slow").unwrap();
    let (heard, texts) = mpsc::channel();
    let slow = move |text: &Text| {
        std::thread::yield_now();
        heard.send(text.data.clone()).unwrap();
    };
    let few = QoS::default().keep_all().max_samples(2);
    let _subscription = node.subscription::<Text>("/chatter").qos(few).callback(slow).unwrap();
    let executor = Executor::single();
    executor.add(&theirs).unwrap();
    let stop = executor.stop_handle();
    std::thread::scope(|scope| {
        scope.spawn(|| executor.spin().unwrap());
        let builder = Player::builder(&ours).bags([&path]).lossless().as_fast_as_possible();
        let builder = builder.wait_for_subscribers(Duration::from_secs(60));
        let player = builder.wait_for_all_acked(Duration::from_secs(60)).start().unwrap();
        assert_eq!(player.wait(), PlayEnd::Finished);
        assert_eq!((player.statistics().published(), player.statistics().lost()), (300, 0));
        let text = |_| texts.recv_timeout(Duration::from_secs(60)).unwrap();
        let texts: Vec<String> = (0..300).map(text).collect();
        assert_eq!(texts, numbers(0..300));
        stop.stop();
    });
}

#[test]
fn a_lossless_player_can_be_stopped_while_it_waits() {
    let (directory, path) = place();
    write(&path, 100);
    let [ours, theirs] = contexts(directory.path());
    // No reader takes messages: the player waits after a few.
    let listener = listen_with(&theirs, "/chatter", QoS::default().keep_all().max_samples(2));
    let builder = Player::builder(&ours).bags([&path]).lossless().as_fast_as_possible();
    let player = builder.wait_for_subscribers(Duration::from_secs(60)).start().unwrap();
    assert_eq!(player.wait_for(Duration::from_millis(300)), None);
    player.stop();
    assert_eq!(player.wait(), PlayEnd::Stopped);
    assert!(player.statistics().published() < 100);
    drop(listener);
}

#[test]
fn a_lossless_player_waits_for_subscriptions_of_its_process() {
    let (_directory, path) = place();
    write(&path, 300);
    let context = crate::context();
    let few = QoS::default().keep_all().max_samples(2);
    let listener = listen_with(&context, "/chatter", few);
    let player = Player::builder(&context).bags([&path]).lossless().as_fast_as_possible().start().unwrap();
    let mut texts = Vec::new();
    while texts.len() < 300 {
        let next = sinew::executor::wait_for(&mut listener.recv(), Duration::from_secs(60));
        texts.push(next.unwrap().unwrap().0.data.clone());
    }
    assert_eq!((texts, player.wait()), (numbers(0..300), PlayEnd::Finished));
    assert_eq!(player.statistics().lost(), 0);
}

#[test]
fn a_player_can_be_stopped_while_its_last_messages_are_unread() {
    let (directory, path) = place();
    write(&path, 2);
    let [ours, theirs] = contexts(directory.path());
    let listener = listen_with(&theirs, "/chatter", QoS::default());
    let builder = Player::builder(&ours).bags([&path]).wait_for_all_acked(Duration::MAX);
    let player = builder.start().unwrap();
    while player.statistics().published() < 2 {
        // If the other process finds the publisher only now, it reads what was sent already; another
        // thread of it may still be at that.
        if let Some(end) = player.wait_for(Duration::from_millis(1)) {
            let (mut texts, begun) = (take(&listener), Time::steady());
            while texts.len() < 2 && Time::steady() - begun < Duration::from_secs(60) {
                texts.extend(take(&listener));
            }
            assert_eq!((end, texts), (PlayEnd::Finished, numbers(0..2)));
            return;
        }
    }
    player.stop();
    player.wait();
}

#[test]
fn a_player_that_stays_obeys_while_its_last_messages_are_unread() {
    let (directory, path) = place();
    write(&path, 2);
    let [ours, theirs] = contexts(directory.path());
    let _listener = listen_with(&theirs, "/chatter", QoS::default());
    let builder = Player::builder(&ours).bags([&path]).stay_at_end().wait_for_all_acked(Duration::MAX);
    let player = builder.start().unwrap();
    let finish = |published| {
        while player.statistics().published() < published || !player.is_finished() {
            assert_eq!(player.wait_for(Duration::from_millis(1)), None);
        }
    };
    finish(2);
    assert!(player.play_again(Duration::ZERO, Duration::MAX));
    finish(4);
    assert!(player.seek(0));
    finish(6);
    assert_eq!(player.step(1), 0);
    player.stop();
    player.wait();
}

#[test]
fn the_first_messages_reach_subscriptions_that_are_there() {
    let (directory, path) = place();
    let mut bag = Writing::begin(&path);
    let topics: Vec<_> = (0..20).map(|number| bag.topic(&format!("/topic_{number}"), &[])).collect();
    topics.iter().for_each(|topic| bag.text(*topic, 0, "first"));
    bag.close();
    let [ours, theirs] = contexts(directory.path());
    let many = QoS::default().keep_last(10);
    let listeners: Vec<_> =
        (0..20).map(|number| listen_with(&theirs, &format!("/topic_{number}"), many)).collect();
    let player = Player::builder(&ours).bags([&path]).start().unwrap();
    assert_eq!(player.wait(), PlayEnd::Finished);
    for listener in &listeners {
        let first = sinew::executor::wait_for(&mut listener.recv(), Duration::from_secs(60));
        assert_eq!(first.unwrap().unwrap().0.data, "first");
    }
}
