"""All joins and splits placed together: what is chosen, what is said, and that it computes."""

from __future__ import annotations

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

import ge_core as ge
from ge_concat_notask import is_marked
from ge_concat_notask.memory import Memory
from ge_concat_notask.pieces import blocks_of
from ge_concat_notask.placement.choose import choose
from ge_concat_notask.placement.gather import Gathering
from ge_concat_notask.placement.layout import Layout
from ge_concat_notask.placement.problem import Component
from ge_concat_notask.placement.turns import Turns
from ge_concat_notask.setting import Setting
from ge_concat_notask.tensor_placement import JUDGES, rules_of
from ge_core.api import (
    Graph,
    GraphBuilder,
    OpRegistry,
    Order,
    OutputAnchor,
    ReuseRule,
    TensorDesc,
    register_builtin_ops,
)
from ge_core.session.execution import execute
from ge_core.session.result import Result
from ge_core.targets import GENERIC

OPS = OpRegistry()
register_builtin_ops(OPS)


class Bench:
    """Builds graphs of rows of bytes."""

    def __init__(self, rows: int = 4, source: str = "ge") -> None:
        self.b = GraphBuilder("placed", source=source)
        self.x = self.b.data("x", (rows, 16), "int8")

    def op(self, name: str, source: OutputAnchor, *, stream: int = 0) -> OutputAnchor:
        """A tensor with a producer that reads another one of its shape."""
        attrs = {"stream_id": stream}
        return self.b.op("Relu", source, name=name, outputs=[source.desc], attrs=attrs)

    def mix(self, name: str, *sources: OutputAnchor, rows: int) -> OutputAnchor:
        """A tensor made of others in no element's order: not in place of any."""
        return self.b.op("Foo", *sources, name=name, outputs=[_rows(rows)])

    def join(self, name: str, *parts: OutputAnchor) -> OutputAnchor:
        """A Concat of rows."""
        rows = sum((part.desc.shape or (0,))[0] for part in parts)
        attrs = {"concat_dim": 0, "N": len(parts)}
        return self.b.op("ConcatD", *parts, name=name, outputs=[_rows(rows)], attrs=attrs)

    def cut(self, name: str, whole: OutputAnchor, *rows: int) -> list[OutputAnchor]:
        """A Split into rows."""
        outputs = [_rows(count) for count in rows]
        node = self.b.node("SplitD", whole, name=name, outputs=outputs, attrs={"split_dim": 0})
        return node.outputs

    def end(self, *results: OutputAnchor) -> Graph:
        """Make tensors the graph's results, through readers of their own."""
        self.b.net_output(*(self.op(f"keep{at}", one) for at, one in enumerate(results)))
        return self.b.graph


def _rows(count: int) -> TensorDesc:
    return TensorDesc.make("int8", (count, 16))


def compiled(graph: Graph) -> Result:
    """At O4, proved and run in the arena beside the plain run."""
    result = ge.compile(graph, level="O4", objective="copies", verify_each=True, audit=True)
    assert result.proof is not None
    assert result.proof.ok, result.proof.violations[:1]
    outcome = execute(result, seed=1, check=True)
    assert [] == [output.name for output in outcome.outputs if not output.bit_exact]
    return result


def said(result: Result) -> dict[str, str]:
    """By node, the code of its final remark."""
    return {remark.node: remark.code for remark in result.remarks.finals()}


# ---- scenes --------------------------------------------------------------------------------------


def test_an_operand_with_a_place_of_its_own_is_copied_into_its_slice() -> None:
    """A graph input can't be moved; the other operand is written where the result is."""
    bench = Bench()
    joined = bench.join("it", bench.x, bench.op("a", bench.x))
    result = compiled(bench.end(joined))
    codes = said(result)
    assert ("NO_TASK_IN_PART", "OPERAND_COPIED") == (codes["it"], codes["it/operand_0"])
    copy = result.remarks.final("it/operand_0")
    assert copy is not None
    assert copy.bytes == 64
    assert copy.data["because"] == "FIXED_MEMORY"


def test_an_operand_off_the_alignment_is_copied_and_the_last_may_end_anywhere() -> None:
    """On a device with pieces at 32 bytes: 16, 48 and 24 bytes; the second one starts off."""
    build = GraphBuilder()
    x = build.data("x", (8,), "int8")
    sizes = {"a": 16, "b": 48, "c": 24}
    descs = {name: TensorDesc.make("int8", (size,)) for name, size in sizes.items()}
    parts = [build.op("Foo", x, name=name, outputs=[desc]) for name, desc in descs.items()]
    whole = TensorDesc.make("int8", (sum(sizes.values()),))
    attrs = {"concat_dim": 0, "N": 3}
    joined = build.op("ConcatD", *parts, name="it", outputs=[whole], attrs=attrs)
    build.net_output(build.op("Foo", joined, name="keep", outputs=[whole]))
    result = ge.compile(build.graph, level="O4", target="ascend", objective="copies")
    assert result.proof is not None
    assert result.proof.ok
    copy = result.remarks.final("it/operand_1")
    assert copy is not None
    assert copy.data["because"] == "UNALIGNED_PIECE"
    assert 48 == result.after.total.bytes


def test_an_operand_listed_twice_is_copied_once() -> None:
    """The second mention is a copy of half the bytes that the task moved."""
    bench = Bench()
    a = bench.op("a", bench.x)
    result = compiled(bench.end(bench.join("it", a, a)))
    assert said(result)["it"] == "NO_TASK_IN_PART"
    copies = [node for node in result.graph.nodes if node.op == "Identity"]
    assert len(copies) == 1


def test_a_join_of_nothing_but_inputs_keeps_its_task() -> None:
    """Copies in front of all operands would move as many bytes in more steps."""
    bench = Bench()
    y = bench.b.data("y", (4, 16), "int8")
    result = compiled(bench.end(bench.join("it", bench.x, y)))
    assert said(result)["it"] == "FIXED_MEMORY"
    assert not is_marked(result.graph.node("it"))


def test_a_piece_worked_on_and_joined_again_needs_no_copy() -> None:
    """Half of a tensor goes through ops and back into the place that it had."""
    bench = Bench()
    first, second = bench.cut("split", bench.op("a", bench.x), 2, 2)
    worked = bench.mix("worked", bench.mix("between", second, rows=2), rows=2)
    result = compiled(bench.end(bench.join("it", first, worked)))
    assert {"split": "NO_TASK", "it": "NO_TASK"} == said(result)
    assert result.plan.find("split:1").offset == result.plan.find("worked:0").offset


def test_an_op_that_can_work_in_place_may_be_the_last_reader_itself() -> None:
    """A Relu of a piece is written over the piece, element by element."""
    bench = Bench(source="onnx")
    first, second = bench.cut("split", bench.op("a", bench.x), 2, 2)
    result = compiled(bench.end(bench.join("it", first, bench.op("worked", second))))
    assert {"split": "NO_TASK", "it": "NO_TASK"} == said(result)


def test_a_callers_buffer_is_used_for_nothing_else_before() -> None:
    """What is cut may not lie in a result of the graph, but for the piece that ends up there."""
    bench = Bench()
    first, second = bench.cut("split", bench.mix("a", bench.x, rows=4), 2, 2)
    worked = bench.mix("worked", bench.mix("between", second, rows=2), rows=2)
    bench.b.net_output(bench.join("it", first, worked))
    assert compiled(bench.b.graph).after.total.bytes == 32


def test_an_op_that_mixes_its_input_may_not() -> None:
    """It would read what it has written: one of the two halves is copied."""
    bench = Bench()
    first, second = bench.cut("split", bench.op("a", bench.x), 2, 2)
    result = compiled(bench.end(bench.join("it", first, bench.mix("worked", second, rows=2))))
    copies = [node for node in result.graph.nodes if node.op == "Identity"]
    assert [32] == [node.outputs[0].desc.nbytes for node in copies]


def test_a_piece_that_is_needed_later_is_not_written_over() -> None:
    """A reader behind the new writer still finds the old bytes."""
    bench = Bench()
    first, second = bench.cut("split", bench.op("a", bench.x), 2, 2)
    worked = bench.mix("worked", bench.mix("between", second, rows=2), rows=2)
    joined = bench.join("it", first, worked)
    late = bench.mix("late", second, joined, rows=2)
    result = compiled(bench.end(joined, late))
    copies = [node for node in result.graph.nodes if node.op == "Identity"]
    assert [32] == [node.outputs[0].desc.nbytes for node in copies]


def test_a_piece_that_another_stream_may_still_read_is_not_written_over() -> None:
    """Nothing orders that reader before the new writer."""
    bench = Bench()
    first, second = bench.cut("split", bench.op("a", bench.x), 2, 2)
    other = bench.op("other", second, stream=1)
    worked = bench.mix("worked", bench.mix("between", second, rows=2), rows=2)
    result = compiled(bench.end(bench.join("it", first, worked), other))
    copies = [node for node in result.graph.nodes if node.op == "Identity"]
    assert [32] == [node.outputs[0].desc.nbytes for node in copies]


def test_a_result_of_the_graph_is_copied_where_that_is_cheaper() -> None:
    """One copy for the caller, rather than one in each of two joins that share it."""
    bench = Bench()
    a, b, c = (bench.op(name, bench.x) for name in "abc")
    one, two = bench.join("one", a, b), bench.join("two", a, b, c)
    bench.b.net_output(a, bench.op("keep1", one), bench.op("keep2", two))
    result = compiled(bench.b.graph)
    assert {"one": "NO_TASK", "two": "NO_TASK", "a/result": "RESULT_COPIED"} == said(result)


def test_among_equals_the_copy_for_the_caller_is_made() -> None:
    """One operand of a join goes out as well: as many bytes either way, and the join is whole."""
    bench = Bench()
    a, b = bench.op("a", bench.x), bench.op("b", bench.x)
    bench.b.net_output(a, bench.op("keep", bench.join("it", a, b)))
    assert {"it": "NO_TASK", "a/result": "RESULT_COPIED"} == said(compiled(bench.b.graph))


def test_a_copy_for_the_caller_goes_with_what_it_was_made_for() -> None:
    """It would cost a larger arena: then the split copies, and the result is none."""
    bench = Bench(8)
    whole = bench.op("whole", bench.x)
    bench.cut("split", whole, 4, 4)
    big = bench.mix("small", bench.mix("big", bench.x, rows=40), rows=1)
    bench.b.net_output(whole, big, bench.op("use", whole))
    copied = ge.compile(bench.b.graph, level="O4", objective="copies")
    assert said(copied) == {"split": "NO_TASK", "whole/result": "RESULT_COPIED"}
    result = ge.compile(bench.b.graph, level="O4")
    assert said(result) == {"split": "RAISES_PEAK"}
    assert result.after == result.before
    least = ge.compile(bench.b.graph, level="O1").plan.pools["HBM"].bytes
    assert result.plan.pools["HBM"].bytes <= least < copied.plan.pools["HBM"].bytes


def test_a_piece_that_is_a_result_is_copied_out() -> None:
    """The other piece is a window into the whole."""
    bench = Bench()
    first, second = bench.cut("split", bench.op("a", bench.x), 1, 3)
    bench.b.net_output(first, bench.mix("use", second, rows=3))
    result = compiled(bench.b.graph)
    assert said(result)["split"] in ("NO_TASK", "NO_TASK_IN_PART")
    assert result.after.total.bytes == 16


def test_a_piece_that_may_not_be_read_in_place_is_copied() -> None:
    """A reader that works off the vector cores gets bytes of its own; others need none."""
    bench = Bench()
    first, second = bench.cut("split", bench.op("a", bench.x), 1, 3)
    bench.b.op("Foo", first, name="odd", outputs=[_rows(1)], attrs={"imply_type": 6})
    result = compiled(bench.end(bench.mix("use", second, rows=3)))
    assert ("NO_TASK_IN_PART", "PIECE_COPIED") == tuple(
        said(result)[name] for name in ("split", "split/piece_0")
    )


def test_the_listing_does_not_decide() -> None:
    """A small join that stands first gives way to a large one that wants the same operand."""
    bench = Bench()
    small, large = bench.op("small", bench.x), bench.mix("large", bench.x, rows=40)
    a = bench.mix("a", bench.x, rows=20)
    first = bench.join("first", small, a)
    second = bench.join("second", large, a, large)
    result = compiled(bench.end(first, second))
    # The second mention of one operand, and `a` in one of the joins.
    assert (40 + 20) * 16 == result.after.total.bytes


def test_a_join_gives_its_place_up_where_others_save_more() -> None:
    """`it` stands first and went first; with its task two others share the operands."""
    bench = Bench()
    a, b = (bench.mix(name, bench.x, rows=1) for name in "ab")
    c = bench.mix("c", bench.x, rows=3)
    it, one, two = bench.join("it", a, b), bench.join("one", b, a), bench.join("two", b, a, c)
    result = compiled(bench.end(it, one, two))
    assert {"it": "OUTWEIGHED", "one": "NO_TASK", "two": "NO_TASK"} == said(result)
    assert 2 * 16 == result.after.total.bytes


def test_nothing_of_this_happens_within_ges_rules() -> None:
    """Copies are put in from O4 upwards only."""
    bench = Bench()
    result = ge.compile(bench.end(bench.join("it", bench.x, bench.op("a", bench.x))), level="O3")
    assert said(result)["it"] == "FIXED_MEMORY"


# ---- the search ----------------------------------------------------------------------------------


@st.composite
def tangles(draw: st.DrawFn) -> Graph:
    """Joins and splits over few tensors, in any combination."""
    bench = Bench(draw(st.integers(1, 3)))
    tensors = [bench.x, bench.op("a0", bench.x)]
    for at in range(draw(st.integers(2, 6))):
        one = draw(st.sampled_from(tensors))
        rows = (one.desc.shape or (1,))[0]
        kind = draw(st.sampled_from(["join", "join", "cut", "op", "mix"]))
        if kind == "join" and rows < 24:
            others = draw(st.lists(st.sampled_from(tensors), min_size=1, max_size=3))
            tensors.append(bench.join(f"join{at}", one, *others))
        elif kind == "cut" and rows > 1:
            first = draw(st.integers(1, rows - 1))
            tensors += bench.cut(f"cut{at}", one, first, rows - first)
        elif kind == "op":
            tensors.append(bench.op(f"op{at}", one))
        else:
            tensors.append(bench.mix(f"mix{at}", one, rows=draw(st.integers(1, 3))))
    unread = [one for one in tensors if not one.readers]
    bench.b.net_output(*unread)
    return bench.b.graph


def components(graph: Graph) -> list[Component]:
    """What there is to choose in a graph."""
    setting = Setting(Memory(OPS), OPS, GENERIC, blocks_of(GENERIC), beyond=True)
    gathering = Gathering(setting, Turns(Order(graph, OPS), OPS, lambda: ReuseRule(graph, OPS)))
    gathering.run(rules_of([node for node in graph.nodes if node.op in JUDGES], setting))
    return gathering.components


def best(component: Component) -> tuple[int, int]:
    """The least cost over all sets of bonds, tried one by one."""
    free = [bond for bond in component.bonds if bond.banned is None and not bond.required]
    costs = []
    for kept in product((True, False), repeat=len(free)):
        honoured = [bond.required for bond in component.bonds]
        for bond, keep in zip(free, kept, strict=True):
            honoured[bond.number] = keep
        if not Layout(component, honoured).conflicts():
            costs.append(component.cost(honoured))
    return min(costs)


@given(tangles())
@settings(max_examples=150, deadline=None)
def test_the_search_finds_what_trying_all_choices_finds(graph: Graph) -> None:
    """Bytes and number of copies, on every component of up to eleven bonds."""
    for component in components(graph):
        if len(component.bonds) <= 11:
            found = choose(component)
            assert found.optimal
            assert best(component) == found.cost


@given(tangles())
@settings(max_examples=60, deadline=None)
def test_without_a_budget_the_bound_is_true(graph: Graph) -> None:
    """A search that is cut short gives a choice that can be had, and tells what it may miss."""
    for component in components(graph):
        if len(component.bonds) <= 11:
            found = choose(component, 0)
            assert not Layout(component, found.honoured).conflicts()
            assert found.bound <= best(component)[0] <= found.cost[0]


@given(tangles())
@settings(max_examples=80, deadline=None)
def test_what_is_chosen_computes_the_same(graph: Graph) -> None:
    """Proof and poisoned execution agree, and no more is copied than before."""
    result = compiled(graph)
    assert result.after.total.bytes <= result.before.total.bytes


@given(tangles())
@settings(max_examples=40, deadline=None)
def test_two_compiles_of_a_graph_choose_alike(graph: Graph) -> None:
    """Nothing hangs on what was compiled before."""
    assert compiled(graph).plan.to_json() == compiled(graph).plan.to_json()
