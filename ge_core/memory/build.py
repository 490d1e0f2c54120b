"""`build_problem`: from the final graph to a `MemoryProblem` and the facts to write a plan with.

The rule of reuse: bytes of A may be given to B only if every access to A's bytes, under any name,
reaches every writer of B's bytes. What reaches what: data and control edges between nodes that
run, the next node on the same stream, into and out of subgraphs. Where GE's own relation is more
generous we differ: a conditional reads its predicate itself; loop slots and what a body reads stay
until the loop ends; an arm that may not run orders nothing behind it; task-free nodes only hand on
what they wait for; graph outputs are in use from the start unless offered.
"""

from __future__ import annotations

from collections.abc import Mapping

from ge_core.ir import Graph, collector_paused
from ge_core.memory.access import Accesses
from ge_core.memory.clocks import Worlds, stream_table
from ge_core.memory.clusters import ClusterBuilder
from ge_core.memory.coalesce import Coalescer
from ge_core.memory.constraints import Constraints
from ge_core.memory.expand import EXPANSION_LIMIT, Expansion
from ge_core.memory.facts import PlanFacts
from ge_core.memory.inplace import InPlace
from ge_core.memory.joining import JoinChecks
from ge_core.memory.lives import Lives
from ge_core.memory.options import PlanOptions
from ge_core.memory.precedence import Precedence
from ge_core.memory.problem import MemoryProblem
from ge_core.ops import OpRegistry
from ge_core.targets import Target


def build_problem(
    graph: Graph,
    ops: OpRegistry,
    target: Target,
    options: Mapping[str, object] | PlanOptions | None = None,
    *,
    limit: int = EXPANSION_LIMIT,
    layout: JoinChecks | None = None,
) -> tuple[MemoryProblem, PlanFacts]:
    """The clusters to place, and what is known of the tensors in them.

    Args:
        graph: the root, after all passes, with its marks.
        ops: traits of its ops.
        target: alignment and capacities.
        options: option texts by name (`ge.exec.disableReuseMemory`, ...), or read already.
        limit: node instances that calls may expand to.
        layout: plugins' rules, asked before a value gets the place of another one.

    Raises:
        LayoutConflict: demands on the layout contradict each other; names the chain.
        PlanError: pieces of a run lie in different pools, a weight would have to move, or a
            cleared output is its own input.
        GraphError: a mark or a scratch size is malformed.
        LimitExceeded: nested calls expand to more than `limit`.
    """
    with collector_paused():
        return _build(graph, ops, target, options, limit, layout)


def _build(
    graph: Graph,
    ops: OpRegistry,
    target: Target,
    options: Mapping[str, object] | PlanOptions | None,
    limit: int,
    layout: JoinChecks | None,
) -> tuple[MemoryProblem, PlanFacts]:
    warnings: list[str] = []
    if not isinstance(options, PlanOptions):
        options = PlanOptions.read(options or {}, warnings)
    work = Expansion(graph, ops, limit)
    demands = Constraints(work, target.align_bytes)
    accesses = Accesses(work, demands, options)
    worlds = Worlds(work, accesses, stream_table(work, accesses))
    precedence = Precedence(work, accesses, worlds)
    coalescer = Coalescer(work, demands, accesses, precedence, options, layout)
    coalescer.run()
    in_place = InPlace(coalescer)
    in_place.run_declared()
    coalescer.share_io()
    in_place.run()
    facts = PlanFacts(work, target.name, dict(options.given))
    facts.clashes = coalescer.clashes
    facts.data, facts.strided, facts.alias_of = demands.data, demands.strided, demands.alias_of
    builder = ClusterBuilder(
        work,
        demands,
        accesses,
        Lives(work, accesses, worlds),
        precedence,
        options,
        target.align_bytes,
        facts,
    )
    builder.run()
    for tensor in accesses.outputs:
        facts.io.setdefault(tensor, "output")
    facts.io.update(dict.fromkeys(accesses.inputs, "input"))
    facts.unplanned.sort()
    facts.warnings = [*warnings, *accesses.warnings]
    capacities = {pool: capacity for pool, capacity in target.pools.items() if capacity is not None}
    problem = MemoryProblem(
        builder.clusters, align=target.align_bytes, capacities=capacities, order=worlds.order
    )
    return problem, facts
