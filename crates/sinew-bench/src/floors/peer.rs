//! The second process of a floor: started from this program, on a core of its own, with the shared
//! memory as its standard input; ended when the round is over, or when this process dies.

use std::process::{Child, Stdio};

use super::second::{Second, TwoProcessFloor};
use super::shared::{Line, Shared};
use crate::error::Error;
use crate::machine;
use crate::process::{command, status};

/// Number of polls between two checks for whether the other process is alive: some tens of
/// milliseconds.
const POLLS: u32 = 1 << 24;

/// The measuring process's handle of the peer.
pub(super) struct FloorPeer {
    child: Child,
    floor: TwoProcessFloor,
    pub(super) shared: Shared,
}

impl FloorPeer {
    /// Ties the calling thread to the first core, starts a peer on the second, and waits until it
    /// has started. The calling thread must outlive the peer: the kernel ends it with the thread.
    pub(super) fn start(floor: TwoProcessFloor, cores: (usize, usize), size: usize) -> Result<Self, Error> {
        machine::pin_to(cores.0)?;
        let (shared, file) = Shared::create(size)?;
        let child = command(&Second { floor, core: cores.1, size })?
            .stdin(file)
            .stdout(Stdio::null())
            .spawn()
            .map_err(|source| Error::System { call: "starting the second process of a floor", source })?;
        let mut peer = Self { child, floor, shared };
        while peer.shared.board().back.flag.raised() == 0 {
            peer.check()?;
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
            self.check()?;
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
            self.check()?;
        }
    }

    /// Fails if the peer has ended.
    fn check(&mut self) -> Result<(), Error> {
        match status(&mut self.child)? {
            None => Ok(()),
            Some(status) => Err(Error::PeerEnded { what: self.floor.name(), status: status.to_string() }),
        }
    }
}

impl Drop for FloorPeer {
    fn drop(&mut self) {
        // It has nothing to lose. Both fail only if it has already ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// In the peer: maps the memory, goes to its core, and notifies the measuring process.
pub(super) fn join(second: &Second) -> Result<Shared, Error> {
    let shared = Shared::map(std::io::stdin(), second.size)?;
    machine::pin_to(second.core)?;
    shared.board().back.flag.raise(1, 0);
    Ok(shared)
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
