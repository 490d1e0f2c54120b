"""A schedule's text gives the schedule again, whatever passes, options and repeats it has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ge_core.ir import Graph
from ge_core.passes import ALWAYS, PLACES, GraphPass, OptionRegistry, PassContext, PassRegistry
from ge_core.passes.builtin_options import register_builtin_options
from ge_core.passes.pass_options import changed_options, read_options
from ge_core.passes.pipeline_text import PassUse, PipelineText, Repeat
from ge_core.passes.planning import Catalog, plan_passes
from ge_core.passes.precedence import Source
from ge_core.registry import Owner

NAMES = ("A", "B", "C", "D", "E")
OWNER = Owner("kernel", "graph-engine-core", "1.0", builtin=True)
OPTIONS = OptionRegistry()
register_builtin_options(OPTIONS)


@dataclass(frozen=True)
class Tuned(GraphPass):
    """Has options of several types."""

    text: str = "x"
    number: int = 0
    ratio: float = 0.5
    maybe: int | None = None
    several: tuple[int, ...] = ()
    loud: bool = False
    words: tuple[str, ...] = ()
    label: str | None = None
    either: int | str | None = None
    nested: tuple[tuple[str, ...], ...] | None = None

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Nothing."""


values = st.fixed_dictionaries(
    {},
    optional={
        "text": st.text(),
        "number": st.integers().map(str),
        "ratio": st.floats(allow_nan=False).map(str),
        "maybe": st.none().map(lambda _: "none") | st.integers().map(str),
        "several": st.lists(st.integers(), max_size=3).map(lambda n: "|".join(map(str, n))),
        "loud": st.sampled_from(["true", "false"]),
    },
)


@st.composite
def registries(draw: st.DrawFn) -> PassRegistry:
    """Passes in any places, some of them off, required or repeated, with constraints that fit."""
    staged = PassRegistry()
    hidden = draw(st.permutations(NAMES))
    places = sorted(draw(st.lists(st.sampled_from(PLACES), min_size=5, max_size=5)), key=_rank)
    for at, name in enumerate(hidden):
        about: Mapping[str, Any] = {
            "levels": draw(st.sampled_from([ALWAYS, ()])),
            "stage": places[at],
            "repeat": draw(st.integers(1, 3)),
            "after": draw(st.lists(st.sampled_from(hidden[:at]), max_size=2)) if at else [],
        }
        staged.add(Tuned, name=name, **about)
    passes = PassRegistry()
    passes.absorb(staged, OWNER)
    return passes


def _rank(place: Any) -> int:
    rank: int = place.rank
    return rank


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Passes in their own places, some in repeats of one pass, some more than once."""
    uses = []
    for number in range(draw(st.integers(0, 6))):
        repeat = draw(st.none() | st.builds(Repeat, st.just(number), st.integers(1, 9)))
        options = tuple(draw(values).items())
        uses.append(PassUse(draw(st.sampled_from(NAMES)), options, None, repeat))
    return str(PipelineText(tuple(uses)))


@given(registries(), st.none() | texts(), st.dictionaries(st.sampled_from(NAMES), values))
def test_the_text_gives_the_schedule_again(
    passes: PassRegistry, text: str | None, settings: Mapping[str, Mapping[str, str]]
) -> None:
    """Planned without any settings; and its text is the same text."""
    catalog = Catalog(passes, OPTIONS)
    options = {f"{name}.{f}": v for name, given in settings.items() for f, v in given.items()}
    schedule = plan_passes(catalog, [Source("project", options)], text)
    written = str(schedule.text())
    again = plan_passes(catalog, pipeline=written)
    assert [(s.name, s.place, s.repeat, s.make()) for s in schedule.passes] == [
        (s.name, s.place, s.repeat, s.make()) for s in again.passes
    ]
    assert written == str(again.text())


@given(registries(), st.permutations(NAMES))
def test_the_schedule_does_not_depend_on_the_order_of_registration(
    passes: PassRegistry, order: list[str]
) -> None:
    """The same declarations in another order are the same schedule."""
    other = PassRegistry()
    other._entries = {name: passes.entry(name) for name in order}
    assert (
        plan_passes(Catalog(passes, OPTIONS)).passes == plan_passes(Catalog(other, OPTIONS)).passes
    )


odd = st.text(st.sampled_from("|\\\\none1 ")) | st.sampled_from(["none", "", "3", "true"])
tuned = st.builds(
    Tuned,
    text=odd,
    words=st.lists(odd, max_size=3).map(tuple),
    label=st.none() | odd,
    either=st.none() | st.integers() | odd,
    nested=st.none() | st.lists(st.lists(odd, max_size=2).map(tuple), max_size=2).map(tuple),
)


@given(tuned)
def test_options_of_any_type_are_written_and_read_back(made: Tuned) -> None:
    """Separators, `none` and numbers in texts, empty members, tuples of tuples."""
    staged, passes = PassRegistry(), PassRegistry()
    staged.add(Tuned, name="A", levels=ALWAYS, stage="CHECK")
    passes.absorb(staged, OWNER)
    (declaration,) = passes
    values = {field.name: getattr(made, field.name) for field in fields(made)}
    texts = changed_options(declaration, values)
    assert made == Tuned(**read_options(declaration, texts))
    use = PassUse("A", tuple(texts.items()))
    schedule = plan_passes(Catalog(passes, OPTIONS), pipeline=str(PipelineText((use,))))
    assert made == schedule.passes[0].make()
