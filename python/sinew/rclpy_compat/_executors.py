"""Executors with rclpy's end: a shutdown by the program itself ends a spin without an exception."""

from __future__ import annotations

import weakref
from contextlib import contextmanager

from .. import context as _context, executors
from ..executors import ExternalShutdownException

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..clock import Duration
    from ..context import Context
    from ..future import Future
    from ..node import Node

_asked: weakref.WeakSet[Context] = weakref.WeakSet()
"""The contexts that the program itself has shut down."""


def shutdown(*, context: Context | None = None, uninstall_handlers: object = None) -> None:
    """Shuts the default context down, or another one."""
    _asked.add(context or _context.default_context())
    _context.shutdown(context=context)


def try_shutdown(*, context: Context | None = None, uninstall_handlers: object = None) -> None:
    """As `shutdown`, if the context was begun."""
    _asked.add(context or _context.default_context())
    _context.try_shutdown(context=context)


def begun(context: Context) -> None:
    """Notes that a context begins."""
    _asked.discard(context)


@contextmanager
def _ends_quietly(executor: executors.Executor) -> Iterator[None]:
    contexts = [_context.default_context(), *(node.context for node in executor.get_nodes())]
    try:
        yield
    except ExternalShutdownException:
        if not any(context in _asked for context in contexts):
            raise


class Executor(executors.Executor):
    """What both kinds share."""

    def spin(self) -> None:
        with _ends_quietly(self):
            super().spin()

    def spin_until_future_complete(  # type: ignore[override]  # rclpy's returns nothing
        self, future: Future, timeout_sec: float | Duration | None = None
    ) -> None:
        with _ends_quietly(self):
            super().spin_until_future_complete(future, timeout_sec)


class SingleThreadedExecutor(Executor, executors.SingleThreadedExecutor):
    """An executor that runs callbacks on the thread that spins."""


class MultiThreadedExecutor(Executor, executors.MultiThreadedExecutor):
    """An executor with several threads."""


_global: Executor | None = None


def get_global_executor() -> Executor:
    """Returns the executor of `spin`, `spin_once` and `spin_until_future_complete`."""
    global _global
    if _global is None:
        _global = SingleThreadedExecutor()
    return _global


def spin(node: Node, executor: executors.Executor | None = None) -> None:
    """Runs the callbacks of a node until the context is shut down."""
    executors.spin(node, executor or get_global_executor())


def spin_once(
    node: Node, *, executor: executors.Executor | None = None, timeout_sec: float | Duration | None = None
) -> None:
    """Runs one callback of a node, and waits for one for at most a time."""
    executors.spin_once(node, executor=executor or get_global_executor(), timeout_sec=timeout_sec)


def spin_until_future_complete(
    node: Node,
    future: Future,
    executor: executors.Executor | None = None,
    timeout_sec: float | Duration | None = None,
) -> None:
    """Runs callbacks of a node until a future is done, for at most a time."""
    executor = executor or node.executor or get_global_executor()
    executors.spin_until_future_complete(node, future, executor, timeout_sec)
