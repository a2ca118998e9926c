//! A message forth and one back.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use harness::pingpong::{Answer, Game, Rally};
use harness::{Case, Figures, Measuring, Mode, Other, Process, Result, Wait, Work};
use sinew_bench::machine::pin_to;
use sinew_bench::rounds::{Meter, Usage};

use crate::domain::{self, Domain};
use crate::ports::{Input, Output, Topic, while_alive};
use crate::{Iceoryx2, ports};

/// Words of the answer to a message that is read whole: its number and the time.
const ANSWER: usize = 2;

/// Returns `true` if both sides of a case sleep.
pub fn sleeping(case: &Case) -> bool {
    matches!(case.work, Work::PingPong { wait: Wait::Sleep, .. } | Work::Requests { wait: Wait::Sleep, .. })
}

fn topics(case: &Case) -> (Topic, Topic) {
    (Topic::new("ping", sleeping(case)), Topic::new("pong", sleeping(case)))
}

pub fn run(case: &Case) -> Result<Figures> {
    let game = Game::of(case)?;
    let cores = harness::two_cores()?;
    let domain = Domain::create()?;
    let node = domain.node()?;
    let (ping, pong) = topics(case);
    let (output, input) = (ping.output(&node, game.words())?, pong.input(&node)?);
    let mut other = harness::start::<Iceoryx2>(case, Some(cores.1), domain.name())?;
    other.hear::<()>()?;
    pin_to(cores.0)?;
    measure(case, Begins { game, output, input, other }, |rally| rally.other)
}

/// Measures a rally with another process that runs [`serve_until_told`], including the resources of
/// both.
pub fn measure<R: Rally<anyhow::Error>>(
    case: &Case,
    mut rally: R,
    other: impl FnOnce(R) -> Process,
) -> Result<Figures> {
    let meter = Meter::start();
    let figures = harness::pingpong::measure(case, &mut rally)?;
    let usage = meter.usage();
    let of_other: Usage = other(rally).finish()?;
    Ok(figures.using(usage + of_other))
}

/// The side that begins.
struct Begins {
    game: Game,
    output: Output,
    input: Input,
    other: Process,
}

impl Rally<anyhow::Error> for Begins {
    fn send(&mut self, number: u64) -> Result<()> {
        self.output.send(self.game.words(), |words| self.game.write(words, number))
    }

    fn answer(&mut self) -> Result<Answer> {
        let answer = self.input.next(while_alive(&mut self.other))?;
        let answer = answer.ok_or_else(|| anyhow::anyhow!("there was no answer"))?;
        let end_ns = (self.game.mode == Mode::Whole).then(|| answer[1].cast_signed());
        Ok(Answer { number: answer[0], end_ns })
    }
}

pub fn serve(other: &Other, measuring: Measuring) -> Result<()> {
    let game = Game::of(&other.case)?;
    let node = domain::node(&other.note)?;
    let (ping, pong) = topics(&other.case);
    let (input, output) = (ping.input(&node)?, pong.output(&node, game.words().max(ANSWER))?);
    let listener = ping.sleeping.then_some(ping.name);
    serve_until_told(measuring, &other.note, listener, |goes_on| {
        while let Some(message) = input.next(|| Ok(goes_on.load(Ordering::Relaxed)))? {
            let (number, read_ns) = game.read(&message);
            match game.mode {
                Mode::Loan => output.send(game.words(), |words| words[0] = number)?,
                Mode::Whole => output.send(ANSWER, |words| {
                    words.copy_from_slice(&[number, read_ns.cast_unsigned()]);
                })?,
            }
        }
        Ok(())
    })
}

/// In the other process: answers by calling `serve` until the measuring process ends the round, and
/// sends it the resources that this process used.
pub fn serve_until_told(
    measuring: Measuring,
    domain: &str,
    listener: Option<String>,
    serve: impl FnOnce(&AtomicBool) -> Result<()>,
) -> Result<()> {
    measuring.tell(&())?;
    let goes_on = until_told(measuring, domain, listener);
    let meter = Meter::start();
    serve(&goes_on)?;
    Ok(measuring.tell(&meter.usage())?)
}

/// Returns a flag that is lowered when the measuring process ends the round; then the listener of
/// that name is woken as well.
pub fn until_told(measuring: Measuring, domain: &str, listener: Option<String>) -> Arc<AtomicBool> {
    let goes_on = Arc::new(AtomicBool::new(true));
    let (flag, domain) = (goes_on.clone(), domain.to_owned());
    measuring.at_the_end(
        || 0,
        move || {
            flag.store(false, Ordering::Relaxed);
            // A listener that isn't woken looks at the flag by itself a little later.
            let woken = listener.map(|name| {
                ports::bell(&domain::node(&domain)?, &name)?.notify().map_err(anyhow::Error::from)
            });
            drop(woken);
        },
    );
    goes_on
}
