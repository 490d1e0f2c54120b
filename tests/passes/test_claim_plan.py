"""Claims when passes are planned: known names, and what is required holds where it runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ge_core.errors import GeError, PluginError, UsageError
from ge_core.passes import PassRegistry, Stage
from ge_core.passes.claim_plan import PassClaims
from ge_core.passes.planning import Catalog, Schedule, plan_passes
from ge_core.passes.precedence import ARGUMENTS, Source

MakeCatalog = Callable[..., Catalog]


def declare(passes: PassRegistry) -> None:
    """The claims `tidy` and `late`."""
    passes.add_claim("tidy", check=lambda graph: None, summary="all is tidy")
    passes.add_claim(
        "late", check=lambda graph: None, holds_after="TENSOR_MOVE", summary="it is late"
    )
    passes.add_claim("ever", check=lambda graph: None, always=True, summary="it always is")
    passes.add_analysis("table")


@pytest.fixture
def plan(catalog: MakeCatalog) -> Callable[..., Schedule]:
    """`plan({"A": {...}}, acme={...}, disable=(...), text="A,B")` -> Schedule."""

    def make(
        builtin: dict[str, Any],
        acme: dict[str, Any] | None = None,
        *,
        enable: tuple[str, ...] = (),
        disable: tuple[str, ...] = (),
        text: str | None = None,
        capabilities: tuple[str, ...] = (),
    ) -> Schedule:
        made = catalog(builtin, acme, declare=declare, capabilities=capabilities)
        source = Source(ARGUMENTS, {}, enable, disable, "arguments")
        return plan_passes(made, [source], text)

    return make


Plan = Callable[..., Schedule]


def refusal(kind: type[GeError], plan: Plan, *args: Any, **more: Any) -> GeError:
    """The error of a plan that can't be met."""
    with pytest.raises(kind) as raised:
        plan(*args, **more)
    return raised.value


# ---- requires ------------------------------------------------------------------------------------


def test_a_required_claim_that_is_established_before(plan: Plan) -> None:
    """Then it says nothing more; names may be written with or without the prefix."""
    builtin = {"A": {"establishes": ("tidy",)}}
    schedule = plan(
        builtin,
        {
            "B": {"requires": ("tidy", "nodes_stay"), "after": ("C",)},
            "C": {"establishes": ("nodes_stay",)},
        },
    )
    assert PassClaims(requires=("tidy", "nodes_stay")) == schedule.claims.of("acme.B")
    assert PassClaims(establishes=("tidy",)) == schedule.claims.of("A")


def test_a_required_claim_that_nobody_establishes(plan: Plan) -> None:
    """The error quotes what would have to hold."""
    error = refusal(UsageError, plan, {}, {"B": {"requires": ("tidy",)}})
    assert (
        "pass 'acme.B' can't run: it requires the claim 'tidy' (all is tidy), and no installed"
        " pass establishes it"
    ) == error.message
    assert "acme-casts 1.0" == error.owner


def test_a_required_claim_that_is_established_too_late(plan: Plan) -> None:
    """In one stage names decide the order, where no constraint says otherwise."""
    builtin = {"A": {"requires": ("tidy",)}, "B": {"establishes": ("tidy",)}}
    error = refusal(UsageError, plan, builtin)
    assert "'B', which establishes it, runs in OPTIMIZE_STAGE1: A -> B" in error.message
    assert "declare after=('B',), or write them so" == error.hint
    plan({**builtin, "A": {"requires": ("tidy",), "after": ("B",)}})
    late = {"B": {"establishes": ("tidy",), "stage": Stage.CHECK}}
    error = refusal(UsageError, plan, late, {"A": {"requires": ("tidy",)}})
    assert "'B', which establishes it, runs in CHECK: acme.A -> B" in error.message
    assert "acme-casts 1.0, graph-engine-core 1.0" == error.owner


def test_a_required_claim_whose_pass_is_off(plan: Plan) -> None:
    """The error says why it is off."""
    builtin = {"A": {"establishes": ("tidy",)}, "B": {"requires": ("tidy",)}}
    error = refusal(UsageError, plan, builtin, disable=("A",))
    assert "'A', which establishes it, is off (" in error.message
    assert "--enable A" == error.hint


def test_a_required_claim_that_is_invalidated_in_between(plan: Plan) -> None:
    """The three passes are shown in their order, with their packages."""
    builtin = {"A": {"establishes": ("tidy",)}, "C": {"requires": ("tidy",)}}
    acme = {"B": {"invalidates": ("tidy",), "after": ("A",), "before": ("C",)}}
    error = refusal(UsageError, plan, builtin, acme)
    assert (
        "pass 'C' can't run: it requires the claim 'tidy' (all is tidy), and 'A' establishes it"
        " and 'acme.B' invalidates it before: A -> acme.B -> C"
    ) == error.message
    assert "graph-engine-core 1.0, acme-casts 1.0" == error.owner
    plan({**builtin, "D": {"establishes": ("tidy",), "after": ("acme.B",), "before": ("C",)}}, acme)


def test_the_order_of_a_pipeline_text_counts(plan: Plan) -> None:
    """A user who writes the passes the other way round is told."""
    builtin = {"A": {"establishes": ("tidy",)}, "B": {"requires": ("tidy",)}}
    plan(builtin, text="A,B")
    error = refusal(UsageError, plan, builtin, text="B,A")
    assert "'A', which establishes it, runs in OPTIMIZE_STAGE1: B -> A" in error.message


def test_a_claim_that_holds_after_a_stage_is_there_for_later_passes(plan: Plan) -> None:
    """Nobody needs to establish it; before that stage nobody can."""
    plan({"A": {"requires": ("late", "ever"), "stage": Stage.MEM_CONFLICT}})
    error = refusal(UsageError, plan, {"A": {"requires": ("late",), "stage": "TENSOR_MOVE"}})
    assert "it holds after after_TENSOR_MOVE only, and this is TENSOR_MOVE" in error.message
    plan({"A": {"requires": ("ever",), "stage": "PREPARE"}})


def test_a_capability_that_nobody_brings_switches_a_pass_off(plan: Plan) -> None:
    """As ever: with a warning, or an error where somebody named the pass."""
    passes = {"A": {"requires": ("read_write",)}}
    schedule = plan(passes)
    assert ("pass A is off: nobody brings 'read_write'",) == schedule.warnings
    assert "nobody brings 'read_write'" in str(refusal(UsageError, plan, passes, enable=("A",)))
    assert ["A"] == [step.name for step in plan(passes, capabilities=("read_write",)).passes]


@pytest.mark.parametrize("name", ["read_wrte", "tydy", "acme.tidy"])
def test_a_requirement_that_nobody_declared(plan: Plan, name: str) -> None:
    """A mistyped one must not switch the pass off; it is an error, with what is near."""
    error = refusal(PluginError, plan, {}, {"B": {"requires": (name,)}})
    assert f"pass 'acme.B' requires {name!r}, which nobody declared" == error.message
    near = {"read_wrte": "read_write", "tydy": "tidy (graph-engine-core 1.0)"}
    assert near.get(name, "tidy (graph-engine-core 1.0)") in error.near
    assert "acme-casts 1.0" == error.owner


def test_a_pass_that_is_off_may_say_what_it_likes(plan: Plan) -> None:
    """A broken declaration of a pass that doesn't run stops nobody."""
    schedule = plan({"A": {"requires": ("tydy",), "levels": ()}})
    assert () == schedule.passes


# ---- establishes, invalidates, preserves ---------------------------------------------------------


@pytest.mark.parametrize(
    ("what", "name", "near"),
    [
        ("establishes", "tidi", "tidy (graph-engine-core 1.0)"),
        ("invalidates", "node_stay", "nodes_stay (graph-engine-core"),
        ("preserves", "alias", "aliases"),
        ("preserves", "tabel", "table (graph-engine-core 1.0)"),
    ],
)
def test_names_that_nobody_declared(plan: Plan, what: str, name: str, near: str) -> None:
    """An error of the package that wrote it, with what is near and whose that is."""
    error = refusal(PluginError, plan, {}, {"B": {what: (name,)}})
    assert f"pass 'acme.B' {what} {name!r}, which nobody declared" == error.message
    assert any(match.startswith(near) for match in error.near)
    assert "acme-casts 1.0" == error.owner


@pytest.mark.parametrize("what", ["invalidates", "preserves"])
def test_a_name_of_a_plugin_that_is_not_installed(plan: Plan, what: str) -> None:
    """It can harm nobody: what it speaks of isn't there. It is said once."""
    schedule = plan({}, {"B": {what: ("other.thing",)}})
    text = f"pass acme.B {what} 'other.thing', and no plugin 'other' is there"
    assert (text,) == schedule.warnings
    error = refusal(PluginError, plan, {}, {"B": {what: ("acme.thing",)}})
    assert "which nobody declared" in error.message


def test_only_an_installed_claim_can_be_established(plan: Plan) -> None:
    """To promise what nobody can check is no promise."""
    error = refusal(PluginError, plan, {}, {"B": {"establishes": ("other.thing",)}})
    assert "establishes 'other.thing', which nobody declared" in error.message


def test_why_an_absent_plugins_claim_is_not_there(plan: Plan, catalog: MakeCatalog) -> None:
    """The failure of the plugin is quoted."""
    made = catalog({}, {"B": {"invalidates": ("other.thing",), "requires": ("other.thing",)}})
    made.passes.absent = {"other": "plugin 'other' could not be loaded"}
    with pytest.raises(PluginError, match="nobody declared: plugin 'other' could not be loaded"):
        plan_passes(made)


@pytest.mark.parametrize("what", ["establishes", "invalidates"])
@pytest.mark.parametrize(("name", "since"), [("late", "from after_TENSOR_MOVE on"), ("ever", "al")])
def test_a_fixed_claim_is_no_passs_to_change(plan: Plan, what: str, name: str, since: str) -> None:
    """Planning and others rely on it; both packages are named."""
    error = refusal(PluginError, plan, {}, {"B": {what: (name,)}})
    assert f"pass 'acme.B' {what} claim {name!r}, which holds {since}" in error.message
    assert "acme-casts 1.0, graph-engine-core 1.0" == error.owner


def test_order_frozen_can_not_be_invalidated(plan: Plan) -> None:
    """The plan's offsets and the tasks follow the listed order."""
    acme = {"B": {"invalidates": ("order_frozen",), "stage": Stage.OFFSETS}}
    assert "no pass's to change" in refusal(PluginError, plan, {}, acme).message


def test_kernel_analyses_and_declared_ones_may_be_preserved(plan: Plan) -> None:
    """Names are resolved like those of constraints."""
    names = ("aliases", "effects", "order", "symbols", "tracer", "table")
    assert names == plan({"A": {"preserves": names}}).claims.of("A").preserves


# ---- repeated groups -----------------------------------------------------------------------------


def test_what_a_repeated_group_breaks_at_its_end_is_missing_at_its_start(plan: Plan) -> None:
    """The second turn begins where the first one ends."""
    builtin = {
        "A": {"establishes": ("tidy",)},
        "B": {"requires": ("tidy",)},
        "C": {"invalidates": ("tidy",)},
    }
    for text in ("A,B,C", "repeat{limit=4}(A,B,C)", "A,repeat{limit=1}(B,C)"):
        assert 3 == len(plan(builtin, text=text).passes)
    error = refusal(UsageError, plan, builtin, text="A,repeat{limit=4}(B,C)")
    assert "'A' establishes it and 'C' invalidates it before: A -> C -> B" in error.message
