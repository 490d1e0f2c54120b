"""Running the pass on a graph, with the registered abilities that a test wants."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

import ge_memconflict
import ge_tensormove
from ge_core.analysis import TraceRules
from ge_core.api import (
    DeleteRules,
    Graph,
    Node,
    OpRegistry,
    Owner,
    PassContext,
    Target,
    register_builtin_ops,
    verify,
)
from ge_core.memory.anchor_types import AnchorTypeRegistry
from ge_core.memory.checkers import CheckerRegistry
from ge_core.passes.builtin_options import register_builtin_options
from ge_core.passes.environment import Environment
from ge_core.passes.levels import LevelRegistry
from ge_core.passes.options import OptionRegistry, OptionValue, OptionValues
from ge_core.passes.registry import PassRegistry
from ge_core.passes.walker import Walk

OWNER = Owner("tensormove", "graph-engine-tensormove", "1.0.0", builtin=True)
CHECKERS = Owner("memconflict", "graph-engine-memconflict", "1.0.0", builtin=True)
PASS = "TensorMoveDeletePass"

Delete = Callable[..., Environment]


def absorbed(registry: Any, register: Callable[[Any], None], owner: Owner) -> Any:
    """A registry with what one plugin registers."""
    staged = type(registry)()
    register(staged)
    registry.absorb(staged, owner)
    return registry


OPTIONS = OptionRegistry()
register_builtin_options(OPTIONS)
OPS = OpRegistry()
register_builtin_ops(OPS)
PASSES = absorbed(PassRegistry(), ge_tensormove.ge_register_passes, OWNER)
TRACES = absorbed(TraceRules(), ge_tensormove.ge_register_trace_rules, OWNER)
TYPES = absorbed(AnchorTypeRegistry(), ge_memconflict.ge_register_anchor_types, CHECKERS)
RULES = absorbed(CheckerRegistry(), ge_memconflict.ge_register_conflict_checkers, CHECKERS)


def delete_copies(
    graph: Graph,
    options: Mapping[str, str] | None = None,
    *,
    read_write: bool = True,
    layout: bool = True,
    delete_rules: DeleteRules | None = None,
    trace_rules: TraceRules = TRACES,
    kept: frozenset[str] = frozenset(),
    watch: Callable[[Node, Callable[[], None], Environment], None] | None = None,
    **fields: Any,
) -> Environment:
    """Walk the pass over a graph as the manager does; `fields` are the pass's own options.

    `watch` is given every node, what visits it, and the environment, and does the visiting.
    """
    values = {name: OptionValue(value, "test") for name, value in (options or {}).items()}
    env = Environment(
        root=graph,
        level=LevelRegistry().working("O3"),
        target=Target("generic"),
        ops=OPS,
        options=OptionValues(OPTIONS, values, strict=False),
        delete_rules=delete_rules or DeleteRules(),
        trace_rules=trace_rules,
        read_write=RULES.make_read_write() if read_write else None,
        layout_checkers=RULES if layout else CheckerRegistry(),
        anchor_types=TYPES,
        kept=kept,
    )
    declaration = PASSES.get(PASS)
    env.codes.add(declaration.codes)
    if delete_rules is not None:
        env.codes.add(code for rule in delete_rules for code in rule.codes)
    work: Any = declaration.make(**fields)
    contexts: dict[Graph, PassContext] = {}

    def visit(node: Any, part: Graph, after_subgraphs: bool) -> None:
        ctx = contexts.setdefault(part, PassContext(env, declaration, part, walk))
        ctx.after_subgraphs = after_subgraphs
        if watch is None:
            work.visit(node, ctx)
        else:
            watch(node, lambda: work.visit(node, ctx), env)

    walk = Walk(visit, env.warn, frozenset(work.only))
    env.analyses.begin(declaration.preserves)
    with graph.transaction():
        walk.run(graph)
    env.analyses.end()
    verify(graph)
    return env


@pytest.fixture(scope="session")
def delete() -> Delete:
    """`delete(graph, options)` runs the pass and gives what it shares: `remarks`, `analyses`."""
    return delete_copies


@pytest.fixture(scope="session")
def ops() -> OpRegistry:
    """The kernel's ops."""
    return OPS
