"""Publishers, subscriptions, timers, events, QoS, groups, executors."""

import functools
import gc
import threading
import traceback
import unittest
import weakref
from unittest import mock

import sinew
from sinew.interfaces.std_msgs.msg import Int64, String
from sinew.qos import QoSProfile, qos_check_compatible
from support import PATIENCE, SinewTest


class Topics(SinewTest):
    def test_messages_come_in_order(self):
        heard = []
        self.node.create_subscription(Int64, "numbers", lambda message: heard.append(message.data), 100)
        publisher = self.node.create_publisher(Int64, "numbers", 100)
        for number in range(100):
            publisher.publish(Int64(data=number))
        self.assertEqual(self.executor.spin_some(), 100)
        self.assertEqual(heard, list(range(100)))

    def test_the_depth_counts(self):
        subscription = self.node.create_subscription(Int64, "numbers", None, 3)
        publisher = self.node.create_publisher(Int64, "numbers", 10)
        for number in range(10):
            publisher.publish(Int64(data=number))
        taken = [subscription.take() for _ in range(4)]
        self.assertIsNone(taken.pop())
        self.assertEqual([message.data for message, _ in taken], [7, 8, 9])

    def test_info(self):
        heard = []
        self.node.create_subscription(Int64, "numbers", lambda message, info: heard.append(info), 10)
        publisher = self.node.create_publisher(Int64, "numbers", 10)
        publisher.publish(Int64(data=1))
        publisher.publish(Int64(data=2))
        self.executor.spin_some()
        self.assertEqual([info.publication_sequence_number for info in heard], [1, 2])
        self.assertEqual(heard[0].publisher_gid, publisher.gid)
        self.assertLessEqual(heard[0].source_timestamp, heard[0].received_timestamp)

    def test_raw(self):
        heard = []
        self.node.create_subscription(String, "raw", heard.append, 10, raw=True)
        publisher = self.node.create_publisher(String, "raw", 10)
        publisher.publish(String(data="hello"))
        self.executor.spin_some()
        publisher.publish(heard[0])
        self.executor.spin_some()
        self.assertEqual(heard[0], heard[1])
        self.assertIn(b"hello", heard[0])
        with self.assertRaisesRegex(ValueError, "header of 4 bytes"):
            publisher.publish(b"abc")

    def test_wrong_messages_are_refused(self):
        publisher = self.node.create_publisher(String, "text", 10)
        with self.assertRaisesRegex(TypeError, "Int64"):
            publisher.publish(Int64())
        with self.assertRaises(TypeError):
            publisher.publish("text")
        with self.assertRaises(TypeError):
            self.node.create_publisher(int, "text", 10)
        with self.assertRaises(sinew.InvalidNameError):
            self.node.create_publisher(String, "no topic", 10)

    def test_transient_local(self):
        profile = QoSProfile(depth=2, durability=sinew.DurabilityPolicy.TRANSIENT_LOCAL)
        publisher = self.node.create_publisher(Int64, "map", profile)
        for number in range(5):
            publisher.publish(Int64(data=number))
        heard = []
        self.node.create_subscription(Int64, "map", lambda message: heard.append(message.data), profile)
        self.executor.spin_some()
        self.assertEqual(heard, [3, 4])
        self.assertEqual(publisher.qos_profile, profile)

    def test_what_is_destroyed(self):
        publisher = self.node.create_publisher(String, "text", 10)
        subscription = self.node.create_subscription(String, "text", lambda message: None, 10)
        self.assertEqual(publisher.get_subscription_count(), 1)
        self.assertTrue(self.node.destroy_subscription(subscription))
        self.assertFalse(self.node.destroy_subscription(subscription))
        self.assertEqual(publisher.get_subscription_count(), 0)
        self.node.destroy_publisher(publisher)
        with self.assertRaisesRegex(sinew.SinewError, "destroyed"):
            publisher.publish(String())

    def test_a_destroyed_node_goes(self):
        def create(node):
            group = sinew.MutuallyExclusiveCallbackGroup()
            return [
                group,
                node.get_logger(),
                node.get_clock(),
                node.create_publisher(String, "text", 10),
                node.create_subscription(String, "text", lambda message: None, 10, callback_group=group),
                node.create_timer(1.0, print),
                node.create_guard_condition(print),
                node.create_rate(1),
                node.create_service(sinew.interfaces.std_srvs.srv.Trigger, "trigger", print),
                node.create_client(sinew.interfaces.std_srvs.srv.Trigger, "trigger"),
                sinew.action.ActionServer(node, sinew.interfaces.example_interfaces.action.Fibonacci, "action", print),
                sinew.action.ActionClient(node, sinew.interfaces.example_interfaces.action.Fibonacci, "action"),
                sinew.tf.TransformListener(sinew.tf.Buffer(), node),
                sinew.tf.TransformBroadcaster(node),
                node.add_post_set_parameters_callback(print),
            ]

        node = sinew.Node("goes", context=self.context, enable_logger_service=True)
        self.executor.add_node(node)
        kept = create(node)
        managed = sinew.lifecycle.LifecycleNode("managed", context=self.context)
        self.assertIn("managed", self.node.get_node_names())
        node.destroy_node()
        managed.destroy_node()
        self.assertEqual(self.node.get_node_names(), ["test_node"])
        self.assertEqual(self.executor.get_nodes(), [self.node])
        self.assertEqual(node.get_fully_qualified_name(), "/goes")
        for make in (
            lambda: node.create_publisher(String, "text", 10),
            lambda: node.create_subscription(String, "text", print, 10, callback_group=kept[0]),
            lambda: node.create_timer(1.0, print, callback_group=sinew.ReentrantCallbackGroup()),
            lambda: node.get_topic_names_and_types(),
            lambda: node.declare_parameter("late", 1),
            lambda: self.executor.add_node(node),
        ):
            with self.assertRaisesRegex(sinew.SinewError, "the node /goes was destroyed"):
                make()
        node.destroy_node()

    def test_a_node_that_is_dropped_goes(self):
        class Own(sinew.Node):
            def __init__(self, context):
                super().__init__("own", context=context)
                self.create_subscription(String, "text", self.on_text, 10)
                self.create_timer(1.0, self.on_text)
                self.create_service(sinew.interfaces.std_srvs.srv.Trigger, "trigger", self.on_text)

            def on_text(self, *arguments):
                pass

        own = weakref.ref(Own(self.context))
        gc.collect()
        self.assertIsNone(own())
        self.assertEqual(self.node.count_subscribers("text"), 0)

    def test_ten_thousand_messages_are_kept(self):
        kept = []
        self.node.create_subscription(Int64, "numbers", kept.append, 100)
        publisher = self.node.create_publisher(Int64, "numbers", 100)
        for number in range(0, 10_000, 100):
            for one in range(number, number + 100):
                publisher.publish(Int64(data=one))
            self.executor.spin_some()
        self.context.shutdown()
        self.node.destroy_node()
        self.assertEqual([message.data for message in kept], list(range(10_000)))


class Events(SinewTest):
    def test_matched(self):
        seen = []
        events = sinew.PublisherEventCallbacks(matched=seen.append)
        self.node.create_publisher(String, "text", 10, event_callbacks=events)
        self.node.create_subscription(String, "text", lambda message: None, 10)
        self.spin_until(lambda: seen)
        self.assertEqual((seen[0].total_count, seen[0].current_count), (1, 1))

    def test_incompatible_qos(self):
        seen = []
        events = sinew.SubscriptionEventCallbacks(incompatible_qos=seen.append)
        self.node.create_subscription(String, "text", lambda message: None, 10, event_callbacks=events)
        best_effort = QoSProfile(depth=1, reliability=sinew.ReliabilityPolicy.BEST_EFFORT)
        self.node.create_publisher(String, "text", best_effort)
        self.spin_until(lambda: seen)
        self.assertEqual(seen[0].total_count, 1)
        self.assertIn("reliab", seen[0].last_reason)
        self.assertIn("reliab", qos_check_compatible(best_effort, QoSProfile(depth=1)))
        self.assertIsNone(qos_check_compatible(QoSProfile(depth=1), best_effort))

    def test_deadline_and_liveliness(self):
        seen = []
        soon = sinew.Duration(nanoseconds=1_000_000)
        profile = QoSProfile(
            depth=1,
            deadline=soon,
            liveliness=sinew.LivelinessPolicy.MANUAL_BY_TOPIC,
            liveliness_lease_duration=soon,
        )
        events = sinew.SubscriptionEventCallbacks(
            deadline=lambda status: seen.append("deadline"), liveliness=lambda status: seen.append("liveliness")
        )
        self.node.create_subscription(String, "text", lambda message: None, profile, event_callbacks=events)
        publisher = self.node.create_publisher(String, "text", profile)
        publisher.publish(String())
        publisher.assert_liveliness()
        self.spin_until(lambda: "deadline" in seen and "liveliness" in seen)

    def test_unknown_events(self):
        with self.assertRaisesRegex(TypeError, "no event 'lost'"):
            sinew.SubscriptionEventCallbacks(lost=print)


class Timers(SinewTest):
    def test_a_timer_runs_until_it_is_cancelled(self):
        calls = []

        def tick(info):
            calls.append(info.expected_call_time)
            if len(calls) == 3:
                timer.cancel()

        timer = self.node.create_timer(0.001, tick)
        self.spin_until(timer.is_canceled)
        self.assertEqual(len(calls), 3)
        self.assertEqual((calls[1] - calls[0]).nanoseconds % 1_000_000, 0)
        self.assertEqual(calls[0].clock_type, sinew.ClockType.STEADY_TIME)
        self.assertIsNone(timer.time_since_last_call())
        timer.reset()
        self.spin_until(lambda: len(calls) == 4)
        self.assertEqual(timer.timer_period_ns, 1_000_000)
        self.assertIs(timer.clock, self.node.get_clock())
        clock = sinew.Clock(clock_type=sinew.ClockType.SYSTEM_TIME, context=self.context)
        other = self.node.create_timer(1000, lambda: None, clock=clock)
        self.assertIs(other.clock, clock)
        self.assertLess(other.time_since_last_call(), 1000 * 10**9)

    def test_simulated_time(self):
        calls = []
        handle = self.context._handle
        handle.set_ros_time(5 * 10**9)
        self.node.create_timer(sinew.Duration(seconds=100), lambda: calls.append(self.node.get_clock().now()))
        self.assertFalse(self.executor.spin_once(0))
        handle.set_ros_time(200 * 10**9)
        self.spin_until(lambda: calls)
        self.assertEqual(calls[0].nanoseconds, 200 * 10**9)
        self.assertTrue(self.node.get_clock().ros_time_is_active)

    def test_a_wrong_period(self):
        with self.assertRaisesRegex(ValueError, "must be positive"):
            self.node.create_timer(-1, print)
        with self.assertRaisesRegex(ValueError, "must be positive"):
            self.node.create_rate(0)
        with self.assertRaisesRegex(TypeError, "number of seconds or a Duration, not 'x'"):
            self.node.create_timer("x", print)
        with self.assertRaisesRegex(ValueError, "finite"):
            self.node.create_timer(float("inf"), print)

    def test_guard_condition(self):
        calls = []
        guard = self.node.create_guard_condition(lambda: calls.append(1))
        guard.trigger()
        guard.trigger()
        self.executor.spin_some()
        self.assertEqual(calls, [1])

    def test_a_rate_sleeps(self):
        rate = self.node.create_rate(1000)
        before = self.node.get_clock().now()
        rate.sleep()
        self.assertGreater(self.node.get_clock().now(), before)
        self.context.shutdown()
        with self.assertRaises(sinew.ExternalShutdownException):
            self.node.create_rate(0.001).sleep()


class Executors(SinewTest):
    def test_an_exception_ends_the_spin(self):
        def fail(message):
            raise KeyError("of the callback")

        heard = []
        self.node.create_subscription(String, "bad", fail, 10)
        self.node.create_subscription(String, "good", heard.append, 10)
        for topic in ("bad", "good"):
            self.node.create_publisher(String, topic, 10).publish(String())
        try:
            self.executor.spin()
        except KeyError:
            self.assertIn("in fail\n", traceback.format_exc())
        else:
            self.fail("no exception")
        self.spin_until(lambda: heard)

    def test_an_exception_may_be_logged_instead(self):
        executor = sinew.SingleThreadedExecutor(on_error="continue")
        node = sinew.Node("other", context=self.context)
        executor.add_node(node)
        node.create_subscription(Int64, "numbers", lambda message: 1 // message.data, 10)
        publisher = node.create_publisher(Int64, "numbers", 10)
        publisher.publish(Int64(data=0))
        publisher.publish(Int64(data=1))
        self.assertEqual(executor.spin_some(), 2)

    def test_several_threads(self):
        for executor in (sinew.MultiThreadedExecutor(3), sinew.MultiThreadedExecutor(2)):
            node = sinew.Node("threads", context=self.context)
            executor.add_node(node)
            done = sinew.Future()
            barrier = threading.Barrier(2, timeout=PATIENCE)
            group = sinew.ReentrantCallbackGroup()
            met = []

            def meet(message):
                met.append(barrier.wait())
                if len(met) == 2:
                    done.set_result("both")

            node.create_subscription(Int64, "meet", meet, 10, callback_group=group)
            publisher = node.create_publisher(Int64, "meet", 10)
            publisher.publish(Int64())
            publisher.publish(Int64())
            self.assertTrue(executor.spin_until_future_complete(done, PATIENCE))
            self.assertEqual(done.result(), "both")
            node.create_timer(0.001, lambda: 1 // 0)
            with self.assertRaises(ZeroDivisionError):
                executor.spin()
            node.destroy_node()

    def test_stop_and_shutdown(self):
        for executor in (self.executor, sinew.MultiThreadedExecutor(2)):
            node = sinew.Node("stopped", context=self.context)
            executor.add_node(node)
            node.create_timer(0.001, executor.stop)
            executor.spin()
            executor.remove_node(node)
        in_time = threading.Timer(0.001, self.context.shutdown)
        in_time.start()
        with self.assertRaises(sinew.ExternalShutdownException):
            self.executor.spin()
        with self.assertRaises(sinew.ExternalShutdownException):
            self.executor.spin_once()
        in_time.join()

    def test_callbacks_get_what_they_ask_for(self):
        got = []

        def decorated(function):
            return lambda *arguments, **named: function(*arguments, **named)

        def with_option(message, verbose=False):
            got.append((message.data, verbose))

        with_info = lambda message, info: got.append(info)
        callbacks = (decorated(with_option), with_option, functools.partial(with_option), with_info)
        for callback in callbacks:
            self.node.create_subscription(Int64, "asked", callback, 10)
        self.node.create_timer(0.001, decorated(lambda: got.append("tick")))
        self.node.create_publisher(Int64, "asked", 10).publish(Int64(data=4))
        self.spin_until(lambda: sum(one != "tick" for one in got) == len(callbacks) and "tick" in got)
        self.assertEqual(got.count((4, False)), 3)
        self.assertEqual(sum(type(one).__name__ == "MessageInfo" for one in got), 1)

    def test_wrong_callbacks(self):
        node = self.node
        for what, make in (
            ("subscription", lambda: node.create_subscription(String, "wrong", 5, 10)),
            ("timer", lambda: node.create_timer(1, "tick")),
            ("service", lambda: node.create_service(sinew.interfaces.std_srvs.srv.Trigger, "wrong", None)),
            ("guard condition", lambda: node.create_guard_condition(5)),
        ):
            with self.assertRaisesRegex(TypeError, f"callback of a {what} must be callable"):
                make()
        self.assertEqual(node.count_subscribers("wrong"), 0)

    def test_the_executor_of_a_node(self):
        other = sinew.SingleThreadedExecutor(context=self.context)
        self.assertIs(other.context, self.context)
        self.assertIs(self.executor.context, self.context)
        self.node.executor = other
        self.assertEqual((self.executor.get_nodes(), other.get_nodes()), ([], [self.node]))
        self.node.executor = None
        self.assertEqual((self.node.executor, other.get_nodes()), (None, []))
        self.context.shutdown()
        with self.assertRaises(sinew.ExternalShutdownException):
            other.spin()  # it has no node, but a context

    def test_shutdown_waits_for_the_spin(self):
        begun, ends = threading.Event(), threading.Event()

        def tick():
            timer.cancel()
            self.assertTrue(self.executor.is_spinning)
            begun.set()
            ends.wait(PATIENCE)

        timer = self.node.create_timer(0.001, tick)
        thread = threading.Thread(target=self.executor.spin)
        thread.start()
        self.assertTrue(begun.wait(PATIENCE))
        self.assertFalse(self.executor.shutdown(timeout_sec=0))
        ends.set()
        self.assertTrue(self.executor.shutdown(PATIENCE))
        self.assertFalse(self.executor.is_spinning)
        self.assertEqual(self.executor.get_nodes(), [])
        thread.join()

    def test_a_task_before_the_first_node(self):
        async def seven():
            return 7

        executor = sinew.SingleThreadedExecutor()
        task = executor.create_task(seven)
        self.assertFalse(executor.spin_until_future_complete(task, 0))
        self.executor.remove_node(self.node)
        executor.add_node(self.node)
        self.assertTrue(executor.spin_until_future_complete(task, PATIENCE))
        self.assertEqual(task.result(), 7)
        executor.remove_node(self.node)

    def test_wrong_options(self):
        for qos, error in (("q", TypeError), (None, TypeError), (-1, ValueError)):
            with self.assertRaisesRegex(error, "QoS"):
                self.node.create_publisher(Int64, "wrong", qos)
        with self.assertRaisesRegex(ValueError, "at least one thread"):
            sinew.MultiThreadedExecutor(0)

    def test_methods_without_effect_are_named(self):
        with mock.patch("sinew.logging.get_logger") as logger:

            class Throttled(sinew.CallbackGroup):
                def can_execute(self, entity):
                    return False

            class Own(sinew.Executor):
                def spin_once(self, timeout_sec=None):
                    return False

            class Plain(sinew.MultiThreadedExecutor):
                pass

        texts = [call.args[0] for call in logger.return_value.warning.call_args_list]
        self.assertEqual([text.split(" ")[0].split(".", 3)[-1] for text in texts], ["Throttled.can_execute", "Own.spin_once"])

    def test_a_shutdown_by_a_callback_ends_the_spin(self):
        for make in (sinew.SingleThreadedExecutor, lambda: sinew.MultiThreadedExecutor(2)):
            with sinew.Context() as context, make() as executor:
                node = sinew.Node("ends", context=context)
                executor.add_node(node)
                node.create_timer(0.001, context.shutdown)
                executor.spin()
                with self.assertRaises(sinew.ExternalShutdownException):
                    executor.spin()

    def test_a_future_of_another_thread(self):
        future = sinew.Future()
        self.node.create_guard_condition(lambda: threading.Thread(target=future.set_result, args=[7]).start()).trigger()
        self.assertTrue(self.executor.spin_until_future_complete(future, PATIENCE))
        self.assertEqual(future.result(), 7)
        self.assertFalse(self.executor.spin_until_future_complete(sinew.Future(), 0))

    def test_tasks(self):
        async def add(a, b):
            return a + b

        task = self.executor.create_task(add, 1, 2)
        self.assertTrue(self.executor.spin_until_future_complete(task, PATIENCE))
        self.assertEqual(task.result(), 3)


class Contexts(unittest.TestCase):
    def test_nothing_works_before_init(self):
        context = sinew.Context()
        self.assertFalse(context.ok())
        with self.assertRaisesRegex(sinew.NotInitializedException, "sinew.init"):
            sinew.Node("early", context=context)
        with self.assertRaises(sinew.NotInitializedException):
            context.shutdown()

    def test_it_begins_again(self):
        context = sinew.Context()
        for _ in range(2):
            with context:
                self.assertTrue(context.ok())
                sinew.Node("again", context=context).destroy_node()
            self.assertFalse(context.ok())

    def test_names_are_checked(self):
        with sinew.Context() as context:
            with self.assertRaises(sinew.InvalidNameError):
                sinew.Node("no name", context=context)
            with self.assertRaises(sinew.InvalidNameError):
                sinew.Node("name", namespace="1/2", context=context)

    def test_arguments(self):
        context = sinew.Context()
        arguments = ["program", "--own", "--ros-args", "-r", "a:=b", "-r", "__ns:=/robot", "-p", "speed:=2.5"]
        with context:
            pass
        context = sinew.Context()
        context.init(arguments)
        node = sinew.Node("driver", context=context)
        self.assertEqual(node.get_fully_qualified_name(), "/robot/driver")
        self.assertEqual(node.resolve_topic_name("a"), "/robot/b")
        self.assertEqual(node.declare_parameter("speed", 1.0).value, 2.5)
        self.assertEqual(context._handle.rest, ["program", "--own"])
        own = sinew.Node("own", context=context, cli_args=["--ros-args", "-r", "a:=c"])
        self.assertEqual(own.resolve_topic_name("a"), "/robot/c")
        called = []
        context.on_shutdown(lambda: called.append(context.ok()))
        context.shutdown("enough")
        self.assertEqual(called, [False])
        self.assertEqual(context.shutdown_reason, "enough")
        with self.assertRaises(sinew.ExternalShutdownException):
            node.create_publisher(String, "late", 10)


if __name__ == "__main__":
    unittest.main()
