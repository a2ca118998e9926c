//! The measuring process, from the view of its other processes.

use std::io::{BufRead as _, Write as _};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Role, Task, directory};
use crate::options::Peer;
use crate::{Error, nanoseconds, now_ns, on_own_thread, sleep_until};

/// The connection to the measuring process: standard input and output.
#[derive(Clone, Copy, Debug)]
pub struct Measuring(());

impl Measuring {
    /// Sends it a value.
    pub fn tell(self, what: &impl Serialize) -> Result<(), Error> {
        let mut line = serde_json::to_vec(what).map_err(|error| Error::Output(error.into()))?;
        line.push(b'\n');
        let mut to = std::io::stdout().lock();
        to.write_all(&line).and_then(|()| to.flush()).map_err(Error::Output)
    }

    /// Waits for its next order; `None` if there will be none.
    pub fn order<T: DeserializeOwned>(self) -> Result<Option<T>, Error> {
        let mut line = String::new();
        let read = std::io::stdin().lock().read_line(&mut line);
        let read = read.map_err(|source| Error::System { call: "reading the next order", source })?;
        if read == 0 {
            return Ok(None);
        }
        serde_json::from_str(&line).map(Some).map_err(|_| Error::NotOurPeer)
    }

    /// Calls `act` once it has given its last order, on a thread of its own. If that order is a
    /// number of messages, `act` waits until `received` has reached it, or no message has come for
    /// a while.
    pub fn at_the_end(
        self,
        received: impl Fn() -> u64 + Send + 'static,
        act: impl FnOnce() + Send + 'static,
    ) {
        thread::spawn(move || {
            if let Ok(Some(expected)) = self.order() {
                await_all(expected, received);
            }
            act();
        });
    }
}

/// Time without any message after which missing messages count as lost.
const SILENCE: Duration = Duration::from_secs(2);

/// Sleeps until all messages have come, or no more come.
pub fn await_all(expected: u64, received: impl Fn() -> u64) {
    let pause = || {
        sleep_until(now_ns() + 1_000_000);
        Ok(())
    };
    // Fails only if its pause does.
    let _ = pause_until_all(expected, received, pause);
}

/// Pauses until all messages have come, or no more come.
pub(crate) fn pause_until_all(
    expected: u64,
    received: impl Fn() -> u64,
    mut pause: impl FnMut() -> sinew::Result<()>,
) -> sinew::Result<()> {
    let mut last = received();
    let mut until = now_ns() + nanoseconds(SILENCE);
    while last < expected {
        pause()?;
        let now = now_ns();
        match received() {
            same if same == last && now > until => return Ok(()),
            same if same == last => {}
            more => (last, until) = (more, now + nanoseconds(SILENCE)),
        }
    }
    Ok(())
}

/// Makes the kernel end this process when the thread that started it ends.
pub fn end_with_parent() -> Result<(), Error> {
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(Error::system("prctl(PR_SET_PDEATHSIG)"))
}

/// In the other process: plays its role, one of `roles`.
pub fn serve(peer: &Peer, roles: &[Role]) -> Result<(), Error> {
    let (name, work) = match serde_json::from_str(&peer.role).map_err(|_| Error::NotOurPeer)? {
        Task::Sweep { place, name } => return directory::sweep(place, &name), // also if the measuring process is gone
        Task::Measure(name, work) => (name, work),
    };
    let role = roles.iter().find(|role| (role.name)() == name).ok_or(Error::NotOurPeer)?;
    end_with_parent()?;
    if getppid().map(Pid::as_raw_nonzero) != Some(peer.parent) {
        return Err(Error::NotOurPeer);
    }
    on_own_thread(|| (role.play)(work, Measuring(())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Collected;

    #[test]
    fn what_is_still_coming_is_waited_for() {
        let count = Collected::new(0);
        let pause = || {
            count.with(|count| *count += 1);
            Ok(())
        };
        pause_until_all(5, || count.with(|count| *count), pause).unwrap();
        assert_eq!(count.with(|count| *count), 5);
    }
}
