"""A campaign over random graphs with everything in them: what one graph must hold, at one level."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final

import ge_core as ge
from ge_core.analysis import Order
from ge_core.errors import GeError
from ge_core.ir import Graph, Node, verify
from ge_core.ops import OpRegistry, is_no_task, ref_of, written_inputs
from ge_core.session.result import Result
from ge_core.testing import RARE, GraphKnobs, random_graph
from ge_memconflict.companions.lint import Linter
from ge_runtime.compare import compare
from ge_runtime.executor import NumpyExecutor
from ge_runtime.linear import execute_linearisation, random_linearisations
from ge_runtime.orders import can_happen
from ge_runtime.result import RunResult

LEVELS: Final = ("O3", "O4")
ORDERS: Final = 2
"""Orders in which a graph of several streams is run."""
_PAIRS: Final = "ge.exec.outputReuseInputMemIndexes"
_INPUTS: Final = "ge.exec.inputReuseMemIndexes"


def knobs(seed: int, **facts: Any) -> GraphKnobs:
    """Small and large graphs, on one or two streams, each with about half of the rare things."""
    rng = random.Random(f"knobs {seed}")
    chosen: dict[str, Any] = {
        "nodes": rng.choice((3, 5, 8, 12, 18)),
        "streams": 1 + (seed % 3 == 2),
        "moves": rng.choice((10, 25, 45)),
        "dtypes": ("float32", "float16", "int8") if seed % 5 else ("float32", "int4", "bfloat16"),
        "joins": seed % 2 == 0,
        "control_flow": seed % 7 != 0,
        "rare": tuple(name for name in RARE if rng.random() < 0.6) or ("order",),
    }
    return GraphKnobs(**{**chosen, **facts})


def options(seed: int, graph: Graph) -> dict[str, str]:
    """What the caller lends; mostly nothing."""
    rng = random.Random(f"options {seed}")
    given = sum(node.op in ("Data", "RefData") for node in graph.nodes)
    found = {}
    if rng.random() < 0.3:
        found[_INPUTS] = ",".join(str(at) for at in range(given) if rng.random() < 0.6)
    if rng.random() < 0.2:
        out = graph.net_output
        last = 0 if out is None else len(out.inputs) - 1
        found[_PAIRS] = f"{rng.randrange(given)},{rng.randint(0, last)}"
    return {name: text for name, text in found.items() if text}


def problem(seed: int, level: str) -> str | None:
    """What is wrong with the compile of one random graph, in a line; None for nothing."""
    graph = random_graph(seed, knobs(seed))
    return problem_of(graph, level, seed)


def problem_of(graph: Graph, level: str, seed: int) -> str | None:
    """The same of a graph; the seed gives options, inputs and orders."""
    about = f"seed {seed} at {level}"
    try:
        result = ge.compile(
            graph,
            level=level,
            options=options(seed, graph),
            assigner="fast",
            verify_each=True,
            audit=True,
        )
    except GeError as error:
        return f"{about}: {error}"
    found = _of_proof(result) or _of_structure(result) or _of_remarks(result)
    found = found or next(_of_runs(result, seed), None)
    return None if found is None else f"{about}: {found}"


def unordered(seed: int) -> str | None:
    """Whether removing copies alone leaves a store and a reader that nothing orders any more."""
    graph = random_graph(seed, knobs(seed))
    lent = options(seed, graph)
    result = ge.compile(
        graph, pipeline="TensorMoveDeletePass", options=lent, assigner="fast", prove=False
    )
    found = _of_orders(result)
    return None if found is None else f"seed {seed}: {found}"


def _of_proof(result: Result) -> str | None:
    assert result.proof is not None
    return None if result.proof.ok else str(result.proof.violations[0])


def _of_structure(result: Result) -> str | None:
    verify(result.graph)
    return None


def _of_remarks(result: Result) -> str | None:
    """Every copy that was there, or is there now, has its last word."""
    assert result.kernel is not None
    ops = result.kernel.ops
    for graph in (result.original, result.graph):
        for node in graph.all_nodes():
            if ops.kind(node) != "move" or is_no_task(node):
                continue
            final = result.remarks.final(node.name)
            if final is None:
                return f"nothing is said of {node.op} {node.name}"
            stays = result.graph.find(node.name) is not None
            if stays == (final.kind == "applied"):
                return f"{final.code} is said of {node.op} {node.name}, which {_state(stays)}"
    return None


def _of_orders(result: Result) -> str | None:
    """A removal leaves no reader and writer of one value without an order that had one."""
    assert result.kernel is not None
    before, after = (
        _unordered(graph, result.kernel.ops) for graph in (result.original, result.graph)
    )
    known = {nodes for _, nodes in before}
    found = [text for text, nodes in after if nodes not in known]
    return found[0] if found else None


def _unordered(graph: Graph, ops: OpRegistry) -> Iterator[tuple[str, frozenset[str]]]:
    for found in Linter(ops, Order(graph, ops)).findings(graph.root):
        nodes = (found.writer.node, found.other.node)
        # Who only gives the value another name has no moment at which it reads.
        if not any(_only_names(node, ops) for node in nodes):
            text = f"nothing orders {found.writer} and {found.other}, which share {found.value}"
            yield text, frozenset(node.name for node in nodes)


def _only_names(node: Node, ops: OpRegistry) -> bool:
    views = all(ref_of(output, ops) is not None for output in node.outputs)
    return is_no_task(node) or (views and not written_inputs(node, ops))


def _state(stays: bool) -> str:
    return "stays" if stays else "is gone"


def _of_runs(result: Result, seed: int) -> Iterator[str]:
    """What differs when the tasks are run in their arena, in several orders."""
    assert result.kernel is not None
    ops, kernels = result.kernel.ops, result.kernel.registries.kernels
    runner = NumpyExecutor(ops, kernels, hostile=True)
    feeds = runner.make_feeds(result.original, seed)
    reference = runner.reference(result.original, feeds)
    yield from _differing(reference, runner.run(result.graph, result.plan, result.tasks, feeds))
    if len({task.stream for task in result.tasks.tasks}) < 2:
        return
    orders = random_linearisations(result.tasks, random.Random(seed), 3 * ORDERS)
    able = (order for order in orders if can_happen(result.graph, result.tasks, order, ops))
    for order in islice(able, ORDERS):
        ran = execute_linearisation(
            result.graph, result.plan, result.tasks, order, feeds, ops=ops, kernels=kernels
        )
        for text in _differing(reference, ran):
            yield f"{text}, run in the order {order}"


def _differing(reference: RunResult, ran: RunResult) -> Iterator[str]:
    pairs: tuple[tuple[str, Mapping[str, Any], Mapping[str, Any]], ...] = (
        ("output", reference.outputs, ran.outputs),
        ("variable", reference.variables, ran.variables),
    )
    for what, one, other in pairs:
        for compared in compare(one, other):
            if not compared.bit_exact:
                yield f"{what} {compared.name} differs"
