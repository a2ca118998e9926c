//! CPU and memory of each process with its whole group, from `/proc`.

use std::collections::HashMap;
use std::time::Duration;

use rustix::param::{clock_ticks_per_second, page_size};

use super::stat::{self, Stat};

/// The resources that a process group uses.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Usage {
    /// Share of one core since the last look; 1.0 is the whole core.
    pub(super) cpu: f64,
    /// Bytes in memory, including memory shared with other processes.
    pub(super) memory: u64,
    pub(super) processes: usize,
}

/// Measures repeatedly.
#[derive(Default)]
pub(super) struct Meter {
    /// CPU ticks of each group at the last look, and the time of that look.
    last: HashMap<i32, u64>,
    at: Duration,
}

impl Meter {
    /// Starts counting CPU.
    pub(super) fn begin(&mut self, now: Duration) {
        self.at = now;
    }

    /// Returns the usage of each process group. Reads a file for each process of the host.
    pub(super) fn look(&mut self, now: Duration) -> HashMap<i32, Usage> {
        let mut groups = HashMap::<i32, (u64, Usage)>::new();
        for Stat { group, ticks, pages, .. } in stat::all() {
            let (sum, usage) = groups.entry(group).or_default();
            *sum += ticks;
            usage.memory += pages * page_size() as u64;
            usage.processes += 1;
        }
        let seconds = now.saturating_sub(self.at).as_secs_f64();
        let mut found = HashMap::new();
        let mut last = HashMap::new();
        for (group, (ticks, usage)) in groups {
            let before = self.last.get(&group).copied().unwrap_or(0);
            #[expect(clippy::cast_precision_loss, reason = "for people, to three digits")]
            let spent = ticks.saturating_sub(before) as f64 / clock_ticks_per_second() as f64;
            let cpu = if seconds > 0.0 { spent / seconds } else { 0.0 };
            found.insert(group, Usage { cpu, ..usage });
            last.insert(group, ticks);
        }
        (self.last, self.at) = (last, now);
        found
    }
}

/// Formats bytes for people.
pub(super) fn bytes(bytes: u64) -> String {
    let tenths = bytes / 104_858; // nearly a tenth of a MiB
    format!("{}.{} MB", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_uses_memory() {
        let mut meter = Meter::default();
        let group = rustix::process::getpgrp().as_raw_pid();
        let found = meter.look(Duration::from_secs(1));
        assert!(found[&group].memory > 0 && found[&group].processes > 0);
    }
}
