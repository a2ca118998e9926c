//! Floor `handover`: two processes on two cores with one buffer; one writes all of it and raises a
//! flag, the other reads all of it and raises a flag back.

use std::hint::black_box;
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
const ROOM: usize = 1 << 18;

/// Measures one round. A sample is one way: from before the first byte is written until the last
/// one is read; the peer takes the end time on the same clock and sends it back.
pub(crate) fn round(cores: (usize, usize), size: usize, time: Duration) -> Result<Figures, Error> {
    on_own_thread(|| {
        let mut peer = FloorPeer::start(TwoProcessFloor::Handover, cores, size)?;
        let mut samples = Samples::with_room_for(ROOM);
        let window = Window::of(time);
        for number in 2.. {
            let start = now_ns();
            write_all(&peer.shared, number);
            peer.shared.board().forth.flag.raise(number, 0);
            peer.await_flag(number)?;
            let end = peer.shared.board().back.flag.word().cast_signed();
            window.record(start, end - start, &mut samples);
            if window.is_over(start, &samples) {
                break;
            }
        }
        Ok(Figures::of(&samples, 1))
    })
}

/// Runs the peer's side.
pub(super) fn serve(shared: &Shared) -> ! {
    let board = shared.board();
    let mut number = 0;
    loop {
        number = peer::next(&board.forth.flag, number);
        let all_there = read_all(shared, number);
        let end = now_ns().cast_unsigned();
        assert!(all_there, "buffer {number} came before its contents");
        board.back.flag.raise(number, end);
    }
}

/// Writes every word of the buffer.
fn write_all(shared: &Shared, value: u64) {
    // SAFETY: the buffer belongs to the measuring side from the peer's answer until it raises the
    // flag forth (shared.rs, protocol), which the only caller does afterwards; nothing else in this
    // process touches it.
    let buffer = unsafe { shared.buffer().as_mut() };
    black_box(buffer).fill(value);
}

/// Reads every word of the buffer; returns `true` if each one is `value`.
fn read_all(shared: &Shared, value: u64) -> bool {
    // SAFETY: the buffer belongs to the peer from the flag forth until it raises the flag back
    // (shared.rs, protocol), which the only caller does afterwards.
    let buffer = unsafe { shared.buffer().as_ref() };
    // Without an early exit, so that the loop reads several words at a time.
    black_box(buffer).iter().fold(0, |differences, word| differences | (word ^ value)) == 0
}
