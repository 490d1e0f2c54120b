"""Marks for dumps: GE registers the tensors of a node without a task only where this one asks."""

from __future__ import annotations

from typing import Final

from ge_core.api import Graph, Node, PassContext

DUMP: Final = "ge.exec.enableDump"
NEEDED: Final = "_no_task_and_dump_needed"


def mark_for_dump(graph: Graph, node: Node, ctx: PassContext) -> None:
    """Have a dump find the tensors of a node that lost its task, where dumps are on."""
    if ctx.option(DUMP) == "1":
        graph.set_attr(node, NEEDED, True)


def unmark_for_dump(graph: Graph, node: Node) -> None:
    """Take the mark from a node that has its task again, which tells where tensors lie."""
    if NEEDED in node.attrs:
        graph.del_attr(node, NEEDED)
