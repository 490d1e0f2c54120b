"""One copy in question, and what is known of it before anybody looks at memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ge_core.api import Graph, InputAnchor, Keep, Node, OutputAnchor
from ge_tensormove.coalesce.knowledge import Knowledge, names_memory

COPIES: Final = ("TensorMove", "Identity")
"""Ops that hand on what they read, in fresh memory."""
RESERVED: Final = "_cannot_be_deleted"
NO_FOLDING: Final = "no_need_constant_folding"


@dataclass(frozen=True, slots=True, eq=False)
class Move:
    """A TensorMove or Identity with one input and one output, both in use.

    Attributes:
        node: the copy.
        place: its number among all copies, in the order in which they are listed.
    """

    node: Node
    place: int

    @property
    def input(self) -> InputAnchor:
        """What it reads."""
        return self.node.inputs[0]

    @property
    def output(self) -> OutputAnchor:
        """What its readers are fed by."""
        return self.node.outputs[0]

    @property
    def feed(self) -> OutputAnchor:
        """What it is fed by."""
        assert self.node.inputs[0].source is not None
        return self.node.inputs[0].source

    @property
    def graph(self) -> Graph:
        """The graph that it is in."""
        assert self.node.graph is not None
        return self.node.graph

    @property
    def bytes(self) -> int:
        """What it copies; 0 where the size is not known."""
        return self.output.desc.nbytes or 0


def reserved(node: Node, known: Knowledge) -> Keep | None:
    """Why a copy is no question of memory; None where it is one.

    Of copies that passes have put in neither marks nor control flow count: what those copies
    protect is looked at here.
    """
    if node.name in known.kept:
        return Keep("O4_RAISES_PEAK", hint="--objective copies")
    if node.origin:
        mark = _mark(node)
        if mark is not None:
            return Keep("O4_RESERVED", blame=node, fields={"mark": mark})
    if not node.outputs:
        return Keep("O4_NO_OUTPUT", blame=node)
    ports = max(len(node.inputs), len(node.outputs))
    if ports > 1:
        return Keep("O4_SEVERAL_PORTS", blame=node, fields={"ports": ports})
    feed = node.inputs[0].source if node.inputs else None
    if feed is None:
        return Keep("O4_UNCONNECTED", blame=node)
    variable = names_memory(node.outputs[0])
    if variable is not None:
        return Keep("O4_NAMES_MEMORY", blame=[node, feed], fields={"variable": variable})
    flow = known.control_flow(feed) if node.origin else None
    if flow is not None:
        return Keep("O4_CONTROL_FLOW", blame=[flow, node], fields={"place": flow.name})
    return None


def _mark(node: Node) -> str | None:
    if node.attrs.get(RESERVED):
        return RESERVED
    # By presence: false reserves as well.
    return NO_FOLDING if NO_FOLDING in node.attrs else None
