"""The skyline: how high the placed buffers reach at each position."""

from __future__ import annotations


class Skyline:
    """Heights over positions 0 .. count - 1, all 0 at first; both operations are O(log count)."""

    __slots__ = ("_least", "_most", "_width")

    def __init__(self, count: int) -> None:
        self._width = 1
        while self._width < count:
            self._width *= 2
        # A tree of ranges: the greatest height in each, and the least height of all of it.
        self._most = [0] * (2 * self._width)
        self._least = [0] * (2 * self._width)

    def height(self, first: int, last: int) -> int:
        """The greatest height of the positions first .. last."""
        most, least = self._most, self._least
        low, high = first + self._width, last + self._width + 1
        left, right = low >> 1, (high - 1) >> 1
        best = 0
        while low < high:
            if low & 1:
                if most[low] > best:
                    best = most[low]
                low += 1
            if high & 1:
                high -= 1
                if most[high] > best:
                    best = most[high]
            low >>= 1
            high >>= 1
        while left:
            if least[left] > best:
                best = least[left]
            if least[right] > best:
                best = least[right]
            left >>= 1
            right >>= 1
        return best

    def raise_to(self, first: int, last: int, height: int) -> None:
        """Make the positions first .. last at least that high."""
        most, least = self._most, self._least
        low, high = first + self._width, last + self._width + 1
        left, right = low >> 1, (high - 1) >> 1
        while low < high:
            if low & 1:
                self._lift(low, height)
                low += 1
            if high & 1:
                high -= 1
                self._lift(high, height)
            low >>= 1
            high >>= 1
        while left:
            most[left] = max(most[2 * left], most[2 * left + 1], least[left])
            if right != left:
                most[right] = max(most[2 * right], most[2 * right + 1], least[right])
            left >>= 1
            right >>= 1

    def _lift(self, node: int, height: int) -> None:
        if self._most[node] < height:
            self._most[node] = height
        if self._least[node] < height:
            self._least[node] = height
