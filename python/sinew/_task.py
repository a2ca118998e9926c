"""Coroutines of callbacks: each is a task, in asyncio's loop if one runs on the thread, else driven by
what it awaits."""

from __future__ import annotations

from ._sinew import SinewError
from .future import Future, _running_loop


class Task(Future):
    """A coroutine that runs: each step in the callback group of the callback that began it."""

    def __init__(self, coroutine, post) -> None:
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
                error = TypeError(
                    f"a coroutine awaited {kind}, which needs asyncio: run the node by sinew.aio.spin(node)"
                )
                self.set_exception(error)
                raise error
            awaited.add_done_callback(self._resume)


def end_wait(post) -> None:
    """Ends a wait of `spin_once` for callbacks of a group, since a future was completed outside it."""
    try:
        post(_nothing)
    except SinewError:
        pass  # the context is shut down, so nothing waits


def _nothing() -> None:
    pass


_in_asyncio: set = set()


def begin(returned, post):
    """Begins what a callback returned if it is a coroutine. Returns its task. `post` runs a function in
    the callback's group."""
    if not hasattr(returned, "cr_await"):
        return None
    loop = _running_loop()
    if loop is not None:
        task = loop.create_task(returned)
        _in_asyncio.add(task)  # the loop alone keeps no task
        task.add_done_callback(_in_asyncio.discard)
        return task
    task = Task(returned, post)
    task._step()
    return task


def respond(coroutine, responder, post) -> None:
    """Answers a request with what a coroutine returns."""

    async def answer() -> None:
        try:
            response = await coroutine
        except BaseException as error:
            responder.fail(f"{type(error).__name__}: {error}")
            raise
        responder.respond(response)

    begin(answer(), post)
