"""Stubs of message types, checked by mypy."""

import ast
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import sinew
from sinew import stubs

PROGRAM = """
from sinew.convert import to_dict
from sinew.interfaces.example_interfaces.action import Fibonacci
from sinew.interfaces.example_interfaces.srv import AddTwoInts
from sinew.interfaces.sensor_msgs.msg import Image, PointField
from sinew.serialization import deserialize_message, serialize_message

image = deserialize_message(serialize_message(Image(height=3, encoding="rgb8", data=b"abc")), Image)
total: int = image.height + PointField.FLOAT32 + image.header.stamp.sec
goal = Fibonacci.Goal(order=AddTwoInts.Request(a=1).a)
fields: list[PointField] = []
print(to_dict(goal), total)
"""
WRONG = 'image.height = "three"\nImage(nothing=1)\n'
EXAMPLES = pathlib.Path(os.environ["SINEW_REPOSITORY"], "examples", "python")

if importlib.util.find_spec("mypy") is None:
    print("SKIPPED: mypy's check of the stubs: it is not installed", file=sys.stderr)


class Stubs(unittest.TestCase):
    def test_all_are_python(self):
        with tempfile.TemporaryDirectory() as folder:
            written = stubs.write(folder)
            self.assertGreater(len(written), 50)
            for path in written:
                ast.parse(path.read_text(), str(path))
            text = pathlib.Path(folder, "std_msgs", "msg.pyi").read_text()
            self.assertIn("    stamp: _builtin_interfaces_msg.Time", text)
            self.assertEqual([path.name for path in stubs.write(folder, ["std_srvs"])], ["__init__.pyi", "srv.pyi"])
            with self.assertRaises(sinew._sinew.InterfaceError):
                stubs.write(folder, ["no_such_msgs"])

    def test_names_of_the_package(self):
        """The names that are imported when they are used are those that type checkers see."""
        source = ast.parse(pathlib.Path(sinew.__file__).read_text())
        for_checkers = next(one for one in source.body if isinstance(one, ast.If))
        seen = {
            (one.module, name.name)
            for one in for_checkers.body
            if isinstance(one, ast.ImportFrom) and one.module is not None
            for name in one.names
        }
        used = {(module, name) for module, names in sinew._HOMES.items() for name in names.split()}
        self.assertEqual(seen, used)
        for _, name in used:
            self.assertIn(name, dir(sinew))
            getattr(sinew, name)
        with self.assertRaisesRegex(AttributeError, "has no attribute 'Nod'"):
            sinew.Nod

    @unittest.skipUnless(importlib.util.find_spec("mypy"), "mypy is not installed")
    def test_mypy(self):
        with tempfile.TemporaryDirectory() as folder:
            package = pathlib.Path(folder, "sinew")
            shutil.copytree(pathlib.Path(sinew.__file__).parent, package, ignore=shutil.ignore_patterns("*.so", "*.pyc"))
            stubs.write(package / "interfaces")
            pathlib.Path(folder, "program.py").write_text(PROGRAM)
            pathlib.Path(folder, "wrong.py").write_text(PROGRAM + WRONG)
            # Those in `rclpy` import rclpy, which is made at run time: mypy finds no source of it.
            examples = [str(path) for path in EXAMPLES.glob("*.py")]
            command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--cache-dir=cache"]

            def check(*files):
                return subprocess.run([*command, *files], cwd=folder, capture_output=True, text=True)

            self.assertGreater(len(examples), 5)
            found = check("program.py", "sinew", *examples)
            self.assertEqual(found.returncode, 0, found.stdout + found.stderr)
            found = check("wrong.py")
            self.assertEqual(found.stdout.count("error:"), 2, found.stdout)


if __name__ == "__main__":
    unittest.main()
