"""Vetoes: an instrument may keep a pass from running, and everybody is told why."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ge_core.errors import PluginError
from ge_core.ir import Graph, GraphBuilder
from ge_core.passes import GraphPass, PassContext, PassRegistry
from ge_core.passes.environment import Environment
from ge_core.passes.instruments import Instrument, Veto
from ge_core.passes.manager import RunReport

Run = Callable[..., tuple[Environment, RunReport]]


class Drops(GraphPass, codes=("GONE",)):
    """Removes the move."""

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Remove it."""
        move = graph.node("m")
        graph.bypass(move)
        ctx.applied(move, "GONE")


class Against(Instrument):
    """Vetoes passes by name, and writes down what it is told."""

    def __init__(self, *names: str, answer: Any = "not today") -> None:
        self.names = names
        self.answer = answer
        self.told: list[str] = []

    def veto_pass(self, ctx: PassContext) -> Veto | str | None:
        """A veto for the named passes."""
        answer: Veto | str | None = self.answer
        return answer if ctx.declaration.name in self.names else None

    def before_pass(self, ctx: PassContext) -> None:
        """Write down."""
        self.told.append(f"before {ctx.declaration.name}")

    def pass_skipped(self, name: str, because: Any) -> None:
        """Write down."""
        steps = because[0]
        self.told.append(f"skipped {name}: {steps.source}: {steps.rule}: {steps.value}")


def model() -> Graph:
    """x -> TensorMove m -> Relu r -> out."""
    builder = GraphBuilder()
    move = builder.node("TensorMove", builder.data("x"), name="m")
    relu = builder.node("Relu", move.outputs[0], name="r")
    builder.node("NetOutput", relu.outputs[0], name="out", outputs=[])
    return builder.graph


def test_a_vetoed_pass_does_not_run(run: Run) -> None:
    """Instruments, warnings, the remark of the copy and the report say so."""
    graph, against = model(), Against("A", answer=Veto("not today", "watch-dist 2.0"))
    passes = {"A": {"cls": Drops, "handles": ("move",)}, "B": {}}
    env, report = run(graph, passes, instruments=[against])
    assert ["B"] == [run.name for run in report.passes]
    assert ["skipped A: watch-dist 2.0: veto: not today", "before B"] == against.told
    assert ["pass A did not run (veto: watch-dist 2.0: not today)"] == env.warnings
    remark = env.remarks.final("m")
    assert remark is not None and remark.hint is not None
    assert ("PASS_OFF", "pass A is off (watch-dist 2.0: not today)") == (
        remark.code,
        remark.reason,
    )
    assert "run without watch-dist 2.0" == remark.hint.value


def test_a_veto_in_words_names_the_instrument(run: Run) -> None:
    """Its class, where it says nothing else."""
    env, _ = run(model(), {"A": {"cls": Drops}}, instruments=[Against("A")])
    assert ["pass A did not run (veto: Against: not today)"] == env.warnings


def test_the_first_veto_counts(run: Run) -> None:
    """The others are not asked any more."""
    second = Against("A", answer=3)
    env, _ = run(model(), {"A": {"cls": Drops}}, instruments=[Against("A"), second])
    assert ["pass A did not run (veto: Against: not today)"] == env.warnings


@pytest.mark.parametrize("answer", [True, "", "  ", Veto("", "w 1"), 3])
def test_a_veto_without_a_reason(run: Run, answer: object) -> None:
    """Nobody could be told why."""
    with pytest.raises(PluginError, match="answered .* when asked for a veto"):
        run(model(), {"A": {"cls": Drops}}, instruments=[Against("A", answer=answer)])


def test_a_required_pass_can_not_be_vetoed(run: Run) -> None:
    """Both packages are named."""
    against = Against("acme.A", answer=Veto("not today", "watch-dist 2.0"))
    with pytest.raises(PluginError) as raised:
        run(model(), {}, acme={"A": {"cls": Drops, "required": True}}, instruments=[against])
    assert "pass 'acme.A' is required and was kept from running (veto: not today)" == (
        raised.value.message
    )
    assert "acme-casts 1.0, watch-dist 2.0" == raised.value.owner


def test_what_needs_a_vetoed_pass_does_not_run_either(run: Run) -> None:
    """As where that pass is switched off; the chain is told link by link."""
    against = Against("A")
    passes: dict[str, Any] = {"A": {}, "B": {"needs": ("A",)}, "C": {"needs": ("B",)}, "D": {}}
    _, report = run(model(), passes, instruments=[against])
    assert ["D"] == [run.name for run in report.passes]
    assert [
        "skipped A: Against: veto: not today",
        "skipped B: passes: needs: A did not run",
        "skipped C: passes: needs: B did not run",
        "before D",
    ] == against.told


def test_what_requires_a_claim_of_a_vetoed_pass_does_not_run_either(run: Run) -> None:
    """Unless another pass has established it."""
    passes: dict[str, Any] = {
        "A": {"establishes": ("nodes_stay",)},
        "C": {"requires": ("nodes_stay",)},
    }
    env, report = run(model(), passes, instruments=[Against("A")])
    assert [] == report.passes
    text = "pass C did not run (requires: A did not run, so nodes_stay does not hold)"
    assert text == env.warnings[-1]
    _, report = run(
        model(), {**passes, "B": {"establishes": ("nodes_stay",)}}, instruments=[Against("A")]
    )
    assert ["B", "C"] == [run.name for run in report.passes]


def test_a_required_pass_that_needs_a_vetoed_one(run: Run) -> None:
    """Kept from running all the same: an error."""
    passes: dict[str, Any] = {"A": {}, "B": {"needs": ("A",), "required": True}}
    with pytest.raises(PluginError) as raised:
        run(model(), passes, instruments=[Against("A")])
    assert "pass 'B' is required and was kept from running (needs: A did not run)" == (
        raised.value.message
    )


def test_a_vetoed_pass_invalidates_nothing(run: Run) -> None:
    """What it would have ended goes on being enforced."""

    def tidy(passes: PassRegistry) -> None:
        passes.add_claim(
            "has_move",
            check=lambda graph: None if graph.find("m") else "there is no move",
            summary="there is a move",
        )

    passes = {
        "A": {"establishes": ("has_move",)},
        "B": {"invalidates": ("has_move",)},
        "C": {"cls": Drops},
    }
    run(model(), passes, declare=tidy)
    with pytest.raises(PluginError, match="pass 'C' breaks the claim 'has_move'"):
        run(model(), passes, declare=tidy, instruments=[Against("B")])


class Once(Instrument):
    """Lets a pass run once, and vetoes it from then on."""

    def __init__(self) -> None:
        self.ran = 0

    def veto_pass(self, ctx: PassContext) -> str | None:
        """A veto after the first run."""
        self.ran += 1
        return "once is enough" if self.ran > 1 else None


def test_a_veto_in_a_later_turn_of_a_repeat(run: Run) -> None:
    """The pass has run, so nothing it handles says that it is off; the warning stands."""

    class Grows(GraphPass):
        def run(self, graph: Graph, ctx: PassContext) -> None:
            graph.set_attr(graph.node("r"), "n", graph.node("r").attrs.get("n", 0) + 1)

    passes = {"A": {"cls": Grows, "repeat": 5, "handles": ("TensorMove",)}}
    env, report = run(model(), passes, instruments=[Once()])
    assert ["A"] == [run.name for run in report.passes]
    assert ["pass A did not run again (veto: Once: once is enough)"] == env.warnings
    remark = env.remarks.final("m")
    assert remark is not None and "NO_RULE_AT_LEVEL" == remark.code
