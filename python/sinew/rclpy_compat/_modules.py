"""The modules of rclpy, tf2_ros and message packages, made of those of Sinew when they are imported."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import sys
from types import ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.machinery import ModuleSpec
    from typing import Any

_HERE = __package__

MODULES: dict[str, tuple[str, ...]] = {
    "action": ("sinew.action",),
    "action.client": ("sinew.action.client", "sinew.action"),
    "action.graph": ("sinew.action.graph",),
    "action.server": ("sinew.action.server", "sinew.action"),
    "callback_groups": ("sinew.callback_groups",),
    "client": ("sinew.endpoints",),
    "clock": ("sinew.clock", "sinew.jumps", f"{_HERE}._parts"),
    "clock_type": ("sinew.clock",),
    "constants": ("sinew.clock",),
    "context": ("sinew.context", _HERE),
    "duration": ("sinew.clock", f"{_HERE}._parts"),
    "event_handler": ("sinew.events", f"{_HERE}._parts"),
    "exceptions": ("sinew", f"{_HERE}._parts"),
    "executors": ("sinew.executors", f"{_HERE}._parts"),
    "expand_topic_name": (f"{_HERE}._names",),
    "future": ("sinew.future",),
    "guard_condition": ("sinew._sinew",),
    "impl": (),
    "impl.logging_severity": ("sinew.logging",),
    "lifecycle": (f"{_HERE}._lifecycle", "sinew.lifecycle"),
    "lifecycle.managed_entity": ("sinew.lifecycle",),
    "lifecycle.node": (f"{_HERE}._lifecycle", "sinew.lifecycle"),
    "lifecycle.publisher": ("sinew.lifecycle",),
    "logging": (f"{_HERE}._parts", "sinew.logging"),
    "node": (f"{_HERE}._node", "sinew.parameter", "sinew.graph"),
    "parameter": ("sinew.parameter",),
    "parameter_client": ("sinew.parameter_client",),
    "parameter_event_handler": ("sinew.parameter_event_handler",),
    "publisher": ("sinew.endpoints",),
    "qos": (f"{_HERE}._parts", "sinew.qos"),
    "qos_event": ("sinew.events",),
    "qos_overriding_options": (f"{_HERE}._parts",),
    "serialization": ("sinew.serialization",),
    "service": ("sinew.endpoints",),
    "service_introspection": ("sinew.service_introspection",),
    "signals": (_HERE,),
    "subscription": ("sinew.endpoints",),
    "task": ("sinew.future", "sinew._task"),
    "time": ("sinew.clock",),
    "time_source": (f"{_HERE}._parts",),
    "timer": ("sinew.endpoints", "sinew.clock"),
    "topic_endpoint_info": ("sinew.graph",),
    "type_support": (f"{_HERE}._parts",),
    "topic_or_service_is_hidden": (f"{_HERE}._names",),
    "utilities": (f"{_HERE}._parts", _HERE),
    "validate_full_topic_name": (f"{_HERE}._names",),
    "validate_namespace": (f"{_HERE}._names",),
    "validate_node_name": (f"{_HERE}._names",),
    "validate_parameter_name": (f"{_HERE}._names",),
    "validate_topic_name": (f"{_HERE}._names",),
    "wait_for_message": (f"{_HERE}._parts",),
}
"""Modules of rclpy, with the modules of Sinew in which their names are looked for, in order."""

_INSTALLED: dict[str, tuple[str, ...]] = {
    "rclpy": (_HERE,),
    **{f"rclpy.{name}": targets for name, targets in MODULES.items()},
    "rosidl_runtime_py": ("sinew.convert",),
    "rosidl_runtime_py.convert": ("sinew.convert",),
    "rosidl_runtime_py.set_message": ("sinew.convert",),
    "rosidl_runtime_py.utilities": (f"{_HERE}._parts",),
    "tf2_geometry_msgs": (f"{_HERE}._tf",),
    "tf2_py": ("sinew.tf",),
    "tf2_ros": ("sinew.tf", f"{_HERE}._tf"),
    **{
        f"tf2_ros.{name}": ("sinew.tf", f"{_HERE}._tf")
        for name in (
            "buffer",
            "buffer_interface",
            "static_transform_broadcaster",
            "transform_broadcaster",
            "transform_listener",
        )
    },
}

_MISSING = object()


class _Module(ModuleType):
    """A module with the names of others."""

    _targets: tuple[str, ...] = ()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name != "__all__":
            raise AttributeError(name)
        inside = f"{self.__name__}.{name}"
        if inside in _INSTALLED and inside.startswith("rclpy."):
            return importlib.import_module(inside)
        if name == "__all__":
            return [one for one in dir(self) if not one.startswith("_")]
        for target in self._targets:
            found = getattr(importlib.import_module(target), name, _MISSING)
            if found is not _MISSING:
                setattr(self, name, found)
                return found
        raise AttributeError(f"{self.__name__} of sinew.rclpy_compat has no {name}")

    def __dir__(self) -> list[str]:
        return sorted({name for target in self._targets for name in dir(importlib.import_module(target))})


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Makes the modules."""

    def __init__(self, targets_of: Callable[[str], tuple[str, ...] | None]) -> None:
        self._targets_of = targets_of

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if self._targets_of(fullname) is None:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        made = _Module(spec.name)
        made._targets = self._targets_of(spec.name) or ()
        return made

    def exec_module(self, module: ModuleType) -> None:
        return None


def register(package: str) -> None:
    """Makes the modules of rclpy importable below a package."""
    prefix = f"{package}."

    def targets_of(name: str) -> tuple[str, ...] | None:
        return MODULES.get(name[len(prefix) :]) if name.startswith(prefix) else None

    sys.meta_path.insert(0, _Finder(targets_of))


def _installed(name: str) -> tuple[str, ...] | None:
    """Returns the targets of a module that is imported by the name that it has in ROS 2."""
    found = _INSTALLED.get(name)
    if found is not None:
        return found
    package, _, kind = name.partition(".")
    if kind not in ("", "msg", "srv", "action") or package in sys.stdlib_module_names:
        return None
    from .. import interfaces

    return (f"sinew.interfaces.{name}",) if package in interfaces.packages() else None


_finder: _Finder | None = None


def install() -> None:
    """Has `import rclpy`, `import tf2_ros`, `import rosidl_runtime_py` and the packages of messages
    (`std_msgs.msg`) find Sinew's, before others that may be installed. Call it before these imports."""
    global _finder
    if _finder is None:
        _finder = _Finder(_installed)
        sys.meta_path.insert(0, _finder)
