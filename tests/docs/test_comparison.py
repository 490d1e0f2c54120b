"""What the comparison says of this product is shown by tests that exist."""

from __future__ import annotations

import ast
import re

import pytest

from scripts.comparison_page import NONE, data
from scripts.doc_snippets import ROOT

CONTENT = data()
ROWS, PROMISES = CONTENT["row"], CONTENT["promise"]
ENTRIES = [*ROWS, *PROMISES]
MARK = re.compile(rf"[Yp]\*?|{NONE}|\?")


def functions(path: str) -> set[str]:
    """The test functions of a file, methods of test classes among them."""
    file = ROOT / path
    if not file.is_file():
        return set()
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: str(entry["number"]))
def test_what_is_claimed_has_a_test(entry: dict[str, object]) -> None:
    """A full or partial mark names tests, each a function of a file that is there."""
    tests = [str(test) for test in entry.get("tests", [])]  # type: ignore[attr-defined]  # a list
    mark = entry.get("ours", entry.get("holds"))
    assert (mark != NONE) == bool(tests)
    missing = [
        test for test in tests if test.partition("::")[2] not in functions(test.partition("::")[0])
    ]
    assert [] == missing
    assert [] == [test for test in tests if not test.partition("::")[2].startswith("test_")]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: str(entry["number"]))
def test_what_is_missing_is_said(entry: dict[str, object]) -> None:
    """Less than a full mark has a note."""
    mark = entry.get("ours", entry.get("holds"))
    assert mark == "Y" or entry.get("note")


def test_marks_are_known_ones() -> None:
    """One per system and row."""
    for row in ROWS:
        peers = row["peers"].split()
        assert len(CONTENT["systems"]) == len(peers)
        assert [] == [mark for mark in (*peers, row["ours"]) if not MARK.fullmatch(mark)]


def test_all_promises_are_there() -> None:
    """Twenty, in order; rows are in order, too."""
    assert list(range(1, 21)) == [promise["number"] for promise in PROMISES]
    numbers = [row["number"] for row in ROWS]
    assert sorted(set(numbers)) == numbers
