"""The QoS of actions."""

from __future__ import annotations


def refuse(*profiles: object) -> None:
    """Raises `ValueError` for a profile: the library chooses the QoS of an action's topics and services."""
    if any(profile is not None for profile in profiles):
        raise ValueError("the QoS of an action's topics and services is fixed: leave it out")
