"""Contexts: what the nodes of a program share."""

from __future__ import annotations

import atexit
import sys

from . import _sinew
from ._sinew import NotInitializedException

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .virtual_clock import VirtualClock

atexit.register(_sinew.end)


class Context:
    """A context: begins with `init`, ends with `shutdown` or SIGTERM."""

    def __init__(self) -> None:
        self._made: _sinew.Context | None = None
        self._callbacks: list[_sinew.Handler] = []

    def init(
        self,
        args: list[str] | None = None,
        *,
        domain_id: int | None = None,
        shared_memory: bool | None = None,
        signals: bool = True,
        directory: Any = None,
        virtual_clock: VirtualClock | None = None,
    ) -> None:
        """Begins the context. `args` are the command line, with the rules after `--ros-args`; by default
        those of the program. `domain_id`: by default that of `ROS_DOMAIN_ID`. With `signals`, SIGTERM
        shuts the context down. With `virtual_clock`, time stands still until the program moves it."""
        if self.ok():
            raise RuntimeError("the context is initialised already: shut it down before")
        args = list(sys.argv if args is None else args)
        if args[:1] == ["--ros-args"]:
            args.insert(0, sys.argv[0])  # the name of the program, which rclpy doesn't need
        _sinew.init_logging()  # before the first node: its lines go to `/rosout`
        self._made = _sinew.Context(
            args,
            domain_id=domain_id,
            shared_memory=shared_memory,
            signals=signals,
            directory=directory,
            virtual_clock=virtual_clock,
        )

    def ok(self) -> bool:
        """Returns whether it was begun, and not shut down."""
        return self._made is not None and self._made.ok()

    def shutdown(self, reason: str | None = None) -> None:
        """Ends what waits and spins in the context. Raises an error if it was not begun."""
        if self._made is None:
            raise NotInitializedException("the context was not initialised, so it can't be shut down")
        self._made.shutdown(reason)

    def try_shutdown(self) -> None:
        """As `shutdown`, if the context was begun."""
        if self._made is not None:
            self._made.shutdown()

    destroy = try_shutdown

    def on_shutdown(self, callback: Callable[[], object]) -> None:
        """Calls a function, without arguments, when the context is shut down."""
        self._callbacks.append(self._handle.on_shutdown(callback))

    @property
    def shutdown_reason(self) -> str | None:
        """Why it was shut down: the reason that was given, or a signal."""
        return self._handle.shutdown_reason

    def get_domain_id(self) -> int:
        return self._handle.domain_id

    @property
    def _handle(self) -> _sinew.Context:
        if self._made is None:
            raise NotInitializedException("there is no context yet: call sinew.init() first")
        return self._made

    def __enter__(self) -> Context:
        if not self.ok():
            self.init()
        return self

    def __exit__(self, *_exception: object) -> None:
        self.try_shutdown()


_default = Context()


def default_context() -> Context:
    """Returns the context of `sinew.init()`."""
    return _default


class _Initialized:
    """What `init` returns: `with sinew.init():` shuts down at its end."""

    def __init__(self, context: Context) -> None:
        self.context = context

    def __enter__(self) -> Context:
        return self.context

    def __exit__(self, *_exception: object) -> None:
        self.context.try_shutdown()


def init(args: list[str] | None = None, *, context: Context | None = None, **options: Any) -> _Initialized:
    """Begins the default context, or another one; `options` are those of `Context.init`.

    Ctrl-C raises `KeyboardInterrupt` as always in Python, and the context goes on, so a program may
    still publish before it ends. SIGTERM shuts the context down, and what spins or waits raises
    `ExternalShutdownException`. As a context manager, it shuts the context down.
    """
    global _default
    if context is None and not _default.ok():
        _default = Context() if _default._made is not None else _default
    context = context or _default
    context.init(args, **options)
    return _Initialized(context)


def shutdown(*, context: Context | None = None, reason: str | None = None) -> None:
    """Shuts the default context down, or another one."""
    (context or _default).shutdown(reason)


def try_shutdown(*, context: Context | None = None) -> None:
    """As `shutdown`, if the context was begun."""
    (context or _default).try_shutdown()


def ok(*, context: Context | None = None) -> bool:
    """Returns whether the context was begun, and not shut down."""
    return (context or _default).ok()
