"""What a node makes: publishers, subscriptions, timers, services and clients."""

from __future__ import annotations

from collections import namedtuple

from . import _sinew
from ._entity import Entity
from ._sinew import MessageInfo as MessageInfo, Responder as Responder, ServiceError
from .clock import _seconds
from .future import Answer, Future
from .qos import QoSProfile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from typing import Any

    from ._sinew import Message
    from .clock import Clock, Duration
    from .service_introspection import ServiceIntrospectionState

TimerInfo = namedtuple("TimerInfo", "expected_call_time actual_call_time skipped")
TimerInfo.__doc__ = (
    "The `Time` at which a timer was due, and the one at which it was called, of the clock that it used; how many "
    "periods it skipped. A timer of the node's clock uses steady time while ROS time isn't simulated."
)

PublisherStatistics = namedtuple("PublisherStatistics", "published copies encodings decodings drafts retained pooled")
PublisherStatistics.__doc__ = (
    "Counts of a publisher so far: messages published; copies of them, encodings for other processes, decodings; "
    "messages that were published as drafts; and how many are retained for late subscriptions, and how many blocks its "
    "pool has, now."
)
SubscriptionStatistics = namedtuple(
    "SubscriptionStatistics",
    "received taken waiting overwritten missed refused expired copies decodings views",
)
SubscriptionStatistics.__doc__ = (
    "Counts of a subscription so far: messages that entered its history, that were taken, and that wait now; that gave "
    "way to newer ones, that were lost before they reached this host, that found no room (KEEP_ALL), and that expired; "
    "copies, decodings, and messages that are read where they lie."
)
ServiceStatistics = namedtuple(
    "ServiceStatistics", "received waiting in_hand answered failed dropped unclaimed withdrawn refused"
)
ServiceStatistics.__doc__ = (
    "Counts of a service so far: requests received, that wait now, and that a `Responder` has not answered yet; answers "
    "and errors that reached their callers; requests that were dropped without an answer; answers that no caller waited "
    "for; requests that their callers took back, and that found the queue full."
)
ClientStatistics = namedtuple("ClientStatistics", "calls answered failed abandoned waiting")
ClientStatistics.__doc__ = (
    "Counts of a client so far: calls, those that were answered, that failed, and that were given up; how many wait now."
)


class Publisher(Entity, _sinew.Publisher):
    """A publisher. `publish(message)` publishes a message of its type, or `bytes` in encoded form; any
    thread may. It blocks only if both ends are reliable and keep all."""

    __slots__ = ()

    @property
    def topic(self) -> str:
        return self.topic_name

    @property
    def qos_profile(self) -> QoSProfile:
        """The QoS that counts."""
        return QoSProfile._of(self._qos())

    def get_statistics(self) -> PublisherStatistics:
        """Returns its counts so far."""
        return PublisherStatistics(*self._statistics())

    def wait_for_subscriptions(self, count: int = 1, timeout_sec: float | Duration | None = None) -> bool:
        """Waits until that many subscriptions match, for at most a time. Returns whether they do."""
        return super().wait_for_subscriptions(count, _seconds(timeout_sec))

    def wait_for_all_acked(self, timeout: float | Duration | None = None) -> bool:
        """Waits until all reliable subscriptions of other processes have what was published, for at most
        a time. Returns whether they have."""
        return super().wait_for_all_acked(_seconds(timeout))


class Subscription(Entity, _sinew.Subscription):
    """A subscription. `take()` returns the oldest message that was not taken and its `MessageInfo`, or
    `None`: for subscriptions without a callback. So does `async for`, in asyncio."""

    __slots__ = ("_wake",)
    _wake: Callable[[], object] | None  # of a loop of asyncio that takes its messages

    @property
    def topic(self) -> str:
        return self.topic_name

    @property
    def qos_profile(self) -> QoSProfile:
        """The QoS that counts."""
        return QoSProfile._of(self._qos())

    def get_statistics(self) -> SubscriptionStatistics:
        """Returns its counts so far: among them the messages that were lost."""
        return SubscriptionStatistics(*self._statistics())

    def wait_for_publishers(self, count: int = 1, timeout_sec: float | Duration | None = None) -> bool:
        """Waits until that many publishers match, for at most a time. Returns whether they do."""
        return super().wait_for_publishers(count, _seconds(timeout_sec))

    def destroy(self) -> None:
        super().destroy()
        wake = getattr(self, "_wake", None)
        if wake is not None:
            wake()

    def __aiter__(self) -> AsyncIterator[Any]:
        from .aio import messages

        return messages(self)


class Timer(Entity, _sinew.Timer):
    """A timer: runs its callback again and again, at fixed times."""

    __slots__ = ("_clock",)
    _clock: Clock

    @property
    def clock(self) -> Clock:
        """The clock that it was made with; by default that of its node."""
        return self._clock

    def time_since_last_call(self) -> int | None:
        """Returns nanoseconds since the beginning of the period; `None` for a timer that was cancelled."""
        left = self.time_until_next_call()
        return None if left is None else max(self.timer_period_ns - left, 0)

    def is_ready(self) -> bool:
        return self.time_until_next_call() == 0


class Service(Entity, _sinew.Service):
    """A server of a service."""

    __slots__ = ()

    @property
    def srv_name(self) -> str:
        return self.service_name

    def get_statistics(self) -> ServiceStatistics:
        """Returns its counts so far."""
        return ServiceStatistics(*self._statistics())

    def configure_introspection(
        self, clock: Any, service_event_qos_profile: QoSProfile, introspection_state: ServiceIntrospectionState | int
    ) -> None:
        """Selects the events that it publishes about requests and responses on `<service>/_service_event`:
        a `ServiceIntrospectionState`, and the QoS of the publisher. The type of events is the service's
        `Event`; their stamps are ROS time, whatever `clock` is."""
        self.introspect(service_event_qos_profile, int(introspection_state))


class Client(Entity, _sinew.Client):
    """A client of a service."""

    __slots__ = ()

    @property
    def srv_name(self) -> str:
        return self.service_name

    def get_statistics(self) -> ClientStatistics:
        """Returns its counts so far."""
        return ClientStatistics(*self._statistics())

    def wait_for_service(self, timeout_sec: float | Duration | None = None) -> bool:
        """Waits for a server, for at most a time. Returns whether there is one."""
        return super().wait_for_service(_seconds(timeout_sec))

    def call(self, request: Message, timeout_sec: float | Duration | None = None) -> Any:
        """Calls the service, and waits for the response for at most a time; then it raises `TimeoutError`,
        also if there is no server. Without a limit, or with a negative one, it waits for a server.
        Works in callbacks: the waiting thread runs the server if it has to. Raises `ServiceError` if the
        server answers with an error or goes away, and if the wait would never end."""
        return super().call(request, _seconds(timeout_sec))

    def call_async(self, request: Message) -> Future:
        """Calls the service. The future gets the response; `await` it, or see
        `spin_until_future_complete`. Cancelling the future gives the call up."""
        future = _Call(self)
        future._id = self.send(request, future._answer)
        return future

    def configure_introspection(
        self, clock: Any, service_event_qos_profile: QoSProfile, introspection_state: ServiceIntrospectionState | int
    ) -> None:
        """Selects the events that it publishes about requests and responses, as that of `Service`."""
        self.introspect(service_event_qos_profile, int(introspection_state))

    def remove_pending_request(self, future: Future) -> None:
        """Gives a call up: its future is cancelled."""
        future.cancel()


class _Call(Answer):
    """The future of a call."""

    def __init__(self, client: Client) -> None:
        super().__init__()
        self._client = client
        self._id: tuple[int, int] | None = None

    def _answer(self, response: Any, exception: BaseException | None) -> None:
        self._finish("finished", response, exception)

    def cancel(self) -> bool:
        if not super().cancel():
            return False
        self._give_up()
        return True

    def _give_up(self) -> None:
        if self._id is not None:
            self._client.give_up(self._id)

    def _run_server(self, timeout: float | None) -> None:
        try:
            self._client.run_server(self, timeout)
        except ServiceError:
            self._give_up()
            raise
