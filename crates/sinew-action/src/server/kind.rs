//! The endpoints of a server: of Rust types here, of types that are known at run time in `erased`.

use crate::goal_id::GoalId;
use crate::kind::Kind;
use crate::posting::CallbackResult;
use crate::status::GoalStatus;
use crate::wire::{
    FeedbackMessage, GetResult, GetResultRequest, GetResultResponse, SendGoal, SendGoalRequest,
    SendGoalResponse,
};
use sinew::error::CreateError;
use sinew::executor::Maker;
use sinew::msg::Action;
use sinew::time::Time;
use sinew::{Publisher, Responder, Server, erased};
use std::marker::PhantomData;

/// A kind of action that can be served.
pub trait ServerKind: Kind {
    type FeedbackPublisher: Clone + Send + Sync + 'static;
    type GoalServer: Send + Sync + 'static;
    type GoalResponder: Send + 'static;
    type ResultServer: Send + Sync + 'static;
    type ResultResponder: Send + 'static;

    fn feedback_publisher<M: Maker>(
        types: &Self::Types,
        maker: &M,
        name: &str,
    ) -> Result<Self::FeedbackPublisher, CreateError>;

    /// Makes the service that accepts goals, for at most `most` requests at a time. The callback is
    /// immediate.
    fn goal_server<M: Maker>(
        types: &Self::Types,
        maker: &M,
        name_and_most: (&str, usize),
        requested: impl Fn(GoalId, Self::Goal, Self::GoalResponder) -> CallbackResult + Send + Sync + 'static,
    ) -> Result<Self::GoalServer, CreateError>;

    /// Makes the service that returns results, likewise.
    fn result_server<M: Maker>(
        types: &Self::Types,
        maker: &M,
        name_and_most: (&str, usize),
        requested: impl Fn(GoalId, Self::ResultResponder) + Send + Sync + 'static,
    ) -> Result<Self::ResultServer, CreateError>;

    fn erased_goal_server(server: &Self::GoalServer) -> &erased::Server;

    fn erased_result_server(server: &Self::ResultServer) -> &erased::Server;

    /// Answers with the time of acceptance, or `None` if the goal is rejected. If the client is
    /// gone, there is nothing to do.
    fn answer_goal(responder: Self::GoalResponder, accepted: Option<Time>);

    /// Answers likewise with the goal's state and result.
    fn answer_result(responder: Self::ResultResponder, status: GoalStatus, result: Self::SharedResult);
}

impl<A: Action> ServerKind for A {
    type FeedbackPublisher = Publisher<FeedbackMessage<A>>;
    type GoalServer = Server<SendGoal<A>>;
    type GoalResponder = Responder<SendGoal<A>>;
    type ResultServer = Server<GetResult<A>>;
    type ResultResponder = Responder<GetResult<A>>;

    fn feedback_publisher<M: Maker>(
        (): &(),
        maker: &M,
        name: &str,
    ) -> Result<Self::FeedbackPublisher, CreateError> {
        maker.publisher(name).create()
    }

    fn goal_server<M: Maker>(
        (): &(),
        maker: &M,
        (name, most): (&str, usize),
        requested: impl Fn(GoalId, Self::Goal, Self::GoalResponder) -> CallbackResult + Send + Sync + 'static,
    ) -> Result<Self::GoalServer, CreateError> {
        maker.server(name).max_requests(most).immediate_callback(
            move |SendGoalRequest { goal_id, goal }: SendGoalRequest<A>,
                  responder: Responder<SendGoal<A>>| { requested(goal_id, goal, responder) },
        )
    }

    fn result_server<M: Maker>(
        (): &(),
        maker: &M,
        (name, most): (&str, usize),
        requested: impl Fn(GoalId, Self::ResultResponder) + Send + Sync + 'static,
    ) -> Result<Self::ResultServer, CreateError> {
        maker.server(name).max_requests(most).immediate_callback(
            move |request: GetResultRequest<A>, responder: Responder<GetResult<A>>| {
                requested(request.goal_id, responder);
            },
        )
    }

    fn erased_goal_server(server: &Self::GoalServer) -> &erased::Server {
        server.erased()
    }

    fn erased_result_server(server: &Self::ResultServer) -> &erased::Server {
        server.erased()
    }

    fn answer_goal(responder: Self::GoalResponder, accepted: Option<Time>) {
        let (is_accepted, stamp) = (accepted.is_some(), accepted.unwrap_or_default());
        drop(responder.respond(SendGoalResponse { accepted: is_accepted, stamp, of: PhantomData }));
    }

    fn answer_result(responder: Self::ResultResponder, status: GoalStatus, result: Self::SharedResult) {
        drop(responder.respond(GetResultResponse { status: status.to_wire(), result }));
    }
}
