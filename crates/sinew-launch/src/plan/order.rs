//! The order of processes: names in `after` become numbers, and loops are found.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::contents::Process;
use super::limits::Budget;
use super::scope::After;
use crate::error::{LoadError, Problem};
use crate::similar::suggestion;

/// Writes into each process's policy the processes that it waits for.
pub(crate) fn resolve(
    processes: &mut [Process],
    after: &[Arc<Vec<After>>],
    left_out: &BTreeSet<String>,
    budget: &Budget,
) -> Result<(), LoadError> {
    let names: BTreeMap<&str, usize> =
        processes.iter().enumerate().map(|(index, process)| (process.name.as_str(), index)).collect();
    let mut all = Vec::with_capacity(processes.len());
    for (index, wanted) in after.iter().enumerate() {
        let mut numbers = Vec::new();
        for after in wanted.iter() {
            let found = find(&names, &processes[index].name, after, left_out)?;
            budget.charge(size_of_val(found.as_slice()), &after.place)?;
            numbers.extend(found);
        }
        numbers.sort_unstable();
        numbers.dedup();
        all.push(numbers);
    }
    drop(names);
    for (process, numbers) in processes.iter_mut().zip(all) {
        process.policy.after = numbers;
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

/// Finds the processes that a name refers to from where it is written: the nearest process, group
/// or include of that name.
fn find(
    names: &BTreeMap<&str, usize>,
    own: &str,
    after: &After,
    left_out: &BTreeSet<String>,
) -> Result<Vec<usize>, LoadError> {
    let mut met_itself = false;
    for depth in (0..=after.path.len()).rev() {
        let mut parts: Vec<&str> = after.path[..depth].iter().map(String::as_str).collect();
        parts.push(&after.name);
        let name = parts.join("/");
        let inside = format!("{name}/");
        if own == name || own.starts_with(&inside) {
            met_itself = true;
        } else {
            let below = names.range(inside.as_str()..).take_while(|(other, _)| other.starts_with(&inside));
            let found: Vec<usize> =
                names.get(name.as_str()).into_iter().chain(below.map(|(_, index)| index)).copied().collect();
            if !found.is_empty() {
                return Ok(found);
            }
        }
        let mut around = std::iter::successors(Some(name.as_str()), |name| Some(name.rsplit_once('/')?.0));
        if around.any(|name| left_out.contains(name)) {
            return Ok(Vec::new()); // it won't be started, so there is nothing to wait for
        }
    }
    if met_itself {
        let chain = format!("{own} waits for {}", after.name);
        return Err(Problem::AfterLoop { chain }.at(&after.place));
    }
    let similar = suggestion(&after.name, names.keys().copied());
    Err(Problem::UnknownProcess { name: after.name.clone(), similar }.at(&after.place))
}

/// Finds processes that wait for each other: the first is also the last.
fn find_loop(processes: &[Process]) -> Option<Vec<usize>> {
    // Removes processes that wait for no remaining process, and updates those that wait for them.
    let mut waits: Vec<usize> = processes.iter().map(|process| process.policy.after.len()).collect();
    let mut waiting: Vec<Vec<usize>> = vec![Vec::new(); processes.len()];
    for (index, process) in processes.iter().enumerate() {
        for &other in &process.policy.after {
            waiting[other].push(index);
        }
    }
    let mut free: Vec<usize> = (0..processes.len()).filter(|&index| waits[index] == 0).collect();
    while let Some(index) = free.pop() {
        for &other in &waiting[index] {
            waits[other] -= 1;
            if waits[other] == 0 {
                free.push(other);
            }
        }
    }
    let is_left = |index: usize| waits[index] > 0;
    let mut chain = vec![(0..processes.len()).find(|&index| is_left(index))?];
    let mut places = vec![None; processes.len()];
    loop {
        let last = *chain.last()?;
        places[last] = Some(chain.len() - 1);
        let next = *processes[last].policy.after.iter().find(|&&other| is_left(other))?;
        chain.push(next);
        if let Some(begin) = places[next] {
            return Some(chain.split_off(begin));
        }
    }
}
