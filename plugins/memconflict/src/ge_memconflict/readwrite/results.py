"""Isolates what branches deliver where the branch's readers can't take it (section 3.2, recording).

A result that is updated in place gets a copy in front of the inner NetOutput when what reads the
branch's output writes it, or is itself a node with subgraphs. A call hands its caller the memory
itself, so that no copy may stand there.
"""

from __future__ import annotations

from ge_core.api import (
    Graph,
    InputAnchor,
    Node,
    crosses_streams,
    lifted,
    output_parent_index,
)
from ge_memconflict.placing import isolate_input
from ge_memconflict.readwrite.memory import Memories
from ge_memconflict.readwrite.run import Run, copied

_ALIASING = frozenset({"call", "while", "loop", "scan"})


def isolate_results(run: Run) -> None:
    """Isolate results of all branches, inner ones first."""
    for graph in reversed(list(run.root.subgraphs.values())):
        end = graph.net_output
        kinds = {run.ops.kind(caller) for caller, _ in graph.callers}
        if end is None or not kinds or kinds & _ALIASING:
            continue
        for result in end.inputs:
            if result.source is not None and run.effects.recorded(result).isolate:
                _isolate(run, graph, result)


def _isolate(run: Run, graph: Graph, result: InputAnchor) -> None:
    feed = result.source
    assert feed is not None
    identity = isolate_input(result, run.fresh_name(feed))
    last = list(graph.nodes)[-1]
    if last not in (identity, result.node):
        # The result is what the memory holds when all has run, wherever the NetOutput is listed.
        order = [node for node in graph.nodes if node is not identity]
        graph.reorder([*order, identity])
    for writer in _writers_elsewhere(run, identity):
        graph.add_control(writer, identity)
    reader = _reader_outside(result)
    run.ctx.missed(
        identity,
        "ISOLATES_RESULT",
        blame=[feed, reader or result],
        bytes=copied(identity),
        output=repr(feed),
        reader=repr(reader or result),
    )


def _writers_elsewhere(run: Run, identity: Node) -> list[Node]:
    """Nodes on other streams that write what is copied; the branch's end would wait for them."""
    graph, feed = identity.graph, identity.inputs[0].source
    assert graph is not None and feed is not None
    if all(node.stream_id == identity.stream_id for node in graph.nodes):
        return []
    memory = Memories(run.root, run.ops, run.effects, run.ends).of(feed)
    found: dict[Node, None] = {}
    for writer in memory.writes:
        for node in lifted(writer.node, graph):
            if node is not identity and crosses_streams(identity, [node]):
                found[node] = None
    return list(found)


def _reader_outside(result: InputAnchor) -> InputAnchor | None:
    """A reader of the branch's output."""
    index, graph = output_parent_index(result.node, result.index), result.node.graph
    for caller, _ in () if graph is None else graph.callers:
        if index is not None and 0 <= index < len(caller.outputs):
            for reader in caller.outputs[index].readers:
                return reader
    return None
