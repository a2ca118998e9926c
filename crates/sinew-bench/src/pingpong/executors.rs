//! Both sides run callbacks in an executor, which spins or sleeps until there is something to do.

use std::time::Duration;

use sinew::Publisher;

use super::{AnswerWith, PingPongEnd, send};
use crate::options::{PingPongCase, PingPongMode, Wait};
use crate::payload::{Payload, WARM_AFTER};
use crate::{
    Collected, Error, Figures, Measuring, Process, Run, Samples, Usage, nanoseconds, now_ns, ticks, waiting,
    warm_up,
};

/// Number of samples that a round keeps.
const ROOM: usize = 1 << 18;

/// The measuring side's state.
struct Going {
    sent: u64,
    start_ns: i64,
    answered: u64,
    /// Answers to a message other than the one in transit.
    wrong: u64,
    counts_from_ns: i64,
    samples: Samples,
    /// Until then, the next message follows at once upon an answer.
    back_to_back_until: u64,
}

impl Going {
    /// Sends the next message.
    fn send<P: Payload>(this: &Collected<Self>, to: &Publisher<P>, mode: PingPongMode) -> sinew::Result<()> {
        let number = this.with(|this| {
            this.sent += 1;
            this.start_ns = now_ns();
            this.sent
        });
        send(to, mode, number)
    }

    /// Records an answer that came at `now`; returns `true` if the next message may be sent.
    fn answered(&mut self, number: u64, now: i64, end: Option<i64>) -> bool {
        self.answered += 1;
        self.wrong += u64::from(number != self.sent);
        if self.start_ns >= self.counts_from_ns {
            self.samples.record(end.unwrap_or(now) - self.start_ns);
        }
        number < self.back_to_back_until
    }
}

/// Measures one round.
pub(super) fn round<P: Payload, A: AnswerWith<P>>(
    end: &PingPongEnd<'_, P>,
    wait: Wait,
    mut peer: Process,
) -> Result<Figures, Error> {
    let PingPongCase { mode, rate, .. } = end.part.case;
    let (time, warm_up) = times(rate, end.part.time);
    let going = Collected::new(Going {
        sent: 0,
        start_ns: 0,
        answered: 0,
        wrong: 0,
        counts_from_ns: i64::MAX,
        samples: Samples::with_room_for(ROOM),
        back_to_back_until: WARM_AFTER,
    });
    let run = Run::of(end.context.clone(), waiting(wait))?;
    let (seen, next) = (going.clone(), end.publisher.clone());
    let answers = end.node.subscription::<A>(end.input);
    let _answers = answers.callback(move |answer: &A| -> sinew::Result<()> {
        let now = now_ns();
        let goes_on = seen.with(|seen| seen.answered(answer.answers(), now, answer.end_ns()));
        if goes_on { Going::send(&seen, &next, mode) } else { Ok(()) }
    })?;
    end.ready()?;
    peer.hear::<()>()?;

    Going::send(&going, &end.publisher, mode)?;
    run.spin_until(WARM_AFTER, || going.with(|going| going.answered))?;

    going.with(|going| going.counts_from_ns = now_ns() + nanoseconds(warm_up));
    let pace = match rate {
        None => {
            going.with(|going| going.back_to_back_until = u64::MAX);
            Going::send(&going, &end.publisher, mode)?;
            None
        }
        Some(rate) => {
            let (ticking, publisher) = (going.clone(), end.publisher.clone());
            let timer = end.node.timer(Duration::from_secs_f64(1.0 / rate));
            Some(timer.callback(move || {
                // A tick is skipped if the last message is still in transit.
                let waits = ticking.with(|going| going.answered < going.sent);
                if waits { Ok(()) } else { Going::send(&ticking, &publisher, mode) }
            })?)
        }
    };
    let usage = run.spin_for(time)?;
    drop(pace);
    let sent = going.with(|going| {
        going.back_to_back_until = 0;
        going.sent
    });
    run.spin_until(sent, || going.with(|going| going.answered))?;
    let its_usage: Usage = peer.finish()?;
    let parts = if mode == PingPongMode::Whole { 1 } else { 2 };
    Ok(going.with(|going| {
        let lost = going.sent.saturating_sub(going.answered);
        Figures::of(&going.samples, parts).faulty(lost, going.wrong).using(usage + its_usage)
    }))
}

/// Returns the duration of a round and of its warm-up: at a low rate, the time of a few messages.
fn times(rate: Option<f64>, time: Duration) -> (Duration, Duration) {
    let Some(rate) = rate else { return (time, time / 10) };
    let ticks = ticks(rate, time);
    // In the middle between two ticks.
    let until = |tick: u32| Duration::from_secs_f64((f64::from(tick) + 0.5) / rate);
    (until(ticks), until(warm_up(ticks)))
}

/// Runs the other side.
pub(super) fn answer_all<P: Payload, A: AnswerWith<P>>(
    end: &PingPongEnd<'_, A>,
    wait: Wait,
    measuring: Measuring,
) -> Result<(), Error> {
    let run = Run::of(end.context.clone(), waiting(wait))?;
    let (publisher, mode) = (end.publisher.clone(), end.part.case.mode);
    let messages = end.node.subscription::<P>(end.input);
    let _messages = messages.callback(move |message: &P| A::to(message, &publisher, mode))?;
    end.ready()?;
    measuring.tell(&())?;
    let usage = run.serve(measuring, || 0)?;
    measuring.tell(&usage)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_ends_between_two_ticks() {
        let (time, warm_up) = times(Some(10.0), Duration::from_secs(2));
        assert_eq!((time, warm_up), (Duration::from_millis(2050), Duration::from_millis(250)));
        let (time, warm_up) = times(Some(1.0), Duration::from_millis(10));
        assert_eq!((time, warm_up), (Duration::from_millis(2500), Duration::from_millis(1500)));
        let (time, warm_up) = times(None, Duration::from_secs(1));
        assert_eq!((time, warm_up), (Duration::from_secs(1), Duration::from_millis(100)));
    }
}
