"""Callback groups: which callbacks may run at once."""

from __future__ import annotations

from . import _overrides, _sinew

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .node import Node


class CallbackGroup:
    """A group of callbacks. It belongs to the first node that uses it."""

    _reentrant = False

    def __init_subclass__(cls) -> None:
        _overrides.warn(cls, "can_execute", "beginning_execution", "ending_execution")

    def __init__(self, *, priority: int = 0) -> None:
        self._priority = priority
        self._is_paused = False
        self._made: _sinew.Group | None = None
        self._node: Node | None = None

    def _of(self, node: Node) -> _sinew.Group:
        if self._made is None:
            self._made = _sinew.Group(node._handle, self._reentrant, self._priority)
            self._node = node
            if self._is_paused:
                self._made.pause()
        elif self._node is not node:
            raise ValueError("a callback group belongs to one node, but this one is used in two")
        return self._made

    @property
    def priority(self) -> int:
        """Of the callbacks that are ready, those of a group of higher priority begin first. It may be changed."""
        return self._priority

    @priority.setter
    def priority(self, priority: int) -> None:
        if self._made is not None:
            self._made.set_priority(priority)
        self._priority = priority

    def pause(self) -> None:
        """No callback of the group begins until `resume`. Waits for one that runs on another thread."""
        self._is_paused = True
        if self._made is not None:
            self._made.pause()

    def resume(self) -> None:
        """Lets callbacks run again, for what comes from now on: what a subscription without transient local got
        meanwhile is dropped."""
        self._is_paused = False
        if self._made is not None:
            self._made.resume()


class MutuallyExclusiveCallbackGroup(CallbackGroup):
    """One callback of the group runs at a time."""


class ReentrantCallbackGroup(CallbackGroup):
    """Callbacks of the group may run at once, on several threads."""

    _reentrant = True
