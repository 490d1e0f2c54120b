"""The options by which callers lend the memory of inputs, as GE spells them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

INPUTS: Final = "ge.exec.inputReuseMemIndexes"
PAIRS: Final = "ge.exec.outputReuseInputMemIndexes"


@dataclass(frozen=True, slots=True)
class Lent:
    """What callers permit.

    Attributes:
        inputs: indices of inputs whose bytes may be overwritten.
        pairs: (input, output) for which the caller passes one address.
    """

    inputs: frozenset[int] = frozenset()
    pairs: frozenset[tuple[int, int]] = frozenset()

    def ends_as_nobodys(self, index: int) -> bool:
        """Whether nobody relies on what an input holds after the run: any entry names it."""
        return index in self.inputs or any(first == index for first, _ in self.pairs)


NOTHING_LENT: Final = Lent()


def lent_memory(options: Mapping[str, str]) -> Lent:
    """Read both options; what is malformed permits nothing."""
    inputs = set(map(_number, options.get(INPUTS, "").split(",")))
    pairs: set[tuple[int, int]] = set()
    for text in options.get(PAIRS, "").split("|"):
        numbers = [_number(part) for part in text.split(",")]
        if len(numbers) == 2 and numbers[0] is not None and numbers[1] is not None:
            pairs.add((numbers[0], numbers[1]))
    return Lent(frozenset(n for n in inputs if n is not None), frozenset(pairs))


def _number(text: str) -> int | None:
    text = text.strip()
    # Python refuses to read texts of thousands of digits, and no index has so many.
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None
