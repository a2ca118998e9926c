"""tf2."""

from collections.abc import Callable

from .nodes import Context, Node

class TfBuffer:
    """The frames of `sinew.tf.Buffer`, over the last `history` seconds. Transforms are ``TransformStamped`` in
    encoded form; times are in nanoseconds, and 0 is the latest."""

    def __init__(self, history: float | None = None) -> None: ...
    def insert(self, transform: bytes, authority: str, is_static: bool) -> None: ...
    def lookup(
        self, frames: tuple[str, str], time: int, timeout: float, context: Context | None = None
    ) -> bytes:
        """Returns the transform from the second frame to the first. Waits for it for at most `timeout`
        seconds, or until the context is shut down."""

    def lookup_over_time(
        self,
        target: str,
        target_time: int,
        source: str,
        source_time: int,
        fixed: str,
        timeout: float,
        context: Context | None = None,
    ) -> bytes: ...
    def call_when_there(
        self, frames: tuple[str, str], time: int, done: Callable[[BaseException | None], object]
    ) -> PendingLookup:
        """Calls `done` with `None` once there is a transform, or with an exception once there can't be one any
        more: on the thread that inserts, or now."""

    def clear(self) -> None: ...
    def frames(self) -> list[tuple[str, str | None, bool, list[int] | None, int, str]]:
        """Returns name, parent, whether it is static, the first and last stamp, the number of transforms and
        their sender, of each frame."""

class PendingLookup:
    """A lookup that waits until it is over or given up."""

    def give_up(self) -> None: ...

class TfListener:
    """Fills a buffer from ``/tf`` and ``/tf_static``, on the threads that deliver messages."""

    def __init__(self, node: Node, buffer: TfBuffer) -> None: ...
    def destroy(self) -> None: ...

class TfBroadcaster:
    """Publishes the transforms of moving frames, or of fixed ones: ``TransformStamped`` in encoded form."""

    def __init__(self, node: Node, is_static: bool) -> None: ...
    def send(self, transforms: list[bytes]) -> None: ...
    def destroy(self) -> None: ...

def transform_stamped(name: str, message: bytes, transform: bytes) -> bytes:
    """Returns a stamped message of the type `name` in another frame, by a ``TransformStamped`` to that frame:
    all in encoded form."""
