"""Analyses by name: which there are, and whether one that a pass preserved is still right.

Analyses are made when they are asked for, so a pass never requires one; it may only promise, with
`preserves`, that one which was made earlier is right after its edits. The kernel's names stand
here; a plugin declares those that it keeps with `ctx.cached` by `PassRegistry.add_analysis`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from operator import eq
from typing import Any, Final, TypeAlias

from ge_core.analysis import AliasClasses, Anchor
from ge_core.errors import PluginError
from ge_core.ir import Graph
from ge_core.registry import NOBODY, Entry, Owner, Registry

Same: TypeAlias = Callable[[Any, Any], bool]


@dataclass(frozen=True, slots=True)
class Analysis:
    """One declared analysis.

    Attributes:
        same: whether two of the same graph say the same; None where they can't be compared.
    """

    name: str
    same: Same | None = eq
    summary: str = ""
    owner: Owner = NOBODY


class AnalysisRegistry(Registry[Analysis]):
    """The analyses that plugins declare. Authors add with `PassRegistry.add_analysis`."""

    kind = "analysis"

    def add(self, name: str, *, same: Same | None = eq, summary: str = "") -> None:
        """Declare an analysis; the arguments are the attributes of `Analysis`.

        Raises:
            PluginError: the name is taken or is one of the kernel's, or `same` is no function.
        """
        if not name or name in KERNEL_ANALYSES:
            raise PluginError(f"analysis {name!r} can't be declared: the name is the kernel's")
        if same is not None and not callable(same):
            raise PluginError(f"analysis {name!r} has same={same!r}, which is not a function")
        self._put(Entry(name, Analysis(name, same, summary)))

    def _stamped(self, entry: Entry[Analysis], owner: Owner) -> Entry[Analysis]:
        name = owner.full(entry.name)
        return Entry(name, replace(entry.value, name=name, owner=owner), owner)


def same_classes(first: AliasClasses, second: AliasClasses, graph: Graph) -> bool:
    """Whether two tables put a graph's anchors into the same classes, at the same places.

    Counts of types are compared too. Members whose nodes are gone must have been discarded.
    """
    anchors: list[Anchor] = []
    for node in graph.all_nodes():
        anchors += (*node.inputs, *node.outputs)
    if any((anchor in first) != (anchor in second) for anchor in anchors):
        return False
    seen: set[Anchor] = set()
    for anchor in anchors:
        if anchor in seen or anchor not in second:
            continue
        members = list(second.members(anchor))
        seen.update(members)
        if len(members) != sum(1 for _ in first.members(anchor)):
            return False
        if not all(_lies_alike(first, second, anchor, member) for member in members):
            return False
    return True


def _lies_alike(first: AliasClasses, second: AliasClasses, anchor: Anchor, member: Anchor) -> bool:
    return (
        member in first
        and first.same(anchor, member)
        and first.distance(anchor, member) == second.distance(anchor, member)
        and first.piece(member) == second.piece(member)
        and first.types_of(member) == second.types_of(member)
    )


KERNEL_ANALYSES: Final = ("aliases", "effects", "order", "symbols", "tracer")
"""`order`, `effects` and `tracer` notice edits by themselves: preserving them says nothing new."""
_CLASSES: Final = frozenset({"aliases", "symbols"})


def comparison(name: str, declared: Same | None, graph: Graph) -> Same | None:
    """How a preserved analysis is compared with one made anew; None where it isn't."""
    if name in _CLASSES:
        return lambda first, second: same_classes(first, second, graph)
    return None if name in KERNEL_ANALYSES else declared
