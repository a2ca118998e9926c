//! Floors of two processes on two cores, which take turns over shared memory: a [`Rally`] like that
//! of any system. The second process has the shared memory as its standard input; it is ended when
//! the round is over.

use std::hint::black_box;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::shared::{Board, Shared};
use crate::machine;
use crate::rally::{self, Answer, Rally, Timed};
use crate::{Error, Figures, Measuring, Process, Work, now_ns, on_own_thread};

/// Number of polls between two checks for whether the other process is alive: some tens of
/// milliseconds.
const POLLS: u32 = 1 << 24;

/// The number with which the second process says that it has started: that of no message.
const STARTED: u64 = u64::MAX;

/// A floor of two processes.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub(super) enum TwoProcessFloor {
    /// A message is one payload cache line and one flag cache line, polled and read by the other
    /// process.
    Line2,
    /// One process writes all of a buffer and raises a flag; the other reads all of it and raises a
    /// flag back.
    Handover,
    /// The processes wake each other with futexes.
    Wake,
}

impl TwoProcessFloor {
    /// Measures one round, back to back or `rate` times a second, with a buffer of `size` bytes:
    /// half of each round trip; of a handover, from before the first byte is written until the last
    /// one is read.
    pub(super) fn round(
        self,
        cores: (usize, usize),
        size: usize,
        rate: Option<f64>,
        time: Duration,
    ) -> Result<Figures, Error> {
        let timed = Timed { rate, to_the_end: self == Self::Handover, time };
        on_own_thread(|| rally::round(timed, &mut First::start(self, cores, size)?))
    }
}

/// The measuring process's side.
struct First {
    floor: TwoProcessFloor,
    process: Process,
    shared: Shared,
    /// The number of the last message.
    sent: u64,
}

impl First {
    /// Ties the calling thread to the first core, starts the second process on the second, and
    /// waits until it has started. The calling thread must outlive that process: the kernel ends it
    /// with the thread.
    fn start(floor: TwoProcessFloor, cores: (usize, usize), size: usize) -> Result<Self, Error> {
        machine::pin_to(cores.0)?;
        let (shared, file) = Shared::create(size)?;
        let process = Process::start_with(&Second { floor, core: cores.1, size }, file.into())?;
        let mut first = Self { floor, process, shared, sent: 0 };
        while first.shared.board().back.flag.raised() != STARTED {
            first.process.check()?;
            std::thread::yield_now();
        }
        Ok(first)
    }

    /// Polls until the second process has answered.
    fn await_flag(&mut self) -> Result<(), Error> {
        loop {
            for _ in 0..POLLS {
                if self.shared.board().back.flag.raised() == self.sent {
                    return Ok(());
                }
                std::hint::spin_loop();
            }
            self.process.check()?;
        }
    }

    /// Sleeps until the second process has answered.
    fn await_bell(&mut self) -> Result<(), Error> {
        loop {
            let seen = self.shared.board().back.bell.number();
            if u64::from(seen) == self.sent {
                return Ok(());
            }
            self.shared.board().back.bell.sleep(seen);
            self.process.check()?;
        }
    }
}

impl Rally<Error> for First {
    fn send(&mut self, number: u64) -> Result<(), Error> {
        self.sent = number;
        let forth = &self.shared.board().forth;
        match self.floor {
            TwoProcessFloor::Line2 => forth.payload.fill(number),
            TwoProcessFloor::Handover => write_all(&self.shared, number),
            TwoProcessFloor::Wake => {
                return forth.bell.ring(u32::try_from(number).map_err(|_| Error::NotOurPeer)?);
            }
        }
        forth.flag.raise(number, number);
        Ok(())
    }

    fn answer(&mut self) -> Result<Answer, Error> {
        let number = self.sent;
        if self.floor == TwoProcessFloor::Wake {
            self.await_bell()?;
            return Ok(Answer { number, end_ns: None });
        }
        self.await_flag()?;
        let back = &self.shared.board().back;
        if self.floor == TwoProcessFloor::Handover {
            return Ok(Answer { number, end_ns: Some(back.flag.word().cast_signed()) });
        }
        assert!(back.payload.holds(number), "answer {number} came before its payload");
        Ok(Answer { number, end_ns: None })
    }
}

/// The work of the second process.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Second {
    floor: TwoProcessFloor,
    /// The core it runs on.
    core: usize,
    /// The size of the buffer that is handed over, in bytes.
    size: usize,
}

impl Work for Second {
    /// Maps the memory, goes to its core, notifies the measuring process, and answers until it is
    /// ended.
    fn play(&self, _: Measuring) -> Result<(), Error> {
        let shared = Shared::map(std::io::stdin(), self.size)?;
        machine::pin_to(self.core)?;
        let board = shared.board();
        board.back.flag.raise(STARTED, 0);
        if self.floor == TwoProcessFloor::Wake {
            return answer_bells(board);
        }
        let mut last = 0;
        loop {
            let number = board.forth.flag.raised();
            if number == last {
                std::hint::spin_loop();
                continue;
            }
            last = number;
            let mut word = number;
            if self.floor == TwoProcessFloor::Handover {
                let all_there = read_all(&shared, number);
                word = now_ns().cast_unsigned();
                assert!(all_there, "buffer {number} came before its contents");
            } else {
                assert!(board.forth.payload.holds(number), "message {number} came before its payload");
                board.back.payload.fill(number);
            }
            board.back.flag.raise(number, word);
        }
    }
}

/// Wakes the measuring process whenever that has woken this one.
fn answer_bells(board: &Board) -> Result<(), Error> {
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
