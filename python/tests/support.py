"""What the tests share."""

import os
import subprocess
import sys
import textwrap
import unittest

import sinew

PATIENCE = 60.0  # seconds; no test that passes comes near it


class SinewTest(unittest.TestCase):
    """A test with a context and a node of its own."""

    def setUp(self):
        self.context = sinew.Context()
        self.context.init([], signals=False)
        self.addCleanup(self.context.try_shutdown)
        self.node = sinew.Node("test_node", context=self.context)
        self.addCleanup(self.node.destroy_node)
        self.executor = sinew.SingleThreadedExecutor()
        self.executor.add_node(self.node)

    def spin_until(self, condition):
        """Runs callbacks until a condition is true."""
        while not condition():
            self.assertTrue(self.executor.spin_once(PATIENCE), "nothing happened")


def built(name):
    """Returns the path of a program of the workspace. Skips the test if it was not built."""
    path = os.path.join(os.environ.get("SINEW_PROGRAMS", ""), name)
    if not os.path.isfile(path):
        print(f"SKIPPED: {sys.argv[0]}: the program {name} was not built", file=sys.stderr)
        raise unittest.SkipTest(f"{name} was not built")
    return path


def program(source):
    """Starts a Python program that has `sinew` and `support` imported."""
    source = "import sinew, sys, os, support\n" + textwrap.dedent(source)
    here = os.path.dirname(os.path.abspath(__file__))
    path = os.pathsep.join([here, os.environ.get("PYTHONPATH", "")])
    return subprocess.Popen(
        [sys.executable, "-X", "faulthandler", "-c", source],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=dict(os.environ, PYTHONPATH=path),
    )


def finish(child):
    """Waits for a program. Returns its exit code, output and errors."""
    try:
        output, errors = child.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        child.kill()
        output, errors = child.communicate()
        raise AssertionError(f"the program hangs: {output}{errors}") from None
    return child.returncode, output, errors


def say(text):
    print(text, flush=True)
