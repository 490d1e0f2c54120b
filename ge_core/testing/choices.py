"""Where random graphs take their choices from: a seeded generator, or hypothesis."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class Choices(Protocol):
    """A source of choices; smaller numbers and earlier items are the simpler ones."""

    def integer(self, low: int, high: int) -> int:
        """A number from low to high, both included."""

    def pick(self, items: Sequence[T]) -> T:
        """One of the items."""

    def chance(self, percent: int) -> bool:
        """True in about this share of the calls."""


class SeededChoices:
    """Choices from `random.Random(seed)`: the same seed gives the same graph everywhere."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def integer(self, low: int, high: int) -> int:
        """A number from low to high, both included."""
        return self._random.randint(low, high)

    def pick(self, items: Sequence[T]) -> T:
        """One of the items."""
        return items[self._random.randrange(len(items))]

    def chance(self, percent: int) -> bool:
        """True in about this share of the calls."""
        return self._random.randrange(100) < percent


class DrawnChoices:
    """Choices drawn by hypothesis: `DrawnChoices(data.draw)` inside a `@given(data())` test."""

    def __init__(self, draw: Callable[[Any], Any]) -> None:
        from hypothesis import strategies

        self._draw = draw
        self._strategies = strategies

    def integer(self, low: int, high: int) -> int:
        """A number from low to high, both included."""
        return int(self._draw(self._strategies.integers(low, high)))

    def pick(self, items: Sequence[T]) -> T:
        """One of the items."""
        chosen: T = self._draw(self._strategies.sampled_from(list(items)))
        return chosen

    def chance(self, percent: int) -> bool:
        """True in about this share of the calls; False is the simpler answer."""
        return int(self._draw(self._strategies.integers(0, 99))) >= 100 - percent

    def optionally(self, step: Callable[[], object]) -> None:
        """Take a step or leave it out, which is the simpler choice.

        The choices of a step are one span to hypothesis, so that shrinking drops whole steps.
        """
        outer = self._draw

        def span(draw: Callable[[Any], Any]) -> None:
            self._draw = draw
            if self.integer(0, 15):
                step()

        try:
            outer(self._strategies.composite(span)())
        finally:
            self._draw = outer


def optionally(choices: Choices, step: Callable[[], object]) -> None:
    """Take a step, which a source of choices that shrinks may leave out."""
    leave_out = getattr(choices, "optionally", None)
    if leave_out is None:
        step()
    else:
        leave_out(step)


def recent(choices: Choices, items: Sequence[T]) -> T:
    """One of the items, where they are a pool that grows: to hypothesis the last is the simplest.

    Counted from the end, a choice keeps its meaning when steps before it are dropped.
    """
    return choices.pick(items[::-1] if isinstance(choices, DrawnChoices) else items)
