"""tf2: the poses of frames in each other. The names are those of `tf2_ros`.

    buffer = Buffer()
    listener = TransformListener(buffer, node)
    transform = buffer.lookup_transform("map", "base_link", Time(), timeout=Duration(seconds=1))
"""

from __future__ import annotations

from . import _sinew
from ._entity import Entity
from ._sinew import (
    ConnectivityException as ConnectivityException,
    ExtrapolationException as ExtrapolationException,
    InvalidArgumentException as InvalidArgumentException,
    LookupException as LookupException,
    TransformException as TransformException,
)
from .clock import Duration, Time, _seconds
from .context import default_context
from .future import Future
from .serialization import deserialize_message, serialize_message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from .node import Node

    _M = TypeVar("_M", bound=_sinew.Message)

__all__ = [
    "Buffer",
    "ConnectivityException",
    "ExtrapolationException",
    "InvalidArgumentException",
    "LookupException",
    "StaticTransformBroadcaster",
    "TransformBroadcaster",
    "TransformException",
    "TransformListener",
    "do_transform",
]


def _nanoseconds(time: Any) -> int:
    """Returns a time in nanoseconds: of a `Time`, or of a message."""
    if isinstance(time, Time):
        return time.nanoseconds
    if not hasattr(time, "nanosec"):
        raise TypeError(f"a time is a sinew.Time, or a builtin_interfaces/msg/Time, not {time!r}")
    return Time.from_msg(time).nanoseconds


def _stamped(message: Any) -> bytes:
    """Returns the encoded form of a `TransformStamped`."""
    described = getattr(type(message), "_class", None)
    if described is None or described.name != "geometry_msgs/msg/TransformStamped":
        raise TypeError(f"a transform is a geometry_msgs/msg/TransformStamped, not {message!r}")
    return serialize_message(message)


def _message(encoded: bytes) -> Any:
    from .interfaces.geometry_msgs.msg import TransformStamped

    return deserialize_message(encoded, TransformStamped)


def do_transform(message: _M, transform: Any) -> _M:
    """Returns a message with a header in the frame to which a `TransformStamped` leads: a `PointStamped`,
    `PolygonStamped`, `PoseArray`, `PoseStamped`, `PoseWithCovarianceStamped`, `QuaternionStamped`,
    `TwistStamped`, `Vector3Stamped` or `WrenchStamped` of `geometry_msgs`. Raises `TypeError` for others."""
    kind = type(message)
    if not isinstance(message, _sinew.Message):
        raise TypeError(f"a message of geometry_msgs can be transformed, not {message!r}")
    changed = _sinew.transform_stamped(kind._class.name, serialize_message(message), _stamped(transform))
    return deserialize_message(changed, kind)


class Buffer:
    """Frames, and their transforms over the last `cache_time`, by default 10 s. Any thread may use it.

    A `timeout` is for how long a call waits. It needs no executor, so callbacks may wait. The time 0,
    as of `Time()`, is the latest. Exceptions are `LookupException` for a frame that is unknown,
    `ConnectivityException` for frames in two trees, `ExtrapolationException` for a time that is not covered.
    """

    def __init__(self, cache_time: Duration | None = None, node: Node | None = None) -> None:
        if cache_time is not None and (not isinstance(cache_time, Duration) or cache_time.nanoseconds <= 0):
            raise ValueError(f"the time that a buffer keeps transforms is a positive Duration, not {cache_time!r}")
        self._handle = _sinew.TfBuffer(_seconds(cache_time))
        self._node = node

    def _context(self) -> _sinew.Context | None:
        """Returns the context with which waits end: that of its node or listener, else the default one."""
        return self._node.context._made if self._node is not None else default_context()._made

    def lookup_transform(
        self, target_frame: str, source_frame: str, time: Any, timeout: Duration | float = 0.0
    ) -> Any:
        """Returns the transform from coordinates in the frame `source_frame` to those in `target_frame`,
        which is the pose of the former in the latter: a `TransformStamped`."""
        frames = (target_frame, source_frame)
        found = self._handle.lookup(frames, _nanoseconds(time), _seconds(timeout) or 0.0, self._context())
        return _message(found)

    def lookup_transform_full(
        self,
        target_frame: str,
        target_time: Any,
        source_frame: str,
        source_time: Any,
        fixed_frame: str,
        timeout: Duration | float = 0.0,
    ) -> Any:
        """As `lookup_transform`, from one time to another, with a frame that rests meanwhile."""
        found = self._handle.lookup_over_time(
            target_frame,
            _nanoseconds(target_time),
            source_frame,
            _nanoseconds(source_time),
            fixed_frame,
            _seconds(timeout) or 0.0,
            self._context(),
        )
        return _message(found)

    def can_transform(
        self,
        target_frame: str,
        source_frame: str,
        time: Any,
        timeout: Duration | float = 0.0,
        return_debug_tuple: bool = False,
    ) -> Any:
        """Returns whether `lookup_transform` would succeed; with `return_debug_tuple` also why not."""
        return _succeeds(return_debug_tuple, self.lookup_transform, target_frame, source_frame, time, timeout)

    def can_transform_full(
        self,
        target_frame: str,
        target_time: Any,
        source_frame: str,
        source_time: Any,
        fixed_frame: str,
        timeout: Duration | float = 0.0,
        return_debug_tuple: bool = False,
    ) -> Any:
        """Returns whether `lookup_transform_full` would succeed."""
        arguments = (target_frame, target_time, source_frame, source_time, fixed_frame, timeout)
        return _succeeds(return_debug_tuple, self.lookup_transform_full, *arguments)

    def wait_for_transform_async(self, target_frame: str, source_frame: str, time: Any) -> Future:
        """Returns a future that is true once there is a transform. No executor is needed. Its exception says
        that there can't be one any more, or that the context is shut down."""
        return _Waiting(self, target_frame, source_frame, _nanoseconds(time))

    async def lookup_transform_async(self, target_frame: str, source_frame: str, time: Any) -> Any:
        """Waits for a transform, and returns it."""
        await self.wait_for_transform_async(target_frame, source_frame, time)
        return self.lookup_transform(target_frame, source_frame, time)

    def transform(self, object_stamped: Any, target_frame: str, timeout: Duration | float = 0.0) -> Any:
        """Returns a message in another frame, transformed at its own stamp: see `do_transform`."""
        header = object_stamped.header
        found = self.lookup_transform(target_frame, header.frame_id, header.stamp, timeout)
        return do_transform(object_stamped, found)

    def set_transform(self, transform: Any, authority: str) -> None:
        """Adds a transform. `authority` names its source, for diagnostics."""
        self._handle.insert(_stamped(transform), authority, False)

    def set_transform_static(self, transform: Any, authority: str) -> None:
        """Adds a transform for all times."""
        self._handle.insert(_stamped(transform), authority, True)

    def clear(self) -> None:
        """Forgets all transforms but the static ones."""
        self._handle.clear()

    def get_frame_strings(self) -> list[str]:
        """Returns the names of all frames."""
        return [frame[0] for frame in self._handle.frames()]

    def all_frames_as_string(self) -> str:
        """Returns a line for each frame that has a parent."""
        frames = self._handle.frames()
        return "".join(f"Frame {name} exists with parent {parent}.\n" for name, parent, *_ in frames if parent)

    def all_frames_as_yaml(self) -> str:
        """Returns the frames that have a parent, with their times, as YAML."""
        text = ""
        for name, parent, is_static, times, count, authority in self._handle.frames():
            if not parent:
                continue
            first, last = (0, 0) if is_static or times is None else times
            rate = (count - 1) / ((last - first) / 1e9) if count > 1 and last > first else 10000.0
            text += (
                f"{name}:\n  parent: '{parent}'\n  broadcaster: '{authority}'\n  rate: {rate:.3f}\n"
                f"  most_recent_transform: {last / 1e9:.9f}\n  oldest_transform: {first / 1e9:.9f}\n"
                f"  buffer_length: {(last - first) / 1e9:.3f}\n"
            )
        return text or "{}"


def _succeeds(with_reason: bool, look: Callable[..., object], *arguments: object) -> Any:
    try:
        look(*arguments)
    except TransformException as error:
        return (False, str(error)) if with_reason else False
    return (True, "") if with_reason else True


class _Waiting(Future):
    """The future of a transform."""

    def __init__(self, buffer: Buffer, target: str, source: str, time: int) -> None:
        super().__init__()
        self._pending = buffer._handle.call_when_there((target, source), time, self._there)
        context = buffer._context()
        if context is not None and not self.done():
            handler = context.on_shutdown(self._shut_down)
            self.add_done_callback(lambda _: handler.cancel())

    def _shut_down(self) -> None:
        self._pending.give_up()
        self.set_exception(_sinew.ExternalShutdownException("the context was shut down during a wait"))

    def _there(self, error: BaseException | None) -> None:
        if error is None:
            self.set_result(True)
        else:
            self.set_exception(error)

    def cancel(self) -> bool:
        self._pending.give_up()
        return super().cancel()


class TransformListener(Entity):
    """Fills a buffer from `/tf` and `/tf_static`, on the threads that deliver the messages: it needs no
    executor, so callbacks that wait for transforms block nothing. `spin_thread` is for programs of tf2_ros."""

    def __init__(
        self,
        buffer: Buffer,
        node: Node,
        *,
        spin_thread: bool = False,
        qos: object = None,
        static_qos: object = None,
    ) -> None:
        if qos is not None or static_qos is not None:
            raise ValueError("the QoS of /tf and /tf_static is fixed: leave it out")
        self.buffer, self.node = buffer, node
        if buffer._node is None:
            buffer._node = node
        self._handle = _sinew.TfListener(node._handle, buffer._handle)
        node._keep(self)

    def destroy(self) -> None:
        """Ends it; the buffer keeps what it has."""
        self._handle.destroy()
        self.node._forget(self)

    unregister = destroy


class _Broadcaster(Entity):
    _is_static = False

    def __init__(self, node: Node, qos: object = None) -> None:
        if qos is not None and not isinstance(qos, int):
            raise ValueError("the QoS of /tf and /tf_static is fixed: leave it out")
        self._node = node
        self._handle = _sinew.TfBroadcaster(node._handle, self._is_static)
        node._keep(self)

    def sendTransform(self, transform: Any) -> None:  # noqa: N802, its name in tf2_ros
        """Publishes a `TransformStamped`, or a list of them in one message."""
        transforms = transform if hasattr(transform, "__iter__") else [transform]
        self._handle.send([_stamped(one) for one in transforms])

    def destroy(self) -> None:
        self._handle.destroy()
        self._node._forget(self)


class TransformBroadcaster(_Broadcaster):
    """Publishes the transforms of moving frames on `/tf`."""


class StaticTransformBroadcaster(_Broadcaster):
    """Publishes the transforms of fixed frames on `/tf_static`, also for listeners that come later."""

    _is_static = True
