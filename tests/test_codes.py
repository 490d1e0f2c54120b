"""Reason codes are a promise: each one that is declared has a test that trips it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ge_core.passes.closing import KERNEL_CODES
from ge_core.plugin.index import index_plugins
from ge_core.plugin.loading import load_plugins

ROOT = Path(__file__).parents[1]
THIS = Path(__file__).resolve()


def declared() -> list[str]:
    """Every code of the kernel and of the first-party plugins."""
    registries = load_plugins(index_plugins(environ={"GE_DISABLE_PLUGINS": "*"})).registries
    names = {code.name for code in (*KERNEL_CODES, *registries.codes().all())}
    return sorted(names)


def words_of_tests() -> set[str]:
    """All words in quotes or as attributes in tests, this file left out."""
    words: set[str] = set()
    for folder in ("tests", *(str(p.relative_to(ROOT)) for p in ROOT.glob("plugins/*/tests"))):
        for path in sorted((ROOT / folder).rglob("*.py")):
            if path.resolve() != THIS:
                words.update(re.findall(r"\b[A-Z][A-Z0-9_]{2,}\b", path.read_text()))
    return words


WORDS = words_of_tests()


def test_there_are_codes() -> None:
    """The list is not empty because nothing was loaded."""
    assert {"NO_RULE_AT_LEVEL", "PASS_OFF", "R2_NOT_DECLARED", "NO_TASK"} <= set(declared())


@pytest.mark.parametrize("code", declared())
def test_a_code_is_tripped_somewhere(code: str) -> None:
    """Its name stands in a test other than this one."""
    assert code in WORDS
