"""What the caller declared: which graph inputs may be overwritten and lie in which outputs.

The texts are read as tolerantly as GE reads them; whether they are well-formed is checked where
options are set.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

PAIRS_OPTION: Final = "ge.exec.outputReuseInputMemIndexes"
INPUTS_OPTION: Final = "ge.exec.inputReuseMemIndexes"

_BLANKS: Final = " \t\n\v\f\r"
_PAIR_HALF: Final = re.compile(rf"[{_BLANKS}]*\+?0*([0-9]*)")
_LIST_TOKEN: Final = re.compile(rf"[{_BLANKS}]*([+-]?)0*([0-9]*)")
_MOST_64: Final = (1 << 63) - 1
_MOST_32: Final = (1 << 31) - 1


def _number(digits: str, most: int) -> int | None:
    """The number of some digits without leading zeros, None beyond the most."""
    # Python refuses to convert very long texts, and no text this long is small enough.
    if len(digits) > 20:
        return None
    value = int(digits or "0")
    return value if value <= most else None


def parse_pairs(text: str | None) -> list[tuple[int, int]]:
    """The (input, output) pairs of `0,0|1,1`; what is no pair is passed over.

    As in GE, a half may have blanks or a plus in front and anything but a minus behind its digits.
    """
    found: list[tuple[int, int]] = []
    for pair in (text or "").split("|"):
        first, comma, second = pair.partition(",")
        if not comma or "-" in pair:
            continue
        one, other = _pair_half(first), _pair_half(second)
        if one is not None and other is not None:
            found.append((one, other))
    return found


def _pair_half(text: str) -> int | None:
    found = _PAIR_HALF.match(text)
    if found is None or not text[: found.end()].strip(_BLANKS + "+"):
        return None
    return _number(found[1], _MOST_64)


def lists_input(text: str | None, index: int) -> bool:
    """Whether a comma list names an input; the first token that is no number ends the list."""
    for token in filter(None, (text or "").split(",")):
        found = _LIST_TOKEN.fullmatch(token)
        if found is None or not token[-1:].isdigit():
            return False
        # The least 32-bit number is one further from zero than the most.
        value = _number(found[2], _MOST_32 + (found[1] == "-"))
        if value is None:
            return False
        if value == index and (found[1] != "-" or value == 0):
            return True
    return False


class Declarations:
    """The caller's permissions.

    Args:
        pairs: value of `ge.exec.outputReuseInputMemIndexes`.
        inputs: value of `ge.exec.inputReuseMemIndexes`, which has no condition on outputs.
    """

    def __init__(self, pairs: str | None, inputs: str | None) -> None:
        self._pairs = parse_pairs(pairs)
        self._pairs_text = pairs
        self._inputs = inputs

    def names(self, index: int) -> bool:
        """Whether an input is declared reusable at all."""
        return any(first == index for first, _ in self._pairs) or lists_input(self._inputs, index)

    def undeclared_outputs(self, index: int, outputs: Iterable[int]) -> list[int]:
        """Those of some graph outputs that a declared input may not lie in."""
        if lists_input(self._inputs, index):
            return []
        return [output for output in outputs if (index, output) not in self._pairs]

    def with_input(self, index: int) -> str:
        """The setting that would also declare this input."""
        # In front: a list ends at its first token that is no number.
        return f"{INPUTS_OPTION}={index}" + (f",{self._inputs}" if self._inputs else "")

    def with_outputs(self, index: int, outputs: Iterable[int]) -> str:
        """The setting that would also let this input lie in these outputs."""
        pairs = [f"{index},{output}" for output in outputs]
        return f"{PAIRS_OPTION}=" + "|".join([*filter(None, [self._pairs_text]), *pairs])
