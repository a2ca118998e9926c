"""Managed nodes with the arguments that rclpy's have."""

from .. import lifecycle
from . import _node


class LifecycleNode(_node.Node, lifecycle.LifecycleNode):
    """A managed node with rclpy's arguments."""


Node = LifecycleNode
