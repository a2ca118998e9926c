//! The playback of bags: a player for all viewers of a server, which each of them controls.

use crate::hub::Hub;
use crate::wire::{self, PlaybackCommand, PlaybackState, PlaybackStatus};
use sinew::__private::locks::Mutex;
use sinew::time::Time;
use sinew_bag::{Player, Progress};
use std::time::Duration;

/// Time between two looks at the player: it also stops at its end, and others may control it.
const LOOK_PERIOD: Duration = Duration::from_millis(50);

/// The state of a player as viewers know it.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Known {
    status: PlaybackStatus,
    rate: f32,
    seeks: u64,
}

pub(crate) struct Playback {
    player: Player,
    /// The state that was sent last.
    known: Mutex<Known>,
}

impl Playback {
    pub(crate) fn new(player: Player) -> Self {
        let known = Mutex::new(known(&player));
        Self { player, known }
    }

    /// Sends viewers the time and what changes, until the server ends.
    pub(crate) fn follow(&self, hub: &Hub) {
        let mut last = None;
        while !hub.is_ending() {
            if let Some(frame) = self.news(&mut self.known.lock()) {
                hub.broadcast(&frame);
            }
            let Progress { position, .. } = self.player.progress();
            if last.replace(position) != Some(position) {
                hub.broadcast(&wire::time(position));
            }
            hub.wait_for_an_end(LOOK_PERIOD);
        }
    }

    /// Returns the first and the last time of the bags, in nanoseconds since the epoch.
    pub(crate) fn span(&self) -> (u64, u64) {
        let Progress { start, end, .. } = self.player.progress();
        (start, end)
    }

    /// Returns the state for a new viewer.
    pub(crate) fn state(&self) -> Vec<u8> {
        frame(&self.player, known(&self.player), false, "")
    }

    /// Returns the time of the bags of a message that was published at a wall time.
    pub(crate) fn log_time(&self, published: Time) -> u64 {
        let shift = Time::steady().nanoseconds() - Time::wall().nanoseconds();
        self.player.time_at(Time::from_nanoseconds(published.nanoseconds() + shift))
    }

    /// Does what a viewer wants. Returns the state that comes of it, for all viewers, and the problem
    /// as a sentence, if there was one: then the rest of the command is done.
    pub(crate) fn control(&self, command: &PlaybackCommand<'_>) -> (Vec<u8>, Result<(), String>) {
        let PlaybackCommand { is_paused, rate, seek, request } = *command;
        // Under the lock, so that the other thread doesn't send these changes as well.
        let mut known_state = self.known.lock();
        let rate = self.player.set_rate(f64::from(rate)).map_err(|error| error.to_string());
        if is_paused {
            self.player.pause();
        }
        let sought = seek.is_none_or(|time| self.player.seek(time));
        if !is_paused {
            self.player.resume();
        }
        let now = known(&self.player);
        let did_seek = now.seeks != known_state.seeks;
        *known_state = now;
        let state = frame(&self.player, now, did_seek, request);
        (state, if sought { rate } else { Err("the playback has ended".to_owned()) })
    }

    /// Returns the state if it has changed.
    fn news(&self, before: &mut Known) -> Option<Vec<u8>> {
        let now = known(&self.player);
        let before = std::mem::replace(before, now);
        (before != now).then(|| frame(&self.player, now, before.seeks != now.seeks, ""))
    }
}

#[expect(clippy::cast_possible_truncation, reason = "viewers have rates of this precision")]
fn known(player: &Player) -> Known {
    let Progress { position, end, seeks, .. } = player.progress();
    let status = match player.is_paused() {
        _ if player.is_finished() => PlaybackStatus::Ended,
        true if position >= end => PlaybackStatus::Ended, // by steps, or a seek
        true => PlaybackStatus::Paused,
        false => PlaybackStatus::Playing,
    };
    Known { status, rate: player.rate() as f32, seeks }
}

fn frame(player: &Player, known: Known, did_seek: bool, request: &str) -> Vec<u8> {
    let Known { status, rate, .. } = known;
    let time = player.progress().position;
    wire::playback_state(&PlaybackState { status, time, rate, did_seek, request })
}
