"""How many inputs and outputs a node must have for its op to mean anything."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ge_core.errors import GraphError
from ge_core.ir import Graph
from ge_core.ops.builtin import ASSIGN_LIKE
from ge_core.ops.registry import OpRegistry

LEAST_BY_KIND: Final[Mapping[str, tuple[int, int]]] = {
    "case": (1, 0),
    "constant": (0, 1),
    "data": (0, 1),
    "if": (1, 0),
    "variable": (0, 1),
}
"""Kind -> least inputs and outputs: a choice has something to go by, a source gives a value."""
LEAST_BY_OP: Final[Mapping[str, tuple[int, int]]] = dict.fromkeys(sorted(ASSIGN_LIKE), (2, 0))
"""Op type -> the same: what is stored, and where."""


def check_arity(graph: Graph, ops: OpRegistry) -> None:
    """Raises `GraphError` for the first node, here or below, that has too few inputs or outputs."""
    for node in graph.all_nodes():
        least = LEAST_BY_OP.get(node.op) or LEAST_BY_KIND.get(ops.kind(node))
        if least is None:
            continue
        for field, wanted, there in zip(
            ("inputs", "outputs"), least, (len(node.inputs), len(node.outputs)), strict=True
        ):
            if there < wanted:
                text = f"{node.op} needs {wanted} at least, and has {there}"
                raise GraphError(text, node=node.name, field=field)
