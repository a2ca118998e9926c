"""Coroutines of callbacks: each is a task, in asyncio's loop if one runs on the thread, else driven by
what it awaits."""

from __future__ import annotations

from ._sinew import SinewError
from .future import Future, _running_loop

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Coroutine
    from typing import Any

    from . import _sinew


class Task(Future):
    """A coroutine that runs: each step in the callback group of the callback that began it."""

    def __init__(self, coroutine: Coroutine[Any, Any, Any], post: _sinew.Post) -> None:
        super().__init__()
        self._coroutine = coroutine
        self._post = post

    def _resume(self, _done: Future) -> None:
        self._post(self._step)

    def _step(self) -> None:
        try:
            awaited = self._coroutine.send(None)
        except StopIteration as end:
            self.set_result(end.value)
        except BaseException as error:
            self.set_exception(error)
            raise
        else:
            if not isinstance(awaited, Future):
                self._coroutine.close()
                kind = type(awaited).__name__
                refused = TypeError(
                    f"a coroutine awaited {kind}, which needs asyncio: run the node by sinew.aio.spin(node)"
                )
                self.set_exception(refused)
                raise refused
            awaited.add_done_callback(self._resume)


def end_wait(post: _sinew.Post) -> None:
    """Ends a wait of `spin_once` for callbacks of a group, since a future was completed outside it."""
    try:
        post(_nothing)
    except SinewError:
        pass  # the context is shut down, so nothing waits


def _nothing() -> None:
    pass


_in_asyncio: set[Any] = set()


def begin(returned: Any, post: _sinew.Post) -> Any:
    """Begins what a callback returned if it is a coroutine. Returns its task. `post` runs a function in
    the callback's group."""
    if not hasattr(returned, "cr_await"):
        return None
    loop = _running_loop()
    if loop is not None:
        of_loop = loop.create_task(returned)
        _in_asyncio.add(of_loop)  # the loop alone keeps no task
        of_loop.add_done_callback(_in_asyncio.discard)
        return of_loop
    task = Task(returned, post)
    task._step()
    return task


def respond(coroutine: Any, responder: _sinew.Responder, post: _sinew.Post) -> None:
    """Answers a request with what a coroutine returns."""

    async def answer() -> None:
        try:
            response = await coroutine
        except BaseException as error:
            responder.fail(f"{type(error).__name__}: {error}")
            raise
        responder.respond(response)

    begin(answer(), post)
