"""The parameters of a node, as a part of `Node`."""

from __future__ import annotations

from . import _sinew
from ._sinew import ParameterAlreadyDeclaredException
from .parameter import (
    Parameter,
    ParameterDescriptor,
    ParameterType,
    SetParametersResult,
    parameter_value_to_python,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    _Callback = Callable[[list[Parameter]], Any]
    _Pairs = list[tuple[str, Any]]


class Parameters:
    """A node's parameters."""

    _handle: _sinew.Node
    _parameter_callbacks: list[_Added]
    _allows_undeclared: bool

    def declare_parameter(
        self, name: str, value: Any = None, descriptor: ParameterDescriptor | None = None, ignore_override: bool = False
    ) -> Parameter:
        """Declares a parameter, and returns it with its value: that of the command line or a file if there
        is one, else `value`. `value` may be a `ParameterType` instead, for one without a default.

        Raises `ParameterAlreadyDeclaredException`, `InvalidParameterTypeException` and
        `InvalidParameterValueException`."""
        one = (name,) if value is None and descriptor is None else (name, value, descriptor)
        return self.declare_parameters("", [one], ignore_override)[0]

    def declare_parameters(self, namespace: str, parameters: Iterable[Any], ignore_override: bool = False) -> list[Parameter]:
        """Declares parameters: tuples of what `declare_parameter` takes, with names below `namespace`. If a
        tuple is wrong or a name is taken, none is declared; if a value is refused, those before it are."""
        prefix = f"{namespace}." if namespace else ""
        wanted = [self._declaration(prefix, one) for one in parameters]
        names = [name for name, *_ in wanted]
        for index, name in enumerate(names):
            if name in names[:index]:
                raise ParameterAlreadyDeclaredException(f"parameter {name!r} is in the list twice")
            if self.has_parameter(name):
                wanted = wanted[index : index + 1]  # to raise its error
                break
        declared = []
        for name, value, descriptor in wanted:
            found = _sinew.declare_parameter(self._handle, name, value, descriptor, ignore_override)
            declared.append(self._parameter(name, found))
        return declared

    def _declaration(self, prefix: str, one: Any) -> tuple[str, Any, ParameterDescriptor]:
        """Returns the name, default value and descriptor of a tuple."""
        if not isinstance(one, (tuple, list)) or not 1 <= len(one) <= 3 or not isinstance(one[0], str):
            raise TypeError(f"a parameter is declared by a tuple of its name, value and descriptor, not {one!r}")
        name, value, descriptor = (*one, None, None)[:3]
        if hasattr(value, "integer_array_value"):  # a `rcl_interfaces/msg/ParameterValue`
            value = parameter_value_to_python(value)
        about = _parts(descriptor) if descriptor is not None else ParameterDescriptor()
        if len(one) == 1:
            about = self._without_value(prefix + name)
        if isinstance(value, ParameterType):
            if value == ParameterType.NOT_SET or about.dynamic_typing:
                raise ValueError(f"parameter {name!r} can't have the type {value.name} and a dynamic one, or none")
            return prefix + name, None, _with_type(about, value)
        return prefix + name, value, about

    def _without_value(self, name: str) -> ParameterDescriptor:
        """Returns the descriptor of a parameter of which only the name was given."""
        return ParameterDescriptor()

    def undeclare_parameter(self, name: str) -> None:
        """Removes a parameter with a dynamic type."""
        _sinew.undeclare_parameter(self._handle, name)

    def has_parameter(self, name: str) -> bool:
        return _sinew.has_parameter(self._handle, name)

    def get_parameter(self, name: str) -> Parameter:
        """Returns a parameter. Raises `ParameterNotDeclaredException` if it isn't declared, unless the node
        allows undeclared ones, and `ParameterUninitializedException` if it has a type but no value yet."""
        if self._allows_undeclared and not self.has_parameter(name):
            return Parameter(name)
        return self._parameter(name, _sinew.get_parameter(self._handle, name))

    def _get(self, name: str) -> Parameter:
        """Returns a declared parameter, with or without a value."""
        return self._parameter(name, _sinew.get_parameter(self._handle, name, False))

    def get_parameters(self, names: list[str]) -> list[Parameter]:
        return [self.get_parameter(name) for name in names]

    def get_parameter_or(self, name: str, alternative_value: Any = None) -> Parameter:
        """Returns a parameter, or the alternative if it isn't declared or has no value."""
        if self.has_parameter(name):
            found = self._get(name)
            if found.type_ != ParameterType.NOT_SET:
                return found
        if isinstance(alternative_value, Parameter):
            return alternative_value
        return Parameter(name, value=alternative_value)

    def get_parameters_by_prefix(self, prefix: str) -> dict[str, Parameter]:
        """Returns the parameters below a prefix, by the rest of their names."""
        start = f"{prefix}." if prefix else ""
        names = _sinew.list_parameters(self._handle, [prefix] if prefix else [], 0)
        return {name[len(start) :]: self._get(name) for name in names if name.startswith(start)}

    def list_parameters(self, prefixes: list[str], depth: int = 0) -> list[str]:
        """Returns the names of parameters below prefixes, with fewer than `depth` dots after the prefix; a depth
        of 0 is any."""
        if depth < 0:
            raise ValueError(f"a depth can't be negative, but it is {depth}")
        return _sinew.list_parameters(self._handle, list(prefixes), depth)

    def set_parameters(self, parameters: list[Parameter]) -> list[SetParametersResult]:
        """Sets parameters one by one. A result says why one was not set; one that isn't declared raises
        `ParameterNotDeclaredException`."""
        return [self._set([one]) for one in parameters]

    def set_parameters_atomically(self, parameters: list[Parameter]) -> SetParametersResult:
        """Sets all parameters or none."""
        return self._set(parameters)

    def _set(self, parameters: list[Parameter]) -> SetParametersResult:
        try:
            _sinew.set_parameters(self._handle, [(one.name, one.value) for one in parameters])
        except _sinew.ParameterNotDeclaredException:
            raise
        except _sinew.SinewError as error:
            return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult()

    def describe_parameter(self, name: str) -> ParameterDescriptor:
        """Returns what is known of a parameter. Raises `ParameterNotDeclaredException`."""
        found = _sinew.describe_parameter(self._handle, name)
        if found is None:
            if self._allows_undeclared:
                return ParameterDescriptor()
            self._get(name)  # raises the exception
        return ParameterDescriptor._of(found)

    def describe_parameters(self, names: list[str]) -> list[ParameterDescriptor]:
        return [self.describe_parameter(name) for name in names]

    def get_parameter_types(self, names: list[str]) -> list[ParameterType]:
        return [self.get_parameter_type(name) for name in names]

    def get_parameter_type(self, name: str) -> ParameterType:
        """Returns the type of a parameter's value; `NOT_SET` if it has none."""
        return self._get(name).type_ if self.has_parameter(name) else self.get_parameter(name).type_

    def add_pre_set_parameters_callback(self, callback: _Callback) -> _Callback:
        """Adds a function that gets the parameters that are about to be set, and returns those to set."""

        def pre(pairs: _Pairs) -> _Pairs:
            changed = callback([self._parameter(*pair) for pair in pairs])
            return [(one.name, one.value) for one in changed]

        return self._add_callback("pre", callback, pre)

    def add_on_set_parameters_callback(self, callback: _Callback) -> _Callback:
        """Adds a function that gets parameters and returns a `SetParametersResult`: whether they may be
        set. It runs on the thread that sets them, also for parameters that are being declared."""

        def on(pairs: _Pairs) -> str | None:
            result = callback([self._parameter(*pair) for pair in pairs])
            return None if result.successful else result.reason or "a callback of the node refused it"

        return self._add_callback("on", callback, on)

    def add_post_set_parameters_callback(self, callback: _Callback) -> _Callback:
        """Adds a function that gets parameters after they were set."""

        def post(pairs: _Pairs) -> None:
            callback([self._parameter(*pair) for pair in pairs])

        return self._add_callback("post", callback, post)

    def _add_callback(self, kind: str, callback: _Callback, wrapper: Callable[[_Pairs], object]) -> _Callback:
        handle = _sinew.add_parameter_callback(self._handle, kind, wrapper)
        self._parameter_callbacks.append(_Added(handle, callback))
        return callback

    def _remove_callback(self, callback: _Callback) -> None:
        for index, added in enumerate(self._parameter_callbacks):
            if added.callback == callback:
                del self._parameter_callbacks[index]
                added.remove()
                return
        raise ValueError("this callback for parameters was not added, or is removed already")

    remove_pre_set_parameters_callback = _remove_callback
    remove_on_set_parameters_callback = _remove_callback
    remove_post_set_parameters_callback = _remove_callback

    def _parameter(self, name: str, value: Any) -> Parameter:
        if isinstance(value, list) and not value:
            found = _sinew.describe_parameter(self._handle, name)
            kind = ParameterType(found[1]) if found is not None else ParameterType.STRING_ARRAY
            return Parameter(name, kind if kind > ParameterType.STRING else None, value)
        return Parameter(name, value=value)


class _Added:
    """A callback for parameters."""

    def __init__(self, handle: _sinew.ParameterHandle, callback: _Callback) -> None:
        self._handle = handle
        self.callback = callback

    def remove(self) -> None:
        self._handle.remove()


def _parts(descriptor: Any) -> ParameterDescriptor:
    """Returns a descriptor of this package for one that may be a message."""
    if isinstance(descriptor, ParameterDescriptor):
        return descriptor
    fields = {name: getattr(descriptor, name) for name in ParameterDescriptor._FIELDS}
    for name in ("floating_point_range", "integer_range"):
        fields[name] = fields[name] if len(fields[name]) > 0 else None
    return ParameterDescriptor(**fields)


def _with_type(descriptor: Any, kind: ParameterType) -> ParameterDescriptor:
    parts = dict(vars(_parts(descriptor)))
    parts["type"] = int(kind)
    return ParameterDescriptor(**parts)
