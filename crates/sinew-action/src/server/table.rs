//! The goals of a server: the protocol, without I/O and without a clock.
//!
//! # A goal's life here
//!
//! | call | effect on the goal |
//! |---|---|
//! | [`handle_goal`](GoalTable::handle_goal) | enters, as accepted |
//! | [`handle_event`](GoalTable::handle_event) | goes on, if [`GoalStatus`]'s table allows it |
//! | [`handle_result_request`](GoalTable::handle_result_request) | active: the request is kept; ended: it is answered |
//! | [`handle_end`](GoalTable::handle_end) | ends; waiting requests go out, the result is kept |
//! | [`handle_timeout`](GoalTable::handle_timeout) | is forgotten, one `result_timeout` after its *end* |
//! | [`handle_listed`](GoalTable::handle_listed) | leaves, if it was forgotten before an array showed its end |
//!
//! An ended goal is also forgotten when the goals that ended after it reach the limit of kept
//! results, by number or by bytes. The goal that ended last is kept in any case, however large its
//! result is: its client may only be asking for it.
//!
//! A forgotten goal has no result, but status arrays list it until one has shown how it ended.
//!
//! ROS 2's design article says that results are kept from the end of the goal; ROS 2 up to Jazzy
//! counts from its acceptance, so that goals that run long lose their result at once
//! (<https://github.com/ros2/rcl/pull/1121>).
//!
//! Goals are numbered in the order of their arrival, and lie in that order in `slots`: building a
//! status array is one walk. Forgotten goals leave gaps. Gaps at the front are closed at once, all
//! others when there are more gaps than goals. So the cost of a step doesn't depend on the number
//! of goals, and memory is proportional to the number of known goals.

use crate::goal_id::GoalId;
use crate::status::{GoalEvent, GoalStatus};
use foldhash::HashMap;
use sinew::time::Time;
use std::collections::VecDeque;
use std::time::Duration;

/// Number of gaps that are never closed: walking over them is less work.
const GAPS: usize = 16;

/// The goals of a server. `P`: data of an active goal; `W`: a request for a result; `R`: a result.
pub(crate) struct GoalTable<P, W, R> {
    numbers: HashMap<GoalId, u64>,
    slots: VecDeque<Option<Entry<P, W, R>>>,
    /// Number of the first slot.
    first: u64,
    /// Number of goals that have not ended.
    active: usize,
    /// Ended goals, in the order of their ends.
    ended: VecDeque<Ended>,
    /// Number of goals at the back of `ended` whose ends no status array has shown.
    unlisted: usize,
    /// Forgotten goals whose ends no status array has shown.
    leaving: Vec<GoalId>,
    /// Bytes of all results of ended goals.
    bytes: usize,
    keeps: Keeps,
    /// Results of forgotten goals, to be dropped while no lock is held.
    forgotten: Vec<R>,
}

/// Limits of the ended goals that are kept; the goal that ended first is forgotten first.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Keeps {
    /// Time for which an ended goal is kept; `None`: without a limit.
    pub(crate) timeout: Option<Duration>,
    /// Number of ended goals.
    pub(crate) most: usize,
    /// Bytes of their results, not counting the goal that ended last.
    pub(crate) most_bytes: usize,
}

struct Ended {
    at: Time,
    id: GoalId,
    bytes: usize,
}

struct Entry<P, W, R> {
    id: GoalId,
    stamp: Time,
    status: GoalStatus,
    /// `None` once the goal has ended.
    active: Option<P>,
    waiting: Vec<W>,
    /// `None` before the goal has ended, and once it is forgotten.
    result: Option<R>,
}

/// The outcome of a request for a result.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ResultRequest<W, R> {
    /// The goal has not ended: the request waits with it.
    Kept,
    Answer(W, GoalStatus, R),
    Unknown(W),
}

/// The answer to a cancel request, before it is carried out. ROS 2's codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(i8)]
pub(crate) enum CancelCode {
    None = 0,
    Rejected = 1,
    UnknownGoal = 2,
    GoalTerminated = 3,
}

impl<P, W, R: Clone> GoalTable<P, W, R> {
    pub(crate) fn new(keeps: Keeps) -> Self {
        Self {
            numbers: HashMap::default(),
            slots: VecDeque::new(),
            first: 0,
            active: 0,
            ended: VecDeque::new(),
            unlisted: 0,
            leaving: Vec::new(),
            bytes: 0,
            keeps,
            forgotten: Vec::new(),
        }
    }

    /// Returns the number of goals that have not ended.
    pub(crate) fn active(&self) -> usize {
        self.active
    }

    pub(crate) fn knows(&self, id: GoalId) -> bool {
        self.numbers.contains_key(&id)
    }

    fn slot(&self, number: u64) -> usize {
        usize::try_from(number - self.first).unwrap_or(usize::MAX)
    }

    fn entry(&self, id: GoalId) -> Option<&Entry<P, W, R>> {
        self.slots[self.slot(*self.numbers.get(&id)?)].as_ref()
    }

    fn entry_mut(&mut self, id: GoalId) -> Option<&mut Entry<P, W, R>> {
        let slot = self.slot(*self.numbers.get(&id)?);
        self.slots[slot].as_mut()
    }

    /// Takes a goal in. Returns `false`, and changes nothing, if its id is already known.
    pub(crate) fn handle_goal(&mut self, now: Time, id: GoalId, active: P) -> bool {
        if self.knows(id) {
            return false;
        }
        let number = self.first + self.slots.len() as u64;
        let (status, active) = (GoalStatus::Accepted, Some(active));
        self.numbers.insert(id, number);
        self.slots.push_back(Some(Entry {
            id,
            stamp: now,
            status,
            active,
            waiting: Vec::new(),
            result: None,
        }));
        self.active += 1;
        true
    }

    /// Begins a goal or asks it to end. Returns `None` if its state doesn't allow the event.
    pub(crate) fn handle_event(&mut self, id: GoalId, event: GoalEvent) -> Option<&P> {
        let entry = self.entry_mut(id)?;
        let status = entry.status.after(event).filter(|status| !status.is_terminal())?;
        entry.status = status;
        entry.active.as_ref()
    }

    /// Ends a goal with a result of `bytes` bytes. Returns its state and the requests that waited
    /// for the result, or `None` if its state doesn't allow this end.
    pub(crate) fn handle_end(
        &mut self,
        now: Time,
        id: GoalId,
        event: GoalEvent,
        (result, bytes): (R, usize),
    ) -> Option<(GoalStatus, Vec<W>)> {
        let entry = self.entry_mut(id)?;
        let status = entry.status.after(event).filter(|status| status.is_terminal())?;
        entry.status = status;
        entry.active = None;
        entry.result = Some(result);
        let waiting = std::mem::take(&mut entry.waiting);
        self.active -= 1;
        self.ended.push_back(Ended { at: now, id, bytes });
        self.unlisted += 1;
        self.bytes = self.bytes.saturating_add(bytes);
        while self.ended.len() > self.keeps.most
            || (self.bytes > self.keeps.most_bytes && self.ended.len() > 1)
        {
            self.forget_first();
        }
        self.handle_timeout(now); // for a timeout of zero
        Some((status, waiting))
    }

    /// Returns the goals that a cancel request selects, in the order in which they were accepted.
    /// Their states don't change yet; [`handle_event`](Self::handle_event) changes them.
    ///
    /// | id | stamp | goals |
    /// |---|---|---|
    /// | 0 | 0 | all |
    /// | 0 | t | those accepted at t or before |
    /// | id | 0 | that one |
    /// | id | t | that one, and those accepted at t or before |
    ///
    /// Only goals that can be cancelled are returned. Only a request for a single goal can fail
    /// because the goal is unknown or has ended.
    pub(crate) fn handle_cancel(
        &self,
        id: GoalId,
        stamp: Time,
    ) -> Result<Vec<(GoalId, Time, &P)>, CancelCode> {
        let (any_id, any_time) = (id == GoalId::NONE, stamp == Time::default());
        if !any_id && any_time {
            let entry = self.entry(id).ok_or(CancelCode::UnknownGoal)?;
            return match &entry.active {
                Some(active) if entry.status.is_cancelable() => Ok(vec![(id, entry.stamp, active)]),
                _ => Err(CancelCode::GoalTerminated),
            };
        }
        let is_meant = |entry: &&Entry<P, W, R>| {
            entry.status.is_cancelable() && (any_id && any_time || entry.stamp <= stamp || entry.id == id)
        };
        let meant = self.slots.iter().flatten().filter(is_meant);
        Ok(meant.filter_map(|entry| Some((entry.id, entry.stamp, entry.active.as_ref()?))).collect())
    }

    /// Handles a client's request for a result.
    pub(crate) fn handle_result_request(&mut self, id: GoalId, request: W) -> ResultRequest<W, R> {
        let Some(entry) = self.entry_mut(id) else { return ResultRequest::Unknown(request) };
        match &entry.result {
            Some(result) => ResultRequest::Answer(request, entry.status, result.clone()),
            None if entry.active.is_some() => {
                entry.waiting.push(request);
                ResultRequest::Kept
            }
            None => ResultRequest::Unknown(request),
        }
    }

    /// Forgets the goals with results that have been kept long enough; returns whether there were
    /// any.
    pub(crate) fn handle_timeout(&mut self, now: Time) -> bool {
        let Some(timeout) = self.keeps.timeout else { return false };
        let mut any = false;
        while let Some(Ended { at, .. }) = self.ended.front_mut() {
            // If time went back, the result is kept for one timeout from now at most.
            *at = (*at).min(now);
            if now < *at + timeout {
                break;
            }
            self.forget_first();
            any = true;
        }
        any
    }

    /// Returns the time at which [`handle_timeout`](Self::handle_timeout) has work next.
    pub(crate) fn poll_timeout(&self) -> Option<Time> {
        Some(self.ended.front()?.at + self.keeps.timeout?)
    }

    /// Returns the state of a goal.
    pub(crate) fn status(&self, id: GoalId) -> GoalStatus {
        self.entry(id).map_or(GoalStatus::Unknown, |entry| entry.status)
    }

    /// Returns the goals that have not ended or have a result, in the order in which they were
    /// accepted.
    pub(crate) fn goals(&self) -> impl Iterator<Item = (GoalId, Time, GoalStatus)> {
        let is_known = |entry: &&Entry<P, W, R>| entry.active.is_some() || entry.result.is_some();
        self.slots.iter().flatten().filter(is_known).map(|entry| (entry.id, entry.stamp, entry.status))
    }

    /// Returns the goals of a status array: also those that are forgotten and whose ends no array
    /// has shown.
    pub(crate) fn statuses(&self) -> impl Iterator<Item = (GoalId, Time, GoalStatus)> {
        self.slots.iter().flatten().map(|entry| (entry.id, entry.stamp, entry.status))
    }

    /// Returns the number of goals in a status array.
    pub(crate) fn listed(&self) -> usize {
        self.numbers.len()
    }

    /// Records that a status array shows all goals as they are now.
    pub(crate) fn handle_listed(&mut self) {
        self.unlisted = 0;
        while let Some(id) = self.leaving.pop() {
            self.remove(id);
        }
    }

    /// Returns the data of the goals that have not ended.
    pub(crate) fn actives(&self) -> impl Iterator<Item = &P> {
        self.slots.iter().flatten().filter_map(|entry| entry.active.as_ref())
    }

    /// Takes all waiting requests out, when the server closes.
    pub(crate) fn take_waiting(&mut self) -> Vec<W> {
        self.slots.iter_mut().flatten().flat_map(|entry| std::mem::take(&mut entry.waiting)).collect()
    }

    /// Returns the results of the goals that have been forgotten since the last call. The caller
    /// drops them without holding a lock.
    #[must_use]
    pub(crate) fn take_forgotten(&mut self) -> Vec<R> {
        std::mem::take(&mut self.forgotten)
    }

    fn forget_first(&mut self) {
        let Some(Ended { id, bytes, .. }) = self.ended.pop_front() else { return };
        self.bytes -= bytes;
        let result = self.entry_mut(id).and_then(|entry| entry.result.take());
        self.forgotten.extend(result);
        if self.ended.len() < self.unlisted {
            self.unlisted -= 1;
            self.leaving.push(id);
        } else {
            self.remove(id);
        }
    }

    fn remove(&mut self, id: GoalId) {
        let Some(number) = self.numbers.remove(&id) else { return };
        let slot = self.slot(number);
        self.slots[slot] = None;
        while let Some(None) = self.slots.front() {
            self.slots.pop_front();
            self.first += 1;
        }
        if self.slots.len() > 2 * self.numbers.len() + GAPS {
            self.slots.retain(Option::is_some);
            for (number, entry) in (self.first..).zip(self.slots.iter().flatten()) {
                self.numbers.insert(entry.id, number);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    type Table = GoalTable<(), u32, u64>;

    /// A goal in the simple list.
    #[derive(Debug, Clone)]
    struct Told {
        stamp: i64,
        status: GoalStatus,
        waiting: Vec<u32>,
        result: Option<u64>,
        ended: Option<(i64, u64)>,
        /// An array has shown its end.
        is_listed: bool,
    }

    impl Told {
        fn is_forgotten(&self) -> bool {
            self.ended.is_some() && self.result.is_none()
        }
    }

    /// The protocol as the articles describe it, goal by goal, without any index.
    #[derive(Default)]
    struct Oracle {
        goals: Vec<(GoalId, Told)>,
        ends: u64,
    }

    impl Oracle {
        fn get(&mut self, id: GoalId) -> Option<&mut Told> {
            self.goals.iter_mut().find(|(other, _)| *other == id).map(|(_, goal)| goal)
        }

        fn expire(&mut self, now: i64, timeout: Option<i64>, (most, most_bytes): (usize, usize)) {
            let mut ends: Vec<((i64, u64), GoalId, usize)> = self
                .goals
                .iter()
                .filter_map(|(id, goal)| Some((goal.ended?, *id, bytes_of(goal.result?))))
                .collect();
            ends.sort_unstable();
            let is_too_much = |kept: &[((i64, u64), GoalId, usize)]| {
                let bytes: usize = kept.iter().map(|(.., bytes)| bytes).sum();
                kept.len() > most || (kept.len() > 1 && bytes > most_bytes)
            };
            let is_over = |end: i64| timeout.is_some_and(|timeout| now >= end + timeout);
            while is_too_much(&ends) || ends.first().is_some_and(|((end, _), ..)| is_over(*end)) {
                let (_, gone, _) = ends.remove(0);
                self.get(gone).expect("it was there").result = None;
            }
            self.goals.retain(|(_, goal)| !(goal.is_forgotten() && goal.is_listed));
        }

        fn meant(&self, id: u8, stamp: i64) -> Result<Vec<GoalId>, CancelCode> {
            let can = |goal: &Told| matches!(goal.status as i8, 1 | 2);
            let all = |which: &dyn Fn(GoalId, &Told) -> bool| {
                let meant = self.goals.iter().filter(|(id, goal)| can(goal) && which(*id, goal));
                Ok(meant.map(|(id, _)| *id).collect())
            };
            let wanted = GoalId([id; 16]);
            match (id, stamp) {
                (0, 0) => all(&|_, _| true),
                (0, t) => all(&|_, goal| goal.stamp <= t),
                (_, 0) => match self.goals.iter().find(|(other, _)| *other == wanted) {
                    None => Err(CancelCode::UnknownGoal),
                    Some((_, goal)) if !can(goal) => Err(CancelCode::GoalTerminated),
                    Some(_) => Ok(vec![wanted]),
                },
                (_, t) => all(&|other, goal| other == wanted || goal.stamp <= t),
            }
        }
    }

    #[derive(Debug, Clone)]
    enum Step {
        Goal(u8),
        Event(u8, GoalEvent),
        Result(u8),
        Cancel(u8, i64),
        Pass(i64),
        List,
    }

    fn step() -> impl Strategy<Value = Step> {
        use GoalEvent::{Abort, Cancel, Canceled, Execute, Succeed};
        let event = prop::sample::select(vec![Execute, Execute, Cancel, Succeed, Abort, Canceled]);
        prop_oneof![
            3 => (1..9_u8).prop_map(Step::Goal),
            6 => (1..9_u8, event).prop_map(|(id, event)| Step::Event(id, event)),
            2 => (1..9_u8).prop_map(Step::Result),
            2 => (0..9_u8, prop_oneof![Just(0), 1..60_i64]).prop_map(|(id, stamp)| Step::Cancel(id, stamp)),
            2 => (1..9_i64).prop_map(Step::Pass),
            2 => Just(Step::List),
        ]
    }

    /// Returns the size of the result of the step with this number.
    fn bytes_of(number: u64) -> usize {
        usize::try_from(number % 7).unwrap()
    }

    fn at(time: i64) -> Time {
        Time::from_nanoseconds(time)
    }

    /// Takes one step in the table and in the list; returns the answers of both.
    fn take(table: &mut Table, oracle: &mut Oracle, now: i64, what: (&Step, u32)) {
        let number = what.1;
        match *what.0 {
            Step::Goal(id) => {
                let id = GoalId([id; 16]);
                let is_new = oracle.get(id).is_none();
                assert_eq!(table.handle_goal(at(now), id, ()), is_new);
                if is_new {
                    let status = GoalStatus::Accepted;
                    let (waiting, result, ended, is_listed) = (Vec::new(), None, None, false);
                    let told = Told { stamp: now, status, waiting, result, ended, is_listed };
                    oracle.goals.push((id, told));
                }
            }
            Step::Event(id, event) => {
                let id = GoalId([id; 16]);
                let ends = !matches!(event, GoalEvent::Execute | GoalEvent::Cancel);
                let after = oracle.get(id).and_then(|goal| goal.status.after(event));
                oracle.ends += u64::from(ends);
                let end = (now, oracle.ends);
                if let (Some(status), Some(goal)) = (after, oracle.get(id)) {
                    goal.status = status;
                    if ends {
                        (goal.result, goal.ended) = (Some(number.into()), Some(end));
                    }
                }
                if ends {
                    let waited = after.map(|status| {
                        (status, std::mem::take(&mut oracle.get(id).expect("it was there").waiting))
                    });
                    let result = (u64::from(number), bytes_of(number.into()));
                    assert_eq!(table.handle_end(at(now), id, event, result), waited);
                } else {
                    assert_eq!(table.handle_event(id, event).is_some(), after.is_some());
                }
            }
            Step::Result(id) => {
                let id = GoalId([id; 16]);
                let wanted = match oracle.get(id) {
                    None => ResultRequest::Unknown(number),
                    Some(goal) if goal.is_forgotten() => ResultRequest::Unknown(number),
                    Some(Told { status, result: Some(result), .. }) => {
                        ResultRequest::Answer(number, *status, *result)
                    }
                    Some(goal) => {
                        goal.waiting.push(number);
                        ResultRequest::Kept
                    }
                };
                assert_eq!(table.handle_result_request(id, number), wanted);
            }
            Step::Cancel(id, stamp) => {
                let found = table.handle_cancel(GoalId([id; 16]), at(stamp));
                let found = found.map(|goals| goals.iter().map(|(id, ..)| *id).collect::<Vec<_>>());
                assert_eq!(found, oracle.meant(id, stamp));
            }
            Step::List => {
                table.handle_listed();
                oracle.goals.iter_mut().for_each(|(_, goal)| goal.is_listed = goal.ended.is_some());
            }
            Step::Pass(_) => {}
        }
    }

    proptest! {
        #[test]
        fn the_table_does_what_a_plain_list_would(
            steps in prop::collection::vec(step(), 1..200),
            timeout in prop_oneof![Just(None), Just(Some(0)), (1..40_i64).prop_map(Some)],
            most in prop_oneof![Just(usize::MAX), 0..5_usize],
            most_bytes in prop_oneof![Just(usize::MAX), 0..15_usize],
        ) {
            let timeout_of_table = timeout.map(|time: i64| Duration::from_nanos(time.unsigned_abs()));
            let mut table = Table::new(Keeps { timeout: timeout_of_table, most, most_bytes });
            let (mut oracle, mut now) = (Oracle::default(), 1);
            for (number, step) in (0..).zip(&steps) {
                if let Step::Pass(time) = step {
                    now += time;
                    table.handle_timeout(at(now));
                }
                take(&mut table, &mut oracle, now, (step, number));
                oracle.expire(now, timeout, (most, most_bytes));
                // Lazily forgotten goals are forgotten before the comparison.
                table.handle_timeout(at(now));
                let statuses: Vec<_> = table.statuses().map(|(id, stamp, status)| (id, stamp.nanoseconds(), status)).collect();
                let told: Vec<_> = oracle.goals.iter().map(|(id, goal)| (*id, goal.stamp, goal.status)).collect();
                prop_assert_eq!(&statuses, &told);
                let active = told.iter().filter(|(.., status)| status.is_active()).count();
                prop_assert_eq!((table.active(), table.actives().count(), table.listed()), (active, active, told.len()));
                let known: Vec<_> = table.goals().map(|(id, ..)| id).collect();
                let kept = oracle.goals.iter().filter(|(_, goal)| !goal.is_forgotten());
                prop_assert_eq!(known, kept.clone().map(|(id, _)| *id).collect::<Vec<_>>());
                let next = kept.filter_map(|(_, goal)| goal.ended).map(|(end, _)| end).min();
                let next = next.zip(timeout).map(|(end, timeout)| at(end + timeout));
                prop_assert_eq!(table.poll_timeout(), next);
            }
            let waiting: BTreeMap<u32, ()> =
                oracle.goals.iter().flat_map(|(_, goal)| &goal.waiting).map(|one| (*one, ())).collect();
            prop_assert_eq!(table.take_waiting().into_iter().map(|one| (one, ())).collect::<BTreeMap<_, _>>(), waiting);
        }
    }

    fn keeps(timeout: Option<Duration>) -> Keeps {
        Keeps { timeout, most: usize::MAX, most_bytes: usize::MAX }
    }

    #[test]
    fn results_are_bounded_in_bytes_but_the_newest_is_kept() {
        let mut table = Table::new(Keeps { most_bytes: 10, ..keeps(None) });
        let mut end = |number: u8, bytes: usize| {
            let id = GoalId([number; 16]);
            table.handle_goal(at(1), id, ());
            table.handle_event(id, GoalEvent::Execute);
            table.handle_end(at(1), id, GoalEvent::Succeed, (number.into(), bytes)).unwrap();
            let known: Vec<u8> = table.goals().map(|(id, ..)| id.0[0]).collect();
            (known, table.take_forgotten())
        };
        assert_eq!(end(1, 5), (vec![1], vec![]));
        assert_eq!(end(2, 5), (vec![1, 2], vec![]));
        assert_eq!(end(3, 1), (vec![2, 3], vec![1]));
        assert_eq!(end(4, 1000), (vec![4], vec![2, 3]), "it alone is more than may be kept");
        assert_eq!(end(5, 0), (vec![5], vec![4]));
    }

    #[test]
    fn the_end_of_a_forgotten_goal_is_listed_once() {
        for keeps in [keeps(Some(Duration::ZERO)), Keeps { most: 0, ..keeps(None) }] {
            let mut table = Table::new(keeps);
            let id = GoalId([1; 16]);
            table.handle_goal(at(1), id, ());
            table.handle_event(id, GoalEvent::Execute);
            table.handle_end(at(1), id, GoalEvent::Succeed, (7, 1));
            assert_eq!((table.take_forgotten(), table.goals().count()), (vec![7], 0));
            assert_eq!(table.handle_result_request(id, 2), ResultRequest::Unknown(2));
            assert_eq!(table.statuses().next(), Some((id, at(1), GoalStatus::Succeeded)));
            table.handle_listed();
            assert_eq!(table.statuses().next(), None);
        }
    }

    #[test]
    fn results_are_kept_from_the_end_of_the_goal() {
        let mut table = Table::new(keeps(Some(Duration::from_nanos(10))));
        let id = GoalId([1; 16]);
        assert!(table.handle_goal(at(1), id, ()));
        assert!(table.handle_event(id, GoalEvent::Execute).is_some());
        assert!(table.handle_end(at(1000), id, GoalEvent::Succeed, (7, 1)).is_some());
        assert!(!table.handle_timeout(at(1009)));
        let kept = table.handle_result_request(id, 1);
        assert_eq!(kept, ResultRequest::Answer(1, GoalStatus::Succeeded, 7));
        assert!(table.handle_timeout(at(1010)));
        assert_eq!(table.handle_result_request(id, 2), ResultRequest::Unknown(2));
    }

    #[test]
    fn time_that_goes_back_keeps_no_result_for_long() {
        let mut table = Table::new(keeps(Some(Duration::from_nanos(10))));
        let id = GoalId([1; 16]);
        table.handle_goal(at(5000), id, ());
        table.handle_event(id, GoalEvent::Execute);
        table.handle_end(at(5000), id, GoalEvent::Abort, (7, 1));
        assert!(!table.handle_timeout(at(100)));
        assert!(table.handle_timeout(at(110)));
    }

    #[test]
    fn a_goal_that_stays_keeps_no_room_for_others() {
        let mut table = Table::new(keeps(Some(Duration::ZERO)));
        let stays = GoalId([255; 16]);
        table.handle_goal(at(1), stays, ());
        for round in 0..100_u8 {
            let id = GoalId([round; 16]);
            assert!(table.slots.len() <= 3 + GAPS);
            table.handle_goal(at(1), id, ());
            table.handle_event(id, GoalEvent::Execute);
            table.handle_end(at(1), id, GoalEvent::Succeed, (0, 1));
            table.handle_listed();
        }
        assert_eq!((table.listed(), table.active(), table.statuses().count()), (1, 1, 1));
        table.handle_event(stays, GoalEvent::Execute);
        table.handle_end(at(1), stays, GoalEvent::Succeed, (0, 1));
        table.handle_listed();
        assert!(table.slots.is_empty());
    }
}
