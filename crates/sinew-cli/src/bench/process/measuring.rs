//! The measuring process, as its other processes see it.

use std::io::{BufRead as _, Write as _};
use std::thread;

use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Role;
use crate::bench::floors::on_own_thread;
use crate::cli::Peer;
use crate::error::Error;

/// The way to the measuring process: standard input and output.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measuring(());

impl Measuring {
    /// Tells it something.
    pub(crate) fn tell(self, what: &impl Serialize) -> Result<(), Error> {
        let mut line = serde_json::to_vec(what).map_err(|error| Error::Output(error.into()))?;
        line.push(b'\n');
        let mut to = std::io::stdout().lock();
        to.write_all(&line).and_then(|()| to.flush()).map_err(Error::Output)
    }

    /// Waits for its next order; `None` when there will be none.
    pub(crate) fn order<T: DeserializeOwned>(self) -> Result<Option<T>, Error> {
        let mut line = String::new();
        let read = std::io::stdin().lock().read_line(&mut line);
        let read = read.map_err(|source| Error::System { call: "reading the next order", source })?;
        if read == 0 {
            return Ok(None);
        }
        serde_json::from_str(&line).map(Some).map_err(|_| Error::NotOurPeer)
    }

    /// Does something when it has no more orders, on a thread of its own. Further orders are ignored.
    pub(crate) fn at_the_end(self, act: impl FnOnce() + Send + 'static) {
        thread::spawn(move || {
            while let Ok(Some(serde::de::IgnoredAny)) = self.order() {}
            act();
        });
    }
}

/// In the other process: does what its role says.
pub(crate) fn serve(peer: &Peer) -> Result<(), Error> {
    let role: Role = serde_json::from_str(&peer.role).map_err(|_| Error::NotOurPeer)?;
    if role.outlives_us() {
        return role.play(Measuring(()));
    }
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(Error::system("prctl(PR_SET_PDEATHSIG)"))?;
    if getppid().map(Pid::as_raw_nonzero) != Some(peer.parent) {
        return Err(Error::NotOurPeer);
    }
    on_own_thread(|| role.play(Measuring(())))
}
