"""Order from constraints: all respected, the same whatever the order of the input."""

from __future__ import annotations

import random
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ge_core.errors import PluginError
from ge_core.passes.ordering import Item, arrange
from ge_core.registry import Owner

ACME = Owner("acme", "acme-casts", "1.0")
NAMES = "abcdefgh"


@st.composite
def solvable(draw: st.DrawFn) -> list[Item]:
    """Items whose constraints follow a hidden order, some of them about items that aren't there."""
    hidden = draw(st.permutations(NAMES))
    there = hidden[: draw(st.integers(1, len(hidden)))]
    ranks = sorted(draw(st.lists(st.integers(0, 2), min_size=len(there), max_size=len(there))))
    items = []
    for at, name in enumerate(hidden):
        if name in there:
            later = draw(st.lists(st.sampled_from([*hidden[at + 1 :], "missing"]), max_size=2))
            earlier = draw(st.lists(st.sampled_from([*hidden[:at], "missing"]), max_size=2))
            needs = draw(st.lists(st.sampled_from([*hidden[:at], "missing"]), max_size=1))
            rank = ranks[there.index(name)]
            items.append(Item(name, tuple(later), tuple(earlier), tuple(needs), rank=rank))
    return items


def violated(order: list[str], items: list[Item]) -> list[tuple[str, str]]:
    """Pairs that the order has the wrong way round."""
    at = {name: place for place, name in enumerate(order)}
    pairs = []
    for item in items:
        pairs += [(item.name, other) for other in item.before]
        pairs += [(other, item.name) for other in (*item.after, *item.needs)]
    return [(a, b) for a, b in pairs if a in at and b in at and at[a] > at[b]]


@given(solvable())
def test_all_constraints_and_places_are_respected(items: list[Item]) -> None:
    """Every item once, no constraint broken, lower ranks first."""
    order = arrange(items)
    assert sorted(item.name for item in items) == sorted(order)
    assert [] == violated(order, items)
    rank = {item.name: item.rank for item in items}
    assert sorted(rank.values()) == [rank[name] for name in order]


@given(solvable(), st.randoms(use_true_random=False))
def test_the_order_does_not_depend_on_the_input(items: list[Item], rng: random.Random) -> None:
    """Shuffled input gives the same order."""
    shuffled = list(items)
    rng.shuffle(shuffled)
    assert arrange(items) == arrange(shuffled)


@given(solvable())
def test_it_is_the_smallest_valid_order(items: list[Item]) -> None:
    """Among the valid orders of up to six items, the first by (rank, name)."""
    items = items[:6]
    rank = {item.name: item.rank for item in items}
    valid = [
        list(order)
        for order in permutations(rank)
        if not violated(list(order), items)
        and [rank[name] for name in order] == sorted(rank.values())
    ]
    assert min(valid) == arrange(items)


def test_without_constraints_names_decide() -> None:
    """Alphabetical."""
    assert ["a", "b", "c"] == arrange([Item("c"), Item("a"), Item("b")])


def test_a_constraint_on_something_not_installed_says_nothing() -> None:
    """before and after are soft."""
    assert ["a", "b"] == arrange([Item("a", after=("ghost",)), Item("b", before=("ghost",))])


def test_a_third_party_may_leave_out_its_prefix() -> None:
    """`after=["X"]` of acme means acme.X where there is no X."""
    items = [Item("acme.A", after=("Z",), owner=ACME), Item("acme.Z", owner=ACME)]
    assert ["acme.Z", "acme.A"] == arrange(items)


def test_a_cycle_prints_its_path_and_whose_it_is() -> None:
    """The path, the constraint behind each step, and the owners."""
    items = [
        Item("a", before=("b",)),
        Item("b", before=("c",)),
        Item("c", before=("a",), owner=ACME),
    ]
    with pytest.raises(PluginError) as raised:
        arrange([*items, Item("aside"), Item("d", after=("c",))])
    text = str(raised.value)
    assert "a -> b -> c -> a" in text
    assert "c says before a" in text
    assert "acme-casts 1.0" in text
    assert "aside" not in text


def test_a_constraint_against_the_stages_is_an_error() -> None:
    """An item of a later stage can't come before one of an earlier stage."""
    items = [Item("a", rank=5, before=("b",), place="LATE", owner=ACME), Item("b", place="EARLY")]
    with pytest.raises(PluginError, match=r"'a' \(LATE\) says before 'b' \(EARLY\)"):
        arrange(items)


@pytest.mark.parametrize("label", ["before", "after", "needs"])
def test_an_item_that_names_itself(label: str) -> None:
    """Refused with the constraint and its owner; its short name means it too."""
    for name in ("a", "acme.a"):
        item = Item("acme.a", owner=ACME, **{label: (name,)})  # type: ignore[arg-type]
        with pytest.raises(PluginError, match=f"'acme.a' says {label} 'acme.a', which is itself"):
            arrange([item])


def test_who_says_a_constraint() -> None:
    """A pipeline may say one about another's pass; cycles and clashes of places name it."""
    said = {"b": "npu.toml:7"}
    with pytest.raises(PluginError, match=r"a says before b \(npu\.toml:7\)"):
        arrange([Item("a", before=("b",), said=said), Item("b", before=("a",))])
    items = [Item("a", rank=1, place="LATE", before=("b",), said=said), Item("b", place="EARLY")]
    with pytest.raises(PluginError, match=r"said by: npu\.toml:7"):
        arrange(items)


def test_a_short_name_is_a_full_one_where_there_is_one() -> None:
    """acme's `after=["X"]` means X, and acme.X only where no X is installed."""
    item = Item("acme.A", after=("X",), owner=ACME)
    assert ["X", "acme.A", "acme.X"] == arrange([item, Item("acme.X", owner=ACME), Item("X")])
    assert ["acme.X", "acme.A"] == arrange([item, Item("acme.X", owner=ACME)])


# ---- groups --------------------------------------------------------------------------------------


def test_a_group_stays_together_in_its_order() -> None:
    """It stands where its first member would; constraints of members hold for all of it."""
    group = Item.group([Item("d"), Item("b")])
    assert ["a", "c", "d", "b", "e"] == arrange([Item("a"), Item("c"), Item("e"), group])
    assert ["d", "b", "a"] == arrange([Item("a", after=("b",)), group])
    inner = Item.group([Item("d", after=("z",)), Item("b", before=("d", "a"))])
    assert ["z", "d", "b", "a"] == arrange([Item("a"), Item("z"), inner])


def test_nothing_fits_between_the_members_of_a_group() -> None:
    """A pass that must is a cycle, and the group is shown as one."""
    group = Item.group([Item("d"), Item("b")])
    with pytest.raises(PluginError, match=r"\(d,b\) -> m -> \(d,b\)"):
        arrange([group, Item("m", after=("d",), before=("b",))])


@given(solvable(), st.integers(2, 4))
def test_members_of_a_group_are_neighbours(items: list[Item], size: int) -> None:
    """All other constraints still hold, or the error says that they can't."""
    first = [item for item in items if item.rank == items[0].rank][:size]
    group = Item.group(first)
    try:
        order = arrange([group, *(item for item in items if item not in first)])
    except PluginError:
        return
    at = order.index(first[0].name)
    inside = [item.name for item in first]
    assert inside == order[at : at + len(first)]
    broken = [p for p in violated(order, items) if not set(p) <= set(inside)]
    assert [] == broken
