"""Events of publishers and subscriptions: what their callbacks get, and where to name the callbacks."""

from __future__ import annotations

from collections import namedtuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

MatchedInfo = namedtuple("MatchedInfo", "total_count total_count_change current_count current_count_change")
MatchedInfo.__doc__ = "Ends of the other kind that match: ever, and now, with the changes since the last callback."

IncompatibleQosInfo = namedtuple(
    "IncompatibleQosInfo", "total_count total_count_change last_policy_kind last_reason"
)
IncompatibleQosInfo.__doc__ = "Ends of the other kind with a QoS that doesn't fit; the policy and a sentence of the last one."

IncompatibleTypeInfo = namedtuple("IncompatibleTypeInfo", "total_count total_count_change last_reason")
IncompatibleTypeInfo.__doc__ = "Ends of the other kind with another type; a sentence about the last one."

DeadlineMissedInfo = namedtuple("DeadlineMissedInfo", "total_count total_count_change")
DeadlineMissedInfo.__doc__ = "Times at which no message came, or went, within the deadline."

LivelinessLostInfo = namedtuple("LivelinessLostInfo", "total_count total_count_change")
LivelinessLostInfo.__doc__ = "Times at which the publisher's lease expired."

LivelinessChangedInfo = namedtuple(
    "LivelinessChangedInfo", "alive_count not_alive_count alive_count_change not_alive_count_change"
)
LivelinessChangedInfo.__doc__ = "Publishers that are alive, and those with an expired lease, with the changes."

MessageLostInfo = namedtuple("MessageLostInfo", "total_count total_count_change undecodable_count")
MessageLostInfo.__doc__ = "Messages that were lost, and how many of them because their bytes were invalid."


class _Callbacks:
    """Callbacks by the names of events."""

    _names: tuple[str, ...] = ()

    def __init__(self, **callbacks: Callable[..., object] | None) -> None:
        for name, callback in callbacks.items():
            if name not in self._names:
                known = ", ".join(self._names)
                raise TypeError(f"there is no event {name!r}: there are {known}")
            if callback is not None and not callable(callback):
                raise TypeError(f"the callback of the event {name!r} can't be called")
        self._callbacks = {name: callback for name, callback in callbacks.items() if callback is not None}


class PublisherEventCallbacks(_Callbacks):
    """Callbacks for the events of a publisher, by name; each gets one of the tuples of this module."""

    _names = ("deadline", "liveliness", "incompatible_qos", "incompatible_type", "matched")


class SubscriptionEventCallbacks(_Callbacks):
    """Callbacks for the events of a subscription, by name; each gets one of the tuples of this module."""

    _names = ("deadline", "liveliness", "message_lost", "incompatible_qos", "incompatible_type", "matched")
