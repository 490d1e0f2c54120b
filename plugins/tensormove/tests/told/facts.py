"""What nodes do and share, by their type and marks, and what comes before what: plainly."""

from __future__ import annotations

from typing import Any

from ge_core.api import Graph, InputAnchor, Node, OutputAnchor

Anchor = InputAnchor | OutputAnchor
Edge = tuple[Node, Node]

# ---- 1.1 node types -----------------------------------------------------------------------------

DATA = {"Data", "RefData", "AippData", "AnnData"}
VARIABLE = {"Variable", "VariableV2"}
VAR_LIKE = VARIABLE | {"RefData"}
CONST = {"Const", "Constant", "ConstPlaceHolder"}
ASSIGN = {
    "Assign",
    "AssignAdd",
    "AssignSub",
    "AssignVariableOp",
    "AssignAddVariableOp",
    "AssignSubVariableOp",
}
WHILE = {"While", "_While", "StatelessWhile"}
MULTI_BRANCH = WHILE | {"If", "_If", "StatelessIf", "For", "Switch", "RefSwitch"}
MULTI_BRANCH |= {"Case", "StatelessCase"}  # D1
MULTI_BRANCH |= {"Merge", "StreamMerge", "RefMerge"}  # D10
# D8: whatever keeps its value beyond the run.
SPECIAL = VAR_LIKE | CONST | {"FileConstant", "VarHandleOp", "VarIsInitializedOp"}
SPECIAL |= {"TemporaryVariable"}
PHONY = {"PhonyConcat", "PhonySplit"}
NAME = "ref_var_src_var_name"
NO_PADDING = ("_no_padding_continuous_input", "_no_padding_continuous_output")


class Untraceable(Exception):
    """GE's trace fails, and with it the compilation; here the copy stays (D15)."""


def parent_of(node: Node) -> Node | None:
    """What calls the graph that a node is in."""
    callers = [] if node.graph is None else node.graph.callers
    return callers[0][0] if callers else None


def number(value: Any) -> int | None:
    """An index attribute's value."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def inner_index(node: Node) -> int | None:
    """The parent's input that an inner input stands for."""
    return number(node.attrs.get("_parent_node_index"))


def result_index(port: InputAnchor) -> int | None:
    """The parent's output that an input of an inner NetOutput delivers."""
    desc = port.own_desc
    return None if desc is None else number(desc.attrs.get("_parent_node_index"))


def name_pairs(node: Node) -> list[tuple[int, int]]:
    """3.1: (output, input) of equal names."""
    found = []
    for at, name in enumerate(node.output_names[: len(node.outputs)]):
        for to, other in enumerate(node.input_names[: len(node.inputs)]):
            if name and name == other:
                found.append((at, to))
                break
    return found


def ref(output: OutputAnchor) -> int | None:
    """1.2: the input whose memory an output is."""
    node, k = output.node, output.index
    if node.op == "NetOutput" or node.op in WHILE:
        return k
    if node.op == "Data" and parent_of(node) is not None and "_parent_node_index" in node.attrs:
        return k
    if node.op in ("Merge", "Reshape") and k == 0:
        return 0
    # 3.1 marks nodes with pairs of equal names before anything is asked.
    for at, to in name_pairs(node):
        if at == k:
            return to
    if output.desc.reuse_input is not None:
        return output.desc.reuse_input
    if node.attrs.get("_output_reuse_input") and any(node.attrs.get(n) for n in NO_PADDING):
        return 0
    return None


def aliased(port: InputAnchor) -> bool:
    """Whether some output of the node is this input's memory."""
    return any(ref(output) == port.index for output in port.node.outputs)


def wraps(node: Node) -> bool:
    """1.1 WRAPPER."""
    return bool(node.subgraphs)


# ---- 3.2 kinds ----------------------------------------------------------------------------------


def own_writes(node: Node) -> set[int]:
    """Inputs that a node updates in place, by marks and by its type (1.3 and the case schema)."""
    found = {to for _, to in name_pairs(node)}
    reused = {o.desc.reuse_input for o in node.outputs if o.desc.reuse_input is not None}
    if node.attrs.get("reference"):
        found |= reused
    if node.op in ASSIGN and 0 in reused:
        found.add(0)
    if "RefSwitch" in (node.op, node.attrs.get("original_type")):
        found.add(0)
    marks = node.attrs.get("rw", {}).get("inputs", {})
    return found | {int(at) for at, how in marks.items() if how == "write"}


def combine(kinds: list[str]) -> str:
    """Several uses together."""
    kinds = [kind for kind in kinds if kind != "ReadOnly"]
    if not kinds:
        return "ReadOnly"
    return kinds[0] if all(kind == kinds[0] for kind in kinds) else "Invalid"


def input_kind(port: InputAnchor) -> str:
    """What a node does to an input."""
    node, i = port.node, port.index
    size = 0 if port.own_desc is None else port.own_desc.attrs.get("_special_input_size", 0)
    if node.op in WHILE or size > 0:
        return "ScopeWriteable"
    if wraps(node):
        kinds = []
        for graph in node.subgraphs.values():
            for data in graph.nodes:
                if data.op in DATA and inner_index(data) == i:
                    uses = [r for output in data.outputs for r in output.readers]
                    kinds.append(combine([input_kind(use) for use in uses]))
        return combine(kinds)
    if node.attrs.get("_input_mutable"):
        return "ScopeWriteable"
    if node.op in PHONY:
        return "ReadOnly"
    return "Writeable" if i in own_writes(node) else "ReadOnly"


def writes(port: InputAnchor) -> bool:
    """Whether an input's memory may change; what can't be told counts (D22)."""
    return input_kind(port) != "ReadOnly"


def output_kind(output: OutputAnchor) -> str:
    """What an output's memory allows."""
    node = output.node
    if node.op in WHILE:
        return "SoftRead"
    if wraps(node):
        graphs = list(node.subgraphs.values())
        if len(graphs) > 1:
            return "ReadOnly" if len(output.readers) > 1 else "SoftRead"
        kind = delivered_kind(graphs[0], output)
        if kind == "Writeable":
            return kind
        return "ReadOnly" if len(output.readers) > 1 else kind
    return plain_output_kind(output)


def plain_output_kind(output: OutputAnchor) -> str:
    """Rows 4 to 10."""
    node = output.node
    if node.op in VAR_LIKE:
        return "Writeable"
    if node.op in DATA:
        parent = parent_of(node)
        if parent is None or "_parent_node_index" not in node.attrs:
            return "Writeable"
        index = inner_index(node)
        if index is None or not 0 <= index < len(parent.inputs):
            return "Invalid"
        feed = parent.inputs[index].source
        return "Invalid" if feed is None else plain_output_kind(feed)
    stored = own_writes(node) if node.op not in PHONY else set()
    if stored and (
        "RefSwitch" in (node.op, node.attrs.get("original_type"))
        or any(at == output.index for at, _ in name_pairs(node))
        or output.desc.reuse_input in stored
    ):
        return "Writeable"
    if node.op in CONST or node.op == "FileConstant":  # D8
        return "ReadOnlyConst"
    return "ReadOnly" if len(output.readers) > 1 else "SoftRead"


def delivered_kind(graph: Graph, outer: OutputAnchor) -> str:
    """What is recorded for a subgraph's result, found by its parent index (D7)."""
    out = graph.net_output
    for port in () if out is None else out.inputs:
        if result_index(port) == outer.index:
            if port.source is None:
                return "Invalid"
            kind = output_kind(port.source)
            # GE puts an Identity there, and records that one's kind (D16: only said here).
            return "SoftRead" if kind == "Writeable" and not can_take(outer) else kind
    return "Invalid"


def can_take(outer: OutputAnchor) -> bool:
    """Whether the readers of a call's output can live with memory that is updated in place."""
    if outer.node.op == "PartitionedCall":
        return True
    return all(not wraps(r.node) and input_kind(r) == "ReadOnly" for r in outer.readers)


def conflict(kind: str, reader: str) -> bool:
    """3.3."""
    if "Invalid" in (kind, reader):
        return True
    if reader == "Writeable":
        return kind == "ReadOnlyConst"
    return reader == "ScopeWriteable" and kind != "SoftRead"


# ---- order --------------------------------------------------------------------------------------


def following(node: Node) -> list[Node]:
    """Direct successors, data and control."""
    return [*node.out_nodes, *node.control_outputs]


def reaches(a: Node, b: Node) -> bool:
    """Whether a path of edges leads from one node to another of the same graph."""
    seen: set[Node] = set()
    waiting = [a]
    while waiting:
        for node in following(waiting.pop()):
            if node is b:
                return True
            if node not in seen:
                seen.add(node)
                waiting.append(node)
    return False


def lifted(node: Node, graph: Graph) -> Node | None:
    """What contains a node in a graph; None where the node lies elsewhere."""
    at: Node | None = node
    while at is not None and at.graph is not graph:
        at = parent_of(at)
    return at
