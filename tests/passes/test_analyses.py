"""Promises about analyses: known names, and under an audit right ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ge_core.analysis import AliasClasses, Scheme
from ge_core.errors import PassError, PluginError
from ge_core.ir import Graph, GraphBuilder
from ge_core.ops import OpRegistry
from ge_core.passes import GraphPass, PassContext, PassRegistry
from ge_core.passes.analyses import same_classes
from ge_core.passes.environment import Environment
from ge_core.passes.manager import RunReport

Run = Callable[..., tuple[Environment, RunReport]]
Work = Callable[[Graph, PassContext], object]


def model() -> Graph:
    """x -> Reshape v -> Relu r -> out: v is a view of x."""
    builder = GraphBuilder()
    view = builder.node("Reshape", builder.data("x", (4,)), name="v")
    relu = builder.node("Relu", view.outputs[0], name="r")
    builder.node("NetOutput", relu.outputs[0], name="out", outputs=[])
    return builder.graph


def work(does: Work, **about: Any) -> dict[str, Any]:
    """The declaration of a pass that does this on the root graph."""

    class Worker(GraphPass):
        def run(self, graph: Graph, ctx: PassContext) -> None:
            if graph.is_root:
                does(graph, ctx)

    return {"cls": Worker, **about}


def drop_view(graph: Graph, ctx: PassContext) -> None:
    """Removes v and says nothing to the alias classes."""
    assert ctx.aliases is not None
    graph.bypass(graph.node("v"))


def drop_view_and_say_so(graph: Graph, ctx: PassContext) -> None:
    """Removes v and keeps the alias classes right."""
    classes, view = ctx.aliases, graph.node("v")
    graph.bypass(view)
    classes.discard(view.inputs[0])
    classes.discard(view.outputs[0])


def add_view(graph: Graph, ctx: PassContext) -> None:
    """Adds a view of r and puts it into the classes, at a wrong place."""
    classes, relu = ctx.aliases, graph.node("r").outputs[0]
    view = graph.add_node("Reshape", "w", [relu], [relu.desc])
    classes.join(relu, view.inputs[0])
    classes.join(relu, view.outputs[0], 4)


def broken(run: Run, passes: dict[str, Any], **more: Any) -> PassError:
    """The error of a compile with the audit on; without it, the compile goes on."""
    run(model(), passes, **more)
    with pytest.raises(PassError) as raised:
        run(model(), passes, audit=True, **more)
    return raised.value


@pytest.mark.parametrize("does", [drop_view, add_view])
def test_alias_classes_that_a_pass_did_not_keep_right(run: Run, does: Work) -> None:
    """The audit compares them with new ones: the same classes, the same places."""
    error = broken(run, {}, acme={"P": work(does, preserves=("aliases",))})
    assert (
        "pass 'acme.P' says that it preserves 'aliases', which is wrong after its edits"
    ) == error.message
    assert "acme-casts 1.0" == error.owner
    assert "keep it right, or leave 'aliases' out of preserves=" == error.hint


def test_alias_classes_that_a_pass_kept_right(run: Run) -> None:
    """A promise that was kept passes the audit; so does one that was never put to use."""
    run(model(), {"P": work(drop_view_and_say_so, preserves=("aliases",))}, audit=True)
    unused = work(lambda graph, ctx: graph.bypass(graph.node("v")), preserves=("aliases",))
    run(model(), {"P": unused}, audit=True)


def test_analyses_that_notice_edits_need_no_promise(run: Run) -> None:
    """They may be named all the same, and there is nothing to compare."""

    def does(graph: Graph, ctx: PassContext) -> None:
        assert 3 == len({id(analysis) for analysis in (ctx.order, ctx.effects, ctx.tracer)})
        graph.bypass(graph.node("v"))

    passes = {"P": work(does, preserves=("order", "effects", "tracer"))}
    run(model(), passes, audit=True)


def counted(graph: Graph, ctx: PassContext) -> None:
    """Keeps a table of op types and edits the graph."""
    ctx.cached("ops", lambda: sorted(node.op for node in graph.nodes))
    graph.bypass(graph.node("v"))


def test_a_plugins_analysis_is_compared_by_equality(run: Run) -> None:
    """Unless the plugin says how; the name gets its prefix by itself."""
    acme = {"P": work(counted, preserves=("ops",))}
    error = broken(run, {}, acme=acme, acme_declare=lambda passes: passes.add_analysis("ops"))
    assert "says that it preserves 'acme.ops'" in error.message

    def lenient(passes: PassRegistry) -> None:
        passes.add_analysis("ops", same=lambda kept, new: len(kept) >= len(new))

    run(model(), {}, acme=acme, acme_declare=lenient, audit=True)

    def not_compared(passes: PassRegistry) -> None:
        passes.add_analysis("ops", same=None)

    run(model(), {}, acme=acme, acme_declare=not_compared, audit=True)


def test_a_comparison_that_raises_is_its_owners_fault(run: Run) -> None:
    """Not that of the pass which preserved."""

    def declare(passes: PassRegistry) -> None:
        passes.add_analysis("ops", same=lambda kept, new: kept.no_such_thing)

    def does(graph: Graph, ctx: PassContext) -> None:
        ctx.cached("acme.ops", list)
        graph.bypass(graph.node("v"))

    passes = {"P": work(does, preserves=("acme.ops",))}
    error = broken(run, passes, acme_declare=declare)
    assert error.message.startswith("analysis 'acme.ops' can't be compared: AttributeError")
    assert "acme-casts 1.0" == error.owner


def test_plugins_that_use_one_name_do_not_meet(run: Run) -> None:
    """Each one's table bears its prefix."""
    seen: list[object] = []

    def ask(what: str) -> Work:
        return lambda graph, ctx: seen.append(ctx.cached("table", lambda: what))

    run(model(), {"P": work(ask("built in"))}, acme={"P": work(ask("acme"))})
    assert {"built in", "acme"} == set(seen)


@pytest.mark.parametrize("name", ["aliases", "order", ""])
def test_names_that_can_not_be_declared(name: str) -> None:
    """The kernel's own, and none at all."""
    with pytest.raises(PluginError, match="can't be declared"):
        PassRegistry().add_analysis(name)


def test_a_comparison_that_is_no_function() -> None:
    """Said when it is declared."""
    with pytest.raises(PluginError, match="has same='equal', which is not a function"):
        PassRegistry().add_analysis("mine", same="equal")  # type: ignore[arg-type]  # that is the point


def test_classes_are_the_same_by_members_places_and_types(ops: OpRegistry) -> None:
    """Two tables of one graph agree; one with a further join, or other types, does not."""
    graph = model()

    def table(types: Callable[[object], tuple[str, ...]] | None = None) -> AliasClasses:
        return AliasClasses(graph, ops, Scheme.MEMORY, types)

    assert same_classes(table(), table(), graph)
    joined = table()
    joined.join(graph.node("x").outputs[0], graph.node("r").outputs[0])
    assert not same_classes(joined, table(), graph)
    assert not same_classes(table(), joined, graph)
    assert not same_classes(table(lambda anchor: ("odd",)), table(), graph)
