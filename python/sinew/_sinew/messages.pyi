"""Messages, their types, and bags of them."""

from collections.abc import Iterator
from typing import Any, ClassVar, Self

class MessageClass:
    """The type of a message."""

    @property
    def name(self) -> str:
        """The full name: ``sensor_msgs/msg/Image``."""

    @property
    def hash(self) -> str:
        """The hash of its description: ``RIHS01_..``."""

    @property
    def description(self) -> str:
        """The description as JSON, as ROS 2 hashes it."""

class Message:
    """The base class of all messages.

    A message is built by a program, or received. A received message holds the bytes where they lie, and
    decodes a field when it is touched first; arrays of numbers are read-only views of these bytes
    (``numpy.ndarray``, or ``memoryview`` without numpy), which keep them alive. Published unchanged, its
    bytes are passed on.

    Assigned values are checked: `TypeError` or `ValueError` says what was found and what was expected. An
    array is assigned without a copy if it has a buffer of the right type; lists of numbers become an
    ``array.array``. A ``byte`` is ``bytes`` of length 1, as in rclpy; integers are taken, too.

    Messages are equal if their types and fields are; they are not hashable. Threads may share a message.
    """

    _class: ClassVar[MessageClass]

    @classmethod
    def get_fields_and_field_types(cls) -> dict[str, str]:
        """Returns the names and types of the fields, in order."""

    @classmethod
    def _nested(cls) -> dict[str, type[Message]]: ...
    @classmethod
    def _deserialize(cls, encoded: bytes) -> Self: ...
    def _serialize(self) -> bytes: ...

class ArrayView:
    """Numbers where they lie, with a buffer: the base of numpy's arrays of received messages and
    drafts."""

    @property
    def address(self) -> int:
        """The address of the first number, to check that nothing was copied."""

    def __len__(self) -> int: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...
    def __dlpack__(
        self,
        *,
        stream: None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """Lends the numbers to another library of arrays, without a copy. Those of a received message are
        read-only, which version 1.0 of DLPack can say: raises `BufferError` if the library asks for an older
        one."""

    def __dlpack_device__(self) -> tuple[int, int]: ...

class Draft:
    """A message in the memory in which it is published, from ``publisher.draft(..)``.

    ::

        with publisher.draft(width=640, height=480, encoding="rgb8", data=640 * 480 * 3) as draft:
            draft.data[:] = pixels

    Fields are given by name. A number in the place of a sequence of numbers is its length: the attribute
    of that name is then a writable array of shared memory, with old content; arrays of a fixed size are
    zero. The end of ``with`` publishes the message, an exception drops it. If an array is still used then,
    a copy is published, with a `RuntimeWarning`.
    """

    def __enter__(self) -> Self: ...
    def __exit__(self, kind: object, error: object, traceback: object) -> bool: ...
    def __getattr__(self, name: str) -> Any: ...

class BagReader:
    def __init__(self, path: str) -> None: ...
    @property
    def topics(self) -> list[tuple[str, str, int, str | None]]: ...
    @property
    def times(self) -> tuple[int, int] | None: ...
    @property
    def message_count(self) -> int: ...
    @property
    def problems(self) -> list[str]: ...
    def messages(self, topics: list[str] | None, start: int | None, end: int | None) -> BagMessages: ...

class BagMessages(Iterator[tuple[str, Any, int]]):
    def __next__(self) -> tuple[str, Any, int]: ...
    def seek(self, time: int) -> None: ...

def find_interface(name: str) -> Any: ...
def add_interface_path(path: str) -> list[str]: ...
def interface_packages() -> list[str]: ...
def interface_names(package: str) -> list[str]: ...
def interface_stubs(package: str) -> dict[str, str]: ...
def has_interface_package(name: str) -> bool: ...
