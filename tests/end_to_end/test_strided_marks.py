"""Joins and splits along inner axes, marked by hand: plan, tasks, proof and execution agree."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from math import prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ge_core.analysis import Piece, compose, pieces_overlap
from ge_core.errors import LayoutConflict
from ge_core.ir import Graph, GraphBuilder, OutputAnchor, TensorDesc
from ge_core.memory import Plan, PlanTensor, Strided, build_problem, plan_from
from ge_core.ops import OpRegistry, register_builtin_ops
from ge_core.proof import ProofResult, verify_compile
from ge_core.targets import GENERIC, Target
from ge_core.tasks import Kernels, TaskList, generate_tasks
from ge_runtime.compare import bit_exact, differing_reads
from ge_runtime.executor import NumpyExecutor
from ge_runtime.kernels import register

Shape = tuple[int, ...]
NO_TASK = {"_no_task": True, "_output_reuse_input": True}
OPS = OpRegistry()
register_builtin_ops(OPS)
KERNELS = Kernels()
register(KERNELS)
STRIDED = replace(GENERIC, strided=True)


class Marked:
    """Builds graphs in which every join and split is marked."""

    def __init__(self, dtype: str = "float16", streams: int = 1) -> None:
        self.b = GraphBuilder("marked")
        self.dtype = dtype
        self.streams = streams
        self.count = 0
        self.x = self.b.data("x", (3,), dtype)

    def _name(self, kind: str) -> str:
        self.count += 1
        return f"{kind}{self.count}"

    def desc(self, *shape: int) -> TensorDesc:
        """A tensor of the graph's dtype."""
        return TensorDesc.make(self.dtype, shape)

    def op(self, *sources: OutputAnchor, shape: Shape) -> OutputAnchor:
        """A tensor that an op makes of others; ops take turns on the streams."""
        name = self._name("op")
        attrs = {"stream_id": self.count % self.streams}
        return self.b.op("Tan", *sources, name=name, outputs=[self.desc(*shape)], attrs=attrs)

    def join(self, axis: int, *parts: OutputAnchor) -> OutputAnchor:
        """A Concat without a task."""
        shapes = [part.desc.shape or () for part in parts]
        whole = list(shapes[0])
        whole[axis] = sum(shape[axis] for shape in shapes)
        attrs = {"concat_dim": axis, "N": len(parts), **NO_TASK}
        attrs |= {"_no_padding_continuous_input": True, "_reuse_input_on_dim_index": axis}
        name = self._name("join")
        return self.b.op("ConcatD", *parts, name=name, outputs=[self.desc(*whole)], attrs=attrs)

    def cut(self, axis: int, whole: OutputAnchor, *sizes: int) -> list[OutputAnchor]:
        """A Split without a task."""
        shape = list(whole.desc.shape or ())
        shapes = [[*shape[:axis], size, *shape[axis + 1 :]] for size in sizes]
        attrs = {"split_dim": axis, "size_splits": list(sizes), "num_split": len(sizes), **NO_TASK}
        attrs |= {"_no_padding_continuous_output": True, "_reuse_input_on_dim_index": axis}
        outputs = [self.desc(*one) for one in shapes]
        name = self._name("cut")
        return self.b.node("SplitVD", whole, name=name, outputs=outputs, attrs=attrs).outputs

    def end(self, *results: OutputAnchor) -> Graph:
        """Ops make the graph's results of these."""
        self.b.net_output(*(self.op(one, shape=one.desc.shape or ()) for one in results))
        return self.b.graph


@dataclass(frozen=True)
class Outcome:
    """A graph that no pass has looked at, planned."""

    graph: Graph
    plan: Plan
    tasks: TaskList

    def proof(self, target: Target = STRIDED) -> ProofResult:
        """What the proof says of it."""
        return verify_compile(self.graph, self.graph, self.plan, self.tasks, ops=OPS, target=target)

    def rows(self, name: str) -> tuple[int, int, int] | None:
        """Row, pitch and count of a tensor; None where it has no gaps."""
        found = self.plan.find(name).strided
        return None if found is None else (found.row, found.pitch, found.count)

    def changed(self, tensor: PlanTensor) -> Outcome:
        """The same with one place changed, in pools that have room for it."""
        tensors = [tensor if one.name == tensor.name else one for one in self.plan.tensors]
        pools = {
            pool: replace(totals, bytes=totals.bytes + 4096)
            for pool, totals in self.plan.pools.items()
        }
        plan = replace(self.plan, tensors=tensors, pools=pools)
        return Outcome(self.graph, plan, generate_tasks(self.graph, OPS, plan))


def planned(graph: Graph, target: Target = STRIDED) -> Outcome:
    """A graph planned as it stands, by first fit."""
    problem, facts = build_problem(graph, OPS, target)
    for cluster in problem.clusters:
        problem.place(cluster, problem.lowest_free(cluster))
    plan = plan_from(problem, problem.placement(), facts)
    return Outcome(graph, plan, generate_tasks(graph, OPS, plan))


def computes(outcome: Outcome) -> bool:
    """Whether it reads and gives in its arena, poisoned, what it does with memory for everyone."""
    executor = NumpyExecutor(OPS, KERNELS, hostile=True, record_reads=True)
    feeds = executor.make_feeds(outcome.graph, 1)
    plain = executor.reference(outcome.graph, feeds)
    found = executor.run(outcome.graph, outcome.plan, outcome.tasks, feeds)
    assert plain.reads is not None
    assert found.reads is not None
    return not differing_reads(plain.reads, found.reads) and all(
        bit_exact(plain.outputs[name], found.outputs[name]) for name in plain.outputs
    )


def checked(graph: Graph) -> Outcome:
    """Planned, proved, and run in the arena beside a plain run."""
    outcome = planned(graph)
    proof = outcome.proof()
    assert proof.ok, proof.violations[:1]
    assert computes(outcome)
    return outcome


# ---- scenes --------------------------------------------------------------------------------------


def test_a_join_in_a_join_keeps_one_pitch_where_both_are_along_one_axis() -> None:
    """Inner operands lie in the outer result with the outer one's pitch."""
    made = Marked()
    a, b, c = (made.op(made.x, shape=(4, n)) for n in (2, 3, 5))
    outer = made.join(1, made.join(1, a, b), c)
    result = checked(made.end(outer))
    assert [(4, 20, 4), (6, 20, 4), (10, 20, 4), (10, 20, 4)] == [
        result.rows(name) for name in ("op1:0", "op2:0", "join4:0", "op3:0")
    ]
    base = result.plan.find("join5:0").offset
    offsets = [result.plan.find(f"op{at}:0").offset - base for at in (1, 2, 3)]
    assert [0, 4, 10] == offsets


def test_rows_stacked_in_a_column_are_single_rows_between_others() -> None:
    """A join of whole rows lies in the columns of another: each operand has no gaps of its own."""
    made = Marked()
    stacked = made.join(0, *(made.op(made.x, shape=(1, 8)) for _ in range(4)))
    result = checked(made.end(made.join(1, made.op(made.x, shape=(4, 3)), stacked)))
    assert [None, None, (6, 22, 4), (16, 22, 4)] == [
        result.rows(name) for name in ("op1:0", "op4:0", "op6:0", "join5:0")
    ]
    at = [result.plan.find(f"op{number}:0").offset for number in (1, 2, 3, 4)]
    assert {22} == {b - a for a, b in pairwise(at)}
    assert not result.plan.explain("op6:0", "op2:0").shares
    assert result.plan.explain("join5:0", "op2:0").shares


def test_a_piece_cut_across_rows_of_rows_is_refused() -> None:
    """Columns of a tensor that lies in rows of several rows each would need two pitches."""
    made = Marked()
    inner = made.join(2, *(made.op(made.x, shape=(2, 4, 3)) for _ in range(2)))
    whole = made.join(1, inner, made.op(made.x, shape=(2, 4, 6)))
    with pytest.raises(LayoutConflict, match="bytes apart, so op1:0 can't be a piece of it"):
        checked(made.end(whole))


def test_a_split_and_a_join_of_its_pieces_are_one_buffer() -> None:
    """Pieces along an inner axis joined again in their order need no byte of their own."""
    made = Marked()
    whole = made.op(made.x, shape=(4, 6))
    result = checked(made.end(made.join(1, *made.cut(1, whole, 2, 4))))
    assert result.plan.find("join3:0").offset == result.plan.find("op1:0").offset
    assert (8, 12, 4) == result.rows("cut2:1")


def test_pieces_joined_in_another_order_are_refused() -> None:
    """They can't lie in two places."""
    made = Marked()
    first, second = made.cut(1, made.op(made.x, shape=(4, 6)), 2, 4)
    with pytest.raises(LayoutConflict):
        checked(made.end(made.join(1, second, first)))


def test_one_tensor_in_two_kinds_of_rows_is_refused() -> None:
    """Two joins of different width want one operand at two pitches."""
    made = Marked()
    both = made.op(made.x, shape=(4, 2))
    one = made.join(1, both, made.op(made.x, shape=(4, 2)))
    two = made.join(1, both, made.op(made.x, shape=(4, 4)))
    with pytest.raises(LayoutConflict, match="can't have rows 8 bytes apart and 12 bytes apart"):
        checked(made.end(one, two))


def test_a_view_of_another_size_is_refused_in_rows() -> None:
    """What says to be the memory of a piece in rows has its rows, all of them."""
    made = Marked()
    part = made.op(made.x, shape=(4, 2))
    view = made.b.op("Reshape", part, name="view", outputs=[made.desc(4)])
    whole = made.join(1, part, made.op(made.x, shape=(4, 2)))
    with pytest.raises(LayoutConflict, match="view:0 has 8 bytes, and its memory 4 rows of 4"):
        checked(made.end(whole, view))


@pytest.mark.parametrize("which", ["input", "output"])
def test_the_caller_knows_of_no_pitch(which: str) -> None:
    """A graph input or result in rows with gaps is no layout that the proof accepts."""
    made = Marked()
    given = made.b.data("y", (4, 2), made.dtype)
    part = given if which == "input" else made.op(made.x, shape=(4, 2))
    whole = made.op(made.join(1, part, made.op(made.x, shape=(4, 2))), shape=(2,))
    made.b.net_output(whole, *([part] if which == "output" else []))
    found = planned(made.b.graph).proof()
    assert "outside nobody knows of a pitch" in str(found.violations[0])


def test_a_target_without_a_pitch_is_asked_for_none() -> None:
    """The same marks on the generic target are a violation of the layout."""
    made = Marked()
    parts = [made.op(made.x, shape=(4, 2)) for _ in range(2)]
    found = planned(made.end(made.join(1, *parts)), GENERIC).proof(GENERIC)
    assert "the target writes no pitch" in str(found.violations[0])


# ---- random graphs -------------------------------------------------------------------------------


@st.composite
def nests(draw: st.DrawFn) -> Graph:
    """Joins of joins and splits of splits along any axes, and splits whose pieces are joined."""
    dtype = draw(st.sampled_from(["float16", "bool", "int64", "uint8"]))
    made = Marked(dtype, draw(st.integers(1, 3)))
    shapes = st.lists(st.integers(0, 4), min_size=2, max_size=3).map(tuple)

    def tensor(shape: Shape, depth: int) -> OutputAnchor:
        axis = draw(st.integers(0, len(shape) - 1))
        if not depth or shape[axis] < 2:
            return made.op(made.x, shape=shape)
        first = draw(st.integers(0, shape[axis]))
        sizes = [size for size in (first, shape[axis] - first) if size or draw(st.booleans())]
        parts = [[*shape[:axis], size, *shape[axis + 1 :]] for size in sizes]
        if len(parts) < 2:
            return made.op(made.x, shape=shape)
        return made.join(axis, *(tensor(tuple(part), depth - 1) for part in parts))

    def pieces(whole: OutputAnchor, depth: int) -> list[OutputAnchor]:
        shape = whole.desc.shape or ()
        axis = draw(st.integers(0, len(shape) - 1))
        if not depth or shape[axis] < 2:
            return [whole]
        first = draw(st.integers(1, shape[axis] - 1))
        cut = made.cut(axis, whole, first, shape[axis] - first)
        return [piece for one in cut for piece in pieces(one, depth - 1)]

    wholes = [tensor(draw(shapes), draw(st.integers(0, 3))) for _ in range(draw(st.integers(1, 2)))]
    results = [piece for one in wholes for piece in pieces(one, draw(st.integers(0, 2)))]
    return made.end(*results)


@given(nests())
@settings(max_examples=150, deadline=None)
def test_whatever_can_be_planned_is_proved_and_computes(graph: Graph) -> None:
    """Marks either contradict each other, or plan, proof and execution agree, with no copy."""
    try:
        result = checked(graph)
    except LayoutConflict:
        return
    ran = {task.node for task in result.tasks.tasks}
    assert not [name for name in ran if name.startswith(("join", "cut"))]
    _owners_are_apart(result)


def _owners_are_apart(result: Outcome) -> None:
    """Ops that write pieces of one join write bytes of their own, and make up the whole."""
    plan = result.plan
    for node in result.graph.nodes_of("ConcatD"):
        whole = plan.find(f"{node.name}:0")
        parts = [
            plan.find(f"{anchor.source.node.name}:{anchor.source.index}")
            for anchor in node.inputs
            if anchor.source is not None
        ]
        assert sum(part.bytes for part in parts) == whole.bytes
        for at, part in enumerate(parts):
            assert not any(pieces_overlap(part.rows, other.rows) for other in parts[:at])


@given(nests(), st.data())
@settings(max_examples=120, deadline=None)
def test_wrong_rows_are_rejected(graph: Graph, data: st.DataObject) -> None:
    """A plan with one pitch, row, count or offset changed is proved only if it still computes."""
    try:
        result = checked(graph)
    except LayoutConflict:
        return
    names = [t.name for t in result.plan.tensors if t.strided is not None]
    if not names:
        return
    name = data.draw(st.sampled_from(names))
    old = result.plan.find(name)
    assert old.strided is not None
    size = max(prod(result.graph.node(old.node).outputs[old.output].desc.shape or ()), 1)
    step = max(old.bytes // size, 1)
    row, pitch, count = old.strided.row, old.strided.pitch, old.strided.count
    changed = data.draw(
        st.sampled_from(
            [
                replace(old, strided=Strided(row, pitch + step, count)),
                replace(old, strided=Strided(row, max(pitch - step, 1), count)),
                replace(old, strided=Strided(row + step, pitch, count)),
                replace(old, strided=Strided(max(row - step, 1), pitch, count)),
                replace(old, strided=Strided(row, pitch, count - 1)),
                replace(old, strided=None),
                replace(old, offset=old.offset + step),
            ]
        )
    )
    broken = result.changed(changed)
    assert not broken.proof().ok or computes(broken)


def test_pieces_of_pieces_agree_with_the_plan() -> None:
    """The public algebra tells what the planner does."""
    made = Marked()
    outer = made.join(1, made.join(1, *(made.op(made.x, shape=(4, n)) for n in (2, 3))))
    del outer
    one = Piece(0, 10, 20, 4)
    assert Piece(4, 6, 20, 4) == compose(one, Piece(4, 6, 10, 4))


@pytest.mark.parametrize("late", [True, False])
def test_owners_in_rows_clash_where_they_share_a_byte_and_nowhere_else(late: bool) -> None:
    """Two operands at one place are refused, also with owners of other rows born between them."""
    made = Marked()
    a, b, c = (made.op(made.x, shape=(4, 2)) for _ in range(3))
    one = made.join(1, a, b)
    # The same whole: its operands lie where those of the first join do.
    first, second = made.cut(1, one, 2, 2)
    two = made.join(1, c if late else first, second)
    if late:
        with pytest.raises(LayoutConflict, match="needed at the same time"):
            checked(made.end(two, one))
    else:
        checked(made.end(two, one))
