"""Servers of actions."""

from __future__ import annotations

import enum
import threading
import weakref

from .. import _sinew
from .._entity import Entity, callable_for
from .._task import begin
from ..callback_groups import CallbackGroup, ReentrantCallbackGroup
from ..clock import _seconds
from . import _qos

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..logging import Logger
    from ..node import Node

    _Execute = Callable[["ServerGoalHandle"], Any]
    _DecideGoal = Callable[[Any], "GoalResponse"]
    _DecideCancel = Callable[["ServerGoalHandle"], "CancelResponse"]
    _Accepted = Callable[["ServerGoalHandle"], object]

ACCEPTED, EXECUTING, CANCELING, SUCCEEDED, CANCELED, ABORTED = range(1, 7)
"""The states of a goal, with the numbers of `GoalStatus`."""


class GoalResponse(enum.Enum):
    """What a goal callback returns."""

    REJECT = 1
    ACCEPT = 2


class CancelResponse(enum.Enum):
    """What a cancel callback returns."""

    REJECT = 1
    ACCEPT = 2


def default_goal_callback(goal_request: object) -> GoalResponse:
    """Accepts every goal."""
    return GoalResponse.ACCEPT


def default_cancel_callback(cancel_request: object) -> CancelResponse:
    """Lets no goal be ended early."""
    return CancelResponse.REJECT


def default_handle_accepted_callback(goal_handle: ServerGoalHandle) -> None:
    """Begins the goal."""
    goal_handle.execute()


class ServerGoalHandle:
    """A goal that a server has accepted. Any thread may use it. If it is forgotten before it has ended, it
    is canceled."""

    def __init__(self, server: ActionServer, goal: _sinew.ServerGoal) -> None:
        self._server = server
        self._goal = goal
        self._runs = False  # a callback executes it, and returns its result
        self._end: int | None = None  # the status with which it ends once its callback returns

    @property
    def request(self) -> Any:
        """The goal that the client sent."""
        return self._goal._message.goal

    @property
    def goal_id(self) -> Any:
        """Its id: a `unique_identifier_msgs/msg/UUID`."""
        return self._goal._message.goal_id

    @property
    def status(self) -> int:
        """Its state: one of `GoalStatus`."""
        return self._goal._status if self._end is None else self._end

    @property
    def is_active(self) -> bool:
        """Whether it has not ended."""
        return self.status in (ACCEPTED, EXECUTING, CANCELING)

    @property
    def is_cancel_requested(self) -> bool:
        """Whether it must end early: a client asked for it, its server is gone, or the context is shut down."""
        return self._goal.is_cancel_requested

    def on_cancel_requested(self, callback: Callable[[], object]) -> None:
        """Calls a function once, without arguments, as soon as the goal must end early: on the thread that
        causes this, or now if it must already."""
        self._goal.on_cancel_requested(callback)

    def execute(self, execute_callback: _Execute | None = None) -> None:
        """Begins it: an executor runs the server's callback for it, or another one."""
        callback = execute_callback or self._server._execute
        if callback is None:
            raise TypeError("the action server has no callback that executes goals: give one, or call `executing`")
        self._goal._begin()
        self._runs = True
        self._server._start(self, callback)

    def executing(self) -> None:
        """Begins it without a callback: the program ends it, by `succeed`, `abort` or `canceled`."""
        self._goal._begin()

    def publish_feedback(self, feedback: Any) -> None:
        """Publishes feedback to the clients."""
        kind = self._server.action_type
        self._goal._publish_feedback(kind.Impl.FeedbackMessage(feedback=feedback))

    def succeed(self, response: Any = None) -> None:
        """Ends it as succeeded: with a result, or with the one that its callback returns."""
        self._ends(SUCCEEDED, response)

    def abort(self, response: Any = None) -> None:
        """Ends it as aborted: the server gives it up."""
        self._ends(ABORTED, response)

    def canceled(self, response: Any = None) -> None:
        """Ends it early, as a client asked, or of the server's own accord."""
        self._ends(CANCELED, response)

    def destroy(self) -> None:
        """Ends it as canceled, if it has not ended."""
        if self._goal._status in (ACCEPTED, EXECUTING, CANCELING):
            self._finish(CANCELED, None)

    def _ends(self, status: int, response: Any) -> None:
        if response is not None or not self._runs:
            self._finish(status, response)
        elif not self.is_active:
            raise _sinew.SinewError(f"a goal can't end with status {status}: its status is {self.status}")
        else:
            self._end = status

    def _finish(self, status: int, response: Any) -> None:
        kind = self._server.action_type
        result = response if response is not None else kind.Result()
        self._goal._end(status, kind.Impl.GetResultService.Response(result=result))

    def _returned(self, response: Any) -> None:
        """Ends it with what its callback returned, unless it has ended."""
        if self._goal._status not in (ACCEPTED, EXECUTING, CANCELING):
            return
        if self._end is None:
            self._server._logger.warning("a goal's callback returned without ending it: it is aborted")
        try:
            self._finish(self._end or ABORTED, response)
        except BaseException:
            self._failed()
            raise

    def _over(self, response: Any, exception: BaseException | None) -> None:
        """Ends it with what its coroutine returned or raised."""
        if exception is None:
            self._returned(response)
        else:
            self._failed()

    def _failed(self) -> None:
        """Aborts it after an exception. If the server is gone, its clients have an error already."""
        try:
            if self._goal._status in (ACCEPTED, EXECUTING, CANCELING):
                self._finish(ABORTED, None)
        except _sinew.ServiceError:
            pass

    def __repr__(self) -> str:
        return f"<ServerGoalHandle {bytes(self.goal_id.uuid).hex()}, status {self.status}>"


_posted: dict[bytes, Callable[[], None]] = {}
"""The goals of this process that wait for an executor, by id, with the functions that execute them."""
_posted_lock = threading.Lock()


def _run_posted(goal_id: bytes) -> None:
    """Executes a goal on this thread, if no thread has begun."""
    with _posted_lock:
        run = _posted.pop(goal_id, None)
    if run is not None:
        run()


class ActionServer(Entity):
    """A server of an action.

    `execute_callback` gets a `ServerGoalHandle`, ends it, and returns the result; it may be a coroutine
    function. After an exception the goal is aborted, and the exception is one of the executor's callbacks.

    - `goal_callback` gets a goal, and returns a `GoalResponse`; by default it is accepted.
    - `cancel_callback` gets a `ServerGoalHandle`, and returns a `CancelResponse`; by default it is rejected.
    - `handle_accepted_callback` gets each accepted goal; by default it calls its `execute()`. One that keeps the
      goal, and begins it by `executing()`, needs no `execute_callback`.

    These three run in `callback_group`, by default the node's. With `decide_in_group=False` they run on
    the thread that asks, also while callbacks of the group run. Goals are executed beside each other, as
    far as the executor has threads.

    Results are kept for `result_timeout` seconds for clients that ask later.
    """

    def __init__(
        self,
        node: Node,
        action_type: Any,
        action_name: str,
        execute_callback: _Execute | None = None,
        *,
        callback_group: CallbackGroup | None = None,
        goal_callback: _DecideGoal | None = default_goal_callback,
        handle_accepted_callback: _Accepted | None = default_handle_accepted_callback,
        cancel_callback: _DecideCancel | None = default_cancel_callback,
        goal_service_qos_profile: object = None,
        result_service_qos_profile: object = None,
        cancel_service_qos_profile: object = None,
        feedback_pub_qos_profile: object = None,
        status_pub_qos_profile: object = None,
        result_timeout: float = 10,
        decide_in_group: bool = True,
    ) -> None:
        _qos.refuse(
            goal_service_qos_profile,
            result_service_qos_profile,
            cancel_service_qos_profile,
            feedback_pub_qos_profile,
            status_pub_qos_profile,
        )
        kept = _seconds(result_timeout)
        if kept is None or kept < 0:
            raise ValueError(f"results are kept for a time that isn't negative, but result_timeout is {kept}")
        self.action_type = action_type
        self._node = node
        self._goals: weakref.WeakValueDictionary[bytes, ServerGoalHandle] = weakref.WeakValueDictionary()
        self._execute: _Execute | None = None
        if execute_callback is not None:
            self.register_execute_callback(execute_callback)
        elif handle_accepted_callback in (None, default_handle_accepted_callback):
            raise TypeError("an action server has an execute_callback, or a handle_accepted_callback that takes goals")
        self.register_goal_callback(goal_callback)
        self.register_cancel_callback(cancel_callback)
        self.register_handle_accepted_callback(handle_accepted_callback)
        shares = callback_group if callback_group is not None and callback_group._reentrant else None
        self._post = _sinew.post_of(node._handle, (shares or ReentrantCallbackGroup())._of(node))
        self._handle = _sinew.ActionServer(
            node._handle,
            action_type,
            action_name,
            self._decides,
            self._lets_cancel,
            self._accepted,
            group=node._group(callback_group),
            in_group=decide_in_group,
            result_timeout=kept,
        )
        node._keep(self)

    @property
    def action_name(self) -> str:
        """The full name."""
        return self._handle.action_name

    @property
    def _logger(self) -> Logger:
        return self._node.get_logger()

    def register_execute_callback(self, execute_callback: _Execute) -> None:
        """Replaces the callback that executes goals."""
        callable_for("goal", execute_callback)
        self._execute = execute_callback

    def register_goal_callback(self, goal_callback: _DecideGoal | None) -> None:
        """Replaces the callback that decides on goals; `None`: the default."""
        self._goal_callback = goal_callback or default_goal_callback

    def register_cancel_callback(self, cancel_callback: _DecideCancel | None) -> None:
        """Replaces the callback that decides on requests to end goals early; `None`: the default."""
        self._cancel_callback = cancel_callback or default_cancel_callback

    def register_handle_accepted_callback(self, handle_accepted_callback: _Accepted | None) -> None:
        """Replaces the callback that gets accepted goals; `None`: the default."""
        self._accepted_callback = handle_accepted_callback or default_handle_accepted_callback

    def _decides(self, goal: Any) -> bool:
        return self._answer(self._goal_callback(goal), GoalResponse)

    def _lets_cancel(self, goal_id: bytes) -> bool | None:
        handle = self._goals.get(goal_id)
        if handle is None:
            return None  # accepted, but not got yet; one that was dropped has ended
        return self._answer(self._cancel_callback(handle), CancelResponse)

    @staticmethod
    def _answer(answer: object, kind: type[GoalResponse] | type[CancelResponse]) -> bool:
        if not isinstance(answer, kind):
            raise TypeError(f"the callback must return a {kind.__name__}, but returned {answer!r}")
        return answer is kind.ACCEPT

    def _accepted(self, goal: _sinew.ServerGoal) -> object:
        handle = ServerGoalHandle(self, goal)
        self._goals[goal._id] = handle
        return self._accepted_callback(handle)

    def _start(self, handle: ServerGoalHandle, callback: _Execute) -> None:
        """Has an executor execute a goal."""
        goal_id = handle._goal._id
        with _posted_lock:
            _posted[goal_id] = lambda: self._run(handle, callback)
        try:
            self._post(lambda: _run_posted(goal_id))
        except _sinew.SinewError:
            with _posted_lock:
                _posted.pop(goal_id, None)
            if self._node.context.ok():
                raise
            # No executor runs it any more, and its clients get an error.

    def _run(self, handle: ServerGoalHandle, callback: _Execute) -> None:
        try:
            returned = callback(handle)
        except BaseException:
            handle._failed()
            raise
        if not hasattr(returned, "cr_await"):
            return handle._returned(returned)
        begin(returned, self._post, handle._over)

    def destroy(self) -> None:
        """Ends the server: its goals must end, and clients that wait get an error."""
        self._handle.destroy()
        self._node._forget(self)
