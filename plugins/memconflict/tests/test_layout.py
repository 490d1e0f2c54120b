"""Anchor types, and the pairs of them that clash: each rule with a harmless and a harmful graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

import ge_core
import ge_memconflict
from ge_core.api import (
    AliasClasses,
    Clash,
    GraphBuilder,
    LayoutChecks,
    OpRegistry,
    OutputAnchor,
    Owner,
    Scheme,
    TensorDesc,
    register_builtin_ops,
)
from ge_core.memory.anchor_types import AnchorTypeRegistry
from ge_core.memory.checkers import CheckerRegistry
from ge_core.testing import RARE, GraphKnobs, random_graph

OPS = OpRegistry()
register_builtin_ops(OPS)
TYPES = AnchorTypeRegistry()
ge_memconflict.ge_register_anchor_types(TYPES)
STAGED = CheckerRegistry()
ge_memconflict.ge_register_conflict_checkers(STAGED)
RULES = CheckerRegistry()
RULES.absorb(STAGED, Owner("memconflict", "graph-engine-memconflict", "1.0.0", builtin=True))

PACKED = {"continuous_input": True}
PACKED_OUT = {"continuous_output": True}
JOIN = {"_no_padding_continuous_input": True, "_output_reuse_input": True}
SPLIT = {"_no_padding_continuous_output": True, "_output_reuse_input": True}
DESC = TensorDesc.make()


@pytest.mark.parametrize("seed", range(20))
def test_one_answer_for_all_types_is_that_of_each(seed: int) -> None:
    """What is told of an anchor in one go is what the markers say one by one."""
    graph = random_graph(seed, GraphKnobs(nodes=20, streams=1 + seed % 2, rare=RARE))
    compiled = ge_core.compile(graph, level="O3", prove=False).graph
    for node in (*graph.all_nodes(), *compiled.all_nodes()):
        for anchor in (*node.inputs, *node.outputs):
            assert sorted(kind.name for kind in TYPES if kind(anchor)) == TYPES.of(anchor)


def test_types_of_anchors() -> None:
    """Each type marks the anchors that its name says; an anchor may have several."""
    b = GraphBuilder()
    x = b.data("x")
    w = b.op("Variable", name="w")
    view = b.op("Reshape", x, reuse_input=0)
    join = b.op("ConcatD", view, w, attrs=JOIN, shape=(2, 16))
    gather = b.op("HcomAllGather", join, x, attrs=PACKED)
    alone = b.op("HcomAllReduce", gather, attrs={**PACKED, **PACKED_OUT})
    cut = b.node("SplitD", alone, outputs=[DESC, DESC], attrs=SPLIT)
    spread = b.node("Foo", cut.outputs[0], outputs=[DESC, DESC], attrs=PACKED_OUT)
    sub = b.subgraph("g")
    inner = sub.data("g/d")
    result = sub.net_output(inner)
    b.op("PartitionedCall", x, subgraphs={"f": sub})
    out = b.net_output(spread.outputs[0])
    expected = {
        x: ["USER_MEMORY_INPUT"],
        inner: ["REFERENCE_OUTPUT"],
        w: ["IMMUTABLE_ADDRESS_OUTPUT"],
        view: ["REFERENCE_OUTPUT"],
        join: ["REFERENCE_OUTPUT"],
        join.node.inputs[1]: ["NOPADDING_CONTINUOUS_INPUT"],
        gather.node.inputs[0]: ["CONTINUOUS_INPUT"],
        gather: ["NORMAL_OUTPUT"],
        alone.node.inputs[0]: ["NORMAL_INPUT"],
        alone: ["NORMAL_OUTPUT"],
        cut.outputs[1]: ["NOPADDING_CONTINUOUS_OUTPUT", "REFERENCE_OUTPUT"],
        spread.outputs[0]: ["CONTINUOUS_OUTPUT"],
        out.inputs[0]: ["USER_MEMORY_OUTPUT"],
        result.inputs[0]: ["NORMAL_INPUT"],
    }
    assert expected == {anchor: TYPES.of(anchor) for anchor in expected}


def test_an_output_that_names_a_graph_input_is_a_reference() -> None:
    """It lies where the graph input lies; one that only names a variable lies elsewhere."""
    b = GraphBuilder()
    b.op("RefData", name="state")
    b.op("Variable", name="w")
    named = [DESC.with_attr("ref_var_src_var_name", name) for name in ("state", "w", "nobody")]
    found = [TYPES.of(b.node("Foo", outputs=[desc]).outputs[0]) for desc in named]
    assert [["REFERENCE_OUTPUT"], ["NORMAL_OUTPUT"], ["NORMAL_OUTPUT"]] == found


def asked(b: GraphBuilder, copy: OutputAnchor, options: Mapping[str, str]) -> Clash | None:
    """The clash that removing a copy would make."""
    classes = AliasClasses(b.graph, OPS, Scheme.SYMBOLS, TYPES.of)
    checks = LayoutChecks(RULES, b.graph, OPS, options.get)
    return checks.first_clash(classes, copy.node.inputs[0], copy)


def act(b: GraphBuilder, name: str) -> OutputAnchor:
    """A private value."""
    return b.op("Relu", b.data(f"in_{name}"), name=name)


def move(b: GraphBuilder, source: OutputAnchor) -> OutputAnchor:
    """The copy in question."""
    return b.op("TensorMove", source, name="mv")


Case = Callable[[GraphBuilder], OutputAnchor]
HARMFUL: dict[str, tuple[Case, str, str, dict[str, str]]] = {}
HARMLESS: dict[str, Case] = {}


def harmful(code: str, isolate: str, *moving: str) -> Callable[[Case], Case]:
    """A graph whose copy must stay, and where a copy has to stand; `moving`: addresses change."""
    options = {"ge.featureBaseRefreshable": "1"} if moving else {}

    def enter(case: Case) -> Case:
        HARMFUL[case.__name__[1:]] = case, code, isolate, options
        return case

    return enter


def harmless(case: Case) -> Case:
    """A graph whose copy may go as far as layout is concerned."""
    HARMLESS[case.__name__[1:]] = case
    return case


@harmful("FIXED_ADDRESS_TO_USER_OUTPUT", "NetOutput@0")
def _constant_to_result(b: GraphBuilder) -> OutputAnchor:
    mv = move(b, b.op("Const", name="k"))
    b.net_output(mv)
    return mv


@harmless
def _constant_to_result_of_unknown_shape(b: GraphBuilder) -> OutputAnchor:
    b.graph.set_graph_attr("_graph_unknown_flag", True)
    return _constant_to_result(b)


@harmless
def _variable_to_result(b: GraphBuilder) -> OutputAnchor:
    mv = move(b, b.op("Variable", name="w"))
    b.net_output(mv)
    return mv


@harmless
def _input_to_result(b: GraphBuilder) -> OutputAnchor:
    mv = move(b, b.data("x"))
    b.net_output(mv)
    return mv


@harmless
def _two_results(b: GraphBuilder) -> OutputAnchor:
    value = act(b, "a")
    mv = move(b, value)
    b.net_output(value, mv)
    return mv


@harmful("IN_TWO_PACKED_GROUPS", "other@0")
def _two_packed_groups(b: GraphBuilder) -> OutputAnchor:
    value = act(b, "a")
    mv = move(b, value)
    b.op("Foo", value, act(b, "c"), name="one", attrs=PACKED)
    b.op("Foo", mv, act(b, "d"), name="other", attrs=PACKED)
    return mv


@harmful("IN_TWO_PACKED_GROUPS", "other@0")
def _packed_and_joined(b: GraphBuilder) -> OutputAnchor:
    value = act(b, "a")
    mv = move(b, value)
    b.op("Foo", value, act(b, "c"), name="one", attrs=PACKED)
    b.op("ConcatD", mv, act(b, "d"), name="other", attrs=JOIN, shape=(2, 16))
    return mv


@harmful("IN_TWO_JOINS", "other@0")
def _two_joins(b: GraphBuilder) -> OutputAnchor:
    value = act(b, "a")
    mv = move(b, value)
    b.op("ConcatD", value, act(b, "c"), name="one", attrs=JOIN, shape=(2, 16))
    b.op("ConcatD", mv, act(b, "d"), name="other", attrs=JOIN, shape=(2, 16))
    return mv


@harmless
def _the_same_join_twice(b: GraphBuilder) -> OutputAnchor:
    mv = move(b, act(b, "a"))
    view = b.op("Reshape", mv, name="v", reuse_input=0)
    rest = act(b, "c")
    b.op("ConcatD", mv, rest, name="one", attrs=JOIN, shape=(2, 16))
    b.op("ConcatD", view, rest, name="other", attrs=JOIN, shape=(2, 16))
    return mv


@harmful("PACKED_AND_UNPADDED", "join@0")
def _packed_results_into_a_join(b: GraphBuilder) -> OutputAnchor:
    spread = b.node("Foo", act(b, "a"), name="spread", outputs=[DESC, DESC], attrs=PACKED_OUT)
    mv = move(b, spread.outputs[0])
    b.op("ConcatD", mv, spread.outputs[1], name="join", attrs=JOIN, shape=(2, 16))
    return mv


@harmful("PACKED_AND_UNPADDED", "gather@0")
def _split_pieces_into_a_packed_group(b: GraphBuilder) -> OutputAnchor:
    cut = b.node("SplitD", act(b, "a"), name="cut", outputs=[DESC, DESC], attrs=SPLIT)
    mv = move(b, cut.outputs[0])
    b.op("Foo", mv, act(b, "c"), name="gather", attrs=PACKED)
    return mv


@harmful("GROUPS_NOT_ALIGNED", "spread:1")
def _packed_results_in_another_order(b: GraphBuilder) -> OutputAnchor:
    spread = b.node("Foo", act(b, "a"), name="spread", outputs=[DESC, DESC], attrs=PACKED_OUT)
    mv = move(b, spread.outputs[1])
    b.op("Foo", mv, spread.outputs[0], name="gather", attrs=PACKED)
    return mv


@harmful("PIECE_OF_TWO_GROUPS", "spread:0")
def _a_piece_spread_again(b: GraphBuilder) -> OutputAnchor:
    spread = b.node("Foo", act(b, "a"), name="spread", outputs=[DESC, DESC], attrs=PACKED_OUT)
    mv = move(b, spread.outputs[0])
    b.node("SplitD", mv, name="again", outputs=[DESC, DESC], attrs=SPLIT)
    return mv


@harmful("PIECE_OF_TWO_SPLITS", "cut:0")
def _a_piece_cut_again(b: GraphBuilder) -> OutputAnchor:
    cut = b.node("SplitD", act(b, "a"), name="cut", outputs=[DESC, DESC], attrs=SPLIT)
    mv = move(b, cut.outputs[0])
    b.node("SplitD", mv, name="again", outputs=[DESC, DESC], attrs=SPLIT)
    return mv


@harmful("FIXED_ADDRESS_CUT", "cut@0")
def _a_variable_cut(b: GraphBuilder) -> OutputAnchor:
    mv = move(b, b.op("Variable", name="w"))
    b.node("SplitD", mv, name="cut", outputs=[DESC, DESC], attrs=SPLIT)
    return mv


@harmful("FIXED_ADDRESS_PACKED", "gather@0")
def _a_variable_packed(b: GraphBuilder) -> OutputAnchor:
    mv = move(b, b.op("Variable", name="w"))
    b.op("Foo", mv, act(b, "a"), name="gather", attrs=PACKED)
    return mv


@harmful("FIXED_ADDRESS_IN_JOIN", "join@1")
def _a_constant_joined(b: GraphBuilder) -> OutputAnchor:
    mv = move(b, b.op("Const", name="k"))
    b.op("ConcatD", act(b, "a"), mv, name="join", attrs=JOIN, shape=(2, 16))
    return mv


@harmless
def _a_constant_joined_with_itself(b: GraphBuilder) -> OutputAnchor:
    mv = move(b, b.op("Const", name="k"))
    b.op("ConcatD", mv, mv, name="join", attrs=JOIN, shape=(2, 16))
    return mv


@harmful("JOIN_MEETS_SPLIT", "join@0")
def _a_join_cut_behind_the_copy(b: GraphBuilder) -> OutputAnchor:
    join = b.op("ConcatD", act(b, "a"), act(b, "c"), name="join", attrs=JOIN, shape=(2, 16))
    mv = move(b, join)
    b.node("SplitD", mv, name="cut", outputs=[DESC, DESC], attrs=SPLIT)
    return mv


@harmful("USER_INPUT_PACKED", "x:0")
def _an_input_packed(b: GraphBuilder) -> OutputAnchor:
    mv = move(b, b.data("x"))
    b.op("Foo", mv, act(b, "a"), name="gather", attrs=PACKED)
    return mv


@harmful("USER_INPUT_IN_JOIN", "x:0")
def _an_input_joined(b: GraphBuilder) -> OutputAnchor:
    mv = move(b, b.data("x"))
    b.op("ConcatD", mv, act(b, "a"), name="join", attrs=JOIN, shape=(2, 16))
    return mv


@harmless
def _an_input_cut(b: GraphBuilder) -> OutputAnchor:
    mv = move(b, b.data("x"))
    b.node("SplitD", mv, name="cut", outputs=[DESC, DESC], attrs=SPLIT)
    return mv


@harmful("USER_INPUT_CUT", "x:0")
def _an_input_cut_in_a_single_op_scene(b: GraphBuilder) -> OutputAnchor:
    b.graph.set_graph_attr("_single_op_scene", True)
    return _an_input_cut(b)


@harmful("USER_INPUT_PACKED", "gather@0")
def _a_stored_input_packed(b: GraphBuilder) -> OutputAnchor:
    mv = move(b, b.data("x"))
    stored = b.op("Assign", mv, act(b, "a"), name="s", reuse_input=0)
    b.op("Foo", stored, act(b, "c"), name="gather", attrs=PACKED)
    return mv


@harmful("USER_OUTPUT_PACKED", "NetOutput@0")
def _a_packed_input_as_result(b: GraphBuilder) -> OutputAnchor:
    value = act(b, "a")
    mv = move(b, value)
    b.op("Foo", value, act(b, "c"), name="gather", attrs=PACKED)
    b.net_output(mv)
    return mv


@harmful("USER_OUTPUT_PACKED", "NetOutput@0")
def _a_packed_output_as_result(b: GraphBuilder) -> OutputAnchor:
    spread = b.node("Foo", act(b, "a"), name="spread", outputs=[DESC, DESC], attrs=PACKED_OUT)
    mv = move(b, spread.outputs[0])
    b.net_output(mv)
    return mv


@harmless
def _a_join_that_is_the_result(b: GraphBuilder) -> OutputAnchor:
    mv = move(b, act(b, "a"))
    join = b.op("ConcatD", mv, act(b, "c"), name="join", attrs=JOIN, shape=(2, 16))
    b.net_output(join)
    return mv


def special(b: GraphBuilder, source: OutputAnchor, kind: str, name: str, **marks: Any) -> Any:
    """An op that reads what it is given, or hands it on (`reuse_input=0`), in special memory."""
    reuse = marks.pop("reuse_input", None)
    side = "_input_memory_type" if reuse is None else "_output_memory_type"
    return b.op("HcomFoo", source, name=name, attrs={side: [kind], **marks}, reuse_input=reuse)


@harmful("USER_INPUT_IN_SPECIAL_MEMORY", "s@0")
def _an_input_read_in_special_memory(b: GraphBuilder) -> OutputAnchor:
    mv = move(b, b.data("x"))
    special(b, mv, "P2P", "s")
    return mv


@harmful("USER_INPUT_IN_SPECIAL_MEMORY", "x:0")
def _an_input_handed_on_in_special_memory(b: GraphBuilder) -> OutputAnchor:
    mv = move(b, b.data("x"))
    special(b, mv, "P2P", "s", reuse_input=0)
    return mv


@harmful("USER_OUTPUT_IN_SPECIAL_MEMORY", "s@0")
def _a_result_in_special_memory(b: GraphBuilder) -> OutputAnchor:
    value = act(b, "a")
    mv = move(b, value)
    special(b, value, "P2P", "s")
    b.net_output(mv)
    return mv


@harmful("FIXED_ADDRESS_IN_SPECIAL_MEMORY", "k:0")
def _a_constant_in_special_memory(b: GraphBuilder) -> OutputAnchor:
    mv = move(b, b.op("Const", name="k"))
    special(b, mv, "P2P", "s", reuse_input=0)
    return mv


@harmful("FIXED_ADDRESS_IN_SPECIAL_MEMORY", "s@0")
def _an_updated_variable_in_special_memory(b: GraphBuilder) -> OutputAnchor:
    w = b.op("Variable", name="w")
    b.op("Foo", w, name="up", reuse_input=0, attrs={"reference": True})
    mv = move(b, w)
    special(b, mv, "P2P", "s", reuse_input=0)
    return mv


@harmful("PACKED_IN_SPECIAL_MEMORY", "gather@0")
def _a_packed_group_and_special_memory(b: GraphBuilder) -> OutputAnchor:
    value = act(b, "a")
    mv = move(b, value)
    special(b, value, "P2P", "s")
    b.op("Foo", mv, act(b, "c"), name="gather", attrs=PACKED)
    return mv


@harmful("PACKED_IN_SPECIAL_MEMORY", "s@0")
def _a_group_that_hands_the_memory_on(b: GraphBuilder) -> OutputAnchor:
    value = act(b, "a")
    mv = move(b, value)
    special(b, value, "P2P", "s")
    b.op("ConcatD", mv, act(b, "c"), name="join", attrs=JOIN, shape=(2, 16))
    return mv


@harmless
def _a_packed_group_in_special_memory_itself(b: GraphBuilder) -> OutputAnchor:
    value = act(b, "a")
    mv = move(b, value)
    special(b, value, "P2P", "s")
    marks = {**PACKED, "_input_memory_type": ["P2P", "P2P"]}
    b.op("Foo", mv, act(b, "c"), name="gather", attrs=marks)
    return mv


@harmful("TWO_SPECIAL_INPUTS", "s@0")
def _two_kinds_of_memory(b: GraphBuilder) -> OutputAnchor:
    value = act(b, "a")
    mv = move(b, value)
    special(b, value, "P2P", "s")
    special(b, mv, "TS", "t")
    return mv


@harmless
def _one_kind_of_memory(b: GraphBuilder) -> OutputAnchor:
    value = act(b, "a")
    mv = move(b, value)
    special(b, value, "P2P", "s")
    special(b, mv, "17", "t")
    return mv


@harmful("SPECIAL_INPUT_AND_OUTPUT", "made:0")
def _made_and_read_in_two_kinds(b: GraphBuilder) -> OutputAnchor:
    made = b.op("HcomFoo", act(b, "a"), name="made", attrs={"_output_memory_type": ["TS"]})
    mv = move(b, made)
    special(b, mv, "P2P", "s")
    return mv


@harmful("TWO_SPECIAL_OUTPUTS", "made:0")
def _made_and_handed_on_in_two_kinds(b: GraphBuilder) -> OutputAnchor:
    made = b.op("HcomFoo", act(b, "a"), name="made", attrs={"_output_memory_type": ["TS"]})
    mv = move(b, made)
    special(b, mv, "P2P", "s", reuse_input=0)
    return mv


@harmful("USER_INPUT_READ_AT_A_FIXED_ADDRESS", "switch@0")
def _an_input_of_a_switch(b: GraphBuilder) -> OutputAnchor:
    mv = move(b, b.data("x"))
    b.op("StreamSwitch", mv, name="switch")
    return mv


@harmless
def _an_input_of_a_custom_op(b: GraphBuilder) -> OutputAnchor:
    mv = move(b, b.data("x"))
    marks = {"_ge_attr_op_kernel_lib_name": "DNN_VM_CUSTOM_OP_STORE"}
    b.op("Foo", mv, name="custom", attrs=marks)
    return mv


@harmful("USER_INPUT_WRITTEN_AT_A_FIXED_ADDRESS", "x:0")
def _an_input_or_what_a_switch_makes(b: GraphBuilder) -> OutputAnchor:
    mv = move(b, b.data("x"))
    b.op("Merge", mv, b.op("StreamSwitch", act(b, "a"), name="switch"))
    return mv


@harmful("USER_OUTPUT_READ_AT_A_FIXED_ADDRESS", "NetOutput@0")
def _a_result_that_a_switch_reads(b: GraphBuilder) -> OutputAnchor:
    value = act(b, "a")
    mv = move(b, value)
    b.op("StreamSwitch", value, name="switch")
    b.net_output(mv)
    return mv


@harmful("USER_OUTPUT_WRITTEN_AT_A_FIXED_ADDRESS", "NetOutput@0")
def _a_result_that_a_collective_makes(b: GraphBuilder) -> OutputAnchor:
    marks = {"_ge_attr_op_kernel_lib_name": "ops_kernel_info_hccl"}
    mv = move(b, b.op("HcomFoo", act(b, "a"), name="made", attrs=marks))
    b.net_output(mv)
    return mv


@harmful("READ_AT_A_FIXED_ADDRESS", "switch@0", "moving")
def _a_value_that_a_switch_reads(b: GraphBuilder) -> OutputAnchor:
    mv = move(b, act(b, "a"))
    b.op("StreamSwitch", mv, name="switch")
    return mv


@harmless
def _a_value_that_a_switch_reads_at_one_address(b: GraphBuilder) -> OutputAnchor:
    return _a_value_that_a_switch_reads(b)


@harmful("WRITTEN_AT_A_FIXED_ADDRESS", "switch:0", "moving")
def _a_value_that_a_switch_makes(b: GraphBuilder) -> OutputAnchor:
    mv = move(b, b.op("StreamSwitch", act(b, "a"), name="switch"))
    b.op("Exp", mv, name="use")
    return mv


@pytest.mark.parametrize("name", sorted(HARMFUL))
def test_a_clash_is_found_and_says_where_to_isolate(name: str) -> None:
    """The code of the rule, and the anchor that GE would put a copy at."""
    case, code, isolate, options = HARMFUL[name]
    b = GraphBuilder()
    clash = asked(b, case(b), options)
    assert clash is not None
    assert (code, isolate) == (clash.code, str(clash.isolate))


@pytest.mark.parametrize("name", sorted(HARMLESS))
def test_what_is_no_clash_is_none(name: str) -> None:
    """The copy may go as far as layout is concerned."""
    b = GraphBuilder()
    assert asked(b, HARMLESS[name](b), {}) is None


def test_an_offline_build_can_t_cut_an_input() -> None:
    """Only the first piece's address could be bound later."""
    b = GraphBuilder()
    clash = asked(b, _an_input_cut(b), {"ge.buildGraphMode": "offline"})
    assert clash is not None and "USER_INPUT_CUT" == clash.code


def test_every_rule_has_a_graph() -> None:
    """All codes that rules declare are tripped here."""
    declared: set[str] = {code for rule in RULES for code in rule.codes}
    assert declared == {code for _, code, _, _ in HARMFUL.values()}


def test_registration_names_the_read_write_checker() -> None:
    """The checker is made when somebody needs it."""
    checker: Any = RULES.make_read_write()
    assert "ReadWriteMatrix" == type(checker).__name__
