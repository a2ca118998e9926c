"""Actions and managed nodes."""

from collections.abc import Callable
from typing import Any

from ..future import Future
from .messages import Message
from .nodes import Group, Node

class ActionClient:
    """The part of `sinew.action.ActionClient` that is in Rust."""

    def __init__(
        self, node: Node, action_class: Any, name: str, *, group: Group | None = None, feedback_depth: int = 10
    ) -> None: ...
    @property
    def action_name(self) -> str: ...
    def server_is_ready(self) -> bool: ...
    def wait_for_server(self, timeout: float | None = None) -> bool: ...
    def send_goal(
        self,
        request: Message,
        answered: Callable[[ClientGoal | None, BaseException | None], object],
        feedback: Callable[[Any], object] | None,
        ended: Callable[[Any, BaseException | None], object],
    ) -> SentGoal:
        """Sends a goal: a message of the action's ``SendGoal_Request``. The callbacks run in the client's
        group: `answered` gets a goal and `None`, or `None` twice if the goal was rejected, or `None` and an
        exception; `feedback` gets messages of ``FeedbackMessage``; `ended` gets a ``GetResult_Response`` and
        `None`, or `None` and an exception."""

    def cancel(
        self, id: bytes | None, stamp: int | None, answered: Callable[[Any, BaseException | None], object]
    ) -> None:
        """Asks the server to end goals early: the one with this id, all, or those that were accepted until
        `stamp`, in nanoseconds. `answered` is called on the thread that answers: with the code and the list of
        the goals' ids and stamps, and `None`; or with `None` and an exception."""

    def run_canceling(self, future: Future, timeout: float | None = None) -> bool:
        """As `Client.run_server`, for the future of a cancel request."""

    def destroy(self) -> None: ...

class SentGoal:
    """A goal on its way to the server."""

    @property
    def id(self) -> bytes: ...
    def wait(self, timeout: float | None = None, gives_up: bool = False) -> ClientGoal | None:
        """Waits for the server's answer: a goal, or `None` if it was rejected. Raises `TimeoutError` after
        `timeout` seconds: with `gives_up`, the goal is given up then, and canceled if it is accepted later."""

class ClientGoal:
    """A goal that its server has accepted."""

    @property
    def stamp(self) -> int:
        """When the server accepted it, in nanoseconds of the server's clock."""

    @property
    def status(self) -> int:
        """The last state that the client has received."""

    @property
    def feedback_lost(self) -> int:
        """Number of feedback messages that were lost, since newer ones displaced them."""

    def wait(self, timeout: float | None = None) -> Any:
        """Waits for the result, a message of ``GetResult_Response``. Raises `TimeoutError` after `timeout`
        seconds; the goal goes on."""

class ActionServer:
    """The part of `sinew.action.ActionServer` that is in Rust.

    `decide` gets a goal, and returns whether it is accepted; `may_cancel` gets the id of a goal, and returns
    whether it may be ended early, or `None` if `accepted` hasn't got it: then it is asked again, after the work
    that waits in the group; `accepted` gets each accepted goal. They run in the group, or with `in_group=False`
    on the thread that asks. `result_timeout` is in seconds.
    """

    def __init__(
        self,
        node: Node,
        action_class: Any,
        name: str,
        decide: Callable[[Any], bool] | None,
        may_cancel: Callable[[bytes], bool | None] | None,
        accepted: Callable[[ServerGoal], object],
        *,
        group: Group | None = None,
        in_group: bool = True,
        result_timeout: float | None = None,
    ) -> None: ...
    @property
    def action_name(self) -> str: ...
    def destroy(self) -> None: ...

class ServerGoal:
    """A goal that its server has accepted. Dropped before it has ended, it is canceled."""

    @property
    def _id(self) -> bytes: ...
    @property
    def _message(self) -> Any:
        """The message that brought it, with ``goal`` and ``goal_id``."""

    @property
    def _status(self) -> int: ...
    @property
    def is_cancel_requested(self) -> bool:
        """Whether the goal must end early: a client asked for it, or the server is gone."""

    def on_cancel_requested(self, callback: Callable[[], object]) -> None:
        """Calls a function once, as soon as the goal must end early: on the thread that causes this, or now if
        it must already."""

    def _begin(self) -> None: ...
    def _publish_feedback(self, message: Message) -> None: ...
    def _end(self, status: int, message: Message) -> None: ...

class Lifecycle:
    """The states of a managed node, with its services. `callback` gets the label of a transition and the id of
    the state in which it began, and returns the number of a `TransitionCallbackReturn`."""

    def __init__(self, node: Node, callback: Callable[[str, int], int]) -> None: ...
    def change(self, label: str) -> int:
        """Performs a transition on this thread. Returns the number of a `TransitionCallbackReturn`; raises
        `SinewError` if it can't begin."""

    @property
    def state(self) -> tuple[int, str]:
        """The id and label of the current state."""

    def destroy(self) -> None: ...
