"""The functions of tf2_geometry_msgs."""

from __future__ import annotations

from ..tf import do_transform

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def _stamped(name: str, message: Any, transform: Any) -> Any:
    """Transforms the part of a stamped message."""
    from ..interfaces import find

    field = {"PoseStamped": "pose", "PoseWithCovarianceStamped": "pose", "PointStamped": "point"}[name]
    whole = find(f"geometry_msgs/msg/{name}")(**{field: message})
    return getattr(do_transform(whole, transform), field)


do_transform_point = do_transform
do_transform_vector3 = do_transform
do_transform_pose_stamped = do_transform
do_transform_pose_with_covariance_stamped = do_transform


def do_transform_pose(pose: Any, transform: Any) -> Any:
    """Transforms a `geometry_msgs/msg/Pose`."""
    return _stamped("PoseStamped", pose, transform)
