"""The actions that a node sees."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..node import Node

    _Named = list[tuple[str, list[str]]]

_TOPIC, _TYPE = "/_action/feedback", "_FeedbackMessage"


def get_action_names_and_types(node: Node) -> _Named:
    """Returns the names and types of all actions."""
    return _actions(node.get_topic_names_and_types())


def get_action_server_names_and_types_by_node(
    node: Node, remote_node_name: str, remote_node_namespace: str
) -> _Named:
    """Returns the names and types of the actions that a node serves. Raises `NodeNameNonExistentError`."""
    return _actions(node.get_publisher_names_and_types_by_node(remote_node_name, remote_node_namespace))


def get_action_client_names_and_types_by_node(
    node: Node, remote_node_name: str, remote_node_namespace: str
) -> _Named:
    """Returns the names and types of the actions of which a node has clients. Raises
    `NodeNameNonExistentError`."""
    return _actions(node.get_subscriber_names_and_types_by_node(remote_node_name, remote_node_namespace))


def _actions(topics: Iterable[tuple[str, list[str]]]) -> _Named:
    """Returns the actions of which these are topics."""
    return [
        (topic.removesuffix(_TOPIC), [name.removesuffix(_TYPE) for name in types])
        for topic, types in topics
        if topic.endswith(_TOPIC)
    ]
