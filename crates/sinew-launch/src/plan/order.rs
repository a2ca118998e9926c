//! Who waits for whom: names become numbers, and loops are found.

use super::Process;
use super::scope::After;
use crate::error::{LoadError, Problem};
use crate::similar::suggestion;

/// Writes into each process's policy whom it waits for.
pub(crate) fn resolve(
    processes: &mut [Process],
    after: &[Vec<After>],
    left_out: &[String],
) -> Result<(), LoadError> {
    for (index, wanted) in after.iter().enumerate() {
        let mut numbers = Vec::new();
        for after in wanted {
            numbers.extend(find(processes, index, after, left_out)?);
        }
        numbers.sort_unstable();
        numbers.dedup();
        processes[index].policy.after = numbers;
    }
    match find_loop(processes) {
        Some(chain) => {
            let names: Vec<_> = chain.iter().map(|&index| processes[index].name.as_str()).collect();
            let problem = Problem::AfterLoop { chain: names.join(" waits for ") };
            Err(problem.at(&processes[chain[0]].place))
        }
        None => Ok(()),
    }
}

/// The processes that a name means, seen from where it is written: the nearest process, group or
/// include of that name.
fn find(
    processes: &[Process],
    own: usize,
    after: &After,
    left_out: &[String],
) -> Result<Vec<usize>, LoadError> {
    let mut met_itself = false;
    for depth in (0..=after.path.len()).rev() {
        let mut parts: Vec<&str> = after.path[..depth].iter().map(String::as_str).collect();
        parts.push(&after.name);
        let (name, inside) = (parts.join("/"), format!("{}/", parts.join("/")));
        let is_meant = |process: &Process| process.name == name || process.name.starts_with(&inside);
        let found: Vec<usize> = (0..processes.len()).filter(|&index| is_meant(&processes[index])).collect();
        if found.contains(&own) {
            met_itself = true;
        } else if !found.is_empty() {
            return Ok(found);
        }
        if left_out.iter().any(|out| *out == name || name.starts_with(&format!("{out}/"))) {
            return Ok(Vec::new()); // it isn't to be started, so there is nothing to wait for
        }
    }
    if met_itself {
        let chain = format!("{} waits for {}", processes[own].name, after.name);
        return Err(Problem::AfterLoop { chain }.at(&after.place));
    }
    let similar = suggestion(&after.name, processes.iter().map(|process| process.name.as_str()));
    Err(Problem::UnknownProcess { name: after.name.clone(), similar }.at(&after.place))
}

/// Processes that wait for each other: the first is also the last.
fn find_loop(processes: &[Process]) -> Option<Vec<usize>> {
    // Takes away, again and again, those that wait for none of the others that are left.
    let mut left: Vec<usize> = (0..processes.len()).collect();
    loop {
        let before = left.len();
        let rest = left.clone();
        left.retain(|&index| processes[index].policy.after.iter().any(|other| rest.contains(other)));
        if left.len() == before {
            break;
        }
    }
    let mut chain = vec![*left.first()?];
    loop {
        let last = *chain.last()?;
        let next = *processes[last].policy.after.iter().find(|other| left.contains(other))?;
        if let Some(begin) = chain.iter().position(|&index| index == next) {
            chain.drain(..begin);
            chain.push(next);
            return Some(chain);
        }
        chain.push(next);
    }
}
