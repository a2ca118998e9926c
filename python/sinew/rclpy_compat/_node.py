"""Nodes with the arguments that rclpy's have."""

from __future__ import annotations

from .. import _sinew, node, qos
from .._task import end_wait
from ..endpoints import Client, Publisher as Publisher, Service as Service, Subscription as Subscription
from ..parameter import (
    Parameter as Parameter,
    ParameterDescriptor as ParameterDescriptor,
    SetParametersResult as SetParametersResult,
)

from ._names import expand_topic_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..callback_groups import CallbackGroup
    from ..clock import Duration
    from ..future import Future


HIDDEN_NODE_PREFIX = "_"


class Node(node.Node):
    """A node with rclpy's arguments."""

    def __init__(self, node_name: str, *, rosout_qos_profile: object = None, **options: Any) -> None:
        super().__init__(node_name, **options)
        if rosout_qos_profile is not None:
            self._lacks("another QoS for /rosout")

    def _lacks(self, what: str) -> None:
        self.get_logger().warning(f"sinew.rclpy_compat lacks {what}: the setting has no effect")

    def _check_services_qos(self, profile: object) -> None:
        if profile is not None and profile != qos.qos_profile_services_default:
            self._lacks("another QoS for services")

    def create_publisher(  # type: ignore[override]  # rclpy has no default QoS
        self,
        msg_type: Any,
        topic: str,
        qos_profile: qos.QoSProfile | int,
        *,
        publisher_class: object = None,
        **options: Any,
    ) -> Publisher:
        if publisher_class is not None:
            raise NotImplementedError("sinew.rclpy_compat makes no publishers of other classes")
        return super().create_publisher(msg_type, topic, qos_profile, **options)

    def create_subscription(  # type: ignore[override]  # as above
        self,
        msg_type: Any,
        topic: str,
        callback: Callable[..., object] | None,
        qos_profile: qos.QoSProfile | int,
        *,
        content_filter_options: object = None,
        **options: Any,
    ) -> Subscription:
        if content_filter_options is not None:
            raise NotImplementedError("sinew.rclpy_compat has no content filters: filter in the callback")
        return super().create_subscription(msg_type, topic, callback, qos_profile, **options)

    def create_client(
        self,
        srv_type: Any,
        srv_name: str,
        *,
        qos_profile: object = None,
        callback_group: CallbackGroup | None = None,
    ) -> RclpyClient:
        self._check_services_qos(qos_profile)
        group = self._group(callback_group)
        client = RclpyClient(self._handle, srv_type, srv_name, group=group)
        client._post = _sinew.post_of(self._handle, group)
        return self._keep(client)

    def create_service(  # type: ignore[override]  # without Sinew's options
        self,
        srv_type: Any,
        srv_name: str,
        callback: Callable[..., object],
        *,
        qos_profile: object = None,
        callback_group: CallbackGroup | None = None,
    ) -> Service:
        self._check_services_qos(qos_profile)
        return super().create_service(srv_type, srv_name, callback, callback_group=callback_group)

    def resolve_topic_name(self, topic: str, *, only_expand: bool = False) -> str:
        """Returns the full name of a topic, after renaming unless `only_expand`."""
        return self._expanded(topic) if only_expand else super().resolve_topic_name(topic)

    def resolve_service_name(self, service: str, *, only_expand: bool = False) -> str:
        """Returns the full name of a service, after renaming unless `only_expand`."""
        return self._expanded(service) if only_expand else super().resolve_service_name(service)

    def _expanded(self, name: str) -> str:
        return expand_topic_name(name, self.get_name(), self.get_namespace())

    def _without_value(self, name: str) -> ParameterDescriptor:
        import warnings

        warnings.warn(
            f"parameter {name!r} is declared by its name alone, so it has a dynamic type: give a value or a type",
            stacklevel=5,  # that of the program's call
        )
        return ParameterDescriptor(dynamic_typing=True)

    def list_parameters(  # type: ignore[override]  # rclpy's returns a message
        self, prefixes: list[str], depth: int
    ) -> Any:
        """Returns a `rcl_interfaces/msg/ListParametersResult`."""
        from ..interfaces.rcl_interfaces.msg import ListParametersResult

        names = super().list_parameters(prefixes, depth)
        found = {name.rpartition(".")[0] for name in names} - {""}
        return ListParametersResult(names=names, prefixes=sorted(found))

    def add_waitable(self, waitable: object) -> None:
        raise NotImplementedError("sinew.rclpy_compat has no waitables: use a guard condition")


class RclpyClient(Client):
    """A client as rclpy's: its futures end a wait of `spin_once`, since a response is work of the executor
    there."""

    __slots__ = ("_post",)
    _post: _sinew.Post

    def call(self, request: _sinew.Message, timeout_sec: float | Duration | None = None) -> Any:
        """As `Client.call`, but returns `None` once the time is over."""
        try:
            return super().call(request, timeout_sec)
        except TimeoutError:
            return None

    def call_async(self, request: _sinew.Message) -> Future:
        future = super().call_async(request)
        future.add_done_callback(lambda _: end_wait(self._post))
        return future
