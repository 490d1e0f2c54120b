"""Who did it: passes that break the graph or what it computes are named, and no others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import indent

import pytest

from ge_core.errors import GeError, GraphError, LimitExceeded, PassError
from ge_core.ir import Graph, GraphBuilder
from ge_core.passes.instruments import Instrument
from ge_core.passes.manager import RunReport
from ge_core.session.blame import blamed, culprit
from ge_core.session.compiler import Compiler
from ge_core.session.kernel import forget_kernels, make_kernel
from ge_core.session.request import CompileRequest
from ge_core.session.result import Result

PASS = """
class {name}(GraphPass):
    def run(self, graph, ctx):
        find = graph.find
{body}
"""
Compile = Callable[..., Result]


@pytest.fixture
def compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Compile]:
    """`compiled(A="body", B="body", values=("B",))` compiles with acme's passes, in that order."""
    monkeypatch.syspath_prepend(str(tmp_path))
    module = f"acme_blame_{abs(hash(str(tmp_path)))}"

    def run(*, values: tuple[str, ...] = (), **passes: str) -> Result:
        parts = ["from ge_core.api import *\n"]
        parts += [PASS.format(name=n, body=indent(body, " " * 8)) for n, body in passes.items()]
        parts.append("@hookimpl\ndef ge_register_passes(passes):")
        names = list(passes)
        for before, name in zip([None, *names], names, strict=False):
            after = [] if before is None else [before]
            more = f"after={after}, changes_values={name in values}"
            parts.append(f"    passes.add({name}, levels=ALWAYS, stage=Stage.PREPARE, {more})")
        (tmp_path / f"{module}.py").write_text("\n".join(parts), encoding="utf-8")
        (tmp_path / "ge.toml").write_text(f"plugins = ['acme = {module}']\n", encoding="utf-8")
        return Compiler(make_kernel(folder=tmp_path, environ={})).compile(chain(), CompileRequest())

    yield run
    forget_kernels()


def chain() -> Graph:
    """x -> Exp e -> TensorMove mv -> Relu last."""
    build = GraphBuilder()
    e = build.op("Exp", build.data("x", (4, 6)), name="e", attrs={"f": 3})
    moved = build.op("TensorMove", e, name="mv")
    build.net_output(build.op("Relu", moved, name="last"))
    return build.graph


def said(result: Result) -> list[tuple[str | None, ...]]:
    """Who did it, what differs, and the passes around it."""
    assert result.proof is not None
    return [(v.since_pass, v.differs, v.from_pass, v.up_to_pass) for v in result.proof.violations]


TO_LOG = 'graph.set_op(find("e"), "Log")'
EDIT_LAST = 'graph.set_attr(find("last"), "_seen", 1)'
VALUES = 'graph.set_attr(find("last"), "slope", 2)'
LOG = "e computes Log now, Exp in the original"


def test_a_pass_in_front_of_one_that_changes_values(compiled: Compile) -> None:
    """It is named, and the part before the other one is; the other one is no culprit."""
    result = compiled(A=TO_LOG, B=VALUES, C=EDIT_LAST, values=("B",))
    assert [("acme.A", LOG, None, "acme.B")] == said(result)
    assert result.proof is not None
    text = str(result.proof.violations[0])
    assert text.endswith(f"({LOG}), written by e, since pass acme.A, up to pass acme.B")


def test_a_pass_behind_one_that_changes_values(compiled: Compile) -> None:
    """What is compared is what the one before has left."""
    result = compiled(A=VALUES, B='graph.set_attr(find("e"), "f", 7)', values=("A",))
    differs = "attribute f of e is 7 now, 3 as acme.A left it"
    assert [("acme.B", differs, "acme.A", None)] == said(result)
    assert result.proof is not None
    assert str(result.proof.violations[0]).endswith("since pass acme.B, from pass acme.A on")


def test_a_pass_may_say_while_it_runs_that_it_changes_values(compiled: Compile) -> None:
    """From there on what it does is taken for meant, and only where it says so."""
    says = "ctx.changes_values()\n"
    result = compiled(A=says + VALUES, B='graph.set_attr(find("e"), "f", 7)')
    differs = "attribute f of e is 7 now, 3 as acme.A left it"
    assert [("acme.B", differs, "acme.A", None)] == said(result)


@pytest.mark.parametrize(
    ("body", "fine"),
    [
        (f"ctx.changes_values()\n{VALUES}", True),
        (f"{TO_LOG}\nctx.changes_values()\n{VALUES}", False),
        (VALUES, False),
    ],
    ids=["said", "said too late", "unsaid"],
)
def test_what_is_not_said_to_change_values_must_not(
    compiled: Compile, body: str, fine: bool
) -> None:
    """What a pass has done before it says so is judged like any other edit."""
    proof = compiled(A=body).proof
    assert proof is not None
    assert fine is proof.ok


def test_a_later_edit_behind_one_that_changes_values(compiled: Compile) -> None:
    """There too it is innocent."""
    touch = 'for name in ("e", "mv", "last"):\n    graph.set_attr(find(name), "_seen", 1)'
    result = compiled(A=VALUES, B=TO_LOG, C=touch, values=("A",))
    assert [("acme.B", "e computes Log now, Exp as acme.A left it", "acme.A", None)] == said(result)


def test_a_later_edit_of_the_same_nodes_is_innocent(compiled: Compile) -> None:
    """Even where it removes the node that read the wrong value first."""
    touch = 'for name in ("e", "mv", "last"):\n    graph.set_attr(find(name), "_seen", 1)'
    assert [("acme.A", LOG, None, None)] == said(compiled(A=TO_LOG, B=touch))


def test_a_pass_that_edits_without_methods(compiled: Compile) -> None:
    """It is named too, though its edit is found where the graph is copied for another pass."""
    assert [("acme.A", LOG, None, None)] == said(compiled(A='find("e").op = "Log"'))
    result = compiled(A='find("last").inputs[0].source = None', B=VALUES, values=("B",))
    assert ["acme.A"] == [violation[0] for violation in said(result)]


def test_what_only_the_plan_makes_wrong(compiled: Compile) -> None:
    """The last pass that changed the node which did not run is named, not those behind it."""
    mark = 'graph.set_attr(find("e"), "_no_task", True)'
    result = compiled(A=mark, B='graph.set_attr(find("x"), "_seen", 1)')
    assert {"acme.A"} == {violation[0] for violation in said(result)}


def test_a_graph_too_large_to_compare(compiled: Compile, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then it is the last pass that changed what computes something else."""
    monkeypatch.setattr("ge_core.session.blame.MOST_COMPARED", 0)
    assert [("acme.A", LOG, None, None)] == said(compiled(A=TO_LOG, B=EDIT_LAST))


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ('graph.rewire(find("e").inputs[0], find("last").outputs[0])', "a cycle: e -> mv -> last"),
        ('find("e").outputs[0].readers.clear()', "output 0 does not list all its readers"),
        ('find("e").outputs.clear()', "can't be looked at"),
        ('graph._shared.names.pop("e")', "the name table disagrees"),
    ],
)
def test_a_pass_that_breaks_the_graph(compiled: Compile, body: str, problem: str) -> None:
    """It is named wherever that shows first: planning, the proof, or a pass that is innocent."""
    for later in ({}, {"B": 'graph.node("e").out_nodes[0]; raise KeyError("e")'}):
        with pytest.raises(PassError, match="pass 'acme.A' left a") as raised:
            compiled(A=body, **later)
        assert problem in raised.value.message
        assert "found by running the passes again; first seen as: " in str(raised.value)


def test_a_pass_that_fails_on_a_sound_graph(compiled: Compile) -> None:
    """It is the one to name; nothing runs again."""
    again = "import sys\nsys.modules[__name__].runs = getattr(sys.modules[__name__], 'runs', 0) + 1"
    with pytest.raises(PassError, match="pass 'acme.B' failed: KeyError") as raised:
        compiled(A=EDIT_LAST, B=f"{again}\nraise KeyError(sys.modules[__name__].runs)")
    assert "KeyError: 1" in raised.value.message
    assert "again" not in str(raised.value)


def broken() -> Graph:
    """A cycle."""
    graph = chain()
    graph.rewire(graph.node("e").inputs[0], graph.node("last").outputs[0])
    return graph


def test_a_broken_graph_for_which_no_pass_is_found() -> None:
    """The error stays, and says that passes were looked at."""
    error = GraphError("odd", node="e")
    assert culprit(error, chain(), broken(), RunReport) is None
    assert "no pass is known to have done it" in str(error)


def test_what_runs_nothing_again() -> None:
    """A graph that was given broken, a limit, an error that names its reason on a sound graph."""

    def never() -> RunReport:
        raise AssertionError

    assert culprit(GraphError("odd"), broken(), broken(), never) is None
    assert culprit(LimitExceeded("much"), chain(), broken(), never) is None
    assert culprit(GeError("full"), chain(), chain(), never) is None


def test_passes_that_run_otherwise_the_second_time() -> None:
    """Nobody is named anew: the first error and the first answer stand."""

    def other(*_: Instrument) -> None:
        return None

    def failing(*_: Instrument) -> RunReport:
        raise OSError

    from ge_core.proof import ProofResult, Violation

    proof = ProofResult((Violation("reads", "e", since_pass="P"),))
    for again in (other, failing):
        assert blamed(proof, chain(), again) is proof
        assert culprit(GraphError("odd"), chain(), broken(), again) is None
