"""Hook specs, and plugins' instrument hooks at work."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable

import pytest

from ge_core.errors import PassError, PluginError
from ge_core.ir import GraphBuilder
from ge_core.ops import OpRegistry
from ge_core.passes.environment import Environment
from ge_core.passes.manager import PassManager
from ge_core.passes.planning import plan_passes
from ge_core.plugin import PluginIndex, index_plugins, load_plugins, specs
from ge_core.plugin.registries import HOOKS
from ge_core.targets import GENERIC

Install = Callable[..., str]


def compile_with(*names: str) -> Environment:
    """Run the passes that these plugins bring over a small graph."""
    index = index_plugins(environ={})
    loaded = load_plugins(PluginIndex(tuple(c for c in index.candidates if c.name in names)))
    schedule = plan_passes(loaded.registries.catalog())
    builder = GraphBuilder()
    builder.node("Relu", builder.data("x"), name="r")
    environment = Environment(
        builder.graph,
        schedule.level,
        GENERIC,
        OpRegistry(),
        schedule.options,
        loaded.registries.codes(),
    )
    PassManager(schedule, environment, [loaded.instrument()]).run()
    return environment


WATCHER = """
import json
said = []

@hookimpl
def ge_register_passes(passes):
    passes.add(Pass, name="On", levels=ALWAYS, stage=Stage.PREPARE)
    passes.add(Pass, name="Off", levels=(), stage=Stage.PREPARE)

@hookimpl
def ge_compile_started(event):
    said.append(["started", list(event.passes), event.graph.name])

@hookimpl
def ge_before_pass(ctx):
    said.append(["before", ctx.declaration.name])

@hookimpl
def ge_after_pass(ctx, changed):
    said.append(["after", ctx.declaration.name, changed])

@hookimpl
def ge_pass_skipped(name, because):
    said.append(["skipped", name, because[0].rule])

@hookimpl
def ge_compile_finished(event):
    said.append(["finished", event.error is None])
    event.environment.warn(json.dumps(said))
"""


def test_instrument_hooks_are_told_what_happens(install: Install) -> None:
    """An implementation may leave out arguments."""
    install("watch", "watch-dist", WATCHER)
    assert [
        ["started", ["watch.On"], "root"],
        ["skipped", "watch.Off", "level"],
        ["before", "watch.On"],
        ["after", "watch.On", False],
        ["finished", True],
    ] == json.loads(compile_with("watch").warnings[-1])


def test_a_failing_pass_is_told_to_all_plugins(install: Install) -> None:
    """With the error that names it; one that fails at it doesn't hide that error."""
    install(
        "bad",
        "bad-dist",
        """
        class Bad(GraphPass):
            def run(self, graph, ctx):
                raise ValueError("no")

        @hookimpl
        def ge_register_passes(passes):
            passes.add(Bad, levels=ALWAYS, stage=Stage.PREPARE)
        """,
    )
    install(
        "watch",
        "watch-dist",
        """
        @hookimpl
        def ge_pass_failed(ctx, error):
            ctx.environment.warn(str(error.owner))
            raise RuntimeError(error.message)
        """,
    )
    with pytest.raises(PassError) as raised:
        compile_with("bad", "watch")
    assert "bad-dist 1.0" == raised.value.owner
    assert (
        "also: plugin 'watch' failed in ge_pass_failed: it raised RuntimeError: pass 'bad.Bad'"
        in str(raised.value)
    )


def test_an_instrument_hook_that_raises_names_its_package(install: Install) -> None:
    """It is not the pass's failure; the error says how to run without it."""
    install(
        "watch",
        "watch-dist",
        WATCHER.replace(
            "def ge_before_pass(ctx):", "def ge_before_pass(ctx):\n    raise SystemExit"
        ),
    )
    with pytest.raises(PluginError) as raised:
        compile_with("watch")
    assert not isinstance(raised.value, PassError)
    assert "plugin 'watch' failed in ge_before_pass: it tried to end the process" in str(
        raised.value
    )
    assert "GE_DISABLE_PLUGINS=watch runs without it" in str(raised.value)


@pytest.mark.parametrize(
    ("hook", "graph"),
    [
        ("ge_compile_started(event)", "event.graph"),
        ("ge_veto_pass(ctx)", "ctx.graph"),
        ("ge_before_pass(ctx)", "ctx.graph"),
        ("ge_after_pass(ctx, changed, seconds)", "ctx.graph"),
        ("ge_compile_finished(event)", "event.graph"),
    ],
)
def test_an_instrument_hook_that_edits_names_its_package(
    install: Install, hook: str, graph: str
) -> None:
    """No check of a pass would see the edit."""
    install("watch", "watch-dist", WATCHER)
    body = f"@hookimpl\ndef {hook}:\n    {graph}.set_attr({graph}.node('r'), 'seen', 1)\n"
    install("edits", "edits-dist", body)
    with pytest.raises(PluginError) as raised:
        compile_with("watch", "edits")
    name = hook.partition("(")[0]
    assert f"plugin 'edits' edited the graph in {name}" == raised.value.message
    assert "edits-dist 1.0" == raised.value.owner


VETO = """
@hookimpl
def ge_veto_pass(ctx):
    return {answer} if ctx.declaration.name == "watch.On" else None
"""


def test_a_plugin_may_veto_a_pass(install: Install) -> None:
    """The warning says which package did, and in its words why; hooks hear of the skip."""
    install("watch", "watch-dist", WATCHER)
    install("against", "against-dist", VETO.format(answer="'not this one'"))
    env = compile_with("watch", "against")
    assert "pass watch.On did not run (veto: against-dist 1.0: not this one)" in env.warnings
    said = json.loads(env.warnings[-1])
    assert ["skipped", "watch.On", "veto"] in said
    assert not any(line[0] == "before" for line in said)


@pytest.mark.parametrize("answer", ["True", "''", "['no']"])
def test_a_veto_that_gives_no_reason_names_its_package(install: Install, answer: str) -> None:
    """Nobody could be told why the pass did not run."""
    install("watch", "watch-dist", WATCHER)
    install("against", "against-dist", VETO.format(answer=answer))
    with pytest.raises(PluginError) as raised:
        compile_with("watch", "against")
    assert "plugin 'against' answered" in raised.value.message
    assert "when asked for a veto" in raised.value.message
    assert "against-dist 1.0" == raised.value.owner


def test_a_veto_hook_that_raises_names_its_package(install: Install) -> None:
    """As any other hook."""
    install("watch", "watch-dist", WATCHER)
    install("against", "against-dist", VETO.format(answer="1 / 0"))
    with pytest.raises(
        PluginError, match="plugin 'against' failed in ge_veto_pass: it raised ZeroDivis"
    ):
        compile_with("watch", "against")


def test_the_public_hooks() -> None:
    """A change of this list is a change of the plugin API."""
    assert [
        "ge_after_pass(ctx, changed, seconds)",
        "ge_before_pass(ctx)",
        "ge_compile_finished(event)",
        "ge_compile_started(event)",
        "ge_pass_failed(ctx, error)",
        "ge_pass_skipped(name, because)",
        "ge_register_anchor_types(types)",
        "ge_register_conflict_checkers(checkers)",
        "ge_register_delete_rules(rules)",
        "ge_register_kernels(kernels)",
        "ge_register_memory_assigners(assigners)",
        "ge_register_ops(ops)",
        "ge_register_options(options)",
        "ge_register_passes(passes)",
        "ge_register_pipelines(pipelines)",
        "ge_register_targets(targets)",
        "ge_register_trace_rules(rules)",
        "ge_veto_pass(ctx)",
    ] == [
        f"{name}({', '.join(inspect.signature(hook).parameters)})"
        for name, hook in sorted(vars(specs).items())
        if hasattr(hook, "ge_core_spec")
    ]


def test_every_contributing_hook_fills_a_registry() -> None:
    """And says in a docstring what it contributes."""
    hooks = {name for name in vars(specs) if name.startswith("ge_register_")}
    assert hooks == set(HOOKS)
    assert [] == [name for name in sorted(hooks) if not inspect.getdoc(getattr(specs, name))]
