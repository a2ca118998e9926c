"""The programs of `examples/python`, one or two processes each."""

import os
import pathlib
import signal
import subprocess
import sys
import unittest

from sinew.interfaces.std_msgs.msg import String
from support import PATIENCE, SinewTest, finish

try:
    import numpy
except ImportError:
    numpy = None
    print("SKIPPED: the examples with images: numpy is not installed", file=sys.stderr)

REPOSITORY = pathlib.Path(os.environ.get("SINEW_REPOSITORY") or pathlib.Path(__file__).resolve().parents[2])
BAG = "crates/sinew-bag/tests/data/service_events/bag_with_topics_and_service_events_and_action.mcap"


class Examples(SinewTest):
    def start(self, name, *arguments):
        """Starts an example, which is killed if the test fails."""
        child = subprocess.Popen(
            [sys.executable, str(REPOSITORY / "examples/python" / f"{name}.py"), *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(self.end, child)
        return child

    def end(self, child):
        if child.poll() is None:
            child.kill()
            child.communicate()

    def expect(self, child, output):
        code, found, errors = finish(child)
        self.assertEqual((code, found), (0, output), errors)

    def test_talker(self):
        heard = []
        self.node.create_subscription(String, "chatter", lambda message: heard.append(message.data), 10)
        talker = self.start("talker", 1)
        self.spin_until(lambda: heard)
        self.assertEqual(heard, ["Hello World: 1"])
        self.assertEqual(finish(talker)[0], 0)

    def test_listener(self):
        listener = self.start("listener")
        publisher = self.node.create_publisher(String, "chatter", 10)
        self.assertTrue(publisher.wait_for_subscriptions(1, PATIENCE))
        publisher.publish(String(data="a"))
        self.assertEqual(listener.stdout.readline(), "I heard: 'a'\n")
        listener.send_signal(signal.SIGINT)
        self.expect(listener, "")

    def test_asyncio_listener(self):
        listener = self.start("asyncio_listener", 2)
        publisher = self.node.create_publisher(String, "chatter", 10)
        self.assertTrue(publisher.wait_for_subscriptions(1, PATIENCE))
        for text in "ab":
            publisher.publish(String(data=text))
        self.expect(listener, "I heard: 'a'\nI heard: 'b'\n")

    @unittest.skipUnless(numpy, "numpy is not installed")
    def test_images(self):
        viewer = self.start("image_viewer", 3)
        camera = self.start("image_publisher", 3)
        self.expect(viewer, "".join(f"1280 x 720, mean colour [{n:3d}. 128. 255.]\n" for n in range(3)))
        code, _, errors = finish(camera)
        self.assertEqual(code, 0, errors)
        self.assertNotIn("RuntimeWarning", errors)  # no image was copied

    def test_add_two_ints(self):
        server = self.start("add_two_ints_server")
        self.expect(self.start("add_two_ints_client", 2, 3), "2 + 3 = 5\n")
        server.send_signal(signal.SIGTERM)
        self.expect(server, "")

    def test_fibonacci(self):
        server = self.start("fibonacci_server", 0.1)
        self.expect(self.start("fibonacci_client", 4), "".join(
            f"{word}: {[0, 1, 1, 2, 3][:length]}\n"
            for word, length in [("so far", 3), ("so far", 4), ("so far", 5), ("succeeded", 5)]
        ))
        self.expect(self.start("fibonacci_client", 40), "The goal was rejected\n")
        code, output, errors = finish(self.start("fibonacci_client", 39, 1))
        self.assertEqual((code, output.splitlines()[0]), (0, "so far: [0, 1, 1]"), errors)
        self.assertIn("1 goal is being canceled\n", output)
        self.assertRegex(output.splitlines()[-1], r"canceled: \[0, 1, 1")
        server.send_signal(signal.SIGTERM)
        self.expect(server, "")

    def test_parameters(self):
        code, output, errors = finish(self.start("parameters", "--ros-args", "-p", "speed:=1.5"))
        self.assertEqual(code, 0, errors)
        lines = output.splitlines()
        self.assertEqual(lines[:2], ["speed: 1.5", "speed = 0.5: set"])
        self.assertRegex(lines[2], "a frame has a name")
        self.assertEqual(lines[3], "speed: 0.5 frame: base_link")

    def test_bag_reader(self):
        code, output, errors = finish(self.start("bag_reader", REPOSITORY / BAG, 1))
        self.assertEqual(code, 0, errors)
        lines = output.splitlines()
        topics = [line for line in lines if " of " in line]
        self.assertEqual((len(lines), len(topics) > 0), (len(topics) + 1, True), output)


if __name__ == "__main__":
    unittest.main()
