"""Ways through a graph: up along what is one memory, out of subgraphs, into calls, and down.

Every way looks at each output once, so that none is endless and none costs more than the graph.
"""

from __future__ import annotations

from collections.abc import Iterator

from ge_core.api import (
    InputAnchor,
    Interfaces,
    Node,
    OpRegistry,
    OutputAnchor,
    is_subgraph_data,
    named_pairs,
    parent_index,
    ref_of,
)


def shared_input(output: OutputAnchor, ops: OpRegistry) -> int | None:
    """The input whose memory an output is, ports of equal name counted; None for most."""
    if is_subgraph_data(output.node):
        return None
    at = ref_of(output, ops)
    if at is None:
        at = next((inp for out, inp in named_pairs(output.node) if out == output.index), None)
    return at if at is not None and 0 <= at < len(output.node.inputs) else None


def up(output: OutputAnchor, ops: OpRegistry) -> Iterator[OutputAnchor]:
    """An output, then what it is the memory of, and so on, inside its graph."""
    seen: set[OutputAnchor] = set()
    at: OutputAnchor | None = output
    while at is not None and at not in seen:
        seen.add(at)
        yield at
        index = shared_input(at, ops)
        at = None if index is None else at.node.inputs[index].source


def callers_feeds(data: Node) -> list[InputAnchor]:
    """The callers' inputs that an inner input stands for; none where its index means nothing."""
    index = parent_index(data)
    graph = data.graph
    if graph is None or index is None:
        return []
    return [caller.inputs[index] for caller, _ in graph.callers if 0 <= index < len(caller.inputs)]


def up_and_out(output: OutputAnchor, ops: OpRegistry) -> Iterator[OutputAnchor]:
    """As `up`, and on from a subgraph's inputs to what feeds every caller."""
    seen: set[OutputAnchor] = set()
    waiting = [output]
    while waiting:
        for at in up(waiting.pop(), ops):
            if at in seen:
                break
            seen.add(at)
            yield at
            if is_subgraph_data(at.node):
                feeds = (anchor.source for anchor in callers_feeds(at.node))
                waiting.extend(feed for feed in feeds if feed is not None)


def makers(output: OutputAnchor, ops: OpRegistry, ends: Interfaces) -> list[OutputAnchor]:
    """The outputs that a value may really come from, seen through calls and out of subgraphs."""
    found: dict[OutputAnchor, None] = {}
    seen: set[OutputAnchor] = set()
    waiting = [output]
    while waiting:
        at = waiting.pop()
        if at in seen:
            continue
        seen.add(at)
        inner = _delivered(at, ops, ends)
        if inner is not None:
            waiting.append(inner)
            continue
        outer = [a.source for a in callers_feeds(at.node)] if is_subgraph_data(at.node) else []
        known = [feed for feed in outer if feed is not None]
        if known:
            waiting.extend(reversed(known))
        else:
            found[at] = None
    return list(found)


def _delivered(output: OutputAnchor, ops: OpRegistry, ends: Interfaces) -> OutputAnchor | None:
    """What the subgraph of a call delivers as one of its outputs."""
    if ops.kind(output.node) != "call":
        return None
    graph = next(iter(output.node.subgraphs.values()), None)
    result = None if graph is None else ends.of(graph).results.get(output.index)
    return None if result is None else result.source


def down(output: OutputAnchor, ops: OpRegistry) -> Iterator[InputAnchor]:
    """The readers of an output and of what is its memory behind them, inside its graph."""
    seen = {output}
    waiting = [output]
    while waiting:
        for reader in waiting.pop().readers:
            yield reader
            for further in reader.node.outputs:
                if further not in seen and shared_input(further, ops) == reader.index:
                    seen.add(further)
                    waiting.append(further)
