"""What has an end: entities of nodes."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self


class Entity:
    """What a node makes. `with` destroys it at its end."""

    __slots__ = ()

    if TYPE_CHECKING:  # each has its own

        def destroy(self) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.destroy()


def callable_for(what: str, callback: object) -> None:
    """Raises `TypeError` for a callback that can't be called."""
    if not callable(callback):
        raise TypeError(f"the callback of a {what} must be callable, but it is {callback!r}")
