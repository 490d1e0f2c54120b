"""The proof is honest: a broken compile whose ops really read something else is never accepted.

Compiles of random graphs are broken in eight ways. Whether a break does harm is judged by running
the broken compile in the runtime's arena, in several orders that its streams and events allow, and
comparing everything that every op reads with the reference run of the original. Each harmful break
must be rejected by the proof; each unbroken compile must be accepted.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import pytest

from ge_core.errors import GeError
from ge_core.ir import Graph, Node, OutputAnchor, clone
from ge_core.memory import Plan, PlanTensor
from ge_core.ops import OpRegistry, scribbled_inputs, written_inputs
from ge_core.proof import verify_compile
from ge_core.session.front import compile as compile_graph
from ge_core.tasks import TaskList, generate_tasks
from ge_core.testing import GraphKnobs, random_graph
from ge_runtime.compare import compare, differing_reads
from ge_runtime.defaults import default_kernels
from ge_runtime.linear import execute_linearisation, random_linearisations
from ge_runtime.orders import can_happen
from ge_runtime.reference import run_reference
from ge_runtime.sources import make_feeds

KERNELS = default_kernels()
ORDERS = 6
"""Orders that one broken compile is run in."""


@dataclass
class Subject:
    """A compile, and what its original reads."""

    seed: int
    original: Graph
    graph: Graph
    plan: Plan
    tasks: TaskList
    ops: OpRegistry
    feeds: list[dict[str, Any]]
    references: list[Any]

    def __post_init__(self) -> None:
        # What a subgraph delivers is nobody's read: who reads it behind the call tells.
        self.boundaries = {
            node.name
            for node in self.original.all_nodes()
            if node.op == "NetOutput" and node.graph is not self.original
        }
        self.places: dict[str, list[PlanTensor]] = {}
        for tensor in self.plan.tensors:
            if tensor.bytes:
                self.places.setdefault(tensor.node, []).append(tensor)


@dataclass
class Mutant:
    """A broken compile."""

    what: str
    graph: Graph
    plan: Plan
    tasks: TaskList


Mutator = Callable[[Subject, random.Random], Mutant | None]


# ---- subjects -----------------------------------------------------------------------------------


def subject(seed: int, **facts: Any) -> Subject:
    """A random graph, compiled with everything on."""
    rng = random.Random(seed)
    knobs = GraphKnobs(
        **{
            "nodes": rng.choice((8, 14, 20)),
            "streams": rng.choice((1, 2, 3)),
            "moves": rng.choice((10, 30)),
            **facts,
        }
    )
    original = random_graph(seed, knobs)
    result = compile_graph(original, level=rng.choice(("O1", "O3", "O4")))
    assert result.kernel is not None
    ops = result.kernel.ops
    feeds = [make_feeds(original, ops, at) for at in range(2)]
    references = [
        run_reference(original, given, KERNELS, ops, record_reads=True) for given in feeds
    ]
    return Subject(seed, original, result.graph, result.plan, result.tasks, ops, feeds, references)


def is_harmful(broken: Mutant, of: Subject) -> bool:
    """Whether some op reads something else in some order, or an output or variable differs."""
    rng = random.Random(of.seed)
    found = random_linearisations(broken.tasks, rng, 3 * ORDERS)
    able = (order for order in found if can_happen(broken.graph, broken.tasks, order, of.ops))
    orders = list(islice(able, ORDERS))
    for feeds, reference in zip(of.feeds, of.references, strict=True):
        for order in orders:
            try:
                run = execute_linearisation(
                    broken.graph,
                    broken.plan,
                    broken.tasks,
                    order,
                    feeds,
                    ops=of.ops,
                    kernels=KERNELS,
                    record_reads=True,
                )
            except GeError:
                return True
            differing = differing_reads(reference.reads, run.reads or {})
            if any(name not in of.boundaries for _, name, _ in differing):
                return True
            pairs = (
                *compare(reference.outputs, run.outputs),
                *compare(reference.variables, run.variables),
            )
            if any(not pair.bit_exact for pair in pairs):
                return True
    return False


def is_accepted(broken: Mutant, of: Subject) -> bool:
    """Whether the proof finds nothing."""
    return verify_compile(
        of.original, broken.graph, broken.plan, broken.tasks, ops=of.ops, options=of.plan.options
    ).ok


# ---- breaking plans -----------------------------------------------------------------------------


def _replanned(of: Subject, what: str, places: Mapping[int, PlanTensor]) -> Mutant:
    """The compile with some tensors (by position in the plan) somewhere else."""
    tensors = [places.get(at, tensor) for at, tensor in enumerate(of.plan.tensors)]
    pools = dict(of.plan.pools)
    for tensor in tensors:
        totals = pools[tensor.pool]
        pools[tensor.pool] = replace(totals, bytes=max(totals.bytes, tensor.end))
    plan = replace(of.plan, tensors=tensors, pools=pools)
    return Mutant(what, of.graph, plan, generate_tasks(of.graph, of.ops, plan))


def _moved(of: Subject, tensor: PlanTensor, offset: int) -> dict[int, PlanTensor]:
    """A tensor and what shares its memory, at another offset."""
    by_name = {other.name: other for other in of.plan.tensors}

    def head(one: PlanTensor) -> str:
        while one.alias_of is not None and one.alias_of in by_name:
            one = by_name[one.alias_of]
        return one.name

    root = head(tensor)
    by = offset - tensor.offset
    return {
        at: replace(other, offset=other.offset + by, run=None)
        for at, other in enumerate(of.plan.tensors)
        if other.pool == tensor.pool and head(other) == root and other.offset + by >= 0
    }


def _planned(of: Subject) -> list[PlanTensor]:
    return [tensor for tensor in of.plan.tensors if tensor.pool == "HBM" and tensor.bytes]


def shift_an_offset(of: Subject, rng: random.Random) -> Mutant | None:
    """A tensor lies a little beside its place, or on another tensor's."""
    every = _planned(of)
    tensor = rng.choice(every)
    if rng.random() < 0.5:
        offset = rng.choice(every).offset
    else:
        offset = tensor.offset + rng.choice((-64, -8, 8, 64))
    if offset < 0 or offset == tensor.offset:
        return None
    return _replanned(of, f"{tensor.name} at {offset}", _moved(of, tensor, offset))


def merge_two_outputs(of: Subject, rng: random.Random) -> Mutant | None:
    """Two outputs of one op lie in one place."""
    by_node: dict[tuple[tuple[str, ...], str], list[PlanTensor]] = {}
    for tensor in _planned(of):
        by_node.setdefault((tensor.call, tensor.node), []).append(tensor)
    several = [outputs for outputs in by_node.values() if len(outputs) > 1]
    if not several:
        return None
    one, other = rng.sample(rng.choice(several), 2)
    if one.offset == other.offset:
        return None
    return _replanned(of, f"{one.name} on {other.name}", _moved(of, one, other.offset))


def put_an_output_on_its_input(of: Subject, rng: random.Random) -> Mutant | None:
    """An op writes where it reads."""
    able: list[tuple[PlanTensor, PlanTensor]] = []
    for tensor in _planned(of):
        node = of.graph.node(tensor.node)
        for anchor in node.inputs:
            if anchor.source is not None and not node.subgraphs:
                source = of.plan.at(tensor.call, anchor.source.node.name, anchor.source.index)
                if source is not None and source.pool == tensor.pool and source.bytes:
                    able.append((tensor, source))
    if not able:
        return None
    tensor, source = rng.choice(able)
    if tensor.offset == source.offset:
        return None
    return _replanned(of, f"{tensor.name} on {source.name}", _moved(of, tensor, source.offset))


# ---- breaking graphs and task lists -------------------------------------------------------------


def _changed(of: Subject, what: str, graph: Graph, plan: Plan | None = None) -> Mutant:
    plan = of.plan if plan is None else plan
    return Mutant(what, graph, plan, generate_tasks(graph, of.ops, plan))


def drop_an_order(of: Subject, rng: random.Random) -> Mutant | None:
    """An event, or a control edge, is gone."""
    events = sorted({task.event for task in of.tasks.tasks if task.event is not None})
    edges = [
        (before, after.name) for after in of.graph.all_nodes() for before in after.control_inputs
    ]
    if events and (not edges or rng.random() < 0.7):
        number = rng.choice(events)
        kept = [task for task in of.tasks.tasks if task.event != number]
        tasks = TaskList([replace(task, id=at) for at, task in enumerate(kept)])
        return Mutant(f"without event {number}", of.graph, of.plan, tasks)
    if not edges:
        return None
    before, after = rng.choice(edges)
    graph = clone(of.graph)
    inner = graph.node(after).graph
    assert inner is not None
    inner.remove_control(graph.node(before.name), graph.node(after))
    return _changed(of, f"without {before.name} -> {after}", graph)


def delete_a_move(of: Subject, rng: random.Random) -> Mutant | None:
    """A copy is gone; its readers read what it copied."""
    moves = [
        node.name
        for node in of.graph.all_nodes()
        if of.ops.kind(node) == "move" and node.inputs[0].source is not None
    ]
    if not moves:
        return None
    guards = [name for name in moves if _guards(of, of.graph.node(name))]
    name = rng.choice(guards if guards and rng.random() < 0.8 else moves)
    graph = clone(of.graph)
    inner = graph.node(name).graph
    assert inner is not None
    inner.bypass(graph.node(name))
    tensors = [tensor for tensor in of.plan.tensors if tensor.node != name]
    renamed = [
        replace(t, alias_of=None) if (t.alias_of or "").endswith(f"{name}:0") else t
        for t in tensors
    ]
    return _changed(of, f"without {name}", graph, replace(of.plan, tensors=renamed))


def _guards(of: Subject, move: Node) -> bool:
    """Whether a copy stands between its source and somebody who writes."""
    assert move.inputs[0].source is not None
    beside = move.inputs[0].source.readers
    return any(
        written_inputs(anchor.node, of.ops) or scribbled_inputs(anchor.node, of.ops)
        for anchor in (*move.outputs[0].readers, *beside)
    )


def swap_two_pieces(of: Subject, rng: random.Random) -> Mutant | None:
    """Two operands of a join, or two pieces of a split, change places."""
    joins = [
        node.name
        for node in of.graph.all_nodes()
        if of.ops.kind(node) in ("join", "pack") and len(node.inputs) > 1
    ]
    if not joins:
        return None
    name = rng.choice(joins)
    graph = clone(of.graph)
    node = graph.node(name)
    first, second = sorted(rng.sample(range(len(node.inputs)), 2))
    one, other = node.inputs[first].source, node.inputs[second].source
    inner = node.graph
    if one is None or other is None or one is other or inner is None:
        return None
    if one.desc.shape != other.desc.shape:
        return None
    inner.rewire(node.inputs[first], other)
    inner.rewire(node.inputs[second], one)
    return _changed(of, f"{name} with {first} and {second} swapped", graph)


def widen_a_life(of: Subject, rng: random.Random) -> Mutant | None:
    """A reader, and what waits for it, run behind a node that takes the bytes it reads."""
    graph = clone(of.graph)
    able = [
        (node, later)
        for part in graph.all_graphs()
        for node in part.nodes
        if of.ops.kind(node) not in _STAYING
        for later in _takers(of, node)
    ]
    if not able:
        return None
    node, taker = rng.choice(able)
    part = node.graph
    assert part is not None
    late = _descendants(node)
    if taker in late:
        return None
    nodes = list(part.nodes)
    end = nodes.index(taker)
    moving = [other for at, other in enumerate(nodes) if at < end and other in late]
    order = [other for other in nodes if other not in moving]
    at = order.index(taker) + 1
    part.reorder([*order[:at], *moving, *order[at:]])
    return _changed(of, f"{node.name} behind {taker.name}", graph)


_STAYING = frozenset({"data", "constant", "variable", "net_output"})


def _takers(of: Subject, node: Node) -> Iterator[Node]:
    """Later nodes of the same graph that write over what the node reads."""
    read = [
        tensor
        for anchor in node.inputs
        if anchor.source is not None
        for tensor in of.places.get(anchor.source.node.name, ())
        if tensor.output == anchor.source.index
    ]
    later = node
    while later._next is not None:
        later = later._next
        if any(_overlap(t, r) for t in of.places.get(later.name, ()) for r in read):
            yield later


def _overlap(one: PlanTensor, other: PlanTensor) -> bool:
    return one.pool == other.pool and max(one.offset, other.offset) < min(one.end, other.end)


def _descendants(node: Node) -> dict[Node, None]:
    """The node and everything of its graph that waits for it."""
    found = {node: None}
    waiting = [node]
    while waiting:
        one = waiting.pop()
        for other in (*one.out_nodes, *one.control_outputs):
            if other not in found:
                found[other] = None
                waiting.append(other)
    return found


def feed_from_elsewhere(of: Subject, rng: random.Random) -> Mutant | None:
    """An op reads another tensor of the same kind: a wrong rewrite, not a wrong plan."""
    graph = clone(of.graph)
    part = rng.choice(graph.all_graphs())
    nodes = list(part.nodes)
    able = [
        (anchor, output)
        for at, node in enumerate(nodes)
        for anchor in node.inputs
        for earlier in nodes[:at]
        for output in earlier.outputs
        if anchor.source is not None and _alike(output, anchor.source)
    ]
    if not able:
        return None
    anchor, output = rng.choice(able)
    part.rewire(anchor, output)
    return _changed(of, f"{anchor!r} fed by {output!r}", graph)


def _alike(one: OutputAnchor, other: OutputAnchor) -> bool:
    a, b = one.desc, other.desc
    return one is not other and (a.shape, a.dtype, a.format) == (b.shape, b.dtype, b.format)


MUTATORS: dict[str, Mutator] = {
    "shift an offset": shift_an_offset,
    "drop an order": drop_an_order,
    "delete a move": delete_a_move,
    "swap two pieces": swap_two_pieces,
    "merge two outputs": merge_two_outputs,
    "output on its input": put_an_output_on_its_input,
    "widen a life": widen_a_life,
    "feed from elsewhere": feed_from_elsewhere,
}


# ---- the campaign -------------------------------------------------------------------------------


def mutants(kind: str, seeds: range, per_subject: int) -> Iterator[tuple[Subject, Mutant]]:
    """Broken compiles of one kind."""
    facts: dict[str, Any] = {"streams": 3} if kind == "drop an order" else {}
    for seed in seeds:
        of = subject(seed, **facts)
        rng = random.Random(seed)
        for _ in range(per_subject):
            broken = MUTATORS[kind](of, rng)
            if broken is not None:
                yield of, broken


def campaign(kind: str, wanted: int, seeds: range, per_subject: int) -> int:
    """Break compiles until enough of the breaks did harm; each harmful one must be rejected."""
    harmful = 0
    for of, broken in mutants(kind, seeds, per_subject):
        accepted = is_accepted(broken, of)
        # Running is the dear part: a break that the proof rejects counts once it is known to harm,
        # one that it accepts must be known not to.
        if not is_harmful(broken, of):
            continue
        assert not accepted, f"seed {of.seed}: {broken.what} was accepted"
        harmful += 1
        if harmful == wanted:
            break
    return harmful


@pytest.mark.parametrize("kind", sorted(MUTATORS))
def test_a_sample_of_harmful_breaks_is_rejected(kind: str) -> None:
    """A few breaks of each kind, the same ones every time; some of them do harm."""
    assert campaign(kind, 3, range(1000, 1012), 4) > 0


@pytest.mark.soak
@pytest.mark.parametrize("kind", sorted(MUTATORS))
def test_two_hundred_harmful_breaks_of_each_kind_are_rejected(kind: str) -> None:
    """At least 200 breaks of each kind that change what some op reads."""
    assert campaign(kind, 200, range(2000, 6000), 4) == 200


def test_unbroken_compiles_are_accepted() -> None:
    """What the passes and the planner make of a random graph is right, and the proof says so."""
    for seed in range(1000, 1005):
        of = subject(seed)
        assert is_accepted(Mutant("nothing", of.graph, of.plan, of.tasks), of), seed


@pytest.mark.soak
def test_hundreds_of_unbroken_compiles_are_accepted() -> None:
    """As above, at length; and they really read what their originals read."""
    for seed in range(2000, 2400):
        of = subject(seed)
        whole = Mutant("nothing", of.graph, of.plan, of.tasks)
        assert is_accepted(whole, of), seed
        assert not is_harmful(whole, of), seed
