//! Protocols built on topics and services: overlapping goals, parameters, and managed nodes.

use crate::actor::{Actor, HASTE};
use crate::ledger::Way;
use sinew::action::{
    ActionClient, ActionServer, Actions, CancelError, ExecutingGoal, GoalResult, GoalStatus, Policy,
    ResultError, SendGoalError, SendGoalFailure,
};
use sinew::error::{CreateError, ParameterClientError};
use sinew::interfaces::example_interfaces::action::{
    Fibonacci, FibonacciFeedback, FibonacciGoal, FibonacciResult,
};
use sinew::lifecycle::{LifecycleClient, LifecycleClientError, LifecycleNode, State, Transition, from_fn};
use sinew::parameters::{Parameter, ParameterClient, ParameterValue};
use sinew::prelude::*;
use std::sync::Arc;
use std::thread;

fn actor_at(seat: u64) -> String {
    format!("actor_{seat}")
}

fn managed_at(seat: u64) -> String {
    format!("managed_{seat}")
}

fn action_at(seat: u64) -> String {
    format!("count_{seat}")
}

/// Returns the first `order + 1` numbers of Fibonacci's sequence.
fn sequence(order: i32) -> Vec<i32> {
    let mut sequence = vec![0, 1];
    for _ in 1..order {
        sequence.push(sequence[sequence.len() - 2..].iter().sum());
    }
    sequence
}

/// Returns `true` if these are the first numbers of the sequence.
fn begins_so(numbers: &[i32]) -> bool {
    i32::try_from(numbers.len()).is_ok_and(|count| sequence(count.max(2) - 1) == numbers)
}

/// The servers that an actor offers to the others.
pub(crate) struct Servers {
    _action: ActionServer<Fibonacci>,
    _gain: Parameter<i64>,
    _managed: LifecycleNode<sinew::lifecycle::FromFn<Timer>>,
}

impl Servers {
    /// Actors in even seats prefer newer goals; the others work on all at once.
    pub(crate) fn new(context: &Context, node: &Node, seat: u64) -> sinew::Result<Self> {
        let policy = if seat.is_multiple_of(2) { Policy::NewestWins } else { Policy::Parallel };
        let gain = node.parameter("gain").default(0).create()?;
        let action = node
            .reentrant_group()
            .action_server::<Fibonacci>(&action_at(seat))
            .policy(policy)
            .callback(execute)?;
        let managed = LifecycleNode::new(
            &context.node(&managed_at(seat))?,
            from_fn(|node| Ok(node.managed_group(()).timer(Duration::from_millis(3)).callback(|| {})?)),
        )?;
        Ok(Self { _action: action, _gain: gain, _managed: managed })
    }
}

fn execute(goal: ExecutingGoal<Fibonacci>) -> sinew::Result<()> {
    let order = goal.goal().order;
    for so_far in 2..=order {
        if goal.is_cancel_requested() {
            let _ = goal.canceled(FibonacciResult { sequence: sequence(so_far - 1) }); // its client may be gone
            return Ok(());
        }
        let _ = goal.publish_feedback(FibonacciFeedback { sequence: sequence(so_far) }); // or there may be no room
        thread::sleep(Duration::from_micros(300));
    }
    let _ = goal.succeed(FibonacciResult { sequence: sequence(order) }); // as above
    Ok(())
}

/// The clients with which an actor uses the others' servers.
pub(crate) struct Clients {
    actions: Vec<ActionClient<Fibonacci>>,
    parameters: Vec<ParameterClient>,
    managed: Vec<LifecycleClient>,
}

impl Clients {
    pub(crate) fn new(node: &Node, others: impl Iterator<Item = u64> + Clone) -> Result<Self, CreateError> {
        let actions = others.clone().map(|other| node.action_client(&action_at(other)).create());
        let managed =
            others.clone().map(|other| LifecycleClient::new(node, &format!("/{}", managed_at(other))));
        Ok(Self {
            actions: actions.collect::<Result<_, _>>()?,
            parameters: others.map(|other| node.parameter_client(&actor_at(other))).collect(),
            managed: managed.collect::<Result<_, _>>()?,
        })
    }
}

impl Actor {
    /// Sends goals, most of them while others run: they wait, overtake, are cancelled or left
    /// alone.
    pub(crate) fn pursue(self: &Arc<Self>, clients: &Clients) {
        for (number, client) in (1..).zip(clients.actions.iter().cycle()) {
            if !self.is_there() {
                return;
            }
            let order = 3 + number % 8;
            let (feedback, result) = (self.clone(), self.clone());
            let goal = client
                .goal(FibonacciGoal { order })
                .on_feedback(move |message: &FibonacciFeedback| {
                    if !begins_so(&message.sequence) {
                        feedback.ledger.complain(format!("feedback {:?}", message.sequence));
                    }
                })
                .on_result(move |outcome| result.goal_ended(order, &outcome))
                .send();
            match number % 5 {
                0 => drop(goal),
                1 => match goal.wait(HASTE) {
                    Ok(handle) => self.cancel_may_fail(handle.cancel().wait(HASTE).err()),
                    Err(error) => self.goal_may_fail(&error),
                },
                2 => match goal.wait(HASTE) {
                    Ok(handle) => self.goal_ended(order, &handle.result().wait(HASTE)),
                    Err(error) => self.goal_may_fail(&error),
                },
                3 => match goal.wait(HASTE) {
                    Ok(handle) => drop(handle.feedback().take()),
                    Err(error) => self.goal_may_fail(&error),
                },
                _ => drop(goal.wait(Duration::ZERO)),
            }
            thread::sleep(Duration::from_millis(2));
        }
    }

    fn goal_ended(&self, order: i32, outcome: &Result<GoalResult<Fibonacci>, ResultError>) {
        match outcome {
            Ok(result) if result.status() == GoalStatus::Succeeded && result.sequence == sequence(order) => {
                self.ledger.count(Way::Goals);
            }
            Ok(result) if result.status() == GoalStatus::Canceled && begins_so(&result.sequence) => {
                self.ledger.count(Way::Goals);
            }
            // A server that ends properly drops its goals.
            Ok(result) if result.status() != GoalStatus::Succeeded && result.sequence.is_empty() => {}
            Ok(result) => self.ledger.complain(format!("order {order}: {result:?}")),
            Err(ResultError::Call { failure, .. }) => self.may_fail(failure),
            // Its server was killed, or ended and was started again.
            Err(
                ResultError::ServerGone { .. }
                | ResultError::UnknownGoal { .. }
                | ResultError::Timeout { .. },
            ) => {}
            Err(other) => self.unless_it_ends(other),
        }
    }

    fn goal_may_fail(&self, error: &SendGoalError<FibonacciGoal>) {
        match error.failure() {
            SendGoalFailure::Call(failure) => self.may_fail(failure),
            SendGoalFailure::Rejected
            | SendGoalFailure::NoServer { .. }
            | SendGoalFailure::Timeout { .. } => {}
            other => self.unless_it_ends(other),
        }
    }

    fn cancel_may_fail(&self, error: Option<CancelError>) {
        match error {
            None | Some(CancelError::Timeout { .. }) => {}
            Some(CancelError::Call { failure, .. }) => self.may_fail(&failure),
            Some(other) => self.unless_it_ends(other),
        }
    }

    /// Sets and reads the others' parameters, and changes the states of their managed nodes.
    pub(crate) fn manage(&self, clients: &Clients) {
        let pairs = clients.parameters.iter().zip(&clients.managed).cycle();
        for (number, (parameters, managed)) in (1i64..).zip(pairs) {
            if !self.is_there() {
                return;
            }
            let set = parameters.set_one("gain", number).wait(HASTE);
            match set.and_then(|()| parameters.get(["gain"]).wait(HASTE)) {
                Ok(values) if matches!(values[..], [ParameterValue::Integer(_)]) => {
                    self.ledger.count(Way::Parameters);
                }
                Ok(values) => self.ledger.complain(format!("the gain is {values:?}")),
                Err(error) => self.parameters_may_fail(&error),
            }
            match managed.state(HASTE).and_then(|state| managed.change(next_of(state), HASTE)) {
                Ok(()) => self.ledger.count(Way::Transitions),
                // Another actor was faster, or the node's process is gone.
                Err(LifecycleClientError::Refused { .. } | LifecycleClientError::NoAnswer { .. }) => {}
                Err(other) => self.unless_it_ends(other),
            }
            thread::sleep(Duration::from_millis(2));
        }
    }

    fn parameters_may_fail(&self, error: &ParameterClientError) {
        match error {
            ParameterClientError::Call { failure, .. } => self.may_fail(failure),
            ParameterClientError::NoSuchNode { .. }
            | ParameterClientError::Timeout { .. }
            // Its node exists before its parameter.
            | ParameterClientError::NotDeclared { .. }
            | ParameterClientError::Refused { .. } => {}
            other => self.unless_it_ends(other),
        }
    }
}

/// Returns the next transition of a managed node in a state.
fn next_of(state: State) -> Transition {
    match state {
        State::Inactive => Transition::Activate,
        State::Active => Transition::Deactivate,
        _ => Transition::Configure,
    }
}
