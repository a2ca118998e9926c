//! Calls that are answered one after the other: the caller's observations, whatever transports
//! them.

use std::time::Duration;

use crate::{Figures, Samples, Summary, Usage, Window, now_ns};

/// A call.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    /// Time of the call.
    pub stamp: i64,
    /// Its number, from 1.
    pub number: u64,
}

/// The observations of a caller.
pub struct Calls {
    window: Window,
    made: u64,
    /// Answers to a call other than the pending one.
    wrong: u64,
    /// From a call to the start of the last server.
    there: Samples,
    /// From a call to its answer.
    whole: Samples,
}

impl Calls {
    /// Starts a round of this length, with room for `room` samples.
    pub fn start(time: Duration, room: usize) -> Self {
        let (there, whole) = (Samples::with_room_for(room), Samples::with_room_for(room));
        Self { window: Window::of(time), made: 0, wrong: 0, there, whole }
    }

    /// Begins the next call.
    pub fn ask(&mut self) -> Asked {
        self.made += 1;
        Asked { stamp: now_ns(), number: self.made }
    }

    /// Records the answer to a call: its number, and the time at which the last server was called.
    /// Returns `true` if there is time for another call.
    pub fn answered(&mut self, asked: Asked, number: u64, started_ns: i64) -> bool {
        let now = now_ns();
        self.wrong += u64::from(number != asked.number);
        self.window.record(asked.stamp, started_ns - asked.stamp, &mut self.there);
        self.window.record(asked.stamp, now - asked.stamp, &mut self.whole);
        !self.window.is_over(now, &self.whole)
    }

    /// Returns the figures: the time from a call to the last of `hops` servers, per server, and the
    /// round trip, halved and divided alike. `usage` covers all processes.
    pub fn figures(&self, hops: u32, usage: Usage) -> Figures {
        let whole = self.round_trips(2 * hops);
        Figures {
            roundtrip_p50_ns: whole.map(|whole| whole.p50),
            roundtrip_p90_ns: whole.map(|whole| whole.p90),
            ..Figures::of(&self.there, hops).faulty(0, self.wrong).using(usage)
        }
    }

    /// Returns the times of round trips, divided by `parts`.
    pub fn round_trips(&self, parts: u32) -> Option<Summary> {
        self.whole.summary(parts)
    }

    /// Returns the number of calls.
    pub fn made(&self) -> u64 {
        self.made
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_to_another_call_is_wrong() {
        let mut calls = Calls::start(Duration::ZERO, 8);
        for (answer, goes_on) in [(1, true), (3, true), (3, false)] {
            let asked = calls.ask();
            assert_eq!(calls.answered(asked, answer, asked.stamp + 100), goes_on);
        }
        let figures = calls.figures(2, Usage::default());
        assert_eq!((calls.made(), figures.messages, figures.reordered), (3, Some(3), Some(1)));
        assert_eq!((figures.p50_ns, figures.max_ns), (Some(50.0), Some(50.0)));
    }
}
