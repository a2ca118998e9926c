//! Scenario `pingpong`: two processes on two cores; a message goes forth and one comes back.

mod executors;
mod polling;

use std::time::Duration;

use sinew::{Context, Message, Node, Publisher};

use super::case::{Case, Ground, one};
use super::floors::Floor;
use super::messages::Timing;
use super::part::{MultiProcess, Part};
use super::payload::{Payload, for_size};
use super::process::Measuring;
use super::report::Figures;
use super::run::matched;
use crate::options::{PingPongCase, PingPongMode, SidesWait};
use crate::{Error, now_ns};

/// Measured beside the floor with the same work.
impl Case for PingPongCase {
    fn floors(&self) -> Result<Vec<Floor>, Error> {
        Ok(vec![match (self.wait, self.mode) {
            (SidesWait::Sleep, _) => Floor::wake(self.rate),
            (_, PingPongMode::Whole) => Floor::handover(one(&self.size)),
            _ => Floor::line2(),
        }])
    }

    fn needs_two_cores(&self) -> bool {
        true
    }

    fn round(&self, ground: &Ground, time: Duration) -> Result<Figures, Error> {
        ground.measure(self, time)
    }
}

impl MultiProcess for PingPongCase {
    const SCENARIO: &'static str = "pingpong";

    fn measure(part: &Part<Self>) -> Result<Figures, Error> {
        for_size!(one(&part.case.size), begin(part))
    }

    /// Answers.
    fn play(part: &Part<Self>, measuring: Measuring) -> Result<(), Error> {
        for_size!(one(&part.case.size), answer_all(part, measuring))
    }
}

fn begin<P: Payload>(part: &Part<PingPongCase>) -> Result<Figures, Error> {
    match part.case.mode {
        PingPongMode::Whole => begin_with::<P, Timing>(part),
        PingPongMode::Inline | PingPongMode::Loan => begin_with::<P, P>(part),
    }
}

/// Measures one round.
fn begin_with<P: Payload, A: AnswerWith<P>>(part: &Part<PingPongCase>) -> Result<Figures, Error> {
    let peer = part.start(1)?;
    let end = PingPongEnd::<P>::create(part, "ping", "pong")?;
    match part.case.wait.executor() {
        None => polling::round::<P, A>(&end, peer),
        Some(wait) => executors::round::<P, A>(&end, wait, peer),
    }
}

fn answer_all<P: Payload>(part: &Part<PingPongCase>, measuring: Measuring) -> Result<(), Error> {
    match part.case.mode {
        PingPongMode::Whole => answer_with::<P, Timing>(part, measuring),
        PingPongMode::Inline | PingPongMode::Loan => answer_with::<P, P>(part, measuring),
    }
}

fn answer_with<P: Payload, A: AnswerWith<P>>(
    part: &Part<PingPongCase>,
    measuring: Measuring,
) -> Result<(), Error> {
    let end = PingPongEnd::<A>::create(part, "pong", "ping")?;
    match part.case.wait.executor() {
        None => polling::answer_all::<P, A>(&end, measuring),
        Some(wait) => executors::answer_all::<P, A>(&end, wait, measuring),
    }
}

/// The state of one process before it subscribes to the other one's messages.
struct PingPongEnd<'a, Out: Message> {
    part: &'a Part<PingPongCase>,
    context: Context,
    node: Node,
    publisher: Publisher<Out>,
    /// The topic to subscribe to.
    input: &'static str,
}

impl<'a, Out: Message> PingPongEnd<'a, Out> {
    fn create(
        part: &'a Part<PingPongCase>,
        output: &'static str,
        input: &'static str,
    ) -> sinew::Result<Self> {
        let context = part.context()?;
        let node = context.node(output)?;
        let publisher = node.publisher::<Out>(output).create()?;
        Ok(Self { part, context, node, publisher, input })
    }

    /// Waits until the other process has subscribed as well, and goes to the core.
    fn ready(&self) -> Result<(), Error> {
        matched(&self.publisher, 1)?;
        self.part.pin()
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
