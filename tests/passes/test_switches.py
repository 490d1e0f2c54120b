"""Switch texts: nothing in them is passed over in silence."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ge_core.errors import GeError, OptionError
from ge_core.passes import OptionRegistry, PassRegistry
from ge_core.passes.builtin_options import register_builtin_options
from ge_core.passes.levels import LevelRegistry
from ge_core.passes.precedence import Settings, settle
from ge_core.passes.sources import DISABLE, STRICT, SWITCH, Source
from ge_core.passes.switches import GE_DISABLES, NameReader, is_marker
from ge_core.registry import Owner

from .conftest import BUILTIN, Nothing


def registries(names: Sequence[str]) -> tuple[OptionRegistry, PassRegistry]:
    """The kernel's options and passes of these names."""
    options, passes, staged = OptionRegistry(), PassRegistry(), PassRegistry()
    register_builtin_options(options)
    for name in names:
        staged.add(Nothing, name=name, levels=("O3",), stage="PREPARE")
    passes.absorb(staged, BUILTIN)
    return options, passes


OPTIONS, PASSES = registries(["A", "B", *GE_DISABLES])


def settled(options: dict[str, str]) -> Settings:
    """The settings where arguments say this."""
    return settle([Source("arguments", options)], OPTIONS, PASSES, LevelRegistry())


def decided(found: Settings) -> dict[str, bool]:
    """Which passes somebody named, and whether they run."""
    decisions = [found.decide(declaration) for declaration in PASSES]
    return {decision.name: decision.runs for decision in decisions if decision.explicit}


NAMES = st.sampled_from(["A", "B", " A", "C", "", "ge.oo.level", "forbidden_close_pass"])
TOKENS = st.builds(
    "{}{}{}".format,
    NAMES,
    st.sampled_from([":", "", "::"]),
    st.sampled_from(["on", "off", "On", " off", ""]),
)
GOOD = {("A", "on"), ("A", "off"), ("B", "on"), ("B", "off")}
MARKERS = {("forbidden_close_pass", "on"), ("forbidden_close_pass", "off")}


def parts(token: str) -> tuple[str, str]:
    """Name and value, as GE splits them."""
    name, _, value = token.partition(":")
    return name, value


@given(st.lists(TOKENS, max_size=4))
@example(["A:on", "A:on"])
@example(["A:on", ""])
@settings(max_examples=300)
def test_strictly_all_of_a_text_counts_or_it_is_an_error(tokens: list[str]) -> None:
    """Each token switches a pass that there is, once; or the text is no value."""
    read = [parts(token) for token in tokens]
    if tokens and tokens[-1] == "":
        read.pop()  # a last semicolon ends the text
    switches = [part for part in read if part not in MARKERS]
    names = [name for name, _ in switches]
    valid = set(switches) <= GOOD and len(set(names)) == len(names)
    text = ";".join(tokens)
    if valid:
        assert {name: value == "on" for name, value in switches} == decided(settled({SWITCH: text}))
        return
    with pytest.raises(OptionError) as raised:
        settled({SWITCH: text})
    assert (SWITCH, text) == (raised.value.parameter, raised.value.value)
    assert raised.value.reason


def problem_of(token: str) -> tuple[str, str]:
    """What a warning is about: a name that is no pass's, or the whole token."""
    name, value = parts(token)
    return ("name", name) if name and value in ("on", "off") else ("token", token)


@given(st.lists(TOKENS, max_size=4))
@settings(max_examples=300)
def test_tolerantly_what_is_ignored_is_told(tokens: list[str]) -> None:
    """As GE reads it: the last switch of a pass counts, and what is left out is a warning."""
    text = ";".join(tokens)
    found = settled({SWITCH: text, STRICT: "false"})
    read = [parts(token) for token in tokens]
    expected = {name: value == "on" for name, value in read if (name, value) in GOOD}
    assert expected == decided(found)
    kept = tokens[:-1] if tokens and tokens[-1] == "" else tokens
    ignored = {problem_of(token) for token in kept if parts(token) not in GOOD | MARKERS}
    assert len(ignored) == len([line for line in found.warnings if line.endswith("; ignored")])


@given(st.lists(st.sampled_from(["A", "B", " A", "C", "", *GE_DISABLES]), max_size=4))
@settings(max_examples=200)
def test_disabled_names_count_or_are_told(names: list[str]) -> None:
    """Strictly all of them are passes; tolerantly GE's three are, and the others are warnings."""
    text = ",".join(names)
    if set(names) <= set(PASSES.names()) and len(set(names)) == len(names):
        assert dict.fromkeys(names, False) == decided(settled({DISABLE: text}))
    elif text:
        with pytest.raises(OptionError):
            settled({DISABLE: text})
    found = settled({DISABLE: text, STRICT: "false"})
    read = text.strip().split(",")
    assert {name: False for name in read if name in GE_DISABLES} == decided(found)
    others = {name for name in read if name and name not in GE_DISABLES}
    assert len(others) == len(found.warnings)


def test_the_marker_alone() -> None:
    """Nothing else is exactly GE's marker."""
    assert is_marker("forbidden_close_pass:on")
    assert is_marker("forbidden_close_pass:off")
    assert not is_marker("A:on;forbidden_close_pass:on")
    assert not is_marker("")


def test_a_pass_that_a_failed_plugin_would_have_brought() -> None:
    """The error says why it isn't there."""
    options, passes = registries(["A"])
    passes.absent = {"vendorx": "plugin 'vendorx' failed at import"}
    (switch,) = NameReader(options, passes).switches("vendorx.Fuse:off")
    assert "no pass 'vendorx.Fuse': plugin 'vendorx' failed at import" == switch.problem


def test_names_in_errors_have_their_owners() -> None:
    """Of options and passes alike."""
    options, passes = OptionRegistry(), PassRegistry()
    acme = Owner("acme", "acme-casts", "1.0")
    staged_options, staged = OptionRegistry(), PassRegistry()
    staged_options.add("Drops", help="")
    staged.add(Nothing, name="Drop", levels=("O3",), stage="PREPARE")
    options.absorb(staged_options, acme)
    passes.absorb(staged, acme)
    assert ("acme.Drop (acme-casts 1.0)", "acme.Drops (acme-casts 1.0)") == NameReader(
        options, passes
    ).near("acme.Dro")


OTHER_KEYS = (
    "ge.oo.level ge.fusionSwitchFile ge.topoSortingMode ge.exec.outputReuseInputMemIndexes"
    " OP_NO_REUSE_MEM A A.limit Ghost ."
)
KEYS = st.sampled_from([SWITCH, DISABLE, STRICT, "", *OTHER_KEYS.split()])
VALUES = st.text(max_size=12) | st.sampled_from(["on", "true", "O1", "A:on", "0,0", ";", ":", ","])


@given(st.dictionaries(KEYS, VALUES, max_size=4))
@example({"ge.fusionSwitchFile": "\0"})
@example({"ge.fusionSwitchFile": "\ud800"})
@example({"ge.fusionSwitchFile": "."})
@settings(max_examples=300)
def test_any_options_are_read_or_refused(options: dict[str, str]) -> None:
    """Never anything but settings, or an error of the product that has a code of its own."""
    assert outcome(options) in ("read", "E10001", "GE00003", "GE00004")


def outcome(options: dict[str, str]) -> str:
    """`read`, or the code of the error."""
    try:
        settled(options)
    except GeError as error:
        return error.code
    return "read"


def test_switches_are_separated_by_semicolons() -> None:
    """A comma is told."""
    with pytest.raises(OptionError) as raised:
        settled({SWITCH: "A:on,A:off"})
    assert "separate the passes with ';'" in str(raised.value.hint)


def test_an_option_in_a_switch_text_names_the_passes_that_it_switches() -> None:
    """Those too whose author left out the prefix of an option of theirs."""
    acme = Owner("acme", "acme-ge", "1.0")
    options, passes = OptionRegistry(), PassRegistry()
    register_builtin_options(options)
    declared, staged = OptionRegistry(), PassRegistry()
    declared.add("fold", type="switch", help="Fold.")
    staged.add(Nothing, name="Short", levels=(), stage="PREPARE", switch="fold")
    staged.add(Nothing, name="Full", levels=(), stage="PREPARE", switch="acme.fold")
    options.absorb(declared, acme)
    passes.absorb(staged, acme)
    (said,) = NameReader(options, passes).switches("acme.fold:on")
    assert said.hint == (
        "it is set by its own name: acme.fold=true; passes bound to it: acme.Full, acme.Short"
    )
