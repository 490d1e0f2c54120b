"""Overlays that contradict themselves: refused with both places."""

from __future__ import annotations

from typing import Any

import pytest

from ge_core.errors import InputFileError, PluginError, UsageError
from ge_core.passes import Place, Stage
from ge_core.passes.overlay_files import read_overlay
from ge_core.passes.overlays import Change, Overlay, RepeatChange, StageChange
from ge_core.passes.pipeline_text import PassUse
from ge_core.passes.pipelines import PipelineRegistry

ADD, REMOVE = "[[add]]\npass='A'\n", "[[remove]]\npass='A'\n"
REPLACE = "[[replace]]\npass='A'\nwith='B'\n"
REORDER = "[[reorder]]\npass='A'\nbefore='B'\n"
REPEAT = "[[repeat]]\npass='A'\nlimit=3\n"


@pytest.mark.parametrize(
    ("text", "problem", "line", "other"),
    [
        (ADD + REMOVE, "pass 'A' is added and removed", 3, 1),
        (REMOVE + ADD, "pass 'A' is removed and added", 3, 1),
        (ADD + ADD, "pass 'A' is added twice", 3, 1),
        (REMOVE + REMOVE, "pass 'A' is removed twice", 3, 1),
        (REPLACE + REPLACE, "pass 'A' is replaced twice", 4, 1),
        (REPLACE + REPLACE.replace("B", "C"), "pass 'A' is replaced twice", 4, 1),
        (ADD + REPLACE, "pass 'A' is added and replaced", 3, 1),
        (REMOVE + REPLACE, "pass 'A' is removed and replaced", 3, 1),
        (REMOVE + REORDER, "pass 'A' is removed and reordered", 3, 1),
        (ADD + REORDER, "pass 'A' is added and reordered", 3, 1),
        (REORDER + REORDER, "pass 'A' is reordered twice", 4, 1),
        (REMOVE + REPEAT, "pass 'A' is removed and repeated", 3, 1),
        (REPEAT + REPEAT, "pass 'A' is repeated twice", 4, 1),
        (REPEAT.replace("'A'", "['A', 'A']"), "pass 'A' is repeated twice", 1, 1),
        (
            REPLACE.replace("'A'", "'X'").replace("'B'", "'A'") + REMOVE,
            "pass 'A' is put in the place of 'X' and removed",
            4,
            1,
        ),
        (
            REPLACE + "[[replace]]\npass='B'\nwith='A'\n",
            "pass 'A' is replaced and put in the place of 'B'",
            4,
            1,
        ),
        (ADD + "[set]\nA='off'\n", "pass 'A' is added and set off", 4, 1),
        (REMOVE + "[set]\nA=true\n", "pass 'A' is removed and set on", 4, 1),
        (
            ADD + "[set]\n'ge.optimizationSwitch'='B:on;A:off'\n",
            "pass 'A' is added and switched off by ge.optimizationSwitch",
            4,
            1,
        ),
        (
            ADD + "options={n=1}\n[set]\n'A.n'=2\n",
            "option A.n is '1' here and '2' in [set]",
            1,
            5,
        ),
        (
            "base='O3'\n[set]\n'ge.oo.level'='O1'\n",
            "ge.oo.level is 'O1' and the base 'O3'",
            3,
            1,
        ),
        (
            REORDER + "[[reorder]]\npass='B'\nbefore='A'\n",
            "pass 'B' is before 'A', and the other way round",
            4,
            1,
        ),
        (
            REORDER + "[[add]]\npass='C'\n[[reorder]]\npass='B'\nbefore=['C', 'A']\n",
            "pass 'B' is before 'A', and the other way round",
            6,
            1,
        ),
        (
            "[[replace]]\nstage='CHECK'\nwith='x'\n[[replace]]\nstage='CHECK'\nwith='y'\n",
            "stage CHECK is replaced twice",
            4,
            1,
        ),
    ],
)
def test_two_changes_that_contradict_each_other(
    text: str, problem: str, line: int, other: int
) -> None:
    """The error stands at one line and names the other, whatever their order."""
    with pytest.raises(InputFileError) as raised:
        read_overlay(text, "x.toml", "x")
    assert (f"x.toml:{line}: {problem}", f"also: x.toml:{other}") == (
        raised.value.message,
        raised.value.hint,
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[[add]]\npass='A'\nbefore='B'\nafter=['C','B']", "pass 'A' is before and after 'B'"),
        ("[[add]]\npass='A'\nbefore='A'", "pass 'A' has its place by itself"),
        ("[[replace]]\npass='A'\nwith='A'", "pass 'A' is replaced with itself"),
    ],
)
def test_a_change_that_contradicts_itself(text: str, problem: str) -> None:
    """One place is enough."""
    with pytest.raises(InputFileError) as raised:
        read_overlay(text, "x.toml", "x")
    assert (f"x.toml:1: {problem}", None) == (raised.value.message, raised.value.hint)


@pytest.mark.parametrize(
    "text",
    [
        ADD + "options={n=1}\n[set]\n'A.n'=1\n",
        ADD + "[set]\nA='on'\n'ge.optimizationSwitch'='A:on'\n",
        REORDER + REPEAT,
        ADD + REPEAT,
        REPLACE + "[[replace]]\npass='C'\nwith='B'\n",
        REPLACE + "[[reorder]]\npass='B'\nafter='C'\n",
    ],
)
def test_what_does_not_contradict(text: str) -> None:
    """Saying the same by two means, or two things that go together."""
    read_overlay(text, "x.toml", "x")


def test_an_overlay_made_in_python_is_checked_when_it_is_registered() -> None:
    """It has no lines; the error names the pipeline."""
    both = Overlay("npu", add=(Change("A"),), remove=(Change("A"),))
    with pytest.raises(UsageError, match="^pipeline 'npu': pass 'A' is added and removed"):
        PipelineRegistry().add(both)
    with pytest.raises(PluginError, match="'npu' is not an Overlay"):
        PipelineRegistry().add("npu")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: Change("A", before="B"), r"before='B' is not a tuple; write \('B',\)"),
        (lambda: Change("A", after="B"), "after='B' is not a tuple"),
        (lambda: Change("A", options={"n": 2}), "option 'n' is given 2, which is no text"),
        (lambda: Change("A", place="CHEK"), "no stage 'CHEK'"),
        (lambda: RepeatChange("AB", 3), "passes='AB' is not a tuple"),
        (lambda: RepeatChange(("A",), 0), "limit is 0, not a number of runs"),
        (lambda: checked(add=("A",)), "'npu': add has 'A', which is no Change"),
        (lambda: checked(remove=Change("A")), "'npu': remove is .* not a tuple"),
        (lambda: checked(repeat=(Change("A"),)), "'npu': repeat has .* no RepeatChange"),
        (lambda: checked(replace=(Change("A"),)), "'A' is replaced with nothing"),
        (lambda: checked(settings={"ge.x": 1}), "option 'ge.x' is set to 1, which is no text"),
        (lambda: checked(include="x"), "include is 'x', not a tuple"),
        (
            lambda: checked(include=(Overlay("in", add=(Change("A"), Change("A"))),)),
            "pipeline 'in': pass 'A' is added twice",
        ),
    ],
)
def test_what_only_python_can_have_wrong(make: Any, problem: str) -> None:
    """Refused where it is made or registered, not letter by letter when it runs."""
    with pytest.raises(UsageError, match=problem):
        make()


def checked(**parts: Any) -> None:
    """Register an overlay of these parts."""
    PipelineRegistry().add(Overlay("npu", **parts))


def test_names_of_stages_serve_as_places() -> None:
    """In Python as in files."""
    place = Place(Stage.CHECK)
    assert place == Change("A", place="CHECK").place  # type: ignore[arg-type]
    assert place == StageChange(Stage.CHECK, "x").place  # type: ignore[arg-type]
    assert place == PassUse("A", place="CHECK").place  # type: ignore[arg-type]
