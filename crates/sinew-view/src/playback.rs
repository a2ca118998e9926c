//! The playback of bags: a player for all viewers of a server, which each of them controls.
//!
//! A viewer forgets its messages at a seek. So each client gets first the messages of the old
//! place, then the seek and the new time, and then the messages of the new place. The thread that
//! writes to a client asks for the [place](Playback::place_of) of each message; the first one of
//! them that has a message of a new place announces the seek to all clients. From then on the
//! messages of the old place that still wait are dropped.

use crate::wire::{self, PlaybackCommand, PlaybackState, PlaybackStatus};
use sinew::__private::locks::Mutex;
use sinew::MessageInfo;
use sinew::time::Time;
use sinew_bag::{Player, Progress};

/// The state of a player as viewers know it.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Known {
    status: PlaybackStatus,
    rate: f32,
    seeks: u64,
}

/// The state of a player, and the time of the bags.
#[derive(Debug, Clone, Copy)]
struct News {
    known: Known,
    time: u64,
}

pub(crate) struct Playback {
    player: Player,
    /// The news that was sent last. It is sent under this lock, so that it comes in its order, and
    /// once.
    sent: Mutex<News>,
}

impl Playback {
    pub(crate) fn new(player: Player) -> Self {
        let sent = Mutex::new(News::of(&player));
        Self { player, sent }
    }

    /// Prepares for subscriptions in which this number of messages waits.
    pub(crate) fn remember(&self, messages: usize) {
        // The player may publish more between taking a message and looking for its time.
        self.player.remember(messages.saturating_mul(2));
    }

    /// Returns the first and the last time of the bags, in nanoseconds since the epoch.
    pub(crate) fn span(&self) -> (u64, u64) {
        let Progress { start, end, .. } = self.player.progress();
        (start, end)
    }

    /// Returns the frames for a new viewer: the state and the time.
    pub(crate) fn greeting(&self) -> [Vec<u8>; 2] {
        let now = News::of(&self.player);
        [now.state(false, ""), wire::time(now.time)]
    }

    /// Returns the time of the bags for a message, and the number of seeks before it; `None` if
    /// viewers have been sent a later seek. If they don't know of that number of seeks yet, sends
    /// them the state and the time with `broadcast` before.
    ///
    /// A message that the player didn't publish is of the present place: the time of the bags at
    /// its publication, or that of the last change since.
    pub(crate) fn place_of(&self, message: &MessageInfo, broadcast: impl Fn(&[u8])) -> Option<(u64, u64)> {
        let Some(played) = self.player.played(message) else {
            let shift = Time::steady().nanoseconds() - Time::wall().nanoseconds();
            let published = Time::from_nanoseconds(message.source_time().nanoseconds() + shift);
            return Some((self.player.time_at(published), self.sent.lock().known.seeks));
        };
        let mut sent = self.sent.lock();
        if played.seeks > sent.known.seeks {
            *sent = self.send(&sent, None, broadcast);
        }
        (played.seeks == sent.known.seeks).then_some((played.time, played.seeks))
    }

    /// Executes a viewer's command, and sends all viewers the new state with `broadcast`.
    ///
    /// # Errors
    /// The problem as a sentence; the other parts of the command are executed.
    pub(crate) fn control(
        &self,
        command: &PlaybackCommand<'_>,
        broadcast: impl Fn(&[u8]),
    ) -> Result<(), String> {
        let PlaybackCommand { is_paused, rate, seek, request } = *command;
        let mut sent = self.sent.lock();
        let rate = self.player.set_rate(f64::from(rate)).map_err(|error| error.to_string());
        if is_paused {
            self.player.pause();
        }
        let sought = seek.is_none_or(|time| self.player.seek(time));
        if !is_paused {
            self.player.resume();
        }
        *sent = self.send(&sent, Some(request), broadcast);
        if sought { rate } else { Err("the playback has ended".to_owned()) }
    }

    /// Sends all viewers with `broadcast` what has changed.
    pub(crate) fn send_news(&self, broadcast: impl Fn(&[u8])) {
        let mut sent = self.sent.lock();
        *sent = self.send(&sent, None, broadcast);
    }

    /// Sends the state if it has changed or was requested, and the time if that has changed.
    /// Returns both.
    fn send(&self, before: &News, request: Option<&str>, broadcast: impl Fn(&[u8])) -> News {
        let now = News::of(&self.player);
        if request.is_some() || now.known != before.known {
            let did_seek = now.known.seeks != before.known.seeks;
            broadcast(&now.state(did_seek, request.unwrap_or_default()));
        }
        if now.time != before.time {
            broadcast(&wire::time(now.time));
        }
        now
    }
}

impl News {
    #[expect(clippy::cast_possible_truncation, reason = "viewers have rates of this precision")]
    fn of(player: &Player) -> Self {
        let Progress { position, end, seeks, .. } = player.progress();
        let status = match player.is_paused() {
            _ if player.is_finished() => PlaybackStatus::Ended,
            true if position >= end => PlaybackStatus::Ended, // by steps, or a seek
            true => PlaybackStatus::Paused,
            false => PlaybackStatus::Playing,
        };
        Self { known: Known { status, rate: player.rate() as f32, seeks }, time: position }
    }

    /// Writes the state as a frame.
    fn state(&self, did_seek: bool, request: &str) -> Vec<u8> {
        let Self { known: Known { status, rate, .. }, time } = *self;
        wire::playback_state(&PlaybackState { status, time, rate, did_seek, request })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew::Context;
    use sinew_bag::{BagWriter, Stamps, TopicDefinition};
    use sinew_interfaces::std_msgs::msg::String as Text;
    use std::cell::RefCell;

    #[test]
    fn messages_of_a_place_that_viewers_have_left_are_dropped() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("bag");
        let mut bag = BagWriter::create(&path, Default::default()).unwrap();
        let chatter = bag.add_topic(&TopicDefinition::of::<Text>("/chatter").unwrap()).unwrap();
        for time in 0..10 {
            bag.write_message(chatter, Stamps::at(time), &Text::default()).unwrap();
        }
        bag.close().unwrap();
        let context = Context::builder().shared_memory(false).build().unwrap();
        let node = context.node("viewer").unwrap();
        let subscription = node.subscription::<Text>("/chatter").create().unwrap();
        let player = Player::builder(&context).bags([&path]).start_paused().start().unwrap();
        let playback = Playback::new(player.clone());
        let sent = RefCell::new(Vec::new());
        let broadcast = |frame: &[u8]| sent.borrow_mut().push(frame.to_vec());
        let place_of_next = || playback.place_of(&subscription.take().unwrap().1, broadcast);

        player.step(4);
        assert_eq!((place_of_next(), place_of_next()), (Some((0, 0)), Some((1, 0))));
        // A seek that viewers don't know of changes nothing, until the first message behind it.
        player.seek(7);
        player.step(2);
        assert_eq!((place_of_next(), sent.borrow().len()), (Some((2, 0)), 0));
        let before_last = subscription.take().unwrap().1;
        assert_eq!(place_of_next(), Some((7, 1)));
        let state =
            PlaybackState { status: PlaybackStatus::Paused, time: 8, rate: 1.0, did_seek: true, request: "" };
        assert_eq!(sent.take(), [wire::playback_state(&state), wire::time(8)]);
        assert_eq!(playback.place_of(&before_last, broadcast), None);
        // One that viewers know of counts at once.
        let seek = PlaybackCommand { is_paused: true, rate: 1.0, seek: Some(1), request: "a" };
        playback.control(&seek, broadcast).unwrap();
        assert_eq!((place_of_next(), sent.take().len()), (None, 2));
        player.step(1);
        assert_eq!((place_of_next(), sent.take().len()), (Some((1, 2)), 0));

        // A message of another publisher is of the present place.
        let other = node.publisher::<Text>("/chatter").create().unwrap();
        other.publish(Text::default()).unwrap();
        assert_eq!(place_of_next(), Some((1, 2)));
    }
}
