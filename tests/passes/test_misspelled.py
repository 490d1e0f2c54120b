"""Names in declarations that mean nothing: levels, and switch options that switch nothing."""

from __future__ import annotations

from typing import Any

import pytest

from ge_core.passes import LevelRegistry, Stage
from ge_core.passes.base import AnalysisPass
from ge_core.passes.misspelled import odd_declarations
from ge_core.passes.options import OptionRegistry
from ge_core.passes.registry import PassRegistry
from ge_core.registry import Owner

ACME = Owner("acme", "acme-ge", "1.0")


class Look(AnalysisPass):
    """Looks."""

    def run(self, graph: Any, ctx: Any) -> None:
        """Nothing to see."""


def said(option: dict[str, Any] | None = None, **of_pass: Any) -> list[str]:
    """What is said of a pass and an option `b` of acme, which has a level set `v-edge`."""
    passes, options, levels = PassRegistry(), OptionRegistry(), LevelRegistry()
    levels.add("v-edge", extends="O3")
    passes.add(Look, **{"levels": (), "stage": Stage.CHECK, **of_pass})
    options.add("b", help="x", **(option or {}))
    mine, others, sets = PassRegistry(), OptionRegistry(), LevelRegistry()
    mine.absorb(passes, ACME)
    others.absorb(options, ACME)
    sets.absorb(levels, ACME)
    return [str(odd) for odd in odd_declarations(mine, others, sets)]


@pytest.mark.parametrize(
    ("level", "rest"),
    [
        ("O9", "levels are O0, O1, O2, O3, O4"),
        ("O33", "levels are O0, O1, O2, O3, O4"),
        ("v-egde", "near: v-edge (acme-ge 1.0)"),
    ],
)
def test_a_level_that_looks_like_one_and_is_none(level: str, rest: str) -> None:
    """Of a pass, of an option, and of an option's defaults."""
    none = f"level {level!r}, and there is none; {rest}"
    assert [
        f"pass acme.Look (acme-ge 1.0) names {none}",
        f"option acme.b (acme-ge 1.0) names {none}",
        f"option acme.b (acme-ge 1.0) has a default for {none}",
    ] == said({"levels": [level], "default": {"O0": "1", level: "2"}}, levels=[level])


def test_a_level_of_a_package_that_is_not_installed() -> None:
    """It means nothing here, and nothing is said."""
    assert [] == said(
        {"levels": ["fastest"], "default": {"fastest": "1"}}, levels=["fastest", "v-edge", "O3"]
    )


@pytest.mark.parametrize("type", ["integer", "flag", "level"])
def test_an_option_that_can_not_switch(type: str) -> None:
    """GE's rule: a pass is on where its option is true or empty, which these never are."""
    assert [
        f"pass acme.Look (acme-ge 1.0) is bound to option acme.b, whose type is {type}: it runs"
        ' where the value is true or empty, so declare it with type="switch"'
    ] == said({"type": type}, switch="b")


@pytest.mark.parametrize(
    "option",
    [{"type": "switch"}, {"type": "text"}, {"type": "choice", "choices": ("true", "auto")}],
)
def test_an_option_that_can(option: dict[str, Any]) -> None:
    """One of whose values is true."""
    assert [] == said(option, switch="b")
    assert [] == said({"type": "integer"}, switch="another.package")
