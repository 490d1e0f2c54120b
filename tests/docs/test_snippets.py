"""Every code block and command of README.md and docs/ runs, and shows what really comes out."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.doc_snippets import DOCUMENTS, ROOT, Run, blocks, run_document


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_a_document_shows_is_true(path: Path, tmp_path: Path) -> None:
    """`make docs` puts in what comes out now."""
    problems = run_document(path, tmp_path.resolve()).problems
    assert [] == [str(problem) for problem in problems]


def test_every_command_block_is_a_console() -> None:
    """A block that begins with a command is run, so it isn't marked as another language."""
    unrun = [
        f"{path.name}:{block.line}"
        for path in DOCUMENTS
        for block in blocks(path.read_text(encoding="utf-8"))
        if block.language != "console" and block.text.startswith("$ ")
    ]
    assert [] == unrun


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_block_escapes_the_runner(path: Path) -> None:
    """Every fence begins a line, has a language, and is a block that the runner knows."""
    text = path.read_text(encoding="utf-8")
    known = {line for block in blocks(text) for line in block.lines}
    fences = [
        at
        for at, line in enumerate(text.splitlines(), start=1)
        if line.lstrip(" >*").startswith(("```", "~~~"))
    ]
    assert [] == [at for at in fences if at not in known]
    assert [] == [block.line for block in blocks(text) if not block.text.strip()]


# ---- the runner itself ---------------------------------------------------------------------------


def run_text(text: str, folder: Path) -> Run:
    """Run a document with this text."""
    (folder / "page.md").write_text(text, encoding="utf-8")
    inside = folder / "inside"
    inside.mkdir()
    return run_document(folder / "page.md", inside.resolve())


def test_another_output_is_a_problem_and_is_refreshed(tmp_path: Path) -> None:
    """The text that comes back shows the true one."""
    run = run_text("```console\n$ echo two\none\n```\n", tmp_path)
    assert ["one\n"] == [problem.expected for problem in run.problems]
    assert "```console\n$ echo two\ntwo\n```\n" == run.text


def test_another_exit_code_is_a_problem(tmp_path: Path) -> None:
    """0 is meant where nothing is said."""
    run = run_text(
        "```console\n$ false\n$ false  # exit code 1\n$ true  # exit code 1\n```\n", tmp_path
    )
    assert [2, 4] == [problem.line for problem in run.problems]


def test_three_dots_stand_for_anything(tmp_path: Path) -> None:
    """In a line for a part of it, alone for any number of lines."""
    numbers = '$ python -c "print(*range(4), sep=chr(10))"\n0\n...\n3\n'
    block = f"```console\n{numbers}$ echo a 17 b\na ... b\n```\n"
    assert [] == run_text(block, tmp_path).problems


def test_a_cut_stays_a_cut(tmp_path: Path) -> None:
    """Refreshing an output that was cut shows as many lines before and after."""
    run = run_text(
        '```console\n$ python -c "print(*range(4), sep=chr(10))"\n7\n...\n8\n```\n', tmp_path
    )
    assert run.text.endswith("\n0\n...\n3\n```\n")


def test_code_shares_names_and_shows_its_output(tmp_path: Path) -> None:
    """A text block marked as output is compared with what the code before it printed."""
    code = "```python\nx = 1\n```\n\n```python\nprint(x)\n```\n\n```text output\n2\n```\n"
    assert ["1\n"] == [problem.got for problem in run_text(code, tmp_path).problems]


def test_a_block_with_a_title_is_a_file(tmp_path: Path) -> None:
    """It is written, not run."""
    run = run_text(
        '```python title="a/b.py"\nraise SystemExit(1)\n```\n\n```console\n$ cat a/b.py\nx\n```\n',
        tmp_path,
    )
    assert ["raise SystemExit(1)\n"] == [problem.got for problem in run.problems]


def test_a_module_that_is_replaced_is_imported_anew(tmp_path: Path) -> None:
    """A page may build a module up in steps."""
    step = '```python title="stepwise.py"\nx = {}\n```\n\n```python\nimport stepwise\n```\n\n'
    show = "```python\nprint(stepwise.x)\n```\n\n```text output\n'two'\n```\n"
    path = '```python\nimport sys\nsys.path.insert(0, ".")\n```\n\n'
    text = (
        path
        + step.format("1")
        + step.format("'two'")
        + show.replace("stepwise.x", "repr(stepwise.x)")
    )
    assert [] == [str(problem) for problem in run_text(text, tmp_path).problems]
