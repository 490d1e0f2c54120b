"""What ops do with memory: traits, the registry, and GE's own table."""

from ge_core.ops.arity import check_arity
from ge_core.ops.builtin import register_builtin_ops
from ge_core.ops.effects import (
    KEEPS_PLACE,
    is_merge,
    is_no_task,
    is_subgraph_data,
    keeps_place,
    named_pairs,
    output_parent_index,
    parent_index,
    ref_of,
    scribbled_inputs,
    written_inputs,
)
from ge_core.ops.registry import OpRegistry
from ge_core.ops.traits import ALL, KINDS, OpTraits
from ge_core.ops.vouched import doubts

__all__ = [
    "ALL",
    "KEEPS_PLACE",
    "KINDS",
    "OpRegistry",
    "OpTraits",
    "doubts",
    "is_merge",
    "is_no_task",
    "is_subgraph_data",
    "keeps_place",
    "named_pairs",
    "output_parent_index",
    "parent_index",
    "ref_of",
    "check_arity",
    "register_builtin_ops",
    "scribbled_inputs",
    "written_inputs",
]
