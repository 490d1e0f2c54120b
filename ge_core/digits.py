"""Whole numbers in texts that users write."""

from __future__ import annotations

from typing import Final

_MOST_DIGITS: Final = 18
"""Enough for every size and index; Python refuses to read texts of thousands of digits."""


def whole_number(text: str) -> int | None:
    """The number that plain decimal digits say; None for any other text.

    Digits of other scripts and superscripts, which Python counts as digits too, are no number here:
    the tools that read the same options don't know them.
    """
    if not text.isascii() or not text.isdecimal() or len(text) > _MOST_DIGITS:
        return None
    return int(text)
