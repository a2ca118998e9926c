"""Runs a program for rclpy: python -m sinew.rclpy_compat PROGRAM.py [ARGUMENTS], or -m MODULE [ARGUMENTS]."""

import os
import runpy
import sys

from . import install


def main() -> None:
    words = sys.argv[1:]
    is_module = words[:1] == ["-m"]
    words = words[1:] if is_module else words
    if not words or words[0] in ("-h", "--help"):
        print(__doc__, file=sys.stdout if words else sys.stderr)
        sys.exit(0 if words else 2)
    install()
    sys.argv = words
    if is_module:
        sys.path[0] = os.getcwd()
        runpy.run_module(words[0], run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = os.path.dirname(os.path.abspath(words[0]))
        runpy.run_path(words[0], run_name="__main__")


main()
