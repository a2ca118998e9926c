"""Runs a program for rclpy: python -m sinew.rclpy_compat [--interfaces FOLDER] PROGRAM.py [ARGUMENTS], or -m MODULE.

FOLDER has packages of interfaces, or is one: see `sinew.interfaces.add_path`. The option may be repeated.
"""

import os
import runpy
import sys

from .. import interfaces
from . import install


def main() -> None:
    words = sys.argv[1:]
    while len(words) > 1 and words[0] == "--interfaces":
        interfaces.add_path(words[1])
        words = words[2:]
    is_module = words[:1] == ["-m"]
    words = words[1:] if is_module else words
    if not words or words[0].startswith("-"):
        print(__doc__, file=sys.stdout if words else sys.stderr)
        sys.exit(0 if words[:1] in (["-h"], ["--help"]) else 2)
    install()
    sys.argv = words
    if is_module:
        sys.path[0] = os.getcwd()
        runpy.run_module(words[0], run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = os.path.dirname(os.path.abspath(words[0]))
        runpy.run_path(words[0], run_name="__main__")


main()
