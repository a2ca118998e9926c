//! Clients of types that are known at run time.

use super::ErasedAction;
use super::types::{ActionTypes, AnyGoalResponse, AnyResultRequest, own};
use crate::client::kind::{ClientKind, GoalAnswer, Unsent};
use crate::goal_id::GoalId;
use sinew::erased::{CallError, Client, Message, Subscription};
use sinew::error::{CallFailure, CreateError};
use sinew::executor::Maker;
use sinew::service::RequestId;
use sinew::time::Time;
use sinew::{QoS, Unique};

impl ClientKind for ErasedAction {
    type GoalClient = Client;
    type ResultClient = Client;
    type FeedbackSubscription = Subscription;

    fn goal_client<M: Maker>(types: &ActionTypes, maker: &M, name: &str) -> Result<Client, CreateError> {
        Ok(maker.erased_client(name, types.send_goal()).create_erased()?.without_state())
    }

    fn result_client<M: Maker>(types: &ActionTypes, maker: &M, name: &str) -> Result<Client, CreateError> {
        Ok(maker.erased_client(name, types.get_result()).create_erased()?.without_state())
    }

    fn feedback_subscription<M: Maker>(
        types: &ActionTypes,
        maker: &M,
        name: &str,
        qos: QoS,
    ) -> Result<Subscription, CreateError> {
        maker.erased_subscription(name, types.feedback()).qos(qos).create_erased()
    }

    fn erased_goal_client(client: &Client) -> &Client {
        client
    }

    fn erased_result_client(client: &Client) -> &Client {
        client
    }

    fn erased_subscription(subscription: &Subscription) -> &Subscription {
        subscription
    }

    fn send_goal(
        client: &Client,
        types: &ActionTypes,
        (id, goal): (GoalId, Message),
        answered: impl FnOnce(GoalAnswer<Self>) + Send + 'static,
    ) -> Result<RequestId, Unsent<Self>> {
        let mut goal =
            own(goal, types.request()).map_err(|(goal, why)| (why.into_call_failure(), Some(goal)))?;
        types.fields().set_request_goal_id(&mut goal, id);
        let unsent = |error: CallError| (error.failure().clone(), error.into_request());
        let sent = client.call_then_immediately(goal, move |result| {
            let answer = result.map(|response| {
                let response = response.value_of::<AnyGoalResponse>();
                response.filter(|response| response.accepted).map(|response| Time::from(response.stamp))
            });
            answered(answer.map_err(unsent));
        });
        sent.map_err(unsent)
    }

    fn withdraw(client: &Client, request: RequestId) -> Option<Message> {
        client.withdraw(request)
    }

    fn request_result(
        client: &Client,
        types: &ActionTypes,
        id: GoalId,
        answered: impl FnOnce(Result<(i8, Message), CallFailure>) + Send + 'static,
    ) -> Result<(), CallFailure> {
        let types = types.clone();
        let request = Unique::new(AnyResultRequest { goal_id: id.0 });
        let sent = client.call_then_immediately(request, move |result| {
            let response = result.map(|response| (types.fields().status(&response), response));
            answered(response.map_err(|error| error.failure().clone()));
        });
        sent.map(drop).map_err(|error| error.failure().clone())
    }

    fn take(subscription: &Subscription) -> Option<Message> {
        subscription.take().map(|(message, _)| message)
    }
}
