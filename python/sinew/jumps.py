"""Jumps of time: callbacks when simulated time begins, ends, goes back or far ahead."""

from __future__ import annotations

import enum
from collections import namedtuple

from ._entity import callable_for
from .clock import ClockType, Duration

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from .clock import Clock


class ClockChange(enum.IntEnum):
    """Whether the source of ROS time changed, with rclpy's numbers."""

    ROS_TIME_NO_CHANGE = 1
    ROS_TIME_ACTIVATED = 2
    ROS_TIME_DEACTIVATED = 3
    SYSTEM_TIME_NO_CHANGE = 4


TimeJump = namedtuple("TimeJump", "clock_change delta")
TimeJump.__doc__ = "A jump: the `ClockChange`, and by how much the time went on, a `Duration` that may be negative."


class JumpThreshold:
    """The jumps that call a callback: forward by at least `min_forward`, back by at least `min_backward`, which is
    negative, and if `on_clock_change` each change of the source."""

    def __init__(
        self, *, min_forward: Duration | None, min_backward: Duration | None, on_clock_change: bool = True
    ) -> None:
        if min_forward is not None and min_forward.nanoseconds <= 0:
            raise ValueError(f"min_forward must be positive, but it is {min_forward}")
        if min_backward is not None and min_backward.nanoseconds >= 0:
            raise ValueError(f"min_backward must be negative, but it is {min_backward}")
        if min_forward is None and min_backward is None and not on_clock_change:
            raise ValueError("a threshold without a jump forward, a jump back and changes of the clock admits no jump")
        self.min_forward = min_forward
        self.min_backward = min_backward
        self.on_clock_change = on_clock_change


class JumpHandle:
    """A callback for jumps, until `unregister` or the end of `with`. Forgetting it removes the callback."""

    def __init__(
        self,
        *,
        clock: Clock,
        threshold: JumpThreshold,
        pre_callback: None = None,
        post_callback: Callable[[TimeJump], object] | None = None,
    ) -> None:
        if pre_callback is not None:
            raise ValueError("there are no callbacks before a jump: use post_callback")
        callable_for("jump", post_callback)
        self._handle = None
        if clock.clock_type != ClockType.ROS_TIME:
            return  # others don't jump

        def jumped(change: int, nanoseconds: int) -> None:
            if post_callback is not None:
                post_callback(TimeJump(ClockChange(change), Duration(nanoseconds=nanoseconds)))

        ahead, back = threshold.min_forward, threshold.min_backward
        self._handle = clock._context._handle.on_time_jump(
            threshold.on_clock_change,
            None if ahead is None else ahead.nanoseconds,
            None if back is None else -back.nanoseconds,
            jumped,
        )

    def unregister(self) -> None:
        """Removes the callback."""
        if self._handle is not None:
            self._handle.cancel()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.unregister()
