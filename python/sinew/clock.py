"""Time: instants, durations, clocks and rates."""

from __future__ import annotations

import enum
from math import isfinite

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .context import Context
    from .jumps import JumpHandle, JumpThreshold, TimeJump

S_TO_NS = 1_000_000_000


class ClockType(enum.IntEnum):
    """What a clock measures."""

    UNINITIALIZED = 0
    ROS_TIME = 1
    SYSTEM_TIME = 2
    STEADY_TIME = 3


class Duration:
    """A difference of two times, in nanoseconds; may be negative."""

    __slots__ = ("nanoseconds",)

    def __init__(self, *, seconds: float = 0, nanoseconds: int = 0) -> None:
        total = int(seconds * S_TO_NS) + int(nanoseconds)
        if not -(2**63) <= total < 2**63:
            raise OverflowError(f"a duration of {total} ns has no room in 64 bits")
        self.nanoseconds = total

    def to_msg(self) -> Any:
        """Returns it as `builtin_interfaces/msg/Duration`."""
        from .interfaces.builtin_interfaces.msg import Duration as Message

        seconds, nanoseconds = divmod(self.nanoseconds, S_TO_NS)
        return Message(sec=seconds, nanosec=nanoseconds)

    @classmethod
    def from_msg(cls, message: Any) -> Duration:
        return cls(nanoseconds=message.sec * S_TO_NS + message.nanosec)

    def __eq__(self, other: object) -> bool:
        return self.nanoseconds == other.nanoseconds if isinstance(other, Duration) else NotImplemented

    def __lt__(self, other: object) -> bool:
        return self.nanoseconds < other.nanoseconds if isinstance(other, Duration) else NotImplemented

    def __le__(self, other: object) -> bool:
        return self.nanoseconds <= other.nanoseconds if isinstance(other, Duration) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.nanoseconds)

    def __add__(self, other: Duration) -> Duration:
        if isinstance(other, Duration):
            return Duration(nanoseconds=self.nanoseconds + other.nanoseconds)
        return NotImplemented

    def __sub__(self, other: Duration) -> Duration:
        if isinstance(other, Duration):
            return Duration(nanoseconds=self.nanoseconds - other.nanoseconds)
        return NotImplemented

    def __mul__(self, factor: float) -> Duration:
        return Duration(nanoseconds=int(self.nanoseconds * factor))

    def __str__(self) -> str:
        return "Infinite" if self.nanoseconds == 2**63 - 1 else f"{self.nanoseconds} nanoseconds"

    def __repr__(self) -> str:
        return f"Duration(nanoseconds={self.nanoseconds})"


class Time:
    """An instant of a clock, in nanoseconds."""

    __slots__ = ("nanoseconds", "clock_type")

    def __init__(
        self, *, seconds: float = 0, nanoseconds: int = 0, clock_type: ClockType = ClockType.SYSTEM_TIME
    ) -> None:
        total = int(seconds * S_TO_NS) + int(nanoseconds)
        if total < 0:
            raise ValueError(f"a time can't be negative, but it is {total} ns")
        if total >= 2**63:
            raise OverflowError(f"a time of {total} ns has no room in 64 bits")
        self.nanoseconds = total
        self.clock_type = clock_type

    def seconds_nanoseconds(self) -> tuple[int, int]:
        return divmod(self.nanoseconds, S_TO_NS)

    def to_msg(self) -> Any:
        """Returns it as `builtin_interfaces/msg/Time`."""
        from .interfaces.builtin_interfaces.msg import Time as Message

        seconds, nanoseconds = divmod(self.nanoseconds, S_TO_NS)
        return Message(sec=seconds, nanosec=nanoseconds)

    @classmethod
    def from_msg(cls, message: Any, clock_type: ClockType = ClockType.ROS_TIME) -> Time:
        return cls(nanoseconds=message.sec * S_TO_NS + message.nanosec, clock_type=clock_type)

    def _same(self, other: Time) -> None:
        if self.clock_type != other.clock_type:
            raise TypeError(f"times of two clocks don't compare: {self.clock_type!r} and {other.clock_type!r}")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Time):
            return NotImplemented
        self._same(other)
        return self.nanoseconds == other.nanoseconds

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, Time):
            return NotImplemented
        self._same(other)
        return self.nanoseconds < other.nanoseconds

    def __le__(self, other: object) -> bool:
        if not isinstance(other, Time):
            return NotImplemented
        self._same(other)
        return self.nanoseconds <= other.nanoseconds

    def __hash__(self) -> int:
        return hash((self.nanoseconds, self.clock_type))

    def __add__(self, other: Duration) -> Time:
        if isinstance(other, Duration):
            return Time(nanoseconds=self.nanoseconds + other.nanoseconds, clock_type=self.clock_type)
        return NotImplemented

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        if isinstance(other, Duration):
            return Time(nanoseconds=self.nanoseconds - other.nanoseconds, clock_type=self.clock_type)
        if isinstance(other, Time):
            self._same(other)
            return Duration(nanoseconds=self.nanoseconds - other.nanoseconds)
        return NotImplemented

    def __repr__(self) -> str:
        return f"Time(nanoseconds={self.nanoseconds}, clock_type={self.clock_type.name})"


class Clock:
    """A clock of a context. The one of `node.get_clock()` is ROS time: simulated time while that is used."""

    def __init__(self, *, clock_type: ClockType = ClockType.SYSTEM_TIME, context: Context | None = None) -> None:
        from .context import default_context

        self.clock_type = ClockType(clock_type)
        self._context = context if context is not None else default_context()

    def now(self) -> Time:
        """Returns the time."""
        return Time(nanoseconds=self._context._handle.now(self.clock_type), clock_type=self.clock_type)

    @property
    def ros_time_is_active(self) -> bool:
        """Whether ROS time is simulated."""
        return self._context._handle.ros_time_is_active()

    def create_jump_callback(
        self,
        threshold: JumpThreshold,
        *,
        pre_callback: None = None,
        post_callback: Callable[[TimeJump], object] | None = None,
    ) -> JumpHandle:
        """Calls a function with a `TimeJump` after this clock jumps: see `sinew.jumps`. It runs on the thread
        that sets the time, until the returned handle is forgotten."""
        from .jumps import JumpHandle

        return JumpHandle(clock=self, threshold=threshold, pre_callback=pre_callback, post_callback=post_callback)

    def sleep_until(self, until: Time, context: Context | None = None) -> bool:
        """Sleeps until a time of this clock. Returns false if simulated time began or ended meanwhile. Raises
        `ExternalShutdownException` if the context is shut down, by default that of the clock. Not for
        callbacks: the thread does nothing else meanwhile."""
        if until.clock_type != self.clock_type:
            raise TypeError(f"a time of {until.clock_type!r} is none of a clock of {self.clock_type!r}")
        handle = (context if context is not None else self._context)._handle
        return handle.sleep_until(self.clock_type, until.nanoseconds)

    def sleep_for(self, rel_time: Duration, context: Context | None = None) -> bool:
        """Sleeps for a time of this clock, as `sleep_until`."""
        handle = (context if context is not None else self._context)._handle
        return handle.sleep_until(self.clock_type, handle.now(self.clock_type) + rel_time.nanoseconds)


class Rate:
    """A loop's period: `sleep()` waits until the next multiple of it."""

    def __init__(self, period_ns: int, clock: Clock) -> None:
        if period_ns <= 0:
            raise ValueError(f"the period of a rate must be positive, but it is {period_ns} ns")
        self._period = period_ns
        self._clock = clock
        self._next = clock.now().nanoseconds + period_ns

    def sleep(self) -> None:
        """Sleeps until the end of the period; not at all if that has passed, and then the next period
        begins now. Raises `ExternalShutdownException` if the context is shut down."""
        now = self._clock.now().nanoseconds
        if now > self._next or now < self._next - self._period:
            self._next = now + self._period  # too late, or the clock jumped back
            return
        self._clock._context._handle.sleep_until(self._clock.clock_type, self._next)
        self._next += self._period

    def destroy(self) -> None:
        """For programs of rclpy: there is nothing to destroy."""


def _nanoseconds(time: float | Duration) -> int:
    """Returns seconds or a duration in nanoseconds."""
    if isinstance(time, Duration):
        return time.nanoseconds
    if not hasattr(time, "__float__"):
        raise TypeError(f"a time is a number of seconds or a Duration, not {time!r}")
    if not isfinite(time):
        raise ValueError(f"a time must be finite, but it is {time} s")
    return int(time * S_TO_NS)


def _seconds(time: float | Duration | None) -> float | None:
    """Returns a limit in seconds; `None` for none."""
    if time is None:
        return None
    if isinstance(time, Duration):
        return time.nanoseconds / S_TO_NS
    if not hasattr(time, "__float__"):
        raise TypeError(f"a time is a number of seconds or a Duration, not {time!r}")
    return float(time)
