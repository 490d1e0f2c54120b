"""Asks plugins' layout rules where memories become one and no copy is removed.

That is at joins and splits without a task, and where the planner puts a value into the place of
another one: ops that work in place, results of arms, values of loops, an output at an input's
address. What the built-in types demand there is known to whoever joins (the marks and checks of the
passes, the planner's pools and places), so rules are asked only where one of the two types is a
plugin's own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Self

from ge_core.analysis import AliasClasses, Anchor, Scheme
from ge_core.ir import Graph
from ge_core.memory.anchor_types import AnchorTypeRegistry
from ge_core.memory.checkers import CheckerRegistry
from ge_core.memory.conflict_query import Clash, LayoutChecks
from ge_core.ops import OpRegistry
from ge_core.targets import GENERIC, Target


class JoinChecks:
    """The rules about plugins' own types, and what is one memory by now.

    Args:
        checks: the rules.
        classes: what is one memory; extended by `joined`.
        own: the types that plugins bring.
    """

    def __init__(self, checks: LayoutChecks, classes: AliasClasses, own: Sequence[str]) -> None:
        self._checks = checks
        self._classes = classes
        self._own = tuple(own)

    @classmethod
    def of(
        cls,
        checkers: CheckerRegistry | None,
        types: AnchorTypeRegistry | None,
        root: Graph,
        ops: OpRegistry,
        option: Callable[[str], str | None],
        target: Target = GENERIC,
    ) -> Self | None:
        """The checks of one graph, or None where no rule speaks of a plugin's type."""
        if checkers is None or types is None:
            return None
        builtin = frozenset(kind.name for kind in types if kind.owner.builtin)
        own = [kind.name for kind in types if not kind.owner.builtin]
        checks = LayoutChecks(checkers, root, ops, option, apart_from=builtin, target=target)
        if not own or not checks:
            return None
        return cls(checks, AliasClasses(root, ops, Scheme.MEMORY, types.of), own)

    def first_clash(self, anchors: Sequence[Anchor]) -> Clash | None:
        """The first clash that there would be if these anchors became one memory; None for none."""
        for anchor in anchors:
            self._classes.add(anchor)
        pinned = [at for at, anchor in enumerate(anchors) if self._is_own(anchor)]
        for at, one in enumerate(anchors):
            if pinned and pinned[0] == at:
                pinned.pop(0)
                others: Sequence[int] = range(at + 1, len(anchors))
            else:
                others = pinned
            for other in others:
                if self._classes.same(one, anchors[other]):
                    continue
                clash = self._checks.first_clash(self._classes, one, anchors[other])
                if clash is not None:
                    return clash
        return None

    def joined(self, anchors: Sequence[Anchor]) -> None:
        """Take note that these anchors are one memory now, wherever each lies in it."""
        for other in anchors[1:]:
            if anchors[0] not in self._classes or not self._classes.same(anchors[0], other):
                self._classes.join(anchors[0], other)

    def _is_own(self, anchor: Anchor) -> bool:
        return any(self._classes.count(anchor, name) for name in self._own)
