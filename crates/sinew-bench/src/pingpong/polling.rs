//! Both sides poll their subscriptions: no executor, no system call.

use std::time::Duration;

use sinew::Subscription;

use super::{Answer, Case, End, send};
use crate::clock::{nanoseconds, now_ns};
use crate::error::Error;
use crate::floors::Window;
use crate::floors::sleep::Ticks;
use crate::options::PingPongMode;
use crate::payload::{Payload, WARM_AFTER};
use crate::process::{Measuring, PATIENCE, Process};
use crate::rounds::Round;
use crate::samples::Samples;

/// Samples a round keeps.
const ROOM: usize = 1 << 20;

/// Polls between two looks at whether the other process still lives: some tens of milliseconds.
const POLLS: u32 = 1 << 20;

/// One round. Back to back, the clock is read while the message is under way, as in `line2`.
pub(super) fn round<P: Payload, A: Answer<P>>(
    end: &End<P>,
    case: Case,
    time: Duration,
    mut peer: Process,
) -> Result<Round, Error> {
    let answers = end.node.subscription::<A>(end.input).create()?;
    end.ready()?;
    peer.hear::<()>()?;
    let mut samples = Samples::with_room_for(ROOM);
    let mut pace = case.rate.map(Ticks::start).transpose()?;
    let from_start_to_end = pace.is_some() || case.mode == PingPongMode::Whole;
    let mut reordered = 0;
    for number in 1..=WARM_AFTER {
        send(&end.publisher, case.mode, number)?;
        await_answer::<P, A>(&answers, &mut peer)?;
    }
    let window = Window::of(time);
    let mut before = now_ns();
    for number in WARM_AFTER + 1.. {
        if let Some(pace) = &mut pace {
            pace.wait();
        }
        let start = if from_start_to_end { now_ns() } else { before };
        send(&end.publisher, case.mode, number)?;
        if !from_start_to_end {
            before = now_ns();
            window.record(before, before - start, &mut samples);
        }
        let (answered, end_ns) = await_answer::<P, A>(&answers, &mut peer)?;
        reordered += u64::from(answered != number);
        if from_start_to_end {
            before = now_ns();
            window.record(start, end_ns.unwrap_or(before) - start, &mut samples);
        }
        if window.is_over(before, &samples) {
            break;
        }
    }
    peer.finish::<()>()?;
    Ok(Round { reordered, ..Round::of(samples) })
}

/// Polls until an answer comes: what it answers, and what it says about the end.
fn await_answer<P: Payload, A: Answer<P>>(
    answers: &Subscription<A>,
    peer: &mut Process,
) -> Result<(u64, Option<i64>), Error> {
    let mut until = None;
    loop {
        for _ in 0..POLLS {
            if let Some((answer, _)) = answers.take() {
                return Ok((answer.answers(), answer.end_ns()));
            }
            std::hint::spin_loop();
        }
        peer.check()?;
        if now_ns() > *until.get_or_insert_with(|| now_ns() + nanoseconds(PATIENCE)) {
            return Err(Error::PeerSilent { what: "pingpong", waited: PATIENCE });
        }
    }
}

/// The other side.
pub(super) fn answer_all<P: Payload, A: Answer<P>>(
    end: &End<A>,
    mode: PingPongMode,
    measuring: Measuring,
) -> Result<(), Error> {
    let messages = end.node.subscription::<P>(end.input).create()?;
    end.ready()?;
    measuring.tell(&())?;
    let context = end.context.clone();
    measuring.at_the_end(|| 0, move || context.shutdown());
    while !end.context.is_shutdown() {
        match messages.take() {
            Some((message, _)) => match A::to(&message, &end.publisher, mode) {
                // The measuring process may have had enough as soon as it has the answer, before this publish returns.
                Err(_) if end.context.is_shutdown() => break,
                answered => answered?,
            },
            None => std::hint::spin_loop(),
        }
    }
    measuring.tell(&())
}
