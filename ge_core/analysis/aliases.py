"""Alias classes: which anchors are one memory, where each lies in it, and what types meet there.

Two schemes. `Scheme.MEMORY`: what is one memory when the graph runs: views, in-place ops, calls,
what subgraphs capture, loop slots, and the pieces of task-free joins and splits at their places.
`Scheme.SYMBOLS`: GE's table for layout questions, which also puts the results of all arms of an If
or Case, and of a loop's body, together with the outer output, knows no places, and leaves all but
the first operand of a task-free join apart. A subgraph with several callers stands for all its runs
in both, so classes may be larger than in any single run, never smaller.

Per class there are counts and lists of its members by type, so that the question whether joining
two would clash looks only at the types that meet. Joins and `discard` are taken back with the
graph's transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum
from functools import partial
from typing import TypeAlias

from ge_core.analysis import _alias_rules as rules
from ge_core.analysis.pieces import Piece
from ge_core.analysis.unionfind import PlacementUnionFind
from ge_core.errors import LayoutConflict
from ge_core.ir import Graph, InputAnchor, Journal, OutputAnchor
from ge_core.ops import OpRegistry

Anchor: TypeAlias = "InputAnchor | OutputAnchor"
"""An input or an output of a node."""
TypesOf: TypeAlias = Callable[[Anchor], Sequence[str]]


class Scheme(Enum):
    """What counts as one memory."""

    MEMORY = "memory"
    SYMBOLS = "symbols"


class AliasClasses:
    """The alias classes of all anchors below the root of `graph`.

    Made inside a transaction, it must not be asked after a rollback to before that.

    Args:
        types: the types of an anchor; asked once for each.
        below: leave out what is around `graph`: its inputs and results are then nobody else's.
        copied_ends: what arms and turns deliver is copied into the caller's memory.

    The last two are for `Scheme.SYMBOLS`.

    Attributes:
        conflicts: placements that contradict each other; each leaves one link out.
    """

    def __init__(
        self,
        graph: Graph,
        ops: OpRegistry,
        scheme: Scheme = Scheme.MEMORY,
        types: TypesOf | None = None,
        *,
        below: bool = False,
        copied_ends: bool = False,
    ) -> None:
        root = graph.root
        if (below or copied_ends) and scheme is not Scheme.SYMBOLS:
            raise ValueError("only symbols are made of a part of a graph, or with copied ends")
        self.scheme = scheme
        self.conflicts: list[LayoutConflict] = []
        self._types = types
        self._names: dict[Anchor, tuple[str, ...]] = {}
        self._journal: Journal | None = None
        self._find = PlacementUnionFind[Anchor](None, self._merge)
        self._lists: dict[Anchor, dict[str, list[Anchor]]] = {}
        self._gone: dict[Anchor, None] = {}
        self._gone_by_type: dict[Anchor, dict[str, int]] = {}
        self._pieces: dict[Anchor, Piece] = {}
        if scheme is Scheme.MEMORY:
            links = rules.memory_links(root, ops)
        else:
            top = graph if below else root
            links = rules.symbol_links(top, ops, copied_ends=copied_ends)
        for link in links:
            self._apply(link)
        # Only now: a rollback to before it was made leaves nothing that anybody could ask.
        self._journal = self._find.journal = root.journal

    # ---- building ------------------------------------------------------------------------------

    def _apply(self, link: rules.Link) -> None:
        first, second, piece = link
        self.add(first)
        if second is None:
            return
        self.add(second)
        if piece is not None and not piece.contiguous:
            self._pieces[second] = piece
        try:
            self._find.join(first, second, 0 if piece is None else piece.delta)
        except LayoutConflict as conflict:
            self.conflicts.append(conflict)

    def add(self, anchor: Anchor) -> None:
        """Put an anchor into a class of its own; nothing happens where it is known."""
        if anchor in self._find:
            return
        self._find.add(anchor)
        names = () if self._types is None else tuple(self._types(anchor))
        if not names:
            return
        self._names[anchor] = names
        self._undo(lambda: (self._lists.pop(anchor, None), self._names.pop(anchor)))

    # ---- changing ------------------------------------------------------------------------------

    def join(self, first: Anchor, second: Anchor, delta: int = 0) -> bool:
        """Say that `second` lies `delta` bytes behind `first`; False where that was known.

        Raises:
            LayoutConflict: they lie at another distance; nothing has changed.
        """
        self.add(first)
        self.add(second)
        return self._find.join(first, second, delta)

    def discard(self, anchor: Anchor) -> None:
        """Leave out an anchor whose node has been removed; its class stays together."""
        if anchor not in self._find or anchor in self._gone:
            return
        self._gone[anchor] = None
        counts = self._gone_by_type.setdefault(self._find.find(anchor), {})
        before = dict(counts)
        for name in self._names.get(anchor, ()):
            counts[name] = counts.get(name, 0) + 1
        self._undo(lambda: self._gone.pop(anchor))
        self._undo(lambda: _set_back(counts, before))

    def _merge(self, kept: Anchor, absorbed: Anchor) -> None:
        """Join the tables of two classes, the smaller one's entries behind the larger one's.

        Classes that nobody has asked about have none, but for joins that may be undone: a table
        made after those would hold what is no member any more.
        """
        self._merge_gone(kept, absorbed)
        journal = self._journal
        if kept not in self._lists and (journal is None or not journal.active):
            self._lists.pop(absorbed, None)
            return
        theirs, mine = self._listed(absorbed), self._listed(kept)
        for name, anchors in theirs.items():
            into = mine.setdefault(name, [])
            length = len(into)
            into += anchors
            self._undo(partial(_cut_back, into, length))

    def _listed(self, root: Anchor) -> dict[str, list[Anchor]]:
        """The members of a class by type, put together when somebody asks."""
        found = self._lists.get(root)
        if found is None:
            found = self._lists[root] = {}
            for member in self._find.members(root):
                for name in self._names.get(member, ()):
                    found.setdefault(name, []).append(member)
        return found

    def _merge_gone(self, kept: Anchor, absorbed: Anchor) -> None:
        theirs = self._gone_by_type.get(absorbed)
        if not theirs:
            return
        mine = self._gone_by_type.setdefault(kept, {})
        before = dict(mine)
        for name, count in theirs.items():
            mine[name] = mine.get(name, 0) + count
        self._undo(lambda: _set_back(mine, before))

    def _undo(self, step: Callable[[], object]) -> None:
        if self._journal is not None and self._journal.active:
            self._journal.record(step)

    # ---- asking --------------------------------------------------------------------------------

    def __contains__(self, anchor: object) -> bool:
        return anchor in self._find and anchor not in self._gone

    def same(self, first: Anchor, second: Anchor) -> bool:
        """Whether two known anchors are one memory."""
        return self._find.find(first) is self._find.find(second)

    def root(self, anchor: Anchor) -> Anchor:
        """An anchor that stands for the class, the same for all members until the next join."""
        return self._find.find(anchor)

    def size(self, anchor: Anchor) -> int:
        """How many anchors the class has, discarded ones included."""
        return self._find.size(anchor)

    def members(self, anchor: Anchor) -> Iterator[Anchor]:
        """The anchors of a class, in the order they came."""
        return (member for member in self._find.members(anchor) if member not in self._gone)

    def placed(self, anchor: Anchor) -> list[tuple[Anchor, int]]:
        """The anchors of a class and where they start, in bytes behind the lowest, by place."""
        return [item for item in self._find.placed(anchor) if item[0] not in self._gone]

    def distance(self, first: Anchor, second: Anchor) -> int:
        """Bytes from the start of one member to that of another of the same class.

        Raises:
            ValueError: they are not in one class.
        """
        root_1, place_1 = self._find.place(first)
        root_2, place_2 = self._find.place(second)
        if root_1 is not root_2:
            raise ValueError(f"{first!r} and {second!r} are not one memory")
        return place_2 - place_1

    def piece(self, anchor: Anchor) -> Piece | None:
        """The rows of a member that lies in its whole with gaps; None for all others."""
        return self._pieces.get(anchor)

    def classes(self) -> Iterator[Anchor]:
        """One anchor per class."""
        return self._find.roots()

    def count(self, anchor: Anchor, name: str) -> int:
        """How many anchors of a type the class has."""
        root = self._find.find(anchor)
        found = self._listed(root).get(name, ())
        return len(found) - self._gone_by_type.get(root, {}).get(name, 0)

    def present(self, anchor: Anchor) -> list[str]:
        """The types that the class has anchors of, by name."""
        root = self._find.find(anchor)
        gone = self._gone_by_type.get(root, {})
        found = self._listed(root)
        return sorted(name for name, members in found.items() if len(members) > gone.get(name, 0))

    def types_of(self, anchor: Anchor) -> tuple[str, ...]:
        """The types of one anchor, as they were when it was added."""
        return self._names.get(anchor, ())

    def of_type(self, anchor: Anchor, name: str) -> list[Anchor]:
        """The anchors of a type in a class, in the order they came."""
        found = self._listed(self._find.find(anchor)).get(name, ())
        return [member for member in found if member not in self._gone]

    def meetings(
        self, first: Anchor, second: Anchor, pairs: Iterable[tuple[str, str]]
    ) -> Iterator[tuple[str, str, list[Anchor], list[Anchor]]]:
        """Which of these pairs of types would meet if two classes were joined.

        Each comes as (type in the first class, type in the second, the anchors of either); a pair
        of two different types is looked for both ways round.
        """
        for one, other in pairs:
            for left, right in dict.fromkeys(((one, other), (other, one))):
                if self.count(first, left) and self.count(second, right):
                    yield left, right, self.of_type(first, left), self.of_type(second, right)


def _cut_back(anchors: list[Anchor], length: int) -> None:
    del anchors[length:]


def _set_back(counts: dict[str, int], before: dict[str, int]) -> None:
    counts.clear()
    counts.update(before)
