//! A client's knowledge of one of its goals, and the order in which it notifies the program:
//! without I/O.
//!
//! A goal's response, its feedback, its result and the status array come by four ways, which
//! overtake each other. Feedback that comes before the response is kept, and the callbacks are
//! always called in this order: response, feedback, result. Anything that comes after the result is
//! ignored.

use crate::error::{ResultError, SendGoalFailure};
use crate::status::GoalStatus;
use crate::waiting::Wakers;
use sinew::time::Time;
use std::collections::VecDeque;

/// `F`: feedback; `R`: a result.
pub(super) struct Progress<F, R> {
    /// The acceptance time of the goal, or the reason why it was not accepted.
    pub(super) response: Option<Result<Time, SendGoalFailure>>,
    status: GoalStatus,
    feedback: VecDeque<F>,
    /// Number of feedback messages that are kept.
    depth: usize,
    /// Number of feedback messages that newer ones displaced here.
    displaced: u64,
    /// Number of the action's feedback messages that were lost in transit while the goal was
    /// active; known once it has ended.
    lost_on_the_way: Option<u64>,
    pub(super) result: Option<Result<(GoalStatus, R), ResultError>>,
    /// Tasks that wait for a change of the goal.
    pub(super) wakers: Wakers,
    told: Told,
}

/// The last news that the callbacks got.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Told {
    Nothing,
    Response,
    Result,
}

/// The next news for a callback.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum News<F> {
    Response,
    Feedback(F),
    Result,
}

impl<F, R: Clone> Progress<F, R> {
    pub(super) fn new(depth: usize) -> Self {
        Self {
            response: None,
            status: GoalStatus::Unknown,
            feedback: VecDeque::new(),
            depth: depth.max(1),
            displaced: 0,
            lost_on_the_way: None,
            result: None,
            wakers: Wakers::default(),
            told: Told::Nothing,
        }
    }

    /// Returns `true` if nothing more will come.
    pub(super) fn is_over(&self) -> bool {
        self.result.is_some() || matches!(self.response, Some(Err(_)))
    }

    pub(super) fn status(&self) -> GoalStatus {
        self.status
    }

    /// Only the first response counts: the server's, or the reason why the client gave the goal up.
    /// Returns `true` if this is it.
    pub(super) fn handle_response(&mut self, response: Result<Time, SendGoalFailure>) -> bool {
        if self.response.is_some() {
            return false;
        }
        if response.is_ok() {
            self.handle_status(GoalStatus::Accepted);
        }
        self.response = Some(response);
        true
    }

    /// Returns the message that is not kept. The caller drops it without holding a lock.
    #[must_use]
    pub(super) fn handle_feedback(&mut self, feedback: F) -> Option<F> {
        if self.is_over() {
            return Some(feedback);
        }
        let is_full = self.feedback.len() == self.depth;
        self.displaced += u64::from(is_full);
        let displaced = if is_full { self.feedback.pop_front() } else { None };
        self.feedback.push_back(feedback);
        displaced
    }

    /// Returns the number of feedback messages that the program missed. `lost` returns the number
    /// of the action's messages that were lost in transit since the goal was sent.
    pub(super) fn missed(&self, lost: impl FnOnce() -> u64) -> u64 {
        self.displaced + self.lost_on_the_way.unwrap_or_else(lost)
    }

    /// Moves the goal's state forward, never back: status arrays may be older than the known state.
    pub(super) fn handle_status(&mut self, status: GoalStatus) {
        if !self.status.is_terminal() {
            self.status = self.status.max(status);
        }
    }

    /// Ends the goal. `lost` is the most feedback of this goal that can have been lost in transit.
    /// Only the first result counts.
    pub(super) fn handle_result(&mut self, result: Result<(GoalStatus, R), ResultError>, lost: u64) {
        if self.result.is_some() {
            return;
        }
        if let Ok((status, _)) = &result {
            self.status = *status;
        }
        self.lost_on_the_way = Some(lost);
        self.result = Some(result);
    }

    pub(super) fn take_feedback(&mut self) -> Option<F> {
        self.feedback.pop_front()
    }

    /// Returns the next news for the callbacks; `feedback`: whether there is a feedback callback.
    pub(super) fn poll_news(&mut self, feedback: bool) -> Option<News<F>> {
        if self.told == Told::Nothing {
            self.response.as_ref()?;
            self.told = Told::Response;
            return Some(News::Response);
        }
        if feedback && let Some(feedback) = self.feedback.pop_front() {
            return Some(News::Feedback(feedback));
        }
        if self.told == Told::Result || self.result.is_none() {
            return None;
        }
        self.told = Told::Result;
        Some(News::Result)
    }

    /// Returns `true` if the callbacks have got everything that there will ever be.
    pub(super) fn is_told(&self) -> bool {
        match self.told {
            Told::Nothing => false,
            Told::Response => matches!(self.response, Some(Err(_))),
            Told::Result => true,
        }
    }

    /// Returns `true` if there is news for callbacks.
    pub(super) fn has_news(&self, feedback: bool) -> bool {
        match self.told {
            Told::Nothing => self.response.is_some(),
            _ if feedback && !self.feedback.is_empty() => true,
            told => told == Told::Response && self.result.is_some(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Debug, Clone)]
    enum Step {
        Response(bool),
        Feedback(u32),
        Status(i8),
        Result,
        Poll,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            1 => prop::bool::weighted(0.9).prop_map(Step::Response),
            4 => any::<u32>().prop_map(Step::Feedback),
            2 => (0..7_i8).prop_map(Step::Status),
            1 => Just(Step::Result),
            4 => Just(Step::Poll),
        ]
    }

    proptest! {
        /// In any order of arrival, callbacks get the response first, then the feedback in its
        /// order, then the result, each once; nothing that came in time is missing except what is
        /// counted as lost.
        #[test]
        fn callbacks_are_told_in_order(steps in prop::collection::vec(step(), 1..80), depth in 1..6_usize) {
            let mut progress = Progress::<u32, u8>::new(depth);
            let (mut expected, mut told, mut feedback, mut highest) = (Vec::new(), Vec::new(), 0_u64, GoalStatus::Unknown);
            let poll = |progress: &mut Progress<u32, u8>, told: &mut Vec<News<u32>>| {
                assert_eq!(progress.has_news(true), {
                    let news = progress.poll_news(true);
                    let any = news.is_some();
                    told.extend(news);
                    any
                });
            };
            for step in steps {
                match step {
                    Step::Response(accepted) if progress.response.is_none() => {
                        let answer = if accepted { Ok(Time::default()) } else { Err(SendGoalFailure::Rejected) };
                        progress.handle_response(answer);
                    }
                    Step::Feedback(number) => {
                        if !progress.is_over() {
                            feedback += 1;
                            expected.push(number);
                        }
                        let _ = progress.handle_feedback(number);
                    }
                    Step::Status(status) => {
                        progress.handle_status(GoalStatus::of_wire(status));
                        if !highest.is_terminal() {
                            highest = highest.max(GoalStatus::of_wire(status));
                        }
                    }
                    Step::Result if matches!(progress.response, Some(Ok(_))) && progress.result.is_none() => {
                        progress.handle_result(Ok((GoalStatus::Aborted, 7)), 0);
                        highest = GoalStatus::Aborted;
                    }
                    Step::Poll => poll(&mut progress, &mut told),
                    _ => {}
                }
                if matches!(progress.response, Some(Ok(_))) && !highest.is_terminal() {
                    highest = highest.max(GoalStatus::Accepted);
                }
                prop_assert_eq!(progress.status(), highest);
            }
            let (answered, ended) = (progress.response.is_some(), progress.result.is_some());
            while progress.has_news(true) {
                poll(&mut progress, &mut told);
            }
            prop_assert_eq!(told.first() == Some(&News::Response), answered);
            prop_assert_eq!(told.last() == Some(&News::Result), ended);
            let numbers: Vec<u32> = told.iter().filter_map(|news| match news {
                News::Feedback(number) => Some(*number),
                _ => None,
            }).collect();
            if answered {
                prop_assert_eq!(numbers.len() as u64 + progress.missed(|| 0), feedback);
                prop_assert_eq!(told.len(), numbers.len() + 1 + usize::from(ended));
            }
            let mut rest = expected.iter();
            prop_assert!(numbers.iter().all(|number| rest.any(|other| other == number)), "in their order");
        }
    }
}
