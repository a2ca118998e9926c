//! Scenario `pingpong`: two processes on two cores; a message goes forth and one comes back.

mod executors;
mod polling;

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sinew::{Context, Message, Node, Publisher};

use super::case::{Case, Ground, one};
use super::floors::Floor;
use super::messages::Timing;
use super::payload::{Payload, for_size};
use super::process::{Measuring, Process, Work};
use super::report::Figures;
use super::run::{matched, shared_context};
use crate::clock::now_ns;
use crate::error::Error;
use crate::machine;
use crate::options::{PingPongCase, PingPongMode, PingPongWait};

/// The messages of a case.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
struct Game {
    mode: PingPongMode,
    wait: PingPongWait,
    size: usize,
    /// Messages per second; back to back if missing.
    rate: Option<f64>,
}

/// The work of the other process.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Echo {
    directory: PathBuf,
    case: Game,
    core: usize,
}

/// Measured beside the floor with the same work.
impl Case for PingPongCase {
    fn floors(&self) -> Result<Vec<Floor>, Error> {
        Ok(vec![match (self.wait, self.mode) {
            (PingPongWait::Sleep, _) => Floor::wake(self.rate),
            (_, PingPongMode::Whole) => Floor::handover(one(&self.size)),
            _ => Floor::line2(),
        }])
    }

    fn needs_two_cores(&self) -> bool {
        true
    }

    fn round(&self, ground: &Ground, time: Duration) -> Result<Figures, Error> {
        let cores = machine::cores()?;
        let game = Game { mode: self.mode, wait: self.wait, size: one(&self.size), rate: self.rate };
        ground.round(|path| for_size!(game.size, round(path, game, cores, time)))
    }
}

/// Measures one round.
fn round<P: Payload>(
    directory: &Path,
    case: Game,
    cores: (usize, usize),
    time: Duration,
) -> Result<Figures, Error> {
    let echo = Echo { directory: directory.to_owned(), case, core: cores.1 };
    let peer = Process::start(&echo)?;
    let end = PingPongEnd::<P>::create(directory, "ping", "pong", cores.0)?;
    match case.mode {
        PingPongMode::Whole => end.begin::<Timing>(case, time, peer),
        PingPongMode::Inline | PingPongMode::Loan => end.begin::<P>(case, time, peer),
    }
}

impl Work for Echo {
    /// In the other process: answers until the measuring process ends the round.
    fn play(&self, measuring: Measuring) -> Result<(), Error> {
        for_size!(self.case.size, answer_all(self, measuring))
    }
}

fn answer_all<P: Payload>(echo: &Echo, measuring: Measuring) -> Result<(), Error> {
    match echo.case.mode {
        PingPongMode::Whole => answer_with::<P, Timing>(echo, measuring),
        PingPongMode::Inline | PingPongMode::Loan => answer_with::<P, P>(echo, measuring),
    }
}

fn answer_with<P: Payload, A: AnswerWith<P>>(echo: &Echo, measuring: Measuring) -> Result<(), Error> {
    let end = PingPongEnd::<A>::create(&echo.directory, "pong", "ping", echo.core)?;
    match echo.case.wait.executor() {
        None => polling::answer_all::<P, A>(&end, echo.case.mode, measuring),
        Some(wait) => executors::answer_all::<P, A>(&end, echo.case.mode, wait, measuring),
    }
}

/// The state of one process before it subscribes to the other one's messages.
struct PingPongEnd<Out: Message> {
    context: Context,
    node: Node,
    publisher: Publisher<Out>,
    /// The topic to subscribe to.
    input: &'static str,
    /// The core to run on.
    core: usize,
}

impl<Out: Message> PingPongEnd<Out> {
    fn create(
        directory: &Path,
        output: &'static str,
        input: &'static str,
        core: usize,
    ) -> sinew::Result<Self> {
        let context = shared_context(directory)?;
        let node = context.node(output)?;
        let publisher = node.publisher::<Out>(output).create()?;
        Ok(Self { context, node, publisher, input, core })
    }

    /// Waits until the other process has subscribed as well, and pins the calling thread to the
    /// core, but not the context's own threads.
    fn ready(&self) -> Result<(), Error> {
        matched(&self.publisher, 1)?;
        machine::pin_to(self.core)
    }
}

impl<P: Payload> PingPongEnd<P> {
    /// Measures as the side that begins.
    fn begin<A: AnswerWith<P>>(&self, case: Game, time: Duration, peer: Process) -> Result<Figures, Error> {
        match case.wait.executor() {
            None => polling::round::<P, A>(self, case, time, peer),
            Some(wait) => executors::round::<P, A>(self, case, wait, time, peer),
        }
    }
}

/// Sends message `number` in the given mode.
fn send<P: Payload>(publisher: &Publisher<P>, mode: PingPongMode, number: u64) -> sinew::Result<()> {
    match mode {
        PingPongMode::Inline => send_value(publisher, number)?,
        PingPongMode::Loan => {
            let mut message = publisher.loan();
            message.set_number(number);
            publisher.publish(message)?;
        }
        PingPongMode::Whole => {
            let mut message = publisher.loan();
            message.words_mut().fill(number);
            publisher.publish(message)?;
        }
    }
    Ok(())
}

/// Sends by value. A separate function: a stack frame with room for a large value would make the
/// other modes touch each of its pages.
#[inline(never)]
fn send_value<P: Payload>(publisher: &Publisher<P>, number: u64) -> sinew::Result<()> {
    let mut message = P::default();
    message.set_number(number);
    publisher.publish(message)?;
    Ok(())
}

/// The answer to a message of type `P`.
trait AnswerWith<P: Payload>: Message {
    /// Answers a message that has just arrived.
    fn to(message: &P, publisher: &Publisher<Self>, mode: PingPongMode) -> sinew::Result<()>;

    /// Returns the number of the message that it answers.
    fn answers(&self) -> u64;

    /// Returns the end of the measured time, if it isn't now.
    fn end_ns(&self) -> Option<i64>;
}

/// Answers with a message of the same kind.
impl<P: Payload> AnswerWith<P> for P {
    fn to(message: &P, publisher: &Publisher<P>, mode: PingPongMode) -> sinew::Result<()> {
        send(publisher, mode, message.number())
    }

    fn answers(&self) -> u64 {
        self.number()
    }

    fn end_ns(&self) -> Option<i64> {
        None
    }
}

/// Answers with the time at which the whole message had been read.
impl<P: Payload> AnswerWith<P> for Timing {
    fn to(message: &P, publisher: &Publisher<Timing>, _mode: PingPongMode) -> sinew::Result<()> {
        let number = std::hint::black_box(message).whole();
        let stamp = now_ns();
        // No message has the number 0: the measuring side counts it as a wrong answer.
        Ok(publisher.publish(Timing { stamp, number: number.unwrap_or(0) })?)
    }

    fn answers(&self) -> u64 {
        self.number
    }

    fn end_ns(&self) -> Option<i64> {
        Some(self.stamp)
    }
}
