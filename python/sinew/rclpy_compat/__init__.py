"""rclpy's modules over Sinew, for programs that were written for rclpy.

    import sinew.rclpy_compat as rclpy
    from sinew.rclpy_compat.node import Node

Programs that are not changed at all run by ``python -m sinew.rclpy_compat program.py``, or after
`install()`: then `import rclpy`, `import tf2_ros` and `from std_msgs.msg import String` find Sinew.

The book has a table of what differs: "Programs for rclpy", on the page on Python.
"""

from __future__ import annotations

import enum

from .. import context as _context
from ..context import Context as Context, ok as ok
from ..executors import (
    get_global_executor as get_global_executor,
    spin as spin,
    spin_once as spin_once,
    spin_until_future_complete as spin_until_future_complete,
)
from ..future import Future as Future
from ..parameter import Parameter as Parameter
from ._modules import MODULES as _MODULES, install as install, register as _register

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._node import Node

_register(__name__)


class SignalHandlerOptions(enum.Enum):
    """Signals that shut the context down: SIGTERM only, if at all. Ctrl-C always raises
    `KeyboardInterrupt`."""

    NO = 0
    SIGINT = 1
    SIGTERM = 2
    ALL = 3


def init(
    *,
    args: list[str] | None = None,
    context: Context | None = None,
    domain_id: int | None = None,
    signal_handler_options: SignalHandlerOptions | None = None,
) -> _context._Initialized:
    """Begins the default context, or another one."""
    options = SignalHandlerOptions.ALL if signal_handler_options is None else signal_handler_options
    signals = options in (SignalHandlerOptions.SIGTERM, SignalHandlerOptions.ALL)
    return _context.init(args, context=context, domain_id=domain_id, signals=signals)


def shutdown(*, context: Context | None = None, uninstall_handlers: bool | None = None) -> None:
    """Shuts the default context down, or another one."""
    _context.shutdown(context=context)


def try_shutdown(*, context: Context | None = None, uninstall_handlers: bool | None = None) -> None:
    """As `shutdown`, if the context was begun."""
    _context.try_shutdown(context=context)


def create_node(node_name: str, **options: Any) -> Node:
    """Makes a node; the options are those of `Node`."""
    from ._node import Node

    return Node(node_name, **options)


def get_rmw_implementation_identifier() -> str:
    """Returns the name of the middleware."""
    return "sinew"


def get_default_context() -> Context:
    """Returns the context of `init()`."""
    return _context.default_context()


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        import importlib

        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
