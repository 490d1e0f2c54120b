"""The four abilities of a source trace: leave a subgraph, enter a call, follow views, stop.

Where GE's code and its design note differ, the note wins: Case and multi-arm merges stop a trace.
"""

from __future__ import annotations

from typing import Any, Final

from ge_core.api import (
    MULTI_BRANCH,
    Node,
    OpRegistry,
    OutputAnchor,
    Step,
    TraceCursor,
    parent_index,
    ref_of,
)

CONTROL_FLOW: Final = "control flow"
"""The reason with which a trace stops at control flow."""

_KINDS: Final = frozenset({"if", "case", "while", "loop", "scan", "merge"})


def is_control_flow(node: Node, ops: OpRegistry) -> bool:
    """Whether which value the node delivers is known only when it has run."""
    return node.op in MULTI_BRANCH or ops.kind(node) in _KINDS


def stop_at_control_flow(output: OutputAnchor, trace: TraceCursor) -> Step | None:
    """End at If, Case, While, Switch, Loop, Merge and their like."""
    return trace.stop(CONTROL_FLOW) if is_control_flow(output.node, trace.ops) else None


def leave_subgraph(output: OutputAnchor, trace: TraceCursor) -> Step | None:
    """From a subgraph's Data, go on with what feeds its caller.

    What an ONNX loop doesn't capture but hands in itself, turn by turn, has no source outside.
    """
    graph, index = output.node.graph, parent_index(output.node)
    if graph is None or graph.is_root:
        return None
    for caller, _ in graph.callers:
        captured = len(caller.inputs) - int(caller.attrs.get("captured", 0))
        if trace.ops.kind(caller) in ("loop", "scan") and index is not None and index < captured:
            return trace.stop("each turn of the loop hands it in")
    return trace.leave(output.node)


def enter_call(output: OutputAnchor, trace: TraceCursor) -> Step | None:
    """From a PartitionedCall's output, go on with what its subgraph delivers."""
    return trace.enter(output)


def follow_view(output: OutputAnchor, trace: TraceCursor) -> Step | None:
    """From an output that is the memory of an input, go on with that input."""
    at = ref_of(output, trace.ops)
    if at is None:
        return None
    if not 0 <= at < len(output.node.inputs):
        return trace.stop("a view of an input that isn't there")
    return trace.through(output.node.inputs[at])


def register_trace_rules(rules: Any) -> None:
    """Declare the four; those for one op are asked before those for all."""
    rules.add("Data", leave_subgraph)
    rules.add("PartitionedCall", enter_call)
    rules.add("*", stop_at_control_flow, name="control_flow")
    rules.add("*", follow_view, name="view")
