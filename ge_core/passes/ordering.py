"""Order inside one place of the pipeline: declared constraints, then names.

`before` and `after` are soft: where the other one isn't there they say nothing. `needs` orders
like `after`; whether what is needed is there is the planner's question. The result depends on the
set of items alone, not on the order they are given in: it is the smallest by name among the valid
ones.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ge_core.errors import PluginError
from ge_core.registry import NOBODY, Owner


@dataclass(frozen=True, slots=True)
class Item:
    """Something with a name and constraints that name others.

    Attributes:
        rank: of its place: items of a lower rank come first; `place` is how the place is called.
    """

    name: str
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    owner: Owner = NOBODY
    rank: int = 0
    place: str = ""


@dataclass(frozen=True, slots=True)
class _Edge:
    first: str
    second: str
    why: str


def resolve(name: str, owner: Owner, known: Mapping[str, object]) -> str | None:
    """The registered name that a constraint means: as written, else with its author's prefix."""
    if name in known:
        return name
    full = owner.full(name)
    return full if full in known else None


def arrange(items: Iterable[Item], what: str = "passes") -> list[str]:
    """Names in running order.

    Raises:
        PluginError: the constraints contradict each other or the places; the message shows the
            cycle, or the constraint.
    """
    by_name = {item.name: item for item in items}
    edges = _edges(by_name)
    waiting = dict.fromkeys(by_name, 0)
    following: dict[str, list[str]] = {name: [] for name in by_name}
    for edge in edges:
        waiting[edge.second] += 1
        following[edge.first].append(edge.second)
    ready = [(by_name[name].rank, name) for name, count in waiting.items() if count == 0]
    heapq.heapify(ready)
    order: list[str] = []
    while ready:
        _, name = heapq.heappop(ready)
        order.append(name)
        for other in following[name]:
            waiting[other] -= 1
            if waiting[other] == 0:
                heapq.heappush(ready, (by_name[other].rank, other))
    if len(order) < len(by_name):
        raise _cycle(edges, frozenset(order), by_name, what)
    return order


def _edges(by_name: Mapping[str, Item]) -> list[_Edge]:
    """One edge per constraint whose other end is there, without repetitions, sorted."""
    found: dict[tuple[str, str], _Edge] = {}
    for name in sorted(by_name):
        item = by_name[name]
        for label, others in (
            ("before", item.before),
            ("after", item.after),
            ("needs", item.needs),
        ):
            for other in others:
                target = resolve(other, item.owner, by_name)
                if target is None:
                    continue
                pair = (name, target) if label == "before" else (target, name)
                _check_places(
                    item, label, by_name[target], by_name[pair[0]].rank, by_name[pair[1]].rank
                )
                found.setdefault(pair, _Edge(*pair, f"{name} says {label} {target}"))
    return [found[pair] for pair in sorted(found)]


def _check_places(item: Item, label: str, other: Item, first: int, second: int) -> None:
    if first > second:
        raise PluginError(
            f"{item.name!r} ({item.place}) says {label} {other.name!r} ({other.place}), "
            "and the stages run the other way",
            owner=str(item.owner),
            hint="register it in another stage",
        )


def _cycle(
    edges: Sequence[_Edge], placed: frozenset[str], by_name: Mapping[str, Item], what: str
) -> PluginError:
    """The error for a cycle; walking backwards among what is left must come round."""
    earlier: dict[str, _Edge] = {}
    for edge in edges:
        if edge.first not in placed and edge.second not in placed:
            earlier.setdefault(edge.second, edge)
    at = min(earlier)
    seen: list[str] = []
    while at not in seen:
        seen.append(at)
        at = earlier[at].first
    path = [at, *reversed(seen[seen.index(at) :])]
    reasons = [earlier[second].why for second in path[1:]]
    owners = dict.fromkeys(str(by_name[name].owner) for name in path)
    return PluginError(
        f"the order of {what} contradicts itself: " + " -> ".join(path),
        owner=", ".join(owners),
        hint="; ".join(reasons),
    )
