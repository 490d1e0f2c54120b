"""Memory kinds: which memory a tensor is asked to lie in, and by whom.

GE compares what the direct producers of operands say. Wishes come from further sides: from views,
and from readers, which the planner moves the whole buffer for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ge_core.api import InputAnchor, Node, OutputAnchor, TensorDesc

ORDINARY: Final = "HBM"
_ORDINARY: Final = ("", "HBM", "DDR", "DEFAULT")
_BY_NUMBER: Final = {0: ORDINARY, 1: ORDINARY, 2: ORDINARY, 4: ORDINARY, 16: "P2P", 17: "P2P"}


def kind_of(wish: object) -> str:
    """A memory kind by name or GE's number; the ordinary ones are one."""
    if isinstance(wish, str) and not wish.isdecimal():
        return ORDINARY if wish.upper() in _ORDINARY else wish.upper()
    number = int(wish) if isinstance(wish, (str, int)) else 0
    return _BY_NUMBER.get(number, str(number))


def output_kinds(output: OutputAnchor) -> Iterator[str]:
    """The special kinds that a node asks for an output."""
    for wish in (
        output.desc.mem_type,
        _listed(output.node.attrs.get("_output_memory_type"), output.index),
        output.desc.attrs.get("_tensor_memory_type"),
    ):
        if wish is not None and kind_of(wish) != ORDINARY:
            yield kind_of(wish)


def input_kinds(reader: InputAnchor) -> Iterator[str]:
    """The special kind that a node asks for an input, if it does."""
    wish = _listed(reader.node.attrs.get("_input_memory_type"), reader.index)
    if wish is not None and kind_of(wish) != ORDINARY:
        yield kind_of(wish)


def own_kinds(node: Node) -> list[str]:
    """The memory kinds that a node's own inputs and outputs ask for."""
    asked: list[TensorDesc] = [a.own_desc for a in node.inputs if a.own_desc is not None]
    found = [kind_of(desc.mem_type) for desc in asked]
    for reader in node.inputs:
        found += input_kinds(reader)
    for output in node.outputs:
        found += output_kinds(output)
    return found


def _listed(wishes: object, index: int) -> object | None:
    if not isinstance(wishes, (list, tuple)) or index >= len(wishes):
        return None
    found: object = wishes[index]
    return found
