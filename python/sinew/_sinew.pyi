"""The extension module: what is in Rust. Programs import the package's modules."""

from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Self

from .future import Future
from .qos import QoSProfile

__version__: str

class SinewError(RuntimeError):
    """An error of Sinew; ``code`` is its number in the book's list."""

    code: int

class NotInitializedException(SinewError):
    """There is no context: `sinew.init()` was not called."""

class ExternalShutdownException(SinewError):
    """The context was shut down while something waited in it."""

class InvalidNameError(SinewError):
    """ROS 2 doesn't allow this name."""

class QoSError(SinewError):
    """A QoS that there can't be."""

class ServiceError(SinewError):
    """A call failed: there is no server, it failed, or it went away."""

class InvalidHandle(SinewError):
    """What was used is destroyed: a node, publisher, timer and so on."""

class ParameterException(SinewError):
    """A parameter can't be declared, read or set."""

class ParameterAlreadyDeclaredException(ParameterException): ...
class ParameterNotDeclaredException(ParameterException): ...
class ParameterUninitializedException(ParameterException): ...
class InvalidParameterTypeException(ParameterException): ...
class InvalidParameterValueException(ParameterException): ...

class TransformException(SinewError):
    """A transform can't be looked up or added."""

class LookupException(TransformException):
    """A frame is unknown."""

class ConnectivityException(TransformException):
    """Two frames are in different trees."""

class ExtrapolationException(TransformException):
    """A transform is not known at that time."""

class InvalidArgumentException(TransformException):
    """A frame's name or a transform is invalid."""

class UndecodableError(SinewError):
    """A field of a received message can't be read: its bytes end too early, or are those of another
    type."""

class InterfaceError(SinewError):
    """A message, service or action type is unknown, or its definition is wrong."""

class BagError(SinewError):
    """A bag can't be read, or a part of it is damaged."""

class MessageClass:
    """The type of a message."""

    @property
    def name(self) -> str:
        """The full name: ``sensor_msgs/msg/Image``."""

    @property
    def hash(self) -> str:
        """The hash of its description: ``RIHS01_..``."""

    @property
    def description(self) -> str:
        """The description as JSON, as ROS 2 hashes it."""

class Message:
    """The base class of all messages.

    A message is built by a program, or received. A received message holds the bytes where they lie, and
    decodes a field when it is touched first; arrays of numbers are read-only views of these bytes
    (``numpy.ndarray``, or ``memoryview`` without numpy), which keep them alive. Published unchanged, its
    bytes are passed on.

    Assigned values are checked: `TypeError` or `ValueError` says what was found and what was expected. An
    array is assigned without a copy if it has a buffer of the right type; lists of numbers become an
    ``array.array``. A ``byte`` is ``bytes`` of length 1, as in rclpy; integers are taken, too.

    Messages are equal if their types and fields are; they are not hashable. Threads may share a message.
    """

    _class: ClassVar[MessageClass]

    @classmethod
    def get_fields_and_field_types(cls) -> dict[str, str]:
        """Returns the names and types of the fields, in order."""

    @classmethod
    def _nested(cls) -> dict[str, type[Message]]: ...
    @classmethod
    def _deserialize(cls, encoded: bytes) -> Self: ...
    def _serialize(self) -> bytes: ...

class ArrayView:
    """Numbers where they lie, with a buffer: the base of numpy's arrays of received messages and
    drafts."""

    @property
    def address(self) -> int:
        """The address of the first number, to check that nothing was copied."""

    def __len__(self) -> int: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...

class Draft:
    """A message in the memory in which it is published, from ``publisher.draft(..)``.

    ::

        with publisher.draft(width=640, height=480, encoding="rgb8", data=640 * 480 * 3) as draft:
            draft.data[:] = pixels

    Fields are given by name. A number in the place of a sequence of numbers is its length: the attribute
    of that name is then a writable array of shared memory, with old content; arrays of a fixed size are
    zero. The end of ``with`` publishes the message, an exception drops it. If an array is still used then,
    a copy is published, with a `RuntimeWarning`.
    """

    def __enter__(self) -> Self: ...
    def __exit__(self, kind: object, error: object, traceback: object) -> bool: ...
    def __getattr__(self, name: str) -> Any: ...

class BagReader:
    def __init__(self, path: str) -> None: ...
    @property
    def topics(self) -> list[tuple[str, str, int, str | None]]: ...
    @property
    def times(self) -> tuple[int, int] | None: ...
    @property
    def message_count(self) -> int: ...
    @property
    def problems(self) -> list[str]: ...
    def messages(self, topics: list[str] | None, start: int | None, end: int | None) -> BagMessages: ...

class BagMessages(Iterator[tuple[str, Any, int]]):
    def __next__(self) -> tuple[str, Any, int]: ...
    def seek(self, time: int) -> None: ...

def find_interface(name: str) -> Any: ...
def add_interface_path(path: str) -> list[str]: ...
def interface_packages() -> list[str]: ...
def interface_names(package: str) -> list[str]: ...
def interface_stubs(package: str) -> dict[str, str]: ...
def has_interface_package(name: str) -> bool: ...

_Parts = tuple[int, int, int, int, int, int, int, int]
_Named = list[tuple[str, list[str]]]
_Events = dict[str, Callable[..., object]]

class Context:
    def __init__(
        self,
        args: list[str],
        *,
        domain_id: int | None = None,
        shared_memory: bool | None = None,
        signals: bool = True,
        directory: Any = None,
    ) -> None: ...
    def ok(self) -> bool: ...
    def shutdown(self, reason: str | None = None) -> None: ...
    @property
    def shutdown_reason(self) -> str | None: ...
    @property
    def domain_id(self) -> int: ...
    @property
    def rest(self) -> list[str]: ...
    def on_shutdown(self, callback: Callable[[], object]) -> Handler: ...
    def now(self, clock: int) -> int: ...
    def sleep_until(self, clock: int, until: int) -> bool: ...
    def ros_time_is_active(self) -> bool: ...
    def set_ros_time(self, time: int | None) -> None: ...

class Handler:
    def cancel(self) -> None: ...

def end() -> None: ...

class Node:
    def __init__(
        self,
        context: Context,
        name: str,
        *,
        namespace: str | None = None,
        arguments: list[str] = ...,
        use_global_arguments: bool = True,
        rosout: bool = True,
        parameter_services: bool = True,
        logger_services: bool = False,
        overrides: dict[str, Any] | None = None,
        allow_undeclared: bool = False,
        declare_overrides: bool = False,
    ) -> None: ...
    @property
    def name(self) -> str: ...
    @property
    def namespace(self) -> str: ...
    @property
    def full_name(self) -> str: ...
    def now(self) -> int: ...
    def destroy(self) -> None: ...

class Group:
    def __init__(self, node: Node, reentrant: bool, priority: int = 0) -> None: ...
    def pause(self) -> None: ...
    def resume(self) -> None: ...

class Post:
    def __call__(self, callable: Callable[[], object]) -> None: ...

def post_of(node: Node, group: Group | None = None) -> Post:
    """Returns what runs callables in a node's default group, or in another group of it."""

def in_callback() -> bool:
    """Returns whether this thread runs a callback."""

def wait_until_done(future: Future, context: Context, timeout: float | None = None) -> bool:
    """Waits until another thread completes a future. Returns whether it is done."""

class Executor:
    def __init__(
        self, threads: int = 1, *, stop_on_error: bool = True, spin_before_park: float | None = None
    ) -> None: ...
    @property
    def threads(self) -> int: ...
    def add_node(self, node: Node) -> None: ...
    def remove_node(self, node: Node) -> bool: ...
    def spin(self) -> None: ...
    def spin_until_done(self, future: Future, timeout: float | None = None) -> bool: ...
    def spin_once(self, timeout: float | None = None) -> bool: ...
    def spin_some(self) -> int: ...
    def fileno(self) -> int: ...
    def stop(self) -> None: ...
    def is_shut_down(self) -> bool: ...
    def watch(self, context: Context) -> None:
        """Has a spin end with a context, also without nodes."""

    def is_spinning(self) -> bool: ...
    def wait_until_idle(self, timeout: float | None = None) -> bool:
        """Waits until no thread spins it, for at most a time; not in a callback. Returns whether none does."""

class Publisher:
    """The part of `sinew.Publisher` that is in Rust."""

    def __init__(
        self,
        node: Node,
        message_class: Any,
        topic: str,
        profile: QoSProfile | int,
        *,
        group: Group | None = None,
        events: _Events | None = None,
        qos_overrides: bool = False,
        lifecycle: Lifecycle | None = None,
    ) -> None: ...
    def publish(self, message: Message | bytes) -> None:
        """Publishes a message of the publisher's type, or its encoded form. Copies an array of numbers once;
        see `draft` for none. Blocks only if both ends are reliable and keep all. Raises `TypeError` or
        `ValueError` for a field that doesn't fit."""

    def draft(self, **fields: Any) -> Draft:
        """Begins a message in the memory in which it will be published: see `Draft`."""

    @property
    def topic_name(self) -> str:
        """The full name of the topic, after renaming."""

    @property
    def msg_type(self) -> type[Message]: ...
    def get_subscription_count(self) -> int:
        """Returns the number of subscriptions that match, in this process and in others."""

    def wait_for_subscriptions(self, count: int = 1, timeout: float | None = None) -> bool:
        """Waits until that many subscriptions match, for at most a time in seconds. Returns whether they do."""

    def wait_for_all_acked(self, timeout: float | None = None) -> bool: ...
    def assert_liveliness(self) -> None:
        """Says that the publisher is alive, for the liveliness MANUAL_BY_TOPIC."""

    def _is_open(self) -> bool:
        """Returns whether messages are published now: with `lifecycle`, while its node is active."""

    def _qos(self) -> _Parts: ...
    @property
    def gid(self) -> bytes: ...
    def destroy(self) -> None: ...

class Subscription:
    """The part of `sinew.Subscription` that is in Rust."""

    def __init__(
        self,
        node: Node,
        message_class: Any,
        topic: str,
        profile: QoSProfile | int,
        callback: Callable[..., object] | None = None,
        *,
        with_info: bool = False,
        raw: bool = False,
        group: Group | None = None,
        events: _Events | None = None,
        qos_overrides: bool = False,
        ignore_local_publications: bool = False,
    ) -> None: ...
    def take(self) -> tuple[Any, MessageInfo] | None:
        """Returns the oldest message that was not taken, and what is known of it. Never waits."""

    def _context(self) -> Context: ...
    def set_listener(self, listener: Callable[[int], object] | None) -> None:
        """Calls a function with the number of new messages, on the thread that publishes or receives them."""

    @property
    def topic_name(self) -> str:
        """The full name of the topic, after renaming."""

    @property
    def msg_type(self) -> type[Message]: ...
    def get_publisher_count(self) -> int:
        """Returns the number of publishers that match, in this process and in others."""

    def wait_for_publishers(self, count: int = 1, timeout: float | None = None) -> bool:
        """Waits until that many publishers match, for at most a time in seconds. Returns whether they do."""

    def _qos(self) -> _Parts: ...
    def destroy(self) -> None: ...

class MessageInfo:
    """What is known of a received message. Times are in nanoseconds since the epoch."""

    @property
    def source_timestamp(self) -> int: ...
    @property
    def received_timestamp(self) -> int: ...
    @property
    def publication_sequence_number(self) -> int: ...
    @property
    def reception_sequence_number(self) -> int: ...
    @property
    def publisher_gid(self) -> bytes: ...
    @property
    def latency(self) -> float:
        """Seconds from its publication to its reception."""

class Timer:
    """The part of `sinew.Timer` that is in Rust."""

    def __init__(
        self,
        node: Node,
        period: int,
        callback: Callable[..., object],
        *,
        group: Group | None = None,
        clock: int | None = None,
        autostart: bool = True,
        with_info: Callable[..., object] | None = None,
    ) -> None: ...
    def cancel(self) -> None:
        """Stops the timer, until `reset`."""

    def reset(self) -> None:
        """Begins a new period now."""

    def is_canceled(self) -> bool: ...
    @property
    def timer_period_ns(self) -> int: ...
    def time_until_next_call(self) -> int | None:
        """Returns nanoseconds; `None` for a timer that was cancelled."""

    @property
    def skipped(self) -> int:
        """Number of periods in which the callback was not called, since it was late."""

    def destroy(self) -> None: ...

class GuardCondition:
    """A condition that the program triggers: an executor runs its callback then."""

    def __init__(
        self, node: Node, callback: Callable[..., object], *, group: Group | None = None
    ) -> None: ...
    def trigger(self) -> None:
        """Has the callback run once; several triggers before it runs count as one. Any thread may call it."""

    def destroy(self) -> None: ...

class Service:
    """The part of `sinew.Service` that is in Rust."""

    def __init__(
        self,
        node: Node,
        service_class: Any,
        name: str,
        callback: Callable[..., object],
        *,
        group: Group | None = None,
        deferred: bool = False,
        immediate: bool = False,
        max_requests: int | None = None,
    ) -> None: ...
    @property
    def service_name(self) -> str:
        """The full name of the service, after renaming."""

    def introspect(self, profile: Any, state: int) -> None: ...
    def destroy(self) -> None: ...

class Responder:
    """The way to answer one request, now or later and from any thread. Dropped, it fails the call."""

    def respond(self, response: Message) -> None:
        """Sends the response. Raises `ServiceError` if the request was answered already."""

    def fail(self, reason: str) -> None:
        """Fails the call with a sentence."""

    def is_awaited(self) -> bool:
        """Returns whether the caller still waits for the response."""

class Client:
    """The part of `sinew.Client` that is in Rust."""

    def __init__(
        self, node: Node, service_class: Any, name: str, *, group: Group | None = None
    ) -> None: ...
    @property
    def service_name(self) -> str:
        """The full name of the service, after renaming."""

    def service_is_ready(self) -> bool:
        """Returns whether there is a server."""

    def wait_for_service(self, timeout: float | None = None) -> bool: ...
    def call(self, request: Message, timeout: float | None = None) -> Any: ...
    def send(self, request: Message, done: Callable[[Any, BaseException | None], object]) -> tuple[int, int]: ...
    def give_up(self, id: tuple[int, int]) -> bool: ...
    def run_server(self, future: Future, timeout: float | None = None) -> bool:
        """Waits until the future of a call is done, while this thread runs the server if it can."""

    def introspect(self, profile: Any, state: int) -> None: ...
    def destroy(self) -> None: ...

class Logger:
    def __init__(self, name: str) -> None: ...
    @staticmethod
    def of(node: Node) -> Logger: ...
    def child(self, name: str) -> Logger: ...
    @property
    def name(self) -> str: ...
    def level(self) -> int: ...
    def own_level(self) -> int: ...
    def set_level(self, level: int) -> None: ...
    def is_enabled(self, level: int) -> bool: ...
    def now(self) -> int: ...
    def say(self, level: int, text: str, file: str, function: str, line: int) -> None: ...

def init_logging() -> None: ...
def flush_logging() -> bool: ...
def topics(node: Node) -> _Named: ...
def services(node: Node) -> _Named: ...
def nodes(node: Node) -> list[str]: ...
def count(node: Node, kind: str, name: str) -> int: ...
def resolve_topic(node: Node, name: str) -> str: ...
def resolve_service(node: Node, name: str) -> str: ...
def endpoints(node: Node, kind: str, name: str) -> list[tuple[str, str, str | None, bytes, _Parts, int]]: ...
def of_node(node: Node, full_name: str, kind: str) -> _Named: ...
def class_of_topic(node: Node, name: str) -> type[Message] | None: ...
def check_node_name(name: str) -> None:
    """Raises `InvalidNameError` for a name that no node can have."""

def check_namespace(namespace: str) -> None: ...
def wait_for_node(node: Node, full_name: str, timeout: float | None = None) -> bool: ...
def check_qos(profile: QoSProfile | int) -> _Parts: ...
def qos_incompatibility(publisher: QoSProfile | int, subscription: QoSProfile | int) -> str | None: ...
def declare_parameter(node: Node, name: str, default: Any, options: Any, ignore_override: bool) -> Any: ...
def get_parameter(node: Node, name: str, initialized: bool = True) -> Any: ...
def has_parameter(node: Node, name: str) -> bool: ...
def list_parameters(node: Node, prefixes: list[str], depth: int) -> list[str]: ...
def undeclare_parameter(node: Node, name: str) -> None: ...
def set_parameters(node: Node, values: list[tuple[str, Any]]) -> None: ...
def describe_parameter(node: Node, name: str) -> tuple[Any, ...] | None: ...

class ParameterHandle:
    def remove(self) -> bool: ...

def add_parameter_callback(node: Node, kind: str, callback: Callable[[Any], object]) -> ParameterHandle: ...

class ActionClient:
    """The part of `sinew.action.ActionClient` that is in Rust."""

    def __init__(
        self, node: Node, action_class: Any, name: str, *, group: Group | None = None, feedback_depth: int = 10
    ) -> None: ...
    @property
    def action_name(self) -> str: ...
    def server_is_ready(self) -> bool: ...
    def wait_for_server(self, timeout: float | None = None) -> bool: ...
    def send_goal(
        self,
        request: Message,
        answered: Callable[[ClientGoal | None, BaseException | None], object],
        feedback: Callable[[Any], object] | None,
        ended: Callable[[Any, BaseException | None], object],
    ) -> SentGoal:
        """Sends a goal: a message of the action's ``SendGoal_Request``. The callbacks run in the client's
        group: `answered` gets a goal and `None`, or `None` twice if the goal was rejected, or `None` and an
        exception; `feedback` gets messages of ``FeedbackMessage``; `ended` gets a ``GetResult_Response`` and
        `None`, or `None` and an exception."""

    def cancel(
        self, id: bytes | None, stamp: int | None, answered: Callable[[Any, BaseException | None], object]
    ) -> None:
        """Asks the server to end goals early: the one with this id, all, or those that were accepted until
        `stamp`, in nanoseconds. `answered` is called on the thread that answers: with the code and the list of
        the goals' ids and stamps, and `None`; or with `None` and an exception."""

    def run_canceling(self, future: Future, timeout: float | None = None) -> bool:
        """As `Client.run_server`, for the future of a cancel request."""

    def destroy(self) -> None: ...

class SentGoal:
    """A goal on its way to the server."""

    @property
    def id(self) -> bytes: ...
    def wait(self, timeout: float | None = None, gives_up: bool = False) -> ClientGoal | None:
        """Waits for the server's answer: a goal, or `None` if it was rejected. Raises `TimeoutError` after
        `timeout` seconds: with `gives_up`, the goal is given up then, and canceled if it is accepted later."""

class ClientGoal:
    """A goal that its server has accepted."""

    @property
    def stamp(self) -> int:
        """When the server accepted it, in nanoseconds of the server's clock."""

    @property
    def status(self) -> int:
        """The last state that the client has received."""

    @property
    def feedback_lost(self) -> int:
        """Number of feedback messages that were lost, since newer ones displaced them."""

    def wait(self, timeout: float | None = None) -> Any:
        """Waits for the result, a message of ``GetResult_Response``. Raises `TimeoutError` after `timeout`
        seconds; the goal goes on."""

class ActionServer:
    """The part of `sinew.action.ActionServer` that is in Rust.

    `decide` gets a goal, and returns whether it is accepted; `may_cancel` gets the id of a goal, and returns
    whether it may be ended early; `accepted` gets each accepted goal. They run in the group, or with
    `in_group=False` on the thread that asks. `result_timeout` is in seconds.
    """

    def __init__(
        self,
        node: Node,
        action_class: Any,
        name: str,
        decide: Callable[[Any], bool] | None,
        may_cancel: Callable[[bytes], bool] | None,
        accepted: Callable[[ServerGoal], object],
        *,
        group: Group | None = None,
        in_group: bool = True,
        result_timeout: float | None = None,
    ) -> None: ...
    @property
    def action_name(self) -> str: ...
    def destroy(self) -> None: ...

class ServerGoal:
    """A goal that its server has accepted. Dropped before it has ended, it is canceled."""

    @property
    def _id(self) -> bytes: ...
    @property
    def _message(self) -> Any:
        """The message that brought it, with ``goal`` and ``goal_id``."""

    @property
    def _status(self) -> int: ...
    @property
    def is_cancel_requested(self) -> bool:
        """Whether the goal must end early: a client asked for it, or the server is gone."""

    def on_cancel_requested(self, callback: Callable[[], object]) -> None:
        """Calls a function once, as soon as the goal must end early: on the thread that causes this, or now if
        it must already."""

    def _begin(self) -> None: ...
    def _publish_feedback(self, message: Message) -> None: ...
    def _end(self, status: int, message: Message) -> None: ...

class Lifecycle:
    """The states of a managed node, with its services. `callback` gets the label of a transition and the id of
    the state in which it began, and returns the number of a `TransitionCallbackReturn`."""

    def __init__(self, node: Node, callback: Callable[[str, int], int]) -> None: ...
    def change(self, label: str) -> int:
        """Performs a transition on this thread. Returns the number of a `TransitionCallbackReturn`; raises
        `SinewError` if it can't begin."""

    @property
    def state(self) -> tuple[int, str]:
        """The id and label of the current state."""

    def destroy(self) -> None: ...

class TfBuffer:
    """The frames of `sinew.tf.Buffer`, over the last `history` seconds. Transforms are ``TransformStamped`` in
    encoded form; times are in nanoseconds, and 0 is the latest."""

    def __init__(self, history: float | None = None) -> None: ...
    def insert(self, transform: bytes, authority: str, is_static: bool) -> None: ...
    def lookup(
        self, frames: tuple[str, str], time: int, timeout: float, context: Context | None = None
    ) -> bytes:
        """Returns the transform from the second frame to the first. Waits for it for at most `timeout`
        seconds, or until the context is shut down."""

    def lookup_over_time(
        self,
        target: str,
        target_time: int,
        source: str,
        source_time: int,
        fixed: str,
        timeout: float,
        context: Context | None = None,
    ) -> bytes: ...
    def call_when_there(
        self, frames: tuple[str, str], time: int, done: Callable[[BaseException | None], object]
    ) -> PendingLookup:
        """Calls `done` with `None` once there is a transform, or with an exception once there can't be one any
        more: on the thread that inserts, or now."""

    def clear(self) -> None: ...
    def frames(self) -> list[tuple[str, str | None, bool, list[int] | None, int, str]]:
        """Returns name, parent, whether it is static, the first and last stamp, the number of transforms and
        their sender, of each frame."""

class PendingLookup:
    """A lookup that waits until it is over or given up."""

    def give_up(self) -> None: ...

class TfListener:
    """Fills a buffer from ``/tf`` and ``/tf_static``, on the threads that deliver messages."""

    def __init__(self, node: Node, buffer: TfBuffer) -> None: ...
    def destroy(self) -> None: ...

class TfBroadcaster:
    """Publishes the transforms of moving frames, or of fixed ones: ``TransformStamped`` in encoded form."""

    def __init__(self, node: Node, is_static: bool) -> None: ...
    def send(self, transforms: list[bytes]) -> None: ...
    def destroy(self) -> None: ...

def transform_stamped(name: str, message: bytes, transform: bytes) -> bytes:
    """Returns a stamped message of the type `name` in another frame, by a ``TransformStamped`` to that frame:
    all in encoded form."""
