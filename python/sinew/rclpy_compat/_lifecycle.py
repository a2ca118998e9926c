"""Managed nodes with the arguments that rclpy's have."""

from .. import lifecycle
from ._node import RclpyNode


class LifecycleNode(RclpyNode, lifecycle.LifecycleNode):
    """A managed node with rclpy's arguments."""


Node = LifecycleNode
