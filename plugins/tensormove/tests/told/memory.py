"""Which anchors are one memory when a graph runs, and which one symbol in GE's table: plainly."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from ge_core.api import InputAnchor, Node, OutputAnchor

from .facts import (
    DATA,
    MULTI_BRANCH,
    NAME,
    NO_PADDING,
    PHONY,
    WHILE,
    Anchor,
    inner_index,
    own_writes,
    parent_of,
    ref,
    result_index,
    wraps,
)

# ---- memory -------------------------------------------------------------------------------------


def neighbours(anchor: Anchor) -> Iterator[Anchor]:
    """Anchors that are the same memory by one link: edges, aliases, ends of calls."""
    node = anchor.node
    if isinstance(anchor, InputAnchor):
        if anchor.source is not None:
            yield anchor.source
        yield from (o for o in node.outputs if shares(o, anchor))
        if node.op in WHILE or wraps(node):
            for graph in node.subgraphs.values():
                for data in graph.nodes:
                    if data.op in DATA and inner_index(data) == anchor.index:
                        yield from data.outputs
        parent = parent_of(node)
        if node.op == "NetOutput" and parent is not None and hands_back(parent):
            k = result_index(anchor)
            if k is not None and k < len(parent.outputs) and delivers(anchor):
                yield parent.outputs[k]
        return
    yield from anchor.readers
    yield from (port for port in node.inputs if shares(anchor, port))
    yield from named_anchors(anchor)
    parent = parent_of(node)
    index = inner_index(node)
    if node.op in DATA and parent is not None and index in range(len(parent.inputs)):
        yield parent.inputs[index]  # type: ignore[index]  # it is in the range
    if wraps(node) and hands_back(node):
        for graph in node.subgraphs.values():
            out = graph.net_output
            for port in () if out is None else out.inputs:
                if result_index(port) == anchor.index and delivers(port):
                    yield port


def hands_back(caller: Node) -> bool:
    """Whether results leave a call without a copy: arms and turns end with one."""
    return caller.op not in WHILE and caller.op not in MULTI_BRANCH


def delivers(port: InputAnchor) -> bool:
    """Whether a NetOutput input is the first of its index."""
    k = result_index(port)
    return next((p for p in port.node.inputs if result_index(p) == k), None) is port


def shares(output: OutputAnchor, port: InputAnchor) -> bool:
    """Whether an output of a node is, or holds, the memory of one of its inputs."""
    if output.node.op in ("Merge", "StreamMerge", "RefMerge"):
        return True
    if output.node.attrs.get(NO_PADDING[0]) and output.node.attrs.get("_output_reuse_input"):
        return True
    return output.node.op not in DATA and ref(output) == port.index


def named_anchors(output: OutputAnchor) -> Iterator[OutputAnchor]:
    """The variable that an output says it is, and the outputs that say they are this variable."""
    graph = output.node.graph
    assert graph is not None
    for other in graph.root.all_nodes():
        for anchor in other.outputs:
            if named(anchor) == output.node.name and output.index == 0:
                yield anchor
            if named(output) == other.name and anchor.index == 0:
                yield anchor


def named(output: OutputAnchor) -> str | None:
    """D9: the name of the variable whose memory an output is."""
    for attrs in (output.desc.attrs, output.node.attrs):
        name = attrs.get(NAME)
        if isinstance(name, str) and name:
            return name
    return None


def memory_of(anchor: Anchor) -> list[Anchor]:
    """Every anchor that is the same memory when the graph runs."""
    found = {anchor: None}
    waiting = deque([anchor])
    while waiting:
        for other in neighbours(waiting.popleft()):
            if other not in found:
                found[other] = None
                waiting.append(other)
    return list(found)


def plain_writer(port: InputAnchor) -> bool:
    """Whether a node itself, not what lies in its subgraphs, changes an input."""
    size = 0 if port.own_desc is None else port.own_desc.attrs.get("_special_input_size", 0)
    if port.node.op in WHILE or size > 0 or port.node.attrs.get("_input_mutable"):
        return True
    return port.node.op not in PHONY and port.index in own_writes(port.node)


# ---- 2.9 symbols --------------------------------------------------------------------------------


def symbol_of(anchor: Anchor) -> list[Anchor]:
    """The anchors of one symbol: memory as GE's table has it, arms and turns included."""
    found = {anchor: None}
    todo = deque([anchor])
    while todo:
        for other in symbol_neighbours(todo.popleft()):
            if other not in found:
                found[other] = None
                todo.append(other)
    return list(found)


def symbol_neighbours(anchor: Anchor) -> Iterator[Anchor]:
    """Anchors of the same symbol by one link."""
    around = symbols_at_input if isinstance(anchor, InputAnchor) else symbols_at_output
    return around(anchor)  # type: ignore[arg-type]  # each is given its own


def symbols_at_input(anchor: InputAnchor) -> Iterator[Anchor]:
    """From an input."""
    node = anchor.node
    parent = parent_of(node)
    if node.op == "NetOutput" and parent is not None:
        k = result_index(anchor)
        if k is None or anchor.source is None:
            return
        yield anchor.source
        if not is_condition(node) and k < len(parent.outputs) and delivers(anchor):
            yield parent.outputs[k]
        return
    if anchor.source is not None:
        yield anchor.source
    yield from (o for o in node.outputs if symbol_shares(o, anchor))
    if node.op in ("Merge", "StreamMerge", "RefMerge"):
        yield from node.inputs
    for graph in node.subgraphs.values():
        for data in graph.nodes:
            if data.op in DATA and inner_index(data) == anchor.index:
                yield from data.outputs


def symbols_at_output(anchor: OutputAnchor) -> Iterator[Anchor]:
    """From an output."""
    node = anchor.node
    parent = parent_of(node)
    for reader in anchor.readers:
        inner = reader.node.op == "NetOutput" and parent_of(reader.node) is not None
        if not inner or (result_index(reader) is not None):
            yield reader
    yield from (port for port in node.inputs if symbol_shares(anchor, port))
    index = inner_index(node)
    if node.op in DATA and parent is not None and index in range(len(parent.inputs)):
        yield parent.inputs[index]  # type: ignore[index]  # it is in the range
    for graph in node.subgraphs.values():
        out = graph.net_output
        for port in () if out is None or is_condition(out) else out.inputs:
            if result_index(port) == anchor.index and delivers(port) and port.source is not None:
                yield port


def symbol_shares(output: OutputAnchor, port: InputAnchor) -> bool:
    """Whether an output and an input of a node are one symbol."""
    if output.node.op == "Merge":
        return output.index == 0
    return output.node.op not in DATA and ref(output) == port.index


def is_condition(out: Node) -> bool:
    """Whether a NetOutput ends a loop's condition."""
    parent = parent_of(out)
    return (
        parent is not None
        and parent.op in WHILE
        and any(label == "cond" and graph is out.graph for label, graph in parent.subgraphs.items())
    )
