"""Random schedules of passes that keep, break, invalidate, require and establish claims."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ge_core.errors import PassError, UsageError
from ge_core.ir import Graph, GraphBuilder
from ge_core.passes import GraphPass, PassContext, PassRegistry
from ge_core.passes.environment import Environment
from ge_core.passes.instruments import Instrument
from ge_core.passes.manager import PassManager
from ge_core.passes.planning import Catalog, plan_passes

MakeCatalog = Callable[..., Catalog]
MakeEnvironment = Callable[..., Environment]

KINDS = ("by_pass", "since", "even")
"""Each claim speaks of a number that the graph holds under the claim's name: a pass leaves it, it
stays as it was when the claim was established, or it is even."""


@dataclass(frozen=True)
class Script:
    """What one pass says of claims, and by how much it raises each one's number."""

    requires: frozenset[str] = frozenset()
    establishes: frozenset[str] = frozenset()
    invalidates: frozenset[str] = frozenset()
    adds: Mapping[str, int] = field(default_factory=dict)
    vetoed: bool = False


claims = st.frozensets(st.sampled_from(KINDS))
sums = st.tuples(*[st.sampled_from((0, 0, 1, 2))] * 3).map(
    lambda plus: dict(zip(KINDS, plus, strict=True))
)
scripts = st.builds(
    Script,
    requires=claims,
    establishes=claims,
    invalidates=st.one_of(st.just(frozenset[str]()), claims),
    adds=sums,
    vetoed=st.sampled_from((False, False, False, True)),
)


@st.composite
def schedules(draw: st.DrawFn) -> list[Script]:
    """Up to seven passes; most require only what is established, or was so before."""
    mode = draw(st.sampled_from(("honest", "forgets invalidations", "honest", "wild")))
    listed = [draw(scripts) for _ in range(draw(st.integers(1, 7)))]
    if mode == "wild":
        return listed
    held: set[str] = set()
    met = []
    for script in listed:
        # Some want all that they may have.
        wanted = script.requires & held if len(script.requires) < 2 else frozenset(held)
        met.append(replace(script, requires=wanted))
        held |= script.establishes
        if mode == "honest":
            held -= script.invalidates - script.establishes
    return met


# ---- the oracle ----------------------------------------------------------------------------------


def refused(listed: list[Script]) -> set[str]:
    """The claims that some pass requires where nobody has established them."""
    held: set[str] = set()
    lacking: set[str] = set()
    for script in listed:
        lacking |= script.requires - held
        held -= script.invalidates
        held |= script.establishes
    return lacking


def outcome(listed: list[Script]) -> tuple[list[int], int | None, dict[str, int]]:
    """Which passes run to their end, which one fails, and the numbers at the end."""
    values = dict.fromkeys(KINDS, 0)
    held: dict[str, int] = {}
    ran: list[int] = []
    skipped: list[Script] = []
    for at, script in enumerate(listed):
        missing = script.requires - held.keys()
        promised = {claim for other in skipped for claim in other.establishes}
        if script.vetoed or missing & promised:
            skipped.append(script)
            continue
        for claim in script.invalidates:
            held.pop(claim, None)
        after = {name: values[name] + script.adds.get(name, 0) for name in KINDS}
        fails = any(breaks(claim, held[claim], values[claim], after[claim]) for claim in held)
        if fails or ("even" in script.establishes and after["even"] % 2):
            return ran, at, values
        values = after
        held.update({claim: values[claim] for claim in script.establishes})
        ran.append(at)
    return ran, None, values


def breaks(claim: str, established: int, before: int, after: int) -> bool:
    """Whether a step breaks a claim that holds."""
    if claim == "by_pass":
        return before != after
    return after != established if claim == "since" else after % 2 == 1


# ---- the same with passes ------------------------------------------------------------------------


def number(name: str) -> Callable[[Graph], int]:
    """The number that a claim speaks of."""
    return lambda graph: int(graph.node("x").attrs[name])


def declare(passes: PassRegistry) -> None:
    """The three claims."""

    def unchanged(name: str) -> Callable[[Graph, int], str | None]:
        return lambda graph, old: None if number(name)(graph) == old else "it has changed"

    even = number("even")
    passes.add_claim(
        "by_pass", remember=number("by_pass"), check=unchanged("by_pass"), summary="left alone"
    )
    passes.add_claim(
        "since",
        remember=number("since"),
        check=unchanged("since"),
        since="established",
        summary="as it was",
    )
    passes.add_claim(
        "even", check=lambda graph: "it is odd" if even(graph) % 2 else None, summary="even"
    )


def declared(script: Script) -> dict[str, Any]:
    """A pass that does what a script says."""

    class Scripted(GraphPass):
        def run(self, graph: Graph, ctx: PassContext) -> None:
            node = graph.node("x")
            for name, plus in script.adds.items():
                if plus:
                    graph.set_attr(node, name, node.attrs[name] + plus)

    return {
        "cls": Scripted,
        "requires": sorted(script.requires),
        "establishes": sorted(script.establishes),
        "invalidates": sorted(script.invalidates),
    }


class Vetoes(Instrument):
    """Vetoes some passes."""

    def __init__(self, names: set[str]) -> None:
        self.names = names

    def veto_pass(self, ctx: PassContext) -> str | None:
        """The scripted vetoes."""
        return "scripted" if ctx.declaration.name in self.names else None


@settings(max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(listed=schedules())
def test_schedules_of_claims_agree_with_the_oracle(
    catalog: MakeCatalog, environment: MakeEnvironment, listed: list[Script]
) -> None:
    """The same plans are refused, the same pass is blamed, the same edits stay."""
    passes = {f"P{at}": declared(script) for at, script in enumerate(listed)}
    made = catalog(passes, declare=declare)
    lacking = refused(listed)
    if lacking:
        with pytest.raises(UsageError) as refusal:
            plan_passes(made)
        assert f"requires the claim {min(lacking)!r}" in str(refusal.value)
        return
    builder = GraphBuilder()
    builder.data("x", attrs=dict.fromkeys(KINDS, 0))
    schedule = plan_passes(made)
    against = Vetoes({f"P{at}" for at, script in enumerate(listed) if script.vetoed})
    manager = PassManager(schedule, environment(builder.graph, schedule), [against], audit=True)
    ran, failing, values = outcome(listed)
    if failing is None:
        manager.run()
    else:
        with pytest.raises(PassError) as raised:
            manager.run()
        assert raised.value.message.startswith(f"pass 'P{failing}' ")
    assert [f"P{at}" for at in ran] == [run.name for run in manager.report.passes]
    assert values == {name: number(name)(builder.graph) for name in KINDS}
