//! The approximate policy: sets of messages, one of each topic, with stamps as close together as
//! possible.
//!
//! The rules are those of ROS 2's ApproximateTime
//! (<http://wiki.ros.org/message_filters/ApproximateTime>): each message is in at most one set,
//! sets don't cross, and of the sets with a given *pivot* the smallest is chosen.
//!
//! # Algorithm
//!
//! Once each topic has a message, the first messages of all topics form a set. The latest of them
//! is the pivot. Until the pivot is used, the search considers only sets that contain it, since an
//! earlier set would have a gap. A set becomes smaller only by replacing its earliest message by
//! the next one of the same topic. So the search passes over the earliest message again and again,
//! and keeps the best set found (the *candidate*). It ends when the pivot itself is the earliest
//! message, or when the set ends so late that a later begin, at most that of the pivot, cannot make
//! up for it. A later end counts more than a later begin, by the *age penalty*, since old sets are
//! worth little.
//!
//! If a topic has no more messages, its next message is assumed to come no earlier than the least
//! interval after its last one. With this bound the search may end without that message.

use crate::policy::{Admitted, Policy, Step};
use std::collections::VecDeque;

#[derive(Debug, Default)]
struct Queue {
    /// The stamps in ascending order, which is the order of arrival.
    stamps: VecDeque<i64>,
    /// Number of messages at the front that were passed over since the candidate was found.
    passed: usize,
    /// Set if a message was displaced, so that the first one now may not be the best match.
    has_gap: bool,
    /// Minimum time between two messages, in nanoseconds.
    least_interval: i64,
    /// The last stamp that arrived.
    last: Option<i64>,
}

impl Queue {
    fn next(&self) -> Option<i64> {
        self.stamps.get(self.passed).copied()
    }

    /// Returns the stamp of the next message, or the earliest it can have.
    fn soonest(&self, pivot: i64) -> i64 {
        let soonest = |last: i64| last.saturating_add(self.least_interval).max(pivot);
        self.next().unwrap_or_else(|| self.last.map_or(pivot, soonest))
    }
}

/// The best set so far: the first messages of all queues.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    begin: i64,
    end: i64,
    pivot: usize,
    pivot_stamp: i64,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) depth: usize,
    pub(crate) max_interval: i64,
    pub(crate) age_penalty: f64,
}

#[derive(Debug)]
pub(crate) struct Approximate {
    limits: Limits,
    queues: Vec<Queue>,
    candidate: Option<Candidate>,
}

/// The earliest and the latest of some stamps, with their topics; among equal stamps the first
/// topic counts.
struct Ends {
    begin: (usize, i64),
    end: (usize, i64),
}

impl Approximate {
    pub(crate) fn new(topics: usize, limits: Limits, least_intervals: &[i64]) -> Self {
        let queue = |topic: usize| Queue {
            least_interval: least_intervals.get(topic).copied().unwrap_or(0),
            ..Queue::default()
        };
        let limits = Limits { depth: limits.depth.max(1), ..limits };
        Self { limits, queues: (0..topics).map(queue).collect(), candidate: None }
    }

    /// Returns the ends of the topics' next messages, or `None` if a topic has no message.
    fn ends(&self) -> Option<Ends> {
        let stamps: Option<Vec<i64>> = self.queues.iter().map(Queue::next).collect();
        Some(ends_of(&stamps?))
    }

    /// Returns the cost of ending at `end` instead of at the end of the candidate.
    fn worse(&self, end: i64, candidate: &Candidate) -> f64 {
        difference(end, candidate.end) * (1.0 + self.limits.age_penalty)
    }

    fn search(&mut self, steps: &mut Vec<Step>) {
        while let Some(Ends { begin, end }) = self.ends() {
            for (topic, queue) in self.queues.iter_mut().enumerate() {
                queue.has_gap &= topic == end.0;
            }
            let candidate = match self.candidate {
                None => {
                    let too_far = end.1.saturating_sub(begin.1) > self.limits.max_interval;
                    if too_far || self.queues[end.0].has_gap {
                        self.drop_first(begin.0, steps);
                        continue;
                    }
                    self.found(begin.1, end.1, end, steps)
                }
                Some(candidate) if self.worse(end.1, &candidate) < difference(begin.1, candidate.begin) => {
                    self.found(begin.1, end.1, (candidate.pivot, candidate.pivot_stamp), steps)
                }
                Some(candidate) => candidate,
            };
            self.queues[begin.0].passed += 1;
            if begin.0 == candidate.pivot || self.is_best(end.1, &candidate) {
                self.emit(steps);
            } else if self.ends().is_none() && !self.look_ahead(steps) {
                return;
            }
        }
    }

    /// Returns whether no set with the pivot that ends at `end` or later can be better.
    fn is_best(&self, end: i64, candidate: &Candidate) -> bool {
        self.worse(end, candidate) >= difference(candidate.pivot_stamp, candidate.begin)
    }

    /// Makes the next messages the candidate. The messages passed over are in no set.
    fn found(
        &mut self,
        begin: i64,
        end: i64,
        (pivot, pivot_stamp): (usize, i64),
        steps: &mut Vec<Step>,
    ) -> Candidate {
        for topic in 0..self.queues.len() {
            for _ in 0..std::mem::take(&mut self.queues[topic].passed) {
                self.drop_first(topic, steps);
            }
        }
        *self.candidate.insert(Candidate { begin, end, pivot, pivot_stamp })
    }

    /// Called when a topic has no more messages. Returns whether the candidate is the best set even
    /// with the earliest messages that may still come. If not, nothing has changed.
    fn look_ahead(&mut self, steps: &mut Vec<Step>) -> bool {
        let Some(candidate) = self.candidate else { return false };
        let before: Vec<usize> = self.queues.iter().map(|queue| queue.passed).collect();
        loop {
            let stamps: Vec<i64> =
                self.queues.iter().map(|queue| queue.soonest(candidate.pivot_stamp)).collect();
            let Ends { begin, end } = ends_of(&stamps);
            if self.is_best(end.1, &candidate) {
                self.emit(steps);
                return true;
            }
            let may_be_better = self.worse(end.1, &candidate) < difference(begin.1, candidate.begin);
            if may_be_better || self.queues[begin.0].next().is_none() {
                for (queue, passed) in self.queues.iter_mut().zip(before) {
                    queue.passed = passed;
                }
                return false;
            }
            self.queues[begin.0].passed += 1;
        }
    }

    fn emit(&mut self, steps: &mut Vec<Step>) {
        self.candidate = None;
        let first = |queue: &mut Queue| {
            queue.passed = 0;
            queue.stamps.pop_front()
        };
        steps.push(Step::Emit(self.queues.iter_mut().filter_map(first).collect()));
    }

    fn drop_first(&mut self, topic: usize, steps: &mut Vec<Step>) {
        let dropped = self.queues[topic].stamps.pop_front();
        steps.extend(dropped.map(|stamp| Step::Drop { topic, stamp }));
    }
}

impl Policy for Approximate {
    fn add(&mut self, topic: usize, stamp: i64, steps: &mut Vec<Step>) -> Admitted {
        let queue = &mut self.queues[topic];
        if queue.last.is_some_and(|last| stamp < last) {
            return Admitted::Late; // out of order: its place has passed
        }
        queue.last = Some(stamp);
        queue.stamps.push_back(stamp);
        // A search without a result waits for a message of a topic that has none left.
        if queue.stamps.len() - queue.passed == 1 {
            self.search(steps);
        }
        if self.queues[topic].stamps.len() > self.limits.depth {
            // Restart the search, without the oldest message of that topic.
            self.candidate = None;
            self.queues.iter_mut().for_each(|queue| queue.passed = 0);
            self.drop_first(topic, steps);
            self.queues[topic].has_gap = true;
            self.search(steps);
        }
        Admitted::Taken
    }

    fn clear(&mut self) {
        self.candidate = None;
        for queue in &mut self.queues {
            *queue = Queue { least_interval: queue.least_interval, ..Queue::default() };
        }
    }
}

fn ends_of(stamps: &[i64]) -> Ends {
    let mut ends = Ends { begin: (0, i64::MAX), end: (0, i64::MIN) };
    for (topic, stamp) in stamps.iter().enumerate() {
        if *stamp < ends.begin.1 {
            ends.begin = (topic, *stamp);
        }
        if *stamp > ends.end.1 {
            ends.end = (topic, *stamp);
        }
    }
    ends
}

#[expect(clippy::cast_precision_loss, reason = "to some nanoseconds in a year")]
fn difference(later: i64, earlier: i64) -> f64 {
    later.saturating_sub(earlier) as f64
}
