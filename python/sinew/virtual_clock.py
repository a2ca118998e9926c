"""Virtual time, for tests: a clock that only the program moves."""

from __future__ import annotations

from . import _sinew
from .clock import ClockType, Duration, Time, _nanoseconds


class VirtualClock(_sinew.VirtualClock):
    """A clock that stands still until the program moves it: the time of a context that was begun with it, on all
    of its clocks. So a test of ten minutes takes milliseconds, and does the same every time.

        clock = sinew.VirtualClock()
        with sinew.init(args=[], virtual_clock=clock) as context:
            ...
            executor.advance(600)  # from one timer to the next, with the callbacks of each
    """

    __slots__ = ()

    def now(self) -> Time:
        """Returns its time, which begins at 0."""
        return Time(nanoseconds=self._now(), clock_type=ClockType.STEADY_TIME)

    def advance(self, duration: float | Duration) -> None:
        """Moves it forward by a duration, in seconds if it is a number, and wakes what waits for it. Timers run in
        `Executor.advance`, or when the executor is spun."""
        self._advance(_forward(duration))

    def set(self, time: Time) -> None:
        """Moves it to a time, possibly back."""
        self._set(time.nanoseconds)


def _forward(duration: float | Duration) -> int:
    """Returns the nanoseconds of a duration that isn't negative."""
    by = _nanoseconds(duration)
    if by < 0:
        raise ValueError(f"virtual time goes on by a duration that isn't negative, not by {by} ns")
    return by
