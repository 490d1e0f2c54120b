"""Overlays in TOML: read as written, refused with file and field otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest

from ge_core.errors import InputFileError
from ge_core.passes import Place, Stage
from ge_core.passes.overlays import Change, read_overlay, read_overlay_file

TEXT = """
name = "acme-npu"
base = "O3"
target = "acme-npu"

[[add]]
pass = "acme.DropNoOpCast"
before = "ConcatNotaskPass"
stage = "before_OPTIMIZE_STAGE2"
options = { limit = 3, loud = true }

[[remove]]
pass = "ReorderForMemoryPass"

[[replace]]
pass = "A"
with = "acme.A"

[[reorder]]
pass = "PackNotaskPass"
after = ["X", "Y"]

[set]
"ge.exec.inputReuseMemIndexes" = "0"
"acme.DropNoOpCast.limit" = 100
"""


def test_all_parts_of_an_overlay() -> None:
    """Numbers and truth values become texts; one name may stand for a list."""
    overlay = read_overlay(TEXT, "x.toml")
    assert ("acme-npu", "O3", "acme-npu") == (overlay.name, overlay.base, overlay.target)
    assert (
        Change(
            "acme.DropNoOpCast",
            before=("ConcatNotaskPass",),
            place=Place(Stage.OPTIMIZE_STAGE2, -1),
            options={"limit": "3", "loud": "true"},
        ),
    ) == overlay.add
    assert (Change("ReorderForMemoryPass"),) == overlay.remove
    assert (Change("A", replacement="acme.A"),) == overlay.replace
    assert (Change("PackNotaskPass", after=("X", "Y")),) == overlay.reorder
    assert {
        "ge.exec.inputReuseMemIndexes": "0",
        "acme.DropNoOpCast.limit": "100",
    } == overlay.settings


def test_a_file_may_leave_its_name_out(tmp_path: Path) -> None:
    """It is then called after the file, and stands on O3."""
    path = tmp_path / "mine.toml"
    path.write_text("", encoding="utf-8")
    overlay = read_overlay_file(path)
    assert ("mine", "O3", str(path)) == (overlay.name, overlay.base, overlay.origin)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("name = 1", "field 'name': 1 is not a text"),
        ("[[ad]]\npass='A'", "field 'ad': is no key of a pipeline"),
        ("[[add]]\npas='A'", "field 'add[0].pas': is no key of a pipeline"),
        ("[[add]]\nbefore='A'", "field 'add[0].pass': is missing"),
        ("[[add]]\npass='A'\nbefore=1", "field 'add[0].before': 1 is neither"),
        ("[[add]]\npass='A'\nstage='X'", "field 'add[0].stage': no stage 'X'"),
        ("[[add]]\npass='A'\noptions={a=[1]}", "field 'add[0].options.a': [1] is neither"),
        ("[add]\npass='A'", "field 'add': is not a list; write [[add]]"),
        ("[[replace]]\npass='A'", "field 'replace[0].with': is missing"),
        ("[[remove]]\npass='A'\nbefore='B'", "field 'remove[0].before'"),
        ("set = 1", "field 'set': 1 is not a table"),
        ("a = ", "is not TOML"),
    ],
)
def test_malformed_overlays(text: str, problem: str) -> None:
    """One error that names file and field."""
    with pytest.raises(InputFileError) as raised:
        read_overlay(text, "x.toml", default_name="x")
    assert str(raised.value).startswith(f"x.toml: {problem}")


def test_an_overlay_without_a_name() -> None:
    """From a text that no file names, the name is needed."""
    with pytest.raises(InputFileError, match="field 'name': is missing"):
        read_overlay("", "<text>")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    """Names the file."""
    with pytest.raises(InputFileError, match=r"gone\.toml: can't be read"):
        read_overlay_file(tmp_path / "gone.toml")
