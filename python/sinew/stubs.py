"""Stubs of message types, for editors and type checkers.

Types are made at run time, so tools that read programs don't see them. This module writes ``.pyi`` files
of them::

    python -m sinew.stubs                    # all packages, beside the installed package: found by all tools
    python -m sinew.stubs -i interfaces/ arm_msgs

``sinew interface stubs`` of the command line writes the same files.
"""

from __future__ import annotations

import argparse
import os
import pathlib
from collections.abc import Iterable

from . import _sinew, interfaces

__all__ = ["write"]


def write(directory: str | os.PathLike[str] | None = None, packages: Iterable[str] | None = None) -> list[pathlib.Path]:
    """Writes the stubs of packages (by default, of all) to ``<directory>/<package>``, and returns the files.

    The default directory is the folder of `sinew.interfaces`, where tools look. Raises `InterfaceError` for
    a package that is unknown or wrong, `OSError` if a file can't be written.
    """
    root = pathlib.Path(directory) if directory is not None else pathlib.Path(interfaces.__file__).parent
    written = []
    for package in interfaces.packages() if packages is None else packages:
        files = _sinew.interface_stubs(package)
        folder = root / package
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in files.items():
            (folder / file).write_text(text)
            written.append(folder / file)
    return written


def main() -> None:
    """The command `python -m sinew.stubs`."""
    parser = argparse.ArgumentParser(prog="python -m sinew.stubs", description="Writes stubs of message types.")
    parser.add_argument("packages", nargs="*", help="packages of interfaces; all by default")
    parser.add_argument("-o", "--output", metavar="DIR", help="where to; by default beside the installed package")
    parser.add_argument("-i", "--interfaces", metavar="DIR", action="append", default=[], help="a folder of packages")
    options = parser.parse_args()
    for path in options.interfaces:
        interfaces.add_path(path)
    print(f"{len(write(options.output, options.packages or None))} files written")


if __name__ == "__main__":
    main()
