//! Floor `line2`: two processes on two cores; a message is one payload cache line and one flag
//! cache line, written by one process and polled and read by the other.

use std::time::Duration;

use super::peer::{self, FloorPeer};
use super::second::TwoProcessFloor;
use super::shared::Shared;
use crate::clock::now_ns;
use crate::error::Error;
use crate::pacing::{Window, on_own_thread};
use crate::report::Figures;
use crate::samples::Samples;

/// Number of samples that a round keeps.
const ROOM: usize = 1 << 20;

/// Measures one round: half of each round trip. The clock is read while the message is
/// in transit, so that reading it costs nothing.
pub(crate) fn round(cores: (usize, usize), time: Duration) -> Result<Figures, Error> {
    on_own_thread(|| {
        let mut peer = FloorPeer::start(TwoProcessFloor::Line2, cores, 0)?;
        let mut samples = Samples::with_room_for(ROOM);
        let window = Window::of(time);
        let mut before = now_ns();
        for number in 2.. {
            let board = peer.shared.board();
            board.forth.payload.fill(number);
            board.forth.flag.raise(number, number);
            let now = now_ns();
            window.record(now, now - before, &mut samples);
            before = now;
            peer.await_flag(number)?;
            assert!(
                peer.shared.board().back.payload.holds(number),
                "answer {number} came before its payload"
            );
            if window.is_over(now, &samples) {
                break;
            }
        }
        Ok(Figures::of(&samples, 2))
    })
}

/// Runs the peer's side.
pub(super) fn serve(shared: &Shared) -> ! {
    let board = shared.board();
    let mut number = 0;
    loop {
        number = peer::next(&board.forth.flag, number);
        assert!(board.forth.payload.holds(number), "message {number} came before its payload");
        board.back.payload.fill(number);
        board.back.flag.raise(number, number);
    }
}
