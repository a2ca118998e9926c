"""Stubs of message types, for editors and type checkers.

Types are made at run time, so tools that read programs don't see them. This module writes ``.pyi`` files
of them::

    python -m sinew.stubs                    # all packages, beside the installed package: found by all tools
    python -m sinew.stubs -i interfaces/ arm_msgs
"""

from __future__ import annotations

import argparse
import keyword
import os
import pathlib
from collections.abc import Iterable
from typing import Any

from . import interfaces
from ._sinew import Message

__all__ = ["write"]

_HEAD = """# Written by `python -m sinew.stubs`.
import builtins as _b
from typing import Any as _Any, ClassVar as _ClassVar
from sinew._sinew import Message as _Message
"""

_SCALARS = {"boolean": "_b.bool", "bool": "_b.bool", "byte": "_b.bytes", "float32": "_b.float", "float64": "_b.float"}


class _Module:
    """A stub that is being written."""

    def __init__(self, package: str, kind: str) -> None:
        self.name = f"sinew.interfaces.{package}.{kind}"
        self.imports: set[str] = set()
        self.lines: list[str] = []

    def text(self) -> str:
        return "\n".join([_HEAD + "".join(sorted(self.imports)), *self.lines]) + "\n"

    def reference(self, message: type[Message]) -> str:
        """Returns the name by which this stub refers to a class."""
        module, inside = message.__module__, message.__qualname__
        if module == self.name:
            return inside
        _, _, package, kind = module.split(".")
        self.imports.add(f"from sinew.interfaces.{package} import {kind} as _{package}_{kind}\n")
        return f"_{package}_{kind}.{inside}"

    def hint(self, shown: str, nested: type[Message] | None) -> str:
        """Returns the hint for a field of this type."""
        is_sequence = shown.startswith("sequence<") or shown.endswith("]")
        if nested is not None:
            one = self.reference(nested)
        else:
            base = shown.removeprefix("sequence<").split("[")[0]
            text = base.startswith(("string", "wstring"))
            if is_sequence and not text:
                return "_Any"  # numpy's array, a memoryview, an array.array; any sequence may be assigned
            scalar = base.split("<")[0].split(",")[0].rstrip(">")
            one = "_b.str" if text else _SCALARS.get(scalar, "_b.int")
        return f"_b.list[{one}]" if is_sequence else one

    def add(self, name: str, found: Any, indent: str = "") -> None:
        """Adds a class: a message, or one that holds others."""
        is_message = isinstance(found, type) and issubclass(found, Message)
        self.lines += ["", f"{indent}class {name}{'(_Message)' if is_message else ''}:"]
        inner = indent + "    "
        if not is_message:
            for part, inside in vars(found).items():
                if not isinstance(inside, type):
                    continue
                if inside.__qualname__ == f"{found.__qualname__}.{part}":
                    self.add(part, inside, inner)
                elif issubclass(inside, Message):
                    self.lines.append(f"{inner}{part} = {self.reference(inside)}")
            if self.lines[-1].endswith(":"):
                self.lines.append(f"{inner}...")
            return
        for constant, value in vars(found).items():
            if constant.isupper() and not constant.startswith("_"):
                self.lines.append(f"{inner}{constant}: _ClassVar[_b.{type(value).__name__}] = {value!r}")
        nested = found._nested()
        fields = []
        for field, shown in found.get_fields_and_field_types().items():
            if not keyword.iskeyword(field):
                fields.append((field, self.hint(shown, nested.get(field)), shown))
        self.lines += [f"{inner}{field}: {hint}  # {shown}" for field, hint, shown in fields]
        keywords = "".join(f", {field}: {hint} = ..." for field, hint, _ in fields)
        star = ", *" if fields else ""
        self.lines.append(f"{inner}def __init__(self{star}{keywords}) -> None: ...")


def write(directory: str | os.PathLike[str] | None = None, packages: Iterable[str] | None = None) -> list[pathlib.Path]:
    """Writes the stubs of packages (by default, of all) to ``<directory>/<package>``, and returns the files.

    The default directory is the folder of `sinew.interfaces`, where tools look. Raises `InterfaceError` for
    a package that is unknown or wrong, `OSError` if a file can't be written.
    """
    root = pathlib.Path(directory) if directory is not None else pathlib.Path(interfaces.__file__).parent
    written = []
    for package in interfaces.packages() if packages is None else packages:
        folder = root / package
        folder.mkdir(parents=True, exist_ok=True)
        modules: dict[str, _Module] = {}
        for name in interfaces.names(package):
            kind, base = name.split("/")
            module = modules.setdefault(kind, _Module(package, kind))
            module.add(base, interfaces.find(f"{package}/{name}"))
        inside = "".join(f"from . import {kind} as {kind}\n" for kind in sorted(modules))
        texts = {"__init__.pyi": inside, **{f"{kind}.pyi": module.text() for kind, module in modules.items()}}
        for file, text in texts.items():
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
