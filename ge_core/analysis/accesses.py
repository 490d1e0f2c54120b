"""Who reads and writes a memory, exactly: every access through any of its names, with its moment.

An access belongs to one anchor, so that the accesses of an alias class are those of its members:
views, in-place ops, calls, the branches of If, Case and loops, names of variables, and the pieces
of joins and splits without a task. A moment is a place in one graph: where a node runs, or the head
or the tail of a graph's run. Arms and turns end with copies into the caller's memory, at the tail.
What the caller hands in, and what outlives the run, is written at the root's head and read at its
tail.

Views, calls and task-free joins and splits only give memory another name: they access nothing.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from ge_core.analysis._alias_rules import outer_slot
from ge_core.analysis.aliases import Anchor
from ge_core.analysis.interface import Interfaces
from ge_core.analysis.pieces import is_free_join, is_free_split
from ge_core.ir import Graph, InputAnchor, Node, OutputAnchor
from ge_core.ops import (
    OpRegistry,
    is_subgraph_data,
    parent_index,
    ref_of,
    scribbled_inputs,
    written_inputs,
)

HEAD: Final = "head"
NODE: Final = "node"
TAIL: Final = "tail"
_STORES: Final = frozenset({"Assign", "AssignVariableOp"})
_LASTING: Final = frozenset({"constant", "variable"})


class Access(NamedTuple):
    """One access to the memory of one anchor.

    Attributes:
        node: who makes it; for the end of an arm or turn the subgraph's NetOutput.
        anchor: through which anchor, which tells where in its memory.
        graph: in whose run.
        moment: `NODE`, or `HEAD` or `TAIL` of the graph's run.
        reads, writes: what it does; who does both reads first.
        scratch: whether what it writes is for nobody (GE: ScopeWriteable).
        copies: what it writes are the bytes of this anchor, unchanged; None for anything else.
    """

    node: Node
    anchor: Anchor
    graph: Graph
    moment: str
    reads: bool
    writes: bool
    scratch: bool = False
    copies: Anchor | None = None


class Accesses:
    """The accesses of all anchors below a root, worked out when they are asked for.

    They stay right while nodes are bypassed and control edges added.
    """

    def __init__(self, graph: Graph, ops: OpRegistry, ends: Interfaces | None = None) -> None:
        self._root = graph.root
        self._ops = ops
        self._ends = Interfaces() if ends is None else ends
        self._known: dict[Anchor, tuple[Access, ...]] = {}

    def of(self, anchor: Anchor) -> tuple[Access, ...]:
        """The accesses through one anchor, in no particular order."""
        found = self._known.get(anchor)
        if found is None:
            read = self._of_input if isinstance(anchor, InputAnchor) else self._of_output
            found = self._known[anchor] = tuple(read(anchor))  # type: ignore[arg-type]  # as tested
        return found

    # ---- inputs --------------------------------------------------------------------------------

    def _of_input(self, anchor: InputAnchor) -> list[Access]:
        node = anchor.node
        graph = _graph_of(node)
        if anchor.source is None:
            return []
        kind = self._ops.kind(node)
        if kind == "net_output":
            return [_read(node, anchor, graph, TAIL)] if self._is_copied_out(graph) else []
        if node.subgraphs:
            return self._of_caller(anchor, kind)
        return self._of_plain(anchor)

    def _is_copied_out(self, graph: Graph) -> bool:
        """Whether results are read when the graph has run: not where they are the caller's own."""
        if graph.is_root:
            return True
        return any(self._ops.kind(caller) != "call" for caller, _ in graph.callers)

    def _of_caller(self, anchor: InputAnchor, kind: str) -> list[Access]:
        node, graph = anchor.node, _graph_of(anchor.node)
        if kind == "call":
            return []
        if kind in ("if", "case"):
            return [] if anchor.index else [_read(node, anchor, graph)]
        captured = _number(node.attrs.get("captured"))
        if kind in ("loop", "scan") and anchor.index >= len(node.inputs) - captured:
            return []
        # Each turn begins with what its slots hold, whether or not the body looks at all of them.
        turns = [inner for label, inner in node.subgraphs.items() if label != "cond"]
        found = [_read(node, anchor, graph), *(_read(node, anchor, turn, HEAD) for turn in turns)]
        if kind == "while" and anchor.index >= len(node.outputs):
            # Its slot has no other name outside.
            found += self._turn_ends(anchor, anchor.index)
        return found

    def _of_plain(self, anchor: InputAnchor) -> list[Access]:
        node, at = anchor.node, anchor.index
        graph = _graph_of(node)
        if self._only_names(node) or at in self._ops.traits(node).shape_only:
            return []
        scratch = at in scribbled_inputs(node, self._ops)
        written = written_inputs(node, self._ops)
        if not scratch and at in written:
            if at == 0 and written == (0,) and self._is_store(node):
                stored = node.inputs[1]
                return [Access(node, anchor, graph, NODE, False, True, copies=stored)]
            return [Access(node, anchor, graph, NODE, True, True)]
        return [Access(node, anchor, graph, NODE, True, scratch, scratch)]

    def _only_names(self, node: Node) -> bool:
        """Whether the node gives memory another name and does nothing else."""
        if is_free_join(node) or is_free_split(node) or self._ops.kind(node) == "merge":
            return True
        if not node.outputs or written_inputs(node, self._ops):
            return False
        if any(self._named(output) is None for output in node.outputs):
            return False
        if scribbled_inputs(node, self._ops):
            return False
        # Where the size is known only at run time something runs, and reads.
        return all(output.desc.nbytes is not None for output in node.outputs)

    def _named(self, output: OutputAnchor) -> int | None:
        """The connected input whose memory an output is."""
        at = ref_of(output, self._ops)
        inputs = output.node.inputs
        if at is None or not 0 <= at < len(inputs) or inputs[at].source is None:
            return None
        return at

    def _is_store(self, node: Node) -> bool:
        """Whether the node writes all of input 0, with the bytes of input 1."""
        if node.op not in _STORES or len(node.inputs) < 2 or node.inputs[1].source is None:
            return False
        target, value = node.inputs[0].desc, node.inputs[1].desc
        return target is not None and value is not None and target.nbytes == value.nbytes

    # ---- outputs -------------------------------------------------------------------------------

    def _of_output(self, output: OutputAnchor) -> list[Access]:
        node = output.node
        kind = self._ops.kind(node)
        if kind in _LASTING:
            return self._given(output, lasts=kind == "variable")
        if kind == "data":
            return self._of_data(output)
        if node.subgraphs:
            return self._of_call_output(output, kind)
        if kind == "merge" or is_free_join(node):
            return []
        if self._named(output) is not None and not is_subgraph_data(node):
            return []
        copies = node.inputs[output.index] if kind == "move" and _is_row(output) else None
        return [_write(node, output, _graph_of(node), copies=copies)]

    def _given(self, output: OutputAnchor, *, lasts: bool) -> list[Access]:
        found = [_write(output.node, output, self._root, HEAD)]
        if lasts:
            found.append(_read(output.node, output, self._root, TAIL))
        return found

    def _of_data(self, output: OutputAnchor) -> list[Access]:
        node, graph = output.node, _graph_of(output.node)
        if graph.is_root:
            return self._given(output, lasts=node.op == "RefData")
        index = parent_index(node)
        for caller, _ in graph.callers:
            slot = None
            if index is not None:
                slot = outer_slot(caller, index, self._ops.kind(caller))
            if slot is None:
                return [_write(node, output, graph, HEAD)]
        return []

    def _of_call_output(self, output: OutputAnchor, kind: str) -> list[Access]:
        node, at = output.node, output.index
        graph = _graph_of(node)
        if kind == "call":
            known = any(at in self._ends.of(inner).results for inner in _graphs(node))
            return [] if known else [_write(node, output, graph)]
        if kind in ("if", "case"):
            found = self._turn_ends(output, at)
            return found or [_write(node, output, graph)]
        if kind == "while":
            known = at < len(node.inputs)
            return self._turn_ends(output, at) if known else [_write(node, output, graph)]
        entry = outer_entry(node, at, kind)
        found = [_write(node, output, graph, copies=entry)]
        if entry is None:
            found += [_write(node, output, inner, TAIL) for inner in _graphs(node)]
            return found
        return found + self._turn_ends(output, at + 1 if kind == "loop" else at)

    def _turn_ends(self, anchor: Anchor, index: int) -> list[Access]:
        """The copies into a caller's memory with which arms and turns end."""
        node = anchor.node
        is_loop = self._ops.kind(node) == "while"
        found: list[Access] = []
        for label, inner in node.subgraphs.items():
            if is_loop and label == "cond":
                continue
            result = self._ends.of(inner).results.get(index)
            if result is not None and result.source is not None:
                found.append(_write(result.node, anchor, inner, TAIL, copies=result))
        return found


def outer_entry(node: Node, output: int, kind: str) -> InputAnchor | None:
    """The input with the initial value of an ONNX loop's output; None where it collects."""
    first = 2 if kind == "loop" else 0
    count = len(node.inputs) - _number(node.attrs.get("captured"))
    if kind == "scan":
        count -= _number(node.attrs.get("onnx.num_scan_inputs"))
    at = first + output
    return node.inputs[at] if kind in ("loop", "scan") and at < count else None


def _read(node: Node, anchor: Anchor, graph: Graph, moment: str = NODE) -> Access:
    return Access(node, anchor, graph, moment, True, False)


def _write(
    node: Node, anchor: Anchor, graph: Graph, moment: str = NODE, *, copies: Anchor | None = None
) -> Access:
    return Access(node, anchor, graph, moment, False, True, copies=copies)


def _graphs(node: Node) -> list[Graph]:
    return list(dict.fromkeys(node.subgraphs.values()))


def _is_row(output: OutputAnchor) -> bool:
    """Whether a move's output has an input at its place (a copy may have several ports)."""
    return output.index < len(output.node.inputs)


def _graph_of(node: Node) -> Graph:
    if node.graph is None:
        raise ValueError(f"node {node.name!r} is in no graph")
    return node.graph


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0
