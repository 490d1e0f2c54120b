"""The table of GE's own ops, contributed like a plugin's.

Source of the type sets: GE's node-type helpers and reference rules. Graphs that come from GE get
their effects from attributes; only what GE decides by op type stands here.
"""

from __future__ import annotations

from typing import Final

from ge_core.ops.pure import register_pure_ops
from ge_core.ops.registry import OpRegistry
from ge_core.ops.traits import ALL, OpTraits

DATA_LIKE: Final = frozenset({"Data", "RefData", "AippData", "AnnData"})
"""Graph inputs, and inputs of subgraphs."""
VARIABLES: Final = frozenset({"Variable", "VariableV2"})
"""Memory that lives on between runs."""
VAR_LIKE: Final = VARIABLES | {"RefData"}
"""Outputs whose memory outlives a run, graph inputs held as a variable among them."""
CONST_LIKE: Final = frozenset({"Const", "Constant", "ConstPlaceHolder"})
"""Constants whose value the graph has."""
WEIGHT_LIKE: Final = CONST_LIKE | {"FileConstant"}
"""Constants, also those whose value is a file."""
ASSIGN_LIKE: Final = frozenset(
    {
        "Assign",
        "AssignAdd",
        "AssignSub",
        "AssignVariableOp",
        "AssignAddVariableOp",
        "AssignSubVariableOp",
    }
)
"""Ops that write a value into the memory of their first input."""
IDENTITY_LIKE: Final = frozenset({"Identity", "ReadVariableOp"})
"""Ops that hand on what they read."""
WHILE_OPS: Final = frozenset({"While", "_While", "StatelessWhile"})
"""Loops: a condition and a body as subgraphs."""
IF_OPS: Final = frozenset({"If", "_If", "StatelessIf"})
"""A choice between two subgraphs."""
CASE_OPS: Final = frozenset({"Case", "StatelessCase"})
"""A choice between any number of subgraphs."""
MERGE_OPS: Final = frozenset({"Merge", "StreamMerge", "RefMerge"})
"""Ops that hand on whichever input has arrived."""
MULTI_BRANCH: Final = (
    IF_OPS | WHILE_OPS | CASE_OPS | {"For", "Switch", "RefSwitch", "Loop", "Scan"} | MERGE_OPS
)
"""Ops that end a source trace: which arm delivers the value is known only at run time.

Case is in the set although GE's code leaves it out, and multi-arm merges are control flow
(GE follows only a Merge's first arm).
"""

CONCAT_OPS: Final = frozenset({"ConcatD", "ConcatV2D"})
"""Joins along an axis that is there already, in the form in which GE runs them."""
JOIN_OPS: Final = CONCAT_OPS | {"Concat", "ConcatV2", "Pack", "PhonyConcat"}
"""All joins, along an axis that is there already or a new one."""
SPLIT_OPS: Final = frozenset({"SplitD", "SplitVD", "Split", "SplitV", "PhonySplit"})
"""Ops whose outputs are parts of their input."""
MOVE_OPS: Final = frozenset({"TensorMove", "Identity", "MemcpyAsync", "MemcpyAddrAsync"})
"""Copies of a whole tensor."""

_BY_KIND: Final = (
    ("data", ("Data", "RefData", "AippData", "AnnData")),
    ("constant", ("Const", "Constant", "ConstPlaceHolder", "FileConstant")),
    ("variable", ("Variable", "VariableV2")),
    ("net_output", ("NetOutput",)),
    ("move", ("TensorMove", "Identity", "MemcpyAsync", "MemcpyAddrAsync", "ReadVariableOp")),
    ("join", ("ConcatD", "ConcatV2D", "Concat", "ConcatV2", "PhonyConcat")),
    ("pack", ("Pack",)),
    ("split", ("SplitD", "SplitVD", "Split", "SplitV", "PhonySplit")),
    ("slice", ("Slice", "SliceD")),
    ("noop", ("NoOp",)),
    ("if", ("If", "_If", "StatelessIf")),
    ("case", ("Case", "StatelessCase")),
    ("while", ("While", "_While", "StatelessWhile")),
    ("call", ("PartitionedCall", "StatefulPartitionedCall")),
)

_PITCHED: Final = frozenset({"move", "join", "pack", "split", "slice"})
"""Kinds that may read and write rows with gaps, on a target that does so at all."""

_COLLECTIVES: Final = (
    "HcomAllReduce",
    "HcomAllGather",
    "HcomBroadcast",
    "HcomReduceScatter",
    "HcomReduce",
    "HcomSend",
    "HcomReceive",
    "HcomAllToAll",
    "HcomAllToAllV",
)


def register_builtin_ops(ops: OpRegistry) -> None:
    """Declare GE's own ops."""
    for kind, names in _BY_KIND:
        for name in names:
            # ONNX spells these differently or means something else by them.
            source = "ge" if name in _GE_ONLY else "*"
            scribbles = (ALL,) if kind == "while" else ()
            pitched = kind in _PITCHED
            ops.add(
                OpTraits(
                    name,
                    kind=kind,
                    scribbles=scribbles,
                    strided_in=pitched,
                    strided_out=pitched,
                ),
                source,
            )
    ops.add(OpTraits("Loop", kind="loop"), "onnx")
    ops.add(OpTraits("Scan", kind="scan"), "onnx")
    ops.add(OpTraits("Reshape", aliases=((0, 0),)), "ge")
    ops.add(OpTraits("Merge", kind="merge", aliases=((0, 0),)), "ge")
    ops.add(OpTraits("StreamMerge", kind="merge"), "ge")
    ops.add(OpTraits("RefMerge", kind="merge"), "ge")
    for name in ("Shape", "Rank", "Size"):
        ops.add(OpTraits(name, shape_only=(0,)), "ge")
    for name in _COLLECTIVES:
        ops.add(OpTraits(name, collective=True, side_effect=True), "ge")
    for name in ("StreamSwitch", "LabelSwitchByIndex"):
        ops.add(OpTraits(name, side_effect=True), "ge")
    register_pure_ops(ops)
    for name in sorted(ASSIGN_LIKE):
        # By op rule Assign writes input 0 where its output shares that input's memory; ops.effects
        # asks for the mark, so that an Assign without one aliases and writes nothing.
        ops.add(OpTraits(name), "ge")


_GE_ONLY: Final = frozenset(
    {"Concat", "ConcatV2", "Split", "SplitV", "Pack", "SliceD", "Constant", "Variable"}
)
