"""Every reason for which a Split keeps its task, one graph each; and splits that lose it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from ge_concat_notask import SplitNotaskPass
from ge_core.api import Graph, GraphBuilder, Node, OutputAnchor, RemarkKind, TensorDesc
from ge_core.passes.remarks import Remarks

Run = Callable[..., Remarks]
Case = Callable[[GraphBuilder], None]

WHOLE = TensorDesc.make("float16", (64, 16))
HALF = TensorDesc.make("float16", (32, 16))


# ---- graphs -------------------------------------------------------------------------------------


def computed(b: GraphBuilder, name: str, desc: TensorDesc = WHOLE, **facts: Any) -> OutputAnchor:
    """An ordinary tensor: the result of a Relu on a graph input of its own."""
    return b.op("Relu", b.data(f"{name}_in", (8, 8)), name=name, outputs=[desc], **facts)


def cut(
    b: GraphBuilder,
    whole: OutputAnchor,
    pieces: Sequence[TensorDesc] = (HALF, HALF),
    axis: object = 0,
    op: str = "SplitD",
) -> Node:
    """A Split."""
    return b.node(op, whole, name="cut", outputs=pieces, attrs={"split_dim": axis})


def read(b: GraphBuilder, node: Node) -> None:
    """Give every output an ordinary reader and make those the results."""
    b.net_output(*(b.op("Relu", o, name=f"{node.name}_read{o.index}") for o in node.outputs))


def _unknown_shape(b: GraphBuilder) -> None:
    unknown = TensorDesc.make("float16", (-1, 16))
    read(b, cut(b, computed(b, "x"), [unknown, HALF]))


def _unknown_graph(b: GraphBuilder) -> None:
    b.graph.set_graph_attr("_dynamic_shape_partitioned", True)
    read(b, cut(b, computed(b, "x")))


def _single_op(b: GraphBuilder) -> None:
    b.graph.set_graph_attr("_single_op_scene", True)
    read(b, cut(b, computed(b, "x")))


def _separate(b: GraphBuilder) -> None:
    b.graph.set_graph_attr("_memory_discontiguous_allocation", True)
    read(b, cut(b, computed(b, "x")))


def _op_type(b: GraphBuilder) -> None:
    read(b, cut(b, computed(b, "x"), op="SplitV"))


def _no_element_size(b: GraphBuilder) -> None:
    text = TensorDesc.make("string", (4,))
    read(b, cut(b, computed(b, "x", text), [text]))


def _off_byte(b: GraphBuilder) -> None:
    piece = TensorDesc.make("int4", (3,))
    read(b, cut(b, computed(b, "x", TensorDesc.make("int4", (6,))), [piece, piece]))


def _unaligned(b: GraphBuilder) -> None:
    piece = TensorDesc.make("float16", (3, 5))
    read(b, cut(b, computed(b, "x", TensorDesc.make("float16", (6, 5))), [piece, piece]))


def _axis_range(b: GraphBuilder) -> None:
    read(b, cut(b, computed(b, "x"), axis=2))


def _no_aligned_shape(b: GraphBuilder) -> None:
    like = TensorDesc.make("float16", (1,), "NC1HWC0", origin_format="NCHW")
    whole = like.replace(shape=(1, 2, 4, 1, 16), origin_shape=(32, 4))
    piece = like.replace(shape=(1, 1, 4, 1, 16), origin_shape=(16, 4))
    read(b, cut(b, computed(b, "x", whole), [piece, piece]))


def _no_axis_map(b: GraphBuilder) -> None:
    like = TensorDesc.make("float16", (1,), "NC1HWC0_C04", origin_format="NCHW")
    whole = like.replace(shape=(2, 1, 4, 4, 4), origin_shape=(2, 4, 4, 4))
    piece = like.replace(shape=(1, 1, 4, 4, 4), origin_shape=(1, 4, 4, 4))
    read(b, cut(b, computed(b, "x", whole), [piece, piece]))


def _not_outermost(b: GraphBuilder) -> None:
    piece = TensorDesc.make("float16", (64, 8))
    read(b, cut(b, computed(b, "x"), [piece, piece], axis=1))


def _padded(b: GraphBuilder) -> None:
    """GE accepts this one: 60 columns cut into 30 and 30, each padded to 32."""
    like = TensorDesc.make("float16", (1,), "FRACTAL_NZ", origin_format="ND")
    whole = like.replace(shape=(4, 1, 16, 16), origin_shape=(16, 60))
    piece = like.replace(shape=(2, 1, 16, 16), origin_shape=(16, 30))
    read(b, cut(b, computed(b, "x", whole), [piece, piece], axis=1))


def _sizes(b: GraphBuilder) -> None:
    read(b, cut(b, computed(b, "x"), [HALF]))


def _fixed(b: GraphBuilder) -> None:
    inner = b.subgraph("f")
    node = cut(inner, inner.data("f/x", desc=WHOLE))
    read(inner, node)
    weight = b.const("weight", bytes(2048), (64, 16), "float16")
    call = b.node("PartitionedCall", weight, outputs=[HALF, HALF], subgraphs={"f": inner})
    b.net_output(*call.outputs)


def _variable_name(b: GraphBuilder) -> None:
    b.op("Variable", name="v", outputs=[WHOLE])
    read(b, cut(b, computed(b, "x", WHOLE.with_attr("ref_var_src_var_name", "v"))))


def _untraced(b: GraphBuilder) -> None:
    b.net_output(b.node("SplitD", None, name="cut", outputs=[HALF]).outputs[0])


def _subgraph(b: GraphBuilder) -> None:
    inner = b.subgraph("f")
    inner.net_output(inner.op("Relu", inner.data("f/x", desc=WHOLE), name="f/relu"))
    x = b.data("x", desc=WHOLE)
    read(b, cut(b, b.op("PartitionedCall", x, name="call", subgraphs={"f": inner})))


def _claimed(b: GraphBuilder) -> None:
    read(b, cut(b, computed(b, "x", WHOLE.with_attr("can_reused_for_pack_optimize", False))))


def _graph_output(b: GraphBuilder) -> None:
    x = computed(b, "x")
    node = cut(b, x)
    b.net_output(x, *(b.op("Relu", o, name=f"r{o.index}") for o in node.outputs))


def _laid_out_producer(b: GraphBuilder) -> None:
    x = computed(b, "x", attrs={"atomic_output_index": [0]})
    read(b, cut(b, b.op("Reshape", x, name="view")))


def _overwritten(b: GraphBuilder) -> None:
    x = computed(b, "x")
    node = cut(b, x)
    b.op("HcomSend", x, name="eats", attrs={"_input_mutable": True})
    read(b, node)


def _piece_overwritten(b: GraphBuilder) -> None:
    x = computed(b, "x")
    node = cut(b, x)
    update = b.op(
        "ScatterUpdate",
        node.outputs[0],
        name="update",
        outputs=[HALF.replace(reuse_input=0)],
        attrs={"reference": True},
    )
    b.net_output(b.op("Relu", update, name="r0"), b.op("Relu", x, name="late"))


def _virtual_reader(b: GraphBuilder) -> None:
    node = cut(b, computed(b, "x"))
    b.net_output(b.op("Relu", node.outputs[0], name="v", attrs={"_no_task": True}))


def _kinds(b: GraphBuilder) -> None:
    node = cut(b, computed(b, "x"))
    b.net_output(b.op("Relu", node.outputs[1], name="r", attrs={"_input_memory_type": ["P2P"]}))


def _on_chip(b: GraphBuilder) -> None:
    piece = HALF.replace(mem_type="L2")
    read(b, cut(b, computed(b, "x"), [piece, piece]))


def _graph_input_behind(b: GraphBuilder) -> None:
    read(b, cut(b, b.op("TransData", b.data("x", desc=WHOLE), name="t")))


def _result_reader(b: GraphBuilder) -> None:
    node = cut(b, computed(b, "x"))
    b.net_output(b.op("Reshape", node.outputs[0], name="view"))


def _reader_type(b: GraphBuilder) -> None:
    node = cut(b, computed(b, "x"))
    b.net_output(b.op("HcomAllReduce", node.outputs[1], name="reduce"))


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
    "ALSO_GRAPH_OUTPUT": _graph_output,
    "LAID_OUT_PRODUCER": _laid_out_producer,
    "OVERWRITTEN": _overwritten,
    "PIECE_OVERWRITTEN": _piece_overwritten,
    "VIRTUAL_READER": _virtual_reader,
    "MEMORY_KINDS_DIFFER": _kinds,
    "ON_CHIP_MEMORY": _on_chip,
    "GRAPH_INPUT_BEHIND": _graph_input_behind,
    "RESULT_READER": _result_reader,
    "READER_TYPE": _reader_type,
}
ROWS = {"READER_NOT_STRIDED", "ROWS_IN_ROWS"}
"""Of targets that declare `strided`."""
GIVEN_ELSEWHERE = {"NO_TASK", "MARKED_BEFORE", "HOLDS_LONGER", "RAISES_PEAK", "LAYOUT_CLASH"} | ROWS


def build(case: Case) -> Graph:
    """The graph of a case."""
    builder = GraphBuilder()
    case(builder)
    return builder.graph


@pytest.mark.parametrize("code", sorted(CASES))
def test_code(code: str, run: Run) -> None:
    """The split keeps its task, for exactly this reason, and is not marked."""
    graph = build(CASES[code])
    final = run(graph).final("cut")
    assert final is not None
    assert (final.kind, final.code) == (RemarkKind.MISSED, code)
    assert final.rule is not None and "{" not in final.reason
    assert "_no_task" not in graph.node("cut").attrs
    assert all(graph.find(blame.node) is not None for blame in final.blame)


def test_every_code_has_a_case() -> None:
    """A code that no graph trips is no promise."""
    assert {code.name for code in SplitNotaskPass.codes} - GIVEN_ELSEWHERE == set(CASES)
