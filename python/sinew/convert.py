"""Messages as dictionaries, JSON and YAML, and back.

The functions that `rosidl_runtime_py` has too are called as there.
"""

from __future__ import annotations

import json
import math
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, TypeVar

from ._sinew import Message

__all__ = [
    "from_dict",
    "from_json",
    "message_to_csv",
    "message_to_ordereddict",
    "message_to_yaml",
    "set_message_fields",
    "to_dict",
    "to_json",
]

M = TypeVar("M", bound=Message)


def to_dict(message: Message) -> dict[str, Any]:
    """Returns the fields as a dictionary of Python's own types: numbers, `str`, lists and dictionaries. A
    ``byte`` is a number."""
    return {name: _plain(getattr(message, name)) for name in message.get_fields_and_field_types()}


def _plain(value: Any) -> Any:
    if isinstance(value, Message):
        return to_dict(value)
    if isinstance(value, bytes) and len(value) == 1:
        return value[0]
    if isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return value.tolist() if hasattr(value, "tolist") else list(value)


def from_dict(message_type: type[M], values: Mapping[str, Any]) -> M:
    """Returns a message with the values of a dictionary; fields that it lacks keep their defaults.

    Raises `AttributeError` for a field that there isn't, `TypeError` or `ValueError` for a value that
    doesn't fit.
    """
    message = message_type()
    set_message_fields(message, values)
    return message


def set_message_fields(message: Message, values: Mapping[str, Any]) -> None:
    """Assigns the values of a dictionary, which may have dictionaries for messages inside, and the texts of
    `to_json` for numbers that aren't finite. Raises as `from_dict`."""
    nested = message._nested()
    types = message.get_fields_and_field_types()
    for name, value in values.items():
        inside = nested.get(name)
        if inside is None and "float" in types.get(name, ""):
            setattr(message, name, _floats(value))
        elif inside is None or isinstance(value, Message):
            setattr(message, name, value)
        elif isinstance(value, Mapping):
            # Through the message that is there, so that fields that aren't named keep their values.
            set_message_fields(getattr(message, name), value)
        elif value is None or isinstance(value, (str, int, float)):
            raise TypeError(f"`{name}`: found {value!r}, expected the fields of {types[name]}")
        else:
            elements = [one if isinstance(one, Message) else from_dict(inside, one) for one in value]
            setattr(message, name, elements)


_NOT_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def _floats(value: Any) -> Any:
    """Replaces the texts for numbers that JSON doesn't have."""
    if isinstance(value, str):
        return _NOT_FINITE.get(value, value)
    if isinstance(value, list) and any(isinstance(one, str) for one in value):
        return [_floats(one) for one in value]
    return value


def to_json(message: Message, *, indent: int | None = None) -> str:
    """Returns the fields as JSON. NaN and infinity, which JSON doesn't have, are the texts ``"nan"``,
    ``"inf"`` and ``"-inf"``, as in the output of ``sinew topic echo``."""
    return json.dumps(_finite(to_dict(message)), indent=indent, allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_finite(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    return value


def from_json(message_type: type[M], text: str | bytes) -> M:
    """Returns a message with the values of a JSON object. Raises as `from_dict`, and
    `json.JSONDecodeError`."""
    values = json.loads(text)
    if not isinstance(values, dict):
        raise TypeError(f"found {text!r}, expected a JSON object")
    return from_dict(message_type, values)


def message_to_ordereddict(message: Message, *, truncate_length: int | None = None) -> OrderedDict[str, Any]:
    """Returns the fields as an `OrderedDict`. Strings and arrays longer than `truncate_length` are cut,
    and end with ``...``."""
    return OrderedDict((name, _truncated(value, truncate_length)) for name, value in to_dict(message).items())


def _truncated(value: Any, length: int | None) -> Any:
    if isinstance(value, dict):
        return OrderedDict((name, _truncated(one, length)) for name, one in value.items())
    if length is not None and isinstance(value, str) and len(value) > length:
        return value[:length] + "..."
    if isinstance(value, list):
        cut = length is not None and len(value) > length
        shown = [_truncated(one, length) for one in (value[:length] if cut else value)]
        return [*shown, "..."] if cut else shown
    return value


def message_to_csv(message: Message) -> str:
    """Returns the values of all fields with commas between them."""

    def flat(value: Any) -> list[str]:
        if isinstance(value, dict):
            return [text for one in value.values() for text in flat(one)]
        if isinstance(value, list):
            return [text for one in value for text in flat(one)]
        return [str(value)]

    return ",".join(flat(to_dict(message)))


def message_to_yaml(message: Message, *, truncate_length: int | None = None, flow_style: bool = False) -> str:
    """Returns the fields as YAML: a line for each, or with `flow_style` all in one line."""
    values = message_to_ordereddict(message, truncate_length=truncate_length)
    if flow_style:
        return _flow(values) + "\n"
    return "".join(f"{line}\n" for line in _block(values))


def _block(values: Mapping[str, Any]) -> list[str]:
    lines = []
    for name, value in values.items():
        if isinstance(value, Mapping) and value:
            lines += [f"{name}:", *(f"  {line}" for line in _block(value))]
        elif isinstance(value, list) and value:
            lines.append(f"{name}:")
            for one in value:
                inside = _block(one) if isinstance(one, Mapping) and one else [_flow(one)]
                lines += [f"- {inside[0]}", *(f"  {line}" for line in inside[1:])]
        else:
            lines.append(f"{name}: {_flow(value)}")
    return lines


def _flow(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name}: {_flow(one)}" for name, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and not math.isfinite(value):
        return ".nan" if math.isnan(value) else ".inf" if value > 0 else "-.inf"
    if isinstance(value, str):
        return json.dumps(value)  # a JSON text is one of YAML
    return str(value)
