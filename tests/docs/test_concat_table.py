"""The page of measurements says of the shipped examples what the code does, in bytes."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.concat import COLUMNS, FOLDERS, FORMS, compiled, entries

PAGE = Path(__file__).parents[2] / "docs" / "benchmarks.md"
EXAMPLES = {path.name.removesuffix(".onnx"): (path, feeds) for path, feeds in entries(FOLDERS[:1])}


def table() -> dict[str, list[str]]:
    """The rows of the table, by model."""
    head = "| " + " | ".join(COLUMNS) + " |"
    lines = PAGE.read_text().partition(head)[2].splitlines()[2:]
    rows: dict[str, list[str]] = {}
    for line in lines:
        if not line.startswith("|"):
            break
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        rows[cells[0]] = cells[1:]
    return rows


def number(cell: str) -> int:
    """The bytes in a cell."""
    return int(cell.split()[0].replace(",", ""))


@pytest.mark.parametrize("model", sorted(EXAMPLES))
def test_a_shipped_model_copies_no_more_than_the_page_says(model: str) -> None:
    """As many bytes before; at most as many afterwards, and no larger peak: it never flatters."""
    row = table()[model]
    found = compiled(*EXAMPLES[model])
    assert number(row[0]) == found["before"].bytes
    for at, (name, _, _) in enumerate(FORMS, start=1):
        assert found[name].bytes <= number(row[at]) <= number(row[0])
    assert number(row[5]) == found["before"].small
    assert found["O4"].small <= number(row[6])
    assert found["peak O1"] == number(row[8])
    assert found["peak O4"] <= number(row[9]) <= number(row[8])
    assert found["ok"] and row[-1] == "True"


def test_every_model_has_a_row() -> None:
    """Those of the examples and those of the tests."""
    names = {p.name.removesuffix(".onnx").removesuffix(".stub") for p, _ in entries(list(FOLDERS))}
    assert table().keys() == names
