"""Weighted union-find: which tensors lie at fixed distances from one another, and why.

`offset(tensor) = offset(root) + delta(tensor)`. A constraint that contradicts those before it is a
`LayoutConflict` that names the chain it closes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

from ge_core.errors import LayoutConflict


class Layout:
    """Classes of tensors with fixed distances.

    Args:
        count: tensors are 0 .. count - 1.
        name: how to name one in messages.
    """

    __slots__ = ("_delta", "_links", "_name", "_parent", "_size")

    def __init__(self, count: int, name: Callable[[int], str]) -> None:
        self._parent = list(range(count))
        self._delta = [0] * count
        self._size = [1] * count
        self._links: list[tuple[int, int, int, str]] = []
        self._name = name

    def find(self, tensor: int) -> tuple[int, int]:
        """The class of a tensor and its distance in bytes from the class's root."""
        parent, delta = self._parent, self._delta
        root = parent[tensor]
        if root == tensor:
            return tensor, 0
        if parent[root] == root:
            return root, delta[tensor]
        path = [tensor]
        while parent[root] != root:
            path.append(root)
            root = parent[root]
        total = 0
        for member in reversed(path):
            total += delta[member]
            parent[member], delta[member] = root, total
        return root, delta[tensor]

    def same(self, a: int, b: int) -> bool:
        """Whether two tensors are at a fixed distance."""
        return self.find(a)[0] == self.find(b)[0]

    def join(self, a: int, b: int, distance: int, reason: str) -> bool:
        """Say that `offset(b) = offset(a) + distance`; False where that is known already.

        Raises:
            LayoutConflict: it contradicts what was said before.
        """
        root_a, delta_a = self.find(a)
        root_b, delta_b = self.find(b)
        if root_a == root_b:
            if delta_b - delta_a != distance:
                raise LayoutConflict(self._contradiction(a, b, distance, reason))
            return False
        self._links.append((a, b, distance, reason))
        if self._size[root_a] < self._size[root_b]:
            self._attach(root_a, root_b, delta_b - delta_a - distance)
        else:
            self._attach(root_b, root_a, delta_a + distance - delta_b)
        return True

    def _attach(self, child: int, root: int, delta: int) -> None:
        self._parent[child] = root
        self._delta[child] = delta
        self._size[root] += self._size[child]

    def classes(self) -> dict[int, list[int]]:
        """The members of every class of two or more, by root, in rising order."""
        found: dict[int, list[int]] = {}
        for tensor, parent in enumerate(self._parent):
            if parent != tensor:
                root = self.find(tensor)[0]
                found.setdefault(root, []).append(tensor)
        for root, members in found.items():
            members.append(root)
            members.sort()
        return found

    # ---- messages ------------------------------------------------------------------------------

    def chain(self, a: int, b: int) -> list[str]:
        """The constraints that tie two tensors of one class together, one text each."""
        near: dict[int, list[tuple[int, int, str]]] = {}
        for one, other, distance, reason in self._links:
            near.setdefault(one, []).append((other, distance, reason))
            near.setdefault(other, []).append((one, -distance, reason))
        came: dict[int, tuple[int, int, str]] = {a: (a, 0, "")}
        waiting = deque([a])
        while waiting and b not in came:
            here = waiting.popleft()
            for other, distance, reason in near.get(here, ()):
                if other not in came:
                    came[other] = (here, distance, reason)
                    waiting.append(other)
        steps: list[str] = []
        while b != a and b in came:
            before, distance, reason = came[b]
            steps.append(self.say(before, b, distance, reason))
            b = before
        return steps[::-1]

    def say(self, a: int, b: int, distance: int, reason: str) -> str:
        """One constraint in words."""
        where = "at" if distance == 0 else f"{distance:+} bytes from"
        return f"{self._name(b)} lies {where} {self._name(a)} ({reason})"

    def _contradiction(self, a: int, b: int, distance: int, reason: str) -> str:
        known: Iterable[str] = self.chain(a, b) or ["they are one tensor"]
        return f"{self.say(a, b, distance, reason)}, but " + "; ".join(known)
