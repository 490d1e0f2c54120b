"""Classes with places, against brute force, joins and their undo."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ge_core.analysis import PlacementUnionFind
from ge_core.errors import LayoutConflict
from ge_core.ir import Graph
from ge_core.testing.choices import SeededChoices


class Slow:
    """The same by relabelling every member."""

    def __init__(self, keys: range) -> None:
        self.place = {key: (key, 0) for key in keys}

    def join(self, first: int, second: int, delta: int) -> bool:
        """See `PlacementUnionFind.join`; None for a contradiction."""
        root_1, place_1 = self.place[first]
        root_2, place_2 = self.place[second]
        if root_1 == root_2:
            if place_2 - place_1 != delta:
                raise LayoutConflict("")
            return False
        move = place_1 + delta - place_2
        for key, (root, place) in self.place.items():
            if root == root_2:
                self.place[key] = (root_1, place + move)
        return True


def classes(find: PlacementUnionFind[int], keys: range) -> set[frozenset[tuple[int, int]]]:
    """Members with places behind the lowest."""
    return {frozenset(find.placed(key)) for key in keys}


def slow_classes(slow: Slow, keys: range) -> set[frozenset[tuple[int, int]]]:
    """The same from the slow one."""
    found: dict[int, list[tuple[int, int]]] = {}
    for key in keys:
        root, place = slow.place[key]
        found.setdefault(root, []).append((key, place))
    return {
        frozenset((key, place - min(p for _, p in members)) for key, place in members)
        for members in found.values()
    }


@given(st.integers(0, 10_000))
def test_joins_agree_with_relabelling(seed: int) -> None:
    """Classes and places are those of a plain table; a contradiction changes nothing."""
    pick, keys = SeededChoices(seed), range(10)
    find, slow = PlacementUnionFind[int](), Slow(keys)
    for key in keys:
        find.add(key)
    for _ in range(14):
        args = (pick.pick(keys), pick.pick(keys), pick.integer(-2, 2))
        try:
            expected = slow.join(*args)
        except LayoutConflict:
            with pytest.raises(LayoutConflict):
                find.join(*args)
        else:
            assert expected == find.join(*args)
        assert slow_classes(slow, keys) == classes(find, keys)


@given(st.integers(0, 10_000))
def test_a_rollback_takes_joins_back(seed: int) -> None:
    """Classes, places and the order of members are as before, at every depth of transactions."""
    pick, keys, graph = SeededChoices(seed), range(9), Graph()
    find = PlacementUnionFind[int](graph.journal)
    for key in keys:
        find.add(key)

    def some_joins(count: int) -> None:
        for _ in range(count):
            one, other = pick.pick(keys), pick.pick(keys)
            if find.find(one) != find.find(other):
                find.join(one, other, pick.integer(-3, 3))

    def state() -> list[list[tuple[int, int]]]:
        return [[(m, find.place(m)[1]) for m in find.members(key)] for key in keys]

    some_joins(2)
    with graph.transaction() as outer:
        before = state()
        some_joins(2)
        with graph.transaction() as inner:
            between = state()
            some_joins(3)
            find.add(100)
            inner.rollback()
            assert between == state()
            assert 100 not in find
        some_joins(1)
        outer.rollback()
        assert before == state()


def test_members_come_in_the_order_they_joined() -> None:
    """The larger class's members stay in front, as in GE's tables; a tie keeps the first."""
    find = PlacementUnionFind[str]()
    for key in "abcd":
        find.add(key)
    find.join("b", "a")
    find.join("c", "b")
    assert ["b", "a", "c"] == list(find.members("c"))
    find.join("d", "a")
    assert ["b", "a", "c", "d"] == list(find.members("d"))
    assert 4 == find.size("a")
    assert ["b"] == list(find.roots())


def test_finding_takes_few_steps_however_classes_were_joined() -> None:
    """Ten thousand joins to the same class leave every member one step from the root."""
    find = PlacementUnionFind[int]()
    for key in range(10_000):
        find.add(key)
        if key:
            find.join(key, key - 1, 4)
    assert (9999 * -4, 0) == (find.place(9999)[1] - find.place(0)[1], 0)
    assert 10_000 == find.size(5)
