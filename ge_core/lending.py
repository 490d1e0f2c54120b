"""The texts by which callers lend the memory of graph inputs and outputs, and how they are read.

`ge.exec.outputReuseInputMemIndexes` has pairs `input,output` between bars, and the indexes options
have comma lists. They are read as tolerantly as GE reads them; what was read otherwise than it
stands there, or not at all, is told. `in:0,out:1`, which GE doesn't know, says which number is
which.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

PAIRS_OPTION: Final = "ge.exec.outputReuseInputMemIndexes"
"""Which graph outputs may lie in which graph inputs: pairs `input,output` between bars."""
INPUTS_OPTION: Final = "ge.exec.inputReuseMemIndexes"
"""Which graph inputs the caller needs no longer: a comma list of indexes."""
OUTPUTS_OPTION: Final = "ge.exec.outputReuseMemIndexes"

_BLANKS: Final = " \t\n\v\f\r"
_HALF: Final = re.compile(rf"[{_BLANKS}]*\+?0*([0-9]*)")
_TOKEN: Final = re.compile(rf"[{_BLANKS}]*([+-]?)0*([0-9]*)")
_LABELLED: Final = re.compile(
    r"in:([0-9]{1,18}),out:([0-9]{1,18})|out:([0-9]{1,18}),in:([0-9]{1,18})"
)
_PLAIN: Final = re.compile(r"(0|[1-9][0-9]*),(0|[1-9][0-9]*)")
_PLAIN_TOKEN: Final = re.compile(r"0|[1-9][0-9]*")
_MOST_64: Final = (1 << 63) - 1
_MOST_32: Final = (1 << 31) - 1
_MOST_SHOWN: Final = 40


@dataclass(frozen=True, slots=True)
class LentPairs:
    """What a text of pairs says.

    Attributes:
        pairs: (input, output), as they stand there.
        told: what was read in a way that the text doesn't make plain, and what was left out.
    """

    pairs: tuple[tuple[int, int], ...] = ()
    told: tuple[str, ...] = ()

    def __str__(self) -> str:
        """The text that says the same plainly."""
        return "|".join(f"{one},{other}" for one, other in self.pairs)


@dataclass(frozen=True, slots=True)
class LentIndexes:
    """What a comma list of indexes says; the attributes are as for `LentPairs`."""

    indexes: tuple[int, ...] = ()
    told: tuple[str, ...] = ()

    def __str__(self) -> str:
        """The text that says the same plainly."""
        return ",".join(map(str, self.indexes))


def read_pairs(text: str | None) -> LentPairs:
    """The pairs of `0,0|1,1`; what is no pair is left out, and the others count.

    As in GE, a half may have blanks or a plus in front and anything but a minus behind its digits.
    """
    pairs: list[tuple[int, int]] = []
    told: list[str] = []
    for part in text.split("|") if text else ():
        pair = labelled_pair(part) or _lenient_pair(part)
        if pair is None:
            told.append(f"{_shown(part)} is no pair input,output and is left out")
            continue
        pairs.append(pair)
        if _PLAIN.fullmatch(part) is None or pair[0] != pair[1]:
            # Old notes have the two the other way round: equal numbers alone are plain.
            told.append(f"{_shown(part)} is read as input {pair[0]}, output {pair[1]}")
    return LentPairs(tuple(pairs), tuple(told))


def labelled_pair(text: str) -> tuple[int, int] | None:
    """(input, output) of `in:0,out:1` or `out:1,in:0`; None for any other text."""
    found = _LABELLED.fullmatch(text)
    if found is None:
        return None
    one, other = (found[1], found[2]) if found[1] else (found[4], found[3])
    return int(one), int(other)


def _lenient_pair(text: str) -> tuple[int, int] | None:
    first, comma, second = text.partition(",")
    if not comma or "-" in text:
        return None
    one, other = _half(first), _half(second)
    return None if one is None or other is None else (one, other)


def _half(text: str) -> int | None:
    found = _HALF.match(text)
    if found is None or not text[: found.end()].strip(_BLANKS + "+"):
        return None
    return _number(found[1], _MOST_64)


def read_indexes(text: str | None) -> LentIndexes:
    """The indexes of `0,2`; the first token that is no 32-bit number ends the list, as in GE."""
    indexes: dict[int, None] = {}
    told: list[str] = []
    for token in text.split(",") if text else ():
        if not token:
            told.append("an empty index is left out")
            continue
        value = _signed(token)
        if value is None:
            told.append(f"{_shown(token)} is no index: it and what follows it are left out")
            break
        if value < 0:
            told.append(f"{_shown(token)} is below 0 and is left out")
            continue
        indexes[value] = None
        if _PLAIN_TOKEN.fullmatch(token) is None:
            told.append(f"{_shown(token)} is read as {value}")
    return LentIndexes(tuple(indexes), tuple(told))


def _signed(token: str) -> int | None:
    found = _TOKEN.fullmatch(token)
    if found is None or not token[-1:].isdigit():
        return None
    # The least 32-bit number is one further from zero than the most.
    value = _number(found[2], _MOST_32 + (found[1] == "-"))
    return None if value is None else -value if found[1] == "-" else value


def _number(digits: str, most: int) -> int | None:
    """The number of some digits without leading zeros, None beyond the most."""
    # Python refuses to convert very long texts, and no text this long is small enough.
    if len(digits) > 20:
        return None
    value = int(digits or "0")
    return value if value <= most else None


def _shown(text: str) -> str:
    return repr(text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}...")
