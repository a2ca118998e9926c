"""Programs for rclpy, unchanged: those of `examples/python/rclpy`, each in a process of its own."""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

import sinew
from support import PATIENCE, finish

REPOSITORY = pathlib.Path(os.environ.get("SINEW_REPOSITORY") or pathlib.Path(__file__).resolve().parents[2])


class Programs(unittest.TestCase):
    def start(self, name, *arguments):
        path = str(REPOSITORY / "examples/python/rclpy" / f"{name}.py")
        command = [sys.executable, "-m", "sinew.rclpy_compat", path, *arguments]
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(self.end, child)
        watch = threading.Timer(PATIENCE, child.kill)  # a line that is waited for may never come
        watch.daemon = True
        watch.start()
        self.addCleanup(watch.cancel)
        return child

    def end(self, child):
        if child.poll() is None:
            child.kill()
            child.communicate()

    def until(self, child, *wanted):
        """Reads lines until all of these texts were in one, in this order."""
        wanted, lines = list(wanted), []
        while wanted:
            line = child.stdout.readline()
            self.assertTrue(line, f"the program ended without {wanted}: {''.join(lines)}")
            lines.append(line)
            if wanted[0] in line:
                wanted.pop(0)

    def interrupt(self, *children):
        """Ends programs by Ctrl-C."""
        for child in children:
            child.send_signal(signal.SIGINT)
        for child in children:
            code, output, _ = finish(child)
            self.assertEqual(code, 0, output)
            self.assertNotIn("Traceback", output)

    def ends(self, child, *wanted):
        self.until(child, *wanted)
        code, output, _ = finish(child)
        self.assertEqual(code, 0, output)

    def test_publishers_and_subscriptions(self):
        pairs = [
            ("publisher_old_school", "subscriber_lambda"),
            ("publisher_local_function", "subscriber_member_function"),
            ("publisher_member_function", "subscriber_old_school"),
        ]
        children = [self.start(name) for pair in pairs for name in pair]
        serialized = self.start("listener_serialized")
        for publisher, subscriber in zip(children[::2], children[1::2]):
            self.until(publisher, "[minimal_publisher]: Publishing: \"Hello World:")
            self.until(subscriber, "[minimal_subscriber]: I heard: \"Hello World:")
        self.until(serialized, "[serialized_subscriber]: I heard: 2")
        self.interrupt(*children, serialized)

    def test_services(self):
        server = self.start("service_member_function")
        clients = [self.start(name) for name in ("client", "client_async", "client_async_callback")]
        for client in clients:
            self.ends(client, "42")
        self.until(server, "Incoming request", "a: 41 b: 1")
        self.interrupt(server)

    def test_executors(self):
        composed, group = self.start("composed"), self.start("callback_group")
        self.until(composed, 'talker]: Publishing: "Hello World: 1"', "listener]: I heard: [Hello World: 1]")
        self.until(group, 'Publishing: "Hello World: 9"')
        self.interrupt(composed, group)
        self.ends(self.start("trigger_guard_condition"), "Guard condition callback called")

    def test_actions(self):
        server = self.start("action_server")
        client = self.start("action_client_cancel")
        feedback = "Received feedback: [0, 1, 1]"
        # The answer to the request to cancel may come after the result, which ends the program.
        self.ends(client, "Goal accepted", feedback, "Canceling goal", "Canceled: True")
        self.until(server, "Received goal request", "Received cancel request", "Goal canceled")
        self.interrupt(server)

    def test_lifecycle_tf_and_parameters(self):
        from sinew.interfaces.lifecycle_msgs.srv import ChangeState

        talker, frames = self.start("lifecycle_talker"), self.start("frame_listener")
        with sinew.init([]) as context, sinew.Node("manager") as node:
            client = node.create_client(ChangeState, "/lc_talker/change_state")
            self.assertTrue(client.wait_for_service(PATIENCE))
            for label in ("configure", "activate"):
                request = ChangeState.Request()
                request.transition.label = label
                self.assertTrue(client.call(request, PATIENCE).success)
            self.until(talker, "on_configure", "on_activate", "Publishing: [Lifecycle HelloWorld")
            self.assertTrue(context.ok())
        self.until(frames, "Could not transform: no transform has named the frame \"world\"", "carrot at 1.5")
        self.interrupt(talker, frames)
        client = self.start("async_param_client")
        names = "names: ['robot.name', 'robot.wheels']"
        self.ends(client, names, "wheels: 4", "set: True", "set: False", "now: 6")
        lines = ["frame: base_link", "speed: 1.5", "speed set: True", "speed set: False", "frame set: False"]
        lines += ["['frame', 'sizes', 'speed']", "other is not declared"]
        self.ends(self.start("parameters", "--ros-args", "-p", "speed:=1.5"), *lines)


class Modules(unittest.TestCase):
    def test_without_install(self):
        import sinew.rclpy_compat as rclpy
        from sinew.rclpy_compat.node import Node

        with rclpy.init(args=[]):
            node = rclpy.create_node("compat", enable_logger_service=True)
            self.assertIsInstance(node, Node)
            self.assertIsInstance(node, sinew.Node)
            node.destroy_node()
        self.assertIs(rclpy.qos.QoSProfile, sinew.QoSProfile)
        self.assertEqual(rclpy.qos.QoSPresetProfiles.SENSOR_DATA.value.depth, 5)

    def test_a_parameter_by_its_name_alone(self):
        import sinew.rclpy_compat as rclpy

        with rclpy.init(args=["--ros-args", "-p", "given:=7"]):
            node = rclpy.create_node("compat")
            with self.assertWarnsRegex(UserWarning, "'given' is declared by its name alone"):
                self.assertEqual(node.declare_parameter("given").value, 7)
            with self.assertWarns(UserWarning):
                self.assertIsNone(node.declare_parameter("free").value)
            self.assertTrue(node.set_parameters([rclpy.Parameter("free", value="text")])[0].successful)
            node.destroy_node()

    def test_a_call_whose_time_is_over(self):
        import sinew.rclpy_compat as rclpy
        from sinew.interfaces.std_srvs.srv import Trigger

        with rclpy.init(args=[]):
            node = rclpy.create_node("compat")
            self.assertIsNone(node.create_client(Trigger, "none").call(Trigger.Request(), timeout_sec=0.001))
            node.destroy_node()

    def test_names_before_renaming(self):
        import sinew.rclpy_compat as rclpy

        with rclpy.init(args=["--ros-args", "-r", "a:=b"]):
            node = rclpy.create_node("compat", namespace="ns")
            for resolve in (node.resolve_topic_name, node.resolve_service_name):
                self.assertEqual((resolve("a"), resolve("a", only_expand=True)), ("/ns/b", "/ns/a"))
            node.destroy_node()

    def test_the_end_of_a_spin(self):
        import sinew.rclpy_compat as rclpy

        for spin in (rclpy.spin, lambda node: rclpy.spin_until_future_complete(node, rclpy.task.Future())):
            with rclpy.init(args=[]):
                node = rclpy.create_node("compat")
                node.create_timer(0.001, rclpy.shutdown)
                spin(node)  # the program's own shutdown is no exception
                self.assertFalse(rclpy.ok())
                node.destroy_node()
        with rclpy.init(args=[]) as context:
            node = rclpy.create_node("compat")
            other = threading.Thread(target=context.shutdown, args=("as by a signal",))

            def tick():
                timer.cancel()
                other.start()

            timer = node.create_timer(0.001, tick)
            with self.assertRaises(rclpy.executors.ExternalShutdownException):
                rclpy.spin(node)
            other.join()
            node.destroy_node()

    def test_levels_of_loggers(self):
        from sinew.rclpy_compat import logging, service_introspection
        from sinew.rclpy_compat.impl.logging_severity import LoggingSeverity

        self.assertEqual(logging.get_logger_level("levels"), LoggingSeverity.UNSET)
        logging.set_logger_level("levels", logging.get_logging_severity_from_string("warn"))
        self.assertEqual(logging.get_logger_level("levels"), LoggingSeverity.WARN)
        self.assertEqual(logging.get_logger_effective_level("levels.part"), LoggingSeverity.WARN)
        self.assertEqual(service_introspection.ServiceIntrospectionState.CONTENTS, 2)

    def test_the_command(self):
        def run(*words):
            command = [sys.executable, "-m", "sinew.rclpy_compat", *words]
            child = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
            return child.returncode, child.stdout, child.stderr

        self.assertEqual(run("--help")[0], 0)
        self.assertIn("--interfaces FOLDER", run()[2])
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder, "program.py")
            program.write_text("import sys\nfrom robot_interfaces.action import Navigate\nprint(Navigate.Goal(x=1.5).x, sys.argv[1:])")
            interfaces = ["--interfaces", str(REPOSITORY / "examples/robot/interfaces")]
            self.assertEqual(run(*interfaces, str(program), "-a")[:2], (0, "1.5 ['-a']\n"))

    def test_all_modules(self):
        code = (
            "import importlib, sinew.rclpy_compat as compat; compat.install(); "
            "from sinew.rclpy_compat import _modules; "
            "[importlib.import_module(name).__all__ for name in _modules._INSTALLED]; "
            "import rclpy; "
            "print(rclpy.logging.get_logger('a').name, rclpy.clock.ROSClock.__name__, rclpy.duration.Infinite > rclpy.duration.Duration()); "
            "from sensor_msgs.msg import Image; from tf2_geometry_msgs import do_transform_pose; "
            "from rosidl_runtime_py.utilities import get_message; print(get_message('sensor_msgs/msg/Image') is Image); "
            "from rclpy.utilities import remove_ros_args; print(remove_ros_args(['a', '--ros-args', '-r', 'b:=c', '--', 'd'])); "
            "import rclpy.nothing"
        )
        child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(child.stdout, "a ROSClock True\nTrue\n['a', 'd']\n", child.stderr)
        self.assertIn("No module named 'rclpy.nothing'", child.stderr)


if __name__ == "__main__":
    unittest.main()
