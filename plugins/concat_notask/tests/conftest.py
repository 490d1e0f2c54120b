"""Running passes of this plugin on a graph, without a whole compile around them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ge_concat_notask import ConcatNotaskPass, PackNotaskPass, SplitNotaskPass, ge_register_options
from ge_core.api import Graph, Level, OpRegistry, Owner, Stage, Target, register_builtin_ops
from ge_core.passes.context import PassContext
from ge_core.passes.environment import Environment
from ge_core.passes.levels import LevelRegistry
from ge_core.passes.options import OptionRegistry, OptionValues
from ge_core.passes.registry import PassRegistry
from ge_core.passes.remarks import Remarks

OWNER = Owner("concat_notask", "graph-engine-concat-notask", "1.0.0", builtin=True)
ORDER = ("SplitNotaskPass", "ConcatNotaskPass", "PackNotaskPass")
ASCEND = Target("ascend", align_bytes=512, run_align=32)
GENERIC = Target("generic")

Run = Callable[..., Remarks]


def _registry() -> PassRegistry:
    staged = PassRegistry()
    for cls in (SplitNotaskPass, ConcatNotaskPass, PackNotaskPass):
        staged.add(cls, levels=Level.O3.and_above(), stage=Stage.OPTIMIZE_STAGE2)
    registry = PassRegistry()
    registry.absorb(staged, OWNER)
    return registry


REGISTRY = _registry()


def run_in_environment(
    graph: Graph,
    names: tuple[str, ...] = ORDER,
    *,
    target: Target = ASCEND,
    level: str = "O3",
) -> Environment:
    """Run passes on a graph and its subgraphs, as the pass manager does."""
    ops = OpRegistry()
    register_builtin_ops(ops)
    working = LevelRegistry().working(level)
    declared = OptionRegistry()
    ge_register_options(declared)
    options = OptionValues(declared)
    environment = Environment(graph, working, target, ops, options)
    for name in names:
        declaration = REGISTRY.get(name)
        made = declaration.make()
        for part in graph.all_graphs():
            made.run(part, PassContext(environment, declaration, part))  # type: ignore[attr-defined]  # all three are graph passes
    return environment


def run_passes(graph: Graph, names: tuple[str, ...] = ORDER, **about: Any) -> Remarks:
    """What passes say about a graph."""
    return run_in_environment(graph, names, **about).remarks


@pytest.fixture(scope="session")
def run() -> Run:
    """`run(graph, names, target=..., level=...)` gives the remarks of the passes."""
    return run_passes


@pytest.fixture(scope="session")
def environment_of() -> Callable[..., Environment]:
    """`environment_of(graph, ...)` runs the passes and gives what they share."""
    return run_in_environment


@pytest.fixture(scope="session")
def ascend() -> Target:
    """A target whose pieces are multiples of 32 bytes."""
    return ASCEND


@pytest.fixture(scope="session")
def generic() -> Target:
    """A target whose pieces need no alignment but their elements'."""
    return GENERIC
