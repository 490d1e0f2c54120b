"""What a node does to the memory of its inputs, from attributes and traits.

Two questions, each with one answer for every analysis, pass and planner:
does output o share the memory of an input (`ref_of`), and which inputs does the node write
(`written_inputs`) or scribble over (`scribbled_inputs`).
"""

from __future__ import annotations

from ge_core.ir import Node, OutputAnchor
from ge_core.ops.builtin import ASSIGN_LIKE, MERGE_OPS
from ge_core.ops.registry import OpRegistry
from ge_core.ops.traits import ALL

_JOIN_MARKS = ("_no_padding_continuous_input", "_no_padding_continuous_output")
_PHONY = frozenset({"PhonyConcat", "PhonySplit"})
_REF_SWITCH = "RefSwitch"
_NAMED_WRITERS = frozenset({*ASSIGN_LIKE, _REF_SWITCH})


def is_subgraph_data(node: Node) -> bool:
    """Whether the node is an input of a subgraph: a Data with a parent index."""
    return (
        node.op == "Data"
        and node.graph is not None
        and not node.graph.is_root
        and "_parent_node_index" in node.attrs
    )


def parent_index(node: Node) -> int | None:
    """The parent's input that a subgraph's Data stands for."""
    value = node.attrs.get("_parent_node_index")
    return None if value is None else int(value)


def output_parent_index(node: Node, at: int) -> int | None:
    """The parent's output that input `at` of a subgraph's NetOutput delivers."""
    desc = node.inputs[at].own_desc
    value = None if desc is None else desc.attrs.get("_parent_node_index")
    return None if value is None else int(value)


def named_pairs(node: Node) -> list[tuple[int, int]]:
    """(output, input) pairs whose port names are equal: GE's way to say "updated in place"."""
    if not node.output_names or not node.input_names:
        return []
    inputs = {name: at for at, name in reversed(list(enumerate(node.input_names))) if name}
    return [
        (at, inputs[name])
        for at, name in enumerate(node.output_names)
        if name in inputs and at < len(node.outputs) and inputs[name] < len(node.inputs)
    ]


def ref_of(output: OutputAnchor, ops: OpRegistry) -> int | None:
    """The input whose memory an output is, or None: GE's reference mapping, first hit wins.

    NetOutput and While hand input k on as output k, and a subgraph's Data is what feeds it (its
    own index is the answer: the caller crosses to the parent). Merge and Reshape share input 0;
    then ports of equal name on a node marked `reference`; then the description's reuse index; then
    no-task joins and splits, for every output.
    """
    node, at = output.node, output.index
    traits = ops.traits(node)
    if traits.kind in ("net_output", "while") or is_subgraph_data(node):
        return at
    for out, inp in traits.aliases:
        if out == at:
            return inp
    if node.attrs.get("reference"):
        for out, inp in named_pairs(node):
            if out == at:
                return inp
    reuse = output.desc.reuse_input
    if reuse is not None:
        return reuse
    attrs = node.attrs
    if attrs.get("_output_reuse_input") and any(attrs.get(mark) for mark in _JOIN_MARKS):
        return 0
    return None


def written_inputs(node: Node, ops: OpRegistry) -> tuple[int, ...]:
    """Inputs whose memory the node updates in place (GE: Writeable), sorted.

    Sources: traits; ports of equal name; `reference` with a reuse mark; `rw` attribute; Assign by
    op rule where its output is marked as input 0; a framework op whose original type is RefSwitch.
    Phony joins and splits match names only to share memory: they write nothing.
    """
    traits, attrs = ops.traits(node), node.attrs
    if not (attrs or traits.writes or node.output_names or node.op in _NAMED_WRITERS):
        return ()  # most nodes
    if node.op in _PHONY:
        return ()
    found = set(traits.writes)
    found.update(inp for _, inp in named_pairs(node))
    if attrs.get("reference"):
        found.update(o.desc.reuse_input for o in node.outputs if o.desc.reuse_input is not None)
    marks = attrs.get("rw")
    if isinstance(marks, dict):
        found.update(int(key) for key, how in (marks.get("inputs") or {}).items() if how == "write")
    if (node.op in ASSIGN_LIKE and any(o.desc.reuse_input == 0 for o in node.outputs)) or (
        node.op == _REF_SWITCH or attrs.get("original_type") == _REF_SWITCH
    ):
        found.add(0)
    return tuple(sorted(at for at in found if at < len(node.inputs)))


def scribbled_inputs(node: Node, ops: OpRegistry) -> tuple[int, ...]:
    """Inputs whose memory the node destroys for its own use (GE: ScopeWriteable), sorted."""
    scribbles = ops.traits(node).scribbles
    if ALL in scribbles or node.attrs.get("_input_mutable"):
        return tuple(range(len(node.inputs)))
    found = list(scribbles)
    for anchor in node.inputs:
        desc = anchor.own_desc
        if desc is None or not desc.attrs:
            continue
        size = desc.attrs.get("_special_input_size", 0)
        if isinstance(size, int) and size > 0:
            found.append(anchor.index)
    return tuple(sorted({at for at in found if at < len(node.inputs)})) if found else ()


def is_no_task(node: Node) -> bool:
    """Whether the node emits no task: its operands lie where its result is."""
    return bool(node.attrs.get("_no_task"))


KEEPS_PLACE = "_keeps_stream_place"
"""On a node that a pass took the task of, where streams meet: it stays in its stream's order."""


def keeps_place(node: Node, ops: OpRegistry) -> bool:
    """Whether a node without a task stands on its stream nevertheless, ordered like one that runs.

    A node whose task went while it was compiled does, where it waited for another stream or another
    stream for it, and so does a NoOp that names its stream: what is listed behind it there may rely
    on what it waits for, and its readers on what is listed before it. A node that came without a
    task never had a place.
    """
    if ops.kind(node) == "noop":
        return "stream_id" in node.attrs
    return bool(node.attrs.get(KEEPS_PLACE))


def is_merge(node: Node) -> bool:
    """Whether the node hands on whichever arm has run."""
    return node.op in MERGE_OPS
