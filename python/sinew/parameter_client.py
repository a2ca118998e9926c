"""Clients of the parameters of other nodes."""

from __future__ import annotations

from .clock import _seconds
from .parameter import Parameter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from .callback_groups import CallbackGroup
    from .endpoints import Client
    from .future import Future
    from .node import Node

    _Done = Callable[[Future], object]

_SERVICES = {
    "get_parameters": "GetParameters",
    "get_parameter_types": "GetParameterTypes",
    "set_parameters": "SetParameters",
    "set_parameters_atomically": "SetParametersAtomically",
    "describe_parameters": "DescribeParameters",
    "list_parameters": "ListParameters",
}


class AsyncParameterClient:
    """Reads and sets the parameters of another node. Each call returns a future of the service's response,
    and calls `callback` with the future if there is one."""

    def __init__(
        self, node: Node, remote_node_name: str, *, callback_group: CallbackGroup | None = None
    ) -> None:
        from . import interfaces

        self.node, self.remote_node_name = node, remote_node_name
        self._clients: dict[str, tuple[Client, Any]] = {}
        for name, kind in _SERVICES.items():
            service = interfaces.find(f"rcl_interfaces/srv/{kind}")
            client = node.create_client(service, f"{remote_node_name}/{name}", callback_group=callback_group)
            self._clients[name] = (client, service)

    def services_are_ready(self) -> bool:
        """Returns whether all services of the node are there."""
        return all(client.service_is_ready() for client, _ in self._clients.values())

    def wait_for_services(self, timeout_sec: float | None = None) -> bool:
        """Waits for all services of the node, for at most a time each. Returns whether they are there."""
        limit = _seconds(timeout_sec)
        return all(client.wait_for_service(limit) for client, _ in self._clients.values())

    def get_parameters(self, names: list[str], callback: _Done | None = None) -> Future:
        """Asks for the values of parameters."""
        return self._call("get_parameters", callback, names=list(names))

    def get_parameter_types(self, names: list[str], callback: _Done | None = None) -> Future:
        """Asks for the types of parameters."""
        return self._call("get_parameter_types", callback, names=list(names))

    def set_parameters(self, parameters: Iterable[Any], callback: _Done | None = None) -> Future:
        """Sets parameters one by one: those of `Parameter`, or messages."""
        return self._call("set_parameters", callback, parameters=_messages(parameters))

    def set_parameters_atomically(self, parameters: Iterable[Any], callback: _Done | None = None) -> Future:
        """Sets all parameters or none."""
        return self._call("set_parameters_atomically", callback, parameters=_messages(parameters))

    def delete_parameters(self, names: list[str], callback: _Done | None = None) -> Future:
        """Removes parameters: those with a dynamic type."""
        return self.set_parameters([Parameter(name) for name in names], callback)

    def describe_parameters(self, names: list[str], callback: _Done | None = None) -> Future:
        """Asks for the descriptors of parameters."""
        return self._call("describe_parameters", callback, names=list(names))

    def list_parameters(
        self, prefixes: list[str] | None = None, depth: int | None = None, callback: _Done | None = None
    ) -> Future:
        """Asks for the names of parameters below prefixes, with fewer than `depth` dots after the prefix; a depth
        of 0 or `None` is any."""
        return self._call("list_parameters", callback, prefixes=list(prefixes or []), depth=depth or 0)

    def _call(self, name: str, callback: _Done | None, **fields: object) -> Future:
        client, service = self._clients[name]
        future = client.call_async(service.Request(**fields))
        if callback is not None:
            future.add_done_callback(callback)
        return future


def _messages(parameters: Iterable[Any]) -> list[Any]:
    return [one.to_parameter_msg() if isinstance(one, Parameter) else one for one in parameters]
