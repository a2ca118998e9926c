"""Clients of actions."""

from __future__ import annotations

from .. import _sinew
from .._entity import Entity
from .._task import end_wait
from ..callback_groups import CallbackGroup
from ..clock import Time, _seconds
from ..future import Answer, Future
from . import _qos
from .server import _run_posted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..clock import Duration
    from ..node import Node


class ClientGoalHandle:
    """A goal that a client sent, with the server's answer. Forgetting it doesn't stop the goal."""

    def __init__(
        self, client: ActionClient, goal_id: bytes, goal: _sinew.ClientGoal | None, result: Future
    ) -> None:
        self._client = client
        self._id = goal_id
        self._goal = goal
        self._result = result

    @property
    def accepted(self) -> bool:
        """Whether the server accepted it."""
        return self._goal is not None

    @property
    def goal_id(self) -> Any:
        """Its id: a `unique_identifier_msgs/msg/UUID`."""
        from ..interfaces.unique_identifier_msgs.msg import UUID

        return UUID(uuid=self._id)

    @property
    def stamp(self) -> Any:
        """When the server accepted it: a `builtin_interfaces/msg/Time`."""
        return Time(nanoseconds=self._accepted().stamp).to_msg()

    @property
    def status(self) -> int:
        """The last state that the client has received: one of `GoalStatus`."""
        return self._goal.status if self._goal is not None else 0

    @property
    def feedback_lost(self) -> int:
        """Number of feedback messages that were lost, since newer ones displaced them."""
        return self._accepted().feedback_lost

    def get_result_async(self) -> Future:
        """Returns a future of the result: it has `status` and `result`. Its exception says why there is
        none, for instance that the server is gone."""
        self._accepted()
        return _ResultFuture(self)

    def get_result(self, timeout_sec: float | Duration | None = None) -> Any:
        """Waits for the result, for at most a time; then it raises `TimeoutError`. Needs no executor if
        the server is in another process, or in an executor that another thread spins."""
        if _sinew.in_callback():
            _run_posted(self._id)
        return self._accepted().wait(_seconds(timeout_sec))

    def cancel_goal_async(self) -> Future:
        """Asks the server to end the goal early. The future gets a `CancelGoal.Response`."""
        return self._client._cancel(self._id, None)

    def cancel_goal(self, timeout_sec: float | Duration | None = None) -> Any:
        """As `cancel_goal_async`, and waits for the answer for at most a time; then it raises `TimeoutError`.
        In a callback, the waiting thread runs the server if it has to; a wait that would never end is a
        `ServiceError`."""
        future = self._client._cancel(self._id, None)
        return future._wait(self._client._node.context, _seconds(timeout_sec))

    def _accepted(self) -> _sinew.ClientGoal:
        if self._goal is None:
            raise _sinew.SinewError("the server rejected this goal")
        return self._goal

    def __repr__(self) -> str:
        return f"<ClientGoalHandle {self._id.hex()}, accepted: {self.accepted}, status {self.status}>"


class _ResultFuture(Answer):
    """The future of a result."""

    def __init__(self, handle: ClientGoalHandle) -> None:
        super().__init__()
        self._handle = handle
        handle._result.add_done_callback(self._take)

    def _take(self, done: Future) -> None:
        self._finish("finished", done._result, done._exception)

    def _run_server(self, timeout: float | None) -> Any:
        return self._handle.get_result(timeout)


class _CancelFuture(Answer):
    """The future of the answer to a request to cancel."""

    def __init__(self, client: ActionClient) -> None:
        super().__init__()
        self._client = client

    def _run_server(self, timeout: float | None) -> None:
        self._client._handle.run_canceling(self, timeout)


class _GoalFuture(Answer):
    """The future of the server's answer to a goal."""

    def __init__(self, client: ActionClient) -> None:
        super().__init__()
        self._client = client
        self._sent: _sinew.SentGoal  # `ActionClient.send_goal_async` sets it
        self._of_result = Future()

    def _answered(self, goal: _sinew.ClientGoal | None, exception: BaseException | None) -> None:
        if exception is None:
            self.set_result(self._handle(goal))
        else:
            self.set_exception(exception)

    def _handle(self, goal: _sinew.ClientGoal | None) -> ClientGoalHandle:
        return ClientGoalHandle(self._client, self._sent.id, goal, self._of_result)

    def _ended(self, response: Any, exception: BaseException | None) -> None:
        self._of_result._finish("finished", response, exception)

    def _run_server(self, timeout: float | None, gives_up: bool = False) -> ClientGoalHandle:
        return self._handle(self._sent.wait(timeout, gives_up))


class ActionClient(Entity):
    """A client of an action. Callbacks, and those of futures, run in `callback_group`, by default the
    node's. `feedback_depth` messages of feedback are kept; older ones are lost."""

    def __init__(
        self,
        node: Node,
        action_type: Any,
        action_name: str,
        *,
        callback_group: CallbackGroup | None = None,
        goal_service_qos_profile: object = None,
        result_service_qos_profile: object = None,
        cancel_service_qos_profile: object = None,
        feedback_sub_qos_profile: object = None,
        status_sub_qos_profile: object = None,
        feedback_depth: int = 10,
    ) -> None:
        _qos.refuse(
            goal_service_qos_profile,
            result_service_qos_profile,
            cancel_service_qos_profile,
            feedback_sub_qos_profile,
            status_sub_qos_profile,
        )
        self.action_type = action_type
        self._node = node
        self._handle = _sinew.ActionClient(
            node._handle,
            action_type,
            action_name,
            group=node._group(callback_group),
            feedback_depth=feedback_depth,
        )
        node._keep(self)

    @property
    def action_name(self) -> str:
        """The full name."""
        return self._handle.action_name

    def server_is_ready(self) -> bool:
        """Whether there is a server."""
        return self._handle.server_is_ready()

    def wait_for_server(self, timeout_sec: float | Duration | None = None) -> bool:
        """Waits for a server, for at most a time. Returns whether there is one."""
        return self._handle.wait_for_server(_seconds(timeout_sec))

    def send_goal_async(
        self, goal: Any, feedback_callback: Callable[[Any], object] | None = None, goal_uuid: object = None
    ) -> _GoalFuture:
        """Sends a goal. The future gets a `ClientGoalHandle`; its `accepted` is false if the server
        rejected the goal. If there is no server, the goal waits for one.

        `feedback_callback` gets messages with `feedback` and `goal_id`. The library chooses ids:
        `goal_uuid` must be `None`."""
        if goal_uuid is not None:
            raise ValueError("the id of a goal can't be given: it is chosen when the goal is sent")
        request = self.action_type.Impl.SendGoalService.Request(goal=goal)
        future = _GoalFuture(self)
        ready = Future()

        def answered(goal: _sinew.ClientGoal | None, exception: BaseException | None) -> None:
            ready.add_done_callback(lambda _: future._answered(goal, exception))

        future._sent = self._handle.send_goal(request, answered, feedback_callback, future._ended)
        ready.set_result(None)  # an executor's thread may be faster than this one
        return future

    def send_goal(
        self,
        goal: Any,
        feedback_callback: Callable[[Any], object] | None = None,
        timeout_sec: float | Duration | None = None,
        goal_uuid: object = None,
    ) -> Any:
        """Sends a goal, and waits for its result, which has `status` and `result`. Raises `TimeoutError`
        if the server has not answered within a time, and `SinewError` if it rejects the goal.

        In a callback, the waiting thread runs the server if it has to. Elsewhere an executor must run the
        server, and the feedback callback, on another thread or in another process."""
        future = self.send_goal_async(goal, feedback_callback, goal_uuid)
        return future._run_server(_seconds(timeout_sec), gives_up=True).get_result()

    def cancel_all_goals_async(self) -> Future:
        """Asks the server to end all goals early, also those of other clients. The future gets a
        `CancelGoal.Response`."""
        return self._cancel(None, None)

    def _cancel(self, goal_id: bytes | None, stamp: int | None) -> _CancelFuture:
        future, post = _CancelFuture(self), _sinew.post_of(self._node._handle)

        def answered(answer: Any, exception: BaseException | None) -> None:
            if exception is not None:
                future.set_exception(exception)
            else:
                future.set_result(_canceled(*answer))
            end_wait(post)  # a loop of `spin_once` looks at the future

        self._handle.cancel(goal_id, stamp, answered)
        return future

    def destroy(self) -> None:
        """Ends the client's callbacks. Its goals go on."""
        self._handle.destroy()
        self._node._forget(self)


def _canceled(code: int, goals: list[tuple[bytes, int]]) -> Any:
    """Returns the answer to a cancel request as ROS 2's message."""
    from ..interfaces.action_msgs.msg import GoalInfo
    from ..interfaces.action_msgs.srv import CancelGoal
    from ..interfaces.unique_identifier_msgs.msg import UUID

    canceling = [
        GoalInfo(goal_id=UUID(uuid=goal_id), stamp=Time(nanoseconds=stamp).to_msg()) for goal_id, stamp in goals
    ]
    return CancelGoal.Response(return_code=code, goals_canceling=canceling)
