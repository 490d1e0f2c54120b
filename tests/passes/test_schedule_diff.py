"""Differences between schedules: order, repeats, passes that run twice."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ge_core.passes import ALWAYS, GraphPass, OptionRegistry, PassRegistry, Stage
from ge_core.passes.builtin_options import register_builtin_options
from ge_core.passes.pipeline_text import PassUse, PipelineText, Repeat
from ge_core.passes.planning import Catalog, plan_passes
from ge_core.passes.schedule_diff import compare_schedules, diff_schedules
from ge_core.registry import Owner

MakeCatalog = Callable[..., Catalog]


@pytest.mark.parametrize(
    ("base", "other", "lines"),
    [
        ("A,B,C", "A,B,C", []),
        ("A,B,C", "B,C,A", ["~ A (OPTIMIZE_STAGE1), after C"]),
        ("A,B", "A,B,A", ["+ A (OPTIMIZE_STAGE1), after B"]),
        ("A,B,A", "A,B", ["- A (OPTIMIZE_STAGE1)"]),
        ("A,B", "A,CHECK(B)", ["~ B (CHECK), after A"]),
        (
            "A,B",
            "repeat{limit=3}(A,B)",
            [
                "~ A (OPTIMIZE_STAGE1) -> A (OPTIMIZE_STAGE1) in repeat{limit=3}(A,B)",
                "~ B (OPTIMIZE_STAGE1) -> B (OPTIMIZE_STAGE1) in repeat{limit=3}(A,B)",
            ],
        ),
        (
            "repeat{limit=3}(A)",
            "repeat{limit=4}(A)",
            [
                "~ A (OPTIMIZE_STAGE1) in repeat{limit=3}(A)"
                " -> A (OPTIMIZE_STAGE1) in repeat{limit=4}(A)"
            ],
        ),
        ("B,repeat{limit=3}(A)", "repeat{limit=3}(A)", ["- B (OPTIMIZE_STAGE1)"]),
    ],
)
def test_what_differs(catalog: MakeCatalog, base: str, other: str, lines: list[str]) -> None:
    """Passes that run twice are two; a repeat that changes is a change of what is in it."""
    there = catalog({"A": {}, "B": {}, "C": {}})
    schedules = [plan_passes(there, pipeline=text) for text in (base, other)]
    assert lines == diff_schedules(*schedules)


class _Nothing(GraphPass):
    def run(self, graph: object, ctx: object) -> None:
        """Nothing."""


def _catalog() -> Catalog:
    passes, staged, options = PassRegistry(), PassRegistry(), OptionRegistry()
    for name in "ABCD":
        staged.add(_Nothing, name=name, levels=ALWAYS, stage=Stage.CHECK)
    passes.absorb(staged, Owner("kernel", "graph-engine-core", "1.0", builtin=True))
    register_builtin_options(options)
    return Catalog(passes, options)


CATALOG = _catalog()
uses = st.lists(
    st.tuples(st.sampled_from("ABCD"), st.none() | st.integers(1, 3)).map(
        lambda u: PassUse(u[0], repeat=None if u[1] is None else Repeat(u[1], u[1]))
    ),
    max_size=6,
)


@given(uses, uses)
def test_there_is_a_difference_where_texts_differ(one: list[PassUse], two: list[PassUse]) -> None:
    """And only there; what is added in one direction is removed in the other."""
    base, other = (
        plan_passes(CATALOG, pipeline=str(PipelineText(tuple(found)))) for found in (one, two)
    )
    found = compare_schedules(base, other)
    assert (str(base.text()) == str(other.text())) == (found == [])
    back = compare_schedules(other, base)
    for change, opposite in (("added", "removed"), ("removed", "added")):
        assert sorted(d.name for d in found if d.change == change) == sorted(
            d.name for d in back if d.change == opposite
        )
