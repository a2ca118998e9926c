"""Nodes in Python that `sinew launch` starts."""

import os
import pathlib
import signal
import subprocess
import tempfile
import unittest

from sinew.interfaces.std_msgs.msg import String
from support import PATIENCE, SinewTest, built, finish

NODE = """
import sinew
from sinew.interfaces.std_msgs.msg import String

with sinew.init(), sinew.Node("unnamed") as node:
    node.declare_parameter("suffix", "")
    publisher = node.create_publisher(String, "out", 10)

    def passed_on(message):
        publisher.publish(String(data=message.data + node.get_parameter("suffix").value))

    node.create_subscription(String, "in", passed_on, 10)
    print("up", node.get_fully_qualified_name())
    try:
        sinew.spin(node)
    except KeyboardInterrupt:
        print("ended")
"""

FILE = """
[process.first]
program = "./node.py"
node = "first"
namespace = "robot"
remap = { in = "/start", out = "/middle" }
parameters = { suffix = "b" }
ready = { topic = "/middle" }

[process.second]
program = "./node.py"
node = "second"
remap = { in = "/middle", out = "/end" }
parameters = { suffix = "c" }
after = ["first"]
"""


class Launch(SinewTest):
    def test_nodes(self):
        sinew = built("sinew")
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (folder / "node.py").write_text(NODE)
        (folder / "robot.toml").write_text(FILE)
        texts = []
        self.node.create_subscription(String, "/end", lambda message: texts.append(message.data), 10)
        publisher = self.node.create_publisher(String, "/start", 10)
        launch = subprocess.Popen(
            [sinew, "launch", "robot.toml"],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=dict(os.environ, ROS_LOG_DIR=str(folder)),
        )
        self.addCleanup(lambda: launch.poll() is None and launch.kill())
        lines = []
        while not any("up /second" in line for line in lines):
            lines.append(launch.stdout.readline())
            self.assertTrue(lines[-1], lines)
        self.assertTrue(any("up /robot/first" in line for line in lines), lines)
        self.assertTrue(publisher.wait_for_subscriptions(1, PATIENCE))
        for _ in range(int(PATIENCE * 10)):  # the processes may not have found each other yet
            if texts:
                break
            publisher.publish(String(data="a"))
            self.executor.spin_once(0.1)
        self.assertEqual(texts[:1], ["abc"])
        launch.send_signal(signal.SIGINT)
        code, output, errors = finish(launch)
        self.assertEqual((code, output.count("] ended\n")), (0, 2), output + errors)


if __name__ == "__main__":
    unittest.main()
