//! Decides when each goal may begin: the policies, without I/O and without a clock.

use crate::goal_id::GoalId;
use std::collections::VecDeque;

/// A server's treatment of a goal that arrives while another one is executing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Policy {
    /// Both are executed (at most [`max_goals`](super::ActionServerBuilder::max_goals) at once).
    /// This is ROS 2's behavior and the default.
    #[default]
    Parallel,
    /// The new goal is rejected.
    Reject,
    /// The new goal is accepted, and waits until the goals before it have ended. If the maximum
    /// number of goals wait already, it is rejected.
    Queue(usize),
    /// The newest goal wins: the executing goal is asked to end (its status becomes canceling), and
    /// the new one begins once that one has ended. If a newer one comes meanwhile, the waiting one
    /// is canceled.
    NewestWins,
}

/// The goals of a server that execute or wait under its policy. `G`: the goal's content.
pub(super) struct Admission<G> {
    policy: Policy,
    executing: Vec<GoalId>,
    waiting: VecDeque<(GoalId, G)>,
}

/// The outcome for a goal that the program has accepted.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Admitted<G> {
    Begins(G),
    /// The goal waits. `preempts`: the goal to be asked to end; `displaces`: a waiting goal that
    /// will never begin.
    Waits {
        preempts: Option<GoalId>,
        displaces: Option<(GoalId, G)>,
    },
}

impl<G> Admission<G> {
    pub(super) fn new(policy: Policy) -> Self {
        Self { policy, executing: Vec::new(), waiting: VecDeque::new() }
    }

    /// Returns `true` if a goal would be admitted now.
    pub(super) fn has_room(&self) -> bool {
        let is_free = self.executing.is_empty() && self.waiting.is_empty();
        match self.policy {
            Policy::Parallel | Policy::NewestWins => true,
            Policy::Reject => is_free,
            Policy::Queue(most) => is_free || self.waiting.len() < most,
        }
    }

    /// Admits a goal. The caller has checked that there [is room](Self::has_room).
    pub(super) fn admit(&mut self, id: GoalId, goal: G) -> Admitted<G> {
        if self.policy == Policy::Parallel || self.executing.is_empty() {
            self.executing.push(id);
            return Admitted::Begins(goal);
        }
        let (mut preempts, mut displaces) = (None, None);
        if self.policy == Policy::NewestWins {
            preempts = self.executing.first().copied();
            displaces = self.waiting.pop_front();
        }
        self.waiting.push_back((id, goal));
        Admitted::Waits { preempts, displaces }
    }

    pub(super) fn is_waiting(&self, id: GoalId) -> bool {
        self.waiting.iter().any(|(other, _)| *other == id)
    }

    /// Removes a waiting goal, which will not begin. `None`: it isn't waiting.
    pub(super) fn withdraw(&mut self, id: GoalId) -> Option<G> {
        let place = self.waiting.iter().position(|(other, _)| *other == id)?;
        self.waiting.remove(place).map(|(_, goal)| goal)
    }

    /// Records that a goal has ended, and returns the goal that begins instead.
    pub(super) fn ended(&mut self, id: GoalId) -> Option<(GoalId, G)> {
        let at = self.executing.iter().position(|other| *other == id)?;
        self.executing.swap_remove(at);
        if !self.executing.is_empty() {
            return None;
        }
        let next = self.waiting.pop_front()?;
        self.executing.push(next.0);
        Some(next)
    }

    /// Removes all waiting goals; none of them will begin.
    pub(super) fn clear(&mut self) -> VecDeque<(GoalId, G)> {
        std::mem::take(&mut self.waiting)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn id(number: u8) -> GoalId {
        GoalId([number; 16])
    }

    fn begins() -> Admitted<u8> {
        Admitted::Begins(0)
    }

    fn waits(preempts: Option<u8>, displaces: Option<u8>) -> Admitted<u8> {
        Admitted::Waits { preempts: preempts.map(id), displaces: displaces.map(|goal| (id(goal), goal)) }
    }

    #[test]
    fn the_newest_wins() {
        let mut goals = Admission::new(Policy::NewestWins);
        assert_eq!(goals.admit(id(1), 0), begins());
        assert_eq!(goals.admit(id(2), 2), waits(Some(1), None));
        assert_eq!(goals.admit(id(3), 3), waits(Some(1), Some(2)));
        assert_eq!(goals.ended(id(1)), Some((id(3), 3)));
        assert_eq!(goals.ended(id(3)), None);
        assert_eq!(goals.admit(id(4), 0), begins());
    }

    #[test]
    fn one_at_a_time() {
        let mut goals = Admission::new(Policy::Reject);
        assert!(goals.has_room());
        assert_eq!(goals.admit(id(1), 0), begins());
        assert!(!goals.has_room());
        assert_eq!(goals.ended(id(1)), None);
        assert!(goals.has_room());
    }

    proptest! {
        /// In any order of arrivals, withdrawals and ends, at most one goal is executed, waiting
        /// goals begin in their order, and none is forgotten.
        #[test]
        fn a_queue_keeps_order_and_loses_nothing(
            steps in prop::collection::vec(prop_oneof![Just(None), (0..8_u8).prop_map(Some)], 1..100),
            most in 0..4_usize,
        ) {
            let mut goals = Admission::new(Policy::Queue(most));
            let (mut executing, mut waiting) = (None::<u8>, Vec::new());
            for (number, step) in (0..=u8::MAX).zip(steps) {
                match step {
                    None => {
                        let room = executing.is_none() || waiting.len() < most;
                        prop_assert_eq!(goals.has_room(), room);
                        if !room {
                            continue;
                        }
                        let admitted = goals.admit(id(number), number);
                        if executing.is_none() {
                            executing = Some(number);
                            prop_assert_eq!(admitted, Admitted::Begins(number));
                        } else {
                            waiting.push(number);
                            prop_assert_eq!(admitted, waits(None, None));
                        }
                    }
                    Some(0..4) => {
                        let Some(ended) = executing.take() else { continue };
                        let next = (!waiting.is_empty()).then(|| waiting.remove(0));
                        executing = next;
                        prop_assert_eq!(goals.ended(id(ended)), next.map(|next| (id(next), next)));
                    }
                    Some(which) => {
                        let at = usize::from(which) - 4;
                        let withdrawn = (at < waiting.len()).then(|| waiting.remove(at));
                        let asked = withdrawn.or(executing).unwrap_or(u8::MAX);
                        prop_assert_eq!(goals.withdraw(id(asked)), withdrawn);
                    }
                }
            }
        }
    }
}
