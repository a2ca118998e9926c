"""Executors: threads that run callbacks."""

from __future__ import annotations

from . import _overrides, _sinew
from ._sinew import ExternalShutdownException as ExternalShutdownException
from .clock import _seconds
from .context import default_context
from .future import Future

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Self, TypeVar

    from .callback_groups import CallbackGroup
    from .clock import Duration
    from .context import Context
    from .node import Node

    T = TypeVar("T")


class Executor:
    """Runs the callbacks of the nodes that were added to it. The single-threaded one is the fastest: it
    waits without the GIL, and takes it once for all callbacks that are ready.

    `on_error="continue"` logs exceptions of callbacks with their traceback, and goes on; by default a
    spin raises them. A spin ends with the contexts of the nodes, and with `context`, if one is given.
    """

    _threads = 1

    def __init_subclass__(cls) -> None:
        _overrides.warn(cls, "spin_once", "can_execute")

    def __init__(self, *, context: Context | None = None, on_error: str = "raise") -> None:
        if on_error not in ("raise", "continue"):
            raise ValueError(f"on_error is 'raise' or 'continue', not {on_error!r}")
        self._stops = on_error == "raise"
        self._own_context = context
        self._nodes: list[Node] = []
        self._steps: list[Callable[[], object]] = []  # of tasks that wait for a node
        self._stopping: list[Callable[[], object]] = []  # of loops of asyncio that a stop wakes
        self._context = context  # of the last node
        self._made = self._make()

    def _make(self) -> _sinew.Executor:
        made = _sinew.Executor(self._threads, stop_on_error=self._stops)
        if self._own_context is not None:
            made.watch(self._own_context._handle)
        return made

    @property
    def context(self) -> Context:
        """The context that was given, else that of the last node, or the default one."""
        return self._own_context or self._context or default_context()

    def add_node(self, node: Node) -> bool:
        """Adds a node. Returns false if it was added before."""
        if node in self._nodes:
            return False
        if not self._nodes and self._context is not None and not self._context.ok():
            # One of the library ends with a context that it served.
            self._made = self._make()
        self._made.add_node(node._handle)
        self._context = node.context
        self._nodes.append(node)
        node._executor = self
        steps, self._steps = self._steps, []
        for step in steps:
            self._post(step)
        return True

    def remove_node(self, node: Node) -> None:
        """Removes a node: its messages wait for another executor."""
        if node in self._nodes:
            self._nodes.remove(node)
            node._executor = None
            self._made.remove_node(node._handle)

    def add_callback_group(self, group: CallbackGroup, node: Node) -> None:
        """Adds one callback group of a node: the callbacks of other groups are for other executors, and the node is
        not added. Raises an error if an executor has the group."""
        self._made.add_group(group._of(node), node._handle)
        self._context = node.context

    def get_nodes(self) -> list[Node]:
        return list(self._nodes)

    def spin(self) -> None:
        """Runs callbacks until `stop`, or until one of them shuts the context down. Raises
        `ExternalShutdownException` if it is shut down from elsewhere, `KeyboardInterrupt` at Ctrl-C, and
        exceptions of callbacks."""
        self._made.spin()

    def spin_once(self, timeout_sec: float | Duration | None = None) -> bool:
        """Runs one callback, and waits for one for at most a time. Returns whether one ran."""
        return self._made.spin_once(_seconds(timeout_sec))

    def spin_some(self) -> int:
        """Runs the callbacks that are ready now, without waiting. Returns their number."""
        return self._made.spin_some()

    def advance(self, duration: float | Duration) -> int:
        """Moves the virtual time of its context, from one timer to the next, and at each time runs callbacks until
        none is ready. Returns their number. Raises an error if the context was not begun with a `VirtualClock`."""
        from .virtual_clock import _forward

        return self._made.advance(_forward(duration))

    def spin_until_future_complete(self, future: Future, timeout_sec: float | Duration | None = None) -> bool:
        """Runs callbacks until a future is done, for at most a time. Returns whether it is.

        In a callback, and while another thread spins the executor, it waits: others run callbacks
        then. A call of a service that this executor serves is run here."""
        return self._made.spin_until_done(future, _seconds(timeout_sec))

    def spin_once_until_future_complete(self, future: Future, timeout_sec: float | Duration | None = None) -> bool:
        """Runs one callback, and waits for one for at most a time, unless a future is done before. Returns
        whether it is done."""
        return self._made.spin_until_done(future, _seconds(timeout_sec), True)

    def create_task(self, callback: Any, *arguments: Any) -> Future:
        """Runs a coroutine, or a function once, and returns its future. It begins once the executor has a
        node, whose default callback group runs it."""
        from ._task import Task

        async def call() -> Any:
            result = callback(*arguments)
            return await result if hasattr(result, "cr_await") else result

        coroutine = callback if hasattr(callback, "cr_await") else call()
        task = Task(coroutine, self._post)
        task.go_on()
        return task

    def create_future(self) -> Future:
        """Returns a new future."""
        return Future()

    def _post(self, step: Callable[[], object]) -> None:
        """Has a step of a task run."""
        if self._nodes:
            _sinew.post_of(self._nodes[0]._handle)(step)
        else:
            self._steps.append(step)

    @property
    def is_spinning(self) -> bool:
        """Whether a thread spins it now."""
        return self._made.is_spinning()

    def stop(self) -> None:
        """Ends the current spin, or the next one. Any thread may call it."""
        self._made.stop()
        for look in list(self._stopping):
            look()

    def wake(self) -> None:
        """For programs of rclpy: an executor of Sinew wakes by itself."""

    def shutdown(self, timeout_sec: float | Duration | None = None) -> bool:
        """Stops, waits until no thread spins for at most a time, and removes all nodes. Returns false if a
        thread still spins. In a callback it waits for nothing."""
        self.stop()
        if not self._made.wait_until_idle(_seconds(timeout_sec)):
            return False
        for node in self.get_nodes():
            self.remove_node(node)
        return True

    def fileno(self) -> int:
        """Returns the descriptor for another event loop: it is readable when `spin_some` has work."""
        return self._made.fileno()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.shutdown()


class SingleThreadedExecutor(Executor):
    """An executor that runs callbacks on the thread that spins."""


class MultiThreadedExecutor(Executor):
    """An executor with several threads: by default one for each core. With the GIL, callbacks run at
    once only as far as they wait or compute outside Python."""

    def __init__(self, num_threads: int | None = None, *, context: Context | None = None, on_error: str = "raise") -> None:
        if num_threads is not None and num_threads < 1:
            raise ValueError(f"an executor has at least one thread, not {num_threads}")
        self._threads = num_threads or 0
        super().__init__(context=context, on_error=on_error)


_global: Executor | None = None


def get_global_executor() -> Executor:
    """Returns the executor of `spin`, `spin_once` and `spin_until_future_complete`."""
    global _global
    if _global is None:
        _global = SingleThreadedExecutor()
    return _global


def _with_node(node: Node, executor: Executor | None, run: Callable[[Executor], T]) -> T:
    """Runs an executor, by default the global one, that serves the node meanwhile."""
    executor = executor if executor is not None else get_global_executor()
    added = executor.add_node(node)
    try:
        return run(executor)
    finally:
        if added:
            executor.remove_node(node)


def spin(node: Node, executor: Executor | None = None) -> None:
    """Runs the callbacks of a node: see `Executor.spin`."""
    _with_node(node, executor, lambda one: one.spin())


def spin_once(node: Node, *, executor: Executor | None = None, timeout_sec: float | Duration | None = None) -> bool:
    """Runs one callback of a node: see `Executor.spin_once`."""
    return _with_node(node, executor, lambda one: one.spin_once(timeout_sec))


def spin_some(node: Node, *, executor: Executor | None = None) -> int:
    """Runs the ready callbacks of a node: see `Executor.spin_some`."""
    return _with_node(node, executor, lambda one: one.spin_some())


def spin_until_future_complete(
    node: Node, future: Future, executor: Executor | None = None, timeout_sec: float | Duration | None = None
) -> bool:
    """Runs callbacks of a node until a future is done: see `Executor.spin_until_future_complete`."""
    executor = executor if executor is not None else node._executor
    return _with_node(node, executor, lambda one: one.spin_until_future_complete(future, timeout_sec))
