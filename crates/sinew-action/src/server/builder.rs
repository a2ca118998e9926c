//! Making a server.

use super::ActionServer;
use super::admission::Policy;
use super::callback::GoalCallback;
use super::core::{Requested, ServerCore, Topics};
use super::goal::{BeginningGoal, ExecutingGoal, OnDrop};
use super::kind::ServerKind;
use super::options::{Decision, Options};
use crate::goal_id::GoalId;
use crate::posting::{BoxedError, Poster};
use crate::wire::{Names, status_qos};
use sinew::__private::InAnyGroup;
use sinew::error::CreateError;
use sinew::event::Outcome;
use sinew::executor::{CallbackGroup, Maker, WorkQueue};
use sinew::time::ClockKind;
use sinew::{Duration, Responder};
use sinew_interfaces::action_msgs::srv::{CancelGoal, CancelGoalRequest};
use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;

/// Default limit of active goals of a server.
const MAX_GOALS: usize = 1000;

/// Default limit of kept results.
const MAX_RESULTS: usize = 1000;

/// Default limit of the bytes of kept results.
const MAX_RESULT_BYTES: usize = 64 << 20;

/// Default time for which results are kept. ROS 2: `rcl_action_server_get_default_options`, Jazzy.
const RESULT_TIMEOUT: Duration = Duration::from_secs(10);

/// Makes an [`ActionServer`]; from [`Actions::action_server`](crate::Actions::action_server).
#[must_use = "no goal is accepted before `callback` or `async_callback`"]
pub struct ActionServerBuilder<A: ServerKind, M: Maker> {
    maker: M,
    name: String,
    options: Options<A>,
}

impl<A: ServerKind, M: Maker> ActionServerBuilder<A, M> {
    pub(crate) fn new(maker: &M, name: &str, types: A::Types) -> Self {
        let options = Options {
            types,
            policy: Policy::default(),
            max_goals: MAX_GOALS,
            max_results: MAX_RESULTS,
            max_result_bytes: MAX_RESULT_BYTES,
            result_timeout: Some(RESULT_TIMEOUT),
            on_drop: OnDrop::default(),
            decides_in_group: false,
            decide: Box::new(|_, _| Ok(Decision::Execute)),
            may_cancel: Box::new(|_| Ok(Some(true))),
        };
        Self { maker: maker.clone(), name: name.to_owned(), options }
    }

    /// Sets the treatment of a goal that arrives while another one is executing (default:
    /// [`Policy::Parallel`]).
    pub fn policy(mut self, policy: Policy) -> Self {
        self.options.policy = policy;
        self
    }

    /// Sets the limit of goals that are executing, waiting or deferred (1000 by default). Further
    /// goals are rejected without asking the program.
    pub fn max_goals(mut self, goals: usize) -> Self {
        self.options.max_goals = goals;
        self
    }

    /// Sets the limit of ended goals with a kept result (1000 by default). Beyond it, the goal that
    /// ended first is forgotten.
    pub fn max_results(mut self, results: usize) -> Self {
        self.options.max_results = results;
        self
    }

    /// Sets the limit of the encoded bytes of kept results (64 MiB by default). Beyond it, the
    /// goals that ended first are forgotten. The result of the goal that ended last is kept in any
    /// case, until the next goal ends, as its client may only be asking for it.
    pub fn max_result_bytes(mut self, bytes: usize) -> Self {
        self.options.max_result_bytes = bytes;
        self
    }

    /// Sets the time for which a result is kept for later requests, from the end of its goal on (10
    /// s by default, as in ROS 2 Jazzy). With `Duration::MAX`, a result is kept until newer ones
    /// reach the limit of [`max_results`](Self::max_results) or
    /// [`max_result_bytes`](Self::max_result_bytes). Clients that already wait get their result in
    /// any case, also if the time is zero, and the status topic shows how the goal ended. Measured
    /// in ROS time and exact, but a result's memory may be freed up to the same time later.
    pub fn result_timeout(mut self, timeout: Duration) -> Self {
        self.options.result_timeout = Some(timeout);
        self
    }

    /// Sets how a goal ends if its handle is dropped (default: [`OnDrop::Cancel`]).
    pub fn on_drop(mut self, on_drop: OnDrop) -> Self {
        self.options.on_drop = on_drop;
        self
    }

    /// Sets the closure that decides whether a goal is rejected, executed or deferred (by default:
    /// executed). It is called for each goal within the limit: on the thread that sends the goal
    /// or, for clients of other processes, on the receiving thread; also on several threads at the
    /// same time. It should be quick.
    pub fn on_goal(self, decide: impl Fn(GoalId, &A::Goal) -> Decision<A> + Send + Sync + 'static) -> Self {
        self.try_on_goal(move |id, goal| Ok::<_, Infallible>(decide(id, goal)))
    }

    /// As [`on_goal`](Self::on_goal), with a closure that can fail: then the goal is rejected, and
    /// the error is reported as that of a callback.
    pub fn try_on_goal<E: Into<BoxedError>>(
        mut self,
        decide: impl Fn(GoalId, &A::Goal) -> Result<Decision<A>, E> + Send + Sync + 'static,
    ) -> Self {
        self.options.decide = Box::new(move |id, goal| decide(id, goal).map_err(E::into));
        self
    }

    /// Sets the closure that decides whether a goal may be ended early at a client's request (by
    /// default: yes). It runs under the same conditions as [`on_goal`](Self::on_goal).
    pub fn on_cancel(self, may_cancel: impl Fn(GoalId) -> bool + Send + Sync + 'static) -> Self {
        self.try_on_cancel(move |id| Ok::<_, Infallible>(may_cancel(id)))
    }

    /// As [`on_cancel`](Self::on_cancel), with a closure that can fail: then the goal continues, and
    /// the error is reported as that of a callback.
    pub fn try_on_cancel<E: Into<BoxedError>>(
        self,
        may_cancel: impl Fn(GoalId) -> Result<bool, E> + Send + Sync + 'static,
    ) -> Self {
        self.__try_on_cancel(move |id| may_cancel(id).map(Some))
    }

    /// As [`try_on_cancel`](Self::try_on_cancel), for a binding that needs the goal's handle to
    /// decide. It returns `None` if the program hasn't got the goal: a client may ask for the end
    /// of a goal that was accepted while the callback that gets it still waits for its turn. Then it
    /// is asked again, in the group, after the work that waits there.
    #[doc(hidden)]
    pub fn __try_on_cancel<E: Into<BoxedError>>(
        mut self,
        may_cancel: impl Fn(GoalId) -> Result<Option<bool>, E> + Send + Sync + 'static,
    ) -> Self {
        self.options.may_cancel = Box::new(move |id| may_cancel(id).map_err(E::into));
        self
    }

    /// Has the executor run the closures of [`on_goal`](Self::on_goal) and
    /// [`on_cancel`](Self::on_cancel), and that of a [deferred](Decision::Defer) goal, in the
    /// server's group, as ROS 2 does. So they never run at the same time as other callbacks of an
    /// exclusive group; but while one of these executes a goal, no goal is accepted or cancelled.
    pub fn decide_in_group(mut self) -> Self {
        self.options.decides_in_group = true;
        self
    }

    /// Creates the server. The executor calls `callback` in the server's group for each goal that
    /// begins, with its handle: `|goal: ExecutingGoal<A>|`, in a [`Group<S>`](sinew::Group) with a
    /// state also `|state: &mut S, goal: ExecutingGoal<A>|`, in a
    /// [`ReentrantGroup`](sinew::ReentrantGroup) `Fn` and `Sync`. It may execute the goal there, or
    /// hand it to a thread, a timer or a task. Cancel requests are handled meanwhile in any case.
    ///
    /// # Errors
    /// [`CreateError`]: the name is invalid, the name has another server, or the context is shut
    /// down.
    pub fn callback<Form, F>(self, callback: F) -> Result<ActionServer<A>, CreateError>
    where
        F: GoalCallback<A, M::Group, Form>,
    {
        self.make(|queue| callback.poster(queue))
    }

    /// Creates the server with a callback that returns a future for each goal that begins. The
    /// group's executor polls it; no runtime is needed. When the server is closed, its futures are
    /// dropped.
    ///
    /// ```
    /// use sinew::prelude::*;
    /// use sinew_action::{Actions, ExecutingGoal, GoalStatus};
    /// use sinew_interfaces::example_interfaces::action::{Fibonacci, FibonacciGoal, FibonacciResult};
    ///
    /// let context = Context::new()?;
    /// let node = context.node("counter")?;
    /// let ticks = node.subscription::<Tick>("ticks").create()?;
    /// # struct Tick; impl Message for Tick {}
    /// let _server = node.action_server::<Fibonacci>("fibonacci").async_callback(move |goal: ExecutingGoal<Fibonacci>| {
    ///     let ticks = ticks.clone();
    ///     async move {
    ///         let mut sequence = vec![0, 1];
    ///         while sequence.len() <= goal.goal().order as usize && !goal.is_cancel_requested() {
    ///             ticks.recv().await;
    ///             sequence.push(sequence[sequence.len() - 2..].iter().sum());
    ///         }
    ///         goal.succeed(FibonacciResult { sequence })
    ///     }
    /// })?;
    /// let client = node.action_client::<Fibonacci>("fibonacci").create()?;
    /// let ticking = node.publisher::<Tick>("ticks").create()?;
    /// let _timer = node.timer(Duration::from_millis(1)).callback(move || ticking.publish(Tick))?;
    /// let executor = Executor::single();
    /// executor.add(&context)?;
    /// let result = executor.spin_until(async move {
    ///     let goal = client.send_goal(FibonacciGoal { order: 4 }).await?;
    ///     Ok::<_, Box<dyn std::error::Error>>(goal.result().await?)
    /// })?.unwrap();
    /// assert_eq!((result.status(), &result.sequence[..]), (GoalStatus::Succeeded, &[0, 1, 1, 2, 3][..]));
    /// # Ok::<(), sinew::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`callback`](Self::callback).
    pub fn async_callback<F, Fut>(self, callback: F) -> Result<ActionServer<A>, CreateError>
    where
        F: Fn(ExecutingGoal<A>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: Outcome> + Send + 'static,
    {
        self.make(|queue| {
            let callback = Arc::new(callback);
            Arc::new(move |goal: BeginningGoal<A>| {
                let callback = callback.clone();
                queue.__spawn_as(goal.id().0, async move {
                    match goal.begin() {
                        Some(goal) => callback(goal).await.into_result(),
                        None => Ok(()),
                    }
                })
            })
        })
    }

    /// `poster` makes the closure that posts a goal as work of the queue.
    fn make(
        self,
        poster: impl FnOnce(WorkQueue<M::Group>) -> Poster<BeginningGoal<A>>,
    ) -> Result<ActionServer<A>, CreateError> {
        let Self { maker, name, mut options } = self;
        let names = Names::of(&name);
        let topics = Topics {
            feedback: A::feedback_publisher(&options.types, &maker, &names.feedback)?,
            status: maker.publisher(&names.status).qos(status_qos()).create()?,
        };
        // A timeout of more than a century means no timeout.
        let century = Duration::from_secs(100 * 365 * 86_400);
        options.result_timeout = options.result_timeout.filter(|timeout| *timeout < century);
        let timeout = options.result_timeout.filter(|timeout| !timeout.is_zero());
        // Several clients may wait for the result of each goal.
        let most = options.max_goals.saturating_mul(4).max(MAX_GOALS);
        let full_name = Names::action_of(topics.status.topic()).to_owned();
        let clock = maker.clone();
        let core = ServerCore::new(full_name, options, topics, move || clock.now());
        let weak = Arc::downgrade(&core);
        let queue = maker.work_queue(&format!("action server {}", core.name));
        if let Some(timeout) = timeout {
            let forgetful = weak.clone();
            let forget = move || {
                if let Some(core) = forgetful.upgrade() {
                    core.timed_out();
                }
                Ok(())
            };
            let timer = maker.timer(timeout).clock(ClockKind::Ros).callback(InAnyGroup(forget))?;
            timer.cancel();
            drop(core.timer.set(timer));
        }
        let (to_result, to_cancel, to_send) = (weak.clone(), weak.clone(), weak);
        let types = core.options.types.clone();
        let result = A::result_server(&types, &maker, (&names.get_result, most), move |id, responder| {
            if let Some(core) = to_result.upgrade() {
                core.result_requested(id, responder);
            }
        })?;
        // A thread that waits for a result executes its goal.
        queue.__works_for(A::erased_result_server(&result));
        core.open(poster(queue.clone()), decider(&core, queue.clone()));
        let cancel = maker.server(&names.cancel_goal).max_requests(MAX_GOALS).immediate_callback(
            move |request: CancelGoalRequest, responder: Responder<CancelGoal>| match to_cancel.upgrade() {
                Some(core) => core.requested(Requested::Cancel(request, responder)),
                None => Ok(()),
            },
        )?;
        // Created last: waiting requests come at once and find everything in its place, and so does
        // a client with an accepted goal.
        let send =
            A::goal_server(
                &types,
                &maker,
                (&names.send_goal, most),
                move |id, goal, responder| match to_send.upgrade() {
                    Some(core) => core.requested(Requested::Goal(id, goal, responder)),
                    None => Ok(()),
                },
            )?;
        // Clients that join learn that there is no goal; not of a server that found another one.
        core.publish_status();
        if core.options.decides_in_group {
            queue.__works_for(cancel.erased());
            queue.__works_for(A::erased_goal_server(&send));
        }
        let used = A::register(&maker);
        let of_context = Arc::downgrade(&core);
        let at_shutdown = maker.__on_shutdown(move || {
            if let Some(core) = of_context.upgrade() {
                core.notify_goals();
            }
        });
        let close_work = move || queue.clone().close();
        Ok(ActionServer::new((core, Box::new(close_work)), (send, cancel, result), (used, at_shutdown)))
    }
}

/// Makes the closure that posts a request as work of the queue.
fn decider<A: ServerKind, G: CallbackGroup>(
    core: &Arc<ServerCore<A>>,
    queue: WorkQueue<G>,
) -> Poster<Requested<A>> {
    let core = Arc::downgrade(core);
    Arc::new(move |requested: Requested<A>| {
        let core = core.clone();
        queue
            .__post_as(requested.id().0, move || core.upgrade().map_or(Ok(()), |core| core.decide(requested)))
    })
}

impl<A: ServerKind, M: Maker> fmt::Debug for ActionServerBuilder<A, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ActionServerBuilder").field("name", &self.name).finish_non_exhaustive()
    }
}
