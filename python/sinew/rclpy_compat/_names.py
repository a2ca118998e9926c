"""Names of topics, services, nodes and parameters: rclpy's checks of them."""

from __future__ import annotations

import re

from .._sinew import InvalidNameError, InvalidParameterValueException, check_namespace, check_node_name

HIDDEN_TOPIC_PREFIX = "_"
TOPIC_SEPARATOR_STRING = "/"

_SUBSTITUTIONS = re.compile(r"\{(\w*)\}")
_TOKENS = re.compile(r"[A-Za-z_]\w*(/[A-Za-z_]\w*)*", re.ASCII)


def _check(name: str, tokens: str, is_service: bool) -> bool:
    kind = "service" if is_service else "topic"
    if not _TOKENS.fullmatch(tokens) or "__" in tokens:
        raise InvalidNameError(
            f"{kind} name {name!r} is invalid: it is made of words of ASCII letters, digits and `_` between single `/`"
        )
    return True


def validate_topic_name(name: str, *, is_service: bool = False) -> bool:
    """Returns true for a name that an endpoint may have. Raises `InvalidNameError` for others."""
    tokens = _SUBSTITUTIONS.sub("s", name)  # as a part of a word
    if name.startswith("~"):
        return name == "~" or _check(name, tokens.removeprefix("~/"), is_service)
    return _check(name, tokens.removeprefix("/"), is_service)


def validate_full_topic_name(name: str, *, is_service: bool = False) -> bool:
    """Returns true for a name that is expanded. Raises `InvalidNameError` for others."""
    if not name.startswith("/"):
        raise InvalidNameError(f"the name {name!r} is not a full one: it must begin with `/`")
    return _check(name, name[1:], is_service)


def validate_node_name(node_name: str) -> bool:
    """Returns true for a name that a node may have. Raises `InvalidNameError` for others."""
    check_node_name(node_name)
    return True


def validate_namespace(namespace: str) -> bool:
    """Returns true for a namespace. Raises `InvalidNameError` for others."""
    check_namespace(namespace)
    return True


def validate_parameter_name(name: str) -> bool:
    """Returns true for a name that a parameter may have. Raises `InvalidParameterException` for others."""
    if not name:
        raise InvalidParameterValueException("the name of a parameter must not be empty")
    return True


def expand_topic_name(topic_name: str, node_name: str, node_namespace: str) -> str:
    """Returns the full name of a topic of a node, without renaming. Raises `ValueError` for wrong names."""
    values = {"node": node_name, "ns": node_namespace, "namespace": node_namespace}
    try:
        validate_topic_name(topic_name)
        validate_node_name(node_name)
        validate_namespace(node_namespace)
        expanded = _SUBSTITUTIONS.sub(lambda found: values[found[1]], topic_name)
    except InvalidNameError as error:
        raise ValueError(str(error)) from error
    except KeyError as error:
        raise ValueError(f"{topic_name!r} has {error}, but there are {{node}}, {{ns}} and {{namespace}}") from None
    inside = node_namespace.rstrip("/")
    if expanded.startswith("~"):
        return f"{inside}/{node_name}{expanded[1:]}"
    return expanded if expanded.startswith("/") else f"{inside}/{expanded}"


def topic_or_service_is_hidden(name: str) -> bool:
    """Returns whether a word of a name begins with `_`."""
    return any(word.startswith(HIDDEN_TOPIC_PREFIX) for word in name.split("/"))
