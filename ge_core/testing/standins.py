"""Ops that an executor made up: it has no kernel that knows what they mean."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ge_core.ir import Node
from ge_core.session.result import Result


def changed_standins(result: Result, made_up: Collection[str]) -> list[str]:
    """Op types of nodes that a compile changed, removed or put in, as far as they are made up.

    Sorted. What is made up for two graphs differs wherever they do, right or wrong.
    """
    return sorted({op for op in _changed(result) if op in made_up})


def _changed(result: Result) -> Iterator[str]:
    before = {node.name: node for node in result.original.all_nodes()}
    after = {node.name: node for node in result.graph.all_nodes()}
    for name in before.keys() ^ after.keys():
        yield (before.get(name) or after[name]).op
    for name, node in before.items():
        if name in after and not _alike(node, after[name]):
            yield from (node.op, after[name].op)


def _alike(before: Node, after: Node) -> bool:
    # The kernel itself adds attributes: only those that the node had say what it computes.
    return before.op == after.op and all(
        name in after.attrs and repr(after.attrs[name]) == repr(value)
        for name, value in before.attrs.items()
    )
