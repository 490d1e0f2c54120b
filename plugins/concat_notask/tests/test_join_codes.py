"""Every reason for which a Concat or Pack keeps its task, one graph each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from ge_concat_notask import ConcatNotaskPass, PackNotaskPass
from ge_core.api import Graph, GraphBuilder, OutputAnchor, RemarkKind, Target, TensorDesc
from ge_core.passes.remarks import Remarks

Run = Callable[..., Remarks]
Case = Callable[[GraphBuilder], None]

HALF = TensorDesc.make("float16", (32, 16))
MARKS = ("_no_task", "_no_padding_continuous_input", "_output_reuse_input")


# ---- graphs -------------------------------------------------------------------------------------


def computed(b: GraphBuilder, name: str, desc: TensorDesc = HALF, **facts: Any) -> OutputAnchor:
    """An ordinary tensor: the result of a Relu on a graph input of its own."""
    return b.op("Relu", b.data(f"{name}_in", (8, 8)), name=name, outputs=[desc], **facts)


def concat(
    b: GraphBuilder,
    *operands: OutputAnchor | None,
    axis: object = 0,
    out: TensorDesc | None = None,
    name: str = "join",
    op: str = "ConcatD",
    attrs: dict[str, Any] | None = None,
) -> OutputAnchor:
    """A Concat along the first axis; the result is described by summing there."""
    if out is None:
        descs = [operand.desc for operand in operands if operand is not None]
        shape = descs[0].shape or ()
        out = TensorDesc.make(
            descs[0].dtype, (sum((d.shape or (0,))[0] for d in descs), *shape[1:])
        )
    return b.op(
        op, *operands, name=name, outputs=[out], attrs={"concat_dim": axis, **(attrs or {})}
    )


def pair(b: GraphBuilder, desc: TensorDesc = HALF, **facts: Any) -> list[OutputAnchor]:
    """Two ordinary tensors."""
    return [computed(b, "p", desc, **facts), computed(b, "q", desc)]


def nz(origin: tuple[int, int], shape: Sequence[int]) -> TensorDesc:
    """A float16 matrix stored in blocks."""
    return TensorDesc.make("float16", shape, "FRACTAL_NZ", origin_shape=origin, origin_format="ND")


def _unknown_shape(b: GraphBuilder) -> None:
    b.net_output(concat(b, *pair(b), out=TensorDesc.make("float16", (-1, 16))))


def _unknown_graph(b: GraphBuilder) -> None:
    b.graph.set_graph_attr("_graph_unknown_flag", True)
    b.net_output(concat(b, *pair(b)))


def _single_op(b: GraphBuilder) -> None:
    b.net_output(concat(b, *pair(b, attrs={"_single_op_scene": True})))


def _separate(b: GraphBuilder) -> None:
    b.graph.set_graph_attr("_memory_discontiguous_allocation", True)
    b.net_output(concat(b, *pair(b)))


def _op_type(b: GraphBuilder) -> None:
    b.net_output(concat(b, *pair(b), op="ConcatV2"))


def _no_element_size(b: GraphBuilder) -> None:
    b.net_output(concat(b, computed(b, "p", TensorDesc.make("string", (4,)))))


def _off_byte(b: GraphBuilder) -> None:
    b.net_output(concat(b, *pair(b, TensorDesc.make("int4", (3,)))))


def _unaligned(b: GraphBuilder) -> None:
    b.net_output(concat(b, *pair(b, TensorDesc.make("float16", (3, 5)))))


def _axis_range(b: GraphBuilder) -> None:
    b.net_output(concat(b, *pair(b), axis=2))


def _no_aligned_shape(b: GraphBuilder) -> None:
    desc = TensorDesc.make(
        "float16", (1, 1, 4, 16), "NC1HWC0", origin_shape=(16, 4), origin_format="NCHW"
    )
    b.net_output(concat(b, *pair(b, desc)))


def _no_axis_map(b: GraphBuilder) -> None:
    desc = TensorDesc.make(
        "float16", (9, 1, 16, 16), "FRACTAL_Z:2", origin_shape=(16, 8, 3, 3), origin_format="NCHW"
    )
    b.net_output(concat(b, *pair(b, desc)))


def _not_outermost(b: GraphBuilder) -> None:
    b.net_output(concat(b, *pair(b), axis=1, out=TensorDesc.make("float16", (32, 32))))


def _padded(b: GraphBuilder) -> None:
    desc = nz((16, 30), (2, 1, 16, 16))
    b.net_output(concat(b, *pair(b, desc), axis=1))


def _sizes(b: GraphBuilder) -> None:
    b.net_output(concat(b, *pair(b), out=TensorDesc.make("float16", (65, 16))))


def _fixed(b: GraphBuilder) -> None:
    b.net_output(concat(b, b.data("x", desc=HALF), computed(b, "p")))


def _variable_name(b: GraphBuilder) -> None:
    b.op("Variable", name="v", outputs=[HALF])
    b.net_output(concat(b, *pair(b, HALF.with_attr("ref_var_src_var_name", "v"))))


def _untraced(b: GraphBuilder) -> None:
    view = computed(b, "p")
    for at in range(101):
        view = b.op("Reshape", view, name=f"view{at}")
    b.net_output(concat(b, view, computed(b, "q")))


def _subgraph(b: GraphBuilder) -> None:
    x, inner = b.data("x", desc=HALF), b.subgraph("f")
    inner.net_output(inner.op("Relu", inner.data("f/x", desc=HALF), name="f/relu"))
    call = b.op("PartitionedCall", x, name="call", subgraphs={"f": inner})
    b.net_output(concat(b, b.op("Reshape", call, name="view"), computed(b, "q")))


def _claimed(b: GraphBuilder) -> None:
    shared = computed(b, "p")
    first = concat(b, shared, computed(b, "q"), name="first")
    view = b.op("Reshape", shared, name="view")
    b.net_output(first, concat(b, view, computed(b, "r")))


def _laid_out_reader(b: GraphBuilder) -> None:
    p, q = pair(b)
    packed = b.op(
        "HcomAllReduce", p, computed(b, "r"), name="packed", attrs={"continuous_input": True}
    )
    b.net_output(concat(b, p, q), packed)


def _graph_output(b: GraphBuilder) -> None:
    p, q = pair(b)
    b.net_output(concat(b, p, q), b.op("Reshape", p, name="view"))


def _laid_out_producer(b: GraphBuilder) -> None:
    p, q = pair(b, attrs={"continuous_output": True})
    b.net_output(concat(b, b.op("Reshape", p, name="view"), q))


def _overwritten(b: GraphBuilder) -> None:
    p, q = pair(b)
    b.op("HcomAllReduce", p, name="eats", attrs={"_input_mutable": True})
    b.net_output(concat(b, p, q))


def _virtual_reader(b: GraphBuilder) -> None:
    join = concat(b, *pair(b))
    view = b.op("Reshape", join, name="view")
    b.net_output(
        b.op("Relu", view, name="first"), b.op("Relu", view, name="v", attrs={"_no_task": True})
    )


def _on_chip(b: GraphBuilder) -> None:
    out = TensorDesc.make("float16", (64, 16), mem_type="L1")
    b.net_output(concat(b, *pair(b), out=out))


def _scalar(b: GraphBuilder) -> None:
    b.net_output(concat(b, computed(b, "p", TensorDesc.make("float16", ())), out=HALF))


def _empty(b: GraphBuilder) -> None:
    b.net_output(concat(b, computed(b, "p"), computed(b, "q", TensorDesc.make("float16", (0, 16)))))


def _same_source(b: GraphBuilder) -> None:
    p = computed(b, "p")
    b.net_output(concat(b, p, b.op("Reshape", p, name="view")))


def _kinds(b: GraphBuilder) -> None:
    p, q = computed(b, "p", HALF.replace(mem_type="P2P")), computed(b, "q")
    b.net_output(concat(b, p, q))


def _result_overwritten(b: GraphBuilder) -> None:
    p, q = pair(b)
    join = concat(b, p, q)
    changed = b.op(
        "ScatterUpdate",
        join,
        name="update",
        outputs=[join.desc.replace(reuse_input=0)],
        attrs={"reference": True},
    )
    b.net_output(changed, b.op("Relu", p, name="late"))


def _on_chip_name(b: GraphBuilder) -> None:
    b.net_output(concat(b, *pair(b), name="join_lxslice"))


def pack(b: GraphBuilder, *operands: OutputAnchor, axis: int, out: Sequence[int]) -> None:
    """A Pack whose result is the graph's."""
    desc = operands[0].desc.replace(shape=tuple(out), origin_shape=tuple(out))
    b.net_output(b.op("Pack", *operands, name="join", outputs=[desc], attrs={"axis": axis}))


def _private(b: GraphBuilder) -> None:
    desc = TensorDesc.make(
        "float16", (1, 2, 4, 4, 16), "NC1HWC0", origin_shape=(1, 32, 4, 4), origin_format="NCHW"
    )
    pack(b, *pair(b, desc), axis=0, out=(2, 1, 2, 4, 4, 16))


def _innermost(b: GraphBuilder) -> None:
    pack(b, *pair(b), axis=2, out=(32, 16, 2))


def _places_clash(b: GraphBuilder) -> None:
    p, q = pair(b)
    first = concat(b, p, q, name="first")
    b.net_output(b.op("Relu", first, name="read"), concat(b, q, p))


CASES: dict[str, Case] = {
    "UNKNOWN_SHAPE": _unknown_shape,
    "UNKNOWN_GRAPH": _unknown_graph,
    "SINGLE_OP_SCENE": _single_op,
    "SEPARATE_ALLOCATION": _separate,
    "OP_TYPE": _op_type,
    "NO_ELEMENT_SIZE": _no_element_size,
    "OFF_BYTE_PIECE": _off_byte,
    "UNALIGNED_PIECE": _unaligned,
    "AXIS_OUT_OF_RANGE": _axis_range,
    "NO_ALIGNED_SHAPE": _no_aligned_shape,
    "NO_AXIS_MAP": _no_axis_map,
    "NOT_OUTERMOST": _not_outermost,
    "PADDED_AXIS": _padded,
    "SIZES_DISAGREE": _sizes,
    "FIXED_MEMORY": _fixed,
    "VARIABLE_MEMORY": _variable_name,
    "UNTRACED_SOURCE": _untraced,
    "SUBGRAPH_PRODUCER": _subgraph,
    "CLAIMED": _claimed,
    "LAID_OUT_READER": _laid_out_reader,
    "ALSO_GRAPH_OUTPUT": _graph_output,
    "LAID_OUT_PRODUCER": _laid_out_producer,
    "OVERWRITTEN": _overwritten,
    "VIRTUAL_READER": _virtual_reader,
    "ON_CHIP_MEMORY": _on_chip,
    "PLACES_CLASH": _places_clash,
    "SCALAR_OPERAND": _scalar,
    "EMPTY_OPERAND": _empty,
    "SAME_SOURCE": _same_source,
    "MEMORY_KINDS_DIFFER": _kinds,
    "RESULT_OVERWRITTEN": _result_overwritten,
    "ON_CHIP_NAME": _on_chip_name,
    "PRIVATE_FORMAT": _private,
    "NEW_INNERMOST_AXIS": _innermost,
}
LEVELS = {"PLACES_CLASH": "O4"}
ROWS = {"READER_NOT_STRIDED", "WRITER_NOT_STRIDED", "ROWS_IN_ROWS"}
"""Of targets that declare `strided`."""
GIVEN_ELSEWHERE = {
    "NO_TASK",
    "MARKED_BEFORE",
    "RESERVES_EARLY",
    "RAISES_PEAK",
    "LAYOUT_CLASH",
} | ROWS


def build(case: Case) -> Graph:
    """The graph of a case."""
    builder = GraphBuilder()
    case(builder)
    return builder.graph


@pytest.mark.parametrize("code", sorted(CASES))
def test_code(code: str, run: Run, ascend: Target) -> None:
    """The join keeps its task, for exactly this reason, and nothing is marked or claimed."""
    graph = build(CASES[code])
    remarks = run(graph, level=LEVELS.get(code, "O3"))
    joins = [n for n in graph.nodes if n.name.startswith("join")]
    final = remarks.final(joins[0].name)
    assert final is not None
    assert (final.kind, final.code) == (RemarkKind.MISSED, code)
    assert final.rule is not None and "{" not in final.reason
    assert [name for name in MARKS if name in joins[0].attrs] == []
    assert all(graph.find(blame.node) is not None for blame in final.blame)


def test_every_code_has_a_case() -> None:
    """A code that no graph trips is no promise."""
    declared = {c.name for cls in (ConcatNotaskPass, PackNotaskPass) for c in cls.codes}
    assert declared - GIVEN_ELSEWHERE == set(CASES)
