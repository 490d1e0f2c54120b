"""What anchor types, layout rules and the read/write checker promise, held against this package."""

from __future__ import annotations

from ge_core.testing import OpRecipe, checker_conformance

GROUPS = (
    OpRecipe("HcomAllGather", inputs=2, attrs={"continuous_input": (True,)}),
    OpRecipe("HcomReduceScatter", outputs=2, attrs={"continuous_output": (True,)}),
    OpRecipe(
        "HcomAllReduce",
        attrs={"_input_memory_type": (["P2P"],), "_output_memory_type": (["P2P"],)},
    ),
    OpRecipe("HcomReduce", attrs={"_ge_attr_op_kernel_lib_name": ("ops_kernel_info_hccl",)}),
)

test_anchor_types_and_checkers = checker_conformance("memconflict", ops=GROUPS)
