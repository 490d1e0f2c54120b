"""One spelling for attribute names and memory kinds that circulate in several."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ge_core.digits import whole_number
from ge_core.errors import InputFileError, near_matches

ATTR_SPELLINGS: Final[Mapping[str, str]] = {
    "_nopadding_continuous_input": "_no_padding_continuous_input",
    "_nopadding_continuous_output": "_no_padding_continuous_output",
    "parent_node_index": "_parent_node_index",
    "op_kernel_lib": "_ge_attr_op_kernel_lib_name",
}
"""Spelling found in notes and dumps -> the one GE's code uses."""

MEM_TYPES: Final = ("HBM", "DDR", "L1", "L2", "UB", "P2P", "TS", "HOST")
"""Memory kinds by name; HBM, DDR and the default are one kind to every rule."""

_MEM_NUMBERS: Final[Mapping[int, str]] = {
    0: "HBM",
    2: "HBM",
    4: "DDR",
    16: "P2P",
    17: "P2P",
    64: "TS",
    129: "HOST",
    1 << 16: "L1",
    1 << 17: "L2",
    1 << 18: "UB",
}


def attr_name(name: str) -> str:
    """The canonical spelling of an attribute name."""
    return ATTR_SPELLINGS.get(name, name)


def attrs(given: Mapping[str, Any]) -> dict[str, Any]:
    """The same attributes under canonical names."""
    return {ATTR_SPELLINGS.get(name, name): value for name, value in given.items()}


def mem_type(value: object) -> str:
    """A memory kind by name, from a name or GE's number (17 is P2P)."""
    if isinstance(value, str):
        upper = value.upper()
        if upper in MEM_TYPES:
            return upper
        if upper == "DEFAULT":
            return "HBM"
        number = whole_number(value)
        value = value if number is None else number
    if isinstance(value, int) and not isinstance(value, bool) and value in _MEM_NUMBERS:
        return _MEM_NUMBERS[value]
    raise InputFileError(
        f"unknown memory kind {value!r}", field="mem_type", near=near_matches(str(value), MEM_TYPES)
    )
