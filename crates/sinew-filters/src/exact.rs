//! The exact policy: messages with equal stamps form a set.

use crate::policy::{Admitted, Policy, Step};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// The topics that have a message, by stamp.
#[derive(Debug)]
pub(crate) struct Exact {
    topics: usize,
    /// Maximum number of incomplete sets.
    depth: usize,
    waiting: BTreeMap<i64, Vec<bool>>,
    /// The stamp of the last set: older messages come too late.
    last: Option<i64>,
}

impl Exact {
    pub(crate) fn new(topics: usize, depth: usize) -> Self {
        Self { topics, depth: depth.max(1), waiting: BTreeMap::new(), last: None }
    }
}

impl Policy for Exact {
    fn add(&mut self, topic: usize, stamp: i64, steps: &mut Vec<Step>) -> Admitted {
        match self.last.map(|last| stamp.cmp(&last)) {
            Some(Ordering::Less) => return Admitted::Late,
            Some(Ordering::Equal) => return Admitted::Surplus,
            Some(Ordering::Greater) | None => {}
        }
        let topics = self.topics;
        let has = self.waiting.entry(stamp).or_insert_with(|| vec![false; topics]);
        if std::mem::replace(&mut has[topic], true) {
            steps.push(Step::Drop { topic, stamp }); // the older one of the two
        }
        if has.iter().all(|has| *has) {
            self.waiting.remove(&stamp);
            self.last = Some(stamp);
            // Older sets would come out of order.
            let newer = self.waiting.split_off(&stamp);
            for (stamp, has) in std::mem::replace(&mut self.waiting, newer) {
                drop_all(stamp, &has, steps);
            }
            steps.push(Step::Emit(vec![stamp; topics]));
        } else if self.waiting.len() > self.depth
            && let Some((stamp, has)) = self.waiting.pop_first()
        {
            drop_all(stamp, &has, steps);
        }
        Admitted::Taken
    }

    fn clear(&mut self) {
        self.waiting.clear();
        self.last = None;
    }
}

fn drop_all(stamp: i64, has: &[bool], steps: &mut Vec<Step>) {
    let topics = has.iter().enumerate().filter(|(_, has)| **has);
    steps.extend(topics.map(|(topic, _)| Step::Drop { topic, stamp }));
}
