"""The links that alias classes are made of, for both schemes.

Order matters to readers of class lists: each node's inputs, then its outputs, then its subgraphs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ge_core.analysis.interface import Interface, interface_of
from ge_core.analysis.pieces import Piece, is_free_join, is_free_split, join_pieces, split_pieces
from ge_core.ir import Graph, InputAnchor, Node, OutputAnchor
from ge_core.ops import OpRegistry, is_subgraph_data, parent_index, ref_of
from ge_core.ops.builtin import DATA_LIKE

NAME_MARK = "ref_var_src_var_name"


class Link(NamedTuple):
    """Two anchors of one memory; the second starts at `piece.delta` of the first, or with it.

    Without a second anchor: the first exists.
    """

    first: InputAnchor | OutputAnchor
    second: InputAnchor | OutputAnchor | None = None
    piece: Piece | None = None


def walk(root: Graph) -> Iterator[Node]:
    """Every node once: a node, then the nodes of its subgraphs, then what follows it."""
    seen = {root}
    stack = [root.nodes]
    while stack:
        node = next(stack[-1], None)
        if node is None:
            stack.pop()
            continue
        yield node
        fresh = [graph for graph in dict.fromkeys(node.subgraphs.values()) if graph not in seen]
        seen.update(fresh)
        stack.extend(graph.nodes for graph in reversed(fresh))
    for graph in root.subgraphs.values():
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
        outer = _slot(node, index, kind)
        if outer is None:
            continue
        for data in inner:
            for output in data.outputs:
                yield Link(outer, output)
    if kind in ("if", "case", "while", "loop", "scan"):
        # Arms and turns end with copies into the outer memory.
        return
    for index, result in ends.results.items():
        if result.source is not None and index < len(node.outputs):
            yield Link(node.outputs[index], result.source)


def _slot(node: Node, index: int, kind: str) -> InputAnchor | OutputAnchor | None:
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


def symbol_links(root: Graph, ops: OpRegistry) -> Iterator[Link]:
    """Links of `Scheme.SYMBOLS`."""
    for node in walk(root):
        if ops.kind(node) == "net_output" and node.graph is not None and not node.graph.is_root:
            # Its inputs join when their caller is seen; those without an index are in no symbol.
            continue
        yield from _inputs(node)
        if ops.kind(node) == "merge":
            for anchor in node.inputs[1:]:
                yield Link(node.inputs[0], anchor)
        for output in node.outputs:
            yield from _symbol_output(output, ops)
        for label, graph in node.subgraphs.items():
            is_condition = ops.kind(node) == "while" and label == "cond"
            yield from _symbol_ends(node, interface_of(graph), is_condition)


def _symbol_output(output: OutputAnchor, ops: OpRegistry) -> Iterator[Link]:
    node = output.node
    yield Link(output)
    named = named_memory(output)
    if named is not None and named.node.op == "RefData":
        yield Link(_behind_ref_data(named), output)
        return
    if is_subgraph_data(node):
        return
    at = ref_of(output, ops)
    if at is not None and 0 <= at < len(node.inputs):
        yield Link(node.inputs[at], output)


def _behind_ref_data(named: OutputAnchor) -> OutputAnchor:
    """An inner RefData stands for the inner Data that it waits for."""
    graph = named.node.graph
    if graph is None or graph.is_root:
        return named
    for node in named.node.control_inputs:
        if node.op in DATA_LIKE and parent_index(node) is not None and node.outputs:
            return node.outputs[0]
    return named


def _symbol_ends(node: Node, ends: Interface, is_condition: bool) -> Iterator[Link]:
    for index, inner in ends.data.items():
        if 0 <= index < len(node.inputs):
            for data in inner:
                for output in data.outputs:
                    yield Link(node.inputs[index], output)
    if is_condition:
        # What a condition returns is its verdict, whatever index it carries.
        return
    for index, result in ends.results.items():
        if result.source is None:
            continue
        if 0 <= index < len(node.outputs):
            yield Link(node.outputs[index], result.source)
        yield Link(result.source, result)
