"""Attributes that the kernel reads itself: what a file may say there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from ge_core.digits import whole_number
from ge_core.errors import GraphError

MOST_STREAMS: Final = 1 << 31


def check_attrs(attrs: Mapping[str, Any], op: str = "", *, tolerant: bool = False) -> None:
    """Raises `GraphError`, naming the attribute, for a value that nobody could read.

    Args:
        op: the type of the node that has them; empty for attributes of a tensor.
        tolerant: let any number stand for a place at the caller, as GE does.
    """
    if "" in attrs:
        raise GraphError("an attribute without a name", field="attrs")
    known = _KNOWN if op not in _FEEDS else {**_KNOWN, "index": _INDEX}
    if tolerant:
        known = {**known, "_parent_node_index": _INDEX}
    for name, (is_right, wanted) in known.items():
        if name in attrs and not is_right(attrs[name]):
            raise GraphError(f"{attrs[name]!r} is not {wanted}", field=f"attrs.{name}")


def _is_stream(value: object) -> bool:
    # GE writes -1 where no stream has been given.
    return type(value) is int and -1 <= value < MOST_STREAMS


def _is_index(value: object) -> bool:
    return type(value) is int and value >= 0


def _is_effects(value: object) -> bool:
    inputs = value.get("inputs", {}) if isinstance(value, Mapping) else None
    return isinstance(inputs, Mapping) and all(
        whole_number(str(key)) is not None and how in ("read", "write")
        for key, how in inputs.items()
    )


def _is_mark(value: object) -> bool:
    # Files of other makers have numbers where we write true and false.
    return isinstance(value, bool) or (type(value) is int and value in (0, 1))


def _is_number(value: object) -> bool:
    return type(value) is int


def _is_numbers(value: object) -> bool:
    return isinstance(value, (list, tuple)) and all(isinstance(item, int) for item in value)


def _is_pairs(value: object) -> bool:
    return isinstance(value, (list, tuple)) and all(
        isinstance(pair, (list, tuple)) and len(pair) == 2 and all(_is_index(at) for at in pair)
        for pair in value
    )


def _is_window(value: object) -> bool:
    return isinstance(value, (list, tuple)) and len(value) == 4 and all(map(_is_index, value))


_Rule = tuple[Callable[[object], bool], str]
_FEEDS: Final = ("Data", "RefData")
_INDEX: Final[_Rule] = (lambda value: isinstance(value, int), "the number of an input")
_MARK: Final[_Rule] = (_is_mark, "true or false")
_MARKS: Final = (
    "_cannot_be_deleted",
    "_input_mutable",
    "_no_padding_continuous_input",
    "_no_padding_continuous_output",
    "_no_task",
    "_output_reuse_input",
    "continuous_input",
    "continuous_output",
    "reference",
)
_KNOWN: Final[Mapping[str, _Rule]] = {
    **dict.fromkeys(_MARKS, _MARK),
    "_output_inplace_ability": (_is_pairs, "a list of pairs [output, input]"),
    "_parent_node_index": (_is_index, "the index of an input or output of the caller"),
    "_workspace_memory_no_reuse_scope": (_is_numbers, "a list of numbers"),
    "_reuse_input_on_dim_index": (_is_index, "the number of an axis"),
    "_reuse_input_window": (
        _is_window,
        "four numbers: bytes to the first row, of a row, from row to row, and how many rows",
    ),
    "concat_dim": (_is_number, "the number of an axis"),
    "rw": (_is_effects, 'a table such as {"inputs": {"0": "write"}}'),
    "split_dim": (_is_number, "the number of an axis"),
    "stream_id": (_is_stream, "the number of a stream"),
    "workspace_reuse_flag": (_is_numbers, "a list of numbers"),
}
