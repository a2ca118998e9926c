"""Services, clients, coroutines, parameters, the graph, logging."""

import unittest

import sinew
from sinew.interfaces.example_interfaces.srv import AddTwoInts
from sinew.interfaces.rcl_interfaces.msg import Log
from sinew.interfaces.std_msgs.msg import Int64, String
from sinew.service_introspection import ServiceIntrospectionState
from support import PATIENCE, SinewTest


def add(request, response):
    response.sum = request.a + request.b
    return response


class Services(SinewTest):
    def setUp(self):
        super().setUp()
        self.group = sinew.MutuallyExclusiveCallbackGroup()
        self.client = self.node.create_client(AddTwoInts, "add")

    def serve(self, callback=add, **options):
        return self.node.create_service(AddTwoInts, "add", callback, callback_group=self.group, **options)

    def ask(self, a, b):
        future = self.client.call_async(AddTwoInts.Request(a=a, b=b))
        self.assertTrue(self.executor.spin_until_future_complete(future, PATIENCE))
        return future.result()

    def test_a_call(self):
        self.assertFalse(self.client.service_is_ready())
        self.assertFalse(self.client.wait_for_service(0))
        self.serve()
        self.assertTrue(self.client.wait_for_service(PATIENCE))
        self.assertEqual(self.ask(1, 2).sum, 3)

    def test_statistics(self):
        service = self.serve()
        self.ask(1, 2)
        counts = self.client.get_statistics()
        self.assertEqual((counts.calls, counts.answered, counts.failed, counts.waiting), (1, 1, 0, 0))
        counts = service.get_statistics()
        self.assertEqual((counts.received, counts.answered, counts.dropped, counts.refused), (1, 1, 0, 0))

    def test_a_call_inside_a_callback(self):
        self.serve()
        sums, done = [], sinew.Future()

        def tick():
            timer.cancel()
            sums.append(self.client.call(AddTwoInts.Request(a=1, b=2), PATIENCE).sum)
            future = self.client.call_async(AddTwoInts.Request(a=3, b=4))
            self.assertTrue(sinew.spin_until_future_complete(self.node, future, timeout_sec=PATIENCE))
            sums.append(future.result().sum)
            done.set_result(None)

        timer = self.node.create_timer(0.001, tick)
        self.executor.spin_until_future_complete(done, PATIENCE)
        self.assertEqual(sums, [3, 7])

    def test_a_deadlock_is_an_error(self):
        self.node.create_service(AddTwoInts, "add", add)  # in the group of the timer
        done = sinew.Future()

        def tick():
            timer.cancel()
            with self.assertRaisesRegex(sinew.ServiceError, "never end"):
                self.client.call(AddTwoInts.Request(), PATIENCE)
            done.set_result(None)

        timer = self.node.create_timer(0.001, tick)
        self.assertTrue(self.executor.spin_until_future_complete(done, PATIENCE))

    def test_no_server(self):
        with self.assertRaises((sinew.ServiceError, TimeoutError)):
            self.client.call(AddTwoInts.Request(), 0.01)
        with self.assertRaises(TypeError):
            self.client.call_async(AddTwoInts.Response())

    def test_an_exception_fails_the_call(self):
        def fail(request, response):
            raise ValueError("too large")

        self.serve(fail)
        future = self.client.call_async(AddTwoInts.Request())
        with self.assertRaisesRegex(ValueError, "too large"):
            self.executor.spin_until_future_complete(future, PATIENCE)
        self.executor.spin_until_future_complete(future, PATIENCE)
        with self.assertRaisesRegex(sinew.ServiceError, "too large"):
            future.result()

    def test_a_wrong_response_fails_the_call(self):
        self.serve(lambda request, response: None)
        future = self.client.call_async(AddTwoInts.Request())
        with self.assertRaises(TypeError):
            self.executor.spin_until_future_complete(future, PATIENCE)
        self.executor.spin_until_future_complete(future, PATIENCE)
        self.assertIsNotNone(future.exception())

    def test_deferred_answers(self):
        waiting = []
        self.serve(lambda request, responder: waiting.append((request, responder)), deferred=True)
        futures = [self.client.call_async(AddTwoInts.Request(a=a)) for a in range(3)]
        self.spin_until(lambda: len(waiting) == 3)
        for request, responder in reversed(waiting):
            self.assertTrue(responder.is_awaited())
            responder.respond(AddTwoInts.Response(sum=request.a))
            with self.assertRaisesRegex(sinew.ServiceError, "already"):
                responder.respond(AddTwoInts.Response())
        for a, future in enumerate(futures):
            self.assertTrue(self.executor.spin_until_future_complete(future, PATIENCE))
            self.assertEqual(future.result().sum, a)

    def test_a_call_is_given_up(self):
        waiting = []
        self.serve(lambda request, responder: waiting.append(responder), deferred=True)
        future = self.client.call_async(AddTwoInts.Request())
        self.spin_until(lambda: waiting)
        self.assertTrue(future.cancel())
        self.assertFalse(waiting[0].is_awaited())
        with self.assertRaises(sinew.CancelledError):
            future.result()

    def test_a_caller_that_gives_up_ends_no_spin(self):
        futures, answered = [], []

        def late(request, response):
            futures[-1].cancel()
            answered.append(request.a)
            return response

        async def later(request, response):
            return late(request, response)

        for callback in (late, later):
            server = self.serve(callback)
            futures.append(self.client.call_async(AddTwoInts.Request(a=len(futures))))
            self.spin_until(lambda: len(answered) == len(futures))
            server.destroy()
        self.assertEqual(answered, [0, 1])

    def test_coroutines(self):
        async def slow(request, response):
            answer = await self.client_of_other.call_async(AddTwoInts.Request(a=request.a, b=10))
            response.sum = answer.sum
            return response

        self.node.create_service(AddTwoInts, "other", add)
        self.client_of_other = self.node.create_client(AddTwoInts, "other")
        self.serve(slow)
        self.assertEqual(self.ask(1, 2).sum, 11)

    def test_introspection(self):
        service, events = self.serve(), []
        topic, clock, qos = "add/_service_event", self.node.get_clock(), sinew.QoSProfile(depth=10)
        service.configure_introspection(clock, qos, ServiceIntrospectionState.CONTENTS)
        self.client.configure_introspection(clock, qos, ServiceIntrospectionState.METADATA)
        event_class = self.node.get_message_class(topic)
        self.assertEqual(event_class._class, AddTwoInts.Event._class)
        self.node.create_subscription(event_class, topic, events.append, 10)
        self.ask(1, 2)
        self.spin_until(lambda: len(events) == 4)
        found = {event.info.event_type: (list(event.request), list(event.response)) for event in events}
        request, response = AddTwoInts.Request(a=1, b=2), AddTwoInts.Response(sum=3)
        self.assertEqual(found, {0: ([], []), 1: ([request], []), 2: ([], [response]), 3: ([], [])})
        self.client.configure_introspection(clock, qos, ServiceIntrospectionState.OFF)
        self.assertEqual(self.node.count_publishers(topic), 1)
        with self.assertRaisesRegex(ValueError, "3 is no state"):
            service.configure_introspection(clock, qos, 3)
        service.destroy()
        with self.assertRaisesRegex(sinew.SinewError, "destroyed"):
            service.configure_introspection(clock, qos, ServiceIntrospectionState.OFF)

    def test_a_coroutine_that_fails_ends_the_spin(self):
        self.serve()

        async def fail(message):
            await self.client.call_async(AddTwoInts.Request())
            raise KeyError("after a call")

        self.node.create_subscription(Int64, "go", fail, 10)
        self.node.create_publisher(Int64, "go", 10).publish(Int64())
        with self.assertRaisesRegex(KeyError, "after a call"):
            self.executor.spin()


class Parameters(SinewTest):
    def test_all_types(self):
        values = [True, 5, 2.5, "text", b"\x01\x02", [True, False], [1, 2], [0.5], ["a", "b"]]
        for index, value in enumerate(values):
            name = f"p{index}"
            declared = self.node.declare_parameter(name, value)
            self.assertEqual((declared.value, declared.type_), (value, index + 1))
            as_message = self.node.declare_parameter(f"m{index}", declared.get_parameter_value())
            self.assertEqual((as_message.value, as_message.type_), (value, index + 1))
            self.assertEqual(self.node.get_parameter(name).get_parameter_value().type, index + 1)
        self.assertEqual(len(self.node.list_parameters(["p1"])), 1)

    def test_errors(self):
        node = self.node
        node.declare_parameter("speed", 1.0)
        with self.assertRaises(sinew.ParameterAlreadyDeclaredException):
            node.declare_parameter("speed", 1.0)
        with self.assertRaisesRegex(sinew.ParameterNotDeclaredException, "declare it first"):
            node.get_parameter("other")
        with self.assertRaises(sinew.ParameterNotDeclaredException):
            node.describe_parameter("other")
        with self.assertRaises(sinew.ParameterNotDeclaredException):
            node.set_parameters([sinew.Parameter("other", value=1)])
        with self.assertRaises(sinew.InvalidParameterTypeException):
            node.declare_parameter("nothing")
        with self.assertRaises(TypeError):
            node.declare_parameter("wrong", {})
        (result,) = node.set_parameters([sinew.Parameter("speed", value="fast")])
        self.assertFalse(result.successful)
        self.assertIn("double", result.reason)
        self.assertEqual(node.get_parameter_or("other", 7).value, 7)

    def test_a_type_without_a_value(self):
        node = self.node
        node.declare_parameter("later", sinew.ParameterType.DOUBLE)
        with self.assertRaisesRegex(sinew.ParameterUninitializedException, "'later' of node /test_node has no value"):
            node.get_parameter("later")
        self.assertEqual(node.get_parameter_type("later"), sinew.ParameterType.NOT_SET)
        self.assertEqual(node.get_parameter_or("later", 1.5).value, 1.5)
        self.assertTrue(node.set_parameters([sinew.Parameter("later", value=2.5)])[0].successful)
        self.assertEqual(node.get_parameter("later").value, 2.5)
        node.declare_parameter("any", None, sinew.ParameterDescriptor(dynamic_typing=True))
        self.assertIsNone(node.get_parameter("any").value)
        with self.assertRaisesRegex(ValueError, "can't have the type NOT_SET"):
            node.declare_parameter("nothing", sinew.ParameterType.NOT_SET)
        open_node = sinew.Node("open", context=self.context, allow_undeclared_parameters=True)
        self.addCleanup(open_node.destroy_node)
        self.assertIsNone(open_node.get_parameter("unknown").value)
        self.assertEqual(open_node.describe_parameter("unknown"), sinew.ParameterDescriptor())

    def test_arguments_of_a_node(self):
        import tempfile

        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write("/arm/node:\n  ros__parameters:\n    speed: 1.5\n    joints: 6\n")
            file.write("other:\n  ros__parameters:\n    speed: 9.5\n")
            file.flush()
            arguments = ["--ros-args", "-r", "__ns:=/arm", "--params-file", file.name, "-p", "joints:=7"]
            arguments += ["-p", "/arm/node:names:=[a, b]", "--param", "other:joints:=8", "-p", "grip:=true"]
            node = sinew.Node(
                "node",
                context=self.context,
                cli_args=arguments,
                parameter_overrides=[sinew.Parameter("grip", value=False)],
            )
        self.addCleanup(node.destroy_node)
        for name, value in (("speed", 1.5), ("joints", 7), ("names", ["a", "b"]), ("grip", False)):
            self.assertEqual(node.declare_parameter(name, type(value)()).value, value)
        for wrong, error, text in (
            (["-p", "speed"], sinew.SinewError, "it is NAME:=VALUE"),
            (["--params-file", "/none.yaml"], sinew.SinewError, "/none.yaml of node /wrong can't be used"),
            (["--log-level", "debug"], ValueError, "can't be an argument of one node"),
        ):
            with self.assertRaisesRegex(error, text):
                sinew.Node("wrong", context=self.context, cli_args=wrong)

    def test_several_at_once(self):
        node = self.node
        declared = node.declare_parameters("arm", [("joints", 6), ("speed", 1.5, sinew.ParameterDescriptor())])
        self.assertEqual([(one.name, one.value) for one in declared], [("arm.joints", 6), ("arm.speed", 1.5)])
        for wrong, error in (
            ([("new", 1), ("arm.speed", 1.0)], sinew.ParameterAlreadyDeclaredException),
            ([("new", 1), ("new", 2)], sinew.ParameterAlreadyDeclaredException),
            ([("new", 1), ()], TypeError),
            ([("new", 1), "speed"], TypeError),
        ):
            with self.assertRaises(error):
                node.declare_parameters("", wrong)
            self.assertFalse(node.has_parameter("new"))
        self.assertEqual(sorted(node.list_parameters(["arm"])), ["arm.joints", "arm.speed"])
        with self.assertRaisesRegex(ValueError, "negative"):
            node.list_parameters([], -1)

    def test_descriptors(self):
        from sinew.parameter import IntegerRange

        about = sinew.ParameterDescriptor(description="how many", integer_range=IntegerRange(0, 10, 2))
        self.node.declare_parameter("count", 4, about)
        self.assertFalse(self.node.set_parameters([sinew.Parameter("count", value=5)])[0].successful)
        self.assertTrue(self.node.set_parameters([sinew.Parameter("count", value=6)])[0].successful)
        found = self.node.describe_parameter("count")
        self.assertEqual((found.description, found.integer_range), ("how many", (0, 10, 2)))
        self.node.declare_parameter("fixed", 1, sinew.ParameterDescriptor(read_only=True))
        self.assertFalse(self.node.set_parameters([sinew.Parameter("fixed", value=2)])[0].successful)
        self.node.declare_parameter("any", 1, sinew.ParameterDescriptor(dynamic_typing=True))
        self.assertTrue(self.node.set_parameters([sinew.Parameter("any", value="text")])[0].successful)
        self.node.undeclare_parameter("any")
        self.assertFalse(self.node.has_parameter("any"))
        optional = self.node.declare_parameter("optional", sinew.ParameterType.INTEGER_ARRAY)
        self.assertIsNone(optional.value)
        self.assertTrue(self.node.set_parameters([sinew.Parameter("optional", value=[])])[0].successful)
        self.assertEqual(self.node.get_parameter("optional").value, [])

    def test_callbacks(self):
        node, seen = self.node, []
        node.declare_parameter("speed", 1.0)

        def check(parameters):
            too_fast = any(one.value > 5 for one in parameters)
            return sinew.SetParametersResult(successful=not too_fast, reason="too fast" if too_fast else "")

        node.add_pre_set_parameters_callback(
            lambda all: [sinew.Parameter(one.name, value=one.value * 2) for one in all]
        )
        node.add_on_set_parameters_callback(check)
        node.add_post_set_parameters_callback(lambda all: seen.extend(one.value for one in all))
        self.assertTrue(node.set_parameters([sinew.Parameter("speed", value=2.0)])[0].successful)
        (refused,) = node.set_parameters([sinew.Parameter("speed", value=3.0)])
        self.assertIn("too fast", refused.reason)
        self.assertEqual(seen, [4.0])
        node.remove_on_set_parameters_callback(check)
        with self.assertRaises(ValueError):
            node.remove_on_set_parameters_callback(check)
        self.assertTrue(node.set_parameters([sinew.Parameter("speed", value=3.0)])[0].successful)
        self.assertEqual(seen, [4.0, 6.0])


    def test_events_of_other_nodes(self):
        from sinew.parameter_event_handler import ParameterEventHandler

        other, seen = sinew.Node("other", context=self.context, namespace="/arm"), []
        self.addCleanup(other.destroy_node)

        def parameter(message):
            seen.append((message.name, message.value.integer_value))

        with ParameterEventHandler(self.node) as handler:
            of_other = handler.add_parameter_callback("joints", "/arm/other", parameter)
            own = handler.add_parameter_callback("joints", "", lambda message: seen.append("own"))
            events = handler.add_parameter_event_callback(lambda event: seen.append(event.node))
            other.declare_parameter("joints", 6)
            other.set_parameters([sinew.Parameter("joints", value=7)])
            self.spin_until(lambda: seen.count("/arm/other") == 2)
            self.assertEqual(seen, [("joints", 6), "/arm/other", ("joints", 7), "/arm/other"])
            for remove, handle in (
                (handler.remove_parameter_callback, of_other),
                (handler.remove_parameter_event_callback, events),
            ):
                remove(handle)
                with self.assertRaises(RuntimeError):
                    remove(handle)
            self.node.declare_parameter("joints", 1)
            other.set_parameters([sinew.Parameter("joints", value=8)])
            self.spin_until(lambda: "own" in seen)
            self.assertEqual(len(seen), 5)
            self.assertEqual(own.node_name, "/test_node")
            with self.assertRaisesRegex(TypeError, "callable"):
                handler.add_parameter_callback("joints", "", None)
        self.assertEqual(self.node.count_subscribers("/parameter_events"), 0)

    def test_clients(self):
        from sinew.parameter_client import AsyncParameterClient

        other = sinew.Node("other", context=self.context)
        self.addCleanup(other.destroy_node)
        self.executor.add_node(other)
        other.declare_parameter("sizes", [1, 2])
        other.declare_parameter("any", 1, sinew.ParameterDescriptor(dynamic_typing=True))
        client = AsyncParameterClient(self.node, "other")
        self.assertTrue(client.wait_for_services(PATIENCE))
        self.assertTrue(client.services_are_ready())

        def ask(future):
            self.assertTrue(self.executor.spin_until_future_complete(future, PATIENCE))
            return future.result()

        seen = []
        (value,) = ask(client.get_parameters(["sizes"], seen.append)).values
        self.assertEqual(sinew.parameter.parameter_value_to_python(value), [1, 2])
        self.assertEqual(len(seen), 1)
        parameters = [sinew.Parameter("sizes", value=[3]), sinew.Parameter("sizes", value="x").to_parameter_msg()]
        results = ask(client.set_parameters(parameters)).results
        self.assertEqual([result.successful for result in results], [True, False])
        self.assertFalse(ask(client.set_parameters_atomically(parameters)).result.successful)
        self.assertEqual(other.get_parameter("sizes").value, [3])
        self.assertEqual(sinew.Parameter.from_parameter_msg(parameters[1]), sinew.Parameter("sizes", value="x"))
        self.assertIn("sizes", ask(client.list_parameters()).result.names)
        other.declare_parameter("arm.joints.count", 6)
        self.assertIn("arm.joints.count", ask(client.list_parameters()).result.names)
        self.assertNotIn("arm.joints.count", ask(client.list_parameters(depth=1)).result.names)
        self.assertEqual(ask(client.get_parameter_types(["sizes"])).types.tolist(), [7])
        self.assertEqual(ask(client.describe_parameters(["sizes"])).descriptors[0].type, 7)
        self.assertTrue(ask(client.delete_parameters(["any"])).results[0].successful)
        self.assertFalse(other.has_parameter("any"))


class Graph(SinewTest):
    def test_what_is_there(self):
        node = self.node
        publisher = node.create_publisher(String, "text", 10)
        node.create_subscription(String, "text", lambda message: None, 5)
        node.create_service(AddTwoInts, "add", add)
        node.create_client(AddTwoInts, "add")
        self.assertIn(("/text", ["std_msgs/msg/String"]), node.get_topic_names_and_types())
        self.assertIn(("/add", ["example_interfaces/srv/AddTwoInts"]), node.get_service_names_and_types())
        self.assertIn(("test_node", "/"), node.get_node_names_and_namespaces())
        self.assertEqual(
            (node.count_publishers("text"), node.count_subscribers("/text"), node.count_services("add")), (1, 1, 1)
        )
        self.assertEqual(node.count_clients("add"), 1)
        (info,) = node.get_publishers_info_by_topic("text")
        self.assertEqual((info.node_name, info.endpoint_gid), ("test_node", publisher.gid))
        self.assertEqual(node.get_subscriptions_info_by_topic("text")[0].qos_profile.depth, 5)
        self.assertIn(
            ("/text", ["std_msgs/msg/String"]), node.get_subscriber_names_and_types_by_node("test_node", "/")
        )
        self.assertTrue(node.wait_for_node("test_node", PATIENCE))
        self.assertFalse(node.wait_for_node("nobody", 0))
        self.assertEqual(node.get_message_class("text")._class, String._class)
        self.assertIsNone(node.get_message_class("nothing"))


class Logging(SinewTest):
    def test_filters(self):
        logger = self.node.get_logger()
        said = [logger.info("once", once=True) for _ in range(3)]
        self.assertEqual(said, [True, False, False])
        said = [logger.info("not first", skip_first=True) for _ in range(3)]
        self.assertEqual(said, [False, True, True])
        said = [logger.info("throttled", throttle_duration_sec=1000) for _ in range(3)]
        self.assertEqual(said, [True, False, False])
        self.assertFalse(logger.debug("quiet"))
        child = logger.get_child("part")
        child.set_level(sinew.LoggingSeverity.DEBUG)
        self.assertTrue(child.debug("loud"))
        self.assertEqual(child.name, "test_node.part")
        self.assertEqual(logger.get_effective_level(), sinew.LoggingSeverity.INFO)

    def test_text_that_is_no_utf_8(self):
        for logger in (self.node.get_logger(), sinew.logging.get_logger("a\udcffb").get_child("c\udcff")):
            self.assertTrue(logger.info("a\udcffb"))

    def test_services_of_loggers(self):
        from sinew.interfaces.rcl_interfaces.msg import LoggerLevel
        from sinew.interfaces.rcl_interfaces.srv import GetLoggerLevels, SetLoggerLevels

        self.assertNotIn("/test_node/get_logger_levels", dict(self.node.get_service_names_and_types()))
        served = sinew.Node("served", context=self.context, enable_logger_service=True)
        self.addCleanup(served.destroy_node)
        get = self.node.create_client(GetLoggerLevels, "/served/get_logger_levels")
        set_levels = self.node.create_client(SetLoggerLevels, "/served/set_logger_levels")
        names = GetLoggerLevels.Request(names=["served"])
        self.assertEqual(get.call(names, PATIENCE).levels[0].level, 0)
        levels = [LoggerLevel(name="served", level=level) for level in (40, 7)]
        results = set_levels.call(SetLoggerLevels.Request(levels=levels), PATIENCE).results
        self.assertEqual([result.successful for result in results], [True, False])
        self.assertEqual(get.call(names, PATIENCE).levels[0].level, 40)
        self.assertEqual(served.get_logger().get_effective_level(), sinew.LoggingSeverity.ERROR)
        self.assertEqual(served.get_logger().get_level(), sinew.LoggingSeverity.ERROR)
        self.assertEqual(served.get_logger().get_child("part").get_level(), sinew.LoggingSeverity.UNSET)

    def test_rosout(self):
        lines = []
        self.node.create_subscription(Log, "/rosout", lines.append, 10)
        speaker = sinew.Node("speaker", context=self.context)  # no other node has its logger's name
        speaker.get_logger().error("help")
        self.spin_until(lambda: any(line.msg == "help" for line in lines))
        (line,) = [line for line in lines if line.msg == "help"]
        self.assertEqual((line.name, line.level, line.function), ("speaker", 40, "test_rosout"))
        self.assertTrue(line.file.endswith("test_services.py"))


if __name__ == "__main__":
    unittest.main()
