//! A message forth and one back.

use std::time::Duration;

use harness::pingpong::{Answer, Game, Rally};
use harness::{Case, Figures, Measuring, Mode, Other, Result, now_ns};
use sinew_bench::clock::sleep_until;
use sinew_bench::machine::pin_to;
use sinew_bench::rounds::{Meter, Usage};

use crate::Morn;
use crate::morn::Channel;
use crate::names::Names;

/// Words of the answer to a message that is read whole: its number and the time.
const ANSWER: usize = 2;

/// The number of the message after the last one.
const END: u64 = u64::MAX;

/// Time for a reader of a queue to begin waiting: it misses what is written before, and no function
/// says when it is there.
const BEFORE: Duration = Duration::from_millis(200);

/// Names of the two directions.
fn channels<C: Channel>(run: &str) -> Result<(C, C)> {
    Ok((C::of(&format!("{run}-ping"))?, C::of(&format!("{run}-pong"))?))
}

/// Reads the next message, by asking again and again if that doesn't wait.
fn next<C: Channel, T>(channel: &mut C, mut read: impl FnMut(&[u64]) -> T) -> T {
    loop {
        if let Some(read) = channel.read(&mut read) {
            return read;
        }
        std::hint::spin_loop();
    }
}

pub fn run<C: Channel>(case: &Case) -> Result<Figures> {
    let game = Game::of(case)?;
    let cores = harness::two_cores()?;
    let names = Names::create()?;
    let (ping, pong) = channels(names.run())?;
    let mut other = harness::start::<Morn>(case, Some(cores.1), names.run())?;
    other.hear::<()>()?;
    if C::WAITS {
        sleep_until(now_ns() + sinew_bench::clock::nanoseconds(BEFORE));
    }
    pin_to(cores.0)?;
    let mut rally = Begins::<C> { game, ping, pong, message: vec![0; game.words()] };
    let meter = Meter::start();
    let figures = harness::pingpong::measure(case, &mut rally)?;
    rally.send(END)?;
    let usage = meter.usage();
    let of_other: Usage = other.finish()?;
    Ok(figures.using(usage + of_other))
}

/// The side that begins.
struct Begins<C> {
    game: Game,
    ping: C,
    pong: C,
    message: Vec<u64>,
}

impl<C: Channel> Rally<anyhow::Error> for Begins<C> {
    fn send(&mut self, number: u64) -> Result<()> {
        self.game.write(&mut self.message, number);
        self.ping.write(&self.message);
        Ok(())
    }

    fn answer(&mut self) -> Result<Answer> {
        let whole = self.game.mode == Mode::Whole;
        Ok(next(&mut self.pong, |words| Answer {
            number: words[0],
            end_ns: whole.then(|| words[1].cast_signed()),
        }))
    }
}

/// In the other process: answers until the message after the last one.
pub fn serve<C: Channel>(other: &Other, measuring: Measuring) -> Result<()> {
    let game = Game::of(&other.case)?;
    let (mut ping, mut pong) = channels::<C>(&other.note)?;
    let mut answer = vec![0; if game.mode == Mode::Whole { ANSWER } else { game.words() }];
    measuring.tell(&())?;
    let meter = Meter::start();
    loop {
        let (number, read_ns) = next(&mut ping, |words| game.read(words));
        if number == END {
            return Ok(measuring.tell(&meter.usage())?);
        }
        answer[0] = number;
        if game.mode == Mode::Whole {
            answer[1] = read_ns.cast_unsigned();
        }
        pong.write(&answer);
    }
}
