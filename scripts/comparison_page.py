"""The page that compares this product with other frameworks, made from docs/comparison.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from scripts.markdown import code, page, table

FILE: Final = Path(__file__).resolve().parents[1] / "docs" / "comparison.toml"
NONE: Final = "\N{EN DASH}"


def data() -> dict[str, Any]:
    """The file's content."""
    return tomllib.loads(FILE.read_text(encoding="utf-8"))


def comparison() -> str:
    """The table of features, then the promises."""
    content = data()
    systems, rows = content["systems"], content["row"]
    named = ", ".join(f"{short} {name}" for short, name in systems.items())
    intro = (
        f"What other frameworks for passes offer, and this one. The others' code and documents "
        f"were read on {content['read']}, some in stored copies that are older, most of them in "
        f"part: **Y** has it, **p** partly, **{NONE}** not found in what was read (no proof that "
        "it isn't there), **?** not looked at; a star means from knowledge, not read that day. "
        f"Columns: {named}, ours is this product."
    )
    ours = (
        "Each mark in the last column leads to a file with a test that shows it; the tests of "
        "each row by name are listed [below](#tests-of-the-rows). A dash means that it isn't there."
    )
    features = table(["#", "feature", *systems, "ours"], (_row(row) for row in rows))
    promises = table(
        ["#", "promise", "holds", "tests, and what is missing"],
        (
            [str(p["number"]), p["text"], p["holds"], "; ".join(_shown(p))]
            for p in content["promise"]
        ),
    )
    counts = _counts(p["holds"] for p in content["promise"])
    return page(
        "How it compares",
        intro,
        ours,
        features,
        "## Tests of the rows",
        "\n".join(f"* {row['number']}, {row['feature']}: {'; '.join(_shown(row))}" for row in rows),
        "## Twenty promises",
        f"What this product set out to promise before it was written: {counts}.",
        promises,
    )


def _row(row: Mapping[str, Any]) -> list[str]:
    peers = row["peers"].split()
    tests = row.get("tests", [])
    ours = f"[{row['ours']}]({_link(tests[0])})" if tests else row["ours"]
    return [str(row["number"]), row["feature"], *peers, ours]


def _shown(entry: Mapping[str, Any]) -> list[str]:
    tests = [f"[{code(test.partition('::')[2])}]({_link(test)})" for test in entry.get("tests", [])]
    return [*tests, entry["note"]] if entry.get("note") else tests


def _link(test: str) -> str:
    return "../" + test.partition("::")[0]


def _counts(marks: Iterable[str]) -> str:
    listed = list(marks)
    return (
        f"{listed.count('Y')} hold, {listed.count('p')} hold in part, "
        f"{listed.count(NONE)} don't or not yet"
    )
