"""The links that alias classes are made of, for both schemes.

Order matters to readers of class lists: each node's inputs, then its outputs, then its subgraphs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from ge_core.analysis.interface import Interface, interface_of
from ge_core.analysis.pieces import Piece, is_free_join, is_free_split, join_pieces, split_pieces
from ge_core.ir import Graph, InputAnchor, Node, OutputAnchor
from ge_core.ops import (
    OpRegistry,
    is_subgraph_data,
    output_parent_index,
    parent_index,
    ref_of,
)
from ge_core.ops.builtin import DATA_LIKE

NAME_MARK = "ref_var_src_var_name"
_COPIED_ENDS: Final = frozenset({"if", "case", "while", "loop", "scan"})
"""Kinds whose subgraphs end with copies into the caller's memory."""


class Link(NamedTuple):
    """Two anchors of one memory; the second starts at `piece.delta` of the first, or with it.

    Without a second anchor: the first exists.
    """

    first: InputAnchor | OutputAnchor
    second: InputAnchor | OutputAnchor | None = None
    piece: Piece | None = None


def walk(top: Graph) -> Iterator[Node]:
    """Every node of a graph and below it once: a node, then its subgraphs, then what follows it.

    Below the root lie also subgraphs that nobody calls: they come last.
    """
    seen = {top}
    stack = [top.nodes]
    while stack:
        node = next(stack[-1], None)
        if node is None:
            stack.pop()
            continue
        yield node
        fresh = [graph for graph in dict.fromkeys(node.subgraphs.values()) if graph not in seen]
        seen.update(fresh)
        stack.extend(graph.nodes for graph in reversed(fresh))
    for graph in top.subgraphs.values() if top.is_root else ():
        if graph not in seen:
            yield from graph.nodes


def named_memory(output: OutputAnchor) -> OutputAnchor | None:
    """The variable or input whose memory an output says it is, by name; None for most.

    GE's passes write the name on the output; a mark on the node speaks for all its outputs.
    """
    name = output.desc.attrs.get(NAME_MARK) or output.node.attrs.get(NAME_MARK)
    if not isinstance(name, str) or not name or output.node.graph is None:
        return None
    found = output.node.graph.find(name)
    if found is None or found is output.node or not found.outputs:
        return None
    return found.outputs[0]


# ---- what is one memory when the graph runs -----------------------------------------------------


def memory_links(root: Graph, ops: OpRegistry) -> Iterator[Link]:
    """Links of `Scheme.MEMORY`."""
    for node in walk(root):
        yield from _inputs(node)
        for output in node.outputs:
            yield from _memory_output(output, ops)
        if is_free_join(node):
            yield from _operands(node)
        for graph in dict.fromkeys(node.subgraphs.values()):
            yield from _memory_ends(node, interface_of(graph), ops)


def _inputs(node: Node) -> Iterator[Link]:
    for anchor in node.inputs:
        if anchor.source is None:
            yield Link(anchor)
        else:
            yield Link(anchor.source, anchor)


def _memory_output(output: OutputAnchor, ops: OpRegistry) -> Iterator[Link]:
    node = output.node
    yield Link(output)
    named = named_memory(output)
    if named is not None:
        yield Link(named, output)
    if ops.kind(node) == "merge":
        for anchor in node.inputs:
            yield Link(anchor, output)
        return
    if is_subgraph_data(node):
        return
    at = ref_of(output, ops)
    if at is None or not 0 <= at < len(node.inputs):
        return
    if is_free_split(node) and not is_free_join(node):
        pieces = split_pieces(node)
        if pieces is not None:
            yield Link(node.inputs[at], output, pieces[output.index])
        return
    if is_free_join(node) and len(node.inputs) > 1:
        return
    yield Link(node.inputs[at], output)


def _operands(node: Node) -> Iterator[Link]:
    """A task-free join and its operands: the result starts with the first one."""
    if len(node.inputs) < 2 or not node.outputs:
        return
    pieces = join_pieces(node)
    if pieces is None:
        yield Link(node.outputs[0], node.inputs[0])
        return
    for anchor, piece in zip(node.inputs, pieces, strict=True):
        yield Link(node.outputs[0], anchor, piece)


def _memory_ends(node: Node, ends: Interface, ops: OpRegistry) -> Iterator[Link]:
    """What a subgraph's inputs and results share with its caller."""
    kind = ops.kind(node)
    for index, inner in ends.data.items():
        outer = outer_slot(node, index, kind)
        if outer is None:
            continue
        for data in inner:
            for output in data.outputs:
                yield Link(outer, output)
    if kind in _COPIED_ENDS:
        # Arms and turns end with copies into the outer memory.
        return
    for index, result in ends.results.items():
        if result.source is not None and index < len(node.outputs):
            yield Link(node.outputs[index], result.source)


def outer_slot(node: Node, index: int, kind: str) -> InputAnchor | OutputAnchor | None:
    """The outer memory that inner input `index` is; None where a turn gets it afresh."""
    if not 0 <= index < len(node.inputs):
        return None
    if kind not in ("loop", "scan"):
        return node.inputs[index]
    if index >= len(node.inputs) - int(node.attrs.get("captured", 0)):
        return node.inputs[index]
    # Carried values live where the loop's result lies.
    first = 2 if kind == "loop" else 0
    carried = len(node.inputs) - int(node.attrs.get("captured", 0)) - first
    if kind == "scan":
        carried -= int(node.attrs.get("onnx.num_scan_inputs", 0))
    at = index - first
    return node.outputs[at] if 0 <= at < min(carried, len(node.outputs)) else None


# ---- GE's symbols -------------------------------------------------------------------------------


def symbol_links(top: Graph, ops: OpRegistry, *, copied_ends: bool = False) -> Iterator[Link]:
    """Links of `Scheme.SYMBOLS`, in GE's order: inputs first, then outputs, then what is inside.

    Who opens a class, and who is put behind whom, is GE's too: its rules ask for both.

    Args:
        copied_ends: what arms and turns deliver is copied into the caller's memory, as in
            `Scheme.MEMORY`.
    """
    for node in walk(top):
        if ops.kind(node) == "net_output" and node.graph is not None and node.graph is not top:
            yield from _inner_results(node, ops, copied_ends)
            continue
        if ops.kind(node) == "merge":
            for anchor in node.inputs[1:]:
                if anchor.source is not None and node.inputs[0].source is not None:
                    yield Link(node.inputs[0].source, anchor.source)
        yield from _inputs(node)
        if ops.kind(node) == "merge":
            for anchor in node.inputs[1:]:
                yield Link(node.inputs[0], anchor)
        for output in node.outputs:
            yield from _symbol_output(output, top, ops, copied_ends)


def _symbol_output(
    output: OutputAnchor, top: Graph, ops: OpRegistry, copied_ends: bool
) -> Iterator[Link]:
    node = output.node
    feeds = _outer_feeds(node, ops, copied_ends) if node.graph is not top else []
    for anchor in feeds:
        yield Link(anchor, output)
    if feeds:
        return
    yield Link(output)
    named = named_memory(output)
    if named is not None and named.node.op == "RefData" and named.node.graph is node.graph:
        yield Link(_behind_ref_data(named), output)
        return
    if is_subgraph_data(node):
        return
    at = ref_of(output, ops)
    if at is not None and 0 <= at < len(node.inputs):
        yield Link(node.inputs[at], output)


def _outer_feeds(
    node: Node, ops: OpRegistry, copied_ends: bool
) -> list[InputAnchor | OutputAnchor]:
    """The callers' memories that an input of a subgraph stands for."""
    index = parent_index(node) if node.op in DATA_LIKE else None
    if index is None or node.graph is None:
        return []
    callers = [caller for caller, _ in node.graph.callers]
    if copied_ends:
        slots = [outer_slot(caller, index, ops.kind(caller)) for caller in callers]
        return [slot for slot in slots if slot is not None]
    return [caller.inputs[index] for caller in callers if index < len(caller.inputs)]


def _behind_ref_data(named: OutputAnchor) -> OutputAnchor:
    """An inner RefData stands for the inner Data that it waits for."""
    graph = named.node.graph
    if graph is None or graph.is_root:
        return named
    for node in named.node.control_inputs:
        if node.op in DATA_LIKE and parent_index(node) is not None and node.outputs:
            return node.outputs[0]
    return named


def _inner_results(end: Node, ops: OpRegistry, copied_ends: bool) -> Iterator[Link]:
    """What a subgraph returns is its caller's output; inputs without an index are in no class.

    What a condition returns is its verdict, whatever index it carries.
    """
    assert end.graph is not None
    callers = [
        caller
        for caller, label in end.graph.callers
        if not (ops.kind(caller) == "while" and label == "cond")
    ]
    for anchor in end.inputs:
        index = output_parent_index(end, anchor.index)
        if anchor.source is None or index is None:
            continue
        for caller in callers:
            copied = copied_ends and ops.kind(caller) in _COPIED_ENDS
            if index < len(caller.outputs) and not copied:
                yield Link(caller.outputs[index], anchor.source)
        if callers:
            yield Link(anchor.source, anchor)
