"""Order inside one place of the pipeline: declared constraints, then names.

`before` and `after` are soft: where the other one isn't there they say nothing. `needs` orders
like `after`; whether what is needed is there is the planner's question. The result depends on the
set of items alone, not on the order they are given in: it is the smallest by (place, name) among
the valid ones.
"""

from __future__ import annotations

import heapq
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ge_core.errors import PluginError, UsageError
from ge_core.registry import NOBODY, Owner


@dataclass(frozen=True, slots=True)
class Item:
    """Something with a name and constraints that name others.

    Attributes:
        rank: of its place: items of a lower rank come first; `place` is how the place is called.
        said: who says a constraint, by the name it names, where that isn't the owner.
        instead: who else a constraint names, and where that says that the other takes its place, by
            the other's name.
        placed: where it says that it stands in this place, where the owner doesn't.
        members: of a group: items that stay together in this order; their constraints hold for it.
    """

    name: str
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    owner: Owner = NOBODY
    rank: int = 0
    place: str = ""
    said: Mapping[str, str] = field(default_factory=dict)
    instead: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    placed: str = ""
    members: tuple[Item, ...] = ()

    @classmethod
    def group(cls, members: Sequence[Item]) -> Item:
        """Items of one place that stay together; it stands where its first one would by name."""
        first = members[0]
        return cls(first.name, rank=first.rank, place=first.place, members=tuple(members))

    @property
    def parts(self) -> tuple[Item, ...]:
        """The items that it stands for."""
        return self.members or (self,)

    @property
    def shown(self) -> str:
        """How messages call it."""
        return self.name if not self.members else f"({','.join(m.name for m in self.members)})"


@dataclass(frozen=True, slots=True)
class _Edge:
    first: str
    second: str
    why: str


def resolve(name: str, owner: Owner, known: Container[str]) -> str | None:
    """The registered name that an author means: as written, else with its author's prefix.

    A name as written is a full one, so that an author can name what is not theirs; their own pass
    of the same short name needs its prefix then.
    """
    if name in known:
        return name
    full = owner.full(name)
    return full if full in known else None


def arrange(items: Iterable[Item], what: str = "passes") -> list[str]:
    """Names in running order; the members of a group are neighbours.

    Raises:
        PluginError: something is to stand before itself, or the constraints contradict each other
            or the places; the message shows the constraint, or the cycle, and whose it is.
        UsageError: the constraints contradict a place that a pipeline says.
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
    return [part.name for name in order for part in by_name[name].parts]


def _edges(by_name: Mapping[str, Item]) -> list[_Edge]:
    """One edge per constraint whose other end is there, without repetitions, sorted."""
    group_of = {part.name: name for name, item in by_name.items() for part in item.parts}
    found: dict[tuple[str, str], _Edge] = {}
    for part in (part for name in sorted(by_name) for part in by_name[name].parts):
        for label, others in (
            ("before", part.before),
            ("after", part.after),
            ("needs", part.needs),
        ):
            for other in others:
                target = resolve(other, part.owner, group_of)
                if target is None:
                    continue
                here, there = group_of[part.name], group_of[target]
                if target == part.name:
                    raise _about_itself(part, label)
                if here == there:
                    # The order inside a group is written, and its parts repeat.
                    continue
                pair = (here, there) if label == "before" else (there, here)
                parts = {other.name: other for other in by_name[there].parts}
                ranks = (by_name[end].rank for end in pair)
                _check_places(part, label, parts[target], *ranks)
                why = _why(part, label, target)
                found.setdefault(pair, _Edge(*pair, why))
    return [found[pair] for pair in sorted(found)]


def _why(part: Item, label: str, target: str) -> str:
    """A constraint as its author wrote it, and why it holds for the target."""
    if target in part.instead and target not in part.said:
        named, where = part.instead[target]
        author = part.said.get(named) or str(part.owner)
        return f"{part.name} says {label} {named} ({author}), whose place {target} takes by {where}"
    return f"{part.name} says {label} {target} ({_author(part, target)})"


def _author(part: Item, target: str) -> str:
    return part.said.get(target) or str(part.owner)


def _about_itself(part: Item, label: str) -> PluginError:
    return PluginError(
        f"{part.name!r} says {label} {part.name!r}, which is itself",
        owner=str(part.owner),
        hint=f"said by: {_author(part, part.name)}",
    )


def _check_places(part: Item, label: str, other: Item, first: int, second: int) -> None:
    if first > second:
        said = part.said.get(other.name)
        moved = [
            f"{item.name} stands in {item.place} by {item.placed}"
            for item in (part, other)
            if item.placed
        ]
        if moved:
            raise UsageError(
                f"{moved[0].rpartition(' by ')[2]}: {_why(part, label, other.name)}, and the stages"
                f" {part.place} and {other.place} run the other way",
                hint="; ".join(moved),
            )
        raise PluginError(
            f"{part.name!r} ({part.place}) says {label} {other.name!r} ({other.place}), "
            "and the stages run the other way",
            owner=str(part.owner),
            hint="register it in another stage" if said is None else f"said by: {said}",
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
    owners = dict.fromkeys(str(part.owner) for name in path for part in by_name[name].parts)
    return PluginError(
        f"the order of {what} contradicts itself: "
        + " -> ".join(by_name[name].shown for name in path),
        owner=", ".join(owners),
        hint="; ".join(reasons),
    )
