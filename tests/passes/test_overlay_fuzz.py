"""Random overlays on random passes: a schedule that does what they say, or one clear error."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ge_core.errors import PluginError, UsageError
from ge_core.passes import ALWAYS, GraphPass, OptionRegistry, PassRegistry, Place, Stage
from ge_core.passes.builtin_options import register_builtin_options
from ge_core.passes.overlays import Change, Overlay, RepeatChange, StageChange
from ge_core.passes.pipelines import PipelineRegistry
from ge_core.passes.planning import Catalog, Schedule, plan_passes
from ge_core.registry import Owner

OWNER = Owner("kernel", "graph-engine-core", "1.0", builtin=True)
NAMES = ("A", "B", "C", "D", "E", "F")
PLACES = (Place(Stage.PREPARE), Place(Stage.CHECK))
OPTIONS = OptionRegistry()
register_builtin_options(OPTIONS)


class _Nothing(GraphPass):
    def run(self, graph: object, ctx: object) -> None:
        """Nothing."""


names = st.sampled_from(NAMES)
few = st.lists(names, max_size=2, unique=True).map(tuple)
places = st.none() | st.sampled_from(PLACES)


@st.composite
def passes(draw: st.DrawFn) -> PassRegistry:
    """Six passes in two stages, with soft constraints that follow a hidden order."""
    staged, registry = PassRegistry(), PassRegistry()
    hidden = draw(st.permutations(NAMES))
    for at, name in enumerate(hidden):
        after = draw(st.lists(st.sampled_from(hidden[:at]), max_size=1)) if at else []
        staged.add(
            _Nothing,
            name=name,
            levels=draw(st.sampled_from([ALWAYS, ()])),
            stage=PLACES[at > 2],
            after=after,
            repeat=draw(st.sampled_from([1, 1, 4])),
        )
    registry.absorb(staged, OWNER)
    return registry


@st.composite
def overlays(draw: st.DrawFn, name: str, base: str) -> Overlay:
    """One that says up to three things."""
    said: dict[str, list[Any]] = {key: [] for key in ("add", "remove", "replace", "reorder")}
    repeats, stages = [], []
    for _ in range(draw(st.integers(0, 3))):
        kind = draw(st.sampled_from([*said, "repeat", "stage"]))
        if kind == "repeat":
            members = draw(st.lists(names, min_size=1, max_size=3, unique=True))
            repeats.append(RepeatChange(tuple(members), draw(st.integers(1, 5)), draw(places)))
        elif kind == "stage":
            text = draw(st.sampled_from(["one", "two", "three"]))
            stages.append(StageChange(draw(st.sampled_from(PLACES)), text))
        elif kind == "remove":
            said[kind].append(Change(draw(names)))
        elif kind == "replace":
            said[kind].append(Change(draw(names), replacement=draw(names)))
        else:
            said[kind].append(Change(draw(names), draw(few), draw(few), draw(places)))
    parts: Any = {key: tuple(value) for key, value in said.items()}
    return Overlay(name, base=base, stages=tuple(stages), repeat=tuple(repeats), **parts)


def planned(registry: PassRegistry, layers: Sequence[Overlay]) -> Schedule | None:
    """The schedule of the last one; None where an overlay, or the order, is refused."""
    staged, pipelines = PipelineRegistry(), PipelineRegistry()
    staged.add_text("one", "PREPARE(B,A,repeat{limit=3}(B,C)),CHECK(D)")
    staged.add_text("two", "PREPARE(repeat{limit=2}(A,D,A)),CHECK(F,E,F)")
    staged.add_text("three", "PREPARE(C),CHECK(repeat{limit=2}(B),repeat{limit=2}(A,B))")
    try:
        for overlay in layers:
            staged.add(overlay)
        pipelines.absorb(staged, OWNER)
        return plan_passes(Catalog(registry, OPTIONS, pipelines), pipeline=layers[-1].name)
    except (UsageError, PluginError):
        return None


@given(passes(), overlays("inner", "O3"), overlays("outer", "inner"))
def test_an_overlay_does_what_it_says_or_is_refused(
    registry: PassRegistry, inner: Overlay, outer: Overlay
) -> None:
    """What the outer one adds runs, what it removes doesn't, and its order and repeats hold."""
    schedule = planned(registry, [inner, outer])
    if schedule is None:
        return
    order = [step.name for step in schedule.passes]
    off = {change.name for change in (*outer.remove, *outer.replace)}
    assert not off & set(order)
    on = {change.name for change in outer.add} | {c.replacement for c in outer.replace}
    assert on <= set(order)
    for change in (*outer.add, *outer.reorder):
        for first, second in (
            *((change.name, other) for other in change.before),
            *((other, change.name) for other in change.after),
        ):
            if order.count(first) == 1 == order.count(second):
                assert order.index(first) < order.index(second)
    groups = [
        [step.name for step in steps]
        for repeat, steps in groupby(schedule.passes, key=lambda step: step.repeat)
        if repeat is not None
    ]
    for repeated in outer.repeat:
        running = [name for name in repeated.passes if name in order]
        assert not running or running in groups
    ranks = [step.place.rank for step in schedule.passes]
    assert sorted(ranks) == ranks


@given(passes(), overlays("inner", "O3"), overlays("outer", "inner"))
def test_its_text_runs_the_same(registry: PassRegistry, inner: Overlay, outer: Overlay) -> None:
    """The flat text of any stack of overlays."""
    schedule = planned(registry, [inner, outer])
    if schedule is None:
        return
    again = plan_passes(Catalog(registry, OPTIONS), pipeline=str(schedule.text()))
    assert [(s.name, s.place, s.repeat) for s in schedule.passes] == [
        (s.name, s.place, s.repeat) for s in again.passes
    ]


@given(passes(), overlays("mine", "O3"))
def test_included_or_stood_upon_is_the_same(registry: PassRegistry, overlay: Overlay) -> None:
    """An overlay that says nothing itself runs what its base, or its only include, runs."""
    alone = planned(registry, [overlay])
    on_top = planned(registry, [overlay, Overlay("outer", base="mine")])
    around = planned(registry, [overlay, Overlay("outer", include=("mine",))])
    holding = planned(registry, [Overlay("outer", include=(overlay,))])
    texts = [
        found and (found.level.name, str(found.text()))
        for found in (alone, on_top, around, holding)
    ]
    assert [texts[0]] * 4 == texts
