"""Publishers, subscriptions, timers, events, QoS."""

import gc
import threading
import unittest
import weakref

import sinew
from sinew.interfaces.std_msgs.msg import Int64, String
from sinew.qos import QoSProfile, qos_check_compatible
from support import SinewTest


class Topics(SinewTest):
    def test_messages_come_in_order(self):
        heard = []
        self.node.create_subscription(Int64, "numbers", lambda message: heard.append(message.data), 100)
        publisher = self.node.create_publisher(Int64, "numbers", 100)
        for number in range(100):
            publisher.publish(Int64(data=number))
        self.assertEqual(self.executor.spin_some(), 100)
        self.assertEqual(heard, list(range(100)))

    def test_statistics(self):
        subscription = self.node.create_subscription(Int64, "numbers", None, 3)
        publisher = self.node.create_publisher(Int64, "numbers", 10)
        for number in range(5):
            publisher.publish(Int64(data=number))
        subscription.take()
        counts = subscription.get_statistics()
        self.assertEqual((counts.received, counts.taken, counts.waiting, counts.overwritten), (5, 1, 2, 2))
        self.assertEqual((counts.missed, counts.refused, counts.expired), (0, 0, 0))
        self.assertEqual((publisher.get_statistics().published, publisher.get_statistics().copies), (5, 0))
        subscription.destroy()
        with self.assertRaises(sinew.InvalidHandle):
            subscription.get_statistics()

    def test_limits(self):
        limits = {"max_samples": 2, "max_blocking_time": sinew.Duration()}
        profile = QoSProfile(history=sinew.HistoryPolicy.KEEP_ALL, **limits)
        subscription = self.node.create_subscription(Int64, "numbers", None, profile)
        publisher = self.node.create_publisher(Int64, "numbers", profile)
        self.assertEqual(publisher.qos_profile.max_samples, 2)
        self.assertEqual(publisher.qos_profile.max_blocking_time, sinew.Duration())
        for number in range(2):
            publisher.publish(Int64(data=number))
        with self.assertRaisesRegex(sinew.SinewError, "room"):
            publisher.publish(Int64(data=2))
        self.assertEqual(subscription.take()[0].data, 0)
        publisher.publish(Int64(data=2))
        self.assertEqual(QoSProfile(depth=1).max_blocking_time, sinew.Duration(nanoseconds=100_000_000))
        with self.assertRaises(ValueError):
            QoSProfile(depth=1, max_samples=0)

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
                self.create_subscription(String, "text").set_listener(self.on_text)
                self.add_pre_set_parameters_callback(self.on_text)
                self.add_on_set_parameters_callback(self.on_text)
                self.add_post_set_parameters_callback(self.on_text)
                self.jumps = context._handle.on_time_jump(True, None, None, self.on_text)
                self.end = context._handle.on_shutdown(self.on_text)
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

    def test_sleeps_in_simulated_time(self):
        handle, clock, slept = self.context._handle, self.node.get_clock(), []
        ros = sinew.ClockType.ROS_TIME
        for times, expected in (([2, 1, 5, 7], True), ([2, None], False)):
            handle.set_ros_time(10**9)
            until = sinew.Time(seconds=6, clock_type=ros)
            sleeper = threading.Thread(target=lambda: slept.append(clock.sleep_until(until)))
            sleeper.start()
            for time in times:
                sleeper.join(0.001)
                self.assertTrue(sleeper.is_alive())
                handle.set_ros_time(time and time * 10**9)
            sleeper.join()
            self.assertEqual(slept.pop(), expected)

    def test_times(self):
        with self.assertRaisesRegex(ValueError, "negative"):
            sinew.Time(seconds=-1)
        with self.assertRaisesRegex(OverflowError, "no room in 64 bits"):
            sinew.Time(nanoseconds=2**63)
        self.assertEqual(str(sinew.Duration(seconds=1)), "1000000000 nanoseconds")
        self.assertEqual(str(sinew.Duration(nanoseconds=2**63 - 1)), "Infinite")

    def test_jumps_of_time(self):
        from sinew.jumps import ClockChange, JumpThreshold, TimeJump

        seen, handle, clock = [], self.context._handle, self.node.get_clock()
        second = sinew.Duration(seconds=1)
        back = JumpThreshold(min_forward=None, min_backward=second * -1, on_clock_change=False)
        changes = JumpThreshold(min_forward=second, min_backward=None)
        handle.set_ros_time(10**9)
        with clock.create_jump_callback(back, post_callback=seen.append):
            for time in (2 * 10**9, 15 * 10**8, 0):
                handle.set_ros_time(time)
        handle.set_ros_time(5 * 10**9)
        handle.set_ros_time(0)
        same = ClockChange.ROS_TIME_NO_CHANGE
        self.assertEqual(seen, [TimeJump(same, sinew.Duration(seconds=-1.5))])
        seen.clear()
        kept = clock.create_jump_callback(changes, post_callback=seen.append)
        handle.set_ros_time(3 * 10**9)
        handle.set_ros_time(None)
        self.assertEqual([jump.clock_change for jump in seen], [same, ClockChange.ROS_TIME_DEACTIVATED])
        self.assertEqual(seen[0].delta, sinew.Duration(seconds=3))
        kept.unregister()
        with self.assertRaisesRegex(ValueError, "admits no jump"):
            JumpThreshold(min_forward=None, min_backward=None, on_clock_change=False)
        with self.assertRaisesRegex(ValueError, "must be negative"):
            JumpThreshold(min_forward=None, min_backward=second)
        with self.assertRaisesRegex(ValueError, "use post_callback"):
            clock.create_jump_callback(changes, pre_callback=print, post_callback=print)

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


if __name__ == "__main__":
    unittest.main()
