"""Nodes: what has publishers, subscriptions, timers, services, clients and parameters."""

from __future__ import annotations

from . import _sinew, parameter
from ._entity import callable_for
from .callback_groups import CallbackGroup, MutuallyExclusiveCallbackGroup
from .clock import Clock, ClockType, Duration, Rate, Time, _nanoseconds
from .context import Context, default_context
from .endpoints import Client, Publisher, Service, Subscription, Timer, TimerInfo
from .graph import Graph
from .logging import Logger
from .parameters import Parameters
from .qos import QoSProfile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, Self, TypeVar

    from .events import PublisherEventCallbacks, SubscriptionEventCallbacks
    from .executors import Executor

    _E = TypeVar("_E")


class Node(Parameters, Graph):
    """A node.

    `node_name` and `namespace` are as on the command line, a namespace also without its slash; `cli_args` are further rules and
    values of parameters, as `["--ros-args", "-r", "a:=b", "-p", "speed:=2.5", "--params-file", "robot.yaml"]`. `parameter_overrides` are values that count more than the defaults of
    `declare_parameter`. With `enable_logger_service`, the services `~/get_logger_levels` and
    `~/set_logger_levels` read and set the levels of the process's loggers. Raises `InvalidNameError` for
    names that ROS 2 doesn't allow, and `NotInitializedException` before `sinew.init()`.

    A node keeps what is made with it until it is destroyed. `with Node(..) as node:` destroys it.
    """

    def __init__(
        self,
        node_name: str,
        *,
        context: Context | None = None,
        cli_args: list[str] | None = None,
        namespace: str | None = None,
        use_global_arguments: bool = True,
        enable_rosout: bool = True,
        start_parameter_services: bool = True,
        enable_logger_service: bool = False,
        parameter_overrides: list[parameter.Parameter] | None = None,
        allow_undeclared_parameters: bool = False,
        automatically_declare_parameters_from_overrides: bool = False,
    ) -> None:
        self._context = context if context is not None else default_context()
        if namespace and not namespace.startswith("/"):
            namespace = f"/{namespace}"
        overrides = {one.name: one.value for one in parameter_overrides or ()}
        self._handle = _sinew.Node(
            self._context._handle,
            node_name,
            namespace=namespace,
            arguments=_arguments(cli_args or []),
            use_global_arguments=use_global_arguments,
            rosout=enable_rosout,
            parameter_services=start_parameter_services,
            logger_services=enable_logger_service,
            overrides=overrides,
            allow_undeclared=allow_undeclared_parameters,
            declare_overrides=automatically_declare_parameters_from_overrides,
        )
        self._executor: Executor | None = None
        self._allows_undeclared = allow_undeclared_parameters
        self._entities: list[Any] = []
        self._parameter_callbacks = []
        self._logger: Logger | None = None
        self._clock: Clock | None = None
        self.default_callback_group = MutuallyExclusiveCallbackGroup()

    def _group(self, group: CallbackGroup | None) -> _sinew.Group | None:
        if group is None or group is self.default_callback_group:
            return None  # the node's own
        return group._of(self)

    def _keep(self, entity: _E) -> _E:
        self._entities.append(entity)
        return entity

    def get_name(self) -> str:
        return self._handle.name

    def get_namespace(self) -> str:
        return self._handle.namespace

    def get_fully_qualified_name(self) -> str:
        return self._handle.full_name

    @property
    def context(self) -> Context:
        return self._context

    @property
    def executor(self) -> Executor | None:
        """The executor that the node was added to, if any. Assigning adds the node to another one, or to
        none."""
        return self._executor

    @executor.setter
    def executor(self, executor: Executor | None) -> None:
        if executor is self._executor:
            return
        if self._executor is not None:
            self._executor.remove_node(self)
            self._executor = None
        if executor is not None and executor.add_node(self):
            self._executor = executor

    def get_logger(self) -> Logger:
        """Returns the node's logger, which logs to `/rosout` as well."""
        if self._logger is None:
            self._logger = Logger(_sinew.Logger.of(self._handle))
        return self._logger

    def get_clock(self) -> Clock:
        """Returns the node's clock: ROS time."""
        if self._clock is None:
            self._clock = Clock(clock_type=ClockType.ROS_TIME, context=self._context)
        return self._clock

    def create_publisher(
        self,
        msg_type: Any,
        topic: str,
        qos_profile: QoSProfile | int = 10,
        *,
        callback_group: CallbackGroup | None = None,
        event_callbacks: PublisherEventCallbacks | None = None,
        qos_overriding_options: object = None,
    ) -> Publisher:
        """Makes a publisher. `qos_profile`: a profile, or the depth of the default one."""
        made = Publisher(
            self._handle,
            msg_type,
            topic,
            qos_profile,
            group=self._group(callback_group),
            events=event_callbacks._callbacks if event_callbacks is not None else None,
            qos_overrides=qos_overriding_options is not None,
        )
        return self._keep(made)

    def create_subscription(
        self,
        msg_type: Any,
        topic: str,
        callback: Callable[..., object] | None = None,
        qos_profile: QoSProfile | int = 10,
        *,
        callback_group: CallbackGroup | None = None,
        event_callbacks: SubscriptionEventCallbacks | None = None,
        qos_overriding_options: object = None,
        raw: bool = False,
        ignore_local_publications: bool = False,
    ) -> Subscription:
        """Makes a subscription. The callback gets the message, and its `MessageInfo` if it takes two
        arguments; it may be a coroutine function. Without a callback, messages are taken by `take`, or
        by `async for`. With `raw` a message is `bytes` in encoded form."""
        if callback is not None:
            callable_for("subscription", callback)
        made = Subscription(
            self._handle,
            msg_type,
            topic,
            qos_profile,
            callback,
            with_info=callback is not None and _takes(callback, 2),
            raw=raw,
            group=self._group(callback_group),
            events=event_callbacks._callbacks if event_callbacks is not None else None,
            qos_overrides=qos_overriding_options is not None,
            ignore_local_publications=ignore_local_publications,
        )
        return self._keep(made)

    def create_timer(
        self,
        timer_period_sec: float | Duration,
        callback: Callable[..., object],
        callback_group: CallbackGroup | None = None,
        clock: Clock | None = None,
        *,
        autostart: bool = True,
    ) -> Timer:
        """Makes a timer. It follows the node's clock: simulated time while that is used, else steady
        time; or another `clock`. The callback may take a `TimerInfo`."""
        callable_for("timer", callback)
        made = Timer(
            self._handle,
            _nanoseconds(timer_period_sec),
            callback,
            group=self._group(callback_group),
            clock=int(clock.clock_type) if clock is not None else None,
            autostart=autostart,
            with_info=_timer_info(self._context, clock) if _takes(callback, 1) else None,
        )
        made._clock = clock if clock is not None else self.get_clock()
        return self._keep(made)

    def create_service(
        self,
        srv_type: Any,
        srv_name: str,
        callback: Callable[..., object],
        *,
        callback_group: CallbackGroup | None = None,
        deferred: bool = False,
        max_requests: int = 1000,
    ) -> Service:
        """Makes a server. The callback gets the request and an empty response, and returns a response;
        it may be a coroutine function. If it raises, the call fails with its text.

        With `deferred` it gets the request and a `Responder`, by which it answers when it likes."""
        callable_for("service", callback)
        made = Service(
            self._handle,
            srv_type,
            srv_name,
            callback,
            group=self._group(callback_group),
            deferred=deferred,
            max_requests=max_requests,
        )
        return self._keep(made)

    def create_client(
        self, srv_type: Any, srv_name: str, *, callback_group: CallbackGroup | None = None
    ) -> Client:
        """Makes a client of a service."""
        return self._keep(Client(self._handle, srv_type, srv_name, group=self._group(callback_group)))

    def create_guard_condition(
        self, callback: Callable[..., object], callback_group: CallbackGroup | None = None
    ) -> _sinew.GuardCondition:
        """Makes a guard condition: an executor runs its callback after `trigger()`."""
        callable_for("guard condition", callback)
        return self._keep(
            _sinew.GuardCondition(self._handle, callback, group=self._group(callback_group))
        )

    def create_rate(self, frequency: float, clock: Clock | None = None) -> Rate:
        """Makes a rate of some Hz, for loops outside callbacks."""
        if frequency <= 0:
            raise ValueError(f"the frequency of a rate must be positive, but it is {frequency} Hz")
        return Rate(int(1e9 / frequency), clock if clock is not None else self.get_clock())

    def _destroy(self, entity: Any) -> bool:
        for index, kept in enumerate(self._entities):
            if kept is entity:
                del self._entities[index]
                entity.destroy()
                return True
        return False

    def _forget(self, entity: object) -> None:
        """Drops the reference to an entity that was destroyed by itself."""
        self._entities = [kept for kept in self._entities if kept is not entity]

    destroy_publisher = destroy_subscription = destroy_timer = _destroy
    destroy_service = destroy_client = destroy_guard_condition = _destroy

    def destroy_rate(self, rate: Rate) -> bool:
        return True

    @property
    def publishers(self) -> Iterator[Publisher]:
        return (one for one in self._entities if isinstance(one, Publisher))

    @property
    def subscriptions(self) -> Iterator[Subscription]:
        return (one for one in self._entities if isinstance(one, Subscription))

    @property
    def timers(self) -> Iterator[Timer]:
        return (one for one in self._entities if isinstance(one, Timer))

    @property
    def services(self) -> Iterator[Service]:
        return (one for one in self._entities if isinstance(one, Service))

    @property
    def clients(self) -> Iterator[Client]:
        return (one for one in self._entities if isinstance(one, Client))

    @property
    def guards(self) -> Iterator[_sinew.GuardCondition]:
        return (one for one in self._entities if isinstance(one, _sinew.GuardCondition))

    def destroy_node(self) -> None:
        """Ends everything that was made with the node, and takes it out of its executor and the graph. Waits
        for callbacks that run on other threads. A destroyed node makes no others: that is a `SinewError`."""
        entities, self._entities = self._entities, []
        for entity in entities:
            entity.destroy()
        for handle in self._parameter_callbacks:
            handle.remove()
        self._parameter_callbacks.clear()
        if self._executor is not None:
            self._executor.remove_node(self)
        self._handle.destroy()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.destroy_node()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.get_fully_qualified_name()}>"


def _timer_info(context: Context, clock: Clock | None) -> Callable[[int, int, int], TimerInfo]:
    """Returns what makes the info of a timer's call."""

    def make(due: int, actual: int, skipped: int) -> TimerInfo:
        kind = ClockType.ROS_TIME if context._handle.ros_time_is_active() else ClockType.STEADY_TIME
        kind = clock.clock_type if clock is not None else kind
        expected, called = (Time(nanoseconds=time, clock_type=kind) for time in (due, actual))
        return TimerInfo(expected, called, skipped)

    return make


_OPTIONS = {"-r": "remap", "--remap": "remap", "-p": "param", "--param": "param", "--params-file": "file"}


def _arguments(words: list[str]) -> list[tuple[str, str]]:
    """Returns the options of a node's own command line."""
    options, left = [], iter(words)
    for word in left:
        option = _OPTIONS.get(word)
        if option is not None:
            options.append((option, next(left, "")))
        elif word not in ("--ros-args", "--"):
            raise ValueError(f"{word!r} can't be an argument of one node: only {', '.join(_OPTIONS)} can")
    return options


def _takes(callback: Any, count: int) -> bool:
    """Returns whether a callable asks for that many arguments: without defaults, and not by `*arguments`,
    as decorators do."""
    code = getattr(callback, "__code__", None)
    if code is not None and not hasattr(callback, "__wrapped__"):
        is_bound = getattr(callback, "__self__", None) is not None
        optional = getattr(callback, "__defaults__", None) or ()
        return bool(code.co_argcount - is_bound - len(optional) >= count)
    if isinstance(callback, type(len)):
        return _takes_builtin(getattr(callback, "__text_signature__", None), count)
    try:
        from inspect import Parameter, signature

        parameters = signature(callback).parameters.values()
    except (TypeError, ValueError):
        return False
    positional = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    asked = [one for one in parameters if one.kind in positional and one.default is Parameter.empty]
    return len(asked) >= count


def _takes_builtin(signature: str | None, count: int) -> bool:
    """Returns whether a function in C takes that many arguments, by a signature like
    `($self, object, default=None, /)`. Such as `list.append`: `inspect` takes longer to import than all of
    Sinew."""
    required = 0
    for part in (signature or "").strip("()").split(", "):
        if part.startswith("*"):
            return len(part) > 1 or required >= count
        required += not (part in ("", "/") or part.startswith("$") or "=" in part)
    return required >= count


def create_node(node_name: str, **options: Any) -> Node:
    """Makes a node; the options are those of `Node`."""
    return Node(node_name, **options)
