"""`MemLayoutConflictOptimizer`: copies where anchors of one memory contradict each other.

GE's last word before memory is laid out, on at every level. Each graph that is laid out as a whole
is looked at by itself: first the ends of branches and loops, then every memory, by name. A rule
that reads edges sees the copies that earlier memories got.

Where GE's runtime isn't the one to be met, what only it asks for is left out: see `demands`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final

from ge_core.api import (
    AliasClasses,
    Anchor,
    Clash,
    Graph,
    GraphPass,
    InputAnchor,
    LayoutChecks,
    Node,
    PassContext,
)
from ge_memconflict.anchor_types import CONTINUOUS_INPUT, NOPADDING_CONTINUOUS_INPUT
from ge_memconflict.graphs import top_graphs
from ge_memconflict.layout import demands
from ge_memconflict.layout.codes import CODES
from ge_memconflict.layout.ends import isolate_ends
from ge_memconflict.layout.isolation import Isolation
from ge_memconflict.layout.saying import COUNTERS, say_clash, say_unruled

_GROUPED: Final = (CONTINUOUS_INPUT, NOPADDING_CONTINUOUS_INPUT)


@dataclass(frozen=True)
class MemLayoutConflictOptimizer(GraphPass, codes=CODES, counters=COUNTERS):
    """Inserts copies where anchors of one memory make demands that contradict each other."""

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Look at every graph that is laid out as a whole."""
        if not graph.is_root or not ctx.layout_checkers:
            return
        isolation = Isolation(graph, ctx.ops)
        said: set[tuple[str, str]] = set()
        for top in list(top_graphs(graph)):
            if demands.of_ge(ctx):
                isolate_ends(top, ctx, isolation)
            _isolate_clashes(top, ctx, isolation, said)


def _isolate_clashes(
    top: Graph, ctx: PassContext, isolation: Isolation, said: set[tuple[str, str]]
) -> None:
    classes = demands.symbols(top, ctx)
    checks = LayoutChecks(
        ctx.layout_checkers,
        top.root,
        ctx.ops,
        ctx.option,
        without=demands.left_out(ctx),
        target=ctx.target,
    )
    for memory in list(classes.classes()):
        for found in checks.unruled(classes, memory):
            if found.types not in said:
                said.add(found.types)
                say_unruled(ctx, found)
    asked = [
        memory
        for memory in classes.classes()
        if checks.may_clash(classes, memory) or next(doubled(classes, memory, ()), None)
    ]

    def answered(name: str, anchor: Anchor) -> bool:
        return demands.answered(name, anchor, ctx)

    for memory in sorted(asked, key=symbol_name):
        chosen: dict[Anchor, Clash] = {}
        # What is read twice by one join is heeded by what others clash there, whoever answers.
        twice = next(doubled(classes, memory, None), None) is not None
        clashes = list(checks.clashes(classes, memory, answered=None if twice else answered))
        for clash in (*clashes, *doubled(classes, memory, clashes)):
            ends = zip(clash.types, (clash.first, clash.second), strict=True)
            if clash.isolate is not None and not any(answered(*end) for end in ends):
                chosen.setdefault(clash.isolate, clash)
        for anchor in sorted(chosen, key=symbol_name):
            copy = isolation.isolate(anchor)
            if copy is not None:
                say_clash(ctx, copy, chosen[anchor])
    ctx.count("pairs_asked", checks.asked)


def doubled(
    classes: AliasClasses, memory: Anchor, clashes: Collection[Clash] | None
) -> Iterator[Clash]:
    """Inputs of one packed group that are one tensor: it lies at one place of the group only.

    Rules aren't asked about two anchors of one node, and GE sees this only where a second group
    reads the tensor too. The operands of a join without a task may be one, as those may be pieces
    that are updated where they lie: they are heeded where GE does.

    Args:
        clashes: what rules say of the memory; None for all that there could be.
    """
    groups = clashes is None or any(set(clash.types) <= {*_GROUPED} for clash in clashes)
    for kind in _GROUPED if groups else _GROUPED[:1]:
        if classes.count(memory, kind) < 2:
            continue
        firsts: dict[tuple[Node, Anchor | None], Anchor] = {}
        for anchor in classes.of_type(memory, kind):
            assert isinstance(anchor, InputAnchor)
            read = anchor.source if kind == NOPADDING_CONTINUOUS_INPUT else None
            first = firsts.setdefault((anchor.node, read), anchor)
            if first is not anchor:
                yield Clash(first, anchor, (kind, kind), "TWICE_IN_ONE_GROUP", anchor, "")


def symbol_name(anchor: Anchor) -> str:
    """GE's name of an anchor, and of the memory that it opens."""
    side = "in" if isinstance(anchor, InputAnchor) else "out"
    return f"{anchor.node.name}_{side}_{anchor.index}"
