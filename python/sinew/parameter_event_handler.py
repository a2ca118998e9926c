"""Callbacks when parameters of any node change: by the topic `/parameter_events`."""

from __future__ import annotations

from _thread import allocate_lock

from ._entity import Entity, callable_for
from .qos import QoSProfile, qos_profile_parameter_events

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from .callback_groups import CallbackGroup
    from .events import SubscriptionEventCallbacks
    from .node import Node


class ParameterCallbackHandle:
    """A callback for one parameter of one node."""

    def __init__(self, parameter_name: str, node_name: str, callback: Callable[[Any], object]) -> None:
        callable_for("parameter", callback)
        self.parameter_name, self.node_name, self.callback = parameter_name, node_name, callback


class ParameterEventCallbackHandle:
    """A callback for all events."""

    def __init__(self, callback: Callable[[Any], object]) -> None:
        callable_for("parameter event", callback)
        self.callback = callback


class ParameterEventHandler(Entity):
    """Calls functions when parameters of any node are declared or set. An executor must run the callbacks of
    `node`; of callbacks of a kind, the last that was added is called first."""

    def __init__(
        self,
        node: Node,
        qos_profile: QoSProfile | int = qos_profile_parameter_events,
        callback_group: CallbackGroup | None = None,
        event_callbacks: SubscriptionEventCallbacks | None = None,
        qos_overriding_options: object = None,
    ) -> None:
        from .interfaces.rcl_interfaces.msg import ParameterEvent

        self.node, self.qos_profile = node, qos_profile
        self._lock = allocate_lock()  # for changes of these; callbacks run without it
        self._of_parameters: tuple[ParameterCallbackHandle, ...] = ()
        self._of_events: tuple[ParameterEventCallbackHandle, ...] = ()
        self.parameter_event_subscription = node.create_subscription(
            ParameterEvent,
            "/parameter_events",
            self._happened,
            qos_profile,
            callback_group=callback_group,
            event_callbacks=event_callbacks,
            qos_overriding_options=qos_overriding_options,
        )

    def _happened(self, event: Any) -> None:
        for of_parameter in self._of_parameters:
            parameter = self.get_parameter_from_event(event, of_parameter.parameter_name, of_parameter.node_name)
            if parameter is not None:
                of_parameter.callback(parameter)
        for of_event in self._of_events:
            of_event.callback(event)

    @staticmethod
    def get_parameter_from_event(event: Any, parameter_name: str, node_name: str) -> Any:
        """Returns a parameter of a node, as `rcl_interfaces/msg/Parameter`; `None` if the event is not about
        it. `node_name` is the full name."""
        if event.node == node_name:
            for parameter in ParameterEventHandler.get_parameters_from_event(event):
                if parameter.name == parameter_name:
                    return parameter
        return None

    @staticmethod
    def get_parameters_from_event(event: Any) -> Iterator[Any]:
        """Yields the parameters that were declared or set, as `rcl_interfaces/msg/Parameter`."""
        yield from event.new_parameters
        yield from event.changed_parameters

    def add_parameter_callback(
        self, parameter_name: str, node_name: str | None, callback: Callable[[Any], object]
    ) -> ParameterCallbackHandle:
        """Adds a function that gets the `rcl_interfaces/msg/Parameter`. A `node_name` without a slash at its
        beginning is in the namespace of `node`; an empty one is `node` itself."""
        node = self.node
        if not node_name:
            node_name = node.get_fully_qualified_name()
        elif not node_name.startswith("/"):
            node_name = f"{node.get_namespace().rstrip('/')}/{node_name}"
        handle = ParameterCallbackHandle(parameter_name, node_name, callback)
        with self._lock:
            self._of_parameters = (handle, *self._of_parameters)
        return handle

    def remove_parameter_callback(self, handle: ParameterCallbackHandle) -> None:
        """Removes a callback. Raises `RuntimeError` if it is not there."""
        with self._lock:
            if handle not in self._of_parameters:
                raise RuntimeError("this callback for a parameter was not added, or is removed already")
            self._of_parameters = tuple(one for one in self._of_parameters if one is not handle)

    def add_parameter_event_callback(self, callback: Callable[[Any], object]) -> ParameterEventCallbackHandle:
        """Adds a function that gets each `rcl_interfaces/msg/ParameterEvent`."""
        handle = ParameterEventCallbackHandle(callback)
        with self._lock:
            self._of_events = (handle, *self._of_events)
        return handle

    def remove_parameter_event_callback(self, handle: ParameterEventCallbackHandle) -> None:
        """Removes a callback. Raises `RuntimeError` if it is not there."""
        with self._lock:
            if handle not in self._of_events:
                raise RuntimeError("this callback for events was not added, or is removed already")
            self._of_events = tuple(one for one in self._of_events if one is not handle)

    def destroy(self) -> None:
        """Ends all callbacks."""
        self.node.destroy_subscription(self.parameter_event_subscription)
