"""Managed nodes: the state of a node decides what it has and does. The names are those of
`rclpy.lifecycle`.

    class Talker(LifecycleNode):
        def on_configure(self, state):
            self.publisher = self.create_lifecycle_publisher(String, "chatter", 10)
            return TransitionCallbackReturn.SUCCESS
"""

from __future__ import annotations

import enum
from collections import namedtuple

from . import _sinew, node
from .endpoints import Publisher as _Publisher

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .callback_groups import CallbackGroup
    from .events import PublisherEventCallbacks
    from .qos import QoSProfile

LifecycleState = namedtuple("LifecycleState", "label state_id")
LifecycleState.__doc__ = "A state: its name and number, as in `lifecycle_msgs/msg/State`."
State = LifecycleState


class TransitionCallbackReturn(enum.Enum):
    """What the callback of a transition returns."""

    SUCCESS = 97
    FAILURE = 98
    ERROR = 99


_STATES = {1: "unconfigured", 2: "inactive", 3: "active", 4: "finalized"}


class ManagedEntity:
    """A part of a node that takes part in its transitions: see `LifecycleNode.add_managed_entity`."""

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        return TransitionCallbackReturn.SUCCESS

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        return TransitionCallbackReturn.SUCCESS

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        return TransitionCallbackReturn.SUCCESS

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        return TransitionCallbackReturn.SUCCESS

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        return TransitionCallbackReturn.SUCCESS

    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        return TransitionCallbackReturn.SUCCESS


class SimpleManagedEntity(ManagedEntity):
    """An entity that knows whether its node is active."""

    def __init__(self) -> None:
        self._enabled = False

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        self._enabled = True
        return TransitionCallbackReturn.SUCCESS

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        self._enabled = False
        return TransitionCallbackReturn.SUCCESS

    @property
    def is_activated(self) -> bool:
        return self._enabled

    @staticmethod
    def when_enabled(wrapped: Any = None, *, when_not_enabled: Callable[[], object] | None = None) -> Any:
        """Decorates a method: while the node isn't active, it calls `when_not_enabled` instead, if there is
        one, and returns `None`."""

        def decorate(method: Any) -> Any:
            from functools import wraps

            @wraps(method)
            def guarded(self: SimpleManagedEntity, *arguments: Any, **named: Any) -> Any:
                if self._enabled:
                    return method(self, *arguments, **named)
                if when_not_enabled is not None:
                    when_not_enabled()
                return None

            return guarded

        return decorate if wrapped is None else decorate(wrapped)


class LifecyclePublisher(_Publisher):
    """A publisher that drops its messages, with a warning, while its node isn't active."""

    __slots__ = ()

    @property
    def is_activated(self) -> bool:
        """Whether messages are published now."""
        return self._is_open()


Publisher = LifecyclePublisher


class LifecycleNode(node.Node, ManagedEntity):
    """A managed node. It begins unconfigured; its transitions come by ROS 2's services, or by
    `trigger_configure` and so on. The callbacks `on_configure` .. of subclasses get the state in which the
    transition began, and return a `TransitionCallbackReturn`:

    - `SUCCESS`: the node enters the new state.
    - `FAILURE`: it returns to the former one.
    - `ERROR`, and an exception, which is logged: `on_error` decides. After `SUCCESS`, the default, the node
      is unconfigured, else it ends.

    `KeyboardInterrupt` and `SystemExit` leave the node in the former state, and are raised by the spin or
    the `trigger_..` that performs the transition.

    For requests of other programs, an executor runs the callbacks.
    """

    def __init__(
        self, node_name: str, *, enable_communication_interface: bool = True, **options: Any
    ) -> None:
        if not enable_communication_interface:
            raise ValueError("a managed node always has its services: leave out enable_communication_interface")
        super().__init__(node_name, **options)
        self._registered: dict[str, Callable[[LifecycleState], TransitionCallbackReturn]] = {}
        self._managed: list[ManagedEntity] = []
        self._lifecycle = _sinew.Lifecycle(self._handle, self._transition)

    @property
    def current_state(self) -> LifecycleState:
        """The current state; during a transition, that of the transition."""
        state_id, label = self._lifecycle.state
        return LifecycleState(label, state_id)

    def create_lifecycle_publisher(
        self,
        msg_type: Any,
        topic: str,
        qos_profile: QoSProfile | int = 10,
        *,
        callback_group: CallbackGroup | None = None,
        event_callbacks: PublisherEventCallbacks | None = None,
        qos_overriding_options: object = None,
    ) -> LifecyclePublisher:
        """Makes a publisher that works from the beginning of an activation to the end of a deactivation, and
        drops messages otherwise."""
        made = LifecyclePublisher(
            self._handle,
            msg_type,
            topic,
            qos_profile,
            group=self._group(callback_group),
            events=event_callbacks._callbacks if event_callbacks is not None else None,
            qos_overrides=qos_overriding_options is not None,
            lifecycle=self._lifecycle,
        )
        return self._keep(made)

    destroy_lifecycle_publisher = node.Node.destroy_publisher

    def add_managed_entity(self, entity: ManagedEntity) -> None:
        """Has the callbacks of an entity called by those of the node, in the order of these calls. The first
        that doesn't return `SUCCESS` ends a transition's callback, which returns the same."""
        if not isinstance(entity, ManagedEntity):
            raise TypeError(f"a managed entity is a sinew.lifecycle.ManagedEntity, not {entity!r}")
        if entity not in self._managed:
            self._managed.append(entity)

    def _of_entities(self, name: str, state: LifecycleState) -> TransitionCallbackReturn:
        for entity in self._managed:
            answer = getattr(entity, name)(state)
            if not isinstance(answer, TransitionCallbackReturn):
                raise TypeError(f"{name} of {entity!r} must return a TransitionCallbackReturn, but returned {answer!r}")
            if answer is not TransitionCallbackReturn.SUCCESS:
                return answer
        return TransitionCallbackReturn.SUCCESS

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Makes the node's resources. By default calls the managed entities, as all these callbacks do."""
        return self._of_entities("on_configure", state)

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Starts work. Lifecycle publishers work already."""
        return self._of_entities("on_activate", state)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stops work. Lifecycle publishers work until it returns."""
        return self._of_entities("on_deactivate", state)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Releases the node's resources."""
        return self._of_entities("on_cleanup", state)

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Ends the node, in whichever state it is."""
        return self._of_entities("on_shutdown", state)

    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Decides what is after an error: unconfigured if it returns `SUCCESS`, else the node ends."""
        return self._of_entities("on_error", state)

    def _transition(self, label: str, from_id: int) -> int:
        """Called by the library: runs the callback of a transition. Raises only what is no error."""
        callback = self._registered.get(label) or getattr(self, f"on_{label}")
        try:
            answer = callback(LifecycleState(_STATES[from_id], from_id))
            if not isinstance(answer, TransitionCallbackReturn):
                raise TypeError(f"on_{label} must return a TransitionCallbackReturn, but returned {answer!r}")
            return int(answer.value)
        except Exception:
            import traceback

            self.get_logger().error(f"on_{label} raised an exception\n{traceback.format_exc().rstrip()}")
            return TransitionCallbackReturn.ERROR.value

    def _trigger(self, label: str) -> TransitionCallbackReturn:
        return TransitionCallbackReturn(self._lifecycle.change(label))

    def trigger_configure(self) -> TransitionCallbackReturn:
        """Performs this transition on the calling thread, and returns what its callback returned: `ERROR` for
        an exception. Raises `SinewError` if it can't begin now."""
        return self._trigger("configure")

    def trigger_activate(self) -> TransitionCallbackReturn:
        """As `trigger_configure`."""
        return self._trigger("activate")

    def trigger_deactivate(self) -> TransitionCallbackReturn:
        """As `trigger_configure`."""
        return self._trigger("deactivate")

    def trigger_cleanup(self) -> TransitionCallbackReturn:
        """As `trigger_configure`."""
        return self._trigger("cleanup")

    def trigger_shutdown(self) -> TransitionCallbackReturn:
        """As `trigger_configure`."""
        return self._trigger("shutdown")

    def _register(self, label: str, callback: Callable[[LifecycleState], TransitionCallbackReturn]) -> bool:
        self._registered[label] = callback
        return True

    def register_on_configure(self, callback: Callable[[LifecycleState], TransitionCallbackReturn]) -> bool:
        """Has a function called instead of `on_configure`."""
        return self._register("configure", callback)

    def register_on_activate(self, callback: Callable[[LifecycleState], TransitionCallbackReturn]) -> bool:
        """Has a function called instead of `on_activate`."""
        return self._register("activate", callback)

    def register_on_deactivate(self, callback: Callable[[LifecycleState], TransitionCallbackReturn]) -> bool:
        """Has a function called instead of `on_deactivate`."""
        return self._register("deactivate", callback)

    def register_on_cleanup(self, callback: Callable[[LifecycleState], TransitionCallbackReturn]) -> bool:
        """Has a function called instead of `on_cleanup`."""
        return self._register("cleanup", callback)

    def register_on_shutdown(self, callback: Callable[[LifecycleState], TransitionCallbackReturn]) -> bool:
        """Has a function called instead of `on_shutdown`."""
        return self._register("shutdown", callback)

    def register_on_error(self, callback: Callable[[LifecycleState], TransitionCallbackReturn]) -> bool:
        """Has a function called instead of `on_error`."""
        return self._register("error", callback)

    def destroy_node(self) -> None:
        """As `Node.destroy_node`, without a transition."""
        self._lifecycle.destroy()
        super().destroy_node()


Node = LifecycleNode
