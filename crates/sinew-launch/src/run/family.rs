//! All processes that descend from a launch, wherever they went: each has the launch's mark in its
//! environment.
//!
//! Process groups reach nearly all of them. This is for what left its group (a daemon), and for the
//! end of a launch that was killed, when nobody else knows the groups any more.

use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, getpid, pidfd_open, pidfd_send_signal};
use rustix::time::{ClockId, clock_gettime};

/// The environment variable that has the mark.
pub(super) const VARIABLE: &str = "SINEW_LAUNCH";

/// A mark that no other launch of this host has.
pub(super) fn mark() -> String {
    let now = clock_gettime(ClockId::Boottime);
    format!("{}-{}.{:09}", std::process::id(), now.tv_sec, now.tv_nsec)
}

/// Asks those with the mark to end, and kills what is left after the grace. Yields how many there
/// were. Blocks until they have ended (they may be zombies then, if they are children of this
/// process).
pub(super) fn end(mark: &str, grace: Duration) -> usize {
    let mut ended = 0;
    let mut patience = grace;
    // What is killed may have forked meanwhile.
    for signal in [Signal::TERM, Signal::KILL, Signal::KILL, Signal::KILL] {
        let members = members(mark);
        if members.is_empty() {
            break;
        }
        ended = ended.max(members.len());
        for member in &members {
            // It fails if the process has just ended.
            let _ = pidfd_send_signal(member, signal);
        }
        wait(members, patience);
        patience = Duration::from_secs(1);
    }
    ended
}

/// The living ones, but for this process.
fn members(mark: &str) -> Vec<OwnedFd> {
    let wanted = format!("{VARIABLE}={mark}");
    let Ok(processes) = std::fs::read_dir("/proc") else { return Vec::new() };
    let numbers = processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let is_member = |pid: Pid| {
        // A zombie's is empty, that of another user can't be read.
        let environment = std::fs::read(format!("/proc/{}/environ", pid.as_raw_pid())).unwrap_or_default();
        environment.split(|&byte| byte == 0).any(|variable| variable == wanted.as_bytes())
    };
    let open = |pid: Pid| {
        let descriptor = pidfd_open(pid, PidfdFlags::empty()).ok()?;
        // Its number may have become another's before it was opened.
        is_member(pid).then_some(descriptor)
    };
    numbers
        .filter_map(Pid::from_raw)
        .filter(|&pid| pid != getpid() && is_member(pid))
        .filter_map(open)
        .collect()
}

/// Waits until all have ended, or the time is over.
fn wait(mut members: Vec<OwnedFd>, patience: Duration) {
    let now = || {
        let now = clock_gettime(ClockId::Monotonic);
        Duration::new(now.tv_sec.try_into().unwrap_or(0), now.tv_nsec.try_into().unwrap_or(0))
    };
    let until = now() + patience;
    while !members.is_empty() {
        let left = until.saturating_sub(now());
        let Ok(left) = Timespec::try_from(left) else { return };
        let mut fds: Vec<_> = members.iter().map(|member| PollFd::new(member, PollFlags::IN)).collect();
        if let Ok(0) = poll(&mut fds, Some(&left)) {
            return;
        }
        let ended: Vec<bool> = fds.iter().map(|fd| !fd.revents().is_empty()).collect();
        let mut ended = ended.into_iter();
        members.retain(|_| ended.next() != Some(true));
    }
}
