"""What the plugin brings: assigners, the target, its option."""

from __future__ import annotations

import ge_core as ge
import ge_memassign
from ge_core.api import GraphBuilder, TensorDesc
from ge_core.memory import AssignerRegistry
from ge_core.targets import TargetRegistry


def test_its_assigners_can_all_be_made() -> None:
    """By the bare names of a built-in plugin."""
    assigners = AssignerRegistry()
    ge_memassign.ge_register_memory_assigners(assigners)
    assert assigners.names() == ["best", "bump", "fast"]
    assert all(callable(assigners.make(name).assign) for name in assigners.names())


def test_the_target_is_ascends() -> None:
    """Separate buffers at 512 bytes, pieces of runs at 32."""
    targets = TargetRegistry()
    ge_memassign.ge_register_targets(targets)
    ascend = targets.get("ascend")
    assert (ascend.align_bytes, ascend.run_align) == (512, 32)


def chain() -> GraphBuilder:
    """A graph from ONNX whose middle nodes can work in place."""
    build = GraphBuilder(source="onnx")
    value = build.data("x", (1024,), desc=TensorDesc.make("float32", (1024,)))
    for at in range(3):
        value = build.op("Relu", value, name=f"relu{at}")
    build.net_output(value)
    return build


def test_ops_work_in_place_when_asked() -> None:
    """The option lets outputs lie on dead inputs, and the proof agrees."""
    plans = {}
    for asked in ("0", "1"):
        result = ge.compile(chain().graph, level="O4", options={"ge.memory.inplace": asked})
        result.check_proof()
        plans[asked] = result.plan
    assert not plans["0"].explain("relu0:0", "relu1:0").shares
    assert plans["1"].explain("relu0:0", "relu1:0").shares
    assert plans["1"].pools["HBM"].bytes < plans["0"].pools["HBM"].bytes


def test_nobody_works_in_place_unasked() -> None:
    """It is no rule of GE's, so that it is off at every level."""
    result = ge.compile(chain().graph, level="O4")
    assert not result.plan.explain("relu0:0", "relu1:0").shares
