"""In words, what differs between two contents that are called the same."""

from __future__ import annotations

from typing import Final, cast

from ge_core.proof.algebra import Base
from ge_core.proof.contents import Content, Store
from ge_core.proof.segments import atoms

_MOST: Final = 40
"""Characters of a value that a message shows."""


def differs(store: Store, wanted: Content, found: Content, then: str) -> str | None:
    """The difference, where names alone don't tell it.

    Args:
        then: words for when `wanted` was right, such as "in the original".

    Returns:
        None where the first bytes that differ come from differently named places.
    """
    text = None
    while True:
        pair = _first_sources(wanted, found)
        if pair is None or store.label(pair[0]) != store.label(pair[1]):
            return text
        name = store.label(pair[0]).rpartition(":")[0] or store.label(pair[0])
        one, other = _made(store, pair[0]), _made(store, pair[1])
        if one is None or other is None:
            return _of_sources(store, pair, name)
        before, now = one[0], other[0]
        if before.op != now.op:
            return f"{name} computes {now.op} now, {before.op} {then}"
        if before.attributes != now.attributes:
            return _of_attributes(name, before, now, then)
        at = _unlike(before.contents, now.contents)
        ids = (None, None) if at is None else _pair(before.contents, now.contents, at)
        if at is None or None in ids:
            return _of_the_rest(name, one, other, at, then)
        # What it reads differs: the reason lies further up.
        wanted, found = (store.content(cast(int, number)) for number in ids)
        text = (
            f"input {at} of {name} is {store.describe(found)} now, {store.describe(wanted)} {then}"
        )


def _first_sources(wanted: Content, found: Content) -> tuple[int, int] | None:
    """The sources of the first byte in which two contents differ; None where that is their end."""
    if wanted.length is None or found.length is None:
        return wanted.segments[0][1][0][0], found.segments[0][1][0][0]
    left, right = atoms(wanted.segments), atoms(found.segments)
    a, b = next(left, None), next(right, None)
    while a is not None and b is not None:
        if a[:2] != b[:2]:
            return a[0], b[0]
        size = min(a[2], b[2])
        a = (a[0], a[1] + size, a[2] - size) if a[2] > size else next(left, None)
        b = (b[0], b[1] + size, b[2] - size) if b[2] > size else next(right, None)
    return None


def _made(store: Store, source: int) -> tuple[Base, tuple[object, ...]] | None:
    """What made a source, and which of its results it is; None for other sources."""
    key = store.key(source)
    if isinstance(key, tuple) and key and isinstance(key[0], Base):
        return key[0], key[1:]
    return None


def _of_sources(store: Store, pair: tuple[int, int], name: str) -> str:
    kinds = [key[0] if isinstance(key, tuple) and key else None for key in map(store.key, pair)]
    if kinds == ["constant", "constant"]:
        return f"the value of {name} differs"
    return f"{name} is made in another way now"


def _of_attributes(name: str, before: Base, now: Base, then: str) -> str:
    old = dict(cast("tuple[tuple[str, object], ...]", before.attributes))
    new = dict(cast("tuple[tuple[str, object], ...]", now.attributes))
    attribute = next(key for key in sorted({*old, *new}) if _at(old, key) != _at(new, key))
    shown = [_short(_at(values, attribute)) for values in (new, old)]
    if shown[0] == shown[1]:
        return f"attribute {attribute} of {name} differs"
    return f"attribute {attribute} of {name} is {shown[0]} now, {shown[1]} {then}"


def _at(values: dict[str, object], key: str) -> tuple[object, ...]:
    return (values[key],) if key in values else ()


def _short(value: tuple[object, ...]) -> str:
    if not value:
        return "missing"
    text = repr(_thawed(value[0]))
    return text if len(text) <= _MOST else text[: _MOST - 3] + "..."


def _thawed(value: object) -> object:
    """The value that `freeze` made this of, for a message."""
    if not isinstance(value, tuple) or not value:
        return value
    if value[0] == "[":
        return [_thawed(item) for item in value[1:]]
    if value[0] == "{":
        return {name: _thawed(item) for name, item in value[1:]}
    kind, item = value
    # Another object may print where it lies, which is another place in each run.
    return item if isinstance(item, (bool, int, float, str, bytes, type(None))) else _Named(kind)


class _Named:
    """Prints as a type's name."""

    def __init__(self, kind: str) -> None:
        self._kind = kind

    def __repr__(self) -> str:
        return f"<{self._kind}>"


def _of_the_rest(
    name: str,
    one: tuple[Base, tuple[object, ...]],
    other: tuple[Base, tuple[object, ...]],
    at: int | None,
    then: str,
) -> str:
    before, now = one[0], other[0]
    if at is not None:
        gone = at >= len(now.contents) or now.contents[at] is None
        return (
            f"input {at} of {name} is missing now"
            if gone
            else f"input {at} of {name} was missing {then}"
        )
    unlike = _unlike(before.described, now.described)
    if unlike is not None:
        return f"input {unlike} of {name} is described differently"
    if before.identity != now.identity:
        return f"{name} is another run of {now.op}"
    return f"the output of {name} is described differently"


def _unlike(one: tuple[object, ...], other: tuple[object, ...]) -> int | None:
    for at in range(max(len(one), len(other))):
        if at >= len(one) or at >= len(other) or one[at] != other[at]:
            return at
    return None


def _pair(
    one: tuple[int | None, ...], other: tuple[int | None, ...], at: int
) -> tuple[int | None, int | None]:
    return (one[at] if at < len(one) else None, other[at] if at < len(other) else None)
