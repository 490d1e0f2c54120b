"""Weighted union-find: distances, contradictions, and the chain that explains them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ge_core.errors import LayoutConflict
from ge_core.memory.layout import Layout

links = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7), st.integers(-3, 3)), max_size=16)


@given(links)
def test_distances_agree_with_a_search_over_the_links(
    given_links: list[tuple[int, int, int]],
) -> None:
    """Accepted links give the distances of a plain graph search; others would change one."""
    layout = Layout(8, str)
    near: dict[int, list[tuple[int, int]]] = {tensor: [] for tensor in range(8)}
    for a, b, distance in given_links:
        known = _search(near, a)
        if b in known and known[b] != distance:
            with pytest.raises(LayoutConflict):
                layout.join(a, b, distance, "a test")
            continue
        assert layout.join(a, b, distance, "a test") == (b not in known)
        near[a].append((b, distance))
        near[b].append((a, -distance))
    for start in range(8):
        for tensor, distance in _search(near, start).items():
            assert layout.find(tensor)[1] - layout.find(start)[1] == distance
    groups = {frozenset(_search(near, start)) for start in range(8)}
    expected = sorted(sorted(group) for group in groups if len(group) > 1)
    assert sorted(layout.classes().values()) == expected


def _search(near: dict[int, list[tuple[int, int]]], start: int) -> dict[int, int]:
    found = {start: 0}
    waiting = [start]
    for here in waiting:
        for other, distance in near[here]:
            if other not in found:
                found[other] = found[here] + distance
                waiting.append(other)
    return found


def test_a_contradiction_names_the_chain() -> None:
    """The message says what was asked, and which earlier demands say otherwise."""
    layout = Layout(4, "abcd".__getitem__)
    layout.join(0, 1, 8, "join j")
    layout.join(1, 2, 8, "join k")
    message = (
        "c lies +8 bytes from a (join m), but b lies +8 bytes from a (join j); "
        "c lies +8 bytes from b (join k)"
    )
    with pytest.raises(LayoutConflict, match=re.escape(message)):
        layout.join(0, 2, 8, "join m")


def test_a_tensor_is_not_behind_itself() -> None:
    """The shortest contradiction has no chain."""
    layout = Layout(1, str)
    with pytest.raises(LayoutConflict, match="but they are one tensor"):
        layout.join(0, 0, 4, "twice")
