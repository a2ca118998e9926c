//! Floor `sleep`: the lateness of the kernel's wake-up of a thread that sleeps until an absolute
//! time, with a timer slack of 1 ns.

use std::time::Duration;

use crate::{Error, Figures, Samples, Ticks, now_ns, on_own_thread, ticks, warm_up};

/// Measures one round at `rate` Hz. The times are the lateness of each wake-up.
pub(crate) fn round(rate: f64, time: Duration) -> Result<Figures, Error> {
    on_own_thread(|| {
        let ticks = ticks(rate, time);
        let mut samples = Samples::with_room_for(ticks as usize);
        let mut pace = Ticks::start(rate)?;
        for number in 0..ticks {
            let due_ns = pace.wait();
            let lateness = now_ns() - due_ns;
            if number >= warm_up(ticks) {
                samples.record(lateness);
            }
        }
        let figures = Figures::of(&samples, 1);
        Ok(Figures { lateness_p99_ns: figures.p99_ns, ..figures })
    })
}
