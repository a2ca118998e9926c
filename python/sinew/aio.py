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

from .executors import Executor, ExternalShutdownException, SingleThreadedExecutor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from types import TracebackType
    from typing import Any

    from . import _sinew
    from .endpoints import Subscription
    from .node import Node


async def spin(node: Node | None = None, *, executor: Executor | None = None) -> None:
    """Runs callbacks in the running loop until it is cancelled or the executor is stopped. Raises
    `ExternalShutdownException` if the context is shut down, and exceptions of callbacks. Callbacks that
    are coroutines run as tasks of the loop."""
    async with spinning(node, executor=executor) as spun:
        await spun.ended


class spinning:
    """As `spin`, while an `async with` lasts. An exception of a callback cancels what the block awaits, and
    is raised at its end."""

    def __init__(self, *nodes: Node | None, executor: Executor | None = None) -> None:
        self.executor = executor if executor is not None else SingleThreadedExecutor()
        self._nodes = [node for node in nodes if node is not None]
        self._added: list[Node] = []
        self._handlers: list[_sinew.Handler] = []
        self._cancelled = False

    async def __aenter__(self) -> spinning:
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.current_task()
        self.ended: asyncio.Future[None] = self._loop.create_future()
        for node in self._nodes:
            if self.executor.add_node(node):
                self._added.append(node)
        for node in self.executor.get_nodes():
            self._watch(node)
        self._loop.add_reader(self.executor.fileno(), self._run)
        self._loop.call_soon(self._run)
        return self

    def _watch(self, node: Node) -> None:
        """Looks at the executor when the context is shut down."""

        def wake() -> None:
            try:
                self._loop.call_soon_threadsafe(self._run)
            except RuntimeError:
                pass  # the loop is closed

        self._handlers.append(node.context._handle.on_shutdown(wake))

    def _run(self) -> None:
        if self.ended.done():
            return
        try:
            self.executor.spin_some()
            if self.executor._made.is_shut_down():
                raise ExternalShutdownException("the context was shut down, so no more callbacks run")
        except BaseException as error:
            self._loop.remove_reader(self.executor.fileno())
            self.ended.set_exception(error)
            self._cancelled = True
            if self._task is not None:
                self._task.cancel()
            if isinstance(error, (KeyboardInterrupt, SystemExit)):
                raise

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._loop.remove_reader(self.executor.fileno())
        for handler in self._handlers:
            handler.cancel()
        for node in self._added:
            self.executor.remove_node(node)
        if not self.ended.done():
            self.ended.cancel()
        elif not self.ended.cancelled():
            failed = self.ended.exception()
            if self._cancelled and self._task is not None:
                self._task.uncancel()
            if failed is not None and kind in (None, asyncio.CancelledError):
                raise failed from None


async def messages(subscription: Subscription) -> AsyncIterator[Any]:
    """Returns the messages of a subscription without a callback, for `async for`. Needs no executor."""
    loop = asyncio.get_running_loop()
    arrived = asyncio.Event()

    def wake(_count: int) -> None:
        try:
            loop.call_soon_threadsafe(arrived.set)
        except RuntimeError:
            pass  # the loop is closed

    subscription.set_listener(wake)
    try:
        while True:
            taken = subscription.take()
            if taken is not None:
                yield taken[0]
                continue
            await arrived.wait()
            arrived.clear()
    finally:
        subscription.set_listener(None)


async def sleep(node: Node, seconds: float) -> bool:
    """Sleeps on the node's clock, which may be simulated. Returns false at a shutdown."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()

    def over() -> None:
        if not done.done():
            done.set_result(None)

    timer = node.create_timer(seconds, over)
    try:
        await done
    finally:
        node.destroy_timer(timer)
    return node.context.ok()
