"""Precedence against an oracle that is written another way, and the table that documents it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ge_core.ir import Graph
from ge_core.passes import GraphPass, Level, LevelRegistry, OptionRegistry, PassRegistry
from ge_core.passes.builtin_options import register_builtin_options
from ge_core.passes.precedence import RULES, SOURCE_RULES, Decision, settle
from ge_core.passes.sources import LEVEL, STRENGTH, STRICT, SWITCH, SWITCH_FILE, Source
from ge_core.registry import Owner

FOLD, DEAD = "ge.oo.constantFolding", "ge.oo.deadCodeElimination"
BUILTIN = Owner("kernel", "graph-engine-core", "1.0", builtin=True)
ACME = Owner("acme", "acme-casts", "1.0")


class Nothing(GraphPass):
    """Does nothing."""

    def run(self, graph: Graph, ctx: Any) -> None:
        """Nothing."""


PASSES: Mapping[str, tuple[Owner, tuple[str, ...], tuple[str, ...]]] = {
    "A": (BUILTIN, Level.O3.and_above(), ()),
    "B": (BUILTIN, (), (FOLD,)),
    "C": (BUILTIN, ("O1",), (FOLD, DEAD)),
    "acme.D": (ACME, Level.O1.and_above(), ()),
    "acme.E": (ACME, ("O4",), (DEAD,)),
}
"""Owner, levels and switch options."""


def registries() -> tuple[OptionRegistry, PassRegistry]:
    """The kernel's options, and the passes above."""
    options, passes = OptionRegistry(), PassRegistry()
    register_builtin_options(options)
    for name, (owner, levels, switch) in PASSES.items():
        staged = PassRegistry()
        staged.add(Nothing, name=name, levels=levels, stage="PREPARE", switch=switch)
        passes.absorb(staged, owner)
    return options, passes


OPTIONS, REGISTERED = registries()


@dataclass(frozen=True)
class File:
    """A fusion-switch file."""

    switches: Mapping[str, bool] = field(default_factory=dict)
    every: bool | None = None
    exceptions: tuple[str, ...] = ()

    def text(self) -> str:
        """In GE's JSON form."""
        import json

        said = {name: "on" if on else "off" for name, on in self.switches.items()}
        if self.every is not None:
            said["ALL"] = "on" if self.every else "off"
        return json.dumps(
            {
                "Switch": {"GraphFusion": said},
                "ExceptionalPassOfO1Level": list(self.exceptions),
            }
        )


@dataclass(frozen=True)
class Said:
    """What one source says, in parts."""

    source: str
    tokens: tuple[tuple[str, bool], ...] = ()
    own: Mapping[str, bool] = field(default_factory=dict)
    enable: tuple[str, ...] = ()
    disable: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    file: File | None = None
    marker: bool = False

    def to_source(self, folder: Path, number: int) -> Source:
        """The same as the kernel takes it."""
        options = dict(self.options)
        texts = [f"{name}:{'on' if on else 'off'}" for name, on in self.tokens]
        if self.marker:
            texts.append("forbidden_close_pass:on")
        if texts:
            options[SWITCH] = ";".join(texts)
        for name, on in self.own.items():
            options[name] = "on" if on else "false"
        if self.file is not None:
            (folder / f"{number}.cfg").write_text(self.file.text())
            options[SWITCH_FILE] = f"{number}.cfg"
        return Source(self.source, options, self.enable, self.disable, folder=folder)


NAMES = st.sampled_from(sorted(PASSES))
NAMED = st.dictionaries(NAMES, st.booleans(), max_size=3)
FILES = st.builds(
    File, NAMED, st.none() | st.booleans(), st.lists(NAMES, unique=True, max_size=2).map(tuple)
)
SAID = st.builds(
    Said,
    source=st.sampled_from(STRENGTH),
    tokens=NAMED.map(lambda said: tuple(said.items())),
    own=NAMED,
    enable=st.lists(NAMES, max_size=2).map(tuple),
    disable=st.lists(NAMES, max_size=2).map(tuple),
    options=st.fixed_dictionaries(
        {},
        optional={
            LEVEL: st.sampled_from(list(map(str, Level))),
            FOLD: st.sampled_from(["", "true", "false"]),
            DEAD: st.sampled_from(["", "true", "false"]),
        },
    ),
    file=st.none() | FILES,
    marker=st.booleans(),
)
REPEATED = st.lists(st.tuples(NAMES, st.booleans()), max_size=4).map(tuple)


class Oracle:
    """All statements about a pass with their strength; the strongest one counts."""

    def __init__(self, said: list[Said], strict: bool) -> None:
        # Positions among all sources, strongest first, and in the order given among equals.
        self.said = [one for name in STRENGTH for one in said if one.source == name]
        self.strict = strict
        self.level = self._value(LEVEL) or "O3"

    def _value(self, option: str) -> str | None:
        return next((one.options[option] for one in self.said if option in one.options), None)

    def runs(self, name: str) -> bool:
        """Whether a pass runs."""
        return min(self._statements(name))[1]

    def _statements(self, name: str) -> Iterator[tuple[tuple[int, int], bool]]:
        owner, levels, switch = PASSES[name]
        with_file = next((at for at, one in enumerate(self.said) if one.file), None)
        for at, one in enumerate(self.said):
            for on in self._by_name(one, name, bool(switch)):
                yield (at, 10 + on), on
            if at == with_file:
                assert one.file is not None
                only_marker = one.marker and not one.tokens
                first = 0 if only_marker else 20
                if name in one.file.exceptions and self.level == "O1":
                    yield (at, first), True
                if name in one.file.switches:
                    yield (at, first + 1), one.file.switches[name]
                if one.file.every is not None and not owner.builtin:
                    yield (at, first + 2), one.file.every
        last = len(self.said)
        if not switch:
            yield (last, 0), self.level in levels
        for asked, option in enumerate(reversed(switch)):
            value = self._value(option)
            if value is None and self.level != "O0":
                value = "true"
            if value is not None:
                yield (last, asked), value != "false"
        yield (last, 9), False

    def _by_name(self, one: Said, name: str, bound: bool) -> set[bool]:
        by_text = [on for other, on in one.tokens if other == name]
        own = [one.own[name]] if name in one.own else []
        if self.strict:
            said = {*by_text, *own}
        else:
            said = set(by_text[-1:] if bound or not own else own)
        said |= {True} if name in one.enable else set()
        return said | ({False} if name in one.disable else set())


def decide(said: list[Said], folder: Path, strict: bool = True) -> dict[str, Decision]:
    """What the kernel decides on each pass."""
    sources = [one.to_source(folder, at) for at, one in enumerate(said)]
    if not strict:
        sources.append(Source(STRENGTH[-1], {STRICT: "false"}))
    found = settle(sources, OPTIONS, REGISTERED, LevelRegistry())
    return {declaration.name: found.decide(declaration) for declaration in REGISTERED}


@given(st.lists(SAID, max_size=4))
@settings(max_examples=250, deadline=None)
def test_the_oracle_agrees(tmp_path_factory: pytest.TempPathFactory, said: list[Said]) -> None:
    """Every set of sources decides on every pass as the oracle does."""
    oracle = Oracle(said, strict=True)
    got = decide(said, tmp_path_factory.mktemp("files"))
    assert {name: oracle.runs(name) for name in PASSES} == {n: d.runs for n, d in got.items()}


@given(st.lists(SAID, max_size=3), REPEATED)
@settings(max_examples=120, deadline=None)
def test_the_oracle_agrees_in_tolerant_reading(
    tmp_path_factory: pytest.TempPathFactory,
    said: list[Said],
    repeated: tuple[tuple[str, bool], ...],
) -> None:
    """GE's: the last of several switches counts, and an unbound pass's own name overrules them."""
    said = [*said, Said("arguments", tokens=repeated)]
    oracle = Oracle(said, strict=False)
    got = decide(said, tmp_path_factory.mktemp("files"), strict=False)
    assert {name: oracle.runs(name) for name in PASSES} == {n: d.runs for n, d in got.items()}


@given(st.lists(SAID, max_size=4), st.data())
@settings(max_examples=40, deadline=None)
def test_the_order_among_other_sources_does_not_matter(
    tmp_path_factory: pytest.TempPathFactory, said: list[Said], data: st.DataObject
) -> None:
    """Only that among sources of one name does; the chain's first step is what decided."""
    one_each = list({one.source: one for one in said}.values())
    turned = data.draw(st.permutations(one_each))
    folder = tmp_path_factory.mktemp("files")
    got = decide(one_each, folder)
    assert {n: d.runs for n, d in got.items()} == {
        n: d.runs for n, d in decide(turned, folder).items()
    }
    assert [] == [d for d in got.values() if d.because[0].rule not in RULES]


# ---- the table -----------------------------------------------------------------------------------


BY_RULE: Mapping[str, Callable[[bool], dict[str, Any]]] = {
    "explicit off": lambda on: {} if on else {"disable": ("acme.D",)},
    "explicit on": lambda on: {"enable": ("acme.D",)} if on else {},
    "switch file": lambda on: {"switches": {"acme.D": on}},
    "switch file ALL": lambda on: {"every": on},
}
"""What one source says by each rule; by the first two only one thing can be said."""


def _said(source: str, *by: tuple[str, bool]) -> Said:
    facts: dict[str, Any] = {}
    for rule, on in by:
        facts.update(BY_RULE[rule](on))
    file = {key: facts.pop(key) for key in ("switches", "every") if key in facts}
    return Said(source, file=File(**file) if file else None, **facts)


ROWS = [(source, rule) for source in STRENGTH for rule in SOURCE_RULES]


def can_say(rule: str) -> tuple[bool, ...]:
    """On, off, or both."""
    return {"explicit off": (False,), "explicit on": (True,)}.get(rule, (True, False))


def contradictions(row: tuple[str, str], other: tuple[str, str]) -> list[bool]:
    """What one row can say against another; two files are never in force at once."""
    files = [rule for _, rule in (row, other) if rule.startswith("switch file")]
    if len(files) == 2 and row[0] != other[0]:
        return []
    return [on for on in can_say(row[1]) if (not on) in can_say(other[1])]


PAIRS = [
    (row, other)
    for at, row in enumerate(ROWS)
    for other in ROWS[at + 1 :]
    if contradictions(row, other)
]


def test_all_rules_of_sources_are_tried() -> None:
    """None that the table lists is left out here."""
    assert SOURCE_RULES == tuple(BY_RULE)
    assert [*SOURCE_RULES, "switch option", "level"] == list(RULES)


@pytest.mark.parametrize(("row", "below"), PAIRS, ids=str)
def test_each_row_of_the_table_beats_those_below(
    row: tuple[str, str], below: tuple[str, str], tmp_path: Path
) -> None:
    """Whichever says on, and whichever off."""
    for on in contradictions(row, below):
        first, second = (row[1], on), (below[1], not on)
        if row[0] == below[0]:
            said = [_said(row[0], first, second)]
        else:
            said = [_said(below[0], second), _said(row[0], first)]
        decision = decide(said, tmp_path)["acme.D"]
        assert (on, row[1]) == (decision.runs, decision.because[0].rule)


@pytest.mark.parametrize("row", ROWS, ids=" ".join)
def test_each_row_beats_switch_options_and_levels(row: tuple[str, str], tmp_path: Path) -> None:
    """`acme.D` is on by its level at O3, `acme.E` by its option."""
    source, rule = row
    for on in can_say(rule):
        level = "O0" if on else "O3"
        said = [_said(source, (rule, on)), Said("environment", options={LEVEL: level})]
        decision = decide(said, tmp_path)["acme.D"]
        assert (on, rule) == (decision.runs, decision.because[0].rule)
        assert "level" == decision.because[-1].rule


def test_a_switch_option_is_asked_before_the_level(tmp_path: Path) -> None:
    """A bound pass's own levels say nothing: C is for O1 alone, and on at O3."""
    decision = decide([], tmp_path)["C"]
    assert (True, ["switch option"]) == (decision.runs, [b.rule for b in decision.because])
