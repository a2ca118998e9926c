"""The functions of tf2_geometry_msgs, and names of tf2_ros that Sinew's tf lacks."""

from __future__ import annotations

from ..tf import Buffer, do_transform

BufferInterface = Buffer
TypeException = TypeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def _stamped(name: str, message: Any, transform: Any) -> Any:
    """Transforms the part of a stamped message."""
    from ..interfaces import find

    field = {"PoseStamped": "pose", "PoseWithCovarianceStamped": "pose", "PointStamped": "point"}[name]
    whole = find(f"geometry_msgs/msg/{name}")(**{field: message})
    return getattr(do_transform(whole, transform), field)


do_transform_point = do_transform_wrench = do_transform
do_transform_vector3 = do_transform
do_transform_pose_stamped = do_transform
do_transform_pose_with_covariance_stamped = do_transform


def do_transform_pose(pose: Any, transform: Any) -> Any:
    """Transforms a `geometry_msgs/msg/Pose`."""
    return _stamped("PoseStamped", pose, transform)
