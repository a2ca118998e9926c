//! The endpoints of a client: of Rust types here, of types that are known at run time in `erased`.

use crate::goal_id::GoalId;
use crate::kind::Kind;
use crate::wire::{FeedbackMessage, GetResult, GetResultRequest, SendGoal, SendGoalRequest};
use sinew::error::{CallFailure, CreateError};
use sinew::executor::Maker;
use sinew::msg::Action;
use sinew::service::RequestId;
use sinew::time::Time;
use sinew::{Client, QoS, Subscription, erased};
use std::marker::PhantomData;

/// The answer to a goal: the time of acceptance, or `None` if it was rejected. Without an answer,
/// the goal if no server took it.
pub(crate) type GoalAnswer<A> = Result<Option<Time>, Unsent<A>>;

/// The reason why a request got no answer, and its goal if no server took it.
pub(crate) type Unsent<A> = (CallFailure, Option<<A as Kind>::Goal>);

/// A kind of action that can be called.
pub trait ClientKind: Kind {
    type GoalClient: Clone + Send + Sync + 'static;
    type ResultClient: Send + Sync + 'static;
    type FeedbackSubscription: Send + Sync + 'static;

    fn goal_client<M: Maker>(
        types: &Self::Types,
        maker: &M,
        name: &str,
    ) -> Result<Self::GoalClient, CreateError>;

    fn result_client<M: Maker>(
        types: &Self::Types,
        maker: &M,
        name: &str,
    ) -> Result<Self::ResultClient, CreateError>;

    fn feedback_subscription<M: Maker>(
        types: &Self::Types,
        maker: &M,
        name: &str,
        qos: QoS,
    ) -> Result<Self::FeedbackSubscription, CreateError>;

    fn erased_goal_client(client: &Self::GoalClient) -> &erased::Client;

    fn erased_result_client(client: &Self::ResultClient) -> &erased::Client;

    fn erased_subscription(subscription: &Self::FeedbackSubscription) -> &erased::Subscription;

    /// Sends a goal. `answered` is called on the thread that answers.
    fn send_goal(
        client: &Self::GoalClient,
        types: &Self::Types,
        goal: (GoalId, Self::Goal),
        answered: impl FnOnce(GoalAnswer<Self>) + Send + 'static,
    ) -> Result<RequestId, Unsent<Self>>;

    /// Takes back a goal that no server has taken.
    fn withdraw(client: &Self::GoalClient, request: RequestId) -> Option<Self::Goal>;

    /// Requests a result. `answered` is called on the thread that answers, with the number of the
    /// state as it was sent.
    fn request_result(
        client: &Self::ResultClient,
        types: &Self::Types,
        id: GoalId,
        answered: impl FnOnce(Result<(i8, Self::SharedResult), CallFailure>) + Send + 'static,
    ) -> Result<(), CallFailure>;

    fn take(subscription: &Self::FeedbackSubscription) -> Option<Self::SharedFeedback>;
}

impl<A: Action> ClientKind for A {
    type GoalClient = Client<SendGoal<A>>;
    type ResultClient = Client<GetResult<A>>;
    type FeedbackSubscription = Subscription<FeedbackMessage<A>>;

    fn goal_client<M: Maker>((): &(), maker: &M, name: &str) -> Result<Self::GoalClient, CreateError> {
        Ok(maker.client(name).create()?.without_state())
    }

    fn result_client<M: Maker>((): &(), maker: &M, name: &str) -> Result<Self::ResultClient, CreateError> {
        Ok(maker.client(name).create()?.without_state())
    }

    fn feedback_subscription<M: Maker>(
        (): &(),
        maker: &M,
        name: &str,
        qos: QoS,
    ) -> Result<Self::FeedbackSubscription, CreateError> {
        maker.subscription(name).qos(qos).create()
    }

    fn erased_goal_client(client: &Self::GoalClient) -> &erased::Client {
        client.erased()
    }

    fn erased_result_client(client: &Self::ResultClient) -> &erased::Client {
        client.erased()
    }

    fn erased_subscription(subscription: &Self::FeedbackSubscription) -> &erased::Subscription {
        subscription.erased()
    }

    fn send_goal(
        client: &Self::GoalClient,
        (): &(),
        (goal_id, goal): (GoalId, Self::Goal),
        answered: impl FnOnce(GoalAnswer<Self>) + Send + 'static,
    ) -> Result<RequestId, Unsent<Self>> {
        let unsent = |error: sinew::error::CallError<SendGoalRequest<A>>| {
            let failure = error.failure().clone();
            (failure, error.into_request().map(|request| request.into_inner().goal))
        };
        let sent = client.call_then_immediately(SendGoalRequest { goal_id, goal }, move |result| {
            let answer = result.map(|response| response.accepted.then_some(response.stamp));
            answered(answer.map_err(unsent));
        });
        sent.map_err(unsent)
    }

    fn withdraw(client: &Self::GoalClient, request: RequestId) -> Option<Self::Goal> {
        client.withdraw(request).map(|request| request.into_inner().goal)
    }

    fn request_result(
        client: &Self::ResultClient,
        (): &(),
        goal_id: GoalId,
        answered: impl FnOnce(Result<(i8, Self::SharedResult), CallFailure>) + Send + 'static,
    ) -> Result<(), CallFailure> {
        let request = GetResultRequest { goal_id, of: PhantomData };
        let sent = client.call_then_immediately(request, |result| {
            let response = result.map(sinew::Unique::into_inner);
            let response = response.map(|response| (response.status, response.result));
            answered(response.map_err(|error| error.failure().clone()));
        });
        sent.map(drop).map_err(|error| error.failure().clone())
    }

    fn take(subscription: &Self::FeedbackSubscription) -> Option<Self::SharedFeedback> {
        subscription.take().map(|(message, _)| message)
    }
}
