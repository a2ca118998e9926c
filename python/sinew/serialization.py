"""Messages as bytes: CDR with a header of 4 bytes, as ROS 2 publishes and records them."""

from __future__ import annotations

from typing import TypeVar

from ._sinew import Message

__all__ = ["deserialize_message", "serialize_message"]

M = TypeVar("M", bound=Message)


def serialize_message(message: Message) -> bytes:
    """Returns the encoded form of a message.

    Raises `TypeError` or `ValueError` for a value that doesn't fit its field.
    """
    return message._serialize()


def deserialize_message(serialized: bytes, message_type: type[M]) -> M:
    """Returns the message of an encoded form, which is copied once.

    A field is decoded when it is touched first; if its bytes are wrong, that raises `UndecodableError`.
    """
    return message_type._deserialize(serialized)
