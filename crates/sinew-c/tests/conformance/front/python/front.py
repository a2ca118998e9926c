"""The front end of Python: what a program that imports `sinew` calls, as functions of C (`front.h`).

A handle is a number, by which the object is found. A function for which Python has no word fails with the status
`UNSAID`; the scenarios that need one are left out by name (`fronts.rs`).
"""

import itertools
import threading
from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    c_bool,
    c_char_p,
    c_int,
    c_int32,
    c_int64,
    c_size_t,
    c_ubyte,
    c_uint32,
    c_uint64,
    c_void_p,
    cast,
    create_string_buffer,
    memmove,
    string_at,
)

import sinew
import sinew.interfaces
from sinew.endpoints import Client, Publisher, Service, Subscription, Timer  # noqa: F401  all of it is loaded now
from sinew.events import PublisherEventCallbacks, SubscriptionEventCallbacks
from sinew.qos import QoSProfile

OK = 0
TIMEOUT = 3
CALLBACK_FAILED = 7
UNSAID = -1

# ---- structures of `front.h` ----

Status = c_int32
Handle = c_void_p
Drop = CFUNCTYPE(None, c_void_p)
Receive = CFUNCTYPE(Status, c_void_p, c_void_p, c_size_t)
Listener = CFUNCTYPE(None, c_void_p, c_uint64)
Triggered = CFUNCTYPE(Status, c_void_p, c_uint64)
Request = CFUNCTYPE(Status, c_void_p, c_void_p, c_size_t, c_void_p)
Outcome = CFUNCTYPE(Status, c_void_p, Status, c_char_p, c_void_p, c_size_t)


class ContextOf(Structure):
    _fields_ = [("context", c_void_p), ("drop", Drop)]


class EventStatus(Structure):
    _fields_ = [("numbers", c_int64 * 4), ("policy", c_uint32), ("reason", c_char_p)]


EventFunction = CFUNCTYPE(Status, c_void_p, POINTER(EventStatus))


class Handler(Structure):
    _fields_ = [("event", c_int), ("function", c_void_p), ("context", ContextOf)]


class TimerInfo(Structure):
    _fields_ = [("due", c_int64), ("actual", c_int64), ("skipped", c_uint64), ("itself", c_void_p)]


Elapsed = CFUNCTYPE(Status, c_void_p, POINTER(TimerInfo))


class Qos(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("history", c_int),
        ("reliability", c_int),
        ("durability", c_int),
        ("liveliness", c_int),
        ("depth", c_size_t),
        ("max_samples", c_size_t),
        ("deadline", c_int64),
        ("lifespan", c_int64),
        ("lease", c_int64),
        ("max_blocking_time", c_int64),
    ]

    def profile(self):
        duration = lambda nanoseconds: sinew.Duration(nanoseconds=max(0, nanoseconds))  # noqa: E731
        return QoSProfile(
            history=self.history or 1,
            depth=self.depth or 10,
            reliability=self.reliability or 1,
            durability=self.durability or 2,
            liveliness=self.liveliness or 1,
            deadline=duration(self.deadline),
            lifespan=duration(self.lifespan),
            liveliness_lease_duration=duration(self.lease),
            max_samples=self.max_samples or None,
            max_blocking_time=duration(self.max_blocking_time) if self.max_blocking_time else None,
        )


class SubscriptionStatistics(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("received", c_uint64),
        ("taken", c_uint64),
        ("waiting", c_uint64),
        ("overwritten", c_uint64),
        ("missed", c_uint64),
        ("refused", c_uint64),
        ("expired", c_uint64),
        ("copies", c_uint64),
        ("decodings", c_uint64),
    ]


class SubscriptionOptions(Structure):
    _fields_ = [
        ("type", c_int),
        ("qos", POINTER(Qos)),
        ("owned", c_bool),
        ("ignore_own_publications", c_bool),
        ("handler", Handler),
        ("passes", c_void_p),
        ("passes_context", ContextOf),
        ("callback", c_void_p),
        ("callback_context", ContextOf),
    ]


class Gid(Structure):
    _fields_ = [("bytes", c_ubyte * 16)]


# ---- failures ----

_errors = {}  # by thread: those of `threading.local` would end with the call


class Unsaid(Exception):
    """Python has no word for this."""


def note(error):
    """Notes the sentence of this thread's last failure, and returns its status."""
    _errors[threading.get_ident()] = create_string_buffer(str(error).encode())
    if isinstance(error, Unsaid):
        return UNSAID
    if isinstance(error, Failed):
        return CALLBACK_FAILED
    return getattr(error, "code", TIMEOUT if isinstance(error, TimeoutError) else CALLBACK_FAILED)


def sentence():
    return cast(_errors[threading.get_ident()], c_void_p).value


class Failed(Exception):
    """A function of the suite failed."""


def check(status):
    if status != OK:
        raise Failed(_errors[threading.get_ident()].value.decode())


# ---- handles and callbacks ----

_objects = {}
_numbers = itertools.count(1)


def put(made, place):
    number = next(_numbers)
    _objects[number] = made
    cast(place, POINTER(c_void_p))[0] = number


def of(handle):
    return _objects[handle]


def drop(handle):
    return _objects.pop(handle)


class Called:
    """A function of the suite with its context, which ends with it. Calls of it release the GIL."""

    def __init__(self, kind, function, context):
        self.function = function if isinstance(function, kind) else kind(function)
        self.context, self._drop = context.context, Drop(cast(context.drop, c_void_p).value)

    def __call__(self, *arguments):
        return self.function(self.context, *arguments)

    def __del__(self):
        self._drop(self.context)


# ---- messages ----


def load_interfaces(folder):
    global Number, Text, Numbers
    sinew.interfaces.add_path(folder)
    from sinew.interfaces.test_msgs.msg import Number, Text
    from sinew.interfaces.test_msgs.srv import Numbers


def made_of(message_class, data, length):
    read = string_at(data, length) if length else b""
    return message_class(data=read.decode() if message_class is Text else int.from_bytes(read, "little"))


def bytes_of(message):
    return message.data.encode() if isinstance(message.data, str) else message.data.to_bytes(8, "little")


def hand_over(message, call):
    encoded = bytes_of(message)
    return call(encoded, len(encoded))


# ---- functions ----

FUNCTIONS = {}


def function(result, *arguments):
    """Makes a function of C. One with a status notes what it raises."""

    def make(of_python):
        name = of_python.__name__.removeprefix("front_")
        fails = result is Status

        def call(*given):
            try:
                answer = of_python(*given)
            except Exception as error:
                if fails:
                    return note(error)
                raise
            return OK if fails and answer is None else answer

        FUNCTIONS[name] = CFUNCTYPE(result, *arguments)(call)
        return of_python

    return make


def unsaid(why, result, *arguments, names):
    """Functions for which Python has no word: those with a status fail, the others do nothing."""

    def call(*_):
        if result is Status:
            return note(Unsaid(why))
        return None if result is None else 0

    for name in names.split():
        FUNCTIONS[name] = CFUNCTYPE(result, *arguments)(call)


@function(c_void_p)
def front_error():
    return sentence()


@function(Status, c_char_p)
def front_failed(reason):
    raise Failed(reason.decode())


@function(Status, c_void_p)
def front_clock_new(clock):
    put(sinew.VirtualClock(), clock)


@function(None, Handle)
def front_clock_free(clock):
    drop(clock)


@function(None, Handle, c_int64)
def front_clock_advance(clock, nanoseconds):
    of(clock).advance(sinew.Duration(nanoseconds=nanoseconds))


@function(None, Handle, c_int64)
def front_clock_set(clock, nanoseconds):
    of(clock).set(sinew.Time(nanoseconds=nanoseconds))


class Domain:
    """A context with its nodes, and the executors that serve it."""

    def __init__(self, context):
        self.context = context
        self.nodes = []
        self.executors = []


@function(Status, c_uint32, c_char_p, Handle, c_void_p)
def front_context_new(domain, directory, clock, context):
    made = sinew.Context()
    made.init(
        [],
        domain_id=domain,
        shared_memory=directory is not None,
        directory=directory.decode() if directory is not None else None,
        signals=False,
        virtual_clock=of(clock) if clock else None,
    )
    put(Domain(made), context)


@function(None, Handle)
def front_context_free(context):
    for node in drop(context).nodes:
        node.destroy_node()


@function(None, Handle)
def front_context_shutdown(context):
    of(context).context.shutdown()


@function(c_bool, Handle)
def front_context_is_valid(context):
    return of(context).context.ok()


unsaid("Python doesn't set ROS time", None, Handle, c_int64, names="context_set_ros_time")
unsaid("Python doesn't set ROS time", None, Handle, names="context_clear_ros_time")
unsaid("contexts of Python don't follow simulated time", Status, Handle, c_bool, names="context_use_sim_time")


@function(Status, Handle, c_char_p, c_void_p)
def front_node_new(context, name, node):
    domain = of(context)
    made = sinew.Node(name.decode(), context=domain.context)
    domain.nodes.append(made)
    for executor in domain.executors:
        executor.add_node(made)
    put(made, node)


@function(None, Handle)
def front_node_free(node):
    drop(node)


@function(Status, Handle, c_bool, c_void_p)
def front_group_new(node, reentrant, group):
    made = sinew.ReentrantCallbackGroup() if reentrant else sinew.MutuallyExclusiveCallbackGroup()
    made._of(of(node))
    put(made, group)


@function(None, Handle)
def front_group_free(group):
    drop(group)


@function(None, Handle, c_int32)
def front_group_set_priority(group, priority):
    of(group).priority = priority


@function(None, Handle)
def front_group_pause(group):
    of(group).pause()


@function(None, Handle)
def front_group_resume(group):
    of(group).resume()


def group_in(group):
    return of(group) if group else None


# ---- events ----

#: Numbers of policies, by their names.
POLICIES = {"durability": 2, "deadline": 4, "liveliness": 8, "reliability": 16, "liveliness lease": 256}

#: By number: the name, and the numbers of its information.
EVENTS = {
    1: ("matched", ("total_count", "total_count_change", "current_count", "current_count_change")),
    2: ("incompatible_qos", ("total_count", "total_count_change")),
    3: ("incompatible_type", ("total_count", "total_count_change")),
    4: ("deadline", ("total_count", "total_count_change")),
    5: ("liveliness", ("total_count", "total_count_change")),
    6: ("liveliness", ("alive_count", "not_alive_count", "alive_count_change", "not_alive_count_change")),
    7: ("message_lost", ("total_count", "total_count_change")),
}


def events(kind, handler):
    if handler.event == 0:
        return None
    name, numbers = EVENTS[handler.event]
    call = Called(EventFunction, handler.function, handler.context)

    def happened(information):
        status = EventStatus()
        for place, number in enumerate(numbers):
            status.numbers[place] = getattr(information, number)
        status.policy = POLICIES.get(getattr(information, "last_policy_kind", None), 0)
        status.reason = getattr(information, "last_reason", "").encode()
        check(call(status))

    return kind(**{name: happened})


# ---- publishers and subscriptions ----


def class_of(number):
    return Text if number == 1 else Number


@function(Status, Handle, c_char_p, c_int, POINTER(Qos), Handler, c_void_p)
def front_publisher_new(node, topic, kind, qos, handler, publisher):
    callbacks = events(PublisherEventCallbacks, handler)
    profile = qos.contents.profile()
    put(of(node).create_publisher(class_of(kind), topic.decode(), profile, event_callbacks=callbacks), publisher)


@function(None, Handle)
def front_publisher_free(publisher):
    drop(publisher).destroy()


@function(Status, Handle, c_void_p, c_size_t)
def front_publisher_publish(publisher, data, length):
    publisher = of(publisher)
    publisher.publish(made_of(publisher.msg_type, data, length))


@function(c_size_t, Handle)
def front_publisher_subscription_count(publisher):
    return of(publisher).get_subscription_count()


@function(c_uint64, Handle)
def front_publisher_published(publisher):
    return of(publisher).get_statistics().published


@function(None, Handle)
def front_publisher_assert_liveliness(publisher):
    of(publisher).assert_liveliness()


@function(None, Handle, POINTER(Gid))
def front_publisher_gid(publisher, gid):
    memmove(gid, of(publisher).gid, 16)


@function(Status, Handle, Handle, c_char_p, POINTER(SubscriptionOptions), c_void_p)
def front_subscription_new(node, group, topic, options, subscription):
    options = options.contents
    callback = None
    if options.callback:
        call = Called(Receive, options.callback, options.callback_context)

        def callback(message):
            check(hand_over(message, call))

    if options.passes:
        raise Unsaid("subscriptions of Python have no filter")
    made = of(node).create_subscription(
        class_of(options.type),
        topic.decode(),
        callback,
        options.qos.contents.profile(),
        callback_group=group_in(group),
        event_callbacks=events(SubscriptionEventCallbacks, options.handler),
        ignore_local_publications=options.ignore_own_publications,
    )
    put(made, subscription)


@function(None, Handle)
def front_subscription_free(subscription):
    drop(subscription).destroy()


@function(None, Handle)
def front_subscription_close(subscription):
    of(subscription).destroy()


@function(Status, Handle, Receive, Handle, POINTER(Gid), POINTER(c_bool))
def front_subscription_take(subscription, receive, context, publisher, is_taken):
    taken = of(subscription).take()
    is_taken[0] = taken is not None
    if taken is not None:
        message, info = taken
        memmove(publisher, info.publisher_gid, 16)
        check(hand_over(message, lambda data, length: receive(context, data, length)))


@function(None, Handle, Listener, ContextOf)
def front_subscription_set_listener(subscription, listener, context):
    call = Called(Listener, listener, context)
    of(subscription).set_listener(lambda count: call(count))


@function(c_size_t, Handle)
def front_subscription_publisher_count(subscription):
    return of(subscription).get_publisher_count()


@function(None, Handle, POINTER(SubscriptionStatistics))
def front_subscription_statistics(subscription, statistics):
    counts = of(subscription).get_statistics()._asdict()
    for name, _ in SubscriptionStatistics._fields_[1:]:
        setattr(statistics.contents, name, counts[name])


# ---- time ----

unsaid("Python has no simulator", Status, Handle, c_int64, c_void_p, names="simulator_new")
unsaid("Python has no simulator", None, Handle, names="simulator_free")
unsaid("Python has no simulator", Status, Handle, names="simulator_publish")
unsaid("Python has no simulator", Status, Handle, c_int64, names="simulator_step")

CLOCKS = {1: sinew.ClockType.ROS_TIME, 2: sinew.ClockType.SYSTEM_TIME, 3: sinew.ClockType.STEADY_TIME}


@function(Status, Handle, Handle, c_int64, c_int, Elapsed, ContextOf, c_void_p)
def front_timer_new(node, group, period, clock, callback, context, timer):
    call = Called(Elapsed, callback, context)
    itself = []

    def elapsed(info):
        about = TimerInfo(info.expected_call_time.nanoseconds, info.actual_call_time.nanoseconds, info.skipped, itself[0])
        check(call(about))

    made = of(node).create_timer(
        sinew.Duration(nanoseconds=period),
        elapsed,
        group_in(group),
        sinew.Clock(clock_type=CLOCKS[clock]) if clock else None,
        autostart=False,
    )
    put((made, clock), timer)
    itself.append(cast(timer, POINTER(c_void_p))[0])
    made.reset()


@function(None, Handle)
def front_timer_free(timer):
    drop(timer)[0].destroy()


@function(None, Handle)
def front_timer_close(timer):
    of(timer)[0].destroy()


@function(None, Handle)
def front_timer_cancel(timer):
    of(timer)[0].cancel()


@function(None, Handle)
def front_timer_reset(timer):
    of(timer)[0].reset()


@function(c_uint64, Handle)
def front_timer_skipped(timer):
    return of(timer)[0].skipped


@function(c_int, Handle)
def front_timer_clock(timer):
    return of(timer)[1] or 1


@function(None, Handle)
def front_timer_info_cancel(timer):
    if timer in _objects:
        of(timer)[0].cancel()


@function(Status, Handle, Handle, Triggered, ContextOf, c_void_p)
def front_guard_new(node, group, callback, context, guard):
    call = Called(Triggered, callback, context)
    put(of(node).create_guard_condition(lambda: check(call(1)), group_in(group)), guard)


@function(None, Handle)
def front_guard_free(guard):
    drop(guard).destroy()


@function(None, Handle)
def front_guard_close(guard):
    of(guard).destroy()


@function(None, Handle)
def front_guard_trigger(guard):
    of(guard).trigger()


# ---- services ----


@function(Status, Handle, Handle, c_char_p, c_size_t, Request, ContextOf, c_void_p)
def front_server_new(node, group, name, max_requests, callback, context, server):
    call = Called(Request, callback, context)

    def requested(request, responder):
        place = c_void_p()
        put(responder, cast(place_of(place), c_void_p))
        check(hand_over(request, lambda data, length: call(data, length, place)))

    more = {"max_requests": max_requests} if max_requests else {}
    made = of(node).create_service(
        Numbers, name.decode(), requested, callback_group=group_in(group), deferred=True, **more
    )
    put(made, server)


def place_of(place):
    return POINTER(c_void_p)(place)


@function(None, Handle)
def front_server_free(server):
    drop(server).destroy()


@function(c_uint64, Handle)
def front_server_answered(server):
    return of(server).get_statistics().answered


@function(Status, Handle, c_void_p, c_size_t)
def front_respond(responder, data, length):
    drop(responder).respond(made_of(Numbers.Response, data, length))


@function(Status, Handle, c_char_p)
def front_fail(responder, reason):
    drop(responder).fail(reason.decode())


@function(None, Handle)
def front_responder_free(responder):
    drop(responder)


PULLED = "services of Python have a callback"
unsaid(PULLED, Status, Handle, c_char_p, c_void_p, names="pulled_new")
unsaid(PULLED, None, Handle, names="pulled_free pulled_close")
unsaid(PULLED, None, Handle, Listener, ContextOf, names="pulled_set_listener")
unsaid(PULLED, Status, Handle, Receive, Handle, c_void_p, c_void_p, names="pulled_take")
unsaid(PULLED, Status, Handle, c_void_p, c_void_p, c_size_t, names="pulled_respond")


@function(Status, Handle, Handle, c_char_p, c_void_p)
def front_client_new(node, group, name, client):
    put(of(node).create_client(Numbers, name.decode(), callback_group=group_in(group)), client)


@function(None, Handle)
def front_client_free(client):
    drop(client).destroy()


@function(c_bool, Handle, c_int64)
def front_client_wait_for_server(client, timeout):
    return of(client).wait_for_service(sinew.Duration(nanoseconds=timeout))


@function(Status, Handle, c_void_p, c_size_t, c_int64, Receive, Handle)
def front_client_call(client, data, length, timeout, receive, context):
    response = of(client).call(made_of(Numbers.Request, data, length), sinew.Duration(nanoseconds=timeout))
    check(hand_over(response, lambda data, length: receive(context, data, length)))


def give(call, response, error):
    if error is not None:
        status = note(error)
        return call(status, _errors[threading.get_ident()].value, None, 0)
    return hand_over(response, lambda data, length: call(OK, None, data, length))


unsaid(
    "results of Python come on the thread that answers",
    Status, Handle, c_void_p, c_size_t, Outcome, ContextOf,
    names="client_call_then",
)  # fmt: skip

_calls = {}


@function(Status, Handle, c_void_p, c_size_t, Outcome, ContextOf, POINTER(c_uint64))
def front_client_call_immediately(client, data, length, result, context, id):
    call = Called(Outcome, result, context)
    future = of(client).call_async(made_of(Numbers.Request, data, length))
    number = next(_numbers)
    id[0] = number
    _calls[number] = future

    def done(future):
        _calls.pop(number, None)
        if not future.cancelled():
            error = future.exception()
            give(call, None if error else future.result(), error)

    future.add_done_callback(done)


@function(None, Handle, POINTER(c_uint64))
def front_client_give_up(_client, id):
    future = _calls.pop(id[0], None)
    if future is not None:
        future.cancel()


TAKEN = "results of Python aren't taken"
unsaid(TAKEN, Status, Handle, c_void_p, c_size_t, c_void_p, names="client_send")
unsaid(TAKEN, None, Handle, Listener, ContextOf, names="client_set_listener")
unsaid(TAKEN, Status, Handle, Outcome, Handle, c_void_p, c_void_p, names="client_take")

# ---- executors ----


@function(Status, c_size_t, c_int, c_void_p)
def front_executor_new(threads, on_error, executor):
    on_error = "raise" if on_error == 1 else "continue"
    if threads == 1:
        made = sinew.SingleThreadedExecutor(on_error=on_error)
    else:
        made = sinew.MultiThreadedExecutor(threads, on_error=on_error)
    put(made, executor)


@function(None, Handle)
def front_executor_free(executor):
    executor = drop(executor)
    for node in executor.get_nodes():
        executor.remove_node(node)


@function(Status, Handle, Handle)
def front_executor_add_context(executor, context):
    domain, executor = of(context), of(executor)
    domain.executors.append(executor)
    for node in domain.nodes:
        executor.add_node(node)


@function(Status, Handle, Handle)
def front_executor_add_node(executor, node):
    of(executor).add_node(of(node))


@function(Status, Handle, Handle)
def front_executor_add_group(executor, group):
    group = of(group)
    of(executor).add_callback_group(group, group._node)


@function(Status, Handle)
def front_executor_spin(executor):
    try:
        of(executor).spin()
    except sinew.ExternalShutdownException:
        pass  # the end of a spin, in other languages


@function(Status, Handle)
def front_executor_spin_some(executor):
    of(executor).spin_some()


@function(Status, Handle, c_int64)
def front_executor_spin_all(executor, _most):
    while of(executor).spin_some() > 0:
        pass


@function(Status, Handle, c_int64)
def front_executor_advance(executor, nanoseconds):
    of(executor).advance(sinew.Duration(nanoseconds=nanoseconds))


@function(Status, Handle, POINTER(c_int))
def front_executor_descriptor(executor, descriptor):
    descriptor[0] = of(executor)._made.fileno()


@function(Status, Handle, c_void_p)
def front_executor_stop_handle(executor, stop):
    put(of(executor), stop)


SETS = "Python has no wait sets"
unsaid(SETS, Status, c_int, c_void_p, names="set_new")
unsaid(SETS, None, Handle, names="set_free")
unsaid(SETS, Status, Handle, Handle, names="set_add_context set_add_node set_add_group set_add_subscription")
unsaid(SETS, Status, Handle, c_int64, c_void_p, names="set_wait")
unsaid(SETS, Status, Handle, c_size_t, names="set_run")
unsaid(SETS, c_bool, Handle, c_size_t, Handle, names="set_is_subscription")
unsaid(SETS, Status, Handle, c_void_p, names="set_stop_handle")


@function(None, Handle)
def front_stop(stop):
    of(stop).stop()


@function(None, Handle)
def front_stop_free(stop):
    drop(stop)


def fill(address, names):
    """Writes the addresses of the functions with these names into an array."""
    places = (c_void_p * len(names)).from_address(address)
    for place, name in enumerate(names):
        places[place] = cast(FUNCTIONS[name], c_void_p).value
