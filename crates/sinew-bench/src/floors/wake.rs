//! Floor `wake`: two processes on two cores wake each other with futexes on shared memory.

use std::time::Duration;

use super::peer::FloorPeer;
use super::second::TwoProcessFloor;
use super::shared::Shared;
use crate::clock::now_ns;
use crate::error::Error;
use crate::pacing::{Ticks, Window, on_own_thread};
use crate::report::Figures;
use crate::samples::Samples;

/// Number of samples that a round keeps.
const ROOM: usize = 1 << 16;

/// Measures one round, back to back or `rate` times a second: half of each round trip.
pub(crate) fn round(cores: (usize, usize), rate: Option<f64>, time: Duration) -> Result<Figures, Error> {
    on_own_thread(|| {
        let mut peer = FloorPeer::start(TwoProcessFloor::Wake, cores, 0)?;
        let mut samples = Samples::with_room_for(ROOM);
        let mut pace = rate.map(Ticks::start).transpose()?;
        let window = Window::of(time);
        for number in 2.. {
            if let Some(pace) = &mut pace {
                pace.wait();
            }
            let start = now_ns();
            peer.shared.board().forth.bell.ring(number)?;
            peer.await_bell(number)?;
            let end = now_ns();
            window.record(start, end - start, &mut samples);
            if window.is_over(end, &samples) {
                break;
            }
        }
        Ok(Figures::of(&samples, 2))
    })
}

/// Runs the peer's side.
pub(super) fn serve(shared: &Shared) -> Result<(), Error> {
    let board = shared.board();
    let mut last = 0;
    loop {
        let number = board.forth.bell.number();
        if number == last {
            board.forth.bell.sleep(last);
        } else {
            board.back.bell.ring(number)?;
            last = number;
        }
    }
}
