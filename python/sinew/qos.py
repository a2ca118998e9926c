"""QoS: which messages a topic keeps, and for whom."""

from __future__ import annotations

import enum

from . import _sinew
from ._sinew import QoSError as QoSError
from .clock import Duration

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Self


class _Policy(enum.IntEnum):
    """A policy of the QoS."""

    @classmethod
    def short_keys(cls) -> list[str]:
        """Returns the names of all values in small letters, for command lines."""
        return [one.name.lower() for one in cls]

    @classmethod
    def get_from_short_key(cls, name: str) -> Self:
        """Returns the value of a name in small letters. Raises `KeyError` if there is none."""
        return cls[name.upper()]

    @property
    def short_key(self) -> str:
        """The name in small letters."""
        return self.name.lower()


class HistoryPolicy(_Policy):
    """Which messages wait in a queue."""

    SYSTEM_DEFAULT = 0
    KEEP_LAST = 1
    KEEP_ALL = 2
    UNKNOWN = 3


class ReliabilityPolicy(_Policy):
    """Whether messages may be lost."""

    SYSTEM_DEFAULT = 0
    RELIABLE = 1
    BEST_EFFORT = 2
    UNKNOWN = 3
    BEST_AVAILABLE = 4


class DurabilityPolicy(_Policy):
    """Whether late subscriptions get former messages."""

    SYSTEM_DEFAULT = 0
    TRANSIENT_LOCAL = 1
    VOLATILE = 2
    UNKNOWN = 3
    BEST_AVAILABLE = 4


class LivelinessPolicy(_Policy):
    """How a publisher says that it is alive."""

    SYSTEM_DEFAULT = 0
    AUTOMATIC = 1
    MANUAL_BY_TOPIC = 3
    UNKNOWN = 4
    BEST_AVAILABLE = 5


QoSHistoryPolicy = HistoryPolicy
QoSReliabilityPolicy = ReliabilityPolicy
QoSDurabilityPolicy = DurabilityPolicy
QoSLivelinessPolicy = LivelinessPolicy

_NAMES = (
    "history",
    "depth",
    "reliability",
    "durability",
    "lifespan",
    "deadline",
    "liveliness",
    "liveliness_lease_duration",
    "max_samples",
    "max_blocking_time",
)


#: How long `publish` waits for room by default, in nanoseconds.
_PATIENCE = 100_000_000


class QoSProfile:
    """The QoS of a publisher or subscription. A duration of 0 is none.

    Beyond rclpy: `max_samples` is the most messages that an end holds (`None`: the depth, or 1000 with KEEP_ALL), and
    `max_blocking_time` is how long `publish` waits for room where both ends are reliable and keep all, by default
    100 ms.
    """

    __slots__ = _NAMES
    __hash__ = None  # type: ignore[assignment]  # it can be changed

    def __init__(
        self,
        *,
        depth: int | None = None,
        history: HistoryPolicy | None = None,
        reliability: ReliabilityPolicy = ReliabilityPolicy.RELIABLE,
        durability: DurabilityPolicy = DurabilityPolicy.VOLATILE,
        lifespan: Duration | None = None,
        deadline: Duration | None = None,
        liveliness: LivelinessPolicy = LivelinessPolicy.AUTOMATIC,
        liveliness_lease_duration: Duration | None = None,
        max_samples: int | None = None,
        max_blocking_time: Duration | None = None,
    ) -> None:
        if history is None:
            history = HistoryPolicy.KEEP_LAST if depth is not None else HistoryPolicy.SYSTEM_DEFAULT
        if history == HistoryPolicy.KEEP_LAST and depth is None:
            raise QoSError("a history of KEEP_LAST needs a depth")
        if depth is not None and depth < 0:
            raise ValueError(f"a depth can't be negative, but it is {depth}")
        if max_samples is not None and max_samples < 1:
            raise ValueError(f"an end holds one message at least, but max_samples is {max_samples}")
        self.history = HistoryPolicy(history)
        self.depth = 10 if depth is None else int(depth)
        self.reliability = ReliabilityPolicy(reliability)
        self.durability = DurabilityPolicy(durability)
        self.lifespan = lifespan if lifespan is not None else Duration()
        self.deadline = deadline if deadline is not None else Duration()
        self.liveliness = LivelinessPolicy(liveliness)
        self.liveliness_lease_duration = (
            liveliness_lease_duration if liveliness_lease_duration is not None else Duration()
        )
        self.max_samples = max_samples
        self.max_blocking_time = max_blocking_time if max_blocking_time is not None else Duration(nanoseconds=_PATIENCE)

    def _parts(self) -> tuple[int, ...]:
        return (
            self.history,
            self.depth,
            self.reliability,
            self.durability,
            self.lifespan.nanoseconds,
            self.deadline.nanoseconds,
            self.liveliness,
            self.liveliness_lease_duration.nanoseconds,
            self.max_samples or 0,
            self.max_blocking_time.nanoseconds,
        )

    @classmethod
    def _of(cls, parts: Any) -> QoSProfile:
        history, depth, reliability, durability, lifespan, deadline, liveliness, lease, most, wait = parts
        return cls(
            history=HistoryPolicy(history),
            depth=depth,
            reliability=ReliabilityPolicy(reliability),
            durability=DurabilityPolicy(durability),
            lifespan=Duration(nanoseconds=lifespan),
            deadline=Duration(nanoseconds=deadline),
            liveliness=LivelinessPolicy(liveliness),
            liveliness_lease_duration=Duration(nanoseconds=lease),
            max_samples=most or None,
            max_blocking_time=Duration(nanoseconds=wait),
        )

    def __eq__(self, other: object) -> bool:
        return self._parts() == other._parts() if isinstance(other, QoSProfile) else NotImplemented


    def __repr__(self) -> str:
        values = ", ".join(f"{name}={getattr(self, name)!r}" for name in _NAMES)
        return f"QoSProfile({values})"


def qos_check_compatible(publisher: QoSProfile, subscription: QoSProfile) -> str | None:
    """Returns why a publisher and a subscription with these profiles don't match; `None` if they do."""
    return _sinew.qos_incompatibility(publisher, subscription)


qos_profile_default = QoSProfile(depth=10)
qos_profile_system_default = qos_profile_default
qos_profile_sensor_data = QoSProfile(depth=5, reliability=ReliabilityPolicy.BEST_EFFORT)
qos_profile_services_default = QoSProfile(depth=10)
qos_profile_parameters = QoSProfile(depth=1000)
qos_profile_parameter_events = QoSProfile(depth=1000)
qos_profile_best_available = QoSProfile(
    depth=10,
    reliability=ReliabilityPolicy.BEST_AVAILABLE,
    durability=DurabilityPolicy.BEST_AVAILABLE,
    liveliness=LivelinessPolicy.BEST_AVAILABLE,
)
