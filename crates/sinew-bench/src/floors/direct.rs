//! Floor `direct`: the relay chain as nested calls through trait objects. Each publish reads the
//! clock once, as a publisher stamps each message, and allocates nothing, as a warm publisher does.

use std::cell::RefCell;
use std::hint::black_box;
use std::rc::Rc;
use std::time::Duration;

use crate::{Error, Figures, Samples, Ticks, now_ns, on_own_thread, ticks, warm_up};

/// The message: its time of creation, and its number.
#[derive(Clone, Copy)]
struct Timing {
    stamp: i64,
    number: u64,
}

/// Receives messages by being called.
trait Listener {
    fn receive(&mut self, timing: &Timing);
}

/// Passes a copy of each message on.
struct Relay {
    next: Box<dyn Listener>,
}

impl Listener for Relay {
    fn receive(&mut self, timing: &Timing) {
        publish(*timing, self.next.as_mut());
    }
}

/// Ends the chain: measures.
struct ChainEnd {
    samples: Rc<RefCell<Samples>>,
    from: u64,
}

impl Listener for ChainEnd {
    fn receive(&mut self, timing: &Timing) {
        let latency = now_ns() - timing.stamp;
        if timing.number >= self.from {
            self.samples.borrow_mut().record(latency);
        }
    }
}

fn publish(timing: Timing, next: &mut dyn Listener) {
    black_box(now_ns());
    next.receive(&timing);
}

/// Measures one round: source => `relays` relays => sink, `rate` times a second. The times are
/// per hop.
pub(crate) fn round(relays: u32, rate: f64, time: Duration) -> Result<Figures, Error> {
    on_own_thread(|| {
        let ticks = ticks(rate, time);
        let samples = Rc::new(RefCell::new(Samples::with_room_for(ticks as usize)));
        let sink = ChainEnd { samples: Rc::clone(&samples), from: warm_up(ticks).into() };
        let mut chain: Box<dyn Listener> = Box::new(sink);
        for _ in 0..relays {
            chain = Box::new(Relay { next: chain });
        }
        let mut pace = Ticks::start(rate)?;
        for number in 0..ticks {
            pace.wait();
            publish(Timing { stamp: now_ns(), number: number.into() }, chain.as_mut());
        }
        Ok(Figures::of(&samples.take(), relays + 1))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_message_after_the_warm_up_is_measured() {
        let figures = round(10, 1000.0, Duration::from_millis(20)).unwrap();
        assert!(figures.messages == Some(18) && figures.p50_ns > Some(0.0), "{figures:?}");
    }
}
