"""Which events clients and servers publish about their requests and responses."""

from __future__ import annotations

import enum


class ServiceIntrospectionState(enum.IntEnum):
    """For `configure_introspection` of a `Client` or `Service`."""

    OFF = 0
    """No events."""
    METADATA = 1
    """Events without content: the time, the client and the number of the request."""
    CONTENTS = 2
    """Events with the content of requests and responses."""
