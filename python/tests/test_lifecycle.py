"""Managed nodes."""

import subprocess
import unittest

import sinew
from sinew.interfaces.lifecycle_msgs.msg import TransitionEvent
from sinew.interfaces.lifecycle_msgs.srv import ChangeState, GetState
from sinew.interfaces.std_msgs.msg import Int64, UInt8MultiArray
from sinew.lifecycle import (
    LifecycleNode,
    LifecycleState,
    ManagedEntity,
    Node,
    SimpleManagedEntity,
    TransitionCallbackReturn,
)
from support import PATIENCE, SinewTest, built, finish, program

SUCCESS = TransitionCallbackReturn.SUCCESS


class Talker(LifecycleNode):
    def __init__(self, **options):
        super().__init__("talker", **options)
        self.calls = []
        self.answers = {}

    def answer(self, name, state):
        self.calls.append((name, state.label))
        answer = self.answers.get(name, SUCCESS)
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def on_configure(self, state):
        self.numbers = self.create_lifecycle_publisher(Int64, "numbers", 10)
        return self.answer("configure", state)

    def on_activate(self, state):
        self.numbers.publish(Int64(data=1))
        return self.answer("activate", state)

    def on_deactivate(self, state):
        self.numbers.publish(Int64(data=2))
        return self.answer("deactivate", state)

    def on_cleanup(self, state):
        self.destroy_publisher(self.numbers)
        return self.answer("cleanup", state)

    def on_shutdown(self, state):
        return self.answer("shutdown", state)

    def on_error(self, state):
        return self.answer("error", state)


class Lifecycle(SinewTest):
    def setUp(self):
        super().setUp()
        self.talker = Talker(context=self.context)
        self.addCleanup(self.talker.destroy_node)
        self.executor.add_node(self.talker)

    def state(self):
        return self.talker.current_state

    def test_transitions_and_publishers(self):
        talker, seen = self.talker, []
        self.node.create_subscription(Int64, "numbers", lambda message: seen.append(message.data), 10)
        self.assertIs(Node, LifecycleNode)
        self.assertEqual(self.state(), LifecycleState("unconfigured", 1))
        self.assertEqual(talker.trigger_configure(), SUCCESS)
        self.assertEqual(self.state(), LifecycleState("inactive", 2))
        self.assertFalse(talker.numbers.is_activated)
        talker.numbers.publish(Int64(data=-1))  # dropped
        talker.trigger_activate()
        self.assertTrue(talker.numbers.is_activated)
        talker.numbers.publish(Int64(data=5))
        talker.trigger_deactivate()
        talker.numbers.publish(Int64(data=-1))
        with talker.numbers.draft(data=-1):
            pass
        self.spin_until(lambda: len(seen) == 3)
        self.assertEqual(seen, [1, 5, 2])
        talker.trigger_cleanup()
        talker.trigger_shutdown()
        self.assertEqual(self.state(), LifecycleState("finalized", 4))
        self.assertEqual(
            talker.calls,
            [
                ("configure", "unconfigured"),
                ("activate", "inactive"),
                ("deactivate", "active"),
                ("cleanup", "inactive"),
                ("shutdown", "unconfigured"),
            ],
        )
        with self.assertRaisesRegex(sinew.SinewError, "can't configure while it is finalized"):
            talker.trigger_configure()

    def test_failures(self):
        talker = self.talker
        talker.answers["configure"] = TransitionCallbackReturn.FAILURE
        self.assertEqual(talker.trigger_configure(), TransitionCallbackReturn.FAILURE)
        self.assertEqual(self.state().label, "unconfigured")
        talker.answers["configure"] = ValueError("no port")  # `on_error` recovers
        self.assertEqual(talker.trigger_configure(), TransitionCallbackReturn.ERROR)
        self.assertEqual(self.state().label, "unconfigured")
        self.assertEqual(talker.calls[-1], ("error", "unconfigured"))
        talker.answers = {"configure": 97, "error": TransitionCallbackReturn.FAILURE}
        talker.trigger_configure()
        self.assertEqual(self.state().label, "finalized")
        with self.assertRaisesRegex(ValueError, "always has its services"):
            LifecycleNode("silent", context=self.context, enable_communication_interface=False)
        self.assertNotIn("silent", self.node.get_node_names())

    def test_an_interrupt_is_raised(self):
        talker = self.talker
        talker.answers["configure"] = KeyboardInterrupt()
        with self.assertRaises(KeyboardInterrupt):
            talker.trigger_configure()
        self.assertEqual(self.state().label, "unconfigured")
        request = ChangeState.Request()
        request.transition.label = "configure"
        future = self.node.create_client(ChangeState, "/talker/change_state").call_async(request)
        with self.assertRaises(KeyboardInterrupt):
            self.executor.spin()
        self.executor.spin_until_future_complete(future, PATIENCE)
        self.assertFalse(future.result().success)
        self.assertEqual(self.state().label, "unconfigured")
        talker.answers.clear()
        self.assertEqual(talker.trigger_configure(), SUCCESS)

    def test_callbacks_that_are_registered(self):
        seen = []
        self.talker.register_on_configure(lambda state: seen.append(state.label) or SUCCESS)
        self.talker.trigger_configure()
        self.assertEqual((seen, self.talker.calls), (["unconfigured"], []))

    def test_managed_entities(self):
        class Entity(ManagedEntity):
            def __getattribute__(self, name):
                if name.startswith("on_"):
                    return lambda state: seen.append((name, state.label)) or answers.get(name, SUCCESS)
                return super().__getattribute__(name)

        class Counter(SimpleManagedEntity):
            count = 0

            @SimpleManagedEntity.when_enabled(when_not_enabled=lambda: seen.append("rests"))
            def add(self):
                self.count += 1
                return self.count

        seen, answers, counter = [], {}, Counter()
        plain = LifecycleNode("plain", context=self.context)
        self.addCleanup(plain.destroy_node)
        plain.add_managed_entity(Entity())
        plain.add_managed_entity(counter)
        with self.assertRaisesRegex(TypeError, "ManagedEntity"):
            plain.add_managed_entity(object())
        counter.add()
        plain.trigger_configure()
        answers["on_activate"] = TransitionCallbackReturn.FAILURE
        self.assertEqual(plain.trigger_activate(), TransitionCallbackReturn.FAILURE)
        self.assertFalse(counter.is_activated)
        answers.clear()
        plain.trigger_activate()
        self.assertEqual((counter.add(), counter.is_activated), (1, True))
        plain.trigger_deactivate()
        answers["on_cleanup"] = TransitionCallbackReturn.ERROR
        self.assertEqual(plain.trigger_cleanup(), TransitionCallbackReturn.ERROR)
        self.assertEqual(plain.current_state.label, "unconfigured")
        plain.trigger_shutdown()
        self.assertEqual(
            seen,
            [
                "rests",
                ("on_configure", "unconfigured"),
                ("on_activate", "inactive"),
                ("on_activate", "inactive"),
                ("on_deactivate", "active"),
                ("on_cleanup", "inactive"),
                ("on_error", "inactive"),
                ("on_shutdown", "unconfigured"),
            ],
        )
        answers["on_configure"] = None
        other = LifecycleNode("other", context=self.context)
        self.addCleanup(other.destroy_node)
        other.add_managed_entity(Entity())
        self.assertEqual(other.trigger_configure(), TransitionCallbackReturn.ERROR)

    def test_services_and_events(self):
        events = []
        self.node.create_subscription(TransitionEvent, "/talker/transition_event", events.append, 10)
        change = self.node.create_client(ChangeState, "/talker/change_state")
        request = ChangeState.Request()
        request.transition.label = "configure"
        future = change.call_async(request)
        self.executor.spin_until_future_complete(future, PATIENCE)
        self.assertTrue(future.result().success)
        state = self.node.create_client(GetState, "/talker/get_state").call(GetState.Request(), PATIENCE)
        self.assertEqual((state.current_state.id, state.current_state.label), (2, "inactive"))
        self.spin_until(lambda: len(events) == 2)
        self.assertEqual([event.goal_state.label for event in events], ["configuring", "inactive"])


CHILD = """
    from sinew.interfaces.std_msgs.msg import Int64
    from sinew.lifecycle import LifecycleNode
    sinew.init([])
    node = LifecycleNode("managed")
    support.say("ready")
    try:
        sinew.spin(node)
    except sinew.ExternalShutdownException:
        node.destroy_node()
    """


class CommandLine(unittest.TestCase):
    def test_the_command_line(self):
        command = built("sinew")

        def run(*words):
            child = subprocess.run([command, "lifecycle", *words], capture_output=True, text=True, timeout=PATIENCE)
            self.assertEqual(child.returncode, 0, child.stderr)
            return child.stdout

        child = program(CHILD)
        self.addCleanup(finish, child)
        self.addCleanup(child.terminate)
        self.assertEqual(child.stdout.readline(), "ready\n")
        self.assertIn("unconfigured", run("get", "/managed"))
        self.assertIn("configure", run("list", "/managed"))
        run("set", "/managed", "configure")
        self.assertIn("inactive", run("get", "/managed"))


if __name__ == "__main__":
    unittest.main()
