"""Which copies go where not all can: the most bytes, searched for exactly where few compete.

Copies compete that could each go alone and not together, since they share a memory. What can go
together can go in any order, and with fewer others as well, so a search only has to try whether one
more fits. It knows the listing as it is; edges in its direction can always be added.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ge_core.api import Anchor, Joined
from ge_tensormove.coalesce.knowledge import Knowledge
from ge_tensormove.coalesce.move import Move
from ge_tensormove.coalesce.verdict import listed_verdict

MOST_EXACT: Final = 10
"""Of more competing copies than this those that save most are taken one by one."""


def worth(move: Move) -> tuple[int, int]:
    """What copies are sorted by: the most bytes first, then as they are listed."""
    return -move.bytes, move.place


def chosen(moves: Sequence[Move], known: Knowledge) -> list[Move]:
    """The copies that go with the listing as it is, as many bytes as can be; nothing is edited."""
    able = [move for move in moves if _fits(move, known)]
    found: list[Move] = []
    for group in _groups(able, known):
        found += _best(sorted(group, key=worth), known)
    return sorted(found, key=worth)


def _fits(move: Move, known: Knowledge) -> bool:
    answer = listed_verdict(move, known)
    return isinstance(answer, Joined) and answer.is_free


def _groups(moves: Sequence[Move], known: Knowledge) -> list[list[Move]]:
    """Copies that hang together by the memories that they join."""
    leader: dict[Anchor, Anchor] = {}

    def find(root: Anchor) -> Anchor:
        while leader.setdefault(root, root) is not root:
            leader[root] = leader[leader[root]]
            root = leader[root]
        return root

    memory = known.memory
    for move in moves:
        one, other = find(memory.root(move.input)), find(memory.root(move.output))
        leader[other] = one
    groups: dict[Anchor, list[Move]] = {}
    for move in moves:
        groups.setdefault(find(memory.root(move.input)), []).append(move)
    return list(groups.values())


def _best(group: list[Move], known: Knowledge) -> list[Move]:
    """The most bytes of one group, tried out on the tables alone."""
    if len(group) == 1:
        return group
    trial = _Trial(known)
    with known.root.transaction() as edits:
        greedy = [move for move in group if trial.take(move)]
        edits.rollback()
    known.order.vouch()
    if len(greedy) == len(group) or len(group) > MOST_EXACT:
        return greedy
    return _Exact(group, greedy, trial, known).run()


class _Trial:
    """Joins the memories of copies to see what still fits."""

    def __init__(self, known: Knowledge) -> None:
        self._known = known

    def take(self, move: Move) -> bool:
        """Take a copy out of the tables, where it fits."""
        if not _fits(move, self._known):
            return False
        for classes in (self._known.memory, self._known.symbols):
            if not classes.same(move.input, move.output):
                classes.join(move.input, move.output)
        return True


class _Exact:
    """Tries all sets that may be better than the best so far."""

    def __init__(
        self, group: list[Move], greedy: list[Move], trial: _Trial, known: Knowledge
    ) -> None:
        self._group = group
        self._trial = trial
        self._known = known
        self._best = greedy
        self._most = _value(greedy)

    def run(self) -> list[Move]:
        """The best set; of equals the one that is found first."""
        self._from(0, [])
        return self._best

    def _from(self, at: int, taken: list[Move]) -> None:
        if _value(taken) > self._most:
            self._best, self._most = list(taken), _value(taken)
        rest = self._group[at:]
        if not rest or _value([*taken, *rest]) <= self._most:
            return
        with self._known.root.transaction() as edits:
            if self._trial.take(rest[0]):
                self._from(at + 1, [*taken, rest[0]])
            edits.rollback()
        self._known.order.vouch()
        self._from(at + 1, taken)


def _value(moves: Sequence[Move]) -> tuple[int, int]:
    """Bytes, then how many: a copy of unknown size counts for less than any known one."""
    return sum(move.bytes for move in moves), len(moves)
