"""What is odd about a user's op traits, seen beside the graph that they are meant for."""

from __future__ import annotations

from collections.abc import Iterator

from ge_core.errors import near_matches
from ge_core.ir import Graph, Node
from ge_core.ops.registry import OpRegistry
from ge_core.ops.traits import OpTraits


def doubts(graph: Graph, ops: OpRegistry) -> list[str]:
    """Warnings: traits of ports that a node doesn't have, and of ops that look misspelled.

    A file may speak of ops that a graph lacks; it is worth a word only where the graph has an op
    of almost that name, which nobody declares.
    """
    vouched = {t.op: t for source, t in ops if t.vouched and source == graph.source}
    if not vouched:
        return []
    found: list[str] = []
    seen: set[str] = set()
    used: set[str] = set()
    unknown: set[str] = set()
    for node in graph.root.all_nodes():
        used.add(node.op)
        traits = ops.traits(node)
        if traits.vouched and node.op not in seen:
            missing = next(_missing_ports(node, traits), None)
            if missing is not None:
                seen.add(node.op)
                found.append(f"{traits.owner}: node {node.name!r} ({node.op}) has no {missing}")
        elif not traits.known:
            unknown.add(node.op)
    for op in sorted(vouched.keys() - used):
        near = near_matches(op, unknown, count=1)
        if near:
            found.append(f"{vouched[op].owner}: no op {op!r} in the graph, which has {near[0]!r}")
    return found


def _missing_ports(node: Node, traits: OpTraits) -> Iterator[str]:
    """Inputs and outputs that the traits name and the node lacks."""
    pairs = {"aliases": traits.aliases, "inplace": traits.inplace}
    lists = {
        "writes": traits.writes,
        "scribbles": traits.scribbles,
        "shape-only": traits.shape_only,
    }
    for what, listed in lists.items():
        yield from (f"input {at}, which `{what}` names" for at in listed if at >= len(node.inputs))
    for what, listed_pairs in pairs.items():
        for output, source in listed_pairs:
            if output >= len(node.outputs):
                yield f"output {output}, which `{what}` names"
            if source >= len(node.inputs):
                yield f"input {source}, which `{what}` names"
