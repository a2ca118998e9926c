//! Both sides poll their subscriptions: no executor, no system call.

use sinew::Subscription;

use super::{AnswerWith, PingPongEnd, send};
use crate::options::{PingPongCase, PingPongMode};
use crate::payload::Payload;
use crate::process::PATIENCE;
use crate::rally::{self, Rally, Timed};
use crate::{Error, Figures, Measuring, Meter, Process, Usage, nanoseconds, now_ns};

/// Number of polls between two checks for whether the other process is alive: some tens of
/// milliseconds.
const POLLS: u32 = 1 << 20;

/// Measures one round.
pub(super) fn round<P: Payload, A: AnswerWith<P>>(
    end: &PingPongEnd<'_, P>,
    mut peer: Process,
) -> Result<Figures, Error> {
    let PingPongCase { mode, rate, .. } = end.part.case;
    let answers = end.node.subscription::<A>(end.input).create()?;
    end.ready()?;
    peer.hear::<()>()?;
    let timed = Timed { rate, to_the_end: mode == PingPongMode::Whole, time: end.part.time };
    let meter = Meter::start();
    let figures = rally::round(timed, &mut Polled { end, answers, peer: &mut peer })?;
    Ok(figures.using(meter.usage() + peer.finish::<Usage>()?))
}

/// The side that begins.
struct Polled<'a, P: Payload, A: AnswerWith<P>> {
    end: &'a PingPongEnd<'a, P>,
    answers: Subscription<A>,
    peer: &'a mut Process,
}

impl<P: Payload, A: AnswerWith<P>> Rally<Error> for Polled<'_, P, A> {
    fn send(&mut self, number: u64) -> Result<(), Error> {
        Ok(send(&self.end.publisher, self.end.part.case.mode, number)?)
    }

    fn answer(&mut self) -> Result<rally::Answer, Error> {
        let mut until = None;
        loop {
            for _ in 0..POLLS {
                if let Some((answer, _)) = self.answers.take() {
                    return Ok(rally::Answer { number: answer.answers(), end_ns: answer.end_ns() });
                }
                std::hint::spin_loop();
            }
            self.peer.check()?;
            if now_ns() > *until.get_or_insert_with(|| now_ns() + nanoseconds(PATIENCE)) {
                return Err(Error::PeerSilent { what: "pingpong", waited: PATIENCE });
            }
        }
    }
}

/// Runs the other side.
pub(super) fn answer_all<P: Payload, A: AnswerWith<P>>(
    end: &PingPongEnd<'_, A>,
    measuring: Measuring,
) -> Result<(), Error> {
    let messages = end.node.subscription::<P>(end.input).create()?;
    end.ready()?;
    measuring.tell(&())?;
    let context = end.context.clone();
    measuring.at_the_end(|| 0, move || context.shutdown());
    let meter = Meter::start();
    while !end.context.is_shutdown() {
        match messages.take() {
            Some((message, _)) => match A::to(&message, &end.publisher, end.part.case.mode) {
                // The measuring process may end the round as soon as it has the answer, before this
                // publish returns.
                Err(_) if end.context.is_shutdown() => break,
                answered => answered?,
            },
            None => std::hint::spin_loop(),
        }
    }
    measuring.tell(&meter.usage())
}
