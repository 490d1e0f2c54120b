"""What a pass author writes, from one file to a vendor's pipeline, and the errors a user reads."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ge_core.errors import OptionError
from ge_core.ir import Graph, GraphBuilder
from ge_core.ops import OpRegistry
from ge_core.passes.environment import Environment
from ge_core.passes.manager import PassManager
from ge_core.passes.planning import Schedule, plan_passes
from ge_core.passes.precedence import Source
from ge_core.plugin import PluginIndex, index_plugins, load_plugins
from ge_core.plugin.loading import LoadedPlugins

Install = Callable[..., str]

PLUGIN = """
from dataclasses import dataclass

from ge_core.api import Graph, GraphPass, Level, PassContext, Stage, hookimpl


@dataclass(frozen=True)
class DropNoOpCast(GraphPass, codes=("CHANGES_DTYPE", "LIMIT_REACHED", "NOOP")):
    '''A Cast to the dtype that its input already has.'''

    limit: int | None = None

    def run(self, graph: Graph, ctx: PassContext) -> None:
        removed = 0
        for node in graph.nodes_of("Cast"):
            source = node.inputs[0].source
            if source.desc.dtype != node.outputs[0].desc.dtype:
                ctx.missed(node, "CHANGES_DTYPE", blame=source)
            elif removed == self.limit:
                ctx.missed(node, "LIMIT_REACHED")
            else:
                graph.bypass(node)
                ctx.applied(node, "NOOP", bytes=source.desc.nbytes)
                removed += 1


@hookimpl
def ge_register_passes(passes):
    passes.add(
        DropNoOpCast,
        levels=Level.O2.and_above(),
        stage=Stage.OPTIMIZE_STAGE2,
        before=["ConcatNotaskPass"],
    )


@hookimpl
def ge_register_pipelines(pipelines):
    from ge_core.passes.overlays import Overlay

    pipelines.add(Overlay("acme-npu", base="O3"))
"""

PIPELINE = """
name = "mine"
base = "O1"

[[add]]
pass = "acme.DropNoOpCast"
before = "ConcatNotaskPass"

[set]
"acme.DropNoOpCast.limit" = 1
"""


@pytest.fixture
def loaded(install: Install) -> LoadedPlugins:
    """acme and the passes of the joins, whatever else is installed."""
    install("acme", "acme-casts", PLUGIN)
    wanted = ("acme", "concat_notask")
    index = index_plugins(environ={})
    return load_plugins(PluginIndex(tuple(c for c in index.candidates if c.name in wanted)))


def casts() -> Graph:
    """x -> two Casts to float32 -> one to float16 -> out."""
    builder = GraphBuilder()
    feed = builder.data("x", (4,))
    for name, dtype in (("a", "float32"), ("b", "float32"), ("c", "float16")):
        feed = builder.node("Cast", feed, name=name, dtype=dtype).outputs[0]
    builder.node("NetOutput", feed, name="out", outputs=[])
    return builder.graph


def remarks(loaded: LoadedPlugins, schedule: Schedule) -> list[tuple[str, str, str, int | None]]:
    """Final remarks of a compile of `casts`."""
    env = Environment(
        casts(),
        schedule.level,
        loaded.registries.targets.get("generic"),
        OpRegistry(),
        schedule.options,
        loaded.registries.codes(),
    )
    acme = tuple(step for step in schedule.passes if step.name.startswith("acme."))
    PassManager(
        Schedule(schedule.level, schedule.options, acme, {}, (), schedule.pipeline), env
    ).run()
    return [(r.node, str(r.kind), r.code, r.bytes) for r in env.remarks.finals()]


def test_the_pass_runs_before_what_it_names(loaded: LoadedPlugins) -> None:
    """At O3, in its stage; at O1 it is off."""
    catalog = loaded.registries.catalog()
    names = [step.name for step in plan_passes(catalog).passes]
    assert names.index("acme.DropNoOpCast") < names.index("ConcatNotaskPass")
    low = plan_passes(catalog, [Source("arguments", {"ge.oo.level": "O1"})])
    assert "acme.DropNoOpCast" not in [step.name for step in low.passes]


def test_its_remarks_bear_its_name(loaded: LoadedPlugins) -> None:
    """Both no-op casts are gone, the other one is explained."""
    assert [
        ("a", "applied", "acme.NOOP", 16),
        ("b", "applied", "acme.NOOP", 16),
        ("c", "missed", "acme.CHANGES_DTYPE", 0),
    ] == remarks(loaded, plan_passes(loaded.registries.catalog()))


def test_a_vendor_pipeline_adds_it_with_an_option(loaded: LoadedPlugins, tmp_path: Path) -> None:
    """On top of O1, from a TOML file; `why` names the pipeline."""
    path = tmp_path / "mine.toml"
    path.write_text(PIPELINE, encoding="utf-8")
    schedule = plan_passes(loaded.registries.catalog(), pipeline=str(path))
    assert [
        ("a", "applied", "acme.NOOP"),
        ("b", "missed", "acme.LIMIT_REACHED"),
        ("c", "missed", "acme.CHANGES_DTYPE"),
    ] == [line[:3] for line in remarks(loaded, schedule)]
    assert {
        "source": "pipeline mine",
        "rule": "explicit on",
        "value": f"{path}:5: add acme.DropNoOpCast",
    } == (schedule.decisions["acme.DropNoOpCast"].because[0].to_json())


def test_a_mistaken_level_lists_the_levels_there_are(loaded: LoadedPlugins) -> None:
    """How it was given, and whose the others are."""
    source = Source(
        "arguments", {"ge.oo.level": "O5"}, origins={"ge.oo.level": "--set ge.oo.level=O5"}
    )
    with pytest.raises(OptionError) as raised:
        plan_passes(loaded.registries.catalog(), [source])
    lines = str(raised.value).splitlines()
    assert "value 'O5' for option ge.oo.level is not a level" == lines[0]
    assert "  given by: --set ge.oo.level=O5" in lines
    assert "  levels here: O0, O1, O2, O3, O4, acme-npu (acme-casts 1.0)" in lines
