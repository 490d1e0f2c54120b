"""Names that passes say and that name nothing: a warning, with what is meant."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from ge_core.ir import Graph, GraphBuilder
from ge_core.passes import GraphPass, PassContext
from ge_core.passes.misspelled import odd_declarations
from ge_core.passes.planning import Catalog, plan_passes
from ge_core.passes.precedence import Source

from .conftest import Nothing, Run


def one_exp() -> Graph:
    """x -> Exp e -> out."""
    builder = GraphBuilder("root")
    builder.net_output(builder.op("Exp", builder.data("x"), name="e"))
    return builder.graph


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("moves", "move"),
        ("TensorMov", "TensorMove"),
        ("copies", "move or join or pack or split or slice"),
        ("move", None),
        ("TensorMove", None),
        ("Exp", None),
        ("AcmeFused", None),
    ],
)
def test_what_a_pass_handles(run: Run, name: str, meant: str | None) -> None:
    """A kind of copies, or an op type, which nobody has to declare; the pass and package else."""
    env, _ = run(one_exp(), {}, acme={"P": {"cls": Nothing, "handles": (name,)}})
    said = (
        f"pass acme.P (acme-casts 1.0) says handles {name}, which is no kind of copy and no op"
        f" type: is {meant} meant?"
    )
    assert ([] if meant is None else [said]) == env.warnings


@dataclass(frozen=True)
class Hints(GraphPass, codes={"X": "so it is"}):
    """Has an option."""

    shred: bool = False
    """Whether."""
    hint: str = ""
    """What to hint at."""

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Hint twice: one warning."""
        for name in ("e", "x"):
            ctx.missed(graph.node(name), "X", hint={"set": self.hint})


@pytest.mark.parametrize(
    ("hint", "says"),
    [
        ("acme.P.shred=true", None),
        ("ge.oo.level=O3", None),
        ("acme.P.shrad=true", "acme.P.shrad, which is no option: is acme.P.shred meant?"),
        ("ge.oo.levl=O3", "ge.oo.levl, which is no option: is ge.oo.level meant?"),
        ("zzzzzzz=1", "zzzzzzz, which is no option"),
    ],
)
def test_what_a_pass_hints_at(run: Run, hint: str, says: str | None) -> None:
    """An option of the compile, or of a pass; the pass and its package else."""
    source = Source("arguments", {"acme.P.hint": hint})
    env, _ = run(one_exp(), {}, [source], acme={"P": {"cls": Hints}})
    said = [] if says is None else [f"pass acme.P (acme-casts 1.0) hints at setting {says}"]
    assert said == env.warnings


@pytest.mark.parametrize("label", ["before", "after"])
@pytest.mark.parametrize(
    ("name", "meant"), [("ConcatNotaskPas", "ConcatNotaskPass (graph-engine-core 1.0)"), ("Q", "")]
)
def test_a_constraint_that_is_nearly_an_installed_pass(
    catalog: Callable[..., Catalog], label: str, name: str, meant: str
) -> None:
    """A pass that isn't installed is none to be before; one that is misspelt is."""
    about: dict[str, Any] = {label: (name,)}
    schedule = plan_passes(catalog({"ConcatNotaskPass": {}}, {"P": about}))
    said = f"pass acme.P (acme-casts 1.0) says {label} {name}, which is no pass: is {meant} meant?"
    assert tuple([said] if meant else []) == schedule.warnings


def test_the_doctor_tells_of_passes_that_are_off_too(catalog: Callable[..., Catalog]) -> None:
    """It looks at all that is declared, whatever the level."""
    made = catalog({"ConcatNotaskPass": {}}, {"P": {"levels": (), "before": ("ConcatNotaskPas",)}})
    assert [
        "pass acme.P (acme-casts 1.0) says before ConcatNotaskPas, which is no pass: is"
        " ConcatNotaskPass (graph-engine-core 1.0) meant?"
    ] == [str(odd) for odd in odd_declarations(made.passes, made.options, made.pipelines.levels)]
