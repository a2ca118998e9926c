//! The playback of bags: a player for all viewers of a server, which each of them controls.

use crate::wire::{self, PlaybackCommand, PlaybackState, PlaybackStatus};
use sinew::__private::locks::Mutex;
use sinew::time::Time;
use sinew_bag::{Player, Progress};

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

    /// Returns the time of the bags at which the playback is.
    pub(crate) fn position(&self) -> u64 {
        self.player.progress().position
    }

    /// Executes a viewer's command, and sends all viewers the new state with `broadcast`.
    ///
    /// # Errors
    /// The problem as a sentence; the other parts of the command are executed.
    pub(crate) fn control(
        &self,
        command: &PlaybackCommand<'_>,
        broadcast: impl FnOnce(&[u8]),
    ) -> Result<(), String> {
        let PlaybackCommand { is_paused, rate, seek, request } = *command;
        // Under the lock, so that states are sent in their order, and changes once.
        let mut before = self.known.lock();
        let rate = self.player.set_rate(f64::from(rate)).map_err(|error| error.to_string());
        if is_paused {
            self.player.pause();
        }
        let sought = seek.is_none_or(|time| self.player.seek(time));
        if !is_paused {
            self.player.resume();
        }
        let now = known(&self.player);
        let did_seek = now.seeks != before.seeks;
        *before = now;
        broadcast(&frame(&self.player, now, did_seek, request));
        if sought { rate } else { Err("the playback has ended".to_owned()) }
    }

    /// Sends all viewers the state with `broadcast` if it has changed.
    pub(crate) fn send_changes(&self, broadcast: impl FnOnce(&[u8])) {
        let mut before = self.known.lock();
        let now = known(&self.player);
        let Known { seeks, .. } = *before;
        if std::mem::replace(&mut *before, now) != now {
            broadcast(&frame(&self.player, now, now.seeks != seeks, ""));
        }
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
