"""What the caller declares about graph inputs, read as GE reads it: plainly."""

from __future__ import annotations


def leading_number(text: str, most: int) -> tuple[int | None, str]:
    """The number that a text starts with, blanks and a sign before it, and what follows."""
    at = 0
    while at < len(text) and text[at] in " \t\n\v\f\r":
        at += 1
    sign = 1
    if at < len(text) and text[at] in "+-":
        sign = -1 if text[at] == "-" else 1
        at += 1
    end = at
    while end < len(text) and text[end] in "0123456789":
        end += 1
    if end == at:
        return None, text
    value = sign * int(text[at:end])
    return (value if -most - 1 <= value <= most else None), text[end:]


def pairs_of(text: str | None) -> list[tuple[int, int]]:
    """The option of pairs."""
    found = []
    for pair in ("" if text is None else text).split("|"):
        if "," not in pair or "-" in pair:
            continue
        first, second = pair.split(",", 1)
        one, _ = leading_number(first, 2**63 - 1)
        other, _ = leading_number(second, 2**63 - 1)
        if one is not None and other is not None:
            found.append((one, other))
    return found


def listed(text: str | None, index: int) -> bool:
    """The option of inputs."""
    for token in ("" if text is None else text).split(","):
        if token == "":
            continue
        value, rest = leading_number(token, 2**31 - 1)
        if value is None or rest:
            return False
        if value == index:
            return True
    return False
