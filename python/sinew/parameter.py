"""Parameters of nodes."""

from __future__ import annotations

import enum
from collections import namedtuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


PARAMETER_SEPARATOR_STRING = "."


class ParameterType(enum.IntEnum):
    """The type of a parameter, with ROS 2's numbers."""

    NOT_SET = 0
    BOOL = 1
    INTEGER = 2
    DOUBLE = 3
    STRING = 4
    BYTE_ARRAY = 5
    BOOL_ARRAY = 6
    INTEGER_ARRAY = 7
    DOUBLE_ARRAY = 8
    STRING_ARRAY = 9

    @classmethod
    def from_parameter_value(cls, value: Any) -> ParameterType:
        """Returns the type of a Python value."""
        kinds = {bool: cls.BOOL, int: cls.INTEGER, float: cls.DOUBLE, str: cls.STRING, bytes: cls.BYTE_ARRAY}
        if value is None:
            return cls.NOT_SET
        kind = kinds.get(type(value))
        if kind is not None:
            return kind
        arrays = {bool: cls.BOOL_ARRAY, int: cls.INTEGER_ARRAY, float: cls.DOUBLE_ARRAY, bytes: cls.BYTE_ARRAY}
        types = {type(one) for one in value}
        if len(types) > 1:
            raise TypeError(f"a parameter's list has one type, but this one has {len(types)}")
        return arrays.get(types.pop(), cls.STRING_ARRAY) if types else cls.STRING_ARRAY


FloatingPointRange = namedtuple("FloatingPointRange", "from_value to_value step", defaults=(0.0,))
FloatingPointRange.__doc__ = "The values that a DOUBLE may have; a step of 0 allows all between the ends."

IntegerRange = namedtuple("IntegerRange", "from_value to_value step", defaults=(0,))
IntegerRange.__doc__ = "The values that an INTEGER may have; a step of 0 allows all between the ends."


class ParameterDescriptor:
    """What is known of a parameter beside its value."""

    _FIELDS = (
        "name",
        "type",
        "description",
        "additional_constraints",
        "read_only",
        "dynamic_typing",
        "floating_point_range",
        "integer_range",
    )

    def __init__(
        self,
        *,
        name: str = "",
        type: int = 0,
        description: str = "",
        additional_constraints: str = "",
        read_only: bool = False,
        dynamic_typing: bool = False,
        floating_point_range: Any = None,
        integer_range: Any = None,
    ) -> None:
        self.name = name
        self.type = int(type)
        self.description = description
        self.additional_constraints = additional_constraints
        self.read_only = read_only
        self.dynamic_typing = dynamic_typing
        self.floating_point_range = _one(floating_point_range, FloatingPointRange)
        self.integer_range = _one(integer_range, IntegerRange)

    @classmethod
    def _of(cls, parts: Any) -> ParameterDescriptor:
        return cls(**dict(zip(cls._FIELDS, parts)))

    __hash__ = None  # type: ignore[assignment]  # it can be changed

    def __eq__(self, other: object) -> bool:
        return vars(self) == vars(other) if isinstance(other, ParameterDescriptor) else NotImplemented

    def __repr__(self) -> str:
        return f"ParameterDescriptor({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"


def _one(ranges: Any, kind: Any) -> Any:
    """Returns the range of what may be a range, a list of at most one, or a message of one."""
    if ranges is None or isinstance(ranges, kind):
        return ranges
    if hasattr(ranges, "from_value"):
        return kind(ranges.from_value, ranges.to_value, ranges.step)
    if len(ranges) == 3 and not hasattr(ranges[0], "from_value"):
        return kind(*ranges)
    if len(ranges) > 1:
        raise ValueError(f"a parameter has one range, not {len(ranges)}")
    return _one(ranges[0], kind) if len(ranges) else None


class Parameter:
    """A parameter: its name and its value. `type_` is for values that don't say it, such as `[]`."""

    Type = ParameterType
    __hash__ = None  # type: ignore[assignment]  # it can be changed

    def __init__(self, name: str, type_: ParameterType | None = None, value: Any = None) -> None:
        found = ParameterType.from_parameter_value(value)
        empty = found == ParameterType.STRING_ARRAY and len(value) == 0
        if type_ is not None and type_ != found and not (empty and type_ > ParameterType.STRING):
            raise ValueError(f"parameter {name!r} can't have the type {type_.name} and the value {value!r}")
        self.name = name
        self.type_ = ParameterType(type_) if type_ is not None else found
        self.value = value

    def get_parameter_value(self) -> Any:
        """Returns it as `rcl_interfaces/msg/ParameterValue`."""
        from .interfaces.rcl_interfaces.msg import ParameterValue

        message = ParameterValue(type=int(self.type_))
        if self.type_ != ParameterType.NOT_SET:
            setattr(message, _VALUES[self.type_], self.value)
        return message

    def to_parameter_msg(self) -> Any:
        """Returns it as `rcl_interfaces/msg/Parameter`."""
        from .interfaces.rcl_interfaces.msg import Parameter as Message

        return Message(name=self.name, value=self.get_parameter_value())

    @classmethod
    def from_parameter_msg(cls, message: Any) -> Parameter:
        """Returns the parameter of a `rcl_interfaces/msg/Parameter`."""
        return cls(message.name, ParameterType(message.value.type), parameter_value_to_python(message.value))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Parameter):
            return NotImplemented
        return (self.name, self.type_, self.value) == (other.name, other.type_, other.value)


    def __repr__(self) -> str:
        return f"Parameter({self.name!r}, {self.type_.name}, {self.value!r})"


_VALUES = {
    ParameterType.BOOL: "bool_value",
    ParameterType.INTEGER: "integer_value",
    ParameterType.DOUBLE: "double_value",
    ParameterType.STRING: "string_value",
    ParameterType.BYTE_ARRAY: "byte_array_value",
    ParameterType.BOOL_ARRAY: "bool_array_value",
    ParameterType.INTEGER_ARRAY: "integer_array_value",
    ParameterType.DOUBLE_ARRAY: "double_array_value",
    ParameterType.STRING_ARRAY: "string_array_value",
}
"""The fields of `rcl_interfaces/msg/ParameterValue`."""


def parameter_value_to_python(value: Any) -> Any:
    """Returns the value of a `rcl_interfaces/msg/ParameterValue`; `None` if it is not set."""
    kind = ParameterType(value.type)
    if kind == ParameterType.NOT_SET:
        return None
    found = getattr(value, _VALUES[kind])
    if kind <= ParameterType.STRING:
        return found
    values = list(found.tolist() if hasattr(found, "tolist") else found)
    if kind == ParameterType.BYTE_ARRAY:
        return b"".join(one if isinstance(one, bytes) else bytes([one]) for one in values)
    return values


class SetParametersResult:
    """Whether parameters were set, or may be; `reason` says why not."""

    def __init__(self, *, successful: bool = True, reason: str = "") -> None:
        self.successful = successful
        self.reason = reason

    def __repr__(self) -> str:
        return f"SetParametersResult(successful={self.successful}, reason={self.reason!r})"
