"""Executors and contexts."""

import functools
import threading
import traceback
import unittest
from unittest import mock

import sinew
from sinew.interfaces.std_msgs.msg import Int64, String
from support import PATIENCE, SinewTest


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

    def test_virtual_time(self):
        clock = sinew.VirtualClock()
        context = sinew.Context()
        context.init([], signals=False, virtual_clock=clock)
        self.addCleanup(context.try_shutdown)
        node, executor = sinew.Node("ticker", context=context), sinew.SingleThreadedExecutor()
        executor.add_node(node)
        ticks = []
        node.create_timer(60, lambda: ticks.append(node.get_clock().now().nanoseconds))
        self.assertEqual(executor.advance(600), 10)
        self.assertEqual(ticks, [minute * 60_000_000_000 for minute in range(1, 11)])
        self.assertEqual(clock.now().nanoseconds, 600_000_000_000)
        clock.advance(sinew.Duration(seconds=60))
        self.assertEqual((executor.spin_some(), len(ticks)), (1, 11))
        clock.set(sinew.Time())
        self.assertEqual(clock.now().nanoseconds, 0)
        with self.assertRaises(ValueError):
            executor.advance(-1)
        with self.assertRaises(sinew.SinewError):
            self.executor.advance(1)

    def test_groups(self):
        heard = []
        first, second = sinew.MutuallyExclusiveCallbackGroup(), sinew.MutuallyExclusiveCallbackGroup(priority=1)

        def listen(topic, group):
            self.node.create_subscription(String, topic, lambda message: heard.append(topic), 10, callback_group=group)

        listen("first", first)
        listen("second", second)
        publishers = [self.node.create_publisher(String, topic, 10) for topic in ("first", "second")]

        def publish():
            heard.clear()
            for publisher in publishers:
                publisher.publish(String())

        publish()
        self.executor.spin_some()
        self.assertEqual(heard, ["second", "first"])
        first.priority = 2
        publish()
        self.executor.spin_some()
        self.assertEqual((heard, first.priority), (["first", "second"], 2))
        first.pause()
        publish()
        self.executor.spin_some()
        self.assertEqual(heard, ["second"])
        first.resume()  # what came meanwhile is old
        publish()
        self.spin_until(lambda: len(heard) == 2)

    def test_a_group_that_pauses_before_it_has_a_node(self):
        group, heard = sinew.ReentrantCallbackGroup(), []
        group.pause()
        self.node.create_subscription(String, "chatter", heard.append, 10, callback_group=group)
        publisher = self.node.create_publisher(String, "chatter", 10)
        publisher.publish(String())
        self.assertEqual(self.executor.spin_some(), 0)
        group.resume()
        publisher.publish(String())
        self.spin_until(lambda: heard)

    def test_an_executor_of_one_group(self):
        node, heard = sinew.Node("two", context=self.context), []
        group = sinew.MutuallyExclusiveCallbackGroup()
        node.create_subscription(String, "chatter", lambda message: heard.append("in"), 10, callback_group=group)
        node.create_subscription(String, "chatter", lambda message: heard.append("out"), 10)
        executor = sinew.SingleThreadedExecutor()
        executor.add_callback_group(group, node)
        node.create_publisher(String, "chatter", 10).publish(String())
        executor.spin_some()
        self.assertEqual((heard, executor.get_nodes()), (["in"], []))

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

    def test_one_thread_spins(self):
        for executor in (self.executor, sinew.MultiThreadedExecutor(2)):
            begun, future = threading.Event(), sinew.Future()
            task = executor.create_task(begun.set)  # begins with the first node
            self.executor.remove_node(self.node)
            executor.add_node(self.node)
            thread = threading.Thread(target=executor.spin)
            thread.start()
            self.assertTrue(begun.wait(PATIENCE) and not future.done())
            for spin in (executor.spin, executor.spin_once):
                with self.assertRaisesRegex(RuntimeError, "spun"):
                    spin()
            self.node.create_guard_condition(lambda: future.set_result(1)).trigger()
            self.assertTrue(executor.spin_until_future_complete(future, PATIENCE))
            executor.stop()
            thread.join()
            self.assertTrue(task.done())

    def test_one_callback_or_a_future(self):
        future, calls = sinew.Future(), []
        guard = self.node.create_guard_condition(lambda: calls.append(1))
        guard.trigger()
        self.assertFalse(self.executor.spin_once_until_future_complete(future, PATIENCE))
        self.assertEqual(calls, [1])
        other = threading.Timer(0.001, future.set_result, [None])  # while this thread waits for a callback
        other.start()
        self.assertTrue(self.executor.spin_once_until_future_complete(future, PATIENCE))
        guard.trigger()
        self.assertTrue(self.executor.spin_once_until_future_complete(future))
        self.assertEqual(calls, [1])
        other.join()

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
            node = sinew.Node("node", namespace="arm", context=context)
            self.assertEqual(node.get_fully_qualified_name(), "/arm/node")
            node.destroy_node()
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
