//! Who waits for whom: executors whose threads are in a publish that waits for a place in a history that another executor
//! would have to empty. Touched only by publishers that wait.

use crate::sync::Mutex;

/// The wait-for graph of a context.
pub(crate) struct Waits(Mutex<Vec<(u64, u64)>>);

/// While it lives, the edges it stands for are in the graph.
pub(crate) struct Waiting<'a> {
    waits: &'a Waits,
    from: Vec<u64>,
    to: u64,
}

impl Waits {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// Notes that none of `from` can go on before `to` does; `None` if `to` can't go on before one of them.
    pub(crate) fn enter(&self, from: &[u64], to: u64) -> Option<Waiting<'_>> {
        let mut edges = self.0.lock();
        let mut reached = vec![to];
        let mut looked_at = 0;
        while let Some(&node) = reached.get(looked_at) {
            if from.contains(&node) {
                return None;
            }
            looked_at += 1;
            let next: Vec<u64> =
                edges.iter().filter(|(a, b)| *a == node && !reached.contains(b)).map(|(_, b)| *b).collect();
            reached.extend(next);
        }
        edges.extend(from.iter().map(|&from| (from, to)));
        Some(Waiting { waits: self, from: from.to_vec(), to })
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut edges = self.waits.0.lock();
        for &from in &self.from {
            if let Some(index) = edges.iter().position(|&edge| edge == (from, self.to)) {
                edges.swap_remove(index);
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_cycle_is_refused_and_an_end_of_waiting_opens_it() {
        let waits = Waits::new();
        let first = waits.enter(&[1], 2).unwrap();
        let second = waits.enter(&[2], 3).unwrap();
        assert!(waits.enter(&[3], 1).is_none(), "3 -> 1 -> 2 -> 3");
        assert!(waits.enter(&[4], 1).is_some(), "nobody waits for 4");
        drop(second);
        assert!(waits.enter(&[3], 1).is_some());
        drop(first);
        assert!(waits.enter(&[2], 1).is_some());
        assert!(waits.0.lock().is_empty());
    }

    #[test]
    fn an_executor_never_waits_for_itself() {
        let waits = Waits::new();
        assert!(waits.enter(&[1], 1).is_none());
        assert!(waits.enter(&[], 1).is_some(), "a thread that spins nothing holds up nobody");
    }
}
