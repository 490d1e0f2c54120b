"""Running companion passes on a graph, as a compile does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ge_core.api import Graph
from ge_core.passes.manager import PassManager
from ge_core.passes.planning import plan_passes
from ge_core.passes.precedence import ARGUMENTS, Source
from ge_core.session.kernel import default_kernel


@pytest.fixture(scope="session")
def run() -> Callable[..., Any]:
    """Runs passes by name, checked as in a compile; answers their environment."""
    return _run


def _run(graph: Graph, *names: str, **options: str) -> Any:
    """Run passes by name, checked as in a compile; answers their environment."""
    kernel = default_kernel()
    given = {name.replace("__", "."): value for name, value in options.items()}
    source = Source(ARGUMENTS, {"ge.oo.level": "O3", **given})
    schedule = plan_passes(kernel.catalog, [source], ",".join(names))
    env = kernel.environment(graph, schedule, kernel.target("ascend"))
    PassManager(schedule, env, verify_each=True, audit=True).run()
    return env
