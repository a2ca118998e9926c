"""Bags of recorded messages, as iterators.

::

    from sinew.bag import Reader

    with Reader("drive") as bag:
        for topic, message, stamp in bag.messages(["/scan", "/odom"]):
            print(stamp, topic, message.header.frame_id)

MCAP files and directories of rosbag2 are read, compressed or not, and bags of a recorder that was
killed as far as they go. A message has the class of `sinew.interfaces` if that has the same definition,
otherwise one made from the definition in the bag.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Any, NamedTuple

from . import _sinew
from ._sinew import BagError

__all__ = ["BagError", "Message", "Reader", "Topic"]


class Topic(NamedTuple):
    """A topic of a bag."""

    name: str
    type_name: str
    message_count: int
    #: ``RIHS01_..``; `None` if it was not recorded.
    type_hash: str | None


class Message(NamedTuple):
    """A recorded message."""

    topic: str
    message: Any
    #: The time at which it was recorded, in nanoseconds since the epoch.
    stamp: int


class Reader:
    """Reads a bag: a directory with ``metadata.yaml``, or a single MCAP file.

    Raises `BagError` if there is none.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._reader: _sinew.BagReader | None = _sinew.BagReader(os.fspath(path))

    def _open(self) -> _sinew.BagReader:
        if self._reader is None:
            raise ValueError("the bag was closed")
        return self._reader

    @property
    def topics(self) -> list[Topic]:
        """All topics, by name."""
        return [Topic(*topic) for topic in self._open().topics]

    @property
    def times(self) -> tuple[int, int] | None:
        """The times of the first and the last message in nanoseconds since the epoch; `None` without
        messages."""
        return self._open().times

    @property
    def problems(self) -> list[str]:
        """What was found to be damaged when the bag was opened, a sentence each."""
        return self._open().problems

    def __len__(self) -> int:
        return self._open().message_count

    def __iter__(self) -> Iterator[Message]:
        return self.messages()

    def messages(
        self, topics: Iterable[str] | None = None, *, start: int | None = None, end: int | None = None
    ) -> Iterator[Message]:
        """Reads messages in the order in which they were recorded.

        `topics` are full names, by default all; `start` and `end` are times in nanoseconds since the epoch
        (`end` is not included). Raises `BagError` for a topic that there isn't. A damaged chunk raises
        `BagError` while the messages are read.
        """
        names = [topics] if isinstance(topics, str) else None if topics is None else list(topics)
        return map(Message._make, self._open().messages(names, start, end))

    def close(self) -> None:
        """Closes the bag. Iterators that were made before still work, and keep its files open."""
        self._reader = None

    def __enter__(self) -> Reader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
