"""Nodes in asyncio: the loop waits for the executor's descriptor, without a thread.

    async def main():
        node = sinew.Node("listener")
        subscription = node.create_subscription(String, "chatter")
        async with sinew.aio.spinning(node):
            async for message in subscription:
                print(message.data)
"""

from __future__ import annotations

import asyncio

from ._sinew import InvalidHandle
from .clock import _nanoseconds
from .executors import Executor, ExternalShutdownException, SingleThreadedExecutor
from .future import local, log_exception

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from types import TracebackType
    from typing import Any

    from . import _sinew
    from .clock import Duration
    from .endpoints import Subscription
    from .node import Node


async def spin(node: Node | None = None, *, executor: Executor | None = None) -> None:
    """Runs callbacks in the running loop until it is cancelled or the executor is stopped. Raises
    `ExternalShutdownException` if the context is shut down, and exceptions of callbacks. Callbacks that
    are coroutines run as tasks of the loop."""
    async with spinning(node, executor=executor) as spun:
        await spun.ended


class spinning:
    """As `spin`, while an `async with` lasts. An exception of a callback, or of a coroutine of one, cancels what
    the block awaits, and is raised at its end. If the executor is stopped the block goes on, but no callbacks
    run. The end of the block cancels coroutines of callbacks that still run, and waits for them."""

    def __init__(self, *nodes: Node | None, executor: Executor | None = None) -> None:
        self.executor = executor if executor is not None else SingleThreadedExecutor()
        self._nodes = [node for node in nodes if node is not None]
        self._added: list[Node] = []
        self._handlers: list[_sinew.Handler] = []
        self._coroutines: set[asyncio.Task[Any]] = set()  # of callbacks
        self._cancelled = False

    async def __aenter__(self) -> spinning:
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.current_task()
        self.ended: asyncio.Future[None] = self._loop.create_future()
        for node in self._nodes:
            if self.executor.add_node(node):
                self._added.append(node)
        for node in self.executor.get_nodes():
            self._handlers.append(_at_shutdown(node.context._handle, self._loop, self._run))
        self.executor._stopping.append(self._look)
        self._descriptor = self.executor.fileno()
        self._loop.add_reader(self._descriptor, self._run)
        self._loop.call_soon(self._run)
        return self

    def _look(self) -> None:
        """Has the loop look soon whether there is something to do. Any thread may call it."""
        _soon(self._loop, self._run)

    def _run(self) -> None:
        if self.ended.done():
            return
        outer, local.spinning = local.spinning, self
        try:
            self.executor.spin_some()
            stopped = self.executor._made.take_stop()
            if self.executor._made.is_shut_down():
                raise ExternalShutdownException("the context was shut down, so no more callbacks run")
            if stopped:
                self._loop.remove_reader(self._descriptor)
                self.ended.set_result(None)
        except BaseException as error:
            self._fail(error)
            if isinstance(error, (KeyboardInterrupt, SystemExit)):
                raise
        finally:
            local.spinning = outer

    def _fail(self, error: BaseException) -> None:
        self._loop.remove_reader(self._descriptor)
        self.ended.set_exception(error)
        self._cancelled = True
        if self._task is not None:
            self._task.cancel()

    def _keep(self, coroutine: asyncio.Task[Any]) -> None:
        """Keeps the coroutine of a callback until it ends, and treats its exception as one of a callback."""
        self._coroutines.add(coroutine)
        coroutine.add_done_callback(self._over)

    def _over(self, coroutine: asyncio.Task[Any]) -> None:
        self._coroutines.discard(coroutine)
        error = None if coroutine.cancelled() else coroutine.exception()
        if error is None:
            return
        if self.executor._stops and not self.ended.done():
            self._fail(error)
        else:
            log_exception("a callback", error)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._loop.remove_reader(self._descriptor)
        self.executor._stopping.remove(self._look)
        for handler in self._handlers:
            handler.cancel()
        for node in self._added:
            self.executor.remove_node(node)
        failed = None
        if not self.ended.done():
            self.ended.cancel()
        elif not self.ended.cancelled():
            failed = self.ended.exception()
            if self._cancelled and self._task is not None:
                self._task.uncancel()
        for coroutine in self._coroutines:
            coroutine.cancel()
        if self._coroutines:
            await asyncio.wait(self._coroutines)
        if failed is not None and kind in (None, asyncio.CancelledError):
            raise failed from None


def _soon(loop: asyncio.AbstractEventLoop, call: Callable[[], object]) -> None:
    """Has a loop call a function. Any thread may ask for it."""
    try:
        loop.call_soon_threadsafe(call)
    except RuntimeError:
        pass  # the loop is closed


def _at_shutdown(
    context: _sinew.Context, loop: asyncio.AbstractEventLoop, call: Callable[[], object]
) -> _sinew.Handler:
    """Has a loop call a function once a context is shut down."""
    return context.on_shutdown(lambda: _soon(loop, call))


async def messages(subscription: Subscription) -> AsyncIterator[Any]:
    """Returns the messages of a subscription without a callback, for `async for`. Ends when the context is
    shut down, after the messages that have arrived, and when the subscription is destroyed. Needs no
    executor."""
    loop, context = asyncio.get_running_loop(), subscription._context()
    arrived = asyncio.Event()

    def look(_count: int = 0) -> None:
        _soon(loop, arrived.set)

    handler = _at_shutdown(context, loop, arrived.set)
    subscription._wake = look
    try:
        subscription.set_listener(look)
        while True:
            taken = subscription.take()
            if taken is not None:
                yield taken[0]
                continue
            if not context.ok():
                return
            await arrived.wait()
            arrived.clear()
    except InvalidHandle:
        return  # it was destroyed
    finally:
        handler.cancel()
        if subscription._wake is look:  # else a later loop listens
            subscription._wake = None
            try:
                subscription.set_listener(None)
            except InvalidHandle:
                pass  # a destroyed one calls nothing


async def sleep(node: Node, seconds: float | Duration) -> None:
    """Sleeps on the node's clock, which may be simulated. An executor must run the node's callbacks. Raises
    `ExternalShutdownException` if the context is shut down."""
    if _nanoseconds(seconds) > 0:
        await _until_timer(node, seconds)
    else:
        await asyncio.sleep(0)  # no timer has such a period
    if not node.context.ok():
        raise ExternalShutdownException("the context was shut down during a sleep")


async def _until_timer(node: Node, seconds: float | Duration) -> None:
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()

    def over() -> None:
        if not done.done():
            done.set_result(None)

    # The executor may run on another thread.
    timer = node.create_timer(seconds, lambda: _soon(loop, over))
    handler = _at_shutdown(node.context._handle, loop, over)
    try:
        await done
    finally:
        handler.cancel()
        node.destroy_timer(timer)
