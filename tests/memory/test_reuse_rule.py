"""The rule of reuse as passes ask it, before anything is marked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from ge_core.ir import Graph, GraphBuilder, OutputAnchor, TensorDesc
from ge_core.memory import Bytes, ReuseRule, build_problem
from ge_core.memory.overlaps import Overlaps
from ge_core.ops import OpRegistry, OpTraits, register_builtin_ops
from ge_core.targets import GENERIC

HALF = 64
"""Bytes of each piece."""
PIECE = TensorDesc.make("float32", (16,))


class Declared(OpRegistry):
    """GE's own ops, and one that works in place."""

    def of(self, op: str, source: str) -> OpTraits:
        """The traits of an op type."""
        if op in ("Relu", "Add"):
            pairs = ((0, 0), (0, 1)) if op == "Add" else ((0, 0),)
            return OpTraits(op, inplace=pairs)
        return super().of(op, source)


@pytest.fixture(scope="module")
def rules() -> OpRegistry:
    """The ops of these tests."""
    ops = Declared()
    register_builtin_ops(ops)
    return ops


May = Callable[..., bool]


@pytest.fixture
def may(rules: OpRegistry) -> May:
    """Whether `y` may lie on the second half of `x`, of which a split makes `p`, join to `out`."""

    def ask(build: GraphBuilder | Graph, **options: Any) -> bool:
        graph = build.graph if isinstance(build, GraphBuilder) else build
        rule = ReuseRule(graph, rules, options.pop("options", None))
        old, new, without = scene(graph)
        answer = rule.may_reuse(old, new, without=without)
        assert answer == (not rule.against(old, new, without=without))
        return answer

    return ask


def scene(graph: Graph) -> tuple[Sequence[Bytes], Sequence[Bytes], list[Any]]:
    """The question about the graph's `split`, `y` and `join`."""
    found = {node.name: node for node in graph.all_nodes()}
    split, join = found["split"], found["join"]
    whole = split.inputs[0].source
    assert whole is not None
    old = [Bytes(whole, HALF, 2 * HALF), Bytes(split.outputs[1])]
    new = [Bytes(found["y"].outputs[0]), Bytes(join.outputs[0], HALF, 2 * HALF)]
    return old, new, [split, join]


def cut(build: GraphBuilder, whole: OutputAnchor, **facts: Any) -> list[OutputAnchor]:
    """Two halves."""
    return list(build.node("SplitD", whole, name="split", outputs=[PIECE] * 2, **facts).outputs)


def whole(build: GraphBuilder, **facts: Any) -> OutputAnchor:
    """What is cut."""
    return build.op("MatMul", build.data("in", (4, 8)), name="x", shape=(32,), **facts)


def joined(build: GraphBuilder, *parts: OutputAnchor, **facts: Any) -> OutputAnchor:
    """The join, read by somebody."""
    out = build.op("ConcatD", *parts, name="join", shape=(32,), **facts)
    return build.op("Foo", out, name="end")


def test_the_last_op_of_a_chain_may_write_over_the_piece_it_began_with(may: May) -> None:
    """The piece is read by the first op, and that comes before the last one."""
    build = GraphBuilder()
    p0, p1 = cut(build, whole(build))
    y = build.op("Conv", build.op("Conv", p1, name="mid"), name="y")
    build.net_output(joined(build, p0, y))
    assert may(build)


@pytest.mark.parametrize(("op", "able"), [("Relu", True), ("Conv", False)])
def test_one_op_needs_to_work_in_place(may: May, op: str, able: bool) -> None:
    """It reads the piece while it writes: only what goes element by element can."""
    build = GraphBuilder()
    p0, p1 = cut(build, whole(build))
    build.net_output(joined(build, p0, build.op(op, p1, name="y")))
    assert may(build) is able


@pytest.mark.parametrize("other", ["p0", "p1", "x"])
def test_in_place_no_other_input_may_have_the_bytes(may: May, other: str) -> None:
    """Read by another input, an element may be gone."""
    build = GraphBuilder()
    big = whole(build)
    p0, p1 = cut(build, big)
    second = {"p0": p0, "p1": p1, "x": big}[other]
    build.net_output(joined(build, p0, build.op("Add", p1, second, name="y", shape=(16,))))
    assert may(build) is (other == "p0")


@pytest.mark.parametrize("what", ["piece", "whole"])
@pytest.mark.parametrize("ordered", [False, True])
def test_a_later_reader_of_the_bytes_stands_against_it(
    may: May, rules: OpRegistry, what: str, ordered: bool
) -> None:
    """Whether by the piece's name or the whole's; a control edge makes it an earlier one."""
    build = GraphBuilder()
    big = whole(build)
    p0, p1 = cut(build, big)
    again = build.op("Foo", p1 if what == "piece" else big, name="again") if ordered else None
    mid = build.op("Conv", p1, name="mid")
    y = build.op("Conv", mid, name="y", control=[] if again is None else [again])
    if again is None:
        again = build.op("Foo", p1 if what == "piece" else big, name="again")
    build.net_output(joined(build, p0, y), again)
    assert may(build) is ordered
    if not ordered:
        old, new, without = scene(build.graph)
        found = ReuseRule(build.graph, rules).against(old, new, without=without)
        assert [(one.node.name, one.writes, one.writer.name) for one in found] == [
            ("again", False, "y")
        ]
        assert found[0].why == (
            "Foo again reads the old bytes, and not always before Conv y writes the new ones"
        )


def test_readers_of_the_other_piece_are_no_obstacle(may: May) -> None:
    """Their bytes stay what they are."""
    build = GraphBuilder()
    p0, p1 = cut(build, whole(build))
    y = build.op("Conv", build.op("Conv", p1, name="mid"), name="y")
    build.net_output(joined(build, p0, y), build.op("Foo", p0, name="again"))
    assert may(build)


@pytest.mark.parametrize("waits", [False, True])
def test_a_reader_on_another_stream_has_to_be_waited_for(may: May, waits: bool) -> None:
    """The listing says nothing between streams; an edge does."""
    build = GraphBuilder()
    p0, p1 = cut(build, whole(build, attrs={"stream_id": 0}), attrs={"stream_id": 0})
    aside = build.op("Foo", p1, name="aside", attrs={"stream_id": 1})
    mid = build.op("Conv", p1, name="mid", attrs={"stream_id": 0})
    control = [aside] if waits else []
    y = build.op("Conv", mid, name="y", control=control, attrs={"stream_id": 0})
    build.net_output(joined(build, p0, y, attrs={"stream_id": 0}), aside)
    assert may(build) is waits


def test_a_piece_that_is_a_result_keeps_its_bytes(may: May) -> None:
    """The caller reads it at the end."""
    build = GraphBuilder()
    p0, p1 = cut(build, whole(build))
    y = build.op("Conv", build.op("Conv", p1, name="mid"), name="y")
    build.net_output(joined(build, p0, y), p1)
    assert not may(build)


def test_the_join_may_be_a_result(may: May) -> None:
    """Its memory is the caller's from the start, and what lies there before is nobody's."""
    build = GraphBuilder()
    p0, p1 = cut(build, whole(build))
    y = build.op("Conv", build.op("Conv", p1, name="mid"), name="y")
    build.net_output(build.op("ConcatD", p0, y, name="join", shape=(32,)))
    assert may(build)


@pytest.mark.parametrize(
    ("source", "option", "able"),
    [
        ("data", {}, False),
        ("data", {"ge.exec.inputReuseMemIndexes": "0"}, True),
        ("Const", {}, False),
        ("Variable", {}, False),
        ("x", {"ge.exec.disableReuseMemory": "1"}, False),
        ("x", {"OP_NO_REUSE_MEM": "x"}, False),
        ("x", {"OP_NO_REUSE_MEM": "y"}, False),
    ],
)
def test_whose_the_bytes_are(may: May, source: str, option: dict[str, str], able: bool) -> None:
    """An input's must be lent; weights are never; reuse may be switched off, or for a node."""
    build = GraphBuilder()
    if source == "data":
        big = build.data("x", (32,))
    elif source == "x":
        big = whole(build)
    else:
        big = build.op(source, name="x", shape=(32,))
    p0, p1 = cut(build, big)
    y = build.op("Conv", build.op("Conv", p1, name="mid"), name="y")
    build.net_output(joined(build, p0, y))
    assert may(build, options=option) is able


def test_bytes_have_to_lie_in_their_output(rules: OpRegistry) -> None:
    """A pass that miscounts is told so."""
    build = GraphBuilder()
    big = whole(build)
    p0, p1 = cut(build, big)
    build.net_output(joined(build, p0, p1))
    with pytest.raises(ValueError, match="has no bytes 64 to 200: it has 128"):
        ReuseRule(build.graph, rules).may_reuse([Bytes(big, 64, 200)], [Bytes(p1)])


JOIN = {"_no_task": True, "_no_padding_continuous_input": True, "_output_reuse_input": True}
SPLIT = {"_no_task": True, "_no_padding_continuous_output": True, "_output_reuse_input": True}


def steps_of(blocks: int, ops: OpRegistry, monkeypatch: pytest.MonkeyPatch) -> int:
    """The work of judging a chain of blocks that all lie on one buffer."""
    build = GraphBuilder()
    out = whole(build)
    for block in range(blocks):
        cut_here = build.node("SplitD", out, name=f"s{block}", outputs=[PIECE] * 2, attrs=SPLIT)
        p0, p1 = cut_here.outputs
        y = build.op("Conv", build.op("Conv", p1, name=f"m{block}"), name=f"y{block}")
        out = build.op("ConcatD", p0, y, name=f"j{block}", shape=(32,), attrs=JOIN)
    build.op("Foo", out, name="end")
    made: list[Overlaps] = []
    check = Overlaps.check

    def watched(self: Overlaps, members: Sequence[int], low: int) -> None:
        made.append(self)
        check(self, members, low)

    with monkeypatch.context() as patch:
        patch.setattr(Overlaps, "check", watched)
        build_problem(build.graph, ops, GENERIC)
    return made[0].steps


def test_a_long_chain_of_owners_is_judged_in_linear_work(
    rules: OpRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each owner is compared with the next one only, by what reads it."""
    few, many = (steps_of(blocks, rules, monkeypatch) for blocks in (100, 400))
    assert 0 < few < many <= 4.2 * few
