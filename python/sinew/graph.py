"""The graph as a node sees it, as a part of `Node`."""

from __future__ import annotations

import enum
from collections import namedtuple

from . import _sinew
from .clock import _seconds
from .qos import QoSProfile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._sinew import Message

    _Named = list[tuple[str, list[str]]]


class TopicEndpointTypeEnum(enum.IntEnum):
    """Kinds of endpoints of a topic."""

    INVALID = 0
    PUBLISHER = 1
    SUBSCRIPTION = 2


TopicEndpointInfo = namedtuple(
    "TopicEndpointInfo",
    "node_name node_namespace topic_type topic_type_hash endpoint_type endpoint_gid qos_profile",
)
TopicEndpointInfo.__doc__ = "A publisher or subscription of a topic."


class NodeNameNonExistentError(_sinew.SinewError):
    """There is no node of that name."""


class Graph:
    """The nodes, topics and services that a node sees, its own among them."""

    _handle: _sinew.Node

    def get_topic_names_and_types(self) -> list[tuple[str, list[str]]]:
        return _sinew.topics(self._handle)

    def get_service_names_and_types(self) -> list[tuple[str, list[str]]]:
        return _sinew.services(self._handle)

    def get_node_names(self) -> list[str]:
        return [name for name, _ in self.get_node_names_and_namespaces()]

    def get_node_names_and_namespaces(self) -> list[tuple[str, str]]:
        return [_split(full_name) for full_name in _sinew.nodes(self._handle)]

    def get_fully_qualified_node_names(self) -> list[str]:
        return _sinew.nodes(self._handle)

    def get_node_names_and_namespaces_with_enclaves(self) -> list[tuple[str, str, str]]:
        """As `get_node_names_and_namespaces`, with the enclave of SROS 2, which is `/` for all."""
        return [(*one, "/") for one in self.get_node_names_and_namespaces()]

    def _of_node(self, name: str, namespace: str, kind: str) -> _Named:
        """Returns names and types of a node's entities. Raises `NodeNameNonExistentError` if there is none."""
        full_name = _join(namespace, name)
        found = _sinew.of_node(self._handle, full_name, kind)
        if not found and full_name not in _sinew.nodes(self._handle):
            raise NodeNameNonExistentError(f"there is no node {full_name}")
        return found

    def get_publisher_names_and_types_by_node(self, node_name: str, node_namespace: str) -> _Named:
        return self._of_node(node_name, node_namespace, "publishers")

    def get_subscriber_names_and_types_by_node(self, node_name: str, node_namespace: str) -> _Named:
        return self._of_node(node_name, node_namespace, "subscriptions")

    def get_service_names_and_types_by_node(self, node_name: str, node_namespace: str) -> _Named:
        return self._of_node(node_name, node_namespace, "servers")

    def get_client_names_and_types_by_node(self, node_name: str, node_namespace: str) -> _Named:
        return self._of_node(node_name, node_namespace, "clients")

    def count_publishers(self, topic_name: str) -> int:
        return _sinew.count(self._handle, "publishers", topic_name)

    def count_subscribers(self, topic_name: str) -> int:
        return _sinew.count(self._handle, "subscriptions", topic_name)

    def count_services(self, service_name: str) -> int:
        return _sinew.count(self._handle, "servers", service_name)

    def count_clients(self, service_name: str) -> int:
        return _sinew.count(self._handle, "clients", service_name)

    def get_publishers_info_by_topic(self, topic_name: str) -> list[TopicEndpointInfo]:
        return [_info(one) for one in _sinew.endpoints(self._handle, "publishers", topic_name)]

    def get_subscriptions_info_by_topic(self, topic_name: str) -> list[TopicEndpointInfo]:
        return [_info(one) for one in _sinew.endpoints(self._handle, "subscriptions", topic_name)]

    def get_message_class(self, topic_name: str) -> type[Message] | None:
        """Returns the class of a topic's messages, also of a type that no file here defines; `None` if there
        is no such topic, or nothing in it describes its type."""
        return _sinew.class_of_topic(self._handle, topic_name)

    def resolve_topic_name(self, topic: str) -> str:
        """Returns the full name of a topic as this node uses it, after renaming."""
        return _sinew.resolve_topic(self._handle, topic)

    def resolve_service_name(self, service: str) -> str:
        """Returns the full name of a service as this node uses it, after renaming."""
        return _sinew.resolve_service(self._handle, service)

    def wait_for_node(self, fully_qualified_node_name: str, timeout: float | None = None) -> bool:
        """Waits for a node, for at most a time. Returns whether it is there."""
        name = fully_qualified_node_name
        return _sinew.wait_for_node(self._handle, name if name[:1] == "/" else f"/{name}", _seconds(timeout))


def _split(full_name: str) -> tuple[str, str]:
    namespace, _, name = full_name.rpartition("/")
    return name, namespace or "/"


def _join(namespace: str, name: str) -> str:
    return f"{'' if namespace == '/' else namespace}/{name}"


def _info(parts: Any) -> TopicEndpointInfo:
    node, type_name, type_hash, gid, qos, kind = parts
    name, namespace = _split(node)
    kind = TopicEndpointTypeEnum(kind)
    return TopicEndpointInfo(name, namespace, type_name, type_hash, kind, gid, QoSProfile._of(qos))
