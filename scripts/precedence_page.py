"""The page about who decides whether a pass runs: every row is what the product answers."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Final

from ge_core.ir import Graph
from ge_core.passes import GraphPass, Level, LevelRegistry, PassContext, PassRegistry, Stage
from ge_core.passes.precedence import RULES, SOURCE_RULES, Decision, settle
from ge_core.passes.sources import ARGUMENTS, ENVIRONMENT, PIPELINE, PROJECT, STRENGTH, Source
from scripts.markdown import code, page, table
from scripts.registry_pages import registries

SWITCH: Final = "ge.oo.constantFolding"
LEVEL: Final = "ge.oo.level"
COLUMNS: Final = {
    ARGUMENTS: ("off", "off and on", "on", "-"),
    PIPELINE: ("off", "on", "-"),
    PROJECT: ("off", "on", "-"),
    ENVIRONMENT: ("off", "on", "-"),
    "switch option": ("false", "true", "-"),
    "level": ("off at it", "on at it"),
}
"""What each can say about one pass."""


class Example(GraphPass):
    """On at O3, and bound to an option that decides before the level."""

    def run(self, graph: Graph, ctx: PassContext) -> None:
        """Nothing."""


def decide(said: Mapping[str, str]) -> Decision:
    """What the product decides for one row of answers, each by its column."""
    passes = PassRegistry()
    switch = [] if said["switch option"] == "-" else [SWITCH]
    passes.add(Example, levels=Level.O3.and_above(), stage=Stage.PREPARE, switch=switch)
    sources = []
    for name in STRENGTH:
        options = {}
        if name == ARGUMENTS:
            options[LEVEL] = "O3" if said["level"] == "on at it" else "O1"
        if name == ENVIRONMENT and switch:
            options[SWITCH] = said["switch option"]
        on = ("Example",) if "on" in said[name] else ()
        off = ("Example",) if "off" in said[name] else ()
        sources.append(Source(name, options, enable=on, disable=off))
    settings = settle(sources, registries().options, passes, LevelRegistry())
    return settings.decide(passes.get("Example"))


def precedence() -> str:
    """The table of all answers, those rows put together that differ in nothing that counts."""
    head = [*COLUMNS, "runs", "because of"]
    words = ", then the ".join(STRENGTH)
    intro = (
        f"The strongest that says something about a pass decides: the {words}. Inside one of them "
        "*off* beats *on*. Where none names the pass, the option that it is bound to decides, if "
        "there is one, then the level. The table is made by asking the product about every "
        "combination; `ge passes why NAME` shows the same for a pass of yours. *any* means that "
        "nothing said there changes the answer, and a dash that nothing is said."
    )
    after = (
        "A pass that would run is off all the same where something that it needs or requires is "
        "missing, or where an instrument vetoes it; a *required* pass can't be switched off, and "
        "trying it is an error. [The guide](guide.md#options-and-who-decides) says how each source "
        "is written."
    )
    rules = table(
        ["rule", "what it looks at"], ([code(name), text] for name, text in RULES.items())
    )
    return page(
        "Who decides whether a pass runs",
        intro,
        table(head, _rows({})),
        after,
        "## The rules",
        "By the names that `ge passes why` prints, in the order in which they are asked: the first "
        f"{words_of(len(SOURCE_RULES))} of each source in turn, the others once. A file is first "
        "where the source's `ge.optimizationSwitch` is exactly GE's `forbidden_close_pass:on` (or "
        "`off`). In a pipeline text, `written in the pipeline` and `not written in the pipeline` "
        "stand where the pipeline does.",
        rules,
    )


def words_of(number: int) -> str:
    """A small number in words."""
    return ("no", "one", "two", "three", "four", "five", "six")[number]


def _rows(said: dict[str, str]) -> Iterator[list[str]]:
    """Rows below what is said so far: one for all where the rest changes nothing."""
    left = [column for column in COLUMNS if column not in said]
    combinations = itertools.product(*(COLUMNS[column] for column in left))
    decisions = [decide({**said, **dict(zip(left, one, strict=True))}) for one in combinations]
    answers = {(decision.runs, _first(decision)) for decision in decisions}
    if len(answers) == 1:
        [(runs, why)] = answers
        yield [*(said.get(c, "any") for c in COLUMNS), "yes" if runs else "no", why]
        return
    for value in COLUMNS[left[0]]:
        yield from _rows({**said, left[0]: value})


def _first(decision: Decision) -> str:
    """The rule that decided, and for whom it spoke."""
    step = decision.because[0]
    return step.source if step.rule == step.source else f"{step.source}: {step.rule}"
