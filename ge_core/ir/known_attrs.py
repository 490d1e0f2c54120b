"""Attributes of nodes that the kernel reads itself: what a file may say there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from ge_core.digits import whole_number
from ge_core.errors import GraphError

MOST_STREAMS: Final = 1 << 31


def check_attrs(node: str, attrs: Mapping[str, Any]) -> None:
    """Raises `GraphError`, naming node and attribute, for a value that nobody could read."""
    if "" in attrs:
        raise GraphError("an attribute without a name", node=node, field="attrs")
    for name, (is_right, wanted) in _KNOWN.items():
        if name in attrs and not is_right(attrs[name]):
            raise GraphError(f"{attrs[name]!r} is not {wanted}", node=node, field=f"attrs.{name}")


def _is_stream(value: object) -> bool:
    # GE writes -1 where no stream has been given.
    return type(value) is int and -1 <= value < MOST_STREAMS


def _is_index(value: object) -> bool:
    return type(value) is int and value >= 0


def _is_effects(value: object) -> bool:
    inputs = value.get("inputs", {}) if isinstance(value, Mapping) else None
    return isinstance(inputs, Mapping) and all(whole_number(str(key)) is not None for key in inputs)


_KNOWN: Final[Mapping[str, tuple[Callable[[object], bool], str]]] = {
    "stream_id": (_is_stream, "the number of a stream"),
    "_parent_node_index": (_is_index, "the index of an input or output of the caller"),
    "rw": (_is_effects, 'a table such as {"inputs": {"0": "write"}}'),
}
