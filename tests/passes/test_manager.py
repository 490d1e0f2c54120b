"""The pass manager: order, rollback, blame, checks, actions, reports."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from ge_core.errors import GeError, GraphError, PassError
from ge_core.ir import Graph, GraphBuilder, Node, print_graph
from ge_core.passes import AnalysisPass, GraphPass, NodePass, PassContext, Stage
from ge_core.passes.environment import Environment
from ge_core.passes.instruments import CompileEnded, CompileStarted, Instrument
from ge_core.passes.manager import RunReport

Run = Callable[..., tuple[Environment, RunReport]]
Work = Callable[[Graph, PassContext], object]


def moves(*names: str) -> Graph:
    """x -> TensorMove names[0] -> TensorMove names[1] ... -> out."""
    builder = GraphBuilder()
    feed = builder.data("x")
    for name in names:
        feed = builder.node("TensorMove", feed, name=name).outputs[0]
    builder.node("NetOutput", feed, name="out", outputs=[])
    return builder.graph


def graph_pass(work: Work, **about: Any) -> dict[str, Any]:
    """The declaration of a GraphPass that does this."""

    class Worker(GraphPass, codes=("GONE", "KEPT")):
        def run(self, graph: Graph, ctx: PassContext) -> None:
            work(graph, ctx)

    return {"cls": Worker, **about}


def note(into: list[str]) -> Work:
    """Notes which pass runs on which graph."""
    return lambda graph, ctx: into.append(f"{ctx.declaration.name} {graph.name}")


def drop(name: str, *, say: bool = True) -> Work:
    """Removes a node of the root, with or without a remark."""

    def work(graph: Graph, ctx: PassContext) -> None:
        if not graph.is_root:
            return
        node = graph.node(name)
        graph.bypass(node)
        if say:
            ctx.applied(node, "GONE")

    return work


class _Diary(Instrument):
    """Writes down what it is told."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def compile_started(self, event: CompileStarted) -> None:
        self.lines.append("start " + ",".join(event.passes))

    def before_pass(self, ctx: PassContext) -> None:
        self.lines.append(f"before {ctx.declaration.name}")

    def after_pass(self, ctx: PassContext, changed: bool, seconds: float) -> None:
        self.lines.append(f"after {ctx.declaration.name} {changed}")

    def pass_failed(self, ctx: PassContext, error: PassError) -> None:
        self.lines.append(f"failed {ctx.declaration.name}")

    def pass_skipped(self, name: str, because: Any) -> None:
        self.lines.append(f"skipped {name}: {because[0].rule}")

    def compile_finished(self, event: CompileEnded) -> None:
        self.lines.append(f"end {event.error is not None}")


def test_a_graph_pass_sees_the_root_then_every_subgraph(run: Run) -> None:
    """One run each, in the order the subgraphs were added."""
    builder = GraphBuilder()
    for name in ("g", "h"):
        inner = builder.subgraph(name)
        builder.node("PartitionedCall", name=f"call_{name}", subgraphs={"f": inner})
    seen: list[str] = []
    run(builder.graph, {"P": graph_pass(note(seen))})
    assert ["P root", "P g", "P h"] == seen


def test_a_subgraph_that_a_pass_drops_is_not_run(run: Run) -> None:
    """It isn't there any more when its turn comes."""
    builder = GraphBuilder()
    builder.subgraph("g")
    builder.subgraph("h")
    seen: list[str] = []

    def work(graph: Graph, ctx: PassContext) -> None:
        note(seen)(graph, ctx)
        if graph.is_root:
            graph.remove_subgraph(graph.subgraphs["g"])

    run(builder.graph, {"P": graph_pass(work)})
    assert ["P root", "P h"] == seen


def test_a_node_pass_visits_every_node(run: Run) -> None:
    """With a context for each graph, which knows whether subgraphs are done."""
    builder = GraphBuilder()
    inner = builder.subgraph("g")
    inner.data("d")
    builder.node("PartitionedCall", builder.data("x"), name="call", subgraphs={"f": inner})
    seen: list[tuple[str, str, bool]] = []

    class Visitor(NodePass):
        def visit(self, node: Node, ctx: PassContext) -> None:
            seen.append((node.name, ctx.graph.name, ctx.after_subgraphs))

    run(builder.graph, {"P": {"cls": Visitor}})
    assert [
        ("x", "root", False),
        ("call", "root", False),
        ("d", "g", False),
        ("call", "root", True),
    ] == seen


def test_what_ran_is_reported(run: Run) -> None:
    """Owner, stage and whether it changed anything; times nest."""
    graph = moves("m")
    passes = {"A": graph_pass(drop("m")), "B": graph_pass(lambda g, ctx: None, stage="CHECK")}
    _, report = run(graph, passes)
    assert [
        ("A", "graph-engine-core 1.0", "OPTIMIZE_STAGE1", True),
        ("B", "graph-engine-core 1.0", "CHECK", False),
    ] == [(p.name, p.owner, p.stage, p.changed) for p in report.passes]
    assert ["A", "B"] == list(report.timing.children["passes"].children)


def test_instruments_are_told(run: Run) -> None:
    """Skipped passes first, each pass before and after, the end in any case."""
    diary = _Diary()
    passes = {"A": graph_pass(drop("m")), "Off": graph_pass(drop("m"), levels=("O4",))}
    run(moves("m"), passes, instruments=[diary])
    assert ["start A", "skipped Off: level", "before A", "after A True", "end False"] == diary.lines


def test_actions_stand_at_the_end_of_their_stage(run: Run) -> None:
    """before_X, the passes of X, the action, after_X."""
    seen: list[str] = []
    stage = Stage.MEM_ASSIGN
    passes = {
        "C": graph_pass(note(seen), stage=stage.before),
        "B": graph_pass(note(seen), stage=stage),
        "A": graph_pass(note(seen), stage=stage.after),
    }
    run(moves(), passes, actions={stage: lambda env: seen.append(f"action {env.root.name}")})
    assert ["C root", "B root", "action root", "A root"] == seen


# ---- failures ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (KeyError("k"), "pass 'acme.P' failed: KeyError: 'k'"),
        (SystemExit(3), "pass 'acme.P' failed: SystemExit: 3"),
        (AssertionError("no"), "pass 'acme.P' failed: AssertionError: no"),
        (GraphError("bad edge", node="n"), "pass 'acme.P' failed: node 'n': bad edge"),
        (PassError("has had enough"), "pass 'acme.P' has had enough"),
    ],
)
def test_whatever_a_pass_raises_names_its_package(
    run: Run, error: BaseException, words: str
) -> None:
    """Pass, package and version; the original is the cause."""

    def work(graph: Graph, ctx: PassContext) -> None:
        raise error

    with pytest.raises(PassError) as raised:
        run(moves("m"), {}, acme={"P": graph_pass(work)})
    assert (words, "acme-casts 1.0", 4) == (
        raised.value.message,
        raised.value.owner,
        raised.value.exit_code,
    )
    assert error is raised.value.__cause__


def test_a_failing_pass_leaves_the_graph_as_it_was(run: Run) -> None:
    """Its edits and remarks are undone; those of earlier passes stay."""
    graph = moves("m", "n")
    diary = _Diary()

    def work(graph: Graph, ctx: PassContext) -> None:
        drop("n")(graph, ctx)
        raise ValueError

    kept: list[str] = []
    remarks: list[Any] = []

    class Keep(Instrument):
        def compile_finished(self, event: CompileEnded) -> None:
            kept.append(print_graph(event.graph))
            remarks.extend(event.environment.remarks)

    with pytest.raises(PassError):
        run(
            graph,
            {"A": graph_pass(drop("m")), "B": graph_pass(work)},
            instruments=[diary, Keep()],
        )
    expected = moves("m", "n")
    expected.bypass(expected.node("m"))
    assert [print_graph(expected)] == kept
    assert ["m"] == [remark.node for remark in remarks]
    assert ["failed B", "end True"] == diary.lines[-2:]


def test_an_interrupt_is_not_the_pass_s_failure(run: Run) -> None:
    """Ctrl-C goes through; the edits are undone all the same."""
    graph = moves("m")

    def work(graph: Graph, ctx: PassContext) -> None:
        drop("m")(graph, ctx)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(graph, {"P": graph_pass(work)})
    assert print_graph(moves("m")) == print_graph(graph)


def test_an_error_that_names_a_rules_owner_keeps_it(run: Run) -> None:
    """A checker that raises inside a pass is the checker's failure."""

    def work(graph: Graph, ctx: PassContext) -> None:
        raise PassError("checker raised", owner="banks 2.0")

    with pytest.raises(PassError) as raised:
        run(moves("m"), {"P": graph_pass(work)})
    assert ("checker raised", "banks 2.0") == (raised.value.message, raised.value.owner)


# ---- checks --------------------------------------------------------------------------------------


def refused(run: Run, work: Work | None, cls: type | None = None, **more: Any) -> str:
    """What is said of a pass that breaks its contract; the graph must be as it was."""
    graph = moves("m", "n")
    about: Mapping[str, Any] = {"cls": cls} if work is None else graph_pass(work)
    with pytest.raises(PassError) as raised:
        run(graph, {"P": {**about, **more.pop("about", {})}}, **more)
    return raised.value.message


def test_a_copy_does_not_go_without_a_remark(run: Run) -> None:
    """Every move, join, pack, split and slice ends with a final remark."""
    assert "pass 'P' removed <TensorMove m> without saying so" == refused(run, drop("m", say=False))


def test_a_copy_that_stands_on_in_another_node_is_not_gone(run: Run) -> None:
    """The origin of the other node says so."""

    def work(graph: Graph, ctx: PassContext) -> None:
        node = graph.node("m")
        (feed,) = [a.source for a in node.inputs]
        new = graph.add_node("TensorMove", "mm", [feed], [node.outputs[0].desc], origin=("m",))
        for reader in list(node.outputs[0].readers):
            graph.rewire(reader, new.outputs[0])
        graph.remove(node)
        ctx.missed(new, "KEPT")

    env, _ = run(moves("m"), {"P": graph_pass(work)})
    final = env.remarks.final("m")
    assert final is not None and final.code == "KEPT"


def test_an_analysis_pass_edits_nothing(run: Run) -> None:
    """An edit is an error and undone."""

    class Meddler(AnalysisPass):
        def run(self, graph: Graph, ctx: PassContext) -> None:
            graph.set_attr(graph.node("m"), "a", 1)

    assert "pass 'P' is an AnalysisPass and edited the graph" == refused(run, None, Meddler)


def test_verify_each_finds_a_broken_graph(run: Run) -> None:
    """A cycle, for one; without the check it goes unseen."""

    def work(graph: Graph, ctx: PassContext) -> None:
        graph.add_control(graph.node("n"), graph.node("m"))

    assert "pass 'P' left a broken graph" in refused(run, work, verify_each=True)
    run(moves("m", "n"), {"P": graph_pass(work)})


def test_the_audit_finds_edits_behind_the_graphs_back(run: Run) -> None:
    """By structural hash, since such edits move no version."""

    def work(graph: Graph, ctx: PassContext) -> None:
        graph.node("m").op = "Identity"

    assert "pass 'P' changed the graph without its methods" == refused(run, work, audit=True)


def test_after_schedule_the_nodes_are_frozen(run: Run) -> None:
    """Plan and tasks rely on the listed order; attributes may still be set."""
    late = {"stage": Stage.OFFSETS}

    def reorder(graph: Graph, ctx: PassContext) -> None:
        order = list(graph.nodes)
        graph.reorder([order[1], order[0], *order[2:]])

    assert "after SCHEDULE" in refused(run, reorder, about=late)
    assert "after SCHEDULE" in refused(run, drop("m"), about=late)
    mark = graph_pass(lambda g, ctx: g.set_attr(g.node("m"), "a", 1), **late)
    run(moves("m"), {"P": mark})
    run(moves("m", "n"), {"P": graph_pass(reorder, stage=Stage.SCHEDULE)})


def test_an_instrument_that_raises_is_not_the_pass_s_failure(run: Run) -> None:
    """It goes through as it is."""

    class Broken(Instrument):
        def after_pass(self, ctx: PassContext, changed: bool, seconds: float) -> None:
            raise GeError("the instrument")

    with pytest.raises(GeError, match="^the instrument$"):
        run(moves("m"), {"P": graph_pass(lambda g, ctx: None)}, instruments=[Broken()])
