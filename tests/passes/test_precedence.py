"""Who decides: the strength of sources, explicit off over on, switch options, the level."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ge_core.errors import OptionError, UnknownNameError, UsageError
from ge_core.passes import Level, LevelRegistry
from ge_core.passes.planning import Catalog
from ge_core.passes.precedence import STRENGTH, Because, Settings, Source, settle


@pytest.fixture
def settled(catalog: Callable[..., Catalog]) -> Callable[..., Settings]:
    """`settled(source, ..., A={...})`: the settings for passes A (given) and B (at O3)."""

    def make(*sources: Source, **a: Any) -> Settings:
        there = catalog({"A": a, "B": {"levels": Level.O3.and_above()}}, {"C": {}})
        return settle(sources, there.options, there.passes, LevelRegistry())

    return make


def runs(settled: Callable[..., Settings], *sources: Source, **a: Any) -> bool:
    """Whether pass A runs."""
    return decide(settled, *sources, **a)[0]


def decide(
    settled: Callable[..., Settings], *sources: Source, **a: Any
) -> tuple[bool, tuple[Because, ...]]:
    """Whether pass A runs, and the chain of decisions."""
    declaration = settled_declaration(settled, **a)
    decision = settled(*sources, **a).decide(declaration)
    return decision.runs, decision.because


def settled_declaration(settled: Callable[..., Settings], **a: Any) -> Any:
    """The declaration of A."""
    from ge_core.passes import PassRegistry
    from ge_core.passes.base import GraphPass

    class Nothing(GraphPass):
        def run(self, graph: Any, ctx: Any) -> None:
            pass

    passes = PassRegistry()
    passes.add(Nothing, **{"name": "A", "levels": Level.O0.and_above(), "stage": "PREPARE", **a})
    return passes.get("A")


def args(**options: str) -> Source:
    """Arguments that set options, written with __ for dots."""
    return Source("arguments", {name.replace("__", "."): v for name, v in options.items()})


@given(st.dictionaries(st.sampled_from(STRENGTH), st.sampled_from(["on", "off", "both", "no"])))
@settings(max_examples=60)
def test_the_strongest_source_that_names_a_pass_decides(said: dict[str, str]) -> None:
    """Inside it, off beats on; what nobody names follows the level."""
    sources = [
        Source(
            name,
            enable=("A",) if what in ("on", "both") else (),
            disable=("A",) if what in ("off", "both") else (),
        )
        for name, what in said.items()
    ]
    decisive = next((said[name] for name in STRENGTH if said.get(name, "no") != "no"), "level")
    expected = {"on": True, "off": False, "both": False, "level": False}[decisive]
    from ge_core.passes import OptionRegistry, PassRegistry
    from ge_core.passes.base import GraphPass
    from ge_core.passes.builtin_options import register_builtin_options

    class Nothing(GraphPass):
        def run(self, graph: Any, ctx: Any) -> None:
            pass

    options, passes = OptionRegistry(), PassRegistry()
    register_builtin_options(options)
    passes.add(Nothing, name="A", levels=("O4",), stage="PREPARE")
    decision = settle(sources, options, passes, LevelRegistry()).decide(passes.get("A"))
    assert expected == decision.runs


@pytest.mark.parametrize("order", [1, -1])
def test_the_strongest_value_of_an_option_counts(
    settled: Callable[..., Settings], order: int
) -> None:
    """In whatever order the sources are handed over; its source is remembered."""
    sources = [
        Source("environment", {"ge.topoSortingMode": "0"}),
        Source("project", {"ge.topoSortingMode": "1"}, origin="ge.toml"),
    ][::order]
    values = settled(*sources).values
    assert ("1", "ge.toml") == (
        values.get("ge.topoSortingMode"),
        values.source("ge.topoSortingMode"),
    )


def test_what_nobody_sets_the_level_decides(settled: Callable[..., Settings]) -> None:
    """The option has its default at the working level."""
    values = settled(args(ge__oo__level="O1")).values
    assert ("3", "level O1") == (
        values.get("ge.topoSortingMode"),
        values.source("ge.topoSortingMode"),
    )


def test_the_level_decides_on_a_pass(settled: Callable[..., Settings]) -> None:
    """O3 is the default level; below its own levels a pass is off."""
    on_from_o3 = {"levels": Level.O3.and_above()}
    assert runs(settled, **on_from_o3)
    assert not runs(settled, args(ge__oo__level="O2"), **on_from_o3)


def test_the_optimization_switch_is_explicit(settled: Callable[..., Settings]) -> None:
    """A:off in the arguments beats --enable in the project, and says so."""
    weaker = Source("project", enable=("A",), origin="ge.toml")
    running, because = decide(settled, args(ge__optimizationSwitch="A:off;B:on"), weaker)
    assert not running
    assert [
        Because("arguments", "explicit off", "ge.optimizationSwitch=A:off"),
        Because("ge.toml", "explicit on", "enable A"),
        Because("level", "level", "O3; on at O0, O1, O2, O3, O4"),
    ] == list(because)


def test_a_pass_name_is_a_switch_too(settled: Callable[..., Settings]) -> None:
    """`--set A=off`; other values are errors."""
    assert not runs(settled, args(A="off"))
    assert runs(settled, args(A="true"), levels=("O4",))
    with pytest.raises(OptionError, match="the value must be on or off"):
        settled(args(A="maybe"))


def test_a_switch_option_decides_before_the_level(settled: Callable[..., Settings]) -> None:
    """GE's rule: empty and true are on, what is absent at the level is off."""
    bound = {"switch": "ge.oo.constantFolding", "levels": ()}
    assert runs(settled, **bound)
    assert runs(settled, args(ge__oo__constantFolding=""), **bound)
    assert not runs(settled, args(ge__oo__constantFolding="false"), **bound)
    assert not runs(settled, args(ge__oo__level="O0"), **bound)


def test_the_secondary_switch_is_asked_first(settled: Callable[..., Settings]) -> None:
    """It decides where it is present, else the primary one."""
    bound = {"switch": ("ge.oo.constantFolding", "ge.oo.deadCodeElimination"), "levels": ()}
    assert not runs(settled, args(ge__oo__deadCodeElimination="false"), **bound)
    assert runs(settled, args(ge__oo__constantFolding="false"), **bound)


def test_explicit_on_beats_a_switch_option(settled: Callable[..., Settings]) -> None:
    """Whoever names the pass decides."""
    source = Source("arguments", {"ge.oo.constantFolding": "false"}, enable=("A",))
    assert runs(settled, source, switch="ge.oo.constantFolding")


def test_a_required_pass_can_not_be_switched_off(settled: Callable[..., Settings]) -> None:
    """An error that says who tried."""
    with pytest.raises(UsageError, match="'A' is required") as raised:
        runs(settled, Source("project", disable=("A",), origin="ge.toml"), required=True)
    assert "switched off by: ge.toml (disable A)" in str(raised.value)


def test_a_misspelled_pass_is_an_error(settled: Callable[..., Settings]) -> None:
    """In GE it is accepted in silence."""
    with pytest.raises(UnknownNameError, match="no pass 'acme.D'") as raised:
        settled(Source("arguments", enable=("acme.D",), origin="--enable acme.D"))
    assert "acme.C (acme-casts 1.0)" in str(raised.value)
    assert "given by: --enable acme.D" in str(raised.value)
    with pytest.raises(OptionError, match="no pass 'AA'"):
        settled(args(ge__optimizationSwitch="AA:off"))


def test_a_misspelled_option_is_an_error(settled: Callable[..., Settings]) -> None:
    """Near names are named."""
    with pytest.raises(UnknownNameError) as raised:
        settled(args(ge__oo__levl="O1"))
    assert "ge.oo.level" in raised.value.near


def test_the_error_for_a_level_says_how_it_was_given(settled: Callable[..., Settings]) -> None:
    """The value, the flag, and the levels that exist."""
    source = Source(
        "arguments", {"ge.oo.level": "O5"}, origins={"ge.oo.level": "--set ge.oo.level=O5"}
    )
    with pytest.raises(OptionError) as raised:
        settled(source)
    assert [
        "value 'O5' for option ge.oo.level is not a level",
        "  given by: --set ge.oo.level=O5",
        "  levels here: O0, O1, O2, O3, O4",
    ] == [line for line in str(raised.value).splitlines() if "near" not in line]


def test_malformed_values_are_errors_unless_they_may_be_read_tolerantly(
    settled: Callable[..., Settings],
) -> None:
    """`ge.strictOptions=false` lets through what GE reads somehow, and nothing else."""
    odd = {"ge.exec.inputReuseMemIndexes": "0,abc"}
    with pytest.raises(OptionError, match="comma list"):
        settled(Source("arguments", odd))
    tolerant = {**odd, "ge.strictOptions": "false"}
    found = settled(Source("arguments", tolerant)).values
    assert ("0,abc", False) == (found.get("ge.exec.inputReuseMemIndexes"), found.strict)
    with pytest.raises(OptionError, match="must be one of"):
        settled(Source("arguments", {"ge.strictOptions": "false", "ge.topoSortingMode": "9"}))
    with pytest.raises(OptionError, match="must be one of"):
        settled(args(ge__strictOptions="maybe"))


def test_a_tolerant_switch_ignores_bad_tokens_with_a_warning(
    settled: Callable[..., Settings],
) -> None:
    """As GE does, though it logs only; its marker is no pass."""
    text = "A:off;:on;B;B:yes;Ghost:on;forbidden_close_pass:on"
    source = Source("arguments", {"ge.optimizationSwitch": text, "ge.strictOptions": "false"})
    assert not runs(settled, source)
    warned = settled(source).warnings
    assert ["':on'", "'B'", "'B:yes'", "no pass 'Ghost'"] == [
        next(part for part in ("':on'", "'B'", "'B:yes'", "no pass 'Ghost'") if part in line)
        for line in warned
    ]


def test_disabled_optimizations(settled: Callable[..., Settings]) -> None:
    """A comma list of passes; read tolerantly it reaches none of ours, as in GE."""
    assert not runs(settled, args(ge__disableOptimizations="B,A"))
    tolerant = args(ge__disableOptimizations="A", ge__strictOptions="false")
    assert runs(settled, tolerant)
    assert ["'A' can't be disabled this way"] == [
        w.partition(": ")[2].partition(";")[0] for w in settled(tolerant).warnings
    ]


def test_a_source_has_a_known_strength() -> None:
    """Another name is a programming error."""
    with pytest.raises(ValueError, match="source 'wish' is none of"):
        Source("wish")


def test_pass_options_keep_the_strongest_text(settled: Callable[..., Settings]) -> None:
    """`A.limit` from the arguments, not from the project."""
    found = settled(Source("project", {"A.limit": "1"}), args(**{"A.limit": "2"})).pass_options
    assert "2" == found["A"]["limit"].value
