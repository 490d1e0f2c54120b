"""Whether calls and the subgraphs of a file fit together: what is handed in, and what comes back.

A file that is wrong there would be compiled to something, and the proof would find that nobody made
what is read. So it is said of the file, before anything is done.
"""

from __future__ import annotations

from typing import Final

from ge_core.analysis import interface_of
from ge_core.errors import GraphError
from ge_core.ir import Graph, Node
from ge_core.ops import OpRegistry

_CHECKED: Final = frozenset({"call", "if", "case"})


def check_called(graph: Graph, ops: OpRegistry) -> None:
    """Check calls and branches below a root; loops have rules of their own.

    Raises:
        GraphError: a subgraph's input or result stands for one that its caller hasn't, nobody
            delivers what a caller returns and somebody reads, or two arms are one subgraph.
    """
    for node in graph.all_nodes():
        if node.subgraphs and ops.kind(node) in _CHECKED:
            _check_apart(node)
            for label, inner in node.subgraphs.items():
                _check_ends(node, inner)
                _check_delivered(node, label, inner)


def _check_apart(caller: Node) -> None:
    """A task is known by its node and the calls that lead there, which two arms would share."""
    labels: dict[Graph, str] = {}
    for label, inner in caller.subgraphs.items():
        other = labels.setdefault(inner, label)
        if other != label:
            raise GraphError(
                f"subgraph {inner.name!r} is both its {other} and its {label}",
                node=caller.name,
                field="subgraphs",
                hint="give each its own subgraph, or call this one from both",
            )


def _check_ends(caller: Node, inner: Graph) -> None:
    ends = interface_of(inner)
    for index, nodes in ends.data.items():
        if index >= len(caller.inputs):
            raise GraphError(
                f"it stands for input {index} of {caller.name!r}, which has {len(caller.inputs)}",
                node=nodes[0].name,
                field="attrs._parent_node_index",
                hint=f"give {caller.name!r} that input, or the Data the right number",
            )
    for index, anchor in ends.results.items():
        if index >= len(caller.outputs):
            raise GraphError(
                f"input {anchor.index} delivers output {index} of {caller.name!r}, which has"
                f" {len(caller.outputs)}",
                node=anchor.node.name,
                field="input_descs",
                hint=f"give {caller.name!r} that output, or the result the right number",
            )


def _check_delivered(caller: Node, label: str, inner: Graph) -> None:
    ends = interface_of(inner)
    if ends.blind_from is not None:
        return  # a result that doesn't say which one it is might be any
    for output in caller.outputs:
        if output.readers and output.index not in ends.results:
            what = "it has no NetOutput" if inner.net_output is None else "no result is that one"
            raise GraphError(
                f"subgraph {inner.name!r} ({label}) does not make output {output.index}, which is"
                f" read: {what}",
                node=caller.name,
                field="subgraphs",
                hint="add what is missing to the subgraph's NetOutput",
            )
