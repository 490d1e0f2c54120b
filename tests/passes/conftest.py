"""What the tests of passes share: small passes, catalogs and environments made of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from ge_core.ir import Graph
from ge_core.ops import OpRegistry, register_builtin_ops
from ge_core.passes import ALWAYS, CodeTable, GraphPass, OptionRegistry, PassRegistry, Stage
from ge_core.passes.builtin_options import register_builtin_options
from ge_core.passes.context import PassContext
from ge_core.passes.environment import Environment
from ge_core.passes.manager import PassManager, RunReport
from ge_core.passes.pipelines import PipelineRegistry
from ge_core.passes.planning import Catalog, Schedule, plan_passes
from ge_core.registry import Owner
from ge_core.targets import GENERIC

BUILTIN = Owner("kernel", "graph-engine-core", "1.0", builtin=True)
ACME = Owner("acme", "acme-casts", "1.0")


class Nothing(GraphPass):
    """Does nothing."""

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Nothing."""


MakeCatalog = Callable[..., Catalog]
Declare = Callable[[PassRegistry], object]
"""Declares claims and analyses, as one of the two owners."""


@pytest.fixture
def catalog() -> MakeCatalog:
    """`catalog({"A": {...arguments of add}}, acme={...}, toml=[...])` -> Catalog."""

    def make(
        builtin: Mapping[str, Mapping[str, Any]] | None = None,
        acme: Mapping[str, Mapping[str, Any]] | None = None,
        pipelines: Callable[[PipelineRegistry], None] | None = None,
        options: Callable[[OptionRegistry], None] | None = None,
        capabilities: Sequence[str] = (),
        declare: Declare | None = None,
        acme_declare: Declare | None = None,
    ) -> Catalog:
        passes = PassRegistry()
        for owner, declared, more in (
            (BUILTIN, builtin, declare),
            (ACME, acme, acme_declare),
        ):
            staged = PassRegistry()
            if more is not None:
                more(staged)
            for name, arguments in (declared or {}).items():
                about = {"levels": ALWAYS, "stage": Stage.OPTIMIZE_STAGE1, **arguments}
                staged.add(about.pop("cls", Nothing), name=name, **about)
            passes.absorb(staged, owner)
        registered = OptionRegistry()
        register_builtin_options(registered)
        if options is not None:
            options(registered)
        named = PipelineRegistry()
        if pipelines is not None:
            staged_pipelines = PipelineRegistry()
            pipelines(staged_pipelines)
            named.absorb(staged_pipelines, ACME)
        return Catalog(passes, registered, named, capabilities)

    return make


@pytest.fixture
def ops() -> OpRegistry:
    """GE's own ops."""
    registry = OpRegistry()
    register_builtin_ops(registry)
    return registry


@pytest.fixture
def environment(ops: OpRegistry) -> Callable[..., Environment]:
    """`environment(graph, schedule)` -> Environment."""

    def make(graph: Graph, schedule: Schedule, **more: Any) -> Environment:
        codes = CodeTable()
        for declaration in schedule.declarations:
            codes.add(declaration.codes)
        return Environment(
            root=graph,
            level=schedule.level,
            target=GENERIC,
            ops=ops,
            options=schedule.options,
            codes=codes,
            **more,
        )

    return make


Run = Callable[..., tuple[Environment, RunReport]]


@pytest.fixture
def run(catalog: MakeCatalog, environment: Callable[..., Environment]) -> Run:
    """`run(graph, {"A": {...}}, **manager arguments)` -> (environment, report)."""

    def make(
        graph: Graph,
        passes: Mapping[str, Mapping[str, Any]],
        sources: Sequence[Any] = (),
        acme: Mapping[str, Mapping[str, Any]] | None = None,
        declare: Declare | None = None,
        acme_declare: Declare | None = None,
        **manager: Any,
    ) -> tuple[Environment, RunReport]:
        made = catalog(passes, acme, declare=declare, acme_declare=acme_declare)
        schedule = plan_passes(made, sources)
        env = environment(graph, schedule)
        return env, PassManager(schedule, env, **manager).run()

    return make
