"""Message, service and action types, made from their definitions when they are imported.

::

    from sinew.interfaces.sensor_msgs.msg import Image
    from sinew.interfaces.example_interfaces.srv import AddTwoInts

A package is taken from the folders of `add_path`, then from those of ``AMENT_PREFIX_PATH``, then from
the packages that come with Sinew. No file is generated, and a definition is read when its type is
used.
"""

from __future__ import annotations

import importlib
import os
import sys
from importlib.machinery import ModuleSpec

from .. import _sinew

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.abc import Loader
    from types import ModuleType
    from typing import Any
else:  # `importlib.abc` takes longer to import than all of this package
    Loader, ModuleType = object, type(sys)

__all__ = ["add_path", "find", "names", "packages"]

_KINDS = ("msg", "srv", "action")


def add_path(path: str | os.PathLike[str]) -> list[str]:
    """Adds a folder of packages (``<path>/my_msgs/msg/Reading.msg``), or the folder of one package, before
    all others, and returns the names of its packages. Types that were imported before stay as they are.

    Raises `InterfaceError` if there is no package.
    """
    added = _sinew.add_interface_path(os.fspath(path))
    for package in added:  # so that the next import finds the new definitions
        for name in [f"{__name__}.{package}", *(f"{__name__}.{package}.{kind}" for kind in _KINDS)]:
            module = sys.modules.get(name)
            if module is not None:
                for attribute in [key for key in vars(module) if key[:1].isupper()]:
                    delattr(module, attribute)
    return added


def packages() -> list[str]:
    """Returns the names of all packages."""
    return _sinew.interface_packages()


def names(package: str) -> list[str]:
    """Returns the names of the types of a package: ``msg/Image``, ``srv/SetCameraInfo``."""
    return _sinew.interface_names(package)


def find(name: str) -> Any:
    """Returns the class of a type by its full name, such as ``sensor_msgs/msg/Image``.

    Raises `InterfaceError` if it is unknown or its definition is wrong, `ValueError` if that is no name.
    """
    return _sinew.find_interface(name)


def __getattr__(name: str) -> ModuleType:
    if _sinew.has_interface_package(name):
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"there is no package {name} of interfaces: see sinew.interfaces.add_path")


def __dir__() -> list[str]:
    return [*__all__, *packages()]


class _Package(ModuleType):
    """A package of interfaces: `sinew.interfaces.sensor_msgs`."""

    def __getattr__(self, name: str) -> Any:
        if name in _KINDS:
            return importlib.import_module(f"{self.__name__}.{name}")
        raise AttributeError(f"{self.__name__} has no {name}, but {', '.join(_KINDS)}")


class _Kind(ModuleType):
    """The messages, services or actions of a package: `sinew.interfaces.sensor_msgs.msg`."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name != "__all__":
            raise AttributeError(name)
        _, _, package, kind = self.__name__.split(".")
        if name == "__all__":
            return self.__dir__()
        try:
            found = find(f"{package}/{kind}/{name}")
        except (ValueError, _sinew.InterfaceError) as error:
            raise AttributeError(str(error)) from None
        setattr(self, name, found)
        return found

    def __dir__(self) -> list[str]:
        _, _, package, kind = self.__name__.split(".")
        return [name.split("/")[1] for name in names(package) if name.startswith(f"{kind}/")]


class _Finder(Loader):
    """Finds packages, and makes their modules."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not fullname.startswith(f"{__name__}."):
            return None
        inside = fullname.split(".")[2:]
        is_kind = len(inside) == 2 and inside[1] in _KINDS
        if not is_kind and (len(inside) != 1 or not _sinew.has_interface_package(inside[0])):
            return None
        return ModuleSpec(fullname, self, is_package=not is_kind)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return (_Package if spec.submodule_search_locations is not None else _Kind)(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        return None


# First, since folders with stubs alone (`sinew.stubs`) would be taken for packages.
sys.meta_path.insert(0, _Finder())
