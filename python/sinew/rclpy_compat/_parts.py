"""Names of rclpy's modules that Sinew's lack."""

from __future__ import annotations

import enum

from .. import events as _events, logging as _logging, qos as _qos
from .._sinew import (
    ExternalShutdownException,
    InterfaceError,
    InvalidNameError,
    InvalidParameterValueException as InvalidParameterValueException,
    NotInitializedException as NotInitializedException,
    ParameterException,
    wait_until_done,
)
from ..clock import Clock, ClockType, Duration, Time
from ..context import default_context as get_default_context
from ..future import Future

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, Self

    from ..node import Node

# Events.

QoSPublisherMatchedInfo = QoSSubscriptionMatchedInfo = _events.MatchedInfo
QoSOfferedDeadlineMissedInfo = QoSRequestedDeadlineMissedInfo = _events.DeadlineMissedInfo
QoSOfferedIncompatibleQoSInfo = QoSRequestedIncompatibleQoSInfo = _events.IncompatibleQosInfo
QoSLivelinessChangedInfo = _events.LivelinessChangedInfo
QoSLivelinessLostInfo = _events.LivelinessLostInfo
QoSMessageLostInfo = _events.MessageLostInfo



class UnsupportedEventTypeError(Exception):
    """For programs that catch it: Sinew has all events."""


# Exceptions.


class TimerCancelledError(Exception):
    """For programs that catch it: here no wait for a timer raises it."""


class ParameterImmutableException(ParameterException):
    """For programs that catch it: Sinew's errors for read-only parameters are others."""


InvalidTopicNameException = InvalidServiceNameException = NameValidationException = InvalidNameError
InvalidParameterException = InvalidParameterValueException
NoTypeSupportImportedException = InterfaceError
InvalidNodeNameException = InvalidNamespaceException = InvalidNameError
ROSInterruptException = ShutdownException = ExternalShutdownException
TimeoutException = TimeoutError

# Clocks.

CLOCK_TOPIC = "/clock"
USE_SIM_TIME_NAME = "use_sim_time"

Infinite = Duration(nanoseconds=2**63 - 1)


class ROSClock(Clock):
    """A clock of ROS time."""

    def __init__(self) -> None:
        super().__init__(clock_type=ClockType.ROS_TIME)

    def set_ros_time_override(self, time: Time) -> None:
        """Sets ROS time, as a simulator does."""
        self._context._handle.set_ros_time(time.nanoseconds)


# Logging.


def get_logger_effective_level(name: str) -> _logging.LoggingSeverity:
    """Returns the level below which lines of a logger are dropped."""
    return _logging.get_logger(name).get_effective_level()


def get_logger_level(name: str) -> _logging.LoggingSeverity:
    """Returns the level that was set for a logger alone; `UNSET` if there is none."""
    return _logging.get_logger(name).get_level()


def get_logging_severity_from_string(log_severity: str) -> _logging.LoggingSeverity:
    """Returns the level with a name, in letters of any case."""
    return _logging.LoggingSeverity[log_severity.upper()]


def set_logger_level(name: str, level: _logging.LoggingSeverity, detailed_error: bool = False) -> None:
    """Drops lines of a logger below a level."""
    _logging.get_logger(name).set_level(level)


def initialize() -> None:
    """For programs of rclpy: logging begins with the first context."""


def shutdown() -> None:
    """For programs of rclpy: logging ends with the program. Waits until all lines are written."""
    _logging.flush()


# QoS.


class QoSCompatibility(enum.IntEnum):
    """Whether a publisher and a subscription match."""

    OK = 0
    WARNING = 1
    ERROR = 2


def qos_check_compatible(
    publisher_qos: _qos.QoSProfile, subscription_qos: _qos.QoSProfile
) -> tuple[QoSCompatibility, str]:
    """Returns whether a publisher and a subscription match, and why not."""
    reason = _qos.qos_check_compatible(publisher_qos, subscription_qos)
    return (QoSCompatibility.OK, "") if reason is None else (QoSCompatibility.ERROR, reason)


class QoSPolicyKind(enum.IntEnum):
    """Policies, with rclpy's numbers."""

    INVALID = 1
    DURABILITY = 2
    DEADLINE = 4
    LIVELINESS = 8
    RELIABILITY = 16
    HISTORY = 32
    LIFESPAN = 64
    DEPTH = 128
    LIVELINESS_LEASE_DURATION = 256
    AVOID_ROS_NAMESPACE_CONVENTIONS = 512


def qos_policy_name_from_kind(policy_kind: QoSPolicyKind | int | str) -> str:
    """Returns the name of a policy: of its kind, or of the `last_policy_kind` of an event."""
    return policy_kind.upper() if isinstance(policy_kind, str) else QoSPolicyKind(policy_kind).name


QoSPolicyEnum = _qos._Policy
InvalidQoSProfileException = _qos.QoSError
qos_profile_action_status_default = _qos.QoSProfile(depth=1, durability=_qos.DurabilityPolicy.TRANSIENT_LOCAL)


class QoSPresetProfiles(enum.Enum):
    """Common profiles."""

    DEFAULT = _qos.qos_profile_default
    SYSTEM_DEFAULT = _qos.QoSProfile(depth=10)
    SENSOR_DATA = _qos.qos_profile_sensor_data
    SERVICES_DEFAULT = _qos.QoSProfile(depth=10)
    PARAMETERS = _qos.qos_profile_parameters
    PARAMETER_EVENTS = _qos.QoSProfile(depth=1000)
    BEST_AVAILABLE = _qos.qos_profile_best_available
    ACTION_STATUS_DEFAULT = qos_profile_action_status_default

    @classmethod
    def short_keys(cls) -> list[str]:
        return [name.lower() for name in cls.__members__]

    @classmethod
    def get_from_short_key(cls, name: str) -> _qos.QoSProfile:
        """Returns the profile with a name, in letters of any case."""
        return cls[name.upper()].value


class QosCallbackResult:
    """What a callback of QoS overrides returns."""

    def __init__(self) -> None:
        self.successful = False
        self.reason = ""


class QoSOverridingOptions:
    """Whether parameters replace the QoS of a publisher or subscription: all policies, if there are options."""

    def __init__(
        self, policy_kinds: Iterable[object] = (), *, callback: object = None, entity_id: str | None = None
    ) -> None:
        if callback is not None or entity_id is not None:
            logger = _logging.get_logger("rclpy")
            logger.warning("sinew.rclpy_compat lacks callbacks and ids of QoS overrides: they have no effect")

    @classmethod
    def with_default_policies(cls, **options: Any) -> Self:
        return cls(**options)


# Utilities.


def get_available_rmw_implementations() -> set[str]:
    """Returns the names of all middlewares: of Sinew."""
    return {"sinew"}


def remove_ros_args(args: Iterable[str] | None = None) -> list[str]:
    """Returns a command line without what is between `--ros-args` and `--`."""
    import sys

    left, inside = [], False
    for word in sys.argv if args is None else args:
        if word == "--ros-args":
            inside = True
        elif inside:
            inside = word != "--"
        else:
            left.append(word)
    return left


def timeout_sec_to_nsec(timeout_sec: float | None) -> int:
    """Returns a time in nanoseconds; -1 for one that never ends."""
    return -1 if timeout_sec is None or timeout_sec < 0 else int(timeout_sec * 1e9)


def wait_for_message(
    msg_type: Any,
    node: Node,
    topic: str,
    *,
    qos_profile: _qos.QoSProfile | int = 1,
    time_to_wait: float | None = -1,
) -> tuple[bool, Any]:
    """Waits for a message of a topic, for at most a time. Returns whether one came, and it."""
    arrived = Future()
    subscription = node.create_subscription(msg_type, topic, None, qos_profile)
    try:
        subscription.set_listener(lambda _count: arrived.set_result(None))
        taken = subscription.take()
        if taken is None and wait_until_done(arrived, node.context._handle, time_to_wait):
            taken = subscription.take()
        return (True, taken[0]) if taken is not None else (False, None)
    finally:
        subscription.set_listener(None)
        node.destroy_subscription(subscription)


def check_for_type_support(msg_or_srv_type: Any) -> None:
    """Raises `TypeError` for what is no class of messages, services or actions."""
    if not any(hasattr(msg_or_srv_type, name) for name in ("_class", "_service", "_action")):
        raise TypeError(f"{msg_or_srv_type!r} is no class of messages, services or actions")


def check_is_valid_msg_type(msg_type: Any) -> None:
    """Raises `TypeError` for what is no class of messages."""
    if not hasattr(msg_type, "_class"):
        raise TypeError(f"{msg_type!r} is no class of messages")


def check_is_valid_srv_type(srv_type: Any) -> None:
    """Raises `TypeError` for what is no class of services."""
    if not (hasattr(srv_type, "Request") and hasattr(srv_type, "Response")):
        raise TypeError(f"{srv_type!r} is no class of services")


def get_interface(identifier: str) -> Any:
    """Returns the class of a type by its name."""
    from ..interfaces import find

    return find(identifier)


get_message = get_service = get_action = get_interface
