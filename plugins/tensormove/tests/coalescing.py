"""Running `TensorMoveCoalescePass` or another pass alone, surrounded as a test wants."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ge_core.api import Graph, PassContext, Target, verify
from ge_core.memory.checkers import CheckerRegistry
from ge_core.passes.environment import Environment
from ge_core.passes.levels import LevelRegistry
from ge_core.passes.options import OptionValue, OptionValues

from .conftest import OPS, OPTIONS, PASSES, RULES, TRACES, TYPES

PASS = "TensorMoveCoalescePass"


def coalesce(
    graph: Graph,
    options: Mapping[str, str] | None = None,
    *,
    name: str = PASS,
    layout: bool = True,
    kept: frozenset[str] = frozenset(),
    original: Graph | None = None,
    **fields: Any,
) -> tuple[Environment, Mapping[str, int]]:
    """Run the pass; what it shares, and what it has counted. `fields` are its own options."""
    values = {option: OptionValue(text, "test") for option, text in (options or {}).items()}
    env = Environment(
        root=graph,
        level=LevelRegistry().working("O4"),
        target=Target("generic"),
        ops=OPS,
        options=OptionValues(OPTIONS, values, strict=False),
        trace_rules=TRACES,
        layout_checkers=RULES if layout else CheckerRegistry(),
        anchor_types=TYPES,
        kept=kept,
        extras={} if original is None else {"original": original},
    )
    declaration = PASSES.get(name)
    env.codes.add(declaration.codes)
    work: Any = declaration.make(**fields)
    ctx = PassContext(env, declaration, graph)
    ctx.counters.declare(work.counters)
    with graph.transaction():
        work.run(graph, ctx)
    verify(graph)
    return env, dict(ctx.counters.values)
