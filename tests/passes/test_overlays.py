"""Overlays in TOML: read as written, refused with file and field otherwise."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from ge_core.errors import InputFileError
from ge_core.passes import Place, Stage
from ge_core.passes.overlay_files import read_overlay, read_overlay_file
from ge_core.passes.overlays import Change, Overlay, RepeatChange, StageChange

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
"acme.DropNoOpCast.limit" = 3
"acme.Other.limit" = 1.5

[[repeat]]
pass = ["X", "Y"]
limit = 4

[[replace]]
stage = "TENSOR_MOVE"
with = "acme-moves"
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
        "acme.DropNoOpCast.limit": "3",
        "acme.Other.limit": "1.5",
    } == overlay.settings
    assert (RepeatChange(("X", "Y"), 4),) == overlay.repeat
    assert (StageChange(Place(Stage.TENSOR_MOVE), "acme-moves"),) == overlay.stages


def test_where_things_are_set() -> None:
    """Changes know their lines, for errors at a later time."""
    overlay = read_overlay(TEXT, "x.toml")
    assert [6, 12, 15, 19] == [change.line for change in overlay.changes]
    assert (3, 25) == (overlay.lines["base"], overlay.lines["set.acme.DropNoOpCast.limit"])
    assert ("x.toml:28", "x.toml:32") == tuple(
        overlay.where(part.line) for part in (*overlay.repeat, *overlay.stages)
    )


def test_names_of_options_need_no_quotes() -> None:
    """Dotted keys and tables mean the same, and errors still find the line."""
    for text in ("[set]\nacme.Cast.limit = 3", "[set.acme.Cast]\nlimit = 3"):
        overlay = read_overlay(f"name = 'x'\n{text}\n", "x.toml")
        assert {"acme.Cast.limit": "3"} == dict(overlay.settings)
        assert 3 == overlay.lines["set.acme.Cast.limit"]
    with pytest.raises(InputFileError, match="x.toml:3: field 'set.acme.limit': "):
        read_overlay("name = 'x'\n[set.acme]\nlimit = [3]\n", "x.toml")
    with pytest.raises(InputFileError, match="x.toml:4: field 'set.a.b': is set twice"):
        read_overlay("name = 'x'\n[set]\n'a.b' = 1\na.b = 2\n", "x.toml")


def test_a_file_may_leave_its_name_out(tmp_path: Path) -> None:
    """It is then called after the file; without a base it stands on what it includes, or O3."""
    path = tmp_path / "mine.toml"
    path.write_text("", encoding="utf-8")
    overlay = read_overlay_file(path)
    assert ("mine", None, str(path)) == (overlay.name, overlay.base, overlay.origin)


MALFORMED = [
    ("name = 1", "1: field 'name': 1 is not a text", ()),
    ("\n[[ad]]\npass='A'", "2: field 'ad': is no key of a pipeline", ("add",)),
    ("[[add]]\npas='A'", "2: field 'add[0].pas': is no key of [[add]]", ("pass",)),
    ("[[add]]\nbefore='A'", "1: field 'add[0].pass': is missing", ()),
    ("[[add]]\npass=''", "2: field 'add[0].pass': string should have at least 1", ()),
    ("[[add]]\npass='A'\nbefore=1", "3: field 'add[0].before': 1 is neither", ()),
    ("[[add]]\npass='A'\nstage='PREPAR'", "3: field 'add[0].stage': no stage", ("PREPARE",)),
    ("[[add]]\npass='A'\nstage=1", "3: field 'add[0].stage': 1 is not a text", ()),
    (
        "[[add]]\npass='A'\n[[add]]\npass='B'\n[add.options]\na=[1]",
        "6: field 'add[1].options.a': [1] is neither",
        (),
    ),
    ("[add]\npass='A'", "1: field 'add': is not a list; write [[add]]", ()),
    ("[[replace]]\npass='A'", "1: field 'replace[0].with': is missing", ()),
    ("[[replace]]\nwith='A'", "1: field 'replace[0]': names either a pass or a stage", ()),
    (
        "[[replace]]\nstage='CHECK'\nwith='A'\noptions={a=1}",
        "1: field 'replace[0]': options of a stage stand in",
        (),
    ),
    ("[[remove]]\npass='A'\nbefore='B'", "3: field 'remove[0].before': is no key", ()),
    ("[[reorder]]\npass='A'", "1: field 'reorder[0]': says nothing", ()),
    ("[[repeat]]\npass='A'", "1: field 'repeat[0].limit': is missing", ()),
    ("[[repeat]]\npass='A'\nlimit=0", "3: field 'repeat[0].limit': input should be", ()),
    ("[[repeat]]\npass='A'\nlimit='3'", "3: field 'repeat[0].limit': input should", ()),
    ("[[repeat]]\npass=[]\nlimit=3", "2: field 'repeat[0].pass'", ()),
    ("set = 1", "1: field 'set': 1 is not a table", ()),
    ("[set]\n'a.b' = 1\n'c.d' = 1979-05-27", "3: field 'set.c.d'", ()),
    ("include = 1", "1: field 'include': 1 is neither a name nor a list", ()),
]


@pytest.mark.parametrize(("text", "problem", "near"), MALFORMED)
def test_malformed_overlays(text: str, problem: str, near: tuple[str, ...]) -> None:
    """One error that names file, line and field, and what is near a misspelled one."""
    with pytest.raises(InputFileError) as raised:
        read_overlay(text, "x.toml", default_name="x")
    assert str(raised.value).startswith(f"x.toml:{problem}")
    assert near == raised.value.near[: len(near)]


def test_a_file_that_is_not_toml() -> None:
    """tomllib says where."""
    with pytest.raises(InputFileError, match=r"x\.toml: is not TOML"):
        read_overlay("a = ", "x.toml")


def test_the_first_mistake_of_a_file_is_named() -> None:
    """Whatever is found first when it is checked."""
    with pytest.raises(InputFileError, match=r"x\.toml:2: field 'add\[0\]\.pas'"):
        read_overlay("[[add]]\npas = 'A'\n[[remove]]\npass = 1\n", "x.toml", "x")


def test_an_overlay_without_a_name() -> None:
    """From a text that no file names, the name is needed."""
    with pytest.raises(InputFileError, match="field 'name': is missing"):
        read_overlay("", "<text>")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    """Names the file."""
    with pytest.raises(InputFileError, match=r"gone\.toml: can't be read"):
        read_overlay_file(tmp_path / "gone.toml")


# ---- include -------------------------------------------------------------------------------------


def write(folder: Path, **files: str) -> None:
    """TOML files by their names."""
    for name, text in files.items():
        path = folder / f"{name}.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def test_included_files_lie_beside_the_file(tmp_path: Path) -> None:
    """Their names are relative to the file that includes them; other names are pipelines."""
    write(tmp_path, top="include = ['parts/a.toml', 'acme-npu']")
    write(tmp_path / "parts", a="include = '../b.toml'\n[[remove]]\npass='A'")
    write(tmp_path, b="name = 'bee'")
    overlay = read_overlay_file(tmp_path / "top.toml")
    first, second = overlay.include
    assert isinstance(first, Overlay) and "acme-npu" == second
    assert ("a", str(tmp_path / "parts/a.toml")) == (first.name, first.origin)
    (inner,) = first.include
    assert isinstance(inner, Overlay)
    assert ("bee", str(tmp_path / "b.toml")) == (inner.name, inner.origin)


def test_files_that_include_each_other(tmp_path: Path) -> None:
    """The circle, and the line that closes it."""
    write(tmp_path, a="include = 'b.toml'", b="\ninclude = ['c.toml']", c="include = 'b.toml'")
    with pytest.raises(InputFileError) as raised:
        read_overlay_file(tmp_path / "a.toml")
    b, c = tmp_path / "b.toml", tmp_path / "c.toml"
    assert raised.value.message == (
        f"{c}:1: field 'include': files include each other: {b} -> {c} -> {b}"
    )
    assert f"included by: {b}:2\n  included by: {tmp_path / 'a.toml'}:1" == raised.value.hint


def test_files_that_include_each_other_too_deep(tmp_path: Path) -> None:
    """The bound is named."""
    for at in range(20):
        write(tmp_path, **{f"f{at}": f"include = 'f{at + 1}.toml'"})
    write(tmp_path, f20="")
    with pytest.raises(InputFileError, match="include each other more than 16 deep") as raised:
        read_overlay_file(tmp_path / "f0.toml")
    assert "f16.toml -> f17.toml" in raised.value.message


def test_a_file_that_many_include_is_read_once(tmp_path: Path) -> None:
    """Two at each of twelve levels are not four thousand reads."""
    for at in range(12):
        write(tmp_path, **{f"f{at}": f"include = ['f{at + 1}.toml', 'f{at + 1}.toml']"})
    write(tmp_path, f12="[[remove]]\npass = 'A'")
    overlay = read_overlay_file(tmp_path / "f0.toml")
    while overlay.include:
        first, second = overlay.include
        assert first is second and isinstance(first, Overlay)
        overlay = first


def test_an_included_file_that_is_wrong(tmp_path: Path) -> None:
    """The error names that file, and who includes it."""
    write(tmp_path, a="\ninclude = 'b.toml'", b="[[ad]]", c="include = 'gone.toml'")
    with pytest.raises(InputFileError, match=r"b\.toml:1: field 'ad'") as raised:
        read_overlay_file(tmp_path / "a.toml")
    assert f"included by: {tmp_path / 'a.toml'}:2" == raised.value.hint
    with pytest.raises(InputFileError, match=r"gone\.toml: can't be read"):
        read_overlay_file(tmp_path / "c.toml")


def test_a_text_lies_beside_nothing() -> None:
    """It can include pipelines by name, and no files."""
    assert ("acme-npu",) == read_overlay("include = 'acme-npu'", "x", "x").include
    with pytest.raises(InputFileError, match="field 'include': includes 'a.toml'"):
        read_overlay("include = 'a.toml'", "x", "x")


def test_a_targets_file_lies_beside_the_overlay(tmp_path: Path) -> None:
    """A name stays as it is; a text lies beside nothing."""
    write(tmp_path / "parts", a="target = '../npu.toml'", b="target = 'npu'")
    assert str(tmp_path / "npu.toml") == read_overlay_file(tmp_path / "parts/a.toml").target
    assert "npu" == read_overlay_file(tmp_path / "parts/b.toml").target
    with pytest.raises(InputFileError, match="x:1: field 'target': 'a.toml' is a file"):
        read_overlay("target = 'a.toml'", "x", "x")


# ---- the schema ----------------------------------------------------------------------------------


def test_the_schema_knows_the_keys() -> None:
    """As they are written in files."""
    from ge_core.passes.overlay_model import json_schema

    schema = json_schema()
    assert {"name", "base", "include", "add", "repeat", "set"} <= set(schema["properties"])
    assert {"pass", "stage", "with", "options"} == set(schema["$defs"]["Replace"]["properties"])
    assert not schema["additionalProperties"]


IN_WORDS_ONLY = ("names either a pass or a stage", "options of a stage", "says nothing")
"""What the schema leaves to the reader."""


def test_the_schema_refuses_what_the_reader_refuses() -> None:
    """And takes what it takes, so that editors say the same."""
    from jsonschema import Draft202012Validator

    from ge_core.passes.overlay_model import json_schema

    validator = Draft202012Validator(json_schema())
    assert [] == [error.message for error in validator.iter_errors(tomllib.loads(TEXT))]
    taken = [
        text
        for text, problem, _ in MALFORMED
        if validator.is_valid(tomllib.loads(text))
        and not any(words in problem for words in IN_WORDS_ONLY)
    ]
    assert [] == taken
