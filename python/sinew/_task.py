"""Coroutines of callbacks: each is a task, in asyncio's loop if one runs on the thread and is not blocked, else
driven by what it awaits."""

from __future__ import annotations

from ._sinew import SinewError, is_blocking
from .future import CancelledError, Future, _running_loop, local

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from typing import Any

    from . import _sinew

    _Post = Callable[[Callable[[], object]], None]
    _Then = Callable[[Any, BaseException | None], None]


class Task(Future):
    """A coroutine that runs: each step in the callback group of the callback that began it. `then` is called
    in that group with its result and `None`, or with `None` and its exception."""

    def __init__(self, coroutine: Coroutine[Any, Any, Any], post: _Post, then: _Then | None = None) -> None:
        super().__init__()
        self._coroutine = coroutine
        self._post = post
        self._then = then
        self._awaited: Future | None = None  # while no step runs or is due
        self._thrown = False

    def cancel(self) -> bool:
        """Cancels it: `CancelledError` is raised in the coroutine, where it awaits, and what it awaits is
        cancelled. Returns false if it was done before."""
        if not super().cancel():
            return False
        awaited = self._awaited
        if awaited is not None and self._leaves(awaited):
            awaited.remove_done_callback(self._resume)
            awaited.cancel()
            self.go_on()
        return True

    def go_on(self) -> None:
        """Has an executor run the next step."""
        try:
            self._post(self.step)
        except SinewError:
            pass  # the context is shut down or the node destroyed, so nothing runs

    def _resume(self, awaited: Future) -> None:
        if self._leaves(awaited):
            self.go_on()

    def _leaves(self, awaited: Future) -> bool:
        """Ends the wait for a future. Returns whether it was this thread that did."""
        with self._lock:
            leaves = self._awaited is awaited
            if leaves:
                self._awaited = None
        return leaves

    def step(self) -> None:
        """Runs the coroutine until it awaits something, or ends."""
        throws = self.cancelled() and not self._thrown
        self._thrown = self._thrown or throws
        try:
            awaited = self._send(throws)
        except StopIteration as end:
            self._ends(end.value, None)
        except BaseException as error:
            self._ends(None, error)
            if not (self.cancelled() and isinstance(error, CancelledError)):
                raise
        else:
            self._awaits(awaited)

    def _send(self, throws: bool) -> Any:
        """Runs the coroutine to its next `await`, in which futures are given to this task."""
        outer, local.stepping = local.stepping, (_running_loop(),)
        try:
            if throws:
                return self._coroutine.throw(CancelledError("the task was cancelled"))
            return self._coroutine.send(None)
        finally:
            local.stepping = outer

    def _awaits(self, awaited: Any) -> None:
        if awaited is None:  # a bare `yield` of an awaitable: other callbacks run first
            self.go_on()
            return
        if not isinstance(awaited, Future):
            self._coroutine.close()
            kind = type(awaited).__name__
            refused = TypeError(
                f"a coroutine awaited {kind}, which needs asyncio: run the node by sinew.aio.spin(node)"
            )
            self._ends(None, refused)
            raise refused
        with self._lock:
            self._awaited = awaited
        if self.cancelled() and not self._thrown:
            self._resume(awaited)  # it was cancelled during the step
        else:
            awaited.add_done_callback(self._resume)

    def _ends(self, result: Any, exception: BaseException | None) -> None:
        try:
            if self._then is not None:
                self._then(result, exception)
        except BaseException as failed:
            self.set_exception(failed)
            raise
        self._finish("finished", result, exception)


def end_wait(post: _sinew.Post) -> None:
    """Ends a wait of `spin_once` for callbacks of a group, since a future was completed outside it."""
    try:
        post(_nothing)
    except SinewError:
        pass  # the context is shut down, so nothing waits


def _nothing() -> None:
    pass


_in_asyncio: set[Any] = set()


def begin(returned: Any, post: _Post, then: _Then | None = None) -> Any:
    """Begins what a callback returned if it is a coroutine. Returns its task: in asyncio's loop, unless a
    blocking wait further up keeps that from going on. `post` runs a function in the callback's group. `then` is
    as that of `Task`."""
    if not hasattr(returned, "cr_await"):
        return None
    loop = _running_loop()
    if loop is not None and not is_blocking():  # else the loop would not go on before the wait ends
        of_loop = loop.create_task(returned if then is None else _and_then(returned, then))
        if local.spinning is not None:
            local.spinning._keep(of_loop)
        else:
            _in_asyncio.add(of_loop)  # the loop alone keeps no task
            of_loop.add_done_callback(_in_asyncio.discard)
        return of_loop
    task = Task(returned, post, then)
    task.step()
    return task


async def _and_then(coroutine: Any, then: _Then) -> None:
    try:
        result = await coroutine
    except BaseException as error:
        then(None, error)
        raise
    then(result, None)


def respond(coroutine: Any, responder: _sinew.Responder, post: _sinew.Post) -> None:
    """Answers a request with what a coroutine returns."""

    def answer(response: Any, exception: BaseException | None) -> None:
        if exception is None:
            responder._answer(response)
        else:
            responder.fail(f"{type(exception).__name__}: {exception}")

    begin(coroutine, post, answer)
