"""Communication for robots at memory speed.

    import sinew
    from sinew.interfaces.std_msgs.msg import String

    with sinew.init():
        node = sinew.Node("listener")
        node.create_subscription(String, "chatter", lambda message: print(message.data), 10)
        sinew.spin(node)
"""

from ._sinew import (
    ExternalShutdownException as ExternalShutdownException,
    InterfaceError as InterfaceError,
    InvalidHandle as InvalidHandle,
    InvalidNameError as InvalidNameError,
    InvalidParameterTypeException as InvalidParameterTypeException,
    InvalidParameterValueException as InvalidParameterValueException,
    Message as Message,
    NotInitializedException as NotInitializedException,
    ParameterException as ParameterException,
    ParameterAlreadyDeclaredException as ParameterAlreadyDeclaredException,
    ParameterNotDeclaredException as ParameterNotDeclaredException,
    ParameterUninitializedException as ParameterUninitializedException,
    QoSError as QoSError,
    ServiceError as ServiceError,
    SinewError as SinewError,
    UndecodableError as UndecodableError,
    __version__ as __version__,
)

# The other names are imported when they are first used: each program uses few of them.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import aio as aio, interfaces as interfaces
    from .callback_groups import (
        CallbackGroup as CallbackGroup,
        MutuallyExclusiveCallbackGroup as MutuallyExclusiveCallbackGroup,
        ReentrantCallbackGroup as ReentrantCallbackGroup,
    )
    from .clock import (
        Clock as Clock,
        ClockType as ClockType,
        Duration as Duration,
        Rate as Rate,
        Time as Time,
    )
    from .context import (
        Context as Context,
        default_context as default_context,
        init as init,
        ok as ok,
        shutdown as shutdown,
        try_shutdown as try_shutdown,
    )
    from .events import (
        PublisherEventCallbacks as PublisherEventCallbacks,
        SubscriptionEventCallbacks as SubscriptionEventCallbacks,
    )
    from .executors import (
        Executor as Executor,
        MultiThreadedExecutor as MultiThreadedExecutor,
        SingleThreadedExecutor as SingleThreadedExecutor,
        get_global_executor as get_global_executor,
        spin as spin,
        spin_once as spin_once,
        spin_some as spin_some,
        spin_until_future_complete as spin_until_future_complete,
    )
    from .future import CancelledError as CancelledError, Future as Future
    from .logging import LoggingSeverity as LoggingSeverity, get_logger as get_logger
    from .node import Node as Node, create_node as create_node
    from .parameter import (
        Parameter as Parameter,
        ParameterDescriptor as ParameterDescriptor,
        ParameterType as ParameterType,
        SetParametersResult as SetParametersResult,
    )
    from .qos import (
        DurabilityPolicy as DurabilityPolicy,
        HistoryPolicy as HistoryPolicy,
        LivelinessPolicy as LivelinessPolicy,
        QoSProfile as QoSProfile,
        ReliabilityPolicy as ReliabilityPolicy,
        qos_profile_sensor_data as qos_profile_sensor_data,
    )
    from .virtual_clock import VirtualClock as VirtualClock
else:
    #: By module: the names above that it defines.
    _HOMES = {
        "callback_groups": "CallbackGroup MutuallyExclusiveCallbackGroup ReentrantCallbackGroup",
        "clock": "Clock ClockType Duration Rate Time",
        "context": "Context default_context init ok shutdown try_shutdown",
        "events": "PublisherEventCallbacks SubscriptionEventCallbacks",
        "executors": "Executor MultiThreadedExecutor SingleThreadedExecutor get_global_executor "
        "spin spin_once spin_some spin_until_future_complete",
        "future": "CancelledError Future",
        "logging": "LoggingSeverity get_logger",
        "node": "Node create_node",
        "parameter": "Parameter ParameterDescriptor ParameterType SetParametersResult",
        "qos": "DurabilityPolicy HistoryPolicy LivelinessPolicy QoSProfile ReliabilityPolicy qos_profile_sensor_data",
        "virtual_clock": "VirtualClock",
    }

    def __getattr__(name):
        from importlib import import_module

        if not name.startswith("_"):
            for module, names in _HOMES.items():
                if name in names.split():
                    found = globals()[name] = getattr(import_module(f"sinew.{module}"), name)
                    return found
            try:
                return import_module(f"sinew.{name}")
            except ModuleNotFoundError as error:
                if error.name != f"sinew.{name}":
                    raise
        raise AttributeError(f"module 'sinew' has no attribute {name!r}")

    def __dir__():
        return sorted({*globals(), *" ".join(_HOMES.values()).split()})
