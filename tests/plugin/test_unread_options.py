"""Options that are set and that nothing reads: a warning, whoever declares them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import ge_core
from ge_core.ir import Graph, GraphBuilder
from ge_core.session.kernel import forget_kernels

from .conftest import Install

READER = """
from ge_core.api import Level


class Reads(GraphPass):
    '''Reads one option.'''

    def run(self, graph, ctx):
        ctx.option("acme.width")


@hookimpl
def ge_register_options(options):
    options.add("width", type="integer", default="4", help="A width.")
    options.add("depth", type="integer", default="4", help="A depth.")
    options.add("fast", type="switch", default="true", help="Whether to hurry.")


@hookimpl
def ge_register_passes(passes):
    passes.add(Reads, levels=Level.O3.and_above(), stage=Stage.OPTIMIZE_STAGE1)
    passes.add(Reads, name="Hurries", levels=(), stage=Stage.OPTIMIZE_STAGE1, switch="fast")
"""


@pytest.fixture(autouse=True)
def acme(install: Install) -> Iterator[None]:
    """acme-casts 1.0, whose pass reads one of its options; another option switches a pass."""
    install("acme", "acme-casts", READER)
    forget_kernels()
    yield
    forget_kernels()


@pytest.fixture
def graph() -> Graph:
    """A small one."""
    build = GraphBuilder("small")
    build.net_output(build.op("Relu", build.data("x", (4, 16)), name="r"))
    return build.graph


def about_options(graph: Graph, level: str = "O3", **options: str) -> list[str]:
    """The warnings of a compile that are about options."""
    named = {name.replace("__", "."): value for name, value in options.items()}
    result = ge_core.compile(graph, level=level, options=named)
    return [warning for warning in result.warnings if warning.startswith("option")]


def test_what_a_pass_reads_is_no_warning(graph: Graph) -> None:
    """Nor is an option that switches a pass."""
    assert [] == about_options(graph, acme__width="8", acme__fast="false")


def test_what_no_pass_reads_is_one(graph: Graph) -> None:
    """With who set it, and whose option it is."""
    assert [
        "option acme.depth is set (arguments), and nothing read it (acme-casts 1.0 declares it)"
    ] == about_options(graph, acme__depth="8")


def test_where_the_reader_is_off_nothing_reads_it(graph: Graph) -> None:
    """At O1 the pass doesn't run."""
    assert 1 == len(about_options(graph, level="O1", acme__width="8", acme__fast="false"))


def test_options_of_ge_that_nothing_here_reads(graph: Graph) -> None:
    """They are taken, for what was written for GE, and this is said."""
    assert ["option ge.exportCompileStat is set (arguments), and nothing reads it"] == (
        about_options(graph, ge__exportCompileStat="0")
    )


def test_what_nobody_sets_is_no_warning(graph: Graph) -> None:
    """Defaults are nobody's wish; options that choose the passes are read."""
    assert [] == about_options(graph)
    assert [] == about_options(
        graph,
        ge__optimizationSwitch="forbidden_close_pass:on",
        ge__disableOptimizations="",
        ge__fusionSwitchFile="",
        ge__strictOptions="true",
    )
