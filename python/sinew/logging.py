"""Logging: to the console, into a file and to `/rosout`, as programs of ROS 2 do."""

from __future__ import annotations

import enum
import sys

from . import _sinew

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any


class LoggingSeverity(enum.IntEnum):
    """Levels, with ROS 2's numbers."""

    UNSET = 0
    DEBUG = 10
    INFO = 20
    WARN = 30
    ERROR = 40
    FATAL = 50


class Logger:
    """Logs lines under a name."""

    def __init__(self, made: _sinew.Logger) -> None:
        self._made = made

    @property
    def name(self) -> str:
        return self._made.name

    def get_child(self, name: str) -> Logger:
        """Returns the logger with this name below its own."""
        return Logger(self._made.child(name))

    def set_level(self, level: LoggingSeverity) -> None:
        """Drops lines below a level; `UNSET` inherits that of the closest logger above it."""
        self._made.set_level(int(level))

    def get_effective_level(self) -> LoggingSeverity:
        return LoggingSeverity(self._made.level())

    def get_level(self) -> LoggingSeverity:
        """Returns the level that was set for it alone; `UNSET` if it inherits one."""
        return LoggingSeverity(self._made.own_level())

    def is_enabled_for(self, level: LoggingSeverity) -> bool:
        return self._made.is_enabled(int(level))

    def debug(self, message: object, **filters: Any) -> bool:
        return self.log(message, 10, **filters)

    def info(self, message: object, **filters: Any) -> bool:
        return self.log(message, 20, **filters)

    def warning(self, message: object, **filters: Any) -> bool:
        return self.log(message, 30, **filters)

    warn = warning

    def error(self, message: object, **filters: Any) -> bool:
        return self.log(message, 40, **filters)

    def fatal(self, message: object, **filters: Any) -> bool:
        return self.log(message, 50, **filters)

    def log(
        self,
        message: object,
        severity: int,
        *,
        name: str | None = None,
        once: bool = False,
        skip_first: bool = False,
        throttle_duration_sec: float | None = None,
        throttle_time_source_type: object = None,
    ) -> bool:
        """Logs a line. Returns whether it was logged.

        Of the lines of one place in the program, `once` logs only the first, `skip_first` all but the
        first, and `throttle_duration_sec` one in this time of the logger's clock."""
        severity = int(severity)
        made = self._made if name is None else _sinew.Logger(name)
        if not made.is_enabled(severity):
            return False
        frame = sys._getframe(1)
        while frame.f_code.co_filename == __file__ and frame.f_back is not None:
            frame = frame.f_back
        code = frame.f_code
        if once or skip_first or throttle_duration_sec is not None:
            place = (code, frame.f_lineno)
            if not _passes(made, place, once, skip_first, throttle_duration_sec):
                return False
        made.say(severity, str(message), code.co_filename, code.co_name, frame.f_lineno)
        return True


_seen: dict[tuple[CodeType, int], int | None] = {}


def _passes(
    made: _sinew.Logger, place: tuple[CodeType, int], once: bool, skip_first: bool, throttle: float | None
) -> bool:
    known = place in _seen
    last = _seen.get(place)
    if throttle is None:
        _seen[place] = None
    else:
        now = made.now()
        if known and last is not None and 0 <= now - last < throttle * 1e9:
            return False
        _seen[place] = now
    if skip_first and not known:
        return False
    return not (once and known)


def get_logger(name: str) -> Logger:
    """Returns a logger without a node: its lines are not on `/rosout`."""
    return Logger(_sinew.Logger(name))


def flush() -> bool:
    """Waits until all lines are written, for at most a second. Returns whether they are."""
    return _sinew.flush_logging()
