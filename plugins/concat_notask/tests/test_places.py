"""Beyond GE's rules: which sets of joins and splits agree on where their tensors lie."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ge_concat_notask import ConcatNotaskPass, is_marked
from ge_concat_notask.marks import CONCAT_CLAIM, mark_join
from ge_concat_notask.memory import Memory
from ge_concat_notask.places import Places
from ge_core.api import (
    Graph,
    GraphBuilder,
    Node,
    OpRegistry,
    OutputAnchor,
    TensorDesc,
    register_builtin_ops,
)
from ge_core.passes.remarks import Remarks

Run = Callable[..., Remarks]


class Bench:
    """Builds graphs of byte tensors; every `keep` gets a reader of its own."""

    def __init__(self) -> None:
        self.b = GraphBuilder()
        self.x = self.b.data("x", (16,), "int8")

    def own(self, name: str, size: int = 16) -> OutputAnchor:
        """A tensor with a producer."""
        return self.b.op("Relu", self.x, name=name, outputs=[TensorDesc.make("int8", (size,))])

    def join(self, name: str, *parts: OutputAnchor) -> OutputAnchor:
        """A Concat."""
        out = TensorDesc.make("int8", (sum(p.desc.elements or 0 for p in parts),))
        return self.b.op("ConcatD", *parts, name=name, outputs=[out], attrs={"concat_dim": 0})

    def cut(self, name: str, whole: OutputAnchor, *sizes: int) -> list[OutputAnchor]:
        """A Split."""
        outputs = [TensorDesc.make("int8", (size,)) for size in sizes]
        node = self.b.node("SplitD", whole, name=name, outputs=outputs, attrs={"split_dim": 0})
        return node.outputs

    def keep(self, *tensors: OutputAnchor) -> Graph:
        """Give tensors ordinary readers, whose results are the graph's."""
        self.b.net_output(*(self.b.op("Relu", t, name=f"keep{i}") for i, t in enumerate(tensors)))
        return self.b.graph


def joins_in_joins() -> Graph:
    """A concat of concats, one of them through a view."""
    bench = Bench()
    a, b, c, d = (bench.own(name) for name in "abcd")
    left = bench.join("left", a, b)
    right = bench.b.op("Reshape", bench.join("right", c, d), name="view")
    return bench.keep(left, bench.join("all", left, right))


def growing_lists() -> Graph:
    """Each concat begins like the one before, as DenseNets do."""
    bench = Bench()
    parts = [bench.own("a"), bench.own("b")]
    made = []
    for at in range(4):
        made.append(bench.join(f"grown{at}", *parts))
        parts.append(bench.b.op("Relu", made[-1], name=f"c{at}", outputs=[parts[0].desc]))
    return bench.keep(*made)


def parts_rejoined() -> Graph:
    """Parts of a split, joined in order with something behind."""
    bench = Bench()
    left, right = bench.cut("cut", bench.own("a"), 8, 8)
    return bench.keep(bench.join("all", left, right, bench.own("b")))


def split_of_a_join() -> Graph:
    """A concat that is cut again, elsewhere."""
    bench = Bench()
    whole = bench.join("all", bench.own("a"), bench.own("b"))
    return bench.keep(*bench.cut("cut", whole, 8, 24))


def split_of_a_split() -> Graph:
    """A part that is cut again."""
    bench = Bench()
    left, right = bench.cut("cut", bench.own("a", 32), 16, 16)
    return bench.keep(left, *bench.cut("again", right, 8, 8))


def packed_in_a_concat() -> Graph:
    """A Pack, which is judged after the Concat that holds it."""
    bench = Bench()
    desc = TensorDesc.make("int8", (2, 16))
    packed = bench.b.op("Pack", bench.own("a"), bench.own("b"), name="pack", outputs=[desc])
    flat = bench.b.op("Reshape", packed, name="flat", shape=(32,))
    return bench.keep(bench.join("all", flat, bench.own("c")))


@pytest.mark.parametrize(
    ("make", "at_o3"),
    [
        (joins_in_joins, ["left", "right"]),
        (growing_lists, ["grown0"]),
        (parts_rejoined, ["cut"]),
        (split_of_a_join, ["cut"]),
        (split_of_a_split, ["again"]),
        (packed_in_a_concat, ["all"]),
    ],
)
def test_everything_goes_beyond_ge_and_little_within(
    make: Callable[[], Graph], at_o3: list[str], run: Run, ascend: object, generic: object
) -> None:
    """At O3 GE's rules hold; at O4 all distances agree, so that nothing keeps its task."""
    found = []
    for level in ("O3", "O4"):
        graph = make()
        run(graph, target=generic, level=level)
        movers = graph.nodes_of("ConcatD", "Pack", "SplitD")
        found.append([node.name for node in movers if is_marked(node)])
    everything = [node.name for node in make().nodes_of("ConcatD", "Pack", "SplitD")]
    assert found == [at_o3, everything]


def reversed_list() -> Graph:
    """The second concat wants the same tensors the other way round."""
    bench = Bench()
    a, b = bench.own("a"), bench.own("b")
    return bench.keep(bench.join("first", a, b), bench.join("second", b, a))


def gap_in_the_list() -> Graph:
    """The second concat wants next to each other what lies apart."""
    bench = Bench()
    a, b, c = (bench.own(name) for name in "abc")
    return bench.keep(bench.join("first", a, b, c), bench.join("second", a, c))


def two_followers() -> Graph:
    """Two tensors want the same place behind a third."""
    bench = Bench()
    a, b, c = (bench.own(name) for name in "abc")
    return bench.keep(bench.join("first", a, b), bench.join("second", a, c))


def part_with_a_neighbour() -> Graph:
    """Behind a part of a split lies the next part, not what the concat wants there."""
    bench = Bench()
    left, right = bench.cut("first", bench.own("a"), 8, 8)
    return bench.keep(right, bench.join("second", left, bench.own("b")))


def twice_the_same_bytes() -> Graph:
    """A concat of a concat and its own first operand."""
    bench = Bench()
    a = bench.own("a")
    first = bench.join("first", a, bench.own("b"))
    return bench.keep(first, bench.join("second", first, a))


@pytest.mark.parametrize(
    "make",
    [reversed_list, gap_in_the_list, two_followers, part_with_a_neighbour, twice_the_same_bytes],
)
def test_distances_that_contradict_each_other(
    make: Callable[[], Graph], run: Run, generic: object
) -> None:
    """The first one goes; the second one would put a tensor at two places, or two at one."""
    graph = make()
    final = run(graph, target=generic, level="O4").final("second")
    assert final is not None and final.code == "PLACES_CLASH"
    assert is_marked(graph.node("first")) and not is_marked(graph.node("second"))


def test_two_results_never_come_to_share_bytes(run: Run, generic: object) -> None:
    """A concat inside a concat stays a copy where both are results of the graph."""
    bench = Bench()
    inner = bench.join("inner", bench.own("a"), bench.own("b"))
    bench.b.net_output(inner, bench.join("outer", inner, bench.own("c")))
    final = run(bench.b.graph, target=generic, level="O4").final("outer")
    assert final is not None and final.code == "ALSO_GRAPH_OUTPUT"


def test_a_result_written_in_place_stays_a_copy(run: Run, generic: object) -> None:
    """Two concats of one tensor would share its bytes, so a result that changes is a copy."""
    bench = Bench()
    a = bench.own("a")
    first = bench.join("first", a)
    second = bench.join("second", a)
    desc = second.desc.replace(reuse_input=0)
    changed = bench.b.op(
        "ScatterUpdate", second, name="update", outputs=[desc], attrs={"reference": True}
    )
    graph = bench.keep(changed, first)
    codes = {r.node: r.code for r in run(graph, target=generic, level="O4").finals()}
    assert codes == {"first": "NO_TASK", "second": "RESULT_OVERWRITTEN"}


def test_foreign_claims_are_respected(run: Run, generic: object) -> None:
    """A claim that no marked join of the graph accounts for keeps the operand."""
    bench = Bench()
    a = bench.own("a")
    bench.b.graph.set_desc(a, a.desc.with_attr(CONCAT_CLAIM, False))
    final = run(bench.keep(bench.join("j", a)), target=generic, level="O4").final("j")
    assert final is not None and final.code == "CLAIMED"


def test_the_option_decides_before_the_level() -> None:
    """`beyond_ge` switches the extra rules on below O4, and off at it."""
    asked = [ConcatNotaskPass(beyond_ge=value).goes_beyond() for value in (None, True, False)]
    assert asked == [None, True, False]


# ---- geometry against brute force ---------------------------------------------------------------


def naive(joins: list[list[int]], sizes: list[int]) -> list[bool]:
    """Which of these joins agree with those accepted before, by trying all distances."""
    accepted: list[list[int]] = []
    verdicts = []
    for join in joins:
        fits = _consistent([*accepted, join], sizes)
        verdicts.append(fits)
        if fits:
            accepted.append(join)
    return verdicts


def _consistent(joins: list[list[int]], sizes: list[int]) -> bool:
    at: dict[int, int] = {}
    left = list(joins)
    component: dict[int, int] = {}
    while left:
        start = next((j for j in left if any(i in at for i in j)), None)
        if start is None:
            start = left[0]
            component[start[0]] = len(component)
            at[start[0]] = 1_000_000 * len(component)
        left.remove(start)
        anchor = next(n for n, i in enumerate(start) if i in at)
        begin = at[start[anchor]] - sum(sizes[i] for i in start[:anchor])
        for i in start:
            if at.setdefault(i, begin) != begin:
                return False
            begin += sizes[i]
    spans = sorted((place, place + sizes[i]) for i, place in at.items())
    return all(one[1] <= two[0] for one, two in pairwise(spans))


@settings(max_examples=200)
@given(
    sizes=st.lists(st.integers(1, 4), min_size=3, max_size=6),
    data=st.data(),
)
def test_places_against_brute_force(sizes: list[int], data: st.DataObject) -> None:
    """Joins are accepted exactly if all distances so far agree and no two tensors overlap."""
    which = st.lists(st.integers(0, len(sizes) - 1), min_size=1, max_size=3)
    joins = data.draw(st.lists(which, min_size=1, max_size=6))
    bench = Bench()
    owners = [bench.own(f"o{at}", size) for at, size in enumerate(sizes)]
    nodes: list[Node] = [
        bench.join(f"j{at}", *(owners[i] for i in join)).node for at, join in enumerate(joins)
    ]
    ops = OpRegistry()
    register_builtin_ops(ops)
    places = Places(bench.b.graph, Memory(ops, through_joins=False))
    verdicts = []
    for node in nodes:
        fits = places.clash(node) is None
        verdicts.append(fits)
        if fits:
            places.settle(node)
            mark_join(bench.b.graph, node, CONCAT_CLAIM)
    assert verdicts == naive(joins, sizes)
