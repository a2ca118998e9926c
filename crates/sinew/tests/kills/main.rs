//! Three to six processes with every kind of entity, which are killed, stopped and started again.
//! The other processes go on, every message arrives intact and in order, and nothing is left of
//! dead processes.
//!
//! `SINEW_KILLS` sets the number of events (`.ci/deep kills`).
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]
#![expect(clippy::disallowed_methods, reason = "other processes are waited for in real time")]
#![expect(
    clippy::cast_possible_truncation,
    reason = "choices are made of lower bits, contents of lower bytes"
)]

mod actor;
mod cast;
mod ledger;
mod protocols;
#[path = "../../../sinew-core/tests/support/mod.rs"]
mod support;

use cast::Cast;
use std::path::Path;
use support::small::on_a_small_file_system;

/// Does nothing in the test itself; in a child, plays the actor's part.
#[test]
fn an_actor_plays_its_part() {
    actor::play_if_asked();
}

/// Numbers that look random, the same in each run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// Number of events, unless `SINEW_KILLS` asks for more: each kind once.
const SHORT: u64 = 4;

/// Events after which the processes end, and others meet.
const SEASON: u64 = 40;

/// Runs all events in this directory.
fn play(base: &Path, seed: u64) {
    let events = std::env::var("SINEW_KILLS").map_or(SHORT, |kills| kills.parse().unwrap());
    let mut dice = Dice(seed);
    for first in (0..events).step_by(SEASON as usize) {
        let count = if events == SHORT { 3 } else { 3 + dice.below(4) };
        let mut cast = Cast::meet(base, count as usize);
        for event in first..events.min(first + SEASON) {
            let (which, pause) = (dice.below(count) as usize, dice.below(20_000));
            let what = if events == SHORT { event } else { dice.below(6) };
            match what {
                0 | 4 => cast.kill(which, pause),
                1 => cast.stop_and_go_on(which, pause),
                2 => cast.kill_while_it_is_stopped(which, pause),
                3 => cast.say_goodbye_and_come_again(which),
                _ => cast.kill_two((which, (which + 1) % count as usize), pause),
            }
            // Otherwise the next event happens while an actor is about to join.
            if events == SHORT || dice.below(4) > 0 {
                cast.goes_on();
            }
        }
        cast.goes_on();
        cast.end();
    }
}

#[test]
fn processes_that_die_stop_and_come_again_disturb_nobody() {
    let base = tempfile::tempdir_in("/dev/shm").unwrap();
    play(base.path(), 1);
}

#[test]
fn nor_do_they_on_a_small_file_system() {
    on_a_small_file_system("nor_do_they_on_a_small_file_system", "48m", |base| {
        play(base, 2);
        Ok(())
    })
    .unwrap();
}
