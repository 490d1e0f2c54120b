"""Union-find whose members have a place in their class, with undo.

A class is a block of memory; a member lies `delta` bytes behind its start. The smaller class always
joins the larger one and no path is compressed, so that a join is undone by looking at what it
touched; finding costs O(log n), joining n members in any order O(n log n) in all.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import Generic, TypeVar

from ge_core.errors import LayoutConflict
from ge_core.ir import Journal

K = TypeVar("K", bound=Hashable)


class PlacementUnionFind(Generic[K]):
    """Classes of keys with places.

    Args:
        journal: told the inverse of every change while it is active; None where nothing is undone.
            May be set later, when a table that nobody undoes has been filled.
        on_join: called with (kept root, absorbed root) before a join; for tables per class, whose
            changes are the caller's to record.
    """

    __slots__ = ("_next", "_offset", "_on_join", "_parent", "_size", "_tail", "journal")

    def __init__(
        self,
        journal: Journal | None = None,
        on_join: Callable[[K, K], None] | None = None,
    ) -> None:
        self._parent: dict[K, K] = {}
        self._offset: dict[K, int] = {}
        """Place of a key relative to its parent; 0 for a root."""
        self._size: dict[K, int] = {}
        """Members of a root's class."""
        self._next: dict[K, K] = {}
        """Members of a class are a linked list from its root, in the order they came."""
        self._tail: dict[K, K] = {}
        self.journal = journal
        self._on_join = on_join

    def __contains__(self, key: object) -> bool:
        return key in self._parent

    def __len__(self) -> int:
        return len(self._parent)

    def add(self, key: K) -> None:
        """A class of its own; nothing happens where the key is known."""
        if key in self._parent:
            return
        self._parent[key] = key
        self._offset[key] = 0
        self._size[key] = 1
        self._tail[key] = key
        if self.journal is not None and self.journal.active:
            self.journal.record(lambda: self._forget(key))

    def _forget(self, key: K) -> None:
        for table in (self._parent, self._offset, self._size, self._tail):
            table.pop(key)

    def find(self, key: K) -> K:
        """The root of the key's class: equal for members of one class until the next join."""
        parent = self._parent
        while (above := parent[key]) != key:
            key = above
        return key

    def place(self, key: K) -> tuple[K, int]:
        """The root, and the key's place relative to the root's, in bytes."""
        delta = 0
        parent, offset = self._parent, self._offset
        while (above := parent[key]) != key:
            delta += offset[key]
            key = above
        return key, delta

    def join(self, first: K, second: K, delta: int = 0) -> bool:
        """Say that `second` lies `delta` bytes behind `first`. False where that was known.

        Raises:
            LayoutConflict: the two lie in one class at another distance; nothing has changed.
        """
        root_1, place_1 = self.place(first)
        root_2, place_2 = self.place(second)
        if root_1 == root_2:
            if place_2 - place_1 != delta:
                raise LayoutConflict(
                    f"{second!r} would lie {delta} bytes behind {first!r}, "
                    f"and lies {place_2 - place_1} behind it already"
                )
            return False
        # Place of root 2 relative to root 1.
        distance = place_1 + delta - place_2
        if self._size[root_1] >= self._size[root_2]:
            self._hang(root_1, root_2, distance)
        else:
            self._hang(root_2, root_1, -distance)
        return True

    def _hang(self, kept: K, gone: K, distance: int) -> None:
        if self._on_join is not None:
            self._on_join(kept, gone)
        self._parent[gone] = kept
        self._offset[gone] = distance
        self._size[kept] += self._size[gone]
        old_tail = self._tail[kept]
        self._next[old_tail] = gone
        self._tail[kept] = self._tail[gone]
        if self.journal is not None and self.journal.active:
            self.journal.record(lambda: self._unhang(kept, gone, old_tail))

    def _unhang(self, kept: K, gone: K, old_tail: K) -> None:
        self._parent[gone] = gone
        self._offset[gone] = 0
        self._size[kept] -= self._size[gone]
        self._tail[kept] = old_tail
        del self._next[old_tail]

    def size(self, key: K) -> int:
        """How many members the key's class has."""
        return self._size[self.find(key)]

    def members(self, key: K) -> Iterator[K]:
        """The members of the key's class: the root first, then in the order they joined."""
        at = self.find(key)
        end = self._tail[at]
        yield at
        while at != end:
            at = self._next[at]
            yield at

    def placed(self, key: K) -> list[tuple[K, int]]:
        """The members with their places behind the first byte of the class, lowest place first."""
        found = [(member, self.place(member)[1]) for member in self.members(key)]
        lowest = min(place for _, place in found)
        return sorted(((m, place - lowest) for m, place in found), key=lambda item: item[1])

    def roots(self) -> Iterator[K]:
        """One member per class, in the order they were added."""
        return (key for key, parent in self._parent.items() if parent == key)
