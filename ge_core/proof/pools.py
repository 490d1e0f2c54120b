"""The pools of the compiled run: which content, written by whom, each address holds."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from itertools import pairwise

from ge_core.proof.contents import Content, Store
from ge_core.proof.intervals import IntervalMap
from ge_core.proof.regions import Region

Held = tuple[int, Content, str]
"""Address of the content's first byte, the content, and who wrote it."""
Changes = dict[str, list[tuple[int, int, Held]]]
"""Per pool the pieces that a fork has written, disjoint and in order."""


class Pools:
    """All memory of the compiled run."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._maps: dict[str, IntervalMap[Held]] = {}
        self._forks = 0
        self._sizeless: set[str] = set()
        """Pools of one memory whose size nobody knows: one address stands for all its bytes."""

    def map(self, pool: str) -> IntervalMap[Held]:
        """The interval map of a pool; at first it holds bytes that nobody wrote."""
        found = self._maps.get(pool)
        if found is None:
            label = f"what {pool} held before the run"
            start = self._store.whole(self._store.source(("before", pool), label), None)
            found = self._maps[pool] = IntervalMap((0, start, ""))
            for _ in range(self._forks):
                found.fork()
        return found

    # ---- reading -------------------------------------------------------------------------------

    def read(self, region: Region) -> Content:
        """What a region holds."""
        if region.is_strided:
            whole = self._dense(region.pool, region.start, region.end)
            return self._store.gather(whole, 0, region.row, region.pitch, region.count)
        if region.size is None:
            content = self.map(region.pool).at(region.start)[2][1]
            return self._store.part(content, 0, region.seen)
        return self._dense(region.pool, region.start, region.start + region.size)

    def _dense(self, pool: str, start: int, end: int) -> Content:
        if start == end:
            return self._store.empty
        _, piece_end, (base, content, _) = self.map(pool).at(start)
        if piece_end is None or piece_end >= end:
            return self._store.part(content, start - base, end - start)
        pieces = self.map(pool).pieces(start, end)
        return self._store.join(
            [self._store.part(held[1], low - held[0], high - low) for low, high, held in pieces]
        )

    def writers(self, region: Region) -> list[str]:
        """Who wrote what a region holds, in order of addresses."""
        found: dict[str, None] = {}
        for low, high in region.rows():
            for _, _, held in self.map(region.pool).pieces(low, high):
                found[held[2]] = None
        return [writer for writer in found if writer]

    # ---- writing -------------------------------------------------------------------------------

    def write(self, region: Region, content: Content, writer: str) -> None:
        """Let a region hold a content."""
        if region.size == 0:
            return
        if region.size is None:
            self._sizeless.add(region.pool)
        else:
            content = self._store.part(content, 0, region.size)
        if region.is_strided:
            content = self._laid_out(region, content)
        held = (region.start, content, writer)
        self.map(region.pool).assign(region.start, region.end, held)

    def destroy(self, region: Region, label: str, writer: str) -> None:
        """Let a region hold bytes that equal no others."""
        if region.size != 0:
            self.write(region, self._store.unknown(label, region.size), writer)

    def _laid_out(self, region: Region, content: Content) -> Content:
        """A strided region from its first byte to its last: its rows, and what lies between."""
        store, row, pitch, rows = self._store, region.row, region.pitch, region.count - 1
        old = self._dense(region.pool, region.start, region.end)
        between = store.gather(old, row, pitch - row, pitch, rows)
        front = store.part(content, 0, rows * row)
        last = store.part(content, rows * row, row)
        return store.join([store.interleave(rows, [front, between]), last])

    # ---- forks ---------------------------------------------------------------------------------

    def fork(self) -> None:
        """Remember changes from here on."""
        self._forks += 1
        for pool in self._maps.values():
            pool.fork()

    def rollback(self) -> Changes:
        """Undo the changes since the last fork; the answer is what they were."""
        self._forks -= 1
        changes: Changes = {}
        for name, pool in self._maps.items():
            pieces = [piece for _, _, found in pool.rollback() for piece in found]
            if pieces:
                changes[name] = pieces
        return changes

    def merge(
        self, arms: Sequence[Changes], join: Callable[[list[Content]], Content], writer: str
    ) -> None:
        """Let every address hold what whichever arm has run left there."""
        names = dict.fromkeys(name for arm in arms for name in arm)
        for name in names:
            self._merge_pool(name, [arm.get(name, []) for arm in arms], join, writer)

    def _merge_pool(
        self,
        name: str,
        arms: list[list[tuple[int, int, Held]]],
        join: Callable[[list[Content]], Content],
        writer: str,
    ) -> None:
        pool, whole = self.map(name), name in self._sizeless
        starts = [[low for low, _, _ in pieces] for pieces in arms]
        marks = sorted({m for pieces in arms for low, high, _ in pieces for m in (low, high)})
        for low, high in _union(arms):
            inside = set(marks[bisect_left(marks, low) : bisect_right(marks, high)])
            inside.update(piece[0] for piece in pool.pieces(low, high))
            states: list[tuple[int, int, Held]] = []
            for start, end in pairwise(sorted(inside)):
                each = [
                    _state(pieces, firsts, start) or pool.at(start)[2]
                    for pieces, firsts in zip(arms, starts, strict=True)
                ]
                parts = [held[1] for held in each] if whole else self._parts(each, start, end)
                states.append((start, end, self._merged(each, parts, start, join, writer)))
            for start, end, held in states:
                pool.assign(start, end, held)

    def _parts(self, each: list[Held], start: int, end: int) -> list[Content]:
        return [self._store.part(held[1], start - held[0], end - start) for held in each]

    def _merged(
        self,
        each: list[Held],
        parts: list[Content],
        start: int,
        join: Callable[[list[Content]], Content],
        writer: str,
    ) -> Held:
        first = each[0]
        if all(held[:2] == first[:2] for held in each):
            return first
        if all(part is parts[0] for part in parts):
            return start, parts[0], first[2]
        return start, join(parts), writer


def _union(arms: list[list[tuple[int, int, Held]]]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for low, high in sorted((low, high) for pieces in arms for low, high, _ in pieces):
        if found and low <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], high))
        else:
            found.append((low, high))
    return found


def _state(pieces: list[tuple[int, int, Held]], firsts: list[int], address: int) -> Held | None:
    """What an arm has left at an address; None where it wrote nothing."""
    at = bisect_right(firsts, address) - 1
    if at < 0 or pieces[at][1] <= address:
        return None
    return pieces[at][2]
