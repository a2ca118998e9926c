"""Futures: results that are there later."""

from __future__ import annotations

import sys
from _thread import _local, allocate_lock
from time import monotonic

from ._sinew import ExternalShutdownException, in_callback, wait_until_done

TYPE_CHECKING = False
if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, Future as LoopFuture
    from collections.abc import Callable, Generator
    from typing import Any

    from .context import Context


class _Local(_local):
    """What a thread does now."""

    #: The `sinew.aio.spinning` whose callbacks it runs.
    spinning: Any = None
    #: In a step of a `sinew._task.Task`: asyncio's loop around it, or `None`, in a tuple.
    stepping: tuple[AbstractEventLoop | None] | None = None


local = _Local()


class CancelledError(Exception):
    """The future was cancelled, so it has no result."""


class Future:
    """A result that comes later. Any thread may give it. `await` works in a coroutine that an executor
    of Sinew runs, and in asyncio."""

    def __init__(self, *, executor: Any = None) -> None:
        self._lock = allocate_lock()
        self._state = "pending"
        self._result: Any = None
        self._exception: BaseException | None = None
        self._callbacks: list[Callable[[Any], object]] = []
        self._executor = executor

    def done(self) -> bool:
        """Returns whether there is a result or an exception, or it was cancelled."""
        return self._state != "pending"

    def cancelled(self) -> bool:
        return self._state == "cancelled"

    def cancel(self) -> bool:
        """Cancels it. Returns false if it was done before."""
        return self._finish("cancelled", None, None)

    def result(self) -> Any:
        """Returns the result; `None` if there is none yet. Raises the exception if there is one."""
        if self._state == "cancelled":
            raise CancelledError("the future was cancelled")
        if self._exception is not None:
            raise self._exception
        return self._result

    def exception(self) -> BaseException | None:
        """Returns the exception, if that is how it ended."""
        return self._exception

    def set_result(self, result: Any) -> None:
        """Gives the result. Does nothing if it is done."""
        self._finish("finished", result, None)

    def set_exception(self, exception: BaseException) -> None:
        """Ends it with an exception. Does nothing if it is done."""
        self._finish("finished", None, exception)

    def add_done_callback(self, callback: Callable[[Any], object]) -> None:
        """Calls a function with this future when it is done: on the thread that gives the result, or
        now if it is done. Its exceptions are logged."""
        with self._lock:
            if self._state == "pending":
                self._callbacks.append(callback)
                return
        callback(self)

    def remove_done_callback(self, callback: Callable[[Any], object]) -> bool:
        """Removes a callback. Returns whether it was there."""
        with self._lock:
            if callback in self._callbacks:
                self._callbacks.remove(callback)
                return True
        return False

    def _finish(self, state: str, result: Any, exception: BaseException | None) -> bool:
        with self._lock:
            if self._state != "pending":
                return False
            self._result, self._exception = result, exception
            self._state = state
            callbacks, self._callbacks = self._callbacks, []
        if callbacks:
            self._call(callbacks)
        return True

    def _call(self, callbacks: list[Callable[[Any], object]]) -> None:
        """Calls all callbacks. An exception of one is logged; `KeyboardInterrupt` is raised at the end."""
        interrupt: BaseException | None = None
        for callback in callbacks:
            try:
                callback(self)
            except Exception as error:
                log_exception("a callback of a future", error)
            except BaseException as error:
                interrupt = error
        if interrupt is not None:
            raise interrupt

    def __await__(self) -> Generator[Any, Any, Any]:
        if not self.done():
            loop = _running_loop()
            if loop is None or local.stepping == (loop,):
                yield self  # to a task of `sinew._task`
            else:
                yield from _in_loop(self, loop).__await__()
        return self.result()

    __iter__ = __await__


class Answer(Future):
    """The future of a server's answer. A callback that waits for it runs the server if it has to."""

    def _run_server(self, timeout: float | None) -> Any:
        """Waits for the answer, and has this thread run the server meanwhile. Returns the answer, or `None`
        if the server itself gives it to the future. Raises `ServiceError` if the wait would never end."""
        raise NotImplementedError

    def _run_nested(self, timeout: float | None) -> None:
        """As `_run_server`, in a callback. Called by an executor that spins further up."""
        if self.done():
            return
        try:
            answer = self._run_server(timeout)
        except TimeoutError:
            return
        except ExternalShutdownException:
            raise
        except Exception as error:
            self.set_exception(error)
        else:
            if answer is not None:
                self.set_result(answer)

    def _wait(self, context: Context, timeout: float | None) -> Any:
        """Waits for the answer, and returns it. Raises `TimeoutError` after `timeout` seconds."""
        end = monotonic() + timeout if timeout is not None and timeout >= 0 else None
        if in_callback():
            self._run_nested(timeout)
        left = max(end - monotonic(), 0.0) if end is not None else None
        if not wait_until_done(self, context._handle, left):
            raise TimeoutError(f"there was no answer within {timeout:g} s")
        return self.result()


def log_exception(what: str, error: BaseException) -> None:
    """Logs an exception that no caller gets, with its traceback."""
    from traceback import format_exception

    from .logging import get_logger

    text = "".join(format_exception(error)).rstrip()
    get_logger("sinew").error(f"{what} raised an exception\n{text}")


def _running_loop() -> AbstractEventLoop | None:
    """Returns asyncio's loop of this thread, if asyncio is used at all."""
    asyncio = sys.modules.get("asyncio")
    loop: AbstractEventLoop | None = asyncio._get_running_loop() if asyncio is not None else None
    return loop


def _in_loop(future: Future, loop: AbstractEventLoop) -> LoopFuture[None]:
    """Returns a future of asyncio that is done when this one is."""
    waiting: LoopFuture[None] = loop.create_future()

    def settle() -> None:
        if not waiting.done():
            waiting.set_result(None)

    def done(_future: Future) -> None:
        try:
            loop.call_soon_threadsafe(settle)
        except RuntimeError:
            pass  # the loop was closed, so nothing waits

    def abandoned(waiting: LoopFuture[None]) -> None:
        if waiting.cancelled():
            future.remove_done_callback(done)
            future.cancel()

    waiting.add_done_callback(abandoned)
    future.add_done_callback(done)
    return waiting
