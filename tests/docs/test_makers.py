"""What makes generated pages: outputs that are kept, types of snippets, tables of the contents."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts import snippet_types
from scripts.context_page import pass_context
from scripts.kept_outputs import keep_outputs

PAGE = "# A\n\n```console\n$ ge one\n1\n$ ge two\n2\n$ ge one\n3\n```\n"


def test_outputs_are_kept_by_command_and_order(tmp_path: Path) -> None:
    """Also where text around them, or the order of other commands, has changed."""
    (tmp_path / "page.md").write_text(PAGE)
    anew = "# B\n\n```console\n$ ge two\n```\n\nwords\n\n```console\n$ ge one\n$ ge one\n```\n"
    expected = anew.replace("two\n", "two\n2\n")
    expected = expected.replace("one\n$ ge one\n", "one\n1\n$ ge one\n3\n")
    assert expected == keep_outputs(anew, tmp_path / "page.md")


def test_a_new_command_has_no_output_yet(tmp_path: Path) -> None:
    """Or the room that its page asks for, in lines."""
    (tmp_path / "page.md").write_text(PAGE)
    anew = "```console\n$ ge three\n$ ge four\n-\n...\n```\n"
    assert anew == keep_outputs(anew, tmp_path / "page.md")
    assert anew == keep_outputs(anew, tmp_path / "not-there.md")


def test_code_is_checked_where_it_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines of modules are those of the page; a file that is written twice counts as it ends."""
    page = tmp_path / "some-page.md"
    page.write_text(
        '# A\n\n```python title="a.py"\nold = 1\n```\n\n```python title="a.py"\nnew = 1\n```\n\n'
        "```python\nx = 1\n```\n\ntext\n\n```python\ny = x\n```\n"
    )
    monkeypatch.setattr(snippet_types, "DOCUMENTS", (page,))
    written = snippet_types.write_modules(tmp_path / "out")
    assert ["some_page/a.py", "some_page/snippets.py"] == [
        str(path.relative_to(tmp_path / "out")) for path in written
    ]
    lines = page.read_text().splitlines()
    for path, shown in zip(written, ("new = 1", "y = x"), strict=True):
        found = path.read_text().splitlines()
        assert lines.index(shown) == found.index(shown)
    assert "old" not in written[0].read_text()


def test_every_member_of_a_context_is_explained() -> None:
    """Each public one has its row, with words."""
    from ge_core.passes.context import PassContext

    members = [name for name in vars(PassContext) if not name.startswith("_")]
    rows = [line for line in pass_context().splitlines() if line.startswith("| `ctx.")]
    explained = [row for row in rows if len(row.split(" | ")[1]) > 3]
    assert [] == [
        name
        for name in members
        if not any(row.startswith((f"| `ctx.{name}`", f"| `ctx.{name}(")) for row in explained)
    ]
