"""Live values of topics in a notebook: what a cell shows changes while messages arrive.

    await sinew.notebook.hz(node, String, "chatter")
    await sinew.notebook.plot(node, Imu, "imu", lambda imu: imu.angular_velocity.z)

A cell runs until its `seconds` are over or it is interrupted, and spins the node meanwhile. Without
IPython the same is printed as lines.
"""

from __future__ import annotations

import asyncio
import importlib
import time
from collections import deque

from .aio import spinning

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .node import Node

__all__ = ["Plot", "Rate", "hz", "plot"]

#: Width, height and margin of a plot in pixels.
_WIDTH, _HEIGHT, _MARGIN = 640, 160, 4


class Rate:
    """How often messages of a topic arrive: over the newest `window` of them."""

    def __init__(self, topic: str, window: int) -> None:
        if window < 2:
            raise ValueError(f"a rate needs at least 2 messages, not {window}")
        self.topic = topic
        #: Number of all messages that have arrived.
        self.count = 0
        self._arrivals: deque[float] = deque(maxlen=window)

    def add(self, now: float) -> None:
        """Counts a message that arrives at this time, in seconds."""
        self.count += 1
        self._arrivals.append(now)

    @property
    def hz(self) -> float | None:
        """Messages a second; `None` before the second one."""
        if len(self._arrivals) < 2 or self._arrivals[-1] <= self._arrivals[0]:
            return None
        return (len(self._arrivals) - 1) / (self._arrivals[-1] - self._arrivals[0])

    def __repr__(self) -> str:
        if self.hz is None:
            return f"{self.topic}: {self.count} message{'' if self.count == 1 else 's'}"
        times = list(self._arrivals)
        gaps = [after - before for before, after in zip(times, times[1:])]
        return (
            f"{self.topic}: {self.hz:.2f} messages a second, {min(gaps):.4f} to {max(gaps):.4f} s apart, "
            f"{self.count} in all"
        )


class Plot:
    """A number of each message over the last `window` seconds; a notebook shows it as a line."""

    def __init__(self, topic: str, window: float) -> None:
        if not window > 0:
            raise ValueError(f"a plot needs a window of more than 0 seconds, not {window}")
        self.topic = topic
        self.window = window
        #: Times in seconds, and values.
        self.points: deque[tuple[float, float]] = deque()

    def add(self, now: float, value: float) -> None:
        """Adds a value of this time, in seconds, and forgets those that are too old."""
        self.points.append((now, value))
        while self.points[0][0] < now - self.window:
            self.points.popleft()

    def __repr__(self) -> str:
        if not self.points:
            return f"{self.topic}: no values"
        values = [value for _, value in self.points]
        return f"{self.topic}: {values[-1]:g} (from {min(values):g} to {max(values):g}, {len(values)} values)"

    def _repr_svg_(self) -> str:
        from html import escape

        text = f'<text x="{_MARGIN}" y="{_HEIGHT + 14}" font-size="12">{escape(repr(self))}</text>'
        size = f'width="{_WIDTH}" height="{_HEIGHT + 20}"'
        return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{self._line()}{text}</svg>'

    def _line(self) -> str:
        finite = [(at, value) for at, value in self.points if abs(value) < float("inf")]
        if not finite:
            return ""
        begin = self.points[-1][0] - self.window
        least, most = min(value for _, value in finite), max(value for _, value in finite)
        across = (_WIDTH - 2 * _MARGIN) / self.window
        up = (_HEIGHT - 2 * _MARGIN) / ((most - least) or 1)
        # At most two points for each pixel of the width.
        step = -(-len(finite) // (2 * _WIDTH))
        corners = " ".join(
            f"{_MARGIN + (at - begin) * across:.1f},{_HEIGHT - _MARGIN - (value - least) * up:.1f}"
            for at, value in finite[::step]
        )
        return f'<polyline fill="none" stroke="#1f77b4" stroke-width="1.5" points="{corners}"/>'


async def hz(
    node: Node,
    message_type: type[Any],
    topic: str,
    *,
    qos: Any = 10,
    window: int = 100,
    seconds: float | None = None,
    every: float = 0.5,
) -> Rate:
    """Shows how often messages arrive, over the newest `window` of them. What is shown is renewed after `every`
    seconds, for `seconds` (`None`: until it is interrupted). Returns the rate at the end."""
    rate = Rate(topic, window)

    def arrived(_: Any) -> None:
        rate.add(time.monotonic())

    await _show(node, (message_type, topic, arrived, qos), rate, seconds, every)
    return rate


async def plot(
    node: Node,
    message_type: type[Any],
    topic: str,
    value: Callable[[Any], float],
    *,
    qos: Any = 10,
    window: float = 10.0,
    seconds: float | None = None,
    every: float = 0.2,
) -> Plot:
    """Shows `value(message)` of each message as a line over the last `window` seconds. What is shown is renewed
    after `every` seconds, for `seconds` (`None`: until it is interrupted). Returns the plot at the end. An
    exception of `value` ends it."""
    plot = Plot(topic, window)

    def arrived(message: Any) -> None:
        plot.add(time.monotonic(), float(value(message)))

    await _show(node, (message_type, topic, arrived, qos), plot, seconds, every)
    return plot


async def _show(
    node: Node, subscription: tuple[Any, ...], shown: Rate | Plot, seconds: float | None, every: float
) -> None:
    if not every > 0:
        raise ValueError(f"the time between two changes is more than 0 seconds, not {every}")
    end = None if seconds is None else time.monotonic() + seconds
    update = _display(shown)
    created = node.create_subscription(*subscription)
    try:
        async with spinning(node):
            while end is None or time.monotonic() < end:
                await asyncio.sleep(every if end is None else max(0.0, min(every, end - time.monotonic())))
                update()
    finally:
        node.destroy_subscription(created)


def _display(shown: Rate | Plot) -> Callable[[], None]:
    """Shows an object, and returns a function that shows its changes at the same place."""
    try:
        display = importlib.import_module("IPython.display").display  # it may not be installed
    except ImportError:
        return lambda: print(shown)
    handle = display(shown, display_id=True)
    if handle is None:  # IPython without a front end that could change what it has shown
        return lambda: print(shown)
    return lambda: handle.update(shown)
