//! CPU and memory of each process with its whole group, from `/proc`.

use std::collections::HashMap;
use std::time::Duration;

use rustix::param::{clock_ticks_per_second, page_size};

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
        let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        for entry in processes {
            let name = entry.file_name();
            if !name.to_str().is_some_and(|name| name.bytes().all(|byte| byte.is_ascii_digit())) {
                continue;
            }
            // The process may have ended meanwhile.
            let Some(stat) = std::fs::read(entry.path().join("stat")).ok() else { continue };
            let Some((group, ticks, pages)) = parse(&String::from_utf8_lossy(&stat)) else { continue };
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

/// Parses the process group, CPU ticks and pages in memory from `/proc/PID/stat`.
fn parse(stat: &str) -> Option<(i32, u64, u64)> {
    // The program's name is in brackets, and may itself contain brackets.
    let (_, after) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = after.split_whitespace().collect();
    let number = |index: usize| fields.get(index)?.parse::<u64>().ok();
    Some((fields.get(2)?.parse().ok()?, number(11)? + number(12)?, number(21)?))
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
    fn names_may_have_anything_in_them() {
        let rest = "S 1 77 9 0 -1 4 5 6 7 8 30 12 0 0 20 0 1 0 99 1000 55 18446744073709551615";
        assert_eq!(parse(&format!("5 (a) b (c) {rest}")), Some((77, 42, 55)));
        assert_eq!(parse("5 (a"), None);
    }

    #[test]
    fn this_process_uses_memory() {
        let mut meter = Meter::default();
        let group = rustix::process::getpgrp().as_raw_pid();
        let found = meter.look(Duration::from_secs(1));
        assert!(found[&group].memory > 0 && found[&group].processes > 0);
    }
}
