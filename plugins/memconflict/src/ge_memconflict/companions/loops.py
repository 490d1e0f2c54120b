"""Copies around and in loops: what several read on the way in, and both ends of the body.

The turns of a loop share the memory of its values. A body reads all its inputs before it writes a
result there, and to be sure of that, everything but what is handed straight through is copied, all
inputs at once and all results at once.
"""

from __future__ import annotations

from ge_core.api import (
    Graph,
    GraphError,
    InputAnchor,
    Node,
    OutputAnchor,
    output_parent_index,
    parent_index,
)
from ge_memconflict.companions.copying import KEPT, Copier
from ge_memconflict.companions.marks import is_dynamic, is_variable


def loop_inputs(loop: Node, copier: Copier) -> None:
    """Copies in front of a loop's inputs that others read too."""
    for anchor in loop.inputs:
        value = anchor.source
        if value is None or len(value.readers) < 2 or is_variable(value.node, copier.ctx.ops):
            continue
        other = next(reader for reader in value.readers if reader is not anchor)
        copier.in_front(
            anchor,
            f"{loop.name}_input_{anchor.index}_Memcpy",
            "SHARED_INTO_LOOP",
            attrs=KEPT,
            blame=[anchor, other],
            value=value,
            other=other,
        )


def loop_graphs(loop: Node, copier: Copier, done: set[Graph]) -> None:
    """Copies in a loop's body and condition, once for each of them.

    Raises:
        GraphError: there is no body, or it has no NetOutput, or two.
    """
    condition, body = _parts(loop)
    if body in done:
        return
    done.add(body)
    known = not is_dynamic(body)
    ends = body.nodes_of("NetOutput")
    if len(ends) != 1:
        has = "no NetOutput" if not ends else f"{len(ends)} NetOutput nodes"
        raise GraphError(
            f"its body {body.name!r} has {has}",
            node=loop.name,
            field="subgraphs",
            hint="a body ends in one NetOutput, which delivers the loop's values",
        )
    if known:
        _body(loop, body, ends[0], copier)
    if condition is not None and known and is_dynamic(body.root) and condition not in done:
        done.add(condition)
        _inputs(loop, condition, condition.nodes_of("Data"), "LOOP_CONDITION", copier)


def _parts(loop: Node) -> tuple[Graph | None, Graph]:
    """The condition, where there is one, and the body: by label, else as they are listed."""
    graphs = list(loop.subgraphs.values())
    body = loop.subgraphs.get("body") or (graphs[1] if len(graphs) > 1 else None)
    if body is None:
        raise GraphError(
            "the loop has no body",
            node=loop.name,
            field="subgraphs",
            near=tuple(loop.subgraphs),
            hint="name its subgraphs 'cond' and 'body'",
        )
    condition = loop.subgraphs.get("cond") or graphs[0]
    return (None if condition is body else condition), body


def _body(loop: Node, body: Graph, out: Node, copier: Copier) -> None:
    through = {
        anchor
        for anchor in out.inputs
        if anchor.source is not None and _is_handed_through(anchor, anchor.source)
    }
    passed = {anchor.source.node for anchor in through if anchor.source is not None}
    results = [a for a in out.inputs if a.source is not None and a not in through]
    datas = [data for data in body.nodes_of("Data") if data not in passed]
    _inputs(loop, body, datas, "LOOP_TURN_INPUTS", copier)
    feeds = [anchor.source for anchor in results if anchor.source is not None]
    if not feeds or _are_copies(feeds):
        return
    copier.shared(
        feeds,
        [[anchor] for anchor in results],
        f"{body.name}_output_Memcpy",
        "LOOP_TURN_RESULTS",
        blame=[feeds[0], results[0]],
        loop=loop.name,
        body=body.name,
    )


def _inputs(loop: Node, graph: Graph, datas: list[Node], code: str, copier: Copier) -> None:
    """One copy of all these inputs, for all who read them."""
    read = [data.outputs[0] for data in datas if data.outputs and data.outputs[0].readers]
    if not read or _are_copied(read):
        return
    copier.shared(
        read,
        [list(value.readers) for value in read],
        f"{graph.name}_input_Memcpy",
        code,
        blame=[read[0], read[0].readers[0]],
        loop=loop.name,
        body=graph.name,
    )


def _is_handed_through(result: InputAnchor, value: OutputAnchor) -> bool:
    """Whether an inner input goes straight to the result of its own index, and nowhere else."""
    data = value.node
    index = parent_index(data) if data.op == "Data" else None
    return (
        index is not None
        and index == output_parent_index(result.node, result.index)
        and len(value.readers) == 1
    )


def _are_copied(values: list[OutputAnchor]) -> bool:
    """Whether all who read these values are one copy that a pass put in, as an earlier run does."""
    readers = dict.fromkeys(reader.node for value in values for reader in value.readers)
    return len(readers) == 1 and all(_is_planted(node) for node in readers)


def _are_copies(results: list[OutputAnchor]) -> bool:
    """Whether one copy at the body's end delivers all results, as an earlier run leaves it."""
    node = results[0].node
    at_start = all(feed.op == "Data" for feed in node.in_nodes)
    return _is_planted(node) and not at_start and all(each.node is node for each in results)


def _is_planted(node: Node) -> bool:
    return node.op == "Identity" and node.origin == ()
