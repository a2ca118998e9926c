"""Methods of rclpy that subclasses override there, and that the library never calls."""

from __future__ import annotations


def warn(of: type, *methods: str) -> None:
    """Logs a warning for each of these methods that a class defines."""
    for method in methods:
        if method in vars(of):
            from .logging import get_logger  # not before: few programs need it here

            get_logger("sinew").warning(
                f"{of.__qualname__}.{method} has no effect on spin: it isn't called, as the library itself chooses "
                "what runs; give callbacks another group, or a group a priority"
            )
