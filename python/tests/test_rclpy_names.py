"""The names of rclpy: each is in `sinew.rclpy_compat`, or the book says that it is missing."""

import importlib
import os
import pathlib
import unittest

import sinew
from sinew import rclpy_compat
from support import SinewTest

NAMES = pathlib.Path(__file__).with_name("rclpy_names.txt")
REPOSITORY = pathlib.Path(os.environ.get("SINEW_REPOSITORY") or pathlib.Path(__file__).resolve().parents[2])
BOOK = REPOSITORY / "docs" / "book" / "python.md"
HEADING = "### Names of rclpy that are missing"


def has(module, name):
    """Returns whether a module of `sinew.rclpy_compat` has a name, or a class of it a member."""
    try:
        found = importlib.import_module(module.replace("rclpy", "sinew.rclpy_compat", 1))
    except ModuleNotFoundError:
        return False
    first, _, member = name.partition(".")
    found = getattr(found, first, None)
    if found is None or not member or hasattr(found, member):
        return found is not None
    made = (getattr(one.__init__, "__code__", None) for one in found.__mro__)
    return any(member in code.co_names for code in made if code is not None)  # an attribute of its objects


def names():
    module = ""
    for line in NAMES.read_text().splitlines():
        if line.startswith(" "):
            yield module, line.strip()
        elif not line.startswith("#"):
            module = line


def missing():
    """Returns the names that are missing, by module; without the members of a missing class."""
    found = {}
    for module, name in names():
        if not has(module, name) and name.partition(".")[0] not in found.setdefault(module, []):
            found[module].append(name)
    return {module: sorted(all) for module, all in found.items() if all}


def in_the_book():
    rows = BOOK.read_text().partition(HEADING)[2].partition("\n#")[0].splitlines()
    cells = [row.strip("| ").split(" | ") for row in rows if row.startswith("| `")]
    return {module.strip("`"): sorted(name.strip("`") for name in all.split(", ")) for module, all in cells}


class Names(SinewTest):
    def test_all_are_there_or_in_the_book(self):
        self.maxDiff = None
        self.assertGreater(sum(1 for _ in names()), 500)
        self.assertEqual(missing(), in_the_book())

    def test_checks_of_names(self):
        from sinew.rclpy_compat.expand_topic_name import expand_topic_name
        from sinew.rclpy_compat.topic_or_service_is_hidden import topic_or_service_is_hidden
        from sinew.rclpy_compat.validate_full_topic_name import validate_full_topic_name
        from sinew.rclpy_compat.validate_namespace import validate_namespace
        from sinew.rclpy_compat.validate_node_name import validate_node_name
        from sinew.rclpy_compat.validate_topic_name import validate_topic_name

        for check, right, wrong in (
            (validate_topic_name, ["a/b_1", "/a", "~", "~/a", "{node}/a"], ["", "a b", "a//b", "1a", "/", "a/~"]),
            (validate_full_topic_name, ["/a/b"], ["a", "/a b", "/"]),
            (validate_node_name, ["a_1"], ["a/b", ""]),
            (validate_namespace, ["/", "/a"], ["a", "/a b"]),
        ):
            for name in right:
                self.assertTrue(check(name), name)
            for name in wrong:
                with self.subTest(f"{check.__name__}({name!r})"), self.assertRaises(sinew.InvalidNameError):
                    check(name)
        self.assertEqual(expand_topic_name("a", "node", "/"), "/a")
        self.assertEqual(expand_topic_name("~/a", "node", "/ns"), "/ns/node/a")
        self.assertEqual(expand_topic_name("/{node}/a", "node", "/ns"), "/node/a")
        for wrong in ("a b", "{other}/a"):
            with self.assertRaises(ValueError):
                expand_topic_name(wrong, "node", "/")
        self.assertTrue(topic_or_service_is_hidden("/a/_b"))
        self.assertFalse(topic_or_service_is_hidden("/a/b_"))

    def test_the_graph(self):
        from sinew.action import ActionClient, ActionServer
        from sinew.interfaces.example_interfaces.action import Fibonacci
        from sinew.rclpy_compat import action, node

        kept = ActionServer(self.node, Fibonacci, "fibonacci", print), ActionClient(self.node, Fibonacci, "other")
        fibonacci = ("/fibonacci", ["example_interfaces/action/Fibonacci"])
        other = ("/other", ["example_interfaces/action/Fibonacci"])
        self.assertEqual(sorted(action.get_action_names_and_types(self.node)), [fibonacci, other])
        self.assertEqual(action.get_action_server_names_and_types_by_node(self.node, "test_node", "/"), [fibonacci])
        self.assertEqual(action.get_action_client_names_and_types_by_node(self.node, "test_node", "/"), [other])
        with self.assertRaisesRegex(node.NodeNameNonExistentError, "no node /nobody"):
            self.node.get_publisher_names_and_types_by_node("nobody", "/")
        self.assertIn(("test_node", "/", "/"), self.node.get_node_names_and_namespaces_with_enclaves())
        self.assertEqual(len(kept), 2)

    def test_exceptions(self):
        from sinew.rclpy_compat import exceptions

        self.node.declare_parameter("speed", 1.0)
        with self.assertRaises(exceptions.ParameterException):
            self.node.declare_parameter("speed", 1.0)
        self.node.destroy_node()
        with self.assertRaises(exceptions.InvalidHandle):
            self.node.declare_parameter("late", 1.0)

    def test_types(self):
        from sinew.interfaces.example_interfaces.srv import AddTwoInts
        from sinew.interfaces.std_msgs.msg import Int64
        from sinew.rclpy_compat import type_support

        type_support.check_is_valid_msg_type(Int64)
        type_support.check_is_valid_srv_type(AddTwoInts)
        for kind in (Int64, AddTwoInts):
            type_support.check_for_type_support(kind)
        for check, wrong in (
            (type_support.check_is_valid_msg_type, AddTwoInts),
            (type_support.check_is_valid_srv_type, Int64),
            (type_support.check_for_type_support, int),
        ):
            with self.assertRaises(TypeError):
                check(wrong)

    def test_policies(self):
        from sinew.rclpy_compat.qos import QoSPolicyKind, qos_policy_name_from_kind

        self.assertEqual(qos_policy_name_from_kind(QoSPolicyKind.DEADLINE), "DEADLINE")
        self.assertEqual(qos_policy_name_from_kind("reliability"), "RELIABILITY")

    def test_simulated_time(self):
        from sinew.rclpy_compat.clock import ROSClock

        with rclpy_compat.init(args=[]):
            clock = ROSClock()
            clock.set_ros_time_override(sinew.Time(seconds=5))
            self.assertEqual(clock.now().nanoseconds, 5 * 10**9)


if __name__ == "__main__":
    unittest.main()
