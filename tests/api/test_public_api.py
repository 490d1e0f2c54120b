"""What third parties may rely on is what it was; the tool that says so sees every change."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import pytest

from scripts.api_lines import class_lines, name_lines, signature
from scripts.api_snapshot import FOLDER, SUBJECTS, compare, lines_of, recorded


@pytest.mark.parametrize("subject", SUBJECTS)
def test_the_public_api_is_as_recorded(subject: str) -> None:
    """Additions are recorded and noted; what others use is not removed without notice."""
    difference = compare(subject, recorded(subject), lines_of(subject))
    assert not difference, str(difference)


def test_every_list_has_a_subject() -> None:
    """No file is left that nothing is compared with, and lists are sorted and without repeats."""
    assert {f"{subject}.txt" for subject in SUBJECTS} == {p.name for p in FOLDER.iterdir()}
    for subject in SUBJECTS:
        lines = recorded(subject)
        assert lines
        assert sorted(set(lines)) == lines


def test_words_for_what_was_removed() -> None:
    """The message shows both lines, and what has to be done first."""
    difference = compare("python", ["f(a, b)", "g()", "k: int"], ["f(a)", "g()", "h()"])
    assert (
        "gone (python):\n"
        "  - k: int\n"
        "changed (python):\n"
        "  - f(a, b)\n"
        "  + f(a)\n"
        "new (python):\n"
        "  + h()\n"
        "others use this: what is removed or renamed is kept for two releases and retired with a"
        " warning, and arguments may only be added with a default (docs/stability.md); if it is so,"
        " or was never released:\n"
        "run `python -m scripts.api_snapshot --write`, and say it in the changelog"
        == str(difference)
    )


def test_words_for_what_was_added() -> None:
    """An addition needs only to be recorded."""
    difference = compare("python", ["g()"], ["g()", "h()"])
    assert (
        "new (python):\n  + h()\n"
        "run `python -m scripts.api_snapshot --write`, and say it in the changelog"
        == str(difference)
    )
    assert not compare("python", ["g()"], ["g()"])


# ---- the lines -----------------------------------------------------------------------------------


class Colour(enum.Enum):
    """A choice."""

    RED = "red"


def plain(a: int, /, b: str = "x", *rest: int, c: Colour = Colour.RED, **more: Any) -> list[int]:
    """A function with every kind of argument."""
    return []


def marked(*, only: bool = False, check: Callable[[], int] = int) -> None:
    """Keyword-only ones."""


NOTHING = object()


def with_address(a, b=NOTHING):  # type: ignore[no-untyped-def]
    """A default whose text has an address."""


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (
            plain,
            "(a: int, /, b: str = 'x', *rest: int, c: Colour = Colour.RED, **more: Any)"
            " -> list[int]",
        ),
        (marked, "(*, only: bool = False, check: Callable[[], int] = int) -> None"),
        (with_address, "(a, b=<object object>)"),
    ],
    ids=["all kinds", "keywords", "addresses"],
)
def test_signatures(function: Callable[..., Any], text: str) -> None:
    """They are written as in the source, without what differs from run to run."""
    assert text == signature(function)


@dataclass(frozen=True)
class Record:
    """A dataclass."""

    name: str
    parts: list[int] = field(default_factory=list)

    @property
    def size(self) -> int:
        """A property."""
        return 0

    @classmethod
    def of(cls, text: str) -> Record:
        """A class method."""
        return cls(text)

    def _private(self) -> None: ...


class Holder:
    """A class with attributes."""

    __slots__ = ("_hidden", "seen")

    def __init__(self, seen: int) -> None:
        self.seen: int = seen
        self._hidden = 0


class Deeper(Record):
    """A class that inherits."""

    def walk(self, depth: int = 1) -> Iterator[int]:
        """A method."""
        return iter(())


class Shape(Protocol):
    """What others implement."""

    def area(self) -> float:
        """A method."""
        ...


for _cls in (Record, Holder, Deeper, Shape):
    # Only members that our own classes define are shown.
    _cls.__module__ = "ge_core.sample"


@pytest.mark.parametrize(
    ("cls", "lines"),
    [
        (
            Record,
            [
                "C: class",
                "C(name: str, parts: list[int] = <factory>) -> None",
                "C.name: str",
                "C.parts: list[int]",
                "C.size: property -> int",
                "C.of(text: str) -> Record [classmethod]",
            ],
        ),
        (Holder, ["C: class", "C(seen: int) -> None", "C.seen: int"]),
        (
            Deeper,
            [
                "C: class (Record)",
                "C(name: str, parts: list[int] = <factory>) -> None",
                "C.name: str",
                "C.parts: list[int]",
                "C.size: property -> int",
                "C.of(text: str) -> Record [classmethod]",
                "C.walk(self, depth: int = 1) -> Iterator[int]",
            ],
        ),
        (Shape, ["C: class", "C.area(self) -> float"]),
        (Colour, ["C: class", "C.RED = 'red'"]),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_classes(cls: type, lines: list[str]) -> None:
    """Constructors, attributes, properties, methods and members show, private ones don't."""
    assert lines == list(class_lines("C", cls))


@pytest.mark.parametrize(
    ("value", "line"),
    [
        ("HBM", "X: str = 'HBM'"),
        (-1, "X: int = -1"),
        (frozenset({"b", "a"}), "X: frozenset = {'a', 'b'}"),
        ((Colour.RED,), "X: tuple = (Colour.RED,)"),
        (int | None, "X: int | None"),
    ],
)
def test_constants(value: object, line: str) -> None:
    """Their values show where plugins use them as such."""
    assert [line] == list(name_lines("X", value))
