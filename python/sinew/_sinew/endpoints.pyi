"""What a node makes."""

from collections.abc import Callable
from typing import Any

from ..future import Future
from ..qos import QoSProfile
from .actions import Lifecycle
from .messages import Draft, Message
from .nodes import Context, Group, Node

_Parts = tuple[int, int, int, int, int, int, int, int, int, int]
_Events = dict[str, Callable[..., object]]

class Publisher:
    """The part of `sinew.Publisher` that is in Rust."""

    def __init__(
        self,
        node: Node,
        message_class: Any,
        topic: str,
        profile: QoSProfile | int,
        *,
        group: Group | None = None,
        events: _Events | None = None,
        qos_overrides: bool = False,
        lifecycle: Lifecycle | None = None,
    ) -> None: ...
    def publish(self, message: Message | bytes) -> None:
        """Publishes a message of the publisher's type, or its encoded form. Copies an array of numbers once;
        see `draft` for none. Blocks only if both ends are reliable and keep all. Raises `TypeError` or
        `ValueError` for a field that doesn't fit."""

    def draft(self, **fields: Any) -> Draft:
        """Begins a message in the memory in which it will be published: see `Draft`."""

    @property
    def topic_name(self) -> str:
        """The full name of the topic, after renaming."""

    @property
    def msg_type(self) -> type[Message]: ...
    def get_subscription_count(self) -> int:
        """Returns the number of subscriptions that match, in this process and in others."""

    def wait_for_subscriptions(self, count: int = 1, timeout: float | None = None) -> bool:
        """Waits until that many subscriptions match, for at most a time in seconds. Returns whether they do."""

    def wait_for_all_acked(self, timeout: float | None = None) -> bool: ...
    def assert_liveliness(self) -> None:
        """Says that the publisher is alive, for the liveliness MANUAL_BY_TOPIC."""

    def _is_open(self) -> bool:
        """Returns whether messages are published now: with `lifecycle`, while its node is active."""

    def _statistics(self) -> list[int]: ...
    def _qos(self) -> _Parts: ...
    @property
    def gid(self) -> bytes: ...
    def destroy(self) -> None: ...

class Subscription:
    """The part of `sinew.Subscription` that is in Rust."""

    def __init__(
        self,
        node: Node,
        message_class: Any,
        topic: str,
        profile: QoSProfile | int,
        callback: Callable[..., object] | None = None,
        *,
        with_info: bool = False,
        raw: bool = False,
        group: Group | None = None,
        events: _Events | None = None,
        qos_overrides: bool = False,
        ignore_local_publications: bool = False,
    ) -> None: ...
    def take(self) -> tuple[Any, MessageInfo] | None:
        """Returns the oldest message that was not taken, and what is known of it. Never waits."""

    def _context(self) -> Context: ...
    def set_listener(self, listener: Callable[[int], object] | None) -> None:
        """Calls a function with the number of new messages, on the thread that publishes or receives them."""

    @property
    def topic_name(self) -> str:
        """The full name of the topic, after renaming."""

    @property
    def msg_type(self) -> type[Message]: ...
    def get_publisher_count(self) -> int:
        """Returns the number of publishers that match, in this process and in others."""

    def wait_for_publishers(self, count: int = 1, timeout: float | None = None) -> bool:
        """Waits until that many publishers match, for at most a time in seconds. Returns whether they do."""

    def _statistics(self) -> list[int]: ...
    def _qos(self) -> _Parts: ...
    def destroy(self) -> None: ...

class MessageInfo:
    """What is known of a received message. Times are in nanoseconds since the epoch."""

    @property
    def source_timestamp(self) -> int: ...
    @property
    def received_timestamp(self) -> int: ...
    @property
    def publication_sequence_number(self) -> int: ...
    @property
    def reception_sequence_number(self) -> int: ...
    @property
    def publisher_gid(self) -> bytes: ...
    @property
    def latency(self) -> float:
        """Seconds from its publication to its reception."""

class Timer:
    """The part of `sinew.Timer` that is in Rust."""

    def __init__(
        self,
        node: Node,
        period: int,
        callback: Callable[..., object],
        *,
        group: Group | None = None,
        clock: int | None = None,
        autostart: bool = True,
        with_info: Callable[..., object] | None = None,
    ) -> None: ...
    def cancel(self) -> None:
        """Stops the timer, until `reset`."""

    def reset(self) -> None:
        """Begins a new period now."""

    def is_canceled(self) -> bool: ...
    @property
    def timer_period_ns(self) -> int: ...
    def time_until_next_call(self) -> int | None:
        """Returns nanoseconds; `None` for a timer that was cancelled."""

    @property
    def skipped(self) -> int:
        """Number of periods in which the callback was not called, since it was late."""

    def destroy(self) -> None: ...

class GuardCondition:
    """A condition that the program triggers: an executor runs its callback then."""

    def __init__(
        self, node: Node, callback: Callable[..., object], *, group: Group | None = None
    ) -> None: ...
    def trigger(self) -> None:
        """Has the callback run once; several triggers before it runs count as one. Any thread may call it."""

    def destroy(self) -> None: ...

class Service:
    """The part of `sinew.Service` that is in Rust."""

    def __init__(
        self,
        node: Node,
        service_class: Any,
        name: str,
        callback: Callable[..., object],
        *,
        group: Group | None = None,
        deferred: bool = False,
        immediate: bool = False,
        max_requests: int | None = None,
    ) -> None: ...
    @property
    def service_name(self) -> str:
        """The full name of the service, after renaming."""

    def _statistics(self) -> list[int]: ...
    def introspect(self, profile: Any, state: int) -> None: ...
    def destroy(self) -> None: ...

class Responder:
    """The way to answer one request, now or later and from any thread. Dropped, it fails the call."""

    def respond(self, response: Message) -> None:
        """Sends the response. Raises `ServiceError` if the request was answered already."""

    def _answer(self, response: Message) -> None:
        """As `respond`, for the response of a callback: it is no error that its caller has given up."""

    def fail(self, reason: str) -> None:
        """Fails the call with a sentence."""

    def is_awaited(self) -> bool:
        """Returns whether the caller still waits for the response."""

class Client:
    """The part of `sinew.Client` that is in Rust."""

    def __init__(
        self, node: Node, service_class: Any, name: str, *, group: Group | None = None
    ) -> None: ...
    @property
    def service_name(self) -> str:
        """The full name of the service, after renaming."""

    def service_is_ready(self) -> bool:
        """Returns whether there is a server."""

    def wait_for_service(self, timeout: float | None = None) -> bool: ...
    def call(self, request: Message, timeout: float | None = None) -> Any: ...
    def send(self, request: Message, done: Callable[[Any, BaseException | None], object]) -> tuple[int, int]: ...
    def give_up(self, id: tuple[int, int]) -> bool: ...
    def run_server(self, future: Future, timeout: float | None = None) -> bool:
        """Waits until the future of a call is done, while this thread runs the server if it can."""

    def _statistics(self) -> list[int]: ...
    def introspect(self, profile: Any, state: int) -> None: ...
    def destroy(self) -> None: ...
