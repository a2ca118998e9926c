//! The second process of a floor: on a core of its own, with the shared memory as its standard
//! input; ended when the round is over.

use super::second::{Second, TwoProcessFloor};
use super::shared::{Line, Shared};
use crate::error::Error;
use crate::machine;
use crate::process::Process;

/// Number of polls between two checks for whether the other process is alive: some tens of
/// milliseconds.
const POLLS: u32 = 1 << 24;

/// The measuring process's handle of the second one.
pub(super) struct FloorPeer {
    process: Process,
    pub(super) shared: Shared,
}

impl FloorPeer {
    /// Ties the calling thread to the first core, starts a peer on the second, and waits until it
    /// has started. The calling thread must outlive the peer: the kernel ends it with the thread.
    pub(super) fn start(floor: TwoProcessFloor, cores: (usize, usize), size: usize) -> Result<Self, Error> {
        machine::pin_to(cores.0)?;
        let (shared, file) = Shared::create(size)?;
        let process = Process::start_with(&Second { floor, core: cores.1, size }, file.into())?;
        let mut peer = Self { process, shared };
        while peer.shared.board().back.flag.raised() == 0 {
            peer.process.check()?;
            std::thread::yield_now();
        }
        Ok(peer)
    }

    /// Polls until the peer has answered message `number`.
    pub(super) fn await_flag(&mut self, number: u64) -> Result<(), Error> {
        loop {
            for _ in 0..POLLS {
                if self.shared.board().back.flag.raised() == number {
                    return Ok(());
                }
                std::hint::spin_loop();
            }
            self.process.check()?;
        }
    }

    /// Sleeps until the peer has answered message `number`.
    pub(super) fn await_bell(&mut self, number: u32) -> Result<(), Error> {
        loop {
            let seen = self.shared.board().back.bell.number();
            if seen == number {
                return Ok(());
            }
            self.shared.board().back.bell.sleep(seen);
            self.process.check()?;
        }
    }
}

/// In the peer: polls until a message other than `last` has come, and returns its number.
pub(super) fn next(flag: &Line, last: u64) -> u64 {
    loop {
        let number = flag.raised();
        if number != last {
            return number;
        }
        std::hint::spin_loop();
    }
}
