"""What a remark says would free a copy frees it: on random graphs, each hint is followed."""

from __future__ import annotations

import pytest

import ge_core as ge
from ge_core.errors import GeError
from ge_core.ir import clone
from ge_core.passes.closing import KERNEL_CODES
from ge_core.passes.remarks import RemarkKind
from ge_core.session.hints import follow, options_of
from ge_core.testing import random_graph
from tests.end_to_end.campaign import LEVELS, knobs

UNASKED = frozenset(code.name for code in KERNEL_CODES)
"""Codes that say who would have to be asked, not what he would answer."""
PEAK = "RAISES_PEAK"
"""Ends codes that say that the arena would grow: no rule is in the way any more."""


def broken_promises(seed: int, level: str) -> list[str]:
    """Hints of one graph's copies that don't free them, with what is said then.

    Another copy of the same memory may have gone instead: then there are fewer copies.
    """
    graph = random_graph(seed, knobs(seed))
    found = []
    before = ge.compile(graph, level=level, assigner="fast")
    for remark in before.remarks.finals():
        hint = remark.hint
        if remark.kind is not RemarkKind.MISSED or hint is None or remark.code in UNASKED:
            continue
        options, changed = options_of(hint), clone(graph)
        if not options and (hint.kind == "text" or not follow(hint, changed)):
            continue  # for people: a sentence, or an edit of what a pass has put in
        try:
            after = ge.compile(changed, level=level, options=options, assigner="fast")
        except GeError as error:
            found.append(f"{remark.node} {remark.code} {hint}: {error}")
            continue
        final = after.remarks.final(remark.node)
        fewer = after.after.total.count < before.after.total.count
        if final is None or final.kind is not RemarkKind.MISSED or fewer:
            continue
        if not final.code.endswith(PEAK):
            found.append(f"{remark.node} {remark.code} {hint}: {final.code}")
    return [f"seed {seed} at {level}: {text}" for text in found]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("first", range(0, 120, 20))
def test_a_hint_is_enough_by_itself(first: int, level: str) -> None:
    """An option to set, an edge to add, a mark to take off."""
    found = [broken for seed in range(first, first + 20) for broken in broken_promises(seed, level)]
    assert [] == found
